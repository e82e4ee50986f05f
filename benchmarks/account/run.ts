/**
 * `npm run bench:account [-- --quick --assert --no-write]`: importing 10,000 rows, a list of a million contacts, REST
 * reads beside a bare Fastify route, nested GraphQL beside resolvers without batches, in one run.
 *   --quick   100,000 contacts, one short round, nothing written     --assert   exit 1 when a target is missed
 * TONEGATE_BENCH_ROUNDS (5), TONEGATE_BENCH_SECONDS (3): length of the comparisons.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { measureConsole } from './console.ts';
import { IMPORT_ROWS, measureImports } from './import.ts';
import { Client } from './load.ts';
import { measurePages, measureSearches } from './million.ts';
import { measureReads } from './reads.ts';
import { isMet, linesOf, textOf, type Figures } from './report.ts';
import { MILLION, seedConsole, seedMillion } from './seed.ts';
import { CLI, openStage, type Stage } from './stage.ts';

const PROJECT_DIR = fileURLToPath(new URL('../..', import.meta.url));

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    assert: { type: 'boolean', default: false },
    'no-write': { type: 'boolean', default: false },
  },
});
const rounds = flags.quick ? 1 : Number(process.env.TONEGATE_BENCH_ROUNDS ?? 5);
const seconds = flags.quick ? 2 : Number(process.env.TONEGATE_BENCH_SECONDS ?? 3);
const contacts = flags.quick ? MILLION / 10 : MILLION;
/** Times of one kind of request: p99 of 500 is the fifth slowest. */
const timed = flags.quick ? 200 : 500;
const importRounds = flags.quick ? 2 : 3;

if (!existsSync(CLI)) {
  console.error('the service is not built: run "npm run build" first');
  process.exit(1);
}

const startedMs = performance.now();
const say = (what: string): void =>
  console.log(`${((performance.now() - startedMs) / 1_000).toFixed(0).padStart(4)} s  ${what}`);

async function measureAll(stage: Stage): Promise<Figures> {
  const client = new Client(stage.service.url, 1);
  const pace = { rounds, measureMs: seconds * 1_000, warmUpMs: 1_000 };
  try {
    const account = await stage.account();
    // What a process loads with its first requests is not an import's memory.
    for (let n = 0; n < 200; n += 1) {
      await client.json({
        method: 'GET',
        path: '/contact/public/contacts?limit=25',
        headers: account.headers,
      });
    }
    say(`imports of ${IMPORT_ROWS} rows`);
    const imports = await measureImports(stage, client, {
      account,
      rounds: importRounds,
      where: 'new account',
    });
    say(`seeding ${contacts} contacts`);
    const million = await seedMillion(stage, await stage.account(), contacts);
    say('pages and searches');
    const pages = await measurePages(stage, client, { million, count: timed });
    const searches = await measureSearches(client, { million, count: timed });
    say('an import into them');
    const into = { account: million.account, rounds: 1, where: `account of ${contacts}` };
    const more = await measureImports(stage, client, into);
    say('reads beside a bare route');
    const bare = await stage.peer('account-fastify');
    const reads = await measureReads(stage, { million, bare, pace: { ...pace, concurrency: 32 } });
    say('GraphQL beside resolvers without batches');
    const shown = await stage.account();
    await seedConsole(stage, shown);
    const naive = await stage.peer('account-graphql');
    const nested = await measureConsole(stage, {
      account: shown,
      naive,
      pace: { ...pace, concurrency: 8 },
    });
    return { imports: [...imports, ...more], pages, searches, reads, nested, contacts };
  } finally {
    await client.close();
  }
}

const stage = await openStage();
let figures: Figures;
try {
  figures = await measureAll(stage);
} finally {
  await stage.close();
}
const lines = linesOf(figures);
const text = textOf(figures, lines, { projectDir: PROJECT_DIR, rounds, seconds });
console.log(`\n${text}`);
say('done');
if (!flags.quick && !flags['no-write']) {
  writeFileSync(fileURLToPath(new URL('../results/account.md', import.meta.url)), text);
}
if (flags.assert && !lines.every(isMet)) process.exitCode = 1;
