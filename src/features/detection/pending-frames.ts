import type { FrameBytes } from '../../platform/socket/index.ts';

/** What may wait behind a welcome that is being judged: about 12 s of a platform stream. */
const PENDING_BYTES_MAX = 256 * 1024;
const PENDING_FRAMES_MAX = 2_048;

export interface PendingFrame {
  readonly kind: 'text' | 'binary';
  readonly bytes: Uint8Array;
}

/** Frames in the order of the wire, copied, since a socket lends its bytes for one call only. */
export class PendingFrames {
  readonly frames: PendingFrame[] = [];
  #bytes = 0;

  /** False when there is no room: nothing was added. */
  add(bytes: FrameBytes, kind: 'text' | 'binary'): boolean {
    this.#bytes += bytes.byteLength;
    if (this.#bytes > PENDING_BYTES_MAX || this.frames.length >= PENDING_FRAMES_MAX) return false;
    this.frames.push({
      kind,
      bytes: Uint8Array.from(bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes)),
    });
    return true;
  }
}
