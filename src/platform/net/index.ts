export { createNet, PostTimeout, RESPONSE_BYTES_MAX } from './net.ts';
export type { Net, NetOptions, PostAnswer, PostRequest } from './net.ts';
export type { NetBoundary, ResolvedAddress } from './boundary.ts';
export { TargetRefused } from './target.rules.ts';
export type { RefusalReason } from './target.rules.ts';
export { isPublicAddress } from './address.rules.ts';
