import { mkdirSync, writeFileSync } from 'node:fs';
import { socketSchemas } from '../features/detection/index.ts';

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
