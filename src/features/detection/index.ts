export { DetectionGateway } from './gateway.service.ts';
export type { GatewayOptions } from './gateway.service.ts';
export { EVENT_NAMES } from './event.type.ts';
export type { EventName } from './event.type.ts';
export { loadNative } from './native.ts';
export type { NativeModule } from './native.ts';
export { createDetectionRetention } from './retention.jobs.ts';
export { SessionsService } from './sessions.service.ts';
export type { SessionEventView, SessionFilter, SessionView } from './sessions.store.ts';
