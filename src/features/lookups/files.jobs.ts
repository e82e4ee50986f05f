import type { Handler, OutboxMessage } from '../../platform/outbox/index.ts';
import type { Storage } from '../../platform/storage/index.ts';

export const TOPIC = 'file.removed';
const LEASE_MS = 30_000;
const CONCURRENCY_MAX = 4;

/** The row that named a file is gone with this message's transaction; the file goes after it. */
export const removalMessage = (storageKey: string): OutboxMessage => ({
  topic: TOPIC,
  key: storageKey,
  lane: 'files',
  payload: {},
});

export const createFileRemovalHandler = ({ storage }: { storage: Storage }): Handler => ({
  topic: TOPIC,
  concurrencyMax: CONCURRENCY_MAX,
  leaseMs: LEASE_MS,
  async handle(row, finish) {
    await storage.delete(row.key);
    await finish();
  },
});
