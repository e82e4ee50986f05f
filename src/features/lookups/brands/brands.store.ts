import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Registration, TextingCampaignStatus } from './brands.rules.ts';

export interface Brand extends Registration {
  brandId: string;
  companyName: string;
  dbaName: string | null;
  createdAtMs: number;
  updatedAtMs: number;
}

export interface BrandNames {
  companyName?: string;
  dbaName?: string | null;
}

/** The statements on brands. */
export class BrandsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Newest first; the limit of brands an account may have bounds it. */
  async list(teamId: string): Promise<Brand[]> {
    const rows = await this.#db.prisma.brand.findMany({
      where: { teamId },
      orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
    });
    return rows.map(brandOf);
  }

  async find(teamId: string, brandId: string): Promise<Brand | null> {
    const row = await this.#db.prisma.brand.findFirst({ where: { teamId, id: brandId } });
    return row ? brandOf(row) : null;
  }

  /** Holds the account's row, so that two creations cannot both take the last place; how many brands there are. */
  async lockAndCount(tx: Tx, teamId: string): Promise<number> {
    await tx.query('select 1 from teams where id = $1 for no key update', [teamId]);
    const { rows } = await tx.query<{ n: bigint }>('select count(*) as n from brands where team_id = $1', [
      teamId,
    ]);
    return Number(rows[0]?.n ?? 0);
  }

  async insert(tx: Tx, brand: Brand & { teamId: string; createdBy: string }): Promise<void> {
    await tx.query(
      `insert into brands (id, team_id, company_name, dba_name, registered, api_allowed, texting_campaign_status,
         created_by, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
      [
        ...[brand.brandId, brand.teamId, brand.companyName, brand.dbaName, brand.registered],
        ...[brand.apiAllowed, brand.textingCampaignStatus, brand.createdBy, new Date(brand.createdAtMs)],
      ],
    );
  }

  /** Null: no such brand. */
  async update(
    of: { teamId: string; brandId: string; nowMs: number },
    change: BrandNames & Partial<Registration>,
  ): Promise<Brand | null> {
    const where = { id: of.brandId, teamId: of.teamId };
    const data = { ...change, updatedAt: new Date(of.nowMs) };
    const [row] = await this.#db.prisma.brand.updateManyAndReturn({ where, data });
    return row ? brandOf(row) : null;
  }
}

type StoredBrand = NonNullable<Awaited<ReturnType<Db['prisma']['brand']['findFirst']>>>;

function brandOf(row: StoredBrand): Brand {
  const { id, companyName, dbaName, registered, apiAllowed, textingCampaignStatus } = row;
  return {
    ...{ brandId: id, companyName, dbaName, registered, apiAllowed },
    textingCampaignStatus: textingCampaignStatus as TextingCampaignStatus,
    createdAtMs: row.createdAt.getTime(),
    updatedAtMs: row.updatedAt.getTime(),
  };
}
