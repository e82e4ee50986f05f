import { expect } from 'vitest';
import pg from 'pg';
import { until } from '../../_util/index.ts';
import type { Receiver } from './receiver.ts';

/** With retries after a kill a delivery may wait for its lease (30 s) and a retry beside it. */
export const SETTLE_LIMIT_MS = 90_000;

export interface DeliveryRow {
  readonly id: string;
  readonly source_id: string;
  readonly sequence: string;
  readonly event: string;
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly status_code: number | null;
}

export interface SessionRow {
  readonly id: string;
  readonly state: 'live' | 'ended' | 'lost';
  readonly process_id: string;
  readonly verdict: string | null;
  readonly beep_at_ms: number | null;
  readonly end_reason: string | null;
}

/** What the service's database says, read beside it. */
export class Ledger {
  /** One connection, made again when it breaks; statements wait for each other. */
  readonly #pool: pg.Pool;

  constructor(databaseUrl: string) {
    this.#pool = new pg.Pool({ connectionString: databaseUrl, max: 1, idleTimeoutMillis: 0 });
    // The server is killed in some tests; the next statement connects again.
    this.#pool.on('error', () => undefined);
  }

  async query<R extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<R[]> {
    return (await this.#pool.query<R>(text, values)).rows;
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  deliveries(): Promise<DeliveryRow[]> {
    return this.query<DeliveryRow>('select * from webhook_deliveries order by source_id, sequence');
  }

  session(id: string): Promise<SessionRow | undefined> {
    return this.query<SessionRow>('select * from detection_sessions where id = $1', [id]).then(
      ([row]) => row,
    );
  }

  /** Names of a session's logged events, in their order. */
  async events(sessionId: string): Promise<string[]> {
    const rows = await this.query<{ event: string }>(
      'select event from detection_events where session_id = $1 order by sequence',
      [sessionId],
    );
    return rows.map(({ event }) => event);
  }

  /** Waits until the log says that these calls ended: their journal is written some time after the socket's end. */
  async ended(calls: readonly { readonly sessionId: string }[]): Promise<void> {
    const ids = calls.map(({ sessionId }) => sessionId);
    const sql = `select 1 from detection_sessions where id = any($1) and state = 'ended'`;
    const isDone = async (): Promise<boolean> => (await this.query(sql, [ids])).length === ids.length;
    await until(isDone, SETTLE_LIMIT_MS, 'the end of the calls in the log');
  }

  /** Process ids of the gateway processes that run. */
  async gatewayPids(): Promise<number[]> {
    const rows = await this.query<{ pid: number }>(
      `select pid from processes where role = 'gateway' and ended_at is null order by started_at`,
    );
    return rows.map(({ pid }) => pid);
  }

  /** From now on the database notes in which order deliveries are started for the first time. */
  async watchStarts(): Promise<void> {
    await this.query(`
      create table fault_starts (n bigint generated always as identity, delivery_id uuid);
      create function fault_note_start() returns trigger language plpgsql as $$
        begin insert into fault_starts (delivery_id) values (new.key::uuid); return null; end $$;
      create trigger fault_note_start after update on outbox for each row
        when (old.attempts = 0 and new.attempts = 1) execute function fault_note_start()`);
  }

  /** Sequences of one session's deliveries in the order of their first start. Needs `watchStarts` before. */
  async startsOf(sessionId: string): Promise<number[]> {
    const rows = await this.query<{ sequence: string }>(
      `select d.sequence from fault_starts s join webhook_deliveries d on d.id = s.delivery_id
       where d.source_id = $1 order by s.n`,
      [sessionId],
    );
    return rows.map(({ sequence }) => Number(sequence));
  }

  /** Waits until no delivery and no outbox row is left to do; says what is left when it does not come to that. */
  async settled(limitMs = SETTLE_LIMIT_MS): Promise<void> {
    const left = `select (select count(*) from webhook_deliveries where state = 'pending')
      + (select count(*) from outbox) + (select count(*) from outbox_later) as n`;
    try {
      await until(
        async () => (await this.query<{ n: string }>(left))[0]?.n === '0',
        limitMs,
        'the end of all deliveries',
      );
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${await this.#unsettled()}`, { cause: error });
    }
  }

  async #unsettled(): Promise<string> {
    const rows = await this.query(
      `select id, key, attempts, available_at, lease_until, leased_at, now() from outbox order by id limit 5`,
    );
    const busy = await this.query(
      `select pid, application_name, state, wait_event, now() - xact_start as age, left(query, 80) as query
       from pg_stat_activity where datname = current_database() order by xact_start limit 10`,
    );
    return [...rows, ...busy].map((row) => JSON.stringify(row)).join('\n');
  }

  /**
   * The promise on webhooks: what was committed arrived, at least once, unchanged and under one id, and nothing
   * arrived that was not committed.
   */
  async expectNothingLost(receiver: Receiver): Promise<DeliveryRow[]> {
    const rows = await this.deliveries();
    expect(receiver.faults).toEqual([]);
    const lost = rows.filter(({ id }) => receiver.attempts(id).length === 0).map(({ id }) => id);
    expect(lost, 'deliveries that were committed and never arrived').toEqual([]);
    const known = new Set(rows.map(({ id }) => id));
    const unknown = [...receiver.deliveryIds].filter((id) => !known.has(id));
    expect(unknown, 'deliveries that arrived and were never committed').toEqual([]);
    return rows;
  }

  /** Each session's log and its deliveries are the same run of events, from 1 without a hole. */
  async expectWholeLogs(): Promise<void> {
    const events = await this.query<{ session_id: string; sequences: string; names: string }>(
      `select session_id, string_agg(sequence::text, ',' order by sequence) as sequences,
         string_agg(event, ',' order by sequence) as names
       from detection_events group by session_id`,
    );
    const deliveries = await this.query<{ source_id: string; names: string }>(
      `select source_id, string_agg(event, ',' order by sequence) as names from webhook_deliveries group by source_id`,
    );
    const delivered = new Map(deliveries.map(({ source_id, names }) => [source_id, names]));
    for (const { session_id, sequences, names } of events) {
      const count = names.split(',').length;
      expect(sequences, `log of ${session_id}`).toBe(Array.from({ length: count }, (_, i) => i + 1).join());
      expect(delivered.get(session_id), `deliveries of ${session_id}`).toBe(names);
    }
  }
}
