//! Where a tone begins and ends, to the millisecond, from the amplitudes of whole hops.

use tonegate_dsp::{FFT_LEN, HOP};

use super::Track;

/// A spectrum is about the middle of its window.
const WINDOW_CENTRE: f64 = FFT_LEN as f64 / 2.0;

/// A Hann window reads a quarter of the amplitude when a tone ends this long before the window does.
const QUARTER_OF_WINDOW: f64 = 162.3;

/// Fades shorter than this (5 ms) are below what the crossings tell; longer ones (40 ms) are a room's echo.
const SHORTEST_FADE: f64 = 40.0;
const LONGEST_FADE: f64 = 320.0;

/// Amplitude and time of one hop.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Edge {
    pub(crate) amplitude: f32,
    pub(crate) end_sample: u64,
}

impl Track {
    /// The amplitude has fallen below half of its steady value, between the newest hop and this one.
    pub(crate) fn fall(&mut self, now: Edge) {
        let sample = self.crossing(now, 0.5) - WINDOW_CENTRE;
        self.ending = Some(sample.max(0.0) as u64);
        self.fade_samples = None;
        self.others = 0;
        self.risen = 0;
        self.follow_fade(now);
    }

    /// Looks for the fall below a quarter of the steady value. At an abrupt end it lies at the same place as that below
    /// half; in a straight fade as far behind it as the end lies behind again.
    pub(crate) fn follow_fade(&mut self, now: Edge) {
        if self.fade_samples.is_none() && now.amplitude < 0.25 * self.steady {
            let half = self.ending.unwrap_or(now.end_sample) as f64;
            let behind = 2.0 * (self.crossing(now, 0.25) - QUARTER_OF_WINDOW - half);
            let fades = (SHORTEST_FADE..=LONGEST_FADE).contains(&behind);
            self.fade_samples = Some(if fades { behind as u64 } else { 0 });
        }
        self.newest = now;
    }

    /// Samples between the fall to half and the end of a fade.
    pub(crate) fn fade_samples(&self) -> u64 {
        self.fade_samples.unwrap_or(0)
    }

    /// Time at which the amplitude passed a share of its steady value, between the newest hop and this one.
    fn crossing(&self, now: Edge, share: f32) -> f64 {
        let before = self.newest;
        let fall = before.amplitude - now.amplitude;
        let part = if fall > 0.0 {
            ((before.amplitude - share * self.steady) / fall).clamp(0.0, 1.0)
        } else {
            1.0
        };
        let step = now.end_sample.saturating_sub(before.end_sample) as f32;
        before.end_sample as f64 + f64::from(part * step)
    }

    /// Sample at which the amplitude rose over half of its steady value; before `end_sample`.
    pub(crate) fn start_sample(&self, end_sample: u64) -> u64 {
        let half = 0.5 * self.steady;
        let place = self
            .rise
            .iter()
            .position(|&amplitude| amplitude >= half)
            .unwrap_or(0);
        let below = if place == 0 {
            0.0
        } else {
            self.rise[place - 1]
        };
        let share =
            ((half - below) / (self.rise[place] - below).max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
        let hops = place as f32 - 1.0 + share;
        let start = self.start_end_sample as f64 + f64::from(hops * HOP as f32) - WINDOW_CENTRE;
        (start.max(0.0) as u64).min(end_sample)
    }
}
