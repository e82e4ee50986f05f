import { Type } from '@sinclair/typebox';
import { offsetPaging, route } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import { presentContact } from './contacts.present.ts';
import { ContactParams, ContactSchema, NextCursor } from './contacts.schema.ts';
import { OFFSET_MAX, PAGE_DEFAULT, PAGE_MAX, SORT_NAMES, TERM_LENGTH_MAX } from './contacts.search.rules.ts';
import type { ContactPage } from './contacts.search.store.ts';
import type { ContactsService } from './contacts.service.ts';
import { NAMED_FIELDS, fieldDataOf } from './import.routes.ts';

const PAGE = offsetPaging({ preset: PAGE_DEFAULT, max: PAGE_MAX, positionMax: OFFSET_MAX });
const PageSchema = Type.Object({
  contacts: Type.Array(ContactSchema),
  total_contacts: Type.Integer({
    description:
      'Of all contacts, or of those that match; of many matches (300 at least) a lower bound that grows as pages are read.',
  }),
  next_cursor: NextCursor,
});
const TAG = 'Contacts';
const PATH = '/contact/public/contacts';

const presentPage = (page: ContactPage) => ({
  contacts: page.contacts.map(presentContact),
  total_contacts: page.total,
  next_cursor: page.hasMore ? (page.contacts.at(-1)?.contactId ?? null) : null,
});

/** Contacts found, changed and removed (supplement 5); `importRoutes` makes them. */
export function contactsRoutes({ contacts }: { contacts: ContactsService }): RouteSpec[] {
  return [
    listContacts(contacts),
    searchContacts(contacts),
    route({
      ...{ method: 'GET', path: `${PATH}/{contact_id}`, operationId: 'getContact', tag: TAG },
      summary: 'Get a contact',
      scopes: ['contacts:read'],
      params: ContactParams,
      data: Type.Object({ contact: ContactSchema }),
      errors: ['not-found'],
      handler: async ({ caller, params }) => ({
        contact: presentContact(await contacts.get(caller, params.contact_id)),
      }),
    }),
    route({
      ...{ method: 'PUT', path: `${PATH}/{contact_id}`, operationId: 'updateContact', tag: TAG },
      summary: 'Change a contact',
      description:
        'Sets what is given, by field type or custom field slug; null or an empty text takes a value away. What is not a field is ignored, so that a record can be sent back as it came.',
      scopes: ['contacts:write'],
      params: ContactParams,
      body: Type.Object(NAMED_FIELDS),
      data: Type.Object({ contact_id: Type.String(), updated: Type.Literal(true) }),
      errors: ['not-found', 'conflict'],
      example: { body: { first_name: 'Ada', company: 'Example Ltd' } },
      handler: async ({ caller, params, body }) => {
        const { field_data, region } = body;
        const input = { named: body, fieldData: fieldDataOf(field_data), region };
        const contactId = await contacts.update(caller, params.contact_id, input);
        return { contact_id: contactId, updated: true as const };
      },
    }),
    route({
      ...{ method: 'DELETE', path: `${PATH}/{contact_id}`, operationId: 'deleteContact', tag: TAG },
      summary: 'Delete a contact',
      description: 'With its notes, follow-ups, tasks, consents and timeline; it leaves its lists.',
      scopes: ['contacts:write'],
      params: ContactParams,
      data: Type.Object({ contact_id: Type.String(), deleted: Type.Literal(true) }),
      errors: ['not-found'],
      handler: async ({ caller, params }) => ({
        contact_id: await contacts.remove(caller, params.contact_id),
        deleted: true as const,
      }),
    }),
  ];
}

const listContacts = (contacts: ContactsService): RouteSpec =>
  route({
    ...{ method: 'GET', path: PATH, operationId: 'listContacts', tag: TAG },
    summary: 'List contacts, newest first',
    scopes: ['contacts:read'],
    query: Type.Object({
      ...PAGE,
      search_term: Type.Optional(
        Type.String({
          maxLength: TERM_LENGTH_MAX,
          description:
            'Name, email, phone number or company contains it, either case; a term of one or two characters is looked for at the beginning of words.',
        }),
      ),
      sort_by: Type.Optional(
        Type.Union(
          SORT_NAMES.map((name) => Type.Literal(name)),
          { default: 'created_at' },
        ),
      ),
      sort_order: Type.Optional(
        Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
          description: 'Times default to desc, texts to asc; contacts without the value come last.',
        }),
      ),
    }),
    data: PageSchema,
    example: { query: { limit: 25, search_term: 'ada' } },
    handler: async ({ caller, query }) => {
      const { search_term: searchTerm, sort_by: sortBy, sort_order: sortOrder, ...page } = query;
      return presentPage(await contacts.list(caller, { ...page, searchTerm, sortBy, sortOrder }));
    },
  });

const searchContacts = (contacts: ContactsService): RouteSpec =>
  route({
    ...{ method: 'GET', path: `${PATH}/search`, operationId: 'searchContacts', tag: TAG },
    summary: 'Find contacts by their email or phone number',
    description: 'One of the two is needed; both: contacts that have both.',
    scopes: ['contacts:read'],
    query: Type.Object({
      ...PAGE,
      email: Type.Optional(
        Type.String({ maxLength: 254, description: 'Exactly this address, either case.' }),
      ),
      phone: Type.Optional(
        Type.String({
          maxLength: 40,
          description: 'E.164, with + written %2B, or in a form of the account’s country.',
        }),
      ),
    }),
    data: PageSchema,
    example: { query: { email: 'ada@example.com' } },
    handler: async ({ caller, query }) => presentPage(await contacts.search(caller, query)),
  });
