import type { Micros } from '../../kernel/money.ts';
import type { DunningTier, Plan } from './accounts.rules.ts';

/** What an account set up for sending. */
export interface AccountSetup {
  lines: number;
  numbers: number;
  /** A carrier of its own; the built-in simulator is none. */
  hasCarrier: boolean;
}

/** What is still to be done before the first send, most urgent first (supplement 6, readiness). */
export const NEXT_ACTIONS = [
  'reactivate_plan',
  'pay_subscription',
  'verify_account',
  'add_funds',
  'connect_byoc',
  'rent_number',
  'create_line',
] as const;
export type NextAction = (typeof NEXT_ACTIONS)[number];

export interface Readiness extends AccountSetup {
  availableMicros: Micros;
  testMode: boolean;
  verified: boolean;
  /** Empty: the account is ready. */
  actions: NextAction[];
}

export function nextActions(
  account: AccountSetup & {
    plan: Plan;
    dunningTier: DunningTier | null;
    verified: boolean;
    hasFunds: boolean;
  },
): NextAction[] {
  const lacking: Record<NextAction, boolean> = {
    reactivate_plan: account.plan === 'inactive',
    pay_subscription: account.dunningTier !== null,
    verify_account: !account.verified,
    add_funds: !account.hasFunds,
    connect_byoc: !account.hasCarrier,
    rent_number: account.numbers === 0,
    create_line: account.lines === 0,
  };
  return NEXT_ACTIONS.filter((action) => lacking[action]);
}
