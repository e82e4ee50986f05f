import type { Tx } from '../../platform/db/index.ts';

const LOCK_SQL = `select pg_advisory_xact_lock(hashtextextended('number:' || $1 || ':' || $2, 0))`;

/**
 * Whatever decides over a number of an account comes one after the other until the transaction ends: a send that is being
 * committed, and an opt-out that would stop it (house.md, promise 4).
 */
export async function lockNumber(tx: Tx, of: { teamId: string; phoneNumber: string }): Promise<void> {
  await tx.query(LOCK_SQL, [of.teamId, of.phoneNumber]);
}
