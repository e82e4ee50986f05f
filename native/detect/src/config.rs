//! What a session is made from and what it is fed.

use std::fmt;

use tonegate_dsp::Encoding;

/// Sample rates a session takes, in hertz (contract, "Call-detection sockets").
pub const SAMPLE_RATES_HZ: [u32; 2] = [8_000, 16_000];

/// Longest detection timeout a session takes. A session ends after 300 s of audio anyway (supplement 10), so a
/// longer one could never be reached.
pub const DETECTION_TIMEOUT_MAX_MS: u32 = 300_000;

/// How verdicts are given (supplement 10, "strategies").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// First verdict by timing, refinements, a final verdict; beeps at any time.
    Standard,
    /// One single final verdict, as soon as it can be given.
    LiveCheck,
    /// Only the beep, no verdicts.
    BeepOnly,
}

/// What a session is made from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Config {
    /// Encoding of the audio bytes.
    pub encoding: Encoding,
    /// Sample rate of the audio: 8,000 or 16,000 Hz.
    pub sample_rate_hz: u32,
    /// How verdicts are given.
    pub strategy: Strategy,
    /// Milliseconds after the answer at which a standing verdict becomes final, or `timeout` is said. Above
    /// 300,000 it is taken as 300,000: the session ends then.
    pub detection_timeout_ms: u32,
}

/// Why a session could not be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The sample rate is neither 8,000 nor 16,000 Hz.
    SampleRate(u32),
    /// The detection timeout is zero: a session that ends before it begins.
    DetectionTimeout,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SampleRate(rate) => {
                write!(f, "sample rate {rate} Hz is neither 8000 nor 16000 Hz")
            }
            Self::DetectionTimeout => write!(f, "the detection timeout must be above 0 ms"),
        }
    }
}

impl std::error::Error for Error {}

/// What a session is fed. Each comes with the caller's monotonic wall time in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Input<'a> {
    /// Audio of any length, half a sample included.
    Audio {
        /// The encoded audio, mono.
        bytes: &'a [u8],
        /// Media time in milliseconds at which these bytes start, where the wire says so. `None`: they follow the
        /// audio before them. A jump ahead is a gap: it moves the media time and is no silence.
        media_ms: Option<f64>,
    },
    /// No audio: only time has passed.
    Tick,
    /// The call was picked up now. What was heard before was early media: clocks and evidence start again.
    Answered,
    /// The client's stop: a standing verdict is given once more as final, then the session takes nothing more.
    Stop,
}

impl Config {
    /// Checks the values and caps the timeout.
    ///
    /// # Errors
    /// The first value that cannot be served, as an [`Error`].
    pub(crate) fn checked(mut self) -> Result<Self, Error> {
        if !SAMPLE_RATES_HZ.contains(&self.sample_rate_hz) {
            return Err(Error::SampleRate(self.sample_rate_hz));
        }
        if self.detection_timeout_ms == 0 {
            return Err(Error::DetectionTimeout);
        }
        self.detection_timeout_ms = self.detection_timeout_ms.min(DETECTION_TIMEOUT_MAX_MS);
        Ok(self)
    }
}
