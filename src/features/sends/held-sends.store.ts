import type { Tx } from '../../platform/db/index.ts';
import type { SendChannel } from '../delivery-rules/index.ts';

/** The statements on sends that an operator takes up by hand. */
export class HeldSendsStore {
  /** Holds the row; its channel, or null when there is no such send or it is not held. */
  async lock(tx: Tx, of: { teamId: string; sendId: string }): Promise<SendChannel | null> {
    const { rows } = await tx.query<{ channel: SendChannel }>(
      `select channel from sends where team_id = $1 and id = $2 and state = 'held' for update`,
      [of.teamId, of.sendId],
    );
    return rows[0]?.channel ?? null;
  }

  async setHeldUntil(tx: Tx, of: { teamId: string; sendId: string; atMs: number }): Promise<void> {
    await tx.query('update sends set held_until = $3 where team_id = $1 and id = $2', [
      ...[of.teamId, of.sendId, new Date(of.atMs)],
    ]);
  }
}
