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

/// Silence that is a verdict (supplement 10: nobody heard for 4 s).
const NO_SPEECH_MS: f32 = 4_000.0;

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
        let silence_ms = speech.silence_ms();
        let Some(turn) = speech.turn() else {
            return (!speech.heard() && silence_ms >= NO_SPEECH_MS).then_some(Opinion {
                kind: VerdictKind::Silence,
                reason: Reason::NoSpeech,
                confidence: 0.95,
                settled: false,
            });
        };
        let spoken_ms = turn.spoken_ms();
        if spoken_ms >= 3_200.0 || (spoken_ms >= 1_700.0 && silence_ms < 500.0) {
            return Some(Opinion {
                kind: VerdictKind::Voicemail,
                reason: Reason::LongSpeech,
                confidence: 0.6,
                settled: false,
            });
        }
        (silence_ms >= 700.0).then_some(Opinion {
            kind: VerdictKind::LivePerson,
            reason: if self.silent { Reason::AnswerAfterSilence } else { Reason::ShortAnswer },
            confidence: 0.8,
            settled: silence_ms >= 6_000.0,
        })
    }
}
