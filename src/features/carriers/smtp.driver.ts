import type { Clock } from '../../kernel/clock.ts';
import { composeMail, SmtpBusyError, SmtpClient } from '../../platform/mail/index.ts';
import type { SmtpAnswer, SmtpServer } from '../../platform/mail/index.ts';
import { TargetRefused } from '../../platform/net/index.ts';
import type { CarrierSettings } from './carriers.rules.ts';
import { wordOf } from './connection-faults.rules.ts';
import { notStarted, retry, unknown } from './said.rules.ts';
import type { Said } from './said.rules.ts';
import type { CarrierRequests, Driver } from './driver.type.ts';
import type { CarrierWork, MailRequest } from './port.type.ts';
import { mailResultOf, refusedMail } from './smtp.outcomes.rules.ts';

/** When a server that could not be reached is tried again, and one that is busy. */
const REFUSED_RETRY_MS = 15_000;
const BUSY_RETRY_MS = 5_000;

export interface SmtpOptions {
  readonly settings: CarrierSettings<'smtp'>;
  readonly clock: Clock;
  readonly allowPrivateTargets: boolean;
  /** Replaced in tests: further authorities, and patience. */
  readonly tuning?: Pick<SmtpServer, 'ca' | 'silenceMs'>;
}

/** Mail through the account's own server (RFC 5321). */
export class SmtpDriver implements Driver {
  readonly #clock: Clock;
  readonly #client: SmtpClient;

  constructor({ settings, clock, allowPrivateTargets, tuning }: SmtpOptions) {
    this.#clock = clock;
    this.#client = new SmtpClient({ ...settings, allowPrivateTargets, ...tuning });
  }

  async send<W extends CarrierWork>(
    _work: W,
    request: CarrierRequests[W],
    signal: AbortSignal,
  ): Promise<Said> {
    const mail = request as MailRequest;
    const message = await composeMail({ ...mail, dateMs: this.#clock.nowMs() });
    if (signal.aborted) return notStarted();
    const recipients = [...mail.to, ...mail.cc, ...mail.bcc].map(({ address }) => address);
    const envelope = { from: mail.from.address, to: [...new Set(recipients)] };
    return said(await this.#client.send(envelope, message, signal), mail);
  }

  async close(): Promise<void> {
    this.#client.close();
  }
}

function said(answer: SmtpAnswer, mail: MailRequest): Said {
  switch (answer.kind) {
    case 'taken': {
      const to = mail.to.map(({ address }) => address);
      const result = mailResultOf(to, answer.rejected);
      return { answer: { kind: 'accepted', carrierMessageId: mail.messageId, result }, fault: null };
    }
    case 'refused':
      return refusedMail(answer);
    case 'lost':
      return unknown(`The connection broke after the message: ${answer.text}`);
    case 'not_sent':
      return notSent(answer.error);
  }
}

function notSent(error: unknown): Said {
  if (error instanceof TargetRefused) {
    const detail = `The mail server's address is refused: ${error.message}.`;
    return { answer: { kind: 'refused', result: { outcomeCode: 6003, detail } }, fault: detail };
  }
  if (error instanceof SmtpBusyError) return retry(BUSY_RETRY_MS, error.message);
  const detail = `No connection to the mail server: ${wordOf(error)}.`;
  return retry(REFUSED_RETRY_MS, detail, detail);
}
