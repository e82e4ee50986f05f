import { Type } from '@sinclair/typebox';
import { route } from '../../../platform/http/index.ts';
import type { RouteSpec } from '../../../platform/http/index.ts';
import { NAME_LENGTH_MAX } from '../input.rules.ts';
import { OrNull, skipPageQuery, skipPageOf } from '../page.schema.ts';
import { presentTemplate } from './templates.present.ts';
import { HTML_LENGTH_MAX, SUBJECT_LENGTH_MAX } from './templates.rules.ts';
import type { TemplatesService } from './templates.service.ts';

const TypeSchema = Type.Union([Type.Literal('email'), Type.Literal('rcs')]);
const RcsSchema = Type.Record(Type.String(), Type.Unknown(), {
  description: 'The card, as the carrier takes it.',
});
const TemplateData = Type.Object({
  template_id: Type.String(),
  type: TypeSchema,
  name: Type.String(),
  subject: OrNull(Type.String()),
  html: OrNull(Type.String()),
  rcs_content: OrNull(Type.Record(Type.String(), Type.Unknown())),
  created_at: Type.Integer({ description: 'Epoch ms.' }),
  updated_at: Type.Integer({ description: 'Epoch ms.' }),
});

const name = Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX });
const subject = Type.String({ minLength: 1, maxLength: SUBJECT_LENGTH_MAX });
const html = Type.String({ minLength: 1, maxLength: HTML_LENGTH_MAX });
const params = Type.Object({ template_id: Type.String() });
const ALL = '/template/public/templates';
const ONE = '/template/public/templates/{template_id}';
const tag = 'Templates';

/** Templates (supplement 6, 12). */
export const templatesRoutes = ({ templates }: { templates: TemplatesService }): RouteSpec[] => [
  list(templates),
  create(templates),
  update(templates),
  remove(templates),
];

const list = (templates: TemplatesService): RouteSpec =>
  route({
    ...{ method: 'GET', path: ALL, operationId: 'listTemplates', tag },
    summary: 'Templates, newest first',
    scopes: ['contacts:read'],
    query: Type.Object({ type: Type.Optional(TypeSchema), ...skipPageQuery }),
    data: Type.Array(TemplateData),
    example: { query: { type: 'email', limit: 50 } },
    handler: async ({ caller, query }) =>
      (await templates.list(caller, { type: query.type, ...skipPageOf(query) })).map(presentTemplate),
  });

const create = (templates: TemplatesService): RouteSpec =>
  route({
    ...{ method: 'POST', path: ALL, operationId: 'createTemplate', tag },
    summary: 'Make a template',
    scopes: ['contacts:write'],
    body: Type.Union([
      Type.Object({ type: Type.Literal('email'), name, subject, html }),
      Type.Object({ type: Type.Literal('rcs'), name, rcs_content: RcsSchema }),
    ]),
    status: 201,
    data: TemplateData,
    errors: ['conflict'],
    example: {
      body: {
        ...{ type: 'email', name: 'Welcome', subject: 'Welcome' },
        html: '<p>Hello {{contact.first_name|there}}</p>',
      },
    },
    handler: async ({ caller, body }) =>
      presentTemplate(
        await templates.create(
          caller,
          body.type === 'rcs' ? { type: 'rcs', name: body.name, rcsContent: body.rcs_content } : body,
        ),
      ),
  });

const update = (templates: TemplatesService): RouteSpec =>
  route({
    ...{ method: 'PUT', path: ONE, operationId: 'updateTemplate', tag },
    summary: 'Change a template',
    description: 'Omitted fields stay; the type cannot change, and fields of the other type are ignored.',
    scopes: ['contacts:write'],
    params,
    body: Type.Object({
      type: Type.Optional(TypeSchema),
      name: Type.Optional(name),
      subject: Type.Optional(subject),
      html: Type.Optional(html),
      rcs_content: Type.Optional(RcsSchema),
    }),
    data: TemplateData,
    errors: ['not-found'],
    example: { body: { name: 'Welcome, new' } },
    handler: async ({ caller, params: { template_id }, body }) => {
      const { rcs_content: rcsContent, ...texts } = body;
      const { type, name, subject, html } = texts;
      const change = { type, name, subject, html, rcsContent };
      return presentTemplate(await templates.update(caller, template_id, change));
    },
  });

const remove = (templates: TemplatesService): RouteSpec =>
  route({
    ...{ method: 'DELETE', path: ONE, operationId: 'deleteTemplate', tag },
    summary: 'Delete a template',
    scopes: ['contacts:write'],
    params,
    data: Type.Object({ template_id: Type.String(), deleted: Type.Literal(true) }),
    errors: ['not-found'],
    handler: async ({ caller, params: { template_id } }) => {
      const { templateId } = await templates.remove(caller, template_id);
      return { template_id: templateId, deleted: true as const };
    },
  });
