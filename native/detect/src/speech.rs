//! Voiced hops to segments and turns.
//!
//! A segment is a voice without a gap longer than [`SEGMENT_GAP_HOPS`]; a turn is a run of segments without a silence
//! longer than [`TURN_GAP_HOPS`]: one answer, or one greeting with the pauses between its sentences.

use crate::talker::Talker;
use crate::turn::Turn;
use crate::voice::VoiceFrame;

/// Length of a hop.
pub(crate) const HOP_MS: f32 = 10.0;

/// Hops looked back on to begin a segment.
const START_WINDOW: u32 = (1 << 16) - 1;

/// Voiced hops among them that begin one: a click is shorter than 50 ms, the shortest word is not.
const START_HOPS: u32 = 5;

/// Hops looked back on to go on with a segment, and voiced ones among them: single hops of noise do not lengthen it.
const STAY_WINDOW: u32 = 0b1_1111;
const STAY_HOPS: u32 = 3;

/// Unvoiced hops that end a segment: longer than a closed consonant (up to 200 ms), shorter than a pause.
const SEGMENT_GAP_HOPS: u64 = 30;

/// Unvoiced hops that end a turn: the sentences of a greeting follow each other within 2 s.
const TURN_GAP_HOPS: u64 = 200;

/// A pause is quiet when the level falls by this: a busy street is 10 dB below the voice in it.
pub(crate) const QUIET_FALL_DB: f32 = 5.0;

/// Pauses (1 s in all) that were not quiet, from which something sounds all the time.
const LOUD_PAUSES_MIN: u32 = 100;

/// A change of speech; the hop is counted from the session's first.
/// Hops after the last voice from which the line is idle.
const IDLE_AFTER_HOPS: u64 = 30;

/// A line louder than this is no quiet line, and a voice stands out of it by this much.
const SOUND_DBFS: f32 = -55.0;
const STANDS_OUT_DB: f32 = 4.0;

/// Idle hops that enter the mean level, and how many make it known: 250 ms and 150 ms.
const IDLE_HOPS: f32 = 25.0;
const IDLE_KNOWN_HOPS: f32 = 15.0;

/// Lowest level that counts.
const LEVEL_MIN_DBFS: f32 = -90.0;

/// Voiced hops beside any tone that are certainly a voice: 150 ms.
const CLEAR_HOPS: u32 = 15;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpeechChange {
    /// A segment began at this hop.
    Start(u64),
    /// A segment's last voiced hop.
    End(u64),
}

/// What was spoken since the answer.
#[derive(Debug, Default)]
pub(crate) struct Speech {
    window: u32,
    vowels: u32,
    pure: u32,
    hop: u64,
    answered: u64,
    speaking: bool,
    last_voiced: u64,
    turn: Option<Turn>,
    turns: u32,
    segments: u32,
    spoken: u32,
    longest_pause: u64,
    level_sum_dbfs: f64,
    level_hops: u32,
    quiet_sum_dbfs: f64,
    quiet_hops: u32,
    loud_pauses: u32,
    music_heard: bool,
    talker: Talker,
    idle: Idle,
    /// Level of the line just before the latest turn.
    before_dbfs: Option<f32>,
    /// Voiced hops that no tone took part in.
    clear: u32,
}

/// Running mean level of the idle line.
#[derive(Debug, Clone, Copy, Default)]
struct Idle {
    hops: f32,
    mean_dbfs: f32,
}

impl Idle {
    fn add(&mut self, level_dbfs: f32) {
        self.hops = (self.hops + 1.0).min(IDLE_HOPS);
        self.mean_dbfs += (level_dbfs.max(LEVEL_MIN_DBFS) - self.mean_dbfs) / self.hops;
    }

    fn level_dbfs(&self) -> Option<f32> {
        (self.hops >= IDLE_KNOWN_HOPS).then_some(self.mean_dbfs)
    }
}

impl Speech {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The answer: what was heard before is forgotten.
    pub(crate) fn restart(&mut self) {
        *self = Self {
            hop: self.hop,
            answered: self.hop,
            last_voiced: self.hop,
            ..Self::new()
        };
    }

    /// Takes one hop.
    pub(crate) fn push(&mut self, voice: VoiceFrame) -> Option<SpeechChange> {
        let hop = self.hop;
        self.hop += 1;
        self.music_heard |= voice.music;
        let mut voice = voice;
        let is_louder = self.talker.hear(&mut voice, self.speaking);
        if (voice.music || is_louder) && self.turn.is_some() {
            return self.forget_turn();
        }
        self.note_idle(voice);
        self.clear += u32::from(voice.voiced && !voice.pure && !voice.tone);
        self.window = (self.window << 1 | u32::from(voice.voiced)) & START_WINDOW;
        self.vowels = (self.vowels << 1 | u32::from(voice.vowel)) & START_WINDOW;
        self.pure = (self.pure << 1 | u32::from(voice.voiced && voice.pure)) & START_WINDOW;
        if voice.voiced {
            self.level_sum_dbfs += f64::from(voice.level_dbfs);
            self.level_hops += 1;
        }
        if self.last_voiced < hop && self.turn.is_some() {
            self.quiet_sum_dbfs += f64::from(voice.level_dbfs);
            self.quiet_hops += 1;
        }
        if !self.speaking {
            if voice.tone {
                self.window = 0;
            }
            return self.begins(voice).then(|| self.begin(hop, voice));
        }
        if voice.voiced && (self.window & STAY_WINDOW).count_ones() >= STAY_HOPS {
            self.extend(hop, voice);
        } else if hop - self.last_voiced >= SEGMENT_GAP_HOPS {
            self.speaking = false;
            self.window = 0;
            return Some(SpeechChange::End(self.last_voiced));
        }
        None
    }

    /// The line between turns: neither a voice nor a tone, nor the first hops of one.
    fn note_idle(&mut self, voice: VoiceFrame) {
        let between = self.turn.is_none() || self.hop - self.last_voiced > IDLE_AFTER_HOPS;
        let quiet = !voice.voiced && !voice.tone && !voice.pure;
        if between && quiet && self.window.count_ones() < START_HOPS / 2 {
            self.idle.add(voice.level_dbfs);
        }
    }

    /// The turn stands out of the line before it by next to nothing: a piece of music or noise that went on all along.
    pub(crate) fn came_out_of_sound(&self) -> bool {
        let before_dbfs = self.before_dbfs.filter(|&before| before > SOUND_DBFS);
        before_dbfs.is_some_and(|before| {
            self.level_dbfs()
                .is_some_and(|level| level - before < STANDS_OUT_DB)
        })
    }

    /// Whether a segment begins: enough voiced hops. A tone is known as one some hops late, so nothing is decided while
    /// one may have begun.
    fn begins(&self, voice: VoiceFrame) -> bool {
        self.window.count_ones() >= START_HOPS && !voice.pure
    }

    /// The latest turn was music, or somebody behind the talker: it never happened.
    fn forget_turn(&mut self) -> Option<SpeechChange> {
        let turn = self.turn.take()?;
        self.window = 0;
        self.turns -= 1;
        self.segments -= turn.segments;
        self.spoken -= turn.spoken;
        std::mem::take(&mut self.speaking).then_some(SpeechChange::End(self.last_voiced))
    }

    fn begin(&mut self, hop: u64, voice: VoiceFrame) -> SpeechChange {
        let back = u64::from(self.window.checked_ilog2().unwrap_or(0));
        let hop = hop.saturating_sub(u64::from(self.window.trailing_zeros()));
        let start = (self.hop - 1).saturating_sub(back).max(self.answered);
        if self.segments > 0 {
            if self.fall_db() < QUIET_FALL_DB {
                self.loud_pauses += self.quiet_hops;
            }
            self.longest_pause = self
                .longest_pause
                .max(start.saturating_sub(self.last_voiced + 1));
        }
        match &mut self.turn {
            Some(turn) if start.saturating_sub(turn.last) <= TURN_GAP_HOPS => turn.resume(start),
            turn => {
                self.before_dbfs = self.idle.level_dbfs();
                let before = turn.take();
                *turn = Some(Turn::after(before, start));
                self.turns += 1;
            }
        }
        self.segments += 1;
        self.spoken += 1;
        self.last_voiced = start;
        self.speaking = true;
        let (voiced, vowels, pure) = (
            (self.window >> 1).count_ones(),
            (self.vowels >> 1).count_ones(),
            (self.pure >> 1).count_ones(),
        );
        if let Some(turn) = &mut self.turn {
            turn.hear(voiced, vowels, 0, pure);
        }
        self.extend(hop.max(start), voice);
        SpeechChange::Start(start)
    }

    fn extend(&mut self, hop: u64, voice: VoiceFrame) {
        let grown = u32::try_from(hop - self.last_voiced).unwrap_or(u32::MAX);
        self.last_voiced = hop;
        self.quiet_sum_dbfs = 0.0;
        self.quiet_hops = 0;
        self.spoken = self.spoken.saturating_add(grown);
        if let Some(turn) = &mut self.turn {
            turn.extend(hop, grown);
            turn.hear(
                u32::from(voice.voiced),
                u32::from(voice.vowel),
                u32::from(voice.notes),
                u32::from(voice.voiced && voice.pure),
            );
        }
    }

    /// A voice was heard since the answer, and for longer than the ragged edges of a tone last.
    pub(crate) fn heard_clearly(&self) -> bool {
        self.heard() && self.clear >= CLEAR_HOPS
    }

    /// A voice was heard since the answer.
    pub(crate) fn heard(&self) -> bool {
        self.turns > 0
    }

    /// The latest turn.
    pub(crate) fn turn(&self) -> Option<&Turn> {
        self.turn.as_ref()
    }

    /// Turns heard.
    pub(crate) fn turns(&self) -> u32 {
        self.turns
    }

    /// Segments heard.
    pub(crate) fn segments(&self) -> u32 {
        self.segments
    }

    /// Speech heard since the answer, pauses left out.
    pub(crate) fn spoken_ms(&self) -> f32 {
        self.spoken as f32 * HOP_MS
    }

    /// Audio since the answer.
    pub(crate) fn since_answer_ms(&self) -> f32 {
        self.hop.saturating_sub(self.answered) as f32 * HOP_MS
    }

    /// Audio since the last voice, or since the answer when none was heard.
    pub(crate) fn silence_ms(&self) -> f32 {
        let since = if self.heard() {
            self.last_voiced + 1
        } else {
            self.answered
        };
        self.hop.saturating_sub(since) as f32 * HOP_MS
    }

    /// Longest silence between two segments.
    pub(crate) fn longest_pause_ms(&self) -> f32 {
        self.longest_pause as f32 * HOP_MS
    }

    /// Music was heard since the answer.
    pub(crate) fn music_heard(&self) -> bool {
        self.music_heard
    }

    /// Something sounds all the time, also where no voice is heard: music, most likely.
    pub(crate) fn sounds_on(&self) -> bool {
        self.music_heard || self.loud_pauses >= LOUD_PAUSES_MIN
    }

    /// How far the level has fallen since the last voice, in dB; 0 before the first.
    pub(crate) fn fall_db(&self) -> f32 {
        let quiet_dbfs = (self.quiet_sum_dbfs / f64::from(self.quiet_hops.max(1))) as f32;
        self.level_dbfs()
            .map_or(0.0, |level_dbfs| level_dbfs - quiet_dbfs)
    }

    /// Mean level of the voiced hops; `None` before the first.
    pub(crate) fn level_dbfs(&self) -> Option<f32> {
        (self.level_hops > 0).then(|| (self.level_sum_dbfs / f64::from(self.level_hops)) as f32)
    }
}
