/** Faults of making a connection: nothing was sent, whatever the request was. */
const CONNECT_CODES = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'ENODATA'],
  // undici, of a connection that was not made in time.
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** A handshake that failed: a certificate that is not right, or a peer that speaks no TLS. */
const TLS_CODE = /^(?:ERR_TLS_CERT|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA)/;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/**
 * True when there certainly was no connection, so that the carrier took nothing. Anything that can also happen to a
 * connection that stands is false.
 */
export function isNeverConnected(error: unknown): boolean {
  const code = codeOf(error);
  if (CONNECT_CODES.has(code) || TLS_CODE.test(code)) return true;
  // Several addresses were tried, each with its own fault.
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.every((one) => isOfConnect(one));
  return isOfConnect(error);
}

const isOfConnect = (error: unknown): boolean =>
  CONNECT_CODES.has(codeOf(error)) ||
  (error instanceof Error && 'syscall' in error && error.syscall === 'connect');

/** A fault in a word, for people. */
export const wordOf = (error: unknown): string =>
  codeOf(error) || (error instanceof Error ? error.name : 'unknown');
