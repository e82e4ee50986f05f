import type { Queue, QueueHealth, WakeHandler } from './queue.ts';
import { WakeBuffer } from './wake-buffer.ts';

/**
 * Wake-ups of a process that claims no work itself (a gateway child): they leave through `send`, usually to
 * the main process, whose own queue wakes the lane. Listeners here hear nothing, as nothing comes back.
 */
export class IpcQueue implements Queue {
  readonly name = 'ipc';
  readonly #buffer: WakeBuffer;
  #closed = false;
  #failed: string | undefined;

  /** `send` may throw when its channel is gone; the relay's poll then finds the work. */
  constructor(send: (lane: string) => void) {
    this.#buffer = new WakeBuffer((lanes) => {
      if (this.#closed) return;
      try {
        lanes.forEach((lane) => send(lane));
        this.#failed = undefined;
      } catch (error) {
        this.#failed = error instanceof Error ? error.message : String(error);
      }
    });
  }

  wake(lane: string): void {
    if (!this.#closed) this.#buffer.add(lane);
  }

  onWake(_handler: WakeHandler): void {
    // Nothing to register: see the class.
  }

  async health(): Promise<QueueHealth> {
    return this.#failed === undefined ? { ok: true } : { ok: false, detail: `wake-ups: ${this.#failed}` };
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}
