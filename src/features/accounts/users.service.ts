import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import type { Db } from '../../platform/db/index.ts';
import { checkUser } from './accounts.rules.ts';
import type { NewUser } from './accounts.rules.ts';
import { AccountsStore } from './accounts.store.ts';
import { hashPassword } from './password.ts';

/** SQLSTATE unique_violation. */
const UNIQUE_VIOLATION = '23505';

/** Users of an account, made by an operator. */
export class UsersService {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #store: AccountsStore;

  constructor(options: { db: Db; clock: Clock; ids: Ids }) {
    this.#db = options.db;
    this.#clock = options.clock;
    this.#ids = options.ids;
    this.#store = new AccountsStore(options.db);
  }

  /** Makes a user who can sign in; answers the id. @throws Problem validation-error, not-found (account), conflict (email) */
  async create(input: NewUser): Promise<string> {
    checkUser(input);
    const account = isUuid(input.teamId) ? await this.#store.find(input.teamId) : null;
    if (!account) throw new Problem('not-found', 'There is no such account.');
    const { password, ...user } = input;
    const userId = this.#ids.uuid();
    const passwordHash = await hashPassword(password);
    const displayName = input.displayName ?? input.email;
    try {
      await this.#store.insertUser(this.#db, {
        ...user,
        userId,
        displayName,
        passwordHash,
        nowMs: this.#clock.nowMs(),
      });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION)) throw error;
      throw new Problem('conflict', 'A user with this email exists already.');
    }
    return userId;
  }
}
