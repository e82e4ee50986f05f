import type { Ids } from '../../kernel/ids.ts';
import type { Tx } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger/index.ts';
import { backoffMs, isTransientDbError } from '../../platform/outbox/index.ts';
import type { Outbox } from '../../platform/outbox/index.ts';
import type { Charge, LedgerService } from '../accounts/index.ts';
import { deliveryMessages, insertDeliveries } from '../webhooks/index.ts';
import type { NewDelivery } from '../webhooks/index.ts';
import { presentEnvelope } from './event.present.ts';
import { eventId } from './journal.store.ts';
import type { JournalStore } from './journal.store.ts';
import { heardMessage, isHeardEnd } from './play/heard.present.ts';
import type { LoggedEvent, SessionLog, SessionRecord } from './session-record.type.ts';

/** An event that is told elsewhere waits so long for company: its delivery leaves well within 150 ms of it. */
const DELIVERY_DELAY_MS = 10;

/**
 * The log alone waits longer: a statement costs the loop that hears the calls about 100 µs however few rows it
 * carries. What a killed process had not written yet is at most so old.
 */
const LOG_DELAY_MS = 250;

/** Events and sessions of one transaction: its texts take about 2 ms of the loop that also hears the calls. */
const BATCH_EVENTS_MAX = 256;
const BATCH_SESSIONS_MAX = 256;

/** What may wait while the database is away: minutes of a full process. Beyond it news are dropped and counted. */
export const BACKLOG_EVENTS_MAX = 50_000;
export const BACKLOG_SESSIONS_MAX = 50_000;

const RETRY = { minMs: 50, maxMs: 5_000 };

/** A fault that is neither the connection's nor plainly the data's is taken for the data's after so many tries. */
const UNKNOWN_FAULT_TRIES = 6;

/** One started unit of audio (supplement 10, Billing). */
const BILLING_UNIT_MS = 6_000;

/** SQLSTATE classes of a row that will never fit: data exception, integrity constraint violation. */
const DATA_FAULT = /^(22|23)[0-9A-Z]{3}$/;

export interface JournalOptions {
  readonly store: JournalStore;
  readonly outbox: Outbox;
  readonly ledger: LedgerService;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly platformName: string;
  readonly onCommitted?: () => void;
}

interface Batch {
  readonly sessions: readonly SessionRecord[];
  readonly events: readonly LoggedEvent[];
}

/**
 * What the data plane says, written in the background: sessions, events, deliveries with their messages, at a session's
 * end its price, and at that of a call that hears the news for sends, all of a batch in one transaction. The data plane never waits for it. While the database is
 * away the news wait, bounded; a row that the database refuses is given up alone, counted and logged.
 */
export class Journal implements SessionLog {
  readonly #options: JournalOptions;
  #events: LoggedEvent[] = [];
  #sessions = new Set<SessionRecord>();
  #inHand = 0;
  #timer: NodeJS.Timeout | null = null;
  /** Whether what waits holds an event that is told elsewhere; then the timer is the short one. */
  #hasDelivery = false;
  #running = false;
  #dropped = 0;
  #wake: (() => void) | null = null;
  #idleWaiters: Array<() => void> = [];

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /** Sessions and events that are not in the database yet. */
  get backlog(): number {
    return this.#waiting + this.#inHand;
  }

  /** Events and session states given up since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  touch(record: SessionRecord): void {
    if (this.#sessions.size >= BACKLOG_SESSIONS_MAX && !this.#sessions.has(record)) this.#drop(1);
    else this.#sessions.add(record);
    this.#schedule();
  }

  add(event: LoggedEvent): void {
    if (this.#events.length >= BACKLOG_EVENTS_MAX) this.#drop(1);
    else this.#events.push(event);
    if ((isSelected(event) || isHeardEnd(event)) && !this.#hasDelivery) {
      this.#hasDelivery = true;
      this.#cancelTimer();
    }
    this.touch(event.record);
  }

  /** True when all is written; false when `timeoutMs` ran out first. */
  async flush(timeoutMs: number): Promise<boolean> {
    if (this.backlog === 0) return true;
    this.#wake?.();
    this.#cancelTimer();
    if (!this.#running) void this.#run();
    let timer: NodeJS.Timeout | undefined;
    const idle = new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([idle, late]);
    clearTimeout(timer);
    return this.backlog === 0;
  }

  #drop(count: number): void {
    if (this.#dropped === 0) this.#options.logger.error({}, 'The journal is full: session news are dropped.');
    this.#dropped += count;
  }

  #schedule(): void {
    if (this.#timer || this.#running) return;
    this.#timer = setTimeout(() => void this.#run(), this.#hasDelivery ? DELIVERY_DELAY_MS : LOG_DELAY_MS);
  }

  #cancelTimer(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Writes what waits, batch by batch; what comes meanwhile waits for company again, unless someone waits for it. */
  async #run(): Promise<void> {
    this.#timer = null;
    this.#running = true;
    this.#hasDelivery = false;
    let left = this.#events.length;
    do {
      const batch = this.#take();
      left -= batch.events.length;
      this.#inHand = batch.events.length + batch.sessions.length;
      await this.#write(batch);
      this.#inHand = 0;
    } while (this.#waiting > 0 && (left > 0 || this.#idleWaiters.length > 0));
    this.#running = false;
    if (this.#waiting > 0) this.#schedule();
    else for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  get #waiting(): number {
    return this.#events.length + this.#sessions.size;
  }

  /** The oldest events with their sessions, and sessions that changed without one. */
  #take(): Batch {
    const events = this.#events.splice(0, BATCH_EVENTS_MAX);
    const sessions = new Set<SessionRecord>();
    for (const event of events) sessions.add(event.record);
    for (const record of this.#sessions) {
      if (sessions.size >= BATCH_SESSIONS_MAX) break;
      sessions.add(record);
    }
    for (const record of sessions) this.#sessions.delete(record);
    return { sessions: [...sessions], events };
  }

  /** Writes it, however long the database is away. Resolves also when rows of it had to be given up. */
  async #write(batch: Batch): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#options.outbox.tx((tx) => this.#store(tx, batch));
        this.#options.onCommitted?.();
        return;
      } catch (error) {
        if (isDataFault(error, attempt)) return this.#split(batch, error);
        if (attempt === 1) this.#options.logger.warn({ err: error }, 'The journal waits for the database.');
        await this.#pause(backoffMs(attempt, RETRY));
      }
    }
  }

  /** Halves the batch until the session whose rows are refused is alone, and gives that one up. */
  async #split(batch: Batch, error: unknown): Promise<void> {
    const [first, ...others] = batch.sessions;
    if (!first) return;
    if (others.length === 0) {
      this.#dropped += batch.events.length + 1;
      const fields = { err: error, session_id: first.sessionId, events: batch.events.length };
      return this.#options.logger.error(
        fields,
        'The database refuses the rows of a session; they are given up.',
      );
    }
    const middle = Math.ceil(batch.sessions.length / 2);
    for (const sessions of [batch.sessions.slice(0, middle), batch.sessions.slice(middle)]) {
      const chosen = new Set(sessions);
      await this.#write({ sessions, events: batch.events.filter((event) => chosen.has(event.record)) });
    }
  }

  async #store(tx: Tx, { sessions, events }: Batch): Promise<void> {
    const { store, outbox, ledger } = this.#options;
    await store.upsertSessions(tx, sessions);
    const added = await store.insertEvents(tx, events);
    const news = events.filter((event) => added.has(eventId(event)));
    const rows = news.filter(isSelected).map((event) => this.#delivery(event));
    await insertDeliveries(tx, rows);
    const heard = news.filter(isHeardEnd).map(({ record }) => heardMessage(record));
    await outbox.add(tx, [...deliveryMessages(rows), ...heard]);
    await ledger.capture(tx, sessions.filter(isCharged).map(chargeOf));
  }

  #delivery(event: LoggedEvent): NewDelivery {
    const { record } = event;
    const deliveryId = this.#options.ids.uuid();
    return {
      deliveryId,
      teamId: record.teamId,
      kind: 'detection',
      sourceId: record.sessionId,
      sequence: event.sequence,
      event: event.event,
      url: record.webhook?.url ?? '',
      headers: { ...record.webhook?.headers },
      body: presentEnvelope({
        deliveryId,
        event: event.event,
        emittedAtMs: event.atMs,
        source: record.source,
        sequence: event.sequence,
        payload: event.payload,
        platform: record.platform,
        platformName: this.#options.platformName,
      }),
      signingKeyId: record.keyId,
      keepTranscripts: record.keepTranscripts,
      createdAtMs: event.atMs,
    };
  }

  /** A pause that `flush` cuts short. */
  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = null;
  }
}

const isSelected = ({ record, event }: LoggedEvent): boolean =>
  record.webhook !== null && (record.webhook.events === null || record.webhook.events.has(event));

const isCharged = (record: SessionRecord): boolean =>
  record.state === 'ended' && record.audioMs > 0 && record.play === null;

/** Booked once for a session, whatever is written again. */
const chargeOf = (record: SessionRecord): Charge => ({
  teamId: record.teamId,
  productCode: 'detection',
  units: Math.ceil(record.audioMs / BILLING_UNIT_MS),
  causeType: 'detection_session',
  causeId: record.sessionId,
});

function isDataFault(error: unknown, attempt: number): boolean {
  if (isTransientDbError(error)) return false;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (DATA_FAULT.test(code)) return true;
  const isTimeout = error instanceof Error && /timeout/i.test(error.message);
  return !isTimeout && attempt >= UNKNOWN_FAULT_TRIES;
}
