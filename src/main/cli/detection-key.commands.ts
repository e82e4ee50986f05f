import type { Command } from 'commander';
import { presentDetectionKey, presentMadeDetectionKey } from '../../features/credentials/index.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Services } from '../compose.ts';
import { CommandFailed, UsageError } from './context.ts';
import type { CliContext } from './context.ts';
import { parseWholeNumber, withUsage } from './input.ts';
import { ownerOf } from './owner.ts';

/** `tonegate detection-key …`: Detection keys of an account, as its owner. */
export function register(program: Command, cli: CliContext): void {
  const keys = program
    .command('detection-key')
    .description('make, list and revoke Detection keys of an account')
    .addHelpText('after', '\nExample:\n  tonegate detection-key create --team 1f0c… --name dialer');
  registerCreate(keys, cli);
  registerList(keys, cli);
  registerRevoke(keys, cli);
}

function registerCreate(keys: Command, cli: CliContext): void {
  keys
    .command('create')
    .description('make a Detection key; it is shown once')
    .requiredOption('--team <team_id>', 'the account')
    .option('--name <name>', 'name of the key')
    .option(
      '--expires-in <seconds>',
      'seconds until it expires, 300 to 31536000 (default: never)',
      parseWholeNumber,
    )
    .option('--json', 'the key as one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  tonegate detection-key create --team 1f0c… --name dialer --expires-in 86400 --json',
    )
    .action(async (options: { team: string; name?: string; expiresIn?: number; json?: true }) => {
      const services = await cli.openServices();
      const caller = await ownerOf(services, options.team);
      const input = { name: options.name, expiresInSeconds: options.expiresIn };
      const made = presentMadeDetectionKey(
        await withUsage(() => services.detectionKeys.create(caller, input)),
      );
      if (options.json) return cli.stdout(JSON.stringify(made));
      for (const [field, value] of Object.entries(made))
        cli.stdout(`${field.padEnd(11)} ${wordOf(field, value)}`);
      cli.stdout('Keep the key now: it is not shown again.');
    });
}

function registerList(keys: Command, cli: CliContext): void {
  keys
    .command('list')
    .description('list the Detection keys that are not revoked')
    .requiredOption('--team <team_id>', 'the account')
    .option('--json', 'a JSON list')
    .addHelpText('after', '\nExample:\n  tonegate detection-key list --team 1f0c…')
    .action(async (options: { team: string; json?: true }) => {
      const services = await cli.openServices();
      const found = await services.detectionKeys.list(await ownerOf(services, options.team));
      const shown = found.map(presentDetectionKey);
      if (options.json) return cli.stdout(JSON.stringify(shown));
      if (shown.length === 0) cli.stdout('no Detection keys');
      for (const key of shown) {
        const end =
          key['expires_at'] === null ? 'never expires' : `expires ${wordOf('expires_at', key['expires_at'])}`;
        cli.stdout(
          `${key['key_id']}  …${key['key_hint']}  ${String(key['status']).padEnd(9)}  ${end}  ${key['name']}`,
        );
      }
    });
}

function registerRevoke(keys: Command, cli: CliContext): void {
  keys
    .command('revoke')
    .description('revoke a Detection key: new sessions are refused, open ones go on')
    .argument('[key_id]', 'the key (see detection-key list)')
    .requiredOption('--team <team_id>', 'the account')
    .option('--name <name>', 'instead of the id: the name, when only one key has it')
    .option('--json', 'one JSON object: key_id, revoked')
    .addHelpText('after', '\nExample:\n  tonegate detection-key revoke 7c9e… --team 1f0c…')
    .action(async (keyId: string | undefined, options: { team: string; name?: string; json?: true }) => {
      if ((keyId === undefined) === (options.name === undefined)) {
        throw new UsageError('say which key: its id (see detection-key list), or --name');
      }
      const services = await cli.openServices();
      const caller = await ownerOf(services, options.team);
      const id = keyId ?? (await idByName(services, caller, options.name ?? ''));
      const done = await withUsage(() => services.detectionKeys.revoke(caller, id));
      const shown = { key_id: done.keyId, revoked: done.revoked };
      cli.stdout(options.json ? JSON.stringify(shown) : `revoked ${done.keyId}`);
    });
}

async function idByName(services: Services, caller: Caller, name: string): Promise<string> {
  const found = (await services.detectionKeys.list(caller)).filter((key) => key.name === name);
  if (found.length === 1 && found[0]) return found[0].keyId;
  throw new CommandFailed(
    found.length === 0
      ? 'no Detection key has this name'
      : 'several Detection keys have this name: give the id',
  );
}

const wordOf = (field: string, value: string | number | null | undefined): string =>
  typeof value === 'number' && field.endsWith('_at')
    ? new Date(value).toISOString()
    : String(value ?? 'never');
