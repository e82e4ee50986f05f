/**
 * `npm run bench:dispatch [-- --quick --assert --no-write]`: how many sends a second one worker takes from queued to their
 * result (rules, simulator, money, news), with its own PostgreSQL on the same machine. The sends wait already when the
 * worker starts; each case has a database of its own.
 *   --quick   a tenth of the sends, nothing written     --assert   exit 1 when a target is missed
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { createDispatchHandler, createResultHandlers } from '../../src/features/sends/index.ts';
import type { DispatchOptions } from '../../src/features/sends/index.ts';
import { compose } from '../../src/main/compose.ts';
import type { Services } from '../../src/main/compose.ts';
import { EmbeddedCluster, migrate } from '../../src/platform/db/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { Relay } from '../../src/platform/outbox/index.ts';
import { createQueue } from '../../src/platform/queue/index.ts';
import { loadSettings } from '../../src/platform/settings/index.ts';
import { table } from '../detection/report.ts';
import { machineLine } from '../machine.ts';

const PROJECT_DIR = fileURLToPath(new URL('../..', import.meta.url));
const CONNECTIONS = 20;
const POLL_MS = 100;
/** The product's own promises. */
const TARGETS = { perSecond: 1_000, oneToFifty: 0.8, heldSlowdown: 1.2, otherDelayMs: 2_000 };
/** Into a queue that is being worked off. */
const OTHER_AFTER_MS = 1_000;
const HELD_ROWS = 1_000_000;

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    assert: { type: 'boolean', default: false },
    'no-write': { type: 'boolean', default: false },
  },
});
const scale = flags.quick ? 0.1 : 1;

interface Case {
  readonly name: string;
  readonly sends: number;
  readonly accounts: number;
  /** Each number belongs to a contact, so that each result writes its timeline entry. */
  readonly hasContacts?: boolean;
  /** Rows of the outbox that wait for tomorrow. */
  readonly heldRows?: number;
  /** Another account sends once while the first's queue is worked off. */
  readonly hasOther?: boolean;
}

const CASES = {
  fifty: { name: 'fifty accounts', sends: 20_000 * scale, accounts: 50 },
  one: { name: 'one account', sends: 20_000 * scale, accounts: 1 },
  contacts: { name: 'one account, to contacts', sends: 20_000 * scale, accounts: 1, hasContacts: true },
  held: {
    ...{ name: `one account beside ${(HELD_ROWS * scale).toLocaleString('en')} held rows`, accounts: 1 },
    ...{ sends: 20_000 * scale, heldRows: HELD_ROWS * scale },
  },
  other: {
    ...{ name: 'an account with 100,000 queued, and another’s single send', accounts: 1, hasOther: true },
    sends: 100_000 * scale,
  },
} satisfies Record<string, Case>;

interface Found {
  readonly perSecond: number;
  /** Processor time of the worker a send. */
  readonly cpuUs: number;
  /** From its acceptance to its result. */
  readonly otherMs: number | null;
  readonly outcomes: Record<string, number>;
}

/** An account that may send texts at any hour, with its share of the sends queued. */
async function fill(services: Services, of: Case, index: number): Promise<string> {
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
  const count = Math.ceil(of.sends / of.accounts);
  const numbers = Array.from({ length: count }, (_, n) => `+1212${String(2_000_000 + index * count + n)}`);
  const ids = numbers.map(() => services.ids.timed(services.clock.nowMs()));
  if (of.hasContacts) {
    await db.query(
      `insert into contacts (id, team_id, phone_number, created_by)
       select gen_random_uuid(), $1, n, $2 from unnest($3::text[]) as n`,
      [teamId, ownerId, numbers],
    );
  }
  await queue(services, teamId, { ids, numbers });
  return teamId;
}

async function queue(
  { db }: Services,
  teamId: string,
  { ids, numbers }: { ids: readonly string[]; numbers: readonly string[] },
): Promise<void> {
  await db.query(
    `insert into sends (id, team_id, channel, request, created_by, created_at)
     select w.id, $1, 'sms', jsonb_build_object('to', w.number, 'body', 'Hello.'), $1, now()
     from unnest($2::uuid[], $3::text[]) as w (id, number)`,
    [teamId, ids, numbers],
  );
  await db.query(
    `insert into outbox (topic, key, lane, payload, available_at)
     select 'send.dispatch', id, $1, '{}', now() from unnest($2::text[]) as id`,
    [`send.dispatch|${teamId}:sms`, ids],
  );
}

const hold = ({ db }: Services, teamId: string, rows: number): Promise<unknown> =>
  db.query(
    `insert into outbox (topic, key, lane, payload, available_at)
     select 'send.dispatch', gen_random_uuid(), $1, '{}', now() + interval '1 day' from generate_series(1, $2)`,
    [`send.dispatch|${teamId}:sms`, rows],
  );

async function measure(of: Case): Promise<Found> {
  const folder = mkdtempSync(join(tmpdir(), 'tonegate-bench-'));
  const cluster = new EmbeddedCluster({ folder, logger: silentLogger });
  await cluster.start();
  try {
    await migrate(cluster.url);
    const settings = loadSettings({ DATA_DIR: folder });
    const at = { url: cluster.url, maxConnections: CONNECTIONS, applicationName: 'bench' };
    const services = compose({ settings, masterKey: randomBytes(32), logger: silentLogger, ...at });
    try {
      return await measureOn(services, of);
    } finally {
      await services.close();
    }
  } finally {
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureOn(services: Services, of: Case): Promise<Found> {
  const { db, clock, ids, outbox, ledger, net } = services;
  const teams: string[] = [];
  for (let index = 0; index < of.accounts; index += 1) teams.push(await fill(services, of, index));
  const other = of.hasOther ? await fill(services, { ...of, sends: 0 }, of.accounts) : null;
  if (of.heldRows) await hold(services, teams[0] ?? '', of.heldRows);
  await db.query('vacuum analyze');
  const options: DispatchOptions = {
    ...{ db, outbox, clock, ledger, net, rules: services.dialingRules },
    ...{ carriers: services.carrierConnections, results: services.sendResults },
    ...{ audio: services.lookups.messageAudio, streamOf: () => ({ url: '', parameters: {} }) },
  };
  const handlers = [
    createDispatchHandler(options),
    ...createResultHandlers({ results: services.sendResults }),
  ];
  const wakes = createQueue({ logger: silentLogger, clock });
  const relay = new Relay({ db, queue: wakes, clock, logger: silentLogger, ids, handlers });
  const done = async (): Promise<number> => {
    const sql = `select count(*) as n from send_steps where kind = 'result' and team_id = any($1::uuid[])`;
    return Number((await db.query<{ n: bigint }>(sql, [teams])).rows[0]?.n ?? 0);
  };
  const [fromMs, fromCpu] = [performance.now(), process.cpuUsage()];
  relay.start();
  const single = other === null ? null : sendOnce(services, other);
  while ((await done()) < of.sends) await pause(POLL_MS);
  const tookMs = performance.now() - fromMs;
  const cpu = process.cpuUsage(fromCpu);
  const otherMs = await single;
  await relay.stop();
  const { rows } = await db.query<{ code: number; sends: number }>(
    'select outcome_code as code, count(*)::int as sends from sends group by 1',
  );
  return {
    ...{ perSecond: (of.sends * 1_000) / tookMs, cpuUs: (cpu.user + cpu.system) / of.sends, otherMs },
    outcomes: Object.fromEntries(rows.map(({ code, sends }) => [String(code), sends])),
  };
}

/** One send of an account in the middle of another's queue: how long it takes to its result. */
async function sendOnce(services: Services, teamId: string): Promise<number> {
  await pause(OTHER_AFTER_MS);
  const fromMs = performance.now();
  await queue(services, teamId, {
    ids: [services.ids.timed(services.clock.nowMs())],
    numbers: ['+12129999999'],
  });
  const sql = 'select 1 from sends where team_id = $1 and outcome_code is not null';
  while ((await services.db.query(sql, [teamId])).rowCount === 0) await pause(POLL_MS / 5);
  return performance.now() - fromMs;
}

const found = {} as Record<keyof typeof CASES, Found>;
for (const [name, of] of Object.entries(CASES) as [keyof typeof CASES, Case][]) {
  found[name] = await measure(of);
  const { perSecond, cpuUs, otherMs, outcomes } = found[name];
  const other = otherMs === null ? '' : `, the other’s after ${Math.round(otherMs)} ms`;
  console.log(
    `${of.name}: ${Math.round(perSecond)}/s, ${Math.round(cpuUs)} µs of the worker a send${other} ${JSON.stringify(outcomes)}`,
  );
}

const { fifty, one, held, other } = found;
const slowest = Math.min(...Object.values(found).map(({ perSecond }) => perSecond));
const otherMs = other.otherMs ?? Infinity;
const lines = [
  [
    'sends a second, the slowest case',
    `at least ${TARGETS.perSecond}`,
    slowest.toFixed(0),
    slowest >= TARGETS.perSecond,
  ],
  [
    ...['one account ÷ fifty', `at least ${TARGETS.oneToFifty}`],
    ...[(one.perSecond / fifty.perSecond).toFixed(2), one.perSecond / fifty.perSecond >= TARGETS.oneToFifty],
  ],
  [
    ...['a send beside held rows ÷ without', `at most ${TARGETS.heldSlowdown}`],
    ...[(one.perSecond / held.perSecond).toFixed(2), one.perSecond / held.perSecond <= TARGETS.heldSlowdown],
  ],
  [
    ...['a single send beside 100,000 of another account', `at most ${TARGETS.otherDelayMs} ms`],
    ...[`${Math.round(otherMs)} ms`, otherMs <= TARGETS.otherDelayMs],
  ],
] as [string, string, string, boolean][];
const text = `${[
  '# Sends dispatched, measured',
  `${machineLine(PROJECT_DIR)}. One worker process and its PostgreSQL on the same cores; texts through the built-in simulator, from queued to their result with its news.`,
  '## Targets',
  table(
    ['What', 'Bound', 'Measured', ''],
    lines.map(([what, bound, measured, met]) => [what, bound, measured, met ? 'met' : '**missed**']),
  ),
  '## Cases',
  table(
    ['', 'sends', 'a second', 'CPU of the worker a send'],
    Object.entries(CASES).map(([name, { name: shown, sends }]) => {
      const { perSecond, cpuUs } = found[name as keyof typeof CASES];
      return [shown, String(sends), perSecond.toFixed(0), `${cpuUs.toFixed(0)} µs`];
    }),
  ),
].join('\n\n')}\n`;
console.log(`\n${text}`);
if (!flags.quick && !flags['no-write'])
  writeFileSync(fileURLToPath(new URL('../results/sends-dispatch.md', import.meta.url)), text);
if (flags.assert && !lines.every(([, , , met]) => met)) process.exitCode = 1;
