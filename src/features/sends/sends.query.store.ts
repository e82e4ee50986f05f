import type { Db } from '../../platform/db/index.ts';
import type { SendChannel } from '../delivery-rules/index.ts';
import type { SendState, StepKind } from './send.type.ts';

/** A send as the delivery log shows it. */
export interface SendListed {
  readonly sendId: string;
  readonly teamId: string;
  readonly channel: SendChannel;
  readonly version: number;
  readonly state: SendState;
  readonly foreignId: string | null;
  readonly callbackUrl: string | null;
  readonly contactId: string | null;
  readonly phoneNumber: string | null;
  readonly callerId: string | null;
  readonly phoneLineId: string | null;
  readonly brandId: string | null;
  readonly campaignId: string | null;
  readonly attempt: number;
  readonly carrierId: string | null;
  readonly carrierMessageId: string | null;
  readonly heldUntilMs: number | null;
  readonly expiresAtMs: number | null;
  readonly outcomeCode: number | null;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly segments: number | null;
  readonly quantity: number;
  readonly productCostMicros: bigint;
  readonly complianceFeeMicros: bigint;
  readonly ttsFeeMicros: bigint;
  readonly createdAtMs: number;
  readonly attemptedAtMs: number | null;
  readonly finishedAtMs: number | null;
}

export interface Step {
  readonly kind: StepKind;
  readonly atMs: number;
  readonly detail: Record<string, unknown>;
}

/** What is null does not narrow. */
export interface SendQuery {
  readonly channels: readonly SendChannel[];
  readonly messageId: string | null;
  readonly foreignId: string | null;
  readonly state: SendState | null;
  readonly outcomeCode: number | null;
  readonly phoneNumber: string | null;
  readonly contactId: string | null;
  readonly campaignId: string | null;
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

const COLUMNS = `id, team_id, channel, version, state, foreign_id, callback_url, contact_id, phone_number, caller_id,
  phone_line_id, brand_id, campaign_id, attempt, carrier_id, carrier_message_id, held_until, expires_at, outcome_code,
  reason, detail, segments, quantity, product_cost_micros, compliance_fee_micros, tts_fee_micros, created_at,
  attempted_at, finished_at`;

/** Ids are times: a range of time is a range of ids, and so of partitions. */
const MATCHES = `
  and channel = any($2::text[]) and ($3::uuid is null or id = $3) and ($4::text is null or foreign_id = $4)
  and ($5::text is null or state = $5) and ($6::integer is null or outcome_code = $6)
  and ($7::text is null or phone_number = $7) and ($8::uuid is null or contact_id = $8)
  and ($9::uuid is null or campaign_id = $9)
  and ($10::timestamptz is null or id >= id_floor($10)) and ($11::timestamptz is null or id < id_floor($11))`;

const LIST_SQL = `
select ${COLUMNS} from sends
where team_id = $1 ${MATCHES} and ($12::uuid is null or id < $12)
order by id desc limit $13`;

const COUNT_SQL = `select count(*) as n from sends where team_id = $1 ${MATCHES}`;

const STEPS_SQL = `
select send_id, kind, at, detail from send_steps
where team_id = $1 and send_id = any($2::uuid[]) order by send_id, step`;

const BY_CONTACT_SQL = `
select found.* from unnest($2::uuid[]) as wanted (contact_id)
cross join lateral (
  select ${COLUMNS} from sends s
  where s.team_id = $1 and s.contact_id = wanted.contact_id and s.channel = any($3::text[])
    and ($4::uuid is null or s.id < $4)
  order by s.id desc limit $5
) as found`;

const COUNT_BY_CONTACT_SQL = `
select contact_id, count(*) as n from sends
where team_id = $1 and contact_id = any($2::uuid[]) and channel = any($3::text[]) group by contact_id`;

/** Sends as those who made them read them. */
export class SendsQueryStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Newest first. */
  async list(
    teamId: string,
    query: SendQuery,
    page: { afterId: string | null; limit: number },
  ): Promise<SendListed[]> {
    const values = [teamId, ...valuesOf(query), page.afterId, page.limit];
    return (await this.#db.query<SendRow>(LIST_SQL, values)).rows.map(listedOf);
  }

  async count(teamId: string, query: SendQuery): Promise<number> {
    const { rows } = await this.#db.query<{ n: bigint }>(COUNT_SQL, [teamId, ...valuesOf(query)]);
    return Number(rows[0]?.n ?? 0);
  }

  /** Of each contact the newest, at most `limit`. */
  async ofContacts(
    teamId: string,
    contactIds: readonly string[],
    of: { channels: readonly SendChannel[]; afterId: string | null; limit: number },
  ): Promise<Map<string, SendListed[]>> {
    const found = new Map<string, SendListed[]>(contactIds.map((id) => [id, []]));
    const values = [teamId, contactIds, of.channels, of.afterId, of.limit];
    for (const row of (await this.#db.query<SendRow>(BY_CONTACT_SQL, values)).rows)
      found.get(row.contact_id ?? '')?.push(listedOf(row));
    return found;
  }

  async countOfContacts(
    teamId: string,
    contactIds: readonly string[],
    channels: readonly SendChannel[],
  ): Promise<Map<string, number>> {
    const values = [teamId, contactIds, channels];
    const { rows } = await this.#db.query<{ contact_id: string; n: bigint }>(COUNT_BY_CONTACT_SQL, values);
    return new Map(rows.map(({ contact_id, n }) => [contact_id, Number(n)]));
  }

  /** In the order they happened. */
  async steps(teamId: string, sendIds: readonly string[]): Promise<Map<string, Step[]>> {
    const bySend = new Map<string, Step[]>(sendIds.map((id) => [id, []]));
    const { rows } = await this.#db.query<StepRow>(STEPS_SQL, [teamId, sendIds]);
    for (const { send_id, kind, at, detail } of rows)
      bySend.get(send_id)?.push({ kind, atMs: at.getTime(), detail });
    return bySend;
  }
}

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

const valuesOf = (query: SendQuery): unknown[] => [
  ...[query.channels, query.messageId, query.foreignId, query.state, query.outcomeCode, query.phoneNumber],
  ...[query.contactId, query.campaignId, dateOf(query.fromMs), dateOf(query.toMs)],
];

interface SendRow {
  id: string;
  team_id: string;
  channel: SendChannel;
  version: number;
  state: SendState;
  foreign_id: string | null;
  callback_url: string | null;
  contact_id: string | null;
  phone_number: string | null;
  caller_id: string | null;
  phone_line_id: string | null;
  brand_id: string | null;
  campaign_id: string | null;
  attempt: number;
  carrier_id: string | null;
  carrier_message_id: string | null;
  held_until: Date | null;
  expires_at: Date | null;
  outcome_code: number | null;
  reason: string | null;
  detail: string | null;
  segments: number | null;
  quantity: number;
  product_cost_micros: bigint;
  compliance_fee_micros: bigint;
  tts_fee_micros: bigint;
  created_at: Date;
  attempted_at: Date | null;
  finished_at: Date | null;
}

interface StepRow {
  send_id: string;
  kind: StepKind;
  at: Date;
  detail: Record<string, unknown>;
}

const msOf = (at: Date | null): number | null => at?.getTime() ?? null;

const listedOf = (row: SendRow): SendListed => ({
  ...{ sendId: row.id, teamId: row.team_id, channel: row.channel, version: row.version, state: row.state },
  ...{ foreignId: row.foreign_id, callbackUrl: row.callback_url, contactId: row.contact_id },
  ...{ phoneNumber: row.phone_number, callerId: row.caller_id, phoneLineId: row.phone_line_id },
  ...{ brandId: row.brand_id, campaignId: row.campaign_id, attempt: row.attempt },
  ...{ carrierId: row.carrier_id, carrierMessageId: row.carrier_message_id },
  ...{ heldUntilMs: msOf(row.held_until), expiresAtMs: msOf(row.expires_at) },
  ...{ outcomeCode: row.outcome_code, reason: row.reason, detail: row.detail },
  ...{ segments: row.segments, quantity: row.quantity, productCostMicros: row.product_cost_micros },
  ...{ complianceFeeMicros: row.compliance_fee_micros, ttsFeeMicros: row.tts_fee_micros },
  ...{ createdAtMs: row.created_at.getTime(), attemptedAtMs: msOf(row.attempted_at) },
  finishedAtMs: msOf(row.finished_at),
});
