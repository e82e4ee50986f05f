import { requireOperator, requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { Outbox } from '../../platform/outbox/index.ts';
import type { AccountsService } from '../accounts/index.ts';
import { API_KEY_EXPIRED } from './api-keys.jobs.ts';
import { API_KEYS_MAX, checkGrant, scopesIn } from './api-keys.rules.ts';
import type { NewApiKey } from './api-keys.rules.ts';
import { ApiKeysStore } from './api-keys.store.ts';
import type { ApiKeyRow, ListedApiKeyRow } from './api-keys.store.ts';
import { expiryMs, keyName } from './credentials.rules.ts';
import {
  API_KEY_BYTES,
  API_KEY_PREFIX,
  API_SECRET_PREFIX,
  formatSecret,
  hashOf,
  SECRET_BYTES,
} from './key-format.rules.ts';
import type { KeyUsage } from './key-usage.service.ts';

/** Type of every key made through the interface (contract, API key). */
const TYPE = 'standard';
const NAME_LABEL = 'API key';

/** A key as its account sees it. */
export type ApiKey = ListedApiKeyRow;
/** A key as it is made: nobody used it yet. */
export type MadeApiKey = ApiKeyRow & { secret: string; type: string; mcpClient: null };

export interface ApiKeysOptions {
  db: Db;
  clock: Clock;
  ids: Ids;
  outbox: Outbox;
  usage: Pick<KeyUsage, 'flush'>;
  accounts: Pick<AccountsService, 'get'>;
}

/**
 * API keys of the caller's account. States (contract, API key): valid → expired, when its time comes (an outbox row of
 * the transaction that made it deletes it then); valid → deleted, at once, which takes that row back.
 */
export class ApiKeysService {
  readonly #options: ApiKeysOptions;
  readonly #store: ApiKeysStore;

  constructor(options: ApiKeysOptions) {
    this.#options = options;
    this.#store = new ApiKeysStore(options.db);
  }

  /**
   * The answer is the only place where the secret is shown.
   * @throws Problem insufficient-scope, forbidden, validation-error, team-not-verified, conflict
   */
  async create(caller: Caller, input: NewApiKey): Promise<MadeApiKey> {
    requireScope(caller, 'account:write');
    const { clock, ids, accounts, outbox } = this.#options;
    const nowMs = clock.nowMs();
    const scopes = scopesIn(input.scopes) ?? [...caller.scopes];
    const secret = formatSecret(API_SECRET_PREFIX, ids.secret(SECRET_BYTES));
    const row: ApiKeyRow = {
      keyId: ids.uuid(),
      teamId: caller.teamId,
      name: keyName({ name: input.name, label: NAME_LABEL, nowMs }),
      key: API_KEY_PREFIX + ids.secret(API_KEY_BYTES),
      scopes,
      createdBy: caller.userId,
      createdAtMs: nowMs,
      expiresAtMs: expiryMs(input.expiresInSeconds, nowMs),
    };
    checkGrant(caller, await accounts.get(caller.teamId), scopes);
    await outbox.tx(async (tx) => {
      if ((await this.#store.lockAndCount(tx, caller.teamId)) >= API_KEYS_MAX) {
        throw new Problem('conflict', `The account has ${API_KEYS_MAX} API keys already: delete one first.`);
      }
      await this.#store.insert(tx, { ...row, secretHash: hashOf(secret) });
      await this.#planExpiry(tx, row);
    });
    return { ...row, secret, type: TYPE, mcpClient: null };
  }

  /** Newest first, uses included up to now. @throws Problem insufficient-scope */
  async list(caller: Caller): Promise<ApiKey[]> {
    requireScope(caller, 'balance:read');
    await this.#options.usage.flush();
    const nowMs = this.#options.clock.nowMs();
    const rows = await this.#store.list(caller.teamId);
    return rows.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs);
  }

  /** Requests with it are refused from now on. @throws Problem insufficient-scope, forbidden, not-found */
  async delete(caller: Caller, keyId: string): Promise<void> {
    requireScope(caller, 'account:write');
    if (!isUuid(keyId)) throw noKey();
    const id = keyId.toLowerCase();
    const { outbox } = this.#options;
    await outbox.tx(async (tx) => {
      if (!(await this.#store.delete(tx, { teamId: caller.teamId, keyId: id }))) throw noKey();
      await outbox.cancel(tx, API_KEY_EXPIRED, id);
    });
  }

  /** An operator's: a suspended key is refused (403) until it is let go again. @throws Problem forbidden, not-found */
  async setSuspended(
    caller: Caller,
    of: { teamId: string; keyId: string; suspended: boolean },
  ): Promise<void> {
    requireOperator(caller);
    requireScope(caller, 'account:write');
    const isKnown = isUuid(of.teamId) && isUuid(of.keyId) && (await this.#store.setSuspended(of));
    if (!isKnown) throw noKey();
  }

  async #planExpiry(tx: Tx, { keyId, teamId, expiresAtMs }: ApiKeyRow): Promise<void> {
    if (expiresAtMs === null) return;
    const message = { topic: API_KEY_EXPIRED, key: keyId, lane: teamId, payload: { team_id: teamId } };
    await this.#options.outbox.add(tx, [{ ...message, availableAtMs: expiresAtMs }]);
  }
}

const noKey = (): Problem => new Problem('not-found', 'There is no such API key.');
