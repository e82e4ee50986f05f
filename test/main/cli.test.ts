import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { CliContext } from '../../src/main/cli/context.ts';
import { createProgram } from '../../src/main/cli/program.ts';
import { readEnvironment } from '../../src/main/environment.ts';
import { tonegate } from '../_util/index.ts';

const context: CliContext = {
  env: {},
  stdout: () => undefined,
  stderr: () => undefined,
  openServices: () => Promise.reject(new Error('not here')),
};

/** Every command that does something, by its full path. */
function leaves(command: Command, path: string[] = []): { path: string[]; command: Command }[] {
  if (command.commands.length === 0) return [{ path, command }];
  return command.commands.flatMap((child) => leaves(child, [...path, child.name()]));
}

describe('the command line', () => {
  const commands = leaves(createProgram(context));

  it('has the commands of the contract that this version offers', () => {
    const names = commands.map(({ path }) => path.join(' '));
    expect(names).toEqual(
      expect.arrayContaining([
        'start',
        'demo',
        'bench',
        'migrate',
        'settings',
        'rekey',
        'detect',
        'account create',
        'account show',
        'account set',
        'account add-funds',
        'account set-platform-token',
        'user create',
        'detection-key create',
        'detection-key list',
        'detection-key revoke',
      ]),
    );
  });

  it.each(commands.map(({ path, command }) => [path.join(' '), command] as const))(
    'explains %s with an example',
    (name, command) => {
      let help = '';
      command.configureOutput({ writeOut: (text) => (help += text) });
      command.outputHelp();
      expect(help).toContain(`tonegate ${name.split(' ')[0]}`);
      expect(help).toMatch(new RegExp(`Examples?:[\\s\\S]*tonegate ${name}`));
    },
  );

  it('answers --help and --version of the built command with 0', async () => {
    const help = await tonegate(['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain('detection-key');
    const deep = await tonegate(['account', 'create', '--help']);
    expect(deep).toMatchObject({ code: 0, stderr: '' });
    expect(deep.stdout).toContain('--funds');
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    expect(await tonegate(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it.each([
    [['nonsense']],
    [['start', '--nonsense']],
    [['account', 'create']],
    [['account']],
    [[]],
    [['detection-key', 'revoke']],
  ])('answers %j with one line and exit code 2', async (args) => {
    const result = await tonegate(args);
    expect(result.code).toBe(2);
    expect(result.stdout).toBe('');
    expect(result.stderr).toMatch(/^[^\n]+\n$/);
  });

  it.each([
    [{ WORKERS: 'many' }, /^WORKERS must be a whole number from 1 to 64$/],
    [{ DATABASE_URL: 'postgres://127.0.0.1:1/x' }, /^MASTER_KEY must be/],
    [{ TLS_CERT_FILE: '/nowhere', TLS_KEY_FILE: '/nowhere' }, /^TLS_CERT_FILE must be .*ENOENT/],
    [{ MAX_SESSIONS: '100000' }, /^MAX_SESSIONS must be .*ulimit/],
  ])('stops a start with %j by exit code 78 and one line', async (env, line) => {
    // The descriptor limit of the machine may be huge: the shell's own is made small for the last one.
    const isLimited = 'MAX_SESSIONS' in env;
    const result = isLimited ? await withFewDescriptors(env) : await tonegate(['start'], { ...env });
    expect(result.code).toBe(78);
    expect(result.stdout).toBe('');
    expect(result.stderr.trim()).toMatch(line);
    expect(result.stderr.trim()).not.toContain('\n');
  });

  it('prints the settings in force with secrets masked', async () => {
    const secret = Buffer.alloc(32, 9).toString('base64');
    const result = await tonegate(['settings'], {
      MASTER_KEY: secret,
      DATABASE_URL: 'postgres://u:hunter2@db/x',
      WORKERS: '7',
    });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout).toMatch(/^\* WORKERS +7 /m);
    expect(result.stdout).toMatch(/^ {2}HTTP_PORT +8080 /m);
    expect(result.stdout).not.toContain('hunter2');
    expect(result.stdout).not.toContain(secret);
    expect((await tonegate(['settings'], { LOG_LEVEL: 'loud' })).code).toBe(78);
  });

  it('reads .env under the environment', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tonegate-env-'));
    try {
      await writeFile(join(folder, '.env'), 'WORKERS=3\nHOME=/elsewhere\n');
      expect(readEnvironment(folder)).toMatchObject({ WORKERS: '3', HOME: process.env.HOME });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

/** Like `tonegate start`, under a shell whose processes may open 256 files. */
async function withFewDescriptors(env: Record<string, string | undefined>) {
  const { execFile } = await import('node:child_process');
  const { fileURLToPath } = await import('node:url');
  const command = fileURLToPath(new URL('../../dist/main/cli/tonegate.js', import.meta.url));
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const script = 'ulimit -n 1024; exec "$0" "$@"';
    const args = ['-c', script, process.execPath, command, 'start'];
    execFile(
      '/bin/sh',
      args,
      { env: { PATH: process.env.PATH, ...env }, timeout: 60_000 },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}
