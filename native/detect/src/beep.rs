//! The voicemail beep.

/// A tone that ended like a record beep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beep {
    /// First sample of the tone.
    pub start_sample: u64,
    /// Sample after the tone's last one.
    pub end_sample: u64,
    /// Fundamental, in hertz; of a chirp the middle, of two tones the stronger.
    pub frequency_hz: f32,
    /// Length of the tone, in milliseconds.
    pub duration_ms: u32,
    /// Share of such tones that were record beeps, 0–1.
    pub confidence: f32,
}
