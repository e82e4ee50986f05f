import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, testDb } from '../_util/index.ts';
import type { TestAccount, TestApi, TestDb } from '../_util/index.ts';

const TAGS = '/tag/public/tags';

describe('the floor over the real services', () => {
  let db: TestDb;
  let api: TestApi;
  const start = async (env: Record<string, string>): Promise<void> => {
    api = await startApi(db, { env });
  };
  const statuses = async (
    count: number,
    headersOf: (n: number) => Record<string, string>,
  ): Promise<number[]> => {
    const found: number[] = [];
    for (let n = 0; n < count; n += 1)
      found.push((await api.request('GET', TAGS, { headers: headersOf(n) })).status);
    return found;
  };
  const headersOf = ({ key, secret }: TestAccount): Record<string, string> => ({
    'x-key': key,
    'x-secret': secret,
  });

  beforeAll(async () => {
    db = await testDb();
  });
  afterAll(async () => db.drop());

  it('stops guessing at a real key well before thirty tries, from whatever address a trusted proxy names', async () => {
    await start({ TRUST_PROXY: '127.0.0.1' });
    const account = await api.account();
    const other = await api.account();
    expect((await api.request('GET', TAGS, { as: account })).status).toBe(200);
    const guessed = await statuses(30, (n) => ({
      ...{ 'x-key': account.key, 'x-secret': `${other.secret}${n}` },
      'x-forwarded-for': `192.0.2.${n}`,
    }));
    expect(guessed[0]).toBe(401);
    expect(guessed.at(-1)).toBe(429);
    const answers = [
      await api.request('GET', TAGS, { as: account }),
      await api.request('GET', TAGS, { as: other }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await api.close();
  });

  it('takes the rates of the settings', async () => {
    await start({ RATE_LIMIT_PER_ROUTE: '1', RATE_LIMIT_BURST: '3' });
    const account = await api.account();
    expect((await statuses(12, () => headersOf(account))).filter((status) => status === 429)).not.toEqual([]);
    await api.close();
  });

  it('stores nothing of a request that it refuses', async () => {
    await start({});
    const as = await api.account();
    const bodies = [
      '{"label":"a\\u0000"}',
      '{"label":"a","__proto__":{"label":"b"}}',
      '{"label":1}',
      '{"label":"a"',
      `{"label":"${'x'.repeat(300_000)}"}`,
      `{"label":"a","more":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
    ];
    for (const body of bodies)
      expect((await api.request('POST', TAGS, { as, body })).status).toBeOneOf([400, 413]);
    expect((await api.request('POST', TAGS, { as, body: Buffer.alloc(10_000_000, 32) })).status).toBe(413);
    expect((await api.request('GET', TAGS, { as })).data).toEqual([]);
    await api.close();
  });
});
