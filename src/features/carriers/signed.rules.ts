import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** Of keys and signatures: HMAC-SHA256 (RFC 2104) with a key of its own length. */
const KEY_BYTES = 32;

/** The key of one use, which tells nothing about MASTER_KEY (HKDF, RFC 5869). `purpose` sets uses apart. */
const keyOf = (masterKey: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), purpose, KEY_BYTES));

const digestOf = (text: string, key: { masterKey: Buffer; purpose: string }): Buffer =>
  createHmac('sha256', keyOf(key.masterKey, key.purpose)).update(text).digest();

/** A text that outsiders may carry but not change: `base64url(text).base64url(HMAC-SHA256)`. */
export function sign(text: string, key: { masterKey: Buffer; purpose: string }): string {
  const body = Buffer.from(text, 'utf8').toString('base64url');
  return `${body}.${digestOf(body, key).toString('base64url')}`;
}

/**
 * The text of a token that one of the keys signed for this purpose; null for any other. Several keys: tokens that were
 * given out before a change of MASTER_KEY hold while the former one is still listed.
 */
export function verify(
  token: string,
  keys: { masterKeys: readonly Buffer[]; purpose: string },
): string | null {
  const [body, signature, ...rest] = token.split('.');
  if (!body || !signature || rest.length > 0) return null;
  const given = Buffer.from(signature, 'base64url');
  // Decoding forgives what is not base64url; only the one way to write a signature is taken.
  if (given.toString('base64url') !== signature) return null;
  const isSigned = keys.masterKeys.some((masterKey) => {
    const wanted = digestOf(body, { masterKey, purpose: keys.purpose });
    return wanted.length === given.length && timingSafeEqual(wanted, given);
  });
  return isSigned ? Buffer.from(body, 'base64url').toString('utf8') : null;
}
