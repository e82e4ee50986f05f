//! The voicemail beep: a steady tone that ends.
//!
//! ```text
//! idle ──pure hop──▶ held ──level falls by half──▶ ending ──110 ms of nothing like it──▶ judged ──▶ idle
//!                     ▲  └─other sound, same level──▶ idle   │
//!                     └────────tone is back (lost packets)───┘──another tone──▶ idle
//! ```

use tonegate_dsp::{BINS, Frame};

use crate::peaks::{PURE, Peaks, power_at};
use crate::track::{Edge, Track};

/// A tone that ended like a record beep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beep {
    /// First sample of the tone.
    pub start_sample: u64,
    /// Sample after the tone's last one.
    pub end_sample: u64,
    /// Fundamental, in hertz; of a chirp the middle, of two tones the stronger.
    pub frequency_hz: f32,
    /// Length of the tone, in milliseconds.
    pub duration_ms: u32,
    /// Share of such tones that were record beeps, 0–1.
    pub confidence: f32,
}

/// Beeps lie within these (seen in calls: 660–1,336 Hz).
const LOWEST_HZ: f32 = 385.0;
const HIGHEST_HZ: f32 = 2_060.0;

/// Samples after the tone's end during which its level must stay down: 110 ms. With the hop in which that is complete, the
/// pair of hops the front end measures together, and a packet of 20 ms, a beep is told within 150 ms of its end.
const PROOF_SAMPLES: u64 = 880;

/// The tone may come back within this after its end (two lost packets), 50 ms.
const RETURN_SAMPLES: u64 = 400;

/// Amplitude that counts as fallen (6.5 dB), and as back (3 dB).
const FALLEN: f32 = 0.473;
const BACK: f32 = 0.7;

/// Hops without the tone, at its level, after which it is lost in another sound.
const MISSED_HOPS: u32 = 6;

/// Hops of another tone that make the first one a part of a melody or of SIT.
const OTHER_HOPS: u32 = 3;

/// Another tone counts when it is at most this much weaker (amplitude; 17 dB).
const OTHER_AMPLITUDE: f32 = 0.14;

/// After a record beep the whole line falls silent, not its pitch alone: in music the other instruments play on. Energy of
/// a hop that counts as sound (7 dB below the tone), when counting begins (30 ms), and how many make it music; one click
/// does not.
const LOUD: f32 = 0.2;
const LOUD_AFTER_SAMPLES: u64 = 240;
const LOUD_HOPS: u32 = 5;

/// Pitches further apart than this share are not the same tone.
const SAME_PITCH: f32 = 0.03;

/// No tone of another pitch within this before a beep: 400 ms.
const QUIET_BEFORE_SAMPLES: u64 = 3_200;

/// Tones within this are one tune or cadence: 4 s.
const TUNE_SAMPLES: u64 = 32_000;

/// Tones before one that make it a part of a tune.
const TUNE_TONES: u32 = 2;

/// Tones remembered.
const REMEMBERED: usize = 4;

/// One hop as the tracker wants it.
pub(crate) struct Hop<'a, 'b> {
    pub(crate) frame: &'a Frame<'b>,
    pub(crate) peaks: Peaks,
    /// A voice was heard earlier.
    pub(crate) speech_before: bool,
    /// The hop belongs to a pair of call-progress or DTMF tones.
    pub(crate) pair: bool,
}

/// A finished steady tone, for what comes after it.
#[derive(Debug, Clone, Copy)]
struct Past {
    frequency_hz: f32,
    end_sample: u64,
}

/// Follows one tone at a time and judges it when it has ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct BeepTracker {
    track: Option<Track>,
    past: [Option<Past>; REMEMBERED],
    next_past: usize,
}

impl BeepTracker {
    /// Takes a hop; a beep when its end is proven.
    pub(crate) fn push(&mut self, hop: &Hop<'_, '_>) -> Option<Beep> {
        let Some(track) = &mut self.track else {
            self.track = open(hop);
            return None;
        };
        match advance(track, hop) {
            Step::Keep => None,
            Step::Drop => {
                self.close(hop, hop.frame.end_sample);
                None
            }
            Step::Proven(end_sample) => {
                let beep = self.judge(end_sample, hop.speech_before);
                self.close(hop, end_sample);
                beep
            }
        }
    }

    /// Remembers the tone if it was one, and begins the next.
    fn close(&mut self, hop: &Hop<'_, '_>, end_sample: u64) {
        if let Some(track) = self
            .track
            .as_ref()
            .filter(|track| track.figures().is_steady_tone())
        {
            self.past[self.next_past] = Some(Past {
                frequency_hz: track.frequency_hz(),
                end_sample,
            });
            self.next_past = (self.next_past + 1) % REMEMBERED;
        }
        self.track = open(hop);
    }

    /// Hops for which the current tone has been steady; 0 when there is none.
    pub(crate) fn steady_hops(&self) -> u32 {
        self.track
            .as_ref()
            .filter(|track| track.ending.is_none())
            .map_or(0, |track| track.tonal)
    }

    fn judge(&self, end_sample: u64, speech_before: bool) -> Option<Beep> {
        let track = self.track.as_ref()?;
        let end_sample = end_sample + track.fade_samples();
        let start_sample = track.start_sample(end_sample);
        let frequency_hz = track.frequency_hz();
        let duration_ms = ((end_sample - start_sample) / 8) as u32;
        let confidence = track.figures().confidence(duration_ms, speech_before)?;
        if !(LOWEST_HZ..=HIGHEST_HZ).contains(&frequency_hz)
            || is_signal(frequency_hz, duration_ms, speech_before)
        {
            return None;
        }
        let mut in_tune = 0;
        for past in self.past.iter().flatten() {
            let gap = start_sample.saturating_sub(past.end_sample);
            let other_pitch = (past.frequency_hz / frequency_hz - 1.0).abs() > SAME_PITCH;
            if other_pitch && gap < QUIET_BEFORE_SAMPLES {
                return None;
            }
            in_tune += u32::from(gap < TUNE_SAMPLES);
        }
        (in_tune < TUNE_TONES).then_some(Beep {
            start_sample,
            end_sample,
            frequency_hz,
            duration_ms,
            confidence,
        })
    }
}

enum Step {
    Keep,
    Drop,
    Proven(u64),
}

fn open(hop: &Hop<'_, '_>) -> Option<Track> {
    let pitch = hop.peaks.frequency_hz;
    (hop.peaks.purity >= PURE && (LOWEST_HZ - 50.0..HIGHEST_HZ + 300.0).contains(&pitch))
        .then(|| Track::new(hop, amplitude(hop.frame.power, pitch)))
}

fn advance(track: &mut Track, hop: &Hop<'_, '_>) -> Step {
    let now = amplitude(hop.frame.power, track.expected_hz());
    let matched = track.matching(&hop.peaks);
    let steady = track.amplitude();
    if let Some(end_sample) = track.ending {
        let since = hop.frame.end_sample.saturating_sub(end_sample);
        if matched.is_some() && now > BACK * steady && since <= RETURN_SAMPLES + 128 {
            track.ending = None;
            track.loud = 0;
        } else {
            track.follow_fade(Edge {
                amplitude: now,
                end_sample: hop.frame.end_sample,
            });
            return prove(track, hop, now, since);
        }
    }
    match matched {
        Some(pitch) if now >= FALLEN * steady => {
            track.take(hop, pitch, amplitude(hop.frame.power, pitch));
            Step::Keep
        }
        _ if track.tonal < 4 => Step::Drop,
        _ if now < FALLEN * steady => {
            track.fall(Edge {
                amplitude: now,
                end_sample: hop.frame.end_sample,
            });
            Step::Keep
        }
        _ => {
            track.miss(now, hop.frame.end_sample);
            if track.missed > MISSED_HOPS {
                Step::Drop
            } else {
                Step::Keep
            }
        }
    }
}

/// The time after the fall: nothing like the tone, no other tone.
fn prove(track: &mut Track, hop: &Hop<'_, '_>, now: f32, since: u64) -> Step {
    let pitch = hop.peaks.frequency_hz;
    let other = hop.peaks.purity >= PURE
        && (pitch / track.frequency_hz() - 1.0).abs() > SAME_PITCH
        && amplitude(hop.frame.power, pitch) > OTHER_AMPLITUDE * track.amplitude();
    if since >= LOUD_AFTER_SAMPLES {
        track.loud += u32::from(hop.frame.energy > LOUD * track.mean_square());
    }
    track.others = if other { track.others + 1 } else { 0 };
    track.risen += u32::from(now > FALLEN * track.amplitude());
    if track.others >= OTHER_HOPS || track.risen > 2 || track.loud >= LOUD_HOPS {
        Step::Drop
    } else if since >= PROOF_SAMPLES {
        Step::Proven(hop.frame.end_sample - since)
    } else {
        Step::Keep
    }
}

/// Single tones that networks and machines send and that beeps must not be taken for. Alone on the line the whole
/// neighbourhood is suspect; after a voice only what matches the standard in pitch and in length.
fn is_signal(frequency_hz: f32, duration_ms: u32, speech_before: bool) -> bool {
    let near = |hz: f32, tolerance: f32| (frequency_hz - hz).abs() <= tolerance;
    let lasts = |ms: u32, share: f32| (duration_ms as f32 / ms as f32 - 1.0).abs() <= share;
    if !speech_before {
        // ITU-T T.30: CNG is 1,100 Hz ± 38 Hz for 0.5 s ± 15 %. ITU-T E.180: single tones of call progress lie at 400–450 Hz.
        return (near(1_100.0, 38.0) && lasts(500, 0.18)) || (390.0..460.0).contains(&frequency_hz);
    }
    let progress = PROGRESS
        .iter()
        .any(|&(hz, lengths_ms)| near(hz, 2.5) && lengths_ms.iter().any(|&ms| lasts(ms, 0.04)));
    // Call waiting: 440 Hz for 300 ms (North America), 400 Hz for 100 ms (United Kingdom), whose length is known to a hop.
    let waiting = (near(440.0, 2.5) && lasts(300, 0.05)) || (near(400.0, 2.5) && lasts(100, 0.12));
    progress || waiting || (near(1_100.0, 10.0) && lasts(500, 0.04))
}

/// Single-frequency busy, congestion and ringing tones of ITU-T E.180 supplement 2: hertz, and lengths of their bursts.
const PROGRESS: [(f32, &[u32]); 3] = [
    (400.0, &[375, 400]),
    (425.0, &[200, 250, 330, 400, 500, 670, 1_000, 1_200]),
    (450.0, &[350, 400, 700, 1_000]),
];

fn amplitude(power: &[f32; BINS], frequency_hz: f32) -> f32 {
    power_at(power, frequency_hz).sqrt()
}
