//! Level above the noise, band by band.
//!
//! Each band has its own floor by minimum statistics, so that a voice between 300 and 1,000 Hz stands out of hiss, and
//! a hum below it does not hide one.

use tonegate_dsp::{BINS, POWER_PER_MEAN_SQUARE, dbfs};

/// Bands used.
const BANDS: usize = 7;

/// First bin of each band and the one after the last: 250–3,500 Hz, wider upwards as the ear hears, and multiples of
/// [`LANES`] so that they are summed by vectors.
const EDGES: [usize; BANDS + 1] = [8, 16, 24, 32, 48, 64, 88, 112];

/// Bins summed side by side.
const LANES: usize = 8;

/// Bands below 1,500 Hz, where the first formants lie.
const LOW_BANDS: usize = 4;

/// Weight of the newest look in the smoothed power: about 20 ms of memory on top of the window's 32 ms.
const SMOOTHING: f32 = 0.7;

/// Looks in a block of the minimum search: 200 ms.
const BLOCK_LOOKS: u32 = 10;

/// Blocks searched: 2 s, longer than any stretch of speech in which a band does not fall back to the noise.
const BLOCKS: usize = 10;

/// The minimum of the smoothed power lies this far below its mean (measured on white noise: 5 dB).
const MINIMUM_BIAS: f32 = 1.8;

/// Floor of the floors, per bin: line noise of −68 dBFS. What lies below is silence whatever the ratio.
const FLOOR_MIN: f32 = 4e-9;

/// Highest first guess of a floor, per bin: line noise of −34 dBFS. A call may begin in the middle of a word.
const FLOOR_START_MAX: f32 = 1e-5;

/// Bands whose ratios are averaged: a vowel fills three, a click or a hiss all.
const BEST: usize = 3;

/// Mean square below which a hop is lost audio or digital silence (−90 dBFS).
const DIGITAL_SILENCE: f32 = 1e-9;

/// Digital silence of this many looks (200 ms) is the line itself; less is a lost packet and says nothing of the noise.
const LOSS_LOOKS_MAX: u32 = 10;

/// Looks whose window still covers a lost one.
const WINDOW_LOOKS: u32 = 2;

/// What one look says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BandsLook {
    /// How far it stands above the noise in its best bands, in dB.
    pub above_floor_db: f32,
    /// Power below 1,500 Hz.
    pub low: f32,
    /// Power above it.
    pub high: f32,
}

/// Power above the floor of each band.
#[derive(Debug)]
pub(crate) struct Bands {
    smoothed: [f32; BANDS],
    block: [f32; BANDS],
    past: [f32; BANDS],
    blocks: [[f32; BANDS]; BLOCKS],
    next_block: usize,
    looks_in_block: u32,
    looks: u32,
    silent_looks: u32,
    hold_looks: u32,
}

impl Bands {
    pub(crate) fn new() -> Self {
        Self {
            smoothed: [0.0; BANDS],
            block: [f32::MAX; BANDS],
            past: [FLOOR_START_MAX / MINIMUM_BIAS; BANDS],
            blocks: [[f32::MAX; BANDS]; BLOCKS],
            next_block: 0,
            looks_in_block: 0,
            looks: 0,
            silent_looks: 0,
            hold_looks: 0,
        }
    }

    /// Takes the power spectrum and mean square of one look.
    pub(crate) fn push(&mut self, power: &[f32; BINS], energy: f32) -> BandsLook {
        let sums = band_sums(power);
        for (band, (smoothed, sum)) in self.smoothed.iter_mut().zip(sums).enumerate() {
            let mean = sum / (EDGES[band + 1] - EDGES[band]) as f32;
            *smoothed += SMOOTHING * (mean - *smoothed);
        }
        self.looks = self.looks.saturating_add(1);
        if self.trusted(energy) {
            self.search();
        }
        let (low, high) = sums.split_at(LOW_BANDS);
        BandsLook {
            above_floor_db: self.above_floor_db(),
            low: low.iter().sum(),
            high: high.iter().sum(),
        }
    }

    /// Whether this look says something of the noise: the first window is not full yet, and lost packets are holes.
    fn trusted(&mut self, energy: f32) -> bool {
        if energy < DIGITAL_SILENCE {
            self.silent_looks = self.silent_looks.saturating_add(1);
            self.hold_looks = WINDOW_LOOKS;
            return self.silent_looks > LOSS_LOOKS_MAX;
        }
        self.silent_looks = 0;
        self.hold_looks = self.hold_looks.saturating_sub(1);
        self.hold_looks == 0 && self.looks > WINDOW_LOOKS
    }

    fn search(&mut self) {
        for (least, &smoothed) in self.block.iter_mut().zip(&self.smoothed) {
            *least = least.min(smoothed);
        }
        self.looks_in_block += 1;
        if self.looks_in_block < BLOCK_LOOKS {
            return;
        }
        self.looks_in_block = 0;
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
        let sum: f32 = (0..BANDS)
            .map(|band| self.floor(band) * (EDGES[band + 1] - EDGES[band]) as f32)
            .sum();
        dbfs(sum / POWER_PER_MEAN_SQUARE)
    }
}

fn band_sums(power: &[f32; BINS]) -> [f32; BANDS] {
    std::array::from_fn(|band| {
        let mut lanes = [0.0_f32; LANES];
        for bins in power[EDGES[band]..EDGES[band + 1]].chunks_exact(LANES) {
            for (lane, bin) in lanes.iter_mut().zip(bins) {
                *lane += bin;
            }
        }
        lanes.iter().sum()
    })
}
