//! Tones in the spectrum, hop by hop.

use tonegate_dsp::{Frame, POWER_PER_MEAN_SQUARE};

use crate::beep::{Beep, BeepTracker, Hop};
use crate::peaks::{PURE, Peaks};
use crate::signals::{Signal, Signals};

/// Power below which a spectrum is silence: a mean square of −58 dBFS.
const SILENCE_POWER: f32 = POWER_PER_MEAN_SQUARE * 1.6e-6;

/// Hops for which a tone must hold its pitch before it counts as a machine's: 60 ms, longer than most vowels do.
const STEADY_HOPS: u32 = 6;

/// What one hop sounds like.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ToneFrame {
    /// A machine tone, call progress, DTMF or steady music: not a voice.
    pub tonal: bool,
    /// Share of the power between 190 and 3,700 Hz that one tone with its harmonics, or two tones, hold, 0–1.
    pub purity: f32,
    /// Frequency of the strongest tone, in hertz; 0 when nothing stands out.
    pub frequency_hz: f32,
    /// Hops for which this tone has held its pitch.
    pub steady_hops: u32,
    /// The hop belongs to a recognised pair or sequence: ringback, busy, dial tone, SIT, fax, DTMF.
    pub signal: bool,
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
pub struct Tones {
    beeps: BeepTracker,
    signals: Signals,
}

impl Tones {
    /// Nothing heard yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one hop; recognised events are added to `out` (at most two a hop). `speech_before`: a voice was heard earlier
    /// in the call; a lone tone needs more proof.
    pub fn push(
        &mut self,
        frame: &Frame<'_>,
        speech_before: bool,
        out: &mut Vec<ToneEvent>,
    ) -> ToneFrame {
        let peaks = Peaks::of(frame.power, SILENCE_POWER);
        let heard = self.signals.push(frame, &peaks, speech_before);
        if let Some(signal) = heard.signal {
            out.push(ToneEvent::Signal(signal));
        }
        let hop = Hop {
            frame,
            peaks,
            speech_before,
            pair: heard.pair,
        };
        if let Some(beep) = self.beeps.push(&hop) {
            out.push(ToneEvent::Beep(beep));
        }
        let steady_hops = self.beeps.steady_hops();
        ToneFrame {
            tonal: heard.active || (peaks.purity >= PURE && steady_hops >= STEADY_HOPS),
            purity: peaks.purity,
            frequency_hz: peaks.frequency_hz,
            steady_hops,
            signal: heard.active,
        }
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        *self = Self::new();
    }
}
