import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomBytes } from 'node:crypto';
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';
import { until } from './until.ts';

export interface TwilioRequest {
  readonly resource: 'Messages' | 'Calls';
  readonly form: URLSearchParams;
  /** What it is answered with, when all is well. */
  readonly sid: string;
}

/** What the double answers; a text goes as it is, `never` waits until the double closes, `hangup` cuts the connection. */
export type TwilioAnswer =
  'ok' | 'never' | 'hangup' | { status: number; headers?: Record<string, string>; body?: unknown };

export interface TwilioDouble {
  readonly url: string;
  readonly accountSid: string;
  readonly authToken: string;
  /** Requests that were valid, in order, whatever they were answered. */
  readonly requests: TwilioRequest[];
  /** What the real service would have refused, in order. */
  readonly faults: TwilioFault[];
  /** Answers for the next requests; `ok` after them. */
  script(...answers: TwilioAnswer[]): void;
  waitFor(count: number): Promise<TwilioRequest[]>;
  close(): Promise<void>;
}

export interface TwilioFault {
  readonly status: number;
  readonly code: number;
  readonly message: string;
}

const MESSAGE_FIELDS = ['To', 'From', 'MessagingServiceSid', 'Body', 'MediaUrl', 'StatusCallback'];
const CALL_FIELDS = [
  ...['To', 'From', 'Twiml', 'Timeout', 'TimeLimit', 'StatusCallback', 'StatusCallbackMethod'],
  'StatusCallbackEvent',
];
const CALL_EVENTS = new Set(['initiated', 'ringing', 'answered', 'completed']);
const E164 = /^\+[1-9]\d{6,14}$/;

const fault = (status: number, code: number, message: string): TwilioFault => ({ status, code, message });

/**
 * A local service with Twilio's interface that takes no more than the real one (Messages and Calls, 2010-04-01).
 * `onRequest` hears of each valid request that is answered `ok`, after the answer.
 */
export async function startTwilioDouble(
  options: { onRequest?: (request: TwilioRequest) => void; accountSid?: string; authToken?: string } = {},
): Promise<TwilioDouble> {
  const accountSid = options.accountSid ?? `AC${randomBytes(16).toString('hex')}`;
  const authToken = options.authToken ?? randomBytes(16).toString('hex');
  const [requests, faults, answers]: [TwilioRequest[], TwilioFault[], TwilioAnswer[]] = [[], [], []];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const judged = judge(request, await bodyOf(request), { accountSid, authToken });
    if ('code' in judged) {
      faults.push(judged);
      return json(response, judged.status, {
        ...judged,
        more_info: `https://www.twilio.com/docs/errors/${judged.code}`,
      });
    }
    requests.push(judged);
    const answer = answers.shift() ?? 'ok';
    if (answer === 'never') return;
    if (answer === 'hangup') return void response.destroy();
    if (answer !== 'ok') return json(response, answer.status, answer.body ?? '', answer.headers);
    json(response, 201, resourceOf(judged, accountSid));
    options.onRequest?.(judged);
  };
  const server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ accountSid, authToken, requests, faults },
    script: (...more) => void answers.push(...more),
    waitFor: (count) => until(() => requests.length >= count && requests, 20_000, `${count} requests`),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The headers of a form as Twilio sends it to `url`. */
export const twilioHeaders = (
  authToken: string,
  url: string,
  form: Record<string, string | string[]>,
): Record<string, string> => ({
  'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
  'x-twilio-signature': getExpectedTwilioSignature(authToken, url, form),
});

/** The stream that a call's TwiML connects to, its entities read back. */
export function streamOf(twiml: string): { url: string; parameters: Record<string, string> } {
  const tags = wellFormed(twiml);
  const names = tags?.map(({ name }) => name).join(' ');
  const parameters = tags?.slice(3) ?? [];
  if (
    !tags ||
    !names?.startsWith('Response Connect Stream') ||
    parameters.some(({ name }) => name !== 'Parameter')
  )
    throw new Error(`no TwiML that connects to a stream: ${twiml}`);
  const named = parameters.map(({ attributes }) => [attributes['name'] ?? '', attributes['value'] ?? '']);
  return {
    url: tags[2]?.attributes['url'] ?? '',
    parameters: Object.fromEntries(named) as Record<string, string>,
  };
}

type Judged = TwilioRequest | TwilioFault;

function judge(
  { method, url, headers }: IncomingMessage,
  body: string,
  of: { accountSid: string; authToken: string },
): Judged {
  const [, resource] = /^\/2010-04-01\/Accounts\/[^/]+\/(Messages|Calls)\.json$/.exec(url ?? '') ?? [];
  if (resource === undefined || !url?.includes(`/${of.accountSid}/`)) return fault(404, 20404, 'Not found');
  if (method !== 'POST') return fault(405, 20004, 'Method not allowed');
  const basic = Buffer.from(`${of.accountSid}:${of.authToken}`).toString('base64');
  if (headers.authorization !== `Basic ${basic}`) return fault(401, 20003, 'Authenticate');
  if (headers['content-type'] !== 'application/x-www-form-urlencoded')
    return fault(415, 20415, 'Unsupported media type');
  const form = new URLSearchParams(body);
  const known = resource === 'Messages' ? MESSAGE_FIELDS : CALL_FIELDS;
  const other = [...form.keys()].find((name) => !known.includes(name));
  if (other !== undefined) return fault(400, 20001, `Unknown parameter ${other}`);
  const callback = form.get('StatusCallback');
  if (callback !== null && !/^https?:\/\/[^_/]+\//.test(callback))
    return fault(400, 21609, "Invalid 'StatusCallback'");
  const wrong = resource === 'Messages' ? messageFault(form) : callFault(form);
  const prefix = resource === 'Messages' ? 'SM' : 'CA';
  return (
    wrong ?? {
      resource: resource as 'Messages' | 'Calls',
      form,
      sid: prefix + randomBytes(16).toString('hex'),
    }
  );
}

function messageFault(form: URLSearchParams): TwilioFault | null {
  const [to, from, body] = [form.get('To'), form.get('From'), form.get('Body') ?? ''];
  if (to === null) return fault(400, 21604, "A 'To' phone number is required.");
  if (!E164.test(to)) return fault(400, 21211, `Invalid 'To' Phone Number: ${to}`);
  if (from === null && form.get('MessagingServiceSid') === null)
    return fault(400, 21603, "A 'From' number is required.");
  if (from !== null && !E164.test(from)) return fault(400, 21212, `Invalid 'From' number: ${from}`);
  const media = form.getAll('MediaUrl');
  if (body === '' && media.length === 0)
    return fault(400, 21619, 'A text message body or media urls must be specified.');
  if (body.length > 1_600)
    return fault(400, 21617, 'The concatenated message body exceeds the 1600 character limit.');
  if (media.length > 10) return fault(400, 21623, 'Number of media files exceeds allowed limit.');
  return media.every((url) => URL.canParse(url)) ? null : fault(400, 21620, 'Invalid media URL.');
}

function callFault(form: URLSearchParams): TwilioFault | null {
  const [to, from, twiml] = [form.get('To'), form.get('From'), form.get('Twiml')];
  if (to === null) return fault(400, 21201, "No 'To' number is specified");
  if (from === null) return fault(400, 21213, "'From' phone number is required");
  if (!E164.test(to))
    return fault(400, 21211, `The phone number you are attempting to call, ${to}, is not valid.`);
  if (!E164.test(from)) return fault(400, 21212, `The source phone number provided, ${from}, is not valid.`);
  if (twiml === null) return fault(400, 21205, 'Url parameter is required.');
  if (twiml.length > 4_000)
    return fault(400, 32018, 'Twiml size exceeded maximum allowed value of 4000 characters');
  const tags = wellFormed(twiml);
  if (!tags) return fault(400, 12100, 'Document parse failure');
  const stream = tags.find(({ name }) => name === 'Stream');
  if (!/^wss?:\/\/[^?]+$/.test(stream?.attributes['url'] ?? ''))
    return fault(400, 31920, 'Stream: invalid url');
  const isLong = tags.some(({ attributes: { name = '', value = '' } }) => name.length + value.length >= 500);
  if (isLong) return fault(400, 31921, 'Stream: a parameter is too long');
  return form.getAll('StatusCallbackEvent').every((event) => CALL_EVENTS.has(event))
    ? null
    : fault(400, 21626, "Invalid 'StatusCallbackEvent'");
}

interface Tag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The tags of a document in order; null: it is not well-formed. Enough of XML for TwiML without text. */
function wellFormed(xml: string): Tag[] | null {
  const tags: Tag[] = [];
  const open: string[] = [];
  let rest = xml.replace(/^<\?xml [^<>]*\?>/, '');
  while (rest !== '') {
    const [whole, slash, name = '', inner = '', end] =
      /^<(\/?)([A-Za-z]+)((?:\s+[A-Za-z]+="[^"<>]*")*)\s*(\/?)>/.exec(rest) ?? [];
    if (whole === undefined) return null;
    rest = rest.slice(whole.length);
    if (slash === '/') {
      if (open.pop() !== name) return null;
      continue;
    }
    const attributes: Record<string, string> = {};
    for (const [, key = '', value = ''] of inner.matchAll(/([A-Za-z]+)="([^"]*)"/g)) {
      if (/&(?!(?:amp|lt|gt|quot|apos);)/.test(value)) return null;
      attributes[key] = value.replace(/&(\w+);/g, (_, entity: string) => ENTITIES[entity] ?? '');
    }
    tags.push({ name, attributes });
    if (end !== '/') open.push(name);
  }
  return open.length === 0 && tags.length > 0 ? tags : null;
}

const resourceOf = ({ resource, form, sid }: TwilioRequest, accountSid: string): object => ({
  ...{ sid, account_sid: accountSid, to: form.get('To'), from: form.get('From') },
  ...{ status: 'queued', error_code: null, error_message: null, date_created: null },
  ...(resource === 'Messages'
    ? { body: form.get('Body'), num_segments: '1', direction: 'outbound-api' }
    : {}),
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
