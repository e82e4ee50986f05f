//! Everything behind the front end: hops and time in, events out.

mod deadlines;

use std::collections::VecDeque;

use tonegate_dsp::{Frame, HOP};

use crate::beep::Beep;
use crate::config::{Config, Strategy};
use crate::event::{Detection, Event, EventKind, Reason};
use crate::heard::Heard;
use crate::signals::{Signal, SignalKind};
use crate::speech::{Speech, SpeechChange};
use crate::timeline::{Timeline, samples_ms};
use crate::tones::{ToneEvent, Tones};
use crate::verdict::{Evidence, Ruling, Verdicts};
use crate::voice::Voice;

/// Room for the events of one input: 64 KiB of mu-law are 8.2 s, in which two events per 360 ms of speech and pause can
/// come, and a handful of others.
const EVENTS_RESERVED: usize = 64;

/// Room for the tones that one hop can complete.
const TONE_EVENTS_RESERVED: usize = 8;

/// Silence after which the progress event `silence` is said, once per silence.
const SILENCE_EVENT_MS: f32 = 2_000.0;

/// Most that tones leave behind as speech before they are known.
const RINGBACK_EDGES_MAX_MS: f32 = 300.0;

/// Longest rest between two ringback tones: 5 s in parts of Europe, and half a second for the line.
const RINGBACK_REST_MAX_MS: f64 = 5_500.0;

/// Everything behind the front end.
pub(crate) struct Call {
    strategy: Strategy,
    timeout_ms: f64,
    timeline: Timeline,
    tones: Tones,
    tone_events: Vec<ToneEvent>,
    voice: Voice,
    speech: Speech,
    verdicts: Verdicts,
    heard: Heard,
    silence_said: bool,
    timed_out: bool,
    over: bool,
    events: VecDeque<Event>,
}

impl Call {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            strategy: config.strategy,
            timeout_ms: f64::from(config.detection_timeout_ms),
            timeline: Timeline::new(),
            tones: Tones::new(),
            tone_events: Vec::with_capacity(TONE_EVENTS_RESERVED),
            voice: Voice::new(),
            speech: Speech::new(),
            verdicts: Verdicts::new(config.strategy),
            heard: Heard::default(),
            silence_said: false,
            timed_out: false,
            over: false,
            events: VecDeque::with_capacity(EVENTS_RESERVED),
        }
    }

    /// Takes the caller's time.
    pub(crate) fn observe(&mut self, now_ms: f64) {
        self.timeline.observe(now_ms);
    }

    /// A chunk of audio begins behind `waiting` samples that are not measured yet.
    pub(crate) fn begin_audio(&mut self, media_ms: Option<f64>, waiting: u64) {
        self.timeline.begin_audio(media_ms, waiting);
    }

    /// Takes one hop.
    pub(crate) fn hop(&mut self, frame: &Frame<'_>) {
        if self.over {
            return;
        }
        self.timeline.advance(frame.end_sample);
        if self.listening() {
            self.hear(frame);
        }
        self.check_media_deadlines();
    }

    /// Whether audio can still change anything: `live_check` and `beep_only` are done once closed.
    fn listening(&self) -> bool {
        self.strategy == Strategy::Standard || !(self.verdicts.closed() || self.timed_out)
    }

    fn hear(&mut self, frame: &Frame<'_>) {
        let tone = self
            .tones
            .push(frame, self.speech.heard_clearly(), &mut self.tone_events);
        if tone.signal && self.heard.ringback_end_ms.is_some() && !self.speech.heard() {
            // The next ring is under way: it is known as ringback only when it ends.
            self.ring_until(frame.end_sample);
        }
        let voice = self.voice.push(frame, tone);
        if let Some(change) = self.speech.push(voice) {
            self.say_speech(change);
        }
        for index in 0..self.tone_events.len() {
            self.on_tone(self.tone_events[index]);
        }
        self.tone_events.clear();
        self.rule_on_speech();
        if !self.silence_said && self.speech.silence_ms() >= SILENCE_EVENT_MS {
            self.silence_said = true;
            self.say_progress(self.timeline.position_ms(), EventKind::Silence);
        }
    }

    fn rule_on_speech(&mut self) {
        if self.between_rings() {
            return;
        }
        if let Some(ruling) = self.verdicts.take(Evidence::Speech(&self.speech)) {
            self.say_ruling(ruling);
        }
    }

    /// Silence after ringback may be the rest before the next ring.
    fn between_rings(&self) -> bool {
        let rest_ms = self
            .heard
            .ringback_end_ms
            .map(|end_ms| self.timeline.position_ms() - end_ms);
        !self.speech.heard() && rest_ms.is_some_and(|rest_ms| rest_ms < RINGBACK_REST_MAX_MS)
    }

    fn say_speech(&mut self, change: SpeechChange) {
        self.silence_said = false;
        let (hop, kind) = match change {
            SpeechChange::Start(hop) => (hop, EventKind::SpeechStart),
            SpeechChange::End(hop) => (hop + 1, EventKind::SpeechEnd),
        };
        self.say_progress(self.timeline.at_ms(hop * HOP as u64), kind);
    }

    fn say_progress(&mut self, timestamp_ms: f64, kind: EventKind) {
        if self.strategy != Strategy::BeepOnly {
            self.events.push_back(Event { timestamp_ms, kind });
        }
    }

    fn on_tone(&mut self, event: ToneEvent) {
        match event {
            ToneEvent::Beep(beep) => self.on_beep(&beep),
            ToneEvent::Signal(signal) => self.on_signal(&signal),
        }
    }

    fn on_beep(&mut self, beep: &Beep) {
        self.heard.beep = true;
        let kind = EventKind::Beep {
            frequency_hz: beep.frequency_hz,
            duration_ms: beep.duration_ms as f32,
            confidence: beep.confidence,
        };
        let timestamp_ms = self.timeline.at_ms(beep.end_sample);
        self.events.push_back(Event { timestamp_ms, kind });
        self.rule(Evidence::Beep {
            confidence: beep.confidence,
        });
    }

    fn on_signal(&mut self, signal: &Signal) {
        let reason = match signal.kind {
            SignalKind::Sit => {
                self.heard.sit = true;
                Reason::CarrierAnnouncement
            }
            SignalKind::FaxCng | SignalKind::FaxCed => Reason::Fax,
            SignalKind::Busy => Reason::Busy,
            SignalKind::Ringback => return self.on_ringback(signal.end_sample),
            SignalKind::Dtmf(digit) => return self.heard.add_digit(digit),
            SignalKind::Dial | SignalKind::CallWaiting => return,
        };
        self.rule(Evidence::Signal(reason));
    }

    /// Ringback starts no clock; what sounded like a voice at its edges was none.
    fn on_ringback(&mut self, end_sample: u64) {
        self.heard.ringback_cycles += 1;
        if self.speech.spoken_ms() < RINGBACK_EDGES_MAX_MS {
            self.ring_until(end_sample);
        }
    }

    fn ring_until(&mut self, sample: u64) {
        self.heard.ringback_end_ms = Some(self.timeline.at_ms(sample));
        self.timeline.restart();
        self.speech.restart();
        self.verdicts.restart();
    }

    /// The call was picked up now.
    pub(crate) fn answered(&mut self) {
        self.tones.reset();
        self.voice.restart();
        self.timeline.restart();
        self.speech.restart();
        self.verdicts.restart();
        self.heard.ringback_end_ms = None;
        self.silence_said = false;
    }

    /// The client's stop.
    pub(crate) fn stop(&mut self) {
        self.rule(Evidence::Stop);
        self.over = true;
    }

    /// Nothing follows.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// The oldest event not yet taken.
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Milliseconds of audio received.
    pub(crate) fn audio_ms(&self) -> f64 {
        samples_ms(self.timeline.received())
    }

    /// Says the ruling that the evidence leads to; whether there was one.
    fn rule(&mut self, evidence: Evidence<'_>) -> bool {
        let ruling = self.verdicts.take(evidence);
        if let Some(ruling) = ruling {
            self.say_ruling(ruling);
        }
        ruling.is_some()
    }

    fn say_ruling(&mut self, ruling: Ruling) {
        let detection = Detection {
            kind: ruling.kind,
            confidence: ruling.confidence,
            beep_detected: self.heard.beep,
            is_final: ruling.is_final,
            is_refinement: ruling.is_refinement,
            reason: ruling.reason,
            speech_ms: self.speech.spoken_ms(),
            silence_ms: self.speech.silence_ms(),
            measured: self.heard.measured(&self.voice, &self.speech),
        };
        let timestamp_ms = self.timeline.position_ms();
        self.events.push_back(Event {
            timestamp_ms,
            kind: EventKind::Detection(detection),
        });
    }
}
