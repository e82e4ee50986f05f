import { Type } from '@sinclair/typebox';
import { route } from '../../platform/http/route.type.ts';
import type { RouteSpec } from '../../platform/http/route.type.ts';
import { presentContact } from './contacts.present.ts';
import { ContactParams, ContactSchema } from './contacts.schema.ts';
import type { OwnerService } from './owner.service.ts';

/** Who a contact belongs to (contract, Contact details). */
export const ownerRoutes = ({ owners }: { owners: OwnerService }): RouteSpec[] => [
  route({
    method: 'PUT',
    path: '/contact/public/contacts/{contact_id}/owner',
    ...{ operationId: 'setContactOwner', tag: 'Contact details' },
    summary: 'Give a contact to a user',
    description:
      'Only the current owner or a manager may give away a contact that someone else owns; API keys and machine clients may always.',
    scopes: ['contacts:write'],
    params: ContactParams,
    body: Type.Object({ owner_id: Type.String({ maxLength: 64, description: 'User id.' }) }),
    data: ContactSchema,
    errors: ['not-found', 'forbidden'],
    example: { body: { owner_id: '00000000-0000-4000-8000-000000000000' } },
    handler: async ({ caller, params, body }) =>
      presentContact(await owners.change(caller, params.contact_id, body.owner_id)),
  }),
];
