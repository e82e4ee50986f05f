import { createHash } from 'node:crypto';

/** 256 random bits as base64url. */
export const SECRET_BYTES = 32;
const SECRET_LENGTH = 43;
/** The first characters of the base64url SHA-256 of what is before them: a typing error is found without a look-up. */
const CHECKSUM_LENGTH = 6;

export const DETECTION_KEY_PREFIX = 'tgd_';
export const API_SECRET_PREFIX = 'tgs_';
/** An API key's public half: names the key, opens nothing by itself. */
export const API_KEY_PREFIX = 'tg_';
export const API_KEY_BYTES = 16;

const checksum = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, CHECKSUM_LENGTH);

/** `prefix`, 43 base64url characters of `secret`, checksum. */
export function formatSecret(prefix: string, secret: string): string {
  const text = prefix + secret;
  return text + checksum(text);
}

const FORMAT = new RegExp(`^(tgd_|tgs_)[A-Za-z0-9_-]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/** Whether `text` can be a key of this prefix at all: form and checksum. */
export function isWellFormed(prefix: string, text: string): boolean {
  if (!text.startsWith(prefix) || !FORMAT.test(text)) return false;
  const cut = text.length - CHECKSUM_LENGTH;
  return checksum(text.slice(0, cut)) === text.slice(cut);
}

/** What is stored of a secret to find or compare it. A plain hash suffices for 256 random bits. */
export const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Last four characters: how people tell their keys apart (contract, Detection key, key_hint). */
export const hintOf = (text: string): string => text.slice(-4);
