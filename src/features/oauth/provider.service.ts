import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OidcClient, OidcContext } from 'oidc-provider';
import type { Clock } from '../../kernel/clock.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Limiter } from '../../platform/limits/index.ts';
import type { Logger } from '../../platform/logger/index.ts';
import { hashOf } from '../credentials/index.ts';
import type { SigningKeys } from '../credentials/index.ts';
import { ArtifactsStore } from './artifacts.store.ts';
import { ClientsStore } from './clients.store.ts';
import { createAdapter } from './provider.adapter.ts';
import { providerConfig, ROUTES } from './provider.config.ts';
import type { PrivateJwk } from './provider.config.ts';
import { loadProvider } from './provider.loader.ts';
import type { Library } from './provider.loader.ts';
import { SecretGuesses } from './secret-guesses.ts';

/** Answers one request; never rejects. */
export type Callback = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export interface ProviderOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Counts wrong client secrets. */
  readonly limiter: Limiter;
  readonly signingKeys: Pick<SigningKeys, 'privateJwks' | 'jwks'>;
  /** AUTH_URL: names the server in tokens and metadata. */
  readonly issuer: () => string;
  /** PUBLIC_URL: what tokens are for. */
  readonly audience: () => string;
  /** The address a request is counted under. */
  readonly addressOf: (request: IncomingMessage) => string;
}

/** The OAuth library, set up for the keys, issuer and audience in force; made anew when one of them changes. */
export class OauthProvider {
  readonly #options: ProviderOptions;
  readonly #guesses: SecretGuesses;
  readonly #clients: ClientsStore;
  readonly #artifacts: ArtifactsStore;
  #library: Promise<Library> | undefined;
  #made: { of: string; callback: Callback } | undefined;

  constructor(options: ProviderOptions) {
    this.#options = options;
    this.#guesses = new SecretGuesses(options.limiter);
    this.#clients = new ClientsStore(options.db);
    this.#artifacts = new ArtifactsStore(options.db);
  }

  async callback(): Promise<Callback> {
    const { signingKeys, issuer, audience, logger } = this.#options;
    const library = await (this.#library ??= loadProvider(logger));
    const { keys } = await signingKeys.privateJwks();
    const of = JSON.stringify([issuer(), audience(), keys.map(({ kid }) => kid)]);
    if (this.#made?.of !== of) this.#made = { of, callback: this.#make(library, keys) };
    return this.#made.callback;
  }

  #make(library: Library, privateJwks: readonly PrivateJwk[]): Callback {
    const { clock, logger, issuer, audience } = this.#options;
    const adapter = createAdapter({
      ...{ artifacts: this.#artifacts, clients: this.#clients, clock },
      usedTwice: () => new library.errors.InvalidGrant(),
    });
    const provider = new library.Provider(
      issuer(),
      providerConfig({ library, adapter, privateJwks, audience }),
    );
    // The listener has put AUTH_URL in the place of what the request says of itself.
    provider.proxy = true;
    const compare = (client: OidcClient, given: string): Promise<boolean> =>
      this.#compare(library, client, given);
    provider.Client.prototype.compareClientSecret = function (given) {
      return compare(this, given);
    };
    provider.use((ctx, next) => this.#guard(ctx, next));
    provider.on('server_error', (_ctx, error) =>
      logger.error({ err: error }, 'A request of OAuth clients failed.'),
    );
    provider.on('error', (error) =>
      logger.warn({ err: error }, 'An answer to an OAuth client was not sent.'),
    );
    return provider.callback();
  }

  /** What is stored of the secret is its hash. Too many wrong ones, and none is judged any more for a while. */
  async #compare(library: Library, client: OidcClient, given: string): Promise<boolean> {
    const request = library.Provider.ctx?.req;
    const address = request ? this.#options.addressOf(request) : '';
    if (await this.#guesses.isShutOut(address, client.clientId)) {
      throw new library.errors.OIDCProviderError(TOO_MANY, 'too_many_requests');
    }
    const stored = Buffer.from(client.clientSecret ?? '', 'base64url');
    const hash = hashOf(given);
    return stored.length === hash.length && timingSafeEqual(stored, hash);
  }

  async #guard(ctx: OidcContext, next: () => Promise<void>): Promise<void> {
    const address = this.#options.addressOf(ctx.req);
    if (ctx.path === ROUTES.token && (await this.#guesses.isShutOut(address))) ctx.status = TOO_MANY;
    else await next();
    // Keys that were retired sign no more, but what they signed may still live.
    if (ctx.path === ROUTES.jwks && ctx.status === 200) ctx.body = await this.#options.signingKeys.jwks();
    if (ctx.path !== ROUTES.token) return;
    if (ctx.status === 401) await this.#guesses.wasWrong(address, ctx.oidc?.entities.Client?.clientId);
    if (ctx.status !== TOO_MANY) return;
    this.#options.logger.warn({ address }, 'Too many wrong client secrets from one address: refused.');
    ctx.body = {
      ...{
        error: 'too_many_requests',
        error_description: 'too many wrong client secrets; wait some minutes',
      },
      message: 'Too Many Requests',
    };
  }
}

const TOO_MANY = 429;
