import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Db } from '../../platform/db/index.ts';
import { changedRules, DEFAULT_RULES } from './dialing-rules.rules.ts';
import type { DialingRulesChange } from './dialing-rules.rules.ts';
import { DialingRulesStore } from './dialing-rules.store.ts';
import type { DialingRules } from './facts.type.ts';

/** An account's rules as it is shown them. */
export interface DialingRulesView extends DialingRules {
  /** Epoch ms; null: never changed, the defaults hold. */
  readonly updatedAtMs: number | null;
}

/** The rules that an account's sends keep (contract, Limits; supplement 13, Sends). */
export class DialingRulesService {
  readonly #options: { db: Db; clock: Clock };
  readonly #store: DialingRulesStore;

  constructor(options: { db: Db; clock: Clock }) {
    this.#options = options;
    this.#store = new DialingRulesStore(options.db);
  }

  /** What holds for an account now; read fresh, so that a change holds for the next send. */
  async of(teamId: string): Promise<DialingRules> {
    return (await this.ofMany([teamId])).get(teamId) ?? DEFAULT_RULES;
  }

  /** As `of`, for each of several accounts: one statement. */
  async ofMany(teamIds: readonly string[]): Promise<ReadonlyMap<string, DialingRules>> {
    const stored = await this.#store.find(teamIds);
    return new Map(teamIds.map((teamId) => [teamId, stored.get(teamId) ?? DEFAULT_RULES]));
  }

  /** @throws Problem insufficient-scope, forbidden */
  async get(caller: Caller): Promise<DialingRulesView> {
    requireScope(caller, 'balance:read', 'account:write');
    const stored = (await this.#store.find([caller.teamId])).get(caller.teamId);
    return stored ?? { ...DEFAULT_RULES, updatedAtMs: null };
  }

  /** What is omitted stays. @throws Problem insufficient-scope, forbidden, validation-error */
  async update(caller: Caller, change: DialingRulesChange): Promise<DialingRulesView> {
    requireScope(caller, 'account:write');
    const { db, clock } = this.#options;
    const { teamId, userId } = caller;
    return db.tx(async (tx) => {
      const current = (await this.#store.lock(tx, teamId)) ?? DEFAULT_RULES;
      const rules = { ...changedRules(current, change), updatedAtMs: clock.nowMs() };
      await this.#store.set(tx, { teamId, userId }, rules);
      return rules;
    });
  }
}
