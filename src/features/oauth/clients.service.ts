import { requireScope } from '../../kernel/caller.ts';
import type { Caller, Scope } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db } from '../../platform/db/index.ts';
import { formatSecret, hashOf, SECRET_BYTES } from '../credentials/index.ts';
import { checkClient, CLIENTS_MAX } from './clients.rules.ts';
import type { NewClient } from './clients.rules.ts';
import { ClientsStore } from './clients.store.ts';
import type { ClientRow } from './clients.store.ts';

const CLIENT_SECRET_PREFIX = 'tgc_';

/** An OAuth client as its account sees it. */
export interface OauthClient {
  clientId: string;
  name: string;
  scopes: readonly Scope[];
  redirectUris: readonly string[];
  createdAtMs: number;
}

/** OAuth clients of the caller's account (contract, Authentication 6: set up for one account). */
export class OauthClientsService {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #store: ClientsStore;

  constructor(options: { db: Db; clock: Clock; ids: Ids }) {
    this.#db = options.db;
    this.#clock = options.clock;
    this.#ids = options.ids;
    this.#store = new ClientsStore(options.db);
  }

  /**
   * Without redirect addresses a machine client; its secret is shown here and stored as a hash. With them a public
   * client, which has none. @throws Problem insufficient-scope, validation-error, conflict
   */
  async create(caller: Caller, input: NewClient): Promise<OauthClient & { clientSecret: string | null }> {
    requireScope(caller, 'account:write');
    const checked = checkClient(input);
    const isPublic = checked.redirectUris.length > 0;
    const clientSecret = isPublic ? null : formatSecret(CLIENT_SECRET_PREFIX, this.#ids.secret(SECRET_BYTES));
    const row: ClientRow = {
      ...{ ...checked, clientId: this.#ids.uuid(), teamId: caller.teamId, createdBy: caller.userId },
      secretHash: clientSecret === null ? null : hashOf(clientSecret),
      createdAtMs: this.#clock.nowMs(),
    };
    await this.#db.tx(async (tx) => {
      if ((await this.#store.lockAndCount(tx, caller.teamId)) >= CLIENTS_MAX) {
        throw new Problem(
          'conflict',
          `The account has ${CLIENTS_MAX} OAuth clients already: revoke one first.`,
        );
      }
      await this.#store.insert(tx, row);
    });
    return { ...viewOf(row), clientSecret };
  }

  /** Not revoked, newest first. @throws Problem insufficient-scope */
  async list(caller: Caller): Promise<OauthClient[]> {
    requireScope(caller, 'balance:read');
    return (await this.#store.list(caller.teamId)).map(viewOf);
  }

  /** It gets no more tokens, and those it has are refused from now on. @throws Problem insufficient-scope, not-found */
  async revoke(caller: Caller, clientId: string): Promise<void> {
    requireScope(caller, 'account:write');
    const client = { teamId: caller.teamId, clientId, nowMs: this.#clock.nowMs() };
    if (!isUuid(clientId) || !(await this.#store.revoke(client))) {
      throw new Problem('not-found', 'There is no such OAuth client.');
    }
  }
}

const viewOf = ({ clientId, name, scopes, redirectUris, createdAtMs }: ClientRow): OauthClient => ({
  ...{ clientId, name, scopes, redirectUris, createdAtMs },
});
