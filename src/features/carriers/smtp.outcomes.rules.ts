import type { OutcomeCode } from '../../kernel/outcome.ts';
import type { RejectedRecipient, SmtpAnswer, SmtpStage } from '../../platform/mail/index.ts';
import { retry } from './said.rules.ts';
import type { Said } from './said.rules.ts';
import type { CarrierResult } from './port.type.ts';

/** A server that says "later" (greylisting, RFC 6647, 2.1) is asked again after this time. */
const LATER_RETRY_MS = 300_000;
const DETAIL_LENGTH_MAX = 300;

/** What a final no (5xx) means, by how far the mail had come. */
const OUTCOME_OF_STAGE: Record<SmtpStage, OutcomeCode> = {
  greeting: 6003,
  login: 6003,
  sender: 6000,
  recipients: 5030,
  data: 6000,
  message: 6000,
};

/** Enhanced status codes (RFC 3463) of what was said to the message itself. */
const ADDRESS_STATUS = /\b5\.[12]\.\d/;
const POLICY_STATUS = /\b5\.7\.\d/;

/** Stages at which a no is about the connection, whoever was to be reached. */
const CONNECTION_STAGES = new Set<SmtpStage>(['greeting', 'login']);

/**
 * What a refusal means. A 4xx before the message is tried again; one after it is not: it was the server's answer to the
 * whole message, and the attempt ends there.
 */
export function refusedMail({ stage, code, text }: SmtpAnswer & { kind: 'refused' }): Said {
  const detail = text.slice(0, DETAIL_LENGTH_MAX);
  const fault = CONNECTION_STAGES.has(stage) ? detail : null;
  const isLater = code < 500;
  if (isLater && stage !== 'message') return retry(LATER_RETRY_MS, detail, fault);
  const outcomeCode = isLater ? 6003 : outcomeOf(stage, text);
  return { answer: { kind: 'refused', result: { outcomeCode, detail } }, fault };
}

function outcomeOf(stage: SmtpStage, text: string): OutcomeCode {
  if (stage !== 'message') return OUTCOME_OF_STAGE[stage];
  if (ADDRESS_STATUS.test(text)) return 5030;
  return POLICY_STATUS.test(text) ? 4008 : OUTCOME_OF_STAGE.message;
}

/** The result of a mail that the server took for some: a bounce when it took it for none that it was addressed to. */
export function mailResultOf(to: readonly string[], rejected: readonly RejectedRecipient[]): CarrierResult {
  if (rejected.length === 0) return { outcomeCode: 0 };
  const first = rejected[0];
  const detail = `${rejected.length} recipients were not taken: ${first?.text ?? ''}`.slice(
    0,
    DETAIL_LENGTH_MAX,
  );
  const refused = new Set(rejected.map(({ address }) => address));
  return { outcomeCode: to.every((address) => refused.has(address)) ? 5030 : 0, detail };
}
