import { createCipheriv, createDecipheriv, createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
/** NIST SP 800-38D, 8.2.2: 96-bit random nonces, 128-bit tags. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1';

/** A stored secret that no known key opens: a lost MASTER_KEY, or a text moved to another row. */
export class CipherError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CipherError';
  }
}

/**
 * Encrypts what is stored secretly. The text names its key: `v1.<key id>.<base64url of nonce, tag, cipher text>`,
 * so that older keys (MASTER_KEY_PREVIOUS) still open it. `context` says whose it is (`detection-key:<id>`) and is
 * authenticated: a text copied into another row does not open.
 */
export class Cipher {
  readonly #current: MasterKey;
  readonly #keys: ReadonlyMap<string, MasterKey>;

  constructor(current: Buffer, previous: readonly Buffer[] = []) {
    this.#current = masterKey(current);
    this.#keys = new Map([...previous.map(masterKey), this.#current].map((key) => [key.id, key]));
  }

  encrypt(plain: string, context: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#current.bytes, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(associated(this.#current.id, context));
    const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    const packed = Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
    return `${VERSION}.${this.#current.id}.${packed}`;
  }

  /** Throws a CipherError when the key is not known, the context is another or the text was changed. */
  decrypt(text: string, context: string): string {
    const [version, id, packed, ...rest] = text.split('.');
    if (version !== VERSION || !id || !packed || rest.length > 0)
      throw new CipherError('not a stored secret');
    const key = this.#keys.get(id);
    if (!key) throw new CipherError(`no key ${id}: add the former MASTER_KEY to MASTER_KEY_PREVIOUS`);
    const bytes = Buffer.from(packed, 'base64url');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new CipherError('a stored secret is cut short');
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(ALGORITHM, key.bytes, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(associated(id, context));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      const plain = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([plain, decipher.final()]).toString('utf8');
    } catch (error) {
      throw new CipherError(`a stored secret does not open: ${(error as Error).message}`);
    }
  }

  /** Whether a text was written under the current key; `tonegate rekey` rewrites those that were not. */
  isCurrent(text: string): boolean {
    return text.startsWith(`${VERSION}.${this.#current.id}.`);
  }

  /** The current key's public name. */
  get keyId(): string {
    return this.#current.id;
  }
}

interface MasterKey {
  readonly id: string;
  readonly bytes: Buffer;
}

/** A key's name: 48 bits of a hash of it under a label of its own, which tells nothing about the key. */
function masterKey(bytes: Buffer): MasterKey {
  if (bytes.length !== KEY_BYTES)
    throw new CipherError(`a master key is ${KEY_BYTES} bytes, not ${bytes.length}`);
  if (timingSafeEqual(bytes, Buffer.alloc(KEY_BYTES))) throw new CipherError('a master key of zeros is none');
  const id = createHash('sha256').update('tonegate master key id\0').update(bytes).digest('hex').slice(0, 12);
  return { id, bytes: Buffer.from(bytes) };
}

const associated = (keyId: string, context: string): Buffer =>
  Buffer.from(`${VERSION}\0${keyId}\0${context}`, 'utf8');
