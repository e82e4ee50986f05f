//! The session: audio and time in, events out.

use tonegate_dsp::{Decoder, FrontEnd};

use crate::call::Call;
use crate::config::{Config, Error, Input};
use crate::event::Event;

/// One call's detection. See the crate's example.
pub struct Session {
    decoder: Decoder,
    front_end: FrontEnd,
    call: Call,
}

impl Session {
    /// A session that has heard nothing.
    ///
    /// # Errors
    /// [`Error`] for a value that cannot be served.
    pub fn new(config: Config) -> Result<Self, Error> {
        let config = config.checked()?;
        let decoder = Decoder::new(config.encoding, config.sample_rate_hz)
            .map_err(|unsupported| Error::SampleRate(unsupported.sample_rate_hz))?;
        Ok(Self {
            decoder,
            front_end: FrontEnd::new(),
            call: Call::new(&config),
        })
    }

    /// Takes one input at the caller's monotonic wall time.
    pub fn handle(&mut self, now_ms: f64, input: Input<'_>) {
        if self.call.is_over() {
            return;
        }
        self.call.observe(now_ms);
        match input {
            Input::Audio { bytes, media_ms } => self.listen(bytes, media_ms),
            Input::Tick => {}
            Input::Answered => self.call.answered(),
            Input::Stop => self.call.stop(),
        }
        self.call.check_deadlines();
    }

    fn listen(&mut self, bytes: &[u8], media_ms: Option<f64>) {
        let Self {
            decoder,
            front_end,
            call,
        } = self;
        call.begin_audio(media_ms, front_end.waiting() as u64);
        decoder.decode(bytes, |samples| {
            front_end.push(samples, |frame| call.hop(frame));
        });
    }

    /// The oldest event not yet taken.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.call.poll_event()
    }

    /// Wall time in milliseconds at which [`Input::Tick`] is due if no audio comes; infinite when there is nothing to
    /// wait for. Zero before the first input: the clock of a session that never gets audio starts with its first tick.
    #[must_use]
    pub fn next_deadline_ms(&self) -> f64 {
        self.call.next_deadline_ms()
    }

    /// Milliseconds of audio received.
    #[must_use]
    pub fn audio_ms(&self) -> f64 {
        self.call.audio_ms()
    }
}
