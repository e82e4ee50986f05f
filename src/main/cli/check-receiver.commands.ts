/** `tonegate check-receiver`: posts sample events to a receiver of webhooks and says what is wrong with it. */
import type { Command } from 'commander';
import { EVENT_TYPES, isSigningSecret } from '../../features/webhooks/index.ts';
import { systemClock } from '../../kernel/clock.ts';
import { systemIds } from '../../kernel/ids.ts';
import { createLogger } from '../../platform/logger/index.ts';
import { createNet, TargetRefused } from '../../platform/net/index.ts';
import { loadSettings } from '../../platform/settings/index.ts';
import { CommandFailed, UsageError } from './context.ts';
import type { CliContext } from './context.ts';
import { tryReceiver } from './check-receiver/findings.ts';
import type { Finding } from './check-receiver/findings.ts';
import { samplesOf } from './check-receiver/samples.ts';
import { parseChoice } from './input.ts';

interface CheckOptions {
  secret?: string;
  detectionKey?: string;
  event: string;
  json?: true;
}

/** The same for a subscription and for this command. */
const DEFAULT_EVENT = 'contact.sms.status';
const NAME_WIDTH = 26;

/** Adds the command to the program. */
export function register(program: Command, cli: CliContext): void {
  program
    .command('check-receiver')
    .description('post signed sample events to a receiver of webhooks and say what is wrong with it')
    .argument('<url>', 'address of the receiver')
    .option(
      '--secret <whsec>',
      'signing secret the receiver verifies with (whsec_…), as a subscription shows it once',
    )
    .option(
      '--detection-key <key>',
      'Detection key the receiver verifies with: detection deliveries are sent too',
    )
    .option(
      '--event <name>',
      'event that is sent',
      parseChoice(EVENT_TYPES.map(({ eventType }) => eventType)),
      DEFAULT_EVENT,
    )
    .option('--json', 'the findings as one JSON object')
    .addHelpText(
      'after',
      [
        '',
        'It sends an event well signed, the same again, one badly signed and one that is 10 minutes old, measures the',
        'time to the answer, and exits 1 when the receiver does anything wrong. Without a secret only the badly signed',
        'one is sent. http is fine on an address of your own network.',
        '',
        'Example:',
        '  tonegate check-receiver https://hooks.example.com/outreach --secret whsec_MfKQ…',
        '  tonegate check-receiver http://localhost:3000/calls --detection-key tgd_…',
      ].join('\n'),
    )
    .action((url: string, options: CheckOptions) => check(url, options, cli));
}

async function check(url: string, options: CheckOptions, cli: CliContext): Promise<void> {
  const { secret, detectionKey } = options;
  if (secret !== undefined && !isSigningSecret(secret))
    throw new UsageError('the secret of a subscription begins with whsec_ and goes on in base64');
  const address = await judgeAddress(url, cli);
  const samples = samplesOf({ secret, detectionKey }, options.event, { clock: systemClock, ids: systemIds });
  const findings: Finding[] = [];
  // A receiver under development is on this machine or its network.
  const net = createNet({ allowPrivateTargets: true, logger: quietLogger(cli) });
  try {
    for (const sample of samples) {
      const finding = await tryReceiver(net, url, sample);
      findings.push(finding);
      if (!options.json) cli.stdout(lineOf(finding));
      if (finding.isUnreachable) break;
    }
  } finally {
    await net.close();
  }
  report({ url, options, cli, address, findings });
}

interface Address {
  readonly problem: string | null;
  readonly note: string | null;
}

function report(of: {
  url: string;
  options: CheckOptions;
  cli: CliContext;
  address: Address;
  findings: readonly Finding[];
}): void {
  const { url, options, cli, address, findings } = of;
  const problems = [address, ...findings].filter(({ problem }) => problem !== null).length;
  if (options.json) {
    const checks = findings.map(({ name, statusCode, durationMs, problem }) => ({
      ...{ name, status_code: statusCode, duration_ms: durationMs, problem },
    }));
    cli.stdout(
      JSON.stringify({ url, address_problem: address.problem, note: address.note, checks, problems }),
    );
  } else {
    if (address.problem !== null) cli.stdout(`${'address'.padEnd(NAME_WIDTH)} WRONG: ${address.problem}`);
    if (address.note !== null) cli.stdout(`${'address'.padEnd(NAME_WIDTH)} note: ${address.note}`);
    if (options.secret === undefined && options.detectionKey === undefined)
      cli.stdout(
        'Without --secret or --detection-key it is not known whether well signed events are accepted.',
      );
  }
  if (problems > 0)
    throw new CommandFailed(
      `${problems} ${problems === 1 ? 'thing is' : 'things are'} wrong with the receiver`,
    );
  if (!options.json) cli.stdout('The receiver does what it should.');
}

function lineOf({ name, statusCode, durationMs, problem }: Finding): string {
  const answer = statusCode === null ? 'no answer' : `${statusCode} in ${durationMs} ms`;
  return `${name.padEnd(NAME_WIDTH)} ${answer.padEnd(16)} ${problem === null ? 'right' : `WRONG: ${problem}`}`;
}

/** What the service would say to the address itself; on one's own network http is for trying out. */
async function judgeAddress(url: string, cli: CliContext): Promise<Address> {
  const net = createNet({ allowPrivateTargets: false, logger: quietLogger(cli) });
  const reasonOf = async (address: string): Promise<TargetRefused['reason'] | null> => {
    try {
      await net.checkUrl(address);
      return null;
    } catch (error) {
      if (error instanceof TargetRefused) return error.reason;
      throw error;
    }
  };
  try {
    const reason = await reasonOf(url);
    if (reason === 'malformed' || (reason === 'scheme' && !/^http:/i.test(url)))
      throw new UsageError('give the address of the receiver, such as https://hooks.example.com/outreach');
    if (reason === 'credentials')
      return { problem: 'it holds a user name or password, which the service refuses', note: null };
    const isLocal = (await reasonOf(url.replace(/^http:/i, 'https:'))) === 'address';
    if (isLocal)
      return {
        problem: null,
        note: 'not on the public internet: fine for trying out, refused by the service',
      };
    return {
      problem: reason === 'scheme' ? 'not https: the service delivers to https only' : null,
      note: null,
    };
  } finally {
    await net.close();
  }
}

const quietLogger = (cli: CliContext) => createLogger({ ...loadSettings(cli.env), logLevel: 'error' });
