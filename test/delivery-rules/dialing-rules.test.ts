import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DialingRulesResolver } from '../../src/features/delivery-rules/dialing-rules.resolver.ts';
import {
  DEFAULT_RULES,
  dialingRulesRoutes,
  DialingRulesService,
} from '../../src/features/delivery-rules/index.ts';
import type { Caller, CallerRole } from '../../src/kernel/caller.ts';
import { AccountsWorld, testDb } from '../_util/index.ts';
import type { TestAccount, TestDb } from '../_util/index.ts';
import { mountSlice } from './mounted.ts';
import type { Mounted } from './mounted.ts';

const PATH = '/register/public/dialing-rules';
const DEFAULTS = {
  ...{ hours_enabled: true, hours_start_minute: 480, hours_end_minute: 1260 },
  ...{ phone_attempts_max: 3, phone_window_hours: 72, bulk_emails_max: 15, bulk_window_hours: 72 },
  ...{ transactional_emails_max: 30, transactional_window_hours: 24, test_numbers: [], test_emails: [] },
  ...{ texts_need_consent: false, calls_need_consent: false, no_verdict_action: 'play_speech' },
  ...{ opt_out_digit: null, updated_at: null },
};

describe('The dialing rules of an account', () => {
  let database: TestDb;
  let world: AccountsWorld;
  let mounted: Mounted;
  let rules: DialingRulesService;
  let as: TestAccount;

  beforeAll(async () => {
    database = await testDb();
    world = new AccountsWorld(database);
    rules = new DialingRulesService(world.services);
    mounted = await mountSlice(world.services, {
      routes: dialingRulesRoutes({ dialingRules: rules }),
      resolvers: [new DialingRulesResolver({ dialingRules: rules })],
    });
    as = await world.account();
  });
  afterAll(async () => {
    await mounted.close();
    await world.close();
    await database.drop();
  });

  const put = (body: unknown, account = as) => mounted.request('PUT', PATH, { as: account, body });
  const get = (account = as) => mounted.request('GET', PATH, { as: account });
  const keyWith = async (...scopes: Caller['scopes'] extends ReadonlySet<infer S> ? S[] : never) =>
    world.services.apiKeys.create(as.caller, { scopes });

  it('are those of the contract until they are changed', async () => {
    const fresh = await world.account();
    expect([(await get(fresh)).status, (await get(fresh)).data]).toEqual([200, DEFAULTS]);
    expect(await rules.of(fresh.teamId)).toEqual(DEFAULT_RULES);
  });

  it('change field by field: what is omitted stays', async () => {
    const account = await world.account();
    const first = await put(
      {
        ...{ hours_enabled: false, hours_start_minute: 540, hours_end_minute: 1440, phone_attempts_max: 0 },
        ...{ phone_window_hours: 1, bulk_emails_max: 1, bulk_window_hours: 2, transactional_emails_max: 3 },
        ...{ transactional_window_hours: 4, test_numbers: ['+12025550123', '+12025550123'] },
        ...{ test_emails: [' Ada@Example.com'], texts_need_consent: true, calls_need_consent: true },
        ...{ no_verdict_action: 'hang_up', opt_out_digit: '9' },
      },
      account,
    );
    const changed = {
      ...{ hours_enabled: false, hours_start_minute: 540, hours_end_minute: 1440, phone_attempts_max: 0 },
      ...{ phone_window_hours: 1, bulk_emails_max: 1, bulk_window_hours: 2, transactional_emails_max: 3 },
      ...{ transactional_window_hours: 4, test_numbers: ['+12025550123'], test_emails: ['ada@example.com'] },
      ...{ texts_need_consent: true, calls_need_consent: true, no_verdict_action: 'hang_up' },
      ...{ opt_out_digit: '9', updated_at: world.clock.nowMs() },
    };
    expect([first.status, first.data]).toEqual([200, changed]);
    const second = await put({ opt_out_digit: null, test_numbers: [] }, account);
    expect(second.data).toEqual({ ...changed, opt_out_digit: null, test_numbers: [] });
    expect((await get(account)).data).toEqual(second.data);
    expect(await rules.of(account.teamId)).toMatchObject({ hoursEnabled: false, optOutDigit: null });
    expect((await get()).data).toEqual(DEFAULTS);
  });

  it('of several accounts are read at once', async () => {
    const [one, other] = [await world.account(), await world.account()];
    await put({ phone_attempts_max: 7 }, other);
    const found = await rules.ofMany([one.teamId, other.teamId]);
    expect(found.get(one.teamId)).toEqual(DEFAULT_RULES);
    expect(found.get(other.teamId)?.phoneAttemptsMax).toBe(7);
  });

  it.each([
    [{ hours_start_minute: 1440 }, 'hours_start_minute'],
    [{ hours_start_minute: -1 }, 'hours_start_minute'],
    [{ hours_end_minute: 0 }, 'hours_end_minute'],
    [{ hours_start_minute: 1260 }, 'hours_end_minute'],
    [{ hours_start_minute: 600, hours_end_minute: 600 }, 'hours_end_minute'],
    [{ phone_attempts_max: 1.5 }, 'phone_attempts_max'],
    [{ phone_window_hours: 0 }, 'phone_window_hours'],
    [{ bulk_window_hours: 721 }, 'bulk_window_hours'],
    [{ hours_enabled: 'no' }, 'hours_enabled'],
    [{ test_numbers: ['2025550123'] }, 'test_numbers'],
    [{ test_numbers: '+12025550123' }, 'test_numbers'],
    [{ test_emails: ['nobody'] }, 'test_emails'],
    [{ no_verdict_action: 'sing' }, 'no_verdict_action'],
    [{ opt_out_digit: '12' }, 'opt_out_digit'],
    [{ opt_out_digit: 'a' }, 'opt_out_digit'],
  ])('refuse %j and change nothing', async (body, field) => {
    const account = await world.account();
    const refused = await put(body, account);
    expect([refused.status, refused.body.type]).toEqual([
      400,
      expect.stringMatching(/validation-error$/) as string,
    ]);
    expect(JSON.stringify(refused.body)).toContain(field);
    expect((await get(account)).data).toEqual(DEFAULTS);
  });

  it('are read with balance:read or account:write, and changed with account:write only', async () => {
    const reader = await keyWith('balance:read');
    const writer = await keyWith('account:write');
    const neither = await keyWith('contacts:write');
    const statusOf = async (method: string, key: { key: string; secret: string }) =>
      (await mounted.request(method, PATH, { as: key, ...(method === 'PUT' ? { body: {} } : {}) })).status;
    expect([await statusOf('GET', reader), await statusOf('PUT', reader)]).toEqual([200, 403]);
    expect([await statusOf('GET', writer), await statusOf('PUT', writer)]).toEqual([200, 200]);
    expect([await statusOf('GET', neither), await statusOf('PUT', neither)]).toEqual([403, 403]);
    expect((await mounted.request('GET', PATH, {})).status).toBe(401);
  });

  it.each([
    ['owner', true],
    ['manager', true],
    ['agent', false],
    ['viewer', false],
  ] as const)('for a signed-in %s can be changed: %s', async (role: CallerRole, may) => {
    const user: Caller = { ...as.caller, kind: 'user', role };
    const change = rules.update(user, { bulkEmailsMax: 15 });
    if (may) expect((await change).bulkEmailsMax).toBe(15);
    else await expect(change).rejects.toMatchObject({ code: 'forbidden', status: 403 });
    expect((await rules.get(user)).hoursEnabled).toBe(true);
  });

  it('changed by many at once lose no change', async () => {
    const account = await world.account();
    const bodies = [
      ...[{ phone_attempts_max: 9 }, { bulk_emails_max: 9 }, { transactional_emails_max: 9 }],
      ...[{ texts_need_consent: true }, { calls_need_consent: true }, { opt_out_digit: '#' }],
    ];
    await Promise.all(bodies.map((body) => put(body, account)));
    const all = Object.assign({}, ...bodies) as Record<string, unknown>;
    expect((await get(account)).data).toMatchObject(all);
  });

  it('are asked for and changed over GraphQL too', async () => {
    const account = await world.account();
    const fields = 'hoursEnabled hoursStartMinute noVerdictAction optOutDigit testNumbers updatedAt';
    const asked = await mounted.ask(account, `{ dialingRules { ${fields} } }`);
    expect(asked.data).toEqual({
      dialingRules: {
        ...{ hoursEnabled: true, hoursStartMinute: 480, noVerdictAction: 'PLAY_SPEECH' },
        ...{ optOutDigit: null, testNumbers: [], updatedAt: null },
      },
    });
    const input = '{hoursEnabled: false, noVerdictAction: PLAY_BEEP, optOutDigit: "9"}';
    const changed = await mounted.ask(
      account,
      `mutation { updateDialingRules(input: ${input}) { dialingRules { ${fields} } userErrors { field } } }`,
    );
    expect(changed.data.updateDialingRules).toMatchObject({
      dialingRules: { hoursEnabled: false, noVerdictAction: 'PLAY_BEEP', optOutDigit: '9' },
      userErrors: [],
    });
    const cleared = await mounted.ask(
      account,
      'mutation { updateDialingRules(input: {optOutDigit: null}) { dialingRules { optOutDigit hoursEnabled } } }',
    );
    expect(cleared.data.updateDialingRules.dialingRules).toEqual({ optOutDigit: null, hoursEnabled: false });
    const wrong = await mounted.ask(
      account,
      'mutation { updateDialingRules(input: {hoursStartMinute: 1400}) { dialingRules { hoursEnabled } userErrors { field code } } }',
    );
    expect(wrong.data.updateDialingRules).toEqual({
      dialingRules: null,
      userErrors: [{ field: 'hoursEndMinute', code: 'VALIDATION_ERROR' }],
    });
  });

  it('of another account are seen and changed by operators alone', async () => {
    const operator = await world.account({ operator: true });
    const other = await world.account();
    const change = `mutation { updateDialingRules(input: {teamId: "${other.teamId}", phoneAttemptsMax: 5}) { dialingRules { phoneAttemptsMax } } }`;
    const refused = await mounted.ask(as, change);
    expect(refused.errors?.[0].extensions.code).toBe('NOT_FOUND');
    const done = await mounted.ask(operator, change);
    expect(done.data.updateDialingRules.dialingRules.phoneAttemptsMax).toBe(5);
    const seen = await mounted.ask(
      operator,
      `{ dialingRules(teamId: "${other.teamId}") { phoneAttemptsMax } }`,
    );
    expect(seen.data.dialingRules.phoneAttemptsMax).toBe(5);
    expect((await rules.of(operator.teamId)).phoneAttemptsMax).toBe(3);
  });
});
