import type { Database } from './database.ts';

/** What a gateway process is told: the settings as they were given, and what this process found out. */
export function gatewayEnvironment(
  env: NodeJS.ProcessEnv,
  found: { database: Database; detectPort: number; httpPort: number | null },
): Record<string, string> {
  const given = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    ...Object.fromEntries(given),
    DATABASE_URL: found.database.url,
    MASTER_KEY: found.database.masterKey.toString('base64'),
    DETECT_PORT: String(found.detectPort),
    ...(found.httpPort === null ? {} : { HTTP_PORT: String(found.httpPort) }),
  };
}
