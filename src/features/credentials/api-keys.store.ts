import type { Tx } from '../../platform/db/index.ts';

export interface ApiKeyRow {
  keyId: string;
  teamId: string;
  name: string;
  key: string;
  secretHash: Buffer;
  scopes: readonly string[];
  createdBy: string;
  createdAtMs: number;
}

/** The statements on api_keys. */
export class ApiKeysStore {
  async insert(tx: Tx, row: ApiKeyRow): Promise<void> {
    await tx.query(
      `insert into api_keys (id, team_id, name, key, secret_hash, scopes, created_by, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        row.keyId,
        row.teamId,
        row.name,
        row.key,
        row.secretHash,
        row.scopes,
        row.createdBy,
        new Date(row.createdAtMs),
      ],
    );
  }
}
