//! What a session says, as JavaScript reads it.

use napi_derive::napi;
use tonegate_detect::{Detection, Event, EventKind, Measured};

/// One flat shape; fields that do not belong to the event are absent.
#[derive(Default)]
#[napi(object, object_from_js = false)]
pub struct NativeEvent {
    /// What happened.
    #[napi(
        ts_type = "'speech_start' | 'speech_end' | 'silence' | 'detection' | 'beep' | 'timeout' | 'ended'"
    )]
    pub event: String,
    /// Media time since the first audio frame of the moment the event is about (beep: the end of the tone).
    pub timestamp_ms: f64,
    /// detection: who or what answered.
    #[napi(
        js_name = "type",
        ts_type = "'live_person' | 'voicemail' | 'silence' | 'unknown'"
    )]
    pub kind: Option<String>,
    /// detection, beep: 0 to 1.
    pub confidence: Option<f64>,
    /// detection: a record beep was heard.
    pub beep_detected: Option<bool>,
    /// detection, beep: no verdict follows.
    pub is_final: Option<bool>,
    /// detection: it replaces an earlier verdict.
    pub is_refinement: Option<bool>,
    /// detection: what decided; ended: max_audio.
    #[napi(
        ts_type = "'short_answer' | 'long_speech' | 'greeting_phrase' | 'live_phrase' | 'tone' | 'no_speech' | 'answer_after_silence' | 'carrier_announcement' | 'fax' | 'busy' | 'max_audio'"
    )]
    pub reason: Option<String>,
    /// detection: speech since the answer, pauses left out.
    pub speech_ms: Option<f64>,
    /// detection: audio since the last voice, or since the answer.
    pub silence_ms: Option<f64>,
    /// detection: measured values.
    pub evidence: Option<Evidence>,
    /// beep: frequency of the tone.
    pub frequency_hz: Option<f64>,
    /// beep: length of the tone.
    pub duration_ms: Option<f64>,
}

/// Measured values behind a verdict.
#[napi(object, object_from_js = false)]
pub struct Evidence {
    /// Adapting noise floor.
    pub noise_floor_dbfs: f64,
    /// Mean level of the speech; absent before speech.
    pub level_dbfs: Option<f64>,
    /// Voiced segments since the answer.
    pub segments: u32,
    /// Turns since the answer: runs of segments with no long silence between them.
    pub turns: u32,
    /// First to last voice of the latest turn.
    pub turn_ms: f64,
    /// Longest silence between two segments.
    pub longest_pause_ms: f64,
    /// Ringback cycles heard.
    pub ringback_cycles: u32,
    /// Special information tones were heard.
    pub sit: bool,
    /// DTMF digits heard; absent when none.
    pub dtmf: Option<String>,
    /// Whether a recogniser of words took part.
    #[napi(ts_type = "'off'")]
    pub words: String,
}

impl From<Event> for NativeEvent {
    fn from(event: Event) -> Self {
        let named = |name: &str| Self {
            event: name.to_owned(),
            timestamp_ms: event.timestamp_ms.round(),
            ..Self::default()
        };
        match event.kind {
            EventKind::SpeechStart => named("speech_start"),
            EventKind::SpeechEnd => named("speech_end"),
            EventKind::Silence => named("silence"),
            EventKind::Timeout => named("timeout"),
            EventKind::Ended => Self {
                reason: Some("max_audio".to_owned()),
                ..named("ended")
            },
            EventKind::Beep {
                frequency_hz,
                duration_ms,
                confidence,
            } => Self {
                frequency_hz: Some(tenths(frequency_hz)),
                duration_ms: Some(f64::from(duration_ms.round())),
                confidence: Some(hundredths(confidence)),
                is_final: Some(true),
                ..named("beep")
            },
            EventKind::Detection(detection) => with_detection(named("detection"), &detection),
        }
    }
}

fn with_detection(event: NativeEvent, detection: &Detection) -> NativeEvent {
    NativeEvent {
        kind: Some(detection.kind.as_str().to_owned()),
        confidence: Some(hundredths(detection.confidence)),
        beep_detected: Some(detection.beep_detected),
        is_final: Some(detection.is_final),
        is_refinement: Some(detection.is_refinement),
        reason: Some(detection.reason.as_str().to_owned()),
        speech_ms: Some(f64::from(detection.speech_ms)),
        silence_ms: Some(f64::from(detection.silence_ms)),
        evidence: Some(Evidence::from(&detection.measured)),
        ..event
    }
}

impl From<&Measured> for Evidence {
    fn from(measured: &Measured) -> Self {
        let dtmf: String = measured
            .dtmf
            .iter()
            .filter(|&&digit| digit != 0)
            .map(|&digit| char::from(digit))
            .collect();
        Self {
            noise_floor_dbfs: tenths(measured.noise_floor_dbfs),
            level_dbfs: measured.level_dbfs.map(tenths),
            segments: measured.segments,
            turns: measured.turns,
            turn_ms: f64::from(measured.turn_ms),
            longest_pause_ms: f64::from(measured.longest_pause_ms),
            ringback_cycles: measured.ringback_cycles,
            sit: measured.sit,
            dtmf: (!dtmf.is_empty()).then_some(dtmf),
            words: "off".to_owned(),
        }
    }
}

fn tenths(value: f32) -> f64 {
    (f64::from(value) * 10.0).round() / 10.0
}

fn hundredths(value: f32) -> f64 {
    (f64::from(value) * 100.0).round() / 100.0
}
