import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/kernel/clock.ts';
import { Heartbeat } from '../../src/main/heartbeat.ts';
import { Periodic } from '../../src/main/periodic.ts';
import { ProcessRegistry } from '../../src/main/process-registry.ts';
import { ReadinessBoard } from '../../src/main/readiness.ts';
import { createLogger, silentLogger } from '../../src/platform/logger/index.ts';
import { testDb, until } from '../_util/index.ts';

const ID = '11111111-1111-4111-8111-111111111111';
const CHILD = '22222222-2222-4222-8222-222222222222';

describe('ReadinessBoard', () => {
  it('is ready when every part is, and says of each that is not why', async () => {
    const board = new ReadinessBoard();
    board.add('database', () => ({ ok: true }));
    expect(await board.read()).toEqual({ ready: true, parts: { database: { ok: true } } });
    board.add('gateway', () => Promise.reject(new Error('gone')));
    expect(await board.read()).toEqual({
      ready: false,
      parts: { database: { ok: true }, gateway: { ok: false, detail: 'gone' } },
    });
  });

  it('does not wait for a part that does not answer, and asks once for all who wait', async () => {
    const board = new ReadinessBoard();
    let asked = 0;
    board.add('database', () => {
      asked += 1;
      return new Promise(() => undefined);
    });
    const answers = await Promise.all([board.read(), board.read(), board.read()]);
    expect(answers.map((answer) => answer.parts.database?.ok)).toEqual([false, false, false]);
    expect(asked).toBe(1);
  });

  it('stays ready without an optional part, and never again after the drain began', async () => {
    const board = new ReadinessBoard();
    board.add('queue', () => ({ ok: false, detail: 'away', isOptional: true }));
    expect(await board.read()).toEqual({ ready: true, parts: { queue: { ok: false, detail: 'away' } } });
    board.drain();
    expect(await board.read()).toMatchObject({
      ready: false,
      parts: { process: { ok: false, detail: 'ending' } },
    });
  });
});

describe('Periodic', () => {
  let periodic: Periodic | undefined;
  afterEach(() => periodic?.stop());

  it('runs a job again and again, never beside itself, and waits for its end when stopped', async () => {
    periodic = new Periodic(silentLogger);
    let running = 0;
    let most = 0;
    let runs = 0;
    periodic.add({
      name: 'job',
      intervalMs: 1,
      run: async () => {
        most = Math.max(most, (running += 1));
        await new Promise((resolve) => setTimeout(resolve, 5));
        running -= 1;
        runs += 1;
      },
    });
    await until(() => runs >= 3);
    await periodic.stop();
    expect({ running, most }).toEqual({ running: 0, most: 1 });
    const ended = runs;
    await new Promise((resolve) => setImmediate(resolve));
    expect(runs).toBe(ended);
  });

  it('logs a fault once, goes on, and says when it works again', async () => {
    const lines: string[] = [];
    const logger = createLogger(
      { logLevel: 'info', logFormat: 'json' },
      { write: (line: string) => void lines.push(line) },
    );
    periodic = new Periodic(logger);
    let runs = 0;
    periodic.add({
      name: 'job',
      intervalMs: 1,
      run: async () => {
        runs += 1;
        if (runs <= 3) throw new Error('no');
      },
    });
    await until(() => runs >= 5);
    expect(lines.filter((line) => line.includes('is tried again'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('works again'))).toHaveLength(1);
  });
});

describe('ProcessRegistry and Heartbeat', () => {
  it('keep the row of the process, and record the end of a child once the database takes it', async () => {
    const test = await testDb();
    const lost: string[] = [];
    let isAway = true;
    const registry = new ProcessRegistry({
      db: test.db,
      id: ID,
      roles: ['api', 'worker'],
      onLost: async (processId) => {
        if (isAway) throw new Error('away');
        lost.push(processId);
      },
    });
    await registry.beat();
    await test.db.query(
      `insert into processes (id, role, pid, host, version) values ($1, 'gateway', 1, 'h', '1')`,
      [CHILD],
    );
    await expect(registry.childEnded(CHILD)).rejects.toThrow('away');
    isAway = false;
    await registry.beat();
    await registry.beat();
    expect(lost).toEqual([CHILD]);
    const living = () => test.db.query<{ id: string }>('select id from processes where ended_at is null');
    expect((await living()).rows).toEqual([{ id: ID }]);
    await registry.end();
    expect((await living()).rows).toEqual([]);
    await test.db.query(`update processes set heartbeat_at = now() - interval '8 days' where id = $1`, [
      CHILD,
    ]);
    await registry.forget();
    expect((await test.db.query('select id from processes')).rows).toEqual([{ id: ID }]);
    await test.drop();
  });

  it('judge the heartbeats of others only when all had time to beat since the last outage', async () => {
    const clock = new ManualClock(0);
    const heartbeat = new Heartbeat(async () => undefined, clock);
    const beat = async (times: number): Promise<void> => {
      for (let n = 0; n < times; n += 1) {
        clock.advance(1_000);
        await heartbeat.run();
      }
    };
    await beat(14);
    expect(heartbeat.isSteady()).toBe(false);
    await beat(1);
    expect(heartbeat.isSteady()).toBe(true);
    clock.advance(20_000);
    expect(heartbeat.isSteady()).toBe(false);
    await beat(10);
    expect(heartbeat.isSteady()).toBe(false);
    await beat(10);
    expect(heartbeat.isSteady()).toBe(true);
  });
});
