import type { Db, Tx } from '../../platform/db/index.ts';
import type { DialingRules, NoVerdictAction } from './facts.type.ts';

/** The rules an account set, and when it did. */
export interface StoredRules extends DialingRules {
  readonly updatedAtMs: number;
}

const COLUMNS = `hours_enabled, hours_start_minute, hours_end_minute, phone_attempts_max, phone_window_hours, bulk_emails_max,
  bulk_window_hours, transactional_emails_max, transactional_window_hours, test_numbers, test_emails, texts_need_consent,
  calls_need_consent, no_verdict_action, opt_out_digit, updated_at`;

const FIND_SQL = `select team_id, ${COLUMNS} from dialing_rules where team_id = any($1::uuid[])`;

const SET_SQL = `
insert into dialing_rules (team_id, updated_by, ${COLUMNS})
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
on conflict (team_id) do update set updated_by = excluded.updated_by, ${COLUMNS.split(/,\s*/)
  .map((column) => `${column} = excluded.${column}`)
  .join(', ')}`;

/** The statements on dialing_rules: an account that changed none has no row. */
export class DialingRulesStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** By account; those without a row are not in it. Every dispatch reads them: one look-up by key. */
  async find(teamIds: readonly string[]): Promise<Map<string, StoredRules>> {
    const { rows } = await this.#db.prepared<RulesRow>('dialing-rules-find', FIND_SQL, [teamIds]);
    return new Map(rows.map((row) => [row.team_id, rulesOf(row)]));
  }

  /** As `find` for one account, in a transaction in which nobody else changes its rules. */
  async lock(tx: Tx, teamId: string): Promise<StoredRules | null> {
    await tx.query('select 1 from teams where id = $1 for no key update', [teamId]);
    const { rows } = await tx.query<RulesRow>(FIND_SQL, [[teamId]]);
    return rows[0] ? rulesOf(rows[0]) : null;
  }

  async set(tx: Tx, of: { teamId: string; userId: string }, rules: StoredRules): Promise<void> {
    await tx.query(SET_SQL, [
      ...[of.teamId, of.userId, rules.hoursEnabled, rules.hoursStartMinute, rules.hoursEndMinute],
      ...[rules.phoneAttemptsMax, rules.phoneWindowHours, rules.bulkEmailsMax, rules.bulkWindowHours],
      ...[rules.transactionalEmailsMax, rules.transactionalWindowHours, rules.testNumbers, rules.testEmails],
      ...[rules.textsNeedConsent, rules.callsNeedConsent, rules.noVerdictAction, rules.optOutDigit],
      new Date(rules.updatedAtMs),
    ]);
  }
}

interface RulesRow {
  team_id: string;
  hours_enabled: boolean;
  hours_start_minute: number;
  hours_end_minute: number;
  phone_attempts_max: number;
  phone_window_hours: number;
  bulk_emails_max: number;
  bulk_window_hours: number;
  transactional_emails_max: number;
  transactional_window_hours: number;
  test_numbers: string[];
  test_emails: string[];
  texts_need_consent: boolean;
  calls_need_consent: boolean;
  no_verdict_action: NoVerdictAction;
  opt_out_digit: string | null;
  updated_at: Date;
}

const rulesOf = (row: RulesRow): StoredRules => ({
  ...{ hoursEnabled: row.hours_enabled, hoursStartMinute: row.hours_start_minute },
  ...{ hoursEndMinute: row.hours_end_minute, phoneAttemptsMax: row.phone_attempts_max },
  ...{ phoneWindowHours: row.phone_window_hours, bulkEmailsMax: row.bulk_emails_max },
  ...{ bulkWindowHours: row.bulk_window_hours, transactionalEmailsMax: row.transactional_emails_max },
  ...{ transactionalWindowHours: row.transactional_window_hours, testNumbers: row.test_numbers },
  ...{ testEmails: row.test_emails, textsNeedConsent: row.texts_need_consent },
  ...{ callsNeedConsent: row.calls_need_consent, noVerdictAction: row.no_verdict_action },
  ...{ optOutDigit: row.opt_out_digit, updatedAtMs: row.updated_at.getTime() },
});
