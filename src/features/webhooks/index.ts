export { createDeliveryHandler, deliveryMessages } from './delivery.jobs.ts';
export type { DeliveryObservation, DeliveryOptions } from './delivery.service.ts';
export { createDeliveryRetention } from './retention.jobs.ts';
export { insertDeliveries } from './webhooks.store.ts';
export type { NewDelivery } from './webhooks.store.ts';
