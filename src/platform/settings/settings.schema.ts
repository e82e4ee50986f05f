import { Type } from '@sinclair/typebox';
import type { Static, TSchema } from '@sinclair/typebox';

/**
 * The settings of runtime.md, Settings: one schema for all of them. `title` is the form a value must have,
 * as it is told to the operator; `description` its meaning; `secret` values are masked wherever they are shown.
 */
const port = (preset: number, meaning: string) =>
  Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: preset,
    title: 'a port from 0 to 65535',
    description: meaning,
  });

const count = (range: { min: number; max: number; preset?: number }, meaning: string) =>
  Type.Integer({
    minimum: range.min,
    maximum: range.max,
    default: range.preset,
    title: `a whole number from ${range.min} to ${range.max}`,
    description: meaning,
  });

const address = (scheme: 'http' | 'ws', meaning: string) =>
  Type.String({
    pattern: `^${scheme}s?://[^\\s/?#@]+(/[^\\s?#]*)?$`,
    title: `an address such as ${scheme}s://calls.example.com`,
    description: meaning,
  });

const text = (form: string, meaning: string, options: Record<string, unknown> = {}) =>
  Type.String({ minLength: 1, maxLength: 4_096, title: form, description: meaning, ...options });

const oneOf = <const T extends string>(values: readonly T[], preset: T | undefined, meaning: string) =>
  Type.Unsafe<T>(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      { default: preset, title: `one of ${values.join(', ')}`, description: meaning },
    ),
  );

const list = (item: TSchema, form: string, meaning: string, options: Record<string, unknown> = {}) =>
  Type.Unsafe<string[]>(Type.Array(item, { maxItems: 64, title: form, description: meaning, ...options }));

/** 32 bytes in base64 or base64url: 43 characters and perhaps one pad. */
const KEY_PATTERN = '^[A-Za-z0-9+/_-]{43}=?$';
export const ROLES = ['gateway', 'api', 'worker', 'auth'] as const;
export type Role = (typeof ROLES)[number];

export const SettingsSchema = Type.Object({
  HOST: text('an address or host name to listen on', 'address to listen on', {
    default: '127.0.0.1',
    pattern: '^[A-Za-z0-9_.:%-]+$',
  }),
  HTTP_PORT: port(8080, 'REST, GraphQL, API docs, console, widget. 0: any free port'),
  DETECT_PORT: port(8081, 'detection sockets'),
  AUTH_PORT: port(8082, 'OAuth 2.0 server'),
  INTERNAL_PORT: port(9464, '/healthz, /readyz, /metrics'),
  PUBLIC_URL: Type.Optional(address('http', 'public address of HTTP_PORT')),
  DETECT_URL: Type.Optional(address('ws', 'public address of DETECT_PORT')),
  AUTH_URL: Type.Optional(address('http', 'public address of AUTH_PORT')),
  WIDGET_URL: Type.Optional(address('http', 'public address of the widget')),
  TLS_CERT_FILE: Type.Optional(
    text('the path of a PEM file (with TLS_KEY_FILE)', 'certificate of all public ports'),
  ),
  TLS_KEY_FILE: Type.Optional(
    text('the path of a PEM file (with TLS_CERT_FILE)', 'private key of the certificate'),
  ),
  DATA_DIR: text('the path of a folder', 'embedded PostgreSQL, generated secrets, media files', {
    default: './data',
  }),
  DATABASE_URL: Type.Optional(
    text('postgres://user:password@host:port/database', 'PostgreSQL 14 or newer; none: the embedded one', {
      pattern: '^postgres(ql)?://\\S+$',
      secret: true,
    }),
  ),
  REDIS_URL: Type.Optional(
    text('redis://host:port', 'wake-ups, shared limits; none: in process', {
      pattern: '^rediss?://\\S+$',
      secret: true,
    }),
  ),
  MASTER_KEY: Type.Optional(
    text('32 bytes in base64', 'encrypts stored secrets; required with DATABASE_URL', {
      pattern: KEY_PATTERN,
      secret: true,
    }),
  ),
  MASTER_KEY_PREVIOUS: list(
    Type.String({ pattern: KEY_PATTERN }),
    'a comma-separated list of keys, each 32 bytes in base64',
    'older keys that still decrypt',
    { default: [], secret: true },
  ),
  ROLES: list(
    Type.Union(ROLES.map((role) => Type.Literal(role))),
    `a comma-separated list out of ${ROLES.join(', ')}`,
    'which parts this process runs',
    { default: [...ROLES], minItems: 1 },
  ),
  WORKERS: count({ min: 1, max: 64, preset: 1 }, 'gateway processes sharing the detect port'),
  SOCKET_DRIVER: oneOf(['auto', 'uws', 'ws'], 'auto', 'what serves the detection sockets'),
  MAX_SESSIONS: Type.Optional(
    count({ min: 1, max: 100_000 }, 'detection sessions per gateway process (2000; ws: 500)'),
  ),
  TRUST_PROXY: list(
    Type.String({ pattern: '^[0-9A-Fa-f.:]+(/\\d{1,3})?$' }),
    'a comma-separated list of addresses or networks (10.0.0.0/8)',
    'addresses whose X-Forwarded-For is believed',
    { default: [] },
  ),
  ALLOW_PRIVATE_TARGETS: Type.Boolean({
    default: false,
    title: 'true or false',
    description: 'development: outbound http and private addresses are allowed',
  }),
  SHUTDOWN_GRACE_SEC: count(
    { min: 0, max: 3_600, preset: 30 },
    'how long live sessions may finish at the end',
  ),
  DNS_SERVERS: list(
    Type.String({ pattern: '^(\\[[0-9A-Fa-f:]+\\]|[0-9A-Za-z.-]+):\\d{1,5}$' }),
    'a comma-separated list of host:port',
    "for checking sending domains; none: the system's",
    { default: [] },
  ),
  RATE_LIMIT_PER_ROUTE: count({ min: 1, max: 1_000_000, preset: 1_500 }, 'requests a second and route'),
  RATE_LIMIT_BURST: count({ min: 1, max: 1_000_000, preset: 2_000 }, 'requests a second in a burst'),
  SEND_RATE_PER_ACCOUNT: count({ min: 1, max: 1_000_000, preset: 1_000 }, 'sends a second and account'),
  PLATFORM_NAME: text(
    'a word of small letters, digits and hyphens',
    'telephony platform of the platform route',
    {
      default: 'twilio',
      pattern: '^[a-z][a-z0-9-]{0,31}$',
    },
  ),
  RECOGNIZER: oneOf(['off', 'embedded', 'sherpa'], 'embedded', 'what recognises words'),
  RECOGNIZER_POOL: count({ min: 1, max: 64, preset: 2 }, 'recogniser processes'),
  RECOGNIZER_MODEL_DIR: Type.Optional(text('the path of a folder', 'models of the recogniser')),
  RETENTION_DAYS: count(
    { min: 1, max: 3_650, preset: 90 },
    'days that sends and deliveries are kept (sessions: 7)',
  ),
  LOG_LEVEL: oneOf(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
    'info',
    'least severity that is logged',
  ),
  LOG_FORMAT: Type.Optional(oneOf(['json', 'pretty'], undefined, 'json (pretty on a terminal)')),
  NODE_ENV: Type.Optional(
    oneOf(['production', 'development', 'test'], undefined, 'production: no introspection, no suggestions'),
  ),
});

export type SettingName = keyof Static<typeof SettingsSchema>;
export type RawSettings = Static<typeof SettingsSchema>;
