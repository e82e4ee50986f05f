import { Type } from '@sinclair/typebox';
import type { TObject } from '@sinclair/typebox';
import type { Scope } from '../../kernel/caller.ts';
import { route } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import type { ImportService, ListsService } from '../contacts/index.ts';
import type { BrandsService } from '../lookups/index.ts';
import type { AcceptSends } from '../sends/index.ts';
import { checkRepeated, rvmRequest, smsRequest } from './legacy.rules.ts';
import type { Fields } from './legacy.rules.ts';
import {
  BrandsData,
  ContactsBody,
  ContactsData,
  ListBody,
  ListData,
  QueuedData,
  RvmBody,
  SmsBody,
} from './legacy.schema.ts';

/** Bytes: as many as an import of version 2 may have. */
const CONTACTS_BODY_BYTES_MAX = 8 * 1_024 * 1_024;
const tag = 'Version 1';
const base = { tag, auth: 'team-secret', envelope: false } as const;

export interface LegacyServices {
  readonly acceptSends: AcceptSends;
  readonly lookups: { readonly brands: Pick<BrandsService, 'list'> };
  readonly lists: Pick<ListsService, 'create'>;
  readonly contactImport: Pick<ImportService, 'run'>;
}

/** The five routes of version 1 (interface.md, Versioning 2), over the services of version 2 with their own field names. */
export const legacyRoutes = (services: LegacyServices): RouteSpec[] => [
  sendRoute(services, {
    ...{ channel: 'rvm', path: '/v1/rvm', operationId: 'legacySendRvm', scope: 'rvm:send', body: RvmBody },
    ...{ summary: 'Queue a ringless voicemail', requestOf: rvmRequest },
    example: { phone_number: '+15550010001', tts_body: 'Hello.', voice_id: 'en-us', foreign_id: 'order-7' },
  }),
  sendRoute(services, {
    ...{ channel: 'sms', path: '/v1/sms', operationId: 'legacySendSms', scope: 'sms:send', body: SmsBody },
    ...{ summary: 'Queue a text message', requestOf: smsRequest },
    example: { phone_number: '+15550020001', sms_body: 'Your order is ready.', opt_in: true },
  }),
  brandsRoute(services),
  listRoute(services),
  contactsRoute(services),
];

function sendRoute(
  { acceptSends }: LegacyServices,
  of: {
    readonly channel: 'rvm' | 'sms';
    readonly path: string;
    readonly operationId: string;
    readonly scope: Scope;
    readonly summary: string;
    readonly body: TObject;
    readonly example: Fields;
    readonly requestOf: (body: Fields) => Fields;
  },
): RouteSpec {
  const { channel, path, operationId, scope, summary, body, example, requestOf } = of;
  return route({
    ...{ method: 'POST', path, operationId, ...base, summary },
    description: 'Everything else is its result, which arrives at `callback_url`.',
    scopes: [scope],
    body,
    data: QueuedData,
    example: { body: example },
    handler: async ({ caller, body: sent, request }) => {
      checkRepeated(sent, request.headers);
      await acceptSends.accept({ caller, channel, version: 1, request: requestOf(sent) });
      return { status: 'queued' as const };
    },
  });
}

const brandsRoute = ({ lookups }: LegacyServices): RouteSpec =>
  route({
    ...{ method: 'GET', path: '/v1/brand', operationId: 'legacyListBrands', ...base },
    summary: 'All brands, newest first',
    scopes: ['numbers:read'],
    data: BrandsData,
    handler: async ({ caller }) =>
      (await lookups.brands.list(caller)).map((brand) => ({
        brand_id: brand.brandId,
        company_name: brand.companyName,
        registered: brand.registered,
        api_allowed: brand.apiAllowed,
      })),
  });

const listRoute = ({ lists }: LegacyServices): RouteSpec =>
  route({
    ...{ method: 'POST', path: '/v1/list', operationId: 'legacyCreateList', ...base },
    summary: 'Make a contact list',
    scopes: ['lists:write'],
    paid: true,
    body: ListBody,
    status: 201,
    data: ListData,
    example: { body: { list_name: 'Spring campaign' } },
    handler: async ({ caller, body, request }) => {
      checkRepeated(body, request.headers);
      const { listId, name } = await lists.create(caller, { name: body.list_name });
      return { list_id: listId, list_name: name };
    },
  });

const contactsRoute = ({ contactImport }: LegacyServices): RouteSpec =>
  route({
    ...{ method: 'POST', path: '/v1/list/{list_id}/contacts', operationId: 'legacyAddContacts', ...base },
    summary: 'Bring contacts onto a list',
    description: 'A row whose phone, email or record_id is there already goes to that contact.',
    scopes: ['contacts:write'],
    paid: true,
    params: Type.Object({ list_id: Type.String({ maxLength: 64 }) }),
    body: ContactsBody,
    bodyLimit: CONTACTS_BODY_BYTES_MAX,
    status: 201,
    data: ContactsData,
    errors: ['not-found'],
    example: { body: { fields: ['first_name', 'phone'], values: [['Ada', '(202) 555-0123']], region: 'US' } },
    handler: async ({ caller, params, body, request }) => {
      checkRepeated(body, request.headers);
      const { fields, values, region } = body;
      const listIds = [params.list_id];
      const result = await contactImport.run(caller, {
        ...{ fields, values, listIds, region: region ?? undefined },
      });
      const contacts = (ids: readonly string[]) => ids.map((contactId) => ({ contact_id: contactId }));
      return {
        list_id: params.list_id.toLowerCase(),
        inserted: contacts(result.inserted),
        updated: contacts(result.updated),
        rejected: result.rejected.map(({ index, reasons }) => ({ index, reasons: [...reasons] })),
      };
    },
  });
