//! The strongest one or two tones of one spectrum.

use tonegate_dsp::{BIN_HZ, BINS};

/// First bin that counts (188 Hz): mains hum and rumble lie below, every tone of interest above.
const LOW_BIN: usize = 6;

/// First bin that no longer counts (3,719 Hz): above it telephone lines carry noise only.
const HIGH_BIN: usize = 119;

/// Bins on either side of a peak that belong to it: the half width of a Hann main lobe.
const LOBE: usize = 2;

/// Bins on either side of a harmonic: narrower, so that the upper tone of a key is no harmonic of the lower.
const HARMONIC_LOBE: usize = 1;

/// Bins on either side for a tone that moves under the window.
const WIDE_LOBE: usize = 4;

/// Below this share of the power in the strongest bin nothing is a tone: two equal tones leave at least 0.24 each.
const PEAK_SHARE: f32 = 0.16;

/// Share from which tones explain a spectrum.
pub(crate) const PURE: f32 = 0.8;

/// Share above which one tone is all there is; below it the rest is looked at.
const ALONE: f32 = 0.94;

/// The stronger of two tones, or the fundamental of a beep with harmonics, holds at least this share.
const LEAST_SHARE: f32 = 0.33;

/// A second tone holds at least this share (13 dB below the whole).
const SECOND_SHARE: f32 = 0.05;

/// Highest harmonic that is looked for.
const HARMONICS: usize = 8;

/// What the tones in a spectrum explain.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Peaks {
    /// Strongest tone, in hertz; 0 when nothing stands out.
    pub(crate) frequency_hz: f32,
    /// Second tone that is no harmonic of the first, in hertz; 0 when it is not needed to explain the spectrum.
    pub(crate) second_hz: f32,
    /// Power of the second over that of the first.
    pub(crate) second_ratio: f32,
    /// Share of the power in the strongest tone alone.
    pub(crate) single_purity: f32,
    /// Share of the power in the tones and their harmonics.
    pub(crate) purity: f32,
}

impl Peaks {
    /// Measures a spectrum; all zero for silence and for spectra without a standing peak.
    pub(crate) fn of(power: &[f32; BINS], minimum_power: f32) -> Self {
        let (top, bin) = strongest(power, LOW_BIN..HIGH_BIN);
        if top < 0.25 * minimum_power {
            return Self::default();
        }
        let total = sum(&power[LOW_BIN..HIGH_BIN]);
        if total < minimum_power || top < PEAK_SHARE * total {
            return Self::default();
        }
        let single = lobe(power, bin, LOBE) / total;
        let mut peaks = Self {
            frequency_hz: interpolate(power, bin),
            single_purity: single,
            purity: single,
            ..Self::default()
        };
        if (LEAST_SHARE..ALONE).contains(&single) {
            peaks.explain_more(power, bin, total);
        }
        peaks
    }

    /// Adds harmonics, then the width of a moving tone, then a second tone, until the spectrum is explained.
    fn explain_more(&mut self, power: &[f32; BINS], bin: usize, total: f32) {
        let overtones = harmonics(power, self.frequency_hz);
        let single = self.single_purity + overtones / total;
        self.purity = single;
        if single >= ALONE {
            return;
        }
        let wide = lobe(power, bin, WIDE_LOBE) / total;
        if wide >= ALONE {
            self.purity = self.purity.max(wide);
            return;
        }
        let Some(second_bin) = second_peak(power, bin) else {
            return;
        };
        let second_hz = interpolate(power, second_bin);
        let second = lobe(power, second_bin, LOBE);
        if second < SECOND_SHARE * total {
            return;
        }
        let both = self.single_purity + second / total;
        let both = if both < PURE {
            both + (overtones + harmonics(power, second_hz)) / total
        } else {
            both
        };
        if both > single {
            self.purity = both.min(1.0);
            self.second_hz = second_hz;
            self.second_ratio = second / total / self.single_purity;
        }
    }
}

/// Power of the lobe around `frequency_hz`, whatever else is in the spectrum.
pub(crate) fn power_at(power: &[f32; BINS], frequency_hz: f32) -> f32 {
    lobe(power, (frequency_hz / BIN_HZ + 0.5) as usize, LOBE)
}

fn lobe(power: &[f32; BINS], bin: usize, half_width: usize) -> f32 {
    let low = bin.saturating_sub(half_width);
    let high = (bin + half_width + 1).min(BINS);
    power.get(low..high).map_or(0.0, |bins| bins.iter().sum())
}

fn harmonics(power: &[f32; BINS], frequency_hz: f32) -> f32 {
    let mut sum = 0.0;
    for multiple in 2..=HARMONICS {
        let bin = (frequency_hz * multiple as f32 / BIN_HZ + 0.5) as usize;
        if bin >= HIGH_BIN {
            break;
        }
        sum += lobe(power, bin, HARMONIC_LOBE);
    }
    sum
}

/// The strongest local maximum outside the first tone's lobe.
fn second_peak(power: &[f32; BINS], first: usize) -> Option<usize> {
    let (low, low_bin) = strongest(power, LOW_BIN..first.saturating_sub(LOBE).max(LOW_BIN));
    let (high, high_bin) = strongest(power, (first + LOBE + 1).min(HIGH_BIN)..HIGH_BIN);
    let bin = if low > high { low_bin } else { high_bin };
    (power[bin] >= power[bin - 1] && power[bin] >= power[bin + 1]).then_some(bin)
}

/// Frequency of the tone whose strongest bin this is. Under a Hann window the amplitudes of the two strongest bins of a
/// steady tone stand as (1 + d) to (2 − d), d being its distance from the stronger in bins: exact, without logarithms.
fn interpolate(power: &[f32; BINS], bin: usize) -> f32 {
    let (below, above) = (power[bin - 1], power[bin + 1]);
    let (neighbour, sign) = if above > below {
        (above, 1.0)
    } else {
        (below, -1.0)
    };
    let ratio = (neighbour / power[bin].max(f32::MIN_POSITIVE)).sqrt();
    let distance = ((2.0 * ratio - 1.0) / (ratio + 1.0)).clamp(-0.5, 0.5);
    (bin as f32 + sign * distance) * BIN_HZ
}

/// Lanes of the two folds below: the compiler keeps them in vector registers.
const LANES: usize = 8;

fn sum(values: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let chunks = values.chunks_exact(LANES);
    let rest: f32 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    lanes.iter().sum::<f32>() + rest
}

/// Greatest power in a range of bins, and its bin.
fn strongest(power: &[f32; BINS], range: std::ops::Range<usize>) -> (f32, usize) {
    let start = range.start;
    let mut tops = [0.0_f32; LANES];
    let mut places = [0.0_f32; LANES];
    let chunks = power[range].chunks_exact(LANES);
    let rest = chunks.remainder();
    let mut place = 0.0;
    for chunk in chunks {
        for ((top, at), value) in tops.iter_mut().zip(&mut places).zip(chunk) {
            let greater = *value > *top;
            *top = if greater { *value } else { *top };
            *at = if greater { place } else { *at };
        }
        place += LANES as f32;
    }
    let mut best = (0.0, start);
    for (lane, (top, at)) in tops.iter().zip(&places).enumerate() {
        if *top > best.0 {
            best = (*top, start + *at as usize + lane);
        }
    }
    for (index, value) in rest.iter().enumerate() {
        if *value > best.0 {
            best = (*value, start + place as usize + index);
        }
    }
    best
}
