//! Call-progress tones below 650 Hz through a window long enough to part them.
//!
//! 440 and 480 Hz lie 1.3 bins apart in the front end's spectrum and beat at 40 Hz. Under a Hann window of 80 ms lines 25 Hz
//! apart no longer touch, so each tone of a pair keeps its share of the power, and a single tone between the two does not
//! look like them.

use std::sync::LazyLock;

use tonegate_dsp::{RECENT_LEN, SAMPLE_RATE_HZ};

/// A tone or pair of the call-progress band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LowTone {
    /// 440+480 Hz or 400+450 Hz.
    Ring,
    /// 480+620 Hz.
    Busy,
    /// 350+440 Hz.
    Dial,
    /// 425 Hz alone.
    Single425,
    /// 440 Hz alone.
    Single440,
}

/// Pairs in use: North America (ringing, busy, dial) and the United Kingdom (ringing, dial).
const PAIRS: [(LowTone, f32, f32); 4] = [
    (LowTone::Ring, 440.0, 480.0),
    (LowTone::Ring, 400.0, 450.0),
    (LowTone::Busy, 480.0, 620.0),
    (LowTone::Dial, 350.0, 440.0),
];

/// Each tone of a pair holds at least this share of the power, and both together at least [`BOTH`].
const EACH: f32 = 0.1;
const BOTH: f32 = 0.6;

/// A single tone that lies within 5 Hz of the line holds this share.
const ALONE: f32 = 0.85;

static WINDOW: LazyLock<[f32; RECENT_LEN]> = LazyLock::new(|| {
    std::array::from_fn(|n| {
        let phase = std::f64::consts::TAU * (n as f64 + 0.5) / RECENT_LEN as f64;
        (0.5 - 0.5 * phase.cos()) as f32
    })
});

/// What the newest 80 ms hold, if they are one of these.
pub(crate) fn low_tone(recent: &[f32; RECENT_LEN]) -> Option<LowTone> {
    let mut windowed = *recent;
    let mut energy = 0.0;
    for (sample, weight) in windowed.iter_mut().zip(WINDOW.iter()) {
        *sample *= weight;
        energy += *sample * *sample;
    }
    // A sine of amplitude a: energy 3/16 a² N, line (a N / 4)²; the quotient is N / 3.
    let full = energy * RECENT_LEN as f32 / 3.0;
    if full <= 0.0 {
        return None;
    }
    let share = |hz: f32| line_power(&windowed, hz) / full;
    for (tone, low_hz, high_hz) in PAIRS {
        let (low, high) = (share(low_hz), share(high_hz));
        if low.min(high) >= EACH && low + high >= BOTH {
            return Some(tone);
        }
    }
    if share(425.0) >= ALONE {
        return Some(LowTone::Single425);
    }
    (share(440.0) >= ALONE).then_some(LowTone::Single440)
}

/// Power of one line by Goertzel's recurrence.
fn line_power(samples: &[f32; RECENT_LEN], frequency_hz: f32) -> f32 {
    let turn = 2.0 * (std::f32::consts::TAU * frequency_hz / SAMPLE_RATE_HZ as f32).cos();
    let (mut newer, mut older) = (0.0_f32, 0.0_f32);
    for sample in samples {
        (newer, older) = (sample + turn * newer - older, newer);
    }
    newer * newer + older * older - turn * newer * older
}
