//! Levels in dBFS.

/// Level given to digital silence, in dBFS: below the smallest step of 16-bit samples.
pub const SILENCE_DBFS: f32 = -100.0;

/// Mean square to dBFS, where 0 is a full-scale square wave (a full-scale sine is −3.01); never below [`SILENCE_DBFS`].
#[must_use]
pub fn dbfs(mean_square: f32) -> f32 {
    // log2 is one instruction sequence; the factor is 10 · log10(2).
    (3.010_3 * mean_square.max(1e-10).log2()).max(SILENCE_DBFS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_scale_sine_is_three_decibels_below_full_scale() {
        assert!((dbfs(0.5) + 3.01).abs() < 0.01);
        assert_eq!(dbfs(0.0), SILENCE_DBFS);
    }
}
