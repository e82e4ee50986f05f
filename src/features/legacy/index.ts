export { legacyRoutes } from './legacy.routes.ts';
export type { LegacyServices } from './legacy.routes.ts';
