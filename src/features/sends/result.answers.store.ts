import type { Tx } from '../../platform/db/index.ts';
import type { CarrierReceipt } from '../carriers/index.ts';
import type { SendKey } from './dispatch.type.ts';

/** A receipt and the answer that names its message wait for each other, so that neither overlooks the other. */
const LOCK_SQL = `
select pg_advisory_xact_lock(k.key) from (
  select distinct hashtextextended('receipt ' || w.carrier_id || ' ' || w.message_id, 0) as key
  from unnest($1::text[], $2::text[]) as w (carrier_id, message_id) order by 1
) k`;

const TAKEN_SQL = `
update sends s set carrier_message_id = w.message_id, state = case when w.is_awaited then 'sent' else s.state end
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::boolean[]) as w (id, team_id, message_id, is_awaited)
where s.id = w.id and s.team_id = w.team_id`;

const UNPARK_SQL = `
with gone as (
  delete from carrier_receipts r
  using unnest($1::uuid[], $2::uuid[], $3::text[]) as w (team_id, carrier_id, message_id)
  where r.team_id = w.team_id and r.carrier_id = w.carrier_id and r.carrier_message_id = w.message_id
  returning r.receipt, r.received_at
)
select receipt from gone order by received_at`;

const UNCOUNT_SQL = `
delete from contact_attempts a
using unnest($1::uuid[], $2::uuid[]) as w (send_id, team_id)
join sends s on s.id = w.send_id and s.team_id = w.team_id
where a.team_id = s.team_id and a.phone_number = s.phone_number and a.at = s.attempted_at and a.send_id = s.id`;

/** The message of a carrier. */
export interface CarrierMessage {
  readonly teamId: string;
  readonly carrierId: string;
  readonly carrierMessageId: string;
}

/** The statements about what carriers answered. */
export class AnswersStore {
  async lockMessages(tx: Tx, messages: readonly CarrierMessage[]): Promise<void> {
    if (messages.length === 0) return;
    await tx.query(LOCK_SQL, [
      messages.map(({ carrierId }) => carrierId),
      messages.map(({ carrierMessageId }) => carrierMessageId),
    ]);
  }

  /** The carrier took them; `isAwaited`: its result comes later. */
  async setTaken(
    tx: Tx,
    taken: readonly (SendKey & { carrierMessageId: string | null; isAwaited: boolean })[],
  ): Promise<void> {
    await tx.query(TAKEN_SQL, [
      taken.map(({ sendId }) => sendId),
      taken.map(({ teamId }) => teamId),
      taken.map(({ carrierMessageId }) => carrierMessageId),
      taken.map(({ isAwaited }) => isAwaited),
    ]);
  }

  /** Receipts that came before; the oldest first. They are taken out. */
  async unpark(tx: Tx, messages: readonly CarrierMessage[]): Promise<CarrierReceipt[]> {
    const { rows } = await tx.query<{ receipt: CarrierReceipt }>(UNPARK_SQL, [
      messages.map(({ teamId }) => teamId),
      messages.map(({ carrierId }) => carrierId),
      messages.map(({ carrierMessageId }) => carrierMessageId),
    ]);
    return rows.map(({ receipt }) => receipt);
  }

  /** Back to where they were before the attempt. */
  async requeue(tx: Tx, keys: readonly SendKey[]): Promise<void> {
    await tx.query(
      `update sends s set state = 'queued' from unnest($1::uuid[], $2::uuid[]) as w (id, team_id)
       where s.id = w.id and s.team_id = w.team_id`,
      [keys.map(({ sendId }) => sendId), keys.map(({ teamId }) => teamId)],
    );
  }

  /** Attempts that reached nobody do not count (supplement 12, Sends). */
  async uncount(tx: Tx, keys: readonly SendKey[]): Promise<void> {
    await tx.query(UNCOUNT_SQL, [keys.map(({ sendId }) => sendId), keys.map(({ teamId }) => teamId)]);
  }

  /** When the first request of each left, epoch milliseconds. */
  async firstRequests(tx: Tx, keys: readonly SendKey[]): Promise<Map<string, number>> {
    const { rows } = await tx.query<{ send_id: string; at: Date }>(
      `select s.send_id, min(s.at) as at from unnest($1::uuid[], $2::uuid[]) as w (send_id, team_id)
       join send_steps s on s.send_id = w.send_id and s.team_id = w.team_id and s.kind = 'carrier_request'
       group by s.send_id`,
      [keys.map(({ sendId }) => sendId), keys.map(({ teamId }) => teamId)],
    );
    return new Map(rows.map((row) => [row.send_id, row.at.getTime()]));
  }

  async park(tx: Tx, parked: { receiptId: string; receipt: CarrierReceipt; nowMs: number }): Promise<void> {
    const { receipt } = parked;
    await tx.query(
      `insert into carrier_receipts (id, team_id, carrier_id, carrier_message_id, receipt, received_at)
       values ($1, $2, $3, $4, $5, $6)`,
      [
        ...[parked.receiptId, receipt.teamId, receipt.carrierId, receipt.carrierMessageId],
        ...[JSON.stringify(receipt), new Date(parked.nowMs)],
      ],
    );
  }

  async findByMessage(tx: Tx, message: CarrierMessage): Promise<SendKey | null> {
    const { rows } = await tx.query<{ id: string }>(
      `select id from sends where team_id = $1 and carrier_id = $2 and carrier_message_id = $3 limit 1`,
      [message.teamId, message.carrierId, message.carrierMessageId],
    );
    return rows[0] ? { teamId: message.teamId, sendId: rows[0].id } : null;
  }

  /** Whether a step tells of this status of the attempt already. */
  async hasStatus(tx: Tx, key: SendKey, of: { status: string; attempt: number }): Promise<boolean> {
    const { rowCount } = await tx.query(
      `select 1 from send_steps where send_id = $1 and team_id = $2 and kind = 'carrier_answer'
         and detail ->> 'status' = $3 and (detail ->> 'attempt')::integer = $4 limit 1`,
      [key.sendId, key.teamId, of.status, of.attempt],
    );
    return rowCount === 1;
  }
}
