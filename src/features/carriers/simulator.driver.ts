import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ids } from '../../kernel/ids.ts';
import type { OutcomeCode } from '../../kernel/outcome.ts';
import type { Limiter } from '../../platform/limits/index.ts';
import type { CarrierSettings } from './carriers.rules.ts';
import { notStarted, retry, unknown } from './said.rules.ts';
import type { Said } from './said.rules.ts';
import type { CarrierRequests, Driver } from './driver.type.ts';
import type { CarrierWork } from './port.type.ts';

/** What a simulated failure is, by kind of work. */
const FAILURES: Record<CarrierWork, OutcomeCode> = { text: 4004, call: 4005, drop: 4000, mail: 5030 };

export interface SimulatorOptions {
  readonly settings: CarrierSettings<'simulator'>;
  readonly ids: Ids;
  readonly limiter: Limiter;
  /** Names its rate among others'. */
  readonly name: string;
  /** Replaced in tests: waits, and rejects when the signal is aborted. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const realWait = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal });

/**
 * A carrier that reaches nobody: after `latency_ms` it says that all went well, or for `failure_rate` of the sends that it
 * did not. Which ones fail follows from their ids, so that the same sends fare alike each time. Beyond `rate_per_second` it
 * answers as carriers do that are asked too often.
 */
export class SimulatorDriver implements Driver {
  readonly #options: SimulatorOptions;

  constructor(options: SimulatorOptions) {
    this.#options = options;
  }

  async send<W extends CarrierWork>(
    work: W,
    request: CarrierRequests[W],
    signal: AbortSignal,
  ): Promise<Said> {
    const { settings, ids, limiter, name } = this.#options;
    if (signal.aborted) return notStarted();
    const rate = settings.rate_per_second;
    if (rate !== undefined && !(await limiter.take(`simulator:${name}`, { perSecond: rate, burst: rate })))
      return retry(Math.ceil(1_000 / rate), 'The simulated carrier is asked too often.');
    try {
      await (this.#options.wait ?? realWait)(settings.latency_ms, signal);
    } catch {
      return { ...unknown('The process ended while the carrier was asked.'), fault: null };
    }
    if (chanceOf(request) < settings.failure_rate) {
      const result = { outcomeCode: FAILURES[work], detail: 'Simulated failure.' };
      return { answer: { kind: 'refused', result }, fault: null };
    }
    const carrierMessageId = `sim-${ids.uuid()}`;
    return { answer: { kind: 'accepted', carrierMessageId, result: { outcomeCode: 0 } }, fault: null };
  }

  async close(): Promise<void> {
    // Holds nothing.
  }
}

/** Uniform in 0..1, the same for the same attempt. */
function chanceOf(request: CarrierRequests[CarrierWork]): number {
  const key = 'emailId' in request ? request.emailId : `${request.sendId} ${request.attempt}`;
  return createHash('sha256').update(key).digest().readUInt32BE() / 2 ** 32;
}
