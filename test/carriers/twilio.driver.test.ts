import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settingsOf } from '../../src/features/carriers/carriers.rules.ts';
import type { CarrierSettings } from '../../src/features/carriers/carriers.rules.ts';
import type { CarrierWork } from '../../src/features/carriers/index.ts';
import type { Said } from '../../src/features/carriers/said.rules.ts';
import { TwilioDriver } from '../../src/features/carriers/twilio.driver.ts';
import { ManualClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { createNet } from '../../src/platform/net/index.ts';
import type { Net } from '../../src/platform/net/index.ts';
import { startTwilioDouble, streamOf } from '../_util/twilio-double.ts';
import type { TwilioAnswer, TwilioDouble } from '../_util/twilio-double.ts';
import { callRequest, dropRequest, going, mailRequest, textRequest } from './_requests.ts';

const NOW_MS = Date.parse('2026-03-01T12:00:00Z');

let double: TwilioDouble;
let net: Net;

beforeEach(async () => {
  double = await startTwilioDouble();
  net = createNet({ allowPrivateTargets: true, logger: silentLogger });
});
afterEach(async () => {
  await net.close();
  await double.close();
});

const driverWith = (given: object = {}, reach: Pick<Net, 'post'> = net): TwilioDriver => {
  const { accountSid: account_sid, authToken: auth_token, url: base_url } = double;
  const settings = settingsOf('twilio', { account_sid, auth_token, base_url, ...given });
  const clock = new ManualClock(NOW_MS);
  return new TwilioDriver({ settings: settings as CarrierSettings<'twilio'>, net: reach, clock });
};

const sendText = (over = {}, driver = driverWith()): Promise<Said> =>
  driver.send('text', textRequest(over), going());
const placeCall = (over = {}, driver = driverWith()): Promise<Said> =>
  driver.send('call', callRequest(over), going());

describe('a text through Twilio', () => {
  it('is a message with its media and the address for its status', async () => {
    const mediaUrls = ['https://example.com/a.png?x=1&y=2', 'https://example.com/b.png'];
    const { answer } = await sendText({ body: 'Grüße & mehr =)', mediaUrls });
    const [request] = double.requests;
    expect(answer).toEqual({ kind: 'accepted', carrierMessageId: request?.sid });
    expect(request?.resource).toBe('Messages');
    expect([...(request?.form ?? [])]).toEqual([
      ['To', '+12025550123'],
      ['From', '+12025550100'],
      ['Body', 'Grüße & mehr =)'],
      ['MediaUrl', mediaUrls[0]],
      ['MediaUrl', mediaUrls[1]],
      ['StatusCallback', 'https://api.example.com/carrier/twilio/c/status/t'],
    ]);
  });

  it('goes from the messaging service when it has no number of its own, and from nobody not at all', async () => {
    const messaging_service_sid = `MG${'0123456789abcdef'.repeat(2)}`;
    const from = { from: null };
    expect((await sendText(from, driverWith({ messaging_service_sid }))).answer.kind).toBe('accepted');
    expect(double.requests[0]?.form.get('MessagingServiceSid')).toBe(messaging_service_sid);
    expect((await sendText(from)).answer).toMatchObject({ kind: 'refused', result: { outcomeCode: 4010 } });
    expect(double.requests).toHaveLength(1);
  });

  it('with RCS content goes as the text, with eleven media not at all', async () => {
    await sendText({ rcsContent: { card: 1 } });
    expect(double.requests[0]?.form.get('Body')).toBe('Hello.');
    const mediaUrls = Array.from({ length: 11 }, () => 'https://example.com/a.png');
    expect((await sendText({ mediaUrls })).answer).toMatchObject({ result: { outcomeCode: 3029 } });
  });

  it.each([
    [{ to: '12345' }, 4004, 21211],
    [{ from: 'Example' }, 4010, 21212],
    [{ body: 'x'.repeat(1_601) }, 3029, 21617],
    [{ body: '' }, 3030, 21619],
    [{ statusUrl: 'nowhere' }, 3029, 21609],
  ])('that is refused, such as %j, is outcome %i', async (over, outcomeCode, code) => {
    const { answer, fault } = await sendText(over);
    expect(double.faults).toMatchObject([{ code }]);
    expect(answer).toMatchObject({ kind: 'refused', result: { outcomeCode } });
    expect(answer.kind === 'refused' && answer.result.detail).toContain(String(code));
    expect(fault).toBeNull();
  });

  it.each([{ auth_token: 'wrong' }, { account_sid: `AC${'f'.repeat(32)}` }])(
    'with the settings %j is refused, and the connection is blamed',
    async (given) => {
      const { answer, fault } = await sendText({}, driverWith(given));
      expect(answer).toMatchObject({ kind: 'refused', result: { outcomeCode: 6003 } });
      expect(fault).toEqual(expect.any(String));
    },
  );

  it('at an address below another path goes there', async () => {
    const seen: string[] = [];
    const post: Net['post'] = async (request) => {
      seen.push(request.url);
      return net.post({ ...request, url: request.url.replace('/compatible/', '/') });
    };
    await sendText({}, driverWith({ base_url: `${double.url}/compatible/` }, { post }));
    expect(seen).toEqual([`${double.url}/compatible/2010-04-01/Accounts/${double.accountSid}/Messages.json`]);
    expect(double.requests).toHaveLength(1);
  });
});

describe('an answer of Twilio', () => {
  it.each([
    ['200 with an error body', { status: 200, body: { code: 21610, message: 'Unsubscribed' } }, 6005],
    [
      '201 of a message that failed',
      { status: 201, body: { sid: 'SM1', status: 'failed', error_code: 30007 } },
      4008,
    ],
    ['400 without a code', { status: 400, body: '<html>Bad request</html>' }, 6003],
    ['400 with a code that nobody knows', { status: 400, body: { code: 29999, message: 'New' } }, 6003],
    ['403 of a suspended account', { status: 403, body: { code: 20005, message: 'Suspended' } }, 6001],
  ] as [string, TwilioAnswer, number][])(
    '%s is a refusal with outcome code',
    async (_name, said, outcomeCode) => {
      double.script(said);
      expect((await sendText()).answer).toMatchObject({ kind: 'refused', result: { outcomeCode } });
    },
  );

  it.each([
    ['200 without an id', { status: 200, body: { status: 'queued' } }],
    ['200 with an empty body', { status: 200, body: '' }],
    ['200 with an array', { status: 200, body: [] }],
    ['302 elsewhere', { status: 302, headers: { location: 'https://example.com/' } }],
    ['408', { status: 408, body: { code: 20408, message: 'Timeout' } }],
    ['500', { status: 500, body: { code: 20500, message: 'Internal error' } }],
    ['503 with Retry-After', { status: 503, headers: { 'retry-after': '1' } }],
    ['a connection that is cut', 'hangup'],
  ] as [string, TwilioAnswer][])(
    '%s is unknown, the connection’s fault, and not asked again',
    async (_name, said) => {
      double.script(said);
      const { answer, fault } = await sendText();
      expect(answer.kind).toBe('unknown');
      expect(fault).toEqual(expect.any(String));
      expect(double.requests).toHaveLength(1);
    },
  );

  it.each([
    ['7', 7_000],
    [new Date(NOW_MS + 90_000).toUTCString(), 90_000],
    ['86400', 600_000],
    ['soon', 2_000],
    [undefined, 2_000],
  ])('429 with Retry-After %j is tried again after that', async (after, afterMs) => {
    double.script({ status: 429, ...(after === undefined ? {} : { headers: { 'retry-after': after } }) });
    expect((await sendText()).answer).toMatchObject({ kind: 'retry', afterMs });
  });
});

describe('a call through Twilio', () => {
  it('connects to the stream with its parameters, however they are written', async () => {
    const stream = {
      url: 'wss://calls.example.com/carrier/ws/twilio',
      parameters: { play_plan: 'e30.c2ln', note: `<&"'>\u0001 é` },
    };
    const { answer } = await placeCall({ stream });
    const [request] = double.requests;
    expect(answer).toEqual({ kind: 'accepted', carrierMessageId: request?.sid });
    expect(request?.resource).toBe('Calls');
    const form = request?.form ?? new URLSearchParams();
    expect(streamOf(form.get('Twiml') ?? '')).toEqual({
      url: stream.url,
      parameters: { play_plan: 'e30.c2ln', note: `<&"'> é` },
    });
    expect(form.get('StatusCallback')).toBe('https://api.example.com/carrier/twilio/c/status/t');
    expect(form.getAll('StatusCallbackEvent')).toEqual(['initiated', 'ringing', 'answered', 'completed']);
  });

  it.each([
    [{ from: null }, 4010],
    [{ stream: { url: 'wss://a.example.com/', parameters: { play_plan: 'x'.repeat(491) } } }, 3029],
    [
      {
        stream: {
          url: 'wss://a.example.com/',
          parameters: Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`p${n}`, 'x'.repeat(480)])),
        },
      },
      3029,
    ],
  ])('that the carrier could not take is refused before it is asked', async (over, outcomeCode) => {
    expect((await placeCall(over)).answer).toMatchObject({ kind: 'refused', result: { outcomeCode } });
    expect(double.requests).toEqual([]);
    expect(double.faults).toEqual([]);
  });

  it('leaves voicemail when it is asked as one that hears; a drop alone and mail are refused', async () => {
    const driver = driverWith();
    const hearing = callRequest({ channel: 'rvm' });
    expect((await driver.send('call', hearing, going())).answer.kind).toBe('accepted');
    for (const [work, request] of [
      ['drop', dropRequest()],
      ['mail', mailRequest()],
    ] as [CarrierWork, never][]) {
      const { answer } = await driver.send(work, request, going());
      expect(answer).toMatchObject({ kind: 'refused', result: { outcomeCode: 6003 } });
    }
    expect(double.requests).toHaveLength(1);
  });
});
