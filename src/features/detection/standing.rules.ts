import type { DetectionIdentity } from '../credentials/index.ts';

/** Why a key opens nothing now; null when it does. */
export type StandingFault = 'unauthorized' | 'forbidden' | 'payment_required';

/**
 * Judges a key (supplement 13, Upgrade): 401 unknown, revoked or expired; 403 detection switched off for the account;
 * 402 no funds.
 */
export function judgeIdentity(identity: DetectionIdentity | null, nowMs: number): StandingFault | null {
  if (!identity || identity.revoked) return 'unauthorized';
  if (identity.expiresAtMs !== null && identity.expiresAtMs <= nowMs) return 'unauthorized';
  if (!identity.detectionOn) return 'forbidden';
  return identity.hasFunds ? null : 'payment_required';
}
