/** A worker process that makes deliveries until it is killed (DATABASE_URL). */
import { systemClock } from '../../src/kernel/clock.ts';
import { openDb } from '../../src/platform/db/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { WebhookHarness } from './harness.ts';

const db = openDb({
  url: process.env['DATABASE_URL'] ?? '',
  maxConnections: 4,
  applicationName: 'tonegate-test-child',
  logger: silentLogger,
});
new WebhookHarness(db, systemClock).relay.start();
