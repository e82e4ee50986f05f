import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/kernel/clock.ts';
import type { Ids } from '../../src/kernel/ids.ts';
import { mountApi } from '../../src/main/api.role.ts';
import { compose } from '../../src/main/compose.ts';
import type { Services } from '../../src/main/compose.ts';
import { createHttp, listenHttp } from '../../src/platform/http/index.ts';
import { silentLogger } from '../../src/platform/logger/index.ts';
import type { Logger } from '../../src/platform/logger/index.ts';
import { loadSettings } from '../../src/platform/settings/index.ts';
import { makeAccount } from './account.ts';
import type { NewTestAccount, TestAccount } from './account.ts';
import type { TestDb } from './test-db.ts';

export { makeAccount };
export type { NewTestAccount, TestAccount };

export interface ApiOptions {
  /** Settings over the defaults, by their names. */
  readonly env?: Record<string, string>;
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly logger?: Logger;
  /** Services that replace those composed. */
  readonly services?: (services: Services) => Partial<Services>;
}

/** Credentials of a request: an account or key pair, or a bearer token. */
export type As = { readonly key: string; readonly secret: string } | { readonly bearer: string };

export interface RequestOptions {
  readonly as?: As;
  /** Sent as JSON; a string or bytes go as they are. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly bytes: Buffer;
  /** The parsed JSON answer; undefined when it is none. */
  readonly body: any; // eslint-disable-line @typescript-eslint/no-explicit-any
  /** `data` of an enveloped answer. */
  readonly data: any; // eslint-disable-line @typescript-eslint/no-explicit-any
}

export interface TestApi {
  readonly url: string;
  readonly services: Services;
  account(of?: NewTestAccount): Promise<TestAccount>;
  request(method: string, path: string, options?: RequestOptions): Promise<ApiAnswer>;
  close(): Promise<void>;
}

/** All routes of the api role on a real port over a test database; nothing of the worker runs. */
export async function startApi(db: TestDb, options: ApiOptions = {}): Promise<TestApi> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tonegate-api-'));
  const env = { DATA_DIR: dataDir, HTTP_PORT: '0', AUTH_PORT: '0', ...options.env };
  const settings = loadSettings(env);
  const logger = options.logger ?? silentLogger;
  const composed = compose({
    ...{ settings, logger, url: db.url, masterKey: randomBytes(32) },
    ...{ maxConnections: 10, applicationName: 'tonegate-test-api' },
    ...(options.clock ? { clock: options.clock } : {}),
    ...(options.ids ? { ids: options.ids } : {}),
  });
  const services: Services = { ...composed, ...options.services?.(composed) };
  const { trustProxy } = settings;
  const publicUrl = (): string => services.addresses.publicUrl();
  const app = createHttp({ logger, ids: services.ids, tls: null, trustProxy, publicUrl });
  await mountApi(app, services);
  const port = await listenHttp(app, { host: '127.0.0.1', port: 0 });
  services.addresses.update(loadSettings({ ...env, HTTP_PORT: String(port) }));
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    services,
    account: (of) => makeAccount(services, of),
    request: (method, path, request) => send(url + path, method, request),
    close: async () => {
      app.server.closeAllConnections();
      await app.close();
      await composed.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function credentialHeaders(as: As | undefined): Record<string, string> {
  if (as === undefined) return {};
  return 'bearer' in as
    ? { authorization: `Bearer ${as.bearer}` }
    : { 'x-key': as.key, 'x-secret': as.secret };
}

async function send(url: string, method: string, options: RequestOptions = {}): Promise<ApiAnswer> {
  const { as, body } = options;
  const isRaw = typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData;
  const headers: Record<string, string> = { ...credentialHeaders(as), ...options.headers };
  if (body !== undefined && !(body instanceof FormData)) headers['content-type'] ??= 'application/json';
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers,
    ...(body === undefined ? {} : { body: isRaw ? (body as string) : JSON.stringify(body) }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const text = bytes.toString('utf8');
  const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== '';
  const parsed: unknown = isJson ? JSON.parse(text) : undefined;
  const data = (parsed as { data?: unknown } | undefined)?.data;
  return { status: response.status, headers: response.headers, bytes, text, body: parsed, data };
}
