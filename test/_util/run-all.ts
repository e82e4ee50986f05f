import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Every test of the project: Rust, then TypeScript with all that runs on it. The last line sums both runners:
 * `N passed, N failed, N skipped`; the exit code is 0 only when nothing failed and every runner ended well.
 */
interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Whether the runner itself ended well. */
  readonly isClean: boolean;
}

const RUN_LIMIT_MS = 15 * 60_000;
const CARGO_LINE = /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/gm;

/** Runs a command with its output on the screen too; answers the exit code and what it said on stdout. */
async function run(command: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], timeout: RUN_LIMIT_MS });
  // A runner that is interrupted ends what it started (its database) by itself.
  const pass = (): void => void child.kill('SIGINT');
  process.once('SIGINT', pass).once('SIGTERM', pass);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk);
    output += chunk.toString('utf8');
  });
  return new Promise((resolve) => {
    child.on('error', (error) => {
      console.error(`${command} could not be run: ${error.message}`);
      resolve({ code: 1, output });
    });
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

async function rust(): Promise<Counts> {
  const { code, output } = await run('cargo', ['test', '--workspace', '--locked', '--no-fail-fast']);
  const lines = [...output.matchAll(CARGO_LINE)];
  const sum = (group: number): number => lines.reduce((total, line) => total + Number(line[group]), 0);
  return { passed: sum(1), failed: sum(2), skipped: sum(3), isClean: code === 0 && lines.length > 0 };
}

interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
}

async function typescript(args: readonly string[]): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), 'tonegate-report-'));
  const file = join(folder, 'vitest.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const { code } = await run('node', ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...args]);
  try {
    const report = JSON.parse(await readFile(file, 'utf8')) as VitestReport;
    return {
      passed: report.numPassedTests,
      failed: report.numFailedTests,
      skipped: report.numPendingTests + report.numTodoTests,
      isClean: code === 0,
    };
  } catch {
    console.error('vitest left no report: it did not run to its end');
    return { passed: 0, failed: 0, skipped: 0, isClean: false };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const results = [await rust(), await typescript(process.argv.slice(2))];
const total = (pick: (counts: Counts) => number): number =>
  results.reduce((sum, counts) => sum + pick(counts), 0);
const isGood = results.every((counts) => counts.isClean && counts.failed === 0);
if (!isGood) console.error('a runner did not end well; see above');
console.log(
  `${total((c) => c.passed)} passed, ${total((c) => c.failed)} failed, ${total((c) => c.skipped)} skipped`,
);
process.exitCode = isGood ? 0 : 1;
