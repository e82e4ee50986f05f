import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { invalidField } from '../../kernel/text.ts';
import type { Cipher, Db } from '../../platform/db/index.ts';
import { TargetRefused } from '../../platform/net/index.ts';
import type { Net } from '../../platform/net/index.ts';
import { faultOf } from './delivery.service.ts';
import { mergeHeaders } from './delivery.rules.ts';
import { EVENT_TYPES, sampleOf } from './event-types.rules.ts';
import type { EventType } from './event-types.rules.ts';
import { eventBody } from './publisher.service.ts';
import { formatSigningSecret, subscriptionPolicy } from './subscription.policy.rules.ts';
import { signingSecretContext } from './subscription.targets.service.ts';
import {
  checkEventTypes,
  checkHookUrl,
  checkName,
  SECRET_BYTES,
  SUBSCRIPTIONS_MAX,
} from './subscriptions.rules.ts';
import type { SubscriptionInput } from './subscriptions.rules.ts';
import { SubscriptionsStore } from './subscriptions.store.ts';
import type { SubscriptionChange, SubscriptionRow } from './subscriptions.store.ts';

/** A subscription as its account sees it; times in epoch milliseconds. */
export type Subscription = Omit<SubscriptionRow, 'teamId'>;

/** What the endpoint answered to a sample event. */
export interface TestAnswer {
  /** Null: it did not answer. */
  statusCode: number | null;
  durationMs: number;
  /** Why there was no answer, in a word, such as `timeout` or `connection_refused`. */
  error?: string;
}

export interface SubscriptionsOptions {
  db: Db;
  cipher: Cipher;
  clock: Clock;
  ids: Ids;
  net: Pick<Net, 'checkUrl' | 'post'>;
}

/** Webhook subscriptions of the caller's account (supplement 4). */
export class SubscriptionsService {
  readonly #options: SubscriptionsOptions;
  readonly #store: SubscriptionsStore;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    this.#store = new SubscriptionsStore(options.db);
  }

  /** Newest first. @throws Problem insufficient-scope */
  async list(caller: Caller): Promise<Subscription[]> {
    requireScope(caller, 'webhooks:read');
    return this.#store.list(caller.teamId);
  }

  /**
   * The answer is, beside that of `rotateSecret`, the only place where the secret is shown. Without a name it gets its
   * host's. @throws Problem insufficient-scope, validation-error, conflict
   */
  async create(caller: Caller, input: SubscriptionInput): Promise<Subscription & { signingSecret: string }> {
    requireScope(caller, 'webhooks:write');
    const { db, ids, clock } = this.#options;
    const { teamId } = caller;
    const hookUrl = await this.#judgedUrl(input.hookUrl);
    const eventTypes = checkEventTypes(input.eventTypes);
    const name = input.name === undefined ? new URL(hookUrl).host : checkName(input.name);
    const subscriptionId = ids.uuid();
    const { signingSecret, secretCiphertext } = this.#newSecret(subscriptionId);
    const createdAtMs = clock.nowMs();
    await db.tx(async (tx) => {
      if ((await this.#store.lockAndCount(tx, teamId)) >= SUBSCRIPTIONS_MAX) {
        throw new Problem(
          'conflict',
          `The account has ${SUBSCRIPTIONS_MAX} subscriptions already: delete one first.`,
        );
      }
      const row = { subscriptionId, teamId, name, hookUrl, eventTypes, createdAtMs };
      await this.#store.insert(tx, { ...row, secretCiphertext, createdBy: caller.userId });
    });
    return {
      ...{ subscriptionId, name, hookUrl, eventTypes, signingSecret, status: 'active', pausedUntilMs: null },
      ...{ secretCreatedAtMs: createdAtMs, createdAtMs, updatedAtMs: createdAtMs },
    };
  }

  /**
   * Event types replace the former ones. An address, even the same, makes the endpoint active again.
   * @throws Problem insufficient-scope, validation-error, not-found
   */
  async update(caller: Caller, subscriptionId: string, input: SubscriptionInput): Promise<Subscription> {
    requireScope(caller, 'webhooks:write');
    const { name, hookUrl, eventTypes } = input;
    if (name === undefined && hookUrl === undefined && eventTypes === undefined)
      throw new Problem('validation-error', 'Give event_types, name or hook_url.');
    await this.#get(caller, subscriptionId);
    return this.#change(caller, subscriptionId, {
      name: name === undefined ? undefined : checkName(name),
      eventTypes: eventTypes === undefined ? undefined : checkEventTypes(eventTypes),
      hookUrl: hookUrl === undefined ? undefined : await this.#judgedUrl(hookUrl),
      nowMs: this.#options.clock.nowMs(),
    });
  }

  /** Nothing is delivered any more. @throws Problem insufficient-scope, not-found */
  async remove(caller: Caller, subscriptionId: string): Promise<void> {
    requireScope(caller, 'webhooks:write');
    const key = { teamId: caller.teamId, subscriptionId };
    if (!isUuid(subscriptionId) || !(await this.#store.remove(key))) throw noSubscription();
  }

  /** The former secret signs nothing any more, retries included. @throws Problem insufficient-scope, not-found */
  async rotateSecret(
    caller: Caller,
    subscriptionId: string,
  ): Promise<{ subscriptionId: string; signingSecret: string; secretCreatedAtMs: number }> {
    requireScope(caller, 'webhooks:write');
    const found = await this.#get(caller, subscriptionId);
    const { signingSecret, secretCiphertext } = this.#newSecret(found.subscriptionId);
    const change = { secretCiphertext, nowMs: this.#options.clock.nowMs() };
    const { secretCreatedAtMs } = await this.#change(caller, found.subscriptionId, change);
    return { subscriptionId: found.subscriptionId, signingSecret, secretCreatedAtMs };
  }

  /**
   * Posts a sample of the first event type the subscription asks for, whatever its status, and answers what came back.
   * It is not recorded and does not count. @throws Problem insufficient-scope, not-found
   */
  async test(caller: Caller, subscriptionId: string): Promise<TestAnswer> {
    requireScope(caller, 'webhooks:write');
    const found = await this.#get(caller, subscriptionId);
    const { cipher, clock, ids, net } = this.#options;
    const key = cipher.decrypt(found.secretCiphertext, signingSecretContext(found.subscriptionId));
    const sample = sampleOf(found.eventTypes);
    const nowMs = clock.nowMs();
    const event = { eventId: ids.uuid(), event: sample.eventType, data: sample.example };
    const body = eventBody({ ...event, atMs: nowMs, sequence: 0 });
    const headers = mergeHeaders(
      {},
      {
        ...subscriptionPolicy.describe({ ...event, deliveryId: event.eventId, body, attempt: 1 }),
        ...subscriptionPolicy.sign({ body, key, nowMs, eventId: event.eventId }),
      },
    );
    const startedMs = clock.monotonicMs();
    const durationMs = (): number => Math.round(clock.monotonicMs() - startedMs);
    try {
      const { timeoutMs } = subscriptionPolicy;
      const { status } = await net.post({ url: found.hookUrl, headers, body, timeoutMs });
      return { statusCode: status, durationMs: durationMs() };
    } catch (error) {
      return { statusCode: null, durationMs: durationMs(), error: faultOf(error).word };
    }
  }

  /** The catalogue. @throws Problem insufficient-scope */
  eventTypes(caller: Caller): readonly EventType[] {
    requireScope(caller, 'webhooks:read');
    return EVENT_TYPES;
  }

  async #get(caller: Caller, subscriptionId: string) {
    const key = { teamId: caller.teamId, subscriptionId };
    const found = isUuid(subscriptionId) ? await this.#store.find(key) : null;
    if (!found) throw noSubscription();
    return found;
  }

  async #change(caller: Caller, subscriptionId: string, change: SubscriptionChange): Promise<Subscription> {
    const changed = await this.#store.update({ teamId: caller.teamId, subscriptionId }, change);
    if (!changed) throw noSubscription();
    return changed;
  }

  async #judgedUrl(given: unknown): Promise<string> {
    const url = checkHookUrl(given);
    try {
      await this.#options.net.checkUrl(url);
    } catch (error) {
      if (!(error instanceof TargetRefused)) throw error;
      throw invalidField('hook_url', `hook_url is refused: ${error.message}.`);
    }
    return url;
  }

  #newSecret(subscriptionId: string): { signingSecret: string; secretCiphertext: string } {
    const { ids, cipher } = this.#options;
    const signingSecret = formatSigningSecret(Buffer.from(ids.secret(SECRET_BYTES), 'base64url'));
    const secretCiphertext = cipher.encrypt(signingSecret, signingSecretContext(subscriptionId));
    return { signingSecret, secretCiphertext };
  }
}

export const noSubscription = (): Problem =>
  new Problem('not-found', 'There is no such webhook subscription.');
