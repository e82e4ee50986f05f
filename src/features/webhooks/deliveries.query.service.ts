import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import { isUuid } from '../../kernel/ids.ts';
import { pageOf, timeKeyOf } from '../../kernel/keyset.ts';
import type { Keyset, KeysetPage } from '../../kernel/keyset.ts';
import { Problem } from '../../kernel/problem.ts';
import { invalidField } from '../../kernel/text.ts';
import type { Db } from '../../platform/db/index.ts';
import type { LoggedAttempt } from './deliveries-log.store.ts';
import { DeliveriesQueryStore } from './deliveries.query.store.ts';
import type { DeliveryListed, DeliveryQuery } from './deliveries.query.store.ts';

/** Deliveries to subscriptions and of detection sessions, as consoles read them. */
export class DeliveriesQueryService {
  readonly #store: DeliveriesQueryStore;

  constructor(options: { db: Db }) {
    this.#store = new DeliveriesQueryStore(options.db);
  }

  /** Newest first. @throws Problem insufficient-scope, validation-error */
  async list(caller: Caller, query: DeliveryQuery, keyset: Keyset): Promise<KeysetPage<DeliveryListed>> {
    requireScope(caller, 'webhooks:read');
    checkQuery(query);
    const page = { ...timeKeyOf(keyset.after), limit: keyset.first + 1 };
    return pageOf(await this.#store.list(caller.teamId, query, page), keyset.first);
  }

  async count(caller: Caller, query: DeliveryQuery): Promise<number> {
    requireScope(caller, 'webhooks:read');
    checkQuery(query);
    return this.#store.count(caller.teamId, query);
  }

  /** @throws Problem insufficient-scope, not-found */
  async get(caller: Caller, deliveryId: string): Promise<DeliveryListed> {
    requireScope(caller, 'webhooks:read');
    const found = isUuid(deliveryId) ? (await this.#store.find(caller.teamId, [deliveryId]))[0] : undefined;
    if (!found) throw new Problem('not-found', 'There is no such delivery.');
    return found;
  }

  /** In order. @throws Problem insufficient-scope */
  async attemptsOf(caller: Caller, deliveryIds: readonly string[]): Promise<Map<string, LoggedAttempt[]>> {
    requireScope(caller, 'webhooks:read');
    return this.#store.attempts(caller.teamId, deliveryIds);
  }
}

function checkQuery({ sourceId }: DeliveryQuery): void {
  if (sourceId !== null && !isUuid(sourceId)) throw invalidField('source_id', 'sourceId must be a UUID.');
}
