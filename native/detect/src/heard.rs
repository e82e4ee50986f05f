//! Signals heard in a call, kept as evidence.

use crate::event::{DTMF_DIGITS_MAX, Measured};
use crate::speech::Speech;
use crate::turn::Turn;
use crate::voice::Voice;

/// Signals heard so far.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// A record beep.
    pub beep: bool,
    /// Special information tones.
    pub sit: bool,
    /// Ringback tones.
    pub ringback_cycles: u32,
    /// Media time at which the latest ringback tone ended, if it came before the answer.
    pub ringback_end_ms: Option<f64>,
    dtmf: [u8; DTMF_DIGITS_MAX],
    dtmf_count: usize,
}

impl Heard {
    /// Keeps a digit; those past the first [`DTMF_DIGITS_MAX`] are dropped.
    pub(crate) fn add_digit(&mut self, digit: char) {
        if let (Some(slot), Ok(digit)) = (self.dtmf.get_mut(self.dtmf_count), u8::try_from(digit)) {
            *slot = digit;
            self.dtmf_count += 1;
        }
    }

    /// The measured values of a verdict.
    pub(crate) fn measured(&self, voice: &Voice, speech: &Speech) -> Measured {
        Measured {
            noise_floor_dbfs: voice.floor_dbfs(),
            level_dbfs: speech.level_dbfs(),
            segments: speech.segments(),
            turns: speech.turns(),
            turn_ms: speech.turn().map_or(0.0, Turn::span_ms),
            longest_pause_ms: speech.longest_pause_ms(),
            ringback_cycles: self.ringback_cycles,
            sit: self.sit,
            dtmf: self.dtmf,
        }
    }
}
