//! Level above the noise, band by band.
//!
//! Each band has its own floor by minimum statistics, so that a voice between 300 and 1,000 Hz stands out of hiss, and
//! a hum below it does not hide one.

use tonegate_dsp::{BINS, POWER_PER_MEAN_SQUARE, dbfs};

/// Bands used; the array is one longer so that it fills a vector register.
const BANDS: usize = 7;

/// First bin of each band and the one after the last: 220–3,440 Hz, about equally wide to the ear.
const EDGES: [usize; BANDS + 1] = [7, 13, 20, 29, 42, 58, 80, 110];

/// Weight of the newest hop in the smoothed power: about 20 ms of memory on top of the window's 32 ms.
const SMOOTHING: f32 = 0.5;

/// Hops in a block of the minimum search.
const BLOCK_HOPS: u32 = 20;

/// Blocks searched: 2 s, longer than any stretch of speech in which a band does not fall back to the noise.
const BLOCKS: usize = 10;

/// The minimum of the smoothed power lies this far below its mean (measured on white noise: 5 dB).
const MINIMUM_BIAS: f32 = 3.2;

/// Floor of the floors, per bin: line noise of −68 dBFS. What lies below is silence whatever the ratio.
const FLOOR_MIN: f32 = 4e-9;

/// Highest first guess of a floor, per bin: line noise of −34 dBFS. A call may begin in the middle of a word.
const FLOOR_START_MAX: f32 = 1e-5;

/// Bands whose ratios are averaged: a vowel fills three, a click or a hiss all.
const BEST: usize = 3;

/// Mean square below which a hop is lost audio or digital silence (−90 dBFS).
const DIGITAL_SILENCE: f32 = 1e-9;

/// Digital silence of this many hops is the line itself; less is a lost packet and says nothing of the noise.
const LOSS_HOPS_MAX: u32 = 20;

/// Hops whose window still covers a lost one.
const WINDOW_HOPS: u32 = 4;

/// Power above the floor of each band.
#[derive(Debug)]
pub(crate) struct Bands {
    smoothed: [f32; BANDS],
    block: [f32; BANDS],
    past: [f32; BANDS],
    blocks: [[f32; BANDS]; BLOCKS],
    next_block: usize,
    hops_in_block: u32,
    hops: u32,
    silent_hops: u32,
    hold_hops: u32,
}

impl Bands {
    pub(crate) fn new() -> Self {
        Self {
            smoothed: [0.0; BANDS],
            block: [f32::MAX; BANDS],
            past: [FLOOR_START_MAX / MINIMUM_BIAS; BANDS],
            blocks: [[f32::MAX; BANDS]; BLOCKS],
            next_block: 0,
            hops_in_block: 0,
            hops: 0,
            silent_hops: 0,
            hold_hops: 0,
        }
    }

    /// Takes the power spectrum and mean square of one hop; how far it stands above the noise in its best bands, in dB.
    pub(crate) fn push(&mut self, power: &[f32; BINS], energy: f32) -> f32 {
        for (band, smoothed) in self.smoothed.iter_mut().enumerate() {
            let bins = &power[EDGES[band]..EDGES[band + 1]];
            let mean = bins.iter().sum::<f32>() / bins.len() as f32;
            *smoothed += SMOOTHING * (mean - *smoothed);
        }
        self.hops = self.hops.saturating_add(1);
        if self.trusted(energy) {
            self.search();
        }
        self.above_floor_db()
    }

    /// Whether this hop says something of the noise: the first window is not full yet, and lost packets are holes.
    fn trusted(&mut self, energy: f32) -> bool {
        if energy < DIGITAL_SILENCE {
            self.silent_hops = self.silent_hops.saturating_add(1);
            self.hold_hops = WINDOW_HOPS;
            return self.silent_hops > LOSS_HOPS_MAX;
        }
        self.silent_hops = 0;
        self.hold_hops = self.hold_hops.saturating_sub(1);
        self.hold_hops == 0 && self.hops > WINDOW_HOPS
    }

    fn search(&mut self) {
        for (least, &smoothed) in self.block.iter_mut().zip(&self.smoothed) {
            *least = least.min(smoothed);
        }
        self.hops_in_block += 1;
        if self.hops_in_block < BLOCK_HOPS {
            return;
        }
        self.hops_in_block = 0;
        self.blocks[self.next_block] = self.block;
        self.next_block = (self.next_block + 1) % BLOCKS;
        self.block = [f32::MAX; BANDS];
        self.past = [f32::MAX; BANDS];
        for block in &self.blocks {
            for (least, &value) in self.past.iter_mut().zip(block) {
                *least = least.min(value);
            }
        }
    }

    fn floor(&self, band: usize) -> f32 {
        (self.past[band].min(self.block[band]) * MINIMUM_BIAS).max(FLOOR_MIN)
    }

    fn above_floor_db(&self) -> f32 {
        let mut best = [0.0_f32; BEST];
        for band in 0..BANDS {
            let mut ratio = self.smoothed[band] / self.floor(band);
            for slot in &mut best {
                let lower = slot.min(ratio);
                *slot = slot.max(ratio);
                ratio = lower;
            }
        }
        let product: f32 = best.iter().product();
        // 10 · log10 of the geometric mean.
        3.010_3 / BEST as f32 * product.max(f32::MIN_POSITIVE).log2()
    }

    /// What sounds now is the noise: the floors go there at once.
    pub(crate) fn adopt(&mut self) {
        self.block = self.smoothed.map(|power| power / MINIMUM_BIAS);
        self.past = self.block;
        self.blocks = [self.block; BLOCKS];
    }

    /// The floor of the whole band in dBFS.
    pub(crate) fn floor_dbfs(&self) -> f32 {
        let sum: f32 = (0..BANDS).map(|band| self.floor(band) * (EDGES[band + 1] - EDGES[band]) as f32).sum();
        dbfs(sum / POWER_PER_MEAN_SQUARE)
    }
}
