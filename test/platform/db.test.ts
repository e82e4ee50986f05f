import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDb, until } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

describe('Db', () => {
  let test: TestDb;
  beforeAll(async () => void (test = await testDb()));
  afterAll(() => test.drop());

  const insertTeam = (id: string) => `insert into teams (id, name) values ('${id}', 'A')`;
  const ID = '11111111-1111-4111-8111-111111111111';

  it('commits a transaction that resolves and undoes one that throws', async () => {
    await expect(
      test.db.tx(async (tx) => {
        await tx.query(insertTeam(ID));
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect((await test.db.query('select 1 from teams')).rowCount).toBe(0);
    await test.db.tx((tx) => tx.query(insertTeam(ID)));
    expect(await test.db.prisma.team.findUnique({ where: { id: ID } })).toMatchObject({
      name: 'A',
      detection: true,
    });
  });

  it('gives bigint columns as bigint', async () => {
    const { rows } = await test.db.query<{ n: bigint }>('select 9007199254740993::bigint as n');
    expect(rows[0]?.n).toBe(9007199254740993n);
  });

  it('takes a connection back in order after its statement failed', async () => {
    await expect(test.db.query('select broken')).rejects.toThrow('broken');
    await expect(test.db.tx((tx) => tx.query('select broken'))).rejects.toThrow('broken');
    expect(test.db.pool.idleCount).toBe(test.db.pool.totalCount);
    expect((await test.db.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('survives a connection that the server ends within a transaction', async () => {
    await expect(
      test.db.tx(async (tx) => {
        const own = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
        await test.db.query('select pg_terminate_backend($1)', [own.rows[0]?.pid]);
        await tx.query('select 1');
      }),
    ).rejects.toThrow();
    expect((await test.db.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('hears notifications and says so with an empty payload after its connection was lost', async () => {
    const heard: string[] = [];
    const stop = await test.db.listen('test_channel', (payload) => heard.push(payload));
    await test.db.query(`select pg_notify('test_channel', 'one')`);
    await until(() => heard.includes('one'));
    await test.db.query(`select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %'`);
    await until(() => heard.includes(''));
    await test.db.query(`select pg_notify('test_channel', 'two')`);
    await until(() => heard.includes('two'));
    await stop();
    await test.db.query(`select pg_notify('test_channel', 'three')`);
    expect(heard).toEqual(['one', '', 'two']);
  });
});
