import type { Tx } from '../../platform/db/index.ts';
import type { SendChannel } from '../delivery-rules/index.ts';
import type { SendKey } from './dispatch.type.ts';
import type { SendState } from './send.type.ts';

/** $1 ids · $2 accounts */
const HOLD_SQL = `
select s.id, s.team_id, s.channel, s.version, s.state, s.foreign_id, s.callback_url, s.contact_id, s.phone_number,
  s.caller_id, s.phone_line_id, s.brand_id, s.campaign_id, s.session_id, s.attempt, s.carrier_id, s.carrier_message_id,
  s.segments, s.quantity, s.product_cost_micros, s.compliance_fee_micros, s.tts_fee_micros, s.attempted_at
from unnest($1::uuid[], $2::uuid[]) as w (id, team_id)
join sends s on s.id = w.id and s.team_id = w.team_id
order by s.id
for update of s`;

const FINISH_SQL = `
update sends s set state = 'finished', outcome_code = w.outcome_code, reason = w.reason, detail = w.detail,
  segments = w.segments, quantity = w.quantity, product_cost_micros = w.product, tts_fee_micros = w.speech,
  contact_id = w.contact_id, phone_number = w.phone_number, caller_id = w.caller_id, phone_line_id = w.phone_line_id,
  brand_id = w.brand_id, session_id = w.session_id, receipt_token_hash = w.proof_hash, receipt_expires_at = w.proof_until,
  held_until = null, finished_at = $18
from unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::text[], $6::int[], $7::int[], $8::bigint[], $9::bigint[],
    $10::uuid[], $11::text[], $12::text[], $13::uuid[], $14::uuid[], $15::uuid[], $16::bytea[], $17::timestamptz[])
  as w (id, team_id, outcome_code, reason, detail, segments, quantity, product, speech, contact_id, phone_number, caller_id,
    phone_line_id, brand_id, session_id, proof_hash, proof_until)
where s.id = w.id and s.team_id = w.team_id`;

const CALLBACKS_SQL = `
insert into send_callbacks (send_id, team_id, url, body, created_at)
select w.*, $5::timestamptz from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) as w (send_id, team_id, url, body)`;

/** A send whose row is held until the transaction ends. */
export interface HeldSend extends SendKey {
  readonly channel: SendChannel;
  readonly version: 1 | 2;
  readonly state: SendState;
  readonly foreignId: string | null;
  readonly callbackUrl: string | null;
  readonly contactId: string | null;
  readonly phoneNumber: string | null;
  readonly callerId: string | null;
  readonly phoneLineId: string | null;
  readonly brandId: string | null;
  readonly campaignId: string | null;
  readonly sessionId: string | null;
  readonly attempt: number;
  readonly carrierId: string | null;
  readonly carrierMessageId: string | null;
  readonly segments: number | null;
  /** What is reserved for the attempt. */
  readonly quantity: number;
  readonly productMicros: bigint;
  readonly complianceMicros: bigint;
  readonly speechMicros: bigint;
  readonly attemptedAtMs: number | null;
}

/** What a send ends with. */
export interface FinishedColumns extends SendKey {
  readonly outcomeCode: number;
  readonly reason: string;
  readonly detail: string | null;
  readonly segments: number | null;
  readonly quantity: number;
  readonly productMicros: bigint;
  readonly speechMicros: bigint;
  readonly contactId: string | null;
  readonly phoneNumber: string | null;
  readonly callerId: string | null;
  readonly phoneLineId: string | null;
  readonly brandId: string | null;
  readonly sessionId: string | null;
  readonly proof: { readonly tokenHash: Buffer; readonly untilMs: number } | null;
}

export interface NewCallback extends SendKey {
  readonly url: string;
  readonly body: string;
}

/** The statements that end sends. */
export class ResultStore {
  /** Those of the contacts that still exist; they do until the transaction ends. */
  async holdContacts(
    tx: Tx,
    contacts: readonly { readonly teamId: string; readonly contactId: string }[],
  ): Promise<ReadonlySet<string>> {
    const { rows } = await tx.query<{ id: string }>(
      `select c.id from unnest($1::uuid[], $2::uuid[]) as w (id, team_id)
       join contacts c on c.id = w.id and c.team_id = w.team_id order by c.id for key share of c`,
      [contacts.map(({ contactId }) => contactId), contacts.map(({ teamId }) => teamId)],
    );
    return new Set(rows.map(({ id }) => id));
  }

  /** Held in one order, so that two batches cannot wait for each other. */
  async hold(tx: Tx, keys: readonly SendKey[]): Promise<Map<string, HeldSend>> {
    const { rows } = await tx.query<HeldRow>(HOLD_SQL, [
      keys.map((key) => key.sendId),
      keys.map((key) => key.teamId),
    ]);
    return new Map(rows.map((row) => [row.id, heldOf(row)]));
  }

  async finish(tx: Tx, sends: readonly FinishedColumns[], nowMs: number): Promise<void> {
    await tx.query(FINISH_SQL, [
      sends.map((s) => s.sendId),
      sends.map((s) => s.teamId),
      sends.map((s) => s.outcomeCode),
      sends.map((s) => s.reason),
      sends.map((s) => s.detail),
      sends.map((s) => s.segments),
      sends.map((s) => s.quantity),
      sends.map((s) => s.productMicros.toString()),
      sends.map((s) => s.speechMicros.toString()),
      sends.map((s) => s.contactId),
      sends.map((s) => s.phoneNumber),
      sends.map((s) => s.callerId),
      sends.map((s) => s.phoneLineId),
      sends.map((s) => s.brandId),
      sends.map((s) => s.sessionId),
      sends.map((s) => s.proof?.tokenHash ?? null),
      sends.map((s) => (s.proof ? new Date(s.proof.untilMs) : null)),
      new Date(nowMs),
    ]);
  }

  async addCallbacks(tx: Tx, callbacks: readonly NewCallback[], nowMs: number): Promise<void> {
    await tx.query(CALLBACKS_SQL, [
      callbacks.map((callback) => callback.sendId),
      callbacks.map((callback) => callback.teamId),
      callbacks.map((callback) => callback.url),
      callbacks.map((callback) => callback.body),
      new Date(nowMs),
    ]);
  }
}

interface HeldRow {
  id: string;
  team_id: string;
  channel: SendChannel;
  version: 1 | 2;
  state: SendState;
  foreign_id: string | null;
  callback_url: string | null;
  contact_id: string | null;
  phone_number: string | null;
  caller_id: string | null;
  phone_line_id: string | null;
  brand_id: string | null;
  campaign_id: string | null;
  session_id: string | null;
  attempt: number;
  carrier_id: string | null;
  carrier_message_id: string | null;
  segments: number | null;
  quantity: number;
  product_cost_micros: bigint;
  compliance_fee_micros: bigint;
  tts_fee_micros: bigint;
  attempted_at: Date | null;
}

const heldOf = (row: HeldRow): HeldSend => ({
  ...{ sendId: row.id, teamId: row.team_id, channel: row.channel, version: row.version, state: row.state },
  ...{ foreignId: row.foreign_id, callbackUrl: row.callback_url, contactId: row.contact_id },
  ...{ phoneNumber: row.phone_number, callerId: row.caller_id, phoneLineId: row.phone_line_id },
  ...{ brandId: row.brand_id, campaignId: row.campaign_id, sessionId: row.session_id, attempt: row.attempt },
  ...{ carrierId: row.carrier_id, carrierMessageId: row.carrier_message_id, segments: row.segments },
  ...{ quantity: row.quantity, productMicros: row.product_cost_micros, speechMicros: row.tts_fee_micros },
  ...{ complianceMicros: row.compliance_fee_micros, attemptedAtMs: row.attempted_at?.getTime() ?? null },
});
