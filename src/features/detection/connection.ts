import type { Clock } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { Logger } from '../../platform/logger/index.ts';
import { CLOSE, WheelTimer } from '../../platform/socket/index.ts';
import type { FrameBytes, Socket, SocketHandler, TimerWheel } from '../../platform/socket/index.ts';
import type { DetectionIdentity } from '../credentials/index.ts';
import type { Admission } from './admission.service.ts';
import { paramsOf, recordOf, refusedRecord, rejection } from './attempt.ts';
import type { Attempt } from './attempt.ts';
import { presentEvent, presentFrame } from './event.present.ts';
import type { EventPayload } from './event.present.ts';
import type { EndReason, ErrorEvent, EventName, SessionParams } from './event.type.ts';
import type { Keyring } from './keyring.service.ts';
import { LiveSession } from './live-session.ts';
import type { NativeModule } from './native.ts';
import type { PlaneMetrics } from './plane.metrics.ts';
import { PendingFrames } from './pending-frames.ts';
import type { PublicAddress } from './platform.rules.ts';
import type { PlayFloor } from './play/play.type.ts';
import type { SessionLog, SessionRecord } from './session-record.type.ts';
import { judgeIdentity } from './standing.rules.ts';
import type { CheckUrlSyntax } from './welcome.rules.ts';

/** A socket without a welcome closes after this time (interface.md, Limits: Pooled socket idle). */
export const WELCOME_WINDOW_MS = 60_000;

/** How often a live session's wall deadlines are looked at; live audio moves them by itself. */
const SESSION_CHECK_MS = 250;

/** Refused welcomes of one socket that are logged and posted; the rest are only answered. */
const REFUSALS_LOGGED_MAX = 10;

/** Everything the sockets of one gateway process share. */
export interface DetectionPlane {
  readonly native: NativeModule;
  readonly keyring: Keyring;
  readonly admission: Admission;
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly wheel: TimerWheel;
  readonly metrics: PlaneMetrics;
  readonly logger: Logger;
  readonly checkUrlSyntax: CheckUrlSyntax;
  /** Rejects for an address that may not be called. */
  readonly checkUrl: (url: string) => Promise<void>;
  /** Where the platform dials this service, for its signature. */
  readonly publicAddress: PublicAddress;
  /** Null: this process plays nothing, and takes no calls that hear. */
  readonly play: PlayFloor | null;
  /** Sockets open on this plane, for the drain. */
  readonly connections: Set<Connection>;
}

type State = 'fresh' | 'waiting' | 'admitting' | 'live' | 'closed';

/**
 * One socket of the detection plane, whatever its dialect: GeneralConnection and PlatformConnection read and write the
 * frames, this class holds the life of the socket.
 *
 * States and transitions:
 * - fresh --welcome--> admitting --accepted--> live
 * - fresh --anything but a welcome or a ping--> closed 1003
 * - admitting --wrong value, no capacity, standing unknown--> waiting (`error`, recoverable)
 * - admitting --webhook.url refused, key without standing--> closed 1008
 * - waiting --welcome--> admitting; --audio or a command--> waiting (`error`, recoverable)
 * - live --stop, 300 s of audio, 600 s of wall--> waiting with keep_alive, else closed 1000
 * - live --addon fails--> closed 1013; fresh, waiting --60 s--> closed 1001; any --process ends--> closed 1001
 * - any --peer gone--> closed; a live session ends as `disconnected`
 *
 * While a welcome is judged the frames behind it wait in order (PendingFrames). When the judgement needs no waiting, it
 * is made at once, inside the call that brought the welcome.
 */
export abstract class Connection implements SocketHandler {
  protected readonly plane: DetectionPlane;
  protected state: State = 'fresh';
  protected session: LiveSession | null = null;
  readonly #timer = new WheelTimer(this);
  #socket: Socket | null = null;
  #sessionId: string;
  #windowEndsMs = 0;
  /** The account that the live session counts for. */
  #countedFor: string | null = null;
  #pending: PendingFrames | null = null;
  #refusalsLogged = 0;

  constructor(plane: DetectionPlane) {
    this.plane = plane;
    this.#sessionId = plane.ids.uuid();
  }

  /** One event for the client; a dialect that cannot carry results back writes nothing. */
  protected abstract write(frame: string): void;
  protected abstract readText(bytes: FrameBytes): void;
  protected abstract readBinary(bytes: FrameBytes): void;

  get hasSession(): boolean {
    return this.state === 'live' || this.state === 'admitting';
  }

  onOpen(socket: Socket): void {
    this.#socket = socket;
    this.plane.connections.add(this);
    this.#openWindow();
    if (this.plane.admission.draining) this.shutDown();
  }

  onText(bytes: FrameBytes): void {
    if (this.state === 'admitting') this.#hold(bytes, 'text');
    else if (this.state !== 'closed') this.readText(bytes);
  }

  onBinary(bytes: FrameBytes): void {
    if (this.state === 'admitting') this.#hold(bytes, 'binary');
    else if (this.state !== 'closed') this.readBinary(bytes);
  }

  onClose(): void {
    this.#endSession('disconnected');
    this.state = 'closed';
    this.#pending = null;
    this.#socket = null;
    this.plane.wheel.cancel(this.#timer);
    this.plane.connections.delete(this);
  }

  /** The wheel's turn. */
  onTimer(nowMs: number): void {
    if (this.session) {
      this.#guard(() => this.session?.tick(nowMs));
      if (this.session?.outcome) this.onOutcome(this.session.outcome);
      if (this.session) this.plane.wheel.schedule(this.#timer, nowMs + SESSION_CHECK_MS);
    } else if (this.state === 'admitting') this.plane.wheel.schedule(this.#timer, nowMs + SESSION_CHECK_MS);
    else if (nowMs < this.#windowEndsMs) this.plane.wheel.schedule(this.#timer, this.#windowEndsMs);
    else this.close(CLOSE.goingAway, 'no welcome within 60 s');
  }

  /** The process ends: what is live is ended as it stands, the socket gets 1001. */
  shutDown(): void {
    this.#endSession('shutdown');
    this.close(CLOSE.goingAway, 'shutdown');
  }

  protected sendText(text: string): void {
    this.#socket?.sendText(text);
  }

  protected close(code: number, reason: string): void {
    if (this.state === 'closed') return;
    this.#endSession('error');
    this.state = 'closed';
    this.#socket?.end(code, reason);
  }

  /** The hot path: no look-up, no copy, no closure, one call into the addon. */
  protected audio(bytes: FrameBytes, mediaMs: number | undefined): void {
    const { session } = this;
    if (session === null) {
      this.fault('audio_before_ready', 'Audio is taken after ready; these bytes were dropped.');
      return;
    }
    try {
      this.plane.metrics.push(session, this.plane.clock.monotonicMs(), bytes, mediaMs);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (session.outcome !== null) this.onOutcome(session.outcome);
  }

  /** The session has come to its end by itself. A dialect may have something under way that ends later. */
  protected onOutcome(reason: EndReason): void {
    this.#finish(reason);
  }

  /** The session is gone; everything was said. */
  protected onSessionEnd(): void {
    // Only a dialect that holds something for its session has something to do.
  }

  protected stop(): void {
    if (this.session) this.#finish('stop');
    else this.fault('not_started', 'There is no session to stop.');
  }

  protected answered(): void {
    if (this.session) this.#guard(() => this.session?.answered());
    else this.fault('not_started', 'There is no session that could be answered.');
  }

  /** A recoverable fault outside the judgement of a welcome. */
  protected fault(code: ErrorEvent['code'], message: string): void {
    const event: ErrorEvent = { event: 'error', code, message, recoverable: true };
    if (this.session) this.session.error(event);
    else this.#writeLoose(event, null);
  }

  writeEvent(event: EventName, payload: EventPayload): void {
    this.write(presentFrame(event, payload));
  }

  /** Judges a welcome; in a session it is `already_started`. */
  protected welcome(attempt: Attempt): void {
    if (this.session) return this.fault('already_started', 'A session runs; stop it first.');
    this.#sessionId = this.plane.ids.uuid();
    const { welcome } = attempt;
    if ('fault' in welcome && welcome.fault.kind === 'webhook')
      return this.#refuseWebhook(welcome.fault.detail);
    const identity = this.plane.keyring.peek(attempt.apiKey);
    const url = 'params' in welcome ? welcome.params.webhook?.url : undefined;
    if (identity && url === undefined) return this.#admit(attempt, identity);
    this.state = 'admitting';
    this.#pending = new PendingFrames();
    void this.#judge(attempt, url);
  }

  async #judge(attempt: Attempt, url: string | undefined): Promise<void> {
    try {
      const identity = await this.plane.keyring.get(attempt.apiKey);
      const refusal = url === undefined || !identity ? null : await this.#refusalOf(url);
      if (this.state !== 'admitting') return;
      this.state = 'waiting';
      if (refusal !== null) this.#refuseWebhook(refusal);
      else this.#admit(attempt, identity);
    } catch (error) {
      if (this.state !== 'admitting') return;
      this.plane.logger.warn({ err: error }, 'A welcome could not be judged.');
      this.#openWindow();
      const message = 'The key cannot be judged now; send the welcome again.';
      this.#refuse(attempt, { code: 'unavailable', message });
    }
    this.#replay();
  }

  async #refusalOf(url: string): Promise<string | null> {
    try {
      await this.plane.checkUrl(url);
      return null;
    } catch (error) {
      return error instanceof Error ? error.message : 'it is refused';
    }
  }

  #refuseWebhook(detail: string): void {
    this.close(CLOSE.policy, `webhook.url refused: ${detail}`.slice(0, 120));
  }

  #admit(attempt: Attempt, identity: DetectionIdentity | null): void {
    const { plane } = this;
    const standing = judgeIdentity(identity, plane.clock.nowMs());
    if (standing !== null || !identity) return this.#reject(rejection(standing ?? 'unauthorized'));
    if (!attempt.accepts(identity)) return this.#reject(rejection('unauthorized'));
    const { welcome } = attempt;
    if ('fault' in welcome) {
      const { fault } = welcome;
      const field = fault.kind === 'field' ? fault.field : 'webhook.url';
      return this.#refuse(attempt, { code: 'invalid_welcome', message: fault.detail, field }, identity);
    }
    if (plane.admission.draining) return this.close(CLOSE.goingAway, 'shutdown');
    if (!plane.admission.tryEnter(identity.teamId, identity.concurrentSessions)) {
      this.#openWindow();
      const message = 'No session is free; send the welcome again later.';
      return this.#refuse(attempt, { code: 'session_cap', message }, identity);
    }
    this.#start(attempt, welcome.params, identity);
  }

  #start(attempt: Attempt, params: SessionParams, identity: DetectionIdentity): void {
    this.#countedFor = identity.teamId;
    this.begin(params, recordOf(attempt, identity, this.#stamp()));
  }

  /** Begins the session for which a place was taken. */
  protected begin(params: SessionParams, record: SessionRecord): void {
    const { plane } = this;
    this.#sessionId = record.sessionId;
    try {
      this.session = new LiveSession(plane, this, params, record);
    } catch (error) {
      plane.admission.leave(this.#countedFor);
      return this.#fail(error);
    }
    this.state = 'live';
    plane.wheel.schedule(this.#timer, plane.clock.monotonicMs() + SESSION_CHECK_MS);
    this.session.ready();
  }

  #stamp(): { readonly sessionId: string; readonly startedAtMs: number } {
    return { sessionId: this.#sessionId, startedAtMs: this.plane.clock.nowMs() };
  }

  /** No standing: the socket is of no use. */
  #reject(event: ErrorEvent): void {
    this.#writeLoose(event, null);
    this.close(CLOSE.policy, event.code);
  }

  /** Answers a welcome that may be sent again. With a webhook it is told there too, under a row of its own. */
  #refuse(
    attempt: Attempt,
    fault: Pick<ErrorEvent, 'code' | 'message' | 'field'>,
    identity: DetectionIdentity | null = null,
  ): void {
    this.state = 'waiting';
    const { callId, webhook } = paramsOf(attempt);
    const payload = this.#writeLoose({ event: 'error', recoverable: true, ...fault }, callId);
    if (!identity || !webhook || this.#refusalsLogged >= REFUSALS_LOGGED_MAX) return;
    this.#refusalsLogged++;
    const record = refusedRecord(attempt, identity, this.#stamp());
    this.plane.log.add({ record, sequence: 1, event: 'error', payload, atMs: record.startedAtMs });
  }

  /** An error that belongs to no session. */
  #writeLoose(event: ErrorEvent, callId: string | null): EventPayload {
    const payload = presentEvent({ sessionId: this.#sessionId, callId }, 0, event);
    this.writeEvent('error', payload);
    this.plane.metrics.event('error');
    return payload;
  }

  /** Ends the session and then, without keep_alive, the socket. */
  #finish(reason: EndReason): void {
    const keepAlive = this.session?.params.keepAlive === true;
    this.#endSession(reason);
    if (this.plane.admission.draining) this.close(keepAlive ? CLOSE.goingAway : CLOSE.normal, reason);
    else if (!keepAlive) this.close(CLOSE.normal, reason);
    else {
      this.state = 'waiting';
      this.#openWindow();
    }
  }

  #endSession(reason: EndReason): void {
    const { session } = this;
    if (!session) return;
    this.session = null;
    this.plane.admission.leave(this.#countedFor);
    try {
      session.end(reason);
    } catch (error) {
      this.plane.logger.error({ err: error }, 'The end of a session failed.');
    }
    this.onSessionEnd();
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** A bug: this session ends, the others do not notice. */
  #fail(error: unknown): void {
    this.plane.logger.error({ err: error, session_id: this.#sessionId }, 'A detection session failed.');
    const message = 'The session failed.';
    this.session?.error({ event: 'error', code: 'internal', message, recoverable: false });
    this.close(CLOSE.tryAgainLater, 'internal error');
  }

  #openWindow(): void {
    this.#windowEndsMs = this.plane.clock.monotonicMs() + WELCOME_WINDOW_MS;
    this.plane.wheel.schedule(this.#timer, this.#windowEndsMs);
  }

  #hold(bytes: FrameBytes, kind: 'text' | 'binary'): void {
    if (this.#pending?.add(bytes, kind) === false) this.close(CLOSE.tryAgainLater, 'too much before ready');
  }

  /** What waited is read in order; a welcome among it may make the rest wait again. */
  #replay(): void {
    const pending = this.#pending;
    this.#pending = null;
    for (const frame of pending?.frames ?? []) {
      if (frame.kind === 'text') this.onText(frame.bytes);
      else this.onBinary(frame.bytes);
    }
  }
}
