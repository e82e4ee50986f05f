import pino from 'pino';
import type { DestinationStream } from 'pino';
import pretty from 'pino-pretty';
import type { Settings } from '../settings/index.ts';
import { redact, redactText } from './redact.ts';

/** One line an event on stderr. Fields first, then the sentence; both are redacted. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: Record<string, unknown>): Logger;
}

const STDERR_FD = 2;

/** The process's logger. `destination` is stderr unless a test listens. Writes are synchronous: a line is out before an exit. */
export function createLogger(
  settings: Pick<Settings, 'logLevel' | 'logFormat'>,
  destination?: DestinationStream,
): Logger {
  const isPretty = (settings.logFormat ?? (process.stderr.isTTY ? 'pretty' : 'json')) === 'pretty';
  const raw = destination ?? pino.destination({ fd: STDERR_FD, sync: true });
  const stream = isPretty ? pretty({ destination: raw as never, sync: true, ignore: 'pid,hostname' }) : raw;
  return pino(
    {
      level: settings.logLevel,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redact(fields) as Record<string, unknown>,
      },
      serializers: { err: (error: unknown) => redact(error) },
      hooks: {
        logMethod(args, method) {
          const [fields, message] = args as [object, string];
          method.apply(this, [fields, redactText(message)]);
        },
      },
    },
    stream,
  );
}

/** Says nothing; for tests and commands that have no log. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
