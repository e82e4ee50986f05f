import { ManualClock } from '../../../src/kernel/clock.ts';
import { systemIds } from '../../../src/kernel/ids.ts';
import type { Clock } from '../../../src/kernel/clock.ts';
import type { Db } from '../../../src/platform/db/index.ts';
import { silentLogger } from '../../../src/platform/logger/index.ts';
import { Outbox, Relay } from '../../../src/platform/outbox/index.ts';
import type { Handler, OutboxMessage, OutboxRow } from '../../../src/platform/outbox/index.ts';
import { createQueue } from '../../../src/platform/queue/index.ts';
import type { Queue } from '../../../src/platform/queue/index.ts';

export const START_MS = Date.parse('2026-03-01T12:00:00Z');

/** Outbox, queue and any number of relays over one database. */
export class OutboxHarness {
  readonly db: Db;
  readonly clock: Clock;
  readonly queue: Queue;
  readonly outbox: Outbox;
  readonly #relays: Relay[] = [];

  constructor(db: Db, clock: Clock = new ManualClock(START_MS)) {
    this.db = db;
    this.clock = clock;
    this.queue = createQueue({ logger: silentLogger, clock });
    this.outbox = new Outbox(db, this.queue, clock);
  }

  relay(handlers: Handler[], db: Db = this.db): Relay {
    const { clock, queue } = this;
    const relay = new Relay({ db, queue, clock, logger: silentLogger, ids: systemIds, handlers });
    this.#relays.push(relay);
    return relay;
  }

  async add(...messages: Partial<OutboxMessage>[]): Promise<void> {
    await this.outbox.tx((tx) => this.outbox.add(tx, messages.map(message)));
  }

  async count(table: 'outbox' | 'outbox_later' = 'outbox'): Promise<number> {
    const { rows } = await this.db.query<{ n: bigint }>(`select count(*) as n from ${table}`);
    return Number(rows[0]?.n);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#relays.splice(0).map((relay) => relay.stop({ graceMs: 0 })));
    await this.queue.close();
  }
}

export const message = (part: Partial<OutboxMessage>): OutboxMessage => ({
  topic: 'test.run',
  key: 'k',
  lane: 'l',
  payload: {},
  ...part,
});

/** A handler that ends its row at once and keeps what it saw. */
export function recorder(options: Partial<Handler> = {}): Handler & { seen: OutboxRow[]; keys(): string[] } {
  const seen: OutboxRow[] = [];
  return {
    topic: 'test.run',
    concurrencyMax: 16,
    leaseMs: 30_000,
    seen,
    keys: () => seen.map((row) => row.key),
    async handle(row, finish) {
      seen.push(row);
      await finish();
    },
    ...options,
  };
}

/** A promise and its resolver. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
