import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Ids } from '../../kernel/ids.ts';
import { Problem } from '../../kernel/problem.ts';
import { invalidField } from '../../kernel/text.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { Outbox } from '../../platform/outbox/index.ts';
import type { DncMarkCount, DncMarksService } from '../contacts/index.ts';
import {
  checkBrandId,
  checkEmail,
  checkIdentifiers,
  checkLabel,
  checkPhone,
  IDENTIFIERS_MAX,
  LOOKUP_MAX,
  METHOD_LENGTH_MAX,
  REASON_LENGTH_MAX,
  splitList,
  unknownBrand,
} from './dnc.rules.ts';
import type { Identifiers } from './dnc.rules.ts';
import { DncStore } from './dnc.store.ts';
import type { DncEntryRow } from './dnc.store.ts';

export type DncEntry = DncEntryRow;

export interface DncOptions {
  db: Db;
  outbox: Outbox;
  clock: Clock;
  ids: Ids;
  marks: Pick<DncMarksService, 'mark'>;
  /** Whether the account has this brand. */
  hasBrand: (teamId: string, brandId: string) => Promise<boolean>;
}

/** One identifier: a number, or else an email. */
export type Identifier = { phoneNumber: string } | { email: string };

export interface DncMatch extends Identifiers {
  /** How many of the identifiers asked for have an entry. */
  matched: number;
  entries: DncEntry[];
}

export interface NewDncEntries {
  /** One or a list. */
  phoneNumber?: unknown;
  email?: unknown;
  /** Omitted or null: every brand. */
  brandId?: unknown;
  reason?: unknown;
  method?: unknown;
}

export interface AddedDncEntries {
  /** One for each identifier, numbers first, in the order given. */
  results: DncMarkCount[];
  /** How many were listed for this brand before. */
  alreadyListed: number;
}

export interface RemovedDncEntries {
  deleted: string[];
  skipped: { phoneNumber: string | null; email: string | null; reason: 'self_added_opt_out' }[];
}

/** An opt-out as a contact made it. */
export type SelfAdded = Identifier & {
  teamId: string;
  brandId: string | null;
  /** Where it came from, for example `sms`, `phone`, `email`. */
  method: string;
  reason: string;
};

/**
 * The do-not-contact list of the caller's account. An entry blocks one brand, or every brand; those that contacts made
 * themselves stay. `dnc` of contacts changes in the same transaction.
 */
export class DncService {
  readonly #options: DncOptions;
  readonly #store: DncStore;

  constructor(options: DncOptions) {
    this.#options = options;
    this.#store = new DncStore(options.db);
  }

  /** Comma-separated numbers and emails; with a brand its entries and those of every brand. @throws Problem insufficient-scope, validation-error */
  async lookUp(
    caller: Caller,
    query: { phoneNumbers?: string; emails?: string; brandId?: string },
  ): Promise<DncMatch> {
    requireScope(caller, 'dnc:read');
    const identifiers = checkIdentifiers(
      {
        phones: { name: 'phone_numbers', values: splitList(query.phoneNumbers) },
        emails: { name: 'emails', values: splitList(query.emails) },
      },
      LOOKUP_MAX,
    );
    return this.#match(caller, identifiers, query.brandId);
  }

  /** @throws Problem insufficient-scope, validation-error, not-found (not listed: it may be sent to) */
  async get(caller: Caller, identifier: Identifier, query: { brandId?: string } = {}): Promise<DncMatch> {
    requireScope(caller, 'dnc:read');
    const match = await this.#match(caller, checkIdentifier(identifier), query.brandId);
    if (match.entries.length === 0) throw new Problem('not-found', 'It is not on the do-not-contact list.');
    return match;
  }

  /** Adding again for the same brand updates the entry. @throws Problem insufficient-scope, validation-error */
  async add(caller: Caller, input: NewDncEntries): Promise<AddedDncEntries> {
    requireScope(caller, 'dnc:write');
    const identifiers = checkIdentifiers(
      {
        phones: { name: 'phone_number', values: input.phoneNumber },
        emails: { name: 'email', values: input.email },
      },
      IDENTIFIERS_MAX,
    );
    const entries = {
      ...{ ...identifiers, teamId: caller.teamId, selfAdded: false, createdBy: caller.userId },
      reason: checkLabel('reason', input.reason, REASON_LENGTH_MAX),
      method: checkLabel('method', input.method, METHOD_LENGTH_MAX),
      brandId: await this.#brand(caller, input.brandId),
    };
    const { outbox, clock } = this.#options;
    return outbox.tx((tx) => this.#addIn(tx, { ...entries, nowMs: clock.nowMs() }));
  }

  /** An opt-out, in the transaction of what brought it: it cannot be removed. */
  async selfAdd(tx: Tx, optOut: SelfAdded): Promise<AddedDncEntries> {
    const { teamId, brandId, method, reason } = optOut;
    return this.#addIn(tx, {
      ...{ ...checkIdentifier(optOut), teamId, brandId, method, reason },
      ...{ selfAdded: true, createdBy: null, nowMs: this.#options.clock.nowMs() },
    });
  }

  /**
   * Takes back an opt-out, in the transaction of the word that asked for it: removes what the contact itself added for the
   * number, of every brand. Its contacts stay marked as long as other entries list it. Whether there was any.
   */
  async selfRemove(tx: Tx, of: { teamId: string; phoneNumber: string }): Promise<boolean> {
    const identifiers = { phoneNumbers: [of.phoneNumber], emails: [] };
    const entries = await this.#store.lock(tx, of.teamId, { ...identifiers, brandId: null });
    const own = entries.filter((entry) => entry.selfAdded).map((entry) => entry.entryId);
    if (own.length === 0) return false;
    await this.#store.remove(tx, of.teamId, own);
    if (own.length === entries.length) await this.#options.marks.mark(tx, of.teamId, identifiers, false);
    return true;
  }

  /**
   * Removes the brand's entry, or without a brand the most recently updated one. One that is not listed is removed all
   * the same: contacts with it are no longer marked.
   * @throws Problem insufficient-scope, validation-error (also: the contact opted out)
   */
  async remove(
    caller: Caller,
    identifier: Identifier,
    query: { brandId?: string } = {},
  ): Promise<DncMarkCount> {
    requireScope(caller, 'dnc:write');
    const identifiers = checkIdentifier(identifier);
    const brandId = await this.#brand(caller, query.brandId);
    return this.#options.outbox.tx(async (tx) => {
      const [entry] = await this.#store.lock(tx, caller.teamId, { ...identifiers, brandId });
      // The words are the contract's (Errors, DNC).
      if (entry?.selfAdded) throw new Problem('validation-error', 'dnc contact cannot be deleted');
      if (entry) await this.#store.remove(tx, caller.teamId, [entry.entryId]);
      const counts = await this.#options.marks.mark(tx, caller.teamId, identifiers, false);
      return [...counts.values()][0] ?? { matched: 0, modified: 0 };
    });
  }

  /** As `remove` for each, but opt-outs are skipped. Those that are not listed are in neither answer. @throws Problem insufficient-scope, validation-error */
  async bulkRemove(
    caller: Caller,
    input: { phoneNumbers?: unknown; emails?: unknown; brandId?: unknown },
  ): Promise<RemovedDncEntries> {
    requireScope(caller, 'dnc:write');
    const identifiers = checkIdentifiers(
      {
        phones: { name: 'phone_numbers', values: input.phoneNumbers },
        emails: { name: 'emails', values: input.emails },
      },
      IDENTIFIERS_MAX,
    );
    const brandId = await this.#brand(caller, input.brandId);
    return this.#options.outbox.tx(async (tx) => {
      const meant = new Map<string, DncEntry>();
      for (const entry of await this.#store.lock(tx, caller.teamId, { ...identifiers, brandId })) {
        const key = keyOf(entry);
        if (!meant.has(key)) meant.set(key, entry);
      }
      const entries = [...identifiers.phoneNumbers, ...identifiers.emails].flatMap((key) => {
        const entry = meant.get(key);
        meant.delete(key);
        return entry ? [entry] : [];
      });
      const [stay, go] = [entries.filter((e) => e.selfAdded), entries.filter((e) => !e.selfAdded)];
      const entryIds = go.map((entry) => entry.entryId);
      await this.#store.remove(tx, caller.teamId, entryIds);
      const staying = new Set(stay.map(keyOf));
      const isGone = (identifier: string): boolean => !staying.has(identifier);
      const gone = {
        phoneNumbers: identifiers.phoneNumbers.filter(isGone),
        emails: identifiers.emails.filter(isGone),
      };
      await this.#options.marks.mark(tx, caller.teamId, gone, false);
      return {
        deleted: go.map(keyOf),
        skipped: stay.map(({ phoneNumber, email }) => ({ phoneNumber, email, reason: 'self_added_opt_out' })),
      };
    });
  }

  /** Those of the identifiers (E.164 numbers, emails in lower case) that are listed, whatever the brand. */
  async isListed(tx: Tx, teamId: string, identifiers: readonly string[]): Promise<Set<string>> {
    return this.#store.listed(tx, teamId, identifiers);
  }

  /** Most recently updated first, from after an entry on. @throws Problem insufficient-scope, validation-error */
  async list(
    caller: Caller,
    page: { limit: number; after?: { updatedAtMs: number; entryId: string } | undefined },
  ): Promise<DncEntry[]> {
    requireScope(caller, 'dnc:read');
    const { limit, after = null } = page;
    if (!Number.isInteger(limit) || limit < 1) throw invalidField('limit', 'limit must be at least 1.');
    return this.#store.page(caller.teamId, { limit: Math.min(limit, LOOKUP_MAX), after });
  }

  /** @throws Problem insufficient-scope */
  async count(caller: Caller): Promise<number> {
    requireScope(caller, 'dnc:read');
    return this.#store.count(caller.teamId);
  }

  async #match(caller: Caller, identifiers: Identifiers, brand: unknown): Promise<DncMatch> {
    const brandId = await this.#brand(caller, brand);
    const entries = await this.#store.find(caller.teamId, { ...identifiers, brandId });
    return { ...identifiers, matched: new Set(entries.map(keyOf)).size, entries };
  }

  async #addIn(tx: Tx, entries: Parameters<DncStore['upsert']>[1]): Promise<AddedDncEntries> {
    const { ids, marks } = this.#options;
    const { phoneNumbers, emails, teamId } = entries;
    const existed = await this.#store.upsert(tx, entries, () => ids.uuid());
    const counts = await marks.mark(tx, teamId, { phoneNumbers, emails }, true);
    const seen = new Set<string>();
    let alreadyListed = 0;
    const results = [...phoneNumbers, ...emails].map((identifier) => {
      const isRepeated = seen.has(identifier);
      seen.add(identifier);
      if (isRepeated || existed.has(identifier)) alreadyListed += 1;
      const { matched, modified } = counts.get(identifier) ?? { matched: 0, modified: 0 };
      return { matched, modified: isRepeated ? 0 : modified };
    });
    return { results, alreadyListed };
  }

  async #brand(caller: Caller, brand: unknown): Promise<string | null> {
    const brandId = checkBrandId(brand);
    if (brandId !== null && !(await this.#options.hasBrand(caller.teamId, brandId))) throw unknownBrand();
    return brandId;
  }
}

const keyOf = (entry: DncEntry): string => entry.phoneNumber ?? entry.email ?? '';

const checkIdentifier = (identifier: Identifier): Identifiers =>
  'phoneNumber' in identifier
    ? { phoneNumbers: [checkPhone('phone_number', identifier.phoneNumber)], emails: [] }
    : { phoneNumbers: [], emails: [checkEmail('email', identifier.email)] };
