import { isUuid } from '../../kernel/ids.ts';
import type { Tx } from '../../platform/db/index.ts';
import type { CallHeard, CarrierReceipt } from '../carriers/index.ts';
import { lockNumbers } from '../delivery-rules/index.ts';
import type { DncService } from '../dnc/index.ts';
import { insertSteps } from './dispatch.steps.store.ts';
import type { NewStep } from './dispatch.steps.store.ts';
import type { SendKey } from './dispatch.type.ts';
import { AnswersStore } from './result.answers.store.ts';
import { heardResult } from './result.rules.ts';
import { ResultService } from './result.service.ts';
import type { ResultOptions } from './result.service.ts';
import { ResultStore } from './result.store.ts';
import type { HeldSend } from './result.store.ts';
import type { Ending } from './result.type.ts';

export interface SendResultsOptions extends ResultOptions {
  readonly dnc: Pick<DncService, 'selfAdd'>;
}

/**
 * What is told about sends after they left: by carriers' receipts, by calls that listened, by the end of waiting. Each may
 * come twice, out of order, or before the carrier's own answer; the first that ends a send wins.
 */
export class SendResults {
  /** Ends sends. */
  readonly endings: ResultService;
  readonly #options: SendResultsOptions;
  readonly #store = new AnswersStore();
  readonly #sends = new ResultStore();

  constructor(options: SendResultsOptions) {
    this.#options = options;
    this.endings = new ResultService(options);
  }

  /** Idempotent. A receipt about a message that nobody named yet is parked until the answer names it. */
  async receive(receipt: CarrierReceipt): Promise<void> {
    const { outbox, clock, ids } = this.#options;
    await outbox.tx(async (tx) => {
      const nowMs = clock.nowMs();
      await this.#store.lockMessages(tx, [receipt]);
      const key = keyOf(receipt) ?? (await this.#store.findByMessage(tx, receipt));
      const send = key ? (await this.#sends.hold(tx, [key])).get(key.sendId) : undefined;
      if (send && isAbout(send, receipt)) return this.#apply(tx, send, { receipt, nowMs });
      // Progress ends nothing, and a token that names another attempt is about nothing that is open.
      if (receipt.result === null || key !== null) return;
      await this.#store.park(tx, { receiptId: ids.uuid(), receipt, nowMs });
    });
  }

  /** A call that listened has ended: what was played to whom is its result. */
  async heard(sendId: string, heard: CallHeard): Promise<void> {
    await this.#options.outbox.tx((tx) => this.heardIn(tx, sendId, heard));
  }

  /** As `heard`, within `Outbox.tx`. */
  async heardIn(tx: Tx, sendId: string, heard: CallHeard): Promise<void> {
    const { clock, dnc } = this.#options;
    const { teamId, attempt } = heard;
    const found = (await this.#sends.hold(tx, [{ teamId, sendId }])).get(sendId);
    if (!found || found.attempt !== attempt) return;
    const { phoneNumber } = found;
    const hasOptedOut = heard.optOut && phoneNumber !== null;
    if (hasOptedOut) {
      await lockNumbers(tx, [{ teamId, phoneNumber }]);
      await dnc.selfAdd(tx, { teamId, phoneNumber, brandId: null, method: 'phone', reason: 'keypress' });
    }
    const step: NewStep = {
      ...{ teamId, sendId, kind: 'carrier_answer', atMs: clock.nowMs() },
      detail: heardDetail(heard),
    };
    const ending: Ending = {
      ...{ teamId, sendId, attempt, from: ['sending', 'sent'], steps: [step], hasOptedOut },
      ...{ result: heardResult(found.channel, heard), sessionId: heard.sessionId },
    };
    await this.endings.endIn(tx, [ending]);
  }

  async #apply(
    tx: Tx,
    send: HeldSend,
    { receipt, nowMs }: { receipt: CarrierReceipt; nowMs: number },
  ): Promise<void> {
    const { teamId, sendId, attempt, state } = send;
    const { carrierMessageId, result, status } = receipt;
    if (send.carrierMessageId === null) {
      await this.#store.setTaken(tx, [{ teamId, sendId, carrierMessageId, isAwaited: false }]);
    }
    const isNew = !(await this.#store.hasStatus(tx, send, { status, attempt }));
    const detail = {
      attempt,
      status,
      ...(result ? { reason_code: result.outcomeCode, detail: result.detail } : {}),
    };
    const steps: NewStep[] = isNew ? [{ teamId, sendId, kind: 'carrier_answer', atMs: nowMs, detail }] : [];
    if (result === null || (state !== 'sending' && state !== 'sent')) return insertSteps(tx, steps);
    await this.endings.endIn(tx, [{ teamId, sendId, attempt, from: ['sending', 'sent'], result, steps }]);
  }
}

/** The send that the token in the status address named. */
const keyOf = ({ teamId, sendId }: CarrierReceipt): SendKey | null =>
  sendId !== null && isUuid(sendId) ? { teamId, sendId: sendId.toLowerCase() } : null;

/** Whether a receipt tells of the attempt that the send is in, of the same connection and message. */
const isAbout = (send: HeldSend, receipt: CarrierReceipt): boolean =>
  send.carrierId === receipt.carrierId &&
  (receipt.attempt === null || receipt.attempt === send.attempt) &&
  (send.carrierMessageId === null || send.carrierMessageId === receipt.carrierMessageId);

const heardDetail = (heard: CallHeard): Record<string, unknown> => ({
  ...{ attempt: heard.attempt, heard: heard.verdict, beep_at_ms: heard.beepAtMs, played: heard.played },
  ...{ played_at_ms: heard.playedAtMs, heard_whole: heard.isHeardWhole, opt_out: heard.optOut },
  ...{ session_id: heard.sessionId, duration_ms: heard.durationMs },
});
