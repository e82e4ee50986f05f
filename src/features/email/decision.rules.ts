import { OUTCOMES } from '../../kernel/outcome.ts';
import type { Outcome, OutcomeCode } from '../../kernel/outcome.ts';
import { emailFrequencyRefusal } from '../delivery-rules/index.ts';
import type { DialingRules } from '../delivery-rules/index.ts';
import type { SendType } from './email.rules.ts';

/** What decides about an email, read within the transaction that commits it. */
export interface EmailFacts {
  readonly rules: DialingRules;
  readonly sendType: SendType;
  /** Any of its addresses has a do-not-contact entry for every brand or for the email's. */
  readonly isListed: boolean;
  /** How many emails of the type each address of `to` was sent within the window. */
  readonly sent: ReadonlyMap<string, number>;
}

/** Null: it may go. The do-not-contact list is asked first: it holds whatever the limit says. */
export function refusalOf({ rules, sendType, isListed, sent }: EmailFacts): OutcomeCode | null {
  if (isListed) return 5014;
  for (const [address, count] of sent) {
    const code = emailFrequencyRefusal(rules, { address, sendType, sent: count });
    if (code !== null) return code;
  }
  return null;
}

export function outcomeOf(code: OutcomeCode): Outcome {
  const found = OUTCOMES.find((outcome) => outcome.code === code);
  if (!found) throw new Error(`no outcome ${code}`);
  return found;
}

/** What `data.error` says of a code. */
export const errorOf = (code: OutcomeCode, detail?: string): string => {
  const { name, meaning } = outcomeOf(code);
  return detail === undefined || detail === '' ? `${name}: ${meaning}` : `${name}: ${detail}`;
};
