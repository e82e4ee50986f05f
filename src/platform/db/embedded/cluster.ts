import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../../logger/index.ts';
import { EmbeddedError, findBinaries, findRunAs, launch } from './binaries.ts';
import type { RunAs } from './binaries.ts';
import { endServer, findServer } from './orphan.ts';

const USER = 'tonegate';
const DATABASE = 'tonegate';
const LOOPBACK = '127.0.0.1';
const PASSWORD_BYTES = 24;
const INIT_LIMIT_MS = 120_000;
/** Long, since the recovery after a crash happens before the server answers. */
const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 15_000;
const POLL_MS = 25;
const RESTART_FIRST_MS = 200;
const RESTART_MAX_MS = 10_000;
const CONNECTIONS_MAX = 200;
const START_LOG_MAX = 2_000;

export interface ClusterOptions {
  /** Holds the cluster (`postgres/`) and its record (`postgres.json`: port and password, mode 600). */
  readonly folder: string;
  readonly logger: Logger;
  /** More `-c name=value` flags for the server; tests trade durability for speed. */
  readonly flags?: readonly string[];
}

interface ClusterRecord {
  readonly port: number;
  readonly password: string;
}

/** The address of a folder's cluster, for a command beside a running service; null when there is none yet. */
export async function clusterUrl(folder: string): Promise<string | null> {
  const record = await readRecord(resolve(folder));
  return record && urlOf(record);
}

/**
 * A PostgreSQL of one's own in a folder: made at the first start, ended with `stop`, started again when it dies.
 * It listens on loopback with a random password. It is spawned in a process group of its own, so that a
 * terminal's Ctrl-C reaches the service and not the database under it.
 * States: new → started → (died → restarting → started)* → stopped.
 */
export class EmbeddedCluster {
  readonly #options: ClusterOptions;
  readonly #folder: string;
  readonly #clusterDir: string;
  readonly #abort = new AbortController();
  #runAs: RunAs | null = null;
  #record: ClusterRecord = { port: 0, password: '' };
  #server: ChildProcess | undefined;
  #watch: Promise<void> = Promise.resolve();

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#folder = resolve(options.folder);
    this.#clusterDir = join(this.#folder, 'postgres');
  }

  /** The address of its database, whole with the password. */
  get url(): string {
    return urlOf(this.#record);
  }

  /** Process id of the running server. */
  get pid(): number | undefined {
    return this.#server?.pid;
  }

  /** Makes the cluster if there is none, ends a server left behind, starts one and waits until it answers. */
  async start(): Promise<void> {
    this.#runAs = await findRunAs();
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await chmod(this.#folder, 0o700);
    if (this.#runAs) await chown(this.#folder, this.#runAs.uid, this.#runAs.gid);
    const orphan = await findServer(this.#clusterDir);
    if (orphan !== null) await endServer(orphan, this.#options.logger);
    const known = await readRecord(this.#folder);
    const isNew = !(await exists(join(this.#clusterDir, 'PG_VERSION')));
    const password = (!isNew && known?.password) || randomBytes(PASSWORD_BYTES).toString('hex');
    if (isNew) await this.#initialise(password);
    else if (!known)
      throw new EmbeddedError(`${this.#folder}/postgres.json is missing: its password is lost`);
    // The former port is kept where it is free, so that a process still flushing to it finds it again.
    const port = known && (await isFree(known.port)) ? known.port : await freePort();
    this.#record = { port, password };
    await writeRecord(this.#folder, this.#record);
    this.#server = await this.#spawnServer();
    await this.#ensureDatabase();
    this.#watch = this.#keepAlive();
  }

  /** Fast shutdown: open transactions are rolled back, what was committed stays. */
  async stop(): Promise<void> {
    this.#abort.abort();
    const server = this.#server;
    if (server && server.exitCode === null && server.signalCode === null) {
      const gone = endOf(server);
      server.kill('SIGINT');
      const harder = setTimeout(() => server.kill('SIGQUIT'), STOP_LIMIT_MS);
      await gone;
      clearTimeout(harder);
    }
    await this.#watch;
  }

  /** initdb into a folder beside, then a rename: a start killed in between leaves no half cluster. */
  async #initialise(password: string): Promise<void> {
    const { initdb } = findBinaries();
    const fresh = join(this.#folder, 'postgres.new');
    const passwordFile = join(this.#folder, 'postgres.password');
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { mode: 0o700 });
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
    if (this.#runAs) {
      await chown(fresh, this.#runAs.uid, this.#runAs.gid);
      await chown(passwordFile, this.#runAs.uid, this.#runAs.gid);
    }
    try {
      const how = launch(initdb, this.#runAs, [fresh]);
      const options = [`--pgdata=${fresh}`, `--username=${USER}`, `--pwfile=${passwordFile}`];
      const local = ['--auth=scram-sha-256', '--encoding=UTF8', '--no-locale'];
      const child = spawn(how.file, [...how.args, ...options, ...local], {
        ...(how.uid === undefined ? {} : { uid: how.uid, gid: how.gid }),
        stdio: ['ignore', 'ignore', 'pipe'],
        timeout: INIT_LIMIT_MS,
        env: { PATH: process.env.PATH, LC_ALL: 'C' },
      });
      let said = '';
      child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-START_LOG_MAX)));
      const [code] = (await once(child, 'close')) as [number | null];
      if (code !== 0) throw new EmbeddedError(`the embedded PostgreSQL could not be made: ${oneLine(said)}`);
    } finally {
      await rm(passwordFile, { force: true });
    }
    await writeRecord(this.#folder, { port: await freePort(), password });
    await rename(fresh, this.#clusterDir);
  }

  async #spawnServer(): Promise<ChildProcess> {
    const { postgres } = findBinaries();
    const how = launch(postgres, this.#runAs, [this.#clusterDir]);
    const logPath = join(this.#folder, 'postgres-start.log');
    const log = await open(logPath, 'w', 0o600);
    const server = spawn(how.file, [...how.args, ...this.#serverArgs()], {
      ...(how.uid === undefined ? {} : { uid: how.uid, gid: how.gid }),
      stdio: ['ignore', 'ignore', log.fd],
      detached: true,
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
    });
    const failed = once(server, 'error').then(([error]) => String(error));
    await log.close();
    server.unref();
    try {
      await Promise.race([
        this.#answers(server),
        failed.then((error) => Promise.reject(new EmbeddedError(error))),
      ]);
    } catch (error) {
      server.kill('SIGQUIT');
      const said = oneLine((await readFile(logPath, 'utf8').catch(() => '')).slice(-START_LOG_MAX));
      throw new EmbeddedError(
        `the embedded PostgreSQL did not start: ${(error as Error).message} ${said}`.trim(),
      );
    }
    return server;
  }

  #serverArgs(): string[] {
    const settings = [
      `listen_addresses=${LOOPBACK}`,
      'unix_socket_directories=',
      `max_connections=${CONNECTIONS_MAX}`,
      'shared_buffers=128MB',
      // A week of files by the day's name, each written over after a week: the log is bounded.
      'logging_collector=on',
      'log_filename=postgres-%a.log',
      'log_truncate_on_rotation=on',
      'log_rotation_age=1d',
      'log_rotation_size=0',
      ...(this.#options.flags ?? []),
    ];
    return [
      '-D',
      this.#clusterDir,
      '-p',
      String(this.#record.port),
      ...settings.flatMap((item) => ['-c', item]),
    ];
  }

  /** Resolves when the server takes a connection to its own `postgres` database. */
  async #answers(server: ChildProcess): Promise<void> {
    for (let waitedMs = 0; waitedMs < START_LIMIT_MS; waitedMs += POLL_MS) {
      if (server.exitCode !== null || server.signalCode !== null)
        throw new EmbeddedError('it ended at once.');
      if (this.#abort.signal.aborted) throw new EmbeddedError('it is being stopped.');
      const client = new pg.Client({
        connectionString: urlOf(this.#record, 'postgres'),
        connectionTimeoutMillis: 2_000,
      });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.end();
        return;
      } catch {
        // Not listening yet, or still recovering: asked again until the limit.
        await delay(POLL_MS);
      }
    }
    throw new EmbeddedError(`it did not answer in ${START_LIMIT_MS / 1_000} s.`);
  }

  async #ensureDatabase(): Promise<void> {
    const client = new pg.Client({ connectionString: urlOf(this.#record, 'postgres') });
    await client.connect();
    try {
      const found = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
      if (found.rowCount === 0) await client.query(`create database ${DATABASE}`);
    } finally {
      await client.end();
    }
  }

  /** Starts the server again whenever it dies, with a jittered, growing pause. */
  async #keepAlive(): Promise<void> {
    const { signal } = this.#abort;
    const { logger } = this.#options;
    let pauseMs = RESTART_FIRST_MS;
    while (!signal.aborted) {
      const server = this.#server;
      if (server) await endOf(server);
      if (signal.aborted) return;
      logger.error(
        { exit_code: server?.exitCode, signal: server?.signalCode },
        'The embedded PostgreSQL died.',
      );
      await delay(pauseMs * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        this.#server = await this.#spawnServer();
        logger.info({ postgres_pid: this.#server.pid }, 'The embedded PostgreSQL runs again.');
        pauseMs = RESTART_FIRST_MS;
      } catch (error) {
        logger.error({ err: error }, 'The embedded PostgreSQL could not be started again.');
        pauseMs = Math.min(pauseMs * 2, RESTART_MAX_MS);
      }
    }
  }
}

const urlOf = (record: ClusterRecord, database = DATABASE): string =>
  `postgres://${USER}:${record.password}@${LOOPBACK}:${record.port}/${database}`;

const oneLine = (text: string): string => text.trim().split('\n').slice(-3).join(' · ');

/** Resolves when a process has ended, also when it has already. */
async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise<void>((resolve) => child.once('exit', () => resolve()));
}

async function readRecord(folder: string): Promise<ClusterRecord | null> {
  try {
    return JSON.parse(await readFile(join(folder, 'postgres.json'), 'utf8')) as ClusterRecord;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Written beside and renamed: a reader sees the old record or the new one. */
async function writeRecord(folder: string, record: ClusterRecord): Promise<void> {
  const fresh = join(folder, 'postgres.json.new');
  await writeFile(fresh, JSON.stringify(record), { mode: 0o600 });
  await rename(fresh, join(folder, 'postgres.json'));
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((settle) => {
    server.once('error', () => settle(false));
    server.listen(port, LOOPBACK, () => server.close(() => settle(true)));
  });
}

/** A port that is free now; taken by the server a moment later. */
export async function freePort(host: string = LOOPBACK): Promise<number> {
  const server = createServer();
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
