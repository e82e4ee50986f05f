import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import createClient from 'openapi-fetch';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ContractWorld, credentialHeaders, nameOf } from './world.ts';
import type { Loose } from './world.ts';

const LONG_MS = 240_000;
/** Among the modules, so that the compiler finds the client's own types. */
const FOLDER = new URL('../../node_modules/.tonegate-client-', import.meta.url).pathname;

/** Of links, which are not followed. */
const FOUND = 302 as number;

interface Answered {
  readonly response: Response;
  readonly error?: unknown;
}

let world: ContractWorld;
let document: Loose;

beforeAll(async () => {
  world = await ContractWorld.start();
  document = (await world.api.request('GET', '/openapi.json')).body;
});
afterAll(async () => world.close());

describe('a TypeScript client generated from the OpenAPI document', () => {
  it(
    'calls every route',
    async () => {
      const faults: string[] = [];
      for (const spec of world.routes) {
        const account = await world.api.account();
        const { params, query, body, headers } = await world.example(spec, account);
        const client = createClient<Loose>({
          baseUrl: world.api.url,
          headers: { ...headers, ...credentialHeaders(spec, account) },
        });
        // The types are the other test's; here every route is called as JavaScript calls it.
        const request = client.request as (method: string, path: string, init: object) => Promise<Answered>;
        const { response, error } = await request(spec.method.toLowerCase(), spec.path, {
          params: { path: params, query },
          ...(spec.dataType === undefined ? {} : { parseAs: 'arrayBuffer' }),
          ...(body === undefined ? {} : { body }),
          ...(spec.status === FOUND ? { redirect: 'manual' } : {}),
          ...(spec.bodyKind === 'raw' ? { bodySerializer: (bytes: unknown) => bytes } : {}),
        });
        if (response.status !== (spec.status ?? 200))
          faults.push(`${nameOf(spec)}: ${response.status} ${JSON.stringify(error)}`);
      }
      expect(faults).toEqual([]);
    },
    LONG_MS,
  );

  it(
    'is typed: the compiler takes right calls and refuses wrong ones',
    async () => {
      const folder = await mkdtemp(FOLDER);
      await writeFile(join(folder, 'paths.ts'), astToString(await openapiTS(JSON.stringify(document))));
      const program = (call: string): string =>
        `import createClient from 'openapi-fetch';
       import type { paths } from './paths.ts';
       const client = createClient<paths>({ baseUrl: 'https://calls.example.com' });
       export async function run(): Promise<string | undefined> {
         const { data } = await client.${call};
         return data?.data.tag_id;
       }`;
      const calls = {
        right: `POST('/tag/public/tags', { body: { label: 'VIP' } })`,
        wrongPath: `POST('/tag/public/tag', { body: { label: 'VIP' } })`,
        wrongField: `POST('/tag/public/tags', { body: { label: 7 } })`,
      };
      const faults: Record<string, number> = {};
      for (const [name, call] of Object.entries(calls))
        await writeFile(join(folder, `${name}.ts`), program(call));
      const compiled = ts.createProgram(
        Object.keys(calls).map((name) => join(folder, `${name}.ts`)),
        {
          ...{ strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true },
          ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, types: [] },
          moduleResolution: ts.ModuleResolutionKind.NodeNext,
          lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
        },
      );
      for (const name of Object.keys(calls)) {
        const file = compiled.getSourceFile(join(folder, `${name}.ts`));
        faults[name] = compiled.getSemanticDiagnostics(file).length;
      }
      const generated = compiled.getSemanticDiagnostics(compiled.getSourceFile(join(folder, 'paths.ts')));
      await rm(folder, { recursive: true, force: true });
      expect(generated.map(({ messageText }) => messageText)).toEqual([]);
      expect(faults['right']).toBe(0);
      expect(faults['wrongPath']).toBeGreaterThan(0);
      expect(faults['wrongField']).toBeGreaterThan(0);
    },
    LONG_MS,
  );
});
