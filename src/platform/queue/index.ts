import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../logger/index.ts';
import { BullMqQueue } from './bullmq.queue.ts';
import { InProcessQueue } from './in-process.queue.ts';
import type { Queue } from './queue.ts';

export { ALL_LANES } from './queue.ts';
export type { Queue, QueueHealth, WakeHandler } from './queue.ts';
export { IpcQueue } from './ipc.queue.ts';

/** The driver that the settings ask for: BullMQ with `redisUrl`, else in process. */
export function createQueue(options: {
  redisUrl?: string | undefined;
  logger: Logger;
  clock: Clock;
  /** Prefix of all keys in Redis; several installations on one Redis need their own. */
  prefix?: string | undefined;
}): Queue {
  const { redisUrl, logger, clock, prefix } = options;
  if (!redisUrl) return new InProcessQueue({ logger });
  return new BullMqQueue({ redisUrl, logger, prefix, monotonicMs: () => clock.monotonicMs() });
}
