import { createHash } from 'node:crypto';
import { OUTCOMES } from '../../kernel/outcome.ts';
import type { OutcomeCode } from '../../kernel/outcome.ts';
import type { CallHeard, CarrierResult } from '../carriers/index.ts';
import type { SendChannel } from '../delivery-rules/index.ts';

/** Voicemails whose result is proven by a page (supplement 4). */
const PROVEN: ReadonlySet<number> = new Set([0, 4001, 4002]);
/** Outcomes that a carrier or a phone gave: somebody was, or would have been, contacted. */
const OF_ATTEMPTS: ReadonlySet<number> = new Set([0, 4000, 4001, 4002, 4004, 4005, 4006, 4008, 4090]);
const DO_NOT_CONTACT = 4016;

const NAMES: ReadonlyMap<number, string> = new Map(OUTCOMES.map(({ code, name }) => [code, name]));

export const outcomeName = (code: number): string => NAMES.get(code) ?? String(code);

/** Only what was delivered is paid. */
export const costs = (code: number): boolean => code === 0;

export const isProven = (channel: SendChannel, code: number): boolean =>
  channel === 'rvm' && PROVEN.has(code);

export const isOfAttempt = (code: number): boolean => OF_ATTEMPTS.has(code);

export const isKeptBack = (code: number): boolean => code === DO_NOT_CONTACT;

/**
 * An id that results show in place of the message_id, which never appears on them (supplement 1): the same for a send
 * wherever it is shown, and a valid UUID (RFC 9562, version 8).
 */
export function shownId(kind: 'drop' | 'log' | 'session', sendId: string): string {
  const hex = createHash('sha256').update(`${kind} ${sendId}`).digest('hex');
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const ended = (outcomeCode: OutcomeCode, detail?: string): CarrierResult => ({
  outcomeCode,
  ...(detail === undefined ? {} : { detail }),
});

/** What a call that listened came to. */
export function heardResult(channel: SendChannel, heard: CallHeard): CarrierResult {
  // Whoever pressed the key to opt out was reached.
  if (heard.optOut) return ended(0);
  if (heard.played === 'speech') return ended(0);
  if (heard.played === 'beep') {
    return heard.isHeardWhole ? ended(0) : ended(4000, 'The line was cut before the message ended.');
  }
  if (channel === 'rvm') return ended(4000, heard.verdict === null ? undefined : `Heard: ${heard.verdict}.`);
  switch (heard.verdict) {
    case 'voicemail':
      return ended(4000, 'A voicemail answered, and nothing was played to it.');
    case 'live_person':
      return ended(4000, 'A person answered, and there was no message for one.');
    case 'unknown':
      return ended(4004, 'Neither a person nor a voicemail answered.');
    case 'silence':
    case null:
      return ended(4005, 'Nobody was heard.');
  }
}
