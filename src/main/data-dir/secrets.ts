import { randomBytes } from 'node:crypto';
import { access, link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CreatedAccount } from '../../features/accounts/index.ts';

const KEY_BYTES = 32;
const KEY_FILE = 'master.key';
const CREDENTIALS_FILE = 'credentials.json';

/** A secret of DATA_DIR that is missing or not what it should be. */
export class SecretError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SecretError';
  }
}

/** DATA_DIR/master.key, made at the first start. Never made anew beside a database that an earlier one encrypted. */
export async function masterKeyOf(dataDir: string): Promise<Buffer> {
  const path = join(resolve(dataDir), KEY_FILE);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text !== null) return parseKey(text, path);
  if (await exists(join(resolve(dataDir), 'postgres', 'PG_VERSION'))) {
    throw new SecretError(`${path} is missing beside its database: put it back, or set MASTER_KEY`);
  }
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flush: true });
  try {
    // `link` keeps the key of whoever came first.
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  return parseKey(await readFile(path, 'utf8'), path);
}

function parseKey(text: string, path: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== KEY_BYTES) throw new SecretError(`${path} must hold 32 bytes in base64`);
  return key;
}

/** Writes DATA_DIR/credentials.json (mode 600) and answers its path. */
export async function writeCredentials(dataDir: string, account: CreatedAccount): Promise<string> {
  const path = join(resolve(dataDir), CREDENTIALS_FILE);
  const draft = `${path}.${process.pid}`;
  const content = {
    team_id: account.teamId,
    key: account.apiKey.key,
    secret: account.apiKey.secret,
    detection_key: account.detectionKey,
  };
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flush: true });
  await rename(draft, path);
  return path;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
