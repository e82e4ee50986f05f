//! The one who talks on this line, told from what is heard behind him by level.
//!
//! A television, colleagues or bursts of comfort noise stand above the noise floor too, 18–38 dB below the person. One
//! phrase stays within about 12 dB, segment by segment, so what lies further below is not the talker. All limits are
//! relative to the talker: no absolute level takes part.

use crate::voice::VoiceFrame;

/// Weight of the newest hop in the smoothed level: some 60 ms.
const SMOOTHING: f32 = 0.15;

/// An unvoiced hop enters the smoothed level at most this high, relative to the talker.
const UNVOICED_DB: f32 = -40.0;

/// The talker's level fades by 0.5 dB a second: he may move away.
const FADE_DB: f32 = 0.005;

/// Within a segment, and to begin one, a voice is at most this much below the talker.
const WITHIN_DB: f32 = 20.0;
const BEGIN_DB: f32 = 16.0;

/// A voice this much louder than all before is the talker; what was heard so far was behind him.
const LOUDER_DB: f32 = 12.0;

/// Nobody has talked yet.
const NOBODY_DBFS: f32 = -90.0;

/// Level of the talker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Talker {
    near_dbfs: f32,
    smoothed_dbfs: f32,
}

impl Default for Talker {
    fn default() -> Self {
        Self {
            near_dbfs: NOBODY_DBFS - 10.0,
            smoothed_dbfs: NOBODY_DBFS - 10.0,
        }
    }
}

impl Talker {
    /// Takes one hop, and the voice out of it when it is not the talker's. True when the talker has only begun now and
    /// what was taken for him is background.
    pub(crate) fn hear(&mut self, voice: &mut VoiceFrame, speaking: bool) -> bool {
        let level_dbfs = if voice.voiced {
            voice.level_dbfs
        } else {
            voice.level_dbfs.min(self.near_dbfs + UNVOICED_DB)
        };
        self.smoothed_dbfs += SMOOTHING * (level_dbfs.max(NOBODY_DBFS) - self.smoothed_dbfs);
        let mut is_louder = false;
        if voice.voiced && self.smoothed_dbfs > self.near_dbfs {
            is_louder =
                self.near_dbfs > NOBODY_DBFS && self.smoothed_dbfs > self.near_dbfs + LOUDER_DB;
            self.near_dbfs = self.smoothed_dbfs;
        } else {
            self.near_dbfs -= FADE_DB;
        }
        let below_db = if speaking { WITHIN_DB } else { BEGIN_DB };
        if voice.voiced && voice.level_dbfs < self.near_dbfs - below_db {
            voice.voiced = false;
            voice.vowel = false;
        }
        is_louder
    }
}
