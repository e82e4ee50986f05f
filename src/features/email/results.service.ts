import type { Clock } from '../../kernel/clock.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger/index.ts';
import { backoffMs, isTransientDbError } from '../../platform/outbox/index.ts';
import type { Outbox } from '../../platform/outbox/index.ts';
import { captured, released } from '../accounts/index.ts';
import type { LedgerService } from '../accounts/index.ts';
import type { CarrierAnswer, MailCarrier, MailRequest } from '../carriers/index.ts';
import type { TimelineService } from '../contacts/index.ts';
import { keyOfAddress } from './addresses.rules.ts';
import { errorOf } from './decision.rules.ts';
import { timelineData } from './email.present.ts';
import { notSent } from './email.rules.ts';
import type { EmailAnswer } from './email.rules.ts';
import type { EmailEvents } from './email-events.service.ts';
import { EmailsStore } from './emails.store.ts';
import type { EmailChange, EmailRow } from './emails.store.ts';
import { FactsStore } from './facts.store.ts';

/** Tries of the transaction that records what a mail server said; then the sweep makes the email `unknown`. */
const RECORD_TRIES_MAX = 5;
const RECORD_PAUSE = { minMs: 25, maxMs: 1_000 };
/** Of what a mail server said, kept and shown. */
const DETAIL_LENGTH_MAX = 500;

export interface ResultsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly outbox: Pick<Outbox, 'tx'>;
  readonly ledger: Pick<LedgerService, 'book'>;
  readonly timeline: Pick<TimelineService, 'add'>;
  readonly events: EmailEvents;
  readonly logger: Logger;
}

type Ending = EmailChange & { readonly state: 'sent' | 'failed' | 'unknown' };

/** Asks the mail server, and records what it said: the state, the money, the events, in one transaction. */
export class EmailResults {
  readonly #options: ResultsOptions;
  readonly #emails: EmailsStore;
  readonly #facts = new FactsStore();

  constructor(options: ResultsOptions) {
    this.#options = options;
    this.#emails = new EmailsStore(options.db);
  }

  /** Never rejects: what a driver throws says nothing about what the server took. */
  async ask(port: MailCarrier, request: MailRequest, signal: AbortSignal): Promise<CarrierAnswer> {
    try {
      return await port.sendMail(request, signal);
    } catch (error) {
      const { emailId } = request;
      this.#options.logger.error({ err: error, emailId }, 'a mail driver threw: the result is unknown');
      return { kind: 'unknown', detail: 'The connection to the mail server failed.' };
    }
  }

  async record(of: { teamId: string; emailId: string }, answer: CarrierAnswer): Promise<EmailAnswer> {
    const ending = this.#endingOf(answer);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#options.outbox.tx((tx) => this.#recordIn(tx, of, ending));
      } catch (error) {
        if (!isTransientDbError(error) || attempt >= RECORD_TRIES_MAX) throw error;
        await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt, RECORD_PAUSE)));
      }
    }
  }

  /** What was committed and never answered for. */
  async abandon(of: { teamId: string; emailId: string }): Promise<void> {
    await this.record(of, { kind: 'unknown', detail: 'The process ended before the mail server answered.' });
  }

  /** Compare and set: an email that ended meanwhile keeps its end. */
  async #recordIn(tx: Tx, of: { teamId: string; emailId: string }, ending: Ending): Promise<EmailAnswer> {
    const email = await this.#emails.lock(tx, of.teamId, of.emailId);
    if (email === null) return notSent('The email was removed.');
    if (email.state !== 'sending') return answerOf(email);
    await this.#emails.update(tx, of, ending);
    const ended: EmailRow = { ...email, ...ending };
    await this.#settle(tx, ended);
    if (ended.contactId !== null) {
      const { teamId, contactId } = ended;
      const atMs = this.#options.clock.nowMs();
      await this.#options.timeline.add(tx, {
        ...{ teamId, contactId, type: 'email', data: timelineData(ended), atMs },
      });
    }
    await this.#tell(tx, ended);
    return answerOf(ended);
  }

  /** An email costs when a mail server may have it; one that none took does not count for the limit either. */
  async #settle(tx: Tx, email: EmailRow): Promise<void> {
    const { teamId, emailId, sendType, priceMicros: amountMicros } = email;
    const movement = { teamId, amountMicros, causeType: 'email', causeId: emailId };
    if (email.state !== 'failed') {
      await this.#options.ledger.book(tx, [captured({ ...movement, reservedMicros: amountMicros })]);
      return;
    }
    await this.#options.ledger.book(tx, [released(movement)]);
    const addresses = email.recipients.map(({ address }) => keyOfAddress(address));
    await this.#facts.removeAttempts(tx, { teamId, addresses, sendType, emailId });
  }

  async #tell(tx: Tx, email: EmailRow): Promise<void> {
    const { events, clock } = this.#options;
    if (email.state === 'sent') return events.delivered(tx, email, email.sentAtMs ?? clock.nowMs());
    if (email.outcomeCode === 5030) return events.bouncedHard(tx, email, { atMs: clock.nowMs() });
  }

  #endingOf(answer: CarrierAnswer): Ending {
    const failed = (outcomeCode: EmailChange['outcomeCode'], error: string): Ending => ({
      ...{ state: 'failed', outcomeCode, error: error.slice(0, DETAIL_LENGTH_MAX), sentAtMs: null },
    });
    if (answer.kind === 'retry')
      return failed(null, `The mail server takes nothing now, send it again later: ${answer.detail}`);
    if (answer.kind === 'unknown') {
      const error = `${errorOf(4090)} ${answer.detail}`.slice(0, DETAIL_LENGTH_MAX);
      return { state: 'unknown', outcomeCode: 4090, error, sentAtMs: null };
    }
    const { result } = answer;
    if (result !== undefined && (answer.kind === 'refused' || result.outcomeCode !== 0)) {
      const code = result.outcomeCode;
      if (code === 4090) return { state: 'unknown', outcomeCode: code, error: errorOf(code), sentAtMs: null };
      return failed(code, errorOf(code, result.detail ?? result.reason));
    }
    return { state: 'sent', outcomeCode: 0, error: null, sentAtMs: this.#options.clock.nowMs() };
  }
}

/** What the sender of an email is told; what came after the mail server took it changes nothing. */
export const answerOf = (email: Pick<EmailRow, 'sentAtMs' | 'error'>): EmailAnswer =>
  email.sentAtMs === null ? notSent(email.error ?? 'Nothing was sent.') : { success: true };
