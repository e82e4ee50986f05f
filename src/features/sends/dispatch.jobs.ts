import type { Handler } from '../../platform/outbox/index.ts';
import type { CallHeard } from '../carriers/index.ts';
import { teamOfLane } from './dispatch.lane.rules.ts';
import type { DispatchOptions } from './dispatch.options.type.ts';
import { DispatchService } from './dispatch.service.ts';
import type { SendResults } from './result.receipts.service.ts';
import { TOPICS } from './send.type.ts';

/** Sends on their way in one process; an account alone gets an eighth of the places that are free. */
const CONCURRENCY_MAX = 2_048;
/** Longer than a carrier may take to answer, with room for a database that is away for a moment. */
const LEASE_MS = 120_000;
const RESULTS_CONCURRENCY_MAX = 64;
const RESULTS_LEASE_MS = 30_000;

/** Takes `send.dispatch` off the outbox. Every effect is of a transaction of its own, held by the send's state. */
export function createDispatchHandler(options: DispatchOptions): Handler {
  const service = new DispatchService(options);
  return {
    topic: TOPICS.dispatch,
    concurrencyMax: CONCURRENCY_MAX,
    leaseMs: LEASE_MS,
    mayRepeat: true,
    async handle(row, finish, signal) {
      const key = { teamId: teamOfLane(row.lane), sendId: row.key };
      await service.dispatch(key, { finish, signal, starts: row.attempts });
    },
  };
}

/** Takes what is told later: `send.heard` of calls that listened, `send.await` of carriers that never said how it ended. */
export function createResultHandlers({ results }: { results: SendResults }): Handler[] {
  const bounds = { concurrencyMax: RESULTS_CONCURRENCY_MAX, leaseMs: RESULTS_LEASE_MS, mayRepeat: true };
  return [
    {
      ...bounds,
      topic: TOPICS.heard,
      async handle(row, finish) {
        await results.heard(row.key, row.payload as unknown as CallHeard);
        await finish();
      },
    },
    {
      ...bounds,
      topic: TOPICS.await,
      async handle(row, finish) {
        const { attempt } = row.payload as { attempt: number };
        const key = { teamId: teamOfLane(row.lane), sendId: row.key };
        await results.endings.end({ ...key, attempt, from: ['sent'], result: { outcomeCode: 4090 } });
        await finish();
      },
    },
  ];
}
