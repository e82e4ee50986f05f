import { isIP } from 'node:net';
import { Value } from '@sinclair/typebox/value';
import type { TSchema } from '@sinclair/typebox';
import { SettingsSchema } from './settings.schema.ts';
import type { RawSettings, Role, SettingName } from './settings.schema.ts';

/** Sessions are kept this many days (runtime.md, RETENTION_DAYS; supplement 10, Live view). */
const RETENTION_SESSIONS_DAYS = 7;
/** Sessions per gateway process without MAX_SESSIONS, by socket driver (runtime.md). */
export const MAX_SESSIONS_DEFAULT = { uws: 2_000, ws: 500 } as const;

/** A wrong setting: stops the start with exit code 78. The message names the setting and the form due. */
export class SettingsError extends Error {
  readonly setting: string;

  constructor(setting: string, expected: string) {
    super(`${setting} must be ${expected}`);
    this.name = 'SettingsError';
    this.setting = setting;
  }
}

/** The settings in force. Optional values are undefined when not set; keys are 32 raw bytes. */
export interface Settings {
  readonly host: string;
  readonly httpPort: number;
  readonly detectPort: number;
  readonly authPort: number;
  readonly internalPort: number;
  readonly publicUrl: string;
  readonly detectUrl: string;
  readonly authUrl: string;
  readonly widgetUrl: string;
  readonly tlsCertFile: string | undefined;
  readonly tlsKeyFile: string | undefined;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
  readonly masterKey: Buffer | undefined;
  readonly masterKeyPrevious: readonly Buffer[];
  readonly roles: ReadonlySet<Role>;
  readonly workers: number;
  readonly socketDriver: 'auto' | 'uws' | 'ws';
  readonly maxSessions: number;
  /** False when MAX_SESSIONS was not set: then a gateway that falls back to `ws` takes that driver's default. */
  readonly maxSessionsIsSet: boolean;
  readonly trustProxy: readonly string[];
  readonly allowPrivateTargets: boolean;
  readonly shutdownGraceSec: number;
  readonly dnsServers: readonly string[];
  readonly rateLimitPerRoute: number;
  readonly rateLimitBurst: number;
  readonly sendRatePerAccount: number;
  readonly platformName: string;
  readonly recognizer: 'off' | 'embedded' | 'sherpa';
  readonly recognizerPool: number;
  readonly recognizerModelDir: string | undefined;
  readonly retentionDays: number;
  readonly retentionSessionsDays: number;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  readonly logFormat: 'json' | 'pretty' | undefined;
  readonly nodeEnv: 'production' | 'development' | 'test' | undefined;
}

/** Reads and checks every setting. Throws a SettingsError for the first wrong one, in the schema's order. */
export function loadSettings(env: NodeJS.ProcessEnv): Settings {
  const raw = {} as Record<string, unknown>;
  for (const [name, schema] of Object.entries(SettingsSchema.properties)) {
    const value = parseSetting(schema, env[name]);
    if (value !== undefined && !Value.Check(schema, value))
      throw new SettingsError(name, String(schema.title));
    raw[name] = value;
  }
  const checked = raw as unknown as RawSettings;
  checkPairs(checked);
  return present(checked);
}

/** Text of the environment → the value its schema speaks of; the preset when it is absent or empty. */
function parseSetting(schema: TSchema, given: string | undefined): unknown {
  const text = given?.trim();
  if (text === undefined || text === '') return schema.default as unknown;
  if (schema.type === 'integer') return /^-?\d{1,9}$/.test(text) ? Number(text) : text;
  if (schema.type === 'boolean') return { true: true, false: false, 1: true, 0: false }[text] ?? text;
  if (schema.type === 'array') return text.split(',').map((item) => item.trim());
  return text;
}

function checkPairs(raw: RawSettings): void {
  if (raw.TLS_CERT_FILE && !raw.TLS_KEY_FILE)
    throw new SettingsError('TLS_KEY_FILE', 'set with TLS_CERT_FILE');
  if (raw.TLS_KEY_FILE && !raw.TLS_CERT_FILE)
    throw new SettingsError('TLS_CERT_FILE', 'set with TLS_KEY_FILE');
  if (raw.DATABASE_URL && !raw.MASTER_KEY) {
    throw new SettingsError('MASTER_KEY', 'set to 32 bytes in base64 when DATABASE_URL is set');
  }
  const networks = raw.TRUST_PROXY.filter((item) => isIP(item.split('/')[0] ?? '') === 0);
  if (networks.length > 0)
    throw new SettingsError('TRUST_PROXY', 'a comma-separated list of addresses or networks');
  const fixed = [raw.HTTP_PORT, raw.DETECT_PORT, raw.AUTH_PORT, raw.INTERNAL_PORT].filter(
    (port) => port !== 0,
  );
  if (new Set(fixed).size !== fixed.length) {
    throw new SettingsError(
      'HTTP_PORT, DETECT_PORT, AUTH_PORT and INTERNAL_PORT',
      'four different ports (or 0)',
    );
  }
}

function present(raw: RawSettings): Settings {
  return {
    ...addresses(raw),
    ...storage(raw),
    host: raw.HOST,
    httpPort: raw.HTTP_PORT,
    detectPort: raw.DETECT_PORT,
    authPort: raw.AUTH_PORT,
    internalPort: raw.INTERNAL_PORT,
    tlsCertFile: raw.TLS_CERT_FILE,
    tlsKeyFile: raw.TLS_KEY_FILE,
    roles: new Set(raw.ROLES as Role[]),
    workers: raw.WORKERS,
    socketDriver: raw.SOCKET_DRIVER,
    maxSessions: raw.MAX_SESSIONS ?? MAX_SESSIONS_DEFAULT[raw.SOCKET_DRIVER === 'ws' ? 'ws' : 'uws'],
    maxSessionsIsSet: raw.MAX_SESSIONS !== undefined,
    trustProxy: raw.TRUST_PROXY,
    allowPrivateTargets: raw.ALLOW_PRIVATE_TARGETS,
    shutdownGraceSec: raw.SHUTDOWN_GRACE_SEC,
    dnsServers: raw.DNS_SERVERS,
    rateLimitPerRoute: raw.RATE_LIMIT_PER_ROUTE,
    rateLimitBurst: raw.RATE_LIMIT_BURST,
    sendRatePerAccount: raw.SEND_RATE_PER_ACCOUNT,
    platformName: raw.PLATFORM_NAME,
    recognizer: raw.RECOGNIZER,
    recognizerPool: raw.RECOGNIZER_POOL,
    recognizerModelDir: raw.RECOGNIZER_MODEL_DIR,
    logLevel: raw.LOG_LEVEL,
    logFormat: raw.LOG_FORMAT,
    nodeEnv: raw.NODE_ENV,
  };
}

function storage(raw: RawSettings) {
  const key = (text: string): Buffer => Buffer.from(text, 'base64');
  return {
    dataDir: raw.DATA_DIR,
    databaseUrl: raw.DATABASE_URL,
    redisUrl: raw.REDIS_URL,
    masterKey: raw.MASTER_KEY === undefined ? undefined : key(raw.MASTER_KEY),
    masterKeyPrevious: raw.MASTER_KEY_PREVIOUS.map(key),
    retentionDays: raw.RETENTION_DAYS,
    retentionSessionsDays: RETENTION_SESSIONS_DAYS,
  };
}

/** Public addresses that are not set follow from HOST and the port; a wildcard HOST is reached on loopback. */
function addresses(raw: RawSettings) {
  const tls = raw.TLS_CERT_FILE !== undefined;
  const wildcard: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const host = wildcard[raw.HOST] ?? raw.HOST;
  const shown = isIP(host) === 6 ? `[${host}]` : host;
  const at = (scheme: string, port: number): string => `${scheme}${tls ? 's' : ''}://${shown}:${port}`;
  const trimmed = (url: string | undefined): string | undefined => url?.replace(/\/+$/, '');
  const publicUrl = trimmed(raw.PUBLIC_URL) ?? at('http', raw.HTTP_PORT);
  return {
    publicUrl,
    detectUrl: trimmed(raw.DETECT_URL) ?? at('ws', raw.DETECT_PORT),
    authUrl: trimmed(raw.AUTH_URL) ?? at('http', raw.AUTH_PORT),
    widgetUrl: trimmed(raw.WIDGET_URL) ?? publicUrl,
  };
}

export interface SettingRow {
  readonly name: SettingName;
  readonly value: string;
  readonly isSet: boolean;
  readonly meaning: string;
}

/** Every setting with the value in force, for `tonegate settings`; secrets are masked. */
export function describeSettings(env: NodeJS.ProcessEnv): SettingRow[] {
  loadSettings(env);
  return Object.entries(SettingsSchema.properties).map(([name, schema]: [string, TSchema]) => {
    const isSet = (env[name]?.trim() ?? '') !== '';
    const value = parseSetting(schema, env[name]);
    const shown = Array.isArray(value) ? value.join(',') : `${(value ?? '') as string | number | boolean}`;
    const masked = schema.secret === true && isSet ? '********' : shown;
    return { name: name as SettingName, value: masked, isSet, meaning: String(schema.description) };
  });
}
