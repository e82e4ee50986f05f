import type { Clock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../platform/logger/index.ts';
import type { EventName } from '../event.type.ts';
import type { SessionRecord } from '../session-record.type.ts';
import type { HearingRecord } from './hearing.session.ts';
import type { Message, MessageCache } from './message.cache.ts';
import { BYTES_PER_MS, MessagePlayer } from './message.player.ts';
import type { PlayTime } from './message.player.ts';
import { actionOn } from './play.rules.ts';
import type { Happening, PlayAction, Playing } from './play.rules.ts';
import type { MessageKind, PlayPlan } from './play.type.ts';

/** A message that is wanted and not loaded by then is not played. */
const LOAD_WAIT_MAX_MS = 5_000;

/** Smallest jump of the wire's time stamps that is a gap and not rounding: half a 20 ms frame. */
const GAP_MIN_MS = 10;

export interface HearingCallOptions {
  readonly plan: PlayPlan;
  /** Of its session; what is played is noted in it. */
  readonly record: HearingRecord;
  readonly streamSid: string;
  readonly messages: MessageCache;
  /** One frame to the platform. */
  readonly send: (frame: string) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * A call that hears: what its session says decides what is played on its stream (play.rules.ts). Nothing here waits; its
 * owner calls `turn` after whatever came in, and ends the session when `isOver`.
 *
 * States and transitions:
 * - listening --a verdict, a beep or the timeout asks for a message--> wanted; --asks for the end--> over
 * - wanted --loaded--> playing; --cannot be loaded, or not in LOAD_WAIT_MAX_MS--> over
 * - playing --a beep--> wanted or over, with `clear`; --the opt-out digit--> over, with `clear`
 * - playing --its mark comes back, or is overdue--> over
 */
export class HearingCall {
  /** Nothing more is played or waited for. */
  isOver = false;
  readonly #options: HearingCallOptions;
  readonly #messages: Readonly<Record<MessageKind, Fetched>>;
  #wanted: { readonly kind: MessageKind; readonly sinceMs: number } | null = null;
  #player: MessagePlayer | null = null;
  #playing: Playing = 'nothing';
  #count = 0;
  #stampBaseMs: number | null = null;

  constructor(options: HearingCallOptions) {
    this.#options = options;
    const { plan } = options;
    this.#messages = { speech: this.#fetch(plan.onSpeech), beep: this.#fetch(plan.onBeep) };
  }

  /** A message is under way: the session stays open for it, however long it has listened. */
  get isPlaying(): boolean {
    return this.#playing !== 'nothing' && !this.isOver;
  }

  /** The session said it; its record is up to date. */
  onEvent(event: EventName): void {
    if (this.isOver) return;
    const happening = happeningOf(event, this.#options.record);
    if (happening !== null) this.#act(actionOn(happening, this.#playing, this.#options.plan), happening);
  }

  /** The platform played everything before this mark. Those that a `clear` sent back are of other messages. */
  onMark(name: unknown): void {
    if (this.isOver || !this.#player?.isSent || name !== this.#player.markName) return;
    this.#options.record.play.isHeardWhole = true;
    this.isOver = true;
  }

  /** A key was pressed. Before a message it says nothing to us. */
  onDigit(digit: unknown): void {
    const { plan, record } = this.#options;
    if (!this.isPlaying || plan.optOutDigit === null || digit !== plan.optOutDigit) return;
    record.play.optOut = true;
    this.#takeBack();
    this.isOver = true;
  }

  /**
   * Audio came in, mu-law; `stampMs`: where it begins by the wire's own time. The media time is that of the session's
   * events (native/detect, timeline.rs).
   */
  onAudio(bytes: number, stampMs: number | undefined): void {
    const { play } = this.#options.record;
    if (stampMs !== undefined) {
      this.#stampBaseMs ??= stampMs - play.mediaMs;
      const gapMs = stampMs - this.#stampBaseMs - play.mediaMs;
      if (gapMs >= GAP_MIN_MS) play.mediaMs += gapMs;
    }
    play.mediaMs += bytes / BYTES_PER_MS;
  }

  /** Begins and sends what is due. */
  turn(): void {
    if (this.isOver) return;
    const { clock, record } = this.#options;
    const time = { nowMs: clock.monotonicMs(), mediaMs: record.play.mediaMs };
    if (this.#wanted !== null) this.#begin(this.#wanted, time);
    if (this.#player !== null && !this.#player.pump(time, this.#options.send)) this.isOver = true;
  }

  /** The session ended. */
  end(): void {
    this.isOver = true;
    for (const fetched of Object.values(this.#messages)) fetched.drop();
  }

  #act(action: PlayAction, happening: Happening): void {
    if (action === 'wait') return;
    this.#takeBack();
    if (action === 'end') {
      this.isOver = true;
      return;
    }
    this.#wanted = { kind: action, sinceMs: this.#options.clock.monotonicMs() };
    this.#playing = happening === 'beep' ? 'after_beep' : action;
  }

  /** What the platform has of a message and did not play yet. */
  #takeBack(): void {
    this.#player?.clear(this.#options.send);
    this.#player = null;
  }

  #begin({ kind, sinceMs }: { kind: MessageKind; sinceMs: number }, time: PlayTime): void {
    const { state } = this.#messages[kind];
    if (state === 'failed' || (state === 'loading' && time.nowMs - sinceMs > LOAD_WAIT_MAX_MS))
      this.isOver = true;
    if (typeof state === 'string') return;
    this.#wanted = null;
    this.#count += 1;
    const { record, streamSid } = this.#options;
    const { play } = record;
    play.played = kind;
    play.playedAtMs = Math.round(time.mediaMs);
    const markName = `${kind}-${this.#count}`;
    this.#player = new MessagePlayer({ audio: state.audio, streamSid, markName, begunAt: time });
  }

  #fetch(key: string | null): Fetched {
    const { messages, logger, record } = this.#options;
    return new Fetched(key === null ? null : messages.take(key), (error) =>
      logger.warn({ err: error, session_id: record.sessionId }, 'A message of a call cannot be played.'),
    );
  }
}

/** A message on its way from the storage; given back when the call has ended, whenever it comes. */
class Fetched {
  state: Message | 'loading' | 'failed' = 'failed';
  #isDropped = false;

  constructor(message: Promise<Message> | null, onFault: (error: unknown) => void) {
    if (message === null) return;
    this.state = 'loading';
    message.then(
      (loaded) => this.#take(loaded),
      (error: unknown) => {
        this.state = 'failed';
        onFault(error);
      },
    );
  }

  drop(): void {
    this.#isDropped = true;
    if (typeof this.state !== 'string') this.state.release();
    this.state = 'failed';
  }

  #take(message: Message): void {
    if (this.#isDropped) message.release();
    else this.state = message;
  }
}

/** What an event means to the plan; null: nothing. */
function happeningOf(event: EventName, record: SessionRecord): Happening | null {
  if (event === 'beep' || event === 'timeout') return event;
  if (event !== 'detection') return null;
  switch (record.verdict) {
    case 'live_person':
    case 'silence':
    case 'unknown':
      return record.verdict;
    case 'voicemail':
      // A final voicemail follows its beep; without one it is the verdict that stood at the timeout.
      return record.verdictFinal && record.beepAtMs === null ? 'no_beep' : 'voicemail';
    default:
      return null;
  }
}
