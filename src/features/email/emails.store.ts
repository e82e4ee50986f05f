import type { OutcomeCode } from '../../kernel/outcome.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { Address } from './addresses.rules.ts';
import type { Direction, EmailState, SendType } from './email.rules.ts';

export interface EmailRow {
  emailId: string;
  teamId: string;
  contactId: string | null;
  mailboxId: string | null;
  templateId: string | null;
  direction: Direction;
  sendType: SendType;
  sender: Address;
  recipients: readonly Address[];
  /** The first of `recipients`, in lower case. */
  recipient: string;
  subject: string;
  state: EmailState;
  blockedReason: string | null;
  error: string | null;
  outcomeCode: OutcomeCode | null;
  priceMicros: bigint;
  createdAtMs: number;
  sentAtMs: number | null;
}

export interface NewEmailRow extends Omit<EmailRow, 'sentAtMs'> {
  domainId: string | null;
  carrierId: string | null;
  cc: readonly Address[];
  bcc: readonly Address[];
  preview: string | null;
  html: string;
  text: string | null;
  messageId: string | null;
  unsubscribeTokenHash: Buffer | null;
  createdBy: string;
  sentAtMs?: number | null;
}

/** What became of an email. */
export interface EmailChange {
  state: EmailState;
  error: string | null;
  outcomeCode: OutcomeCode | null;
  sentAtMs: number | null;
}

const COLUMNS = `id, team_id, contact_id, mailbox_id, template_id, direction, send_type, sender, recipients, recipient, subject,
  state, blocked_reason, error, outcome_code, price_micros, created_at, sent_at`;

/** The statements on emails. */
export class EmailsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** One at a time for each address of an account: until the transaction ends nobody else decides about them. */
  async lockAddresses(tx: Tx, teamId: string, addresses: readonly string[]): Promise<void> {
    await tx.query(
      `select pg_advisory_xact_lock(hashtextextended('email ' || $1 || ' ' || address, 0))
       from (select unnest($2::text[]) as address order by 1) as wanted`,
      [teamId, addresses],
    );
  }

  async insert(tx: Tx, row: NewEmailRow): Promise<void> {
    await tx.query(
      `insert into emails (id, team_id, contact_id, mailbox_id, domain_id, carrier_id, template_id, direction, send_type,
         sender, recipients, cc, bcc, recipient, subject, preview, html, text, state, blocked_reason, error, outcome_code,
         message_id, unsubscribe_token_hash, price_micros, created_by, created_at, sent_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11::jsonb, $12::jsonb, $13::jsonb, $14, $15, $16, $17, $18,
         $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)`,
      [
        ...[
          row.emailId,
          row.teamId,
          row.contactId,
          row.mailboxId,
          row.domainId,
          row.carrierId,
          row.templateId,
        ],
        ...[row.direction, row.sendType, ...[row.sender, row.recipients, row.cc, row.bcc].map(toJson)],
        ...[row.recipient, row.subject, row.preview, row.html, row.text, row.state, row.blockedReason],
        ...[row.error, row.outcomeCode, row.messageId, row.unsubscribeTokenHash, row.priceMicros.toString()],
        ...[row.createdBy, new Date(row.createdAtMs), dateOf(row.sentAtMs ?? null)],
      ],
    );
  }

  async find(teamId: string, emailId: string): Promise<EmailRow | null> {
    const { rows } = await this.#db.query<StoredEmail>(
      `select ${COLUMNS} from emails where team_id = $1 and id = $2`,
      [teamId, emailId],
    );
    return rows[0] ? rowOf(rows[0]) : null;
  }

  /** Locked until the transaction ends. */
  async lock(tx: Tx, teamId: string, emailId: string): Promise<EmailRow | null> {
    const { rows } = await tx.query<StoredEmail>(
      `select ${COLUMNS} from emails where team_id = $1 and id = $2 for update`,
      [teamId, emailId],
    );
    return rows[0] ? rowOf(rows[0]) : null;
  }

  /** An email by its Message-ID, as bounces, complaints and copies name it. */
  async findByMessageId(
    teamId: string,
    messageId: string,
    direction: Direction,
    db: Pick<Tx, 'query'> = this.#db.pool,
  ): Promise<string | null> {
    const { rows } = await db.query<{ id: string }>(
      'select id from emails where team_id = $1 and message_id = $2 and direction = $3 limit 1',
      [teamId, messageId, direction],
    );
    return rows[0]?.id ?? null;
  }

  /** By what its unsubscribe link holds, which nobody but its recipients has. */
  async findByUnsubscribeToken(hash: Buffer): Promise<{ teamId: string; emailId: string } | null> {
    const { rows } = await this.#db.query<{ team_id: string; id: string }>(
      'select team_id, id from emails where unsubscribe_token_hash = $1',
      [hash],
    );
    return rows[0] ? { teamId: rows[0].team_id, emailId: rows[0].id } : null;
  }

  async update(tx: Tx, of: { teamId: string; emailId: string }, change: EmailChange): Promise<void> {
    await tx.query(
      `update emails set state = $3, error = $4, outcome_code = $5, sent_at = $6 where team_id = $1 and id = $2`,
      [of.teamId, of.emailId, change.state, change.error, change.outcomeCode, dateOf(change.sentAtMs)],
    );
  }

  /** Those that were committed before a time and never ended, oldest first, of any account. */
  async listAbandoned(beforeMs: number, max: number): Promise<{ teamId: string; emailId: string }[]> {
    const { rows } = await this.#db.query<{ team_id: string; id: string }>(
      `select team_id, id from emails where state = 'sending' and created_at < $1 order by created_at limit $2`,
      [new Date(beforeMs), max],
    );
    return rows.map((row) => ({ teamId: row.team_id, emailId: row.id }));
  }

  /** Removes emails of any account that are older than a time, with their events: how many. */
  async removeOld(beforeMs: number, max: number): Promise<number> {
    const { rowCount } = await this.#db.query(
      `delete from emails where id in (select id from emails where created_at < $1 and state <> 'sending' limit $2)`,
      [new Date(beforeMs), max],
    );
    return rowCount ?? 0;
  }
}

const toJson = (value: unknown): string => JSON.stringify(value);
const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

export interface StoredEmail {
  id: string;
  team_id: string;
  contact_id: string | null;
  mailbox_id: string | null;
  template_id: string | null;
  direction: Direction;
  send_type: SendType;
  sender: Address;
  recipients: Address[];
  recipient: string;
  subject: string;
  state: EmailState;
  blocked_reason: string | null;
  error: string | null;
  outcome_code: OutcomeCode | null;
  price_micros: bigint;
  created_at: Date;
  sent_at: Date | null;
}

export const EMAIL_COLUMNS = COLUMNS;

export const rowOf = (row: StoredEmail): EmailRow => ({
  ...{ emailId: row.id, teamId: row.team_id, contactId: row.contact_id, mailboxId: row.mailbox_id },
  ...{ templateId: row.template_id, direction: row.direction, sendType: row.send_type, sender: row.sender },
  ...{ recipients: row.recipients, recipient: row.recipient, subject: row.subject, state: row.state },
  ...{ blockedReason: row.blocked_reason, error: row.error, outcomeCode: row.outcome_code },
  ...{ priceMicros: row.price_micros, createdAtMs: row.created_at.getTime() },
  sentAtMs: row.sent_at?.getTime() ?? null,
});
