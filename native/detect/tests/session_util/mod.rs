//! Calls made by rule, played to a session on virtual time.
#![allow(dead_code, reason = "each test file uses its own part")]

use tonegate_detect::{
    Config, Detection, Encoding, Event, EventKind, Input, Reason, Session, Strategy, VerdictKind,
};

/// Samples a millisecond.
const RATE: usize = 8;

/// A deterministic source of noise (xorshift).
pub struct Noise(u32);

impl Noise {
    pub fn new(seed: u32) -> Self {
        Self(seed | 1)
    }

    /// Uniform in [-1, 1).
    pub fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 as f32 / 2_147_483_648.0 - 1.0
    }
}

/// Line noise of about −66 dBFS.
pub fn line(ms: usize) -> Vec<f32> {
    let mut noise = Noise::new(7);
    (0..ms * RATE).map(|_| noise.next() * 8e-4).collect()
}

/// Something like speech: gliding harmonics under formants, in syllables four times a second, with unvoiced edges.
pub fn speech(ms: usize) -> Vec<f32> {
    let mut noise = Noise::new(99);
    let mut phase = 0.0_f32;
    (0..ms * RATE)
        .map(|n| {
            let t = n as f32 / 8_000.0;
            let pitch_hz = 130.0 * (1.0 + 0.25 * (std::f32::consts::TAU * 2.1 * t).sin());
            phase = (phase + pitch_hz / 8_000.0).fract();
            let syllable = (std::f32::consts::PI * 4.0 * t).sin().abs();
            let formant_hz = 500.0 + 250.0 * (std::f32::consts::TAU * 1.3 * t).sin();
            let voiced: f32 = (1..20)
                .map(|k| {
                    let hz = k as f32 * pitch_hz;
                    let gain = 1.0 / (1.0 + ((hz - formant_hz) / 250.0).powi(2))
                        + 0.2 / (1.0 + ((hz - 1_600.0) / 300.0).powi(2));
                    gain * (std::f32::consts::TAU * k as f32 * phase).sin()
                })
                .sum();
            0.12 * syllable.powf(1.5) * voiced + 0.01 * (1.0 - syllable) * noise.next()
        })
        .collect()
}

/// Sines of equal level, each of amplitude 0.1.
pub fn tones(frequencies_hz: &[f32], ms: usize) -> Vec<f32> {
    (0..ms * RATE)
        .map(|n| {
            let t = n as f32 / 8_000.0;
            frequencies_hz
                .iter()
                .map(|hz| 0.1 * (std::f32::consts::TAU * hz * t).sin())
                .sum()
        })
        .collect()
}

/// US ringback: 2 s of 440 and 480 Hz, 4 s of rest.
pub fn ring() -> Vec<f32> {
    call(&[tones(&[440.0, 480.0], 2_000), vec![0.0; 4_000 * RATE]])
}

/// The parts on end, over line noise.
pub fn call(parts: &[Vec<f32>]) -> Vec<f32> {
    let whole = parts.concat();
    let noise = line(whole.len() / RATE);
    whole.iter().zip(noise).map(|(a, b)| a + b).collect()
}

/// Little-endian 16-bit bytes.
pub fn pcm16(samples: &[f32]) -> Vec<u8> {
    samples
        .iter()
        .flat_map(|sample| ((sample.clamp(-1.0, 1.0) * 32_767.0) as i16).to_le_bytes())
        .collect()
}

pub fn config(strategy: Strategy) -> Config {
    Config {
        encoding: Encoding::Pcm16,
        sample_rate_hz: 8_000,
        strategy,
        detection_timeout_ms: 45_000,
    }
}

/// A session and everything it has said, each event with the wall time at which it came.
pub struct Line {
    pub session: Session,
    pub now_ms: f64,
    pub events: Vec<Event>,
}

impl Line {
    pub fn new(config: Config) -> Self {
        let session = Session::new(config).expect("the tests' settings are valid");
        Self {
            session,
            now_ms: 1_000.0,
            events: Vec::new(),
        }
    }

    pub fn standard() -> Self {
        Self::new(config(Strategy::Standard))
    }

    /// Audio in 20 ms frames, in real time.
    pub fn play(&mut self, samples: &[f32]) -> &mut Self {
        for frame in pcm16(samples).chunks(320) {
            self.now_ms += 20.0;
            self.put(Input::Audio {
                bytes: frame,
                media_ms: None,
            });
        }
        self
    }

    pub fn put(&mut self, input: Input<'_>) -> &mut Self {
        self.session.handle(self.now_ms, input);
        while let Some(event) = self.session.poll_event() {
            self.events.push(event);
        }
        self
    }

    /// Wall time passes without audio.
    pub fn wait(&mut self, ms: f64) -> &mut Self {
        self.now_ms += ms;
        self.put(Input::Tick)
    }

    pub fn stop(&mut self) -> &mut Self {
        self.put(Input::Stop)
    }

    pub fn detections(&self) -> Vec<Detection> {
        self.events
            .iter()
            .filter_map(|event| match event.kind {
                EventKind::Detection(detection) => Some(detection),
                _ => None,
            })
            .collect()
    }

    /// Type, reason and finality of each verdict.
    pub fn verdicts(&self) -> Vec<(VerdictKind, Reason, bool)> {
        self.detections()
            .iter()
            .map(|d| (d.kind, d.reason, d.is_final))
            .collect()
    }

    pub fn last(&self) -> Detection {
        *self.detections().last().expect("a verdict was given")
    }

    pub fn count(&self, wanted: impl Fn(&EventKind) -> bool) -> usize {
        self.events
            .iter()
            .filter(|event| wanted(&event.kind))
            .count()
    }

    /// Media time of the first event that is wanted.
    pub fn at(&self, wanted: impl Fn(&EventKind) -> bool) -> Option<f64> {
        self.events
            .iter()
            .find(|event| wanted(&event.kind))
            .map(|event| event.timestamp_ms)
    }
}
