import { randomUUID } from 'node:crypto';
import type { Scope } from '../../src/kernel/caller.ts';
import { apiRoutes } from '../../src/main/api.role.ts';
import { composeLookups } from '../../src/main/compose-lookups.ts';
import type { RouteSpec } from '../../src/platform/http/index.ts';
import { startApi, testDb } from '../_util/index.ts';
import type { ApiAnswer, TestAccount, TestApi, TestDb } from '../_util/index.ts';
import { ToneEngine } from '../platform/audio/tone.engine.ts';
import { bodyOf, paramsOf } from './fixtures.ts';
import { REQUESTS } from './requests.ts';

// An answer off the wire, until it was compared.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Loose = any;

export interface Example {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly headers: Record<string, string>;
}

/** A key of an account, or a bearer token. */
export type Credential =
  { readonly teamId: string; readonly key: string; readonly secret: string } | { readonly bearer: string };

/** One whole request to a route. */
export interface Prepared {
  readonly path: string;
  readonly body: unknown;
  readonly headers: Record<string, string>;
}

/** The mounted API with accounts in it, whose routes can be asked for as their examples say. */
export class ContractWorld {
  readonly db: TestDb;
  readonly api: TestApi;
  readonly routes: readonly RouteSpec[];

  private constructor(db: TestDb, api: TestApi) {
    this.db = db;
    this.api = api;
    this.routes = apiRoutes(api.services);
  }

  static async start(): Promise<ContractWorld> {
    const db = await testDb();
    const api = await startApi(db, {
      // Every request of these tests comes from one address.
      env: { RATE_LIMIT_PER_ROUTE: '100000', RATE_LIMIT_BURST: '100000', TRUST_PROXY: '127.0.0.1' },
      // Speech does not depend on what is installed where the tests run.
      services: (services) =>
        composeLookups({
          ...{ ...services, publicUrl: services.addresses.publicUrl, engine: new ToneEngine() },
        }),
    });
    return new ContractWorld(db, api);
  }

  async close(): Promise<void> {
    await this.api.close();
    await this.db.drop();
  }

  /** The example of a route, with ids of what the account really has. */
  async example(spec: RouteSpec, account: TestAccount): Promise<Example> {
    const made = REQUESTS[spec.operationId];
    if (made) return { params: {}, query: {}, body: undefined, headers: {}, ...(await made(this, account)) };
    const params = { ...spec.example?.params, ...(await paramsOf(this, spec, account)) };
    return { params, query: spec.example?.query ?? {}, ...(await bodyOf(this, spec, { account, params })) };
  }

  async prepare(spec: RouteSpec, account: TestAccount): Promise<Prepared> {
    const { params, query, body, headers } = await this.example(spec, account);
    const texts = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
    const search = new URLSearchParams(texts).toString();
    const path = spec.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
    return { path: search === '' ? path : `${path}?${search}`, body, headers };
  }

  async send(spec: RouteSpec, request: Prepared, as?: Credential): Promise<ApiAnswer> {
    const { path, body } = request;
    const headers = { ...request.headers, ...credentialHeaders(spec, as) };
    return this.api.request(spec.method, path, { body, headers });
  }

  /** Makes something through a route and gives its data. */
  async made(account: TestAccount, path: string, body?: unknown): Promise<Loose> {
    const answer = await this.api.request('POST', path, { as: account, body });
    if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
    return answer.data;
  }

  async sql(text: string, values: unknown[]): Promise<void> {
    await this.db.db.query(text, values);
  }

  /** A further key of the account with these scopes. */
  async key(
    account: TestAccount,
    scopes: readonly Scope[],
  ): Promise<{ keyId: string; teamId: string; key: string; secret: string }> {
    const data = await this.made(account, '/register/public/apikeys', { name: 'One', scopes });
    return { keyId: data._id, teamId: account.teamId, key: data.key, secret: data.secret };
  }

  /** Every route's example, as the account could send it. */
  async prepareAll(specs: readonly RouteSpec[], account: TestAccount): Promise<Map<RouteSpec, Prepared>> {
    const prepared = new Map<RouteSpec, Prepared>();
    for (const spec of specs) prepared.set(spec, await this.prepare(spec, account));
    return prepared;
  }

  /** A digest of all that the account has, by table; what a request uses up of a key is no change. */
  async stateOf(account: TestAccount): Promise<Record<string, string>> {
    const { rows } = await this.db.db.query<{ name: string }>(
      `select table_name as name from information_schema.columns
       where table_schema = 'public' and column_name = 'team_id' order by 1`,
    );
    const digests = rows.map(({ name }) => {
      const row = name === 'api_keys' ? `to_jsonb(t) - 'last_used_at' - 'request_count'` : 'to_jsonb(t)';
      return `select '${name}' as name, (select md5(coalesce(string_agg(r, ',' order by r), ''))
        from (select (${row})::text as r from ${name} t where team_id = $1) s) as digest`;
    });
    const { rows: found } = await this.db.db.query<{ name: string; digest: string }>(
      digests.join(' union all '),
      [account.teamId],
    );
    return Object.fromEntries(found.map(({ name, digest }) => [name, digest]));
  }
}

/** Version 1 names the account where others name the key. */
export function credentialHeaders(spec: RouteSpec, as: Credential | undefined): Record<string, string> {
  if (as === undefined) return {};
  if ('bearer' in as) return { authorization: `Bearer ${as.bearer}` };
  const { teamId, key, secret } = as;
  return {
    ...(spec.auth === 'team-secret' ? { 'x-team-id': teamId } : { 'x-key': key }),
    'x-secret': secret,
  };
}

/** An address of its own, so that wrong credentials of one test do not count against another. */
export const fromElsewhere = (): Record<string, string> => ({
  'x-forwarded-for': `2001:db8:${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}::1`,
});

export const nameOf = (spec: RouteSpec): string => `${spec.method} ${spec.path}`;
