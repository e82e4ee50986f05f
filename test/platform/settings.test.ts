import { describe, expect, it } from 'vitest';
import { describeSettings, loadSettings, SettingsError } from '../../src/platform/settings/index.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');
const OTHER_KEY = Buffer.alloc(32, 8).toString('base64url');

describe('loadSettings', () => {
  it('has the defaults of the contract', () => {
    expect(loadSettings({})).toMatchObject({
      host: '127.0.0.1',
      httpPort: 8080,
      detectPort: 8081,
      authPort: 8082,
      internalPort: 9464,
      publicUrl: 'http://127.0.0.1:8080',
      detectUrl: 'ws://127.0.0.1:8081',
      authUrl: 'http://127.0.0.1:8082',
      widgetUrl: 'http://127.0.0.1:8080',
      dataDir: './data',
      databaseUrl: undefined,
      masterKey: undefined,
      roles: new Set(['gateway', 'api', 'worker', 'auth']),
      workers: 1,
      socketDriver: 'auto',
      maxSessions: 2000,
      maxSessionsIsSet: false,
      allowPrivateTargets: false,
      shutdownGraceSec: 30,
      rateLimitPerRoute: 1500,
      rateLimitBurst: 2000,
      sendRatePerAccount: 1000,
      platformName: 'twilio',
      recognizer: 'embedded',
      recognizerPool: 2,
      retentionDays: 90,
      retentionSessionsDays: 7,
      logLevel: 'info',
    });
  });

  it('reads every kind of value', () => {
    const settings = loadSettings({
      HOST: '::',
      HTTP_PORT: '0',
      TLS_CERT_FILE: '/cert.pem',
      TLS_KEY_FILE: '/key.pem',
      DATABASE_URL: 'postgres://u:p@db/x',
      MASTER_KEY: KEY,
      MASTER_KEY_PREVIOUS: `${OTHER_KEY}, ${KEY}`,
      ROLES: 'api, worker',
      SOCKET_DRIVER: 'ws',
      ALLOW_PRIVATE_TARGETS: 'true',
      TRUST_PROXY: '10.0.0.0/8,::1',
      DNS_SERVERS: '127.0.0.1:5353',
      DETECT_URL: 'wss://calls.example.com/',
    });
    expect(settings).toMatchObject({
      publicUrl: 'https://[::1]:0',
      detectUrl: 'wss://calls.example.com',
      masterKey: Buffer.alloc(32, 7),
      masterKeyPrevious: [Buffer.alloc(32, 8), Buffer.alloc(32, 7)],
      roles: new Set(['api', 'worker']),
      maxSessions: 500,
      allowPrivateTargets: true,
      trustProxy: ['10.0.0.0/8', '::1'],
      dnsServers: ['127.0.0.1:5353'],
    });
  });

  it('takes an empty value for one that is not set', () => {
    expect(loadSettings({ WORKERS: ' ', DATABASE_URL: '' })).toMatchObject({
      workers: 1,
      databaseUrl: undefined,
    });
  });

  it.each([
    ['HTTP_PORT', '65536', 'a port from 0 to 65535'],
    ['HTTP_PORT', '80.5', 'a port'],
    ['DETECT_PORT', 'http', 'a port'],
    ['HOST', 'not a host', 'an address or host name'],
    ['PUBLIC_URL', 'calls.example.com', 'http'],
    ['DETECT_URL', 'https://calls.example.com', 'ws'],
    ['DATABASE_URL', 'mysql://x', 'postgres://'],
    ['REDIS_URL', 'localhost:6379', 'redis://'],
    ['MASTER_KEY', 'short', '32 bytes in base64'],
    ['MASTER_KEY_PREVIOUS', `${KEY},x`, '32 bytes in base64'],
    ['ROLES', 'gateway,cook', 'gateway, api, worker, auth'],
    ['ROLES', ',', 'gateway, api, worker, auth'],
    ['WORKERS', '0', 'from 1 to 64'],
    ['WORKERS', '2x', 'from 1 to 64'],
    ['SOCKET_DRIVER', 'fast', 'auto, uws, ws'],
    ['MAX_SESSIONS', '-1', 'a whole number'],
    ['TRUST_PROXY', '10.0.0.300', 'addresses or networks'],
    ['TRUST_PROXY', 'everyone', 'addresses or networks'],
    ['ALLOW_PRIVATE_TARGETS', 'yes', 'true or false'],
    ['SHUTDOWN_GRACE_SEC', '-3', 'from 0 to 3600'],
    ['DNS_SERVERS', '127.0.0.1', 'host:port'],
    ['PLATFORM_NAME', 'Twilio Inc', 'small letters'],
    ['RECOGNIZER', 'cloud', 'off, embedded, sherpa'],
    ['RETENTION_DAYS', '0', 'from 1 to'],
    ['LOG_LEVEL', 'loud', 'info'],
    ['LOG_FORMAT', 'xml', 'json, pretty'],
    ['NODE_ENV', 'prod', 'production'],
  ])('names %s when it is %j, and the form due', (name, value, form) => {
    const load = (): unknown => loadSettings({ [name]: value });
    expect(load).toThrow(SettingsError);
    expect(load).toThrow(new RegExp(`^${name} must be .*${form.replaceAll('/', '\\/')}`));
  });

  it('does not repeat a wrong value: it may be a secret', () => {
    expect(() => loadSettings({ MASTER_KEY: 'hunter2' })).not.toThrow(/hunter2/);
    expect(() => loadSettings({ DATABASE_URL: 'hunter2' })).not.toThrow(/hunter2/);
  });

  it.each([
    [{ DATABASE_URL: 'postgres://db/x' }, 'MASTER_KEY'],
    [{ TLS_CERT_FILE: 'x' }, 'TLS_KEY_FILE'],
    [{ TLS_KEY_FILE: 'x' }, 'TLS_CERT_FILE'],
    [{ HTTP_PORT: '8081' }, 'HTTP_PORT'],
  ])('refuses %j for the want of %s', (env, name) => {
    expect(() => loadSettings(env)).toThrow(new RegExp(`^${name}`));
  });
});

describe('describeSettings', () => {
  it('masks every secret and shows the rest with its meaning', () => {
    const env = {
      DATABASE_URL: 'postgres://user:hunter2@db/x',
      REDIS_URL: 'redis://:hunter2@cache',
      MASTER_KEY: KEY,
      MASTER_KEY_PREVIOUS: OTHER_KEY,
      WORKERS: '3',
    };
    const rows = describeSettings(env);
    const shown = JSON.stringify(rows);
    for (const secret of ['hunter2', KEY, OTHER_KEY]) expect(shown).not.toContain(secret);
    expect(rows.find((row) => row.name === 'WORKERS')).toMatchObject({ value: '3', isSet: true });
    expect(rows.every((row) => row.meaning.length > 0)).toBe(true);
  });
});
