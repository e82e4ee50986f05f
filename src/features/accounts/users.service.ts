import { requireScope } from '../../kernel/caller.ts';
import type { Caller, Scope } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db } from '../../platform/db/index.ts';
import { AccountsStore } from './accounts.store.ts';
import { hashPassword, isOutdated, verifyPassword } from './password.ts';
import { checkUser, checkUserChange, mayGive, scopesOf } from './users.rules.ts';
import type { NewUser } from './users.rules.ts';
import { UsersStore } from './users.store.ts';
import type { SignInRow, UserChange, UserRow } from './users.store.ts';

/** SQLSTATE unique_violation. */
const UNIQUE_VIOLATION = '23505';
/** Users of one account. */
const USERS_MAX = 10_000;
/** Verified when there is nobody to verify: an unknown email takes as long as a wrong password. */
const NOBODY_PASSWORD = 'the password of nobody';

export type User = UserRow;
export type { UserChange };

/** A user who gave the right password. */
export interface SignedInUser extends User {
  /** What a token for this user may hold (contract, Authentication 5); empty: cannot connect. */
  scopes: Scope[];
}

/** Users of an account: made by operators and by the account's own administrators. */
export class UsersService {
  readonly #options: { db: Db; clock: Clock; ids: Ids };
  readonly #store: UsersStore;
  readonly #accounts: AccountsStore;
  #nobody: Promise<string> | undefined;

  constructor(options: { db: Db; clock: Clock; ids: Ids }) {
    this.#options = options;
    this.#store = new UsersStore(options.db);
    this.#accounts = new AccountsStore(options.db);
  }

  /**
   * Makes a user who can sign in, for an operator's command; answers the id.
   * @throws Problem validation-error, not-found (account), conflict (email)
   */
  async create(input: NewUser): Promise<string> {
    return (await this.#create(input)).userId;
  }

  /**
   * Makes a user of the caller's account. Only owners make owners.
   * @throws Problem insufficient-scope, forbidden, validation-error, conflict (email, or too many users)
   */
  async invite(caller: Caller, input: Omit<NewUser, 'teamId'>): Promise<User> {
    requireScope(caller, 'account:write');
    checkUser({ ...input, teamId: caller.teamId });
    if (!mayGive(caller, input.role)) throw ownersOnly();
    if ((await this.#store.count(caller.teamId)) >= USERS_MAX) {
      throw new Problem('conflict', `The account has ${USERS_MAX} users already.`);
    }
    return this.#create({ ...input, teamId: caller.teamId });
  }

  /** Oldest first; `searchTerm`: part of the name or the email. @throws Problem insufficient-scope */
  async list(
    caller: Caller,
    page: { skip: number; limit: number; searchTerm?: string | undefined },
  ): Promise<User[]> {
    requireScope(caller, 'contacts:read');
    return this.#store.list(caller.teamId, page);
  }

  /**
   * Changes name, role or AI access. Only owners change owners, and one always stays.
   * @throws Problem insufficient-scope, forbidden, validation-error, not-found, conflict (the last owner)
   */
  async update(caller: Caller, userId: string, change: UserChange): Promise<User> {
    requireScope(caller, 'account:write');
    checkUserChange(change);
    const user = await this.#require(caller.teamId, userId);
    if (!mayGive(caller, user.role) || (change.role && !mayGive(caller, change.role))) throw ownersOnly();
    await this.#options.db.tx(async (tx) => {
      const owners = await this.#store.lockOwners(tx, caller.teamId);
      const leaves = change.role !== undefined && change.role !== 'owner' && owners.includes(user.userId);
      if (leaves && owners.length === 1)
        throw new Problem('conflict', 'An account keeps one owner at least.');
      await this.#store.update(tx, { teamId: caller.teamId, userId: user.userId }, change);
    });
    return this.#require(caller.teamId, userId);
  }

  /**
   * Null: unknown email, wrong password, or an account that is suspended; all take the same time. A hash of an older
   * kind is replaced. How often it may be tried is limited by who calls.
   */
  async signIn(email: string, password: string): Promise<SignedInUser | null> {
    const user = await this.#store.findByEmail(email);
    const stored = user?.passwordHash ?? (await (this.#nobody ??= hashPassword(NOBODY_PASSWORD)));
    const isRight = await verifyPassword(password, stored);
    if (!user || user.passwordHash === null || !isRight || user.suspended) return null;
    if (isOutdated(stored)) {
      const passwordHash = await hashPassword(password);
      await this.#store.rehash({ teamId: user.teamId, userId: user.userId, former: stored, passwordHash });
    }
    return signedIn(user);
  }

  /** A signed-in user as of now, whose tokens are checked against it. Null: no such user, or a suspended account. */
  async findSignedIn(teamId: string, userId: string): Promise<SignedInUser | null> {
    const user = isUuid(userId) ? await this.#store.find(teamId, userId) : null;
    const team = user && (await this.#accounts.find(teamId));
    return user && team && !team.suspended ? { ...user, scopes: scopesOf(user) } : null;
  }

  /** Display names of those of `userIds` that are users of the account, by id: who wrote, whom something can be given to. */
  async names(teamId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const ids = userIds.filter(isUuid);
    return ids.length === 0 ? new Map() : this.#store.names(teamId, ids);
  }

  async #create(input: NewUser): Promise<User> {
    checkUser(input);
    const { db, clock, ids } = this.#options;
    const account = isUuid(input.teamId) ? await this.#accounts.find(input.teamId) : null;
    if (!account) throw new Problem('not-found', 'There is no such account.');
    const { password, ...given } = input;
    const displayName = input.displayName ?? input.email;
    const user = { ...given, displayName, userId: ids.uuid(), createdAtMs: clock.nowMs() };
    try {
      await this.#store.insert(db, { ...user, passwordHash: await hashPassword(password) });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION)) throw error;
      throw new Problem('conflict', 'A user with this email exists already.');
    }
    return user;
  }

  async #require(teamId: string, userId: string): Promise<User> {
    const user = isUuid(userId) ? await this.#store.find(teamId, userId) : null;
    if (!user) throw new Problem('not-found', 'There is no such user.');
    return user;
  }
}

function signedIn({ passwordHash: _hash, suspended: _suspended, ...user }: SignInRow): SignedInUser {
  return { ...user, scopes: scopesOf(user) };
}

const ownersOnly = (): Problem => new Problem('forbidden', 'Only an owner can make or change an owner.');
