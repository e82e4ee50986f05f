import type { Caller } from '../../kernel/caller.ts';

/**
 * Only the current owner or a manager may change the owner of a contact that someone else owns (contract, Contact
 * details); keys and machine clients are bound by no role (supplement 13, Who acts).
 */
export function mayChangeOwner(caller: Caller, ownerId: string | null): boolean {
  if (caller.kind === 'api_key' || caller.kind === 'machine') return true;
  if (ownerId === null || ownerId === caller.userId) return true;
  return caller.role === 'owner' || caller.role === 'manager';
}
