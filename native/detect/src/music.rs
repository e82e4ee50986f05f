//! Music: notes hold their pitch, voices glide.
//!
//! A spectral peak that stays in its bin for 150 ms is a held note. Speech rarely holds two at once (3 % of its hops in
//! the median, 11 % in the 90th percentile of recordings), music often does (44 %, 21 % in the 10th percentile).

use tonegate_dsp::BINS;

/// Bins searched for notes: 160–3,400 Hz.
const FIRST: usize = 5;
const LAST: usize = 110;

/// A peak stands this far above the bins a Hann lobe away (6 dB).
const PROMINENCE: f32 = 4.0;

/// Weakest peak: a tone of −66 dBFS.
const PEAK_MIN: f32 = 5e-7;

/// Hops in one bin that make a note.
const NOTE_HOPS: u8 = 15;

/// Notes at once that make a musical hop.
const NOTES: usize = 2;

/// Weights of one hop in the two averages of musical hops: 1 s and 4 s of sound.
const QUICK: f32 = 0.01;
const SLOW: f32 = 0.002_5;

/// Averages from which it is music, and below which it is none any more.
const QUICK_ON: f32 = 0.5;
const SLOW_ON: f32 = 0.17;
const QUICK_OFF: f32 = 0.10;
const SLOW_OFF: f32 = 0.10;

/// Share by which the averages fade per hop without sound: halved in about 4 s.
const FADE: f32 = 0.998_3;

/// Tells music from voices, over a second or more of sound.
#[derive(Debug)]
pub(crate) struct Music {
    held: [u8; BINS],
    quick: f32,
    slow: f32,
    heard: bool,
}

/// What one hop says of music.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MusicFrame {
    /// Music plays.
    pub heard: bool,
    /// Notes are held in this hop.
    pub notes: bool,
}

impl Music {
    pub(crate) fn new() -> Self {
        Self { held: [0; BINS], quick: 0.0, slow: 0.0, heard: false }
    }

    /// Takes one hop; `sounding`: it stands above the noise.
    pub(crate) fn push(&mut self, power: &[f32; BINS], sounding: bool) -> MusicFrame {
        if !sounding {
            self.held.fill(0);
            self.quick *= FADE;
            self.slow *= FADE;
            self.heard &= !self.faded();
            return MusicFrame { heard: self.heard, notes: false };
        }
        let notes = self.hold(power) >= NOTES;
        let musical = if notes { 1.0 } else { 0.0 };
        self.quick += QUICK * (musical - self.quick);
        self.slow += SLOW * (musical - self.slow);
        self.heard = if self.heard { !self.faded() } else { self.quick > QUICK_ON || self.slow > SLOW_ON };
        MusicFrame { heard: self.heard, notes }
    }

    fn faded(&self) -> bool {
        self.quick < QUICK_OFF && self.slow < SLOW_OFF
    }

    /// Counts how long each bin has held a peak; the number of notes held now.
    fn hold(&mut self, power: &[f32; BINS]) -> usize {
        let mut notes = 0;
        for bin in FIRST..LAST {
            let here = power[bin];
            let around = 0.5 * PROMINENCE * (power[bin - 3] + power[bin + 3]);
            let stands = here > around && here > PEAK_MIN;
            let peak = here > power[bin - 1] && here >= power[bin + 1];
            // A held peak between two bins may change sides; it stays above the bins two away.
            let stays = self.held[bin] > 0 && here > power[bin - 2] && here > power[bin + 2];
            self.held[bin] = if stands && (peak || stays) { self.held[bin].saturating_add(1) } else { 0 };
            notes += usize::from(self.held[bin] >= NOTE_HOPS);
        }
        notes
    }
}
