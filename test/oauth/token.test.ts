import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/kernel/clock.ts';
import {
  ACCESS_TOKEN_TTL_SEC,
  GUESSES_PER_ADDRESS,
  GUESSES_PER_CLIENT,
} from '../../src/features/oauth/index.ts';
import { oauthWorld } from './world.ts';
import type { MachineClient, OauthWorld } from './world.ts';

const grant = ({ clientId, clientSecret }: MachineClient): Record<string, string> => ({
  ...{ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
});

describe('the token route', () => {
  let world: OauthWorld;
  let client: MachineClient;
  const said: unknown[][] = [];
  const { info, warn, error, log } = console;

  beforeAll(async () => {
    const record = (...words: unknown[]): void => void said.push(words);
    Object.assign(console, { info: record, warn: record, error: record, log: record });
    world = await oauthWorld();
    client = await world.machine(['contacts:read', 'numbers:read']);
  });
  afterAll(async () => {
    Object.assign(console, { info, warn, error, log });
    await world.close();
  });

  it('gives an access token that any library verifies by the published metadata and keys', async () => {
    const metadata = (await (
      await fetch(`${world.auth}/.well-known/oauth-authorization-server`)
    ).json()) as Record<string, string>;
    expect(metadata).toMatchObject({
      issuer: world.auth,
      token_endpoint: `${world.auth}/oauth/token`,
      authorization_endpoint: `${world.auth}/oauth/authorize`,
      code_challenge_methods_supported: ['S256'],
    });
    const { status, body, headers } = await world.token({ ...grant(client), audience: world.api.url });
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({
      token_type: 'Bearer',
      expires_in: ACCESS_TOKEN_TTL_SEC,
      scope: 'contacts:read numbers:read',
    });
    const keys = createRemoteJWKSet(new URL(metadata['jwks_uri'] ?? ''));
    const { payload, protectedHeader } = await jwtVerify(body.access_token ?? '', keys, {
      ...{ issuer: world.auth, audience: world.api.url, typ: 'at+jwt', algorithms: ['ES256'] },
    });
    expect(protectedHeader.alg).toBe('ES256');
    expect(payload).toMatchObject({
      client_id: client.clientId,
      sub: client.clientId,
      team_id: world.account.teamId,
      scope: 'contacts:read numbers:read',
    });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(ACCESS_TOKEN_TTL_SEC);
  });

  it('takes the secret from an Authorization header too', async () => {
    const basic = Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64');
    const answer = await world.token(
      { grant_type: 'client_credentials', audience: world.api.url },
      { authorization: `Basic ${basic}` },
    );
    expect([answer.status, answer.body.token_type]).toEqual([200, 'Bearer']);
  });

  it('knows its audience as audience or as resource, with or without a last slash, and by default', async () => {
    const { url } = world.api;
    for (const named of [{ audience: url }, { resource: url }, { audience: `${url}/` }, {}]) {
      const token = await world.bearer(client, named as Record<string, string>);
      const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(`${world.auth}/oauth/jwks`)));
      expect(payload.aud).toBe(url);
    }
  });

  it('refuses every other audience, also beside the right one', async () => {
    const { url } = world.api;
    const others = [
      [['audience', 'https://api.example.com']],
      [['resource', 'https://api.example.com']],
      [['audience', `${url}/contact`]],
      [['audience', url.toUpperCase()]],
      [['audience', '']],
      [
        ['audience', url],
        ['resource', 'https://api.example.com'],
      ],
      [
        ['audience', 'https://api.example.com'],
        ['resource', url],
      ],
      [
        ['audience', url],
        ['audience', 'https://api.example.com'],
      ],
      [
        ['resource', url],
        ['resource', 'https://api.example.com'],
      ],
    ];
    for (const named of others) {
      const form = new URLSearchParams([...Object.entries(grant(client)), ...(named as [string, string][])]);
      const { status, body } = await world.token(form);
      expect([named, status, body.error, body.access_token]).toEqual([
        named,
        400,
        'invalid_target',
        undefined,
      ]);
    }
  });

  it('gives the scopes that are asked for, all that were granted when none is, and never another', async () => {
    const some = await world.token({ ...grant(client), scope: 'numbers:read' });
    expect(some.body.scope).toBe('numbers:read');
    const more = await world.token({ ...grant(client), scope: 'numbers:read account:write' });
    expect([more.status, more.body.error]).toEqual([400, 'invalid_scope']);
    const unknown = await world.token({ ...grant(client), scope: 'numbers:read no:such' });
    expect(unknown.body.scope).toBe('numbers:read');
  });

  it('says the same of a wrong secret, an unknown client and a revoked one', async () => {
    const revoked = await world.machine();
    await world.api.services.oauthClients.revoke(world.account.caller, revoked.clientId);
    const wrong = { ...client, clientSecret: `${client.clientSecret.slice(0, -1)}!` };
    const unknown = { ...client, clientId: '00000000-0000-4000-8000-000000000000' };
    const nul = { ...client, clientId: 'a\0b' };
    for (const given of [wrong, unknown, revoked, nul]) {
      const { status, body } = await world.token(grant(given));
      expect([status, body]).toEqual([
        401,
        { error: 'invalid_client', error_description: 'client authentication failed' },
      ]);
    }
  });

  it('gives a public client no token of its own', async () => {
    const input = { name: 'Public', scopes: ['contacts:read'], redirectUris: ['https://app.example.com/cb'] };
    const made = await world.api.services.oauthClients.create(world.account.caller, input);
    const answer = await world.token({ grant_type: 'client_credentials', client_id: made.clientId });
    expect([answer.status, answer.body.access_token]).toEqual([400, undefined]);
  });

  it('answers what cannot be read with an error of the client, never of the server', async () => {
    const url = `${world.auth}/oauth/token`;
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const bodies: RequestInit[] = [
      { headers: { 'content-type': 'application/json' }, body: '{"grant_type":"client_credentials"}' },
      { headers: form, body: '' },
      { headers: form, body: '%%%&=&=&__proto__=1&constructor=2' },
      { headers: form, body: `client_id=${client.clientId}&client_id=x&grant_type=client_credentials` },
      { headers: form, body: new URLSearchParams({ ...grant(client), grant_type: 'password' }).toString() },
      { headers: form, body: `a=${'x'.repeat(60_000)}` },
      { headers: { ...form, authorization: 'Basic ????' }, body: 'grant_type=client_credentials' },
      { headers: { ...form, authorization: 'Bearer x' }, body: 'grant_type=client_credentials' },
      {
        headers: form,
        body: new URLSearchParams({ ...grant(client), resource: 'not an address' }).toString(),
      },
    ];
    for (const request of bodies) {
      const response = await fetch(url, { method: 'POST', ...request });
      expect([request.body, response.status]).toEqual([request.body, 400]);
      expect(((await response.json()) as { error: string }).error).toMatch(/^(invalid|unsupported)_/);
    }
  });

  it('says nothing on the console', () => {
    expect(said).toEqual([]);
  });
});

describe('guessing at client secrets', () => {
  let world: OauthWorld;
  let clock: ManualClock;
  let client: MachineClient;
  const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });
  const guess = async (of: MachineClient, address: string): Promise<number> =>
    (await world.token(grant({ ...of, clientSecret: 'wrong' }), from(address))).status;

  beforeEach(async () => {
    clock = new ManualClock(Date.now());
    world = await oauthWorld({ clock, env: { TRUST_PROXY: '127.0.0.1' } });
    client = await world.machine();
  });
  afterEach(() => world.close());

  it('ends with 429, the right secret included, for the address that guesses', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < GUESSES_PER_CLIENT.burst + 2; n++) statuses.push(await guess(client, '192.0.2.1'));
    expect(statuses.slice(0, -2)).toEqual(Array(GUESSES_PER_CLIENT.burst).fill(401));
    expect(statuses.slice(-2)).toEqual([429, 429]);
    const right = await world.token(grant(client), from('192.0.2.1'));
    expect([right.status, right.body.message]).toEqual([429, 'Too Many Requests']);
    expect((await world.token(grant(client), from('192.0.2.2'))).status).toBe(200);
    expect((await world.token(grant(await world.machine()), from('192.0.2.1'))).status).toBe(200);
    clock.advance(3_600_000);
    expect((await world.token(grant(client), from('192.0.2.1'))).status).toBe(200);
  });

  it('ends for all clients when one address tries many, known or not; a /64 is one address', async () => {
    const unknown = { clientId: '00000000-0000-4000-8000-000000000000', clientSecret: '' };
    for (let n = 0; n < GUESSES_PER_ADDRESS.burst; n++) {
      expect(await guess(unknown, `2001:db8::${n + 1}`)).toBe(401);
    }
    expect(await guess(unknown, '2001:db8::ffff')).toBe(429);
    expect((await world.token(grant(client), from('2001:db8:0:0:1::1'))).status).toBe(429);
    expect((await world.token(grant(client), from('2001:db8:0:1::1'))).status).toBe(200);
  });

  it('counts the peer itself where the header comes from no trusted proxy', async () => {
    await world.close();
    world = await oauthWorld({ clock });
    client = await world.machine();
    for (let n = 0; n < GUESSES_PER_CLIENT.burst; n++) expect(await guess(client, `192.0.2.${n}`)).toBe(401);
    expect(await guess(client, '198.51.100.1')).toBe(429);
  });
});
