/** One send of each channel to a number that is never dialled, and its result as an integrator receives it. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Supplement 3: they always end as delivered. */
const CALL_NUMBER = '+15550010001';
const TEXT_NUMBER = '+15550020001';
const BODY_BYTES_MAX = 64 * 1024;
/** A result takes milliseconds. */
const RESULTS_TIMEOUT_MS = 15_000;
const REQUEST_TIMEOUT_MS = 10_000;
const POLL_MS = 20;

/** A route of sends with a body that it takes, given a message to play. */
interface DemoSend {
  readonly path: string;
  readonly name: string;
  readonly bodyOf: (mediaId: string) => Readonly<Record<string, unknown>>;
}

export const SENDS: readonly DemoSend[] = [
  { path: '/rvm', name: 'ringless voicemail', bodyOf: (media_id) => ({ to: CALL_NUMBER, media_id }) },
  { path: '/sms', name: 'text', bodyOf: () => ({ to: TEXT_NUMBER, body: 'Your order is ready.' }) },
  {
    path: '/voice-broadcast',
    name: 'voice broadcast',
    bodyOf: (mediaId) => ({ to: CALL_NUMBER, media_on_speech: mediaId, media_on_beep: mediaId }),
  },
];

/** What came to the callback of a send. */
export interface Result {
  readonly message_id?: unknown;
  readonly status?: unknown;
  readonly reason?: unknown;
  readonly reason_code?: unknown;
}

export interface SendsStage {
  readonly httpUrl: string;
  readonly key: string;
  readonly secret: string;
  /** A recording to play. */
  readonly wav: Buffer;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Sends one of each, waits for their results, and says them. Answers the number of sends that did not end right. */
export async function sendOneOfEach(stage: SendsStage): Promise<number> {
  const { say, signal } = stage;
  say(`\nSending one message of each channel to numbers that are never dialled:\n`);
  const results = new Map<string, Result>();
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      results.set(request.url ?? '', resultOf(body));
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const mediaId = await upload(stage);
    const queued = await Promise.all(
      SENDS.map(({ path, bodyOf }) =>
        accepted(stage, path, { ...bodyOf(mediaId), callback_url: `http://127.0.0.1:${port}${path}` }),
      ),
    );
    const deadlineMs = performance.now() + RESULTS_TIMEOUT_MS;
    while (results.size < SENDS.length && performance.now() < deadlineMs && !signal.aborted)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const faults = SENDS.map((send, n) => {
      const fault = faultOf(queued[n] ?? '', results.get(send.path));
      const shown = fault === null ? 'right' : 'WRONG';
      say(`  ${shown}  ${send.name}: POST ${send.path} → callback ${sayResult(results.get(send.path))}`);
      if (fault !== null) say(`         fault: ${fault}`);
      return fault;
    });
    const wrong = faults.filter((fault) => fault !== null).length;
    if (wrong === 0)
      say(`\nAll ${SENDS.length} sends ended as they should; their results came to the callback.`);
    return wrong;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** The media_id of the recording, uploaded. */
async function upload(stage: SendsStage): Promise<string> {
  const form = new FormData();
  form.set('name', 'Demo');
  form.set('type', 'audio');
  form.set('file', new Blob([new Uint8Array(stage.wav)], { type: 'audio/wav' }), 'demo.wav');
  const { status, text } = await post(stage, '/media/public/media', form);
  if (status !== 201) throw new Error(`the recording was not taken: ${status} ${text}`);
  return (JSON.parse(text) as { data: { media_id: string } }).data.media_id;
}

/** The message_id of an accepted send, or what was answered instead. */
async function accepted(stage: SendsStage, path: string, body: unknown): Promise<string> {
  const { status, text } = await post(stage, path, JSON.stringify(body));
  if (status !== 202) return `${status} ${text}`;
  return String((JSON.parse(text) as { message_id?: unknown }).message_id);
}

async function post(
  { httpUrl, key, secret, signal }: SendsStage,
  path: string,
  body: string | FormData,
): Promise<{ status: number; text: string }> {
  const response = await fetch(httpUrl + path, {
    method: 'POST',
    headers: {
      ...{ 'x-key': key, 'x-secret': secret },
      ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
    },
    body,
    signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
  });
  return { status: response.status, text: await response.text() };
}

/** What is wrong with a result; null: nothing. `queued`: the message_id, or the answer that refused the send. */
export function faultOf(queued: string, result: Result | undefined): string | null {
  if (!/^[0-9a-f-]{36}$/.test(queued)) return `it was not accepted: ${queued}`;
  if (!result) return 'no result came to its callback';
  if (result.status !== 'success' || result.reason_code !== 0) return 'its result is not delivered (0)';
  return null;
}

const sayResult = (result: Result | undefined): string =>
  result ? `${String(result.status)}, ${String(result.reason)} (${String(result.reason_code)})` : 'none';

function resultOf(body: Buffer): Result {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    // An empty result is told as wrong.
    return {};
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
