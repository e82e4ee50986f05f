import type { OutcomeCode } from '../../kernel/outcome.ts';
import type { SendChannel } from './facts.type.ts';

/*
 * Numbers that are never dialled and always end the same (supplement 3). They need no line, campaign, consent or funds,
 * are bound by no hours and no frequency limit, and win over do-not-contact (supplement 12, Sends).
 */

const CALLS_PREFIX = '+1555001';
const CALLS: ReadonlyMap<string, OutcomeCode> = new Map([
  ['0001', 0],
  ['0002', 4000],
  ['0004', 4005],
  ['0005', 4006],
  ['0006', 4004],
  ['0090', 4016],
  ['0091', 4017],
  ['0092', 4019],
  ['0093', 4021],
  ['0094', 6000],
  ['0095', 6002],
  ['0097', 4013],
  ['0098', 6005],
  ['0099', 6011],
]);

const TEXTS_PREFIX = '+1555002';
const TEXTS: ReadonlyMap<string, OutcomeCode> = new Map([
  ['0001', 0],
  ['0003', 4004],
  ['0005', 4008],
  ['0090', 4016],
  ['0091', 4017],
  ['0092', 6000],
  ['0093', 6003],
  ['0095', 4013],
  ['0096', 6006],
  ['0097', 6004],
  ['0098', 6011],
  ['0099', 6001],
]);

/** How a send to a simulated number (E.164) of the channel ends; null: the number is none of the channel. */
export function simulatedOutcome(channel: SendChannel, phoneNumber: string): OutcomeCode | null {
  const [prefix, outcomes] = channel === 'sms' ? [TEXTS_PREFIX, TEXTS] : [CALLS_PREFIX, CALLS];
  if (!phoneNumber.startsWith(prefix)) return null;
  return outcomes.get(phoneNumber.slice(prefix.length)) ?? null;
}

export const isSimulated = (channel: SendChannel, phoneNumber: string): boolean =>
  simulatedOutcome(channel, phoneNumber) !== null;
