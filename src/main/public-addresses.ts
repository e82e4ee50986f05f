import type { Settings } from '../platform/settings/index.ts';

type Addresses = Pick<Settings, 'publicUrl' | 'authUrl'>;

/**
 * PUBLIC_URL and AUTH_URL in force: token audience and issuer, links, types of problems. They are asked for late, since
 * an address that follows from a port of free choice (0) is known only when that port is listened on.
 */
export class PublicAddresses {
  #current: Addresses;

  constructor(settings: Addresses) {
    this.#current = settings;
  }

  publicUrl = (): string => this.#current.publicUrl;

  authUrl = (): string => this.#current.authUrl;

  /** Settings read again with the ports that were found. */
  update(settings: Addresses): void {
    this.#current = { publicUrl: settings.publicUrl, authUrl: settings.authUrl };
  }
}
