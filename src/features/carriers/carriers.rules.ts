import { Type } from '@sinclair/typebox';
import type { Static, TObject } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { invalidField } from '../../kernel/text.ts';

export const CARRIER_KINDS = ['smtp', 'twilio', 'smpp', 'simulator'] as const;
export type CarrierKind = (typeof CARRIER_KINDS)[number];

/** `paused`: takes no work. `draining`: ends the work it has and takes no more. */
export const CARRIER_STATES = ['active', 'paused', 'draining'] as const;
export type CarrierState = (typeof CARRIER_STATES)[number];

/** Connections of one account. */
export const CARRIERS_MAX = 20;
/** Requests a second to one connection, at most. */
export const RATE_MAX = 100_000;
/** RFC 1035, 2.3.4. */
const HOST_LENGTH_MAX = 253;
const SECRET_LENGTH_MAX = 1_024;
const ACCOUNT_LENGTH_MAX = 320;

const host = Type.String({ minLength: 1, maxLength: HOST_LENGTH_MAX, pattern: '^[A-Za-z0-9._:-]+$' });
const port = (preset: number) => Type.Integer({ minimum: 1, maximum: 65_535, default: preset });
const text = (lengthMax: number) => Type.String({ minLength: 1, maxLength: lengthMax, pattern: '^[^\\0]+$' });

const SmtpSettings = Type.Object({
  host,
  /** Message submission, RFC 6409. */
  port: port(587),
  security: Type.Union([Type.Literal('none'), Type.Literal('starttls'), Type.Literal('tls')], {
    default: 'starttls',
  }),
  username: Type.Optional(text(ACCOUNT_LENGTH_MAX)),
  password: Type.Optional(text(SECRET_LENGTH_MAX)),
});

/** Twilio, and services with the same interface at another address. */
const TwilioSettings = Type.Object({
  account_sid: Type.String({ pattern: '^AC[0-9a-fA-F]{32}$' }),
  auth_token: text(SECRET_LENGTH_MAX),
  base_url: Type.String({ maxLength: 2_048, default: 'https://api.twilio.com' }),
  messaging_service_sid: Type.Optional(Type.String({ pattern: '^MG[0-9a-fA-F]{32}$' })),
});

/** SMPP 3.4, 4.1.1: system_id 16 octets with its NUL, password 9, system_type 13. */
const SmppSettings = Type.Object({
  host,
  port: port(2_775),
  tls: Type.Boolean({ default: false }),
  system_id: text(15),
  password: text(8),
  system_type: Type.Optional(text(12)),
});

/** What the simulator does when it is not told otherwise: short enough for tests, long enough to be no call of a function. */
const LATENCY_PRESET_MS = 20;
const LATENCY_MAX_MS = 60_000;

const SimulatorSettings = Type.Object({
  latency_ms: Type.Integer({ minimum: 0, maximum: LATENCY_MAX_MS, default: LATENCY_PRESET_MS }),
  /** Part of the sends that fail, 0 to 1. */
  failure_rate: Type.Number({ minimum: 0, maximum: 1, default: 0 }),
  /** Beyond it the simulator answers as carriers do that are asked too often. */
  rate_per_second: Type.Optional(Type.Integer({ minimum: 1, maximum: RATE_MAX })),
});

const SETTINGS = {
  smtp: SmtpSettings,
  twilio: TwilioSettings,
  smpp: SmppSettings,
  simulator: SimulatorSettings,
} as const satisfies Record<CarrierKind, TObject>;

export type CarrierSettings<K extends CarrierKind = CarrierKind> = Static<(typeof SETTINGS)[K]>;

/** What may be shown of a connection's settings: where it leads and as whom, never a secret. */
export interface CarrierFace {
  endpoint: string | null;
  account: string | null;
}

/**
 * Settings as given, with defaults filled in and what the kind does not know left out; names are taken in snake_case and
 * in camelCase.
 * @throws Problem validation-error, its field `settings.<name>`
 */
export function settingsOf(kind: CarrierKind, given: unknown): CarrierSettings {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalidField('settings', 'settings must be an object.');
  }
  const schema = SETTINGS[kind];
  const named = Object.fromEntries(
    Object.keys(schema.properties).flatMap((name) => {
      const value: unknown = ownValue(given, name) ?? ownValue(given, camelCase(name));
      return value === undefined || value === null ? [] : [[name, value]];
    }),
  );
  const settings = Value.Default(schema, named);
  const fault = Value.Errors(schema, settings).First();
  if (fault) {
    const field = `settings${fault.path.replaceAll('/', '.')}`;
    throw invalidField(field, `${field} is missing or not valid for this kind of carrier.`);
  }
  return settings as CarrierSettings;
}

/** The address that connections to the carrier go to, as a URL to judge; null for the simulator. */
export function addressOf(kind: CarrierKind, settings: CarrierSettings): string | null {
  if (kind === 'simulator') return null;
  if (kind === 'twilio') return (settings as CarrierSettings<'twilio'>).base_url;
  return `https://${hostAndPort(settings as CarrierSettings<'smtp' | 'smpp'>)}/`;
}

export function faceOf(kind: CarrierKind, settings: CarrierSettings): CarrierFace {
  if (kind === 'simulator') return { endpoint: null, account: null };
  if (kind === 'twilio') {
    const { base_url: endpoint, account_sid: account } = settings as CarrierSettings<'twilio'>;
    return { endpoint, account };
  }
  const endpoint = hostAndPort(settings as CarrierSettings<'smtp' | 'smpp'>);
  const { username } = settings as CarrierSettings<'smtp'>;
  const account = kind === 'smpp' ? (settings as CarrierSettings<'smpp'>).system_id : (username ?? null);
  return { endpoint, account };
}

const hostAndPort = ({ host: name, port: at }: { host: string; port: number }): string =>
  `${name.includes(':') ? `[${name}]` : name}:${at}`;

const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const ownValue = (object: object, name: string): unknown =>
  Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined;
