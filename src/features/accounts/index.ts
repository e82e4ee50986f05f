export { AccountsService } from './accounts.service.ts';
export type {
  Account,
  AccountFlags,
  AccountsServiceOptions,
  CreatedAccount,
  IssuedFor,
  KeyIssuer,
} from './accounts.service.ts';
export {
  AI_ACCESS,
  DETECTION_KEYS_CHANNEL,
  DUNNING_TIERS,
  FEATURES,
  PLANS,
  ROLES,
} from './accounts.rules.ts';
export type { AiAccess, DunningTier, Feature, NewAccount, Plan, Role } from './accounts.rules.ts';
export { AccountAccessReader } from './access.service.ts';
export type { AccountAccess } from './access.service.ts';
export { captured, fundsAdded, refunded, released, reserved } from './ledger.rules.ts';
export type { Cause, LedgerEntry, LedgerKind, Movement } from './ledger.rules.ts';
export { LedgerService } from './ledger.service.ts';
export type { BalanceView, Charge } from './ledger.service.ts';
export { AccountGates } from './gates.service.ts';
export { OperatorService } from './operator.service.ts';
export { UsersService } from './users.service.ts';
export type { SignedInUser, User, UserChange } from './users.service.ts';
export { scopesOf } from './users.rules.ts';
export type { NewUser } from './users.rules.ts';
export { verifyPassword } from './password.ts';
export { CURRENCY } from './accounts.present.ts';
export { accountsRoutes } from './accounts.routes.ts';
export { OwnAccountService } from './own-account.service.ts';
export { NEXT_ACTIONS } from './readiness.rules.ts';
export type { AccountSetup, NextAction, Readiness } from './readiness.rules.ts';
