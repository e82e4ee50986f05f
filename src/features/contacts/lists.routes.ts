import { Type } from '@sinclair/typebox';
import { cursorPaging, offsetPaging, route } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import { presentContact } from './contacts.present.ts';
import { ContactParams, ContactSchema, NextCursor } from './contacts.schema.ts';
import { OFFSET_MAX, PAGE_DEFAULT, PAGE_MAX, TERM_LENGTH_MAX } from './contacts.search.rules.ts';
import { presentList } from './lists.present.ts';
import { LIST_NAME_LENGTH_MAX, MEMBERS_PER_CALL_MAX } from './lists.rules.ts';
import type { ListsService } from './lists.service.ts';

/** Bytes: the most contact ids of one call, with room. */
const MEMBERS_BODY_BYTES_MAX = 1_024 * 1_024;
const ID_LENGTH_MAX = 64;

const ListSchema = Type.Object({
  list_id: Type.String(),
  list_name: Type.String(),
  created_at: Type.Integer({ description: 'Epoch ms.' }),
  contact_count: Type.Integer(),
});
const ListParams = Type.Object({ list_id: Type.String({ maxLength: ID_LENGTH_MAX }) });
const ListBody = Type.Object({ list_name: Type.String({ minLength: 1, maxLength: LIST_NAME_LENGTH_MAX }) });
const MembersBody = Type.Object({
  contact_ids: Type.Array(Type.String({ maxLength: ID_LENGTH_MAX }), {
    minItems: 1,
    maxItems: MEMBERS_PER_CALL_MAX,
  }),
});
const TAG = 'Contact lists';
const PATH = '/contact/public/lists';
const ONE = `${PATH}/{list_id}`;
const ID_EXAMPLE = '00000000-0000-4000-8000-000000000000';
const OTHER_ID_EXAMPLE = '00000000-0000-4000-8000-000000000001';

/** Contact lists and who is on them (supplement 5). */
export const listsRoutes = ({ lists }: { lists: ListsService }): RouteSpec[] => [
  ...ownRoutes(lists),
  ...changeRoutes(lists),
  ...memberRoutes(lists),
  ...memberChangeRoutes(lists),
  moveRoute(lists),
];

const ownRoutes = (lists: ListsService): RouteSpec[] => [
  route({
    ...{ method: 'GET', path: PATH, operationId: 'listContactLists', tag: TAG },
    summary: 'List contact lists, newest first',
    scopes: ['lists:read'],
    query: Type.Object({
      ...offsetPaging({ preset: PAGE_DEFAULT, max: PAGE_MAX, positionMax: OFFSET_MAX }),
      search_term: Type.Optional(
        Type.String({ maxLength: TERM_LENGTH_MAX, description: 'The name contains it, either case.' }),
      ),
    }),
    data: Type.Object({ lists: Type.Array(ListSchema), next_cursor: NextCursor }),
    handler: async ({ caller, query }) => {
      const { search_term: searchTerm, ...page } = query;
      const { lists: found, hasMore } = await lists.list(caller, { ...page, searchTerm });
      const next_cursor = hasMore ? (found.at(-1)?.listId ?? null) : null;
      return { lists: found.map(presentList), next_cursor };
    },
  }),
  route({
    ...{ method: 'POST', path: PATH, operationId: 'createContactList', tag: TAG },
    summary: 'Make a contact list',
    scopes: ['lists:write'],
    paid: true,
    body: ListBody,
    data: ListSchema,
    status: 201,
    errors: ['payment-required'],
    example: { body: { list_name: 'Spring campaign' } },
    handler: async ({ caller, body }) => presentList(await lists.create(caller, { name: body.list_name })),
  }),
  route({
    ...{ method: 'GET', path: ONE, operationId: 'getContactList', tag: TAG },
    summary: 'Get a contact list',
    scopes: ['lists:read'],
    params: ListParams,
    data: ListSchema,
    errors: ['not-found'],
    handler: async ({ caller, params }) => presentList(await lists.get(caller, params.list_id)),
  }),
];

const changeRoutes = (lists: ListsService): RouteSpec[] => [
  route({
    ...{ method: 'PUT', path: ONE, operationId: 'updateContactList', tag: TAG },
    summary: 'Rename a contact list',
    scopes: ['lists:write'],
    params: ListParams,
    body: ListBody,
    data: ListSchema,
    errors: ['not-found'],
    example: { body: { list_name: 'Summer campaign' } },
    handler: async ({ caller, params, body }) =>
      presentList(await lists.update(caller, params.list_id, { name: body.list_name })),
  }),
  route({
    ...{ method: 'DELETE', path: ONE, operationId: 'deleteContactList', tag: TAG },
    summary: 'Delete a contact list',
    description: 'Its contacts stay.',
    scopes: ['lists:write'],
    params: ListParams,
    data: Type.Object({ list_id: Type.String(), deleted: Type.Literal(true) }),
    errors: ['not-found'],
    handler: async ({ caller, params }) => {
      const { listId } = await lists.remove(caller, params.list_id);
      return { list_id: listId, deleted: true as const };
    },
  }),
];

const memberRoutes = (lists: ListsService): RouteSpec[] => [
  route({
    ...{ method: 'GET', path: `${ONE}/contacts`, operationId: 'listContactsOfList', tag: TAG },
    summary: 'List the contacts of a list',
    scopes: ['lists:read'],
    params: ListParams,
    query: Type.Object(cursorPaging()),
    data: Type.Object({
      contacts: Type.Array(ContactSchema),
      next_cursor: Type.Union([Type.String(), Type.Null()]),
      has_more: Type.Boolean(),
    }),
    errors: ['not-found'],
    handler: async ({ caller, params, query }) => {
      const wanted = { limit: query.limit, afterId: query.after_id };
      const { contacts, nextCursor, hasMore } = await lists.members(caller, params.list_id, wanted);
      return { contacts: contacts.map(presentContact), next_cursor: nextCursor, has_more: hasMore };
    },
  }),
];

const memberChangeRoutes = (lists: ListsService): RouteSpec[] => [
  route({
    ...{ method: 'POST', path: `${ONE}/contacts`, operationId: 'addContactsToList', tag: TAG },
    summary: 'Put contacts on a list',
    description: 'All of them, or none when one is unknown. Who is on the list already stays.',
    scopes: ['lists:write'],
    params: ListParams,
    body: MembersBody,
    bodyLimit: MEMBERS_BODY_BYTES_MAX,
    data: Type.Object({ list_id: Type.String(), added: Type.Integer() }),
    errors: ['not-found'],
    example: { body: { contact_ids: [ID_EXAMPLE] } },
    handler: async ({ caller, params, body }) => {
      const { added } = await lists.add(caller, params.list_id, body.contact_ids);
      return { list_id: params.list_id.toLowerCase(), added };
    },
  }),
  route({
    ...{ method: 'DELETE', path: `${ONE}/contacts`, operationId: 'removeContactsFromList', tag: TAG },
    summary: 'Take contacts off a list',
    description: 'Those that are not on it are skipped.',
    scopes: ['lists:write'],
    params: ListParams,
    body: MembersBody,
    bodyLimit: MEMBERS_BODY_BYTES_MAX,
    data: Type.Object({ list_id: Type.String(), removed: Type.Integer() }),
    errors: ['not-found'],
    example: { body: { contact_ids: [ID_EXAMPLE] } },
    handler: async ({ caller, params, body }) => {
      const { removed } = await lists.take(caller, params.list_id, body.contact_ids);
      return { list_id: params.list_id.toLowerCase(), removed };
    },
  }),
];

const moveRoute = (lists: ListsService): RouteSpec =>
  route({
    ...{ method: 'POST', path: '/contact/public/contacts/{contact_id}/lists/move' },
    ...{ operationId: 'moveContactBetweenLists', tag: TAG },
    summary: 'Move a contact from one list to another',
    scopes: ['lists:write'],
    paid: true,
    params: ContactParams,
    body: Type.Object({
      from_list_id: Type.String({ maxLength: ID_LENGTH_MAX }),
      to_list_id: Type.String({ maxLength: ID_LENGTH_MAX }),
    }),
    data: Type.Object({
      contact_id: Type.String(),
      from_list_id: Type.String(),
      to_list_id: Type.String(),
      moved: Type.Literal(true),
    }),
    errors: ['payment-required', 'not-found'],
    example: { body: { from_list_id: ID_EXAMPLE, to_list_id: OTHER_ID_EXAMPLE } },
    handler: async ({ caller, params, body }) => {
      const input = { fromListId: body.from_list_id, toListId: body.to_list_id };
      const { contactId, fromListId, toListId } = await lists.move(caller, params.contact_id, input);
      return { contact_id: contactId, from_list_id: fromListId, to_list_id: toListId, moved: true as const };
    },
  });
