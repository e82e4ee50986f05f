import type { Command } from 'commander';
import { migrate } from '../../platform/db/index.ts';
import { createLogger } from '../../platform/logger/index.ts';
import { loadSettings } from '../../platform/settings/index.ts';
import { openDatabase } from '../database.ts';
import type { CliContext } from './context.ts';

export function register(program: Command, cli: CliContext): void {
  program
    .command('migrate')
    .description('bring the database to the newest schema')
    .addHelpText('after', '\nExample:\n  DATABASE_URL=postgres://… MASTER_KEY=… tonegate migrate')
    .action(async () => {
      const settings = loadSettings(cli.env);
      if (settings.databaseUrl !== undefined) return print(cli, await migrate(settings.databaseUrl));
      const logger = createLogger({ ...settings, logLevel: 'warn' });
      // Opening the embedded database brings it up to date.
      const database = await openDatabase({ settings, logger, purpose: 'command', migrate: true });
      await database.release();
      print(cli, []);
    });
}

function print(cli: CliContext, applied: readonly string[]): void {
  for (const name of applied) cli.stdout(`applied ${name}`);
  cli.stdout('the database is up to date');
}
