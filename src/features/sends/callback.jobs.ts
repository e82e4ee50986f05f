import type { Clock } from '../../kernel/clock.ts';
import type { Db } from '../../platform/db/index.ts';
import { TargetRefused } from '../../platform/net/index.ts';
import type { Net } from '../../platform/net/index.ts';
import type { Handler } from '../../platform/outbox/index.ts';
import { CallbackStore } from './callback.store.ts';
import type { CallbackEnd, PendingCallback } from './callback.store.ts';
import { insertSteps } from './dispatch.steps.store.ts';
import { teamOfLane } from './dispatch.lane.rules.ts';
import { TOPICS } from './send.type.ts';

/** Supplement 1. */
const TIMEOUT_MS = 10_000;
/** Callbacks in flight in one process. */
const CONCURRENCY_MAX = 256;
/** Of these to one host of one account, so that a slow one delays nobody else. */
const PER_HOST_MAX = 16;
/** The answer's 10 s and the recording, with room for a database that is away for a moment. */
const LEASE_MS = 30_000;
const ERROR_LENGTH_MAX = 200;

export interface CallbackHandlerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly net: Pick<Net, 'post'>;
}

/**
 * Takes `send.callback` off the outbox: one POST, not signed, no redirect, no second try (supplement 1). States of a
 * callback: pending → delivered (2xx) | failed. Killed between the POST and its record it makes another.
 */
export function createCallbackHandler(options: CallbackHandlerOptions): Handler {
  const { db, clock, net } = options;
  const store = new CallbackStore(db);
  return {
    topic: TOPICS.callback,
    concurrencyMax: CONCURRENCY_MAX,
    laneConcurrencyMax: PER_HOST_MAX,
    leaseMs: LEASE_MS,
    async handle(row, finish, signal) {
      const key = { teamId: teamOfLane(row.lane), sendId: row.key };
      const callback = await store.findPending(key);
      const said = callback && (await call(net, callback, signal));
      await finish(async (tx) => {
        if (!said) return;
        const nowMs = clock.nowMs();
        if (!(await store.finish(tx, { ...key, ...said, nowMs }))) return;
        const detail = { state: said.state, status_code: said.statusCode, error: said.error };
        await insertSteps(tx, [{ ...key, kind: 'callback', atMs: nowMs, detail }]);
      });
    },
  };
}

type Said = Pick<CallbackEnd, 'state' | 'statusCode' | 'error'>;

async function call(net: Pick<Net, 'post'>, callback: PendingCallback, signal: AbortSignal): Promise<Said> {
  const { url, body } = callback;
  const headers = { 'content-type': 'application/json' };
  try {
    const { status } = await net.post({ url, headers, body, timeoutMs: TIMEOUT_MS, signal });
    return { state: status >= 200 && status < 300 ? 'delivered' : 'failed', statusCode: status, error: null };
  } catch (error) {
    // A process that stops hands it to another.
    if (signal.aborted) throw error;
    return { state: 'failed', statusCode: null, error: faultOf(error) };
  }
}

/** What went wrong, without the address. */
function faultOf(error: unknown): string {
  if (error instanceof TargetRefused) return `address refused: ${error.message}`;
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code.slice(0, ERROR_LENGTH_MAX) : 'the request failed';
}
