import type { Clock } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { Tx } from '../../platform/db/index.ts';
import { Gather } from '../../platform/outbox/index.ts';
import type { Announce, Outbox } from '../../platform/outbox/index.ts';
import { captured, released } from '../accounts/index.ts';
import type { LedgerEntry, LedgerService } from '../accounts/index.ts';
import type { TimelineService } from '../contacts/index.ts';
import { attemptCause } from './attempt.rules.ts';
import { callbackMessages } from './callback.messages.ts';
import { insertSteps } from './dispatch.steps.store.ts';
import { PROOF_LIVES_MS, PROOF_TOKEN_BYTES, proofPath, proofTokenHash } from './proof.rules.ts';
import { callbackBody, newsOf, resultStep, timelineData } from './result.present.ts';
import { costs, isKeptBack, isOfAttempt, isProven, outcomeName } from './result.rules.ts';
import { ResultStore } from './result.store.ts';
import type { HeldSend } from './result.store.ts';
import type { EndedSend, Ending } from './result.type.ts';
import { TOPICS } from './send.type.ts';

/** Endings of one transaction, and transactions at the same time. */
const ENDINGS_MAX = 200;
const AT_ONCE_MAX = 4;

export interface ResultOptions {
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly ledger: Pick<LedgerService, 'book'>;
  readonly timeline: Pick<TimelineService, 'add'>;
  readonly announce: Announce;
  /** PUBLIC_URL. */
  readonly publicUrl: () => string;
}

/** A send on its way from held to ended. */
interface Closing {
  readonly held: HeldSend;
  readonly ending: Ending;
  readonly ended: EndedSend;
  readonly proofHash: Buffer | null;
}

/**
 * Ends sends: any open state → finished. A send has exactly one result: its state decides who gives it, and an index of the
 * steps holds it. Money, timeline, webhooks and the callback are of the same transaction.
 */
export class ResultService {
  readonly #options: ResultOptions;
  readonly #store = new ResultStore();
  readonly #gather: Gather<Ending, boolean>;

  constructor(options: ResultOptions) {
    this.#options = options;
    this.#gather = new Gather({
      itemsMax: ENDINGS_MAX,
      atOnceMax: AT_ONCE_MAX,
      work: async (endings) => {
        const ended = await options.outbox.tx((tx) => this.endIn(tx, endings));
        return endings.map(({ sendId }) => ended.has(sendId));
      },
    });
  }

  /** In a transaction with what else ends now. False: it had ended, or is not where it would have to be. */
  end(ending: Ending): Promise<boolean> {
    return this.#gather.run(ending);
  }

  /** Within `Outbox.tx`; call it last: it holds balances and listening subscriptions. The ids of those that ended. */
  async endIn(tx: Tx, endings: readonly Ending[]): Promise<ReadonlySet<string>> {
    if (endings.length === 0) return new Set();
    const { clock, ledger, outbox, announce } = this.#options;
    const nowMs = clock.nowMs();
    const held = await this.#store.hold(tx, endings);
    const closing = new Map<string, Closing>();
    for (const ending of endings) {
      const send = held.get(ending.sendId);
      if (!send || closing.has(ending.sendId) || !mayEnd(send, ending)) continue;
      closing.set(ending.sendId, this.#close(send, ending, nowMs));
    }
    const all = [...closing.values()];
    if (all.length === 0) return new Set();
    await this.#store.finish(tx, all.map(columnsOf), nowMs);
    await insertSteps(
      tx,
      all.flatMap(({ ending, ended }) => {
        const { teamId, sendId } = ended;
        const detail = resultStep(ended);
        return [...(ending.steps ?? []), { teamId, sendId, kind: 'result' as const, atMs: nowMs, detail }];
      }),
    );
    for (const { held: send } of all) {
      if (send.state === 'sent') await outbox.cancel(tx, TOPICS.await, send.sendId);
    }
    await this.#addTimeline(tx, all);
    await this.#addCallbacks(tx, all, nowMs);
    await ledger.book(tx, all.flatMap(moneyOf));
    await announce(
      tx,
      all.flatMap(({ ended }) => newsOf(ended)),
    );
    return new Set(closing.keys());
  }

  #close(held: HeldSend, ending: Ending, nowMs: number): Closing {
    const { ids, publicUrl } = this.#options;
    const { result, particulars, isSimulated = false } = ending;
    const code = result.outcomeCode;
    const isPaid = costs(code);
    const token = isProven(held.channel, code) ? ids.secret(PROOF_TOKEN_BYTES) : null;
    const segments = held.channel === 'sms' ? (result.segments ?? held.segments) : null;
    const ended: EndedSend = {
      ...{ teamId: held.teamId, sendId: held.sendId, channel: held.channel, version: held.version },
      ...{ foreignId: held.foreignId, callbackUrl: held.callbackUrl, campaignId: held.campaignId },
      contactId: held.contactId ?? particulars?.contactId ?? null,
      phoneNumber: held.phoneNumber ?? particulars?.phoneNumber ?? null,
      callerId: held.callerId ?? particulars?.callerId ?? null,
      phoneLineId: held.phoneLineId ?? particulars?.phoneLineId ?? null,
      brandId: held.brandId ?? particulars?.brandId ?? null,
      sessionId: ending.sessionId ?? held.sessionId,
      outcomeCode: code,
      reason: result.reason ?? outcomeName(code),
      detail: result.detail ?? null,
      segments: segments ?? (held.channel === 'sms' && isSimulated ? 1 : null),
      quantity: isPaid ? held.quantity || 1 : 0,
      productMicros: isPaid ? held.productMicros : 0n,
      complianceMicros: held.complianceMicros,
      speechMicros: isPaid ? held.speechMicros : 0n,
      dnc: isKeptBack(code) || (ending.hasOptedOut ?? false),
      attemptedAtMs: held.attemptedAtMs ?? nowMs,
      finishedAtMs: nowMs,
      proofUrl: token === null ? null : publicUrl() + proofPath(token),
    };
    return { held, ending, ended, proofHash: token === null ? null : proofTokenHash(token) };
  }

  /** Each attempted call or text has its entry (supplement 13, Sends). */
  async #addTimeline(tx: Tx, all: readonly Closing[]): Promise<void> {
    const entries = all.flatMap(({ held, ending, ended }) => {
      const { teamId, contactId, outcomeCode, channel, finishedAtMs: atMs } = ended;
      const isAttempted = held.attempt > 0 || (ending.isSimulated === true && isOfAttempt(outcomeCode));
      if (contactId === null || !isAttempted) return [];
      return [
        { teamId, contactId, type: channel === 'sms' ? 'sms' : 'call', data: timelineData(ended), atMs },
      ];
    });
    if (entries.length === 0) return;
    const existing = await this.#store.holdContacts(tx, entries);
    for (const entry of entries) {
      if (existing.has(entry.contactId)) await this.#options.timeline.add(tx, entry);
    }
  }

  async #addCallbacks(tx: Tx, all: readonly Closing[], nowMs: number): Promise<void> {
    const callbacks = all.flatMap(({ ending, ended }) => {
      const { teamId, sendId, callbackUrl: url } = ended;
      if (url === null || ending.isCallbackRefused) return [];
      return [{ teamId, sendId, url, body: callbackBody(ended) }];
    });
    if (callbacks.length === 0) return;
    await this.#store.addCallbacks(tx, callbacks, nowMs);
    await this.#options.outbox.add(tx, callbackMessages(callbacks));
  }
}

const mayEnd = (send: HeldSend, ending: Ending): boolean =>
  ending.from.includes(send.state) && (ending.attempt === null || ending.attempt === send.attempt);

const columnsOf = ({ ended, proofHash }: Closing) => ({
  ...ended,
  proof: proofHash && { tokenHash: proofHash, untilMs: ended.finishedAtMs + PROOF_LIVES_MS },
});

/** What was reserved for the attempt is captured when it is paid, else released. */
function moneyOf({ held, ended }: Closing): LedgerEntry[] {
  const reservedMicros = held.productMicros + held.speechMicros;
  if (held.attempt === 0 || reservedMicros === 0n) return [];
  const cause = attemptCause(held, held.attempt);
  const amountMicros = ended.productMicros + ended.speechMicros;
  return amountMicros > 0n
    ? [captured({ ...cause, amountMicros, reservedMicros })]
    : [released({ ...cause, amountMicros: reservedMicros })];
}
