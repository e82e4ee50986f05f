/** The strongest one or two tones of a spectrum and the share of the power that they explain. */

const BIN_HZ = 8000 / 256;
const LOW_BIN = 6;
const HIGH_BIN = 119;
const PEAK_SHARE = 0.16;
const ALONE = 0.94;
const LEAST_SHARE = 0.33;
const SECOND_SHARE = 0.05;
const HARMONICS_MAX = 8;
/** Spectra of less power than a mean square of −58 dBFS are silence; a full-scale sine is 4,096 here. */
const SILENCE = 2 * 4096 * 1.6e-6;

const NOTHING = { frequencyHz: 0, secondHz: 0, purity: 0 };

function lobe(power, bin, halfWidth) {
  let sum = 0;
  for (let i = Math.max(0, bin - halfWidth); i <= Math.min(power.length - 1, bin + halfWidth); i += 1)
    sum += power[i];
  return sum;
}

function interpolate(power, bin) {
  const left = Math.log(power[bin - 1] + 1e-20);
  const middle = Math.log(power[bin] + 1e-20);
  const right = Math.log(power[bin + 1] + 1e-20);
  const bend = left - 2 * middle + right;
  return (bin + (bend === 0 ? 0 : (0.5 * (left - right)) / bend)) * BIN_HZ;
}

function harmonics(power, frequencyHz) {
  let sum = 0;
  for (let n = 2; n <= HARMONICS_MAX; n += 1) {
    const bin = Math.round((n * frequencyHz) / BIN_HZ);
    if (bin >= HIGH_BIN) break;
    sum += lobe(power, bin, 1);
  }
  return sum;
}

function strongest(power, except) {
  let best = -1;
  for (let i = LOW_BIN; i < HIGH_BIN; i += 1) {
    if (except >= 0 && Math.abs(i - except) <= 3) continue;
    if (best < 0 || power[i] > power[best]) best = i;
  }
  return best;
}

/** What tones explain of the spectrum; nothing for silence and for spectra without a standing peak. */
export function peaksOf(power) {
  let total = 0;
  for (let i = LOW_BIN; i < HIGH_BIN; i += 1) total += power[i];
  const bin = strongest(power, -1);
  if (total < SILENCE || power[bin] < PEAK_SHARE * total) return NOTHING;
  const frequencyHz = interpolate(power, bin);
  const single = lobe(power, bin, 2) / total;
  if (single < LEAST_SHARE || single >= ALONE) return { frequencyHz, secondHz: 0, purity: single };
  const overtones = harmonics(power, frequencyHz) / total;
  const wide = lobe(power, bin, 4) / total;
  if (single + overtones >= ALONE || wide >= ALONE) {
    return { frequencyHz, secondHz: 0, purity: Math.max(single + overtones, wide) };
  }
  const secondBin = strongest(power, bin);
  const second = lobe(power, secondBin, 2) / total;
  if (second < SECOND_SHARE || second <= overtones)
    return { frequencyHz, secondHz: 0, purity: single + overtones };
  return {
    frequencyHz,
    secondHz: interpolate(power, secondBin),
    purity: Math.min(1, single + second + overtones),
  };
}
