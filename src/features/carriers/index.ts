export { CARRIER_KINDS, CARRIER_STATES, CARRIERS_MAX } from './carriers.rules.ts';
export type { CarrierKind, CarrierState } from './carriers.rules.ts';
export { CarriersService } from './carriers.service.ts';
export type { Carrier, CarrierUpdate, NewCarrier } from './carriers.service.ts';
export { carrierWebhooksRoutes } from './carrier-webhooks.routes.ts';
export { CarrierWebhooks } from './carrier-webhooks.service.ts';
export type { CarrierWebhooksOptions } from './carrier-webhooks.service.ts';
export { CarrierConnections } from './connections.service.ts';
export type { ConnectionsOptions } from './connections.service.ts';
export { PLAY_PLAN_PARAMETER, signPlayPlan, verifyPlayPlan } from './play-plan.rules.ts';
export type {
  CallCarrier,
  CallHeard,
  CallRequest,
  CarrierAnswer,
  CarrierReceipt,
  CarrierResult,
  CarrierWait,
  CarrierWork,
  DropCarrier,
  DropRequest,
  InboundText,
  MailCarrier,
  MailRequest,
  OpenCarrier,
  PlayPlan,
  TextCarrier,
  TextRequest,
} from './port.type.ts';
