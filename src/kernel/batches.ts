export interface BatchBounds {
  /** Rows that a whole batch has: a smaller one was the last. */
  readonly rowsMax: number;
  /** Batches of one run; the next run goes on. */
  readonly batchesMax: number;
  /** Ends the run after the batch under way. */
  readonly signal?: AbortSignal | undefined;
}

/** Repeats a statement of at most `rowsMax` rows, so that none holds locks for long, until nothing is left; how many rows in all. */
export async function inBatches(
  { rowsMax, batchesMax, signal }: BatchBounds,
  batch: () => Promise<number>,
): Promise<number> {
  let total = 0;
  for (let n = 0; n < batchesMax && !signal?.aborted; n += 1) {
    const count = await batch();
    total += count;
    if (count < rowsMax) break;
  }
  return total;
}
