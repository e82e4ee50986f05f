import { access, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { MICROS_PER_UNIT } from '../kernel/money.ts';
import type { Services } from './compose.ts';
import { writeCredentials } from './data-dir/secrets.ts';

/** runtime.md, First start: 100.00 of funds. */
const FUNDS_MICROS = 100n * MICROS_PER_UNIT;
/** Says that the first start is done, also when the operator has put credentials.json away since. */
const DONE_FILE = 'first-start.done';

/**
 * Makes the account of the first start on an embedded database. Killed in between, the next start makes another one:
 * the keys of the former are nowhere.
 */
export async function makeFirstAccount(dataDir: string, services: Services): Promise<void> {
  const folder = resolve(dataDir);
  if ((await exists(join(folder, DONE_FILE))) || (await exists(join(folder, 'credentials.json')))) return;
  const account = await services.accounts.create({ name: 'First account', fundsMicros: FUNDS_MICROS });
  const path = await writeCredentials(folder, account);
  await writeFile(join(folder, DONE_FILE), '', { mode: 0o600 });
  services.logger.info({ path }, 'An account was made; its credentials are in this file.');
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
