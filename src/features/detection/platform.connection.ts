import { CLOSE, FRAME_BYTES_MAX } from '../../platform/socket/index.ts';
import type { FrameBytes } from '../../platform/socket/index.ts';
import type { DetectionIdentity } from '../credentials/index.ts';
import { Connection } from './connection.ts';
import type { DetectionPlane } from './connection.ts';
import type { EndReason, EventName } from './event.type.ts';
import { parseFrame } from './frame.parser.ts';
import { isPlatformSignature, readPlatformStart } from './platform.rules.ts';
import type { PlatformStart } from './platform.rules.ts';
import { HearingCall } from './play/hearing-call.ts';
import { hearingParams, hearingRecord, unheardEnd } from './play/hearing.session.ts';

/** What the upgrade of a platform stream brought. */
export interface PlatformUpgrade {
  readonly signature: string;
  readonly path: string;
  /** The Host header of the upgrade. */
  readonly host: string;
}

/** Decoded audio of one frame, shared by all: the addon borrows it for the call only. */
const AUDIO = Buffer.alloc(FRAME_BYTES_MAX);

type Fields = Readonly<Record<string, unknown>>;

/**
 * The platform route (supplement 7): the platform's JSON frames are only read, results go to the webhook. `start` is
 * the welcome and `media` the audio; `dtmf`, `mark` and other tracks than inbound are dropped. A stream with a signed
 * play plan is a call that hears: its plan stands for a key, messages are played on it, and `dtmf` and `mark` count.
 */
export class PlatformConnection extends Connection {
  readonly #upgrade: PlatformUpgrade;
  #call: HearingCall | null = null;

  constructor(plane: DetectionPlane, upgrade: PlatformUpgrade) {
    super(plane);
    this.#upgrade = upgrade;
  }

  protected override write(): void {
    // The platform's stream carries no events.
  }

  override writeEvent(event: EventName): void {
    this.#call?.onEvent(event);
  }

  override onTimer(nowMs: number): void {
    super.onTimer(nowMs);
    this.#turn();
  }

  /** A message that is under way is played to its end, however long the session has listened. */
  protected override onOutcome(reason: EndReason): void {
    if (this.#call?.isPlaying !== true) super.onOutcome(reason);
  }

  protected override onSessionEnd(): void {
    this.#call?.end();
    this.#call = null;
  }

  protected override readBinary(): void {
    if (this.state === 'fresh') this.close(CLOSE.unsupported, 'frames must be JSON text');
    else this.fault('unknown_command', 'A binary frame; the platform sends JSON text.');
  }

  protected override readText(bytes: FrameBytes): void {
    const frame = parseFrame(bytes);
    switch (frame?.['event']) {
      case 'media':
        return this.#media(frame['media']);
      case 'connected':
        return;
      case 'dtmf':
        return this.#dtmf(frame['dtmf']);
      case 'mark':
        return this.#mark(frame['mark']);
      case 'start':
        return this.#start(frame);
      case 'stop':
        return this.stop();
    }
    if (this.state === 'fresh') this.close(CLOSE.unsupported, 'the first frames must be connected and start');
    else this.fault('unknown_command', 'Known are connected, start, media, dtmf, mark and stop.');
  }

  #media(media: unknown): void {
    if (this.state === 'fresh') return this.close(CLOSE.unsupported, 'media before start');
    const { track, payload, timestamp } = (media ?? {}) as Fields;
    if (track !== undefined && track !== 'inbound') return;
    if (typeof payload !== 'string')
      return this.fault('unknown_command', 'A media frame without a payload in base64.');
    // Text of a frame is shorter than FRAME_BYTES_MAX, and base64 is longer than what it says.
    const length = AUDIO.write(payload, 0, 'base64');
    const mediaMs = mediaMsOf(timestamp);
    this.#call?.onAudio(length, mediaMs);
    this.audio(AUDIO.subarray(0, length), mediaMs);
    if (this.#call !== null) this.#turn();
  }

  #dtmf(dtmf: unknown): void {
    this.#call?.onDigit(((dtmf ?? {}) as Fields)['digit']);
    this.#turn();
  }

  #mark(mark: unknown): void {
    this.#call?.onMark(((mark ?? {}) as Fields)['name']);
    this.#turn();
  }

  /** Plays what is due; ends the session when the call has come to its end. */
  #turn(): void {
    this.#call?.turn();
    if (this.#call?.isOver === true) this.stop();
  }

  #start(frame: Fields): void {
    const start = readPlatformStart(frame, this.plane.checkUrlSyntax);
    if (start.playPlan !== null) return this.#hear(start, start.playPlan);
    const { ids, apiKey, welcome } = start;
    this.welcome({
      welcome,
      apiKey: apiKey ?? '',
      source: 'platform',
      platform: ids,
      accepts: (identity) => this.#isSigned(identity),
    });
  }

  /** A call that hears: the plan's signature is its standing, and whose call it is. */
  #hear({ ids }: PlatformStart, token: string): void {
    const { play, clock } = this.plane;
    if (this.session !== null) return this.fault('already_started', 'A session runs; stop it first.');
    const plan = play?.verifyPlan(token) ?? null;
    if (play === null || plan === null || plan.expiresAtMs <= clock.nowMs())
      return this.close(CLOSE.policy, 'play_plan refused');
    const stamp = { sessionId: this.plane.ids.uuid(), startedAtMs: clock.nowMs() };
    if (!this.plane.admission.tryEnterUncounted()) {
      this.plane.log.add(unheardEnd(plan, ids, stamp));
      return this.close(CLOSE.tryAgainLater, 'no session is free');
    }
    const record = hearingRecord(plan, ids, stamp);
    this.#call = new HearingCall({
      ...{ plan, record, clock, logger: this.plane.logger },
      streamSid: ids.streamSid,
      messages: play.messages,
      send: (text) => this.sendText(text),
    });
    this.begin(hearingParams(ids), record);
    // It could not begin.
    if (this.session === null) this.onSessionEnd();
  }

  /** Verified for accounts that stored their token; the others proved at the upgrade that a signature is there. */
  #isSigned(identity: DetectionIdentity): boolean {
    const { signature, path, host } = this.#upgrade;
    if (identity.platformToken === null) return true;
    const addresses = [this.plane.publicAddress, { authority: host, pathPrefix: '' }];
    return isPlatformSignature({ signature, token: identity.platformToken, addresses, path });
  }
}

/** The stream's own time of a chunk; undefined when it is no number. */
function mediaMsOf(timestamp: unknown): number | undefined {
  const value = typeof timestamp === 'string' && timestamp !== '' ? Number(timestamp) : timestamp;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
