import { createHmac, generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import type { JWTPayload } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { oauthWorld } from './world.ts';
import type { MachineClient, OauthWorld } from './world.ts';

const HOUR_MS = 3_600_000;
const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('REST with access tokens', () => {
  let world: OauthWorld;
  let client: MachineClient;
  beforeAll(async () => {
    world = await oauthWorld({ env: { TRUST_PROXY: '127.0.0.1' } });
    client = await world.machine(['numbers:read', 'contacts:read']);
  });
  afterAll(() => world.close());

  let requests = 0;
  /** Each request from an address of its own: wrong tokens are counted by address. */
  const lines = (bearer: string) => {
    const headers = { 'x-forwarded-for': `2001:db8:${(requests += 1).toString(16)}::1` };
    return world.api.request('GET', '/phone/public/lines', { as: { bearer }, headers });
  };
  const status = async (bearer: string): Promise<number> => (await lines(bearer)).status;

  /** Claims as the server gives them. */
  const claims = (): JWTPayload => ({
    ...{ sub: client.clientId, client_id: client.clientId, team_id: world.account.teamId },
    scope: 'numbers:read',
  });
  const purpose = () => ({ typ: 'at+jwt', issuer: world.auth, audience: world.api.url });
  const signed = (changed: JWTPayload = {}, of: object = {}): Promise<string> =>
    world.api.services.signingKeys.sign(
      { ...claims(), ...changed },
      { ...purpose(), expiresAtMs: Date.now() + HOUR_MS, ...of },
    );

  it('lets the token of a client act on its account, under the user who made the client', async () => {
    const token = await world.bearer(client);
    expect(await status(token)).toBe(200);
    expect(await status(token)).toBe(200);
    expect(await world.api.services.authenticator.authenticate({ bearer: token })).toEqual({
      kind: 'machine',
      teamId: world.account.teamId,
      userId: world.account.ownerId,
      scopes: new Set(['numbers:read', 'contacts:read']),
      operator: false,
      role: null,
      credentialId: client.clientId,
    });
  });

  it('holds a token to its scopes, and to those its client still has', async () => {
    const narrow = await lines(await world.bearer(client, { scope: 'contacts:read' }));
    expect([narrow.status, narrow.body.type]).toEqual([
      403,
      expect.stringMatching(/insufficient-scope$/) as string,
    ]);
    const token = await world.bearer(client);
    const set = 'update oauth_clients set scopes = $2 where id = $1';
    await world.db.db.query(set, [client.clientId, ['contacts:read']]);
    expect(await status(token)).toBe(403);
    await world.db.db.query(set, [client.clientId, ['numbers:read', 'contacts:read']]);
    expect(await status(token)).toBe(200);
  });

  it('refuses the tokens of a revoked client at once', async () => {
    const gone = await world.machine(['numbers:read']);
    const token = await world.bearer(gone);
    expect(await status(token)).toBe(200);
    await world.api.services.oauthClients.revoke(world.account.caller, gone.clientId);
    expect(await status(token)).toBe(401);
  });

  it('refuses the tokens of a suspended account with 403', async () => {
    const token = await world.bearer(client);
    const set = 'update teams set suspended = $2 where id = $1';
    await world.db.db.query(set, [world.account.teamId, true]);
    expect(await status(token)).toBe(403);
    await world.db.db.query(set, [world.account.teamId, false]);
    expect(await status(token)).toBe(200);
  });

  it('takes a token signed with its own keys for its own purpose, and none that differs in one thing', async () => {
    expect(await status(await signed())).toBe(200);
    const other = await world.api.account({ name: 'Other' });
    const wrong: Record<string, string> = {
      'another type': await signed({}, { typ: 'JWT' }),
      'a site token': await signed({}, { typ: 'site+jwt' }),
      'another issuer': await signed({}, { issuer: 'https://auth.example.com' }),
      'another audience': await signed({}, { audience: 'https://api.example.com' }),
      'the audience with a slash': await signed({}, { audience: `${world.api.url}/` }),
      expired: await signed({}, { expiresAtMs: Date.now() - 1_000 }),
      'another account': await signed({ team_id: other.teamId }),
      'no account': await signed({ team_id: undefined }),
      'another subject': await signed({ sub: world.account.ownerId }),
      'no client': await signed({ client_id: undefined }),
      'a client that is no id': await signed({ sub: "' or 1=1", client_id: "' or 1=1" }),
      'an unknown client': await signed({
        sub: '00000000-0000-4000-8000-000000000000',
        client_id: '00000000-0000-4000-8000-000000000000',
      }),
    };
    for (const [name, token] of Object.entries(wrong))
      expect([name, await status(token)]).toEqual([name, 401]);
  });

  it('refuses swapped algorithms, foreign keys and changed claims', async () => {
    const token = await world.bearer(client);
    const [header = '', payload = '', signature = ''] = token.split('.');
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string };
    const { keys } = (await (await fetch(`${world.auth}/oauth/jwks`)).json()) as { keys: object[] };
    const hmac = (key: string): string => {
      const text = `${base64({ alg: 'HS256', typ: 'at+jwt', kid })}.${payload}`;
      return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
    };
    const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const body = JSON.parse(Buffer.from(payload, 'base64url').toString()) as JWTPayload;
    const forged = (protectedHeader: object): Promise<string> =>
      new SignJWT(body)
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', ...protectedHeader })
        .sign(foreign.privateKey);
    const swapped: Record<string, string> = {
      none: `${base64({ alg: 'none', typ: 'at+jwt', kid })}.${payload}.`,
      'none with the signature': `${base64({ alg: 'none', typ: 'at+jwt', kid })}.${payload}.${signature}`,
      'HS256 with the public key': hmac(JSON.stringify(keys[0])),
      'HS256 with the coordinate': hmac((keys[0] as { x: string }).x),
      'HS256 with nothing': hmac(''),
      'a foreign key under our name': await forged({ kid }),
      'a foreign key that it carries': await forged({
        kid,
        jwk: foreign.publicKey.export({ format: 'jwk' }) as Record<string, string>,
      }),
      'a foreign key without a name': await forged({}),
      'changed claims': `${header}.${base64({ ...body, scope: 'account:write' })}.${signature}`,
      'no signature': `${header}.${payload}.`,
      'half a token': `${header}.${payload}`,
      'no token': 'x',
      'a long one': 'x'.repeat(20_000),
    };
    for (const [name, forgery] of Object.entries(swapped)) {
      expect([name, [401, 431].includes(await status(forgery))]).toEqual([name, true]);
    }
    expect(await status(token)).toBe(200);
  });
});
