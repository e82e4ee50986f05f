//! Telephone audio to frames: decoding, framing, spectra, energy.
//!
//! ```
//! use tonegate_dsp::{Decoder, Encoding, FrontEnd};
//!
//! let mut decoder = Decoder::new(Encoding::Mulaw, 8_000)?;
//! let mut front_end = FrontEnd::new();
//! let mut frames = 0;
//! decoder.decode(&[0xff; 160], |samples| front_end.push(samples, |_frame| frames += 1));
//! assert_eq!(frames, 2);
//! # Ok::<(), tonegate_dsp::UnsupportedRate>(())
//! ```
//!
//! Everything is built once ([`Decoder::new`], [`FrontEnd::new`]) and allocates nothing afterwards; the transform's plan,
//! window and scratch memory are one set per thread, shared by all sessions on it. There is no clock and no state
//! machine: [`Frame::end_sample`] is the only time.

mod decimate;
mod decode;
mod front_end;
mod g711;
mod level;

pub use decode::{Decoder, Encoding, UnsupportedRate};
pub use front_end::{BIN_HZ, BINS, FFT_LEN, Frame, FrontEnd, POWER_PER_MEAN_SQUARE, RECENT_LEN};
pub use level::{SILENCE_DBFS, dbfs};

/// Rate of every sample that leaves this crate's [`Decoder`], in hertz.
pub const SAMPLE_RATE_HZ: u32 = 8_000;

/// Samples per [`Frame`]: 10 ms at [`SAMPLE_RATE_HZ`].
pub const HOP: usize = 80;
