export { networkOf } from './guess.guard.ts';
export { createHttp, listenHttp, reloadTls } from './http.server.ts';
export type { HttpApp, HttpOptions, TlsFiles } from './http.server.ts';
export { route } from './route.type.ts';
export type {
  Authenticate,
  AuthenticateTeam,
  BodyKind,
  Method,
  RequestCredentials,
  RouteAuth,
  RouteContext,
  RouteExample,
  RouteSpec,
  TeamCredentials,
} from './route.type.ts';
export { credentialsOf } from './credentials.ts';
export { mountRoutes } from './mount.ts';
export type { MountOptions, RouteGates, RouteLimits } from './mount.ts';
export { toProblem } from './errors.ts';
export { isStorableText, JSON_DEPTH_MAX, JSON_KEYS_MAX, parseJsonBody } from './json.body.ts';
export { cursorPaging, offsetPaging, skipPaging } from './paging.ts';
export type { PageBounds } from './paging.ts';
export { GuessGuard } from './guess.guard.ts';
export { mountReference } from './reference.ts';
export { openApiDocument } from './openapi/document.ts';
