import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { checkConsent, checkConsentKey } from './consent.rules.ts';
import type { ConsentType, NewConsent } from './consent.rules.ts';
import { ConsentStore } from './consent.store.ts';
import type { ConsentRow } from './consent.store.ts';
import type { Change, Surroundings } from './surroundings.service.ts';
import type { TimelineService } from './timeline.service.ts';

export type Consent = ConsentRow;

export interface RevokedConsents {
  consentType: ConsentType;
  phoneNumber: string;
  /** How many records this call revoked; 0: they were revoked before. */
  revokedCount: number;
}

/** What contacts agreed to, in which words, and what they took back. Records are never changed or deleted. */
export class ConsentService {
  readonly #ids: Ids;
  readonly #store: ConsentStore;
  readonly #surroundings: Surroundings;
  readonly #timeline: TimelineService;

  constructor(options: { db: Db; ids: Ids; surroundings: Surroundings; timeline: TimelineService }) {
    this.#ids = options.ids;
    this.#store = new ConsentStore(options.db);
    this.#surroundings = options.surroundings;
    this.#timeline = options.timeline;
  }

  /** @throws Problem insufficient-scope, validation-error, not-found, conflict (too many) */
  async grant(caller: Caller, contactId: string, input: NewConsent): Promise<Consent> {
    requireScope(caller, 'consent:write');
    const checked = checkConsent(input);
    return this.#surroundings.change(caller, contactId, async (tx, change) => {
      await this.#surroundings.requireRoom(tx, change, 'consents');
      const made: Consent = {
        ...{ ...checked, consentId: this.#ids.uuid(), contactId: change.contactId },
        ...{ grantedBy: change.userId, grantedAtMs: change.nowMs, revokedBy: null, revokedAtMs: null },
      };
      await this.#store.insert(tx, { ...made, teamId: change.teamId });
      const data = {
        ...{ consent_id: made.consentId, consent_type: made.consentType, phone_number: made.phoneNumber },
        ...{ consent_method: made.consentMethod, consent_text_hash: made.consentTextHash },
      };
      const { teamId, nowMs: atMs } = change;
      const entry = { teamId, contactId: change.contactId, type: 'consent_granted', data, atMs };
      await this.#timeline.add(tx, entry);
      await this.#surroundings.tell(tx, change, { event: 'contact.consent.granted', data });
      return made;
    });
  }

  /** Newest first, revoked ones too. @throws Problem insufficient-scope, not-found */
  async list(caller: Caller, contactId: string): Promise<Consent[]> {
    requireScope(caller, 'consent:read');
    await this.#surroundings.requireContact(caller, contactId);
    return this.#store.list(caller.teamId, contactId);
  }

  /**
   * Takes back every consent of this type for the number; doing it again changes nothing.
   * @throws Problem insufficient-scope, validation-error, not-found (contact, or there never was such a consent)
   */
  async revoke(
    caller: Caller,
    contactId: string,
    input: { consentType?: unknown; phoneNumber?: unknown },
  ): Promise<RevokedConsents> {
    requireScope(caller, 'consent:write');
    const key = checkConsentKey(input);
    return this.#surroundings.change(caller, contactId, async (tx, change) => {
      const { isKnown, revokedIds } = await this.#store.revoke(tx, { ...change, ...key });
      if (!isKnown) throw new Problem('not-found', 'There is no such consent.');
      const revoked = { ...key, revokedCount: revokedIds.length };
      if (revokedIds.length === 0) return revoked;
      await this.#tellRevoked(tx, { ...change, ...key, consentIds: revokedIds });
      return revoked;
    });
  }

  /** As `revoke` of every consent for a number, whoever of the account's contacts gave it: an opt-out. */
  async revokeNumber(
    tx: Tx,
    of: { teamId: string; phoneNumber: string; userId: string; nowMs: number },
  ): Promise<void> {
    for (const revoked of await this.#store.revokeNumber(tx, of)) {
      await this.#tellRevoked(tx, { ...of, ...revoked });
    }
  }

  async #tellRevoked(
    tx: Tx,
    of: Change & { consentType: string; phoneNumber: string; consentIds: readonly string[] },
  ): Promise<void> {
    const data = {
      ...{ consent_ids: of.consentIds, consent_type: of.consentType, phone_number: of.phoneNumber },
      revoked_by: of.userId,
    };
    const { teamId, contactId, nowMs: atMs } = of;
    await this.#timeline.add(tx, { teamId, contactId, type: 'consent_revoked', data, atMs });
    await this.#surroundings.tell(tx, of, { event: 'contact.consent.revoked', data });
  }
}
