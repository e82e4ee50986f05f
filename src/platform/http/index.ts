export { createHttp, listenHttp, reloadTls } from './http.server.ts';
export type { HttpOptions, TlsFiles } from './http.server.ts';
