import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataFolder, startService, stopService } from '../_util/service.ts';

/*
 * Property-based requests out of the OpenAPI document against the built service: `npm run test:schemathesis`. Every check
 * of schemathesis but those below; nothing may answer 5xx or what the document does not say. It is Python: found as
 * SCHEMATHESIS, on the path, or in .venv (`python3 -m venv .venv && .venv/bin/pip
 * install schemathesis`).
 */
const SECONDS_MAX = 110;
const SEED = process.env['SCHEMATHESIS_SEED'] ?? '20260101';

/**
 * Left out: an example that is valid by its schema may name what the account does not have, or a state that does not allow
 * it (positive data is refused with 404, 409, 422); a schema cannot say all that a request must hold (a form may be read
 * more generously than it says).
 */
const CHECKS_LEFT_OUT = ['positive_data_acceptance'];

/** 413 refuses too. */
const CONFIG = `[checks]
negative_data_rejection.expected-statuses = ["400", "401", "403", "404", "405", "409", "413", "415", "422", "429"]
`;

/** Audio, which schemathesis cannot make. */
const OPERATIONS_LEFT_OUT = ['uploadMedia'];
/** Without a speech engine it answers 503, as documented, which the checks take for a fault of the server. */
const SPEECH_OPERATION = 'synthesizeSpeech';

const candidates = [process.env['SCHEMATHESIS'], '.venv/bin/schemathesis'];

async function run(command: string, args: readonly string[]): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'inherit' });
    child.on('error', () => resolve(null));
    child.on('close', (code) => resolve(code ?? 1));
  });
}

async function find(): Promise<string | null> {
  const known = candidates.find((path) => path !== undefined && existsSync(path));
  if (known !== undefined) return known;
  return (await run('schemathesis', ['--version'])) === 0 ? 'schemathesis' : null;
}

const command = await find();
if (command === null) {
  console.warn('SKIPPED: no schemathesis on this machine; see the head of test/contract/schemathesis.ts');
  process.exit(0);
}

const data = await dataFolder();
const reports = await mkdtemp(join(tmpdir(), 'tonegate-schemathesis-'));
const service = startService({
  DATA_DIR: data.path,
  RATE_LIMIT_PER_ROUTE: '100000',
  RATE_LIMIT_BURST: '100000',
});
try {
  const { http } = await service.ready;
  const { key, secret } = JSON.parse(await readFile(join(data.path, 'credentials.json'), 'utf8')) as {
    key: string;
    secret: string;
  };
  const config = join(reports, 'schemathesis.toml');
  await writeFile(config, CONFIG);
  const hasSpeech = (await run('espeak-ng', ['--version'])) === 0;
  if (!hasSpeech) console.warn(`SKIPPED: ${SPEECH_OPERATION}, since espeak-ng is not installed`);
  const leftOut = [...OPERATIONS_LEFT_OUT, ...(hasSpeech ? [] : [SPEECH_OPERATION])];
  const code = await run(command, [
    ...[
      '--config-file',
      config,
      'run',
      `${http}/openapi.json`,
      '--url',
      http,
      '-H',
      `x-key: ${key}`,
      '-H',
      `x-secret: ${secret}`,
    ],
    ...['--checks', 'all', '--exclude-checks', CHECKS_LEFT_OUT.join(','), '--seed', SEED],
    // One worker: Python 3.11 parses no syntax trees in two threads at once ("recursion depth mismatch").
    ...['--max-time', String(SECONDS_MAX), '--workers', '1', '--continue-on-failure'],
    ...leftOut.flatMap((id) => ['--exclude-operation-id', id]),
    ...['--suppress-health-check', 'all', '--report-dir', reports],
  ]);
  process.exitCode = code === 0 ? 0 : 1;
} finally {
  await stopService(service);
  await data.remove();
  await rm(reports, { recursive: true, force: true });
}
