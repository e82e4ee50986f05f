import { Problem } from '../../kernel/problem.ts';
import { invalidField, requireText } from '../../kernel/text.ts';

/** Detection keys of one account that are not revoked (contract, Limits); expired ones are listed and count. */
export const DETECTION_KEYS_MAX = 25;
export const NAME_LENGTH_MAX = 100;
/** Contract, Limits: 5 minutes to 365 days. */
export const EXPIRES_IN_MIN_SEC = 300;
export const EXPIRES_IN_MAX_SEC = 31_536_000;

export type DetectionKeyStatus = 'active' | 'suspended' | 'expired';

export interface NewKey {
  /** Omitted: a fixed label and the date. */
  name?: unknown;
  /** Omitted: never expires. */
  expiresInSeconds?: unknown;
}

/** The name given, or `label` and today's date. @throws Problem validation-error */
export function keyName({ name, label, nowMs }: { name: unknown; label: string; nowMs: number }): string {
  if (name === undefined) return `${label} ${new Date(nowMs).toISOString().slice(0, 10)}`;
  if (typeof name !== 'string' || [...name].length > NAME_LENGTH_MAX) {
    throw invalidField('name', `name must be a text of 1 to ${NAME_LENGTH_MAX} characters.`);
  }
  return requireText('name', name, 2 * NAME_LENGTH_MAX);
}

/** Epoch milliseconds, or null: never. @throws Problem validation-error */
export function expiryMs(expiresInSeconds: unknown, nowMs: number): number | null {
  if (expiresInSeconds === undefined) return null;
  if (
    typeof expiresInSeconds !== 'number' ||
    !Number.isInteger(expiresInSeconds) ||
    expiresInSeconds < EXPIRES_IN_MIN_SEC ||
    expiresInSeconds > EXPIRES_IN_MAX_SEC
  ) {
    const bounds = `${EXPIRES_IN_MIN_SEC} to ${EXPIRES_IN_MAX_SEC}`;
    throw invalidField('expires_in_seconds', `expires_in_seconds must be a whole number from ${bounds}.`);
  }
  return nowMs + expiresInSeconds * 1_000;
}

/**
 * Whether the account may make Detection keys (contract, Errors, Detection keys).
 * @throws Problem trial_feature_blocked, forbidden, team-not-verified, byoc-required
 */
export function checkMayCreate(account: {
  plan: string;
  features: readonly string[];
  verified: boolean;
  buildingBlocks: boolean;
}): void {
  if (account.plan === 'inactive') throw new Problem('forbidden', 'The account is inactive.');
  if (account.plan === 'trial' || !account.features.includes('detection')) {
    throw new Problem('trial_feature_blocked', "Detection keys are not part of the account's plan.");
  }
  if (!account.verified) throw new Problem('team-not-verified', 'The account must be verified first.');
  if (!account.buildingBlocks) {
    throw new Problem('byoc-required', 'Enable Building Blocks for the account first.');
  }
}

/** A key's state as listed (contract, States): an expired key stays expired whatever the funds. */
export function statusOf(
  key: { expiresAtMs: number | null; suspended: boolean },
  account: { detectionOn: boolean; hasFunds: boolean },
  nowMs: number,
): DetectionKeyStatus {
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) return 'expired';
  return account.detectionOn && account.hasFunds && !key.suspended ? 'active' : 'suspended';
}
