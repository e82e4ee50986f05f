import type { Clock } from '../../kernel/clock.ts';
import type { Micros } from '../../kernel/money.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { checkPrice, DETECTION_KEYS_CHANNEL } from './accounts.rules.ts';
import { captured } from './ledger.rules.ts';
import type { Cause, LedgerEntry } from './ledger.rules.ts';
import { LedgerStore } from './ledger.store.ts';
import type { BalanceChange } from './ledger.store.ts';

/** A charge, by amount or by units of a priced product. */
export type Charge = Cause & { teamId: string } & (
    { amountMicros: Micros; reservedMicros?: Micros } | { productCode: string; units: number }
  );

export interface BalanceView {
  balanceMicros: Micros;
  reservedMicros: Micros;
  /** What may be spent: balance less reserved. */
  availableMicros: Micros;
}

/** Money of accounts: immutable entries, and a balance that is their sum, kept in the same transaction. */
export class LedgerService {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #store = new LedgerStore();

  constructor(options: { db: Db; clock: Clock }) {
    this.#db = options.db;
    this.#clock = options.clock;
  }

  /**
   * Books entries in `tx`, one balance update for each account. An entry whose cause is booked already changes
   * nothing. Accounts whose funds run out or come back are announced on `detection_keys`.
   */
  async book(tx: Tx, entries: readonly LedgerEntry[]): Promise<BalanceChange[]> {
    if (entries.length === 0) return [];
    const changes = await this.#store.book(tx, entries, this.#clock.nowMs());
    const turned = changes.filter(fundsTurned).map((change) => change.teamId);
    if (turned.length > 0) await this.#store.notify(tx, DETECTION_KEYS_CHANNEL, turned);
    return changes;
  }

  /** Takes money for what was used. Funds are not checked here: a call that began is paid (supplement 10, Billing). */
  async capture(tx: Tx, charges: readonly Charge[]): Promise<void> {
    const prices = await this.#prices(tx, charges);
    await this.book(
      tx,
      charges.map((charge) => {
        if ('amountMicros' in charge) return captured(charge);
        const priceMicros = prices.get(priceKey(charge));
        if (priceMicros === undefined) throw new Error(`no price for product ${charge.productCode}`);
        return captured({ ...charge, amountMicros: priceMicros * BigInt(charge.units) });
      }),
    );
  }

  /** @throws Problem not-found */
  async balance(teamId: string): Promise<BalanceView> {
    const found = await this.#store.findBalance(this.#db, teamId);
    if (!found) throw new Problem('not-found', 'There is no such account.');
    return { ...found, availableMicros: found.balanceMicros - found.reservedMicros };
  }

  /** Sets an account's own price, or with null the default of all. It takes no Caller: operators' adapters judge. */
  async setPrice(price: { productCode: string; teamId: string | null; priceMicros: Micros }): Promise<void> {
    checkPrice(price);
    await this.#store.setPrice(this.#db, price);
  }

  async #prices(tx: Tx, charges: readonly Charge[]): Promise<Map<string, Micros>> {
    const wanted = new Map<string, { teamId: string; productCode: string }>();
    for (const charge of charges) if ('productCode' in charge) wanted.set(priceKey(charge), charge);
    if (wanted.size === 0) return new Map();
    const found = await this.#store.prices(tx, [...wanted.values()]);
    return new Map(found.map((price) => [priceKey(price), price.priceMicros]));
  }
}

const priceKey = (of: { teamId: string; productCode: string }): string => `${of.teamId} ${of.productCode}`;

/** Whether the batch took an account from funds to none, or back. */
function fundsTurned(change: BalanceChange): boolean {
  const after = change.balanceMicros - change.reservedMicros;
  const before = after - change.amountAddedMicros + change.reservedAddedMicros;
  return after > 0n !== before > 0n;
}
