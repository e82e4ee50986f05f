import type { Db, Tx } from '../../../platform/db/index.ts';
import type { DomainKeys, Purpose } from './domains.rules.ts';

export interface SendingDomain extends DomainKeys {
  domainId: string;
  /** Wins over the send type of single emails; null: both. */
  purpose: Purpose | null;
  verified: boolean;
  verifiedAtMs: number | null;
  createdAtMs: number;
}

/** The statements on sending_domains. */
export class DomainsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Newest first; the limit of domains an account may have bounds it. */
  async list(teamId: string): Promise<SendingDomain[]> {
    const rows = await this.#db.prisma.sendingDomain.findMany({
      where: { teamId },
      orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
    });
    return rows.map(domainOf);
  }

  async find(teamId: string, domainId: string): Promise<SendingDomain | null> {
    const row = await this.#db.prisma.sendingDomain.findFirst({ where: { teamId, id: domainId } });
    return row ? domainOf(row) : null;
  }

  async findByName(teamId: string, domain: string): Promise<SendingDomain | null> {
    const row = await this.#db.prisma.sendingDomain.findFirst({ where: { teamId, domain } });
    return row ? domainOf(row) : null;
  }

  /** Holds the account's row, so that two creations cannot both take the last place; how many domains there are. */
  async lockAndCount(tx: Tx, teamId: string): Promise<number> {
    await tx.query('select 1 from teams where id = $1 for no key update', [teamId]);
    const { rows } = await tx.query<{ n: bigint }>(
      'select count(*) as n from sending_domains where team_id = $1',
      [teamId],
    );
    return Number(rows[0]?.n ?? 0);
  }

  /** False: the account has the domain already. */
  async insert(
    tx: Tx,
    domain: SendingDomain & { teamId: string; createdBy: string; dkimPrivateCiphertext: string },
  ): Promise<boolean> {
    const { rowCount } = await tx.query(
      `insert into sending_domains (id, team_id, domain, purpose, verification_token, dkim_selector,
         dkim_public_key, dkim_private_ciphertext, created_by, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (team_id, domain) do nothing`,
      [
        ...[domain.domainId, domain.teamId, domain.domain, domain.purpose, domain.verificationToken],
        ...[domain.dkimSelector, domain.dkimPublicKey, domain.dkimPrivateCiphertext, domain.createdBy],
        new Date(domain.createdAtMs),
      ],
    );
    return rowCount === 1;
  }

  /** What the last check found. */
  async setVerified(
    of: { teamId: string; domainId: string; nowMs: number },
    verified: boolean,
  ): Promise<void> {
    await this.#db.prisma.sendingDomain.updateMany({
      where: { id: of.domainId, teamId: of.teamId, verified: !verified },
      data: { verified, verifiedAt: verified ? new Date(of.nowMs) : null },
    });
  }

  /** The signing key as it is stored, for `dkimContext(domainId)`. */
  async findPrivateKey(teamId: string, domainId: string): Promise<string | null> {
    const row = await this.#db.prisma.sendingDomain.findFirst({
      where: { teamId, id: domainId },
      select: { dkimPrivateCiphertext: true },
    });
    return row?.dkimPrivateCiphertext ?? null;
  }
}

type StoredDomain = NonNullable<Awaited<ReturnType<Db['prisma']['sendingDomain']['findFirst']>>>;

function domainOf(row: StoredDomain): SendingDomain {
  const { domain, verified, verificationToken, dkimSelector, dkimPublicKey } = row;
  return {
    ...{ domainId: row.id, domain, verified, verificationToken, dkimSelector, dkimPublicKey },
    purpose: row.purpose as Purpose | null,
    verifiedAtMs: row.verifiedAt?.getTime() ?? null,
    createdAtMs: row.createdAt.getTime(),
  };
}
