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

/** Who asks: every service method takes one first. `userId` is the user it acts under (supplement 13, Who acts). */
export interface Caller {
  readonly teamId: string;
  readonly userId: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly operator: boolean;
}

/** Passes when the caller holds any one of `accepted`; the refusal names them (interface.md, Status codes, 403). */
export function requireScope(caller: Caller, ...accepted: Scope[]): void {
  if (accepted.some((scope) => caller.scopes.has(scope))) return;
  throw new Problem('insufficient-scope', `This needs one of the scopes: ${accepted.join(', ')}.`);
}
