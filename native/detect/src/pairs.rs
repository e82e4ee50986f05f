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

/// Each tone of a pair holds at least this share of the power, and both together at least [`BOTH`].
const EACH: f32 = 0.1;
const BOTH: f32 = 0.6;

/// A single tone that lies within 5 Hz of the line holds this share.
const ALONE: f32 = 0.85;

/// Samples summed into one: everything of interest lies below 650 Hz, and what would fold onto it is weak, or the
/// spectrum's strongest tone would lie there.
const STEP: usize = 4;

/// Samples of the long window after that.
const LEN: usize = RECENT_LEN / STEP;

/// Lines looked at, in hertz; the eighth fills the vector.
const LINES_HZ: [f32; 8] = [350.0, 400.0, 425.0, 440.0, 450.0, 480.0, 620.0, 0.0];

/// Places of the lines above.
const L350: usize = 0;
const L400: usize = 1;
const L425: usize = 2;
const L440: usize = 3;
const L450: usize = 4;
const L480: usize = 5;
const L620: usize = 6;

/// Pairs in use: North America (ringing, busy, dial) and the United Kingdom (ringing, dial).
const PAIRS: [(LowTone, usize, usize); 4] = [
    (LowTone::Ring, L440, L480),
    (LowTone::Ring, L400, L450),
    (LowTone::Busy, L480, L620),
    (LowTone::Dial, L350, L440),
];

struct Tables {
    window: [f32; LEN],
    turns: [f32; LINES_HZ.len()],
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables {
    window: std::array::from_fn(|n| {
        let phase = std::f64::consts::TAU * (n as f64 + 0.5) / LEN as f64;
        (0.5 - 0.5 * phase.cos()) as f32
    }),
    turns: LINES_HZ
        .map(|hz| 2.0 * (std::f32::consts::TAU * hz * STEP as f32 / SAMPLE_RATE_HZ as f32).cos()),
});

/// What the newest 80 ms hold, if they are one of these.
pub(crate) fn low_tone(recent: &[f32; RECENT_LEN]) -> Option<LowTone> {
    let tables = &*TABLES;
    let mut newer = [0.0_f32; LINES_HZ.len()];
    let mut older = newer;
    let mut energy = 0.0;
    for (samples, weight) in recent.chunks_exact(STEP).zip(&tables.window) {
        let sample = samples.iter().sum::<f32>() * weight;
        energy += sample * sample;
        // Goertzel's recurrence, all lines side by side.
        for line in 0..LINES_HZ.len() {
            let next = sample + tables.turns[line] * newer[line] - older[line];
            older[line] = newer[line];
            newer[line] = next;
        }
    }
    // A sine of amplitude a: energy 3/16 a² N, line (a N / 4)²; the quotient is N / 3.
    let full = energy * LEN as f32 / 3.0;
    if full <= 0.0 {
        return None;
    }
    let share = |line: usize| {
        let (new, old) = (newer[line], older[line]);
        (new * new + old * old - tables.turns[line] * new * old) / full
    };
    for (tone, low, high) in PAIRS {
        let (low, high) = (share(low), share(high));
        if low.min(high) >= EACH && low + high >= BOTH {
            return Some(tone);
        }
    }
    if share(L425) >= ALONE {
        return Some(LowTone::Single425);
    }
    (share(L440) >= ALONE).then_some(LowTone::Single440)
}
