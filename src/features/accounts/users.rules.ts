import { SCOPES } from '../../kernel/caller.ts';
import type { Caller, Scope } from '../../kernel/caller.ts';
import { Problem } from '../../kernel/problem.ts';
import { AI_ACCESS, isName, NAME_LENGTH_MAX, ROLES } from './accounts.rules.ts';
import type { AiAccess, Role } from './accounts.rules.ts';

const EMAIL_LENGTH_MAX = 254;
/** NIST SP 800-63B: at least 8 characters; the upper bound only bounds the work of hashing. */
const PASSWORD_LENGTH_MIN = 8;
const PASSWORD_LENGTH_MAX = 256;

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
  checkUserChange(user);
}

/** @throws Problem validation-error */
export function checkUserChange(user: { displayName?: string; role?: Role; aiAccess?: AiAccess }): void {
  if (user.displayName !== undefined && !isName(user.displayName)) {
    throw invalid(`The display name must have 1 to ${NAME_LENGTH_MAX} characters.`, 'display_name');
  }
  if (user.role !== undefined && !ROLES.includes(user.role)) {
    throw invalid(`The role must be one of ${ROLES.join(', ')}.`, 'role');
  }
  if (user.aiAccess !== undefined && !AI_ACCESS.includes(user.aiAccess)) {
    throw invalid(`The AI access must be one of ${AI_ACCESS.join(', ')}.`, 'ai_access');
  }
}

/** Whether the caller may give this role, or change who has it: signed-in users below owner leave owners alone. */
export const mayGive = (caller: Caller, role: Role): boolean =>
  role !== 'owner' || caller.role === null || caller.role === 'owner';

/** What a token for a user may hold: everything, what only reads, or nothing at all (contract, Authentication 5). */
export function scopesOf(user: { aiAccess: AiAccess }): Scope[] {
  if (user.aiAccess === 'full') return [...SCOPES];
  return user.aiAccess === 'view' ? SCOPES.filter((scope) => scope.endsWith(':read')) : [];
}
