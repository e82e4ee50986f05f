import { Type } from '@sinclair/typebox';
import { route } from '../../../platform/http/index.ts';
import type { RouteSpec } from '../../../platform/http/index.ts';
import { NAME_LENGTH_MAX } from '../input.rules.ts';
import { presentLine } from './lines.present.ts';
import type { LinesService } from './lines.service.ts';

const LineTypeSchema = Type.Union([Type.Literal('voice'), Type.Literal('sms')]);

const LineData = Type.Object({
  ivr_id: Type.String({ description: 'The same id as phone_line_id.' }),
  phone_line_id: Type.String(),
  name: Type.String(),
  type: LineTypeSchema,
  is_default: Type.Boolean({ description: 'Used by sends that name no line; one for each type.' }),
  brand_id: Type.Union([Type.String(), Type.Null()]),
  created_at: Type.Integer({ description: 'Epoch ms.' }),
});

const name = Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX });
const brandId = Type.Union([Type.String({ maxLength: 64 }), Type.Null()]);
const params = Type.Object({ phone_line_id: Type.String() });
const ONE = '/phone/public/lines/{phone_line_id}';
const tag = 'Phone lines';

/** Phone lines (supplement 6). */
export const linesRoutes = ({ lines }: { lines: LinesService }): RouteSpec[] => [
  list(lines),
  create(lines),
  update(lines),
  remove(lines),
];

const list = (lines: LinesService): RouteSpec =>
  route({
    ...{ method: 'GET', path: '/phone/public/lines', operationId: 'listLines', tag },
    summary: 'All phone lines, oldest first',
    scopes: ['numbers:read'],
    data: Type.Array(LineData),
    handler: async ({ caller }) => (await lines.list(caller)).map(presentLine),
  });

const create = (lines: LinesService): RouteSpec =>
  route({
    ...{ method: 'POST', path: '/phone/public/lines', operationId: 'createLine', tag },
    summary: 'Make a phone line',
    description: 'The first line of a type becomes its default unless is_default is false.',
    scopes: ['numbers:write'],
    body: Type.Object({
      name,
      type: LineTypeSchema,
      is_default: Type.Optional(Type.Boolean()),
      brand_id: Type.Optional(brandId),
    }),
    status: 201,
    data: LineData,
    errors: ['not-found', 'conflict'],
    example: { body: { name: 'Sales', type: 'voice' } },
    handler: async ({ caller, body }) =>
      presentLine(
        await lines.create(caller, {
          ...{ name: body.name, type: body.type, isDefault: body.is_default, brandId: body.brand_id },
        }),
      ),
  });

const update = (lines: LinesService): RouteSpec =>
  route({
    ...{ method: 'PUT', path: ONE, operationId: 'updateLine', tag },
    summary: 'Change a phone line',
    description: 'Omitted fields stay; the type cannot change.',
    scopes: ['numbers:write'],
    params,
    body: Type.Object({
      name: Type.Optional(name),
      type: Type.Optional(LineTypeSchema),
      is_default: Type.Optional(Type.Boolean()),
      brand_id: Type.Optional(brandId),
    }),
    data: LineData,
    errors: ['not-found'],
    example: { body: { name: 'Support' } },
    handler: async ({ caller, params: { phone_line_id }, body }) =>
      presentLine(
        await lines.update(caller, phone_line_id, {
          ...{ name: body.name, type: body.type, isDefault: body.is_default, brandId: body.brand_id },
        }),
      ),
  });

const remove = (lines: LinesService): RouteSpec =>
  route({
    ...{ method: 'DELETE', path: ONE, operationId: 'deleteLine', tag },
    summary: 'Delete a phone line',
    description:
      'Its numbers stay, on no line. Of the lines left of its type the oldest becomes the default.',
    scopes: ['numbers:write'],
    params,
    data: Type.Object({ phone_line_id: Type.String(), deleted: Type.Literal(true) }),
    errors: ['not-found'],
    handler: async ({ caller, params: { phone_line_id } }) => {
      const { lineId } = await lines.remove(caller, phone_line_id);
      return { phone_line_id: lineId, deleted: true as const };
    },
  });
