import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { socketSchemas } from '../features/detection/index.ts';
import { OUTCOMES } from '../kernel/outcome.ts';
import { schemaText } from '../platform/graphql/index.ts';
import { eventSchemas } from '../features/webhooks/index.ts';
import { openApiDocument } from '../platform/http/index.ts';
import { silentLogger } from '../platform/logger/index.ts';
import { loadSettings } from '../platform/settings/index.ts';
import { apiRoutes } from './api.role.ts';
import { compose } from './compose.ts';
import { adminSchema } from './graphql/admin.ts';
import { VERSION } from './version.ts';

/*
 * Writes what integrators generate clients from, out of the code: `npm run schema`. The files are checked in and
 * `npm run check` proves them fresh.
 */

const DRAFT = 'http://json-schema.org/draft-07/schema#';

function write(folder: string, name: string, schema: object): void {
  mkdirSync(folder, { recursive: true });
  const text = JSON.stringify({ $schema: DRAFT, ...schema }, null, 2);
  writeFileSync(`${folder}/${name}.schema.json`, `${text}\n`);
}

for (const [name, schema] of Object.entries(socketSchemas())) {
  if (name === 'delivery') write('schema/events', 'detection.delivery', schema);
  else write('schema/socket', name, schema);
}

writeFileSync('schema/events/outcome-codes.json', `${JSON.stringify(OUTCOMES, null, 2)}\n`);

for (const [name, schema] of Object.entries(eventSchemas())) write('schema/events', name, schema);

/** Routes are described by the services they call; nothing connects to a database before the first query. */
const services = compose({
  ...{
    settings: loadSettings({}),
    logger: silentLogger,
    url: 'postgres://127.0.0.1',
    masterKey: randomBytes(32),
  },
  ...{ maxConnections: 1, applicationName: 'tonegate-schema' },
});
const { publicUrl: serverUrl } = services.settings;
const document = openApiDocument({ routes: apiRoutes(services), version: VERSION, serverUrl });
mkdirSync('schema/rest', { recursive: true });
writeFileSync('schema/rest/openapi.json', `${JSON.stringify(document, null, 2)}\n`);
mkdirSync('schema/graphql', { recursive: true });
writeFileSync('schema/graphql/schema.graphql', schemaText(adminSchema(services)));
await services.close();
