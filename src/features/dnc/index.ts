export {
  presentAdded,
  presentBulkRemoved,
  presentDncEntry,
  presentDncMatch,
  presentRemoved,
} from './dnc.present.ts';
export { dncRoutes } from './dnc.routes.ts';
export { DncService } from './dnc.service.ts';
export type { AddedDncEntries, DncEntry, DncOptions, Identifier, SelfAdded } from './dnc.service.ts';
