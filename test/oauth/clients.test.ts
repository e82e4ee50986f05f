import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OauthClientsService } from '../../src/features/oauth/index.ts';
import { hashOf } from '../../src/features/credentials/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { systemIds } from '../../src/kernel/ids.ts';
import type { NewClient } from '../../src/features/oauth/index.ts';
import { createProgram } from '../../src/main/cli/program.ts';
import { compose } from '../../src/main/compose.ts';
import type { Services } from '../../src/main/compose.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { loadSettings } from '../../src/platform/settings/index.ts';
import { makeAccount } from '../_util/api.ts';
import { callerOf, testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

let database: TestDb;
let services: Services;
beforeAll(async () => {
  database = await testDb();
  services = compose({
    ...{ settings: loadSettings({}), logger: silentLogger, url: database.url, masterKey: randomBytes(32) },
    ...{ maxConnections: 8, applicationName: 'tonegate-test' },
  });
});
afterAll(async () => {
  await services.close();
  await database.drop();
});

describe('OAuth clients of an account', () => {
  const clients = () => new OauthClientsService({ db: database.db, clock: systemClock, ids: systemIds });

  it('shows the secret of a machine client once and stores only its hash', async () => {
    const { caller, teamId } = await makeAccount(services);
    const made = await clients().create(caller, { name: 'CRM', scopes: ['contacts:read', 'dnc:read'] });
    expect(made.clientSecret).toMatch(/^tgc_[\w-]{49}$/);
    const listed = await clients().list(caller);
    expect(listed).toEqual([
      {
        ...{ clientId: made.clientId, name: 'CRM', scopes: ['contacts:read', 'dnc:read'] },
        ...{ redirectUris: [], createdAtMs: made.createdAtMs },
      },
    ]);
    const { rows } = await database.db.query<{ row: string; secret_hash: Buffer }>(
      'select c::text as row, secret_hash from oauth_clients c where team_id = $1',
      [teamId],
    );
    expect(rows[0]?.secret_hash).toEqual(hashOf(made.clientSecret ?? ''));
    expect(rows[0]?.row).not.toContain(made.clientSecret);
  });

  it('gives a client with redirect addresses no secret', async () => {
    const { caller } = await makeAccount(services);
    const redirectUris = ['https://app.example.com/cb', 'http://127.0.0.1:3000/cb'];
    const made = await clients().create(caller, { name: 'App', scopes: ['contacts:read'], redirectUris });
    expect([made.clientSecret, made.redirectUris]).toEqual([null, redirectUris]);
  });

  it('is seen and revoked by its own account alone, once', async () => {
    const mine = await makeAccount(services);
    const theirs = await makeAccount(services);
    const { clientId } = await clients().create(mine.caller, { name: 'Mine', scopes: ['contacts:read'] });
    expect(await clients().list(theirs.caller)).toEqual([]);
    await expect(clients().revoke(theirs.caller, clientId)).rejects.toMatchObject({ code: 'not-found' });
    await clients().revoke(mine.caller, clientId);
    await expect(clients().revoke(mine.caller, clientId)).rejects.toMatchObject({ code: 'not-found' });
    await expect(clients().revoke(mine.caller, 'x')).rejects.toMatchObject({ code: 'not-found' });
    expect(await clients().list(mine.caller)).toEqual([]);
  });

  it('needs the scopes for reading and writing the account', async () => {
    const account = await makeAccount(services);
    const caller = callerOf(account, ['contacts:read']);
    const refusal = { code: 'insufficient-scope' };
    await expect(clients().create(caller, { name: 'x', scopes: [] })).rejects.toMatchObject(refusal);
    await expect(clients().list(caller)).rejects.toMatchObject(refusal);
    await expect(clients().revoke(caller, 'x')).rejects.toMatchObject(refusal);
  });

  it('refuses names, scopes and redirect addresses that are not usable', async () => {
    const { caller } = await makeAccount(services);
    const good = { name: 'x', scopes: ['contacts:read'] };
    const wrong: NewClient[] = [
      { ...good, name: '' },
      { ...good, name: 'x'.repeat(101) },
      { ...good, name: 'a\0b' },
      { ...good, scopes: [] },
      { ...good, scopes: ['contacts:read', 'no:such'] },
      ...[
        'http://app.example.com/cb',
        'https://app.example.com/#cb',
        'https://user:password@app.example.com/',
        'javascript:alert(1)',
        'app://cb',
        '/cb',
        'https://app.example.com/ cb',
        `https://app.example.com/${'x'.repeat(2_000)}`,
      ].map((uri) => ({ ...good, redirectUris: [uri] })),
      { ...good, redirectUris: Array.from({ length: 11 }, (_, n) => `https://app.example.com/${n}`) },
    ];
    for (const input of wrong) {
      await expect(clients().create(caller, input)).rejects.toMatchObject({ code: 'validation-error' });
    }
  });

  it('has at most a hundred, also when two are made at once', async () => {
    const { caller, teamId, ownerId } = await makeAccount(services);
    await database.db.query(
      `insert into oauth_clients (id, team_id, name, secret_hash, scopes, created_by)
       select gen_random_uuid(), $1, 'n' || n, '\\x00', '{contacts:read}', $2 from generate_series(1, 99) n`,
      [teamId, ownerId],
    );
    const made = await Promise.allSettled(
      [1, 2, 3].map((n) => clients().create(caller, { name: `last ${n}`, scopes: ['contacts:read'] })),
    );
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = made.filter((result): result is PromiseRejectedResult => result.status === 'rejected');
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'conflict' });
  });
});

describe('tonegate client', () => {
  const run = async (...words: string[]): Promise<string[]> => {
    const lines: string[] = [];
    const cli = {
      ...{ env: {}, stdout: (line: string) => void lines.push(line), stderr: () => undefined },
      openServices: async () => services,
    };
    await createProgram(cli).parseAsync(['node', 'tonegate', 'client', ...words]);
    return lines;
  };

  it('makes, lists and revokes clients', async () => {
    const { teamId } = await makeAccount(services);
    const team = ['--team', teamId];
    const scopes = ['--scopes', 'contacts:read,dnc:read'];
    const [line] = await run('create', ...team, '--name', 'CRM', ...scopes, '--json');
    const made = JSON.parse(line ?? '') as { client_id: string; client_secret: string };
    expect(Object.keys(made)).toEqual(['client_id', 'client_secret']);
    const [listed] = await run('list', ...team, '--json');
    expect(JSON.parse(listed ?? '')).toEqual([
      {
        ...{ client_id: made.client_id, name: 'CRM', scopes: ['contacts:read', 'dnc:read'] },
        ...{ redirect_uris: [], created_at: expect.any(Number) as number },
      },
    ]);
    expect(await run('revoke', made.client_id, ...team)).toEqual([`revoked ${made.client_id}`]);
    expect(await run('list', ...team)).toEqual(['no OAuth clients']);
  });

  it('makes a public client of several redirect addresses, without a secret', async () => {
    const { teamId } = await makeAccount(services);
    const uris = ['--redirect-uri', 'https://a.example.com/', '--redirect-uri', 'http://localhost:1/'];
    const words = ['create', '--team', teamId, '--name', 'App', '--scopes', 'contacts:read', ...uris];
    const [line] = await run(...words, '--json');
    expect(JSON.parse(line ?? '')).toMatchObject({ client_secret: null });
  });

  it('says what is wrong in the words of the command line', async () => {
    const { teamId } = await makeAccount(services);
    const words = ['create', '--team', teamId, '--name', 'x'];
    await expect(run(...words, '--scopes', 'no:such')).rejects.toThrow(/no:such/);
    const uri = run(...words, '--scopes', 'dnc:read', '--redirect-uri', 'http://example.com');
    await expect(uri).rejects.toThrow(/https/);
    const unknown = run('list', '--team', '00000000-0000-4000-8000-000000000000');
    await expect(unknown).rejects.toMatchObject({ code: 'not-found' });
  });
});
