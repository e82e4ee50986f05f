import type { Clock } from '../../kernel/clock.ts';
import { presentEvent } from './event.present.ts';
import type { EventPayload } from './event.present.ts';
import type { EndReason, ErrorEvent, EventName, SessionEvent, SessionParams } from './event.type.ts';
import type { NativeEvent, NativeModule, NativeSession } from './native.ts';
import type { PlaneMetrics } from './plane.metrics.ts';
import { LOGGED_EVENTS_MAX } from './session-record.type.ts';
import type { SessionLog, SessionRecord } from './session-record.type.ts';

/**
 * Longest session by the wall: twice the 300 s of audio that the addon takes. A wire that carries next to nothing
 * ends too (supplement 10, Always an end).
 */
export const SESSION_WALL_MAX_MS = 600_000;

/** Events kept back for the end, so that a session that reached LOGGED_EVENTS_MAX still logs how it ended. */
const END_EVENTS = 4;

/** What a session stands on. */
export interface SessionContext {
  readonly native: NativeModule;
  readonly clock: Clock;
  readonly log: SessionLog;
  readonly metrics: Pick<PlaneMetrics, 'event' | 'verdict'>;
}

/** Who shows the session's events to its client. */
export interface EventWriter {
  writeEvent(event: EventName, payload: EventPayload): void;
}

/**
 * One session, from `ready` to `close`, free of any transport.
 *
 * States: live → ended.
 * - live --audio, answered, tick--> live: what the addon says is written, logged and posted
 * - live --300 s of audio--> `outcome` max_audio; --600 s of wall--> max_duration: the owner then calls `end`
 * - live --end(reason)--> ended: a standing verdict once more as final, `close`, and `stopped` for a stop
 */
export class LiveSession {
  readonly params: SessionParams;
  readonly record: SessionRecord;
  /** Set when the session must end by itself. */
  outcome: EndReason | null = null;
  readonly #context: SessionContext;
  readonly #writer: EventWriter;
  readonly #native: NativeSession;
  readonly #startedMs: number;

  constructor(context: SessionContext, writer: EventWriter, params: SessionParams, record: SessionRecord) {
    this.params = params;
    this.record = record;
    this.#context = context;
    this.#writer = writer;
    this.#native = new context.native.Session({
      encoding: params.encoding,
      sampleRateHz: params.sampleRateHz,
      strategy: params.strategy,
      detectionTimeoutMs: params.detectionTimeoutSec * 1000,
    });
    this.#startedMs = context.clock.monotonicMs();
  }

  ready(): void {
    this.#emit({ event: 'ready', params: this.params }, 0);
    // Starts the addon's wall clock: a wire that never carries audio reaches its timeout too.
    this.#emitAll(this.#native.tick(this.#startedMs));
  }

  /** The hot path: one call into the addon, and back when nothing happened. */
  push(nowMs: number, lent: ArrayBuffer | Uint8Array, mediaMs: number | undefined): void {
    const isBuffer = lent instanceof ArrayBuffer;
    const events =
      isBuffer && mediaMs === undefined
        ? this.#native.pushBuffer(nowMs, lent)
        : this.#native.push(nowMs, isBuffer ? new Uint8Array(lent) : lent, mediaMs);
    if (events !== null) this.#emitAll(events);
  }

  answered(): void {
    this.#emitAll(this.#native.answered(this.#context.clock.monotonicMs()));
  }

  /** What the wall has reached by `nowMs`. */
  tick(nowMs: number): void {
    this.#emitAll(this.#native.tick(nowMs));
    if (nowMs - this.#startedMs >= SESSION_WALL_MAX_MS) this.outcome ??= 'max_duration';
  }

  /** A fault that belongs to this session and leaves it running, or that `end` follows. */
  error(event: ErrorEvent): void {
    this.#emit(event, this.#native.audioMs());
  }

  /** Nothing is said after this. The log takes the session as ended. */
  end(reason: EndReason): void {
    try {
      this.#emitAll(this.#native.stop(this.#context.clock.monotonicMs()));
    } finally {
      // Also when the addon failed: who waits for the end of this session hears of it.
      this.#close(reason);
    }
  }

  #close(reason: EndReason): void {
    const audioMs = this.#native.audioMs();
    const { record } = this;
    record.state = 'ended';
    record.audioMs = audioMs;
    record.endReason = reason;
    record.endedAtMs = this.#context.clock.nowMs();
    this.#emit({ event: 'close', reason, durationMs: audioMs }, audioMs);
    if (reason === 'stop') this.#emit({ event: 'stopped' }, audioMs);
    this.#context.log.touch(record);
    this.#native.close();
  }

  #emitAll(events: NativeEvent[] | null): void {
    if (events === null) return;
    for (const event of events) {
      if (event.event === 'ended') this.outcome ??= 'max_audio';
      else {
        this.#remember(event);
        this.#emit({ ...event, event: event.event }, event.timestampMs);
      }
    }
  }

  #remember(event: NativeEvent): void {
    const { record } = this;
    if (event.event === 'detection') {
      record.verdict = event.type ?? null;
      record.verdictFinal = event.isFinal ?? false;
      record.confidence = event.confidence ?? null;
      record.reason = event.reason ?? null;
      if (event.isFinal && event.type) this.#context.metrics.verdict(event.type);
    } else if (event.event === 'beep') {
      record.beepAtMs = Math.round(event.timestampMs);
      record.beepFrequencyHz = event.frequencyHz ?? null;
    }
    record.audioMs = this.#native.audioMs();
  }

  #emit(event: SessionEvent, timestampMs: number): void {
    const { record } = this;
    const name = event.event;
    const payload = presentEvent(record, timestampMs, event);
    const atMs = this.#context.clock.nowMs();
    record.lastEvent = name;
    record.lastEventAtMs = atMs;
    this.#writer.writeEvent(name, payload);
    this.#context.metrics.event(name);
    const room = record.state === 'live' ? LOGGED_EVENTS_MAX - END_EVENTS : LOGGED_EVENTS_MAX;
    if (record.sequence >= room) {
      record.unloggedEvents++;
      return;
    }
    record.sequence++;
    this.#context.log.add({ record, sequence: record.sequence, event: name, payload, atMs });
  }
}
