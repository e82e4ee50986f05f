import type { Command } from 'commander';
import { rekey } from '../rekey.ts';
import type { CliContext } from './context.ts';

export function register(program: Command, cli: CliContext): void {
  program
    .command('rekey')
    .description('encrypt stored secrets again under the current MASTER_KEY')
    .addHelpText('after', '\nExample:\n  MASTER_KEY=<new> MASTER_KEY_PREVIOUS=<old> tonegate rekey')
    .action(async () => {
      const { db, cipher } = await cli.openServices();
      const { rewritten, kept } = await rekey(db, cipher);
      cli.stdout(`${rewritten} secrets rewritten, ${kept} were current already`);
    });
}
