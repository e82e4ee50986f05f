import { formatMoney } from '../../kernel/money.ts';
import type { Micros } from '../../kernel/money.ts';
import type { Account } from './accounts.service.ts';
import type { BalanceView } from './ledger.service.ts';
import type { Readiness } from './readiness.rules.ts';

/** The one currency that money is in (supplement 11). */
export const CURRENCY = 'USD';

/** A decimal number of the currency's unit: exact to the micro-unit below nine billion. */
const decimal = (micros: Micros): number => Number(formatMoney(micros));

export const presentAccount = (account: Account) => ({
  team_id: account.teamId,
  name: account.name,
  verified: account.verified,
  plan: account.plan,
  features: [...account.features],
  dunning_tier: account.dunningTier,
  test_mode: account.testMode,
  operator: account.operator,
  flags: {
    detection: account.detection,
    building_blocks: account.buildingBlocks,
    keep_transcripts: account.keepTranscripts,
  },
  limits: {
    concurrent_sessions: account.concurrentSessions,
    send_rate: account.sendRate,
  },
  region: account.region,
  created_at: account.createdAtMs,
});

export const presentBalance = (balance: BalanceView) => ({
  balance: decimal(balance.balanceMicros),
  reserved: decimal(balance.reservedMicros),
  available: decimal(balance.availableMicros),
  currency: CURRENCY,
});

export const presentReadiness = (readiness: Readiness) => ({
  ready: readiness.actions.length === 0,
  next_actions: [...readiness.actions],
  funds: { available: decimal(readiness.availableMicros), currency: CURRENCY },
  lines: readiness.lines,
  numbers: readiness.numbers,
  carrier_connected: readiness.hasCarrier,
  verified: readiness.verified,
  test_mode: readiness.testMode,
});
