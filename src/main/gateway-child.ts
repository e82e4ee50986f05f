import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { MetricsSnapshot } from '../platform/metrics/index.ts';
import type { GatewayCommand, GatewayMessage } from './gateway/ipc.ts';

const START_LIMIT_MS = 60_000;
const METRICS_LIMIT_MS = 1_500;
/** After its grace a gateway has this long for its last writes before it is killed. */
const END_LIMIT_MS = 8_000;
const STDERR_FD = 2;

/** A gateway that could not start. `exitCode` is what the service ends with when it is the first one. */
export class GatewayFailed extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.name = 'GatewayFailed';
    this.exitCode = exitCode;
  }
}

export interface GatewayStarted {
  readonly port: number;
  readonly driver: 'uws' | 'ws';
}

/** One gateway process: starting → ready → (draining) → ended. Everything it needs is in its environment. */
export class GatewayChild {
  readonly processId: string;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (metrics: MetricsSnapshot) => void>();
  readonly #onWake: (lane: string) => void;
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
  readonly #ready: Promise<void>;
  #sayReady: () => void = () => undefined;
  #nextQuestion = 1;
  #started: GatewayStarted | undefined;
  #failed: GatewayFailed | undefined;

  constructor(options: { processId: string; env: Record<string, string>; onWake: (lane: string) => void }) {
    this.processId = options.processId;
    this.#onWake = options.onWake;
    // The entry beside this file: compiled in dist, source under tsx.
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    cluster.setupPrimary({
      exec: fileURLToPath(new URL(`./gateway/entry.${extension}`, import.meta.url)),
      args: [],
      // stdout belongs to the ready line alone.
      stdio: ['ignore', STDERR_FD, STDERR_FD, 'ipc'],
    });
    this.#worker = cluster.fork({ ...options.env, TONEGATE_PROCESS_ID: options.processId });
    this.ended = new Promise((resolve) =>
      this.#worker.once('exit', (code: number | null, signal: string | null) => resolve({ code, signal })),
    );
    this.#ready = new Promise((resolve) => (this.#sayReady = resolve));
    this.#worker.on('message', (message: GatewayMessage) => this.#hear(message));
    // A message to a child that just died fails here; its exit is what is acted upon.
    this.#worker.on('error', () => undefined);
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  get started(): GatewayStarted | undefined {
    return this.#started;
  }

  /** Resolves when it listens. @throws GatewayFailed with what it said */
  async ready(): Promise<GatewayStarted> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<'late'>(
      (resolve) => (timer = setTimeout(() => resolve('late'), START_LIMIT_MS)),
    );
    const how = await Promise.race([
      this.#ready.then(() => 'ready' as const),
      this.ended.then(() => 'ended' as const),
      limit,
    ]);
    clearTimeout(timer);
    if (how === 'ready' && this.#started) return this.#started;
    if (how === 'late') this.kill();
    throw (
      this.#failed ??
      new GatewayFailed(`a gateway process ${how === 'late' ? 'did not get ready' : 'ended'}`, 1)
    );
  }

  /** No new sessions; ends when its calls have, or after `graceMs`. Killed when it does not. */
  async drain(graceMs: number): Promise<void> {
    this.#tell({ type: 'drain', graceMs });
    const timer = setTimeout(() => this.kill(), graceMs + END_LIMIT_MS);
    await this.ended;
    clearTimeout(timer);
  }

  reloadTls(): void {
    this.#tell({ type: 'reload-tls' });
  }

  /** Its numbers; null when it does not answer in time. */
  async metrics(): Promise<MetricsSnapshot | null> {
    if (!this.#started || !this.#worker.isConnected()) return null;
    const id = this.#nextQuestion++;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), METRICS_LIMIT_MS)));
    const answer = new Promise<MetricsSnapshot>((resolve) => this.#waiting.set(id, resolve));
    this.#tell({ type: 'metrics', id });
    const found = await Promise.race([answer, limit]);
    clearTimeout(timer);
    this.#waiting.delete(id);
    return found;
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  #tell(command: GatewayCommand): void {
    if (this.#worker.isConnected()) this.#worker.send(command);
  }

  #hear(message: GatewayMessage): void {
    if (message.type === 'wake') this.#onWake(message.lane);
    else if (message.type === 'metrics') this.#waiting.get(message.id)?.(message.metrics);
    else if (message.type === 'failed') this.#failed = new GatewayFailed(message.message, message.exitCode);
    else if (message.type === 'ready') {
      this.#started = { port: message.port, driver: message.driver };
      this.#sayReady();
    }
  }
}
