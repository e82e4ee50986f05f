import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import { isUuid } from '../../kernel/ids.ts';
import { pageOf, timeKeyOf } from '../../kernel/keyset.ts';
import type { Keyset, KeysetPage } from '../../kernel/keyset.ts';
import { Problem } from '../../kernel/problem.ts';
import { invalidField } from '../../kernel/text.ts';
import type { Db } from '../../platform/db/index.ts';
import { SessionsQueryStore } from './sessions.query.store.ts';
import type { SessionLatency, SessionListed, SessionQuery, StatsRow } from './sessions.query.store.ts';
import type { SessionEventView } from './sessions.store.ts';

/** Events shown of one session at most; a call says far fewer. */
export const EVENTS_SHOWN_MAX = 1_000;
const DAY_MS = 86_400_000;
/** Sessions are kept 7 days (supplement 10, Live view); the day under way comes on top. */
export const STATS_RANGE_MAX_MS = 8 * DAY_MS;

/** Figures over a time range: of all sessions, and of each key and each hour (UTC) that has some. */
export interface DetectionStats {
  readonly all: StatsRow;
  readonly byKey: readonly StatsRow[];
  readonly byHour: readonly StatsRow[];
}

/** Detection sessions as consoles read them (supplement 10, Live view). */
export class SessionsQueryService {
  readonly #store: SessionsQueryStore;

  constructor(options: { db: Db }) {
    this.#store = new SessionsQueryStore(options.db);
  }

  /** Newest first. @throws Problem insufficient-scope, validation-error */
  async list(caller: Caller, query: SessionQuery, keyset: Keyset): Promise<KeysetPage<SessionListed>> {
    requireScope(caller, 'balance:read');
    checkQuery(query);
    const page = { ...timeKeyOf(keyset.after), limit: keyset.first + 1 };
    return pageOf(await this.#store.list(caller.teamId, query, page), keyset.first);
  }

  async count(caller: Caller, query: SessionQuery): Promise<number> {
    requireScope(caller, 'balance:read');
    checkQuery(query);
    return this.#store.count(caller.teamId, query);
  }

  /** @throws Problem insufficient-scope, not-found */
  async get(caller: Caller, sessionId: string): Promise<SessionListed> {
    requireScope(caller, 'balance:read');
    const found = isUuid(sessionId) ? (await this.#store.find(caller.teamId, [sessionId]))[0] : undefined;
    if (!found) throw new Problem('not-found', 'There is no such session.');
    return found;
  }

  /** The first events of each session, in order. @throws Problem insufficient-scope */
  async eventsOf(
    caller: Caller,
    sessionIds: readonly string[],
    first: number,
  ): Promise<Map<string, SessionEventView[]>> {
    requireScope(caller, 'balance:read');
    const bySession = new Map<string, SessionEventView[]>(sessionIds.map((id) => [id, []]));
    const limit = Math.min(first, EVENTS_SHOWN_MAX);
    for (const event of await this.#store.events(caller.teamId, sessionIds, limit)) {
      bySession.get(event.sessionId)?.push(event);
    }
    return bySession;
  }

  /** Of those sessions that have a verdict. @throws Problem insufficient-scope */
  async latenciesOf(caller: Caller, sessionIds: readonly string[]): Promise<Map<string, SessionLatency>> {
    requireScope(caller, 'balance:read');
    return this.#store.latencies(caller.teamId, sessionIds);
  }

  /** @throws Problem insufficient-scope, validation-error */
  async stats(
    caller: Caller,
    of: { fromMs: number; toMs: number; keyId: string | null },
  ): Promise<DetectionStats> {
    requireScope(caller, 'balance:read');
    if (of.keyId !== null && !isUuid(of.keyId)) throw invalidField('key_id', 'keyId must be a UUID.');
    if (of.toMs <= of.fromMs) throw invalidField('to', 'to must lie after from.');
    if (of.toMs - of.fromMs > STATS_RANGE_MAX_MS)
      throw invalidField('to', 'The range is longer than 8 days.');
    const rows = await this.#store.stats(caller.teamId, of);
    const all = rows.find((row) => row.keyId === null && row.hourMs === null);
    if (!all) throw new Error('figures without their sum');
    return {
      all,
      byKey: rows.filter((row) => row.keyId !== null),
      byHour: rows.filter((row) => row.hourMs !== null),
    };
  }
}

function checkQuery({ keyId }: SessionQuery): void {
  if (keyId !== null && !isUuid(keyId)) throw invalidField('key_id', 'keyId must be a UUID.');
}
