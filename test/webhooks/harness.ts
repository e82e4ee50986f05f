import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../src/kernel/clock.ts';
import { systemIds } from '../../src/kernel/ids.ts';
import { Cipher } from '../../src/platform/db/index.ts';
import type { Db } from '../../src/platform/db/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { createNet } from '../../src/platform/net/index.ts';
import type { Net } from '../../src/platform/net/index.ts';
import { Outbox, Relay } from '../../src/platform/outbox/index.ts';
import { createQueue } from '../../src/platform/queue/index.ts';
import type { Queue } from '../../src/platform/queue/index.ts';
import {
  createDeliveryHandler,
  deliveryMessages,
  insertDeliveries,
} from '../../src/features/webhooks/index.ts';
import type { NewDelivery } from '../../src/features/webhooks/index.ts';
import type { CaughtWebhook } from '../_util/index.ts';

export const SIGNING_KEY = 'tgd_the-key-of-these-tests';
export const KNOWN_KEY_ID = '8d6a6f0c-3f0e-4a57-9b0e-5f1f6f3d2c11';

export interface DeliveryView {
  state: string;
  attempts: number;
  status_code: number | null;
  body: string;
  headers: Record<string, string>;
  finished_at: Date | null;
}

export interface AttemptView {
  attempt: number;
  status_code: number | null;
  error: string | null;
  response_excerpt: string | null;
  duration_ms: number;
  started_at: Date;
}

/** Deliveries from the row to the receiver, over a real database and real connections. */
export class WebhookHarness {
  readonly db: Db;
  readonly clock: Clock;
  readonly queue: Queue;
  readonly outbox: Outbox;
  readonly relay: Relay;
  readonly #net: Net;
  readonly #teamId = randomUUID();

  constructor(
    db: Db,
    clock: Clock,
    net: Net = createNet({ allowPrivateTargets: true, logger: silentLogger }),
  ) {
    this.db = db;
    this.clock = clock;
    this.#net = net;
    this.queue = createQueue({ logger: silentLogger, clock });
    this.outbox = new Outbox(db, this.queue, clock);
    const handler = createDeliveryHandler({
      ...{ db, net, clock, logger: silentLogger, cipher: new Cipher(randomBytes(32)) },
      random: () => 0.5,
      signingKey: async (keyId) => (keyId === KNOWN_KEY_ID ? SIGNING_KEY : null),
    });
    const { queue } = this;
    this.relay = new Relay({ db, queue, clock, logger: silentLogger, ids: systemIds, handlers: [handler] });
  }

  /** Accepts deliveries as the gateway's journal does: rows and messages in one transaction. */
  async accept(...parts: Partial<NewDelivery>[]): Promise<string[]> {
    const sourceId = randomUUID();
    const rows = parts.map((part, index) => this.#delivery({ sourceId, sequence: index + 1, ...part }));
    await this.outbox.tx(async (tx) => {
      await tx.query('insert into teams (id, name) values ($1, $2) on conflict do nothing', [
        this.#teamId,
        'team',
      ]);
      await insertDeliveries(tx, rows);
      await this.outbox.add(tx, deliveryMessages(rows));
    });
    return rows.map((row) => row.deliveryId);
  }

  #delivery(part: Partial<NewDelivery>): NewDelivery {
    const deliveryId = part.deliveryId ?? randomUUID();
    const event = part.event ?? 'detection';
    const { sequence = 1 } = part;
    return {
      ...{ deliveryId, teamId: this.#teamId, kind: 'detection', sourceId: randomUUID(), sequence, event },
      ...{
        url: 'http://127.0.0.1:9/',
        headers: {},
        signingKeyId: KNOWN_KEY_ID,
        createdAtMs: this.clock.nowMs(),
      },
      body: JSON.stringify({ delivery_id: deliveryId, event, source: 'ws', sequence, data: {} }),
      ...part,
    };
  }

  async delivery(id: string): Promise<DeliveryView> {
    const { rows } = await this.db.query<DeliveryView & Record<string, unknown>>(
      'select state, attempts, status_code, body, headers, finished_at from webhook_deliveries where id = $1',
      [id],
    );
    if (!rows[0]) throw new Error('no such delivery');
    return rows[0];
  }

  async attempts(id: string): Promise<AttemptView[]> {
    const { rows } = await this.db.query<AttemptView & Record<string, unknown>>(
      `select attempt, status_code, error, response_excerpt, duration_ms, started_at
       from webhook_attempts where delivery_id = $1 order by attempt`,
      [id],
    );
    return rows;
  }

  async stop(): Promise<void> {
    await this.relay.stop({ graceMs: 0 });
    await this.queue.close();
    await this.#net.close();
  }
}

/** What the contract tells receivers to check, written as a receiver would: over the raw bytes, in constant time. */
export function isSigned(hook: CaughtWebhook, key = SIGNING_KEY): boolean {
  const match = /^v1=hmac-sha256,([0-9a-f]{64})$/.exec(String(hook.headers['x-signature']));
  if (!match?.[1]) return false;
  const expected = createHmac('sha256', key)
    .update(`${String(hook.headers['x-timestamp'])}.${hook.body}`)
    .digest();
  return timingSafeEqual(expected, Buffer.from(match[1], 'hex'));
}
