import { randomUUID } from 'node:crypto';
import type {
  CallRequest,
  DropRequest,
  MailRequest,
  TextRequest,
} from '../../src/features/carriers/index.ts';

const attempt = () => ({
  ...{ teamId: randomUUID(), sendId: randomUUID(), attempt: 1, to: '+12025550123', from: '+12025550100' },
  statusUrl: 'https://api.example.com/carrier/twilio/c/status/t',
});

export const textRequest = (over: Partial<TextRequest> = {}): TextRequest => ({
  ...attempt(),
  ...{ body: 'Hello.', mediaUrls: [], rcsContent: null },
  ...over,
});

export const callRequest = (over: Partial<CallRequest> = {}): CallRequest => ({
  ...attempt(),
  stream: { url: 'wss://calls.example.com/carrier/ws/twilio', parameters: { play_plan: 'a.b' } },
  channel: 'voice_broadcast',
  ...over,
});

export const dropRequest = (over: Partial<DropRequest> = {}): DropRequest => ({
  ...attempt(),
  audioUrl: 'https://api.example.com/media/public/audio/t',
  ...over,
});

export const mailRequest = (over: Partial<MailRequest> = {}): MailRequest => ({
  ...{ teamId: randomUUID(), emailId: randomUUID() },
  from: { address: 'news@example.com', name: 'Example Ltd' },
  to: [{ address: 'ada@example.org', name: 'Ada' }],
  ...{ cc: [], bcc: [], subject: 'Hello', html: '<p>Hello, Ada.</p>', text: 'Hello, Ada.' },
  ...{ messageId: `<${randomUUID()}@example.com>`, headers: {}, dkim: null },
  ...over,
});

/** A signal that nobody aborts. */
export const going = (): AbortSignal => new AbortController().signal;
