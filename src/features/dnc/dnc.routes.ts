import { Type } from '@sinclair/typebox';
import { route } from '../../platform/http/route.type.ts';
import type { RouteSpec } from '../../platform/http/route.type.ts';
import { presentAdded, presentBulkRemoved, presentDncMatch, presentRemoved } from './dnc.present.ts';
import {
  EMAIL_LENGTH_MAX,
  IDENTIFIERS_MAX,
  LOOKUP_LENGTH_MAX,
  METHOD_LENGTH_MAX,
  PHONE_LENGTH_MAX,
  REASON_LENGTH_MAX,
} from './dnc.rules.ts';
import type { DncService, Identifier } from './dnc.service.ts';

const PATH = '/dnc/public/dnc';
const TAG = 'Do not contact';
/** Bytes: 10,000 numbers, or as many emails of usual length. */
const BODY_LIMIT = 1_048_576;
const NullableText = Type.Union([Type.String(), Type.Null()]);
const Phone = Type.String({ maxLength: PHONE_LENGTH_MAX, description: 'E.164, matched exactly.' });
const Email = Type.String({ maxLength: EMAIL_LENGTH_MAX, description: 'Either case.' });
const BrandQuery = Type.Object({ brand_id: Type.Optional(Type.String({ maxLength: 64 })) });
const BrandBody = Type.Optional(
  Type.Union([Type.String({ maxLength: 64 }), Type.Null()], { description: 'Omitted: every brand.' }),
);

const Match = Type.Object({
  on_dnc: Type.Boolean(),
  phone_numbers: Type.Array(Type.String(), { description: 'As asked for.' }),
  emails: Type.Array(Type.String(), { description: 'As asked for, in lower case.' }),
  matched: Type.Integer({ description: 'How many of the identifiers asked for are listed.' }),
  data: Type.Array(
    Type.Object({
      brand_id: Type.Union([Type.String(), Type.Null()], { description: 'null blocks every brand.' }),
      phone_number: NullableText,
      email: NullableText,
      method: Type.String(),
      reason: Type.String(),
      self_added: Type.Boolean({ description: 'The contact opted out: cannot be removed.' }),
      created_at: Type.Integer({ description: 'Epoch ms.' }),
      updated_at: Type.Integer(),
    }),
  ),
});
const Success = Type.Object({ success: Type.Boolean() }, { description: 'What became of the entry.' });
const UpdateResult = Type.Object(
  {
    acknowledged: Type.Boolean(),
    matchedCount: Type.Integer({ description: 'Contacts with the identifier.' }),
    modifiedCount: Type.Integer({ description: 'Those whose `dnc` changed.' }),
    upsertedId: Type.Null(),
    upsertedCount: Type.Integer(),
  },
  { description: 'What became of the contacts.' },
);
const Information = Type.Object({ information_message: Type.String() });

/** The routes of one identifier: the same for numbers and emails. */
interface One {
  path: string;
  /** Of the operation: `Number`, `Email`. */
  name: string;
  what: string;
  params: ReturnType<typeof Type.Object>;
  example: Record<string, string>;
  identifier: (params: Record<string, string>) => Identifier;
}

const NUMBER: One = {
  ...{ path: `${PATH}/{phone_number}`, name: 'Number', what: 'number' },
  params: Type.Object({
    phone_number: Type.String({ maxLength: 64, description: 'E.164; + is written %2B.' }),
  }),
  example: { phone_number: '+12025550123' },
  identifier: (params) => ({ phoneNumber: params['phone_number'] ?? '' }),
};
const EMAIL: One = {
  ...{ path: `${PATH}/email/{email}`, name: 'Email', what: 'email' },
  params: Type.Object({ email: Type.String({ maxLength: EMAIL_LENGTH_MAX, description: 'URL-encoded.' }) }),
  example: { email: 'ada@example.com' },
  identifier: (params) => ({ email: params['email'] ?? '' }),
};

const getRoute = (dnc: DncService, one: One): RouteSpec =>
  route({
    ...{ method: 'GET', path: one.path, operationId: `getDnc${one.name}`, tag: TAG },
    summary: `Check one ${one.what}`,
    description: 'Listed: 200. Not listed: 404, which means that it may be sent to.',
    scopes: ['dnc:read'],
    params: one.params,
    query: BrandQuery,
    data: Match,
    errors: ['not-found'],
    example: { params: one.example },
    handler: async ({ caller, params, query }) => {
      const { brand_id: brandId } = query;
      const identifier = one.identifier(params as Record<string, string>);
      return presentDncMatch(await dnc.get(caller, identifier, { brandId }));
    },
  });

const removeRoute = (dnc: DncService, one: One): RouteSpec =>
  route({
    ...{ method: 'DELETE', path: one.path, operationId: `removeDnc${one.name}`, tag: TAG },
    summary: `Remove one ${one.what}`,
    description:
      'Without a brand the most recently updated entry is removed. One that is not listed is removed all the same. Contacts with it get `dnc` false. An entry that the contact made stays: 400.',
    scopes: ['dnc:write'],
    params: one.params,
    query: BrandQuery,
    data: Type.Array(Type.Union([Success, UpdateResult])),
    example: { params: one.example },
    handler: async ({ caller, params, query }) => {
      const { brand_id: brandId } = query;
      const identifier = one.identifier(params as Record<string, string>);
      return presentRemoved(await dnc.remove(caller, identifier, { brandId }));
    },
  });

const lookUpRoute = (dnc: DncService): RouteSpec =>
  route({
    ...{ method: 'GET', path: PATH, operationId: 'checkDnc', tag: TAG },
    summary: 'Check numbers or emails',
    description: 'One of both is required. With a brand its entries and those of every brand match.',
    scopes: ['dnc:read'],
    query: Type.Object({
      phone_numbers: Type.Optional(
        Type.String({ maxLength: LOOKUP_LENGTH_MAX, description: 'Comma-separated; + is written %2B.' }),
      ),
      emails: Type.Optional(Type.String({ maxLength: LOOKUP_LENGTH_MAX, description: 'Comma-separated.' })),
      brand_id: Type.Optional(Type.String({ maxLength: 64 })),
    }),
    data: Match,
    example: { query: { phone_numbers: '+12025550123,+12025550124' } },
    handler: async ({ caller, query }) => {
      const { phone_numbers: phoneNumbers, emails, brand_id: brandId } = query;
      return presentDncMatch(await dnc.lookUp(caller, { phoneNumbers, emails, brandId }));
    },
  });

const addRoute = (dnc: DncService): RouteSpec =>
  route({
    ...{ method: 'POST', path: PATH, operationId: 'addDnc', tag: TAG },
    summary: 'Add numbers or emails',
    description: `One of both is required, at most ${IDENTIFIERS_MAX} in all. Answers for each identifier what became of its entry and then of its contacts; at the end a message when some were listed already. Adding again for the same brand updates the entry.`,
    scopes: ['dnc:write'],
    body: Type.Object({
      phone_number: Type.Optional(
        Type.Union([Phone, Type.Array(Phone, { maxItems: IDENTIFIERS_MAX }), Type.Null()]),
      ),
      email: Type.Optional(
        Type.Union([Email, Type.Array(Email, { maxItems: IDENTIFIERS_MAX }), Type.Null()]),
      ),
      brand_id: BrandBody,
      reason: Type.Optional(Type.String({ maxLength: REASON_LENGTH_MAX, description: 'Default `api`.' })),
      method: Type.Optional(Type.String({ maxLength: METHOD_LENGTH_MAX, description: 'Default `api`.' })),
    }),
    bodyLimit: BODY_LIMIT,
    data: Type.Array(Type.Union([Success, UpdateResult, Information])),
    status: 201,
    example: {
      body: { phone_number: ['+12025550123'], email: 'ada@example.com', reason: 'asked by letter' },
    },
    handler: async ({ caller, body }) => {
      const { phone_number: phoneNumber, email, brand_id: brandId, reason, method } = body;
      return presentAdded(await dnc.add(caller, { phoneNumber, email, brandId, reason, method }));
    },
  });

const bulkRemoveRoute = (dnc: DncService): RouteSpec =>
  route({
    ...{ method: 'POST', path: `${PATH}/bulk-delete`, operationId: 'bulkRemoveDnc', tag: TAG },
    summary: 'Remove numbers or emails',
    description:
      'Of each the entry of the brand, or without a brand the most recently updated one. Entries that contacts made are skipped.',
    scopes: ['dnc:write'],
    body: Type.Object({
      phone_numbers: Type.Optional(Type.Array(Phone, { maxItems: IDENTIFIERS_MAX })),
      emails: Type.Optional(Type.Array(Email, { maxItems: IDENTIFIERS_MAX })),
      brand_id: BrandBody,
    }),
    bodyLimit: BODY_LIMIT,
    data: Type.Object({
      deleted: Type.Array(Type.String()),
      skipped: Type.Array(
        Type.Object({
          phone_number: NullableText,
          email: NullableText,
          reason: Type.Literal('self_added_opt_out'),
        }),
      ),
    }),
    example: { body: { phone_numbers: ['+12025550123'], emails: ['ada@example.com'] } },
    handler: async ({ caller, body }) => {
      const { phone_numbers: phoneNumbers, emails, brand_id: brandId } = body;
      return presentBulkRemoved(await dnc.bulkRemove(caller, { phoneNumbers, emails, brandId }));
    },
  });

/** The seven routes of the contract's section Do-not-contact list. */
export const dncRoutes = ({ dnc }: { dnc: DncService }): RouteSpec[] => [
  lookUpRoute(dnc),
  getRoute(dnc, NUMBER),
  getRoute(dnc, EMAIL),
  addRoute(dnc),
  removeRoute(dnc, NUMBER),
  removeRoute(dnc, EMAIL),
  bulkRemoveRoute(dnc),
];
