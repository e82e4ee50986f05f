import type { CreatedAccount } from '../../src/features/accounts/index.ts';
import { catchWebhooks } from '../_util/index.ts';
import type { Catcher } from '../_util/index.ts';
import { Client, expectSchema } from './client.ts';
import type { SocketWorld } from './world.ts';

/** An event as its client learns of it, by frame or by webhook. */
export interface Heard {
  event: string;
  sessionId: string;
  callId: unknown;
  data: Record<string, unknown>;
}

/** One call over one of the two routes; the same test body runs over both. */
export interface Call {
  readonly client: Client;
  /** Sends the dialect's welcome. `params` are the contract's names and values. */
  welcome(params?: Record<string, unknown>): void;
  /** mu-law, 8 kHz. */
  audio(bytes: Uint8Array): void;
  stop(): void;
  /** Waits for the `count`th event of that name. */
  waitFor(event: string, count?: number): Promise<Heard>;
  /** Everything heard, in the order of the session. */
  heard(): Heard[];
  close(): Promise<void>;
}

export interface Dialect {
  readonly name: 'general' | 'platform';
  open(world: SocketWorld, account: CreatedAccount): Promise<Call>;
}

interface Envelope {
  event: string;
  session_id: string;
  call_id?: string;
  sequence: number;
  data: Record<string, unknown>;
}

export const general: Dialect = {
  name: 'general',
  open: async (world, account) => {
    const client = await Client.open(`${world.wsUrl}/carrier/ws`, {
      headers: { authorization: `Bearer ${account.detectionKey}` },
    });
    const heardOf = ({ event, payload }: { event: string; payload: Record<string, unknown> }): Heard => {
      const { session_id, call_id, ...data } = payload;
      return { event, sessionId: String(session_id), callId: call_id, data };
    };
    return {
      client,
      welcome: (params = {}) =>
        client.send({ type: 'welcome', payload: { audio_encoding: 'mulaw', ...params } }),
      audio: (bytes) => client.binary(bytes),
      stop: () => client.send({ command: 'stop' }),
      waitFor: async (event, count = 1) => heardOf(await client.waitFor(event, count)),
      heard: () => client.frames.filter((frame) => frame.type === 'event').map(heardOf),
      close: async () => {
        client.terminate();
        await client.closed;
      },
    };
  },
};

export const STREAM = {
  callSid: 'CA0123456789abcdef',
  accountSid: 'AC0123456789abcdef',
  streamSid: 'MZ0123456789abcdef',
};

export function startFrame(parameters: Record<string, unknown>): Record<string, unknown> {
  return {
    event: 'start',
    sequenceNumber: '1',
    streamSid: STREAM.streamSid,
    start: {
      ...STREAM,
      tracks: ['inbound'],
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
      customParameters: parameters,
    },
  };
}

export const mediaFrame = (
  bytes: Uint8Array,
  timestampMs: number,
  track = 'inbound',
): Record<string, unknown> => ({
  event: 'media',
  sequenceNumber: '2',
  streamSid: STREAM.streamSid,
  media: {
    track,
    chunk: '1',
    timestamp: String(timestampMs),
    payload: Buffer.from(bytes).toString('base64'),
  },
});

export const platform: Dialect = {
  name: 'platform',
  open: async (world, account) => {
    const catcher: Catcher = await catchWebhooks();
    const client = await Client.open(`${world.wsUrl}/carrier/ws/twilio`, {
      headers: { 'x-twilio-signature': 'unverified' },
    });
    client.send({ event: 'connected', protocol: 'Call', version: '1.0.0' });
    let mediaMs = 0;
    const heard = (): Heard[] =>
      catcher.caught
        .map((hook) => JSON.parse(hook.body) as Envelope)
        .map((body) => {
          expectSchema('delivery', body);
          return body;
        })
        .sort((a, b) => a.sequence - b.sequence)
        .map((body) => ({
          event: body.event,
          sessionId: body.session_id,
          callId: body.call_id,
          data: body.data,
        }));
    return {
      client,
      welcome: (params = {}) =>
        client.send(
          startFrame({
            api_key: account.detectionKey,
            webhook_url: catcher.url,
            ...Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)])),
          }),
        ),
      audio: (bytes) => {
        client.send(mediaFrame(bytes, mediaMs));
        mediaMs += bytes.length / 8;
      },
      stop: () => client.send({ event: 'stop', streamSid: STREAM.streamSid, stop: STREAM }),
      waitFor: async (event, count = 1) => {
        await catcher.waitFor(count, (hook) => hook.headers['x-event'] === event);
        return heard().filter((one) => one.event === event)[count - 1] as Heard;
      },
      heard,
      close: async () => {
        client.terminate();
        await client.closed;
        await catcher.close();
      },
    };
  },
};

export const DIALECTS: readonly Dialect[] = [general, platform];
