//! Voiced hops to segments and turns.
//!
//! A segment is a voice without a gap longer than [`SEGMENT_GAP_HOPS`]; a turn is a run of segments without a silence
//! longer than [`TURN_GAP_HOPS`]: one answer, or one greeting with the pauses between its sentences.

use crate::voice::VoiceFrame;

/// Hops a second.
pub(crate) const HOP_MS: f32 = 10.0;

/// Voiced hops among the last [`START_WINDOW_HOPS`] that begin a segment: a click is shorter than 60 ms, a word is not.
const START_HOPS: u32 = 6;

/// Window for [`START_HOPS`].
const START_WINDOW_HOPS: u32 = 12;

/// Unvoiced hops that end a segment: longer than a closed consonant (up to 200 ms), shorter than a pause.
const SEGMENT_GAP_HOPS: u32 = 30;

/// Unvoiced hops that end a turn.
const TURN_GAP_HOPS: u32 = 200;

/// A change of speech at one hop; the hop is counted from the session's first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpeechChange {
    /// A segment began at this hop.
    Start(u64),
    /// A segment's last voiced hop.
    End(u64),
}

/// One run of segments.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Turn {
    /// First voiced hop.
    pub first: u64,
    /// Last voiced hop.
    pub last: u64,
    /// Hops within segments, pauses left out.
    pub spoken: u32,
    /// Segments.
    pub segments: u32,
    /// Voiced hops in which notes were held.
    pub notes: u32,
}

impl Turn {
    /// First to last voice.
    pub(crate) fn span_ms(&self) -> f32 {
        (self.last + 1 - self.first) as f32 * HOP_MS
    }

    /// Share of it in which notes were held, as in music: 0 to 1.
    pub(crate) fn notes_share(&self) -> f32 {
        self.notes as f32 / self.spoken.max(1) as f32
    }

    /// Length of its segments.
    pub(crate) fn spoken_ms(&self) -> f32 {
        self.spoken as f32 * HOP_MS
    }
}

/// What was spoken since the answer.
#[derive(Debug)]
pub(crate) struct Speech {
    window: u32,
    hop: u64,
    answered: u64,
    segment_start: Option<u64>,
    last_voiced: u64,
    turn: Option<Turn>,
    turns: u32,
    segments: u32,
    spoken: u32,
    longest_pause: u64,
    level_sum_dbfs: f64,
    level_hops: u32,
}

impl Speech {
    pub(crate) fn new() -> Self {
        Self {
            window: 0,
            hop: 0,
            answered: 0,
            segment_start: None,
            last_voiced: 0,
            turn: None,
            turns: 0,
            segments: 0,
            spoken: 0,
            longest_pause: 0,
            level_sum_dbfs: 0.0,
            level_hops: 0,
        }
    }

    /// The answer: what was heard before is forgotten.
    pub(crate) fn restart(&mut self) {
        *self = Self { hop: self.hop, answered: self.hop, last_voiced: self.hop, ..Self::new() };
    }

    /// Takes one hop.
    pub(crate) fn push(&mut self, voice: VoiceFrame) -> Option<SpeechChange> {
        let hop = self.hop;
        self.hop += 1;
        if voice.music && self.turn.is_some() {
            return self.forget_turn();
        }
        self.window = (self.window << 1 | u32::from(voice.voiced)) & ((1 << START_WINDOW_HOPS) - 1);
        if voice.voiced {
            self.level_sum_dbfs += f64::from(voice.level_dbfs);
            self.level_hops += 1;
            if let Some(turn) = &mut self.turn {
                turn.notes += u32::from(voice.notes);
            }
        }
        match self.segment_start {
            None if voice.voiced && self.window.count_ones() >= START_HOPS => Some(self.begin(hop)),
            None => None,
            Some(_) if voice.voiced => {
                self.extend(hop);
                None
            }
            Some(_) if hop - self.last_voiced >= u64::from(SEGMENT_GAP_HOPS) => {
                self.segment_start = None;
                Some(SpeechChange::End(self.last_voiced))
            }
            Some(_) => None,
        }
    }

    /// The latest turn was music: it never happened.
    fn forget_turn(&mut self) -> Option<SpeechChange> {
        let turn = self.turn.take()?;
        self.window = 0;
        self.turns -= 1;
        self.segments -= turn.segments;
        self.spoken -= turn.spoken;
        self.segment_start.take().map(|_| SpeechChange::End(self.last_voiced))
    }

    fn begin(&mut self, hop: u64) -> SpeechChange {
        let back = u64::from(31 - self.window.leading_zeros());
        let start = hop.saturating_sub(back).max(self.answered);
        if self.segments > 0 {
            self.longest_pause = self.longest_pause.max(start - self.last_voiced - 1);
        }
        let fresh = self.turn.is_none_or(|turn| start - turn.last > u64::from(TURN_GAP_HOPS));
        if fresh {
            self.turns += 1;
            self.turn = Some(Turn { first: start, last: start, ..Turn::default() });
        }
        self.segments += 1;
        self.last_voiced = start;
        self.segment_start = Some(start);
        self.spoken += 1;
        if let Some(turn) = &mut self.turn {
            turn.segments += 1;
            turn.spoken += 1;
            turn.last = start;
        }
        self.extend(hop);
        SpeechChange::Start(start)
    }

    fn extend(&mut self, hop: u64) {
        let grown = u32::try_from(hop - self.last_voiced).unwrap_or(u32::MAX);
        self.last_voiced = hop;
        self.spoken += grown;
        if let Some(turn) = &mut self.turn {
            turn.last = hop;
            turn.spoken += grown;
        }
    }

    /// A segment is under way.
    pub(crate) fn speaking(&self) -> bool {
        self.segment_start.is_some()
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

    /// Audio since the last voice, or since the answer when none was heard.
    pub(crate) fn silence_ms(&self) -> f32 {
        let since = if self.heard() { self.last_voiced + 1 } else { self.answered };
        self.hop.saturating_sub(since) as f32 * HOP_MS
    }

    /// Longest silence between two segments.
    pub(crate) fn longest_pause_ms(&self) -> f32 {
        self.longest_pause as f32 * HOP_MS
    }

    /// Mean level of the voiced hops; `None` before the first.
    pub(crate) fn level_dbfs(&self) -> Option<f32> {
        (self.level_hops > 0).then(|| (self.level_sum_dbfs / f64::from(self.level_hops)) as f32)
    }
}
