//! Call-progress and machine signals, told apart by their frequencies and cadence.

use tonegate_dsp::{Frame, HOP};

use crate::classes::{Class, key_class, single_class};
use crate::pairs::{LowTone, low_tone};
use crate::peaks::Peaks;

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

/// ITU-T Q.23 keypad.
const KEYS: [[char; 4]; 4] = [
    ['1', '2', '3', 'A'],
    ['4', '5', '6', 'B'],
    ['7', '8', '9', 'C'],
    ['*', '0', '#', 'D'],
];

/// Share of the power that a signal's tones hold.
const SIGNAL_PURITY: f32 = 0.75;

/// Hops that may be missing inside a signal (lost packets).
const MISSED_HOPS: u64 = 5;

/// Hops between two looks through the long window, which costs about as much as four spectra.
const LOOK_HOPS: u32 = 4;

/// Hops of sound in the call-progress band before the first look: the long window must be full.
const FULL_HOPS: u32 = 7;

/// Hops of another tone that count, and hops before CNG in which there is none (300 ms).
const OTHER_HOPS: u32 = 3;
const ALONE_HOPS: u64 = 30;

/// Hop counts that make each signal.
const DTMF_HOPS: u64 = 4;
const SIT_HOPS: u64 = 9;
const SIT_GAP_HOPS: u64 = 16;
const CED_HOPS: u64 = 100;
const DIAL_HOPS: u64 = 300;

/// Hops of one class.
#[derive(Debug, Clone, Copy)]
struct Run {
    class: Class,
    first_hop: u64,
    last_hop: u64,
    hops: u64,
    told: bool,
}

/// What a hop gave.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Heard {
    pub(crate) signal: Option<Signal>,
    /// The hop is part of something recognised.
    pub(crate) active: bool,
    /// Two tones of call progress or of a key sound at once: no beep.
    pub(crate) pair: bool,
}

/// Follows runs of one class and their cadence.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signals {
    run: Option<Run>,
    low_hops: u32,
    low_class: Option<Class>,
    /// The burst of 425 Hz before this one: hops it lasted, hop it ended.
    burst: Option<(u64, u64)>,
    /// Hops in a row of another tone than CNG, and the last hop that had as many as count.
    other_hops: u32,
    other_hop: Option<u64>,
    /// SIT tones heard in order, and the hop at which the last ended.
    sit_heard: u8,
    sit_first_hop: u64,
    sit_last_hop: u64,
}

impl Signals {
    /// Takes one hop.
    pub(crate) fn push(&mut self, frame: &Frame<'_>, peaks: &Peaks, speech_before: bool) -> Heard {
        let class = self.classify(frame, peaks);
        let hop = frame.index;
        self.note_other_tone(hop, class, peaks);
        let mut signal = None;
        if let Some(run) = &mut self.run {
            if class == Some(run.class) {
                run.last_hop = hop;
                run.hops += 1;
            } else if hop - run.last_hop > MISSED_HOPS || class.is_some() && hop - run.last_hop > 1
            {
                let ended = *run;
                self.run = None;
                signal = self.end(&ended, speech_before);
            }
        }
        if let (None, Some(class)) = (&self.run, class) {
            self.run = Some(Run {
                class,
                first_hop: hop,
                last_hop: hop,
                hops: 1,
                told: false,
            });
        }
        let signal = signal.or_else(|| self.while_running());
        let run = self.run.filter(|run| run.last_hop == hop);
        Heard {
            signal,
            active: run.is_some_and(|run| is_active(&run, speech_before)),
            pair: run.is_some_and(|run| run.class.is_pair() && run.hops >= 2),
        }
    }

    /// Remembers when something tonal that is not CNG was last heard: notes of a tune pass through its frequency.
    fn note_other_tone(&mut self, hop: u64, class: Option<Class>, peaks: &Peaks) {
        if peaks.purity >= SIGNAL_PURITY && class != Some(Class::Cng) {
            self.other_hops += 1;
            if self.other_hops >= OTHER_HOPS {
                self.other_hop = Some(hop);
            }
        } else {
            self.other_hops = 0;
        }
    }

    fn classify(&mut self, frame: &Frame<'_>, peaks: &Peaks) -> Option<Class> {
        let low = |hz: f32| (330.0..650.0).contains(&hz);
        if peaks.purity < SIGNAL_PURITY {
            self.low_hops = 0;
            self.low_class = None;
            return None;
        }
        let single = peaks.second_hz == 0.0;
        if low(peaks.frequency_hz) && (single || low(peaks.second_hz)) {
            self.low_hops += 1;
            if self.low_hops >= FULL_HOPS && (self.low_hops - FULL_HOPS).is_multiple_of(LOOK_HOPS) {
                self.low_class = low_tone(frame.recent).map(|tone| match tone {
                    LowTone::Ring => Class::RingPair,
                    LowTone::Busy => Class::BusyPair,
                    LowTone::Dial => Class::DialPair,
                    LowTone::Single425 => Class::Low425,
                    LowTone::Single440 => Class::Low440,
                });
            }
            return self.low_class;
        }
        self.low_hops = 0;
        self.low_class = None;
        if single {
            single_class(peaks.frequency_hz)
        } else {
            key_class(peaks)
        }
    }

    /// Signals that are told while they sound.
    fn while_running(&mut self) -> Option<Signal> {
        let run = self.run.as_mut().filter(|run| !run.told)?;
        let kind = match run.class {
            Class::Key(row, column) if run.hops >= DTMF_HOPS => {
                SignalKind::Dtmf(KEYS[usize::from(row)][usize::from(column)])
            }
            Class::Ced if run.hops >= CED_HOPS => SignalKind::FaxCed,
            Class::DialPair | Class::Low425 if run.hops >= DIAL_HOPS => SignalKind::Dial,
            Class::Sit(2) if run.hops >= SIT_HOPS && self.sit_heard == 2 => {
                if run.first_hop - self.sit_last_hop > SIT_GAP_HOPS {
                    return None;
                }
                SignalKind::Sit
            }
            _ => return None,
        };
        run.told = true;
        let first_hop = if kind == SignalKind::Sit {
            self.sit_first_hop
        } else {
            run.first_hop
        };
        Some(signal(kind, first_hop, run.last_hop))
    }

    /// A run has ended: signals that are known by their length, and the state of cadences.
    fn end(&mut self, run: &Run, speech_before: bool) -> Option<Signal> {
        let length = run.last_hop - run.first_hop + 1;
        if let Class::Sit(place) = run.class {
            self.end_of_sit(run, place);
        }
        if run.told {
            return None;
        }
        let kind = match run.class {
            Class::RingPair if length >= 20 => SignalKind::Ringback,
            Class::BusyPair if length >= 12 => SignalKind::Busy,
            Class::Cng if (38..=62).contains(&length) && self.stands_alone(run) => {
                SignalKind::FaxCng
            }
            Class::Low440 if (12..=45).contains(&length) && !speech_before => {
                SignalKind::CallWaiting
            }
            Class::Low425 => return self.end_of_burst(run, length),
            _ => return None,
        };
        Some(signal(kind, run.first_hop, run.last_hop))
    }

    /// No other tone shortly before the run or behind it.
    fn stands_alone(&self, run: &Run) -> bool {
        self.other_hop
            .is_none_or(|other| run.first_hop.saturating_sub(other) > ALONE_HOPS)
    }

    /// 425 Hz: long bursts ring, short ones with pauses of their own length are busy.
    fn end_of_burst(&mut self, run: &Run, length: u64) -> Option<Signal> {
        let before = self.burst.replace((length, run.last_hop));
        if length >= 65 {
            return Some(signal(SignalKind::Ringback, run.first_hop, run.last_hop));
        }
        let (length_before, ended) = before?;
        let pause = run.first_hop.saturating_sub(ended);
        let alike = |a: u64, b: u64| a.abs_diff(b) <= 12 + a.max(b) / 4;
        (length >= 8 && alike(length, length_before) && alike(length, pause))
            .then(|| signal(SignalKind::Busy, run.first_hop, run.last_hop))
    }

    fn end_of_sit(&mut self, run: &Run, place: u8) {
        if run.hops < SIT_HOPS {
            return;
        }
        let follows = place == self.sit_heard
            && run.first_hop.saturating_sub(self.sit_last_hop) <= SIT_GAP_HOPS;
        if place == 0 {
            self.sit_heard = 1;
            self.sit_first_hop = run.first_hop;
        } else {
            self.sit_heard = if follows && place < 2 { place + 1 } else { 0 };
        }
        self.sit_last_hop = run.last_hop;
    }
}

/// Enough hops to take the sound for the signal rather than for a vowel that passes by.
fn is_active(run: &Run, speech_before: bool) -> bool {
    match run.class {
        Class::RingPair | Class::BusyPair | Class::DialPair => true,
        Class::Key(..) => run.hops >= DTMF_HOPS - 1,
        Class::Low425 => run.hops >= 8,
        Class::Low440 => run.hops >= 8 && !speech_before,
        Class::Sit(_) | Class::Cng | Class::Ced => run.hops >= 8,
    }
}

/// A signal over these hops. A tone is first heard with half of its window; hop n ends at sample 80 (n + 1).
fn signal(kind: SignalKind, first_hop: u64, last_hop: u64) -> Signal {
    let hop = HOP as u64;
    Signal {
        kind,
        start_sample: first_hop.saturating_sub(1) * hop,
        end_sample: last_hop * hop,
    }
}
