/** Bytes of an answer's body that are kept with its attempt. */
const EXCERPT_BYTES_MAX = 1_024;
const USER_AGENT = 'Tonegate-Webhooks/1';

/** The start of an answer's body as text that PostgreSQL takes; null when there is none. */
export function excerptOf(body: Buffer): string | null {
  if (body.length === 0) return null;
  // As a stream: a character cut by the bound is left out instead of shown as broken.
  const text = new TextDecoder('utf-8').decode(body.subarray(0, EXCERPT_BYTES_MAX), { stream: true });
  return text.replaceAll('\0', '');
}

/** The integrator's headers, then ours: a name of ours in any case wins. */
export function mergeHeaders(
  extra: Record<string, string>,
  own: Record<string, string>,
): Record<string, string> {
  const ours = { 'Content-Type': 'application/json', 'User-Agent': USER_AGENT, ...own };
  const taken = new Set(Object.keys(ours).map((name) => name.toLowerCase()));
  const free = Object.entries(extra).filter(([name]) => !taken.has(name.toLowerCase()));
  return { ...Object.fromEntries(free), ...ours };
}

const DNS_CODES = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'ENODATA']);
const WORD_OF_CODE: Record<string, string> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_lost',
  EPIPE: 'connection_lost',
  UND_ERR_SOCKET: 'connection_lost',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  ENETUNREACH: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  EPROTO: 'tls',
};
const TLS_CODE = /^(?:ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA)/;
/** The answer was no HTTP, or none within the parser's bounds. */
const ANSWER_CODE = /^(?:HPE_|UND_ERR_(?:HEADERS_OVERFLOW|RESPONSE|RES_))/;
const ANSWER_NAME = 'HTTPParserError';

/** A connection's fault in a word for the log of attempts; only a request that cannot be sent at all is not retried. */
export function classifyFault(error: unknown): { word: string; retryable: boolean } {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === 'UND_ERR_INVALID_ARG') return { word: 'invalid_request', retryable: false };
  if (DNS_CODES.has(code)) return { word: 'dns', retryable: true };
  if (TLS_CODE.test(code)) return { word: 'tls', retryable: true };
  const isBadAnswer = ANSWER_CODE.test(code) || (error instanceof Error && error.name === ANSWER_NAME);
  if (isBadAnswer) return { word: 'invalid_answer', retryable: true };
  return { word: WORD_OF_CODE[code] ?? 'connection_failed', retryable: true };
}
