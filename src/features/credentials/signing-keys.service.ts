import { exportJWK, generateKeyPair, importJWK, jwtVerify, SignJWT } from 'jose';
import type { CryptoKey, JWK, JWTPayload } from 'jose';
import type { Clock } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { Cipher, Db } from '../../platform/db/index.ts';
import { SigningKeysStore } from './signing-keys.store.ts';
import type { SigningKeyRow } from './signing-keys.store.ts';

/** The one algorithm that signs and verifies (RFC 7518, 3.4). */
export const SIGNING_ALGORITHM = 'ES256';
/** What is known of the keys is read again after this time, so that a retired one stops signing everywhere. */
const FRESH_MS = 60_000;
/** A token that names an unknown key asks for a new look, but not more often: anybody can write such tokens. */
const LOOK_AGAIN_MS = 5_000;

/** What binds a stored private key to its row. */
const signingKeyContext = (id: string): string => `signing-key:${id}`;

/** What a token must be for: a token of one kind never passes as another (RFC 8725, 3.11). */
export interface TokenPurpose {
  typ: string;
  audience: string;
  issuer: string;
}

interface SigningKey {
  id: string;
  retired: boolean;
  publicJwk: JWK;
  privateJwk: JWK;
  publicKey: CryptoKey;
  privateKey: CryptoKey;
}

/**
 * Keys that sign tokens: the newest that is not retired signs, all that exist verify. The first is made when it is first
 * needed; private parts are stored encrypted.
 */
export class SigningKeys {
  readonly #options: { db: Db; cipher: Cipher; clock: Clock; ids: Ids };
  readonly #store: SigningKeysStore;
  #known: Promise<readonly SigningKey[]> | undefined;
  #readAtMs = -Infinity;

  constructor(options: { db: Db; cipher: Cipher; clock: Clock; ids: Ids }) {
    this.#options = options;
    this.#store = new SigningKeysStore(options.db);
  }

  /** A signed JWT with `iat`, and `exp` at the second of `expiresAtMs`. */
  async sign(claims: JWTPayload, purpose: TokenPurpose & { expiresAtMs: number }): Promise<string> {
    const key = (await this.#keys()).find(({ retired }) => !retired);
    if (!key) throw new Error('no signing key');
    return new SignJWT(claims)
      .setProtectedHeader({ alg: SIGNING_ALGORITHM, typ: purpose.typ, kid: key.id })
      .setIssuer(purpose.issuer)
      .setAudience(purpose.audience)
      .setIssuedAt(Math.floor(this.#options.clock.nowMs() / 1_000))
      .setExpirationTime(Math.floor(purpose.expiresAtMs / 1_000))
      .sign(key.privateKey);
  }

  /** The claims; null for whatever is not a living token of this purpose signed by one of our keys. */
  async verify(jwt: string, purpose: TokenPurpose): Promise<JWTPayload | null> {
    const kid = headerOf(jwt)?.['kid'];
    if (typeof kid !== 'string') return null;
    const key = await this.#find(kid);
    if (!key) return null;
    try {
      const { payload } = await jwtVerify(jwt, key.publicKey, {
        ...{ algorithms: [SIGNING_ALGORITHM], typ: purpose.typ },
        ...{ audience: purpose.audience, issuer: purpose.issuer },
        requiredClaims: ['exp', 'iat'],
        currentDate: new Date(this.#options.clock.nowMs()),
      });
      return payload;
    } catch {
      // Every fault of a token is the same to its bearer; the key itself was read before.
      return null;
    }
  }

  /** The public keys, as /jwks shows them. */
  async jwks(): Promise<{ keys: JWK[] }> {
    return { keys: (await this.#keys()).map(({ publicJwk }) => publicJwk) };
  }

  /** The private keys, the signing one first: for the OAuth server, which signs by itself. */
  async privateJwks(): Promise<{ keys: JWK[] }> {
    const keys = (await this.#keys()).filter(({ retired }) => !retired);
    return { keys: keys.map(({ privateJwk }) => privateJwk) };
  }

  async #find(kid: string): Promise<SigningKey | undefined> {
    const found = (await this.#keys()).find(({ id }) => id === kid);
    if (found || this.#options.clock.monotonicMs() - this.#readAtMs < LOOK_AGAIN_MS) return found;
    this.#known = undefined;
    return (await this.#keys()).find(({ id }) => id === kid);
  }

  async #keys(): Promise<readonly SigningKey[]> {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#known && nowMs - this.#readAtMs < FRESH_MS) return this.#known;
    this.#readAtMs = nowMs;
    const reading = this.#read();
    this.#known = reading;
    try {
      return await reading;
    } catch (error) {
      // A look that failed is not kept: the next token asks again.
      if (this.#known === reading) this.#known = undefined;
      throw error;
    }
  }

  async #read(): Promise<readonly SigningKey[]> {
    const stored = await this.#store.list();
    const rows = stored.some(({ retired }) => !retired) ? stored : await this.#makeFirst();
    return Promise.all(rows.map((row) => this.#open(row)));
  }

  async #makeFirst(): Promise<SigningKeyRow[]> {
    const { db, cipher, clock, ids } = this.#options;
    const id = ids.uuid();
    const { publicKey, privateKey } = await generateKeyPair(SIGNING_ALGORITHM, { extractable: true });
    const named = { kid: id, alg: SIGNING_ALGORITHM, use: 'sig' };
    const publicJwk = { ...(await exportJWK(publicKey)), ...named };
    const privateJwk = { ...(await exportJWK(privateKey)), ...named };
    const privateCiphertext = cipher.encrypt(JSON.stringify(privateJwk), signingKeyContext(id));
    return db.tx(async (tx) => {
      await this.#store.lock(tx);
      const stored = await this.#store.list(tx);
      if (stored.some(({ retired }) => !retired)) return stored;
      await this.#store.insert(tx, { id, publicJwk, privateCiphertext, createdAtMs: clock.nowMs() });
      return this.#store.list(tx);
    });
  }

  async #open(row: SigningKeyRow): Promise<SigningKey> {
    const plain = this.#options.cipher.decrypt(row.privateCiphertext, signingKeyContext(row.id));
    const privateJwk = JSON.parse(plain) as JWK;
    const publicJwk = row.publicJwk as JWK;
    return {
      ...{ id: row.id, retired: row.retired, publicJwk, privateJwk },
      publicKey: (await importJWK(publicJwk, SIGNING_ALGORITHM)) as CryptoKey,
      privateKey: (await importJWK(privateJwk, SIGNING_ALGORITHM)) as CryptoKey,
    };
  }
}

/** A token's header, unproven; null when it has none. */
export function headerOf(jwt: string): Record<string, unknown> | null {
  try {
    const header: unknown = JSON.parse(Buffer.from(jwt.split('.', 1)[0] ?? '', 'base64url').toString('utf8'));
    return typeof header === 'object' && header !== null && !Array.isArray(header)
      ? (header as Record<string, unknown>)
      : null;
  } catch {
    // Not JSON: no token of ours.
    return null;
  }
}
