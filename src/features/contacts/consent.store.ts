import type { Db, Tx } from '../../platform/db/index.ts';
import type { CheckedConsent, ConsentMethod, ConsentType } from './consent.rules.ts';

export interface ConsentRow extends CheckedConsent {
  consentId: string;
  contactId: string;
  grantedBy: string;
  grantedAtMs: number;
  revokedBy: string | null;
  revokedAtMs: number | null;
}

/** The statements on consents: records are only added, and marked as revoked. */
export class ConsentStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async insert(tx: Tx, consent: ConsentRow & { teamId: string }): Promise<void> {
    await tx.query(
      `insert into consents (id, team_id, contact_id, consent_type, phone_number, consent_text, consent_text_hash,
         consent_method, granted_by, granted_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [
        ...[consent.consentId, consent.teamId, consent.contactId, consent.consentType, consent.phoneNumber],
        ...[consent.consentText, consent.consentTextHash, consent.consentMethod, consent.grantedBy],
        new Date(consent.grantedAtMs),
      ],
    );
  }

  /** Newest first, revoked ones too; how many a contact has is bounded where they are made. */
  async list(teamId: string, contactId: string): Promise<ConsentRow[]> {
    const { rows } = await this.#db.query<StoredConsent>(
      `select id, contact_id, consent_type, phone_number, consent_text, consent_text_hash, consent_method, granted_by,
         granted_at, revoked_by, revoked_at
       from consents where team_id = $1 and contact_id = $2 order by granted_at desc, id`,
      [teamId, contactId],
    );
    return rows.map((row) => ({
      ...{ consentId: row.id, contactId: row.contact_id, consentType: row.consent_type },
      ...{ phoneNumber: row.phone_number, consentText: row.consent_text },
      ...{ consentTextHash: row.consent_text_hash, consentMethod: row.consent_method },
      ...{ grantedBy: row.granted_by, grantedAtMs: row.granted_at.getTime() },
      ...{ revokedBy: row.revoked_by, revokedAtMs: row.revoked_at?.getTime() ?? null },
    }));
  }

  /** Whether there ever was a record of this kind, and the ids of those that this call revoked. */
  async revoke(tx: Tx, of: RevokedConsent): Promise<{ isKnown: boolean; revokedIds: string[] }> {
    const key = [of.teamId, of.contactId, of.consentType, of.phoneNumber];
    const revoked = await tx.query<{ id: string }>(
      `update consents set revoked_by = $5, revoked_at = $6
       where team_id = $1 and contact_id = $2 and consent_type = $3 and phone_number = $4 and revoked_at is null
       returning id`,
      [...key, of.userId, new Date(of.nowMs)],
    );
    const { rows } = await tx.query<{ known: boolean }>(
      `select exists (select 1 from consents
         where team_id = $1 and contact_id = $2 and consent_type = $3 and phone_number = $4) as known`,
      key,
    );
    return { isKnown: rows[0]?.known ?? false, revokedIds: revoked.rows.map((row) => row.id).sort() };
  }

  /** Every consent for a number, of every contact that has one. */
  async revokeNumber(
    tx: Tx,
    of: Omit<RevokedConsent, 'contactId' | 'consentType'>,
  ): Promise<RevokedOfNumber[]> {
    const { rows } = await tx.query<{ contact_id: string; consent_type: ConsentType; ids: string[] }>(
      `with revoked as (
         update consents set revoked_by = $3, revoked_at = $4
         where team_id = $1 and phone_number = $2 and revoked_at is null
         returning id, contact_id, consent_type)
       select contact_id, consent_type, array_agg(id::text order by id) as ids from revoked
       group by contact_id, consent_type order by contact_id, consent_type`,
      [of.teamId, of.phoneNumber, of.userId, new Date(of.nowMs)],
    );
    return rows.map((row) => ({
      ...{ contactId: row.contact_id, consentType: row.consent_type, consentIds: row.ids },
    }));
  }
}

export interface RevokedOfNumber {
  contactId: string;
  consentType: ConsentType;
  consentIds: string[];
}

export interface RevokedConsent {
  teamId: string;
  contactId: string;
  consentType: ConsentType;
  phoneNumber: string;
  userId: string;
  nowMs: number;
}

interface StoredConsent {
  id: string;
  contact_id: string;
  consent_type: ConsentType;
  phone_number: string;
  consent_text: string;
  consent_text_hash: string;
  consent_method: ConsentMethod;
  granted_by: string;
  granted_at: Date;
  revoked_by: string | null;
  revoked_at: Date | null;
}
