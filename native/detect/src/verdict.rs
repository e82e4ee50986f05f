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
use crate::speech::{QUIET_FALL_DB, Speech};
use crate::turn::{ANSWER_MAX_MS, Turn};

/// Silence that is a verdict (supplement 10: nobody heard for 4 s).
const NO_SPEECH_MS: f32 = 4_000.0;

/// A verdict of the same type is said again when it has become surer by this.
const SURER: f32 = 0.3;

/// Somebody who paused for less is still talking.
const TALKING_MS: f32 = 400.0;

/// Unbroken speech of this length gets a first verdict of voicemail, to be refined: peers take 1.5 s (Asterisk) to 2.4 s.
const FIRST_LONG_MS: f32 = 1_450.0;

/// The same for `live_check`, whose verdict cannot be refined.
const QUICK_LONG_MS: f32 = 1_150.0;

/// Silence after an answer that makes it one: longer than a pause within a sentence.
const WAIT_MS: f32 = 700.0;

/// The same for `live_check`.
const QUICK_WAIT_MS: f32 = 500.0;

/// Silence after what may be music, or into which something sounds on: music goes on within it.
const WAIT_IN_DOUBT_MS: f32 = 2_500.0;

/// Silence after a voice in music: the longest rests in hold music (recordings: 3 s) are over.
const WAIT_AFTER_MUSIC_MS: f32 = 4_000.0;

/// After speech a quiet line falls at least this far.
const FALL_MIN_DB: f32 = 8.0;

/// Silence after which a person's verdict is final: beeps come within 4 s of the greeting.
const SETTLED_MS: f32 = 6_000.0;

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
    /// The detection timeout: nothing follows.
    Timeout,
    /// The client's stop: nothing follows.
    Stop,
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
    /// The verdict as it stands now.
    standing: Option<Opinion>,
    /// The verdict as it was last said.
    said: Option<Opinion>,
    silent: bool,
    closed: bool,
}

impl Verdicts {
    pub(crate) fn new(strategy: Strategy) -> Self {
        Self {
            strategy,
            standing: None,
            said: None,
            silent: false,
            closed: false,
        }
    }

    /// No verdict follows.
    pub(crate) fn closed(&self) -> bool {
        self.closed
    }

    /// The answer: a verdict on early media stands no longer.
    pub(crate) fn restart(&mut self) {
        self.standing = None;
        self.said = None;
        self.silent = false;
    }

    /// Takes one piece of evidence; the ruling it leads to, if any.
    pub(crate) fn take(&mut self, evidence: Evidence<'_>) -> Option<Ruling> {
        if self.closed {
            return None;
        }
        if self.strategy == Strategy::BeepOnly {
            self.closed = matches!(
                evidence,
                Evidence::Beep { .. } | Evidence::Timeout | Evidence::Stop
            );
            return None;
        }
        let opinion = match evidence {
            Evidence::Speech(speech) => self.on_speech(speech)?,
            Evidence::Beep { confidence } => Opinion {
                kind: VerdictKind::Voicemail,
                reason: Reason::Tone,
                confidence,
                settled: true,
            },
            Evidence::Signal(reason) => Opinion {
                kind: VerdictKind::Unknown,
                reason,
                confidence: 0.9,
                settled: true,
            },
            Evidence::Timeout | Evidence::Stop => {
                self.closed = true;
                let standing = self.standing?;
                // A silence that `live_check` kept to itself is said at its timeout, not at a stop.
                let kept = self.said.is_none() && matches!(evidence, Evidence::Stop);
                return (!kept).then(|| self.say(standing));
            }
        };
        self.give(opinion)
    }

    fn give(&mut self, opinion: Opinion) -> Option<Ruling> {
        let kept = self.strategy == Strategy::LiveCheck && opinion.kind == VerdictKind::Silence;
        let news = self.said.is_none_or(|said| {
            said.kind != opinion.kind || opinion.confidence >= said.confidence + SURER
        });
        self.standing = Some(opinion);
        if kept || !(news || opinion.settled) {
            return None;
        }
        self.closed = opinion.settled || self.strategy == Strategy::LiveCheck;
        Some(self.say(opinion))
    }

    fn say(&mut self, opinion: Opinion) -> Ruling {
        let is_refinement = self
            .said
            .is_some_and(|said| said.kind != opinion.kind || !self.closed);
        self.said = Some(opinion);
        self.silent |= opinion.kind == VerdictKind::Silence;
        Ruling {
            kind: opinion.kind,
            reason: opinion.reason,
            confidence: opinion.confidence,
            is_final: self.closed,
            is_refinement,
        }
    }

    fn on_speech(&self, speech: &Speech) -> Option<Opinion> {
        let heard = speech
            .turn()
            .filter(|turn| turn.is_voice(speech.music_heard()));
        match heard {
            Some(turn) => self.on_turn(turn, speech),
            None => self.on_silence(speech),
        }
    }

    /// Nobody was heard. A verdict on a person who did speak stands: what came after was no voice.
    fn on_silence(&self, speech: &Speech) -> Option<Opinion> {
        let person = self
            .standing
            .is_some_and(|standing| standing.kind == VerdictKind::LivePerson);
        let nobody = self.standing.is_none() || speech.turns() == 0;
        let silent = (nobody || (!person && speech.turns() == 1))
            && speech.since_answer_ms() >= NO_SPEECH_MS;
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
        let person = self
            .standing
            .is_some_and(|standing| standing.kind == VerdictKind::LivePerson);
        if silence_ms < TALKING_MS {
            let first_ms = if quick { QUICK_LONG_MS } else { FIRST_LONG_MS };
            let long =
                turn.is_first() && talk_ms >= first_ms && !(person && talk_ms < ANSWER_MAX_MS);
            return long.then(|| machine(talk_ms));
        }
        if turn.is_greeting() {
            return (turn.is_first()).then(|| machine(talk_ms));
        }
        let fall_db = speech.fall_db();
        let doubtful = turn.holds_notes() || fall_db < FALL_MIN_DB;
        let wait_ms = match (quick, doubtful) {
            _ if speech.sounds_on() => WAIT_AFTER_MUSIC_MS,
            (_, true) => WAIT_IN_DOUBT_MS,
            (true, false) => QUICK_WAIT_MS,
            (false, false) => WAIT_MS,
        };
        if silence_ms < wait_ms || fall_db < QUIET_FALL_DB || speech.came_out_of_sound() {
            return None;
        }
        if turn.follows_long_speech() && !turn.is_dialogue() {
            return None;
        }
        Some(self.person(talk_ms, silence_ms))
    }

    fn person(&self, talk_ms: f32, silence_ms: f32) -> Opinion {
        let settled = silence_ms >= SETTLED_MS;
        let confidence = match talk_ms {
            ..1_300.0 => 0.88,
            ..2_000.0 => 0.84,
            ..2_800.0 => 0.55,
            _ => 0.45,
        };
        Opinion {
            kind: VerdictKind::LivePerson,
            reason: if self.silent {
                Reason::AnswerAfterSilence
            } else {
                Reason::ShortAnswer
            },
            confidence: if settled {
                confidence + 0.07
            } else {
                confidence
            },
            settled,
        }
    }
}

fn machine(talk_ms: f32) -> Opinion {
    let confidence = match talk_ms {
        ..2_000.0 => 0.5,
        ..3_250.0 => 0.6,
        ..5_000.0 => 0.85,
        _ => 0.92,
    };
    Opinion {
        kind: VerdictKind::Voicemail,
        reason: Reason::LongSpeech,
        confidence,
        settled: false,
    }
}
