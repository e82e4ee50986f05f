import { createHmac, timingSafeEqual } from 'node:crypto';
import { readWelcome } from './welcome.rules.ts';
import type { CheckUrlSyntax, WelcomeResult } from './welcome.rules.ts';
import type { PlatformIds } from './event.type.ts';

/** What a platform's `start` frame brings (supplement 7). */
export interface PlatformStart {
  readonly ids: PlatformIds;
  readonly apiKey: string | null;
  /** The token of a call that hears; null: a session of a Detection key. */
  readonly playPlan: string | null;
  readonly welcome: WelcomeResult;
}

type Fields = Readonly<Record<string, unknown>>;

/** The longest id that is kept; the platform's own have 34 characters. */
const SID_LENGTH_MAX = 128;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

const textOf = (value: unknown): string =>
  typeof value === 'string' && !/[\u0000-\u001f\u007f]|\p{Surrogate}/u.test(value)
    ? value.slice(0, SID_LENGTH_MAX)
    : '';

/**
 * Reads a `start` frame: the parameters of the contract (Platform route parameters) come in
 * `start.customParameters`, all of them text. An empty one counts as not sent, since a stream's
 * markup often carries empty values.
 */
export function readPlatformStart(frame: Fields, checkUrlSyntax: CheckUrlSyntax): PlatformStart {
  const start = fieldsOf(frame['start']);
  const custom = fieldsOf(start['customParameters']);
  const given = (name: string): unknown => (custom[name] === '' ? undefined : custom[name]);
  const ids: PlatformIds = {
    callSid: textOf(start['callSid']),
    accountSid: textOf(start['accountSid']),
    streamSid: textOf(start['streamSid'] ?? frame['streamSid']),
  };
  const url = given('webhook_url');
  const events = given('webhook_events');
  const timeout = given('detection_timeout_sec');
  const callId = given('call_id') ?? (ids.callSid === '' ? undefined : ids.callSid);
  const apiKey = given('api_key');
  const playPlan = given('play_plan');
  const welcome = readWelcome(
    {
      audio_encoding: 'mulaw',
      sample_rate_hz: 8000,
      strategy: given('strategy'),
      call_id: callId,
      detection_timeout_sec:
        typeof timeout === 'string' && /^\d{1,6}$/.test(timeout) ? Number(timeout) : timeout,
      ...((url !== undefined || events !== undefined) && {
        webhook: { url, events: typeof events === 'string' ? listOf(events) : events },
      }),
    },
    checkUrlSyntax,
  );
  return {
    ids,
    apiKey: typeof apiKey === 'string' ? apiKey : null,
    // What is no text is no token of ours.
    playPlan: playPlan === undefined ? null : typeof playPlan === 'string' ? playPlan : '',
    welcome,
  };
}

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/** One address by which this service may be dialled: `host` or `host:port`, and a path before the route's. */
export interface PublicAddress {
  readonly authority: string;
  readonly pathPrefix: string;
}

/**
 * True when `signature` is base64 HMAC-SHA1 of one of the addresses under the account's token. The platform signs
 * the `wss://` address as it dialled it, with or without the port (supplement 7). `path`: that of the upgrade.
 */
export function isPlatformSignature(input: {
  readonly signature: string;
  readonly token: string;
  readonly addresses: readonly PublicAddress[];
  readonly path: string;
}): boolean {
  const given = Buffer.from(input.signature);
  return [...dialledAddresses(input.addresses, input.path)].some((address) => {
    const expected = Buffer.from(createHmac('sha1', input.token).update(address).digest('base64'));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function dialledAddresses(addresses: readonly PublicAddress[], path: string): Set<string> {
  const dialled = new Set<string>();
  for (const { authority, pathPrefix } of addresses) {
    const bare = authority.replace(/:\d+$/, '');
    // 443 is what the scheme means when no port is written.
    for (const host of [authority, bare, `${bare}:443`]) dialled.add(`wss://${host}${pathPrefix}${path}`);
  }
  return dialled;
}
