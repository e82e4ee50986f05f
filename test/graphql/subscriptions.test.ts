import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { EventStream } from '../../src/platform/graphql/index.ts';
import type { SessionRecord } from '../../src/features/detection/session-record.type.ts';
import { startApi } from '../_util/api.ts';
import type { TestAccount, TestApi } from '../_util/api.ts';
import { testDb, until } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';
import { connect, paramsOf, say, sessionOf, startLive, watch } from './_live.ts';
import type { Live, Watched } from './_live.ts';

const EVENTS = `subscription ($sessionId: ID, $keyId: ID) {
  detectionEvents(sessionId: $sessionId, keyId: $keyId) { sessionId keyId callId sequence event timestampMs payload } }`;
const LIMIT_MS = 10_000;

let db: TestDb;
let api: TestApi;
let live: Awaited<ReturnType<typeof startLive>>;
let other: Awaited<ReturnType<typeof startLive>>;
let account: TestAccount;
let stranger: TestAccount;
let keyId: string;
const open: Live[] = [];

const connected = (to: { url: string }, params?: Record<string, unknown>): Live => {
  const made = connect(to.url, params);
  open.push(made);
  return made;
};

beforeAll(async () => {
  db = await testDb({ maxConnections: 20 });
  api = await startApi(db);
  live = await startLive(api);
  other = await startLive(api);
  account = await api.account();
  stranger = await api.account();
  keyId = (await api.services.detectionKeys.list(account.caller))[0]?.keyId ?? '';
});

afterEach(async () => {
  for (const { client } of open.splice(0)) await client.dispose();
  await until(async () => (await listeners()) === 0, LIMIT_MS, 'the end of listening');
});

afterAll(async () => {
  await live.close();
  await other.close();
  await api.close();
  await db.drop();
});

/** Connections that listen for events: the last statement of each is its LISTEN, or its check of the peer. */
async function listeners(): Promise<number> {
  const { rows } = await db.db.query<{ n: bigint }>(
    `select count(*) as n from pg_stat_activity
     where datname = current_database() and query = 'listen detection_events'`,
  );
  return Number(rows[0]?.n ?? 0);
}

/** Says a first event until it is heard: when a subscription has begun is not told to its client. */
async function begun(watched: Watched, session = sessionOf(account, keyId)): Promise<SessionRecord> {
  await until(
    async () => {
      await say(db, session, ['ready']);
      return watched.results.length > 0;
    },
    LIMIT_MS,
    'the begin of the subscription',
  );
  return session;
}

const eventsOf = (watched: Watched): { event: string; sequence: number }[] =>
  watched.results.map((result) => result.data.detectionEvents as { event: string; sequence: number });

const namesOf = (watched: Watched): string[] => eventsOf(watched).map(({ event }) => event);

/** Without those that the begin was waited for with. */
const laterNames = (watched: Watched): string[] => namesOf(watched).filter((name) => name !== 'READY');

describe('detectionEvents', () => {
  it('tells each event of a session once and in order, in every process', async () => {
    const session = sessionOf(account, keyId);
    const watched = [live, other].map((to) =>
      watch(connected(to, paramsOf(account)), EVENTS, { sessionId: session.sessionId }),
    );
    for (const one of watched) await begun(one, session);
    await say(db, session, ['speech_start', 'detection']);
    await say(db, session, ['beep']);
    await say(db, session, ['close', 'stopped']);
    for (const one of watched) {
      await until(() => laterNames(one).length === 5, LIMIT_MS, 'five events');
      expect(laterNames(one)).toEqual(['SPEECH_START', 'DETECTION', 'BEEP', 'CLOSE', 'STOPPED']);
      const last = { sessionId: session.sessionId, keyId, callId: 'call-1', sequence: session.sequence };
      expect(eventsOf(one).at(-1)).toMatchObject(last);
      const sequences = eventsOf(one).map(({ sequence }) => sequence);
      expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
      expect(one.end).toBeNull();
    }
  });

  it('tells the events of one key, of all keys, and none of another account', async () => {
    const second = await api.services.detectionKeys.create(account.caller, {});
    const byKey = watch(connected(live, paramsOf(account)), EVENTS, { keyId });
    const all = watch(connected(live, paramsOf(account)), EVENTS);
    const foreign = watch(connected(live, paramsOf(stranger)), EVENTS);
    const session = await begun(byKey);
    await begun(all, session);
    const theirs = await begun(foreign, sessionOf(stranger, keyId));
    await say(db, sessionOf(account, second.keyId), ['beep']);
    await say(db, theirs, ['timeout']);
    await say(db, session, ['close']);
    await until(() => laterNames(all).length + laterNames(foreign).length === 3, LIMIT_MS, 'three events');
    await until(() => laterNames(byKey).length === 1, LIMIT_MS, 'one event');
    expect(laterNames(all).sort()).toEqual(['BEEP', 'CLOSE']);
    expect(laterNames(byKey)).toEqual(['CLOSE']);
    expect(laterNames(foreign)).toEqual(['TIMEOUT']);
  });

  it('tells what was written while the connection that listens was lost', async () => {
    const watched = watch(connected(live, paramsOf(account)), EVENTS, { keyId });
    const session = await begun(watched);
    await db.db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and query = 'listen detection_events' and pid <> pg_backend_pid()`,
    );
    await say(db, session, ['beep']);
    await until(() => laterNames(watched).length === 1, LIMIT_MS, 'the event of the gap');
    await say(db, session, ['close']);
    await until(() => laterNames(watched).length === 2, LIMIT_MS, 'the last event');
  });

  it("does not find another account's session and key", async () => {
    const session = sessionOf(account, keyId);
    await say(db, session, ['ready']);
    for (const variables of [{ sessionId: session.sessionId }, { keyId }, { sessionId: 'none' }]) {
      const watched = watch(connected(live, paramsOf(stranger)), EVENTS, variables);
      await until(() => watched.end !== null || watched.results.length > 0, LIMIT_MS, 'the refusal');
      const errors = watched.results[0]?.errors ?? watched.end?.errors;
      expect(errors[0].extensions).toMatchObject({ code: 'NOT_FOUND', status: 404 });
    }
  });

  it('needs its scope', async () => {
    const { key, secret } = await api.services.apiKeys.create(account.caller, { scopes: ['contacts:read'] });
    const watched = watch(connected(live, paramsOf({ key, secret })), EVENTS);
    await until(() => watched.end !== null || watched.results.length > 0, LIMIT_MS, 'the refusal');
    const errors = watched.results[0]?.errors ?? watched.end?.errors;
    expect(errors[0].extensions.code).toBe('INSUFFICIENT_SCOPE');
  });
});

describe('systemHealth', () => {
  it('tells the state at once', async () => {
    const query = 'subscription { systemHealth { versions readiness { ready parts { name ok } } at } }';
    const watched = watch(connected(live, paramsOf(account)), query);
    await until(() => watched.results.length > 0, LIMIT_MS, 'the state');
    expect(watched.results[0].data.systemHealth.readiness).toEqual({
      ready: true,
      parts: [{ name: 'database', ok: true }],
    });
  });
});

describe('connections of subscriptions', () => {
  it('are refused without a credential and with a wrong one', async () => {
    for (const params of [{}, { 'x-key': account.key, 'x-secret': 'wrong' }, { authorization: 'Bearer x' }]) {
      const made = connected(live, params);
      watch(made, EVENTS);
      expect((await made.closed).code).toBe(4403);
    }
  });

  it('take the credential of the upgrade too', async () => {
    const socket = new WebSocket(live.url, 'graphql-transport-ws', { headers: paramsOf(account) });
    const messages: { type: string }[] = [];
    socket.on('message', (text: Buffer) => messages.push(JSON.parse(text.toString()) as { type: string }));
    socket.on('open', () => socket.send('{"type":"connection_init"}'));
    await until(() => messages.length > 0, LIMIT_MS, 'the acknowledgement');
    expect(messages[0]?.type).toBe('connection_ack');
    socket.close();
  });

  it('end when the credential is revoked', async () => {
    const { keyId: id, key, secret } = await api.services.apiKeys.create(account.caller, {});
    const made = connected(live, paramsOf({ key, secret }));
    const watched = watch(made, EVENTS);
    const session = await begun(watched);
    await api.services.apiKeys.delete(account.caller, id);
    expect((await made.closed).code).toBe(4403);
    await say(db, session, ['beep']);
    expect(laterNames(watched)).toEqual([]);
  });

  it('carry at most 20 operations', async () => {
    const made = connected(live, paramsOf(account));
    const watched = Array.from({ length: 21 }, () => watch(made, EVENTS));
    await until(() => watched.some(({ end }) => end !== null), LIMIT_MS, 'the refusal');
    const refused = watched.filter(({ end }) => end !== null);
    expect(refused).toHaveLength(1);
    expect(refused[0]?.end?.errors[0].extensions.code).toBe('TOO_MANY_REQUESTS');
  });

  it('judge documents as over HTTP', async () => {
    const queries = [
      `subscription { detectionEvents { event ${'event '.repeat(900)} } }`,
      'subscription { nothing }',
      '{ contacts(first: 100) { nodes { notes(first: 100) { nodes { id } } } } }',
    ];
    for (const query of queries) {
      const watched = watch(connected(live, paramsOf(account)), query);
      await until(() => watched.end !== null, LIMIT_MS, 'the refusal');
      expect(watched.end?.errors[0].extensions).toMatchObject({ code: 'VALIDATION_ERROR', status: 400 });
    }
  });

  it('run queries too', async () => {
    const watched = watch(connected(live, paramsOf(account)), '{ me { kind } }');
    await until(() => watched.end !== null, LIMIT_MS, 'the answer');
    expect(watched.results[0].data.me.kind).toBe('API_KEY');
  });

  it('are cut when a message is too large or none of the protocol, and the server goes on', async () => {
    for (const message of ['x'.repeat(100_001), '[]', 'not JSON']) {
      const socket = new WebSocket(live.url, 'graphql-transport-ws');
      const code = new Promise<number>((resolve) => socket.on('close', resolve));
      socket.on('error', () => undefined);
      socket.on('open', () => socket.send(message));
      expect([1009, 4400]).toContain(await code);
    }
    const watched = watch(connected(live, paramsOf(account)), '{ me { kind } }');
    await until(() => watched.results.length > 0, LIMIT_MS, 'an answer');
  });

  it('are refused at other paths', async () => {
    const socket = new WebSocket(live.url.replace('/graphql', '/other'), 'graphql-transport-ws');
    const status = await new Promise<number>((resolve, reject) => {
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
      socket.on('error', reject);
    });
    expect(status).toBe(404);
  });
});

describe('a stream of events', () => {
  it('ends with an error when its subscriber falls behind by more than 1,000', async () => {
    let ended = 0;
    const stream = new EventStream<number>(() => (ended += 1));
    for (let n = 0; n < 1_001; n += 1) stream.push(n);
    stream.push(1_002);
    await expect(stream.next()).rejects.toMatchObject({ code: 'too-many-requests' });
    expect((await stream.next()).done).toBe(true);
    expect(ended).toBe(1);
  });

  it('gives what waits before it ends', async () => {
    const stream = new EventStream<string>(() => undefined);
    const early = stream.next();
    stream.push('a');
    stream.push('b');
    stream.end();
    expect([await early, await stream.next(), await stream.next()]).toEqual([
      { value: 'a', done: false },
      { value: 'b', done: false },
      { value: undefined, done: true },
    ]);
  });
});
