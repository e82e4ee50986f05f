import type { Tx } from '../../platform/db/index.ts';
import type { Particulars, SendKey } from './dispatch.type.ts';

/** The statement that holds a send. */
export class DispatchStore {
  /** False: it is neither queued nor held. */
  async hold(
    tx: Tx,
    key: SendKey,
    hold: Particulars & { untilMs: number; expiresAtMs: number },
  ): Promise<boolean> {
    const { rowCount } = await tx.query(
      `update sends set state = 'held', held_until = $3, expires_at = $4, contact_id = $5, phone_number = $6,
         caller_id = $7, phone_line_id = $8, brand_id = $9
       where id = $1 and team_id = $2 and state in ('queued', 'held')`,
      [
        ...[key.sendId, key.teamId, new Date(hold.untilMs), new Date(hold.expiresAtMs)],
        ...[hold.contactId, hold.phoneNumber, hold.callerId, hold.phoneLineId, hold.brandId],
      ],
    );
    return rowCount === 1;
  }
}
