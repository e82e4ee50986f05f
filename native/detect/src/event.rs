//! What a session says.

/// One event, at a moment of media time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// Media time in milliseconds since the session's first audio frame of the moment the event is about: the end
    /// of the tone for a beep, the first and the last voiced sample for the speech events.
    pub timestamp_ms: f64,
    /// What happened.
    pub kind: EventKind,
}

/// What happened (contract, "Detection events").
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EventKind {
    /// A voice began.
    SpeechStart,
    /// A voice ended.
    SpeechEnd,
    /// Nobody has been heard for a while.
    Silence,
    /// A verdict.
    Detection(Detection),
    /// A voicemail's record beep ended.
    Beep {
        /// Frequency of the tone.
        frequency_hz: f32,
        /// Length of the tone.
        duration_ms: f32,
        /// 0 to 1.
        confidence: f32,
    },
    /// The detection timeout was reached with no verdict standing.
    Timeout,
    /// The longest session was reached (300 s); nothing follows.
    Ended,
}

/// A verdict and what it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detection {
    /// Who or what answered.
    pub kind: VerdictKind,
    /// 0 to 1; of the verdicts given with 0.9 or more, nine in ten are right on the recordings.
    pub confidence: f32,
    /// A record beep was heard in this session.
    pub beep_detected: bool,
    /// No verdict follows.
    pub is_final: bool,
    /// It replaces an earlier verdict.
    pub is_refinement: bool,
    /// What decided.
    pub reason: Reason,
    /// Milliseconds of speech heard since the answer.
    pub speech_ms: f32,
    /// Milliseconds of audio without speech since the last voice, or since the answer when none was heard.
    pub silence_ms: f32,
    /// Measured values.
    pub measured: Measured,
}

/// Who or what answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerdictKind {
    /// A person.
    LivePerson,
    /// A voicemail or answering machine.
    Voicemail,
    /// Nobody was heard.
    Silence,
    /// No result: the network or a machine answered (the reason says which).
    Unknown,
}

impl VerdictKind {
    /// The contract's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LivePerson => "live_person",
            Self::Voicemail => "voicemail",
            Self::Silence => "silence",
            Self::Unknown => "unknown",
        }
    }
}

/// What decided a verdict (supplement 10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// A short answer, then silence.
    ShortAnswer,
    /// Speech too long for a person's answer.
    LongSpeech,
    /// A record beep.
    Tone,
    /// No voice.
    NoSpeech,
    /// An answer after a verdict of silence.
    AnswerAfterSilence,
    /// Special information tones of the network.
    CarrierAnnouncement,
    /// Fax tones.
    Fax,
    /// Busy tone.
    Busy,
}

impl Reason {
    /// The contract's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ShortAnswer => "short_answer",
            Self::LongSpeech => "long_speech",
            Self::Tone => "tone",
            Self::NoSpeech => "no_speech",
            Self::AnswerAfterSilence => "answer_after_silence",
            Self::CarrierAnnouncement => "carrier_announcement",
            Self::Fax => "fax",
            Self::Busy => "busy",
        }
    }
}

/// Digits of DTMF kept as evidence; later ones are dropped.
pub const DTMF_DIGITS_MAX: usize = 8;

/// Measured values behind a verdict, since the answer unless said otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measured {
    /// Adapting noise floor, dB below full scale.
    pub noise_floor_dbfs: f32,
    /// Mean level of the speech, dB below full scale; `None` before speech.
    pub level_dbfs: Option<f32>,
    /// Voiced segments heard.
    pub segments: u32,
    /// Turns heard: runs of segments with no long silence between them.
    pub turns: u32,
    /// First to last voice of the latest turn.
    pub turn_ms: f32,
    /// Longest silence between two segments.
    pub longest_pause_ms: f32,
    /// Ringback cycles heard in the session.
    pub ringback_cycles: u32,
    /// Special information tones were heard.
    pub sit: bool,
    /// The first eight DTMF digits heard; 0 where none.
    pub dtmf: [u8; DTMF_DIGITS_MAX],
}
