import { requireScope } from '../../kernel/caller.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isUuid } from '../../kernel/ids.ts';
import type { Ids } from '../../kernel/ids.ts';
import { invalidField } from '../../kernel/text.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { Announce, Outbox } from '../../platform/outbox/index.ts';
import { namedValues, unknownType } from './contacts.change.rules.ts';
import type { ChangeInput } from './contacts.change.rules.ts';
import { changedNews, createdNews } from './contacts.present.ts';
import { checkRegion, identifiersOf, readDraft, targetOf } from './contacts.rules.ts';
import type { Draft, NamedValue, Target } from './contacts.rules.ts';
import type { CustomField } from './fields.rules.ts';
import { FieldsStore } from './fields.store.ts';
import { CONFLICT_MODES, IMPORT_FIELDS_MAX, IMPORT_ROWS_MAX, planImport } from './import.rules.ts';
import type { ConflictMode, ImportedContact, ImportPlan, ImportRow, Rejection } from './import.rules.ts';
import { ImportStore } from './import.store.ts';
import type { Keys, Written } from './import.store.ts';
import { LISTS_PER_CALL_MAX, noSuchList } from './lists.rules.ts';
import { ListsStore } from './lists.store.ts';
import { retryAlone } from './write-gate.ts';

/** Which of the identifiers (E.164 numbers, emails in lower case) are on the account's do-not-contact list, for any brand. */
export type IsListed = (tx: Tx, teamId: string, identifiers: readonly string[]) => Promise<Set<string>>;

export interface ContactWriterOptions {
  readonly db: Db;
  readonly outbox: Pick<Outbox, 'tx'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly announce: Announce;
  readonly isListed: IsListed;
  /** Country that an account's numbers without one belong to. */
  readonly regionOf: (teamId: string) => Promise<string>;
}

interface ImportOptions {
  readonly listIds?: readonly string[] | undefined;
  /** Two-letter country of numbers without one; omitted: the account's. */
  readonly region?: string | undefined;
  readonly conflictMode?: string | undefined;
}

export interface ImportRows extends ImportOptions {
  readonly fields: readonly string[];
  readonly values: readonly (readonly unknown[])[];
}

export interface NewContact extends ImportOptions, ChangeInput {}

export interface ImportResult {
  readonly inserted: readonly string[];
  readonly updated: readonly string[];
  readonly rejected: readonly Rejection[];
}

interface ReadRows {
  readonly caller: Caller;
  readonly rows: readonly ImportRow[];
  readonly mode: ConflictMode;
  readonly listIds: readonly string[];
}

/** Brings contacts into the caller's account: what its rows plan is one transaction (supplement 5 and 13). */
export class ImportService {
  readonly #options: ContactWriterOptions;
  readonly #store = new ImportStore();
  readonly #fields: FieldsStore;
  readonly #lists: ListsStore;

  constructor(options: ContactWriterOptions) {
    this.#options = options;
    this.#fields = new FieldsStore(options.db);
    this.#lists = new ListsStore(options.db);
  }

  /**
   * Rows of values under the types of their columns. Ids come in the order of the rows.
   * @throws Problem insufficient-scope, validation-error, not-found (a list)
   */
  async run(caller: Caller, input: ImportRows): Promise<ImportResult> {
    requireScope(caller, 'contacts:write');
    const { fields, values } = input;
    if (fields.length === 0 || fields.length > IMPORT_FIELDS_MAX)
      throw invalidField('fields', `fields must have 1 to ${IMPORT_FIELDS_MAX} columns.`);
    if (values.length > IMPORT_ROWS_MAX)
      throw invalidField('values', `values must have at most ${IMPORT_ROWS_MAX} rows.`);
    const custom = await this.#customFields(caller);
    const targets = fields.map((type) => {
      const target = targetOf(type, custom);
      if (!target) throw unknownType('fields', type);
      return target;
    });
    const places = targets.map((target) => ('custom' in target ? target.custom.slug : target.value));
    if (new Set(places).size < places.length) throw invalidField('fields', 'fields has a column twice.');
    const region = await this.#region(caller, input.region);
    const rows = values.map((row): ImportRow => {
      if (row.length > fields.length) return { reasons: ['the row has more values than there are fields'] };
      const named = row.map((raw, index) => ({
        name: fields[index] ?? '',
        target: targets[index] as Target,
        raw,
      }));
      return rowOf(named, region);
    });
    return this.#write(caller, rows, input);
  }

  /** One contact; the answer is that of an import of one row. @throws as `run` */
  async create(caller: Caller, input: NewContact): Promise<ImportResult> {
    requireScope(caller, 'contacts:write');
    const named = namedValues(input, await this.#customFields(caller));
    const region = await this.#region(caller, input.region);
    return this.#write(caller, [rowOf(named, region)], input);
  }

  async #customFields(caller: Caller): Promise<ReadonlyMap<string, CustomField>> {
    const fields = await this.#fields.list(caller.teamId);
    return new Map(fields.map((field) => [field.slug, field]));
  }

  async #region(caller: Caller, region: string | undefined): Promise<string> {
    return region === undefined ? this.#options.regionOf(caller.teamId) : checkRegion(region);
  }

  async #write(caller: Caller, rows: readonly ImportRow[], input: ImportOptions): Promise<ImportResult> {
    const mode = CONFLICT_MODES.find((known) => known === (input.conflictMode ?? 'append'));
    if (!mode)
      throw invalidField('conflict_mode', `conflict_mode must be one of ${CONFLICT_MODES.join(', ')}.`);
    const read = { caller, rows, mode, listIds: checkListIds(input.listIds ?? []) };
    const plan = await retryAlone((isAlone) =>
      this.#options.outbox.tx((tx) => this.#writeIn(tx, read, isAlone)),
    );
    const ids = (isNew: boolean): string[] =>
      plan.contacts.filter((contact) => contact.isNew === isNew).map((contact) => contact.contactId);
    return { inserted: ids(true), updated: ids(false), rejected: plan.rejected };
  }

  async #writeIn(tx: Tx, read: ReadRows, isAlone: boolean): Promise<ImportPlan> {
    const { caller, rows, mode, listIds } = read;
    const { teamId, userId } = caller;
    const { clock, ids, announce } = this.#options;
    await this.#store.enter(tx, teamId, isAlone);
    const stored = await this.#store.match(tx, teamId, lookedFor(rows));
    // Contacts before lists, wherever both are held, and lists before the total that an insert moves.
    if (listIds.length > 0 && (await this.#lists.lock(tx, teamId, listIds)).length < listIds.length)
      throw noSuchList();
    const plan = planImport(rows, stored, { mode, newId: () => ids.uuid() });
    const written = await this.#withListed(tx, teamId, plan);
    const nowMs = clock.nowMs();
    const [added, changed] = [written.filter((c) => c.isNew), written.filter((c) => !c.isNew)];
    await this.#store.insert(tx, { teamId, userId, nowMs }, added);
    await this.#store.update(tx, { teamId, nowMs }, changed);
    const contactIds = plan.contacts.map((contact) => contact.contactId);
    await this.#lists.addMembers(tx, { teamId, listIds, contactIds, nowMs });
    await announce(tx, [
      ...added.map((contact) => createdNews(teamId, contact, nowMs)),
      ...changed.map((contact) => changedNews(teamId, contact, nowMs)),
    ]);
    return plan;
  }

  /** Only what differs is written, and asks whether one of its new identifiers is listed. */
  async #withListed(tx: Tx, teamId: string, plan: ImportPlan): Promise<Written[]> {
    const changed = plan.contacts
      .filter((contact) => contact.isChanged)
      .map((contact) => ({ contact, identifiers: newIdentifiers(contact) }));
    const identifiers = [...new Set(changed.flatMap((one) => one.identifiers))];
    const listed =
      identifiers.length === 0 ? new Set<string>() : await this.#options.isListed(tx, teamId, identifiers);
    return changed.map(({ contact, identifiers: own }) => ({
      ...contact,
      isListed: own.some((identifier) => listed.has(identifier)),
    }));
  }
}

function newIdentifiers({ before, values }: ImportedContact): string[] {
  const known = new Set(identifiersOf(before));
  return identifiersOf(values).filter((identifier) => !known.has(identifier));
}

function rowOf(named: readonly NamedValue[], region: string): ImportRow {
  const { draft, faults } = readDraft(named, region);
  return faults.length > 0 ? { reasons: faults.map((fault) => fault.reason) } : draft;
}

/** Every identifier that a row names. */
function lookedFor(rows: readonly ImportRow[]): Keys {
  const keys = { phones: new Set<string>(), emails: new Set<string>(), uids: new Set<string>() };
  for (const row of rows.filter((one): one is Draft => !('reasons' in one))) {
    const { phoneNumber, email, uid } = row.values;
    if (phoneNumber !== undefined) keys.phones.add(phoneNumber);
    if (email !== undefined) keys.emails.add(email.toLowerCase());
    if (uid !== undefined) keys.uids.add(uid);
  }
  return { phones: [...keys.phones], emails: [...keys.emails], uids: [...keys.uids] };
}

/** @throws Problem validation-error, not-found */
function checkListIds(listIds: readonly string[]): string[] {
  if (listIds.length > LISTS_PER_CALL_MAX)
    throw invalidField('list_ids', `list_ids must have at most ${LISTS_PER_CALL_MAX} lists.`);
  if (!listIds.every(isUuid)) throw noSuchList();
  return [...new Set(listIds.map((id) => id.toLowerCase()))];
}
