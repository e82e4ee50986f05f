import type { Tx } from '../../platform/db/index.ts';
import { Gather } from '../../platform/outbox/index.ts';
import type { OutboxMessage } from '../../platform/outbox/index.ts';
import { released } from '../accounts/index.ts';
import type { LedgerService } from '../accounts/index.ts';
import type { CarrierAnswer } from '../carriers/index.ts';
import type { SendChannel } from '../delivery-rules/index.ts';
import { presentAnswer } from './attempt.present.ts';
import { attemptCause, retryAtMs } from './attempt.rules.ts';
import { insertSteps } from './dispatch.steps.store.ts';
import type { NewStep } from './dispatch.steps.store.ts';
import type { SendKey } from './dispatch.type.ts';
import { AnswersStore } from './result.answers.store.ts';
import type { CarrierMessage } from './result.answers.store.ts';
import type { ResultOptions, ResultService } from './result.service.ts';
import { ResultStore } from './result.store.ts';
import type { HeldSend } from './result.store.ts';
import type { Ending } from './result.type.ts';
import { TOPICS } from './send.type.ts';

const ANSWERS_MAX = 200;
const AT_ONCE_MAX = 2;
/** How long a carrier's result is waited for: calls end, texts may wait for a phone to come back. */
const AWAIT_CALL_MS = 3_600_000;
const AWAIT_TEXT_MS = 72 * 3_600_000;
/** How long a receipt may resolve what a carrier left open before it becomes 4090. */
export const RECEIPT_GRACE_MS = 10_000;

/** What a carrier said to an attempt. */
export interface Answered extends SendKey {
  readonly channel: SendChannel;
  readonly attempt: number;
  readonly carrierId: string | null;
  readonly answer: CarrierAnswer;
}

/** `later`: the send is looked at again then. */
export type AnswerTaken = { readonly kind: 'done' } | { readonly kind: 'later'; readonly atMs: number };

const DONE: AnswerTaken = { kind: 'done' };

export interface AnswersOptions extends Pick<ResultOptions, 'outbox' | 'clock'> {
  readonly ledger: Pick<LedgerService, 'book'>;
  readonly results: ResultService;
  /** Uniform in 0..1. */
  readonly random: () => number;
}

/**
 * Records what carriers answered: sending → sent (a result comes later) | finished | queued (it certainly took nothing,
 * and is asked again). An unclear answer leaves a send in `sending`: a receipt may still end it, or its time runs out.
 */
export class AnswersService {
  readonly #options: AnswersOptions;
  readonly #store = new AnswersStore();
  readonly #sends = new ResultStore();
  readonly #gather: Gather<Answered, AnswerTaken>;

  constructor(options: AnswersOptions) {
    this.#options = options;
    this.#gather = new Gather({
      itemsMax: ANSWERS_MAX,
      atOnceMax: AT_ONCE_MAX,
      work: (answered) => options.outbox.tx((tx) => this.#takeIn(tx, answered)),
    });
  }

  take(answered: Answered): Promise<AnswerTaken> {
    return this.#gather.run(answered);
  }

  async #takeIn(tx: Tx, all: readonly Answered[]): Promise<AnswerTaken[]> {
    const nowMs = this.#options.clock.nowMs();
    const messages = all.flatMap(messageOf);
    await this.#store.lockMessages(tx, messages);
    const held = await this.#sends.hold(tx, all);
    const live = all.filter((one) => isOf(held.get(one.sendId), one));
    const open = live.filter((one) => held.get(one.sendId)?.state === 'sending');
    const steps: NewStep[] = live.map((one) => ({
      ...{ teamId: one.teamId, sendId: one.sendId, kind: 'carrier_answer', atMs: nowMs },
      detail: { attempt: one.attempt, ...presentAnswer(one.answer) },
    }));
    await insertSteps(tx, steps);
    const endings = [
      ...open.flatMap(endingOf),
      ...(await this.#setTaken(tx, { live, open: new Set(open), nowMs })),
    ];
    const refused = open.filter(({ answer }) => answer.kind === 'refused');
    if (refused.length > 0) await this.#store.uncount(tx, refused);
    const retried = await this.#retry(tx, { open, held, nowMs });
    const ended = await this.#options.results.endIn(tx, [...endings, ...retried.given]);
    const awaited = open.filter((one) => isAwaited(one) && !ended.has(one.sendId));
    await this.#options.outbox.add(
      tx,
      awaited.map((one) => awaitMessage(one, nowMs)),
    );
    return all.map((one) => {
      if (one.answer.kind === 'unknown' && open.includes(one)) {
        return { kind: 'later', atMs: nowMs + (one.carrierId === null ? 0 : RECEIPT_GRACE_MS) };
      }
      // Put off by this very call, whose connection broke before it heard so.
      const isPutOff = live.includes(one) && held.get(one.sendId)?.state === 'queued';
      if (one.answer.kind === 'retry' && isPutOff) return { kind: 'later', atMs: nowMs + one.answer.afterMs };
      const atMs = retried.atMs.get(one.sendId);
      return atMs === undefined ? DONE : { kind: 'later', atMs };
    });
  }

  /** The carrier's own ids, and what receipts said about them before. */
  async #setTaken(
    tx: Tx,
    of: { live: readonly Answered[]; open: ReadonlySet<Answered>; nowMs: number },
  ): Promise<Ending[]> {
    const taken = of.live.flatMap((one) => {
      if (one.answer.kind !== 'accepted') return [];
      const { carrierMessageId } = one.answer;
      return [{ ...one, carrierMessageId, isAwaited: of.open.has(one) && isAwaited(one) }];
    });
    if (taken.length === 0) return [];
    await this.#store.setTaken(tx, taken);
    const messages = taken.flatMap(messageOf);
    if (messages.length === 0) return [];
    const receipts = await this.#store.unpark(tx, messages);
    return taken.flatMap((one): Ending[] => {
      const receipt = receipts.find(
        ({ carrierId, carrierMessageId, result }) =>
          result !== null && carrierId === one.carrierId && carrierMessageId === one.carrierMessageId,
      );
      if (!receipt?.result || !one.isAwaited) return [];
      const { teamId, sendId, attempt } = one;
      const detail = { attempt, status: receipt.status, was_parked: true };
      const step: NewStep = { teamId, sendId, kind: 'carrier_answer', atMs: of.nowMs, detail };
      return [{ teamId, sendId, from: ['sent'], attempt, result: receipt.result, steps: [step] }];
    });
  }

  /** Puts off what may be asked again; `given`: those whose time is over. */
  async #retry(
    tx: Tx,
    of: { open: readonly Answered[]; held: ReadonlyMap<string, HeldSend>; nowMs: number },
  ): Promise<{ atMs: ReadonlyMap<string, number>; given: Ending[] }> {
    const atMs = new Map<string, number>();
    const given: Ending[] = [];
    const asked = of.open.filter(({ answer }) => answer.kind === 'retry');
    if (asked.length === 0) return { atMs, given };
    const firstMs = await this.#store.firstRequests(tx, asked);
    await this.#store.uncount(tx, asked);
    for (const one of asked) {
      if (one.answer.kind !== 'retry') continue;
      const sinceMs = firstMs.get(one.sendId) ?? of.nowMs;
      const again = retryAtMs(
        { ...one.answer, attempt: one.attempt, sinceMs },
        of.nowMs,
        this.#options.random(),
      );
      if (again !== null) atMs.set(one.sendId, again);
      else given.push(endedBy(one, { outcomeCode: 6003, detail: one.answer.detail }));
    }
    const again = asked.filter(({ sendId }) => atMs.has(sendId));
    await this.#store.requeue(tx, again);
    await this.#options.ledger.book(
      tx,
      again.flatMap(({ sendId, attempt }) => {
        const send = of.held.get(sendId);
        const amountMicros = send ? send.productMicros + send.speechMicros : 0n;
        return send && amountMicros > 0n ? [released({ ...attemptCause(send, attempt), amountMicros })] : [];
      }),
    );
    return { atMs, given };
  }
}

const isOf = (held: HeldSend | undefined, one: Answered): boolean => held?.attempt === one.attempt;

const isAwaited = ({ answer }: Answered): boolean =>
  answer.kind === 'accepted' && answer.result === undefined;

function messageOf({ teamId, carrierId, answer }: Answered): CarrierMessage[] {
  if (answer.kind !== 'accepted' || carrierId === null || answer.carrierMessageId === null) return [];
  return [{ teamId, carrierId, carrierMessageId: answer.carrierMessageId }];
}

const endedBy = ({ teamId, sendId, attempt }: Answered, result: Ending['result']): Ending => ({
  ...{ teamId, sendId, attempt, result },
  from: ['sending'],
});

function endingOf(one: Answered): Ending[] {
  const { answer } = one;
  const result = answer.kind === 'accepted' || answer.kind === 'refused' ? answer.result : undefined;
  return result ? [endedBy(one, result)] : [];
}

const awaitMessage = (one: Answered, nowMs: number): OutboxMessage => ({
  ...{ topic: TOPICS.await, key: one.sendId, lane: one.teamId },
  payload: { team_id: one.teamId, attempt: one.attempt },
  availableAtMs: nowMs + (one.channel === 'sms' ? AWAIT_TEXT_MS : AWAIT_CALL_MS),
});
