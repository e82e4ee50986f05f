import type { FrameBytes } from '../../platform/socket/index.ts';

/** The JSON object in a text frame, or null when there is none. The socket has bounded its length and proven its UTF-8. */
export function parseFrame(bytes: FrameBytes): Readonly<Record<string, unknown>> | null {
  const text =
    bytes instanceof Uint8Array
      ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
      : Buffer.from(bytes).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;
}
