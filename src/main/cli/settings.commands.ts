import type { Command } from 'commander';
import { describeSettings } from '../../platform/settings/index.ts';
import type { CliContext } from './context.ts';

export function register(program: Command, cli: CliContext): void {
  program
    .command('settings')
    .description('print every setting with the value in force (secrets masked)')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  WORKERS=4 tonegate settings')
    .action((options: { json?: true }) => {
      const rows = describeSettings(cli.env);
      if (options.json) {
        const entries = rows.map((row) => [
          row.name,
          { value: row.value, is_set: row.isSet, meaning: row.meaning },
        ]);
        return cli.stdout(JSON.stringify(Object.fromEntries(entries), null, 2));
      }
      const nameWidth = Math.max(...rows.map((row) => row.name.length));
      const valueWidth = Math.max(...rows.map((row) => row.value.length));
      for (const row of rows) {
        const mark = row.isSet ? '*' : ' ';
        cli.stdout(`${mark} ${row.name.padEnd(nameWidth)}  ${row.value.padEnd(valueWidth)}  ${row.meaning}`);
      }
      cli.stdout('\n* set by the environment or .env; the others have their default');
    });
}
