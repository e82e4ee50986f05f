//! What a session is made from, as JavaScript writes it.

use napi::bindgen_prelude::{Error, Result};
use napi_derive::napi;
use tonegate_detect::{Config, Encoding, Strategy};

/// How a session listens.
#[napi(object, object_to_js = false)]
pub struct SessionOptions {
    /// Encoding of the audio bytes.
    #[napi(ts_type = "'pcm16' | 'mulaw' | 'alaw'")]
    pub encoding: String,
    /// Sample rate of the audio.
    #[napi(ts_type = "8000 | 16000")]
    pub sample_rate_hz: u32,
    /// How verdicts are given.
    #[napi(ts_type = "'standard' | 'live_check' | 'beep_only'")]
    pub strategy: String,
    /// Milliseconds after the answer at which a standing verdict becomes final, or timeout is said. Above 0.
    pub detection_timeout_ms: f64,
}

impl SessionOptions {
    /// The same in the session's own types.
    pub(crate) fn config(&self) -> Result<Config> {
        let encoding = match self.encoding.as_str() {
            "pcm16" => Encoding::Pcm16,
            "mulaw" => Encoding::Mulaw,
            "alaw" => Encoding::Alaw,
            _ => return Err(Error::from_reason("encoding must be pcm16, mulaw or alaw")),
        };
        let strategy = match self.strategy.as_str() {
            "standard" => Strategy::Standard,
            "live_check" => Strategy::LiveCheck,
            "beep_only" => Strategy::BeepOnly,
            _ => {
                return Err(Error::from_reason(
                    "strategy must be standard, live_check or beep_only",
                ));
            }
        };
        // `as` saturates and turns NaN into 0, which the session refuses.
        let detection_timeout_ms = self.detection_timeout_ms as u32;
        Ok(Config {
            encoding,
            sample_rate_hz: self.sample_rate_hz,
            strategy,
            detection_timeout_ms,
        })
    }
}
