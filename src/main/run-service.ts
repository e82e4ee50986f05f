import { once } from 'node:events';
import { createLogger } from '../platform/logger/index.ts';
import type { Logger } from '../platform/logger/index.ts';
import { loadSettings } from '../platform/settings/index.ts';
import { Service } from './service.ts';
import type { ReadyLine } from './service.ts';
import { checkMachine } from './start-checks.ts';

/** Past the grace the rest of the end (last writes, database) has this long; then the process ends all the same. */
const END_LIMIT_MS = 20_000;

export interface RunOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly migrate: boolean;
  readonly onReady: (line: ReadyLine) => void;
}

/**
 * Runs the service until a signal ends it (runtime.md, Living and dying). Resolves when it has ended by its first
 * SIGTERM or SIGINT; a second one ends the process at once with exit code 1.
 */
export async function runService(options: RunOptions): Promise<void> {
  const settings = loadSettings(options.env);
  checkMachine(settings);
  const logger = createLogger(settings);
  const service = new Service({ settings, env: options.env, logger });
  const ended = listenForEnd(service, logger);
  const onHangUp = (): void => service.reloadTls();
  process.on('SIGHUP', onHangUp);
  try {
    const line = await service.start({ migrate: options.migrate });
    if (!ended.isAsked()) options.onReady(line);
    await ended.asked;
  } catch (error) {
    await service.stop().catch((cause: unknown) => logger.error({ err: cause }, 'The shutdown failed.'));
    throw error;
  }
  const watchdog = setTimeout(
    () => {
      logger.error({}, 'The shutdown took too long; what is left is ended.');
      service.abandon();
      process.exit(0);
    },
    settings.shutdownGraceSec * 1_000 + END_LIMIT_MS,
  );
  await service.stop();
  clearTimeout(watchdog);
  logger.info({}, 'Tonegate has ended.');
}

/** The first signal asks for the end, the second one ends. A bug that nobody caught ends at once too. */
function listenForEnd(service: Service, logger: Logger): { asked: Promise<void>; isAsked: () => boolean } {
  const asking = new AbortController();
  const asked = once(asking.signal, 'abort').then(() => undefined);
  const onSignal = (signal: NodeJS.Signals): void => {
    if (asking.signal.aborted) {
      service.abandon();
      process.exit(1);
    }
    logger.info({ signal }, 'Ending: calls and requests under way may finish. A second signal ends at once.');
    asking.abort();
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  const onBug = (error: unknown): void => {
    logger.error({ err: error }, 'A bug: nobody caught this. The process ends.');
    service.abandon();
    process.exit(1);
  };
  process.on('uncaughtException', onBug);
  process.on('unhandledRejection', onBug);
  return { asked, isAsked: () => asking.signal.aborted };
}
