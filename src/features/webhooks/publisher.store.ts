import type { Tx } from '../../platform/db/index.ts';
import type { EndpointStatus } from './endpoint.rules.ts';

/** A subscription that may hear news, held until the transaction ends. */
export interface Listener {
  subscriptionId: string;
  teamId: string;
  hookUrl: string;
  eventTypes: string[];
  status: EndpointStatus;
  pausedUntilMs: number | null;
  nextSequence: number;
}

/**
 * Subscriptions of $1 that ask for any of the patterns $2, in the order of their ids, so that two transactions never
 * hold what the other waits for. The lock makes the order of sequences that of commits; without a match none is taken.
 */
const HOLD_LISTENERS_SQL = `
select id, team_id, hook_url, event_types, status, paused_until, next_sequence
from webhook_subscriptions
where team_id = any($1::uuid[]) and status <> 'disabled' and event_types && $2::text[]
order by id
for no key update`;

const ADVANCE_SQL = `
update webhook_subscriptions s set next_sequence = w.next_sequence
from unnest($1::uuid[], $2::uuid[], $3::bigint[]) as w (id, team_id, next_sequence)
where s.id = w.id and s.team_id = w.team_id`;

/** The statements of announcing. */
export const publisherStore = {
  async holdListeners(
    tx: Tx,
    of: { teamIds: readonly string[]; patterns: readonly string[] },
  ): Promise<Listener[]> {
    const { rows } = await tx.query<{
      id: string;
      team_id: string;
      hook_url: string;
      event_types: string[];
      status: EndpointStatus;
      paused_until: Date | null;
      next_sequence: bigint;
    }>(HOLD_LISTENERS_SQL, [of.teamIds, of.patterns]);
    return rows.map((row) => ({
      subscriptionId: row.id,
      teamId: row.team_id,
      hookUrl: row.hook_url,
      eventTypes: row.event_types,
      status: row.status,
      pausedUntilMs: row.paused_until?.getTime() ?? null,
      nextSequence: Number(row.next_sequence),
    }));
  },

  async advance(tx: Tx, listeners: readonly Listener[]): Promise<void> {
    await tx.query(ADVANCE_SQL, [
      listeners.map(({ subscriptionId }) => subscriptionId),
      listeners.map(({ teamId }) => teamId),
      listeners.map(({ nextSequence }) => nextSequence),
    ]);
  },
};
