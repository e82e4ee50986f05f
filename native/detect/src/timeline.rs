//! Media time and wall time of one session.
//!
//! Media time is where the received audio lies: samples received, plus the gaps that the wire's own time stamps
//! show. The clock is what deadlines run on: the further of media time and wall since it was started.

use tonegate_dsp::SAMPLE_RATE_HZ;

/// Smallest jump of the wire's time stamps that is a gap and not rounding: half a 20 ms frame.
const GAP_MIN_MS: f64 = 10.0;

/// Gaps remembered to place a moment that lies before the newest audio; events reach back about a second.
const GAPS_MAX: usize = 8;

/// Largest time taken, of the wire or the wall, 2^53: whole milliseconds are exact below it.
const STAMP_MAX_MS: f64 = 9_007_199_254_740_992.0;

/// The wall is kept in steps of about a microsecond, a power of two: sums with whole milliseconds are then exact, and a
/// deadline that was named is reached when its time has come, not a rounding error later.
const WALL_STEPS_PER_MS: f64 = 1_024.0;

/// Media milliseconds of a number of 8 kHz samples.
pub(crate) fn samples_ms(samples: u64) -> f64 {
    #[allow(
        clippy::cast_precision_loss,
        reason = "300 s of samples are far below 2^52"
    )]
    let samples = samples as f64;
    samples * 1_000.0 / f64::from(SAMPLE_RATE_HZ)
}

#[derive(Debug, Clone, Copy, Default)]
struct Gap {
    from_sample: u64,
    total_ms: f64,
}

#[derive(Debug, Clone, Copy)]
struct Clock {
    media_ms: f64,
    wall_ms: f64,
}

/// Where the audio lies, and how long the clock has run.
#[derive(Debug)]
pub(crate) struct Timeline {
    received: u64,
    gaps: [Gap; GAPS_MAX],
    gap_count: usize,
    stamp_base_ms: Option<f64>,
    wall_ms: f64,
    first_wall_ms: Option<f64>,
    clock: Option<Clock>,
}

impl Timeline {
    pub(crate) fn new() -> Self {
        Self {
            received: 0,
            gaps: [Gap::default(); GAPS_MAX],
            gap_count: 0,
            stamp_base_ms: None,
            wall_ms: 0.0,
            first_wall_ms: None,
            clock: None,
        }
    }

    /// Takes the caller's time; a step back, no number or one past [`STAMP_MAX_MS`] counts as no step. The clock runs from the first call.
    pub(crate) fn observe(&mut self, now_ms: f64) {
        let now_ms = (now_ms * WALL_STEPS_PER_MS).floor() / WALL_STEPS_PER_MS;
        if now_ms > self.wall_ms && now_ms <= STAMP_MAX_MS {
            self.wall_ms = now_ms;
        }
        if self.clock.is_none() {
            self.restart();
        }
    }

    /// A chunk of audio begins behind `waiting` samples that [`Self::advance`] has not counted yet, at `media_ms` of the
    /// wire's own time where it says so. The first one is the answer.
    pub(crate) fn begin_audio(&mut self, media_ms: Option<f64>, waiting: u64) {
        if self.first_wall_ms.is_none() {
            self.first_wall_ms = Some(self.wall_ms);
            self.restart();
        }
        let Some(stamp_ms) = media_ms.filter(|stamp| stamp.is_finite()) else {
            return;
        };
        let stamp_ms = stamp_ms.clamp(0.0, STAMP_MAX_MS);
        let here_ms = self.position_ms() + samples_ms(waiting);
        let base_ms = *self.stamp_base_ms.get_or_insert(stamp_ms - here_ms);
        let gap_ms = stamp_ms - base_ms - here_ms;
        if gap_ms >= GAP_MIN_MS {
            self.add_gap(self.received + waiting, gap_ms);
        }
    }

    fn add_gap(&mut self, from_sample: u64, gap_ms: f64) {
        let total_ms = self.gap_total_ms() + gap_ms;
        if self.gap_count == GAPS_MAX {
            self.gaps.rotate_left(1);
            self.gap_count -= 1;
        }
        self.gaps[self.gap_count] = Gap {
            from_sample,
            total_ms,
        };
        self.gap_count += 1;
    }

    fn gap_total_ms(&self) -> f64 {
        self.gap_count
            .checked_sub(1)
            .map_or(0.0, |last| self.gaps[last].total_ms)
    }

    /// The audio has come as far as `samples` (8 kHz, since the first).
    pub(crate) fn advance(&mut self, samples: u64) {
        self.received = samples;
    }

    /// Samples received.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// Media time of the end of the audio received.
    pub(crate) fn position_ms(&self) -> f64 {
        samples_ms(self.received) + self.gap_total_ms()
    }

    /// Media time of one sample.
    pub(crate) fn at_ms(&self, sample: u64) -> f64 {
        let gaps = &self.gaps[..self.gap_count];
        let gap_ms = gaps
            .iter()
            .rev()
            .find(|gap| gap.from_sample < sample)
            .map_or(0.0, |gap| gap.total_ms);
        samples_ms(sample) + gap_ms
    }

    /// Starts the clock here: the answer, or the end of a ringback tone.
    pub(crate) fn restart(&mut self) {
        self.clock = Some(Clock {
            media_ms: self.position_ms(),
            wall_ms: self.wall_ms,
        });
    }

    /// Milliseconds of media since the clock started.
    pub(crate) fn media_elapsed_ms(&self) -> f64 {
        self.clock
            .map_or(0.0, |clock| self.position_ms() - clock.media_ms)
    }

    /// Milliseconds since the clock started, on the further of media time and wall.
    pub(crate) fn elapsed_ms(&self) -> f64 {
        let wall_ms = self.clock.map_or(0.0, |clock| self.wall_ms - clock.wall_ms);
        self.media_elapsed_ms().max(wall_ms)
    }

    /// Milliseconds since the first audio frame, on the further of media time and wall.
    pub(crate) fn session_ms(&self) -> f64 {
        let wall_ms = self.first_wall_ms.map_or(0.0, |first| self.wall_ms - first);
        self.position_ms().max(wall_ms)
    }

    /// Wall time at which the clock will have run for `after_ms`, if no more audio comes. Due at once before the
    /// first call, so that a session that never gets audio ends too.
    pub(crate) fn clock_deadline_ms(&self, after_ms: f64) -> f64 {
        self.clock.map_or(0.0, |clock| clock.wall_ms + after_ms)
    }

    /// Wall time at which the session will have lasted `after_ms`.
    pub(crate) fn session_deadline_ms(&self, after_ms: f64) -> f64 {
        self.first_wall_ms
            .map_or(f64::INFINITY, |first| first + after_ms)
    }
}
