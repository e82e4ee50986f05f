import { Problem } from '../../kernel/problem.ts';
import { CipherError } from '../../platform/db/index.ts';
import type { Cipher } from '../../platform/db/index.ts';

/** Bind the sealed texts to their use. */
const PIXEL_CONTEXT = 'email-pixel';
const LINK_CONTEXT = 'email-link';
export const PIXEL_PATH = '/email/public/open';
export const LINK_PATH = '/email/public/click';
export const UNSUBSCRIBE_PATH = '/email/public/unsubscribe';

/** Whose email was opened, or whose link was followed. */
export interface Tracked {
  readonly teamId: string;
  readonly emailId: string;
}

/**
 * Addresses in emails. The email, and of a link its target too, are sealed in the address: it leads only where a link of
 * the email led, nobody can make one up, and it works as long as the master key does, also when the email is forgotten.
 */
export class TrackedAddresses {
  readonly #cipher: Cipher;
  readonly #publicUrl: () => string;

  constructor(options: { cipher: Cipher; publicUrl: () => string }) {
    this.#cipher = options.cipher;
    this.#publicUrl = options.publicUrl;
  }

  pixel(of: Tracked): string {
    return `${this.#publicUrl()}${PIXEL_PATH}/${this.#cipher.encrypt(`${of.teamId} ${of.emailId}`, PIXEL_CONTEXT)}`;
  }

  link(of: Tracked, target: string): string {
    const sealed = this.#cipher.encrypt(`${of.teamId} ${of.emailId} ${target}`, LINK_CONTEXT);
    return `${this.#publicUrl()}${LINK_PATH}?t=${sealed}`;
  }

  unsubscribe(token: string): string {
    return `${this.#publicUrl()}${UNSUBSCRIBE_PATH}/${token}`;
  }

  /** @throws Problem not-found (made up or changed) */
  openPixel(token: string): Tracked {
    const [teamId = '', emailId = ''] = this.#unseal(token, PIXEL_CONTEXT).split(' ');
    return { teamId, emailId };
  }

  /** @throws Problem not-found (made up or changed) */
  openLink(token: string): Tracked & { target: string } {
    const [teamId = '', emailId = '', target = ''] = this.#unseal(token, LINK_CONTEXT).split(' ');
    return { teamId, emailId, target };
  }

  #unseal(token: string, context: string): string {
    try {
      return this.#cipher.decrypt(token, context);
    } catch (error) {
      if (error instanceof CipherError) throw new Problem('not-found', 'There is nothing at this address.');
      throw error;
    }
  }
}
