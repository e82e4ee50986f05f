import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { hasOpenssl, makeCertificate } from '../_util/certificates.ts';
import { ask, RIGHT, startFloor } from './floor.world.ts';
import type { Floor, FloorOptions, RawAnswer } from './floor.world.ts';

const THINGS = '/thing/public/things';
const OTHER = `${THINGS}/one`;

let floor: Floor | undefined;
const start = async (options: FloorOptions = {}): Promise<Floor> => (floor = await startFloor(options));
afterEach(async () => {
  await floor?.close();
  floor = undefined;
});

/** Statuses of so many tries, each with the headers of its number. */
async function tries(
  of: Floor,
  count: number,
  headersOf: (n: number) => Record<string, string>,
  path = THINGS,
): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < count; n += 1)
    statuses.push((await ask(of, 'GET', path, { headers: headersOf(n) })).status);
  return statuses;
}

const wrong = (n: number): Record<string, string> => ({ 'x-key': 'tg_right', 'x-secret': `wrong ${n}` });
const from = (ip: string): Record<string, string> => ({ 'x-forwarded-for': ip });

describe('the rate of a route', () => {
  it('gives a burst, then 429 in the contract’s shape, before it asks for a credential', async () => {
    const of = await start({ perRoute: { perSecond: 1, burst: 3 } });
    expect(await tries(of, 3, () => ({}))).toEqual([401, 401, 401]);
    const answer = await ask(of, 'GET', THINGS);
    expect(answer.status).toBe(429);
    expect(answer.body).toEqual({ message: 'Too Many Requests' });
    expect(answer.headers).not.toHaveProperty('retry-after');
    expect(answer.headers['x-request-id']).toBeDefined();
    expect((await ask(of, 'DELETE', THINGS)).status).toBe(405);
    expect((await ask(of, 'GET', OTHER, { headers: RIGHT })).status).toBe(200);
    of.clock.advance(1_000);
    expect(await tries(of, 2, () => RIGHT)).toEqual([200, 429]);
  });
});

describe('guessing at credentials', () => {
  it('ends in 429 for a key, whatever address it comes from', async () => {
    const of = await start({ trustProxy: ['127.0.0.1'] });
    const statuses = await tries(of, 30, (n) => ({ ...wrong(n), ...from(`192.0.2.${n}`) }));
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(new Set(statuses.slice(10))).toEqual(new Set([429]));
    const elsewhere = { 'x-key': 'tg_other', 'x-secret': 'wrong', ...from('192.0.2.200') };
    expect(await tries(of, 1, () => elsewhere)).toEqual([401]);
  });

  it('ends in 429 for an address, whatever keys and tokens it tries', async () => {
    const of = await start({ trustProxy: ['127.0.0.1'] });
    const statuses = await tries(of, 30, (n) => ({
      ...(n % 2 ? { authorization: `Bearer ${n}` } : { 'x-key': `tg_${n}`, 'x-secret': 'x' }),
      ...from('192.0.2.7'),
    }));
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.at(-1)).toBe(429);
    expect(await tries(of, 1, () => ({ ...wrong(0), ...from('192.0.2.8') }))).toEqual([401]);
  });

  it('takes the 64 bits of an IPv6 network as one address', async () => {
    const of = await start({ trustProxy: ['127.0.0.1'] });
    const address = (n: number): Record<string, string> => from(`2001:db8:0:1::${n.toString(16)}`);
    const statuses = await tries(of, 30, (n) => ({ 'x-key': `tg_${n}`, ...address(n) }));
    expect(statuses.at(-1)).toBe(429);
    expect(await tries(of, 1, () => ({ 'x-key': 'tg_x', ...from('2001:db8:0:2::1') }))).toEqual([401]);
  });

  it('believes X-Forwarded-For of no other than a trusted proxy', async () => {
    const of = await start();
    const statuses = await tries(of, 30, (n) => ({ 'x-key': `tg_${n}`, ...from(`192.0.2.${n}`) }));
    expect(statuses.at(-1)).toBe(429);
  });

  it('counts the same wrong secret over and over on one route, not one that walks over the routes', async () => {
    const of = await start();
    expect((await tries(of, 30, () => wrong(1))).at(-1)).toBe(429);
    await of.close();
    const walked = await start();
    const paths = Array.from({ length: 4 }, (_, n) => [THINGS, OTHER][n % 2] ?? '');
    for (const path of paths) expect(await tries(walked, 1, () => wrong(1), path)).toEqual([401]);
    expect(await tries(walked, 7, (n) => wrong(n + 2))).toEqual(Array(7).fill(401));
  });

  it('does not lock out who was let in before', async () => {
    const of = await start();
    expect(await tries(of, 1, () => RIGHT)).toEqual([200]);
    expect((await tries(of, 30, wrong)).at(-1)).toBe(429);
    expect(await tries(of, 1, () => RIGHT)).toEqual([200]);
  });

  it('ends with time', async () => {
    const of = await start();
    await tries(of, 30, wrong);
    expect(await tries(of, 1, () => RIGHT)).toEqual([429]);
    of.clock.advance(6_000);
    expect(await tries(of, 1, () => RIGHT)).toEqual([200]);
  });

  it('does not begin with requests that bring no credential', async () => {
    const of = await start();
    expect(new Set(await tries(of, 40, () => ({})))).toEqual(new Set([401]));
  });
});

describe('what browsers are told', () => {
  const origin = { origin: 'https://site.example.com' };

  it('keeps every answer from being framed or sniffed, and sets no cookie', async () => {
    const of = await start();
    const answers = [
      await ask(of, 'GET', THINGS),
      await ask(of, 'GET', '/nothing'),
      await ask(of, 'GET', THINGS, { headers: RIGHT }),
    ];
    for (const { headers } of answers) {
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      });
      expect(headers).not.toHaveProperty('set-cookie');
      expect(headers).not.toHaveProperty('x-powered-by');
    }
  });

  it('opens routes of site tokens to other origins, without cookies', async () => {
    const of = await start();
    const preflight = await ask(of, 'OPTIONS', THINGS, {
      headers: { ...origin, 'access-control-request-method': 'GET' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-headers': 'Authorization, Content-Type, X-Request-Id',
      allow: 'GET, HEAD, OPTIONS, POST',
    });
    const answer = await ask(of, 'GET', THINGS, { headers: { ...origin, ...RIGHT } });
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
    const refused = await ask(of, 'GET', THINGS, { headers: origin });
    expect(refused.status).toBe(401);
    expect(refused.headers['access-control-allow-origin']).toBe('*');
  });

  it('keeps all other routes to themselves', async () => {
    const of = await start();
    const created = await ask(of, 'POST', THINGS, {
      headers: { ...origin, ...RIGHT, 'content-type': 'application/json' },
      body: '{"name":"a"}',
    });
    expect(created.status).toBe(201);
    expect(created.headers).not.toHaveProperty('access-control-allow-origin');
    const preflight = { headers: { ...origin, 'access-control-request-method': 'GET' } };
    expect((await ask(of, 'OPTIONS', THINGS, preflight)).headers['access-control-allow-methods']).toBe('GET');
    const page = await ask(of, 'OPTIONS', '/docs', preflight);
    expect(page.headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe.runIf(await hasOpenssl())('the floor over TLS', () => {
  it('answers as it does in the clear, and tells browsers to stay', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tonegate-floor-'));
    const { cert, key } = await makeCertificate(folder, 'floor');
    const of = await start({ tls: { certFile: cert, keyFile: key } });
    const answer = await new Promise<Pick<RawAnswer, 'status' | 'headers'>>((resolve, reject) => {
      const options = { host: '127.0.0.1', port: of.port, path: THINGS, headers: RIGHT, agent: false };
      request({ ...options, rejectUnauthorized: false }, (response) => {
        response.resume();
        resolve({ status: response.statusCode ?? 0, headers: response.headers });
      })
        .on('error', reject)
        .end();
    });
    expect(answer.status).toBe(200);
    expect(answer.headers['strict-transport-security']).toContain('max-age=31536000');
    await rm(folder, { recursive: true, force: true });
  });
});
