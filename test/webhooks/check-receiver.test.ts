import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import addFormatsModule from 'ajv-formats';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it } from 'vitest';
import { CommandFailed, UsageError } from '../../src/main/cli/context.ts';
import { createProgram } from '../../src/main/cli/program.ts';
import { catchWebhooks } from '../_util/index.ts';
import type { Answer, Catcher, CaughtWebhook } from '../_util/index.ts';
import { guideReceiver, guideSamples } from './receivers.ts';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const DETECTION_KEY = 'tgd_the-key-of-these-tests';
const addFormats = addFormatsModule as unknown as (ajv: Ajv) => void;

interface Run {
  code: number;
  text: string;
}

/** Runs the command in this process; its exit code as the contract has it. */
async function check(...args: string[]): Promise<Run> {
  const lines: string[] = [];
  const program = createProgram({
    env: {},
    stdout: (line) => void lines.push(line),
    stderr: (line) => void lines.push(line),
    openServices: () => Promise.reject(new Error('the command needs no database')),
  });
  try {
    await program.parseAsync(['node', 'tonegate', 'check-receiver', ...args]);
    return { code: 0, text: lines.join('\n') };
  } catch (error) {
    if (error instanceof CommandFailed)
      return { code: error.exitCode, text: [...lines, error.message].join('\n') };
    if (error instanceof UsageError) return { code: 2, text: error.message };
    if ((error as { code?: string }).code === 'commander.helpDisplayed')
      return { code: 0, text: lines.join('\n') };
    throw error;
  }
}

describe('check-receiver', () => {
  const catchers: Catcher[] = [];
  const receiver = async (answer: (hook: CaughtWebhook, number: number) => Answer): Promise<Catcher> => {
    const catcher = await catchWebhooks(answer);
    catchers.push(catcher);
    return catcher;
  };
  afterEach(() => Promise.all(catchers.splice(0).map((catcher) => catcher.close())));

  /** Good but for what `spoil` answers instead. */
  const goodBut = async (
    spoil: (hook: CaughtWebhook, number: number, good: Answer) => Answer = (_hook, _number, good) => good,
  ): Promise<Catcher> => {
    const { isFromTonegate } = await guideSamples();
    const good = guideReceiver((body, headers) => isFromTonegate(body, headers, SECRET));
    return receiver((hook, number) => spoil(hook, number, good.answer(hook)));
  };

  it('finds nothing wrong with a receiver written as the guide tells', async () => {
    const { isFromTonegate } = await guideSamples();
    const good = guideReceiver((body, headers) => isFromTonegate(body, headers, SECRET));
    const catcher = await receiver(good.answer);
    const { code, text } = await check(catcher.url, '--secret', SECRET);
    expect(text).toContain('The receiver does what it should.');
    expect([code, catcher.caught.length, good.taken.size]).toEqual([0, 4, 1]);
    expect(text).not.toContain('WRONG');
    expect(text).not.toContain(SECRET);
  });

  it('finds nothing wrong with one that verifies by the Standard Webhooks library', async () => {
    const catcher = await receiver((hook) => {
      try {
        new Webhook(SECRET).verify(hook.body, hook.headers as Record<string, string>);
        return { status: 200 };
      } catch {
        return { status: 400 };
      }
    });
    expect((await check(catcher.url, '--secret', SECRET, '--event', 'campaign.started')).code).toBe(0);
    expect(JSON.parse(catcher.caught[0]?.body ?? '')).toMatchObject({ event: 'campaign.started' });
  });

  it('checks detection deliveries too, with bodies as the schema has them', async () => {
    const { isFromTonegate, verify } = await guideSamples();
    const good = guideReceiver((body, headers) =>
      headers['x-source'] === undefined
        ? isFromTonegate(body, headers, SECRET)
        : verify(body, headers, DETECTION_KEY),
    );
    const catcher = await receiver(good.answer);
    const { code } = await check(catcher.url, '--secret', SECRET, '--detection-key', DETECTION_KEY);
    expect([code, catcher.caught.length, good.taken.size]).toEqual([0, 8, 2]);
    const file = new URL('../../schema/events/detection.delivery.schema.json', import.meta.url);
    const ajv = new Ajv({ strict: false });
    addFormats(ajv);
    const validate = ajv.compile(JSON.parse(await readFile(file, 'utf8')) as object);
    for (const hook of catcher.caught.slice(4)) {
      validate(JSON.parse(hook.body));
      expect(validate.errors ?? []).toEqual([]);
    }
  });

  it.each([
    [
      'accepts everything',
      () => ({ status: 200 }),
      ['accepts a bad signature', 'accepts a signature of 10 minutes ago'],
    ],
    ['refuses everything', () => ({ status: 401 }), ['refuses a well signed event with 401']],
    ['fails', () => ({ status: 500 }), ['fails with 500 on a well signed event']],
    ['is gone', () => ({ status: 410 }), ['answers 410, which disables']],
    [
      'redirects',
      () => ({ status: 302, headers: { location: 'https://example.com/new' } }),
      ['redirects to https://example.com/new'],
    ],
    ['cuts the connection', () => 'hangup' as const, ['the connection was cut']],
    [
      'refuses repeats',
      (_hook: CaughtWebhook, number: number, good: Answer) => (number === 2 ? { status: 409 } : good),
      ['refuses an event that it has seen with 409'],
    ],
    [
      'takes old events',
      (_hook: CaughtWebhook, number: number, good: Answer) => (number === 4 ? { status: 200 } : good),
      ['accepts a signature of 10 minutes ago'],
    ],
    [
      'is slow',
      (_hook: CaughtWebhook, number: number, good: Answer) =>
        number === 1 ? { status: 200, delayMs: 5_200 } : good,
      ['the limit is 5 s'],
    ],
  ])('says in words that a receiver %s', async (_what, spoil, words) => {
    const catcher = await goodBut(spoil);
    const { code, text } = await check(catcher.url, '--secret', SECRET);
    expect(code).toBe(1);
    for (const word of words) expect(text).toContain(word);
    expect(text).toMatch(/wrong with the receiver$/);
  });

  it('without a secret sends only what no receiver should accept', async () => {
    const good = await goodBut();
    const fine = await check(good.url);
    expect([fine.code, good.caught.length]).toEqual([0, 1]);
    expect(fine.text).toContain('Without --secret');
    const open = await receiver(() => ({ status: 200 }));
    expect((await check(open.url)).code).toBe(1);
  });

  it('answers in JSON on demand', async () => {
    const catcher = await receiver(() => ({ status: 200 }));
    const { code, text } = await check(catcher.url, '--secret', SECRET, '--json');
    const [json = ''] = text.split('\n');
    expect(code).toBe(1);
    expect(JSON.parse(json)).toMatchObject({
      ...{ url: catcher.url, problems: 2, address_problem: null, note: expect.any(String) },
      checks: [
        { name: 'event, signed', status_code: 200, problem: null },
        { name: 'event, sent again', problem: null },
        { name: 'event, badly signed', problem: expect.any(String) },
        { name: 'event, 10 minutes old', problem: expect.any(String) },
      ],
    });
  });

  it('finds that nobody listens, and that a public address is not https', async () => {
    const closed = await catchWebhooks();
    await closed.close();
    const nobody = await check(closed.url, '--secret', SECRET);
    expect([nobody.code, nobody.text]).toEqual([1, expect.stringContaining('nothing listens')]);
    // RFC 6761: the name never resolves, so nothing leaves the machine.
    const plain = await check('http://receiver.invalid/', '--secret', SECRET);
    expect([plain.code, plain.text]).toEqual([1, expect.stringContaining('not https')]);
    expect(plain.text).toContain('the name does not resolve');
    const named = await check('https://a:b@receiver.invalid/');
    expect([named.code, named.text]).toEqual([1, expect.stringContaining('user name or password')]);
  });

  it.each([
    ['no address', ['hooks']],
    ['another scheme', ['ftp://example.com/']],
    ['a secret that is none', ['http://127.0.0.1:9/', '--secret', 'abc']],
  ])('is wrong usage with %s', async (_what, args) => {
    expect((await check(...args)).code).toBe(2);
  });

  it('has a help with an example', async () => {
    const { code, text } = await check('--help');
    expect(code).toBe(0);
    expect(text).toMatch(/Example:\n {2}tonegate check-receiver https/);
  });
});
