import type { Command } from 'commander';
import { AI_ACCESS, ROLES } from '../../features/accounts/index.ts';
import type { AiAccess, Role } from '../../features/accounts/index.ts';
import type { CliContext } from './context.ts';
import { parseChoice, withUsage } from './input.ts';

interface CreateOptions {
  team: string;
  email: string;
  password: string;
  role: Role;
  aiAccess: AiAccess;
  json?: true;
}

/** `tonegate user …`: users of an account. */
export function register(program: Command, cli: CliContext): void {
  program
    .command('user')
    .description('make users of an account')
    .addHelpText(
      'after',
      '\nExample:\n  tonegate user create --team 1f0c… --email a@example.com --password …',
    )
    .command('create')
    .description('make a user who can sign in')
    .requiredOption('--team <team_id>', 'the account')
    .requiredOption('--email <address>', 'email to sign in with')
    .requiredOption('--password <password>', 'password to sign in with')
    .requiredOption('--role <role>', ROLES.join(', '), parseChoice(ROLES))
    .requiredOption('--ai-access <access>', AI_ACCESS.join(', '), parseChoice(AI_ACCESS))
    .option('--json', 'one JSON object: user_id')
    .addHelpText(
      'after',
      '\nExample:\n  tonegate user create --team 1f0c… --email a@example.com --password … --role agent --ai-access view --json',
    )
    .action(async (options: CreateOptions) => {
      const { users } = await cli.openServices();
      const { team, email, password, role, aiAccess } = options;
      const userId = await withUsage(() => users.create({ teamId: team, email, password, role, aiAccess }));
      cli.stdout(options.json ? JSON.stringify({ user_id: userId }) : `user_id ${userId}`);
    });
}
