//! Node-API addon over `tonegate-detect`: converts and drains, nothing else.

// napi-derive writes registration items of its own beside each exported one, without a docstring.
#![allow(missing_docs)]

mod event;
mod options;

use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::bindgen_prelude::{ArrayBuffer, Error, Result};
use napi_derive::napi;
use tonegate_detect::Input;

use crate::event::NativeEvent;
use crate::options::SessionOptions;

/// One call's detection. Every call is synchronous and answers null when nothing happened.
#[napi]
pub struct Session {
    inner: Option<Box<tonegate_detect::Session>>,
}

#[napi]
impl Session {
    /// Throws for a sample rate other than 8000 or 16000, an unknown encoding or strategy, or a timeout that is not above 0.
    #[napi(constructor)]
    pub fn new(options: SessionOptions) -> Result<Self> {
        let config = options.config()?;
        let session = tonegate_detect::Session::new(config)
            .map_err(|error| Error::from_reason(error.to_string()))?;
        Ok(Self {
            inner: Some(Box::new(session)),
        })
    }

    /// Takes audio of any length. nowMs: monotonic wall ms. bytes: borrowed for the call. mediaMs: media time at which
    /// this chunk starts (where the wire says so); omitted: it follows the audio before.
    #[napi(ts_args_type = "nowMs: number, bytes: Uint8Array, mediaMs?: number")]
    pub fn push(
        &mut self,
        now_ms: f64,
        bytes: &[u8],
        media_ms: Option<f64>,
    ) -> Result<Option<Vec<NativeEvent>>> {
        self.handle(now_ms, Input::Audio { bytes, media_ms })
    }

    /// As `push`, of a lent buffer that follows the audio before: without a view around it, which costs as much as the call.
    #[napi(ts_args_type = "nowMs: number, bytes: ArrayBuffer")]
    pub fn push_buffer(
        &mut self,
        now_ms: f64,
        bytes: ArrayBuffer<'_>,
    ) -> Result<Option<Vec<NativeEvent>>> {
        let audio = Input::Audio {
            bytes: &bytes,
            media_ms: None,
        };
        self.handle(now_ms, audio)
    }

    /// Deadlines that the wall reached (a dead wire).
    #[napi]
    pub fn tick(&mut self, now_ms: f64) -> Result<Option<Vec<NativeEvent>>> {
        self.handle(now_ms, Input::Tick)
    }

    /// The call was picked up now: earlier audio was early media; clocks and evidence start again.
    #[napi]
    pub fn answered(&mut self, now_ms: f64) -> Result<Option<Vec<NativeEvent>>> {
        self.handle(now_ms, Input::Answered)
    }

    /// The client's stop: a standing verdict once more as final; then the session takes nothing more.
    #[napi]
    pub fn stop(&mut self, now_ms: f64) -> Result<Option<Vec<NativeEvent>>> {
        self.handle(now_ms, Input::Stop)
    }

    /// Wall ms at which tick() is next due: 0 before the first call (at once, it starts the clock), Infinity for none.
    #[napi]
    pub fn next_deadline_ms(&self) -> f64 {
        self.inner
            .as_ref()
            .map_or(f64::INFINITY, |session| session.next_deadline_ms())
    }

    /// Media ms of audio received.
    #[napi]
    pub fn audio_ms(&self) -> f64 {
        self.inner
            .as_ref()
            .map_or(0.0, |session| session.audio_ms())
    }

    /// Frees the native side at once. Later calls answer null.
    #[napi]
    pub fn close(&mut self) {
        self.inner = None;
    }

    /// Hands the input in and drains. A panic becomes an error, and the session, whose state nobody knows then, is freed.
    fn handle(&mut self, now_ms: f64, input: Input<'_>) -> Result<Option<Vec<NativeEvent>>> {
        let Some(session) = self.inner.as_deref_mut() else {
            return Ok(None);
        };
        let drained = catch_unwind(AssertUnwindSafe(|| {
            session.handle(now_ms, input);
            let first = session.poll_event()?;
            let mut events = vec![NativeEvent::from(first)];
            while let Some(event) = session.poll_event() {
                events.push(NativeEvent::from(event));
            }
            Some(events)
        }));
        drained.map_err(|_| {
            self.inner = None;
            Error::from_reason("the detection session failed and was freed")
        })
    }
}
