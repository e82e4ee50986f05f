import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { EmbeddedCluster, migrate } from '../../src/platform/db/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';

export const TEMPLATE = 'tonegate_template';

/** Nothing here outlives the run: durability is traded for speed in the tests' own cluster. */
const FLAGS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum_naptime=10s'];

declare module 'vitest' {
  export interface ProvidedContext {
    /** The cluster's own database, as its superuser; testDb makes databases from the template beside it. */
    clusterUrl: string;
  }
}

/** One PostgreSQL for the whole run, with a migrated template database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'tonegate-test-'));
  const cluster = new EmbeddedCluster({ folder, logger: silentLogger, flags: FLAGS });
  await cluster.start();
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  await client.query(`create database ${TEMPLATE}`);
  await client.end();
  const template = new URL(cluster.url);
  template.pathname = `/${TEMPLATE}`;
  await migrate(template.href);
  project.provide('clusterUrl', cluster.url);
  return async () => {
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
