import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** scrypt with 32 MiB and about 100 ms a password (OWASP Password Storage Cheat Sheet: N 2^15, r 8, p 3). */
const LOG2_N = 15;
const BLOCK_SIZE = 8;
const PARALLEL = 3;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** 128 · N · r bytes are needed; Node's own limit is just that, so leave room. */
const MEMORY_BYTES_MAX = 96 * 1024 * 1024;

/** `$scrypt$ln=15,r=8,p=3$<salt>$<hash>`, both base64url: names its own parameters, so that they may grow. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, { salt, log2N: LOG2_N, blockSize: BLOCK_SIZE, parallel: PARALLEL });
  return `$scrypt$ln=${LOG2_N},r=${BLOCK_SIZE},p=${PARALLEL}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

const STORED = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]+)\$([\w-]+)$/;

/** Compares in constant time; false for a stored text that is no such hash. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const match = STORED.exec(stored);
  if (!match) return false;
  const [log2N, blockSize, parallel] = match.slice(1, 4).map(Number) as [number, number, number];
  const expected = Buffer.from(match[5] ?? '', 'base64url');
  const salt = Buffer.from(match[4] ?? '', 'base64url');
  const actual = await derive(password, { salt, log2N, blockSize, parallel });
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

function derive(
  password: string,
  options: { salt: Buffer; log2N: number; blockSize: number; parallel: number },
): Promise<Buffer> {
  const { salt, log2N, blockSize, parallel } = options;
  const cost = { N: 2 ** log2N, r: blockSize, p: parallel, maxmem: MEMORY_BYTES_MAX };
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, cost, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
