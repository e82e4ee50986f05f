//! One answer, or one greeting: a run of voiced segments.

use crate::speech::HOP_MS;

/// A pause counts towards the length of what was said up to this: the rest of it is waiting, not talking.
const PAUSE_COUNTED_HOPS: u64 = 60;

/// A pause from which a new phrase begins: somebody listened for an answer.
const PHRASE_GAP_HOPS: u64 = 80;

/// Longest answer of a person who then waits. Answers of 2.5 s measure up to 2.6 s, greetings of 4 s of speech 3.9 s and
/// more (recordings); the middle.
pub(crate) const ANSWER_MAX_MS: f32 = 3_250.0;

/// A greeting has one phrase of this length at least.
const GREETING_PHRASE_MS: f32 = 1_800.0;

/// Least share of vowels in a voice; keyboards have 0.16, short words 0.25 at least.
const VOWEL_SHARE_MIN: f32 = 0.22;

/// Share of hops on which one steady tone is all there is, from which it is a machine's burst, too short to be known as a
/// tone while it sounded.
const PURE_SHARE_MAX: f32 = 0.97;

/// Silence before, and length of, a "Hello?" of a person who waits.
const CALL_AGAIN_GAP_MS: f32 = 2_500.0;
const CALL_AGAIN_MAX_MS: f32 = 1_300.0;

/// Share of hops with held notes from which a voice may be music; 0.11 in the 90th percentile of speech.
const NOTES_SUSPECT: f32 = 0.18;

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
    pauses_counted: u64,
    phrase_first: u64,
    longest_phrase: u64,
    voiced: u32,
    notes: u32,
    vowels: u32,
    pure: u32,
    /// Silence between the turn before and this one.
    gap: u64,
    /// Longest of the turns before this one.
    longest_before_ms: f32,
    /// Turns before this one that were short answers by their length.
    short_before: u32,
}

impl Turn {
    /// A turn that begins at hop `start`, after the one `before`.
    pub(crate) fn after(before: Option<Self>, start: u64) -> Self {
        let (gap, longest_before_ms, short_before) = before.map_or((0, 0.0, 0), |before| {
            let short = u32::from(before.talk_ms() < ANSWER_MAX_MS);
            let gap = start.saturating_sub(before.last + 1);
            (
                gap,
                before.longest_before_ms.max(before.talk_ms()),
                before.short_before + short,
            )
        });
        Self {
            first: start,
            last: start,
            spoken: 1,
            segments: 1,
            phrase_first: start,
            longest_phrase: 1,
            gap,
            longest_before_ms,
            short_before,
            ..Self::default()
        }
    }

    /// A further segment begins at hop `start`.
    pub(crate) fn resume(&mut self, start: u64) {
        let pause = start.saturating_sub(self.last + 1);
        self.pauses_counted += pause.min(PAUSE_COUNTED_HOPS);
        if pause >= PHRASE_GAP_HOPS {
            self.phrase_first = start;
        }
        self.segments += 1;
        self.spoken += 1;
        self.last = start;
    }

    /// The segment goes on to `hop`, longer by `grown`.
    pub(crate) fn extend(&mut self, hop: u64, grown: u32) {
        self.last = hop;
        self.spoken = self.spoken.saturating_add(grown);
        self.longest_phrase = self.longest_phrase.max(hop + 1 - self.phrase_first);
    }

    /// Voiced hops, and how many of them are vowels, hold notes or are one pure tone.
    pub(crate) fn hear(&mut self, voiced: u32, vowels: u32, notes: u32, pure: u32) {
        self.voiced += voiced;
        self.vowels += vowels;
        self.notes += notes;
        self.pure += pure;
    }

    /// First to last voice.
    pub(crate) fn span_ms(&self) -> f32 {
        (self.last + 1 - self.first) as f32 * HOP_MS
    }

    /// How long somebody talked: segments and the pauses between them, long pauses in part.
    pub(crate) fn talk_ms(&self) -> f32 {
        (u64::from(self.spoken) + self.pauses_counted) as f32 * HOP_MS
    }

    /// Longer than an answer, and not a chain of short calls ("Hello? … Hello?").
    pub(crate) fn is_greeting(&self) -> bool {
        let phrase_ms = self.longest_phrase as f32 * HOP_MS;
        self.talk_ms() >= ANSWER_MAX_MS && phrase_ms >= GREETING_PHRASE_MS
    }

    /// A voice, by its vowels. Clicks, hiss and keyboards have next to none; notes after music are music, and pure tones a
    /// machine's.
    pub(crate) fn is_voice(&self, music_heard: bool) -> bool {
        let voiced = self.voiced.max(1) as f32;
        let is_spoken = self.vowels as f32 >= VOWEL_SHARE_MIN * voiced
            && (self.pure as f32) < PURE_SHARE_MAX * voiced;
        is_spoken && !(music_heard && self.holds_notes())
    }

    /// Notes are held in much of it: it may be music.
    pub(crate) fn holds_notes(&self) -> bool {
        self.notes as f32 > NOTES_SUSPECT * self.voiced.max(1) as f32
    }

    /// The first turn since the answer.
    pub(crate) fn is_first(&self) -> bool {
        self.gap == 0
    }

    /// After long speech: a short call into a silence that has lasted, or a second one, is a person who waits.
    pub(crate) fn is_dialogue(&self) -> bool {
        let gap_ms = self.gap as f32 * HOP_MS;
        let calls_again = gap_ms >= CALL_AGAIN_GAP_MS && self.talk_ms() <= CALL_AGAIN_MAX_MS;
        calls_again || self.short_before >= 2
    }

    /// A turn before this one was longer than an answer.
    pub(crate) fn follows_long_speech(&self) -> bool {
        self.longest_before_ms >= ANSWER_MAX_MS
    }
}
