import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { captured, fundsAdded, refunded, released, reserved } from '../../src/features/accounts/index.ts';
import type { LedgerEntry } from '../../src/features/accounts/index.ts';
import { AccountsWorld, testDb, until } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

describe('the ledger', () => {
  let database: TestDb;
  let world: AccountsWorld;

  beforeAll(async () => {
    database = await testDb();
    world = new AccountsWorld(database);
  });
  afterAll(async () => {
    await world.close();
    await database.drop();
  });

  const newTeam = async (): Promise<string> =>
    (await world.services.accounts.create({ name: 'Ledger' })).teamId;
  const book = (...entries: LedgerEntry[]) => database.db.tx((tx) => world.services.ledger.book(tx, entries));
  const funds = (teamId: string, amountMicros: bigint) =>
    fundsAdded({ teamId, amountMicros, causeType: 'test', causeId: randomUUID() });
  const sums = async (teamId: string) =>
    (
      await database.db.query<{ amount: bigint; reserved: bigint; n: bigint }>(
        `select coalesce(sum(amount_micros), 0)::bigint as amount, coalesce(sum(reserved_micros), 0)::bigint as reserved,
           count(*) as n from ledger_entries where team_id = $1`,
        [teamId],
      )
    ).rows[0];

  it('books a cause once for each kind, within a batch and across batches', async () => {
    const teamId = await newTeam();
    const cause = { teamId, amountMicros: 100n, causeType: 'session', causeId: 's1' };
    await book(captured(cause), captured(cause), fundsAdded({ ...cause, amountMicros: 1_000n }));
    await book(captured(cause));
    expect(await world.services.ledger.balance(teamId)).toMatchObject({ balanceMicros: 900n });
    expect((await sums(teamId))?.n).toBe(2n);
  });

  it('charges by units of a priced product, with a price of its own where an account has one', async () => {
    const [standard, special] = [await newTeam(), await newTeam()];
    await database.db.query('insert into prices (product_code, team_id, price_micros) values ($1, $2, 100)', [
      'detection',
      special,
    ]);
    const charge = (teamId: string, units: number) => ({
      ...{ teamId, productCode: 'detection', units, causeType: 'session', causeId: randomUUID() },
    });
    await database.db.tx((tx) =>
      world.services.ledger.capture(tx, [charge(standard, 10), charge(special, 10), charge(standard, 1)]),
    );
    expect((await world.services.ledger.balance(standard)).balanceMicros).toBe(-6_600n);
    expect((await world.services.ledger.balance(special)).balanceMicros).toBe(-1_000n);
    const unknown = { ...charge(standard, 1), productCode: 'unknown' };
    await expect(database.db.tx((tx) => world.services.ledger.capture(tx, [unknown]))).rejects.toThrow(
      /no price/,
    );
  });

  it('cannot be changed, shortened or emptied', async () => {
    const teamId = await newTeam();
    await book(funds(teamId, 5n));
    for (const sql of [
      'update ledger_entries set amount_micros = 0',
      'delete from ledger_entries',
      'truncate ledger_entries',
    ]) {
      await expect(database.db.query(sql)).rejects.toThrow('ledger entries are immutable');
    }
    expect((await sums(teamId))?.amount).toBe(5n);
  });

  it('leaves nothing of a transaction that rolls back', async () => {
    const teamId = await newTeam();
    const failed = database.db.tx(async (tx) => {
      await world.services.ledger.book(tx, [funds(teamId, 5n)]);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(await sums(teamId)).toMatchObject({ amount: 0n, n: 0n });
    expect((await world.services.ledger.balance(teamId)).balanceMicros).toBe(0n);
  });

  it('announces an account when its funds end or come back, and not otherwise', async () => {
    const teamId = await newTeam();
    const last = await newTeam();
    const heard = await world.announcements();
    const take = (amountMicros: bigint) =>
      captured({ teamId, amountMicros, causeType: 'session', causeId: randomUUID() });
    await book(funds(teamId, 100n));
    await book(take(40n));
    await book(take(60n));
    await book(take(10n));
    await book(funds(teamId, 5n));
    await book(funds(teamId, 6n));
    await book(reserved({ teamId, amountMicros: 1n, causeType: 'send', causeId: '1' }));
    await book(funds(last, 1n));
    await until(() => heard.includes(last));
    expect(heard.filter((payload) => payload === teamId)).toHaveLength(4);
  });

  it('books opposite batches over the same accounts at the same time without a deadlock', async () => {
    const teams = await Promise.all(Array.from({ length: 6 }, newTeam));
    await Promise.all(
      Array.from({ length: 40 }, (_, i) => {
        const order = i % 2 === 0 ? teams : [...teams].reverse();
        return book(...order.map((teamId) => funds(teamId, 1n)));
      }),
    );
    for (const teamId of teams) expect((await world.services.ledger.balance(teamId)).balanceMicros).toBe(40n);
  });

  it('agrees with a model after any commands: the balance is the sum of the entries', async () => {
    const make = { funds_added: fundsAdded, reserved, captured, released, refunded };
    const command = fc.record({
      team: fc.nat(2),
      kind: fc.constantFrom('funds_added', 'reserved', 'captured', 'released', 'refunded'),
      amount: fc.bigInt({ min: 0n, max: 1_000_000n }),
      cause: fc.nat(30),
      fails: fc.boolean(),
    });
    const batches = fc.array(fc.array(command, { minLength: 1, maxLength: 8 }), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(batches, async (commands) => {
        const teams = [await newTeam(), await newTeam(), await newTeam()];
        const model = teams.map(() => ({ balance: 0n, reserved: 0n, booked: new Set<string>() }));
        for (const batch of commands) {
          const fails = batch.every((one) => one.fails);
          const entries = batch.map(({ team, kind, amount, cause }) =>
            make[kind]({
              ...{
                teamId: teams[team] ?? '',
                amountMicros: amount,
                causeType: 'test',
                causeId: String(cause),
              },
            }),
          );
          const done = database.db.tx(async (tx) => {
            await world.services.ledger.book(tx, entries);
            if (fails) throw new Error('rolled back');
          });
          if (fails) {
            await expect(done).rejects.toThrow('rolled back');
            continue;
          }
          await done;
          for (const [index, entry] of entries.entries()) {
            const account = model[batch[index]?.team ?? 0];
            const name = `${entry.kind} ${entry.causeId}`;
            if (!account || account.booked.has(name)) continue;
            account.booked.add(name);
            account.balance += entry.amountMicros;
            account.reserved += entry.reservedMicros;
          }
        }
        for (const [index, teamId] of teams.entries()) {
          const expected = { balance: model[index]?.balance, reserved: model[index]?.reserved };
          const { balanceMicros, reservedMicros, availableMicros } =
            await world.services.ledger.balance(teamId);
          expect({ balance: balanceMicros, reserved: reservedMicros }).toEqual(expected);
          expect(availableMicros).toBe(balanceMicros - reservedMicros);
          expect(await sums(teamId)).toMatchObject({ amount: expected.balance, reserved: expected.reserved });
        }
      }),
      { numRuns: 40 },
    );
  });
});
