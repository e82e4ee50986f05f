import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';
import { startApi } from '../_util/api.ts';
import type { TestApi } from '../_util/api.ts';

type Name = 'phone' | 'email' | 'record_id' | 'first_name' | 'last_name';
const NAMES: readonly Name[] = ['phone', 'email', 'record_id', 'first_name', 'last_name'];
const KEYS: readonly Name[] = ['phone', 'email', 'record_id'];
const INVALID: Partial<Record<Name, string>> = { phone: '12', email: 'nobody' };

type Row = Partial<Record<Name, string>>;
interface Call {
  readonly rows: readonly Row[];
  readonly mode: 'append' | 'overwrite';
}

/** A contact of the model: its values, and within one call every identifier that rows brought to it. */
interface Modelled {
  values: Row;
  aliases: Set<string>;
}

/** What an import must do, row by row, in the plainest words. */
class Model {
  readonly contacts: Modelled[] = [];

  import(call: Call): { inserted: number; updated: number; rejected: number[] } {
    const before = new Set(this.contacts);
    const seen = new Set<Modelled>();
    const rejected: number[] = [];
    for (const contact of this.contacts) contact.aliases = new Set(keysOf(contact.values));
    for (const [index, row] of call.rows.entries()) {
      const keys = keysOf(row);
      const matches = this.contacts.filter((contact) => keys.some((key) => contact.aliases.has(key)));
      const isValid = NAMES.every((name) => row[name] === undefined || row[name] !== INVALID[name]);
      if (!isValid || Object.keys(row).length === 0 || matches.length > 1) {
        rejected.push(index);
        continue;
      }
      const contact = matches[0] ?? { values: {}, aliases: new Set<string>() };
      if (matches.length === 0) this.contacts.push(contact);
      for (const name of NAMES) {
        const value = row[name];
        if (value === undefined) continue;
        if (contact.values[name] === undefined || call.mode === 'overwrite') contact.values[name] = value;
      }
      for (const key of keys) contact.aliases.add(key);
      seen.add(contact);
    }
    const updated = [...seen].filter((contact) => before.has(contact)).length;
    return { inserted: seen.size - updated, updated, rejected };
  }
}

const keysOf = (row: Row): string[] =>
  KEYS.filter((name) => row[name] !== undefined).map((name) => `${name} ${row[name]}`);

const byContent = (rows: Row[]): string[] =>
  rows.map((row) => JSON.stringify(NAMES.map((name) => row[name] ?? null))).sort();

describe('the import', () => {
  let database: TestDb;
  let api: TestApi;

  beforeAll(async () => {
    database = await testDb();
    api = await startApi(database);
  });
  afterAll(async () => {
    await api.close();
    await database.drop();
  });

  it('does what a model of single rows does: append, overwrite, merge, reject', async () => {
    const few = (values: string[], invalid?: string) =>
      fc.option(fc.constantFrom(...values, ...(invalid === undefined ? [] : [invalid])), { nil: undefined });
    const row = fc
      .record({
        phone: few(['+12025550101', '+12025550102', '+12025550103', '+442079460958'], INVALID.phone),
        email: few(['a@example.com', 'b@example.com', 'c@example.com'], INVALID.email),
        record_id: few(['r1', 'r2']),
        first_name: few(['Ada', 'Grace']),
        last_name: few(['Example']),
      })
      .map(
        (full) => Object.fromEntries(Object.entries(full).filter(([, value]) => value !== undefined)) as Row,
      );
    const account = await api.account();
    const call = fc.record({
      rows: fc.array(row, { minLength: 1, maxLength: 8 }),
      mode: fc.constantFrom('append' as const, 'overwrite' as const),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 3 }), async (calls) => {
        await database.db.query('delete from contacts where team_id = $1', [account.teamId]);
        const model = new Model();
        for (const { rows, mode } of calls) {
          const expected = model.import({ rows, mode });
          const result = await api.services.contactImport.run(account.caller, {
            fields: NAMES,
            values: rows.map((one) => NAMES.map((name) => one[name] ?? null)),
            conflictMode: mode,
            region: 'US',
          });
          expect({
            inserted: result.inserted.length,
            updated: result.updated.length,
            rejected: result.rejected.map(({ index }) => index),
          }).toEqual(expected);
          expect(new Set([...result.inserted, ...result.updated]).size).toBe(
            expected.inserted + expected.updated,
          );
        }
        const { contacts, total } = await api.services.contacts.list(account.caller, { limit: 100 });
        const stored = contacts.map((one): Row => ({
          ...(one.phoneNumber === null ? {} : { phone: one.phoneNumber }),
          ...(one.email === null ? {} : { email: one.email }),
          ...(one.uid === null ? {} : { record_id: one.uid }),
          ...(one.firstName === null ? {} : { first_name: one.firstName }),
          ...(one.lastName === null ? {} : { last_name: one.lastName }),
        }));
        expect(byContent(stored)).toEqual(byContent(model.contacts.map(({ values }) => values)));
        expect(total).toBe(model.contacts.length);
      }),
      { numRuns: 200 },
    );
  }, 240_000);
});
