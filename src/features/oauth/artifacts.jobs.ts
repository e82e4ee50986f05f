import { inBatches } from '../../kernel/batches.ts';
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
      const bounds = { rowsMax: BATCH_ARTIFACTS, batchesMax: BATCHES_MAX, signal };
      return inBatches(bounds, () => store.removeExpired(before, BATCH_ARTIFACTS));
    },
  };
}
