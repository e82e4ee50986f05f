/** A 256-point FFT of real input in plain JavaScript: iterative radix 2 on typed arrays, tables made once. */

export const SIZE = 256;
const BITS = 8;

const COS = Float64Array.from({ length: SIZE / 2 }, (_, i) => Math.cos((2 * Math.PI * i) / SIZE));
const SIN = Float64Array.from({ length: SIZE / 2 }, (_, i) => Math.sin((2 * Math.PI * i) / SIZE));
const REVERSED = Uint8Array.from({ length: SIZE }, (_, i) => {
  let reversed = 0;
  for (let bit = 0; bit < BITS; bit += 1) reversed |= ((i >> bit) & 1) << (BITS - 1 - bit);
  return reversed;
});
const HANN = Float64Array.from({ length: SIZE }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / SIZE));

const re = new Float64Array(SIZE);
const im = new Float64Array(SIZE);

/** Power spectrum of 256 samples under a Hann window, into `power` (129 bins). */
export function powerSpectrum(samples, power) {
  for (let i = 0; i < SIZE; i += 1) {
    re[REVERSED[i]] = samples[i] * HANN[i];
    im[i] = 0;
  }
  for (let half = 1; half < SIZE; half *= 2) {
    const step = SIZE / (2 * half);
    for (let start = 0; start < SIZE; start += 2 * half) {
      for (let k = 0; k < half; k += 1) {
        const c = COS[k * step];
        const s = SIN[k * step];
        const a = start + k;
        const b = a + half;
        const x = re[b] * c + im[b] * s;
        const y = im[b] * c - re[b] * s;
        re[b] = re[a] - x;
        im[b] = im[a] - y;
        re[a] += x;
        im[a] += y;
      }
    }
  }
  for (let i = 0; i <= SIZE / 2; i += 1) power[i] = re[i] * re[i] + im[i] * im[i];
}
