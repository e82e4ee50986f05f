import type { PlayPlan } from './port.type.ts';
import { sign, verify } from './signed.rules.ts';

/** Sets the key of play plans apart from those of other uses of MASTER_KEY. */
const PURPOSE = 'play plan';

/** The name of the stream's parameter that carries the token. */
export const PLAY_PLAN_PARAMETER = 'play_plan';

/**
 * A plan as the token that travels with a call to the platform route:
 * `base64url(JSON plan).base64url(HMAC-SHA256)`, its key derived from MASTER_KEY.
 */
export const signPlayPlan = (plan: PlayPlan, masterKey: Buffer): string =>
  sign(JSON.stringify(plan), { masterKey, purpose: PURPOSE });

/**
 * The plan of a token; null when none of the keys signed it, or its time is over. `masterKeys`: the current one and those
 * before it (MASTER_KEY_PREVIOUS), since a call may ring while the key changes.
 */
export function verifyPlayPlan(
  token: string,
  by: { masterKeys: readonly Buffer[]; nowMs: number },
): PlayPlan | null {
  const text = verify(token, { masterKeys: by.masterKeys, purpose: PURPOSE });
  if (text === null) return null;
  const plan = JSON.parse(text) as PlayPlan;
  return plan.expiresAtMs > by.nowMs ? plan : null;
}
