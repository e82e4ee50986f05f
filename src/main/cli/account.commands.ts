import type { Command } from 'commander';
import type { Account } from '../../features/accounts/index.ts';
import type { Scope } from '../../kernel/caller.ts';
import { formatMoney } from '../../kernel/money.ts';
import { FLAG_FORMS, parseFlags } from './account-flags.ts';
import type { CliContext } from './context.ts';
import { parseAmount, parseScopes, parseWholeNumber, readSecret, withUsage } from './input.ts';

interface CreateOptions {
  name: string;
  funds?: bigint;
  scopes?: Scope[];
  unverified?: true;
  testMode?: true;
  operator?: true;
  concurrentSessions?: number;
  json?: true;
}

/** `tonegate account …`: what an operator does to accounts. */
export function register(program: Command, cli: CliContext): void {
  const account = program
    .command('account')
    .description('make and change accounts')
    .addHelpText('after', '\nExample:\n  tonegate account create --name "Example" --funds 100');
  registerCreate(account, cli);
  registerShow(account, cli);
  registerSet(account, cli);
  registerAddFunds(account, cli);
  registerPlatformToken(account, cli);
}

function registerCreate(account: Command, cli: CliContext): void {
  account
    .command('create')
    .description('make an account with its owner, an API key and a Detection key; the secrets are shown once')
    .requiredOption('--name <name>', 'name of the account')
    .option('--funds <amount>', 'funds to start with', parseAmount)
    .option('--scopes <list>', 'scopes of the API key, separated by commas (default: all)', parseScopes)
    .option('--unverified', 'as if nobody had verified the account yet')
    .option('--test-mode', 'an account for tests')
    .option('--operator', 'an account that may operate the service')
    .option('--concurrent-sessions <n>', 'detection sessions at once (default: 500)', parseWholeNumber)
    .option('--json', 'one JSON object: team_id, key, secret, detection_key')
    .addHelpText('after', '\nExample:\n  tonegate account create --name "Example" --funds 100 --json')
    .action(async (options: CreateOptions) => {
      const { accounts } = await cli.openServices();
      const { name, funds, scopes, concurrentSessions } = options;
      const made = await withUsage(() =>
        accounts.create({
          name,
          ...(funds === undefined ? {} : { fundsMicros: funds }),
          ...(scopes === undefined ? {} : { scopes }),
          ...(concurrentSessions === undefined ? {} : { concurrentSessions }),
          verified: !options.unverified,
          testMode: options.testMode ?? false,
          operator: options.operator ?? false,
        }),
      );
      const shown = {
        team_id: made.teamId,
        key: made.apiKey.key,
        secret: made.apiKey.secret,
        detection_key: made.detectionKey,
      };
      if (options.json) return cli.stdout(JSON.stringify(shown));
      for (const [field, value] of Object.entries(shown)) cli.stdout(`${field.padEnd(14)} ${value}`);
      cli.stdout('Keep the secret and the Detection key now: they are not shown again.');
    });
}

function registerShow(account: Command, cli: CliContext): void {
  account
    .command('show')
    .description('show one account, or all')
    .option('--team <team_id>', 'the account (default: all)')
    .option('--json', 'JSON: an object with --team, else a list')
    .addHelpText('after', '\nExample:\n  tonegate account show --team 1f0c… --json')
    .action(async (options: { team?: string; json?: true }) => {
      const { accounts } = await cli.openServices();
      if (options.team !== undefined) return print(cli, await accounts.get(options.team), options.json);
      const all = await accounts.list();
      if (options.json) return cli.stdout(JSON.stringify(all.map(present)));
      all.forEach((one, index) => {
        if (index > 0) cli.stdout('');
        print(cli, one, undefined);
      });
    });
}

function registerSet(account: Command, cli: CliContext): void {
  account
    .command('set')
    .description('switch parts of an account on or off, and set its plan, dunning tier and limits')
    .argument('<flags...>', FLAG_FORMS)
    .requiredOption('--team <team_id>', 'the account')
    .option('--json', 'the account as one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  tonegate account set --team 1f0c… detection=off plan=active dunning=none',
    )
    .action(async (words: string[], options: { team: string; json?: true }) => {
      const flags = parseFlags(words);
      const { accounts } = await cli.openServices();
      await withUsage(() => accounts.setFlags(options.team, flags));
      print(cli, await accounts.get(options.team), options.json);
    });
}

function registerAddFunds(account: Command, cli: CliContext): void {
  account
    .command('add-funds')
    .description('add funds to an account')
    .requiredOption('--team <team_id>', 'the account')
    .requiredOption('--amount <amount>', 'how much', parseAmount)
    .option('--json', 'the account as one JSON object')
    .addHelpText('after', '\nExample:\n  tonegate account add-funds --team 1f0c… --amount 25.50')
    .action(async (options: { team: string; amount: bigint; json?: true }) => {
      const { accounts } = await cli.openServices();
      await withUsage(() => accounts.addFunds(options.team, options.amount));
      print(cli, await accounts.get(options.team), options.json);
    });
}

function registerPlatformToken(account: Command, cli: CliContext): void {
  account
    .command('set-platform-token')
    .description(
      "store the account's auth token at the telephony platform: its stream signatures are verified",
    )
    .argument('[token]', 'the token (default: the first line of stdin, which no process list shows)')
    .requiredOption('--team <team_id>', 'the account')
    .option('--json', 'the account as one JSON object')
    .addHelpText('after', '\nExample:\n  tonegate account set-platform-token --team 1f0c… < token.txt')
    .action(async (token: string | undefined, options: { team: string; json?: true }) => {
      const given = token ?? (await readSecret());
      const { accounts } = await cli.openServices();
      await withUsage(() => accounts.setPlatformToken(options.team, given));
      print(cli, await accounts.get(options.team), options.json);
    });
}

type Shown = Record<string, string | number | boolean | string[] | null>;

function present(account: Account): Shown {
  const decimal = (micros: bigint): number => Number(formatMoney(micros));
  return {
    team_id: account.teamId,
    name: account.name,
    verified: account.verified,
    operator: account.operator,
    test_mode: account.testMode,
    suspended: account.suspended,
    plan: account.plan,
    features: account.features,
    dunning: account.dunningTier,
    detection: account.detection,
    building_blocks: account.buildingBlocks,
    keep_transcripts: account.keepTranscripts,
    concurrent_sessions: account.concurrentSessions,
    send_rate: account.sendRate,
    platform_token: account.hasPlatformToken,
    balance: decimal(account.balanceMicros),
    reserved: decimal(account.reservedMicros),
    available: decimal(account.balanceMicros - account.reservedMicros),
    created_at: account.createdAtMs,
  };
}

function print(cli: CliContext, account: Account, json: true | undefined): void {
  const shown = present(account);
  if (json) return cli.stdout(JSON.stringify(shown));
  const words: Shown = {
    ...shown,
    created_at: new Date(account.createdAtMs).toISOString(),
  };
  for (const [field, value] of Object.entries(words)) {
    cli.stdout(`${field.padEnd(20)} ${wordOf(value)}`);
  }
}

function wordOf(value: Shown[string] | undefined): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.join(', ') || 'none';
  return String(value ?? 'none');
}
