import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, askRaw, RIGHT, startFloor } from './floor.world.ts';
import type { Floor, RawAnswer } from './floor.world.ts';

const PROBLEM = 'application/problem+json; charset=utf-8';
const json = { ...RIGHT, 'content-type': 'application/json' };
const THINGS = '/thing/public/things';

/** So many keys. */
const keys = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]));

describe('the order in which a request is judged', () => {
  let floor: Floor;
  const get = (path: string, headers: Record<string, string> = {}): Promise<RawAnswer> =>
    ask(floor, 'GET', path, { headers });
  const post = (body: string | Buffer, headers: Record<string, string> = json): Promise<RawAnswer> =>
    ask(floor, 'POST', THINGS, { headers, body });

  beforeAll(async () => {
    floor = await startFloor({ scopes: ['contacts:read', 'contacts:write'] });
  });
  afterAll(async () => floor.close());

  it('begins with the path: an unknown one is 404 without a credential', async () => {
    const answer = await get('/thing/public/nothing');
    expect(answer.status).toBe(404);
    expect(answer.headers['content-type']).toBe(PROBLEM);
    expect(answer.body).toEqual({
      type: 'https://calls.example.com/problems/not-found',
      title: 'Not found',
      status: 404,
      detail: 'There is nothing at this path.',
      instance: '/thing/public/nothing',
      request_id: answer.headers['x-request-id'],
    });
    expect((await get(`${THINGS}/`)).status).toBe(404);
    expect((await get('/')).status).toBe(404);
  });

  it.each(['DELETE', 'PUT', 'PATCH', 'TRACE'])('then the method: %s is 405 with Allow', async (method) => {
    const answer = await ask(floor, method, THINGS);
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe('GET, HEAD, OPTIONS, POST');
    expect(answer.body.type).toMatch(/method-not-allowed$/);
  });

  it('then the credential, then the scope, then the body, then the gates', async () => {
    const paid = '/thing/public/paid';
    const bad = { headers: { 'content-type': 'application/json' }, body: '{' };
    const narrow = await startFloor({ scopes: ['dnc:read'] });
    expect((await ask(floor, 'POST', paid, bad)).status).toBe(401);
    const refused = await ask(narrow, 'POST', paid, { headers: json, body: '{' });
    expect(refused.status).toBe(403);
    expect(refused.body.type).toMatch(/insufficient-scope$/);
    expect(refused.body.detail).toContain('contacts:read, lists:read');
    expect((await ask(floor, 'POST', paid, { headers: json, body: '{' })).status).toBe(400);
    const unpaid = await ask(floor, 'POST', paid, { headers: json, body: '{"name":"a"}' });
    expect(unpaid.status).toBe(402);
    expect(unpaid.body.details).toEqual({ dunning_tier: 'restricted' });
    await narrow.close();
  });

  it('takes an API key before a bearer token, also a wrong one', async () => {
    expect((await get(THINGS, { authorization: 'Bearer right' })).status).toBe(200);
    expect((await get(THINGS, { authorization: 'Bearer right', 'x-key': 'tg_other' })).status).toBe(401);
    expect((await get(THINGS, { ...RIGHT, authorization: 'Bearer wrong' })).status).toBe(200);
  });

  it('answers data in the envelope, and nothing that the route does not declare', async () => {
    const answer = await get(`${THINGS}?limit=7&since=1.5`, RIGHT);
    expect(answer.body).toEqual({
      data: { limit: 7, offset: 0, since: 1.5 },
      meta: { request_id: answer.headers['x-request-id'] },
    });
    expect(answer.text).not.toContain('never');
  });

  it('uses the id of a request, up to 128 characters, in both headers and on errors too', async () => {
    const id = 'x'.repeat(128);
    for (const path of [THINGS, '/nothing', '/%zz']) {
      const answer = await get(path, { 'x-request-id': id });
      expect(answer.headers).toMatchObject({ 'x-request-id': id, 'x-correlation-id': id });
      expect(answer.body.request_id).toBe(id);
    }
    const long = await get(THINGS, { 'x-request-id': `${id}x` });
    expect(long.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(long.headers['x-correlation-id']).toBe(long.headers['x-request-id']);
  });

  it('tells in details which field is not valid', async () => {
    expect((await post('{"name":5}')).body).toMatchObject({
      details: { field: 'name', message: 'must be string' },
    });
    expect((await post('{}')).body.details).toEqual({ field: 'name', message: 'is required' });
    expect((await get(`${THINGS}?kind=odd`, RIGHT)).body.details).toEqual({
      ...{ field: 'kind', message: 'must be one of old, new' },
    });
  });

  it.each([
    ['limit=-1', 400],
    ['limit=0', 400],
    ['limit=1.5', 400],
    ['limit=1e400', 400],
    ['limit=NaN', 400],
    ['limit=', 400],
    ['limit=ten', 400],
    ['limit=1&limit=2', 400],
    ['limit=1000000000', 400],
    ['limit=50', 200],
    ['offset=-1', 400],
    ['offset=99999999999999999999', 400],
    ['offset=9007199254740991', 200],
    ['is_good=maybe', 400],
    ['is_good=true', 200],
    ['kind=%00', 400],
    ['kind=%ZZ', 400],
    ['other=%ff', 400],
    ['since=Infinity', 400],
    ['__proto__=1&constructor=2', 200],
  ])('answers a query of %s with %d', async (query, status) => {
    expect((await get(`${THINGS}?${query}`, RIGHT)).status).toBe(status);
  });

  it('takes a query of 48 KiB', async () => {
    expect((await get(`${THINGS}?other=${'%2B'.repeat(16_384)}`, RIGHT)).status).toBe(200);
  });

  it.each([
    ['%00', 400],
    ['%zz', 400],
    ['%ff', 400],
    ['a%2Fb', 200],
    ['%F0%9F%93%9E', 200],
    ['x'.repeat(1_024), 200],
    ['x'.repeat(1_025), 404],
    ['a/b', 404],
    ['..%2f..%2fetc', 200],
  ])('answers a path that ends in %s with %d', async (end, status) => {
    const answer = await get(`${THINGS}/${end}`, RIGHT);
    expect(answer.status).toBe(status);
    if (status === 200) expect(answer.body.data.thing_id).toBe(decodeURIComponent(end));
  });

  it.each([
    ['nothing', ''],
    ['a half object', '{"name":'],
    ['two objects', '{"name":"a"}{}'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a text', '"name"'],
    ['a comment', '{"name":"a"/**/}'],
    ['a single quote', "{'name':'a'}"],
    ['a byte order mark', '\ufeff{"name":"a"}'],
    ['NUL in a text', '{"name":"a\\u0000"}'],
    ['NUL in a key', '{"name":"a","\\u0000":1}'],
    ['NUL deep within', '{"name":"a","nested":[[{"x":["\\u0000"]}]]}'],
    ['a raw NUL', '{"name":"a\0"}'],
    ['half of a surrogate pair', '{"name":"\\ud83d"}'],
    ['1e400', '{"name":"a","nested":1e400}'],
    ['-1e400', '{"name":"a","nested":-1e400}'],
    ['2^53', '{"name":"a","nested":9007199254740992}'],
    ['NaN', '{"name":"a","nested":NaN}'],
    ['a depth of 33', `{"name":"a","nested":${'['.repeat(32)}${']'.repeat(32)}}`],
    ['a depth bomb', `{"name":"a","nested":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['an unclosed depth bomb', '['.repeat(200_000)],
    ['1,001 keys', JSON.stringify({ name: 'a', nested: keys(999) }).replace('}', ',"x":1}')],
    ['__proto__', '{"name":"a","__proto__":{"polluted":true}}'],
    ['an escaped __proto__', '{"name":"a","__pr\\u006fto__":{"polluted":true}}'],
  ])('answers a body of %s with 400 and stores nothing of it', async (_, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toBe(PROBLEM);
    expect(answer.body.type).toMatch(/validation-error$/);
  });

  it.each([
    ['a depth of 32', `{"name":"a","nested":${'['.repeat(31)}${']'.repeat(31)}}`],
    ['1,000 keys', JSON.stringify({ name: 'a', nested: keys(998) })],
    ['10,000 rows', JSON.stringify({ name: 'a', nested: Array<string[]>(10_000).fill(['a', 'b']) })],
    ['2^53 - 1', '{"name":"a","nested":9007199254740991}'],
    ['constructor', '{"name":"a","nested":{"constructor":{"prototype":{"polluted":true}}}}'],
    ['keys twice', '{"name":"b","name":"a"}'],
    ['an escaped backslash before u0000', '{"name":"a","nested":"\\\\u0000"}'],
    ['a pair of surrogates', '{"name":"\\ud83d\\ude00"}'],
  ])('takes a body of %s as plain data', async (_, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(201);
    expect(answer.body.data).toEqual({ echo: JSON.parse(body), polluted: null });
  });

  it('refuses bytes that are not UTF-8', async () => {
    expect((await post(Buffer.from('{"name":"\xff\xfe"}', 'latin1'))).status).toBe(400);
  });

  it('refuses more than 256 KiB with 413, told or counted, and 10 MB as well', async () => {
    const body = JSON.stringify({ name: 'x'.repeat(262_144) });
    expect((await post(body)).status).toBe(413);
    const counted = await post(body, { ...json, 'transfer-encoding': 'chunked' });
    expect(counted.status).toBe(413);
    expect(counted.body.type).toMatch(/payload-too-large$/);
    const told = await askRaw(
      floor.port,
      `POST ${THINGS} HTTP/1.1\r\nhost: a\r\nx-key: tg_right\r\nx-secret: right\r\n` +
        'content-type: application/json\r\ncontent-length: 10000000\r\n\r\n{',
    );
    expect(told).toMatch(/^HTTP\/1\.1 413 /);
  });

  it.each([
    [{ 'content-type': 'text/plain' }, '{"name":"a"}'],
    [{ 'content-type': 'application/xml' }, '<name/>'],
    [{ 'content-type': 'application/x-www-form-urlencoded' }, 'name=a'],
    [{ 'content-type': 'multipart/form-data; boundary=x' }, '--x--'],
    [{ 'content-type': 'nonsense' }, '{"name":"a"}'],
    [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }, 'gzip'],
  ])('refuses %o with 415', async (headers, body) => {
    const answer = await post(body, { ...RIGHT, ...headers });
    expect(answer.status).toBe(415);
    expect(answer.body.type).toMatch(/unsupported-media-type$/);
  });

  it('shows a gate in its own shape', async () => {
    const answer = await ask(floor, 'POST', '/thing/public/refused', { headers: RIGHT });
    expect(answer.status).toBe(403);
    expect(answer.body).toEqual({ error: 'plan_gate', message: 'The plan has no email.', feature: 'email' });
  });

  it('says nothing of a bug', async () => {
    const answer = await ask(floor, 'POST', '/thing/public/broken', { headers: RIGHT });
    expect(answer.status).toBe(500);
    expect(answer.body).toMatchObject({ detail: 'Something went wrong.' });
    expect(answer.text).not.toContain('passwords');
  });

  it('reads raw bodies of the route’s types alone, within its bound', async () => {
    const put = (body: Buffer, type: string): Promise<RawAnswer> =>
      ask(floor, 'PUT', '/thing/public/raw', { headers: { 'content-type': type }, body });
    expect((await put(Buffer.alloc(300_000), 'audio/wav')).body.data).toEqual({ bytes: 300_000 });
    expect((await put(Buffer.alloc(300_001), 'audio/wav')).status).toBe(413);
    expect((await put(Buffer.alloc(10), 'application/json')).status).toBe(415);
  });

  it('takes JSON and forms where a route reads both', async () => {
    const send = (headers: Record<string, string>, body: string): Promise<RawAnswer> =>
      ask(floor, 'POST', '/thing/public/forms', { headers: { ...RIGHT, ...headers }, body });
    expect((await send({ 'content-type': 'application/json' }, '{"name":"a"}')).body.data.by).toBe('json');
    expect((await send({ 'content-type': 'application/json' }, '{"name":""}')).status).toBe(400);
    const form = '--x\r\ncontent-disposition: form-data; name="name"\r\n\r\na\r\n--x--\r\n';
    const type = { 'content-type': 'multipart/form-data; boundary=x' };
    expect((await send(type, form)).body.data.by).toBe('name');
    expect((await send(type, '--x\r\nnonsense')).status).toBe(400);
    expect((await send({ 'content-type': 'text/csv' }, 'a')).status).toBe(415);
  });

  it('answers HEAD as GET without a body, and OPTIONS with Allow', async () => {
    const head = await ask(floor, 'HEAD', THINGS, { headers: RIGHT });
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
    expect((await ask(floor, 'HEAD', THINGS)).status).toBe(401);
    const options = await ask(floor, 'OPTIONS', THINGS);
    expect(options.status).toBe(204);
    expect(options.headers.allow).toBe('GET, HEAD, OPTIONS, POST');
    expect((await ask(floor, 'OPTIONS', '/nothing')).status).toBe(404);
  });

  it.each([
    ['GET / HTTP/1.1\r\nhost: a\r\nbad header\r\n\r\n', /^HTTP\/1\.1 400 /],
    [`GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(70_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
    ['\x16\x03\x01', /^HTTP\/1\.1 400 /],
    [
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n',
      /^HTTP\/1\.1 400 /,
    ],
    ['POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n', /^HTTP\/1\.1 400 /],
  ])('ends what is no HTTP with a status (%#)', async (bytes, expected) => {
    expect(await askRaw(floor.port, bytes)).toMatch(expected);
  });
});
