import type { Services } from '../compose.ts';

/** Exit codes of the contract (runtime.md, The command). */
export const EXIT = { done: 0, failed: 1, wrongUsage: 2, wrongSettings: 78 } as const;

/** A fault of the caller's words: exit code 2. The message is one line that says what to do. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** An expected end without success: exit code 1, or the one given. An empty message prints nothing more. */
export class CommandFailed extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message);
    this.name = 'CommandFailed';
    this.exitCode = exitCode;
  }
}

/** What a command module is given. Modules export `register(program: Command, cli: CliContext): void`. */
export interface CliContext {
  /** The environment with `.env` under it; `loadSettings(cli.env)` gives the settings. */
  readonly env: NodeJS.ProcessEnv;
  /** One line on stdout. */
  stdout(line: string): void;
  /** One line on stderr. */
  stderr(line: string): void;
  /**
   * The services on the database of the settings: DATABASE_URL, else the embedded one of DATA_DIR, which is
   * found beside a running service and started for the command without one. Closed when the command ends.
   */
  openServices(): Promise<Services>;
}
