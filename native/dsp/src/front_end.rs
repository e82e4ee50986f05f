//! Samples to one [`Frame`] per 10 ms, with its power spectrum.

use std::cell::RefCell;
use std::sync::Arc;

use rustfft::num_complex::Complex32;
use rustfft::{Fft, FftPlanner};

use crate::HOP;

/// Samples under the window of one spectrum: 32 ms.
pub const FFT_LEN: usize = 256;

/// Bins of the power spectrum, 0 to 4,000 Hz.
pub const BINS: usize = FFT_LEN / 2 + 1;

/// Distance of two bins, in hertz.
pub const BIN_HZ: f32 = 31.25;

/// Samples in [`Frame::recent`]: 80 ms.
pub const RECENT_LEN: usize = 640;

/// Sum of a frame's power bins over the mean square under its (Hann-weighted) window: a sine of amplitude 1 has a mean
/// square of 0.5 and bins that sum to 1.5.
pub const POWER_PER_MEAN_SQUARE: f32 = 3.0;

/// Hops measured together: one complex transform carries the real samples of two, which costs less than half of two real
/// transforms (`cargo bench -p tonegate-dsp`). The first of a pair waits 10 ms for the second, whatever the chunks.
const PAIR: usize = 2;

/// Hops between two moves of the history to the front of the line.
const LINE_HOPS: usize = 2 * PAIR;

/// Ten milliseconds of audio and what was measured on them.
#[derive(Debug)]
pub struct Frame<'a> {
    /// Hop number since the start, from 0.
    pub index: u64,
    /// Samples received up to and including this hop.
    pub end_sample: u64,
    /// Mean square of this hop's 80 samples.
    pub energy: f32,
    /// Power spectrum of the newest 256 samples under a Hann window. A sine of amplitude 1 whose frequency lies on a
    /// bin reads 1.0 there and 0.25 in both neighbours (see [`POWER_PER_MEAN_SQUARE`]). Before 256 samples have come, the
    /// missing ones are zero.
    pub power: &'a [f32; BINS],
    /// The newest 640 samples, oldest first; zero where none have come yet.
    pub recent: &'a [f32; RECENT_LEN],
}

/// Cuts samples into hops and measures each.
#[derive(Debug, Clone)]
pub struct FrontEnd {
    line: [f32; RECENT_LEN + LINE_HOPS * HOP],
    /// Hops between the front of the line and the history.
    moved: usize,
    /// Samples of the pair of hops being gathered.
    gathered: usize,
    hops: u64,
}

impl Default for FrontEnd {
    fn default() -> Self {
        Self::new()
    }
}

impl FrontEnd {
    /// An empty line; the thread's transform is planned with the first one.
    #[must_use]
    pub fn new() -> Self {
        TRANSFORM.with(|_| ());
        Self {
            line: [0.0; RECENT_LEN + LINE_HOPS * HOP],
            moved: 0,
            gathered: 0,
            hops: 0,
        }
    }

    /// Takes samples in pieces of any size; calls `sink` for each hop, twice whenever a pair of hops is complete.
    pub fn push(&mut self, samples: &[f32], mut sink: impl FnMut(&Frame<'_>)) {
        let mut samples = samples;
        while !samples.is_empty() {
            let taken = samples.len().min(PAIR * HOP - self.gathered);
            let start = RECENT_LEN + self.moved * HOP + self.gathered;
            self.line[start..start + taken].copy_from_slice(&samples[..taken]);
            samples = &samples[taken..];
            self.gathered += taken;
            if self.gathered == PAIR * HOP {
                self.complete_pair(&mut sink);
            }
        }
    }

    /// Samples taken that wait for their pair of hops to be complete.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.gathered
    }

    /// Forgets everything, as if newly built.
    pub fn reset(&mut self) {
        self.line.fill(0.0);
        self.moved = 0;
        self.gathered = 0;
        self.hops = 0;
    }

    fn complete_pair(&mut self, sink: &mut impl FnMut(&Frame<'_>)) {
        self.gathered = 0;
        self.moved += PAIR;
        let mut power = [[0.0; BINS]; PAIR];
        TRANSFORM.with_borrow_mut(|transform| {
            transform.power([self.window(PAIR - 1), self.window(0)], &mut power);
        });
        self.hops += PAIR as u64;
        for (back, power) in (0..PAIR).rev().zip(&power) {
            let recent = self.recent(back);
            let hops = self.hops - back as u64;
            sink(&Frame {
                index: hops - 1,
                end_sample: hops * HOP as u64,
                energy: mean_square(&recent[RECENT_LEN - HOP..]),
                power,
                recent,
            });
        }
        if self.moved == LINE_HOPS {
            self.line.copy_within(LINE_HOPS * HOP.., 0);
            self.moved = 0;
        }
    }

    /// The history up to the hop that lies `back` hops before the newest.
    fn recent(&self, back: usize) -> &[f32; RECENT_LEN] {
        self.line[(self.moved - back) * HOP..]
            .first_chunk()
            .expect("the line holds the history behind every one of its hops")
    }

    fn window(&self, back: usize) -> &[f32; FFT_LEN] {
        self.recent(back)
            .last_chunk()
            .expect("the history is longer than the window")
    }
}

thread_local! {
    /// One plan and one set of scratch memory for all sessions of the thread.
    static TRANSFORM: RefCell<Transform> = RefCell::new(Transform::new());
}

struct Transform {
    plan: Arc<dyn Fft<f32>>,
    window: [f32; FFT_LEN],
    input: [Complex32; FFT_LEN],
    output: [Complex32; FFT_LEN],
    scratch: Vec<Complex32>,
}

impl Transform {
    fn new() -> Self {
        let plan = FftPlanner::<f32>::new().plan_fft_forward(FFT_LEN);
        let scratch = vec![Complex32::ZERO; plan.get_outofplace_scratch_len()];
        // The periodic Hann window sums to 128; a sine of amplitude 1 then reads 64, which the scale makes 1.
        let window = std::array::from_fn(|n| {
            let phase = std::f64::consts::TAU * n as f64 / FFT_LEN as f64;
            ((0.5 - 0.5 * phase.cos()) / (FFT_LEN as f64 / 4.0)) as f32
        });
        Self {
            plan,
            window,
            input: [Complex32::ZERO; FFT_LEN],
            output: [Complex32::ZERO; FFT_LEN],
            scratch,
        }
    }

    /// The power spectra of two windows by one transform: the first as its real part, the second as its imaginary part.
    /// A real signal's spectrum mirrors, so sum and difference of mirrored bins take the two apart.
    fn power(&mut self, [first, second]: [&[f32; FFT_LEN]; PAIR], power: &mut [[f32; BINS]; PAIR]) {
        for (n, slot) in self.input.iter_mut().enumerate() {
            *slot = Complex32::new(first[n] * self.window[n], second[n] * self.window[n]);
        }
        self.plan.process_outofplace_with_scratch(
            &mut self.input,
            &mut self.output,
            &mut self.scratch,
        );
        let [first, second] = power;
        for edge in [0, FFT_LEN / 2] {
            first[edge] = self.output[edge].re * self.output[edge].re;
            second[edge] = self.output[edge].im * self.output[edge].im;
        }
        let (low, high) = self.output.split_at(FFT_LEN / 2);
        for bin in 1..FFT_LEN / 2 {
            let (here, mirror) = (low[bin], high[FFT_LEN / 2 - bin]);
            let (sum, difference) = (here + mirror, here - mirror);
            first[bin] = 0.25 * (sum.re * sum.re + difference.im * difference.im);
            second[bin] = 0.25 * (sum.im * sum.im + difference.re * difference.re);
        }
    }
}

/// Sums side by side, which the compiler keeps in vector registers: a single sum waits for each addition.
const LANES: usize = 16;

fn mean_square(hop: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    for chunk in hop.chunks_exact(LANES) {
        for (lane, sample) in lanes.iter_mut().zip(chunk) {
            *lane += sample * sample;
        }
    }
    lanes.iter().sum::<f32>() / HOP as f32
}

/// The lanes above must cover a hop without a remainder.
const _: () = assert!(HOP.is_multiple_of(LANES));
