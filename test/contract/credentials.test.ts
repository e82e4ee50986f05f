import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCOPES } from '../../src/kernel/caller.ts';
import type { RouteSpec } from '../../src/platform/http/index.ts';
import type { ApiAnswer, TestAccount } from '../_util/index.ts';
import { AnswerJudge } from './answers.ts';
import { ContractWorld, fromElsewhere, nameOf } from './world.ts';
import type { Credential, Prepared } from './world.ts';

/** Thousands of requests, on a machine that does other things too. */
const LONG_MS = 240_000;

let world: ContractWorld;
let judge: AnswerJudge;
let guarded: RouteSpec[];
let owner: TestAccount;
let prepared: Map<RouteSpec, Prepared>;

beforeAll(async () => {
  world = await ContractWorld.start();
  judge = new AnswerJudge(world.routes);
  guarded = world.routes.filter((spec) => spec.auth !== 'none');
  owner = await world.api.account();
  prepared = await world.prepareAll(guarded, owner);
});
afterAll(async () => world.close());

/** Sends every route's example as someone, who must change nothing, and tells where the answer is not the one due. */
async function walk(
  as: Credential | undefined,
  isDue: (answer: ApiAnswer, spec: RouteSpec) => boolean,
): Promise<string[]> {
  const faults: string[] = [];
  const before = await world.stateOf(owner);
  const address = fromElsewhere();
  for (const [spec, request] of prepared) {
    const headers = { ...request.headers, ...address };
    const answer = await world.send(spec, { ...request, headers }, as);
    if (!isDue(answer, spec)) faults.push(`${nameOf(spec)}: ${answer.status} ${answer.text.slice(0, 200)}`);
    for (const fault of judge.faults(spec, answer)) faults.push(`${nameOf(spec)}: ${fault}`);
  }
  expect(await world.stateOf(owner)).toEqual(before);
  return faults;
}

const pathOfNobody = (spec: RouteSpec, id = '00000000-0000-4000-8000-000000000000'): string =>
  spec.path.replace(/\{\w+\}/g, encodeURIComponent(id));

/** Sends are taken whatever the credential is: that it is wrong is their result (3007), which only the sender hears. */
const isUnauthorized = (answer: ApiAnswer, { auth }: RouteSpec): boolean =>
  auth === 'self' ? answer.status === 202 : isRefusedUnnamed(answer);

const isRefusedUnnamed = (answer: ApiAnswer): boolean =>
  answer.status === 401 && /\/unauthorized$/.test(String(answer.body.type));

const isScopeRefusal = (answer: ApiAnswer): boolean =>
  answer.status === 403 && /\/insufficient-scope$/.test(String(answer.body.type));

describe('every route', () => {
  it('answers 401 to no credential and changes nothing', async () => {
    expect(await walk(undefined, isRefusedUnnamed)).toEqual([]);
  });

  it('answers 401 to a wrong secret and changes nothing', async () => {
    const { secret } = await world.api.account();
    expect(await walk({ teamId: owner.teamId, key: owner.key, secret }, isUnauthorized)).toEqual([]);
  });

  it('answers 401 to an expired key and changes nothing', async () => {
    const { keyId, ...as } = await world.key(owner, SCOPES);
    await world.sql(`update api_keys set expires_at = now() - interval '1 second' where id = $1`, [keyId]);
    expect(await walk(as, isUnauthorized)).toEqual([]);
  });

  it('answers 401 to a deleted key and changes nothing', async () => {
    const { keyId, ...as } = await world.key(owner, SCOPES);
    const path = `/register/public/apikeys/${keyId}`;
    expect((await world.api.request('DELETE', path, { as: owner })).status).toBe(200);
    expect(await walk(as, isUnauthorized)).toEqual([]);
  });

  it('answers 401 to a bearer token of nobody’s and changes nothing', async () => {
    const bearer = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.';
    expect(await walk({ bearer }, isUnauthorized)).toEqual([]);
  });

  it('answers 404 to another account’s ids, in the path and in the body, and changes nothing of that account', async () => {
    const other = await world.api.account();
    // Numbers and addresses of do-not-contact entries are no ids: removing one that is not listed succeeds.
    const isNoId = (spec: RouteSpec): boolean => spec.path.startsWith('/dnc/') && spec.method === 'DELETE';
    const faults = await walk(other, (answer, spec) =>
      spec.params && !isNoId(spec) ? answer.status === 404 : answer.status < 500,
    );
    expect(faults).toEqual([]);
  });

  it(
    'takes each single scope it lists, and answers 403 with their names to every other one',
    async () => {
      const faults: string[] = [];
      const isRefused = (spec: RouteSpec, answer: ApiAnswer): boolean =>
        answer.status === 403 && String(answer.body.detail).includes(`: ${spec.scopes.join(', ')}.`);
      // A site token that opens more than its maker holds is refused by the names of what it opens.
      const isLetIn = (spec: RouteSpec, answer: ApiAnswer): boolean =>
        answer.status !== 401 &&
        (spec.operationId === 'createSiteToken' ? !isRefused(spec, answer) : !isScopeRefusal(answer));
      for (const scope of SCOPES) {
        const as = await world.key(owner, [scope]);
        await Promise.all(
          guarded.map(async (spec) => {
            const isTaken = spec.scopes.length === 0 || spec.scopes.includes(scope);
            const request = { path: pathOfNobody(spec), body: spec.example?.body, headers: {} };
            const answer = await world.send(spec, request, as);
            const isRight = isTaken || spec.auth === 'self' ? isLetIn(spec, answer) : isRefused(spec, answer);
            if (!isRight) faults.push(`${scope} ${nameOf(spec)}: ${answer.status} ${answer.text}`);
          }),
        );
      }
      expect(faults).toEqual([]);
    },
    LONG_MS,
  );

  it('answers 404 to ids that nobody has and that are none', async () => {
    const faults: string[] = [];
    for (const spec of guarded.filter((one) => one.params && !one.path.startsWith('/dnc/'))) {
      for (const id of ['00000000-0000-4000-8000-000000000000', 'none', "1' or '1'='1", '../..', '💥']) {
        const request = { path: pathOfNobody(spec, id), body: spec.example?.body, headers: {} };
        const answer = await world.send(spec, request, owner);
        // Detection keys: a key_id that is no UUID is 400 by the contract.
        const due = spec.operationId === 'revokeDetectionKey' && !id.startsWith('0') ? 400 : 404;
        if (answer.status !== due) faults.push(`${nameOf(spec)} ${id}: ${answer.status} ${answer.text}`);
      }
    }
    expect(faults).toEqual([]);
  });

  it('answers 405 with Allow to methods it does not have, without a credential', async () => {
    for (const path of new Set(world.routes.map((spec) => spec.path))) {
      const known = world.routes.filter((spec) => spec.path === path).map((spec) => spec.method as string);
      const answer = await world.api.request('PATCH', path.replace(/\{\w+\}/g, 'x'));
      expect(answer.status, path).toBe(405);
      expect(answer.headers.get('allow')?.split(', '), path).toEqual(expect.arrayContaining(known));
    }
  });
});

describe('routes that cost', () => {
  /** Supplement 13, REST. Campaigns come with their routes. */
  const PAID = [
    'POST /voice/public/tts/synthesize',
    'POST /phone/public/embed/token',
    'POST /contact/public/contacts',
    'POST /contact/public/lists',
    'POST /contact/public/contacts/{contact_id}/lists/move',
    'POST /email/public/email',
    'POST /email/public/email/merged-template',
    'POST /v1/list',
    'POST /v1/list/{list_id}/contacts',
  ];

  /** Site tokens cost when they place calls, which needs a carrier of the account's own. */
  async function preparePaid(spec: RouteSpec, account: TestAccount): Promise<Prepared> {
    const request = await world.prepare(spec, account);
    if (spec.operationId !== 'createSiteToken') return request;
    await world.sql(
      `insert into carrier_connections (id, team_id, kind, name, settings_ciphertext, created_by)
       values ($1, $2, 'twilio', 'Carrier', '', $3)`,
      [randomUUID(), account.teamId, account.ownerId],
    );
    return { ...request, body: { scope: 'dialer:webrtc' } };
  }

  it.each(['restricted', 'suspended', 'canceled'])('answer 402 while the account is %s', async (tier) => {
    const account = await world.api.account();
    for (const name of PAID) {
      const spec = world.routes.find((one) => nameOf(one) === name);
      if (!spec) throw new Error(`there is no route ${name}`);
      const request = await preparePaid(spec, account);
      await world.sql('update teams set dunning_tier = $2 where id = $1', [account.teamId, tier]);
      const before = await world.stateOf(account);
      const answer = await world.send(spec, request, account);
      expect(answer.status, name).toBe(402);
      expect(answer.body.type).toMatch(/\/payment-required$/);
      expect(answer.body.details).toEqual({ dunning_tier: tier });
      expect(judge.faults(spec, answer)).toEqual([]);
      expect(await world.stateOf(account)).toEqual(before);
      await world.sql('update teams set dunning_tier = null where id = $1', [account.teamId]);
    }
  });
});
