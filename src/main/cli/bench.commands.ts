/** `tonegate bench`: runs the benchmarks of the source tree and passes their options on. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { Command } from 'commander';

import { CommandFailed, UsageError, type CliContext } from './context.ts';

const PROJECT_DIR = fileURLToPath(new URL('../../..', import.meta.url));

/** How each is run from the project's folder. */
const BENCHMARKS: Readonly<Record<string, readonly string[]>> = {
  detection: [process.execPath, '--import', 'tsx', 'benchmarks/detection/run.ts'],
  gateway: [process.execPath, '--import', 'tsx', 'benchmarks/gateway/run.ts'],
  account: [process.execPath, '--import', 'tsx', 'benchmarks/account/run.ts'],
  sends: [process.execPath, '--import', 'tsx', 'benchmarks/sends/accept.ts'],
  dispatch: [process.execPath, '--import', 'tsx', 'benchmarks/sends/dispatch.ts'],
  callbacks: [process.execPath, '--import', 'tsx', 'benchmarks/sends/callbacks.ts'],
  dsp: ['cargo', 'bench', '--workspace'],
};

/** Adds the command to the program. */
export function register(program: Command, cli: CliContext): void {
  program
    .command('bench')
    .description(
      'run benchmarks: detection, gateway, account, sends, dispatch, callbacks, dsp; without a name all, one after the other',
    )
    .argument('[name]', 'detection, gateway, account or dsp')
    .argument('[options...]', 'options of that benchmark, after --')
    .addHelpText(
      'after',
      '\nExample:\n  tonegate bench detection -- --quick --failures\n\nSee benchmarks/README.md.',
    )
    .action(async (name: string | undefined, options: string[]) => {
      for (const chosen of name === undefined ? Object.keys(BENCHMARKS) : [name]) {
        await run(chosen, options, cli);
      }
    });
}

async function run(name: string, options: readonly string[], cli: CliContext): Promise<void> {
  const command = BENCHMARKS[name];
  if (command === undefined) {
    throw new UsageError(`no benchmark ${name}: there are ${Object.keys(BENCHMARKS).join(', ')}`);
  }
  if (!existsSync(`${PROJECT_DIR}/benchmarks/README.md`)) {
    throw new CommandFailed('the benchmarks are part of the source tree, which is not here');
  }
  const [file, ...args] = [...command, ...options];
  const code = await new Promise<number | null>((resolve, reject) => {
    const child = spawn(file!, args, { cwd: PROJECT_DIR, env: cli.env, stdio: 'inherit' });
    child.once('error', (error) =>
      reject(new CommandFailed(`${name} could not be started: ${error.message}`)),
    );
    child.once('exit', resolve);
  });
  if (code !== 0) throw new CommandFailed(`bench ${name} ended with exit code ${code ?? 'none'}`);
}
