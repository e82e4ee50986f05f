/** SQLSTATE classes after which the same transaction may succeed: connection, resources, operator, rollback. */
const TRANSIENT_CLASSES = new Set(['08', '53', '57', '40']);
const TRANSIENT_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** Prisma's: server not reached, not in time, closed the connection, no connection free. */
const TRANSIENT_PRISMA = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024']);
/** What the driver says without a code when its connection goes. */
const TRANSIENT_TEXT =
  /connection terminated|timeout exceeded when trying to connect|client has encountered a connection error/i;

/** True for faults of the connection to PostgreSQL or of its state, false for faults of the statement. */
export function isTransientDbError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (TRANSIENT_CODES.has(code) || TRANSIENT_PRISMA.has(code)) return true;
  if (/^[0-9A-Z]{5}$/.test(code)) return TRANSIENT_CLASSES.has(code.slice(0, 2));
  return TRANSIENT_TEXT.test(error.message);
}

/** Exponential ceiling with full jitter above a floor, milliseconds. `attempt` counts from 1. */
export function backoffMs(attempt: number, bounds: { minMs: number; maxMs: number }): number {
  const ceiling = Math.min(bounds.maxMs, bounds.minMs * 2 ** Math.min(attempt, 20));
  return bounds.minMs + Math.random() * (ceiling - bounds.minMs);
}
