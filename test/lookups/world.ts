import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLookupsHandlers, createLookupsSweeps } from '../../src/features/lookups/index.ts';
import type { LookupsJobsOptions, Sweep } from '../../src/features/lookups/index.ts';
import { ManualClock } from '../../src/kernel/clock.ts';
import { composeLookups } from '../../src/main/compose-lookups.ts';
import type { FileStores } from '../../src/main/compose-lookups.ts';
import type { SpeechEngine } from '../../src/platform/audio/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { Relay } from '../../src/platform/outbox/index.ts';
import type { Handler } from '../../src/platform/outbox/index.ts';
import { createQueue } from '../../src/platform/queue/index.ts';
import { startApi } from '../_util/api.ts';
import type { TestAccount, TestApi } from '../_util/api.ts';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

export const START_MS = Date.parse('2026-03-01T12:00:00Z');

/** The routes over a database, files in a folder of their own, a clock that moves when told to, and the worker's jobs by hand. */
export class LookupsWorld {
  readonly clock: ManualClock;
  readonly database: TestDb;
  readonly api: TestApi;
  readonly files: FileStores;
  readonly folder: string;

  private constructor(of: { database: TestDb; api: TestApi; folder: string; clock: ManualClock }) {
    this.clock = of.clock;
    this.database = of.database;
    this.api = of.api;
    this.folder = of.folder;
    this.files = of.api.services.files;
  }

  static async start(options: { engine?: SpeechEngine; dnsServers?: string[] } = {}): Promise<LookupsWorld> {
    const database = await testDb();
    const folder = await mkdtemp(join(tmpdir(), 'tonegate-lookups-'));
    const clock = new ManualClock(START_MS);
    const { engine } = options;
    const settings = { dataDir: folder, dnsServers: options.dnsServers ?? [] };
    const api = await startApi(database, {
      clock,
      services: (services) =>
        composeLookups({
          ...{ ...services, settings, publicUrl: services.addresses.publicUrl },
          ...(engine ? { engine } : {}),
        }),
    });
    return new LookupsWorld({ database, api, folder, clock });
  }

  account(): Promise<TestAccount> {
    return this.api.account();
  }

  handlers(): Handler[] {
    return createLookupsHandlers(this.#jobs());
  }

  relay(handlers: Handler[] = this.handlers()): Relay {
    const { db, ids } = this.api.services;
    const queue = createQueue({ logger: silentLogger, clock: this.clock });
    return new Relay({ db, queue, clock: this.clock, logger: silentLogger, ids, handlers });
  }

  /** Does what the worker would do now. */
  async work(): Promise<void> {
    const relay = this.relay();
    await relay.poke();
    await relay.stop({ graceMs: 0 });
  }

  /** Runs the sweeps; how many things each removed. */
  async sweep(): Promise<Record<string, number>> {
    const swept: Record<string, number> = {};
    for (const sweep of createLookupsSweeps(this.#jobs()) satisfies Sweep[])
      swept[sweep.name] = await sweep.run();
    return swept;
  }

  async close(): Promise<void> {
    await this.api.close();
    await this.database.drop();
    await rm(this.folder, { recursive: true, force: true });
  }

  #jobs(): LookupsJobsOptions {
    const { db, lookups } = this.api.services;
    return {
      ...{ db, clock: this.clock, storage: this.files.kept, numbers: lookups.numbers },
      ...{ folders: [this.files.kept, this.files.incoming], retentionDays: 90 },
    };
  }
}
