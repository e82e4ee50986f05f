/**
 * One service with calls on it: its main process stands still, its database is busy, its gateway is killed, and it
 * is told to end. What the sockets saw, what the receiver got and what the log says are compared.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../_util/index.ts';
import { Call, completeCall, sample, UpgradeRefused } from './_util/call.ts';
import type { CallOptions, SocketEvent } from './_util/call.ts';
import { Lab } from './_util/lab.ts';
import type { Receiver } from './_util/receiver.ts';
import { CELL_LIMIT_MS, scaled } from './_util/scale.ts';
import { isAlive } from './_util/service.ts';
import type { Service } from './_util/service.ts';

const VOICEMAIL = sample('voicemail-beep.wav');
const LONG_GREETING = sample('voicemail-long-greeting.wav');
/** Rows of the statement that runs beside the calls (issue: 100,000). */
const MANY_ROWS = 120_000;
const LIVE_CALLS = scaled(20, 200);
/** Streams faster than real time: the same events, sooner (supplement 10, Time). */
const FAST = 4;

describe.sequential('a service under calls', { timeout: CELL_LIMIT_MS }, () => {
  let lab: Lab;
  let service: Service;
  let receiver: Receiver;
  let options: CallOptions;
  /** The beep as it is heard when nothing is wrong. */
  let beep: SocketEvent['payload'];

  beforeAll(async () => {
    lab = await Lab.open();
    receiver = await lab.receiver();
    service = await lab.start({ SHUTDOWN_GRACE_SEC: '4' });
    options = { url: service.detectUrl, key: lab.credentials.detection_key, webhookUrl: receiver.url };
    const call = await completeCall(options, VOICEMAIL, FAST);
    beep = (await call.waitFor('beep')).payload;
  }, CELL_LIMIT_MS);
  afterAll(() => lab.close());

  const expectSameBeep = (heard: SocketEvent): void => {
    const { timestamp_ms, frequency_hz, duration_ms } = heard.payload;
    expect({ timestamp_ms, frequency_hz, duration_ms }).toEqual({
      timestamp_ms: beep.timestamp_ms,
      frequency_hz: beep['frequency_hz'],
      duration_ms: beep['duration_ms'],
    });
  };

  it('hears beeps and takes calls while its main process stands still', async () => {
    const calls = await Promise.all(Array.from({ length: 5 }, () => Call.open(options)));
    service.signal('SIGSTOP');
    try {
      calls.push(await Call.open(options));
      await Promise.all(
        calls.map(async (call) => {
          expectSameBeep(await call.stream(VOICEMAIL, { speed: FAST }).waitFor('beep'));
          await call.stop();
        }),
      );
      expect(await service.status('/healthz'), 'the main process stood still all the time').toBeNull();
    } finally {
      service.signal('SIGCONT');
    }
    await lab.ledger.ended(calls);
    await lab.ledger.settled();
    await lab.ledger.expectNothingLost(receiver);
    await lab.ledger.expectWholeLogs();
  });

  it('hears beeps while a statement over 100,000 rows and more runs in its database', async () => {
    const [known] = await lab.ledger.query<{ key_id: string }>(
      'select key_id from detection_sessions limit 1',
    );
    await lab.ledger.query(
      `insert into detection_sessions (id, team_id, key_id, process_id, source, strategy, audio_encoding,
         sample_rate_hz, state, started_at)
       select gen_random_uuid(), $1, $2, gen_random_uuid(), 'ws', 'standard', 'mulaw', 8000, 'ended',
         now() - make_interval(secs => n) from generate_series(1, ${MANY_ROWS}) as n`,
      [lab.credentials.team_id, known?.key_id],
    );
    const statement = lab.test.db.tx(async (tx) => {
      const { rowCount } = await tx.query(
        `update detection_sessions set end_reason = md5(id::text) where team_id = $1 and state = 'ended'`,
        [lab.credentials.team_id],
      );
      expect(rowCount).toBeGreaterThanOrEqual(MANY_ROWS);
      // Its rows stay locked until the calls below have heard their beeps.
      await heard;
    });
    const calls = await Promise.all(Array.from({ length: 5 }, () => Call.open(options)));
    const heard = Promise.all(
      calls.map(async (call) =>
        expectSameBeep(await call.stream(VOICEMAIL, { speed: FAST }).waitFor('beep')),
      ),
    );
    await statement;
    await Promise.all(calls.map((call) => call.stop()));
    await lab.ledger.ended(calls);
    await lab.ledger.settled();
    await lab.ledger.expectNothingLost(receiver);
    await lab.ledger.query(`delete from detection_sessions where end_reason = md5(id::text)`);
  });

  it('starts a killed gateway again, marks its sessions lost and delivers what was accepted', async () => {
    const calls = await Promise.all(Array.from({ length: LIVE_CALLS }, () => Call.open(options)));
    for (const call of calls) call.stream(LONG_GREETING, { isRepeated: true });
    await until(
      async () =>
        (await Promise.all(calls.map((call) => lab.ledger.events(call.sessionId)))).every(
          (names) => names.length > 1,
        ),
      60_000,
      'a log of every call',
    );
    const [gateway] = await lab.ledger.gatewayPids();
    if (gateway === undefined) throw new Error('no gateway is noted as running');
    process.kill(gateway, 'SIGKILL');
    await until(() => calls.every((call) => !call.isOpen), 20_000, 'the end of the cut calls');

    const next = await until(() => Call.open(options).catch(() => null), 60_000, 'a call on the new gateway');
    expect(isAlive(gateway)).toBe(false);
    expect(await lab.ledger.gatewayPids()).not.toContain(gateway);
    expectSameBeep(await next.stream(VOICEMAIL, { speed: FAST }).waitFor('beep'));
    await next.stop();
    await until(
      async () => {
        const rows = await Promise.all(calls.map((call) => lab.ledger.session(call.sessionId)));
        return rows.every((row) => row?.state === 'lost');
      },
      60_000,
      'the mark "lost" on the sessions of the killed gateway',
    );
    await lab.ledger.ended([next]);
    await lab.ledger.settled();
    await lab.ledger.expectNothingLost(receiver);
    await lab.ledger.expectWholeLogs();
    expect(await service.status('/readyz')).toBe(200);
  });

  it('ends when told to: nothing new, live calls finish, the rest is closed with 1001, exit code 0', async () => {
    const [finishing, staying] = await Promise.all([Call.open(options), Call.open(options)]);
    staying.stream(LONG_GREETING, { isRepeated: true });
    finishing.stream(VOICEMAIL, { speed: FAST });
    service.signal('SIGTERM');
    await until(async () => (await service.status('/readyz')) === 503, 10_000, 'readyz 503');
    const refusal = await until(
      () =>
        Call.open(options).then(
          (call) => call.drop(),
          (error: unknown) => error,
        ),
      10_000,
      'a refused upgrade',
    );
    expect(refusal).toBeInstanceOf(UpgradeRefused);
    expect((refusal as UpgradeRefused).status).toBe(503);
    expectSameBeep(await finishing.waitFor('beep'));
    await finishing.stop();
    expect(staying.isOpen, 'a live call is left alone while there is time').toBe(true);
    await until(() => staying.closed, 30_000, 'the end of the grace');
    expect(staying.closed?.code).toBe(1001);
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(await lab.ledger.gatewayPids()).toEqual([]);
    expect((await lab.ledger.session(finishing.sessionId))?.state).toBe('ended');
    expect((await lab.ledger.session(staying.sessionId))?.state).not.toBe('live');

    await lab.start({ ROLES: 'worker' });
    await lab.ledger.settled();
    await lab.ledger.expectNothingLost(receiver);
    await lab.ledger.expectWholeLogs();
  });
});
