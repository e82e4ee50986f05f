import { createHash } from 'node:crypto';
import { isE164 } from '../../kernel/e164.ts';
import { invalidField, requireText } from '../../kernel/text.ts';

/** Supplement 5. */
export const CONSENT_TYPES = ['sms_optin', 'tcpa_optin'] as const;
export type ConsentType = (typeof CONSENT_TYPES)[number];
export const CONSENT_METHODS = ['phone', 'in_person', 'web_form', 'paper'] as const;
export type ConsentMethod = (typeof CONSENT_METHODS)[number];

/** Characters of the wording that a contact agreed to. */
export const CONSENT_TEXT_LENGTH_MAX = 20_000;

export interface NewConsent {
  consentType?: unknown;
  phoneNumber?: unknown;
  consentText?: unknown;
  consentMethod?: unknown;
}

export interface CheckedConsent {
  consentType: ConsentType;
  /** E.164. */
  phoneNumber: string;
  consentText: string;
  /** SHA-256 of the wording's UTF-8 bytes, in hex: proves later that it was not changed. */
  consentTextHash: string;
  consentMethod: ConsentMethod;
}

/** @throws Problem validation-error */
export function checkConsent(input: NewConsent): CheckedConsent {
  const consentText = requireText('consent_text', input.consentText, CONSENT_TEXT_LENGTH_MAX);
  const consentMethod = CONSENT_METHODS.find((known) => known === input.consentMethod);
  if (!consentMethod) {
    throw invalidField('consent_method', `consent_method must be one of ${CONSENT_METHODS.join(', ')}.`);
  }
  return {
    ...checkConsentKey(input),
    ...{ consentText, consentMethod },
    consentTextHash: createHash('sha256').update(consentText, 'utf8').digest('hex'),
  };
}

/** Which consent is meant. @throws Problem validation-error */
export function checkConsentKey(input: { consentType?: unknown; phoneNumber?: unknown }) {
  const consentType = CONSENT_TYPES.find((known) => known === input.consentType);
  if (!consentType) {
    throw invalidField('consent_type', `consent_type must be one of ${CONSENT_TYPES.join(', ')}.`);
  }
  const { phoneNumber } = input;
  if (typeof phoneNumber !== 'string' || !isE164(phoneNumber)) {
    throw invalidField('phone_number', 'phone_number must be an E.164 number such as +12025550123.');
  }
  return { consentType, phoneNumber };
}
