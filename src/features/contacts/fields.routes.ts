import { Type } from '@sinclair/typebox';
import { route } from '../../platform/http/route.type.ts';
import type { RouteSpec } from '../../platform/http/route.type.ts';
import { presentField } from './fields.present.ts';
import { DISPLAY_NAME_LENGTH_MAX, FIELD_KINDS, ITEM_LENGTH_MAX, LIST_ITEMS_MAX } from './fields.rules.ts';
import type { FieldsService } from './fields.service.ts';

const Kind = Type.Union(FIELD_KINDS.map((kind) => Type.Literal(kind)));
const FieldSchema = Type.Object({
  custom_field_id: Type.String(),
  type: Kind,
  display_name: Type.String(),
  slug: Type.String({ description: 'The field’s type in imports and in `field_data`.' }),
  list_items: Type.Optional(
    Type.Array(Type.Object({ item_id: Type.String(), display_name: Type.String(), value: Type.String() }), {
      description: 'Only of type list.',
    }),
  ),
  created_at: Type.Integer({ description: 'Epoch ms.' }),
});
const TAG = 'Custom fields';
const PATH = '/contact/public/fields';

/** Custom fields (contract, Contact details; supplement 5). */
export function fieldsRoutes({ fields }: { fields: FieldsService }): RouteSpec[] {
  return [
    route({
      ...{ method: 'GET', path: PATH, operationId: 'listCustomFields', tag: TAG },
      summary: 'List custom fields, newest first',
      scopes: ['contacts:read'],
      data: Type.Array(FieldSchema),
      handler: async ({ caller }) => (await fields.list(caller)).map(presentField),
    }),
    route({
      ...{ method: 'POST', path: PATH, operationId: 'createCustomField', tag: TAG },
      summary: 'Make a custom field',
      description: 'The slug is made of the display name; one that is taken answers 409.',
      scopes: ['contacts:write'],
      body: Type.Object({
        type: Kind,
        display_name: Type.String({ minLength: 1, maxLength: DISPLAY_NAME_LENGTH_MAX }),
        list_items: Type.Optional(
          Type.Array(
            Type.Object({
              display_name: Type.Optional(Type.String({ minLength: 1, maxLength: ITEM_LENGTH_MAX })),
              value: Type.Optional(Type.String({ minLength: 1, maxLength: ITEM_LENGTH_MAX })),
            }),
            {
              maxItems: LIST_ITEMS_MAX,
              description: 'Needed for type list. One of the two is enough: it is the other too.',
            },
          ),
        ),
      }),
      data: FieldSchema,
      status: 201,
      errors: ['conflict'],
      example: {
        body: {
          type: 'list',
          display_name: 'Plan',
          list_items: [
            { display_name: 'Basic', value: 'basic' },
            { display_name: 'Premium', value: 'premium' },
          ],
        },
      },
      handler: async ({ caller, body }) => {
        const { type, display_name: displayName, list_items } = body;
        const listItems = list_items?.map((item) => ({ displayName: item.display_name, value: item.value }));
        return presentField(await fields.create(caller, { type, displayName, listItems }));
      },
    }),
  ];
}
