//! Samples to one [`Frame`] per 10 ms, with its power spectrum.

use std::cell::RefCell;
use std::sync::Arc;

use realfft::num_complex::Complex32;
use realfft::{RealFftPlanner, RealToComplex};

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

/// Hops between two moves of the history to the front of the line.
const LINE_HOPS: usize = 4;

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
    /// Samples of the hop being gathered.
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

    /// Takes samples in pieces of any size; calls `sink` once per completed hop.
    pub fn push(&mut self, samples: &[f32], mut sink: impl FnMut(&Frame<'_>)) {
        let mut samples = samples;
        while !samples.is_empty() {
            let taken = samples.len().min(HOP - self.gathered);
            let start = RECENT_LEN + self.moved * HOP + self.gathered;
            self.line[start..start + taken].copy_from_slice(&samples[..taken]);
            samples = &samples[taken..];
            self.gathered += taken;
            if self.gathered == HOP {
                self.complete_hop(&mut sink);
            }
        }
    }

    /// Forgets everything, as if newly built.
    pub fn reset(&mut self) {
        self.line.fill(0.0);
        self.moved = 0;
        self.gathered = 0;
        self.hops = 0;
    }

    fn complete_hop(&mut self, sink: &mut impl FnMut(&Frame<'_>)) {
        self.gathered = 0;
        self.moved += 1;
        self.hops += 1;
        let recent: &[f32; RECENT_LEN] = self.line[self.moved * HOP..]
            .first_chunk()
            .expect("the line holds the history behind every one of its hops");
        let hop = &recent[RECENT_LEN - HOP..];
        let energy = mean_square(hop);
        let newest: &[f32; FFT_LEN] = recent
            .last_chunk()
            .expect("the history is longer than the window");
        let mut power = [0.0; BINS];
        TRANSFORM.with_borrow_mut(|transform| transform.power(newest, &mut power));
        sink(&Frame {
            index: self.hops - 1,
            end_sample: self.hops * HOP as u64,
            energy,
            power: &power,
            recent,
        });
        if self.moved == LINE_HOPS {
            self.line.copy_within(LINE_HOPS * HOP.., 0);
            self.moved = 0;
        }
    }
}

thread_local! {
    /// One plan and one set of scratch memory for all sessions of the thread.
    static TRANSFORM: RefCell<Transform> = RefCell::new(Transform::new());
}

struct Transform {
    plan: Arc<dyn RealToComplex<f32>>,
    window: [f32; FFT_LEN],
    input: [f32; FFT_LEN],
    output: [Complex32; BINS],
    scratch: Vec<Complex32>,
}

impl Transform {
    fn new() -> Self {
        let plan = RealFftPlanner::<f32>::new().plan_fft_forward(FFT_LEN);
        let scratch = plan.make_scratch_vec();
        // The periodic Hann window sums to 128; a sine of amplitude 1 then reads 64, which the scale makes 1.
        let window = std::array::from_fn(|n| {
            let phase = std::f64::consts::TAU * n as f64 / FFT_LEN as f64;
            ((0.5 - 0.5 * phase.cos()) / (FFT_LEN as f64 / 4.0)) as f32
        });
        Self {
            plan,
            window,
            input: [0.0; FFT_LEN],
            output: [Complex32::ZERO; BINS],
            scratch,
        }
    }

    fn power(&mut self, samples: &[f32; FFT_LEN], power: &mut [f32; BINS]) {
        for ((slot, sample), weight) in self.input.iter_mut().zip(samples).zip(&self.window) {
            *slot = sample * weight;
        }
        self.plan
            .process_with_scratch(&mut self.input, &mut self.output, &mut self.scratch)
            .expect("all three buffers were made for this plan");
        for (slot, bin) in power.iter_mut().zip(&self.output) {
            *slot = bin.norm_sqr();
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
