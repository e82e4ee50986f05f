import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ManualClock, systemClock } from '../../src/kernel/clock.ts';
import { catchWebhooks, testDb } from '../_util/index.ts';
import { isSigned, WebhookHarness } from './harness.ts';

const CHILD = fileURLToPath(new URL('./relay.child.ts', import.meta.url));
/** Longer than the lease of a delivery. */
const AFTER_LEASE_MS = 31_000;

it('a delivery whose process is killed between the POST and its record is made again with the same id', async () => {
  const database = await testDb();
  const catcher = await catchWebhooks((_hook, number) => (number === 1 ? 'never' : { status: 200 }));
  const accepting = new WebhookHarness(database.db, systemClock);
  const child = spawn(process.execPath, ['--import', 'tsx', CHILD], {
    env: { ...process.env, DATABASE_URL: database.url },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [id = ''] = await accepting.accept({ url: catcher.url, event: 'beep' });
  const [first] = await catcher.waitFor(1, undefined, 60_000);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await accepting.attempts(id)).toEqual([]);

  const clock = new ManualClock(Date.now());
  const successor = new WebhookHarness(database.db, clock);
  await successor.relay.poke();
  expect(catcher.caught).toHaveLength(1);
  clock.advance(AFTER_LEASE_MS);
  await successor.relay.poke();
  const second = catcher.caught[1];
  expect(second?.headers['x-delivery-id']).toBe(first?.headers['x-delivery-id']);
  expect(second?.body).toBe(first?.body);
  expect(second?.headers['x-timestamp']).not.toBe(first?.headers['x-timestamp']);
  expect(second && isSigned(second)).toBe(true);
  expect(await successor.delivery(id)).toMatchObject({ state: 'delivered', attempts: 1 });

  await Promise.all([accepting.stop(), successor.stop()]);
  await catcher.close();
  await database.drop();
});
