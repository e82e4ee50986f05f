/** WebSocket frames (RFC 6455) as a client sends and reads them, no more than the load generator needs. */

const OPCODE_TEXT = 1;
const OPCODE_BINARY = 2;
const OPCODE_CLOSE = 8;
const OPCODE_PING = 9;

/** A frame that is sent again and again is masked once: the same key each time is allowed and costs nothing. */
const MASK = Uint8Array.from([0x9d, 0x2c, 0x71, 0xe8]);

/** A whole masked client frame of at most 65,535 bytes of payload. */
export function maskedFrame(payload: Uint8Array, kind: 'text' | 'binary' | 'pong'): Buffer {
  if (payload.length > 0xffff) throw new RangeError(`${payload.length} bytes do not fit this frame`);
  const extended = payload.length > 125;
  const head = extended ? 4 : 2;
  const frame = Buffer.alloc(head + 4 + payload.length);
  frame[0] = 0x80 | { text: OPCODE_TEXT, binary: OPCODE_BINARY, pong: 10 }[kind];
  frame[1] = 0x80 | (extended ? 126 : payload.length);
  if (extended) frame.writeUInt16BE(payload.length, 2);
  frame.set(MASK, head);
  for (let i = 0; i < payload.length; i += 1) frame[head + 4 + i] = payload[i]! ^ MASK[i & 3]!;
  return frame;
}

/** What a server sent. */
export interface ServerFrame {
  kind: 'text' | 'close' | 'ping' | 'other';
  payload: Buffer;
}

/** A server's frames are events of a few hundred bytes; more than this in one frame is a fault. */
const PAYLOAD_BYTES_MAX = 256 * 1024;

/** Whole frames at the head of `bytes`, and what is left of the next. Throws for a frame that is too long. */
export function parseFrames(bytes: Buffer): { frames: ServerFrame[]; rest: Buffer } {
  const frames: ServerFrame[] = [];
  let at = 0;
  while (bytes.length - at >= 2) {
    const short = bytes[at + 1]! & 0x7f;
    const head = short === 127 ? 10 : short === 126 ? 4 : 2;
    if (bytes.length - at < head) break;
    const length =
      short === 127
        ? Number(bytes.readBigUInt64BE(at + 2))
        : short === 126
          ? bytes.readUInt16BE(at + 2)
          : short;
    if (length > PAYLOAD_BYTES_MAX) throw new RangeError(`a frame of ${length} bytes`);
    if (bytes.length - at < head + length) break;
    const opcode = bytes[at]! & 0x0f;
    const payload = bytes.subarray(at + head, at + head + length);
    const kinds: Readonly<Record<number, ServerFrame['kind']>> = {
      [OPCODE_TEXT]: 'text',
      [OPCODE_CLOSE]: 'close',
      [OPCODE_PING]: 'ping',
    };
    frames.push({ kind: kinds[opcode] ?? 'other', payload });
    at += head + length;
  }
  return { frames, rest: bytes.subarray(at) };
}
