import { createHash } from 'node:crypto';

/** The page lives 7 days (supplement 4). */
export const PROOF_LIVES_MS = 7 * 86_400_000;
export const PROOF_TOKEN_BYTES = 24;
/** As base64url; longer ones are not looked up. */
export const PROOF_TOKEN_LENGTH_MAX = 64;

const PATH = '/campaign/public/receipts';

export const proofPath = (token: string): string => `${PATH}/${token}`;

/** What is stored of a token. */
export const proofTokenHash = (token: string): Buffer => createHash('sha256').update(token).digest();
