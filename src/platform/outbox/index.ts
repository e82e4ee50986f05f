export { Outbox } from './outbox.ts';
export { Gather } from './gather.ts';
export type { GatherOptions } from './gather.ts';
export { Relay } from './relay.ts';
export type { RelayOptions } from './relay.ts';
export type { OutboxStats } from './outbox.store.ts';
export type { Finish, Handler, Json, OutboxMessage, OutboxRow } from './outbox.type.ts';
export { backoffMs, isTransientDbError } from './transient.rules.ts';
export type { Announce, News } from './news.type.ts';
