import type { Command } from 'commander';
import { runService } from '../run-service.ts';
import type { CliContext } from './context.ts';

export function register(program: Command, cli: CliContext): void {
  program
    .command('start')
    .description('run the service; one line on stdout says when all is up')
    .option('--migrate', 'bring the database of DATABASE_URL to the newest schema first')
    .addHelpText('after', '\nExample:\n  HTTP_PORT=0 WORKERS=2 tonegate start')
    .action((options: { migrate?: true }) =>
      runService({
        env: cli.env,
        migrate: options.migrate ?? false,
        onReady: (line) => cli.stdout(JSON.stringify(line)),
      }),
    );
}
