/** What is measured: the service on its embedded database, peers on the same database, and a client of it for seeding. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import pg from 'pg';
import { Child } from '../gateway/processes.ts';

const PROJECT_DIR = fileURLToPath(new URL('../..', import.meta.url));
export const CLI = join(PROJECT_DIR, 'dist/main/cli/tonegate.js');
/** No limit of the service's own takes part in what is measured. */
const UNLIMITED = '1000000';

export interface Server {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** An account, and the headers that act as it. */
export interface Account {
  readonly teamId: string;
  readonly ownerId: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Stage {
  readonly service: Server;
  readonly sql: pg.Client;
  /** A fresh account. */
  account(): Promise<Account>;
  /** A server of benchmarks/peers on the same database. */
  peer(name: string): Promise<Server>;
  close(): Promise<void>;
}

/** Nothing of the machine's own settings may reach a server that is measured. */
function baseEnv(): NodeJS.ProcessEnv {
  const { PATH, HOME, LANG } = process.env;
  return { PATH, HOME, LANG, NODE_ENV: 'production' };
}

/** The api role alone, so that nothing else of the service is in its process. */
export async function openStage(): Promise<Stage> {
  const dir = mkdtempSync(join(tmpdir(), 'tonegate-bench-account-'));
  const dataDir = join(dir, 'data');
  const env = {
    ...baseEnv(),
    ...{ HTTP_PORT: '0', DETECT_PORT: '0', AUTH_PORT: '0', INTERNAL_PORT: '0', ROLES: 'api' },
    ...{ DATA_DIR: dataDir, LOG_LEVEL: 'error', LOG_FORMAT: 'json', SHUTDOWN_GRACE_SEC: '1' },
    ...{ RATE_LIMIT_PER_ROUTE: UNLIMITED, RATE_LIMIT_BURST: UNLIMITED },
  };
  const child = new Child({ args: [CLI, 'start'], env, core: null, cwd: dir });
  const peers: Server[] = [];
  let sql: pg.Client | undefined;
  const close = async (): Promise<void> => {
    await Promise.all(peers.map((peer) => peer.stop()));
    await sql?.end();
    await child.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const { http } = await child.line<{ http: string }>();
    const databaseUrl = urlOf(dataDir);
    sql = new pg.Client({ connectionString: databaseUrl });
    await sql.connect();
    const client = sql;
    return {
      ...{ service: { name: 'tonegate', url: http, pid: child.pid, stop: () => child.stop() }, sql, close },
      account: () => newAccount(client, env),
      peer: async (name) => {
        const peer = await startPeer(name, databaseUrl);
        peers.push(peer);
        return peer;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Credentials {
  team_id: string;
  key: string;
  secret: string;
}

async function newAccount(sql: pg.Client, env: NodeJS.ProcessEnv): Promise<Account> {
  const words = [CLI, 'account', 'create', '--name', 'Benchmark', '--funds', '1000', '--json'];
  const made = JSON.parse(execFileSync(process.execPath, words, { env, encoding: 'utf8' })) as Credentials;
  const { rows } = await sql.query<{ id: string }>('select id from users where team_id = $1', [made.team_id]);
  const headers = { 'x-key': made.key, 'x-secret': made.secret };
  return { teamId: made.team_id, ownerId: rows[0]?.id ?? '', headers };
}

async function startPeer(name: string, databaseUrl: string): Promise<Server> {
  const child = new Child({
    args: [join(PROJECT_DIR, 'benchmarks/peers', name, 'server.js')],
    env: { ...baseEnv(), PORT: '0', DATABASE_URL: databaseUrl },
    ...{ core: null, cwd: PROJECT_DIR },
  });
  const { port } = await child.line<{ port: number }>();
  return { name, url: `http://127.0.0.1:${port}`, pid: child.pid, stop: () => child.stop() };
}

function urlOf(dataDir: string): string {
  const { port, password } = readJson<{ port: number; password: string }>(dataDir, 'postgres.json');
  return `postgres://tonegate:${encodeURIComponent(password)}@127.0.0.1:${port}/tonegate`;
}

const readJson = <T>(dataDir: string, file: string): T =>
  JSON.parse(readFileSync(join(dataDir, file), 'utf8')) as T;
