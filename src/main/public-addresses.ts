import type { Settings } from '../platform/settings/index.ts';

type Addresses = Pick<Settings, 'publicUrl' | 'authUrl' | 'detectUrl'>;

/**
 * PUBLIC_URL, AUTH_URL and DETECT_URL in force: token audience and issuer, links, types of problems, media streams. They are asked for late, since
 * an address that follows from a port of free choice (0) is known only when that port is listened on.
 */
export class PublicAddresses {
  #current: Addresses;

  constructor(settings: Addresses) {
    this.#current = settings;
  }

  publicUrl = (): string => this.#current.publicUrl;

  authUrl = (): string => this.#current.authUrl;

  detectUrl = (): string => this.#current.detectUrl;

  /** Those that changed once a port was found. */
  update({ publicUrl, authUrl, detectUrl }: Partial<Addresses>): void {
    const now = this.#current;
    this.#current = {
      publicUrl: publicUrl ?? now.publicUrl,
      authUrl: authUrl ?? now.authUrl,
      detectUrl: detectUrl ?? now.detectUrl,
    };
  }
}
