import type { Db, Tx } from '../../../platform/db/index.ts';
import type { LineType } from './lines.rules.ts';

export interface Line {
  lineId: string;
  name: string;
  type: LineType;
  isDefault: boolean;
  brandId: string | null;
  createdAtMs: number;
}

interface LineRow {
  id: string;
  name: string;
  type: LineType;
  is_default: boolean;
  brand_id: string | null;
  created_at: Date;
}

const COLUMNS = 'id, name, type, is_default, brand_id, created_at';

/** The statements on phone_lines: SQL, since each change of a default moves it from one row to another. */
export class LinesStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Oldest first; the limit of lines an account may have bounds it. */
  async list(teamId: string): Promise<Line[]> {
    const sql = `select ${COLUMNS} from phone_lines where team_id = $1 order by created_at, id`;
    return (await this.#db.query<LineRow>(sql, [teamId])).rows.map(lineOf);
  }

  /** Changes of an account's lines come one after the other, so that two cannot both make a default. */
  async lock(tx: Tx, teamId: string): Promise<void> {
    await tx.query('select 1 from teams where id = $1 for no key update', [teamId]);
  }

  async find(of: Pick<Db, 'query'>, teamId: string, lineId: string): Promise<Line | null> {
    const { rows } = await of.query<LineRow>(
      `select ${COLUMNS} from phone_lines where team_id = $1 and id = $2`,
      [teamId, lineId],
    );
    return rows[0] ? lineOf(rows[0]) : null;
  }

  async hasBrand(tx: Tx, teamId: string, brandId: string): Promise<boolean> {
    const { rowCount } = await tx.query('select 1 from brands where team_id = $1 and id = $2', [
      teamId,
      brandId,
    ]);
    return rowCount === 1;
  }

  async count(tx: Tx, teamId: string, type: LineType): Promise<{ lines: number; hasDefault: boolean }> {
    const { rows } = await tx.query<{ n: bigint; has_default: boolean | null }>(
      'select count(*) as n, bool_or(is_default and type = $2) as has_default from phone_lines where team_id = $1',
      [teamId, type],
    );
    return { lines: Number(rows[0]?.n ?? 0), hasDefault: rows[0]?.has_default ?? false };
  }

  /** Lines of an account, and the numbers that ring on them or wait for one. */
  async countSetup(teamId: string): Promise<{ lines: number; numbers: number }> {
    const { rows } = await this.#db.query<{ lines: bigint; numbers: bigint }>(
      `select (select count(*) from phone_lines where team_id = $1) as lines,
         (select count(*) from phone_numbers where team_id = $1) as numbers`,
      [teamId],
    );
    return { lines: Number(rows[0]?.lines ?? 0), numbers: Number(rows[0]?.numbers ?? 0) };
  }

  /** Takes the default from the line of `type` that has it. */
  async clearDefault(tx: Tx, of: { teamId: string; type: LineType; nowMs: number }): Promise<void> {
    await tx.query(
      `update phone_lines set is_default = false, updated_at = $3
       where team_id = $1 and type = $2 and is_default`,
      [of.teamId, of.type, new Date(of.nowMs)],
    );
  }

  /** Gives the default to the oldest line of `type`, when there is one. */
  async promoteOldest(tx: Tx, of: { teamId: string; type: LineType; nowMs: number }): Promise<void> {
    await tx.query(
      `update phone_lines set is_default = true, updated_at = $3
       where team_id = $1 and id = (
         select id from phone_lines where team_id = $1 and type = $2 order by created_at, id limit 1)`,
      [of.teamId, of.type, new Date(of.nowMs)],
    );
  }

  async insert(tx: Tx, line: Line & { teamId: string; createdBy: string }): Promise<void> {
    await tx.query(
      `insert into phone_lines (id, team_id, name, type, is_default, brand_id, created_by, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $8)`,
      [
        ...[line.lineId, line.teamId, line.name, line.type, line.isDefault, line.brandId],
        ...[line.createdBy, new Date(line.createdAtMs)],
      ],
    );
  }

  async update(tx: Tx, line: Line & { teamId: string; nowMs: number }): Promise<void> {
    await tx.query(
      `update phone_lines set name = $3, is_default = $4, brand_id = $5, updated_at = $6
       where team_id = $1 and id = $2`,
      [line.teamId, line.lineId, line.name, line.isDefault, line.brandId, new Date(line.nowMs)],
    );
  }

  async remove(tx: Tx, teamId: string, lineId: string): Promise<void> {
    await tx.query('delete from phone_lines where team_id = $1 and id = $2', [teamId, lineId]);
  }
}

const lineOf = (row: LineRow): Line => ({
  ...{ lineId: row.id, name: row.name, type: row.type, isDefault: row.is_default, brandId: row.brand_id },
  createdAtMs: row.created_at.getTime(),
});
