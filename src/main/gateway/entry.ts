import cluster from 'node:cluster';
import { createLogger } from '../../platform/logger/index.ts';
import type { Logger } from '../../platform/logger/index.ts';
import { loadSettings, SettingsError } from '../../platform/settings/index.ts';
import { DriverUnavailable } from '../../platform/socket/index.ts';
import { composeGateway } from './compose.ts';
import type { GatewayProcess } from './compose.ts';
import { readCommand } from './ipc.ts';
import type { GatewayCommand, GatewayMessage } from './ipc.ts';

/*
 * The gateway process: started by the main process, which it hears and answers over the IPC channel. It ends by a
 * `drain`, by SIGTERM, or at once when the channel closes, since then nobody is there to stand for it.
 */

const EXIT = { done: 0, failed: 1, settings: 78 } as const;

/** Sends unless the channel is gone; its end is handled by `disconnect`. */
function send(message: GatewayMessage): void {
  if (process.connected) process.send?.(message);
}

/** Tells the main process why this one ends, and ends when that has left. */
function fail(logger: Logger | null, error: unknown): void {
  const isSettings = error instanceof SettingsError || error instanceof DriverUnavailable;
  const message = error instanceof Error ? error.message : String(error);
  const exitCode = isSettings ? EXIT.settings : EXIT.failed;
  if (!isSettings) logger?.error({ err: error }, 'The gateway failed.');
  const leave = (): void => process.exit(exitCode);
  if (process.connected && process.send) process.send({ type: 'failed', message, exitCode }, leave);
  else leave();
}

/** The process from its start to its end, once. */
class Life {
  readonly #parts: GatewayProcess;
  readonly #logger: Logger;
  #ending: Promise<void> | null = null;

  constructor(parts: GatewayProcess, logger: Logger) {
    this.#parts = parts;
    this.#logger = logger;
  }

  async start(): Promise<void> {
    const port = await this.#parts.gateway.start();
    send({ type: 'ready', port, driver: this.#parts.gateway.driver });
  }

  command(command: GatewayCommand): void {
    if (command.type === 'drain') this.end(command.graceMs);
    else if (command.type === 'reload-tls') this.#reloadTls();
    else void this.#reportMetrics(command.id);
  }

  end(graceMs: number): void {
    this.#ending ??= this.#end(graceMs).then(
      () => process.exit(EXIT.done),
      (error: unknown) => fail(this.#logger, error),
    );
  }

  async #end(graceMs: number): Promise<void> {
    await this.#parts.gateway.drain(graceMs);
    await this.#parts.close();
  }

  #reloadTls(): void {
    this.#parts.gateway.reloadTls().then(
      () => this.#logger.info({}, 'The TLS files were read again.'),
      (error: unknown) =>
        this.#logger.error({ err: error }, 'The TLS files do not load; the old ones stay in force.'),
    );
  }

  async #reportMetrics(id: number): Promise<void> {
    try {
      send({ type: 'metrics', id, metrics: await this.#parts.metrics.snapshot() });
    } catch (error) {
      this.#logger.warn({ err: error }, 'The metrics could not be read.');
    }
  }
}

async function main(): Promise<void> {
  let logger: Logger | null = null;
  try {
    const settings = loadSettings(process.env);
    const processId = process.env['TONEGATE_PROCESS_ID'];
    if (processId === undefined) throw new SettingsError('TONEGATE_PROCESS_ID', 'given by the main process');
    logger = createLogger(settings).child({ role: 'gateway' });
    const sendWake = (lane: string): void => send({ type: 'wake', lane });
    const life = new Life(composeGateway({ settings, processId, logger, sendWake }), logger);
    listen(life, settings.shutdownGraceSec * 1000);
    await life.start();
  } catch (error) {
    fail(logger, error);
  }
}

function listen(life: Life, graceMs: number): void {
  process.on('message', (message) => {
    const command = readCommand(message);
    if (command) life.command(command);
  });
  // First in line: Node's own listener of a cluster worker would exit at once, without a word to the sockets.
  process.prependListener('disconnect', () => {
    if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
    life.end(0);
  });
  process.on('SIGTERM', () => life.end(graceMs));
  // A terminal sends these to the whole group; the main process decides what they mean.
  process.on('SIGINT', () => undefined);
  process.on('SIGHUP', () => undefined);
}

void main();
