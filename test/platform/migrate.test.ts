import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrate, MigrationError, migrationState, readMigrations } from '../../src/platform/db/index.ts';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

describe('migrate', () => {
  let test: TestDb;
  let folder: string;
  beforeEach(async () => {
    test = await testDb({ isEmpty: true });
    folder = await mkdtemp(join(tmpdir(), 'tonegate-migrations-'));
  });
  afterEach(async () => {
    await test.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const write = async (name: string, sql: string): Promise<void> => {
    await mkdir(join(folder, name), { recursive: true });
    await writeFile(join(folder, name, 'migration.sql'), sql);
  };
  const tables = async (): Promise<string[]> => {
    const { rows } = await test.db.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' and tablename <> '_prisma_migrations' order by 1`,
    );
    return rows.map((row) => row.name);
  };

  it('makes the whole schema on an empty database, and nothing the second time', async () => {
    const names = (await readMigrations()).map((migration) => migration.name);
    expect(await migrationState(test.url)).toEqual({ applied: [], pending: names });
    expect(await migrate(test.url)).toEqual(names);
    expect(await tables()).toContain('outbox');
    expect(await migrate(test.url)).toEqual([]);
    expect(await migrationState(test.url)).toEqual({ applied: names, pending: [] });
  });

  it('keeps the rows of a filled database', async () => {
    await write('0001_a', 'create table a (n int)');
    await migrate(test.url, folder);
    await test.db.query('insert into a values (1), (2)');
    await write('0002_b', 'alter table a add column m int not null default 5');
    expect(await migrate(test.url, folder)).toEqual(['0002_b']);
    expect((await test.db.query('select n, m from a order by n')).rows).toEqual([
      { n: 1, m: 5 },
      { n: 2, m: 5 },
    ]);
  });

  it('bring a filled database of each earlier version up to date, and keep what is in it', async () => {
    const [first, ...later] = await readMigrations();
    await write(first!.name, first!.sql);
    await migrate(test.url, folder);
    await test.db.query(`
      insert into teams (id, name) select gen_random_uuid(), 'Account ' || n from generate_series(1, 20) n;
      insert into users (id, team_id, display_name, role, ai_access)
        select gen_random_uuid(), id, name, 'owner', 'full' from teams;
      insert into api_keys (id, team_id, name, key, secret_hash, scopes, created_by)
        select gen_random_uuid(), team_id, 'Key', 'key ' || id, 'hash', '{contacts:read}', id from users;
      insert into detection_keys (id, team_id, name, key_hash, key_ciphertext, key_hint, created_by)
        select gen_random_uuid(), team_id, 'Key', id::text::bytea, 'sealed', 'abcd', id from users;
      insert into ledger_entries (team_id, kind, amount_micros, cause_type, cause_id)
        select id, 'funds_added', 1000000, 'test', '1' from teams;
      insert into webhook_deliveries (id, team_id, kind, source_id, sequence, event, url, body, signing_key_id, created_at)
        select gen_random_uuid(), team_id, 'detection', gen_random_uuid(), 1, 'ready', 'https://a.example', '{}', id, now()
        from detection_keys;
      insert into outbox (topic, key, lane, payload, available_at)
        select 'webhook.deliver', id::text, 'webhook.deliver|lane', '{}', now() from webhook_deliveries`);
    const filled = [
      'teams',
      'users',
      'api_keys',
      'detection_keys',
      'ledger_entries',
      'webhook_deliveries',
      'outbox',
    ];
    const rowsOf = async (table: string): Promise<Record<string, unknown>[]> =>
      (await test.db.query<Record<string, unknown>>(`select * from ${table} order by id`)).rows;
    const contents = async () => Promise.all(filled.map(rowsOf));
    const before = await contents();
    for (const migration of later) {
      await write(migration.name, migration.sql);
      expect(await migrate(test.url, folder)).toEqual([migration.name]);
      // Later versions add columns.
      expect(await contents()).toMatchObject(before);
    }
    const { rows } = await test.db.query('select distinct features, suspended, send_rate from teams');
    expect(rows).toEqual([
      { features: ['email', 'campaigns', 'agents', 'detection'], suspended: false, send_rate: null },
    ]);
    expect((await test.db.query('select 1 from agents')).rowCount).toBe(20);
  });

  it('undoes a file that fails wholly, keeps the ones before it and goes on when it is mended', async () => {
    await write('0001_a', 'create table a (n int)');
    await write('0002_b', 'create table b (n int); create table b (n int)');
    await expect(migrate(test.url, folder)).rejects.toThrow(/0002_b failed and was undone/);
    expect(await tables()).toEqual(['a']);
    expect((await migrationState(test.url, folder)).pending).toEqual(['0002_b']);
    await write('0002_b', 'create table b (n int)');
    expect(await migrate(test.url, folder)).toEqual(['0002_b']);
    expect(await tables()).toEqual(['a', 'b']);
  });

  it('undoes a file that ran but could not be recorded', async () => {
    await write('0001_a', 'create table a (n int); drop table _prisma_migrations');
    await expect(migrate(test.url, folder)).rejects.toThrow(/0001_a failed and was undone/);
    expect(await tables()).toEqual([]);
    await write('0001_a', 'create table a (n int)');
    expect(await migrate(test.url, folder)).toEqual(['0001_a']);
  });

  it('refuses a file that was changed after it ran, and a database newer than itself', async () => {
    await write('0001_a', 'create table a (n int)');
    await migrate(test.url, folder);
    await write('0001_a', 'create table a (n bigint)');
    await expect(migrate(test.url, folder)).rejects.toThrow(MigrationError);
    await rm(join(folder, '0001_a'), { recursive: true });
    await expect(migrationState(test.url, folder)).rejects.toThrow(/newer than this version/);
  });

  it('lets two runners at the same time make it once', async () => {
    await write('0001_a', 'create table a (n int)');
    const runs = await Promise.all([1, 2, 3].map(() => migrate(test.url, folder)));
    expect(runs.flat()).toEqual(['0001_a']);
  });
});
