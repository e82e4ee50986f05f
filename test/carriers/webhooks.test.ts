import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CarrierWebhooks, carrierWebhooksRoutes } from '../../src/features/carriers/index.ts';
import type { Carrier, CarrierReceipt, InboundText } from '../../src/features/carriers/index.ts';
import { statusPath } from '../../src/features/carriers/status-token.rules.ts';
import { createHttp, GuessGuard, listenHttp, mountRoutes } from '../../src/platform/http/index.ts';
import type { HttpApp } from '../../src/platform/http/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import type { TestAccount } from '../_util/index.ts';
import { twilioHeaders } from '../_util/twilio-double.ts';
import type { TwilioDouble } from '../_util/twilio-double.ts';
import { CarriersWorld, PUBLIC_URL } from './_world.ts';

type Form = Record<string, string | string[]>;

const SID = `SM${'0123456789abcdef'.repeat(2)}`;
const CALL_SID = `CA${'0123456789abcdef'.repeat(2)}`;
const DELIVERED = { MessageSid: SID, MessageStatus: 'delivered', AccountSid: 'AC1', To: '+12025550123' };
const LIMIT = { perSecond: 100_000, burst: 100_000 };

let world: CarriersWorld;
let app: HttpApp;
let origin: string;
let account: TestAccount;
let double: TwilioDouble;
let carrier: Carrier;
let fails = false;
const receipts: CarrierReceipt[] = [];
const texts: InboundText[] = [];
const formerKey = randomBytes(32);

beforeAll(async () => {
  world = await CarriersWorld.start();
  account = await world.account();
  double = await world.twilio();
  carrier = await world.connectTwilio(account, double);
  const { clock, ids, limiter, gates } = world.accounts.services;
  const keep = async <T>(list: T[], one: T): Promise<void> => {
    if (fails) throw new Error('the database is away');
    list.push(one);
  };
  const carrierWebhooks = new CarrierWebhooks({
    ...{ connections: world.connections(), clock, publicUrl: () => PUBLIC_URL },
    masterKeys: [world.masterKey, formerKey],
    onReceipt: (receipt) => keep(receipts, receipt),
    onInboundText: (text) => keep(texts, text),
  });
  const publicUrl = (): string => PUBLIC_URL;
  app = createHttp({ logger: silentLogger, ids, tls: null, trustProxy: [], publicUrl });
  await mountRoutes(app, {
    ...{ routes: carrierWebhooksRoutes({ carrierWebhooks }), gates, guard: new GuessGuard({ limiter }) },
    authenticate: () => Promise.reject(new Error('nobody is asked for a credential')),
    limits: { limiter, perRoute: LIMIT },
    browserScopes: new Set(),
  });
  origin = `http://127.0.0.1:${await listenHttp(app, { host: '127.0.0.1', port: 0 })}`;
});
afterAll(async () => {
  await app.close();
  await world.close();
});
beforeEach(() => {
  fails = false;
  receipts.length = texts.length = 0;
});

const bodyOf = (form: Form): string =>
  new URLSearchParams(
    Object.entries(form).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, one]),
    ),
  ).toString();

/** Posts a form as Twilio does that dialled `dialled`: the path below PUBLIC_URL, by way of a proxy that takes the rest off. */
async function post(
  path: string,
  form: Form,
  over: { dialled?: string; token?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<{ status: number; text: string; type: string | null }> {
  const signed = twilioHeaders(over.token ?? double.authToken, over.dialled ?? PUBLIC_URL + path, form);
  const headers = { ...signed, ...over.headers };
  const answer = await fetch(origin + path, { method: 'POST', headers, body: over.body ?? bodyOf(form) });
  return { status: answer.status, text: await answer.text(), type: answer.headers.get('content-type') };
}

const attempt = () => ({ carrierId: carrier.carrierId, sendId: randomUUID(), attempt: 2 });
const pathOf = (of = attempt()): string => statusPath(of, world.masterKey);

describe('a status from Twilio', () => {
  it('is handed on with the attempt that its address names', async () => {
    const of = attempt();
    const answer = await post(pathOf(of), DELIVERED);
    expect(answer).toMatchObject({ status: 200, type: expect.stringContaining('text/xml') as string });
    expect(answer.text).toContain('<Response/>');
    const { teamId } = account;
    expect(receipts).toEqual([
      {
        ...{ ...of, teamId, carrierMessageId: SID, status: 'delivered', result: { outcomeCode: 0 } },
        atMs: world.accounts.clock.nowMs(),
      },
    ]);
  });

  it.each([
    [{ MessageSid: SID, MessageStatus: 'queued' }, null],
    [{ MessageSid: SID, MessageStatus: 'sent' }, null],
    [{ SmsSid: SID, SmsStatus: 'delivered' }, { outcomeCode: 0 }],
    [
      { MessageSid: SID, MessageStatus: 'read' },
      { outcomeCode: 0, read: true },
    ],
    [{ MessageSid: SID, MessageStatus: 'undelivered', ErrorCode: '30003' }, { outcomeCode: 4004 }],
    [{ MessageSid: SID, MessageStatus: 'undelivered', ErrorCode: '30007' }, { outcomeCode: 4008 }],
    [{ MessageSid: SID, MessageStatus: 'failed', ErrorCode: '21610' }, { outcomeCode: 6005 }],
    [{ MessageSid: SID, MessageStatus: 'failed', ErrorCode: '30034' }, { outcomeCode: 6009 }],
    [{ MessageSid: SID, MessageStatus: 'failed' }, { outcomeCode: 4004 }],
    [{ MessageSid: SID, MessageStatus: 'a new word' }, null],
    [{ CallSid: CALL_SID, CallStatus: 'ringing' }, null],
    [{ CallSid: CALL_SID, CallStatus: 'completed', CallDuration: '20' }, null],
    [{ CallSid: CALL_SID, CallStatus: 'busy' }, { outcomeCode: 4006 }],
    [{ CallSid: CALL_SID, CallStatus: 'no-answer' }, { outcomeCode: 4005 }],
    [{ CallSid: CALL_SID, CallStatus: 'failed', SipResponseCode: '404' }, { outcomeCode: 4004 }],
    [{ CallSid: CALL_SID, CallStatus: 'failed', SipResponseCode: '608' }, { outcomeCode: 4008 }],
    [{ CallSid: CALL_SID, CallStatus: 'failed', ErrorCode: '13227' }, { outcomeCode: 6000 }],
  ] as [Form, object | null][])('%j is the result %j', async (form, result) => {
    expect((await post(pathOf(), form)).status).toBe(200);
    expect(receipts).toHaveLength(1);
    if (result === null) expect(receipts[0]?.result).toBeNull();
    else expect(receipts[0]?.result).toMatchObject(result);
  });

  it.each([
    'https://api.example.com:8443/base',
    'https://api.example.com/base',
    'https://api.example.com:443/base',
  ])('is taken when it was signed for %s', async (dialled) => {
    const path = pathOf();
    expect((await post(path, DELIVERED, { dialled: dialled + path })).status).toBe(200);
  });

  it('is taken with a query, and with names that repeat, as Twilio’s own library signs them', async () => {
    const form = { ...DELIVERED, Tag: ['b', 'a', 'b'], Empty: '', Grüße: 'ä & =' };
    expect((await post(`${pathOf()}?x=1&y=a%20b`, form)).status).toBe(200);
  });

  it('is taken under a former MASTER_KEY that is still listed', async () => {
    expect((await post(statusPath(attempt(), formerKey), DELIVERED)).status).toBe(200);
  });

  it.each([
    ['another token of the account', { token: 'wrong' }],
    ['another address', { dialled: `${PUBLIC_URL}/carrier/twilio/elsewhere` }],
    ['another scheme', { dialled: 'http' }],
    ['a form that was changed', { body: bodyOf({ ...DELIVERED, MessageStatus: 'failed' }) }],
    ['a field more', { body: `${bodyOf(DELIVERED)}&ErrorCode=30003` }],
    ['no signature', { headers: { 'x-twilio-signature': '' } }],
  ])('with a signature for %s is refused', async (_name, over) => {
    const path = pathOf();
    const dialled =
      'dialled' in over && over.dialled === 'http'
        ? { dialled: PUBLIC_URL.replace('https', 'http') + path }
        : {};
    expect((await post(path, DELIVERED, { ...over, ...dialled })).status).toBe(403);
    expect(receipts).toEqual([]);
  });

  it('signed by another account is refused', async () => {
    const other = await world.account();
    const theirs = await world.twilio();
    await world.connectTwilio(other, theirs);
    expect((await post(pathOf(), DELIVERED, { token: theirs.authToken })).status).toBe(403);
  });

  it('at an address that was not given out is not found', async () => {
    const { carrierId } = carrier;
    const foreign = statusPath(attempt(), randomBytes(32));
    const moved = pathOf({ ...attempt(), carrierId: randomUUID() }).replace(
      /twilio\/[^/]+/,
      `twilio/${carrierId}`,
    );
    const simulator = await world.connect(account, { kind: 'simulator' });
    const paths = [
      ...[foreign, moved, `/carrier/twilio/${carrierId}/status/x`],
      ...[
        pathOf({ ...attempt(), carrierId: randomUUID() }),
        pathOf({ ...attempt(), carrierId: simulator.carrierId }),
      ],
      '/carrier/twilio/x/status/x',
    ];
    for (const path of paths) expect((await post(path, DELIVERED)).status).toBe(404);
    expect(receipts).toEqual([]);
  });

  it.each([
    {},
    { MessageSid: SID },
    { MessageStatus: 'delivered' },
    { CallSid: 'x'.repeat(200), CallStatus: 'busy' },
  ])('that says nothing is refused: %j', async (form) => {
    expect((await post(pathOf(), form as Form)).status).toBe(400);
    expect(receipts).toEqual([]);
  });

  it('is a form of at most 64 KiB', async () => {
    const json = { headers: { 'content-type': 'application/json' }, body: '{}' };
    expect((await post(pathOf(), DELIVERED, json)).status).toBe(415);
    expect((await post(pathOf(), { ...DELIVERED, Body: 'x'.repeat(65_536) })).status).toBe(413);
    expect(receipts).toEqual([]);
  });

  it('that cannot be kept is answered 500, so that it is seen at the carrier', async () => {
    fails = true;
    expect((await post(pathOf(), DELIVERED)).status).toBe(500);
  });

  it('is taken while the connection is paused', async () => {
    const { carriers } = world.accounts.services;
    await carriers.update(account.caller, carrier.carrierId, { state: 'paused' });
    expect((await post(pathOf(), DELIVERED)).status).toBe(200);
    await carriers.update(account.caller, carrier.carrierId, { state: 'active' });
  });
});

describe('a text that somebody sent through Twilio', () => {
  const path = (): string => `/carrier/twilio/${carrier.carrierId}/messages`;
  const TEXT = {
    MessageSid: SID,
    From: '+12025550123',
    To: '+12025550100',
    Body: 'Stop, bitte ä €',
    NumMedia: '0',
  };

  it('is handed on with its media', async () => {
    const media = {
      NumMedia: '2',
      MediaUrl0: 'https://api.twilio.com/a',
      MediaUrl1: 'https://api.twilio.com/b',
    };
    expect((await post(path(), { ...TEXT, ...media })).status).toBe(200);
    expect(texts).toEqual([
      {
        ...{ carrierId: carrier.carrierId, teamId: account.teamId, carrierMessageId: SID },
        ...{ from: '+12025550123', to: '+12025550100', body: 'Stop, bitte ä €' },
        ...{ mediaUrls: ['https://api.twilio.com/a', 'https://api.twilio.com/b'] },
        atMs: world.accounts.clock.nowMs(),
      },
    ]);
  });

  it('holds nothing that cannot be stored, and no more media than there can be', async () => {
    const media = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [
        `MediaUrl${n}`,
        n === 1 ? 'javascript:1' : `https://a.example.com/${n}`,
      ]),
    );
    expect((await post(path(), { ...TEXT, Body: 'a\0b', NumMedia: '999999', ...media })).status).toBe(200);
    expect(texts[0]?.body).toBe('ab');
    expect(texts[0]?.mediaUrls).toHaveLength(9);
  });

  it('without a body is a text, without a sender it is none', async () => {
    expect((await post(path(), { MessageSid: SID, From: TEXT.From, To: TEXT.To })).status).toBe(200);
    expect(texts).toMatchObject([{ body: '', mediaUrls: [] }]);
    expect((await post(path(), { ...TEXT, From: '' })).status).toBe(400);
  });

  it('with a wrong signature is refused', async () => {
    expect((await post(path(), TEXT, { token: 'wrong' })).status).toBe(403);
    expect(texts).toEqual([]);
  });
});
