import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { openDb } from '../../src/platform/db/index.ts';
import type { Db } from '../../src/platform/db/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { TEMPLATE } from './global-setup.ts';

export interface TestDb {
  readonly db: Db;
  readonly url: string;
  /** Closes the connections and drops the database. */
  drop(): Promise<void>;
}

const ATTEMPTS_MAX = 50;

/** A fresh, migrated database of the test's own. `isEmpty` leaves out the tables (for tests of the migrations). */
export async function testDb(options: { isEmpty?: boolean; maxConnections?: number } = {}): Promise<TestDb> {
  const name = `t_${randomBytes(8).toString('hex')}`;
  await admin(`create database ${name} template ${options.isEmpty ? 'template0' : TEMPLATE}`);
  const address = new URL(inject('clusterUrl'));
  address.pathname = `/${name}`;
  const url = address.href;
  const db = openDb({
    url,
    maxConnections: options.maxConnections ?? 10,
    applicationName: 'tonegate-test',
    logger: silentLogger,
  });
  return {
    db,
    url,
    drop: async () => {
      await db.close();
      await admin(`drop database if exists ${name} with (force)`);
    },
  };
}

/** Runs one statement on the cluster. Copying the template fails while another copy reads it: asked again. */
async function admin(sql: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const client = new pg.Client({ connectionString: inject('clusterUrl') });
    await client.connect();
    try {
      await client.query(sql);
      return;
    } catch (error) {
      const isBusy = (error as { code?: string }).code === '55006';
      if (!isBusy || attempt >= ATTEMPTS_MAX) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 80));
    } finally {
      await client.end();
    }
  }
}
