//! Bytes off the wire to samples at 8 kHz.

use crate::decimate::Decimator;
use crate::g711::{ALAW, MULAW};

/// Samples handed to the sink at most at a time: one 20 ms packet at 8 kHz.
const BLOCK: usize = 160;

/// How samples are carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// 16-bit signed linear, little-endian.
    Pcm16,
    /// G.711 mu-law, one byte a sample.
    Mulaw,
    /// G.711 A-law, one byte a sample.
    Alaw,
}

/// The sample rate is neither 8,000 nor 16,000 Hz.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnsupportedRate {
    /// The rate asked for, in hertz.
    pub sample_rate_hz: u32,
}

impl std::fmt::Display for UnsupportedRate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "sample rate {} Hz is not supported; 8000 and 16000 are",
            self.sample_rate_hz
        )
    }
}

impl std::error::Error for UnsupportedRate {}

/// Turns bytes in chunks of any size into samples in [-1, 1] at [`crate::SAMPLE_RATE_HZ`].
///
/// The samples do not depend on how the bytes were cut into chunks: half a pcm16 sample waits for its other half, and
/// the 16 kHz filter keeps its history.
#[derive(Debug, Clone)]
pub struct Decoder {
    encoding: Encoding,
    half_sample: Option<u8>,
    decimator: Option<Decimator>,
}

impl Decoder {
    /// A decoder for `encoding` at `sample_rate_hz` (8,000 or 16,000).
    ///
    /// # Errors
    /// [`UnsupportedRate`] for any other rate.
    pub fn new(encoding: Encoding, sample_rate_hz: u32) -> Result<Self, UnsupportedRate> {
        let decimator = match sample_rate_hz {
            8_000 => None,
            16_000 => Some(Decimator::new()),
            _ => return Err(UnsupportedRate { sample_rate_hz }),
        };
        Ok(Self {
            encoding,
            half_sample: None,
            decimator,
        })
    }

    /// Decodes `bytes`, handing the samples to `sink` in blocks of 160 or fewer, oldest first.
    pub fn decode(&mut self, bytes: &[u8], sink: impl FnMut(&[f32])) {
        match self.encoding {
            Encoding::Mulaw => self.emit(bytes.iter().map(|&byte| MULAW[usize::from(byte)]), sink),
            Encoding::Alaw => self.emit(bytes.iter().map(|&byte| ALAW[usize::from(byte)]), sink),
            Encoding::Pcm16 => {
                let (first, rest) = self.join_half_sample(bytes);
                let pairs = rest.chunks_exact(2);
                if let [byte] = pairs.remainder() {
                    self.half_sample = Some(*byte);
                }
                self.emit(
                    first
                        .into_iter()
                        .chain(pairs.map(|pair| [pair[0], pair[1]]))
                        .map(linear),
                    sink,
                );
            }
        }
    }

    /// Forgets half samples and filter history, as if newly built.
    pub fn reset(&mut self) {
        self.half_sample = None;
        if let Some(decimator) = &mut self.decimator {
            *decimator = Decimator::new();
        }
    }

    /// The sample that the waiting byte completes, if any, and the bytes after it.
    fn join_half_sample<'a>(&mut self, bytes: &'a [u8]) -> (Option<[u8; 2]>, &'a [u8]) {
        match (self.half_sample, bytes.split_first()) {
            (Some(low), Some((&high, rest))) => {
                self.half_sample = None;
                (Some([low, high]), rest)
            }
            _ => (None, bytes),
        }
    }

    fn emit(&mut self, samples: impl Iterator<Item = f32>, mut sink: impl FnMut(&[f32])) {
        match &mut self.decimator {
            None => in_blocks(samples, &mut sink),
            Some(decimator) => in_blocks(
                samples.filter_map(|sample| decimator.push(sample)),
                &mut sink,
            ),
        }
    }
}

fn in_blocks(samples: impl Iterator<Item = f32>, sink: &mut impl FnMut(&[f32])) {
    let mut samples = samples;
    let mut block = [0.0_f32; BLOCK];
    loop {
        let mut filled = 0;
        for (slot, sample) in block.iter_mut().zip(samples.by_ref()) {
            *slot = sample;
            filled += 1;
        }
        if filled == 0 {
            return;
        }
        sink(&block[..filled]);
    }
}

fn linear(bytes: [u8; 2]) -> f32 {
    f32::from(i16::from_le_bytes(bytes)) / 32_768.0
}
