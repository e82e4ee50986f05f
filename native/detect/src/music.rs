//! Music: notes hold their pitch, voices glide.
//!
//! A spectral peak that stays in its bin for 150 ms is a held note. Speech rarely holds two at once (3 % of its time in
//! the median, 11 % in the 90th percentile of recordings), music often does (44 %, 21 % in the 10th percentile).

use tonegate_dsp::BINS;

/// First bin searched for notes and number of them: 160–3,400 Hz.
const FIRST: usize = 5;
const COUNT: usize = 104;

/// Bins counted side by side; [`COUNT`] is a multiple.
const LANES: usize = 8;

/// A peak stands this far above the bins a Hann lobe away (6 dB).
const PROMINENCE: f32 = 4.0;

/// Weakest peak: a tone of −66 dBFS.
const PEAK_MIN: f32 = 5e-7;

/// Looks (20 ms) in one bin that make a note.
const NOTE_LOOKS: f32 = 8.0;

/// Notes at once that make a musical look.
const NOTES: f32 = 2.0;

/// Weights of one look in the two averages of musical looks: 1 s and 4 s of sound.
const QUICK: f32 = 0.02;
const SLOW: f32 = 0.005;

/// Averages from which it is music, and below which it is none any more.
const QUICK_ON: f32 = 0.5;
const SLOW_ON: f32 = 0.17;
const QUICK_OFF: f32 = 0.10;
const SLOW_OFF: f32 = 0.10;

/// Share by which the averages fade per look without sound: halved in about 4 s.
const FADE: f32 = 0.996_6;

/// Looks over which a dip is one: 0.5 s.
const LEVELS: usize = 25;

/// A dip lies this far below the loudest of them.
const DIP_DB: f32 = 14.0;

/// Weight of one look in the share of dips (2 s), and that share before anything is known.
const DIP_WEIGHT: f32 = 0.01;
const DIPS_AT_FIRST: f32 = 0.3;

/// Shares of dips below which it may become music, and from which it is none any more. Speech has 0.12 in the 10th
/// percentile and 0.22 in the median, music 0.01 in the median and 0.19 in the 90th percentile (recordings).
const DIPS_ON: f32 = 0.15;
const DIPS_OFF: f32 = 0.22;

/// What does not stand above the noise counts as this at most.
const SILENT_DBFS: f32 = -60.0;

/// Tells music from voices, over a second or more of sound.
#[derive(Debug)]
pub(crate) struct Music {
    held: [f32; COUNT],
    quick: f32,
    slow: f32,
    heard: bool,
    dips: f32,
    levels_dbfs: [f32; LEVELS],
    next_level: usize,
}

/// What one look says of music.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MusicFrame {
    /// Music plays.
    pub heard: bool,
    /// Notes are held.
    pub notes: bool,
}

impl Music {
    pub(crate) fn new() -> Self {
        Self {
            held: [0.0; COUNT],
            quick: 0.0,
            slow: 0.0,
            heard: false,
            dips: DIPS_AT_FIRST,
            levels_dbfs: [f32::MIN; LEVELS],
            next_level: 0,
        }
    }

    /// Takes one look and its level; `sounding`: it stands above the noise.
    pub(crate) fn push(
        &mut self,
        power: &[f32; BINS],
        sounding: bool,
        level_dbfs: f32,
    ) -> MusicFrame {
        self.note_dip(if sounding {
            level_dbfs
        } else {
            level_dbfs.min(SILENT_DBFS)
        });
        if !sounding {
            self.held.fill(0.0);
            self.quick *= FADE;
            self.slow *= FADE;
            self.heard &= !self.faded();
            return MusicFrame {
                heard: self.heard,
                notes: false,
            };
        }
        let notes = self.hold(power) >= NOTES;
        let musical = if notes { 1.0 } else { 0.0 };
        self.quick += QUICK * (musical - self.quick);
        self.slow += SLOW * (musical - self.slow);
        self.heard = if self.heard {
            !self.faded() && self.dips < DIPS_OFF
        } else {
            (self.quick > QUICK_ON || self.slow > SLOW_ON) && self.dips < DIPS_ON
        };
        MusicFrame {
            heard: self.heard,
            notes,
        }
    }

    /// Speech dips between its syllables, music does not.
    fn note_dip(&mut self, level_dbfs: f32) {
        self.levels_dbfs[self.next_level] = level_dbfs;
        self.next_level = (self.next_level + 1) % LEVELS;
        let loudest = self.levels_dbfs.iter().copied().fold(f32::MIN, f32::max);
        if loudest > SILENT_DBFS {
            let dip = if level_dbfs < loudest - DIP_DB {
                1.0
            } else {
                0.0
            };
            self.dips += DIP_WEIGHT * (dip - self.dips);
        }
    }

    fn faded(&self) -> bool {
        self.quick < QUICK_OFF && self.slow < SLOW_OFF
    }

    /// Counts how long each bin has held a peak; the number of notes held now. Written for vector registers: every
    /// slice has the length of the held counts, and nothing branches.
    fn hold(&mut self, power: &[f32; BINS]) -> f32 {
        let at = |offset: usize| -> &[f32; COUNT] {
            power[FIRST + offset - 3..]
                .first_chunk()
                .expect("three bins stand beside the first and last")
        };
        let (below3, below2, below, here, above, above2, above3) =
            (at(0), at(1), at(2), at(3), at(4), at(5), at(6));
        let mut held = [0.0_f32; COUNT];
        for bin in 0..COUNT {
            let level = here[bin];
            let around = 0.5 * PROMINENCE * (below3[bin] + above3[bin]);
            let stands = (level > around) & (level > PEAK_MIN);
            let peak = (level > below[bin]) & (level > above[bin]);
            // A held peak between two bins may change sides; it stays above the bins two away.
            let before = self.held[bin];
            let stays = (before > 0.0) & (level > below2[bin]) & (level > above2[bin]);
            held[bin] = f32::from(u8::from(stands & (peak | stays))) * (before + 1.0);
        }
        self.held = held;
        let mut lanes = [0.0_f32; LANES];
        for held in self.held.chunks_exact(LANES) {
            for (lane, &held) in lanes.iter_mut().zip(held) {
                *lane += if held >= NOTE_LOOKS { 1.0 } else { 0.0 };
            }
        }
        lanes.iter().sum()
    }
}
