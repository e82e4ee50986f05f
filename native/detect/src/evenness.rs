//! How even a tone is in pitch and level, and what that makes it.
//!
//! The limits were set between what 5.8 hours of recordings without a beep (and their copies with noise, loss and gain) hold
//! and tones mixed into greetings at 10 dB of noise and better.

use crate::peaks::PURE;

/// Hops that enter the figures of a tone of 85 ms, of 105 ms, of 130 ms and of 190 ms.
const SHORTEST_HOPS: f32 = 4.0;
const TINY_HOPS: f32 = 6.0;
const VERY_SHORT_HOPS: f32 = 8.0;
const SHORT_HOPS: f32 = 12.0;
const SHORTEST_CHIRP_HOPS: f32 = 7.0;

/// No record beep is known to last longer.
const LONGEST_MS: u32 = 3_000;

/// Of the frequency, over the whole tone: more is a chirp.
const STEADY_DRIFT: f32 = 0.0035;

/// Of the amplitude, per hop: a fall of 10 dB/s, of a short tone 17 dB/s, a rise of 21 dB/s (a room that fills). Struck bells
/// and strings fall faster.
const LEVEL_FALL: f32 = -0.012;
const SHORT_LEVEL_FALL: f32 = -0.02;
const LEVEL_RISE: f32 = 0.025;

/// Root mean square of the amplitude about its line, at most.
const LEVEL_UNEVENNESS: f32 = 0.15;

/// Hops missed or left out, per hop heard, at most.
const HOLES: f32 = 0.4;

/// Confidence of a tone of one pitch after a voice, of one alone, and of a chirp or a very short one. Over 17 hours of
/// recordings and their noisy copies none of the first kind was wrong.
const CONFIDENCE: f32 = 0.95;
const LONE_CONFIDENCE: f32 = 0.9;
const CHIRP_CONFIDENCE: f32 = 0.85;

/// What makes a note of a tune.
const NOTE_HOPS: f32 = 5.0;
const NOTE_UNSTEADINESS: f32 = 0.0015;

/// Least-squares line through a value over time in hops, from sums.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LineFit {
    pub(crate) n: f32,
    t: f32,
    tt: f32,
    f: f32,
    tf: f32,
    ff: f32,
}

impl LineFit {
    pub(crate) fn add(&mut self, t: f32, f: f32) {
        self.n += 1.0;
        self.t += t;
        self.tt += t * t;
        self.f += f;
        self.tf += t * f;
        self.ff += f * f;
    }

    pub(crate) fn mean(&self) -> f32 {
        self.f / self.n.max(1.0)
    }

    /// Slope per hop, and the root mean square of what the line leaves.
    pub(crate) fn slope_and_residual(&self) -> (f32, f32) {
        let n = self.n.max(1.0);
        let stt = self.tt - self.t * self.t / n;
        let stf = self.tf - self.t * self.f / n;
        let sff = self.ff - self.f * self.f / n;
        let slope = if stt > 0.0 { stf / stt } else { 0.0 };
        (slope, ((sff - slope * stf).max(0.0) / n).sqrt())
    }
}

/// What a tone is judged by; shares but for `hops`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    /// Hops that entered the lines.
    pub(crate) hops: f32,
    /// Hops that were missed or left out, per hop heard.
    pub(crate) holes: f32,
    /// Two tones of call progress or of a key sounded together.
    pub(crate) pair: bool,
    /// Two tones sounded together on most hops.
    pub(crate) dual: bool,
    /// Mean purity.
    pub(crate) purity: f32,
    /// Change of frequency along the fitted line, over the whole tone.
    pub(crate) drift: f32,
    /// Root mean square of the frequency about that line. Machines: below 0.0005 clean, 0.001 at 10 dB of noise; voices: above.
    pub(crate) unsteadiness: f32,
    /// Change of amplitude per hop.
    pub(crate) level_slope: f32,
    /// Root mean square of the amplitude about its line.
    pub(crate) level_unevenness: f32,
}

impl Figures {
    /// Long and even enough to be a note, a signal or a beep rather than a piece of a voice.
    pub(crate) fn is_steady_tone(&self) -> bool {
        self.hops >= NOTE_HOPS && self.drift < STEADY_DRIFT && self.unsteadiness < NOTE_UNSTEADINESS
    }

    /// How likely a beep, from the evenness of pitch and level; `None`: not one.
    pub(crate) fn confidence(&self, duration_ms: u32, speech_before: bool) -> Option<f32> {
        let short = self.hops < SHORT_HOPS;
        let fall = if short { SHORT_LEVEL_FALL } else { LEVEL_FALL };
        let whole = self.hops >= SHORTEST_HOPS
            && duration_ms <= LONGEST_MS
            && !self.pair
            && self.holes <= HOLES;
        if !whole
            || self.level_unevenness > LEVEL_UNEVENNESS
            || !(fall..=LEVEL_RISE).contains(&self.level_slope)
        {
            return None;
        }
        if self.drift > STEADY_DRIFT {
            return (speech_before && self.is_chirp(short)).then_some(CHIRP_CONFIDENCE);
        }
        if self.hops < TINY_HOPS {
            return self.is_flawless().then_some(CHIRP_CONFIDENCE);
        }
        if short && (self.drift > 0.0012 + 0.006 * self.noise() || self.level_unevenness > 0.08) {
            return None;
        }
        let (purity, limit) = self.limits(short, speech_before);
        let alike = self.purity >= purity && self.unsteadiness <= limit;
        alike.then_some(if speech_before {
            CONFIDENCE
        } else {
            LONE_CONFIDENCE
        })
    }

    /// Least purity and greatest unsteadiness of a tone of one pitch. Noise moves the measured frequency with its
    /// amplitude; the less there is to go by, the less is allowed beside that.
    fn limits(&self, short: bool, speech_before: bool) -> (f32, f32) {
        let noise = self.noise();
        match (short, self.dual) {
            (true, _) if self.hops < VERY_SHORT_HOPS => (0.94, 0.0004 + 0.0025 * noise),
            (true, false) => (0.90, 0.0005 + 0.0028 * noise),
            (true, true) => (0.90, 0.0004 + 0.0025 * noise),
            // No voice before it: music begins like this.
            (false, _) if !speech_before => (0.90, 0.0006 + 0.0020 * noise),
            (false, _) => (PURE, 0.0012 + 0.0030 * noise),
        }
    }

    /// A straight glide at one level: voices and whistles bend.
    fn is_chirp(&self, short: bool) -> bool {
        let (purity, limit) = if short {
            (0.95, 0.0005)
        } else {
            (0.90, 0.0006)
        };
        self.hops >= SHORTEST_CHIRP_HOPS
            && self.purity > purity
            && self.unsteadiness < limit + 0.002 * self.noise()
            && self.level_unevenness < 0.06
    }

    /// Amplitude of what is not the tone, over the whole.
    fn noise(&self) -> f32 {
        (1.0 - self.purity).max(0.0).sqrt()
    }

    /// Even beyond what a voice does over a few hops by chance.
    fn is_flawless(&self) -> bool {
        self.purity > 0.98
            && self.drift < 0.0006
            && self.unsteadiness < 0.0002
            && self.level_slope.abs() < 0.006
            && self.level_unevenness < 0.01
    }
}
