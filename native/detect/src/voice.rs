//! Voice activity, hop by hop.
//!
//! A hop is voiced when it stands above the noise in its best bands and is neither a machine's tone, nor music, nor a
//! noise that has just begun. Fixed thresholds on energy take noise for a voice (detection notes: false alarm 0.65).

use tonegate_dsp::{BINS, Frame, dbfs};

use crate::bands::Bands;
use crate::music::Music;
use crate::tones::ToneFrame;

/// A voice stands this far above the noise in its best bands.
const ABOVE_FLOOR_DB: f32 = 8.0;

/// Music is followed from here: held notes lift the floor below them.
const MUSIC_ABOVE_FLOOR_DB: f32 = 4.0;

/// Below this nothing is a voice: 10 dB under the softest telephone speech (−45 dBFS in its loud parts).
const LEVEL_MIN_DBFS: f32 = -62.0;

/// Hops over which a level is steady or not.
const STEADY_HOPS: usize = 16;

/// Noise of 10 ms hops stays within this range over [`STEADY_HOPS`]; syllables do not.
const STEADY_RANGE_DB: f32 = 5.0;

/// Flatness from which a spectrum has neither harmonics nor formants; white noise reads 0.785 (the squared mean of the
/// root of exponentially distributed power), vowels 0.2–0.5.
const NOISE_FLATNESS: f32 = 0.6;

/// Hops of steady noise after which it is the line's own.
const ADOPT_HOPS: u32 = 20;

/// A vowel has this many times more power below 1,300 Hz than above.
const VOWEL_RATIO: f32 = 2.0;

/// What one hop is to the ear.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct VoiceFrame {
    /// A voice is heard.
    pub voiced: bool,
    /// Music is heard: what was taken for a voice just before was none.
    pub music: bool,
    /// Notes are held, as in music.
    pub notes: bool,
    /// It sounds like a vowel.
    pub vowel: bool,
    /// Level of the hop in dBFS.
    pub level_dbfs: f32,
}

/// Tells voices from noise, music and tones.
#[derive(Debug)]
pub(crate) struct Voice {
    bands: Bands,
    music: Music,
    levels_dbfs: [f32; STEADY_HOPS],
    next_level: usize,
    noise_hops: u32,
}

impl Voice {
    pub(crate) fn new() -> Self {
        Self {
            bands: Bands::new(),
            music: Music::new(),
            levels_dbfs: [f32::MIN; STEADY_HOPS],
            next_level: 0,
            noise_hops: 0,
        }
    }

    /// Takes one hop and what the tone detector made of it.
    pub(crate) fn push(&mut self, frame: &Frame<'_>, tone: ToneFrame) -> VoiceFrame {
        let above_db = self.bands.push(frame.power, frame.energy);
        let level_dbfs = dbfs(frame.energy);
        self.levels_dbfs[self.next_level] = level_dbfs;
        self.next_level = (self.next_level + 1) % STEADY_HOPS;
        let sounding = above_db > ABOVE_FLOOR_DB && level_dbfs > LEVEL_MIN_DBFS;
        let noise = sounding && self.is_noise(frame.power);
        let music = self.music.push(frame.power, !noise && above_db > MUSIC_ABOVE_FLOOR_DB && level_dbfs > LEVEL_MIN_DBFS);
        let voiced = sounding && !noise && !music.heard && !tone.tonal;
        VoiceFrame {
            voiced,
            music: music.heard,
            notes: music.notes,
            vowel: voiced && is_vowel(frame.power),
            level_dbfs,
        }
    }

    /// Steady in level and flat in spectrum: a noise that has begun, not a voice.
    fn is_noise(&mut self, power: &[f32; BINS]) -> bool {
        let loudest = self.levels_dbfs.iter().copied().fold(f32::MIN, f32::max);
        let softest = self.levels_dbfs.iter().copied().fold(f32::MAX, f32::min);
        if loudest - softest > STEADY_RANGE_DB || flatness(power) < NOISE_FLATNESS {
            self.noise_hops = 0;
            return false;
        }
        self.noise_hops += 1;
        if self.noise_hops == ADOPT_HOPS {
            self.noise_hops = 0;
            self.bands.adopt();
        }
        true
    }

    /// The noise floor in dBFS.
    pub(crate) fn floor_dbfs(&self) -> f32 {
        self.bands.floor_dbfs()
    }
}

/// The power below 1,300 Hz, where the first formants lie, outweighs what is above.
fn is_vowel(power: &[f32; BINS]) -> bool {
    let low: f32 = power[7..42].iter().sum();
    let high: f32 = power[42..120].iter().sum();
    low > VOWEL_RATIO * high
}

/// Squared sum of roots over the sum, per bin, of 250–3,250 Hz in stretches of 750 Hz so that a tilt does not count: 1 for
/// a flat spectrum, less the more of the power lies in few bins.
fn flatness(power: &[f32; BINS]) -> f32 {
    const STRETCH: usize = 24;
    let stretches = power[8..104].chunks_exact(STRETCH);
    let count = stretches.len() as f32;
    let sum: f32 = stretches
        .map(|bins| {
            let roots: f32 = bins.iter().map(|bin| bin.sqrt()).sum();
            let total: f32 = bins.iter().sum();
            roots * roots / (STRETCH as f32 * total).max(f32::MIN_POSITIVE)
        })
        .sum();
    sum / count
}
