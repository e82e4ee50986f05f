import { isScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db } from '../../platform/db/index.ts';
import type { TeamCredentials } from '../../platform/http/index.ts';
import { available } from './availability.ts';
import { API_SECRET_PREFIX, hashOf, isWellFormed } from './key-format.rules.ts';
import type { KeyUsage } from './key-usage.service.ts';
import { TeamSecretsStore } from './team-secrets.store.ts';

export interface TeamSecretsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly usage: Pick<KeyUsage, 'count'>;
}

/** Says who asks version 1: an account's id and the secret of one of its API keys, which acts with that key's scopes. */
export class TeamSecrets {
  readonly #options: TeamSecretsOptions;
  readonly #store: TeamSecretsStore;

  constructor(options: TeamSecretsOptions) {
    this.#options = options;
    this.#store = new TeamSecretsStore(options.db);
  }

  /** @throws Problem unauthorized, forbidden (suspended), service-unavailable */
  async authenticate({ teamId, secret }: TeamCredentials): Promise<Caller> {
    if (!isUuid(teamId) || !isWellFormed(API_SECRET_PREFIX, secret)) throw unauthorized();
    const key = await available(() => this.#store.find(teamId.toLowerCase(), hashOf(secret)));
    const nowMs = this.#options.clock.nowMs();
    if (!key || (key.expires_at !== null && key.expires_at.getTime() <= nowMs)) throw unauthorized();
    if (key.team_suspended) throw new Problem('forbidden', 'The account is suspended.');
    if (key.key_suspended) throw new Problem('forbidden', 'The API key is suspended.');
    this.#options.usage.count(key.id, nowMs);
    return {
      kind: 'api_key',
      teamId: key.team_id,
      userId: key.created_by,
      scopes: new Set(key.scopes.filter(isScope)),
      operator: key.operator,
      role: null,
      credentialId: key.id,
    };
  }
}

const unauthorized = (): Problem =>
  new Problem('unauthorized', 'The credentials are wrong, deleted or expired.');
