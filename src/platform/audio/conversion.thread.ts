import { Worker } from 'node:worker_threads';
import type { ConversionAnswer, ConversionJob } from './convert.worker.ts';

/** JavaScript heap of a conversion; samples live outside of it, bounded by the length of the audio. */
const HEAP_MB_MAX = 256;

/** A thread that converts one file at a time; it keeps the process alive only while it does. */
export class ConversionThread {
  readonly #worker: Worker;
  #idle: NodeJS.Timeout | undefined;

  constructor() {
    const entry = threadEntry();
    this.#worker = new Worker(entry.program, {
      eval: entry.isScript,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
    // Whoever waits for an answer listens himself; an idle thread that dies is noticed by its next job.
    this.#worker.on('error', () => undefined);
  }

  /** Null: no answer within the time. Throws when the thread died; it is of no use after either. */
  async run(job: ConversionJob, timeLimitMs: number): Promise<ConversionAnswer | null> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    worker.ref();
    let timer: NodeJS.Timeout | undefined;
    const listeners = new AbortController();
    try {
      return await new Promise<ConversionAnswer | null>((resolve, reject) => {
        const onExit = (code: number): void => reject(new Error(`a conversion thread ended with ${code}`));
        timer = setTimeout(() => resolve(null), timeLimitMs);
        worker.once('message', resolve).once('error', reject).once('exit', onExit);
        listeners.signal.addEventListener('abort', () =>
          worker.off('message', resolve).off('error', reject).off('exit', onExit),
        );
        worker.postMessage(job);
      });
    } finally {
      clearTimeout(timer);
      listeners.abort();
      worker.unref();
    }
  }

  /** Waits for another job that long, then ends. */
  rest(idleMs: number, onEnd: () => void): void {
    this.#idle = setTimeout(() => {
      onEnd();
      void this.end();
    }, idleMs).unref();
  }

  async end(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#worker.terminate();
  }
}

/** The thread's file, beside this one: compiled in dist; as source (tests, development) a script loads it through tsx. */
function threadEntry(): { program: URL | string; isScript: boolean } {
  if (!import.meta.url.endsWith('.ts')) {
    return { program: new URL('./convert.worker.js', import.meta.url), isScript: false };
  }
  const source = new URL('./convert.worker.ts', import.meta.url).href;
  const program = `import('tsx/esm/api').then((tsx) => (tsx.register(), import(${JSON.stringify(source)})))`;
  return { program, isScript: true };
}
