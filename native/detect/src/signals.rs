//! Call-progress and machine signals told apart by their frequencies and cadence.

/// What a tone that is not a beep was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignalKind {
    /// The called line rings (440+480, 400+450 or 425 Hz).
    Ringback,
    /// Busy or congestion (480+620 or 425 Hz, short cadence).
    Busy,
    /// Dial tone (350+440 or 425 Hz, continuous).
    Dial,
    /// Call waiting (440 Hz, short bursts far apart).
    CallWaiting,
    /// Special information tones: the number is not in service.
    Sit,
    /// A fax calls (1,100 Hz).
    FaxCng,
    /// A fax or modem answers (2,100 Hz).
    FaxCed,
    /// One key of a dual-tone keypad: `0`–`9`, `*`, `#`, `A`–`D`.
    Dtmf(char),
}

/// A machine signal that was heard.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Signal {
    /// What it was.
    pub kind: SignalKind,
    /// First sample of it.
    pub start_sample: u64,
    /// Sample after its last one, as far as heard.
    pub end_sample: u64,
}
