//! Levels in dBFS and the adapting noise floor.

/// Level given to digital silence, in dBFS: below the smallest step of 16-bit samples.
pub const SILENCE_DBFS: f32 = -100.0;

/// Mean square to dBFS, where 0 is a full-scale square wave (a full-scale sine is −3.01); never below [`SILENCE_DBFS`].
#[must_use]
pub fn dbfs(mean_square: f32) -> f32 {
    // log2 is one instruction sequence; the factor is 10 · log10(2).
    (3.010_3 * mean_square.max(1e-10).log2()).max(SILENCE_DBFS)
}

/// Hops per block of the minimum search: 200 ms.
const BLOCK_HOPS: u16 = 20;

/// Blocks searched: 1.6 s, longer than any stretch of speech without a pause or a closed consonant.
const BLOCKS: usize = 8;

/// Weight of the newest hop in the smoothed energy; about 40 ms of memory.
const SMOOTHING: f32 = 0.25;

/// The minimum of smoothed noise lies about this far below its mean (measured on white noise, mu-law).
const MINIMUM_BIAS_DB: f32 = 2.0;

/// The floor rises at most by this per hop (30 dB/s), so a raised voice does not become the floor at once.
const RISE_DB_PER_HOP: f32 = 0.3;

/// Noise floor of a line by minimum statistics: the least of the smoothed energy over the last 1.6 s.
///
/// Falls within a hop, rises at 30 dB/s at most once the louder noise has lasted 1.6 s.
#[derive(Debug, Clone)]
pub struct NoiseFloor {
    smoothed: f32,
    block_minimums: [f32; BLOCKS],
    block: usize,
    hops_in_block: u16,
    floor_dbfs: f32,
    started: bool,
}

impl Default for NoiseFloor {
    fn default() -> Self {
        Self::new()
    }
}

impl NoiseFloor {
    /// A floor that knows nothing yet; the first hop sets it.
    #[must_use]
    pub fn new() -> Self {
        Self {
            smoothed: 0.0,
            block_minimums: [f32::MAX; BLOCKS],
            block: 0,
            hops_in_block: 0,
            floor_dbfs: SILENCE_DBFS,
            started: false,
        }
    }

    /// Takes the mean square of one hop and returns the floor in dBFS.
    pub fn update(&mut self, mean_square: f32) -> f32 {
        if self.started {
            self.smoothed += SMOOTHING * (mean_square - self.smoothed);
        } else {
            self.smoothed = mean_square;
        }
        let slot = &mut self.block_minimums[self.block];
        *slot = slot.min(self.smoothed);
        let minimum = self.block_minimums.iter().copied().fold(f32::MAX, f32::min);
        let target = (dbfs(minimum) + MINIMUM_BIAS_DB).max(SILENCE_DBFS);
        self.floor_dbfs = if self.started {
            target.min(self.floor_dbfs + RISE_DB_PER_HOP)
        } else {
            target
        };
        self.started = true;
        self.hops_in_block += 1;
        if self.hops_in_block == BLOCK_HOPS {
            self.hops_in_block = 0;
            self.block = (self.block + 1) % BLOCKS;
            self.block_minimums[self.block] = f32::MAX;
        }
        self.floor_dbfs
    }

    /// The floor in dBFS; [`SILENCE_DBFS`] before the first hop.
    #[must_use]
    pub fn dbfs(&self) -> f32 {
        self.floor_dbfs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_scale_sine_is_three_decibels_below_full_scale() {
        assert!((dbfs(0.5) + 3.01).abs() < 0.01);
        assert_eq!(dbfs(0.0), SILENCE_DBFS);
    }

    #[test]
    fn floor_follows_noise_down_at_once_and_up_after_a_while() {
        let mut floor = NoiseFloor::new();
        for _ in 0..200 {
            floor.update(1e-4);
        }
        assert!((floor.dbfs() + 38.0).abs() < 0.5);
        for _ in 0..40 {
            floor.update(1e-6);
        }
        assert!((floor.dbfs() + 58.0).abs() < 0.5);
        for _ in 0..100 {
            floor.update(1e-4);
        }
        assert!(
            floor.dbfs() < -57.0,
            "a second of something louder is not yet the floor"
        );
        for _ in 0..200 {
            floor.update(1e-4);
        }
        assert!((floor.dbfs() + 38.0).abs() < 0.5);
    }
}
