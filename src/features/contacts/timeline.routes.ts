import { Type } from '@sinclair/typebox';
import { offsetPaging, route } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import { ContactParams } from './contacts.schema.ts';
import { presentTimeline } from './timeline.present.ts';
import {
  ENTRY_TYPE_LENGTH_MAX,
  TIMELINE_LIMIT_DEFAULT,
  TIMELINE_LIMIT_MAX,
  TIMELINE_OFFSET_MAX,
} from './timeline.service.ts';
import type { TimelineService } from './timeline.service.ts';

/** What happened with one contact (contract, Contact details). */
export const timelineRoutes = ({ timeline }: { timeline: TimelineService }): RouteSpec[] => [
  route({
    method: 'GET',
    path: '/contact/public/contacts/{contact_id}/timeline',
    ...{ operationId: 'getContactTimeline', tag: 'Contact details' },
    summary: 'Read the timeline of a contact, newest first',
    description:
      'The page is read first and filtered by `type` then: a filtered page can be short or empty though later ones are not. `total` counts the entries of this answer only.',
    scopes: ['contacts:read'],
    params: ContactParams,
    query: Type.Object({
      type: Type.Optional(Type.String({ maxLength: ENTRY_TYPE_LENGTH_MAX })),
      ...offsetPaging({
        ...{ preset: TIMELINE_LIMIT_DEFAULT, max: TIMELINE_LIMIT_MAX },
        positionMax: TIMELINE_OFFSET_MAX,
      }),
    }),
    data: Type.Object({
      entries: Type.Array(
        Type.Object(
          {
            entry_id: Type.String(),
            type: Type.String({
              description:
                '`tag_added`, `followup.created`, `followup.triggered`, `followup.completed`, `followup.cancelled`, `consent_granted`, `consent_revoked`, `call`, `sms` and more.',
            }),
            contact_id: Type.String(),
            created_at: Type.Integer({ description: 'Epoch ms.' }),
          },
          { additionalProperties: true, description: 'With the fields of its type.' },
        ),
      ),
      total: Type.Integer(),
    }),
    errors: ['not-found'],
    handler: async ({ caller, params, query }) =>
      presentTimeline(await timeline.list(caller, params.contact_id, query)),
  }),
];
