import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { oauthWorld } from './world.ts';
import type { OauthWorld } from './world.ts';

const VERIFIER = 'v'.repeat(43);
const challenge = createHash('sha256').update(VERIFIER).digest('base64url');

describe('the OAuth server', () => {
  let world: OauthWorld;
  let publicClient: string;
  const redirectUri = 'https://app.example.com/cb';

  beforeAll(async () => {
    world = await oauthWorld();
    const input = { name: 'App', scopes: ['contacts:read'], redirectUris: [redirectUri] };
    publicClient = (await world.api.services.oauthClients.create(world.account.caller, input)).clientId;
  });
  afterAll(() => world.close());

  const authorize = (params: Record<string, string>): Promise<Response> =>
    fetch(`${world.auth}/oauth/authorize?${new URLSearchParams(params).toString()}`, { redirect: 'manual' });
  const asked = (): Record<string, string> => ({
    ...{ client_id: publicClient, response_type: 'code', redirect_uri: redirectUri, state: 's' },
    ...{ scope: 'contacts:read', code_challenge: challenge, code_challenge_method: 'S256' },
  });
  const errorOf = (response: Response): string | null =>
    new URL(response.headers.get('location') ?? 'x:').searchParams.get('error');
  const artifacts = async (): Promise<number> =>
    (await world.db.db.query('select 1 from oauth_artifacts')).rowCount ?? 0;

  it('tells a client that asks for a sign-in of users that there is none, and keeps nothing of it', async () => {
    const response = await authorize(asked());
    const location = new URL(response.headers.get('location') ?? '');
    expect([response.status, location.origin + location.pathname]).toEqual([303, redirectUri]);
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      ...{ error: 'temporarily_unavailable', state: 's', iss: world.auth },
    });
    expect(await artifacts()).toBe(0);
  });

  it('demands PKCE with S256', async () => {
    const names = Object.entries(asked()).filter(([name]) => !name.startsWith('code_challenge'));
    expect(errorOf(await authorize(Object.fromEntries(names)))).toBe('invalid_request');
    expect(errorOf(await authorize({ ...asked(), code_challenge_method: 'plain' }))).toBe('invalid_request');
  });

  it('sends nobody to an address that is not exactly the one registered', async () => {
    const others = [
      `${redirectUri}/`,
      `${redirectUri}?x=1`,
      'https://evil.example.com/cb',
      'HTTPS://APP.EXAMPLE.COM/cb',
    ];
    for (const uri of others) {
      const response = await authorize({ ...asked(), redirect_uri: uri });
      expect([uri, response.status, response.headers.get('location')]).toEqual([uri, 400, null]);
    }
    const unknown = await authorize({ ...asked(), client_id: '00000000-0000-4000-8000-000000000000' });
    expect([unknown.status, unknown.headers.get('location')]).toEqual([400, null]);
  });

  it('refuses a NUL, which no database keeps', async () => {
    expect((await authorize({ ...asked(), state: 'a\0b' })).status).toBe(400);
  });

  it('answers its health, and problem details where there is nothing', async () => {
    expect(await (await fetch(`${world.auth}/healthz`)).json()).toEqual({ status: 'ok' });
    for (const path of ['/', '/nowhere', '/readyz', '/metrics', '/contact/public/contacts']) {
      const response = await fetch(world.auth + path, { headers: { 'x-request-id': 'mine' } });
      expect([path, response.status]).toEqual([path, 404]);
      expect(response.headers.get('content-type')).toContain('application/problem+json');
      expect([response.headers.get('x-request-id'), await response.json()]).toEqual([
        'mine',
        expect.objectContaining({ status: 404, request_id: 'mine', instance: path }),
      ]);
    }
    const frame = (await fetch(`${world.auth}/oauth/jwks`)).headers.get('content-security-policy');
    expect(frame).toContain("frame-ancestors 'none'");
  });

  it('speaks of itself by AUTH_URL alone, whatever a request says', async () => {
    const headers = {
      host: 'evil.example.com',
      'x-forwarded-host': 'evil.example.com',
      'x-forwarded-proto': 'gopher',
    };
    const text = await new Promise<string>((resolve, reject) => {
      request(`${world.auth}/.well-known/oauth-authorization-server`, { headers }, (response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => (body += chunk.toString()));
        response.on('end', () => resolve(body));
      })
        .on('error', reject)
        .end();
    });
    expect(JSON.parse(text)).toMatchObject({
      issuer: world.auth,
      token_endpoint: `${world.auth}/oauth/token`,
    });
    expect(text).not.toMatch(/evil|gopher/);
  });

  it('works under a path that a proxy keeps or takes off', async () => {
    const { addresses } = world.api.services;
    const authUrl = 'https://example.com/sign-in';
    addresses.update({ publicUrl: world.api.url, authUrl });
    const paths = [
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-authorization-server/sign-in',
      '/sign-in/.well-known/oauth-authorization-server',
    ];
    for (const path of paths) {
      const metadata = (await (await fetch(world.auth + path)).json()) as Record<string, string>;
      expect([path, metadata['issuer'], metadata['token_endpoint'], metadata['jwks_uri']]).toEqual([
        ...[path, authUrl, `${authUrl}/oauth/token`, `${authUrl}/oauth/jwks`],
      ]);
    }
    const { clientId, clientSecret } = await world.machine();
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const response = await fetch(`${world.auth}/sign-in/oauth/token`, {
      ...{ method: 'POST', body: new URLSearchParams(form) },
    });
    const { access_token: token } = (await response.json()) as { access_token: string };
    const answer = await world.api.request('GET', '/phone/public/lines', { as: { bearer: token } });
    expect(answer.status).toBe(200);
    addresses.update({ publicUrl: world.api.url, authUrl: world.auth });
    expect((await world.api.request('GET', '/phone/public/lines', { as: { bearer: token } })).status).toBe(
      401,
    );
  });
});
