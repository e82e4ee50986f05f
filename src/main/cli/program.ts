import { Command, CommanderError } from 'commander';
import { Problem } from '../../kernel/problem.ts';
import { createLogger, redactText } from '../../platform/logger/index.ts';
import { loadSettings, SettingsError } from '../../platform/settings/index.ts';
import { compose } from '../compose.ts';
import type { Services } from '../compose.ts';
import { openDatabase } from '../database.ts';
import type { Database } from '../database.ts';
import { readEnvironment } from '../environment.ts';
import { GatewayFailed } from '../gateway-child.ts';
import { VERSION } from '../version.ts';
import { CommandFailed, EXIT, UsageError } from './context.ts';
import type { CliContext } from './context.ts';
import { register as registerAccount } from './account.commands.ts';
import { register as registerBench } from './bench.commands.ts';
import { register as registerClient } from './client.commands.ts';
import { register as registerCheckReceiver } from './check-receiver.commands.ts';
import { register as registerDemo } from './demo.commands.ts';
import { register as registerDetectionKey } from './detection-key.commands.ts';
import { register as registerDetect } from './detect.commands.ts';
import { register as registerMigrate } from './migrate.commands.ts';
import { register as registerRekey } from './rekey.commands.ts';
import { register as registerSettings } from './settings.commands.ts';
import { register as registerStart } from './start.commands.ts';
import { register as registerUser } from './user.commands.ts';

const MODULES = [
  registerStart,
  registerDemo,
  registerBench,
  registerDetect,
  registerMigrate,
  registerAccount,
  registerUser,
  registerClient,
  registerDetectionKey,
  registerCheckReceiver,
  registerSettings,
  registerRekey,
];

/** A command does one thing at a time. */
const COMMAND_CONNECTIONS_MAX = 2;

/** Runs the command line and answers the exit code; errors are one line on stderr. */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  const resources = new CommandResources();
  const cli: CliContext = {
    env: readEnvironment(),
    stdout: (line) => void process.stdout.write(`${line}\n`),
    stderr: (line) => void process.stderr.write(`${line}\n`),
    openServices: () => resources.open(cli.env),
  };
  try {
    await createProgram(cli).parseAsync(argv);
    return EXIT.done;
  } catch (error) {
    return report(error, cli);
  } finally {
    await resources.close();
  }
}

export function createProgram(cli: CliContext): Command {
  const program = new Command('tonegate')
    .description('Call detection and outreach: who answered, and when the voicemail beep ended.')
    .version(VERSION)
    .addHelpText('after', '\nExample:\n  tonegate start')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => cli.stdout(text.replace(/\n$/, '')),
      // The one line of an error is written by `report`.
      writeErr: () => undefined,
    });
  for (const register of MODULES) register(program, cli);
  inherit(program);
  return program;
}

/** Commands made with `.command()` inherit these at the time they are made only in part: said to all again. */
function inherit(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inherit(child);
  }
}

/** One line that says what to do, and the exit code. */
function report(error: unknown, cli: CliContext): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.done;
    const words = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
    cli.stderr(
      error.code === 'commander.help' ? 'which command? see tonegate --help' : `${words} (see --help)`,
    );
    return EXIT.wrongUsage;
  }
  const message = redactText(errorText(error)).replaceAll('\n', ' ');
  if (message !== '') cli.stderr(message);
  if (cli.env.LOG_LEVEL === 'debug' && error instanceof Error) cli.stderr(redactText(error.stack ?? ''));
  if (error instanceof SettingsError) return EXIT.wrongSettings;
  if (error instanceof UsageError) return EXIT.wrongUsage;
  if (error instanceof CommandFailed || error instanceof GatewayFailed) return error.exitCode;
  return EXIT.failed;
}

function errorText(error: unknown): string {
  if (error instanceof Problem) return error.detail;
  if (error instanceof AggregateError) return error.errors.map(errorText).join('; ');
  if (!(error instanceof Error)) return String(error);
  return error.message || String((error as NodeJS.ErrnoException).code ?? error.name);
}

/** What a command opened, closed in the reverse order at its end. */
class CommandResources {
  #services: Services | undefined;
  #database: Database | undefined;

  async open(env: NodeJS.ProcessEnv): Promise<Services> {
    if (this.#services) return this.#services;
    const settings = loadSettings(env);
    const logger = createLogger({ ...settings, logLevel: settings.logLevel === 'debug' ? 'debug' : 'warn' });
    const database = await openDatabase({ settings, logger, purpose: 'command', migrate: false });
    this.#database = database;
    this.#services = compose({
      settings,
      logger,
      url: database.url,
      masterKey: database.masterKey,
      maxConnections: COMMAND_CONNECTIONS_MAX,
      applicationName: 'tonegate-command',
    });
    return this.#services;
  }

  async close(): Promise<void> {
    await this.#services?.close();
    await this.#database?.release();
  }
}
