//! Call detection without I/O or a clock: audio in, verdicts and beeps out.
//!
//! A [`Session`] takes [`Input`]s with the caller's time and queues [`Event`]s; the next moment at which it wants
//! to be asked again is [`Session::next_deadline_ms`]. Nothing here reads a clock, and nothing is allocated after
//! [`Session::new`].
//!
//! ```
//! use tonegate_detect::{Config, Encoding, Input, Session, Strategy};
//!
//! let mut session = Session::new(Config {
//!     encoding: Encoding::Mulaw,
//!     sample_rate_hz: 8_000,
//!     strategy: Strategy::Standard,
//!     detection_timeout_ms: 45_000,
//! })?;
//! session.handle(0.0, Input::Audio { bytes: &[0xff; 160], media_ms: None });
//! while let Some(event) = session.poll_event() {
//!     println!("{event:?}");
//! }
//! # Ok::<(), tonegate_detect::Error>(())
//! ```

mod bands;
mod beep;
mod call;
mod classes;
mod config;
mod evenness;
mod event;
mod heard;
mod music;
mod pairs;
mod peaks;
mod session;
mod signals;
mod speech;
mod talker;
mod timeline;
mod tones;
mod track;
mod turn;
mod verdict;
mod voice;

pub use beep::Beep;
pub use config::{Config, Error, Input, Strategy};
pub use event::{Detection, Event, EventKind, Measured, Reason, VerdictKind};
pub use session::Session;
pub use signals::{Signal, SignalKind};
pub use tonegate_dsp::Encoding;
pub use tones::{ToneEvent, ToneFrame, Tones};
