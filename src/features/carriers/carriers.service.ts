import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { invalidField, requireText } from '../../kernel/text.ts';
import type { Cipher, Db } from '../../platform/db/index.ts';
import { TargetRefused } from '../../platform/net/index.ts';
import type { Net } from '../../platform/net/index.ts';
import {
  addressOf,
  CARRIER_KINDS,
  CARRIER_STATES,
  CARRIERS_MAX,
  faceOf,
  RATE_MAX,
  settingsOf,
} from './carriers.rules.ts';
import type { CarrierFace, CarrierKind, CarrierSettings, CarrierState } from './carriers.rules.ts';
import { CarriersStore } from './carriers.store.ts';
import type { CarrierHealth, CarrierRow } from './carriers.store.ts';
import { rateOf } from './health.ts';

const NAME_LENGTH_MAX = 100;

/** What binds stored settings to their row. */
export const carrierContext = (carrierId: string): string => `carrier-connection:${carrierId}`;

/** A connection as its account sees it; no secret is in it. */
export type Carrier = Omit<CarrierRow, 'settingsCiphertext'> &
  CarrierFace &
  Pick<CarrierHealth, 'circuit' | 'lastFault' | 'lastFaultAtMs'> & {
    /** Requests a second that went out over the last minute. */
    rate: number;
    /** Part of them that the carrier did not answer as it should; 0 when there were none. */
    errorRate: number;
  };

export interface NewCarrier {
  kind: CarrierKind;
  name: string;
  settings?: unknown;
  /** Requests a second that go out at most; 0 or omitted: no limit of ours. */
  ratePerSecond?: number | undefined;
}

/** What is omitted stays; settings are replaced whole. A ratePerSecond of 0 takes the limit away. */
export interface CarrierUpdate {
  name?: string | undefined;
  settings?: unknown;
  state?: CarrierState | undefined;
  ratePerSecond?: number | undefined;
}

const UNUSED: CarrierHealth = {
  circuit: 'closed',
  requests: 0,
  faults: 0,
  lastFault: null,
  lastFaultAtMs: null,
};

/**
 * Connections of an account to carriers. A connection starts `active` and moves freely between `active`, `paused` and
 * `draining`. Its settings are stored encrypted and never shown again.
 */
export class CarriersService {
  readonly #options: { db: Db; cipher: Cipher; clock: Clock; ids: Ids; net: Pick<Net, 'checkUrl'> };
  readonly #store: CarriersStore;

  constructor(options: { db: Db; cipher: Cipher; clock: Clock; ids: Ids; net: Pick<Net, 'checkUrl'> }) {
    this.#options = options;
    this.#store = new CarriersStore(options.db);
  }

  /** @throws Problem insufficient-scope, validation-error, conflict (20 connections) */
  async connect(caller: Caller, input: NewCarrier): Promise<Carrier> {
    requireScope(caller, 'account:write');
    const { db, clock, ids } = this.#options;
    const { kind } = input;
    if (!CARRIER_KINDS.includes(kind)) {
      throw invalidField('kind', `kind must be one of ${CARRIER_KINDS.join(', ')}.`);
    }
    const name = requireText('name', input.name, NAME_LENGTH_MAX);
    const carrierId = ids.uuid();
    const settingsCiphertext = await this.#seal(carrierId, kind, input.settings ?? {});
    const ratePerSecond = rateLimitOf(input.ratePerSecond);
    const nowMs = clock.nowMs();
    const row: CarrierRow = {
      ...{ carrierId, teamId: caller.teamId, kind, name, settingsCiphertext, state: 'active', ratePerSecond },
      ...{ createdBy: caller.userId, createdAtMs: nowMs, updatedAtMs: nowMs },
    };
    await db.tx(async (tx) => {
      if ((await this.#store.lockAndCount(tx, caller.teamId)) >= CARRIERS_MAX) {
        throw new Problem('conflict', `The account has ${CARRIERS_MAX} carriers already: remove one first.`);
      }
      await this.#store.insert(tx, row);
    });
    return this.#viewOf({ ...row, ...UNUSED });
  }

  /** Oldest first. @throws Problem insufficient-scope */
  async list(caller: Caller): Promise<Carrier[]> {
    requireScope(caller, 'balance:read');
    return (await this.#store.list(caller.teamId, this.#options.clock.nowMs())).map((row) =>
      this.#viewOf(row),
    );
  }

  /** @throws Problem insufficient-scope, not-found */
  async get(caller: Caller, carrierId: string): Promise<Carrier> {
    requireScope(caller, 'balance:read');
    return this.#viewOf(await this.#require(caller, carrierId));
  }

  /** @throws Problem insufficient-scope, validation-error, not-found */
  async update(caller: Caller, carrierId: string, change: CarrierUpdate): Promise<Carrier> {
    requireScope(caller, 'account:write');
    const { state } = change;
    if (state !== undefined && !CARRIER_STATES.includes(state)) {
      throw invalidField('state', `state must be one of ${CARRIER_STATES.join(', ')}.`);
    }
    const former = await this.#require(caller, carrierId);
    const { teamId, kind } = former;
    const values = {
      ...(change.name === undefined ? {} : { name: requireText('name', change.name, NAME_LENGTH_MAX) }),
      ...(state === undefined ? {} : { state }),
      ...(change.settings === undefined
        ? {}
        : { settingsCiphertext: await this.#seal(former.carrierId, kind, change.settings) }),
      ...(change.ratePerSecond === undefined ? {} : { ratePerSecond: rateLimitOf(change.ratePerSecond) }),
    };
    const nowMs = this.#options.clock.nowMs();
    if (!(await this.#store.update({ teamId, carrierId: former.carrierId, nowMs }, values)))
      throw noCarrier();
    return this.#viewOf({ ...former, ...values, updatedAtMs: nowMs });
  }

  /** @throws Problem insufficient-scope, not-found */
  async remove(caller: Caller, carrierId: string): Promise<void> {
    requireScope(caller, 'account:write');
    if (!isUuid(carrierId) || !(await this.#store.delete(caller.teamId, carrierId))) throw noCarrier();
  }

  /**
   * The account's own carrier, when one is connected: an active one first; a paused one is connected too, the built-in
   * simulator is none (supplement 13).
   */
  async connectedCarrier(teamId: string): Promise<{ id: string; kind: CarrierKind } | null> {
    return this.#store.findConnected(teamId);
  }

  async #require(caller: Caller, carrierId: string): Promise<CarrierRow & CarrierHealth> {
    const nowMs = this.#options.clock.nowMs();
    const row = isUuid(carrierId) ? await this.#store.find(caller.teamId, carrierId, nowMs) : null;
    if (!row) throw noCarrier();
    return row;
  }

  async #seal(carrierId: string, kind: CarrierKind, given: unknown): Promise<string> {
    const settings = settingsOf(kind, given);
    await this.#checkAddress(kind, settings);
    return this.#options.cipher.encrypt(JSON.stringify(settings), carrierContext(carrierId));
  }

  async #checkAddress(kind: CarrierKind, settings: CarrierSettings): Promise<void> {
    const address = addressOf(kind, settings);
    if (address === null) return;
    try {
      await this.#options.net.checkUrl(address);
    } catch (error) {
      if (!(error instanceof TargetRefused)) throw error;
      const field = kind === 'twilio' ? 'settings.base_url' : 'settings.host';
      throw invalidField(field, `${field}: ${error.message}.`);
    }
  }

  #viewOf({ settingsCiphertext, requests, faults, ...row }: CarrierRow & CarrierHealth): Carrier {
    const plain = this.#options.cipher.decrypt(settingsCiphertext, carrierContext(row.carrierId));
    const face = faceOf(row.kind, JSON.parse(plain) as CarrierSettings);
    return { ...row, ...face, rate: rateOf(requests), errorRate: requests === 0 ? 0 : faults / requests };
  }
}

/** @throws Problem validation-error */
function rateLimitOf(given: number | undefined): number | null {
  if (given === undefined || given === 0) return null;
  if (Number.isInteger(given) && given > 0 && given <= RATE_MAX) return given;
  throw invalidField('rate_per_second', `rate_per_second must be a whole number from 0 to ${RATE_MAX}.`);
}

const noCarrier = (): Problem => new Problem('not-found', 'There is no such carrier.');
