import { SCOPES } from '../../kernel/caller.ts';
import type { Scope } from '../../kernel/caller.ts';
import { Problem } from '../../kernel/problem.ts';

/** NOTIFY channel that tells gateways to forget what they know of an account's Detection keys; payload: its id. */
export const DETECTION_KEYS_CHANNEL = 'detection_keys';

/** Sessions at once of one account unless it was given another number (supplement 10, Capacity). */
export const CONCURRENT_SESSIONS_DEFAULT = 500;
const CONCURRENT_SESSIONS_MAX = 1_000_000;
const RATE_LIMIT_MAX = 1_000_000;
export const NAME_LENGTH_MAX = 100;
/** One movement of money, micro-units: far from what the columns hold. */
const FUNDS_MICROS_MAX = 999_999_999_999_999n;
const PLATFORM_TOKEN_LENGTH_MAX = 256;

export const ROLES = ['owner', 'manager', 'agent', 'viewer'] as const;
export type Role = (typeof ROLES)[number];
export const AI_ACCESS = ['full', 'view', 'none'] as const;
export type AiAccess = (typeof AI_ACCESS)[number];
export const PLANS = ['trial', 'active', 'inactive'] as const;
export type Plan = (typeof PLANS)[number];
/** Parts of a plan (supplement 11, Plan gates). */
export const FEATURES = ['email', 'campaigns', 'agents', 'detection'] as const;
export type Feature = (typeof FEATURES)[number];
/** How far an unpaid subscription has come (contract, Status codes, 402). */
export const DUNNING_TIERS = ['restricted', 'suspended', 'canceled'] as const;
export type DunningTier = (typeof DUNNING_TIERS)[number];

export interface NewAccount {
  name: string;
  fundsMicros?: bigint;
  /** Scopes of its first API key; omitted: all. */
  scopes?: readonly Scope[];
  verified?: boolean;
  testMode?: boolean;
  operator?: boolean;
  concurrentSessions?: number;
}

const invalid = (detail: string, field: string): Problem =>
  new Problem('validation-error', detail, { field });

export const isName = (text: string): boolean =>
  text.trim().length > 0 && text.length <= NAME_LENGTH_MAX && !text.includes('\0');

/** A new account with its defaults filled in. @throws Problem validation-error */
export function completeAccount(input: NewAccount): Required<NewAccount> {
  const account = {
    fundsMicros: 0n,
    scopes: SCOPES,
    verified: true,
    testMode: false,
    operator: false,
    concurrentSessions: CONCURRENT_SESSIONS_DEFAULT,
    ...input,
  };
  if (!isName(account.name)) throw invalid(`The name must have 1 to ${NAME_LENGTH_MAX} characters.`, 'name');
  if (account.fundsMicros < 0n || account.fundsMicros > FUNDS_MICROS_MAX) {
    throw invalid('The funds must not be negative, and less than a billion.', 'funds');
  }
  if (account.scopes.length === 0) throw invalid('At least one scope is needed.', 'scopes');
  checkSessions(account.concurrentSessions);
  return account;
}

function checkSessions(sessions: number): void {
  if (!Number.isInteger(sessions) || sessions < 0 || sessions > CONCURRENT_SESSIONS_MAX) {
    throw invalid(`The concurrent sessions must be 0 to ${CONCURRENT_SESSIONS_MAX}.`, 'concurrent_sessions');
  }
}

/** What an operator may set; what is omitted stays. @throws Problem validation-error */
export function checkFlags(flags: {
  plan?: string;
  features?: readonly string[];
  dunningTier?: string | null;
  concurrentSessions?: number;
  sendRate?: number | null;
}): void {
  const { plan, features, dunningTier, concurrentSessions, sendRate: rate } = flags;
  if (plan !== undefined) requireOneOf('plan', PLANS, plan);
  if (dunningTier !== undefined && dunningTier !== null) {
    requireOneOf('dunning_tier', DUNNING_TIERS, dunningTier);
  }
  if (features !== undefined) {
    for (const feature of features) requireOneOf('features', FEATURES, feature);
    if (new Set(features).size < features.length) throw invalid('Name each feature once.', 'features');
  }
  if (concurrentSessions !== undefined) checkSessions(concurrentSessions);
  if (
    rate !== undefined &&
    rate !== null &&
    !(Number.isInteger(rate) && rate > 0 && rate <= RATE_LIMIT_MAX)
  ) {
    throw invalid(`The send rate must be 1 to ${RATE_LIMIT_MAX} a second.`, 'send_rate');
  }
}

function requireOneOf(field: string, values: readonly string[], value: string): void {
  if (!values.includes(value)) throw invalid(`${field} must be one of ${values.join(', ')}.`, field);
}

/** @throws Problem validation-error */
export function checkPrice(price: { productCode: string; priceMicros: bigint }): void {
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(price.productCode)) {
    throw invalid('The product code must be small letters, digits and underscores.', 'product_code');
  }
  if (price.priceMicros < 0n || price.priceMicros > FUNDS_MICROS_MAX) {
    throw invalid('The price must not be negative.', 'price');
  }
}

/** @throws Problem validation-error */
export function checkPlatformToken(token: string): void {
  if (!/^[\x21-\x7e]+$/.test(token) || token.length > PLATFORM_TOKEN_LENGTH_MAX) {
    throw invalid(
      `The platform token must be 1 to ${PLATFORM_TOKEN_LENGTH_MAX} printable characters without spaces.`,
      'platform_token',
    );
  }
}

/** @throws Problem validation-error */
export function checkFunds(amountMicros: bigint): void {
  if (amountMicros <= 0n || amountMicros > FUNDS_MICROS_MAX) {
    throw invalid('The amount must be more than 0 and less than a billion.', 'amount');
  }
}
