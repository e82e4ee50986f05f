import { SCOPES } from '../../kernel/caller.ts';
import type { Scope } from '../../kernel/caller.ts';
import { Problem } from '../../kernel/problem.ts';

/** NOTIFY channel that tells gateways to forget what they know of an account's Detection keys; payload: its id. */
export const DETECTION_KEYS_CHANNEL = 'detection_keys';

/** Sessions at once of one account unless it was given another number (supplement 10, Capacity). */
export const CONCURRENT_SESSIONS_DEFAULT = 500;
const CONCURRENT_SESSIONS_MAX = 1_000_000;
const NAME_LENGTH_MAX = 100;
const PLATFORM_TOKEN_LENGTH_MAX = 256;
const EMAIL_LENGTH_MAX = 254;
/** NIST SP 800-63B: at least 8 characters; the upper bound only bounds the work of hashing. */
const PASSWORD_LENGTH_MIN = 8;
const PASSWORD_LENGTH_MAX = 256;

export const ROLES = ['owner', 'manager', 'agent', 'viewer'] as const;
export type Role = (typeof ROLES)[number];
export const AI_ACCESS = ['full', 'view', 'none'] as const;
export type AiAccess = (typeof AI_ACCESS)[number];
export type Plan = 'trial' | 'active' | 'inactive';

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

export interface NewUser {
  teamId: string;
  email: string;
  displayName?: string;
  password: string;
  role: Role;
  aiAccess: AiAccess;
}

const invalid = (detail: string, field: string): Problem =>
  new Problem('validation-error', detail, { field });

const isName = (text: string): boolean =>
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
  if (account.fundsMicros < 0n) throw invalid('The funds must not be negative.', 'funds');
  if (account.scopes.length === 0) throw invalid('At least one scope is needed.', 'scopes');
  checkSessions(account.concurrentSessions);
  return account;
}

/** @throws Problem validation-error */
export function checkSessions(sessions: number): void {
  if (!Number.isInteger(sessions) || sessions < 0 || sessions > CONCURRENT_SESSIONS_MAX) {
    throw invalid(`The concurrent sessions must be 0 to ${CONCURRENT_SESSIONS_MAX}.`, 'concurrent_sessions');
  }
}

/** @throws Problem validation-error */
export function checkUser(user: NewUser): void {
  if (user.email.length > EMAIL_LENGTH_MAX || !/^[^\s@\0]+@[^\s@\0]+$/.test(user.email)) {
    throw invalid('The email is not an address.', 'email');
  }
  if (user.password.length < PASSWORD_LENGTH_MIN || user.password.length > PASSWORD_LENGTH_MAX) {
    throw invalid(
      `The password must have ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters.`,
      'password',
    );
  }
  if (user.displayName !== undefined && !isName(user.displayName)) {
    throw invalid(`The display name must have 1 to ${NAME_LENGTH_MAX} characters.`, 'display_name');
  }
  if (!ROLES.includes(user.role)) throw invalid(`The role must be one of ${ROLES.join(', ')}.`, 'role');
  if (!AI_ACCESS.includes(user.aiAccess)) {
    throw invalid(`The AI access must be one of ${AI_ACCESS.join(', ')}.`, 'ai_access');
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
  if (amountMicros <= 0n) throw invalid('The amount must be more than 0.', 'amount');
}
