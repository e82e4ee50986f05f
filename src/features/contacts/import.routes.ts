import { Type } from '@sinclair/typebox';
import type { Static } from '@sinclair/typebox';
import { invalidField } from '../../kernel/text.ts';
import { route } from '../../platform/http/route.type.ts';
import type { RouteSpec } from '../../platform/http/route.type.ts';
import { presentImport } from './contacts.present.ts';
import { CONFLICT_MODES, IMPORT_FIELDS_MAX, IMPORT_ROWS_MAX } from './import.rules.ts';
import type { ImportService } from './import.service.ts';
import { LISTS_PER_CALL_MAX } from './lists.rules.ts';

/** Bytes: 10,000 rows of 800 characters each; above it 413. */
const IMPORT_BODY_BYTES_MAX = 8 * 1_024 * 1_024;
const TYPE_LENGTH_MAX = 100;
const FIELD_DATA_MAX = 250;

const Cell = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);
const Value = Type.Optional(Cell);

/** One contact as named fields; custom fields by slug beside them. */
export const NAMED_FIELDS = {
  record_id: Value,
  first_name: Value,
  last_name: Value,
  company: Value,
  email: Value,
  phone: Value,
  phone_number: Type.Optional(Type.Union([...Cell.anyOf], { description: 'The same as `phone`.' })),
  main_phone: Value,
  mobile_phone: Value,
  address1: Value,
  address2: Value,
  city: Value,
  state: Value,
  postal: Value,
  country: Value,
  region: Type.Optional(
    Type.Union([Type.String({ maxLength: TYPE_LENGTH_MAX }), Type.Null()], {
      description: 'Two-letter country of numbers without one; omitted: the account’s.',
    }),
  ),
  field_data: Type.Optional(
    Type.Array(Type.Object({ type: Type.String({ maxLength: TYPE_LENGTH_MAX }), value: Cell }), {
      maxItems: FIELD_DATA_MAX,
      description: 'Fields by type, custom ones by slug.',
    }),
  ),
};

const ImportBody = Type.Object({
  ...NAMED_FIELDS,
  fields: Type.Optional(
    Type.Array(Type.Object({ type: Type.String({ maxLength: TYPE_LENGTH_MAX }) }), {
      minItems: 1,
      maxItems: IMPORT_FIELDS_MAX,
      description: 'Columns of `values`: a field type or the slug of a custom field.',
    }),
  ),
  values: Type.Optional(
    Type.Array(Type.Array(Cell, { maxItems: IMPORT_FIELDS_MAX }), {
      maxItems: IMPORT_ROWS_MAX,
      description: 'Rows. A row may be shorter than `fields`.',
    }),
  ),
  list_ids: Type.Optional(
    Type.Array(Type.String({ maxLength: 64 }), {
      maxItems: LISTS_PER_CALL_MAX,
      description: 'Every contact of the call is put on these lists.',
    }),
  ),
  conflict_mode: Type.Optional(
    Type.Union(
      CONFLICT_MODES.map((mode) => Type.Literal(mode)),
      { default: 'append', description: 'append fills what is empty, overwrite replaces.' },
    ),
  ),
});

const Ids = Type.Array(Type.Object({ contact_id: Type.String() }));

export const fieldDataOf = (data: Static<(typeof NAMED_FIELDS)['field_data']> | undefined) =>
  data?.map(({ type, value }) => ({ type, value }));

/** Making contacts (supplement 5): rows of an import, or one contact as named fields. */
export function importRoutes({ contactImport }: { contactImport: ImportService }): RouteSpec[] {
  return [
    route({
      ...{ method: 'POST', path: '/contact/public/contacts', operationId: 'createContacts', tag: 'Contacts' },
      summary: 'Import contacts, or make one',
      description:
        'Rows under `fields` and `values`, or one contact as named fields. A row whose phone, email or record_id is there already, or in an earlier row, goes to that contact; a row that matches two contacts is rejected. Valid rows are stored together, the others are answered with reasons.',
      scopes: ['contacts:write'],
      paid: true,
      body: ImportBody,
      bodyLimit: IMPORT_BODY_BYTES_MAX,
      data: Type.Object({
        inserted: Ids,
        updated: Ids,
        rejected: Type.Array(Type.Object({ index: Type.Integer(), reasons: Type.Array(Type.String()) }), {
          description: 'By the position of the row, from 0.',
        }),
      }),
      status: 201,
      errors: ['payment-required', 'not-found'],
      example: {
        body: {
          fields: [{ type: 'first_name' }, { type: 'phone' }, { type: 'email' }],
          values: [['Ada', '(202) 555-0123', 'ada@example.com']],
          region: 'US',
          conflict_mode: 'append',
        },
      },
      handler: async ({ caller, body }) => {
        const { fields, values, list_ids: listIds, conflict_mode: conflictMode, field_data, ...named } = body;
        const options = { listIds, conflictMode, region: named.region ?? undefined };
        if (fields === undefined && values === undefined) {
          const fieldData = fieldDataOf(field_data);
          return presentImport(await contactImport.create(caller, { ...options, named, fieldData }));
        }
        if (fields === undefined) throw invalidField('fields', 'values need fields.');
        if (values === undefined) throw invalidField('values', 'fields need values.');
        const types = fields.map(({ type }) => type);
        return presentImport(await contactImport.run(caller, { ...options, fields: types, values }));
      },
    }),
  ];
}
