import type { Db } from '../../platform/db/index.ts';
import type { Address } from './addresses.rules.ts';
import type { SendType } from './email.rules.ts';

/** Whom an email comes from, by a mailbox or an address; the domain is null where the account does not have it. */
export interface Sender {
  readonly mailboxId: string | null;
  readonly address: Address;
  readonly domain: SenderDomain | null;
}

export interface SenderDomain {
  readonly domainId: string;
  readonly domain: string;
  readonly purpose: SendType | null;
  readonly isVerified: boolean;
  readonly dkimSelector: string;
  readonly dkimPrivateCiphertext: string;
}

export interface EmailTemplate {
  readonly templateId: string;
  readonly type: 'email' | 'rcs';
  readonly subject: string | null;
  readonly html: string | null;
}

interface DomainColumns {
  domain_id: string | null;
  domain: string;
  purpose: SendType | null;
  verified: boolean;
  dkim_selector: string;
  dkim_private_ciphertext: string;
}

const DOMAIN = `d.id as domain_id, d.domain, d.purpose, d.verified, d.dkim_selector, d.dkim_private_ciphertext`;

/**
 * Reads, and never writes, what one email is made from: each in one statement, whatever scopes the sender holds beside
 * `email:send`.
 */
export class SourcesStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async findMailbox(teamId: string, mailboxId: string): Promise<Sender | null> {
    const { rows } = await this.#db.query<DomainColumns & { address: string; display_name: string }>(
      `select m.address, m.display_name, ${DOMAIN} from mailboxes m
       left join sending_domains d on d.team_id = m.team_id and d.domain = m.domain
       where m.team_id = $1 and m.id = $2`,
      [teamId, mailboxId],
    );
    const row = rows[0];
    if (!row) return null;
    const { address, display_name: name } = row;
    return { mailboxId, address: { address, name }, domain: domainOf(row) };
  }

  async findDomain(teamId: string, domain: string): Promise<SenderDomain | null> {
    const { rows } = await this.#db.query<DomainColumns>(
      `select ${DOMAIN} from sending_domains d where d.team_id = $1 and d.domain = $2`,
      [teamId, domain],
    );
    return rows[0] ? domainOf(rows[0]) : null;
  }

  async findTemplate(teamId: string, templateId: string): Promise<EmailTemplate | null> {
    const { rows } = await this.#db.query<Omit<EmailTemplate, 'templateId'>>(
      'select type, subject, html from templates where team_id = $1 and id = $2 and deleted_at is null',
      [teamId, templateId],
    );
    return rows[0] ? { templateId, ...rows[0] } : null;
  }

  /** The account's mailbox with one of the addresses, for mail that comes in. */
  async findMailboxOf(teamId: string, addresses: readonly string[]): Promise<string | null> {
    const { rows } = await this.#db.query<{ id: string }>(
      'select id from mailboxes where team_id = $1 and address = any($2::text[]) order by id limit 1',
      [teamId, addresses],
    );
    return rows[0]?.id ?? null;
  }
}

const domainOf = (row: DomainColumns): SenderDomain | null =>
  row.domain_id === null
    ? null
    : {
        ...{ domainId: row.domain_id, domain: row.domain, purpose: row.purpose, isVerified: row.verified },
        ...{ dkimSelector: row.dkim_selector, dkimPrivateCiphertext: row.dkim_private_ciphertext },
      };
