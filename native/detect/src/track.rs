//! One tone followed from hop to hop.

mod edges;

use tonegate_dsp::{HOP, POWER_PER_MEAN_SQUARE};

use crate::beep::Hop;
use crate::evenness::{Figures, LineFit};
use crate::peaks::{PURE, Peaks};

pub(crate) use edges::Edge;

/// Hops at either end of a tone that do not enter its figures: their windows hold other sound too.
const EDGE_HOPS: usize = 3;

/// Amplitudes kept from the start, for the rising edge.
const RISE_HOPS: usize = 6;

/// Once held, a tone may sink to this purity (noise, the edge of a lost packet).
const HELD_PURITY: f32 = 0.7;

/// Frequency may step by this share, or by [`STEP_HZ`], from hop to hop.
const STEP_SHARE: f32 = 0.02;
const STEP_HZ: f32 = 12.0;

/// Hops whose amplitude is off by this share (a lost packet under the window) do not enter the figures.
const ROUGH: f32 = 0.15;

/// After this many of them the level has changed: a room has filled.
const ROUGH_IN_A_ROW: u32 = 5;

/// More hops than this inside a pair of call progress or DTMF: the tone is a part of it.
const PAIR_HOPS: u32 = 2;

/// A hop below this share of the tone's energy has a hole in it (a lost packet), which splatters the spectra of all windows
/// that hold it: the next four.
const HOLE: f32 = 0.7;
const WINDOW_HOPS: u32 = 4;

/// Pitch and level of one hop, until they are old enough to count.
#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    time: f32,
    pitch: f32,
    amplitude: f32,
    torn: bool,
}

/// A tone that is heard, or has just ended.
#[derive(Debug, Clone)]
pub(crate) struct Track {
    start_end_sample: u64,
    origin_hz: f32,
    last: [f32; 2],
    /// Hops on which the tone was heard.
    pub(crate) tonal: u32,
    /// Hops in a row on which it was not, though the level held.
    pub(crate) missed: u32,
    all_missed: u32,
    rough: u32,
    rough_in_a_row: u32,
    pairs: u32,
    duals: u32,
    /// Sample at which it fell.
    pub(crate) ending: Option<u64>,
    /// Samples from there to the end of a fade, once known.
    fade_samples: Option<u64>,
    /// Hops of another tone, and hops at level, since it fell.
    pub(crate) others: u32,
    pub(crate) risen: u32,
    /// Hops of other sound nearly as loud, since it fell.
    pub(crate) loud: u32,
    /// Hops until a hole has left the window.
    torn: u32,
    pending: [Sample; EDGE_HOPS],
    pitch: LineFit,
    steady: f32,
    levels: LineFit,
    purity: f32,
    rise: [f32; RISE_HOPS],
    newest: Edge,
}

impl Track {
    pub(crate) fn new(hop: &Hop<'_, '_>, amplitude: f32) -> Self {
        let pitch = hop.peaks.frequency_hz;
        let mut track = Self {
            start_end_sample: hop.frame.end_sample,
            origin_hz: pitch,
            last: [pitch; 2],
            tonal: 0,
            missed: 0,
            loud: 0,
            all_missed: 0,
            rough: 0,
            rough_in_a_row: 0,
            pairs: 0,
            duals: 0,
            ending: None,
            fade_samples: None,
            others: 0,
            risen: 0,
            torn: 0,
            pending: [Sample::default(); EDGE_HOPS],
            pitch: LineFit::default(),
            steady: amplitude,
            levels: LineFit::default(),
            purity: 0.0,
            rise: [0.0; RISE_HOPS],
            newest: Edge::default(),
        };
        track.take(hop, pitch, amplitude);
        track
    }

    /// Frequency expected in the next hop: that of the last.
    pub(crate) fn expected_hz(&self) -> f32 {
        self.last[1]
    }

    /// The tone of these peaks that continues this one.
    pub(crate) fn matching(&self, peaks: &Peaks) -> Option<f32> {
        let pure = if self.tonal > 6 { HELD_PURITY } else { PURE };
        if peaks.purity < pure {
            return None;
        }
        let trend = if self.tonal > 3 {
            (self.last[1] - self.last[0]).clamp(-60.0, 60.0)
        } else {
            0.0
        };
        let tolerance = (STEP_SHARE * self.last[1]).max(STEP_HZ);
        let near = |hz: f32| {
            (hz - self.last[1]).abs() <= tolerance || (hz - self.last[1] - trend).abs() <= tolerance
        };
        [peaks.frequency_hz, peaks.second_hz]
            .into_iter()
            .find(|&hz| near(hz))
    }

    /// Mean square of the tone.
    pub(crate) fn mean_square(&self) -> f32 {
        self.steady * self.steady / POWER_PER_MEAN_SQUARE
    }

    /// The tone goes on in this hop.
    pub(crate) fn take(&mut self, hop: &Hop<'_, '_>, pitch: f32, amplitude: f32) {
        let place = self.tonal as usize;
        // The tone's own mean square is a third of its lobe's power (POWER_PER_MEAN_SQUARE).
        let expected = self.steady * self.steady / POWER_PER_MEAN_SQUARE;
        self.torn = if hop.frame.energy < HOLE * expected {
            WINDOW_HOPS
        } else {
            self.torn.saturating_sub(1)
        };
        if let Some(slot) = self.rise.get_mut(place) {
            *slot = amplitude;
        }
        if place >= EDGE_HOPS {
            self.commit(place - EDGE_HOPS);
        } else {
            self.steady = self.steady.max(amplitude);
        }
        let time = (hop.frame.end_sample - self.start_end_sample) as f32 / HOP as f32;
        self.pending[place % EDGE_HOPS] = Sample {
            time,
            pitch,
            amplitude,
            torn: self.torn > 0,
        };
        self.tonal += 1;
        self.missed = 0;
        self.pairs += u32::from(hop.pair);
        self.duals += u32::from(hop.peaks.second_hz > 0.0);
        self.purity += hop.peaks.purity.min(1.0);
        self.last = [self.last[1], pitch];
        self.newest = Edge {
            amplitude,
            end_sample: hop.frame.end_sample,
        };
    }

    /// The level holds, but the tone is not heard.
    pub(crate) fn miss(&mut self, amplitude: f32, end_sample: u64) {
        self.missed += 1;
        self.all_missed += 1;
        self.newest = Edge {
            amplitude,
            end_sample,
        };
    }

    /// The hop that was taken as number `place` is old enough to count.
    fn commit(&mut self, place: usize) {
        let Sample {
            time,
            pitch,
            amplitude,
            torn,
        } = self.pending[place % EDGE_HOPS];
        if place < EDGE_HOPS {
            return;
        }
        if torn {
            self.rough += 1;
            return;
        }
        if self.pitch.n > 0.0 && (amplitude / self.steady - 1.0).abs() > ROUGH {
            self.rough += 1;
            self.rough_in_a_row += 1;
            if self.rough_in_a_row <= ROUGH_IN_A_ROW {
                return;
            }
            self.steady = amplitude;
        }
        self.pitch.add(time, pitch - self.origin_hz);
        self.levels.add(time, amplitude);
        self.rough_in_a_row = 0;
        self.steady = if self.pitch.n < 1.5 {
            amplitude
        } else {
            self.steady + 0.2 * (amplitude - self.steady)
        };
    }

    /// Amplitude of the tone's steady part.
    pub(crate) fn amplitude(&self) -> f32 {
        self.steady
    }

    /// Middle frequency, in hertz.
    pub(crate) fn frequency_hz(&self) -> f32 {
        if self.pitch.n > 0.0 {
            self.origin_hz + self.pitch.mean()
        } else {
            self.last[1]
        }
    }

    /// What the tone is judged by.
    pub(crate) fn figures(&self) -> Figures {
        let (slope_hz, residual_hz) = self.pitch.slope_and_residual();
        let (level_slope, level_residual) = self.levels.slope_and_residual();
        let level = self.levels.mean().max(f32::MIN_POSITIVE);
        let frequency_hz = self.frequency_hz();
        Figures {
            hops: self.pitch.n,
            holes: (self.all_missed + self.rough) as f32 / self.tonal as f32,
            pair: self.pairs > PAIR_HOPS,
            dual: self.duals * 2 > self.tonal,
            purity: self.purity / self.tonal as f32,
            drift: slope_hz.abs() * self.pitch.n / frequency_hz,
            unsteadiness: residual_hz / frequency_hz.max(600.0),
            level_slope: level_slope / level,
            level_unevenness: level_residual / level,
        }
    }
}
