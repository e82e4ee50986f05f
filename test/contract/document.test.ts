import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCOPES } from '../../src/kernel/caller.ts';
import { AnswerJudge } from './answers.ts';
import { ContractWorld, nameOf } from './world.ts';
import type { Loose } from './world.ts';

let world: ContractWorld;
let document: Loose;
let judge: AnswerJudge;

/** Each operation of the document with its name. */
const operations = (): [string, Loose][] =>
  Object.entries(document.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, unknown] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );

beforeAll(async () => {
  world = await ContractWorld.start();
  judge = new AnswerJudge(world.routes);
  document = (await world.api.request('GET', '/openapi.json')).body;
});
afterAll(async () => world.close());

describe('the OpenAPI document', () => {
  it('is served without a credential, to browsers too', async () => {
    const answer = await world.api.request('GET', '/openapi.json', {
      headers: { origin: 'https://site.example.com' },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: world.api.url }] });
  });

  it('describes every route and no other', () => {
    expect(
      operations()
        .map(([name]) => name)
        .sort(),
    ).toEqual(world.routes.map(nameOf).sort());
  });

  it('names each operation once', () => {
    const ids = operations().map(([, operation]) => operation.operationId as string);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('says the same scopes in x-scopes and in security', () => {
    for (const spec of world.routes) {
      const operation = document.paths[spec.path][spec.method.toLowerCase()];
      expect(operation['x-scopes'], nameOf(spec)).toEqual(spec.scopes);
      const alternatives = operation.security as Record<string, string[]>[];
      const named = new Set(alternatives.flatMap((one) => Object.values(one).flat()));
      expect([...named].sort(), nameOf(spec)).toEqual([...spec.scopes].sort());
      expect(alternatives.length > 0, nameOf(spec)).toBe(spec.auth !== 'none');
      expect(spec.scopes.filter((scope) => !SCOPES.includes(scope))).toEqual([]);
    }
  });

  it('lists every parameter of a path', () => {
    for (const [name, operation] of operations()) {
      const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, param]) => param);
      const parameters = (operation.parameters ?? []) as { in: string; name: string }[];
      const described = parameters.filter((one) => one.in === 'path').map((one) => one.name);
      expect(described, name).toEqual(inPath);
    }
  });

  it('lists what the floor answers for every operation', () => {
    for (const spec of world.routes) {
      const { responses } = document.paths[spec.path][spec.method.toLowerCase()];
      // The routes of sends judge the credential themselves and refuse no content type.
      const credential = spec.auth === 'none' ? [] : spec.auth === 'self' ? ['401'] : ['401', '403'];
      const body = [...(spec.body ? ['413'] : []), ...(spec.bodyKind === 'any-json' ? [] : ['415'])];
      const all = ['400', '429', '500', ...credential, ...body, ...(spec.paid ? ['402'] : [])];
      expect(Object.keys(responses), nameOf(spec)).toEqual(expect.arrayContaining(all));
    }
  });

  it('gives examples that its schemas hold', () => {
    const faults: string[] = [];
    const check = (
      where: string,
      content: Record<string, { schema: object; example?: unknown }> = {},
    ): void => {
      for (const { schema, example } of Object.values(content))
        if (example !== undefined)
          for (const fault of judge.mismatch(schema, example)) faults.push(`${where}: ${fault}`);
    };
    for (const [name, operation] of operations()) {
      check(`${name} body`, operation.requestBody?.content);
      for (const [status, response] of Object.entries<Loose>(operation.responses))
        check(`${name} ${status}`, response.content);
      for (const { name: of, schema, example } of operation.parameters ?? [])
        if (example !== undefined)
          for (const fault of judge.mismatch(schema, example)) faults.push(`${name} ${of}: ${fault}`);
    }
    for (const [name, response] of Object.entries<Loose>(document.components.responses))
      check(name, response.content);
    expect(faults).toEqual([]);
  });

  it('leads to a page for every error type it names', async () => {
    const types = Object.values<Loose>(document.components.responses).flatMap(
      (one) => one['x-problem-types'],
    );
    for (const type of new Set(types as string[])) {
      const page = await world.api.request('GET', `/problems/${type}`);
      expect(page.status).toBe(200);
      expect(page.text).toContain(type);
    }
    expect((await world.api.request('GET', '/problems/none')).status).toBe(404);
  });

  it('is readable at /docs with assets of our own', async () => {
    const page = await world.api.request('GET', '/docs');
    expect(page.status).toBe(200);
    expect(page.text).toContain('<title>Tonegate</title>');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("script-src 'self'");
    const addresses = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? '');
    for (const address of addresses) {
      const asset = await world.api.request('GET', new URL(address, `${world.api.url}/docs`).pathname);
      expect(asset.status, address).toBe(200);
      expect(asset.headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect((await world.api.request('POST', '/docs')).status).toBe(405);
  });
});
