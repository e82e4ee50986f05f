import type { FastifyInstance } from 'fastify';
import cors from '@fastify/cors';
import helmet from '@fastify/helmet';

const EXPOSED = ['X-Request-Id', 'X-Correlation-Id', 'Allow'];
/** What browsers may remember of a preflight: two hours, the most that Chromium takes. */
const PREFLIGHT_MAX_AGE_SEC = 7_200;

/**
 * Headers of every answer that keep browsers from doing what an API is not for: nothing is framed, sniffed or run. Pages
 * that are for browsers bring a policy of their own. Cross-origin use is off but for routes with `corsConfig`.
 */
export function protect(app: FastifyInstance, { isSecure }: { isSecure: boolean }): void {
  app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    strictTransportSecurity: isSecure ? { maxAge: 31_536_000 } : false,
    xFrameOptions: { action: 'deny' },
  });
  app.register(cors, { origin: false });
}

/**
 * A route's part of CORS by the methods that are open: any origin, no cookies; the credential is in a header, which a page must hold to send. Spread
 * over the plugin's own settings.
 */
export function corsConfig(methods: readonly string[]): { cors?: object } {
  if (methods.length === 0) return {};
  return {
    cors: {
      origin: '*',
      methods: [...methods],
      allowedHeaders: ['Authorization', 'Content-Type', 'X-Request-Id'],
      exposedHeaders: EXPOSED,
      maxAge: PREFLIGHT_MAX_AGE_SEC,
      strictPreflight: false,
      preflightContinue: true,
    },
  };
}
