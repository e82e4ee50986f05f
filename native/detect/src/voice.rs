//! Voice activity, hop by hop.

use tonegate_dsp::{Frame, NoiseFloor, dbfs};

use crate::tones::ToneFrame;

/// A voice stands this far above the noise floor.
const ABOVE_FLOOR_DB: f32 = 9.0;

/// Below this nothing is a voice.
const LEVEL_MIN_DBFS: f32 = -52.0;

/// What one hop is to the ear.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct VoiceFrame {
    /// A voice is heard.
    pub voiced: bool,
    /// Level of the hop in dBFS.
    pub level_dbfs: f32,
}

/// Tells voices from noise, music and tones.
#[derive(Debug)]
pub(crate) struct Voice {
    floor: NoiseFloor,
}

impl Voice {
    pub(crate) fn new() -> Self {
        Self { floor: NoiseFloor::new() }
    }

    /// Takes one hop and what the tone detector made of it.
    pub(crate) fn push(&mut self, frame: &Frame<'_>, tone: ToneFrame) -> VoiceFrame {
        let floor_dbfs = self.floor.update(frame.energy);
        let level_dbfs = dbfs(frame.energy);
        let voiced = !tone.tonal && level_dbfs > LEVEL_MIN_DBFS.max(floor_dbfs + ABOVE_FLOOR_DB);
        VoiceFrame { voiced, level_dbfs }
    }

    /// The noise floor in dBFS.
    pub(crate) fn floor_dbfs(&self) -> f32 {
        self.floor.dbfs()
    }
}
