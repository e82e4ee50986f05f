import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLAY_PLAN_PARAMETER, signPlayPlan } from '../../src/features/carriers/index.ts';
import type { CallRequest, PlayPlan } from '../../src/features/carriers/index.ts';
import { TwilioDriver } from '../../src/features/carriers/twilio.driver.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { createNet } from '../../src/platform/net/index.ts';
import type { Net } from '../../src/platform/net/index.ts';
import { until } from '../_util/index.ts';
import { silence } from '../socket/audio.ts';
import { DRIVERS } from '../socket/world.ts';
import { StreamDouble } from './stream.double.ts';
import { callsWorld, sample } from './world.ts';
import type { CallsWorld, StoredMessage } from './world.ts';

const ACCOUNT_SID = `AC${'0'.repeat(32)}`;

/** What the phones of this world say, by number. */
const ANSWERS: Readonly<Record<string, () => Uint8Array>> = {
  '+12125550101': () => sample('live-hello.wav'),
  '+12125550102': () => sample('voicemail-beep.wav'),
  '+12125550103': () => silence(8_000),
  '+12125550104': () => sample('ringback-then-hello.wav'),
};

/**
 * A carrier with the interface of Twilio's Calls: takes a call with inline TwiML, dials, and connects the answering side to
 * the stream that the TwiML names.
 */
class CarrierDouble {
  readonly calls = new Map<string, Promise<StreamDouble>>();
  readonly #server: Server;
  readonly #onStarted: () => Promise<void>;
  #count = 0;

  private constructor(onStarted: () => Promise<void>) {
    this.#onStarted = onStarted;
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const form = new URLSearchParams(Buffer.concat(parts).toString());
        expect(request.url).toBe(`/2010-04-01/Accounts/${ACCOUNT_SID}/Calls.json`);
        this.#count += 1;
        const sid = `CA${String(this.#count).padStart(32, '0')}`;
        this.calls.set(sid, this.#dial(sid, form));
        response.writeHead(201, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ sid, status: 'queued' }));
      });
    });
  }

  /** `onStarted` resolves when the media of a call may begin. */
  static async start(onStarted: () => Promise<void>): Promise<CarrierDouble> {
    const double = new CarrierDouble(onStarted);
    await new Promise<void>((resolve) => double.#server.listen(0, '127.0.0.1', resolve));
    return double;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #dial(callSid: string, form: URLSearchParams): Promise<StreamDouble> {
    const twiml = form.get('Twiml') ?? '';
    const url = /<Connect><Stream url="([^"]+)">/.exec(twiml)?.[1] ?? '';
    const parameters = [...twiml.matchAll(/<Parameter name="([^"]+)" value="([^"]*)"\/>/g)];
    for (const [, name = '', value = ''] of parameters) expect((name + value).length).toBeLessThan(500);
    return StreamDouble.run({
      ...{ url, callSid, onStarted: this.#onStarted },
      parameters: Object.fromEntries(parameters.map(([, name = '', value = '']) => [name, value])),
      answer: (ANSWERS[form.get('To') ?? ''] ?? (() => silence(1_000)))(),
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.calls.values());
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe('a call through a carrier like Twilio, from its request to what was played', () => {
  let world: CallsWorld;
  let carrier: CarrierDouble;
  let net: Net;
  let speech: StoredMessage;
  let beep: StoredMessage;
  beforeAll(async () => {
    world = await callsWorld({ driver: DRIVERS[0] ?? 'ws' });
    carrier = await CarrierDouble.start(async () => {
      await until(() => world.messages.pending === 0);
    });
    net = createNet({ allowPrivateTargets: true, logger: silentLogger });
    speech = await world.store(2_000);
    beep = await world.store(3_000);
  });
  afterAll(async () => {
    await carrier.close();
    await net.close();
    await world.close();
  });

  const place = async (to: string, plan: PlayPlan): Promise<StreamDouble> => {
    const driver = new TwilioDriver({
      settings: { account_sid: ACCOUNT_SID, auth_token: 'secret', base_url: carrier.url },
      net,
      clock: systemClock,
    });
    const request: CallRequest = {
      ...{ teamId: plan.teamId, sendId: plan.sendId, attempt: plan.attempt, to },
      ...{ from: '+12125550199', statusUrl: null, channel: 'voice_broadcast' },
      stream: {
        url: `${world.wsUrl}/carrier/ws/twilio`,
        parameters: { [PLAY_PLAN_PARAMETER]: signPlayPlan(plan, world.masterKey) },
      },
    };
    const { answer } = await driver.send('call', request, new AbortController().signal);
    expect(answer.kind).toBe('accepted');
    const sid = answer.kind === 'accepted' ? (answer.carrierMessageId ?? '') : '';
    const double = await carrier.calls.get(sid)!;
    expect(double.faults).toEqual([]);
    expect(await world.heard(plan)).toMatchObject({ callSid: sid, isHeardWhole: double.sound.length > 0 });
    return double;
  };

  it.each([
    ['a person', '+12125550101', () => speech],
    ['a mailbox', '+12125550102', () => beep],
    ['nobody', '+12125550103', () => beep],
    ['a person, after ringing', '+12125550104', () => speech],
  ] as const)('plays its message to %s', async (_who, to, message) => {
    const plan = world.plan({ onSpeech: speech.key, onBeep: beep.key, noVerdict: 'play_beep' });
    const double = await place(to, plan);
    expect(double.sound.equals(message().audio)).toBe(true);
    expect(double.closed?.code).toBe(1000);
  });

  it('drops a voicemail behind the beep, and rings off when a person answers', async () => {
    const plan = (): PlayPlan => world.plan({ onBeep: beep.key, noVerdict: 'hang_up' });
    const mailbox = await place('+12125550102', plan());
    expect(mailbox.sound.equals(beep.audio)).toBe(true);
    // The sample's beep ends at 6,283 ms.
    expect(mailbox.heard[0]!.atMs).toBeLessThanOrEqual(6_283 + 300);
    const person = await place('+12125550101', plan());
    expect(person.sound).toHaveLength(0);
  });
});
