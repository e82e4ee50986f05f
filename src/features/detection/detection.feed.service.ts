import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger/index.ts';
import { DetectionFeedStore } from './detection.feed.store.ts';
import type { AddedEvents, FeedEvent } from './detection.feed.store.ts';
import { DETECTION_EVENTS_CHANNEL } from './journal.store.ts';

/** News that come together are read together. */
const GATHER_MS = 10;
/** Parts of sessions that are read by one statement; beyond it all that is new is read. */
const GATHERED_MAX = 2_000;
/** Events read after the connection that listens was lost. */
const CATCH_UP_MAX = 5_000;
/** How far back a catch-up looks before the last event seen: commits may be this late. */
const CATCH_UP_MARGIN_MS = 10_000;
/** Sessions whose last delivered event is remembered. */
const REMEMBERED_MAX = 10_000;
/** A session is said to be unknown only then: its row is written a moment after its first event. */
const APPEARS_WITHIN_MS = 1_500;
const APPEARS_STEP_MS = 100;

export interface EventFilter {
  readonly sessionId: string | null;
  readonly keyId: string | null;
}

/** Where a subscription takes its events. */
export interface EventSink {
  push(event: FeedEvent): void;
}

export interface DetectionFeedOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether a Detection key is one of the caller's account. */
  readonly hasKey: (caller: Caller, keyId: string) => Promise<boolean>;
}

interface Watcher extends EventFilter {
  readonly teamId: string;
  readonly sink: EventSink;
  readonly sinceMs: number;
}

/**
 * Events of detection sessions as they are committed, whichever process heard the call. It listens only while somebody
 * watches; each watcher gets each event once, in the order of its session.
 */
export class DetectionFeed {
  readonly #options: DetectionFeedOptions;
  readonly #store: DetectionFeedStore;
  readonly #watchers = new Set<Watcher>();
  readonly #delivered = new Map<string, number>();
  #interested = 0;
  #listening: Promise<() => Promise<void>> | null = null;
  #gathered: AddedEvents[] = [];
  #timer: NodeJS.Timeout | null = null;
  #reading: Promise<void> = Promise.resolve();
  #lastSeenMs = 0;

  constructor(options: DetectionFeedOptions) {
    this.#options = options;
    this.#store = new DetectionFeedStore(options.db);
  }

  /**
   * Watches the sessions of the caller's account; answers what ends it.
   * @throws Problem insufficient-scope, not-found (session, key)
   */
  async watch(caller: Caller, filter: EventFilter, sink: EventSink): Promise<() => void> {
    requireScope(caller, 'balance:read');
    const sinceMs = this.#options.clock.nowMs();
    const watcher: Watcher = { ...lowered(filter), teamId: caller.teamId, sink, sinceMs };
    const leave = this.#enter(watcher);
    try {
      await this.#listen();
      await this.#check(caller, filter);
    } catch (error) {
      leave();
      throw error;
    }
    this.#watchers.add(watcher);
    return leave;
  }

  /** Counted from the first moment: who leaves must not end the listening of one who is about to watch. */
  #enter(watcher: Watcher): () => void {
    this.#interested += 1;
    let isThere = true;
    return () => {
      if (!isThere) return;
      isThere = false;
      this.#watchers.delete(watcher);
      this.#interested -= 1;
      if (this.#interested === 0) this.#unlisten();
    };
  }

  async #check(caller: Caller, { sessionId, keyId }: EventFilter): Promise<void> {
    if (keyId !== null && !(isUuid(keyId) && (await this.#options.hasKey(caller, keyId)))) {
      throw new Problem('not-found', 'There is no such Detection key.');
    }
    if (sessionId !== null && !(await this.#appears(caller.teamId, sessionId))) {
      throw new Problem('not-found', 'There is no such session.');
    }
  }

  async #appears(teamId: string, sessionId: string): Promise<boolean> {
    if (!isUuid(sessionId)) return false;
    for (let waitedMs = 0; ; waitedMs += APPEARS_STEP_MS) {
      if (await this.#store.hasSession(teamId, sessionId)) return true;
      if (waitedMs >= APPEARS_WITHIN_MS) return false;
      await new Promise((resolve) => setTimeout(resolve, APPEARS_STEP_MS));
    }
  }

  async #listen(): Promise<void> {
    const { db, clock } = this.#options;
    if (this.#listening === null) {
      this.#lastSeenMs = clock.nowMs();
      this.#listening = db.listen(DETECTION_EVENTS_CHANNEL, (payload) => this.#heard(payload));
    }
    try {
      await this.#listening;
    } catch (error) {
      this.#listening = null;
      throw error;
    }
  }

  #unlisten(): void {
    const listening = this.#listening;
    this.#listening = null;
    this.#delivered.clear();
    listening
      ?.then((stop) => stop())
      .catch((error: unknown) =>
        this.#options.logger.warn({ err: error }, 'The feed of events could not stop listening.'),
      );
  }

  #heard(payload: string): void {
    if (payload === '') return this.#read(() => this.#catchUp());
    const [teamId = '', sessionId = '', from, to] = payload.split(' ');
    if (!this.#isWatched(teamId, sessionId)) return;
    this.#gathered.push({ sessionId, from: Number(from), to: Number(to) });
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#read(() => this.#readGathered());
    }, GATHER_MS);
  }

  #isWatched(teamId: string, sessionId: string): boolean {
    for (const watcher of this.#watchers) {
      if (watcher.teamId === teamId && (watcher.sessionId === null || watcher.sessionId === sessionId))
        return true;
    }
    return false;
  }

  /** One read at a time, so that events of a session stay in order. */
  #read(work: () => Promise<void>): void {
    this.#reading = this.#reading.then(work).catch((error: unknown) => {
      this.#options.logger.warn({ err: error }, 'Events for those who watch could not be read.');
    });
  }

  async #readGathered(): Promise<void> {
    const gathered = this.#gathered;
    this.#gathered = [];
    if (gathered.length > GATHERED_MAX) return this.#catchUp();
    const teamIds = this.#teamIds();
    if (gathered.length === 0 || teamIds.length === 0) return;
    this.#deliver(await this.#store.added(gathered, teamIds));
  }

  /** Notifications may be missing: all that is new is read again, and what was delivered is left out. */
  async #catchUp(): Promise<void> {
    const teamIds = this.#teamIds();
    if (teamIds.length === 0) return;
    const sinceMs = this.#lastSeenMs - CATCH_UP_MARGIN_MS;
    // What was said before somebody watched is nothing new to him, though it may be to this feed.
    const isNews = (watcher: Watcher, event: FeedEvent): boolean => event.createdAtMs >= watcher.sinceMs;
    this.#deliver(await this.#store.since(teamIds, sinceMs, CATCH_UP_MAX), isNews);
  }

  #deliver(
    events: readonly FeedEvent[],
    isNews: (watcher: Watcher, event: FeedEvent) => boolean = () => true,
  ): void {
    for (const event of events) {
      this.#lastSeenMs = Math.max(this.#lastSeenMs, event.createdAtMs);
      if ((this.#delivered.get(event.sessionId) ?? 0) >= event.sequence) continue;
      this.#remember(event);
      for (const watcher of this.#watchers) {
        if (isFor(watcher, event) && isNews(watcher, event)) watcher.sink.push(event);
      }
    }
  }

  #remember({ sessionId, sequence }: FeedEvent): void {
    this.#delivered.delete(sessionId);
    this.#delivered.set(sessionId, sequence);
    if (this.#delivered.size <= REMEMBERED_MAX) return;
    const [oldest] = this.#delivered.keys();
    if (oldest !== undefined) this.#delivered.delete(oldest);
  }

  #teamIds(): string[] {
    return [...new Set([...this.#watchers].map((watcher) => watcher.teamId))];
  }
}

const lowered = ({ sessionId, keyId }: EventFilter): EventFilter => ({
  sessionId: sessionId?.toLowerCase() ?? null,
  keyId: keyId?.toLowerCase() ?? null,
});

const isFor = (watcher: Watcher, event: FeedEvent): boolean =>
  watcher.teamId === event.teamId &&
  (watcher.sessionId === null || watcher.sessionId === event.sessionId) &&
  (watcher.keyId === null || watcher.keyId === event.keyId);
