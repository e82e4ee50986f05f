import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

/** Prisma's types as PostgreSQL names them; whatever is not here fails the comparison. */
const SQL_TYPES: Record<string, string> = {
  String: 'text',
  'String @db.Uuid': 'uuid',
  'String[]': '_text',
  Boolean: 'bool',
  Int: 'int4',
  BigInt: 'int8',
  'Float @db.Real': 'float4',
  Json: 'jsonb',
  Bytes: 'bytea',
  'DateTime @db.Timestamptz(6)': 'timestamptz',
};

interface Schema {
  columns: string[];
  keys: string[];
  indexes: string[];
  references: string[];
}

const split = (list: string): string[] => list.split(',').map((item) => item.trim().replace(/\(.*/, ''));

/** What prisma/schema.prisma says, in the words the catalogue's description uses too. */
function describeModels(text: string): Schema {
  const schema: Schema = { columns: [], keys: [], indexes: [], references: [] };
  const models = [...text.matchAll(/^model (\w+) \{\n([\s\S]*?)^\}/gm)].map(([, name, body]) => ({
    name: name!,
    table: /@@map\("(\w+)"\)/.exec(body!)![1]!,
    body: body!,
  }));
  const tableOf = new Map(models.map((model) => [model.name, model.table]));
  for (const { table, body } of models) {
    const fields = [...body.matchAll(/^ {2}(\w+) +(\w+)(\[\])?(\?)?(.*)$/gm)].map(
      ([, name, type, list, optional, rest]) => ({
        name: name!,
        type: type!,
        isList: list !== undefined,
        isOptional: optional !== undefined,
        rest: rest!,
        column: /@map\("(\w+)"\)/.exec(rest!)?.[1] ?? name!,
      }),
    );
    const columnOf = new Map(fields.map((field) => [field.name, field.column]));
    const columns = (list: string): string =>
      split(list)
        .map((name) => columnOf.get(name))
        .join(',');
    for (const field of fields) {
      const target = tableOf.get(field.type);
      const relation = /fields: \[(.*?)\], references: \[(.*?)\]/.exec(field.rest);
      if (target && relation) {
        const cascade = field.rest.includes('onDelete: Cascade') ? ' cascade' : '';
        schema.references.push(`${table}(${columns(relation[1]!)}) -> ${target}(${relation[2]})${cascade}`);
      }
      if (target) continue;
      const native = /@db\.\w+(\(\d+\))?/.exec(field.rest)?.[0];
      const type = SQL_TYPES[`${field.type}${field.isList ? '[]' : ''}${native ? ` ${native}` : ''}`];
      const nullable = field.isOptional ? 'null' : 'not null';
      const preset = field.rest.includes('@default') ? ' default' : '';
      schema.columns.push(`${table}.${field.column} ${type} ${nullable}${preset}`);
      if (/@id\b/.test(field.rest)) schema.keys.push(`${table} primary (${field.column})`);
      if (/@unique\b/.test(field.rest)) schema.keys.push(`${table} unique (${field.column})`);
    }
    for (const [, kind, list, map] of body.matchAll(/@@(id|unique|index)\(\[(.*)\](?:, map: "(\w+)")?\)/g)) {
      if (kind === 'index') schema.indexes.push(`${map} on ${table} (${columns(list!)})`);
      else schema.keys.push(`${table} ${kind === 'id' ? 'primary' : 'unique'} (${columns(list!)})`);
    }
  }
  return sorted(schema);
}

const sorted = (schema: Schema): Schema => ({
  columns: schema.columns.sort(),
  keys: schema.keys.sort(),
  indexes: schema.indexes.sort(),
  references: schema.references.sort(),
});

/** What a freshly migrated database has. Partitions are as their parents. Partial, expression and GIN indexes, which Prisma cannot say whole, are left out. */
async function describeCatalogue(test: TestDb): Promise<Schema> {
  const list = async (sql: string): Promise<string[]> =>
    (await test.db.query<{ line: string }>(sql)).rows.map((row) => row.line);
  return sorted({
    columns: await list(`
      select format('%s.%s %s %s%s', table_name, column_name, udt_name,
        case is_nullable when 'YES' then 'null' else 'not null' end,
        case when column_default is not null or is_identity = 'YES' or is_generated = 'ALWAYS' then ' default' else '' end) as line
      from information_schema.columns where table_schema = 'public' and table_name <> '_prisma_migrations'
        and not (select relispartition from pg_class where oid = to_regclass(table_name))`),
    keys: await list(`
      select format('%s %s (%s)', c.conrelid::regclass, case c.contype when 'p' then 'primary' else 'unique' end,
        (select string_agg(a.attname, ',' order by k.n) from unnest(c.conkey) with ordinality k (num, n)
          join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.num)) as line
      from pg_constraint c where c.contype in ('p', 'u') and c.connamespace = 'public'::regnamespace
        and c.conrelid <> '_prisma_migrations'::regclass
        and not (select relispartition from pg_class where oid = c.conrelid)`),
    indexes: await list(`
      select format('%s on %s (%s)', i.indexrelid::regclass, i.indrelid::regclass,
        (select string_agg(a.attname, ',' order by k.n) from unnest(i.indkey::int[]) with ordinality k (num, n)
          join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.num)) as line
      from pg_index i join pg_class t on t.oid = i.indrelid
      where t.relnamespace = 'public'::regnamespace and not t.relispartition and not i.indisunique and i.indpred is null and i.indexprs is null
        and (select relam from pg_class where oid = i.indexrelid) = (select oid from pg_am where amname = 'btree')`),
    references: await list(`
      select format('%s(%s) -> %s(%s)%s', c.conrelid::regclass, a.attname, c.confrelid::regclass, f.attname,
        case c.confdeltype when 'c' then ' cascade' else '' end) as line
      from pg_constraint c
      join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
      join pg_attribute f on f.attrelid = c.confrelid and f.attnum = c.confkey[1]
      where c.contype = 'f' and c.connamespace = 'public'::regnamespace`),
  });
}

describe("Prisma's datamodel and the migrated database", () => {
  let test: TestDb;
  let models: Schema;
  let catalogue: Schema;
  beforeAll(async () => {
    test = await testDb();
    models = describeModels(await readFile(new URL('../../prisma/schema.prisma', import.meta.url), 'utf8'));
    catalogue = await describeCatalogue(test);
  });
  afterAll(() => test.drop());

  it.each(['columns', 'keys', 'indexes', 'references'] as const)('say the same about %s', (part) => {
    expect(models[part].length).toBeGreaterThan(5);
    expect(models[part]).toEqual(catalogue[part]);
  });
});
