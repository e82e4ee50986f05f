import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose } from '../../src/main/compose.ts';
import type { Services } from '../../src/main/compose.ts';
import { rekey, SECRET_COLUMNS } from '../../src/main/rekey.ts';
import { Cipher } from '../../src/platform/db/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import { loadSettings } from '../../src/platform/settings/index.ts';
import { callerOf, testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';
import { makeAccount } from '../_util/api.ts';

describe('rekey', () => {
  let database: TestDb;
  let services: Services;
  const former = randomBytes(32);
  beforeAll(async () => {
    database = await testDb();
    const made = { settings: loadSettings({}), logger: silentLogger, url: database.url, masterKey: former };
    services = compose({ ...made, maxConnections: 4, applicationName: 'tonegate-test' });
  });
  afterAll(async () => {
    await services.close();
    await database.drop();
  });

  const nameOf = ({ table, column }: (typeof SECRET_COLUMNS)[number]): string => `${table}.${column}`;

  const stored = async (
    place: (typeof SECRET_COLUMNS)[number],
  ): Promise<{ id: string; secret: string }[]> => {
    const { table, column } = place;
    const sql = `select id, ${column} as secret from ${table} where ${column} is not null`;
    return (await database.db.query<{ id: string; secret: string }>(sql)).rows;
  };

  it('knows every column that holds a ciphertext', async () => {
    const { rows } = await database.db.query<{ place: string }>(
      `select table_name || '.' || column_name as place from information_schema.columns
       where table_schema = 'public' and column_name like '%ciphertext%'`,
    );
    expect(rows.map(({ place }) => place).sort()).toEqual(SECRET_COLUMNS.map(nameOf).sort());
  });

  it('rewrites what each slice stored, so that it opens with the new key alone', async () => {
    const account = await makeAccount(services);
    const caller = callerOf(account);
    await services.accounts.setPlatformToken(account.teamId, randomBytes(16).toString('hex'));
    await services.webhooks.create(caller, { hookUrl: 'https://203.0.114.7/', eventTypes: ['contact.*'] });
    const { carrierId } = await services.carriers.connect(caller, { kind: 'simulator', name: 'Simulator' });
    await services.emails.hooks.rotate(caller, carrierId);
    await services.lookups.domains.create(caller, { domain: 'mail.example.com' });
    await services.signingKeys.jwks();
    const before = new Map<string, string[]>();
    for (const place of SECRET_COLUMNS) {
      const rows = await stored(place);
      expect(rows.length, `${nameOf(place)} holds a secret`).toBeGreaterThan(0);
      before.set(
        nameOf(place),
        rows.map(({ id, secret }) => services.cipher.decrypt(secret, `${place.context}:${id}`)),
      );
    }

    const fresh = randomBytes(32);
    const both = new Cipher(fresh, [former]);
    const total = [...before.values()].flat().length;
    expect(await rekey(database.db, both)).toEqual({ rewritten: total, kept: 0 });
    const alone = new Cipher(fresh);
    for (const place of SECRET_COLUMNS) {
      const rows = await stored(place);
      const opened = rows.map(({ id, secret }) => alone.decrypt(secret, `${place.context}:${id}`));
      expect(opened.sort(), nameOf(place)).toEqual(before.get(nameOf(place))?.sort());
    }
    expect(await rekey(database.db, alone)).toEqual({ rewritten: 0, kept: total });
  });
});
