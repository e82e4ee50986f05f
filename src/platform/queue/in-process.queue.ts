import type { Logger } from '../logger/index.ts';
import type { Queue, QueueHealth, WakeHandler } from './queue.ts';
import { WakeBuffer } from './wake-buffer.ts';

/** Wake-ups within one process: the default, and the local half of the BullMQ driver. */
export class InProcessQueue implements Queue {
  readonly name = 'in-process';
  readonly #handlers: WakeHandler[] = [];
  readonly #logger: Logger;
  readonly #buffer = new WakeBuffer((lanes) => this.#deliver(lanes));
  #closed = false;

  constructor(options: { logger: Logger }) {
    this.#logger = options.logger;
  }

  wake(lane: string): void {
    if (!this.#closed) this.#buffer.add(lane);
  }

  onWake(handler: WakeHandler): void {
    this.#handlers.push(handler);
  }

  async health(): Promise<QueueHealth> {
    return { ok: true };
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #deliver(lanes: string[]): void {
    if (this.#closed) return;
    for (const lane of lanes) {
      for (const handler of this.#handlers) {
        try {
          handler(lane);
        } catch (error) {
          this.#logger.error({ err: error }, 'a listener of wake-ups failed');
        }
      }
    }
  }
}
