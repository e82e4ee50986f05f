import { Type } from '@sinclair/typebox';
import { route } from '../../platform/http/route.type.ts';
import type { RouteSpec } from '../../platform/http/route.type.ts';
import { presentTagEntry } from './contact-tags.present.ts';
import type { ContactTagsService } from './contact-tags.service.ts';

const PATH = '/contact/public/contacts/{contact_id}/tags/{tag_id}';
const ID = Type.String({ maxLength: 64 });
const Params = Type.Object({ contact_id: ID, tag_id: ID });
const Entries = Type.Array(
  Type.Object({
    tag_id: Type.String(),
    tagged_at: Type.Integer({ description: 'Epoch ms.' }),
    tagged_by: Type.String(),
    deleted_at: Type.Union([Type.Integer(), Type.Null()], {
      description: 'When the tag itself was deleted: such entries are to be ignored.',
    }),
    deleted_by: Type.Union([Type.String(), Type.Null()]),
  }),
);

/** Tags of one contact (contract, Contact details). */
export const contactTagsRoutes = ({ contactTags }: { contactTags: ContactTagsService }): RouteSpec[] => [
  route({
    ...{ method: 'POST', path: PATH, operationId: 'addContactTag', tag: 'Contact details' },
    summary: 'Add a tag to a contact',
    description:
      'Adding a tag that the contact has changes nothing. Answers the tag entries after the change.',
    scopes: ['contacts:write'],
    params: Params,
    data: Entries,
    errors: ['not-found'],
    handler: async ({ caller, params }) =>
      (await contactTags.add(caller, params.contact_id, params.tag_id)).map(presentTagEntry),
  }),
  route({
    ...{ method: 'DELETE', path: PATH, operationId: 'removeContactTag', tag: 'Contact details' },
    summary: 'Remove a tag from a contact',
    description: 'Answers the tag entries that remain.',
    scopes: ['contacts:write'],
    params: Params,
    data: Entries,
    errors: ['not-found'],
    handler: async ({ caller, params }) =>
      (await contactTags.remove(caller, params.contact_id, params.tag_id)).map(presentTagEntry),
  }),
];
