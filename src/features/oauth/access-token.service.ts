import { isScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import { isUuid } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db } from '../../platform/db/index.ts';
import { headerOf } from '../credentials/index.ts';
import type { SigningKeys, TokenVerifier } from '../credentials/index.ts';
import { ClientsStore } from './clients.store.ts';

/** RFC 9068, 2.1: what tells an access token from every other token of ours. */
const ACCESS_TOKEN_TYPE = 'at+jwt';

export interface AccessTokensOptions {
  readonly db: Db;
  readonly signingKeys: Pick<SigningKeys, 'verify'>;
  readonly issuer: () => string;
  readonly audience: () => string;
}

/**
 * Judges access tokens of machine clients. The client is read for each request: a revoked one is refused at once, and
 * scopes taken from it are gone from its tokens.
 */
export class AccessTokens implements TokenVerifier {
  readonly #options: AccessTokensOptions;
  readonly #clients: ClientsStore;

  constructor(options: AccessTokensOptions) {
    this.#options = options;
    this.#clients = new ClientsStore(options.db);
  }

  /** Null: no access token. @throws Problem unauthorized, forbidden (account suspended) */
  async verify(token: string): Promise<Caller | null> {
    if (headerOf(token)?.['typ'] !== ACCESS_TOKEN_TYPE) return null;
    const { signingKeys, issuer, audience } = this.#options;
    const purpose = { typ: ACCESS_TOKEN_TYPE, issuer: issuer(), audience: audience() };
    const claims = await signingKeys.verify(token, purpose);
    const clientId = claims?.['client_id'];
    // The subject of a client's own token is the client.
    if (typeof clientId !== 'string' || !isUuid(clientId) || claims?.sub !== clientId) throw unauthorized();
    const client = await this.#clients.findActing(clientId);
    if (!client || claims['team_id'] !== client.teamId) throw unauthorized();
    if (client.teamSuspended) throw new Problem('forbidden', 'The account is suspended.');
    const scope = claims['scope'];
    const granted = new Set(typeof scope === 'string' ? scope.split(' ') : []);
    return {
      kind: 'machine',
      teamId: client.teamId,
      userId: client.createdBy,
      scopes: new Set(client.scopes.filter((scope) => isScope(scope) && granted.has(scope))),
      operator: client.operator,
      role: null,
      credentialId: client.clientId,
    };
  }
}

const unauthorized = (): Problem =>
  new Problem('unauthorized', 'The credentials are wrong, deleted or expired.');
