export { BodyTooLarge, createNet, PostTimeout, RESPONSE_BYTES_MAX } from './net.ts';
export type { GetRequest, Net, NetOptions, PostAnswer, PostRequest } from './net.ts';
export type { NetBoundary, ResolvedAddress } from './boundary.ts';
export { TargetRefused } from './target.ts';
export type { RefusalReason } from './target.ts';
export { isPublicAddress } from './address.ts';
