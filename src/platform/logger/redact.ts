/** What never reaches a log (runtime.md, LOG_LEVEL): secrets, keys, message texts, whole phone numbers. */

/** Names of fields whose values are secrets or somebody's words. */
const SECRET_FIELDS = new Set([
  'authorization',
  'auth_token',
  'body',
  'ciphertext',
  'cookie',
  'detection_key',
  'detectionkey',
  'headers',
  'key',
  'masterkey',
  'master_key',
  'message_text',
  'password',
  'platformtoken',
  'platform_token',
  'secret',
  'signing_key',
  'signingkey',
  'text',
  'token',
  'transcript',
  'words',
  'x-key',
  'x-secret',
]);

const MASK = '[hidden]';
/** Deeper than this a log entry says only that there is more. */
const DEPTH_MAX = 6;
const ITEMS_MAX = 50;
const TEXT_MAX = 2_000;

/** API keys and Detection keys, credentials inside an address, bearer tokens, international numbers. */
const SECRET_TEXT: readonly (readonly [RegExp, string])[] = [
  [/\b(tgd|tg|tgs|whsec)_[A-Za-z0-9_+/-]{8,}=*/g, '$1_[hidden]'],
  [/(\/\/[^\s:@/]*):[^\s@/]+@/g, '$1:[hidden]@'],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/-]+=*/gi, '$1 [hidden]'],
  [/([?&](?:key|token|secret|signature|password|api_key)=)[^&\s"']+/gi, '$1[hidden]'],
  [/(\+\d{2})\d{4,10}(\d{3})\b/g, '$1…$2'],
];

/** Masks secrets inside a text and cuts it to a bounded length. */
export function redactText(text: string): string {
  const cut = text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;
  return SECRET_TEXT.reduce((line, [pattern, mask]) => line.replace(pattern, mask), cut);
}

/** A copy of a log entry without secrets; errors become `{name, message, code, stack}`. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`;
  if (depth >= DEPTH_MAX) return '[deeper]';
  if (value instanceof Error) return redactError(value, depth);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map((item) => redact(item, depth + 1));
  const entries = Object.entries(value as Record<string, unknown>).slice(0, ITEMS_MAX);
  return Object.fromEntries(
    entries.map(([name, item]) => [
      name,
      SECRET_FIELDS.has(name.toLowerCase()) && typeof item !== 'number' ? MASK : redact(item, depth + 1),
    ]),
  );
}

function redactError(error: Error, depth: number): Record<string, unknown> {
  const code = (error as { code?: unknown }).code;
  return {
    name: error.name,
    message: redactText(error.message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: redactText(error.stack) }),
    ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) }),
  };
}
