import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FAULTS_MAX, OPEN_MS } from '../../src/features/carriers/breaker.ts';
import { connectionFor } from '../../src/features/carriers/connections.rules.ts';
import type { CarrierKind, CarrierState, CarrierWork } from '../../src/features/carriers/index.ts';
import type { Said } from '../../src/features/carriers/said.rules.ts';
import { startMailServer } from './_mail-server.ts';
import { callRequest, dropRequest, going, mailRequest, textRequest } from './_requests.ts';
import { CarriersWorld, sendText, settingsOf } from './_world.ts';

let world: CarriersWorld;

beforeAll(async () => {
  world = await CarriersWorld.start();
});
afterAll(() => world.close());

/** After this the connections of an account are read again. */
const REREAD_MS = 250;

describe('the connection that does a piece of work', () => {
  it.each([
    ['text', ['twilio'], 0],
    ['call', ['smtp', 'twilio'], 1],
    ['drop', ['twilio'], null],
    ['drop', ['twilio', 'simulator'], 1],
    ['mail', ['twilio', 'smtp', 'simulator'], 1],
    ['mail', ['twilio', 'simulator'], 1],
    ['text', ['smtp'], null],
    ['call', ['smpp'], null],
    ['text', ['smpp', 'simulator'], 0],
    ['text', ['smpp', 'twilio'], 1],
    ['text', ['twilio:paused', 'twilio', 'twilio'], 1],
    ['text', ['twilio:draining', 'simulator'], 0],
    ['text', ['simulator:paused'], 0],
    ['mail', [], null],
  ] as [CarrierWork, string[], number | null][])('%s, of %j, is number %j', (work, given, expected) => {
    const rows = given.map((text) => {
      const [kind, state = 'active'] = text.split(':') as [CarrierKind, CarrierState?];
      return { kind, state };
    });
    expect(connectionFor(rows, work)).toBe(expected === null ? null : rows[expected]);
  });
});

describe('carrier connections at work', () => {
  it('of an account without any are the built-in simulator, for all work', async () => {
    const { teamId } = await world.account();
    const connections = world.connections();
    const signal = going();
    const answers = [
      await sendText(connections, teamId),
      await (await connections.open(teamId, 'call')).port.placeCall(callRequest(), signal),
      await (await connections.open(teamId, 'drop')).port.dropVoicemail(dropRequest(), signal),
      await (await connections.open(teamId, 'mail')).port.sendMail(mailRequest(), signal),
    ];
    for (const answer of answers)
      expect(answer).toMatchObject({ kind: 'accepted', result: { outcomeCode: 0 } });
    expect(await connections.open(teamId, 'text')).toMatchObject({ carrierId: null, kind: 'simulator' });
  });

  it('are never those of another account', async () => {
    const [mine, theirs] = [await world.account(), await world.account()];
    await world.connectTwilio(theirs, await world.twilio());
    const open = await world.connections().open(mine.teamId, 'text');
    expect(open).toMatchObject({ carrierId: null, kind: 'simulator' });
  });

  it('that simulate do as their settings say', async () => {
    const account = await world.account();
    const settings = { latencyMs: 0, failureRate: 1 };
    const { carrierId } = await world.connect(account, { kind: 'simulator', settings });
    const connections = world.connections();
    expect(await connections.open(account.teamId, 'text')).toMatchObject({ carrierId, kind: 'simulator' });
    expect(await sendText(connections, account.teamId)).toMatchObject({ kind: 'refused' });
  });

  it('over SMPP refuse texts instead of simulating them', async () => {
    const account = await world.account();
    const settings = { host: '127.0.0.1', system_id: 'tonegate', password: 'smpp-pw' };
    await world.connect(account, { kind: 'smpp', settings });
    const answer = await sendText(world.connections(), account.teamId);
    expect(answer).toMatchObject({ kind: 'refused', result: { outcomeCode: 6003 } });
  });

  it.each(['paused', 'draining'] as const)(
    'that are %s let work come again later, and go on when they may',
    async (state) => {
      const [account, double] = [await world.account(), await world.twilio()];
      const { carrierId } = await world.connectTwilio(account, double);
      const connections = world.connections();
      const { carriers } = world.accounts.services;
      expect((await sendText(connections, account.teamId)).kind).toBe('accepted');
      await carriers.update(account.caller, carrierId, { state });
      world.accounts.clock.advance(REREAD_MS);
      expect(await sendText(connections, account.teamId)).toMatchObject({
        kind: 'retry',
        detail: `The carrier is ${state}.`,
      });
      await carriers.update(account.caller, carrierId, { state: 'active' });
      world.accounts.clock.advance(REREAD_MS);
      expect((await sendText(connections, account.teamId)).kind).toBe('accepted');
      expect(double.requests).toHaveLength(2);
    },
  );

  it('take other settings up, even within the same millisecond', async () => {
    const [account, former, later] = [await world.account(), await world.twilio(), await world.twilio()];
    const { carrierId } = await world.connectTwilio(account, former);
    const connections = world.connections();
    await sendText(connections, account.teamId);
    const { carriers } = world.accounts.services;
    await carriers.update(account.caller, carrierId, { settings: settingsOf(later) });
    world.accounts.clock.advance(REREAD_MS);
    expect((await sendText(connections, account.teamId)).kind).toBe('accepted');
    expect([former.requests.length, later.requests.length]).toEqual([1, 1]);
  });

  it('give a turn for one request, which is counted once', async () => {
    const [account, double] = [await world.account(), await world.twilio()];
    await world.connectTwilio(account, double, { ratePerSecond: 2 });
    const connections = world.connections();
    const open = () => connections.open(account.teamId, 'text');
    const [first, second, third] = [await open(), await open(), await open()];
    expect([await first.turn?.(), await second.turn?.()]).toEqual([null, null]);
    expect(await third.turn?.()).toEqual({ afterMs: 500, detail: "The connection's rate is used up." });
    expect((await first.port.sendText(textRequest({ teamId: account.teamId }), going())).kind).toBe(
      'accepted',
    );
    // A second request of the same holder needs a turn of its own.
    expect((await first.port.sendText(textRequest({ teamId: account.teamId }), going())).kind).toBe('retry');
    expect((await second.port.sendText(textRequest({ teamId: account.teamId }), going())).kind).toBe(
      'accepted',
    );
    expect(double.requests).toHaveLength(2);
  });

  it('send no faster than their rate; what is too much comes again in turn', async () => {
    const [account, double] = [await world.account(), await world.twilio()];
    await world.connectTwilio(account, double, { ratePerSecond: 2 });
    const connections = world.connections();
    const answers = [];
    for (let n = 0; n < 4; n += 1) answers.push(await sendText(connections, account.teamId));
    expect(answers).toMatchObject([
      ...[{ kind: 'accepted' }, { kind: 'accepted' }],
      ...[
        { kind: 'retry', afterMs: 500 },
        { kind: 'retry', afterMs: 1_000 },
      ],
    ]);
    world.accounts.clock.advance(1_000);
    for (const kind of ['accepted', 'accepted', 'retry'])
      expect((await sendText(connections, account.teamId)).kind).toBe(kind);
    expect(double.requests).toHaveLength(4);
  });

  it('leave a carrier alone as long as it asked to be', async () => {
    const [account, double] = [await world.account(), await world.twilio()];
    await world.connectTwilio(account, double);
    const connections = world.connections();
    double.script({ status: 429, headers: { 'retry-after': '9' } });
    expect(await sendText(connections, account.teamId)).toMatchObject({ kind: 'retry', afterMs: 9_000 });
    world.accounts.clock.advance(4_000);
    expect(await sendText(connections, account.teamId)).toMatchObject({ kind: 'retry', afterMs: 5_000 });
    world.accounts.clock.advance(5_000);
    expect((await sendText(connections, account.teamId)).kind).toBe('accepted');
    expect(double.requests).toHaveLength(2);
  });

  it('of mail go on for others when a server wants one recipient later', async () => {
    const [account, server] = [await world.account(), await startMailServer()];
    const settings = { host: '127.0.0.1', port: server.port, security: 'none' };
    await world.connect(account, { kind: 'smtp', settings });
    const { port } = await world.connections().open(account.teamId, 'mail');
    server.script('recipient 451 4.7.1 Greylisted');
    expect(await port.sendMail(mailRequest(), going())).toMatchObject({ kind: 'retry' });
    expect(await port.sendMail(mailRequest(), going())).toMatchObject({ kind: 'accepted' });
    await server.close();
  });

  it('that do not answer are tried by one request at a time until they do', async () => {
    const [account, double] = [await world.account(), await world.twilio()];
    await world.connectTwilio(account, double);
    const connections = world.connections();
    const send = () => sendText(connections, account.teamId);
    double.script(...Array.from({ length: FAULTS_MAX + 1 }, () => ({ status: 500 })));
    for (let n = 0; n < FAULTS_MAX; n += 1) expect((await send()).kind).toBe('unknown');
    expect(await send()).toEqual({ kind: 'retry', afterMs: OPEN_MS, detail: 'The carrier does not answer.' });
    world.accounts.clock.advance(OPEN_MS);
    const [probe, other] = await Promise.all([send(), send()]);
    expect([probe.kind, other.kind].sort()).toEqual(['retry', 'unknown']);
    expect(await send()).toMatchObject({ kind: 'retry', afterMs: OPEN_MS });
    world.accounts.clock.advance(OPEN_MS);
    expect((await send()).kind).toBe('accepted');
    expect((await send()).kind).toBe('accepted');
    expect(double.requests).toHaveLength(FAULTS_MAX + 3);
  });

  it('are not closed by what is wrong with recipients, nor by faults between answers', async () => {
    const [account, double] = [await world.account(), await world.twilio()];
    await world.connectTwilio(account, double);
    const connections = world.connections();
    const refusal = { status: 400, body: { code: 21614, message: 'No mobile' } };
    for (let n = 0; n < FAULTS_MAX + 2; n += 1) {
      double.script(refusal, { status: 500 });
      expect((await sendText(connections, account.teamId)).kind).toBe('refused');
      expect((await sendText(connections, account.teamId)).kind).toBe('unknown');
    }
  });

  it('do not know what became of a request that failed within', async () => {
    const { teamId } = await world.account();
    const send = (): Promise<Said> => Promise.reject(new Error('a bug'));
    const connections = world.connections({ driverOf: () => ({ send, close: async () => undefined }) });
    expect((await sendText(connections, teamId)).kind).toBe('unknown');
  });

  it('leave voicemail as calls that hear when they are Twilio’s', async () => {
    const [account, double] = [await world.account(), await world.twilio()];
    await world.connectTwilio(account, double);
    const connections = world.connections();
    expect(await connections.open(account.teamId, 'drop')).toMatchObject({ kind: 'simulator' });
    const { kind, port } = await connections.open(account.teamId, 'call');
    expect(kind).toBe('twilio');
    expect((await port.placeCall(callRequest({ channel: 'rvm' }), going())).kind).toBe('accepted');
    expect(double.requests).toMatchObject([{ resource: 'Calls' }]);
  });

  it('leave simulated work to the simulator, whatever the account has', async () => {
    const [account, double] = [await world.account(), await world.twilio()];
    await world.connectTwilio(account, double);
    const { carrierId, port } = world.connections().simulator<'call'>();
    expect(carrierId).toBeNull();
    expect((await port.placeCall(callRequest(), going())).kind).toBe('accepted');
    expect(double.requests).toEqual([]);
  });

  it('have an address below PUBLIC_URL for the status of each attempt', () => {
    const connections = world.connections();
    const of = { carrierId: randomUUID(), sendId: randomUUID(), attempt: 1 };
    const url = connections.statusUrlOf(of);
    expect(url).toMatch(
      new RegExp(`^https://api\\.example\\.com:8443/base/carrier/twilio/${of.carrierId}/status/[\\w.-]+$`),
    );
    expect(connections.statusUrlOf({ ...of, attempt: 2 })).not.toBe(url);
  });
});

describe('how connections fare', () => {
  it('is seen by their account: rate, errors, circuit and the last fault, over all processes', async () => {
    const [account, double] = [await world.account(), await world.twilio()];
    const { carrierId } = await world.connectTwilio(account, double);
    const { carriers } = world.accounts.services;
    const [one, two] = [world.connections(), world.connections()];
    double.script(...Array.from({ length: FAULTS_MAX }, () => ({ status: 502 })));
    for (let n = 0; n < FAULTS_MAX; n += 1) await sendText(one, account.teamId);
    const faultAtMs = world.accounts.clock.nowMs();
    world.accounts.clock.advance(1);
    for (let n = 0; n < 7; n += 1) await sendText(two, account.teamId);
    await one.report();
    await two.report();
    await one.report();
    const seen = await carriers.get(account.caller, carrierId);
    expect(seen).toMatchObject({
      ...{ circuit: 'open', rate: (FAULTS_MAX + 7) / 60, errorRate: FAULTS_MAX / (FAULTS_MAX + 7) },
      ...{ lastFault: 'The carrier answered HTTP 502.', lastFaultAtMs: faultAtMs },
    });
    expect(await carriers.list(account.caller)).toEqual([seen]);
    const other = await world.account();
    expect(await carriers.list(other.caller)).toEqual([]);
  });

  it('is of the last minute, and of processes that still tell of themselves', async () => {
    const [account, double] = [await world.account(), await world.twilio()];
    const { carrierId } = await world.connectTwilio(account, double);
    const connections = world.connections();
    const { carriers } = world.accounts.services;
    await sendText(connections, account.teamId);
    await connections.report();
    expect((await carriers.get(account.caller, carrierId)).rate).toBeCloseTo(1 / 60);
    world.accounts.clock.advance(61_000);
    await connections.report();
    expect(await carriers.get(account.caller, carrierId)).toMatchObject({
      rate: 0,
      errorRate: 0,
      circuit: 'closed',
    });
    await sendText(connections, account.teamId);
    await connections.report();
    world.accounts.clock.advance(120_000);
    expect((await carriers.get(account.caller, carrierId)).rate).toBe(0);
  });

  it('is told of connections that were removed meanwhile without a fault', async () => {
    const [account, double] = [await world.account(), await world.twilio()];
    const { carrierId } = await world.connectTwilio(account, double);
    const connections = world.connections();
    await sendText(connections, account.teamId);
    await connections.report();
    await world.accounts.services.carriers.remove(account.caller, carrierId);
    await connections.report();
    const { rows } = await world.database.db.query('select 1 from carrier_health where carrier_id = $1', [
      carrierId,
    ]);
    expect(rows).toEqual([]);
  });
});
