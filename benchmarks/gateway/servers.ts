/** The servers that are measured beside each other: this service, and the peers. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Child, childrenOf, commandLine, pin } from './processes.ts';

const PROJECT_DIR = fileURLToPath(new URL('../..', import.meta.url));
const CLI = join(PROJECT_DIR, 'dist/main/cli/tonegate.js');

/** Core of the process that is measured; the generator and everything else have the other. */
export const SERVER_CORE = 0;
export const GENERATOR_CORE = 1;
/** Above any load of these runs: the account's own limit is not what is measured. */
const CONCURRENT_SESSIONS = 100_000;

/** A server that takes calls. */
export interface Server {
  name: string;
  port: number;
  /** The process that owns the sockets. */
  pid: number;
  tls: boolean;
  detectionKey: string;
  stop(): Promise<void>;
}

export interface TlsFiles {
  TLS_CERT_FILE: string;
  TLS_KEY_FILE: string;
}

/** A certificate for this run. */
export function makeCertificate(): { files: TlsFiles; remove: () => void } {
  const dir = mkdtempSync(join(tmpdir(), 'tonegate-bench-tls-'));
  const files = { TLS_CERT_FILE: join(dir, 'cert.pem'), TLS_KEY_FILE: join(dir, 'key.pem') };
  const subject = [
    '-subj',
    '/CN=127.0.0.1',
    '-days',
    '2',
    '-nodes',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
  ];
  execFileSync(
    'openssl',
    ['req', '-x509', ...subject, '-keyout', files.TLS_KEY_FILE, '-out', files.TLS_CERT_FILE],
    { stdio: 'ignore' },
  );
  return { files, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** Starts a peer of `benchmarks/peers`. */
export async function startPeer(name: string, tls?: TlsFiles): Promise<Server> {
  const child = new Child({
    args: [join(PROJECT_DIR, 'benchmarks/peers', name, 'server.js')],
    env: { ...baseEnv(), ...tls, PORT: '0' },
    core: SERVER_CORE,
    cwd: PROJECT_DIR,
  });
  const { port } = await child.line<{ port: number }>();
  return {
    name: tls ? `${name}, TLS` : name,
    port,
    pid: child.pid,
    tls: tls !== undefined,
    detectionKey: '',
    stop: () => child.stop(),
  };
}

/** Starts the whole service as an operator does; its gateway process has the measured core to itself. */
export async function startService(settings: Readonly<Record<string, string>>): Promise<Server> {
  const dir = mkdtempSync(join(tmpdir(), 'tonegate-bench-'));
  const env = {
    ...baseEnv(),
    HTTP_PORT: '0',
    DETECT_PORT: '0',
    AUTH_PORT: '0',
    INTERNAL_PORT: '0',
    DATA_DIR: join(dir, 'data'),
    LOG_LEVEL: 'error',
    LOG_FORMAT: 'json',
    SHUTDOWN_GRACE_SEC: '1',
    MAX_SESSIONS: '5000',
    ...settings,
  };
  const child = new Child({ args: [CLI, 'start'], env, core: GENERATOR_CORE, cwd: dir });
  const stop = async (): Promise<void> => {
    await child.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const { detect } = await child.line<{ detect: string }>();
    const pid = gatewayOf(child.pid);
    pin(pid, SERVER_CORE);
    const account = execFileSync(
      process.execPath,
      [CLI, 'account', 'create', '--name', 'benchmark', '--funds', '1000000', '--json'].concat([
        '--concurrent-sessions',
        String(CONCURRENT_SESSIONS),
      ]),
      { env, cwd: dir, encoding: 'utf8' },
    );
    const { detection_key: detectionKey } = JSON.parse(account) as { detection_key: string };
    const { port, protocol } = new URL(detect);
    return { name: 'tonegate', port: Number(port), pid, tls: protocol === 'wss:', detectionKey, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The gateway among the children of the main process. */
function gatewayOf(mainPid: number): number {
  const found = childrenOf(mainPid).find((pid) => /gateway/.test(commandLine(pid)));
  if (found === undefined) throw new Error('the main process has no gateway child');
  return found;
}

/** Nothing of the machine's own settings may reach a server that is measured. */
function baseEnv(): NodeJS.ProcessEnv {
  const { PATH, HOME, LANG } = process.env;
  return { PATH, HOME, LANG, NODE_ENV: 'production' };
}
