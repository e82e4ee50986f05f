import { describe, expect, it } from 'vitest';
import { createLogger, redactText } from '../../src/platform/logger/index.ts';

function capture(level: 'debug' | 'info' = 'info') {
  const lines: string[] = [];
  const logger = createLogger(
    { logLevel: level, logFormat: 'json' },
    { write: (line: string) => void lines.push(line) },
  );
  return { logger, lines };
}

describe('createLogger', () => {
  it('writes one line of JSON an event', () => {
    const { logger, lines } = capture();
    logger.child({ role: 'gateway' }).info({ port: 1 }, 'It listens.');
    logger.debug({}, 'not at this level');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 'info',
      role: 'gateway',
      port: 1,
      msg: 'It listens.',
    });
  });

  it.each([
    ['a field of a secret', { secret: 'hunter2' }],
    ['a nested field', { account: { detection_key: 'hunter2' } }],
    ['headers', { request: { headers: { 'x-key': 'hunter2' } } }],
    ['a message text', { text: 'hunter2' }],
    ['a body', { body: '{"a":"hunter2"}' }],
    ['an address with a password', { url: 'postgres://user:hunter2@db/x' }],
    ['a query parameter', { url: 'https://x.example/hook?token=hunter2&a=1' }],
    ['an error', { err: new Error('cannot connect to postgres://user:hunter2@db/x') }],
    ['the cause of an error', { err: new Error('no', { cause: new Error('redis://:hunter2@cache') }) }],
    ['a list', { urls: ['redis://:hunter2@cache'] }],
    ['a bearer token', { said: 'Authorization: Bearer hunter2.hunter2' }],
    ['bytes', { err: undefined, raw: Buffer.from('hunter2') }],
  ])('hides %s', (_name, fields) => {
    const { logger, lines } = capture();
    logger.error(fields, 'said with postgres://user:hunter2@db/x');
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain('hunter2');
    expect(lines[0]).not.toContain(Buffer.from('hunter2').join(','));
  });

  it('hides keys of ours and the middle of phone numbers in any text', () => {
    expect(redactText('key tgd_AbCdEf0123456789-_xyz of +14155550123')).toBe('key tgd_[hidden] of +14…123');
  });

  it('survives what cannot be written and bounds what is long', () => {
    const { logger, lines } = capture();
    const loop: Record<string, unknown> = { n: 1n };
    loop.self = loop;
    logger.info({ loop, long: 'x'.repeat(100_000) }, 'y'.repeat(100_000));
    expect(lines[0]!.length).toBeLessThan(10_000);
  });
});
