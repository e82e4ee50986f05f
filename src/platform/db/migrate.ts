import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const MIGRATIONS_DIR = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));
/** Any number of our own: one runner at a time in one database. */
const LOCK_ID = 7_046_029_254;
const CONNECT_TIMEOUT_MS = 10_000;
/** PostgreSQL 14 (runtime.md, DATABASE_URL) as server_version_num. */
const SERVER_VERSION_MIN = 140_000;

/** A database that cannot be used as it is; the message says what to do. */
export class MigrationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MigrationError';
  }
}

export interface Migration {
  /** Name of its folder, which is its place in the order. */
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

export interface MigrationState {
  readonly applied: string[];
  readonly pending: string[];
}

/** The table Prisma's own tools keep, so that they accept a database made here. */
const HISTORY_TABLE = `
  create table if not exists _prisma_migrations (
    id varchar(36) primary key,
    checksum varchar(64) not null,
    finished_at timestamptz,
    migration_name varchar(255) not null,
    logs text,
    rolled_back_at timestamptz,
    started_at timestamptz not null default now(),
    applied_steps_count integer not null default 0
  )`;

/** All migrations of a folder in order: `<folder>/<name>/migration.sql`. */
export async function readMigrations(folder: string = MIGRATIONS_DIR): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(`${folder}/${name}/migration.sql`, 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/**
 * Brings a database to the newest schema: one transaction a file, one runner at a time. Answers the names applied now.
 * A file that fails leaves nothing of itself; a file that was changed after it ran, or history that is not ours, is an error.
 */
export async function migrate(url: string, folder?: string): Promise<string[]> {
  const migrations = await readMigrations(folder);
  return withClient(url, async (client) => {
    await client.query('select pg_advisory_lock($1)', [LOCK_ID]);
    try {
      await client.query(HISTORY_TABLE);
      const pending = await compare(client, migrations);
      for (const migration of pending) await apply(client, migration);
      return pending.map((migration) => migration.name);
    } finally {
      await client.query('select pg_advisory_unlock($1)', [LOCK_ID]);
    }
  });
}

/** What ran and what is still to run; changes nothing. Throws like `migrate` for a history that is not ours. */
export async function migrationState(url: string, folder?: string): Promise<MigrationState> {
  const migrations = await readMigrations(folder);
  return withClient(url, async (client) => {
    const found = await client.query<{ known: string | null }>(
      `select to_regclass('_prisma_migrations')::text as known`,
    );
    const pending = found.rows[0]?.known ? await compare(client, migrations) : migrations;
    const names = new Set(pending.map((migration) => migration.name));
    return {
      applied: migrations
        .filter((migration) => !names.has(migration.name))
        .map((migration) => migration.name),
      pending: [...names],
    };
  });
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'tonegate-migrate',
  });
  // A connection that breaks rejects the running query; without a listener it would end the process as well.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const version = await client.query<{ number: number; text: string }>(
      `select current_setting('server_version_num')::int as number, current_setting('server_version') as text`,
    );
    const server = version.rows[0];
    if (!server || server.number < SERVER_VERSION_MIN) {
      throw new MigrationError(
        `PostgreSQL 14 or newer is needed; this server is ${server?.text ?? 'unknown'}`,
      );
    }
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The migrations still to run, in order. */
async function compare(client: pg.Client, migrations: readonly Migration[]): Promise<Migration[]> {
  const { rows } = await client.query<{ migration_name: string; checksum: string }>(
    `select migration_name, checksum from _prisma_migrations
      where finished_at is not null and rolled_back_at is null`,
  );
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const row of rows) {
    const migration = known.get(row.migration_name);
    if (!migration) {
      throw new MigrationError(
        `the database has the migration ${row.migration_name}, which is newer than this version`,
      );
    }
    if (migration.checksum !== row.checksum) {
      throw new MigrationError(
        `the migration ${row.migration_name} was changed after it ran on this database`,
      );
    }
  }
  const applied = new Set(rows.map((row) => row.migration_name));
  return migrations.filter((migration) => !applied.has(migration.name));
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('begin');
  try {
    await client.query(migration.sql);
    await client.query(
      `insert into _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
       values ($1, $2, now(), $3, 1)`,
      [randomUUID(), migration.checksum, migration.name],
    );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw new MigrationError(
      `the migration ${migration.name} failed and was undone: ${(error as Error).message}`,
    );
  }
}
