import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import fastifyStatic from '@fastify/static';
import { isProblemCode, Problem, problemStatus } from '../../kernel/problem.ts';
import { corsConfig } from './cors.ts';
import { refuseOtherMethods } from './mount.ts';
import { openApiDocument } from './openapi/document.ts';
import { PROBLEM_MEANINGS } from './problem.pages.ts';
import type { RouteSpec } from './route.type.ts';

const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];
const ASSET_MAX_AGE_MS = 3_600_000;

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tonegate</title>
<link rel="icon" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<noscript>The description of all routes is at <a href="openapi.json">/openapi.json</a>.</noscript>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

const START = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  validatorUrl: null,
  persistAuthorization: false,
});
`;

/** Scripts and styles are ours alone; the viewer draws its icons as data and sets a few styles in its markup. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface ReferenceOptions {
  readonly routes: readonly RouteSpec[];
  readonly version: string;
  readonly publicUrl: () => string;
}

/**
 * What tells about the interface, without a credential: the OpenAPI document, its readable form at `/docs` with assets of our own,
 * and a page for each error type at the address that the errors name.
 */
export async function mountReference(app: FastifyInstance, options: ReferenceOptions): Promise<void> {
  const root = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const documentText = documentMaker(options);
  await app.register(fastifyStatic, { root, serve: false, maxAge: ASSET_MAX_AGE_MS });
  app.get('/openapi.json', { config: corsConfig(['GET']) }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(documentText()),
  );
  app.get('/docs', async (_request, reply) =>
    reply.header('Content-Security-Policy', POLICY).type('text/html; charset=utf-8').send(PAGE),
  );
  app.get('/docs/start.js', async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(START),
  );
  for (const asset of ASSETS) app.get(`/docs/${asset}`, async (_request, reply) => reply.sendFile(asset));
  app.get<{ Params: { code: string } }>('/problems/:code', async ({ params: { code } }, reply) => {
    if (!isProblemCode(code)) throw new Problem('not-found', 'There is no such error type.');
    const text = `${code} (${problemStatus(code)})\n\n${PROBLEM_MEANINGS[code]}\n`;
    return reply.type('text/plain; charset=utf-8').send(text);
  });
  const paths = ['/openapi.json', '/docs', '/docs/start.js', ...ASSETS.map((name) => `/docs/${name}`)];
  const known = [...paths, '/problems/{code}'].map((path) => ({ method: 'GET' as const, path }));
  refuseOtherMethods(app, known, [{ method: 'GET', path: '/openapi.json' }]);
}

/** Made when first asked for: the public address is known only when the port is. */
function documentMaker({ routes, version, publicUrl }: ReferenceOptions): () => string {
  let made = { url: '', text: '' };
  return () => {
    const url = publicUrl();
    if (made.url !== url) {
      const document = openApiDocument({ routes, version, serverUrl: url });
      made = { url, text: JSON.stringify(document) };
    }
    return made.text;
  };
}
