import { readFile } from 'node:fs/promises';
import { buildSchema, isObjectType } from 'graphql';
import type { GraphQLSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminSchema } from '../../src/main/graphql/admin.ts';
import { schemaText } from '../../src/platform/graphql/index.ts';
import { startApi } from '../_util/api.ts';
import type { TestApi } from '../_util/api.ts';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

let db: TestDb;
let api: TestApi;
let schema: GraphQLSchema;

beforeAll(async () => {
  db = await testDb();
  api = await startApi(db);
  schema = adminSchema(api.services);
});

afterAll(async () => {
  await api.close();
  await db.drop();
});

describe('the schema', () => {
  it('is the one that is checked in', async () => {
    const file = await readFile(new URL('../../schema/graphql/schema.graphql', import.meta.url), 'utf8');
    expect(schemaText(schema)).toBe(file);
    expect(() => buildSchema(file)).not.toThrow();
  });

  it('has mutations that take one input and answer one object with userErrors', () => {
    for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
      expect([field.name, field.args.map((arg) => arg.name)]).toEqual([field.name, ['input']]);
      const payload = field.type;
      const names = isObjectType(payload) ? Object.keys(payload.getFields()) : [];
      expect([field.name, names.length, names.includes('userErrors')]).toEqual([field.name, 2, true]);
    }
  });

  it('pages every list of objects at the root, but for those that are short by nature', () => {
    const short = ['dncEntries', 'outcomeCodes', 'prices', 'queues', 'webhookEventTypes'];
    for (const field of Object.values(schema.getQueryType()?.getFields() ?? {})) {
      const isList = String(field.type).startsWith('[');
      expect([field.name, isList]).toEqual([field.name, short.includes(field.name)]);
      if (!String(field.type).endsWith('Connection')) continue;
      expect(field.args.map((arg) => `${arg.name}: ${String(arg.type)}`)).toEqual(
        expect.arrayContaining(['first: Int!', 'after: String']),
      );
    }
  });
});
