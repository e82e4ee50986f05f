const RATE_HZ = 8000;

/** G.711 mu-law of one 16-bit sample (ITU-T G.711; bias 132, clip 32635). */
function muLaw(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(Math.abs(Math.round(sample)), 32_635) + 132;
  const exponent = Math.max(0, Math.floor(Math.log2(magnitude)) - 7);
  return ~(sign | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff;
}

/** `ms` of mu-law, 8 kHz, from a function of time in seconds. */
export function mulaw(ms: number, sampleAt: (sec: number) => number): Uint8Array {
  return Uint8Array.from({ length: (RATE_HZ * ms) / 1000 }, (_, i) => muLaw(sampleAt(i / RATE_HZ)));
}

export const silence = (ms: number): Uint8Array => mulaw(ms, () => 0);

/** A record beep: one steady tone with a sharp end. */
export const beepTone = (ms: number, frequencyHz: number): Uint8Array =>
  mulaw(ms, (sec) => 9_000 * Math.sin(2 * Math.PI * frequencyHz * sec));

/** Silence, a 400 ms beep of 1000 Hz that ends at 1,400 ms, silence. */
export const callWithBeep = (): Uint8Array => join(silence(1_000), beepTone(400, 1_000), silence(1_000));

export function join(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}

/** 20 ms frames of mu-law. */
export function* frames(bytes: Uint8Array, frameBytes = 160): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += frameBytes) yield bytes.subarray(at, at + frameBytes);
}
