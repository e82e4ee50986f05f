/**
 * `npx tsx benchmarks/sends/dispatch.ts [--sends 10000] [--accounts 1] [--contacts]`: how many sends a second one worker takes
 * from queued to their result (rules, simulator, money, news), with its own PostgreSQL on the same machine. The sends wait
 * already when the worker starts.
 *   --contacts   each number belongs to a contact, so that each result writes its timeline entry
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { createDispatchHandler, createResultHandlers } from '../../src/features/sends/index.ts';
import type { DispatchOptions } from '../../src/features/sends/index.ts';
import { compose } from '../../src/main/compose.ts';
import type { Services } from '../../src/main/compose.ts';
import { composeSends } from '../../src/main/compose-sends.ts';
import { EmbeddedCluster, migrate } from '../../src/platform/db/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { createNet } from '../../src/platform/net/index.ts';
import { Relay } from '../../src/platform/outbox/index.ts';
import { createQueue } from '../../src/platform/queue/index.ts';
import { loadSettings } from '../../src/platform/settings/index.ts';
import { machineLine } from '../machine.ts';

const PROJECT_DIR = fileURLToPath(new URL('../..', import.meta.url));
const CONNECTIONS = 20;
const POLL_MS = 100;
/** The product's own promise. */
const TARGET_PER_SECOND = 1_000;

const { values: flags } = parseArgs({
  options: {
    sends: { type: 'string', default: '10000' },
    accounts: { type: 'string', default: '1' },
    contacts: { type: 'boolean', default: false },
  },
});
const sends = Number(flags.sends);
const accounts = Number(flags.accounts);

/** An account that may send texts at any hour, with its share of the sends queued. */
async function fill(services: Services, index: number): Promise<void> {
  const { db } = services;
  const { teamId, ownerId } = await services.accounts.create({
    name: `Load ${index}`,
    fundsMicros: 10n ** 12n,
  });
  const brand = await db.query<{ id: string }>(
    `insert into brands (id, team_id, company_name, registered, texting_campaign_status, created_by)
     values (gen_random_uuid(), $1, 'Load', true, 'approved', $2) returning id`,
    [teamId, ownerId],
  );
  await db.query(
    `insert into phone_lines (id, team_id, name, type, is_default, brand_id, created_by)
     values (gen_random_uuid(), $1, 'Main', 'sms', true, $2, $3)`,
    [teamId, brand.rows[0]?.id, ownerId],
  );
  await db.query('insert into dialing_rules (team_id, hours_enabled, updated_by) values ($1, false, $2)', [
    ...[teamId, ownerId],
  ]);
  const count = Math.ceil(sends / accounts);
  const numbers = Array.from({ length: count }, (_, n) => `+1212${String(2_000_000 + index * count + n)}`);
  const ids = numbers.map(() => services.ids.timed(services.clock.nowMs()));
  if (flags.contacts) {
    await db.query(
      `insert into contacts (id, team_id, phone_number, created_by)
       select gen_random_uuid(), $1, n, $2 from unnest($3::text[]) as n`,
      [teamId, ownerId, numbers],
    );
  }
  await db.query(
    `insert into sends (id, team_id, channel, request, created_by, created_at)
     select w.id, $1, 'sms', jsonb_build_object('to', w.number, 'body', 'Hello.'), $2, now()
     from unnest($3::uuid[], $4::text[]) as w (id, number)`,
    [teamId, ownerId, ids, numbers],
  );
  await db.query(
    `insert into outbox (topic, key, lane, payload, available_at)
     select 'send.dispatch', id, $1, '{}', now() from unnest($2::text[]) as id`,
    [`send.dispatch|${teamId}:sms`, ids],
  );
}

const folder = mkdtempSync(join(tmpdir(), 'tonegate-bench-'));
const cluster = new EmbeddedCluster({ folder, logger: silentLogger });
await cluster.start();
try {
  await migrate(cluster.url);
  const masterKey = randomBytes(32);
  const settings = loadSettings({ DATA_DIR: folder });
  const common = { settings, masterKey, logger: silentLogger };
  const at = { url: cluster.url, maxConnections: CONNECTIONS, applicationName: 'bench' };
  const services = compose({ ...common, ...at });
  const net = createNet({ allowPrivateTargets: false, logger: silentLogger });
  const { db, clock, ids, outbox, ledger, publisher } = services;
  for (let index = 0; index < accounts; index += 1) await fill(services, index);
  await db.query('analyze');
  const made = composeSends({ ...services, masterKey, net, announce: publisher.announce });
  const options: DispatchOptions = {
    ...{ db, outbox, clock, ledger, net },
    ...{ rules: made.dialingRules, carriers: made.carrierConnections, results: made.sendResults },
    audio: services.lookups.messageAudio,
    streamOf: () => ({ url: '', parameters: {} }),
  };
  const handlers = [createDispatchHandler(options), ...createResultHandlers({ results: made.sendResults })];
  const queue = createQueue({ logger: silentLogger, clock });
  const relay = new Relay({ db, queue, clock, logger: silentLogger, ids, handlers });
  const done = async (): Promise<number> => {
    const { rows } = await db.query<{ n: bigint }>(
      `select count(*) as n from send_steps where kind = 'result'`,
    );
    return Number(rows[0]?.n ?? 0);
  };
  const [fromMs, fromCpu] = [performance.now(), process.cpuUsage()];
  relay.start();
  while ((await done()) < sends) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  const tookMs = performance.now() - fromMs;
  const cpu = process.cpuUsage(fromCpu);
  await relay.stop();
  const outcomes = await db.query('select outcome_code, count(*)::int as sends from sends group by 1');
  console.log(machineLine(PROJECT_DIR));
  console.log(
    `${sends} sends of ${accounts} accounts: ${Math.round((sends * 1_000) / tookMs)}/s (target ${TARGET_PER_SECOND})`,
  );
  console.log(`Processor time of the worker: ${Math.round((cpu.user + cpu.system) / sends)} µs a send`);
  console.log(JSON.stringify(outcomes.rows));
  await net.close();
  await services.close();
} finally {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}
