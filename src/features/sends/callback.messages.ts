import type { OutboxMessage } from '../../platform/outbox/index.ts';
import { TOPICS } from './send.type.ts';

/** The outbox messages of callbacks: a lane for each account and host, so that a slow host delays nobody else. */
export const callbackMessages = (
  callbacks: readonly { readonly teamId: string; readonly sendId: string; readonly url: string }[],
): OutboxMessage[] =>
  callbacks.map(({ teamId, sendId, url }) => ({
    topic: TOPICS.callback,
    key: sendId,
    lane: `${teamId}:${hostOf(url)}`,
    payload: {},
  }));

/** What is no address has no host: it is tried, and fails, in a lane of its own. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '');
