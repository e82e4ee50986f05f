import { Type } from '@sinclair/typebox';
import { route } from '../../platform/http/route.type.ts';
import type { RouteSpec } from '../../platform/http/route.type.ts';
import { ContactParams } from './contacts.schema.ts';
import { presentCancelledFollowUp, presentFollowUp } from './follow-ups.present.ts';
import {
  ASSIGNED_TYPES,
  DESCRIPTION_LENGTH_MAX,
  FOLLOW_UP_STATUSES,
  TIME_LENGTH_MAX,
} from './follow-ups.rules.ts';
import type { FollowUpsService } from './follow-ups.service.ts';

const OF_CONTACT = '/contact/public/contacts/{contact_id}/follow-ups';
const ONE = '/contact/public/follow-ups/{followup_id}';
const TAG = 'Contact details';
const Params = Type.Object({ followup_id: Type.String({ maxLength: 64 }) });
const Status = Type.Union(FOLLOW_UP_STATUSES.map((status) => Type.Literal(status)));
const AssignedType = Type.Union(ASSIGNED_TYPES.map((type) => Type.Literal(type)));

const FollowUpSchema = Type.Object({
  followup_id: Type.String(),
  contact_id: Type.String(),
  scheduled_at: Type.Integer({ description: 'Epoch ms.' }),
  status: Status,
  description: Type.String({ description: 'Basic HTML, sanitized.' }),
  description_text: Type.String({ description: 'Plain text.' }),
  assigned_to: Type.String({ description: 'User id.' }),
  assigned_type: AssignedType,
  task_id: Type.Union([Type.String(), Type.Null()], { description: 'Inbox task, once triggered.' }),
  created_at: Type.Integer(),
  created_by: Type.String(),
});
const CONTENT = {
  description: Type.Optional(Type.String({ maxLength: DESCRIPTION_LENGTH_MAX, description: 'Basic HTML.' })),
  assigned_to: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'User id, default the caller; for `team` also the account id.',
    }),
  ),
  assigned_type: Type.Optional(AssignedType),
};
const ScheduledAt = Type.Union([Type.Integer(), Type.String({ maxLength: TIME_LENGTH_MAX })], {
  description: 'Epoch ms, epoch seconds or ISO 8601 (UTC unless it has an offset); in the future.',
});

interface Body {
  scheduled_at?: number | string;
  description?: string;
  assigned_to?: string;
  assigned_type?: string;
}

const inputOf = (body: Body) => ({
  scheduledAt: body.scheduled_at,
  description: body.description,
  assignedTo: body.assigned_to,
  assignedType: body.assigned_type,
});

const listRoute = (followUps: FollowUpsService): RouteSpec =>
  route({
    ...{ method: 'GET', path: OF_CONTACT, operationId: 'listFollowUps', tag: TAG },
    summary: 'List the follow-ups of a contact, soonest first',
    description: 'All in one answer; cancelled ones only when `status` asks for them.',
    scopes: ['contacts:read'],
    params: ContactParams,
    query: Type.Object({ status: Type.Optional(Status) }),
    data: Type.Array(FollowUpSchema),
    errors: ['not-found'],
    handler: async ({ caller, params, query }) =>
      (await followUps.list(caller, params.contact_id, query)).map(presentFollowUp),
  });

const createRoute = (followUps: FollowUpsService): RouteSpec =>
  route({
    ...{ method: 'POST', path: OF_CONTACT, operationId: 'createFollowUp', tag: TAG },
    summary: 'Plan a follow-up',
    description: 'When it is due it becomes an inbox task of the assignee.',
    scopes: ['contacts:write'],
    params: ContactParams,
    body: Type.Object({ scheduled_at: ScheduledAt, ...CONTENT }),
    data: FollowUpSchema,
    status: 201,
    errors: ['not-found', 'conflict'],
    example: { body: { scheduled_at: '2099-05-01T09:00:00Z', description: '<p>Call back</p>' } },
    handler: async ({ caller, params, body }) =>
      presentFollowUp(await followUps.create(caller, params.contact_id, inputOf(body))),
  });

const updateRoute = (followUps: FollowUpsService): RouteSpec =>
  route({
    ...{ method: 'PUT', path: ONE, operationId: 'updateFollowUp', tag: TAG },
    summary: 'Change a pending follow-up',
    description: 'An empty description clears it.',
    scopes: ['contacts:write'],
    params: Params,
    body: Type.Object({ scheduled_at: Type.Optional(ScheduledAt), ...CONTENT }),
    data: FollowUpSchema,
    errors: ['not-found', 'conflict'],
    example: { body: { scheduled_at: 4_080_000_000, description: '' } },
    handler: async ({ caller, params, body }) =>
      presentFollowUp(await followUps.update(caller, params.followup_id, inputOf(body))),
  });

const cancelRoute = (followUps: FollowUpsService): RouteSpec =>
  route({
    ...{ method: 'DELETE', path: ONE, operationId: 'cancelFollowUp', tag: TAG },
    summary: 'Cancel a pending follow-up',
    scopes: ['contacts:write'],
    params: Params,
    data: Type.Object({ followup_id: Type.String(), cancelled: Type.Literal(true), message: Type.String() }),
    errors: ['not-found', 'conflict'],
    handler: async ({ caller, params }) =>
      presentCancelledFollowUp(await followUps.cancel(caller, params.followup_id)),
  });

/** Follow-ups (contract, Contact details). */
export const followUpsRoutes = ({ followUps }: { followUps: FollowUpsService }): RouteSpec[] =>
  [listRoute, createRoute, updateRoute, cancelRoute].map((make) => make(followUps));
