import type { Consent, RevokedConsents } from './consent.service.ts';

/** A consent record with the wording that was agreed to. */
export const presentConsent = (consent: Consent) => ({
  consent_id: consent.consentId,
  contact_id: consent.contactId,
  consent_type: consent.consentType,
  phone_number: consent.phoneNumber,
  consent_text: consent.consentText,
  consent_text_hash: consent.consentTextHash,
  consent_method: consent.consentMethod,
  granted_at: consent.grantedAtMs,
  granted_by: consent.grantedBy,
  revoked_at: consent.revokedAtMs,
  revoked_by: consent.revokedBy,
});

export const presentRevokedConsents = (revoked: RevokedConsents) => ({
  consent_type: revoked.consentType,
  phone_number: revoked.phoneNumber,
  revoked: true as const,
  revoked_count: revoked.revokedCount,
});
