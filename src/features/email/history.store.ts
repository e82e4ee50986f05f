import type { Db } from '../../platform/db/index.ts';
import type { TimeKey } from '../../kernel/keyset.ts';
import type { Direction, EmailState, SendType } from './email.rules.ts';
import { EMAIL_COLUMNS, rowOf } from './emails.store.ts';
import type { EmailRow, StoredEmail } from './emails.store.ts';

/** Nulls: any. */
export interface EmailFilter {
  readonly contactId: string | null;
  readonly direction: Direction | null;
  readonly state: EmailState | null;
  readonly sendType: SendType | null;
}

const WHERE = `team_id = $1 and ($2::uuid is null or contact_id = $2) and ($3::text is null or direction = $3)
  and ($4::text is null or state = $4) and ($5::text is null or send_type = $5)`;
const AT_US = `(extract(epoch from created_at) * 1000000)::bigint`;

const valuesOf = (teamId: string, filter: EmailFilter): unknown[] => [
  ...[teamId, filter.contactId, filter.direction, filter.state, filter.sendType],
];

/** Pages of the history, newest first. */
export class EmailHistoryStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async list(teamId: string, filter: EmailFilter, page: { take: number; skip: number }): Promise<EmailRow[]> {
    const { rows } = await this.#db.query<StoredEmail>(
      `select ${EMAIL_COLUMNS} from emails where ${WHERE} order by created_at desc, id desc limit $6 offset $7`,
      [...valuesOf(teamId, filter), page.take, page.skip],
    );
    return rows.map(rowOf);
  }

  async count(teamId: string, filter: EmailFilter): Promise<number> {
    const { rows } = await this.#db.query<{ n: bigint }>(
      `select count(*) as n from emails where ${WHERE}`,
      valuesOf(teamId, filter),
    );
    return Number(rows[0]?.n ?? 0);
  }

  /** From after a row on. */
  async page(
    teamId: string,
    filter: EmailFilter,
    page: { after: { atUs: string | null; id: string | null }; limit: number },
  ): Promise<(EmailRow & { at: TimeKey })[]> {
    const { rows } = await this.#db.query<StoredEmail & { at_us: bigint }>(
      `select ${EMAIL_COLUMNS}, ${AT_US} as at_us from emails
       where ${WHERE} and ($6::bigint is null or
         (created_at, id) < (timestamptz 'epoch' + $6::bigint * interval '1 microsecond', $7::uuid))
       order by created_at desc, id desc limit $8`,
      [...valuesOf(teamId, filter), page.after.atUs, page.after.id, page.limit],
    );
    return rows.map((row) => ({ ...rowOf(row), at: { atUs: String(row.at_us), id: row.id } }));
  }
}
