import { Type } from '@sinclair/typebox';
import { route } from '../../../platform/http/index.ts';
import type { RouteSpec } from '../../../platform/http/index.ts';
import { OrNull } from '../page.schema.ts';
import { presentImport, presentNumber } from './numbers.present.ts';
import { IMPORT_MAX, NUMBER_TEXT_MAX, REJECTIONS } from './numbers.rules.ts';
import type { NumbersService } from './numbers.service.ts';

const NumberData = Type.Object({
  phone_number_id: Type.String(),
  phone_number: Type.String({ description: 'E.164.' }),
  phone_line_id: OrNull(Type.String()),
  created_at: Type.Integer({ description: 'Epoch ms.' }),
});

const ImportData = Type.Object({
  long_job_id: Type.String(),
  status: Type.Union(['pending', 'running', 'complete', 'failed'].map((status) => Type.Literal(status))),
  total: Type.Integer(),
  done: Type.Integer({ description: 'Numbers that were judged so far.' }),
  imported: Type.Integer({
    description: 'Numbers that are on the account; repeated ones count once a batch.',
  }),
  rejected: Type.Array(
    Type.Object({
      index: Type.Integer({ description: 'Place in the request, from 0.' }),
      phone_number: Type.String(),
      reason: Type.Union(REJECTIONS.map((reason) => Type.Literal(reason))),
    }),
  ),
  created_at: Type.Integer({ description: 'Epoch ms.' }),
  finished_at: OrNull(Type.Integer({ description: 'Epoch ms.' })),
});

const IMPORT = '/phone/public/numbers/import';
const tag = 'Phone numbers';

/** Phone numbers (supplement 6, 12, 13). */
export const numbersRoutes = ({ numbers }: { numbers: NumbersService }): RouteSpec[] => [
  route({
    ...{ method: 'GET', path: '/phone/public/numbers', operationId: 'listNumbers', tag },
    summary: 'All phone numbers, oldest first',
    scopes: ['numbers:read'],
    data: Type.Array(NumberData),
    handler: async ({ caller }) => (await numbers.list(caller)).map(presentNumber),
  }),
  route({
    ...{ method: 'POST', path: IMPORT, operationId: 'importNumbers', tag },
    summary: 'Import numbers of your own carrier',
    description:
      "E.164, or national digits of the account's region. Numbers that are there already are put on the line.",
    scopes: ['numbers:write'],
    body: Type.Object({
      phone_numbers: Type.Array(Type.String({ minLength: 1, maxLength: NUMBER_TEXT_MAX }), {
        minItems: 1,
        maxItems: IMPORT_MAX,
      }),
      phone_line_id: Type.Optional(OrNull(Type.String({ maxLength: 64 }))),
    }),
    status: 202,
    data: Type.Object({ long_job_id: Type.String() }),
    errors: ['not-found'],
    example: { body: { phone_numbers: ['+12025550123', '+12025550124'] } },
    handler: async ({ caller, body }) => {
      const input = { phoneNumbers: body.phone_numbers, lineId: body.phone_line_id };
      return { long_job_id: (await numbers.import(caller, input)).jobId };
    },
  }),
  route({
    ...{ method: 'GET', path: `${IMPORT}/{long_job_id}`, operationId: 'getNumbersImport', tag },
    summary: 'How far an import is',
    scopes: ['numbers:read'],
    params: Type.Object({ long_job_id: Type.String() }),
    data: ImportData,
    errors: ['not-found'],
    handler: async ({ caller, params: { long_job_id } }) =>
      presentImport(await numbers.importStatus(caller, long_job_id)),
  }),
];
