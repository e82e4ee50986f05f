import DataLoader from 'dataloader';
import type { Caller } from '../../kernel/caller.ts';
import { Problem } from '../../kernel/problem.ts';
import type { MutationAnswers } from './answers.ts';
import type { Feeds } from './stream.ts';

/** Keys of one relation that are loaded by one call of its service. */
const BATCH_MAX = 500;

/** What resolvers are given of a request, or of a connection's operation. */
export interface GraphContext {
  readonly caller: Caller;
  readonly requestId: string;
  readonly loaders: Loaders;
  /** Whether an account exists; asked for before an operator acts in it. */
  readonly hasTeam: (teamId: string) => Promise<boolean>;
  readonly answers: MutationAnswers;
  readonly feeds: Feeds;
}

/** Loads of relations, gathered over all objects of one request: a relation is one call however many objects ask. */
export class Loaders {
  readonly #byName = new Map<string, DataLoader<string, unknown>>();
  readonly #remembers: boolean;

  /** `remembers: false`: gathered but not remembered, for subscriptions, whose events come over hours. */
  constructor(options: { remembers: boolean } = { remembers: true }) {
    this.#remembers = options.remembers;
  }

  /**
   * The loader of a relation. `name` tells relations (and their arguments) apart; `load` answers what it found by key,
   * null stands for the others.
   */
  of<V>(
    name: string,
    load: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>,
  ): DataLoader<string, V | null> {
    const known = this.#byName.get(name);
    if (known) return known as DataLoader<string, V | null>;
    const made = new DataLoader<string, V | null>(
      async (keys) => {
        const found = await load(keys);
        return keys.map((key) => found.get(key) ?? null);
      },
      { maxBatchSize: BATCH_MAX, cache: this.#remembers },
    );
    this.#byName.set(name, made);
    return made;
  }
}

/**
 * The caller within an account: operators act in any, everyone else only in their own.
 * @throws Problem not-found: another account, or none
 */
export async function actIn(context: GraphContext, teamId: string | null | undefined): Promise<Caller> {
  const { caller } = context;
  if (teamId === null || teamId === undefined || teamId.toLowerCase() === caller.teamId) return caller;
  const found = caller.operator && (await context.hasTeam(teamId));
  if (!found) throw new Problem('not-found', 'There is no such account.');
  return { ...caller, teamId: teamId.toLowerCase() };
}

/** As `actIn`, for objects that are loaded already and so belong to an account the caller may see. */
export const within = (context: GraphContext, teamId: string): Caller =>
  teamId === context.caller.teamId ? context.caller : { ...context.caller, teamId };
