import { mkdtemp, rm } from 'node:fs/promises';
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compose } from '../../../src/main/compose.ts';
import type { Services } from '../../../src/main/compose.ts';
import { silentLogger } from '../../../src/platform/logger/index.ts';
import { loadSettings } from '../../../src/platform/settings/index.ts';
import { testDb } from '../../_util/index.ts';
import type { TestDb } from '../../_util/index.ts';
import { Ledger } from './ledger.ts';
import { Receiver } from './receiver.ts';
import type { Answering } from './receiver.ts';
import { createAccount, databaseEnv, Service } from './service.ts';
import type { Credentials, Environment } from './service.ts';

const CRASH_POINTS = pathToFileURL(join(import.meta.dirname, 'crash-points.js')).href;

export type CrashPoint =
  | 'before insert'
  | 'after commit'
  | 'after claim'
  | 'before record'
  | 'before a send is inserted'
  | 'after a send is committed'
  | 'after a send is claimed'
  | 'after an attempt is committed'
  | 'an attempt is committed and not heard of'
  | 'before an answer is recorded'
  | 'before a result is recorded';

/** Where a service dies, and whether it has. */
export interface Crash {
  readonly env: Environment;
  readonly struck: boolean;
  /** Passes count from now on; only for a crash that waits for it. */
  arm(): void;
}

/** A database with an account, and services, receivers and faults on it; `close` ends all of them. */
export class Lab {
  readonly test: TestDb;
  readonly credentials: Credentials;
  readonly ledger: Ledger;
  readonly #env: Environment;
  readonly #folder: string;
  readonly #services: Service[] = [];
  readonly #receivers: Receiver[] = [];
  readonly #composed: Services[] = [];
  #crashes = 0;

  private constructor(parts: {
    test: TestDb;
    credentials: Credentials;
    ledger: Ledger;
    env: Environment;
    folder: string;
  }) {
    this.test = parts.test;
    this.credentials = parts.credentials;
    this.ledger = parts.ledger;
    this.#env = parts.env;
    this.#folder = parts.folder;
  }

  /** On a fresh database, or on one that the test made itself; it goes with the lab. */
  static async open(env: Environment = {}, own?: TestDb): Promise<Lab> {
    const test = own ?? (await testDb());
    const folder = await mkdtemp(join(tmpdir(), 'tonegate-lab-'));
    const all = { ...databaseEnv(test.url), ...env };
    const credentials = await createAccount(all);
    return new Lab({ test, credentials, ledger: new Ledger(test.url), env: all, folder });
  }

  /** `tonegate start` on the lab's database. */
  async start(env: Environment = {}): Promise<Service> {
    const service = await Service.start(this.#folder, { ...this.#env, ...env });
    this.#services.push(service);
    return service;
  }

  /** The services over the lab's database, as a process of the api role has them; closed with the lab. */
  services(): Services {
    const settings = loadSettings({ ...this.#env, DATA_DIR: this.#folder, ALLOW_PRIVATE_TARGETS: 'true' });
    const { masterKey } = settings;
    if (masterKey === undefined) throw new Error('a lab has a master key');
    const made = { settings, logger: silentLogger, url: this.test.url, masterKey };
    const services = compose({ ...made, maxConnections: 4, applicationName: 'tonegate-lab' });
    this.#composed.push(services);
    return services;
  }

  async receiver(answer?: Answering): Promise<Receiver> {
    const receiver = await Receiver.open([this.credentials.detection_key], answer);
    this.#receivers.push(receiver);
    return receiver;
  }

  /**
   * Settings for a service in which the first process to pass `point` for the `at`-th time kills itself; passes count from
   * its start, or with `isArmedLater` from the call of `arm`.
   */
  crash(point: CrashPoint, at: number, options: { isArmedLater?: boolean } = {}): Crash {
    this.#crashes += 1;
    const mark = join(this.#folder, `crash-${this.#crashes}`);
    const arm = `${mark}-armed`;
    return {
      env: {
        NODE_OPTIONS: `--import ${CRASH_POINTS}`,
        CRASH_POINT: point,
        CRASH_AT: String(at),
        CRASH_MARK: mark,
        ...(options.isArmedLater ? { CRASH_ARM: arm } : {}),
      },
      get struck() {
        return existsSync(mark);
      },
      arm: () => writeFileSync(arm, ''),
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#services.map((service) => service.end()));
    await Promise.all(this.#receivers.map((receiver) => receiver.close()));
    await Promise.all(this.#composed.map((services) => services.close()));
    await this.ledger.close();
    await this.test.drop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
