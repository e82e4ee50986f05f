/** ITU-T G.711, mu-law: the bias, and the loudest 16-bit magnitude that still fits with it. */
const BIAS = 132;
const MAGNITUDE_MAX = 32_635;

/** The highest bit of the smallest biased magnitude: that of segment 0. */
const LOWEST_BIT = 7;

/** 16-bit linear → mu-law (ITU-T G.711). −0, which only mu-law can say, stays what it was. */
export function toMulaw(sample: number): number {
  const sign = sample < 0 || Object.is(sample, -0) ? 0x80 : 0;
  const magnitude = Math.min(sample < 0 ? -sample : sample, MAGNITUDE_MAX) + BIAS;
  const segment = 31 - Math.clz32(magnitude) - LOWEST_BIT;
  return ~(sign | (segment << 4) | ((magnitude >> (segment + 3)) & 0x0f)) & 0xff;
}
