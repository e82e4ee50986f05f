import type { Db, Tx } from '../../../platform/db/index.ts';

export interface Mailbox {
  mailboxId: string;
  title: string;
  address: string;
  domain: string;
  displayName: string;
  isPersonal: boolean;
  createdAtMs: number;
}

/** The statements on mailboxes. */
export class MailboxesStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Oldest first; the limit of mailboxes an account may have bounds it. */
  async list(teamId: string): Promise<Mailbox[]> {
    const rows = await this.#db.prisma.mailbox.findMany({
      where: { teamId },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
    return rows.map(({ id, title, address, domain, displayName, isPersonal, createdAt }) => ({
      ...{ mailboxId: id, title, address, domain, displayName, isPersonal },
      createdAtMs: createdAt.getTime(),
    }));
  }

  /** Holds the account's row, so that two creations cannot both take the last place; how many mailboxes there are. */
  async lockAndCount(tx: Tx, teamId: string): Promise<number> {
    await tx.query('select 1 from teams where id = $1 for no key update', [teamId]);
    const { rows } = await tx.query<{ n: bigint }>('select count(*) as n from mailboxes where team_id = $1', [
      teamId,
    ]);
    return Number(rows[0]?.n ?? 0);
  }

  /** False: the account has a mailbox with this address. */
  async insert(tx: Tx, mailbox: Mailbox & { teamId: string; createdBy: string }): Promise<boolean> {
    const { rowCount } = await tx.query(
      `insert into mailboxes (id, team_id, title, address, domain, display_name, is_personal, created_by, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (team_id, address) do nothing`,
      [
        ...[mailbox.mailboxId, mailbox.teamId, mailbox.title, mailbox.address, mailbox.domain],
        ...[mailbox.displayName, mailbox.isPersonal, mailbox.createdBy, new Date(mailbox.createdAtMs)],
      ],
    );
    return rowCount === 1;
  }
}
