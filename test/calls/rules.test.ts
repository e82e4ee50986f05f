import { describe, expect, it } from 'vitest';
import { toMulaw } from '../../src/features/detection/play/mulaw.rules.ts';
import { actionOn } from '../../src/features/detection/play/play.rules.ts';
import type { Happening, PlayAction, Playing } from '../../src/features/detection/play/play.rules.ts';
import { mulaw as fromMulaw } from '../../src/platform/audio/wav.reader.ts';

const FULL = { onSpeech: 's', onBeep: 'b', noVerdict: 'play_speech' } as const;

describe('what a call that hears plays', () => {
  const cases: readonly (readonly [Happening, Playing, object, PlayAction])[] = [
    // Nothing under way: PROTOCOL.md, "Calls that hear", second column.
    ['live_person', 'nothing', {}, 'speech'],
    ['live_person', 'nothing', { onSpeech: null }, 'end'],
    ['voicemail', 'nothing', {}, 'wait'],
    // It may still be refined to a person, or beep.
    ['voicemail', 'nothing', { onBeep: null }, 'wait'],
    ['voicemail', 'nothing', { onSpeech: null }, 'wait'],
    ['voicemail', 'nothing', { onSpeech: null, onBeep: null }, 'end'],
    ['beep', 'nothing', {}, 'beep'],
    ['beep', 'nothing', { onBeep: null }, 'end'],
    ['silence', 'nothing', {}, 'speech'],
    ['silence', 'nothing', { noVerdict: 'play_beep' }, 'beep'],
    ['silence', 'nothing', { noVerdict: 'hang_up' }, 'end'],
    ['timeout', 'nothing', { onSpeech: null }, 'end'],
    ['timeout', 'nothing', { noVerdict: 'play_beep' }, 'beep'],
    ['timeout', 'nothing', { noVerdict: 'play_beep', onBeep: null }, 'end'],
    ['no_beep', 'nothing', {}, 'beep'],
    ['no_beep', 'nothing', { onBeep: null }, 'end'],
    ['no_beep', 'nothing', { noVerdict: 'hang_up' }, 'end'],
    ['unknown', 'nothing', {}, 'end'],
    // A message under way: third column.
    ['beep', 'speech', {}, 'beep'],
    ['beep', 'speech', { onBeep: null }, 'end'],
    ['beep', 'beep', {}, 'beep'],
    ['beep', 'after_beep', {}, 'wait'],
  ];

  it.each(cases)('%s while %s is played, plan %o: %s', (happening, playing, changes, action) => {
    expect(actionOn(happening, playing, { ...FULL, ...changes })).toBe(action);
  });

  it('leaves a message that was begun to its end, whatever but a beep is heard', () => {
    const others: Happening[] = ['live_person', 'voicemail', 'silence', 'unknown', 'timeout', 'no_beep'];
    for (const playing of ['speech', 'beep', 'after_beep'] as const)
      for (const happening of others) expect(actionOn(happening, playing, FULL)).toBe('wait');
  });
});

describe('mu-law', () => {
  it('is what it was after a round through 16 bits, for every code', () => {
    for (let code = 0; code < 256; code += 1) expect(toMulaw(fromMulaw(code))).toBe(code);
  });

  it('is off by half a step of its segment at most, for every sample that it can say', () => {
    const wrong: number[] = [];
    for (let sample = -32_635; sample <= 32_635; sample += 1) {
      // ITU-T G.711: segment n begins at 2^(n + 7) with the bias of 132; its 16 steps are 2^(n + 3) wide.
      const segment = Math.floor(Math.log2(Math.abs(sample) + 132)) - 7;
      if (Math.abs(fromMulaw(toMulaw(sample)) - sample) > 2 ** (segment + 2)) wrong.push(sample);
    }
    expect(wrong).toEqual([]);
    expect([toMulaw(32_767), toMulaw(-32_768)]).toEqual([0x80, 0x00]);
  });
});
