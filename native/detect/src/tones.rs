//! Tones in the spectrum, hop by hop.

use tonegate_dsp::{BIN_HZ, BINS, Frame};

use crate::beep::Beep;
use crate::signals::Signal;

/// A hop whose strongest tone holds this share of the power is tonal.
const TONAL_PURITY: f32 = 0.8;

/// Mean square below which a hop is silence (−60 dBFS).
const SILENCE_MEAN_SQUARE: f32 = 1e-6;

/// What one hop sounds like.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ToneFrame {
    /// A machine tone, call progress, DTMF or steady music: not a voice.
    pub tonal: bool,
    /// Share of the power in the strongest tone, 0–1.
    pub purity: f32,
    /// Frequency of the strongest tone, in hertz; 0 when there is none.
    pub frequency_hz: f32,
}

/// Something tonal that was recognised.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ToneEvent {
    /// A record beep has ended.
    Beep(Beep),
    /// A call-progress or machine signal.
    Signal(Signal),
}

/// Follows tones through the hops of one call.
#[derive(Debug, Clone, Default)]
pub struct Tones {}

impl Tones {
    /// Nothing heard yet.
    #[must_use]
    pub fn new() -> Self {
        Self {}
    }

    /// Takes one hop; recognised events are added to `out`. `speech_before`: something not tonal was heard earlier.
    pub fn push(
        &mut self,
        frame: &Frame<'_>,
        _speech_before: bool,
        _out: &mut Vec<ToneEvent>,
    ) -> ToneFrame {
        if frame.energy < SILENCE_MEAN_SQUARE {
            return ToneFrame::default();
        }
        let (peak, _) =
            frame.power[3..BINS - 3]
                .iter()
                .enumerate()
                .fold(
                    (0, 0.0),
                    |best, (bin, &power)| if power > best.1 { (bin, power) } else { best },
                );
        let total: f32 = frame.power.iter().sum();
        let tone: f32 = frame.power[peak + 1..peak + 6].iter().sum();
        let purity = tone / total.max(f32::MIN_POSITIVE);
        ToneFrame {
            tonal: purity > TONAL_PURITY,
            purity,
            frequency_hz: (peak + 3) as f32 * BIN_HZ,
        }
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        *self = Self::new();
    }
}
