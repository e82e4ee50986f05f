/** Events of a session as lines that a person reads. */
import type { CallAudio } from './audio.reader.ts';
import type { WireEvent } from './call.client.ts';

const ENCODING_NAMES = { pcm16: 'PCM 16 bit', mulaw: 'mu-law', alaw: 'A-law' } as const;

/** What is streamed, as a heading. */
export function audioLine(audio: CallAudio): string {
  const seconds = (audio.durationMs / 1000).toFixed(1);
  return `${audio.name}: ${ENCODING_NAMES[audio.encoding]}, ${audio.sampleRateHz / 1000} kHz, ${seconds} s`;
}

/** One event: its media time, its name, and what matters of it. */
export function eventLine({ event, payload }: WireEvent): string {
  const at = typeof payload.timestamp_ms === 'number' ? `${(payload.timestamp_ms / 1000).toFixed(2)} s` : '';
  return `${at.padStart(9)}  ${event.padEnd(13)} ${detailOf(event, payload)}`.trimEnd();
}

function detailOf(event: string, payload: WireEvent['payload']): string {
  const text = (name: string): string => (typeof payload[name] === 'string' ? payload[name] : '');
  switch (event) {
    case 'ready':
      return `session ${text('session_id')}`;
    case 'detection': {
      const marks = [
        payload.is_final === true ? 'final' : '',
        payload.is_refinement === true ? 'refined' : '',
        payload.beep_detected === true ? 'beep heard' : '',
      ].filter((mark) => mark !== '');
      return `${text('type')} ${fixed(payload.confidence, 2)}  ${[text('reason'), ...marks].join(', ')}`;
    }
    case 'beep':
      return `${fixed(payload.frequency_hz, 1)} Hz for ${fixed(payload.duration_ms, 0)} ms, ended here; confidence ${fixed(payload.confidence, 2)}`;
    case 'error':
      return `${text('code')}: ${text('error')}`;
    case 'close':
      return text('reason');
    default:
      return '';
  }
}

function fixed(value: unknown, digits: number): string {
  return typeof value === 'number' ? value.toFixed(digits) : '–';
}
