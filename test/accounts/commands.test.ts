import { randomBytes } from 'node:crypto';
import { CommanderError } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCOPES } from '../../src/kernel/caller.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { loadSettings } from '../../src/platform/settings/index.ts';
import { UsageError } from '../../src/main/cli/context.ts';
import { createProgram } from '../../src/main/cli/program.ts';
import { compose } from '../../src/main/compose.ts';
import type { Services } from '../../src/main/compose.ts';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
type Shown = Record<string, unknown>;

describe('the command line', () => {
  let database: TestDb;
  let services: Services;

  beforeAll(async () => {
    database = await testDb();
    services = compose({
      ...{ settings: loadSettings({}), logger: silentLogger, url: database.url, masterKey: randomBytes(32) },
      ...{ maxConnections: 4, applicationName: 'tonegate-test' },
    });
  });
  afterAll(async () => {
    await services.close();
    await database.drop();
  });

  /** Runs a command in this process over the real services; its lines on stdout. */
  const run = async (...words: string[]): Promise<string[]> => {
    const lines: string[] = [];
    const cli = {
      ...{ env: {}, stdout: (line: string) => void lines.push(line), stderr: () => undefined },
      openServices: async () => services,
    };
    await createProgram(cli).parseAsync(['node', 'tonegate', ...words]);
    return lines;
  };
  const runJson = async (...words: string[]): Promise<Shown> => {
    const lines = await run(...words, '--json');
    expect(lines).toHaveLength(1);
    return JSON.parse(lines[0] ?? '') as Shown;
  };
  const newTeam = async (): Promise<string> =>
    String((await runJson('account', 'create', '--name', 'Commands', '--funds', '10'))['team_id']);

  it('makes an account and answers the fields of credentials.json, in their order', async () => {
    const made = await runJson(
      'account',
      'create',
      '--name',
      'One',
      '--funds',
      '12.5',
      '--scopes',
      'rvm:send,sms:send',
    );
    expect(Object.keys(made)).toEqual(['team_id', 'key', 'secret', 'detection_key']);
    expect(made['team_id']).toMatch(UUID);
    const found = await services.keyLookup.byKey(String(made['detection_key']));
    expect(found).toMatchObject({ teamId: made['team_id'], hasFunds: true });
    const { rows } = await database.db.query('select scopes from api_keys where key = $1', [made['key']]);
    expect(rows).toEqual([{ scopes: ['rvm:send', 'sms:send'] }]);
    expect(await services.accounts.get(String(made['team_id']))).toMatchObject({
      balanceMicros: 12_500_000n,
      verified: true,
    });
  });

  it('takes every option of account create', async () => {
    const flags = ['--unverified', '--test-mode', '--operator', '--concurrent-sessions', '3'];
    const made = await runJson('account', 'create', '--name', 'All options', ...flags);
    expect(await runJson('account', 'show', '--team', String(made['team_id']))).toMatchObject({
      ...{ name: 'All options', verified: false, test_mode: true, operator: true, concurrent_sessions: 3 },
      ...{ balance: 0, detection: true, building_blocks: true, platform_token: false },
    });
    const { rows } = await database.db.query<{ scopes: string[] }>(
      'select scopes from api_keys where key = $1',
      [made['key']],
    );
    expect(rows[0]?.scopes).toEqual([...SCOPES]);
  });

  it('shows one account in words, and all of them', async () => {
    const team = await newTeam();
    const lines = await run('account', 'show', '--team', team);
    expect(lines.find((line) => line.startsWith('balance'))).toMatch(/ 10$/);
    const all = JSON.parse((await run('account', 'show', '--json'))[0] ?? '') as Shown[];
    expect(all.map((one) => one['team_id'])).toContain(team);
  });

  it('switches flags and adds funds', async () => {
    const team = await newTeam();
    const switched = await runJson('account', 'set', '--team', team, 'detection=off', 'building_blocks=off');
    expect(switched).toMatchObject({ detection: false, building_blocks: false });
    expect(await runJson('account', 'set', '--team', team, 'detection=on')).toMatchObject({
      ...{ detection: true, building_blocks: false },
    });
    expect(await runJson('account', 'add-funds', '--team', team, '--amount', '0.25')).toMatchObject({
      balance: 10.25,
    });
  });

  it('sets plan, dunning tier, features, limits and suspension, and takes them back', async () => {
    const team = await newTeam();
    const words = ['plan=trial', 'dunning=restricted', 'features=email,detection', 'suspended=on'];
    const limits = ['concurrent_sessions=7', 'send_rate=50', 'verified=off', 'test_mode=on'];
    expect(await runJson('account', 'set', '--team', team, ...words, ...limits)).toMatchObject({
      ...{ plan: 'trial', dunning: 'restricted', features: ['email', 'detection'], suspended: true },
      ...{ concurrent_sessions: 7, send_rate: 50, verified: false, test_mode: true },
    });
    const back = ['dunning=none', 'features=none', 'suspended=off', 'send_rate=none'];
    expect(await runJson('account', 'set', '--team', team, ...back)).toMatchObject({
      ...{ plan: 'trial', dunning: null, features: [], suspended: false, send_rate: null },
    });
    const lines = await run('account', 'show', '--team', team);
    expect(lines.find((line) => line.startsWith('features'))).toMatch(/ none$/);
  });

  it('stores a platform token and never shows it', async () => {
    const team = await newTeam();
    const lines = await run('account', 'set-platform-token', 'platform-token-1', '--team', team, '--json');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ platform_token: true });
    expect(lines.join()).not.toContain('platform-token-1');
  });

  it('makes, lists and revokes Detection keys', async () => {
    const team = await newTeam();
    const made = await runJson(
      'detection-key',
      'create',
      '--team',
      team,
      '--name',
      'dialer',
      '--expires-in',
      '300',
    );
    expect(Number(made['expires_at']) - Number(made['created_at'])).toBe(300_000);
    expect(await services.keyLookup.byKey(String(made['api_key']))).toMatchObject({
      keyId: made['key_id'],
      revoked: false,
    });
    const list = async (): Promise<Shown[]> =>
      JSON.parse((await run('detection-key', 'list', '--team', team, '--json'))[0] ?? '') as Shown[];
    expect(await list()).toMatchObject([{ name: 'dialer', status: 'active' }, { name: 'First key' }]);
    expect((await run('detection-key', 'list', '--team', team)).join('\n')).not.toContain(made['api_key']);
    expect(await runJson('detection-key', 'revoke', String(made['key_id']), '--team', team)).toEqual({
      ...{ key_id: made['key_id'], revoked: true },
    });
    await run('detection-key', 'revoke', '--team', team, '--name', 'First key');
    expect(await list()).toEqual([]);
  });

  it('makes a user', async () => {
    const team = await newTeam();
    const words = [
      '--team',
      team,
      '--email',
      'u@example.com',
      '--password',
      'long enough',
      '--role',
      'manager',
    ];
    const made = await runJson('user', 'create', ...words, '--ai-access', 'full');
    expect(Object.keys(made)).toEqual(['user_id']);
    const { rows } = await database.db.query('select role, ai_access from users where id = $1', [
      made['user_id'],
    ]);
    expect(rows).toEqual([{ role: 'manager', ai_access: 'full' }]);
  });

  it.each([
    'account create',
    'account create --name a --funds -1',
    'account create --name a --funds 1.0000001',
    'account create --name a --scopes nothing:read',
    'account create --name a --concurrent-sessions many',
    'account create --name a surplus',
    'account set --team T',
    'account set detection=on',
    'account set --team T detection=maybe',
    'account set --team T plan=on',
    'account set --team T dunning=',
    'account set --team T features=email,fax',
    'account set --team T features=email,email',
    'account set --team T send_rate=-1',
    'account set --team T __proto__=on',
    'account set --team T constructor=on',
    'account add-funds --team T',
    'account add-funds --team T --amount x',
    'detection-key create',
    'detection-key create --team T --expires-in soon',
    'detection-key revoke --team T',
    'user create --team T --email a@b --password 12345678 --role king --ai-access full',
    'account unknown',
  ])('calls this wrong usage: %s', async (line) => {
    const failed: unknown = await run(...line.split(' ')).catch((error: unknown) => error);
    const isUsage =
      failed instanceof UsageError || (failed instanceof CommanderError && failed.exitCode !== 0);
    expect([line, isUsage]).toEqual([line, true]);
  });

  it.each(['account show --team T', 'account set --team T detection=on', 'detection-key list --team T'])(
    'says that there is no such account: %s',
    async (line) => {
      await expect(run(...line.split(' '))).rejects.toMatchObject({ code: 'not-found' });
    },
  );

  it.each([
    'account',
    'account create',
    'account show',
    'account set',
    'account add-funds',
    'account set-platform-token',
    'user',
    'user create',
    'detection-key',
    'detection-key create',
    'detection-key list',
    'detection-key revoke',
  ])('shows help with an example: %s', async (line) => {
    const lines: string[] = [];
    const cli = {
      ...{ env: {}, stdout: (text: string) => void lines.push(text), stderr: () => undefined },
      openServices: () => Promise.reject(new Error('help needs no services')),
    };
    const words = ['node', 'tonegate', ...line.split(' '), '--help'];
    await expect(createProgram(cli).parseAsync(words)).rejects.toMatchObject({ exitCode: 0 });
    expect(lines.join('\n')).toContain(`Example:\n  tonegate ${line.split(' ')[0]}`);
  });
});
