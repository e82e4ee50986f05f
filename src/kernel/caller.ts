import { Problem } from './problem.ts';

/** Scopes of the contract (interface.md, Scopes), in its order. */
export const SCOPES = [
  'contacts:read',
  'contacts:write',
  'lists:read',
  'lists:write',
  'campaigns:read',
  'campaigns:write',
  'campaigns:send',
  'rvm:send',
  'sms:send',
  'voice:send',
  'email:send',
  'email:read',
  'media:read',
  'media:write',
  'webhooks:read',
  'webhooks:write',
  'balance:read',
  'account:write',
  'agents:read',
  'agents:write',
  'consent:read',
  'consent:write',
  'dnc:read',
  'dnc:write',
  'numbers:read',
  'numbers:write',
  'chat:read',
  'chat:write',
] as const;

export type Scope = (typeof SCOPES)[number];

export const isScope = (text: string): text is Scope => (SCOPES as readonly string[]).includes(text);

/** `api_key` and `machine` (OAuth client credentials) are never limited by role; `user` is a signed-in user. */
export type CallerKind = 'api_key' | 'machine' | 'user' | 'site_token';

export type CallerRole = 'owner' | 'manager' | 'agent' | 'viewer';

/** Who asks: every service method takes one first. `userId` is the user it acts under (supplement 13, Who acts). */
export interface Caller {
  readonly kind: CallerKind;
  readonly teamId: string;
  readonly userId: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly operator: boolean;
  /** Role of a signed-in user; null for every other credential. */
  readonly role: CallerRole | null;
  /** The key, client or token: what is limited, counted and logged. */
  readonly credentialId: string;
}

/**
 * What a signed-in user's role withholds whatever the token's scopes (contract, Authentication 9): viewers change
 * nothing, agents do not administer the account. Other credentials are never limited by role.
 */
const roleAllows = (role: CallerRole | null, scope: Scope): boolean => {
  if (role === 'viewer') return scope.endsWith(':read');
  return role !== 'agent' || scope !== 'account:write';
};

/**
 * Passes when the caller holds any one of `accepted`; the refusal names them (interface.md, Status codes, 403).
 * @throws Problem insufficient-scope, forbidden (the user's role)
 */
export function requireScope(caller: Caller, ...accepted: Scope[]): void {
  const held = accepted.filter((scope) => caller.scopes.has(scope));
  if (held.length === 0) {
    throw new Problem('insufficient-scope', `This needs one of the scopes: ${accepted.join(', ')}.`);
  }
  if (!held.some((scope) => roleAllows(caller.role, scope))) {
    throw new Problem('forbidden', "The user's role does not allow this.");
  }
}

/** @throws Problem forbidden */
export function requireOperator(caller: Caller): void {
  if (!caller.operator) throw new Problem('forbidden', 'Only operators may do this.');
}
