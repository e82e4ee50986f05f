//! Who answered, decided on timing, tones and signals.
//!
//! | State | On | Gives | Next |
//! |---|---|---|---|
//! | open, none standing | nobody heard for 4 s (`standard`) | silence | open, standing |
//! | open | a short answer, then silence | live_person | open, standing |
//! | open | speech longer than an answer | voicemail | open, standing |
//! | open, standing | other evidence outweighs it | a refinement | open, standing |
//! | open, live_person standing | the person has waited long enough | live_person, final | closed |
//! | open | a beep | voicemail, final | closed |
//! | open | SIT, fax, busy | unknown, final | closed |
//! | open | timeout or stop, a verdict standing | that verdict, final | closed |
//! | open | timeout, none standing | timeout | closed |
//! | any but closed | answered | nothing | open, none standing |
//!
//! `live_check` gives only the final one; `beep_only` gives none and closes at its first beep.

use crate::config::Strategy;
use crate::event::{Reason, VerdictKind};
use crate::speech::Speech;
use crate::turn::{ANSWER_MAX_MS, Turn};

/// Silence that is a verdict (supplement 10: nobody heard for 4 s).
const NO_SPEECH_MS: f32 = 4_000.0;

/// Somebody who paused for less is still talking.
const TALKING_MS: f32 = 400.0;

/// Unbroken speech of this length gets a first verdict of voicemail, to be refined: peers take 1.5 s (Asterisk) to 2.4 s.
const FIRST_LONG_MS: f32 = 1_450.0;

/// The same for `live_check`, whose verdict cannot be refined.
const QUICK_LONG_MS: f32 = 1_600.0;

/// Silence after an answer that makes it one: longer than a pause within a sentence.
const WAIT_MS: f32 = 700.0;

/// The same for `live_check`.
const QUICK_WAIT_MS: f32 = 600.0;

/// Silence after what may be music, or into which something sounds on: music goes on within it.
const WAIT_IN_DOUBT_MS: f32 = 2_500.0;

/// Share of hops with held notes from which a voice may be music; 0.11 in the 90th percentile of speech.
const NOTES_SUSPECT: f32 = 0.18;

/// After speech a quiet line falls at least this far. By less than the second, it has not gone quiet at all.
const FALL_MIN_DB: f32 = 12.0;
const FALL_NONE_DB: f32 = 5.0;

/// Silence after which a person's verdict is final: beeps come within 4 s of the greeting.
const SETTLED_MS: f32 = 6_000.0;

/// A greeting has one phrase of this length at least.
const GREETING_PHRASE_MS: f32 = 1_800.0;

/// Least share of vowels in a voice; keyboards have 0.16, short words 0.25 at least.
const VOWEL_SHARE_MIN: f32 = 0.22;

/// Silence before, and length of, a "Hello?" of a person who waits.
const CALL_AGAIN_GAP_MS: f32 = 2_500.0;
const CALL_AGAIN_MAX_MS: f32 = 1_300.0;

/// What a verdict says, before the session adds its measurements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ruling {
    pub kind: VerdictKind,
    pub reason: Reason,
    pub confidence: f32,
    pub is_final: bool,
    pub is_refinement: bool,
}

/// Where evidence enters.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Evidence<'a> {
    /// One more hop of speech or silence.
    Speech(&'a Speech),
    /// A record beep ended.
    Beep { confidence: f32 },
    /// The network or a machine answered.
    Signal(Reason),
    /// The timeout or the client's stop: nothing follows.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Opinion {
    kind: VerdictKind,
    reason: Reason,
    confidence: f32,
    settled: bool,
}

/// The verdicts of one session.
#[derive(Debug)]
pub(crate) struct Verdicts {
    strategy: Strategy,
    standing: Option<Opinion>,
    given: bool,
    silent: bool,
    closed: bool,
}

impl Verdicts {
    pub(crate) fn new(strategy: Strategy) -> Self {
        Self { strategy, standing: None, given: false, silent: false, closed: false }
    }

    /// No verdict follows.
    pub(crate) fn closed(&self) -> bool {
        self.closed
    }

    /// The answer: a verdict on early media stands no longer.
    pub(crate) fn restart(&mut self) {
        self.standing = None;
        self.silent = false;
    }

    /// Takes one piece of evidence; the ruling it leads to, if any.
    pub(crate) fn take(&mut self, evidence: Evidence<'_>) -> Option<Ruling> {
        if self.closed {
            return None;
        }
        if self.strategy == Strategy::BeepOnly {
            self.closed = matches!(evidence, Evidence::Beep { .. } | Evidence::End);
            return None;
        }
        let opinion = match evidence {
            Evidence::Speech(speech) => self.on_speech(speech)?,
            Evidence::Beep { confidence } => {
                Opinion { kind: VerdictKind::Voicemail, reason: Reason::Tone, confidence, settled: true }
            }
            Evidence::Signal(reason) => {
                Opinion { kind: VerdictKind::Unknown, reason, confidence: 0.9, settled: true }
            }
            Evidence::End => {
                self.closed = true;
                Opinion { settled: true, ..self.standing? }
            }
        };
        self.give(opinion)
    }

    fn give(&mut self, opinion: Opinion) -> Option<Ruling> {
        let changed = self.standing.is_none_or(|standing| standing.kind != opinion.kind);
        if !changed && !opinion.settled {
            return None;
        }
        if self.strategy == Strategy::LiveCheck && opinion.kind == VerdictKind::Silence && !self.closed {
            self.standing = Some(opinion);
            return None;
        }
        let is_final = opinion.settled || self.strategy == Strategy::LiveCheck;
        let ruling = Ruling {
            kind: opinion.kind,
            reason: opinion.reason,
            confidence: opinion.confidence,
            is_final,
            is_refinement: self.given && changed,
        };
        self.standing = Some(opinion);
        self.silent |= opinion.kind == VerdictKind::Silence;
        self.given = true;
        self.closed = is_final;
        Some(ruling)
    }

    fn on_speech(&self, speech: &Speech) -> Option<Opinion> {
        let heard = speech.turn().filter(|turn| is_voice(turn, speech.music_heard()));
        match heard {
            Some(turn) => self.on_turn(turn, speech),
            None => self.on_silence(speech),
        }
    }

    /// Nobody was heard. A verdict on a person who did speak stands: what came after was no voice.
    fn on_silence(&self, speech: &Speech) -> Option<Opinion> {
        let person = self.standing.is_some_and(|standing| standing.kind == VerdictKind::LivePerson);
        let silent = (speech.turns() == 0 || (!person && speech.turns() == 1)) && speech.since_answer_ms() >= NO_SPEECH_MS;
        silent.then_some(Opinion {
            kind: VerdictKind::Silence,
            reason: Reason::NoSpeech,
            confidence: 0.95,
            settled: false,
        })
    }

    fn on_turn(&self, turn: &Turn, speech: &Speech) -> Option<Opinion> {
        let silence_ms = speech.silence_ms();
        let quick = self.strategy == Strategy::LiveCheck;
        let talk_ms = turn.talk_ms();
        let person = self.standing.is_some_and(|standing| standing.kind == VerdictKind::LivePerson);
        if silence_ms < TALKING_MS {
            let first_ms = if quick { QUICK_LONG_MS } else { FIRST_LONG_MS };
            let long = turn.gap_ms() == 0.0 && talk_ms >= first_ms && !(person && talk_ms < ANSWER_MAX_MS);
            return long.then(|| machine(talk_ms));
        }
        if is_greeting(turn) {
            return (turn.gap_ms() == 0.0).then(|| machine(talk_ms));
        }
        let fall_db = speech.fall_db();
        let doubtful = turn.notes_share() > NOTES_SUSPECT || fall_db < FALL_MIN_DB;
        let wait_ms = match (quick, doubtful) {
            (_, true) => WAIT_IN_DOUBT_MS,
            (true, false) => QUICK_WAIT_MS,
            (false, false) => WAIT_MS,
        };
        if silence_ms < wait_ms || fall_db < FALL_NONE_DB {
            return None;
        }
        if turn.longest_before_ms() >= ANSWER_MAX_MS && !is_dialogue(turn) {
            return None;
        }
        Some(self.person(talk_ms, silence_ms))
    }

    fn person(&self, talk_ms: f32, silence_ms: f32) -> Opinion {
        let settled = silence_ms >= SETTLED_MS;
        let confidence = match talk_ms {
            ..1_300.0 => 0.88,
            ..2_000.0 => 0.84,
            ..2_800.0 => 0.75,
            _ => 0.6,
        };
        Opinion {
            kind: VerdictKind::LivePerson,
            reason: if self.silent { Reason::AnswerAfterSilence } else { Reason::ShortAnswer },
            confidence: if settled { confidence + 0.07 } else { confidence },
            settled,
        }
    }
}

/// Clicks, hiss and keyboards have next to no vowels; notes after music are music.
fn is_voice(turn: &Turn, music_heard: bool) -> bool {
    turn.vowel_share() >= VOWEL_SHARE_MIN && !(music_heard && turn.notes_share() > NOTES_SUSPECT)
}

/// Longer than an answer, and not a chain of short calls ("Hello? … Hello?").
fn is_greeting(turn: &Turn) -> bool {
    turn.talk_ms() >= ANSWER_MAX_MS && turn.longest_phrase_ms() >= GREETING_PHRASE_MS
}

/// After long speech: a short call into a silence that has lasted, or a second one, is a person who waits.
fn is_dialogue(turn: &Turn) -> bool {
    let calls_again = turn.gap_ms() >= CALL_AGAIN_GAP_MS && turn.talk_ms() <= CALL_AGAIN_MAX_MS;
    calls_again || turn.short_before() >= 2
}

fn machine(talk_ms: f32) -> Opinion {
    let confidence = match talk_ms {
        ..2_000.0 => 0.5,
        ..3_250.0 => 0.6,
        ..5_000.0 => 0.85,
        _ => 0.92,
    };
    Opinion { kind: VerdictKind::Voicemail, reason: Reason::LongSpeech, confidence, settled: false }
}
