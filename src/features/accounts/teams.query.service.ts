import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import { isUuid } from '../../kernel/ids.ts';
import { pageOf, timeKeyOf, wrongCursor } from '../../kernel/keyset.ts';
import type { Keyset, KeysetPage } from '../../kernel/keyset.ts';
import { Problem } from '../../kernel/problem.ts';
import { checkText } from '../../kernel/text.ts';
import type { Db } from '../../platform/db/index.ts';
import type { LedgerKind } from './ledger.rules.ts';
import type { BalanceView } from './ledger.service.ts';
import { TeamsQueryStore } from './teams.query.store.ts';
import type { LedgerEntryView, PriceView, TeamView, UserView } from './teams.query.store.ts';

const SEARCH_TERM_MAX = 100;
/** Users shown beside an account; the list of users has them all. */
const USERS_OF_TEAM_MAX = 20;
const INTEGER = /^\d{1,18}$/;

/** Accounts, money and users as consoles read them: in pages, and for many accounts at once. */
export class TeamsQueryService {
  readonly #store: TeamsQueryStore;

  constructor(options: { db: Db }) {
    this.#store = new TeamsQueryStore(options.db);
  }

  /** Whether there is such an account. */
  async exists(teamId: string): Promise<boolean> {
    return isUuid(teamId) && (await this.#store.findTeams([teamId])).length > 0;
  }

  /** Any credential reads its own account, operators read all. @throws Problem not-found */
  async get(caller: Caller, teamId: string): Promise<TeamView> {
    const isOpen = caller.operator || teamId.toLowerCase() === caller.teamId;
    const found = isOpen && isUuid(teamId) ? (await this.#store.findTeams([teamId]))[0] : undefined;
    if (!found) throw new Problem('not-found', 'There is no such account.');
    return found;
  }

  /** Newest first. @throws Problem forbidden: not an operator; validation-error */
  async list(caller: Caller, keyset: Keyset, searchTerm: string | null): Promise<KeysetPage<TeamView>> {
    this.#requireOperator(caller);
    const of = { after: timeKeyOf(keyset.after), searchTerm: searched(searchTerm), limit: keyset.first + 1 };
    return pageOf(await this.#store.listTeams(of), keyset.first);
  }

  async count(caller: Caller, searchTerm: string | null): Promise<number> {
    this.#requireOperator(caller);
    return this.#store.countTeams(searched(searchTerm));
  }

  /** Balances by account. @throws Problem insufficient-scope, not-found: an account that is not the caller's */
  async balances(caller: Caller, teamIds: readonly string[]): Promise<Map<string, BalanceView>> {
    requireScope(caller, 'balance:read');
    this.#requireSight(caller, teamIds);
    const rows = await this.#store.balances(teamIds);
    return new Map(
      rows.map(({ teamId, balanceMicros, reservedMicros }) => [
        teamId,
        { balanceMicros, reservedMicros, availableMicros: balanceMicros - reservedMicros },
      ]),
    );
  }

  /** Newest first. @throws Problem insufficient-scope, validation-error */
  async ledger(
    caller: Caller,
    keyset: Keyset,
    kind: LedgerKind | null,
  ): Promise<KeysetPage<LedgerEntryView>> {
    requireScope(caller, 'balance:read');
    const afterId = keyset.after?.[0] ?? null;
    if (afterId !== null && !INTEGER.test(afterId)) throw wrongCursor();
    return pageOf(
      await this.#store.ledger(caller.teamId, { afterId, kind, limit: keyset.first + 1 }),
      keyset.first,
    );
  }

  async countLedger(caller: Caller, kind: LedgerKind | null): Promise<number> {
    requireScope(caller, 'balance:read');
    return this.#store.countLedger(caller.teamId, kind);
  }

  /** What each product costs the account. @throws Problem insufficient-scope */
  async prices(caller: Caller): Promise<PriceView[]> {
    requireScope(caller, 'balance:read');
    return this.#store.prices(caller.teamId);
  }

  /** Newest first. @throws Problem insufficient-scope, validation-error */
  async users(caller: Caller, keyset: Keyset, searchTerm: string | null): Promise<KeysetPage<UserView>> {
    requireScope(caller, 'contacts:read');
    const of = { after: timeKeyOf(keyset.after), searchTerm: searched(searchTerm), limit: keyset.first + 1 };
    return pageOf(await this.#store.listUsers(caller.teamId, of), keyset.first);
  }

  async countUsers(caller: Caller, searchTerm: string | null): Promise<number> {
    requireScope(caller, 'contacts:read');
    return this.#store.countUsers(caller.teamId, searched(searchTerm));
  }

  /** Those of the caller's account, by id. @throws Problem insufficient-scope */
  async usersById(caller: Caller, userIds: readonly string[]): Promise<Map<string, UserView>> {
    requireScope(caller, 'contacts:read');
    const rows = await this.#store.findUsers(caller.teamId, userIds.filter(isUuid));
    return new Map(rows.map((row) => [row.userId, row]));
  }

  /** The first users of each account, oldest first. @throws Problem insufficient-scope, not-found */
  async usersOf(caller: Caller, teamIds: readonly string[]): Promise<Map<string, UserView[]>> {
    requireScope(caller, 'contacts:read');
    this.#requireSight(caller, teamIds);
    const byTeam = new Map<string, UserView[]>(teamIds.map((teamId) => [teamId, []]));
    for (const user of await this.#store.usersOf(teamIds, USERS_OF_TEAM_MAX)) {
      byTeam.get(user.teamId)?.push(user);
    }
    return byTeam;
  }

  #requireOperator(caller: Caller): void {
    if (!caller.operator) throw new Problem('forbidden', 'Only an operator may list accounts.');
  }

  #requireSight(caller: Caller, teamIds: readonly string[]): void {
    if (caller.operator || teamIds.every((teamId) => teamId === caller.teamId)) return;
    throw new Problem('not-found', 'There is no such account.');
  }
}

const searched = (term: string | null): string | null =>
  term === null || term === '' ? null : checkText('search_term', term, SEARCH_TERM_MAX);
