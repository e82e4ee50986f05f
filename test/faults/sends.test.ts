/**
 * Texts that were answered with 202 against processes killed with -9 at each point of a send's way. A carrier that keeps a
 * log reports the fate of what it took; what the client was promised, what the carrier has and what callback_url heard are
 * compared.
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { until } from '../_util/index.ts';
import type { CrashPoint } from './_util/lab.ts';
import { CELL_LIMIT_MS, picker, scaled } from './_util/scale.ts';
import { SendingLab } from './_util/sends.ts';
import type { Cell } from './_util/sends.ts';

/** Sends of one cell. */
const SENDS = scaled(200, 2_000);
const LIMIT = { timeout: CELL_LIMIT_MS };

/** Where a service is killed by the driver of its database, in the order of a send's way. */
const CRASH_POINTS: readonly CrashPoint[] = [
  'before a send is inserted',
  'after a send is committed',
  'after a send is claimed',
  'after an attempt is committed',
  'before an answer is recorded',
  'before a result is recorded',
];
const CARRIER_HAS_IT = 'after the carrier took a text, before it answered';
const CALLBACK_POSTED = 'after a callback is posted, before its record';
/** Nobody dies: the process goes on without knowing what it committed. */
const COMMIT_CUT: CrashPoint = 'an attempt is committed and not heard of';

/** One service after the other on one database: each is killed under a cell of its own and leaves the rest to the next. */
describe.sequential('a service that takes and makes sends, killed with -9', LIMIT, () => {
  let sending: SendingLab;
  const cells = new Map<string, Cell>();
  const pick = picker('sends');

  const cell = async (name: string, strike: (begin: () => void) => Promise<void>): Promise<void> => {
    await strike(() => void cells.set(name, sending.ask(name, sending.numbers(SENDS))));
    await sending.noteKilled();
  };

  const killedBy = (point: CrashPoint): Promise<void> =>
    cell(point, async (begin) => {
      const crash = sending.lab.crash(point, pick(1, SENDS / 2), { isArmedLater: true });
      const dying = await sending.start(crash.env);
      crash.arm();
      begin();
      await until(() => crash.struck, 60_000, `a pass of the point "${point}"`);
      await dying.exited;
    });

  beforeAll(async () => {
    sending = await SendingLab.open();
    for (const point of CRASH_POINTS) await killedBy(point);
    await cell(CARRIER_HAS_IT, async (begin) => {
      const dying = await sending.start();
      const taken = sending.carrier.takeSilently(pick(1, SENDS / 2));
      begin();
      const request = await taken;
      await dying.kill();
      sending.carrier.report(request);
    });
    await cell(CALLBACK_POSTED, async (begin) => {
      const dying = await sending.start();
      const killAt = sending.callbackCount + pick(1, SENDS / 4);
      sending.onCallback = (_, count) => {
        if (count !== killAt) return { status: 200 };
        dying.signal('SIGKILL');
        return 'never';
      };
      begin();
      await dying.exited;
    });
    const cut = sending.lab.crash(COMMIT_CUT, 1, { isArmedLater: true });
    await sending.start(cut.env);
    await cell(COMMIT_CUT, async (begin) => {
      cut.arm();
      begin();
      await until(() => cut.struck, 60_000, `a pass of the point "${COMMIT_CUT}"`);
    });
    for (const { done } of cells.values()) await done;
    await sending.settled();
  }, CELL_LIMIT_MS);
  afterAll(() => sending.close(), CELL_LIMIT_MS);

  for (const name of [...CRASH_POINTS, CARRIER_HAS_IT, CALLBACK_POSTED, COMMIT_CUT]) {
    it(`${name}: loses no send and doubles none`, async () => {
      const found = cells.get(name);
      if (!found) throw new Error(`the cell "${name}" was not reached`);
      await sending.expectWhole(found);
    });
  }

  it('books each success once', () => sending.expectMoney());
});
