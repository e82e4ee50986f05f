import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { settingsOf } from '../../src/features/carriers/carriers.rules.ts';
import type { CarrierSettings } from '../../src/features/carriers/carriers.rules.ts';
import type { Driver } from '../../src/features/carriers/driver.type.ts';
import type { CarrierWork } from '../../src/features/carriers/index.ts';
import type { Said } from '../../src/features/carriers/said.rules.ts';
import { SimulatorDriver } from '../../src/features/carriers/simulator.driver.ts';
import { SmtpDriver } from '../../src/features/carriers/smtp.driver.ts';
import { TwilioDriver } from '../../src/features/carriers/twilio.driver.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { systemIds } from '../../src/kernel/ids.ts';
import { LocalLimiter } from '../../src/platform/limits/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { createNet } from '../../src/platform/net/index.ts';
import { until } from '../_util/index.ts';
import { startTwilioDouble } from '../_util/twilio-double.ts';
import type { TwilioAnswer } from '../_util/twilio-double.ts';
import { startMailServer } from './_mail-server.ts';
import type { MailAnswer } from './_mail-server.ts';
import { callRequest, dropRequest, going, mailRequest, textRequest } from './_requests.ts';

/** A driver with a carrier that can be told how to behave. */
interface Bench {
  readonly driver: Driver;
  /** How often the carrier may have got something that it could deliver. */
  readonly got: () => number;
  readonly close: () => Promise<void>;
}

/** What a carrier can do to a request. */
type Deed = 'ok' | 'refuse' | 'later' | 'hangup' | 'never' | 'garbage' | 'away';

interface Subject {
  readonly name: string;
  readonly works: readonly CarrierWork[];
  readonly deeds: readonly Deed[];
  start(deed: Deed): Promise<Bench>;
}

const REQUESTS = { text: textRequest, call: callRequest, drop: dropRequest, mail: mailRequest };
/** Patience of a driver whose carrier says nothing. */
const PATIENCE_MS = 300;

const ask = (driver: Driver, work: CarrierWork, signal = going()): Promise<Said> =>
  driver.send(work, REQUESTS[work](), signal);

const simulator: Subject = {
  name: 'the simulator',
  works: ['text', 'call', 'drop', 'mail'],
  deeds: ['ok', 'refuse', 'later', 'never'],
  start: async (deed) => {
    let got = 0;
    const given = {
      failure_rate: deed === 'refuse' ? 1 : 0,
      ...(deed === 'later' ? { rate_per_second: 1 } : {}),
    };
    const settings = settingsOf('simulator', given) as CarrierSettings<'simulator'>;
    const limiter = new LocalLimiter({ clock: systemClock });
    if (deed === 'later') limiter.take('simulator:bench', { perSecond: 0.001, burst: 1 });
    const wait = async (_ms: number, signal: AbortSignal): Promise<void> => {
      got += 1;
      if (deed !== 'never') return;
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
      });
    };
    const driver = new SimulatorDriver({ settings, ids: systemIds, limiter, name: 'bench', wait });
    return { driver, got: () => got, close: () => driver.close() };
  },
};

const TWILIO_DEEDS: Partial<Record<Deed, TwilioAnswer>> = {
  refuse: { status: 400, body: { code: 21614, message: "'To' number is not a mobile number", status: 400 } },
  later: {
    status: 429,
    headers: { 'retry-after': '7' },
    body: { code: 20429, message: 'Too many', status: 429 },
  },
  hangup: 'hangup',
  never: 'never',
  garbage: { status: 201, body: '<html>Welcome to the hotel</html>' },
};

const twilio: Subject = {
  name: 'Twilio',
  works: ['text', 'call'],
  deeds: ['ok', 'refuse', 'later', 'hangup', 'never', 'garbage', 'away'],
  start: async (deed) => {
    const double = await startTwilioDouble();
    const answer = TWILIO_DEEDS[deed];
    if (answer) double.script(answer);
    const base_url = deed === 'away' ? `http://127.0.0.1:${await deadPort()}` : double.url;
    const given = { account_sid: double.accountSid, auth_token: double.authToken, base_url };
    const settings = settingsOf('twilio', given) as CarrierSettings<'twilio'>;
    const net = createNet({ allowPrivateTargets: true, logger: silentLogger });
    const patient: Pick<typeof net, 'post'> = {
      post: (request) =>
        net.post({ ...request, timeoutMs: deed === 'never' ? PATIENCE_MS : request.timeoutMs }),
    };
    const driver = new TwilioDriver({ settings, net: patient, clock: systemClock });
    return {
      driver,
      got: () => double.requests.length,
      close: async () => {
        expect(double.faults).toEqual([]);
        await driver.close();
        await net.close();
        await double.close();
      },
    };
  },
};

const MAIL_DEEDS: Partial<Record<Deed, MailAnswer>> = {
  refuse: 'recipient 550 5.1.1 No such mailbox',
  later: 'recipient 451 4.7.1 Greylisted',
  hangup: 'hangup',
  never: 'never',
  garbage: 'garbage',
};

const smtp: Subject = {
  name: 'SMTP',
  works: ['mail'],
  deeds: ['ok', 'refuse', 'later', 'hangup', 'never', 'garbage', 'away'],
  start: async (deed) => {
    const server = await startMailServer();
    const answer = MAIL_DEEDS[deed];
    if (answer) server.script(answer);
    const port = deed === 'away' ? await deadPort() : server.port;
    const given = { host: '127.0.0.1', port, security: 'none' };
    const settings = settingsOf('smtp', given) as CarrierSettings<'smtp'>;
    const tuning = deed === 'never' ? { silenceMs: PATIENCE_MS } : {};
    const driver = new SmtpDriver({ settings, clock: systemClock, allowPrivateTargets: true, tuning });
    return {
      driver,
      got: () => server.caught.length,
      close: async () => {
        await driver.close();
        await server.close();
      },
    };
  },
};

/** A port that nobody listens on. */
async function deadPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe.each([simulator, twilio, smtp])('$name as a carrier', (subject) => {
  let bench: Bench | undefined;
  const start = async (deed: Deed): Promise<Bench> => (bench = await subject.start(deed));
  const can = (deed: Deed): boolean => subject.deeds.includes(deed);

  afterEach(async () => {
    await bench?.close();
    bench = undefined;
  });

  describe.each(subject.works.map((work) => [work] as const))('for work of kind %s', (work) => {
    it('accepts once, with an id of its own for each request', async () => {
      const { driver, got } = await start('ok');
      const [one, two] = [await ask(driver, work), await ask(driver, work)];
      expect([one.fault, two.fault]).toEqual([null, null]);
      if (one.answer.kind !== 'accepted' || two.answer.kind !== 'accepted')
        throw new Error(`not accepted: ${JSON.stringify([one, two])}`);
      expect(one.answer.carrierMessageId).toEqual(expect.any(String));
      expect(one.answer.carrierMessageId).not.toBe(two.answer.carrierMessageId);
      expect(got()).toBe(2);
    });

    it('says which outcome a refusal of the recipient is, and blames no connection', async () => {
      const { driver } = await start('refuse');
      const { answer, fault } = await ask(driver, work);
      const codes = { text: 4004, call: subject === simulator ? 4005 : 4004, drop: 4000, mail: 5030 };
      expect(answer).toMatchObject({ kind: 'refused', result: { outcomeCode: codes[work] } });
      expect(fault).toBeNull();
    });

    it('asks to come again when it is told so, having sent nothing', async () => {
      const { driver, got } = await start('later');
      const { answer, fault } = await ask(driver, work);
      expect(answer).toMatchObject({ kind: 'retry', afterMs: expect.any(Number) as number });
      expect(answer.kind === 'retry' && answer.afterMs).toBeGreaterThan(0);
      expect(fault).toBeNull();
      expect(subject === twilio ? 0 : got()).toBe(0);
    });

    it('sends nothing for a process that ends', async () => {
      const { driver, got } = await start('ok');
      const { answer } = await ask(driver, work, AbortSignal.abort());
      expect(answer.kind).toBe('retry');
      expect(got()).toBe(0);
    });

    it('does not know what became of a request that a process left behind', async () => {
      const { driver, got } = await start('never');
      const ending = new AbortController();
      const said = ask(driver, work, ending.signal);
      await until(() => got() > 0, 20_000, 'the request');
      ending.abort();
      expect((await said).answer.kind).toBe('unknown');
    });

    if (can('hangup'))
      it('does not know what became of a request that the carrier hung up on', async () => {
        const { driver, got } = await start('hangup');
        const { answer, fault } = await ask(driver, work);
        expect(answer.kind).toBe('unknown');
        expect(fault).toEqual(expect.any(String));
        expect(got()).toBe(1);
      });

    if (can('garbage'))
      it('does not know what garbage means', async () => {
        const { driver, got } = await start('garbage');
        const { answer, fault } = await ask(driver, work);
        expect(answer.kind).toBe('unknown');
        expect(fault).toEqual(expect.any(String));
        expect(got()).toBe(1);
      });

    if (can('away'))
      it('asks to come again when nobody is there, and blames the connection', async () => {
        const { driver } = await start('away');
        const { answer, fault } = await ask(driver, work);
        expect(answer).toMatchObject({ kind: 'retry' });
        expect(fault).toEqual(expect.any(String));
      });

    if (can('away') && can('never'))
      it('does not know what a silent carrier did', async () => {
        const { driver, got } = await start('never');
        const { answer, fault } = await ask(driver, work);
        expect(answer.kind).toBe('unknown');
        expect(fault).toEqual(expect.any(String));
        expect(got()).toBe(1);
      });
  });
});
