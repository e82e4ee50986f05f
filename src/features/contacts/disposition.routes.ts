import { Type } from '@sinclair/typebox';
import { route } from '../../platform/http/route.type.ts';
import type { RouteSpec } from '../../platform/http/route.type.ts';
import { presentContact } from './contacts.present.ts';
import { ContactParams, ContactSchema } from './contacts.schema.ts';
import { DISPOSITION_LENGTH_MAX } from './disposition.service.ts';
import type { DispositionService } from './disposition.service.ts';

/** What came of a contact (contract, Contact details). */
export const dispositionRoutes = ({ dispositions }: { dispositions: DispositionService }): RouteSpec[] => [
  route({
    method: 'PUT',
    path: '/contact/public/contacts/{contact_id}/disposition',
    ...{ operationId: 'setContactDisposition', tag: 'Contact details' },
    summary: 'Set the disposition of a contact',
    scopes: ['contacts:write'],
    params: ContactParams,
    body: Type.Object({
      disposition_id: Type.String({
        ...{ minLength: 1, maxLength: DISPOSITION_LENGTH_MAX },
        description: 'Any text that is not empty.',
      }),
    }),
    data: ContactSchema,
    errors: ['not-found'],
    example: { body: { disposition_id: 'interested' } },
    handler: async ({ caller, params, body }) =>
      presentContact(await dispositions.change(caller, params.contact_id, body.disposition_id)),
  }),
];
