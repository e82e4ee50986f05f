import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db } from '../../platform/db/index.ts';
import type { AccountGates } from '../accounts/index.ts';
import type { TokenVerifier } from './authenticator.service.ts';
import { headerOf } from './signing-keys.service.ts';
import type { SigningKeys, TokenPurpose } from './signing-keys.service.ts';
import { isSiteScope, opens, orderOf, placesCalls } from './site-tokens.rules.ts';
import type { NewSiteToken, SiteTokenOrder } from './site-tokens.rules.ts';
import { SiteTokensStore } from './site-tokens.store.ts';

/** Names the kind of token in its header (RFC 8725, 3.11). */
const SITE_TOKEN_TYP = 'site+jwt';

export interface SiteToken {
  token: string;
  jti: string;
  expiresAtMs: number;
  /** The account's carrier connection; null without one. */
  poolId: string | null;
}

export interface SiteTokensOptions {
  db: Db;
  clock: Clock;
  ids: Ids;
  signing: Pick<SigningKeys, 'sign' | 'verify'>;
  gates: Pick<AccountGates, 'requireActive' | 'requirePaid'>;
  carriers: { connectedCarrier(teamId: string): Promise<{ id: string } | null> };
  /** PUBLIC_URL: issuer and audience of the tokens. */
  publicUrl: () => string;
}

/**
 * Short-lived tokens for browser widgets. A token acts under the user of the credential that minted it, with what its
 * scopes open; it ends at its time, and with the API key that minted it.
 */
export class SiteTokens implements TokenVerifier {
  readonly #options: SiteTokensOptions;
  readonly #store: SiteTokensStore;

  constructor(options: SiteTokensOptions) {
    this.#options = options;
    this.#store = new SiteTokensStore(options.db);
  }

  /**
   * @throws Problem forbidden (a site token), insufficient-scope, validation-error, byoc-required (no carrier),
   * payment-required
   */
  async mint(caller: Caller, input: NewSiteToken): Promise<SiteToken> {
    if (caller.kind === 'site_token') throw new Problem('forbidden', 'A site token cannot mint another.');
    requireScope(caller, 'numbers:write');
    const { carriers, gates, clock, ids } = this.#options;
    const order = orderOf(input);
    for (const scope of opens(order.scopes)) requireScope(caller, scope);
    await gates.requireActive(caller);
    const carrier = await carriers.connectedCarrier(caller.teamId);
    if (placesCalls(order.scopes)) {
      if (!carrier)
        throw new Problem('byoc-required', 'Connect a carrier first: these tokens place calls on it.');
      await gates.requirePaid(caller);
    }
    const jti = ids.uuid();
    // Whole seconds, as the token says it.
    const expiresAtMs = (Math.floor(clock.nowMs() / 1_000) + order.ttlSec) * 1_000;
    const token = await this.#options.signing.sign(claimsOf(caller, order, jti), {
      ...this.#purpose(),
      expiresAtMs,
    });
    return { token, jti, expiresAtMs, poolId: carrier?.id ?? null };
  }

  /** Null: no site token. @throws Problem unauthorized, forbidden (suspended) */
  async verify(token: string): Promise<Caller | null> {
    if (headerOf(token)?.['typ'] !== SITE_TOKEN_TYP) return null;
    const claims = await this.#options.signing.verify(token, this.#purpose());
    if (!claims?.jti) throw unauthorized();
    const teamId = String(claims['team_id']);
    const keyId = typeof claims['key_id'] === 'string' ? claims['key_id'] : null;
    const minter = await this.#store.findMinter({ teamId, keyId, nowMs: this.#options.clock.nowMs() });
    if (!minter?.keyLives) throw unauthorized();
    if (minter.suspended) throw new Problem('forbidden', 'The account is suspended.');
    const scopes = String(claims['scope']).split(' ').filter(isSiteScope);
    return {
      kind: 'site_token',
      teamId,
      userId: String(claims['user_id']),
      scopes: new Set(opens(scopes)),
      operator: false,
      role: null,
      credentialId: claims.jti,
    };
  }

  #purpose(): TokenPurpose {
    const publicUrl = this.#options.publicUrl();
    return { typ: SITE_TOKEN_TYP, audience: publicUrl, issuer: publicUrl };
  }
}

function claimsOf(caller: Caller, order: SiteTokenOrder, jti: string): Record<string, string> {
  return {
    jti,
    team_id: caller.teamId,
    user_id: caller.userId,
    scope: order.scopes.join(' '),
    ...(order.sub === null ? {} : { sub: order.sub }),
    ...(order.siteId === null ? {} : { site_id: order.siteId }),
    ...(caller.kind === 'api_key' ? { key_id: caller.credentialId } : {}),
  };
}

const unauthorized = (): Problem => new Problem('unauthorized', 'The site token is wrong or expired.');
