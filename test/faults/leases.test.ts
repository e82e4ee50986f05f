/** What a killed process had claimed is handed out again by its successor, however long its leases would have run. */
import { expect, it } from 'vitest';
import { until } from '../_util/index.ts';
import { acceptDeliveries } from './_util/accepted.ts';
import { Lab } from './_util/lab.ts';
import { CELL_LIMIT_MS, picker, scaled } from './_util/scale.ts';

const DELIVERIES = scaled(50, 500);

it(
  'the work of a worker killed with -9 does not wait out its leases',
  { timeout: CELL_LIMIT_MS },
  async () => {
    const lab = await Lab.open({ ROLES: 'worker' });
    try {
      const receiver = await lab.receiver();
      await acceptDeliveries(lab.test.db, { ...lab, url: receiver.url, count: DELIVERIES });
      const crash = lab.crash('before record', picker('leases')(1, Math.floor(DELIVERIES / 2)));
      const dying = lab.start(crash.env).catch(() => undefined);
      await until(() => crash.struck, 60_000, 'the kill');
      await (
        await dying
      )?.exited;
      // Longer than any test waits: without being handed back they would never be done.
      const held = await lab.ledger.query(
        `update outbox set lease_until = now() + interval '1 day' where lease_owner is not null returning key`,
      );
      expect(held.length).toBeGreaterThan(0);
      await lab.start();
      await lab.ledger.settled();
      const rows = await lab.ledger.expectNothingLost(receiver);
      expect(rows.filter(({ state }) => state !== 'delivered')).toEqual([]);
    } finally {
      await lab.close();
    }
  },
);
