import type { Tx } from '../../platform/db/index.ts';

/** Taken in one order, so that two transactions cannot wait for each other. */
const LOCK_SQL = `
select pg_advisory_xact_lock(k.key) from (
  select distinct hashtextextended('number:' || w.team_id || ':' || w.phone_number, 0) as key
  from unnest($1::text[], $2::text[]) as w (team_id, phone_number) order by 1
) k`;

/**
 * Whatever decides over a number of an account comes one after the other until the transaction ends: sends that are being
 * committed, and an opt-out that would stop them (house.md, promise 4).
 */
export async function lockNumbers(
  tx: Tx,
  numbers: readonly { readonly teamId: string; readonly phoneNumber: string }[],
): Promise<void> {
  await tx.query(LOCK_SQL, [numbers.map((n) => n.teamId), numbers.map((n) => n.phoneNumber)]);
}
