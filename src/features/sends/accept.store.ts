import type { Tx } from '../../platform/db/index.ts';
import type { Draft } from './accept.rules.ts';
import { keyNameOf } from './idempotency.rules.ts';
import type { Keyed, KeyOwner } from './idempotency.rules.ts';

/** A key whose time is over is taken over; one that lives is locked until the end, so that nobody takes it meanwhile. */
const CLAIM_SQL = `
insert into send_idempotency as i (team_id, key, request_hash, send_id, created_at)
select c.team_id, c.key, c.request_hash, c.send_id, $5::timestamptz
from unnest($1::uuid[], $2::text[], $3::bytea[], $4::uuid[]) with ordinality as c (team_id, key, request_hash, send_id, ord)
order by c.ord
on conflict (team_id, key) do update
set request_hash = excluded.request_hash, send_id = excluded.send_id, created_at = excluded.created_at
where i.created_at <= $6::timestamptz
returning team_id, key, request_hash, send_id`;

const OWNERS_SQL = `
select i.team_id, i.key, i.request_hash, i.send_id
from unnest($1::uuid[], $2::text[]) as c (team_id, key)
join send_idempotency i on i.team_id = c.team_id and i.key = c.key`;

const INSERT_SQL = `
with added as (
  select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::integer[], $5::jsonb[], $6::integer[], $7::uuid[],
    $8::text[], $9::text[], $10::timestamptz[], $11::jsonb[])
  as a (id, team_id, channel, version, request, accept_code, created_by, foreign_id, callback_url, created_at, detail)
), stored as (
  insert into sends (id, team_id, channel, version, request, accept_code, created_by, foreign_id, callback_url, created_at)
  select id, team_id, channel, version, request, accept_code, created_by, foreign_id, callback_url, created_at
  from added order by id
)
insert into send_steps (send_id, team_id, kind, at, detail)
select id, team_id, 'accepted', created_at, detail from added order by id`;

/** The statements that take sends, a batch each. */
export class AcceptStore {
  /**
   * Claims keys, given in one order by everybody, each once. Answers who has each, by `keyNameOf`: the claim, or the send
   * that had it already within its lifetime.
   */
  async claim(
    tx: Tx,
    claims: readonly Keyed[],
    of: { nowMs: number; lifetimeMs: number },
  ): Promise<Map<string, KeyOwner>> {
    const owners = new Map<string, KeyOwner>();
    const note = (rows: readonly KeyRow[]): void => {
      for (const row of rows) {
        const name = keyNameOf({ teamId: row.team_id, key: row.key });
        owners.set(name, { sendId: row.send_id, requestHash: row.request_hash });
      }
    };
    const [nowAt, deadAt] = [new Date(of.nowMs), new Date(of.nowMs - of.lifetimeMs)];
    const columns = [claims.map((c) => c.teamId), claims.map((c) => c.key)];
    const values = [claims.map((c) => c.requestHash), claims.map((c) => c.sendId), nowAt, deadAt];
    note((await tx.query<KeyRow>(CLAIM_SQL, [...columns, ...values])).rows);
    const others = claims.filter((claim) => !owners.has(keyNameOf(claim)));
    if (others.length === 0) return owners;
    // A statement of its own: it sees what those who had the keys have committed meanwhile.
    note((await tx.query<KeyRow>(OWNERS_SQL, [others.map((c) => c.teamId), others.map((c) => c.key)])).rows);
    return owners;
  }

  async insert(tx: Tx, drafts: readonly Draft[]): Promise<void> {
    await tx.query({
      name: 'sends-accept',
      text: INSERT_SQL,
      values: [
        ...[drafts.map((d) => d.sendId), drafts.map((d) => d.teamId), drafts.map((d) => d.channel)],
        ...[drafts.map((d) => d.version), drafts.map((d) => d.request), drafts.map((d) => d.acceptCode)],
        ...[drafts.map((d) => d.createdBy), drafts.map((d) => d.foreignId)],
        ...[drafts.map((d) => d.callbackUrl), drafts.map((d) => new Date(d.createdAtMs))],
        drafts.map((d) => JSON.stringify(d.detail)),
      ],
    });
  }
}

interface KeyRow {
  team_id: string;
  key: string;
  request_hash: Buffer;
  send_id: string;
}
