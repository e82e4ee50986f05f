import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { clientAddress, oauthListener, OauthProvider, trustedProxies } from '../features/oauth/index.ts';
import { reloadTls } from '../platform/http/index.ts';
import type { TlsFiles } from '../platform/http/index.ts';
import type { Services } from './compose.ts';

/** A client has this long to send its whole request, and an idle connection to send the next. */
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** The auth role: the OAuth 2.0 server on a listener of its own (runtime.md, AUTH_PORT). */
export class AuthRole {
  readonly #provider: OauthProvider;
  readonly #server: Server;

  constructor(services: Services, tls: TlsFiles | null) {
    const { db, clock, ids, logger, limiter, signingKeys, addresses, settings } = services;
    const trusted = trustedProxies(settings.trustProxy);
    const addressOf = (request: Parameters<RequestListener>[0]): string => clientAddress(request, trusted);
    const { authUrl: issuer, publicUrl } = addresses;
    this.#provider = new OauthProvider({
      ...{ db, clock, logger, limiter, signingKeys, issuer, audience: publicUrl, addressOf },
    });
    const listener = oauthListener({ provider: this.#provider, issuer, publicUrl, ids, logger });
    this.#server = tls ? createTlsServer(listener) : createServer(listener);
    if (tls) reloadTls(this.#server, tls);
    this.#server.requestTimeout = REQUEST_TIMEOUT_MS;
    this.#server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  }

  /** Listens and answers the port; `port` 0 takes any free one. */
  async listen(at: { host: string; port: number }): Promise<number> {
    this.#server.listen(at.port, at.host);
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** Makes the signing key and the server itself once, so that a fault shows at the start. The addresses must be known. */
  async prepare(): Promise<void> {
    await this.#provider.callback();
  }

  /** Nothing new from now on; resolves when the requests under way are answered. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeIdleConnections();
    await closed;
  }

  /** Ends the connections that are still open. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  reloadTls(tls: TlsFiles): void {
    reloadTls(this.#server, tls);
  }
}
