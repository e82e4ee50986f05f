import { AuthRole } from '../../src/main/auth.role.ts';
import type { Scope } from '../../src/kernel/caller.ts';
import { startApi } from '../_util/api.ts';
import type { ApiOptions, TestAccount, TestApi } from '../_util/api.ts';
import { testDb } from '../_util/index.ts';
import type { TestDb } from '../_util/index.ts';

/** A REST server and the OAuth server beside it, each on a port of its own, over one database. */
export interface OauthWorld {
  readonly api: TestApi;
  readonly db: TestDb;
  readonly auth: string;
  readonly account: TestAccount;
  machine(scopes?: readonly Scope[]): Promise<MachineClient>;
  /** A request for a token; `form` is what is sent. */
  token(
    form: Record<string, string> | URLSearchParams,
    headers?: Record<string, string>,
  ): Promise<TokenAnswer>;
  /** The access token of a client. */
  bearer(client: MachineClient, form?: Record<string, string>): Promise<string>;
  close(): Promise<void>;
}

export interface MachineClient {
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface TokenAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    access_token?: string;
    token_type?: string;
    expires_in?: number;
    scope?: string;
    error?: string;
    message?: string;
  };
}

export async function oauthWorld(options: ApiOptions = {}): Promise<OauthWorld> {
  const db = await testDb();
  const api = await startApi(db, options);
  const role = new AuthRole(api.services, null);
  const port = await role.listen({ host: '127.0.0.1', port: 0 });
  const auth = `http://127.0.0.1:${port}`;
  api.services.addresses.update({ publicUrl: api.url, authUrl: auth });
  const account = await api.account();
  const token: OauthWorld['token'] = async (form, headers = {}) => {
    const response = await fetch(`${auth}/oauth/token`, {
      ...{ method: 'POST', headers, body: new URLSearchParams(form) },
    });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as TokenAnswer['body'],
    };
  };
  return {
    ...{ api, db, auth, account, token },
    machine: async (scopes = ['contacts:read', 'numbers:read']) => {
      const made = await api.services.oauthClients.create(account.caller, { name: 'Example', scopes });
      return { clientId: made.clientId, clientSecret: made.clientSecret ?? '' };
    },
    bearer: async ({ clientId, clientSecret }, form = {}) => {
      const named = { client_id: clientId, client_secret: clientSecret, audience: api.url };
      const answer = await token({ grant_type: 'client_credentials', ...named, ...form });
      if (answer.body.access_token === undefined) throw new Error(JSON.stringify(answer.body));
      return answer.body.access_token;
    },
    close: async () => {
      role.cut();
      await role.close();
      await api.close();
      await db.drop();
    },
  };
}
