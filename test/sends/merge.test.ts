import { describe, expect, it } from 'vitest';
import { merge, mergeValues } from '../../src/features/sends/merge.rules.ts';
import { segmentsOf } from '../../src/features/sends/result.segments.rules.ts';

const values = mergeValues(
  {
    first_name: 'Ada',
    last_name: '',
    company: null,
    visits: 3,
    tags: ['a'],
    trick: '{{contact.first_name}}',
  },
  { last_name: 'Lovelace' },
);

describe('merge fields', () => {
  it.each([
    ['Hello {{contact.first_name}}!', 'Hello Ada!'],
    ['{{ contact.first_name }} {{contact.last_name}}', 'Ada Lovelace'],
    ['{{contact.company}}|{{contact.nothing}}|{{account.name}}', '||'],
    ['{{contact.company|there}} {{contact.first_name|there}}', 'there Ada'],
    ['{{contact.visits}} times', '3 times'],
    ['{{contact.tags}}', ''],
    ['{{contact.trick}}', '{{contact.first_name}}'],
    ['{{contact.__proto__}}{{contact.constructor}}', ''],
    ['no {fields} {{ here', 'no {fields} {{ here'],
  ])('%s becomes %s', (text, expected) => {
    expect(merge(text, values)).toBe(expected);
  });

  it('takes no longer than its text for texts made to be slow', () => {
    const text = '{{contact.'.repeat(20_000);
    expect(merge(text, values)).toBe(text);
    expect(merge('{{ '.repeat(20_000), values)).toHaveLength(60_000);
  });
});

describe('segments of a text', () => {
  // 3GPP TS 23.038 and 23.040: 160 septets alone, 153 in parts; 70 units alone, 67 in parts.
  it.each([
    ['', 1],
    ['x'.repeat(160), 1],
    ['x'.repeat(161), 2],
    ['x'.repeat(306), 2],
    ['x'.repeat(307), 3],
    ['€'.repeat(80), 1],
    ['€'.repeat(81), 2],
    // An extended character is not torn: 152 + 2 > 153.
    [`${'x'.repeat(152)}€${'x'.repeat(152)}`, 3],
    ['ж'.repeat(70), 1],
    ['ж'.repeat(71), 2],
    ['ж'.repeat(134), 2],
    ['ж'.repeat(135), 3],
    ['😀'.repeat(35), 1],
    ['😀'.repeat(36), 2],
    [`x${'😀'.repeat(66)}`, 2],
    [`xx${'😀'.repeat(66)}`, 3],
  ])('%#', (body, expected) => {
    expect(segmentsOf(body)).toBe(expected);
  });
});
