/** Texts that were answered with 202 while what the service stands on dies, freezes and forgets: PostgreSQL and Redis. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { until } from '../_util/index.ts';
import { freezePostgres, OwnPostgres } from './_util/postgres.ts';
import { Line, redisForTests } from './_util/redis.ts';
import { CELL_LIMIT_MS, scaled } from './_util/scale.ts';
import { SendingLab } from './_util/sends.ts';
import type { Cell } from './_util/sends.ts';

/** Sends of one cell. */
const SENDS = scaled(200, 2_000);
/** The promise: work goes on within 15 s, whatever Redis does. */
const GOES_ON_MS = 15_000;
const FROZEN_MS = scaled(3_000, 20_000);
const LIMIT = { timeout: CELL_LIMIT_MS };

describe.sequential('sends whose PostgreSQL', LIMIT, () => {
  let postgres: OwnPostgres;
  let sending: SendingLab;

  beforeAll(async () => {
    postgres = await OwnPostgres.start();
    sending = await SendingLab.open({ own: await postgres.testDb() });
    await sending.start();
  }, CELL_LIMIT_MS);
  afterAll(() => sending.close(), CELL_LIMIT_MS);

  /** `strike` comes when the first of the sends are under way, and ends with a database that answers again. */
  const cell = async (name: string, strike: () => Promise<void>): Promise<Cell> => {
    const asked = sending.ask(name, sending.numbers(SENDS));
    await until(() => asked.accepted.size > SENDS / 10, 60_000, 'the first sends of the cell');
    await strike();
    await sending.noteKilled();
    await asked.done;
    await sending.settled();
    return asked;
  };

  const comesBack = async (signal: NodeJS.Signals): Promise<void> => {
    const died = await postgres.pid();
    process.kill(died, signal);
    const isBack = async (): Promise<boolean> => {
      if ((await postgres.pid()) === died) return false;
      return sending.lab.ledger.query('select 1').then(
        () => true,
        () => false,
      );
    };
    await until(isBack, 60_000, 'an answer of the new PostgreSQL');
  };

  it('is restarted are neither lost nor doubled', async () => {
    await sending.expectWhole(await cell('restart', () => comesBack('SIGINT')));
  });

  it('dies are neither lost nor doubled', async () => {
    const asked = await cell('death', () => comesBack('SIGKILL'));
    // What a crash of the database takes back are the claims of its last moments: callbacks in flight may come again.
    for (const sendId of asked.accepted.values()) sending.mayRepeat.add(sendId);
    await sending.expectWhole(asked);
  });

  it('stands still are neither lost nor doubled', async () => {
    const asked = await cell('freeze', async () => {
      const frozen = await freezePostgres(sending.lab.ledger, await postgres.pid());
      const thawAtMs = performance.now() + FROZEN_MS;
      await until(() => performance.now() > thawAtMs, CELL_LIMIT_MS, 'the end of the stop').finally(() =>
        frozen.thaw(),
      );
    });
    await sending.expectWhole(asked);
    await sending.expectMoney();
  });
});

const redis = await redisForTests();
if (!redis)
  console.warn('SKIPPED: Redis under sends, since none answers and there is no redis-server to start');

describe.skipIf(!redis)('sends while Redis', LIMIT, () => {
  let line: Line;
  let sending: SendingLab;

  beforeAll(async () => {
    if (!redis) return;
    line = await Line.to(redis);
    await line.connect();
    sending = await SendingLab.open({ env: { REDIS_URL: redis.urlBy(line.port) } });
    await sending.start();
    await until(() => line.open >= 1, 30_000, 'a connection to Redis');
  }, CELL_LIMIT_MS);
  afterAll(async () => {
    await sending.close();
    await line.cut();
    await redis?.close();
  }, CELL_LIMIT_MS);

  const expectSends = async (name: string, strike: () => Promise<void>): Promise<void> => {
    const asked = sending.ask(name, sending.numbers(SENDS));
    await strike();
    const [to = ''] = sending.numbers(1);
    await sending.send({ to, foreignId: `${name}-late 0` });
    await until(() => sending.carrier.byNumber().has(to), GOES_ON_MS + SENDS * 20, 'a late send');
    await asked.done;
    await sending.settled();
    await sending.expectWhole(asked);
  };

  it('loses all its keys under way are neither lost nor doubled', () =>
    expectSends('flush', async () => {
      for (let round = 0; round < 20; round += 1) await redis?.loseKeys();
    }));

  it('freezes are neither lost nor doubled', async () => {
    await expectSends('frozen', async () => line.freeze());
    line.thaw();
  });

  it('is cut off are neither lost nor doubled', () => expectSends('cut', () => line.cut()));
});
