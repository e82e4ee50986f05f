export { InboundTexts } from './inbound.service.ts';
export type { ConsentRevocation, InboundTextsOptions, OptIns } from './inbound.service.ts';
export { presentText } from './texts.present.ts';
export { textsRoutes } from './texts.routes.ts';
export type { TextMessage } from './texts.store.ts';
export { TextThreads } from './thread.service.ts';
export type { TextThreadsOptions } from './thread.service.ts';
