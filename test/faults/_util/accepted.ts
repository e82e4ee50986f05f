import { randomUUID } from 'node:crypto';
import { systemClock } from '../../../src/kernel/clock.ts';
import { deliveryMessages, insertDeliveries } from '../../../src/features/webhooks/index.ts';
import type { NewDelivery } from '../../../src/features/webhooks/index.ts';
import type { Db } from '../../../src/platform/db/index.ts';
import { silentLogger } from '../../../src/platform/logger/index.ts';
import { Outbox } from '../../../src/platform/outbox/index.ts';
import { createQueue } from '../../../src/platform/queue/index.ts';
import type { Credentials } from './service.ts';

/** Events of one made-up session; each session is one order key, as in the journal. */
const EVENTS_PER_SESSION = 10;

/**
 * Deliveries with their outbox rows in one committed transaction, as the gateway's journal leaves them: accepted
 * work that no process has touched yet. Their ids.
 */
export async function acceptDeliveries(
  db: Db,
  work: { credentials: Credentials; url: string; count: number },
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>('select id from detection_keys where team_id = $1', [
    work.credentials.team_id,
  ]);
  const signingKeyId = rows[0]?.id;
  if (signingKeyId === undefined) throw new Error('the account has no Detection key');
  const deliveries = Array.from({ length: work.count }, (_, index) => index).map(
    deliveryOf({ teamId: work.credentials.team_id, url: work.url, signingKeyId }),
  );
  const queue = createQueue({ logger: silentLogger, clock: systemClock });
  const outbox = new Outbox(db, queue, systemClock);
  await outbox.tx(async (tx) => {
    await insertDeliveries(tx, deliveries);
    await outbox.add(tx, deliveryMessages(deliveries));
  });
  await queue.close();
  return deliveries.map(({ deliveryId }) => deliveryId);
}

function deliveryOf(of: {
  teamId: string;
  url: string;
  signingKeyId: string;
}): (index: number) => NewDelivery {
  let sourceId = randomUUID();
  return (index) => {
    if (index % EVENTS_PER_SESSION === 0) sourceId = randomUUID();
    const sequence = (index % EVENTS_PER_SESSION) + 1;
    const deliveryId = randomUUID();
    const event = 'detection';
    const envelope = {
      delivery_id: deliveryId,
      event,
      session_id: sourceId,
      source: 'ws',
      sequence,
      data: { index },
    };
    return {
      ...of,
      deliveryId,
      kind: 'detection',
      sourceId,
      sequence,
      event,
      headers: {},
      body: JSON.stringify(envelope),
      createdAtMs: Date.now(),
    };
  };
}
