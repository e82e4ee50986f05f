import { timingSafeEqual } from 'node:crypto';
import { isScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db } from '../../platform/db/index.ts';
import type { RequestCredentials } from '../../platform/http/index.ts';
import { ApiKeysStore } from './api-keys.store.ts';
import type { FoundApiKey } from './api-keys.store.ts';
import { available } from './availability.ts';
import { API_KEY_PREFIX, hashOf } from './key-format.rules.ts';
import type { KeyUsage } from './key-usage.service.ts';

/** What is sent as x-key or x-secret is at most this long; ours are shorter. */
const CREDENTIAL_LENGTH_MAX = 256;
/** Longest bearer token taken, characters; an access token of every scope has less than 2,000. */
const BEARER_LENGTH_MAX = 8_192;
/** Compared with when there is no such key, so that an unknown key takes as long as a wrong secret. */
const NO_HASH = Buffer.alloc(32);

/** A kind of bearer token. Null: not of this kind. @throws Problem unauthorized: of this kind, but bad */
export interface TokenVerifier {
  verify(token: string): Promise<Caller | null>;
}

export interface AuthenticatorOptions {
  db: Db;
  clock: Clock;
  usage: Pick<KeyUsage, 'count'>;
  /** Asked in this order. */
  verifiers: readonly TokenVerifier[];
}

/**
 * Says who asks. Keys are read from the database for each request, so that a deleted one is refused at once; nothing is
 * told about why a credential was refused.
 */
export class Authenticator {
  readonly #store: ApiKeysStore;
  readonly #clock: Clock;
  readonly #usage: Pick<KeyUsage, 'count'>;
  readonly #verifiers: readonly TokenVerifier[];

  constructor(options: AuthenticatorOptions) {
    this.#store = new ApiKeysStore(options.db);
    this.#clock = options.clock;
    this.#usage = options.usage;
    this.#verifiers = options.verifiers;
  }

  /**
   * An API key wins over a bearer token, also a wrong one or half a pair (contract, Authentication 2).
   * @throws Problem unauthorized, forbidden (suspended), service-unavailable
   */
  async authenticate({ key, secret, bearer }: RequestCredentials): Promise<Caller> {
    return available(async () => {
      if (key !== undefined || secret !== undefined) return this.#byKey(key ?? '', secret ?? '');
      if (bearer === undefined)
        throw unauthorized('This needs a credential: x-key and x-secret, or a bearer token.');
      return this.#byToken(bearer);
    });
  }

  async #byKey(key: string, secret: string): Promise<Caller> {
    if (secret.length > CREDENTIAL_LENGTH_MAX) throw unauthorized();
    const found = isKey(key) ? await this.#store.findByKey(key) : null;
    const isSecretRight = timingSafeEqual(found?.secret_hash ?? NO_HASH, hashOf(secret));
    const nowMs = this.#clock.nowMs();
    if (!found || !isSecretRight || isOver(found, nowMs)) throw unauthorized();
    if (found.team_suspended) throw new Problem('forbidden', 'The account is suspended.');
    if (found.key_suspended) throw new Problem('forbidden', 'The API key is suspended.');
    this.#usage.count(found.id, nowMs);
    return {
      kind: 'api_key',
      teamId: found.team_id,
      userId: found.created_by,
      scopes: new Set(found.scopes.filter(isScope)),
      operator: found.operator,
      role: null,
      credentialId: found.id,
    };
  }

  async #byToken(token: string): Promise<Caller> {
    if (token.length > BEARER_LENGTH_MAX) throw unauthorized();
    for (const verifier of this.#verifiers) {
      const caller = await verifier.verify(token);
      if (caller) return caller;
    }
    throw unauthorized();
  }
}

const isOver = (key: FoundApiKey, nowMs: number): boolean =>
  key.expires_at !== null && key.expires_at.getTime() <= nowMs;

const isKey = (text: string): boolean =>
  text.startsWith(API_KEY_PREFIX) && text.length <= CREDENTIAL_LENGTH_MAX && /^[\w-]+$/.test(text);

const unauthorized = (detail = 'The credentials are wrong, deleted or expired.'): Problem =>
  new Problem('unauthorized', detail);
