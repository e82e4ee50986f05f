import type { Db } from '../../platform/db/index.ts';
import type { OptIn, SendChannel } from '../delivery-rules/index.ts';
import type { OpenSend, SendKey } from './dispatch.type.ts';
import { FACTS_SQL, LOAD_SQL } from './facts.sql.ts';
import type { SendState } from './send.type.ts';

/** What a send's facts are asked for. Ids are UUIDs; null: it names none. */
export interface FactsWish {
  readonly teamId: string;
  readonly channel: SendChannel;
  readonly phoneNumber: string | null;
  readonly contactId: string | null;
  readonly lineId: string | null;
  readonly brandId: string | null;
  readonly agentId: string | null;
  readonly mediaIds: readonly string[];
  /** Attempts after this moment count. */
  readonly sinceMs: number;
}

/** What is stored about it. */
export interface StoredFacts {
  readonly isTestMode: boolean;
  readonly teamRegion: string;
  /** Plan and subscription allow sending. */
  readonly isPaid: boolean;
  readonly availableMicros: bigint;
  /** The contact's row by its columns; null: there is none. */
  readonly contact: Readonly<Record<string, unknown>> | null;
  readonly phoneNumber: string | null;
  readonly line: { readonly lineId: string; readonly type: string } | null;
  /** A number of the line. */
  readonly ownNumber: string | null;
  /** The brand that was asked for. */
  readonly brand: { readonly brandId: string; readonly isApiAllowed: boolean } | null;
  /** Of the brand that was asked for, else the line's. */
  readonly brandId: string | null;
  readonly hasTextingCampaign: boolean;
  /** Storage keys by id; null: its bytes never came. What does not exist is left out. */
  readonly media: ReadonlyMap<string, string | null>;
  readonly hasAgent: boolean;
  readonly isListed: boolean;
  readonly attempts: number;
  readonly optIn: OptIn;
  /** Of one unit of the channel's product. */
  readonly priceMicros: bigint;
  /** Of one unit of speech. */
  readonly speechPriceMicros: bigint;
}

/** Reads for many sends at once; answers are in the order of what was asked. */
export class FactsStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Null: there is no such send. */
  async load(keys: readonly SendKey[]): Promise<(OpenSend | null)[]> {
    const ids = [keys.map((key) => key.teamId), keys.map((key) => key.sendId)];
    const { rows } = await this.#db.prepared<LoadedRow>('sends_load', LOAD_SQL, ids);
    const byId = new Map(rows.map((row) => [row.id, sendOf(row)]));
    return keys.map((key) => byId.get(key.sendId) ?? null);
  }

  async gather(wishes: readonly FactsWish[]): Promise<StoredFacts[]> {
    const asked = JSON.stringify(wishes.map(wishOf));
    const { rows } = await this.#db.prepared<FactsRow>('sends_facts', FACTS_SQL, [asked]);
    const byOrder = new Map(rows.map((row) => [row.ord, factsOf(row)]));
    return wishes.map(({ teamId }, ord) => {
      const facts = byOrder.get(ord);
      if (!facts) throw new Error(`there is no account ${teamId}`);
      return facts;
    });
  }
}

const wishOf = (wish: FactsWish, ord: number): Record<string, unknown> => ({
  ...{ ord, team_id: wish.teamId, phone_number: wish.phoneNumber, contact_id: wish.contactId },
  ...{ line_id: wish.lineId, line_type: wish.channel === 'sms' ? 'sms' : 'voice' },
  ...{ brand_id: wish.brandId, agent_id: wish.agentId, media_ids: wish.mediaIds },
  ...{ since: new Date(wish.sinceMs), product: wish.channel },
  consent_type: wish.channel === 'sms' ? 'sms_optin' : 'tcpa_optin',
});

interface LoadedRow {
  id: string;
  team_id: string;
  channel: SendChannel;
  version: 1 | 2;
  state: SendState;
  request: unknown;
  accept_code: number | null;
  attempt: number;
  carrier_id: string | null;
  attempted_at: Date | null;
  expires_at: Date | null;
  created_at: Date;
}

const sendOf = (row: LoadedRow): OpenSend => ({
  ...{ sendId: row.id, teamId: row.team_id, channel: row.channel, version: row.version, state: row.state },
  ...{ request: row.request, acceptCode: row.accept_code, attempt: row.attempt, carrierId: row.carrier_id },
  attemptedAtMs: row.attempted_at?.getTime() ?? null,
  expiresAtMs: row.expires_at?.getTime() ?? null,
  createdAtMs: row.created_at.getTime(),
});

interface FactsRow {
  ord: number;
  test_mode: boolean;
  team_region: string;
  is_paid: boolean;
  available_micros: bigint;
  contact: Record<string, unknown> | null;
  phone_number: string | null;
  line_id: string | null;
  line_type: string;
  own_number: string | null;
  brand_id: string | null;
  api_allowed: boolean;
  texting_campaign: string | null;
  media: Record<string, string | null> | null;
  has_agent: boolean;
  send_brand_id: string | null;
  is_listed: boolean;
  attempts: bigint;
  opt_in: OptIn;
  price_micros: bigint | null;
  speech_price_micros: bigint | null;
}

const factsOf = (row: FactsRow): StoredFacts => ({
  ...{ isTestMode: row.test_mode, teamRegion: row.team_region, isPaid: row.is_paid },
  ...{ availableMicros: row.available_micros, contact: row.contact, phoneNumber: row.phone_number },
  line: row.line_id === null ? null : { lineId: row.line_id, type: row.line_type },
  ownNumber: row.own_number,
  brand: row.brand_id === null ? null : { brandId: row.brand_id, isApiAllowed: row.api_allowed },
  brandId: row.send_brand_id,
  hasTextingCampaign: row.texting_campaign === 'approved',
  media: new Map(Object.entries(row.media ?? {})),
  ...{ hasAgent: row.has_agent, isListed: row.is_listed, attempts: Number(row.attempts), optIn: row.opt_in },
  ...{ priceMicros: row.price_micros ?? 0n, speechPriceMicros: row.speech_price_micros ?? 0n },
});
