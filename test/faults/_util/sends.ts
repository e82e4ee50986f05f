import { expect } from 'vitest';
import { freePort } from '../../../src/platform/db/index.ts';
import { lockNumbers } from '../../../src/features/delivery-rules/index.ts';
import { callerOf, catchWebhooks, until } from '../../_util/index.ts';
import type { Answer, Catcher, CaughtWebhook, TestDb } from '../../_util/index.ts';
import { twilioHeaders } from '../../_util/twilio-double.ts';
import { ASKING_LIMIT_MS, fateOf, post, reachable, ReportingCarrier } from './carrier.ts';
import type { Fate } from './carrier.ts';
import { Lab } from './lab.ts';
import type { Environment, Service } from './service.ts';

/** A claim whose answer was lost with the database waits out its lease (120 s). */
const SETTLE_LIMIT_MS = 150_000;
/** Requests of the client that are open at the same time. */
const CLIENTS = 32;
const OWN_NUMBER = '+12025550122';
/** What is sent is bound by none of these here. */
const WIDE: Environment = {
  SEND_RATE_PER_ACCOUNT: '100000',
  RATE_LIMIT_PER_ROUTE: '100000',
  RATE_LIMIT_BURST: '100000',
};

const CODE_OF: Record<Exclude<Fate, 'silent'>, number> = { delivered: 0, failed: 4004 };

/** Sends that a client asked for under one name, and what it was answered. */
export interface Cell {
  readonly name: string;
  readonly numbers: readonly string[];
  /** message_id of each 202, by the client's own reference. */
  readonly accepted: Map<string, string>;
  /** When every send has its 202. */
  readonly done: Promise<void>;
}

interface SendRow {
  readonly id: string;
  readonly foreign_id: string;
  readonly to: string;
  readonly state: string;
  readonly outcome_code: number | null;
  readonly results: number;
  readonly awaits: number;
}

/** An account whose texts go out through a carrier of its own, and the services that it sends with. */
export class SendingLab {
  readonly lab: Lab;
  readonly carrier: ReportingCarrier;
  readonly port: number;
  readonly carrierId: string;
  /** Sends that a carrier may have, as the database says after a kill: these alone may end with 4090. */
  readonly mayBeUnknown = new Set<string>();
  /** Callbacks that a killed process had taken: these alone may come twice. */
  readonly mayRepeat = new Set<string>();
  /** What callback_url answers; may be replaced. */
  onCallback: (foreignId: string, count: number) => Answer = () => ({ status: 200 });
  readonly #callbacks = new Map<string, Record<string, unknown>[]>();
  #catcher: Catcher | undefined;
  #callbackCount = 0;
  #numbers = 0;

  private constructor(of: { lab: Lab; carrier: ReportingCarrier; port: number; carrierId: string }) {
    this.lab = of.lab;
    this.carrier = of.carrier;
    this.port = of.port;
    this.carrierId = of.carrierId;
  }

  /** `attemptsMax`: texts to one number that the frequency limit allows; omitted: any number of them. */
  static async open(of: { env?: Environment; own?: TestDb; attemptsMax?: number } = {}): Promise<SendingLab> {
    const lab = await Lab.open({ ...WIDE, ...of.env }, of.own);
    const carrier = await ReportingCarrier.open();
    const carrierId = await setUp(lab, { carrier, attemptsMax: of.attemptsMax ?? 1_000 });
    const sending = new SendingLab({ lab, carrier, port: await freePort(), carrierId });
    sending.#catcher = await catchWebhooks((hook) => sending.#called(hook));
    return sending;
  }

  get callbackCount(): number {
    return this.#callbackCount;
  }

  /** A service that takes sends, and reports about them, at the lab's address. */
  start(env: Environment = {}): Promise<Service> {
    return this.lab.start({ ROLES: 'api,worker', HTTP_PORT: String(this.port), ...env });
  }

  /** Numbers that nobody was sent anything at; their last digits go round. */
  numbers(count: number): string[] {
    return Array.from({ length: count }, () => `+1212${2_000_000 + (this.#numbers += 1)}`);
  }

  /**
   * Asks for a text to each number, each with an Idempotency-Key, as a careful client does: what was not answered is asked
   * for again.
   */
  ask(name: string, numbers: readonly string[]): Cell {
    const accepted = new Map<string, string>();
    const wanted = numbers.map((to, index) => ({ to, foreignId: `${name} ${index}` }));
    const client = async (): Promise<void> => {
      for (let next = wanted.shift(); next; next = wanted.shift()) {
        accepted.set(next.foreignId, await this.send(next));
      }
    };
    const done = Promise.all(Array.from({ length: CLIENTS }, client)).then(() => undefined);
    // Whoever waits for it hears of its fault.
    done.catch(() => undefined);
    return { name, numbers, accepted, done };
  }

  /** One text, asked for until it is taken; its message_id. */
  async send(of: { to: string; foreignId: string }): Promise<string> {
    const { key, secret } = this.lab.credentials;
    const body = JSON.stringify({
      ...{ to: of.to, body: 'Your order is ready.', foreign_id: of.foreignId },
      callback_url: this.#catcher?.url,
    });
    const headers = { 'x-key': key, 'x-secret': secret, 'content-type': 'application/json' };
    const take = async (): Promise<string | null> => {
      try {
        const answer = await fetch(`http://127.0.0.1:${this.port}/sms`, {
          method: 'POST',
          headers: { ...headers, 'idempotency-key': of.foreignId.replaceAll(' ', '-').replaceAll(',', '') },
          body,
        });
        const said = (await answer.json()) as { message_id?: string };
        return answer.status === 202 ? (said.message_id ?? null) : null;
      } catch {
        // Cut off by a kill: nobody knows whether it was taken.
        await reachable(this.port);
        return null;
      }
    };
    return until(take, ASKING_LIMIT_MS, `a 202 for ${of.foreignId}`);
  }

  /** A text that somebody sends to the account's number, by way of the carrier; resolves when it is taken. */
  async textIn(from: string, text: string): Promise<void> {
    const url = `http://127.0.0.1:${this.port}/carrier/twilio/${this.carrierId}/messages`;
    const form = { MessageSid: `SM${from.slice(1)}`, From: from, To: OWN_NUMBER, Body: text, NumMedia: '0' };
    const headers = twilioHeaders(this.carrier.double.authToken, url, form);
    await until(() => post(url, { headers, form }), ASKING_LIMIT_MS, `an answer to the text of ${from}`);
  }

  /** Runs `meanwhile` with the numbers held, as a decision over them holds them (house.md, promise 4). */
  async holding(numbers: readonly string[], meanwhile: () => Promise<void>): Promise<void> {
    await this.lab.test.db.tx(async (tx) => {
      for (const phoneNumber of numbers)
        await lockNumbers(tx, [{ teamId: this.lab.credentials.team_id, phoneNumber }]);
      await meanwhile();
    });
  }

  /** Waits until so many transactions wait for numbers that are held. */
  async waitForHeld(count: number): Promise<void> {
    const waiting = async (): Promise<boolean> => {
      const rows = await this.lab.ledger.query(
        `select 1 from pg_locks where locktype = 'advisory' and not granted
           and database = (select oid from pg_database where datname = current_database())`,
      );
      return rows.length >= count;
    };
    await until(waiting, ASKING_LIMIT_MS, `${count} transactions that wait for a number`);
  }

  /** From now on the database notes in which order numbers are sent to and opt out; the numbers' locks make it the true one. */
  async watchOrder(): Promise<void> {
    await this.lab.ledger.query(`
      create table fault_order (n bigint generated always as identity, phone_number text, what text);
      create function fault_note() returns trigger language plpgsql as $$
        begin insert into fault_order (phone_number, what) values (new.phone_number, tg_argv[0]); return null; end $$;
      create trigger fault_note_sent after update on sends for each row
        when (old.state <> 'sending' and new.state = 'sending') execute function fault_note('sent');
      create trigger fault_note_stopped after insert on dnc_entries for each row execute function fault_note('stopped')`);
  }

  /** What was noted of each number, in order. Needs `watchOrder` before. */
  async orders(numbers: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.lab.ledger.query<{ phone_number: string; whole: string }>(
      `select phone_number, string_agg(what, ' ' order by n) as whole from fault_order
       where phone_number = any($1) group by phone_number`,
      [numbers],
    );
    return new Map(rows.map(({ phone_number, whole }) => [phone_number, whole]));
  }

  /** Outcome codes of the sends to each number, sorted; null for those without. */
  async outcomes(cellName: string): Promise<Map<string, (number | null)[]>> {
    const rows = await this.lab.ledger.query<{ to: string; codes: (number | null)[] }>(
      `select request ->> 'to' as to, array_agg(outcome_code order by outcome_code) as codes
       from sends where foreign_id like $1 || ' %' group by 1`,
      [cellName],
    );
    return new Map(rows.map(({ to, codes }) => [to, codes]));
  }

  /** Notes what the processes that were just killed leave open. */
  async noteKilled(): Promise<void> {
    const { ledger } = this.lab;
    for (const { id } of await ledger.query<{ id: string }>(`select id from sends where state = 'sending'`))
      this.mayBeUnknown.add(id);
    const taken = await ledger.query<{ key: string }>(
      `select key from outbox where topic = 'send.callback' and lease_owner is not null`,
    );
    for (const { key } of taken) this.mayRepeat.add(key);
  }

  /** Waits until nothing is under way any more but texts whose fate the carrier never tells. */
  async settled(): Promise<void> {
    const left = `select (select count(*) from sends where state not in ('finished', 'sent')
        or (state = 'sent' and phone_number !~ '[89]$'))
      + (select count(*) from send_callbacks where state = 'pending') as n`;
    const open = async (): Promise<string> => {
      const states = await this.lab.ledger.query(
        `select 'send' as of, state, count(*), min(id::text) as one from sends group by state
         union all select 'row', topic, count(*), min(key) from outbox group by topic`,
      );
      return states.map((row) => JSON.stringify(row)).join('\n');
    };
    try {
      await until(
        async () => (await this.lab.ledger.query<{ n: string }>(left))[0]?.n === '0',
        SETTLE_LIMIT_MS,
        'the end of all sends',
      );
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${await open()}`, { cause: error });
    }
  }

  /**
   * The promises on sends (house.md 1, 3, 5): every 202 has one result or a named waiting state, no text was handed to the
   * carrier twice, what was not handed over did not succeed, and each result was told to its callback_url.
   */
  async expectWhole({ name, numbers, accepted, done }: Cell): Promise<void> {
    await done;
    expect(this.carrier.double.faults).toEqual([]);
    const rows = await this.lab.ledger.query<SendRow & Record<string, unknown>>(
      `select s.id, s.foreign_id, s.request ->> 'to' as to, s.state, s.outcome_code,
         (select count(*)::int from send_steps t where t.send_id = s.id and t.kind = 'result') as results,
         (select count(*)::int from outbox_later o where o.topic = 'send.await' and o.key = s.id::text) as awaits
       from sends s where s.foreign_id like $1 || ' %' order by s.id`,
      [name],
    );
    const stored = new Map(rows.map((row) => [row.foreign_id, row.id]));
    expect(rows.length, 'sends that the repeated requests became').toBe(numbers.length);
    expect(stored, 'the sends that were answered with 202').toEqual(accepted);
    const asked = this.carrier.byNumber();
    const taken = (to: string): number => asked.get(to)?.length ?? 0;
    expect(
      numbers.filter((to) => taken(to) > 1),
      'texts that the carrier was handed twice',
    ).toEqual([]);
    expect(rows.flatMap((row) => this.#faultsOf(row, taken(row.to)))).toEqual([]);
  }

  #faultsOf(row: SendRow, taken: number): string[] {
    const fate = fateOf(row.to);
    const about = `${JSON.stringify(row)} (${fate}, handed over ${taken} times)`;
    const calls = this.#callbacks.get(row.foreign_id) ?? [];
    if (row.state === 'sent') {
      const isWaiting = fate === 'silent' && taken === 1 && row.awaits === 1 && row.results === 0;
      return isWaiting && calls.length === 0 ? [] : [`not waiting for its result: ${about}`];
    }
    if (row.state !== 'finished' || row.results !== 1) return [`without its one result: ${about}`];
    const isUnknown = row.outcome_code === 4090 && this.mayBeUnknown.has(row.id);
    const isTold = fate !== 'silent' && taken === 1 && row.outcome_code === CODE_OF[fate];
    const faults = isUnknown || isTold ? [] : [`another result than the carrier's: ${about}`];
    if (calls.length === 0) faults.push(`never told: ${about}`);
    if (calls.length > 1 && !this.mayRepeat.has(row.id)) faults.push(`told ${calls.length} times: ${about}`);
    if (calls.some((body) => body['reason_code'] !== row.outcome_code)) faults.push(`told wrongly: ${about}`);
    return faults;
  }

  /** Money follows results: each success captured once, what waits is reserved, the rest was released. */
  async expectMoney(): Promise<void> {
    const [found] = await this.lab.ledger.query(
      `select (select reserved_micros from balances) as reserved, (select balance_micros from balances) as balance,
         (select sum(product_cost_micros) from sends where state = 'sent') as due,
         (select sum(amount_micros) from ledger_entries) as booked,
         (select count(*) from ledger_entries where kind = 'captured') as captures,
         (select count(*) from sends where outcome_code = 0) as successes`,
    );
    expect(found?.['reserved'], 'what is reserved for sends that wait').toBe(found?.['due'] ?? '0');
    expect(found?.['balance']).toBe(found?.['booked']);
    expect(found?.['captures']).toBe(found?.['successes']);
  }

  /** POSTs to callback_url about a send. */
  callbacksOf(foreignId: string): readonly Record<string, unknown>[] {
    return this.#callbacks.get(foreignId) ?? [];
  }

  async close(): Promise<void> {
    await this.carrier.close();
    await this.lab.close();
    await this.#catcher?.close();
  }

  #called({ body }: CaughtWebhook): Answer {
    const said = JSON.parse(body) as Record<string, unknown>;
    const foreignId = String(said['foreign_id']);
    this.#callbacks.set(foreignId, [...this.callbacksOf(foreignId), said]);
    this.#callbackCount += 1;
    return this.onCallback(foreignId, this.#callbackCount);
  }
}

/** A line with a number for texts, a carrier, and rules that hold nothing back; the carrier's id. */
async function setUp(lab: Lab, of: { carrier: ReportingCarrier; attemptsMax: number }): Promise<string> {
  const services = lab.services();
  const teamId = lab.credentials.team_id;
  const ownerId = await services.accounts.ownerId(teamId);
  const caller = callerOf({ teamId, ownerId });
  const { url, accountSid, authToken } = of.carrier.double;
  const settings = { account_sid: accountSid, auth_token: authToken, base_url: url };
  const { carrierId } = await services.carriers.connect(caller, { kind: 'twilio', name: 'Own', settings });
  await services.dialingRules.update(caller, { hoursEnabled: false, phoneAttemptsMax: of.attemptsMax });
  const [brandId, lineId] = [services.ids.uuid(), services.ids.uuid()];
  await lab.ledger.query(
    `insert into brands (id, team_id, company_name, registered, api_allowed, texting_campaign_status, created_by)
     values ($1, $2, 'Acme', true, true, 'approved', $3)`,
    [brandId, teamId, ownerId],
  );
  await lab.ledger.query(
    `insert into phone_lines (id, team_id, name, type, is_default, brand_id, created_by)
     values ($1, $2, 'Texts', 'sms', true, $3, $4)`,
    [lineId, teamId, brandId, ownerId],
  );
  await lab.ledger.query(
    'insert into phone_numbers (id, team_id, phone_number, phone_line_id) values ($1, $2, $3, $4)',
    [services.ids.uuid(), teamId, OWN_NUMBER, lineId],
  );
  return carrierId;
}
