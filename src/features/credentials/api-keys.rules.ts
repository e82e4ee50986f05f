import { isScope, SCOPES } from '../../kernel/caller.ts';
import type { Caller, Scope } from '../../kernel/caller.ts';
import { Problem } from '../../kernel/problem.ts';
import { invalidField } from '../../kernel/text.ts';

/** API keys of one account: the list answers them all at once. */
export const API_KEYS_MAX = 1_000;

export interface NewApiKey {
  /** Omitted: a fixed label and the date. */
  name?: unknown;
  /** Omitted: those of the credential that makes it. */
  scopes?: unknown;
  /** Omitted: never expires. */
  expiresInSeconds?: unknown;
}

/** Each named scope once; undefined: none were named. @throws Problem validation-error */
export function scopesIn(given: unknown): Scope[] | undefined {
  if (given === undefined) return undefined;
  const isList = Array.isArray(given) && given.length > 0 && given.length <= SCOPES.length;
  const scopes = isList
    ? given.filter((name): name is Scope => typeof name === 'string' && isScope(name))
    : [];
  if (!isList || scopes.length < given.length) {
    throw invalidField('scopes', `scopes must be a list of one or more of: ${SCOPES.join(', ')}.`);
  }
  return [...new Set(scopes)];
}

/**
 * Whether the caller may make a key with these scopes (contract, Authentication 3 and 4).
 * @throws Problem team-not-verified, insufficient-scope
 */
export function checkGrant(caller: Caller, account: { verified: boolean }, scopes: readonly Scope[]): void {
  if (!account.verified) throw new Problem('team-not-verified', 'The account must be verified first.');
  const lacking = scopes.filter((scope) => !caller.scopes.has(scope));
  if (lacking.length === 0) return;
  throw new Problem(
    'insufficient-scope',
    `A key cannot hold scopes that its creator lacks: ${lacking.join(', ')}.`,
  );
}
