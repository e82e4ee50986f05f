//! 16 kHz to 8 kHz with a half-band filter.

/// Taps on one side of the centre that are not zero.
const SIDE_TAPS: usize = 12;

/// Filter length: every second tap beside the centre is zero.
const LEN: usize = 4 * SIDE_TAPS - 1;

/// Samples kept in front of a block.
const HISTORY: usize = LEN - 1;

/// Input samples filtered at a time.
const BLOCK: usize = 64;

/// Kaiser window parameter for 60 dB of stop-band attenuation; with 47 taps the transition is 3.4–4.6 kHz.
const KAISER_BETA: f64 = 5.65;

/// Halves the rate; keeps the speech band up to 3.4 kHz and suppresses by 60 dB what would fold back onto it.
#[derive(Debug, Clone)]
pub(crate) struct Decimator {
    taps: [f32; SIDE_TAPS],
    /// Past input, then the block being gathered.
    line: [f32; HISTORY + BLOCK],
    gathered: usize,
}

impl Decimator {
    pub(crate) fn new() -> Self {
        Self {
            taps: side_taps(),
            line: [0.0; HISTORY + BLOCK],
            gathered: 0,
        }
    }

    /// Takes one 16 kHz sample; each second one gives an 8 kHz sample.
    pub(crate) fn push(&mut self, sample: f32) -> Option<f32> {
        self.line[HISTORY + self.gathered] = sample;
        self.gathered += 1;
        let output = (self.gathered & 1 == 0).then(|| self.filter());
        if self.gathered == BLOCK {
            self.line.copy_within(BLOCK.., 0);
            self.gathered = 0;
        }
        output
    }

    /// Filter output for the newest `LEN` samples.
    fn filter(&self) -> f32 {
        let window = &self.line[self.gathered - 1..self.gathered - 1 + LEN];
        let centre = LEN / 2;
        let mut sum = 0.5 * window[centre];
        for (index, tap) in self.taps.iter().enumerate() {
            let distance = 2 * index + 1;
            sum += tap * (window[centre - distance] + window[centre + distance]);
        }
        sum
    }
}

/// Windowed-sinc taps at the odd distances from the centre, scaled so that the filter passes a constant unchanged.
fn side_taps() -> [f32; SIDE_TAPS] {
    let half = (LEN / 2) as f64 + 1.0;
    let ideal: [f64; SIDE_TAPS] = std::array::from_fn(|index| {
        let distance = (2 * index + 1) as f64;
        let phase = std::f64::consts::PI * distance / 2.0;
        let window = bessel_i0(KAISER_BETA * (1.0 - (distance / half).powi(2)).sqrt())
            / bessel_i0(KAISER_BETA);
        0.5 * phase.sin() / phase * window
    });
    let gain = 0.25 / ideal.iter().sum::<f64>();
    ideal.map(|tap| (tap * gain) as f32)
}

/// Modified Bessel function of order 0 by its power series; 30 terms are exact in f64 for arguments below 10.
fn bessel_i0(x: f64) -> f64 {
    let mut term = 1.0;
    let mut sum = 1.0;
    for k in 1..30 {
        term *= (x / (2.0 * f64::from(k))).powi(2);
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RMS at the output for a full-scale sine of `frequency_hz` at the 16 kHz input.
    fn response_db(frequency_hz: f64) -> f64 {
        let mut decimator = Decimator::new();
        let mut output = Vec::new();
        for n in 0..16_000 {
            let phase = std::f64::consts::TAU * frequency_hz * f64::from(n) / 16_000.0;
            output.extend(decimator.push(phase.sin() as f32));
        }
        let settled = &output[100..];
        let mean_square =
            settled.iter().map(|s| f64::from(*s).powi(2)).sum::<f64>() / settled.len() as f64;
        10.0 * (2.0 * mean_square).log10()
    }

    #[test]
    fn speech_band_passes_and_what_would_alias_onto_it_is_gone() {
        for frequency_hz in [60.0, 300.0, 1_000.0, 2_000.0, 3_000.0, 3_400.0] {
            assert!(
                response_db(frequency_hz).abs() < 0.1,
                "{frequency_hz} Hz: {} dB",
                response_db(frequency_hz)
            );
        }
        for frequency_hz in [4_650.0, 5_000.0, 6_000.0, 7_000.0, 7_900.0] {
            assert!(
                response_db(frequency_hz) < -55.0,
                "{frequency_hz} Hz: {} dB",
                response_db(frequency_hz)
            );
        }
    }
}
