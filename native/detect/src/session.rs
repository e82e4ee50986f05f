//! The session: audio and time in, events out.

use std::collections::VecDeque;

use tonegate_dsp::{Decoder, Frame, FrontEnd, HOP};

use crate::config::{Config, Error, Input, Strategy};
use crate::event::{DTMF_DIGITS_MAX, Detection, Event, EventKind, Measured, Reason};
use crate::signals::SignalKind;
use crate::speech::{Speech, SpeechChange};
use crate::timeline::Timeline;
use crate::tones::{ToneEvent, Tones};
use crate::verdict::{Evidence, Ruling, Verdicts};
use crate::voice::Voice;

/// Longest session, on the further of media time and wall since the first audio (supplement 10: 300 s of audio).
const SESSION_MAX_MS: f64 = 300_000.0;

/// Room for the events of one input: 64 KiB of mu-law are 8.2 s, in which two events per 360 ms of speech and pause can
/// come, and a handful of others.
const EVENTS_RESERVED: usize = 64;

/// Room for the tones that one hop can complete.
const TONE_EVENTS_RESERVED: usize = 8;

/// Silence after which the progress event `silence` is said, once per silence.
const SILENCE_EVENT_MS: f32 = 2_000.0;

/// Longest rest between two ringback tones: 5 s in parts of Europe, and half a second for the line.
const RINGBACK_REST_MAX_MS: f64 = 5_500.0;

/// One call's detection. See the crate's example.
pub struct Session {
    decoder: Decoder,
    front_end: FrontEnd,
    call: Call,
}

impl Session {
    /// A session that has heard nothing.
    ///
    /// # Errors
    /// [`Error`] for a value that cannot be served.
    pub fn new(config: Config) -> Result<Self, Error> {
        let config = config.checked()?;
        let decoder = Decoder::new(config.encoding, config.sample_rate_hz)
            .map_err(|unsupported| Error::SampleRate(unsupported.sample_rate_hz))?;
        Ok(Self { decoder, front_end: FrontEnd::new(), call: Call::new(&config) })
    }

    /// Takes one input at the caller's monotonic wall time.
    pub fn handle(&mut self, now_ms: f64, input: Input<'_>) {
        if self.call.over {
            return;
        }
        self.call.timeline.observe(now_ms);
        match input {
            Input::Audio { bytes, media_ms } => self.listen(bytes, media_ms),
            Input::Tick => {}
            Input::Answered => self.call.answered(),
            Input::Stop => {
                self.call.rule(Evidence::End);
                self.call.over = true;
            }
        }
        self.call.check_deadlines();
    }

    fn listen(&mut self, bytes: &[u8], media_ms: Option<f64>) {
        let Self { decoder, front_end, call } = self;
        call.timeline.begin_audio(media_ms);
        decoder.decode(bytes, |samples| {
            front_end.push(samples, |frame| call.hop(frame));
        });
    }

    /// The oldest event not yet taken.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.call.events.pop_front()
    }

    /// Wall time in milliseconds at which [`Input::Tick`] is due if no audio comes; infinite when there is nothing to
    /// wait for. Zero before the first input: the clock of a session that never gets audio starts with its first tick.
    #[must_use]
    pub fn next_deadline_ms(&self) -> f64 {
        self.call.next_deadline_ms()
    }

    /// Milliseconds of audio received.
    #[must_use]
    pub fn audio_ms(&self) -> f64 {
        crate::timeline::samples_ms(self.call.timeline.received())
    }
}

/// Everything behind the front end.
struct Call {
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

/// Signals heard so far.
#[derive(Debug, Default)]
struct Heard {
    beep: bool,
    sit: bool,
    ringback_cycles: u32,
    ringback_end_ms: Option<f64>,
    dtmf: [u8; DTMF_DIGITS_MAX],
    dtmf_count: usize,
}

impl Call {
    fn new(config: &Config) -> Self {
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

    fn hop(&mut self, frame: &Frame<'_>) {
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
        let tone = self.tones.push(frame, self.speech.heard(), &mut self.tone_events);
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
        if let Some(ringback_end_ms) = self.heard.ringback_end_ms
            && !self.speech.heard()
            && self.timeline.position_ms() - ringback_end_ms < RINGBACK_REST_MAX_MS
        {
            return;
        }
        if let Some(ruling) = self.verdicts.take(Evidence::Speech(&self.speech)) {
            self.say_ruling(ruling);
        }
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
            ToneEvent::Beep(beep) => {
                self.heard.beep = true;
                let kind = EventKind::Beep {
                    frequency_hz: beep.frequency_hz,
                    duration_ms: beep.duration_ms as f32,
                    confidence: beep.confidence,
                };
                self.events.push_back(Event { timestamp_ms: self.timeline.at_ms(beep.end_sample), kind });
                self.rule(Evidence::Beep { confidence: beep.confidence });
            }
            ToneEvent::Signal(signal) => match signal.kind {
                SignalKind::Ringback => self.on_ringback(signal.end_sample),
                SignalKind::Sit => {
                    self.heard.sit = true;
                    self.rule(Evidence::Signal(Reason::CarrierAnnouncement));
                }
                SignalKind::FaxCng | SignalKind::FaxCed => self.rule(Evidence::Signal(Reason::Fax)),
                SignalKind::Busy => self.rule(Evidence::Signal(Reason::Busy)),
                SignalKind::Dtmf(digit) => self.on_digit(digit),
                SignalKind::Dial | SignalKind::CallWaiting => {}
            },
        }
    }

    fn on_ringback(&mut self, end_sample: u64) {
        self.heard.ringback_cycles += 1;
        if !self.speech.heard() {
            self.heard.ringback_end_ms = Some(self.timeline.at_ms(end_sample));
            self.timeline.restart();
            self.speech.restart();
            self.verdicts.restart();
        }
    }

    fn on_digit(&mut self, digit: char) {
        if let (Some(slot), Ok(digit)) = (self.heard.dtmf.get_mut(self.heard.dtmf_count), u8::try_from(digit)) {
            *slot = digit;
            self.heard.dtmf_count += 1;
        }
    }

    fn answered(&mut self) {
        self.timeline.restart();
        self.speech.restart();
        self.verdicts.restart();
        self.heard.ringback_end_ms = None;
        self.silence_said = false;
    }

    fn rule(&mut self, evidence: Evidence<'_>) {
        if let Some(ruling) = self.verdicts.take(evidence) {
            self.say_ruling(ruling);
        }
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
            measured: self.measured(),
        };
        let timestamp_ms = self.timeline.position_ms();
        self.events.push_back(Event { timestamp_ms, kind: EventKind::Detection(detection) });
    }

    fn measured(&self) -> Measured {
        Measured {
            noise_floor_dbfs: self.voice.floor_dbfs(),
            level_dbfs: self.speech.level_dbfs(),
            segments: self.speech.segments(),
            turns: self.speech.turns(),
            turn_ms: self.speech.turn().map_or(0.0, |turn| turn.span_ms()),
            longest_pause_ms: self.speech.longest_pause_ms(),
            ringback_cycles: self.heard.ringback_cycles,
            sit: self.heard.sit,
            dtmf: self.heard.dtmf,
        }
    }

    fn check_media_deadlines(&mut self) {
        if self.timeline.media_elapsed_ms() >= self.timeout_ms {
            self.end_verdicts();
        }
        if self.timeline.position_ms() >= SESSION_MAX_MS {
            self.end_session();
        }
    }

    fn check_deadlines(&mut self) {
        if self.over {
            return;
        }
        if self.timeline.elapsed_ms() >= self.timeout_ms {
            self.end_verdicts();
        }
        if self.timeline.session_ms() >= SESSION_MAX_MS {
            self.end_session();
        }
    }

    fn end_verdicts(&mut self) {
        if self.timed_out || self.verdicts.closed() {
            return;
        }
        self.timed_out = true;
        let before = self.events.len();
        self.rule(Evidence::End);
        if self.events.len() == before {
            let timestamp_ms = self.timeline.position_ms();
            self.events.push_back(Event { timestamp_ms, kind: EventKind::Timeout });
        }
    }

    fn end_session(&mut self) {
        if self.over {
            return;
        }
        self.end_verdicts();
        self.over = true;
        self.events.push_back(Event { timestamp_ms: self.timeline.position_ms(), kind: EventKind::Ended });
    }

    fn next_deadline_ms(&self) -> f64 {
        if self.over {
            return f64::INFINITY;
        }
        let session_ms = self.timeline.session_deadline_ms(SESSION_MAX_MS);
        if self.timed_out || self.verdicts.closed() {
            return session_ms;
        }
        self.timeline.clock_deadline_ms(self.timeout_ms).min(session_ms)
    }
}
