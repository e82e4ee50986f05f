import type { Cipher, Db } from '../platform/db/index.ts';

/** Rows of one transaction. */
const BATCH_ROWS = 200;

/** Every column that holds a secret, with the context it is bound to (see the slice that writes it). */
export const SECRET_COLUMNS = [
  { table: 'detection_keys', column: 'key_ciphertext', context: 'detection-key' },
  { table: 'teams', column: 'platform_token_ciphertext', context: 'platform-token' },
  { table: 'signing_keys', column: 'private_ciphertext', context: 'signing-key', idType: 'text' },
  { table: 'carrier_connections', column: 'settings_ciphertext', context: 'carrier-connection' },
  { table: 'carrier_connections', column: 'webhook_secret_ciphertext', context: 'mail-webhook' },
  { table: 'webhook_subscriptions', column: 'secret_ciphertext', context: 'webhook' },
  { table: 'sending_domains', column: 'dkim_private_ciphertext', context: 'dkim' },
] as const;

/** Encrypts stored secrets again under the current key, in batches; may be repeated. Throws when one does not open. */
export async function rekey(db: Db, cipher: Cipher): Promise<{ rewritten: number; kept: number }> {
  const total = { rewritten: 0, kept: 0 };
  for (const place of SECRET_COLUMNS) {
    let after = '00000000-0000-0000-0000-000000000000';
    for (;;) {
      const batch = await rekeyBatch(db, cipher, { ...place, after });
      total.rewritten += batch.rewritten;
      total.kept += batch.kept;
      if (batch.last === null) break;
      after = batch.last;
    }
  }
  return total;
}

interface Place {
  readonly table: string;
  readonly column: string;
  readonly context: string;
  readonly idType?: 'uuid' | 'text';
  readonly after: string;
}

async function rekeyBatch(db: Db, cipher: Cipher, place: Place) {
  const { table, column, context, after, idType = 'uuid' } = place;
  return db.tx(async (tx) => {
    const { rows } = await tx.query<{ id: string; secret: string }>(
      `select id, ${column} as secret from ${table}
        where id > $1 and ${column} is not null order by id limit ${BATCH_ROWS} for update`,
      [after],
    );
    const old = rows.filter((row) => !cipher.isCurrent(row.secret));
    const fresh = old.map((row) => {
      const bound = `${context}:${row.id}`;
      return cipher.encrypt(cipher.decrypt(row.secret, bound), bound);
    });
    await tx.query(
      `update ${table} set ${column} = new.secret
         from unnest($1::${idType}[], $2::text[]) as new (id, secret) where ${table}.id = new.id`,
      [old.map((row) => row.id), fresh],
    );
    return { rewritten: old.length, kept: rows.length - old.length, last: rows.at(-1)?.id ?? null };
  });
}
