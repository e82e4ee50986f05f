import { randomUUID } from 'node:crypto';
import { createClient } from 'graphql-ws';
import type { Client } from 'graphql-ws';
import { WebSocket } from 'ws';
import { JournalStore } from '../../src/features/detection/journal.store.ts';
import type { EventName } from '../../src/features/detection/event.type.ts';
import { newRecord } from '../../src/features/detection/session-record.type.ts';
import type { SessionRecord } from '../../src/features/detection/session-record.type.ts';
import { mountAdmin } from '../../src/main/graphql/admin.ts';
import { createHttp, GuessGuard, listenHttp } from '../../src/platform/http/index.ts';
import type { TestAccount, TestApi } from '../_util/api.ts';
import type { TestDb } from '../_util/index.ts';

/** A process of its own for subscriptions, which judges credentials again and again in short. */
export async function startLive(api: TestApi): Promise<{ url: string; close(): Promise<void> }> {
  const { services } = api;
  const { logger, ids, limiter } = services;
  const app = createHttp({ logger, ids, tls: null, trustProxy: [], publicUrl: () => api.url });
  const perRoute = { perSecond: 1_000, burst: 1_000 };
  await mountAdmin(app, services, { guard: new GuessGuard({ limiter }), perRoute, recheckMs: 50 });
  const port = await listenHttp(app, { host: '127.0.0.1', port: 0 });
  return { url: `ws://127.0.0.1:${port}/graphql`, close: () => app.close() };
}

export interface Live {
  readonly client: Client;
  /** Code and reason of the socket's end. */
  readonly closed: Promise<{ code: number; reason: string }>;
}

/** A client that connects when it first subscribes, and not again. */
export function connect(url: string, connectionParams: Record<string, unknown> = {}): Live {
  let end: (event: { code: number; reason: string }) => void;
  const closed = new Promise<{ code: number; reason: string }>((resolve) => (end = resolve));
  const client = createClient({
    ...{ url, webSocketImpl: WebSocket, connectionParams, retryAttempts: 0, lazy: true },
    onNonLazyError: () => undefined,
    on: { closed: (event) => end(event as { code: number; reason: string }) },
  });
  return { client, closed };
}

export const paramsOf = ({ key, secret }: { key: string; secret: string }) => ({
  ...{ 'x-key': key, 'x-secret': secret },
});

/* eslint-disable @typescript-eslint/no-explicit-any */
export interface Watched {
  /** What came, results whole. */
  readonly results: any[];
  /** Set when it ended, with what the server said of it. */
  end: { errors?: any } | null;
  stop(): void;
}

/** Subscribes and gathers. */
export function watch({ client }: Live, query: string, variables?: Record<string, unknown>): Watched {
  const watched: Watched = { results: [], end: null, stop: () => stop() };
  const stop = client.subscribe(
    { query, ...(variables ? { variables } : {}) },
    {
      next: (result) => void watched.results.push(result),
      error: (errors) => void (watched.end = { errors }),
      complete: () => void (watched.end ??= {}),
    },
  );
  return watched;
}

/** A session as a gateway's journal writes it. */
export function sessionOf(account: TestAccount, keyId: string): SessionRecord {
  return newRecord({
    ...{ sessionId: randomUUID(), teamId: account.teamId, keyId, callId: 'call-1', source: 'ws' },
    ...{ strategy: 'standard', encoding: 'mulaw', sampleRateHz: 8000, startedAtMs: Date.now() },
    ...{ webhook: null, platform: null, keepTranscripts: false },
  });
}

/** Writes events in one transaction, as the journal of another process does. */
export async function say(
  { db }: TestDb,
  record: SessionRecord,
  events: readonly EventName[],
): Promise<void> {
  const store = new JournalStore(randomUUID());
  await db.tx(async (tx) => {
    await store.upsertSessions(tx, [record]);
    await store.insertEvents(
      tx,
      events.map((event) => {
        record.sequence += 1;
        const payload = { session_id: record.sessionId, timestamp_ms: record.sequence * 100 };
        return { record, sequence: record.sequence, event, payload, atMs: Date.now() };
      }),
    );
  });
}
