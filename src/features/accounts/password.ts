import { hash, verify } from '@node-rs/argon2';
import { scrypt, timingSafeEqual } from 'node:crypto';

/** Argon2id, its default variant, with 19 MiB, two passes, one lane (OWASP Password Storage Cheat Sheet). */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const ARGON2_PREFIX = `$argon2id$v=19$m=${ARGON2.memoryCost},t=${ARGON2.timeCost},p=${ARGON2.parallelism}$`;
/** Passwords hashed before were scrypt's with 32 MiB; Node's own limit is just what they need, so leave room. */
const SCRYPT_MEMORY_BYTES_MAX = 96 * 1024 * 1024;

/** PHC text: names its own parameters, so that they may grow. */
export const hashPassword = (password: string): Promise<string> => hash(password.normalize('NFKC'), ARGON2);

/** Compares in constant time; false for a stored text that is no such hash. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  if (stored.startsWith('$argon2id$')) return verify(stored, password.normalize('NFKC'));
  return verifyScrypt(password, stored);
}

/** Whether a stored hash is not what `hashPassword` would make today. */
export const isOutdated = (stored: string): boolean => !stored.startsWith(ARGON2_PREFIX);

const SCRYPT = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]+)\$([\w-]+)$/;

async function verifyScrypt(password: string, stored: string): Promise<boolean> {
  const match = SCRYPT.exec(stored);
  if (!match) return false;
  const [log2N, blockSize, parallel] = match.slice(1, 4).map(Number) as [number, number, number];
  const expected = Buffer.from(match[5] ?? '', 'base64url');
  const salt = Buffer.from(match[4] ?? '', 'base64url');
  const cost = { N: 2 ** log2N, r: blockSize, p: parallel, maxmem: SCRYPT_MEMORY_BYTES_MAX };
  const actual = await new Promise<Buffer>((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, expected.length, cost, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
  return timingSafeEqual(actual, expected);
}
