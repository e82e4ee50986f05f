import { TELEPHONE_RATE_HZ } from './audio.type.ts';

const HEADER_BYTES = 44;
const SAMPLE_BYTES = 2;

/** A WAV file of pcm16, mono, 8 kHz out of blocks with 1.0 full scale; what is louder is clipped. */
export function writeWav(blocks: readonly Float32Array[]): Uint8Array {
  const samples = blocks.reduce((sum, block) => sum + block.length, 0);
  const dataBytes = samples * SAMPLE_BYTES;
  const view = new DataView(new ArrayBuffer(HEADER_BYTES + dataBytes));
  text(view, 0, 'RIFF');
  view.setUint32(4, HEADER_BYTES - 8 + dataBytes, true);
  text(view, 8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, TELEPHONE_RATE_HZ, true);
  view.setUint32(28, TELEPHONE_RATE_HZ * SAMPLE_BYTES, true);
  view.setUint16(32, SAMPLE_BYTES, true);
  view.setUint16(34, SAMPLE_BYTES * 8, true);
  text(view, 36, 'data');
  view.setUint32(40, dataBytes, true);
  let at = HEADER_BYTES;
  for (const block of blocks) {
    for (const sample of block) {
      view.setInt16(at, Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768))), true);
      at += SAMPLE_BYTES;
    }
  }
  return new Uint8Array(view.buffer);
}

function text(view: DataView, at: number, value: string): void {
  for (let n = 0; n < value.length; n += 1) view.setUint8(at + n, value.charCodeAt(n));
}
