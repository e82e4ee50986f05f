import type { Clock } from '../../kernel/clock.ts';
import type { Db } from '../../platform/db/index.ts';
import { ArtifactsStore } from './artifacts.store.ts';

const SWEEP_INTERVAL_MS = 60_000;
/** Artifacts deleted by one statement: short locks. */
const BATCH_ARTIFACTS = 1_000;
/** Batches of one run; what is left goes with the next. */
const BATCHES_MAX = 100;

/** Deletes what the OAuth server kept and what has expired. `run` answers how many went. */
export function createArtifactsSweep(options: { db: Db; clock: Clock }): {
  readonly name: string;
  readonly intervalMs: number;
  run(signal?: AbortSignal): Promise<number>;
} {
  const store = new ArtifactsStore(options.db);
  return {
    name: 'oauth-artifacts',
    intervalMs: SWEEP_INTERVAL_MS,
    run: async (signal) => {
      const before = new Date(options.clock.nowMs());
      let deleted = 0;
      for (let batch = 0; batch < BATCHES_MAX && !signal?.aborted; batch++) {
        const count = await store.removeExpired(before, BATCH_ARTIFACTS);
        deleted += count;
        if (count < BATCH_ARTIFACTS) break;
      }
      return deleted;
    },
  };
}
