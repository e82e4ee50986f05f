/** The whole service as a child process of its own, on free ports and a throw-away data folder. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { SettingsSchema } from '../../../platform/settings/settings.schema.ts';

/** First start: a database cluster is made, migrated and filled. Slow disks take their time. */
const START_TIMEOUT_MS = 180_000;
/** The service's own grace (5 s here) and the database's end. */
const STOP_TIMEOUT_MS = 30_000;
/** Last lines of its log that are kept to explain a failed start. */
const LOG_LINES_MAX = 20;

/** A running service. */
export interface RunningService {
  detectUrl: string;
  httpUrl: string;
  detectionKey: string;
  /** The key pair of its account. */
  key: string;
  secret: string;
  /** Ends it as an operator does and removes its data. */
  stop(): Promise<void>;
}

/** Starts the service and waits for its ready line. When it does not come up: its last log lines to `explain`, and an Error. */
export async function startService(
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  explain: (line: string) => void,
): Promise<RunningService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tonegate-demo-'));
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, 'start'], {
    cwd: dataDir,
    env: {
      ...withoutSettings(env),
      HTTP_PORT: '0',
      DETECT_PORT: '0',
      AUTH_PORT: '0',
      INTERNAL_PORT: '0',
      DATA_DIR: join(dataDir, 'data'),
      // The receiver of the demo's webhooks is on this machine.
      ALLOW_PRIVATE_TARGETS: 'true',
      SHUTDOWN_GRACE_SEC: '5',
      LOG_LEVEL: 'warn',
      LOG_FORMAT: 'json',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = async (): Promise<void> => {
    await ended(child);
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const { detect: detectUrl, http: httpUrl } = await readyUrls(child, signal, explain);
    const text = await readFile(join(dataDir, 'data', 'credentials.json'), 'utf8');
    const account = JSON.parse(text) as { detection_key: string; key: string; secret: string };
    const { detection_key: detectionKey, key, secret } = account;
    return { detectUrl, httpUrl, detectionKey, key, secret, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The demo's service takes nothing from the settings of the machine: no database, key or port of a real one. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = new Set(Object.keys(SettingsSchema.properties));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.has(name)));
}

function readyUrls(
  child: ChildProcess,
  signal: AbortSignal,
  explain: (line: string) => void,
): Promise<ReadyUrls> {
  const log: string[] = [];
  createInterface({ input: child.stderr! }).on('line', (line) => {
    log.push(line);
    if (log.length > LOG_LINES_MAX) log.shift();
  });
  return new Promise((resolve, reject) => {
    let isReady = false;
    const fail = (why: string): void => {
      if (isReady) return;
      for (const line of log.splice(0)) explain(line);
      reject(new Error(`the service ${why}`));
    };
    const timer = setTimeout(
      () => fail(`was not ready within ${START_TIMEOUT_MS / 1000} s`),
      START_TIMEOUT_MS,
    );
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const urls = readyLineUrls(line);
      if (urls === undefined) return;
      isReady = true;
      clearTimeout(timer);
      resolve(urls);
    });
    child.once('error', (error) => fail(`could not be started: ${error.message}`));
    child.once('exit', (code) => {
      clearTimeout(timer);
      fail(`ended with exit code ${code ?? 'none'} before it was ready`);
    });
    signal.addEventListener('abort', () => fail('was stopped before it was ready'), { once: true });
  });
}

export interface ReadyUrls {
  readonly http: string;
  readonly detect: string;
}

/** The addresses in the ready line of `tonegate start`; undefined for any other line. */
export function readyLineUrls(line: string): ReadyUrls | undefined {
  try {
    const frame = JSON.parse(line) as { event?: unknown; http?: unknown; detect?: unknown } | null;
    if (frame?.event !== 'ready') return undefined;
    const { http, detect } = frame;
    return typeof http === 'string' && typeof detect === 'string' ? { http, detect } : undefined;
  } catch {
    // stdout carries only the ready line, but a stray line of a dependency must not end the demo.
    return undefined;
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exit;
  clearTimeout(timer);
}
