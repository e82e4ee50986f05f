import type { Command } from 'commander';
import { presentClient } from '../../features/oauth/index.ts';
import type { Scope } from '../../kernel/caller.ts';
import type { CliContext } from './context.ts';
import { parseScopes, withUsage } from './input.ts';
import { ownerOf } from './owner.ts';

interface CreateOptions {
  team: string;
  name: string;
  scopes: Scope[];
  redirectUri: string[];
  json?: true;
}

/** `tonegate client …`: OAuth clients of an account, as its owner. */
export function register(program: Command, cli: CliContext): void {
  const clients = program
    .command('client')
    .description('make, list and revoke OAuth clients of an account')
    .addHelpText(
      'after',
      '\nExample:\n  tonegate client create --team 1f0c… --name crm --scopes contacts:read',
    );
  registerCreate(clients, cli);
  registerList(clients, cli);
  registerRevoke(clients, cli);
}

function registerCreate(clients: Command, cli: CliContext): void {
  clients
    .command('create')
    .description('make an OAuth client; its secret is shown once')
    .requiredOption('--team <team_id>', 'the account')
    .requiredOption('--name <name>', 'name of the client')
    .requiredOption('--scopes <scopes>', 'comma-separated scopes its tokens may hold', parseScopes)
    .option(
      '--redirect-uri <url>',
      'makes a public client for user sign-in, without a secret; may be repeated',
      (uri: string, before: string[]) => [...before, uri],
      [],
    )
    .option('--json', 'one JSON object: client_id, client_secret (null for a public client)')
    .addHelpText(
      'after',
      '\nExample:\n  tonegate client create --team 1f0c… --name crm --scopes contacts:read,dnc:read --json',
    )
    .action(async ({ team, name, scopes, redirectUri, json }: CreateOptions) => {
      const services = await cli.openServices();
      const caller = await ownerOf(services, team);
      const input = { name, scopes, redirectUris: redirectUri };
      const made = presentClient(await withUsage(() => services.oauthClients.create(caller, input)));
      const shown = { client_id: made.client_id, client_secret: made.client_secret ?? null };
      if (json) return cli.stdout(JSON.stringify(shown));
      cli.stdout(`client_id     ${shown.client_id}`);
      if (shown.client_secret === null)
        return cli.stdout('A public client: it has no secret and needs PKCE.');
      cli.stdout(`client_secret ${shown.client_secret}`);
      cli.stdout('Keep the secret now: it is not shown again.');
    });
}

function registerList(clients: Command, cli: CliContext): void {
  clients
    .command('list')
    .description('list the OAuth clients that are not revoked')
    .requiredOption('--team <team_id>', 'the account')
    .option('--json', 'a JSON list')
    .addHelpText('after', '\nExample:\n  tonegate client list --team 1f0c…')
    .action(async (options: { team: string; json?: true }) => {
      const services = await cli.openServices();
      const found = await services.oauthClients.list(await ownerOf(services, options.team));
      const shown = found.map(presentClient);
      if (options.json) return cli.stdout(JSON.stringify(shown));
      if (shown.length === 0) cli.stdout('no OAuth clients');
      for (const client of shown) {
        const kind = client.redirect_uris.length > 0 ? 'public ' : 'machine';
        cli.stdout(`${client.client_id}  ${kind}  ${client.scopes.join(',')}  ${client.name}`);
      }
    });
}

function registerRevoke(clients: Command, cli: CliContext): void {
  clients
    .command('revoke')
    .description('revoke an OAuth client: its tokens are refused at once')
    .argument('<client_id>', 'the client (see client list)')
    .requiredOption('--team <team_id>', 'the account')
    .option('--json', 'one JSON object: client_id, revoked')
    .addHelpText('after', '\nExample:\n  tonegate client revoke 7c9e… --team 1f0c…')
    .action(async (clientId: string, options: { team: string; json?: true }) => {
      const services = await cli.openServices();
      await services.oauthClients.revoke(await ownerOf(services, options.team), clientId);
      const shown = { client_id: clientId, revoked: true };
      cli.stdout(options.json ? JSON.stringify(shown) : `revoked ${clientId}`);
    });
}
