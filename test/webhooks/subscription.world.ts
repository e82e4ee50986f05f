import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { createDeliveryHandler } from '../../src/features/webhooks/index.ts';
import type { EndpointObservation } from '../../src/features/webhooks/index.ts';
import { ManualClock } from '../../src/kernel/clock.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import type { Services } from '../../src/main/compose.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { createNet } from '../../src/platform/net/index.ts';
import type { Net } from '../../src/platform/net/index.ts';
import { Relay } from '../../src/platform/outbox/index.ts';
import type { Handler } from '../../src/platform/outbox/index.ts';
import { createQueue } from '../../src/platform/queue/index.ts';
import { startApi } from '../_util/api.ts';
import type { TestAccount, TestApi } from '../_util/api.ts';
import { catchWebhooks, testDb } from '../_util/index.ts';
import type { Answer, Catcher, CaughtWebhook, TestDb } from '../_util/index.ts';

export const START_MS = Date.parse('2026-03-01T12:00:00Z');
export const MINUTE_MS = 60_000;

/** What a test needs of a subscription. */
export interface Subscribed {
  readonly id: string;
  readonly secret: string;
  readonly account: TestAccount;
}

export interface SubscriptionView {
  webhook_id: string;
  name: string;
  hook_url: string;
  event_types: string[];
  status: string;
  paused_until: number | null;
  signing_secret_created_at: number;
}

export interface DeliveryView {
  delivery_id: string;
  event_id: string;
  event: string;
  sequence: number;
  status: string;
  replay_of: string | null;
  body: string;
  attempts: {
    attempt: number;
    status_code: number | null;
    error: string | null;
    started_at: number;
    duration_ms: number;
  }[];
}

/** The api role over a database of its own, with a relay that delivers; time is virtual unless told otherwise. */
export class SubscriptionWorld {
  readonly database: TestDb;
  readonly clock: Clock;
  readonly api: TestApi;
  readonly relay: Relay;
  readonly changes: EndpointObservation[] = [];
  dropped = 0;
  readonly #net: Net;
  readonly #handler: Handler;
  readonly #catchers: Catcher[] = [];

  private constructor(database: TestDb, api: TestApi) {
    this.database = database;
    this.api = api;
    const { db, clock, cipher } = api.services;
    this.clock = clock;
    this.#net = createNet({ allowPrivateTargets: true, logger: silentLogger });
    this.#handler = createDeliveryHandler({
      ...{ db, clock, cipher, net: this.#net, logger: silentLogger },
      random: () => 0,
      signingKey: async () => null,
      observeDropped: () => void (this.dropped += 1),
      observeEndpoint: (change) => void this.changes.push(change),
    });
    this.relay = this.another();
  }

  /** A relay of a second worker; the test ends it. */
  another(): Relay {
    const { db, clock, ids } = this.services;
    const queue = createQueue({ logger: silentLogger, clock });
    return new Relay({ db, queue, clock, ids, logger: silentLogger, handlers: [this.#handler] });
  }

  static async open(
    options: { clock?: Clock; allowPrivateTargets?: boolean } = {},
  ): Promise<SubscriptionWorld> {
    const database = await testDb();
    const clock = options.clock ?? new ManualClock(START_MS);
    const env = { ALLOW_PRIVATE_TARGETS: String(options.allowPrivateTargets ?? true) };
    return new SubscriptionWorld(database, await startApi(database, { clock, env }));
  }

  get services(): Services {
    return this.api.services;
  }

  async close(): Promise<void> {
    await Promise.all(this.#catchers.map((catcher) => catcher.close()));
    await this.relay.stop({ graceMs: 0 });
    await this.#net.close();
    await this.api.close();
    await this.database.drop();
  }

  async catcher(answer?: (hook: CaughtWebhook, number: number) => Answer): Promise<Catcher> {
    const catcher = await catchWebhooks(answer);
    this.#catchers.push(catcher);
    return catcher;
  }

  async subscribe(
    account: TestAccount,
    of: { url: string; eventTypes?: string[]; name?: string },
  ): Promise<Subscribed> {
    const body = { hook_url: of.url, event_types: of.eventTypes ?? ['contact.*'], name: of.name };
    const { status, data } = await this.api.request('POST', '/register/public/webhooks', {
      as: account,
      body,
    });
    if (status !== 201) throw new Error(`subscribing was answered with ${status}`);
    return { id: data.webhook_id as string, secret: data.signing_secret as string, account };
  }

  /** Announces events as a slice does, in one transaction; each with the data given. */
  async announce(
    account: TestAccount,
    ...events: (string | { event: string; data: object })[]
  ): Promise<void> {
    const { outbox, publisher, clock } = this.services;
    const news = events.map((item) => ({
      teamId: account.teamId,
      atMs: clock.nowMs(),
      event: typeof item === 'string' ? item : item.event,
      data: typeof item === 'string' ? { contact_id: randomUUID() } : { ...item.data },
    }));
    await outbox.tx((tx) => publisher.announce(tx, news));
  }

  /** Everything that is due now, then after each of these steps. */
  async play(...stepsMs: number[]): Promise<void> {
    await this.relay.poke();
    for (const stepMs of stepsMs) {
      (this.clock as ManualClock).advance(stepMs);
      await this.relay.poke();
    }
  }

  /** The log as REST shows it. */
  async deliveries(of: Subscribed, query = ''): Promise<DeliveryView[]> {
    const path = `/register/public/webhooks/${of.id}/deliveries${query}`;
    return (await this.api.request('GET', path, { as: of.account })).data as DeliveryView[];
  }

  async subscription(of: Subscribed): Promise<SubscriptionView> {
    const { data } = await this.api.request('GET', '/register/public/webhooks', { as: of.account });
    const found = (data as SubscriptionView[]).find((one) => one.webhook_id === of.id);
    if (!found) throw new Error('the subscription is not listed');
    return found;
  }
}

/** Verifies the product's own signature as a receiver would: over the raw bytes, in constant time. */
export function isSignedByUs(hook: CaughtWebhook, secret: string): boolean {
  const match = /^sha256=([0-9a-f]{64})$/.exec(String(hook.headers['x-signature']));
  if (!match?.[1]) return false;
  const signed = `${String(hook.headers['x-timestamp'])}.${hook.body}`;
  const expected = createHmac('sha256', secret).update(signed).digest();
  return timingSafeEqual(expected, Buffer.from(match[1], 'hex'));
}

/** Verifies with the Standard Webhooks library; its tolerance of 5 minutes is against the real time. */
export function isStandard(hook: CaughtWebhook, secret: string): boolean {
  try {
    new Webhook(secret).verify(hook.body, hook.headers as Record<string, string>);
    return true;
  } catch {
    // The library throws for every kind of refusal.
    return false;
  }
}
