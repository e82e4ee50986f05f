import { Problem } from '../../kernel/problem.ts';

/** Detection keys of one account that are not revoked (contract, Limits); expired ones are listed and count. */
export const DETECTION_KEYS_MAX = 25;
const NAME_LENGTH_MAX = 100;
/** Contract, Limits: 5 minutes to 365 days. */
const EXPIRES_IN_MIN_SEC = 300;
const EXPIRES_IN_MAX_SEC = 31_536_000;
const NAME_LABEL = 'Detection key';

export type DetectionKeyStatus = 'active' | 'suspended' | 'expired';

export interface NewKey {
  /** Omitted: a fixed label and the date. */
  name?: unknown;
  /** Omitted: never expires. */
  expiresInSeconds?: unknown;
}

const invalid = (field: string, detail: string): Problem =>
  new Problem('validation-error', detail, { field });

/** @throws Problem validation-error */
export function keyName(name: unknown, nowMs: number): string {
  if (name === undefined) return `${NAME_LABEL} ${new Date(nowMs).toISOString().slice(0, 10)}`;
  if (
    typeof name !== 'string' ||
    name.trim() === '' ||
    [...name].length > NAME_LENGTH_MAX ||
    name.includes('\0')
  ) {
    throw invalid('name', `name must be a text of 1 to ${NAME_LENGTH_MAX} characters.`);
  }
  return name;
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
    throw invalid('expires_in_seconds', `expires_in_seconds must be a whole number from ${bounds}.`);
  }
  return nowMs + expiresInSeconds * 1_000;
}

/**
 * Whether the account may make Detection keys (contract, Errors, Detection keys).
 * @throws Problem trial-feature-blocked, forbidden, team-not-verified, byoc-required
 */
export function checkMayCreate(account: { plan: string; verified: boolean; buildingBlocks: boolean }): void {
  if (account.plan === 'trial') {
    throw new Problem('trial-feature-blocked', 'Detection keys are not part of the trial.');
  }
  if (account.plan === 'inactive') throw new Problem('forbidden', 'The account is inactive.');
  if (!account.verified) throw new Problem('team-not-verified', 'The account must be verified first.');
  if (!account.buildingBlocks) {
    throw new Problem('byoc-required', 'Enable Building Blocks for the account first.');
  }
}

/** A key's state as listed (contract, States): an expired key stays expired whatever the funds. */
export function statusOf(
  key: { expiresAtMs: number | null },
  account: { detectionOn: boolean; hasFunds: boolean },
  nowMs: number,
): DetectionKeyStatus {
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) return 'expired';
  return account.detectionOn && account.hasFunds ? 'active' : 'suspended';
}
