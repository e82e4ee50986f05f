import { decide } from '../delivery-rules/index.ts';
import type { Decision, Facts } from '../delivery-rules/index.ts';
import type { CarrierAnswer, CarrierWait } from '../carriers/index.ts';
import { Gather } from '../../platform/outbox/index.ts';
import type { Finish } from '../../platform/outbox/index.ts';
import { AttemptCarrier } from './attempt.carrier.ts';
import type { ReadyAudio } from './attempt.carrier.ts';
import { TURN_IN_ALL_MS } from './attempt.rules.ts';
import { AttemptService } from './attempt.service.ts';
import type { Committed, WantedAttempt } from './attempt.service.ts';
import { DispatchLookup } from './dispatch.lookup.service.ts';
import type { LookedUp } from './dispatch.lookup.service.ts';
import type { DispatchOptions } from './dispatch.options.type.ts';
import { DispatchStore } from './dispatch.store.ts';
import { insertSteps } from './dispatch.steps.store.ts';
import type { NewStep } from './dispatch.steps.store.ts';
import { NO_PARTICULARS } from './dispatch.type.ts';
import type { OpenSend, SendKey } from './dispatch.type.ts';
import { presentDecision } from './facts.present.ts';
import { FactsStore } from './facts.store.ts';
import type { Fault, Message } from './request.type.ts';
import { AnswersService, RECEIPT_GRACE_MS } from './result.answers.service.ts';
import type { AnswerTaken } from './result.answers.service.ts';
import type { Ending } from './result.type.ts';

/** Sends of one statement or transaction, and of these at the same time. */
const BATCH_MAX = 200;
const AT_ONCE_MAX = 2;
/** Starts of a send whose audio cannot be made for the moment; after them it fails. */
const AUDIO_STARTS_MAX = 5;

const ACCEPT_DETAIL: Readonly<Record<number, string>> = {
  3027: 'The Idempotency-Key was used with another body or route.',
  3028: 'The Idempotency-Key is not 1 to 255 printable ASCII characters.',
};

/**
 * Takes sends from queued to their end.
 *
 * queued → held (outside calling hours; looked at again) | sending (committed to one attempt) | finished (refused)
 * held → the same
 * sending → sent (the carrier took it) | finished | queued (the carrier certainly took nothing)
 * sent → finished (its result came, or its time ran out)
 *
 * A send found in `sending` by a later start was left there by one that died, or that got no clear answer: the carrier may
 * have it, so it is never asked again. A receipt may still end it; after a moment it becomes 4090.
 */
export class DispatchService {
  readonly #options: DispatchOptions;
  readonly #store = new DispatchStore();
  readonly #carriers: AttemptCarrier;
  readonly #lookup: DispatchLookup;
  readonly #answers: AnswersService;
  readonly #load: Gather<SendKey, OpenSend | null>;
  readonly #attempts: Gather<WantedAttempt, Committed>;

  constructor(options: DispatchOptions) {
    this.#options = options;
    this.#carriers = new AttemptCarrier(options);
    this.#lookup = new DispatchLookup(options, this.#carriers);
    const random = options.random ?? Math.random;
    this.#answers = new AnswersService({ ...options, results: options.results.endings, random });
    const store = new FactsStore(options.db);
    const attempts = new AttemptService(options);
    const bounds = { itemsMax: BATCH_MAX, atOnceMax: AT_ONCE_MAX };
    this.#load = new Gather({ ...bounds, work: (keys) => store.load(keys) });
    this.#attempts = new Gather({ ...bounds, work: (wanted) => attempts.commit(wanted) });
  }

  /** One start of a send. `starts` counts those of its row, this one included. */
  async dispatch(key: SendKey, on: { finish: Finish; signal: AbortSignal; starts: number }): Promise<void> {
    const send = await this.#load.run(key);
    if (!send || send.state === 'sent' || send.state === 'finished') return done(on.finish);
    if (send.state === 'sending') return this.#giveUp(send, on.finish);
    const detail = send.acceptCode === null ? undefined : ACCEPT_DETAIL[send.acceptCode];
    if (send.acceptCode !== null && detail !== undefined) {
      const code = send.acceptCode === 3027 ? 3027 : 3028;
      return this.#refuse(send, { fault: { code, detail }, looked: null }, on.finish);
    }
    const looked = await this.#lookup.look(send);
    if (looked.fault) return this.#refuse(send, { fault: looked.fault, looked }, on.finish);
    if (looked.simulated !== null) return this.#simulate(send, looked, on.finish);
    const decision = decide(looked.facts);
    if (decision.kind !== 'deliver') {
      return this.#decided(send, { decision, looked, facts: looked.facts }, on.finish);
    }
    const { message } = looked.resolved;
    const audio = message && (await this.#prepare(send, { looked, message, starts: on.starts }));
    if (!message || !audio) {
      const fault: Fault = { code: 3001, detail: 'The audio could not be made.' };
      return this.#refuse(send, { fault, looked }, on.finish);
    }
    return this.#attempt(send, { looked, message, audio }, on);
  }

  async #attempt(
    send: OpenSend,
    { looked, message, audio }: { looked: LookedUp; message: Message; audio: ReadyAudio },
    on: { finish: Finish; signal: AbortSignal },
  ): Promise<void> {
    const { carrier, facts, rules, stored, resolved } = looked;
    const { teamId, sendId, channel } = send;
    const particulars = { ...resolved.particulars, phoneNumber: facts.phoneNumber };
    const { carrierId, kind } = carrier.open;
    const wanted = {
      teamId,
      sendId,
      particulars,
      carrierId,
      carrierKind: kind,
      price: resolved.price,
      facts,
    };
    const wait = (await carrier.open.turn?.()) ?? null;
    if (wait !== null) return this.#wait(send, { wait, looked }, on.finish);
    // From here on a process that stops leaves it queued, or commits to it and asks.
    if (on.signal.aborted) return;
    const committed = await this.#attempts.run(wanted);
    if (committed.kind === 'gone') return this.#gone(send, on.finish);
    if (committed.kind === 'decided') {
      return this.#decided(send, { ...committed, looked }, on.finish);
    }
    const { attempt } = committed;
    const request = { send, attempt, particulars, message, stored, rules, audio, carrier };
    const answer = await this.#ask(() => this.#carriers.ask(request, on.signal));
    const taken = await this.#answers.take({ teamId, sendId, channel, attempt, carrierId, answer });
    await this.#after({ ...send, state: 'sending', attempt, carrierId }, taken, on.finish);
  }

  /** A port that throws leaves open what the carrier has. */
  async #ask(ask: () => Promise<CarrierAnswer>): Promise<CarrierAnswer> {
    try {
      return await ask();
    } catch (error) {
      return { kind: 'unknown', detail: error instanceof Error ? error.name : 'The carrier failed.' };
    }
  }

  async #after(send: OpenSend, taken: AnswerTaken, finish: Finish): Promise<void> {
    if (taken.kind === 'done') return done(finish);
    if (taken.atMs <= this.#options.clock.nowMs()) {
      await this.#end(unknownEnding(send));
      return done(finish);
    }
    await finish(async () => ({ retryAtMs: taken.atMs }));
  }

  /** It is not its turn at the connection: nothing was asked, and nothing is written about it. */
  async #wait(
    send: OpenSend,
    { wait, looked }: { wait: CarrierWait; looked: LookedUp },
    finish: Finish,
  ): Promise<void> {
    const retryAtMs = this.#options.clock.nowMs() + wait.afterMs;
    if (retryAtMs - send.createdAtMs > TURN_IN_ALL_MS)
      return this.#refuse(send, { fault: { code: 6003, detail: wait.detail }, looked }, finish);
    await finish(async () => ({ retryAtMs, keepsTurn: true }));
  }

  /** It has ended meanwhile; or it is committed already: this start did, and its connection broke before it heard so. */
  async #gone(key: SendKey, finish: Finish): Promise<void> {
    const send = await this.#load.run(key);
    return send?.state === 'sending' ? this.#giveUp(send, finish) : done(finish);
  }

  /** Left in `sending` by another start. */
  async #giveUp(send: OpenSend, finish: Finish): Promise<void> {
    const graceMs = send.carrierId === null ? 0 : RECEIPT_GRACE_MS;
    const untilMs = (send.attemptedAtMs ?? 0) + graceMs;
    if (untilMs > this.#options.clock.nowMs()) {
      await finish(async () => ({ retryAtMs: untilMs }));
      return;
    }
    await this.#end(unknownEnding(send));
    return done(finish);
  }

  async #prepare(
    send: OpenSend,
    { looked, message, starts }: { looked: LookedUp; message: Message; starts: number },
  ): Promise<ReadyAudio | null> {
    const { teamId } = send;
    try {
      return await this.#carriers.prepare(looked.carrier, { teamId, message, stored: looked.stored });
    } catch (error) {
      // Nothing left yet: the row is started again, so often.
      if (starts < AUDIO_STARTS_MAX) throw error;
      return null;
    }
  }

  async #decided(
    send: OpenSend,
    { decision, looked, facts }: { decision: Decision; looked: LookedUp; facts: Facts },
    finish: Finish,
  ): Promise<void> {
    if (decision.kind === 'deliver') throw new Error('what may be delivered is attempted');
    const step = this.#step(send, 'decided', presentDecision(decision, facts));
    if (decision.kind === 'hold') return this.#hold(send, { decision, looked, step }, finish);
    const { code, reason, detail } = decision;
    await this.#end({
      ...this.#ending(send, looked),
      result: { outcomeCode: code, ...(reason ? { reason } : {}), ...(detail ? { detail } : {}) },
      steps: [step],
    });
    return done(finish);
  }

  async #hold(
    send: OpenSend,
    of: { decision: Extract<Decision, { kind: 'hold' }>; looked: LookedUp; step: NewStep },
    finish: Finish,
  ): Promise<void> {
    const { decision, looked, step } = of;
    const held = this.#step(send, 'held', { until: decision.untilMs, why: decision.why });
    await finish(async (tx) => {
      const { untilMs } = decision;
      const hold = { ...looked.resolved.particulars, untilMs, expiresAtMs: looked.facts.expiresAtMs };
      if (!(await this.#store.hold(tx, send, hold))) return;
      await insertSteps(tx, [step, held]);
      return { retryAtMs: untilMs };
    });
  }

  async #refuse(
    send: OpenSend,
    { fault, looked }: { fault: Fault; looked: LookedUp | null },
    finish: Finish,
  ): Promise<void> {
    const { code, reason, detail } = fault;
    const told = { reason_code: code, ...(reason ? { reason } : {}), detail };
    await this.#end({
      ...this.#ending(send, looked),
      result: { outcomeCode: code, ...(reason ? { reason } : {}), detail },
      steps: [this.#step(send, 'decided', { decision: 'refuse', ...told })],
    });
    return done(finish);
  }

  async #simulate(send: OpenSend, looked: LookedUp, finish: Finish): Promise<void> {
    const { simulated, facts, resolved } = looked;
    if (simulated === null) throw new Error('the number is not simulated');
    const decided = { ...presentDecision({ kind: 'deliver' }, facts), simulated: true };
    await this.#end({
      ...this.#ending(send, looked),
      result: { outcomeCode: simulated, segments: resolved.price.quantity },
      steps: [this.#step(send, 'decided', decided)],
      isSimulated: true,
    });
    return done(finish);
  }

  #ending(send: OpenSend, looked: LookedUp | null): Omit<Ending, 'result'> {
    const { teamId, sendId } = send;
    return {
      ...{ teamId, sendId, from: ['queued', 'held'], attempt: null },
      particulars: looked?.resolved.particulars ?? NO_PARTICULARS,
      isCallbackRefused: looked?.isCallbackRefused ?? false,
    };
  }

  #step({ teamId, sendId }: SendKey, kind: NewStep['kind'], detail: NewStep['detail']): NewStep {
    return { teamId, sendId, kind, atMs: this.#options.clock.nowMs(), detail };
  }

  async #end(ending: Ending): Promise<void> {
    await this.#options.results.endings.end(ending);
  }
}

const done = async (finish: Finish): Promise<void> => void (await finish());

const unknownEnding = ({ teamId, sendId, attempt }: OpenSend): Ending => ({
  ...{ teamId, sendId, attempt, from: ['sending'] },
  result: { outcomeCode: 4090 },
});
