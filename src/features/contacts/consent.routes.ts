import { Type } from '@sinclair/typebox';
import { route } from '../../platform/http/route.type.ts';
import type { RouteSpec } from '../../platform/http/route.type.ts';
import { presentConsent, presentRevokedConsents } from './consent.present.ts';
import { CONSENT_METHODS, CONSENT_TEXT_LENGTH_MAX, CONSENT_TYPES } from './consent.rules.ts';
import type { ConsentService } from './consent.service.ts';
import { ContactParams } from './contacts.schema.ts';

const PATH = '/contact/public/contacts/{contact_id}/consent';
const TAG = 'Consent';
const ConsentType = Type.Union(CONSENT_TYPES.map((type) => Type.Literal(type)));
const ConsentMethod = Type.Union(CONSENT_METHODS.map((method) => Type.Literal(method)));
const PhoneNumber = Type.String({ maxLength: 16, description: 'E.164.' });

const grantRoute = (consents: ConsentService): RouteSpec =>
  route({
    ...{ method: 'POST', path: PATH, operationId: 'grantConsent', tag: TAG },
    summary: 'Record a consent',
    description: 'The wording is kept with its SHA-256 hash.',
    scopes: ['consent:write'],
    params: ContactParams,
    body: Type.Object({
      consent_type: ConsentType,
      phone_number: PhoneNumber,
      consent_text: Type.String({
        ...{ minLength: 1, maxLength: CONSENT_TEXT_LENGTH_MAX },
        description: 'The words that the contact agreed to.',
      }),
      consent_method: ConsentMethod,
    }),
    data: Type.Object({ consent_id: Type.String() }),
    status: 201,
    errors: ['not-found', 'conflict'],
    example: {
      body: {
        ...{ consent_type: 'sms_optin', phone_number: '+12025550123' },
        ...{ consent_text: 'I agree to receive texts from Example Ltd.', consent_method: 'web_form' },
      },
    },
    handler: async ({ caller, params, body }) => {
      const { consentId } = await consents.grant(caller, params.contact_id, {
        ...{ consentType: body.consent_type, phoneNumber: body.phone_number },
        ...{ consentText: body.consent_text, consentMethod: body.consent_method },
      });
      return { consent_id: consentId };
    },
  });

const listRoute = (consents: ConsentService): RouteSpec =>
  route({
    ...{ method: 'GET', path: PATH, operationId: 'listConsents', tag: TAG },
    summary: 'List the consents of a contact, newest first',
    description: 'Revoked ones too.',
    scopes: ['consent:read'],
    params: ContactParams,
    data: Type.Array(
      Type.Object({
        consent_id: Type.String(),
        contact_id: Type.String(),
        consent_type: ConsentType,
        phone_number: Type.String(),
        consent_text: Type.String(),
        consent_text_hash: Type.String({ description: 'SHA-256 of the wording in UTF-8, hex.' }),
        consent_method: ConsentMethod,
        granted_at: Type.Integer({ description: 'Epoch ms.' }),
        granted_by: Type.String(),
        revoked_at: Type.Union([Type.Integer(), Type.Null()]),
        revoked_by: Type.Union([Type.String(), Type.Null()]),
      }),
    ),
    errors: ['not-found'],
    handler: async ({ caller, params }) =>
      (await consents.list(caller, params.contact_id)).map(presentConsent),
  });

const revokeRoute = (consents: ConsentService): RouteSpec =>
  route({
    ...{ method: 'POST', path: `${PATH}/revoke`, operationId: 'revokeConsent', tag: TAG },
    summary: 'Revoke a consent',
    description: 'Takes back every consent of this type for the number; doing it again changes nothing.',
    scopes: ['consent:write'],
    params: ContactParams,
    body: Type.Object({ consent_type: ConsentType, phone_number: PhoneNumber }),
    data: Type.Object({
      consent_type: ConsentType,
      phone_number: Type.String(),
      revoked: Type.Literal(true),
      revoked_count: Type.Integer({ description: '0: revoked before.' }),
    }),
    errors: ['not-found'],
    example: { body: { consent_type: 'sms_optin', phone_number: '+12025550123' } },
    handler: async ({ caller, params, body }) =>
      presentRevokedConsents(
        await consents.revoke(caller, params.contact_id, {
          ...{ consentType: body.consent_type, phoneNumber: body.phone_number },
        }),
      ),
  });

/** Consents of one contact (supplement 5). */
export const consentRoutes = ({ consents }: { consents: ConsentService }): RouteSpec[] =>
  [grantRoute, listRoute, revokeRoute].map((make) => make(consents));
