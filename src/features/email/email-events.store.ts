import type { Tx } from '../../platform/db/index.ts';

export type EmailEventKind =
  'delivered' | 'opened' | 'clicked' | 'bounced' | 'complained' | 'unsubscribed' | 'failure';

export interface EmailEventRow {
  readonly emailId: string;
  readonly teamId: string;
  readonly kind: EmailEventKind;
  /** Tells events of one kind apart: the link, the address. One kind and key are written once. */
  readonly eventKey: string;
  readonly atMs: number;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** The statements on email_events. */
export class EmailEventsStore {
  /** False: it was there already. */
  async add(tx: Tx, event: EmailEventRow): Promise<boolean> {
    const { rowCount } = await tx.query(
      `insert into email_events (email_id, team_id, kind, at, event_key, detail) values ($1, $2, $3, $4, $5, $6::jsonb)
       on conflict (email_id, kind, event_key) do nothing`,
      [
        ...[event.emailId, event.teamId, event.kind, new Date(event.atMs), event.eventKey],
        JSON.stringify(event.detail),
      ],
    );
    return rowCount === 1;
  }

  async has(tx: Tx, of: { teamId: string; emailId: string; kind: EmailEventKind }): Promise<boolean> {
    const { rowCount } = await tx.query(
      'select 1 from email_events where team_id = $1 and email_id = $2 and kind = $3 limit 1',
      [of.teamId, of.emailId, of.kind],
    );
    return rowCount === 1;
  }
}
