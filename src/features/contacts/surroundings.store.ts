import type { Db, Tx } from '../../platform/db/index.ts';

/** Tables with rows of one contact that an answer holds all at once. */
export type OwnedTable = 'contact_notes' | 'follow_ups' | 'consents';

/** What the things around a contact need of the contact itself. */
export class SurroundingsStore {
  /** False: the account has no such contact. */
  async exists(sql: Pick<Db, 'query'>, teamId: string, contactId: string): Promise<boolean> {
    const { rowCount } = await sql.query('select 1 from contacts where team_id = $1 and id = $2', [
      teamId,
      contactId,
    ]);
    return rowCount === 1;
  }

  /** The contact stays until `tx` ends; false: the account has none such. */
  async hold(tx: Tx, teamId: string, contactId: string): Promise<boolean> {
    const { rowCount } = await tx.query(
      'select 1 from contacts where team_id = $1 and id = $2 for key share',
      [teamId, contactId],
    );
    return rowCount === 1;
  }

  /** The contact cannot be changed by others until `tx` ends; null: the account has none such. */
  async lock(tx: Tx, teamId: string, contactId: string): Promise<{ ownerId: string | null } | null> {
    const { rows } = await tx.query<{ owner_id: string | null }>(
      'select owner_id from contacts where team_id = $1 and id = $2 for no key update',
      [teamId, contactId],
    );
    return rows[0] ? { ownerId: rows[0].owner_id } : null;
  }

  async setOwner(tx: Tx, of: { teamId: string; contactId: string; ownerId: string; nowMs: number }) {
    await tx.query('update contacts set owner_id = $3, updated_at = $4 where team_id = $1 and id = $2', [
      ...[of.teamId, of.contactId, of.ownerId],
      new Date(of.nowMs),
    ]);
  }

  async setDisposition(
    tx: Tx,
    of: { teamId: string; contactId: string; dispositionId: string; nowMs: number },
  ): Promise<void> {
    await tx.query(
      'update contacts set disposition_id = $3, updated_at = $4 where team_id = $1 and id = $2',
      [...[of.teamId, of.contactId, of.dispositionId], new Date(of.nowMs)],
    );
  }

  async touch(tx: Tx, of: { teamId: string; contactId: string; nowMs: number }): Promise<void> {
    await tx.query('update contacts set updated_at = $3 where team_id = $1 and id = $2', [
      ...[of.teamId, of.contactId],
      new Date(of.nowMs),
    ]);
  }

  /** Rows of `table` that the contact has, counted up to `max`. */
  async countUpTo(tx: Tx, of: { table: OwnedTable; teamId: string; contactId: string; max: number }) {
    const { rows } = await tx.query<{ n: bigint }>(
      `select count(*) as n from
         (select 1 from ${of.table} where team_id = $1 and contact_id = $2 limit $3) as counted`,
      [of.teamId, of.contactId, of.max],
    );
    return Number(rows[0]?.n ?? 0);
  }
}
