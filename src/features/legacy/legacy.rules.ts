import { createHash, timingSafeEqual } from 'node:crypto';
import { Problem } from '../../kernel/problem.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Fields of version 1 (interface.md, Versioning 2) by what version 2 calls them. */
const RVM_FIELDS: Readonly<Record<string, string>> = {
  foreign_id: 'foreign_id',
  brand_id: 'brand_id',
  phone_number: 'to',
  recording_id: 'media_id',
  voice_id: 'voice_id',
  tts_body: 'tts_body',
  forwarding_number: 'forwarding_number',
  postal_code: 'postal_code',
  callback_url: 'callback_url',
};
const SMS_FIELDS: Readonly<Record<string, string>> = {
  phone_number: 'to',
  caller_id: 'caller_id',
  pool_id: 'phone_line_id',
  sms_body: 'body',
  opt_in: 'opt_in',
  foreign_id: 'foreign_id',
  callback_url: 'callback_url',
};

/** A body of version 1 → the request that is stored; what version 1 does not know, and the secret, is left out. */
export const rvmRequest = (body: Fields): Fields => renamed(body, RVM_FIELDS);
export const smsRequest = (body: Fields): Fields => renamed(body, SMS_FIELDS);

const renamed = (body: Fields, names: Readonly<Record<string, string>>): Fields =>
  Object.fromEntries(
    Object.entries(names)
      .filter(([name]) => Object.hasOwn(body, name))
      .map(([name, other]) => [other, body[name]]),
  );

/**
 * Bodies repeat what the headers say: what they repeat must be the same. @throws Problem unauthorized
 */
export function checkRepeated(body: Fields, headers: Fields): void {
  const isSame =
    isRepeated(body['team_id'], headers['x-team-id']) && isRepeated(body['secret'], headers['x-secret']);
  if (!isSame) throw new Problem('unauthorized', 'The body names another credential than the headers.');
}

/** As long for every wrong text. */
function isRepeated(given: unknown, proven: unknown): boolean {
  if (given === undefined || given === null) return true;
  if (typeof given !== 'string' || typeof proven !== 'string') return false;
  return timingSafeEqual(digestOf(given), digestOf(proven));
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
