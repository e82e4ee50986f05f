import { sign, verify } from './signed.rules.ts';

const PURPOSE = 'carrier status';

/** Whose status an address receives. */
export interface StatusOf {
  readonly carrierId: string;
  readonly sendId: string;
  readonly attempt: number;
}

/**
 * The path that a carrier reports the fate of one attempt to, for texts and calls alike. Its token names the attempt and
 * cannot be made up: a receipt is matched by it even before the answer named the carrier's own id.
 */
export function statusPath(of: StatusOf, masterKey: Buffer): string {
  const token = sign(`${of.sendId} ${of.attempt}`, { masterKey, purpose: purposeOf(of.carrierId) });
  return `/carrier/twilio/${of.carrierId}/status/${token}`;
}

/** The attempt of a token that was given out for this connection; null for any other text. */
export function readStatusToken(
  token: string,
  by: { carrierId: string; masterKeys: readonly Buffer[] },
): { sendId: string; attempt: number } | null {
  const { carrierId, masterKeys } = by;
  const [sendId, attempt] = verify(token, { masterKeys, purpose: purposeOf(carrierId) })?.split(' ') ?? [];
  return sendId && attempt ? { sendId, attempt: Number(attempt) } : null;
}

/** Bound to the connection: a token of one cannot be shown at another's address. */
const purposeOf = (carrierId: string): string => `${PURPOSE} ${carrierId}`;
