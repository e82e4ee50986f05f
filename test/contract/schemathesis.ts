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
const SECONDS_MAX = 80;
const PART_SECONDS_MAX = 20;
const SEED = process.env['SCHEMATHESIS_SEED'] ?? '20260101';

/**
 * Left out: an example that is valid by its schema may name what the account does not have, or a state that does not allow
 * it (positive data is refused with 404, 409, 422); a schema cannot say all that a request must hold (a form may be read
 * more generously than it says).
 */
const CHECKS_LEFT_OUT = ['positive_data_acceptance'];

/** Wrong credentials are guesses, which end in 429 for their address: they have a run of their own, the last. */
const GUESSING_CHECKS = ['ignored_auth'];
/** What is wrong with a send, its credential too, is its result and no refusal (contract, Single sends). */
const REFUSING_CHECKS = ['negative_data_rejection', 'missing_required_header'];
const SENDS = ['sendRvm', 'sendSms', 'sendVoiceBroadcast', 'sendAiBroadcast'];

/** 413, 431 and too many guesses refuse too. */
const CONFIG = `[checks]
negative_data_rejection.expected-statuses = ["400", "401", "403", "404", "405", "409", "413", "415", "422", "429", "431"]
missing_required_header.expected-statuses = ["400", "401", "403", "404", "406", "415", "422", "429"]
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
  const credentials = await readFile(join(data.path, 'credentials.json'), 'utf8');
  const { key, secret, team_id } = JSON.parse(credentials) as Record<string, string>;
  const config = join(reports, 'schemathesis.toml');
  await writeFile(config, CONFIG);
  const hasSpeech = (await run('espeak-ng', ['--version'])) === 0;
  if (!hasSpeech) console.warn(`SKIPPED: ${SPEECH_OPERATION}, since espeak-ng is not installed`);
  const leftOut = [...OPERATIONS_LEFT_OUT, ...(hasSpeech ? [] : [SPEECH_OPERATION])];
  const shared = [
    ...['--config-file', config, 'run', `${http}/openapi.json`, '--url', http],
    ...['-H', `x-key: ${key}`, '-H', `x-secret: ${secret}`, '-H', `x-team-id: ${team_id}`, '--seed', SEED],
    // Credentials made up count as guesses, which end in 429 for the address of all requests.
    ...['--generation-with-security-parameters', 'false'],
    // One worker: Python 3.11 parses no syntax trees in two threads at once ("recursion depth mismatch").
    ...['--workers', '1', '--continue-on-failure', '--suppress-health-check', 'all', '--report-dir', reports],
  ];
  const without = (ids: readonly string[]): string[] => ids.flatMap((id) => ['--exclude-operation-id', id]);
  const lenient = [...CHECKS_LEFT_OUT, ...GUESSING_CHECKS];
  const codes = [
    await run(command, [
      ...[...shared, '--max-time', String(SECONDS_MAX), ...without([...leftOut, ...SENDS])],
      ...['--checks', 'all', '--exclude-checks', lenient.join(',')],
    ]),
    await run(command, [
      ...[...shared, '--max-time', String(PART_SECONDS_MAX)],
      ...SENDS.flatMap((id) => ['--include-operation-id', id]),
      ...['--checks', 'all', '--exclude-checks', [...lenient, ...REFUSING_CHECKS].join(',')],
    ]),
    await run(command, [
      ...[...shared, '--max-time', String(PART_SECONDS_MAX), ...without([...leftOut, ...SENDS])],
      ...['--checks', GUESSING_CHECKS.join(','), '--phases', 'examples,coverage'],
    ]),
  ];
  process.exitCode = codes.every((code) => code === 0) ? 0 : 1;
} finally {
  await stopService(service);
  await data.remove();
  await rm(reports, { recursive: true, force: true });
}
