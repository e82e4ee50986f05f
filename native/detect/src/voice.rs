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

/// Looks over which a level is steady or not: 160 ms.
const STEADY_LOOKS: usize = 8;

/// Noise stays within this range over [`STEADY_LOOKS`]; syllables do not.
const STEADY_RANGE_DB: f32 = 5.0;

/// Flatness from which a spectrum has neither harmonics nor formants; white noise reads 0.785 (the squared mean of the
/// root of exponentially distributed power), vowels 0.2–0.5.
const NOISE_FLATNESS: f32 = 0.6;

/// Looks of steady noise (200 ms) after which it is the line's own.
const ADOPT_LOOKS: u32 = 10;

/// Share of the power in one tone from which a hop may be a machine's.
const PURE: f32 = 0.8;

/// Pure hops on end that are a tone: vowels of short words hold their pitch for 100 ms, record beeps last 120 ms and more.
const TONE_HOPS: u32 = 15;

/// A vowel has this many times more power below 1,500 Hz, where its first formants lie, than above.
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
    /// It is a machine's tone.
    pub tone: bool,
    /// It is pure and may yet turn out as one.
    pub pure: bool,
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
    levels_dbfs: [f32; STEADY_LOOKS],
    next_level: usize,
    noise_looks: u32,
    pure_hops: u32,
    first_energy: f32,
    look: VoiceFrame,
}

impl Voice {
    pub(crate) fn new() -> Self {
        Self {
            bands: Bands::new(),
            music: Music::new(),
            levels_dbfs: [f32::MIN; STEADY_LOOKS],
            next_level: 0,
            noise_looks: 0,
            pure_hops: 0,
            first_energy: 0.0,
            look: VoiceFrame::default(),
        }
    }

    /// The answer: the noise is the line's still, the music was early media.
    pub(crate) fn restart(&mut self) {
        self.music = Music::new();
        self.look = VoiceFrame::default();
    }

    /// Takes one hop and what the tone detector made of it. Every second hop is looked at closely: windows overlap by
    /// more than half, and a look costs.
    pub(crate) fn push(&mut self, frame: &Frame<'_>, tone: ToneFrame) -> VoiceFrame {
        let pure = tone.tonal || (tone.purity >= PURE && tone.steady_hops > 0);
        self.pure_hops = if pure { self.pure_hops + 1 } else { 0 };
        let is_tone = tone.signal || self.pure_hops >= TONE_HOPS;
        if frame.index & 1 == 0 {
            self.first_energy = frame.energy;
        } else {
            self.look = self.look(frame.power, 0.5 * (self.first_energy + frame.energy));
        }
        let voiced = self.look.voiced && !is_tone;
        VoiceFrame {
            voiced,
            vowel: voiced && self.look.vowel,
            tone: is_tone,
            pure,
            ..self.look
        }
    }

    fn look(&mut self, power: &[f32; BINS], energy: f32) -> VoiceFrame {
        let bands = self.bands.push(power, energy);
        let level_dbfs = dbfs(energy);
        self.levels_dbfs[self.next_level] = level_dbfs;
        self.next_level = (self.next_level + 1) % STEADY_LOOKS;
        let loud = level_dbfs > LEVEL_MIN_DBFS;
        let sounding = loud && bands.above_floor_db > ABOVE_FLOOR_DB;
        let noise = sounding && self.is_noise(power);
        let music = self.music.push(
            power,
            loud && !noise && bands.above_floor_db > MUSIC_ABOVE_FLOOR_DB,
            level_dbfs,
        );
        VoiceFrame {
            voiced: sounding && !noise && !music.heard,
            music: music.heard,
            notes: music.notes,
            vowel: bands.low > VOWEL_RATIO * bands.high,
            level_dbfs,
            ..VoiceFrame::default()
        }
    }

    /// Steady in level and flat in spectrum: a noise that has begun, not a voice.
    fn is_noise(&mut self, power: &[f32; BINS]) -> bool {
        let loudest = self.levels_dbfs.iter().copied().fold(f32::MIN, f32::max);
        let softest = self.levels_dbfs.iter().copied().fold(f32::MAX, f32::min);
        if loudest - softest > STEADY_RANGE_DB || flatness(power) < NOISE_FLATNESS {
            self.noise_looks = 0;
            return false;
        }
        self.noise_looks += 1;
        if self.noise_looks == ADOPT_LOOKS {
            self.noise_looks = 0;
            self.bands.adopt();
        }
        true
    }

    /// The noise floor in dBFS.
    pub(crate) fn floor_dbfs(&self) -> f32 {
        self.bands.floor_dbfs()
    }
}

/// Squared sum of roots over the sum, per bin, of 250–3,250 Hz in stretches of 750 Hz so that a tilt does not count: 1 for
/// a flat spectrum, less the more of the power lies in few bins.
fn flatness(power: &[f32; BINS]) -> f32 {
    const STRETCH: usize = 24;
    const LANES: usize = 8;
    let stretches = power[8..104].chunks_exact(STRETCH);
    let count = stretches.len() as f32;
    let sum: f32 = stretches
        .map(|stretch| {
            let (mut roots, mut totals) = ([0.0_f32; LANES], [0.0_f32; LANES]);
            for bins in stretch.chunks_exact(LANES) {
                for ((root, total), bin) in roots.iter_mut().zip(&mut totals).zip(bins) {
                    *root += bin.sqrt();
                    *total += bin;
                }
            }
            let (roots, total): (f32, f32) = (roots.iter().sum(), totals.iter().sum());
            roots * roots / (STRETCH as f32 * total).max(f32::MIN_POSITIVE)
        })
        .sum();
    sum / count
}
