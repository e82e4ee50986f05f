//! Synthetic telephone lines for the tone tests: fixed seeds, mu-law, 10 ms hops.

#![allow(dead_code, reason = "each test file uses its own part")]

use tonegate_detect::{Beep, Signal, SignalKind, ToneEvent, ToneFrame, Tones};
use tonegate_dsp::{Decoder, Encoding, FrontEnd};

/// Samples per millisecond.
pub const PER_MS: usize = 8;

/// What the detector made of a line.
#[derive(Default)]
pub struct Heard {
    pub beeps: Vec<Beep>,
    pub signals: Vec<Signal>,
    /// Media time at which each beep was told, in samples.
    pub told_at: Vec<u64>,
    pub hops: Vec<ToneFrame>,
}

impl Heard {
    pub fn kinds(&self) -> Vec<SignalKind> {
        self.signals.iter().map(|signal| signal.kind).collect()
    }

    /// Share of the hops between two times that were tonal.
    pub fn tonal_share(&self, from_ms: usize, to_ms: usize) -> f32 {
        let hops = &self.hops[from_ms / 10..to_ms / 10];
        hops.iter().filter(|hop| hop.tonal).count() as f32 / hops.len() as f32
    }
}

/// A line under construction.
pub struct Line {
    pub samples: Vec<f32>,
    seed: u64,
}

impl Line {
    pub fn new() -> Self {
        Self {
            samples: Vec::new(),
            seed: 0x9e37_79b9_7f4a_7c15,
        }
    }

    /// A line on which a voice was heard: 800 ms of it, and a pause.
    pub fn after_voice(pause_ms: usize) -> Self {
        Self::new().silence(200).voice(800).silence(pause_ms)
    }

    pub fn now(&self) -> u64 {
        self.samples.len() as u64
    }

    pub fn silence(mut self, ms: usize) -> Self {
        self.samples.extend(std::iter::repeat_n(0.0, ms * PER_MS));
        self
    }

    /// Steady tones of equal level, together at `dbfs`.
    pub fn tones(self, hz: &[f32], dbfs: f32, ms: usize) -> Self {
        self.glide(hz, 1.0, dbfs, ms)
    }

    /// Tones whose frequency moves to `factor` times the first in a straight line.
    pub fn glide(mut self, hz: &[f32], factor: f32, dbfs: f32, ms: usize) -> Self {
        let count = ms * PER_MS;
        let amplitude = (2.0 / hz.len() as f32).sqrt() * 10_f32.powf(dbfs / 20.0);
        let mut phases = vec![0.0_f32; hz.len()];
        for n in 0..count {
            let stretch = 1.0 + (factor - 1.0) * n as f32 / count as f32;
            let mut sum = 0.0;
            for (phase, hz) in phases.iter_mut().zip(hz) {
                *phase = (*phase + hz * stretch / 8_000.0).fract();
                sum += (std::f32::consts::TAU * *phase).sin();
            }
            self.samples.push(amplitude * sum);
        }
        self
    }

    /// A buzz with moving pitch and formants: not a person, but as little a tone as one.
    pub fn voice(mut self, ms: usize) -> Self {
        let mut phase = 0.0_f32;
        for n in 0..ms * PER_MS {
            let t = n as f32 / 8_000.0;
            let pitch = 130.0 * (1.0 + 0.2 * (std::f32::consts::TAU * 2.3 * t).sin());
            let formant = 700.0 + 400.0 * (std::f32::consts::TAU * 3.1 * t).sin();
            phase = (phase + pitch / 8_000.0).fract();
            let sum: f32 = (1..20)
                .map(|k| {
                    let hz = pitch * k as f32;
                    let gain = 1.0 / (1.0 + ((hz - formant) / 250.0).powi(2)) + 0.1;
                    gain * (std::f32::consts::TAU * phase * k as f32).sin()
                })
                .sum();
            self.samples.push(0.06 * sum);
        }
        self
    }

    /// A struck bell: the tone falls by 60 dB in a second and a half.
    pub fn bell(mut self, hz: f32, dbfs: f32, ms: usize) -> Self {
        let amplitude = 2_f32.sqrt() * 10_f32.powf(dbfs / 20.0);
        for n in 0..ms * PER_MS {
            let t = n as f32 / 8_000.0;
            self.samples
                .push(amplitude * 10_f32.powf(-2.0 * t) * (std::f32::consts::TAU * hz * t).sin());
        }
        self
    }

    /// White noise over all of the line so far.
    pub fn with_noise(mut self, dbfs: f32) -> Self {
        let amplitude = 3_f32.sqrt() * 10_f32.powf(dbfs / 20.0);
        for index in 0..self.samples.len() {
            self.seed ^= self.seed << 13;
            self.seed ^= self.seed >> 7;
            self.seed ^= self.seed << 17;
            let uniform = (self.seed >> 40) as f32 / 8_388_608.0 - 1.0;
            self.samples[index] += amplitude * uniform;
        }
        self
    }

    /// A lost packet: 20 ms of nothing.
    pub fn with_hole(mut self, at_ms: usize) -> Self {
        self.samples[at_ms * PER_MS..(at_ms + 20) * PER_MS].fill(0.0);
        self
    }

    /// Through mu-law into the detector, with 400 ms of silence behind.
    pub fn listen(self, speech_before: bool) -> Heard {
        let bytes: Vec<u8> = self
            .silence(400)
            .samples
            .iter()
            .map(|&sample| mulaw(sample))
            .collect();
        let mut decoder = Decoder::new(Encoding::Mulaw, 8_000).expect("8 kHz is supported");
        listen_to(&mut decoder, &bytes, speech_before)
    }
}

/// Runs bytes through a decoder, a front end and the tone detector.
pub fn listen_to(decoder: &mut Decoder, bytes: &[u8], speech_before: bool) -> Heard {
    let mut front_end = FrontEnd::new();
    let mut tones = Tones::new();
    let mut events = Vec::with_capacity(4);
    let mut heard = Heard::default();
    decoder.decode(bytes, |samples| {
        front_end.push(samples, |frame| {
            heard
                .hops
                .push(tones.push(frame, speech_before, &mut events));
            for event in events.drain(..) {
                match event {
                    ToneEvent::Beep(beep) => {
                        heard.beeps.push(beep);
                        heard.told_at.push(frame.end_sample);
                    }
                    ToneEvent::Signal(signal) => heard.signals.push(signal),
                    _ => unreachable!("there are two kinds of tone events"),
                }
            }
        });
    });
    heard
}

/// ITU-T G.711 compression.
pub fn mulaw(sample: f32) -> u8 {
    let magnitude = ((sample.abs() * 32_768.0) as u32 + 132).min(32_767);
    let segment = (magnitude >> 7).ilog2();
    let step = (magnitude >> (segment + 3)) & 0x0f;
    let sign = if sample < 0.0 { 0x80 } else { 0 };
    !(sign | (segment << 4) | step) as u8
}
