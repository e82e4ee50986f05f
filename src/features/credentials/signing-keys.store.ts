import type { Db, Tx } from '../../platform/db/index.ts';

export interface SigningKeyRow {
  id: string;
  publicJwk: unknown;
  privateCiphertext: string;
  retired: boolean;
}

/** One process at a time makes the first key. Any fixed number that no other lock of the service has. */
const LOCK = 7_401_001;

const LIST_SQL = `
select id, public_jwk, private_ciphertext, retired_at is not null as retired
from signing_keys order by created_at desc, id`;

interface StoredKey {
  id: string;
  public_jwk: unknown;
  private_ciphertext: string;
  retired: boolean;
}

/** The statements on signing_keys: SQL, since the first key is made under a lock. Keys belong to no account. */
export class SigningKeysStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Newest first. */
  async list(tx?: Tx): Promise<SigningKeyRow[]> {
    const { rows } = await (tx ? tx.query<StoredKey>(LIST_SQL) : this.#db.query<StoredKey>(LIST_SQL));
    return rows.map((row) => ({
      id: row.id,
      publicJwk: row.public_jwk,
      privateCiphertext: row.private_ciphertext,
      retired: row.retired,
    }));
  }

  async lock(tx: Tx): Promise<void> {
    await tx.query('select pg_advisory_xact_lock($1)', [LOCK]);
  }

  async insert(tx: Tx, key: Omit<SigningKeyRow, 'retired'> & { createdAtMs: number }): Promise<void> {
    await tx.query(
      'insert into signing_keys (id, public_jwk, private_ciphertext, created_at) values ($1, $2, $3, $4)',
      [key.id, JSON.stringify(key.publicJwk), key.privateCiphertext, new Date(key.createdAtMs)],
    );
  }
}
