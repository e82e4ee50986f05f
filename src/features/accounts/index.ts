export { AccountsService } from './accounts.service.ts';
export type {
  Account,
  AccountFlags,
  AccountsServiceOptions,
  CreatedAccount,
  IssuedFor,
  KeyIssuer,
} from './accounts.service.ts';
export { AI_ACCESS, DETECTION_KEYS_CHANNEL, ROLES } from './accounts.rules.ts';
export type { AiAccess, NewAccount, NewUser, Plan, Role } from './accounts.rules.ts';
export { AccountAccessReader } from './access.service.ts';
export type { AccountAccess } from './access.service.ts';
export { captured, fundsAdded, refunded, released, reserved } from './ledger.rules.ts';
export type { Cause, LedgerEntry, LedgerKind, Movement } from './ledger.rules.ts';
export { LedgerService } from './ledger.service.ts';
export type { BalanceView, Charge } from './ledger.service.ts';
export { UsersService } from './users.service.ts';
export { verifyPassword } from './password.ts';
