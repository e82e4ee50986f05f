import { Type } from '@sinclair/typebox';
import { route, skipPaging } from '../../platform/http/index.ts';
import type { RouteSpec } from '../../platform/http/index.ts';
import { ASSIGNED_TYPES } from './follow-ups.rules.ts';
import { presentTask } from './tasks.present.ts';
import { TASK_STATUSES } from './tasks.rules.ts';
import {
  TASK_SEARCH_LENGTH_MAX,
  TASKS_LIMIT_DEFAULT,
  TASKS_LIMIT_MAX,
  TASKS_SKIP_MAX,
} from './tasks.service.ts';
import type { TasksService } from './tasks.service.ts';

const TAG = 'Inbox tasks';
const ID = Type.String({ maxLength: 64 });
const Status = Type.Union(TASK_STATUSES.map((status) => Type.Literal(status)));
const NullableText = Type.Union([Type.String(), Type.Null()]);
const TaskSchema = Type.Object({
  task_id: Type.String(),
  contact_id: Type.String(),
  followup_id: NullableText,
  description: Type.String({ description: 'Basic HTML.' }),
  description_text: Type.String(),
  assigned_to: Type.String(),
  assigned_type: Type.Union(ASSIGNED_TYPES.map((type) => Type.Literal(type))),
  status: Status,
  due_at: Type.Integer({ description: 'Epoch ms.' }),
  created_at: Type.Integer(),
  completed_at: Type.Union([Type.Integer(), Type.Null()]),
  completed_by: NullableText,
});

/** Inbox tasks made by follow-ups (supplement 5). */
export const tasksRoutes = ({ tasks }: { tasks: TasksService }): RouteSpec[] => [
  route({
    ...{ method: 'GET', path: '/contact/public/tasks', operationId: 'listTasks', tag: TAG },
    summary: 'List inbox tasks, latest due first',
    scopes: ['contacts:read'],
    query: Type.Object({
      ...skipPaging({ preset: TASKS_LIMIT_DEFAULT, max: TASKS_LIMIT_MAX, positionMax: TASKS_SKIP_MAX }),
      status: Type.Optional(Status),
      assigned_to: Type.Optional(Type.String({ maxLength: 64, description: 'User id.' })),
      search_term: Type.Optional(
        Type.String({ maxLength: TASK_SEARCH_LENGTH_MAX, description: 'Part of the text, either case.' }),
      ),
    }),
    data: Type.Array(TaskSchema),
    handler: async ({ caller, query }) => {
      const { limit, skip, status, assigned_to: assignedTo, search_term: searchTerm } = query;
      return (await tasks.list(caller, { limit, skip, status, assignedTo, searchTerm })).map(presentTask);
    },
  }),
  route({
    ...{
      method: 'POST',
      path: '/contact/public/tasks/{task_id}/complete',
      operationId: 'completeTask',
      tag: TAG,
    },
    summary: 'Complete an inbox task',
    description: 'The follow-up that made it is completed with it.',
    scopes: ['contacts:write'],
    params: Type.Object({ task_id: ID }),
    data: TaskSchema,
    errors: ['not-found', 'conflict'],
    handler: async ({ caller, params }) => presentTask(await tasks.complete(caller, params.task_id)),
  }),
];
