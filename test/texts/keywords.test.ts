import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keywordOf } from '../../src/features/texts/keywords.rules.ts';

const STOP = ['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'REVOKE', 'OPTOUT'];
const START = ['START', 'YES', 'UNSTOP'];
const HELP = ['HELP', 'INFO'];
const ALL = [...STOP, ...START, ...HELP];

describe('The words of texts', () => {
  it.each([
    ...STOP.map((word) => [word, 'stop'] as const),
    ...START.map((word) => [word, 'start'] as const),
    ...HELP.map((word) => [word, 'help'] as const),
  ])('%s means %s', (word, keyword) => {
    expect(keywordOf(word)).toEqual({ keyword, word });
  });

  it.each([
    'stop',
    ' Stop.\n',
    'STOP!!!',
    '"stop"',
    'stop all',
    'Opt-Out',
    'opt out',
    'ＳＴＯＰ',
    'stop 🛑',
    's.t.o.p',
  ])('%j is an opt-out', (body) => {
    expect(keywordOf(body)?.keyword).toBe('stop');
  });

  it.each([
    '',
    '  ',
    'stop it',
    "don't stop",
    'nonstop',
    'yes 2',
    'yes please',
    'the end',
    'information',
    '🛑',
  ])('%j asks for nothing', (body) => {
    expect(keywordOf(body)).toBeNull();
  });

  it('count whatever surrounds them but letters and digits, and not within a longer text', () => {
    const beside = fc.stringMatching(/^[ .!?,\-"'\n\t]{0,5}$/);
    fc.assert(
      fc.property(fc.constantFrom(...ALL), beside, beside, fc.boolean(), (word, before, after, isLower) => {
        expect(keywordOf(before + (isLower ? word.toLowerCase() : word) + after)?.word).toBe(word);
        expect(keywordOf(`${word} ${'x'.repeat(50)}`)).toBeNull();
      }),
    );
  });

  it('are looked for in any text without a fault', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 0xffff }), { maxLength: 60 }), (units) => {
        const body = String.fromCharCode(...units);
        const found = keywordOf(body);
        if (found) expect(ALL).toContain(found.word);
      }),
    );
  });
});
