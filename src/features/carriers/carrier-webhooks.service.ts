import type { Clock } from '../../kernel/clock.ts';
import { Problem } from '../../kernel/problem.ts';
import type { CarrierConnections } from './connections.service.ts';
import type { CarrierReceipt, InboundText } from './port.type.ts';
import { readStatusToken } from './status-token.rules.ts';
import { readInboundText, readStatus } from './twilio.receipts.rules.ts';
import { isTwilioSignature, signedUrls } from './twilio.signature.rules.ts';
import type { FormFields } from './twilio.signature.rules.ts';

export interface CarrierWebhooksOptions {
  readonly connections: Pick<CarrierConnections, 'find'>;
  readonly clock: Clock;
  readonly publicUrl: () => string;
  /** The current MASTER_KEY and those before it. */
  readonly masterKeys: readonly Buffer[];
  /** Take what is handed on, or reject: the carrier is then answered 500. Both may get the same thing twice. */
  readonly onReceipt: (receipt: CarrierReceipt) => Promise<void>;
  readonly onInboundText: (text: InboundText) => Promise<void>;
}

/** A form as a carrier sent it. */
export interface SignedForm {
  /** Path and query as they were asked for. */
  readonly path: string;
  /** X-Twilio-Signature. */
  readonly signature: string;
  /** The body, application/x-www-form-urlencoded. */
  readonly body: string;
}

/** What carriers send here: the fate of what they took, and texts to numbers of the account. Their signature is the key. */
export class CarrierWebhooks {
  readonly #options: CarrierWebhooksOptions;

  constructor(options: CarrierWebhooksOptions) {
    this.#options = options;
  }

  /** @throws Problem not-found (connection or token), forbidden (signature), validation-error */
  async status(of: { carrierId: string; token: string }, form: SignedForm): Promise<void> {
    const { clock, masterKeys, onReceipt } = this.#options;
    const { carrierId } = of;
    const { teamId, fields } = await this.#admit(carrierId, form);
    const attempt = readStatusToken(of.token, { carrierId, masterKeys });
    if (!attempt) throw notFound();
    const status = readStatus(fields);
    if (!status) throw new Problem('validation-error', 'The form names no status of a text or a call.');
    await onReceipt({ carrierId, teamId, ...status, ...attempt, atMs: clock.nowMs() });
  }

  /** @throws Problem not-found, forbidden (signature), validation-error */
  async message(carrierId: string, form: SignedForm): Promise<void> {
    const { clock, onInboundText } = this.#options;
    const { teamId, fields } = await this.#admit(carrierId, form);
    const text = readInboundText(fields);
    if (!text) throw new Problem('validation-error', 'The form is no text that somebody sent.');
    await onInboundText({ carrierId, teamId, ...text, atMs: clock.nowMs() });
  }

  async #admit(carrierId: string, form: SignedForm): Promise<{ teamId: string; fields: FormFields }> {
    const connection = await this.#options.connections.find(carrierId, 'twilio');
    if (!connection) throw notFound();
    const { signature, path, body } = form;
    const fields: FormFields = [...new URLSearchParams(body)];
    const urls = signedUrls(this.#options.publicUrl(), path);
    const authToken = connection.settings.auth_token;
    if (!isTwilioSignature({ signature, authToken, urls, fields }))
      throw new Problem('forbidden', 'X-Twilio-Signature is missing or not that of this address and body.');
    return { teamId: connection.teamId, fields };
  }
}

const notFound = (): Problem => new Problem('not-found', 'There is nothing at this address.');
