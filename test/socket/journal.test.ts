import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import pg from 'pg';
import { inject } from 'vitest';
import { BACKLOG_EVENTS_MAX } from '../../src/features/detection/journal.service.ts';
import { newRecord } from '../../src/features/detection/session-record.type.ts';
import type { LoggedEvent, SessionRecord } from '../../src/features/detection/session-record.type.ts';
import { catchWebhooks, until } from '../_util/index.ts';
import { silence } from './audio.ts';
import { Client, refusedUpgrade } from './client.ts';
import { AdvancedClock, DRIVERS, socketWorld } from './world.ts';
import type { SocketWorld } from './world.ts';

/** Takes the database away from everybody, and gives it back. */
async function outage(url: string): Promise<() => Promise<void>> {
  const name = new URL(url).pathname.slice(1);
  const admin = new pg.Client({ connectionString: inject('clusterUrl') });
  await admin.connect();
  await admin.query(`alter database ${name} with allow_connections false`);
  await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  return async () => {
    await admin.query(`alter database ${name} with allow_connections true`);
    await admin.end();
  };
}

describe('the journal', () => {
  const clock = new AdvancedClock();
  let world: SocketWorld;
  let account: Awaited<ReturnType<SocketWorld['createAccount']>>;
  beforeEach(async () => {
    world = await socketWorld({ driver: DRIVERS[0] ?? 'ws', clock });
    account = await world.createAccount();
  });
  afterEach(() => world.close());

  const open = (): Promise<Client> =>
    Client.open(`${world.wsUrl}/carrier/ws`, {
      headers: { authorization: `Bearer ${account.detectionKey}` },
    });

  const keyId = async (): Promise<string> => (await world.keys.list(account.caller))[0]?.keyId ?? '';

  const record = (id: string, changes: Partial<SessionRecord> = {}): SessionRecord => ({
    ...newRecord({
      sessionId: randomUUID(),
      teamId: account.teamId,
      keyId: id,
      callId: null,
      source: 'ws',
      strategy: 'standard',
      encoding: 'mulaw',
      sampleRateHz: 8000,
      startedAtMs: Date.now(),
      webhook: null,
      platform: null,
      keepTranscripts: false,
    }),
    ...changes,
  });

  const eventOf = (of: SessionRecord, sequence: number): LoggedEvent => ({
    record: of,
    sequence,
    event: 'silence',
    payload: { session_id: of.sessionId, timestamp_ms: sequence },
    atMs: Date.now(),
  });

  it('lets calls go on while the database is away; logs and webhooks follow', async () => {
    const catcher = await catchWebhooks();
    const client = await open();
    client.send({ type: 'welcome', payload: { audio_encoding: 'mulaw', webhook: { url: catcher.url } } });
    await client.waitFor('ready');
    const restore = await outage(world.url);
    client.binary(silence(5_000));
    await client.waitFor('detection');
    client.send({ command: 'stop' });
    await client.waitFor('stopped');
    // A key that is known opens sessions on its last standing.
    clock.advance(20_000);
    const second = await open();
    second.send({ type: 'welcome', payload: { audio_encoding: 'mulaw' } });
    await second.waitFor('ready');
    second.send({ command: 'stop' });
    await second.waitFor('stopped');
    expect(await world.gateway.journal.flush(100)).toBe(false);
    await restore();
    await until(() => world.gateway.journal.backlog === 0);
    expect(world.gateway.journal.dropped).toBe(0);
    expect(await world.sessions.list(account.caller)).toHaveLength(2);
    const caught = await catcher.waitFor(client.names().length);
    expect(new Set(caught.map((hook) => hook.headers['x-event']))).toEqual(new Set(client.names()));
    await catcher.close();
  });

  it('answers 503 for a key it does not know while the database is away', async () => {
    const unknown = await world.createAccount();
    const restore = await outage(world.url);
    const options = { headers: { authorization: `Bearer ${unknown.detectionKey}` } };
    expect((await refusedUpgrade(`${world.wsUrl}/carrier/ws`, options)).status).toBe(503);
    await restore();
  });

  it('gives up only the session whose rows the database refuses', async () => {
    const id = await keyId();
    const good = [record(id), record(id), record(id)];
    const bad = record(id, { teamId: randomUUID() });
    for (const one of [good[0], bad, good[1], good[2]] as SessionRecord[]) {
      world.gateway.journal.add(eventOf(one, 1));
      world.gateway.journal.add(eventOf(one, 2));
    }
    expect(await world.gateway.journal.flush(20_000)).toBe(true);
    expect(world.gateway.journal.dropped).toBe(3);
    const listed = await world.sessions.list(account.caller);
    expect(new Set(listed.map((one) => one.sessionId))).toEqual(new Set(good.map((one) => one.sessionId)));
    const { events } = await world.sessions.get(account.caller, good[0]?.sessionId ?? '');
    expect(events.map((event) => event.sequence)).toEqual([1, 2]);
  });

  it('makes no second delivery when a batch comes again', async () => {
    const catcher = await catchWebhooks();
    const one = record(await keyId(), { webhook: { url: catcher.url, events: null, headers: {} } });
    for (let time = 0; time < 2; time++) {
      world.gateway.journal.add(eventOf(one, 1));
      await world.gateway.journal.flush(20_000);
    }
    await catcher.waitFor(1);
    const { rows } = await world.db.query<{ count: bigint }>('select count(*) from webhook_deliveries', []);
    expect(rows[0]?.count).toBe(1n);
    await catcher.close();
  });

  it('drops and counts what has no room, and still writes the rest', async () => {
    const restore = await outage(world.url);
    const one = record(await keyId().catch(() => randomUUID()));
    for (let i = 1; i <= BACKLOG_EVENTS_MAX + 1_000; i++) world.gateway.journal.add(eventOf(one, i));
    expect(world.gateway.journal.dropped).toBeGreaterThan(0);
    expect(world.gateway.journal.backlog).toBeLessThanOrEqual(BACKLOG_EVENTS_MAX + 512);
    await restore();
    expect(await world.gateway.journal.flush(60_000)).toBe(true);
  });

  it('marks the sessions of a process that died as lost, and takes one back that says more', async () => {
    const client = await open();
    client.send({ type: 'welcome', payload: { audio_encoding: 'mulaw' } });
    await client.waitFor('ready');
    await world.gateway.journal.flush(10_000);
    const [{ id = '' } = {}] = (await world.db.query<{ id: string }>('select id from processes', [])).rows;
    expect(await world.sessions.markLost(id)).toBe(1);
    expect((await world.sessions.list(account.caller))[0]?.state).toBe('lost');
    client.binary(silence(5_000));
    await client.waitFor('detection');
    await world.gateway.journal.flush(10_000);
    expect((await world.sessions.list(account.caller))[0]?.state).toBe('live');
    await world.db.query(
      "update processes set heartbeat_at = now() - interval '1 day', ended_at = now()",
      [],
    );
    await world.db.query("update detection_sessions set started_at = now() - interval '1 hour'", []);
    expect(await world.sessions.sweepLost()).toBe(1);
    client.terminate();
  });
});
