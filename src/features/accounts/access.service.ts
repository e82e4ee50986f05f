import type { Cipher, Db } from '../../platform/db/index.ts';
import { AccountsStore } from './accounts.store.ts';

/** What binds a stored platform token to its account. */
export const platformTokenContext = (teamId: string): string => `platform-token:${teamId}`;

/** What a gateway must know of an account for its sessions. */
export interface AccountAccess {
  detectionOn: boolean;
  hasFunds: boolean;
  concurrentSessions: number;
  /** The account's token at the telephony platform, when it stored one. */
  platformToken: string | null;
  keepTranscripts: boolean;
}

/** Reads it fresh; gateways cache it with the key. */
export class AccountAccessReader {
  readonly #store: AccountsStore;
  readonly #cipher: Cipher;

  constructor(db: Db, cipher: Cipher) {
    this.#store = new AccountsStore(db);
    this.#cipher = cipher;
  }

  async find(teamId: string): Promise<AccountAccess | null> {
    const row = await this.#store.findAccess(teamId);
    if (!row) return null;
    const stored = row.platform_token_ciphertext;
    return {
      detectionOn: row.detection,
      hasFunds: row.has_funds,
      concurrentSessions: row.concurrent_sessions,
      platformToken: stored === null ? null : this.#cipher.decrypt(stored, platformTokenContext(teamId)),
      keepTranscripts: row.keep_transcripts,
    };
  }
}
