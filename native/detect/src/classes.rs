//! What the tones of one hop may be a part of.

use crate::peaks::Peaks;

/// ITU-T Q.23 keypad.
const ROWS_HZ: [f32; 4] = [697.0, 770.0, 852.0, 941.0];
const COLUMNS_HZ: [f32; 4] = [1_209.0, 1_336.0, 1_477.0, 1_633.0];

/// Keys and SIT are accepted this far from their frequency (ITU-T Q.24: keys within 1.5 % must be taken, beyond 3.5 % refused).
const TOLERANCE: f32 = 0.018;

/// Special information tones of North America, low and high variant of each of the three.
const SIT_HZ: [[f32; 2]; 3] = [[913.8, 985.2], [1_370.6, 1_428.5], [1_776.7, 1_776.7]];

/// ITU-T E.180, nominal: each within 50 Hz.
const SIT_NOMINAL_HZ: [f32; 3] = [950.0, 1_400.0, 1_800.0];
const SIT_TOLERANCE_HZ: f32 = 50.0;

/// The two of a DTMF pair may differ by this factor in power (10 dB).
const TWIST: f32 = 10.0;

/// What one hop may be a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    RingPair,
    BusyPair,
    DialPair,
    Low425,
    Low440,
    /// Place of the tone in the sequence, from 0.
    Sit(u8),
    Cng,
    Ced,
    /// Row and column of the keypad.
    Key(u8, u8),
}

impl Class {
    /// Two tones at once.
    pub(crate) fn is_pair(self) -> bool {
        matches!(
            self,
            Class::RingPair | Class::BusyPair | Class::DialPair | Class::Key(..)
        )
    }
}

/// Class of a tone that stands alone.
pub(crate) fn single_class(frequency_hz: f32) -> Option<Class> {
    for (place, pair) in SIT_HZ.iter().enumerate() {
        if pair
            .iter()
            .any(|hz| (frequency_hz / hz - 1.0).abs() <= 0.5 * TOLERANCE)
            || (frequency_hz - SIT_NOMINAL_HZ[place]).abs() <= SIT_TOLERANCE_HZ
        {
            return Some(Class::Sit(place as u8));
        }
    }
    if (frequency_hz - 1_100.0).abs() <= 38.0 {
        return Some(Class::Cng);
    }
    ((frequency_hz - 2_100.0).abs() <= 20.0).then_some(Class::Ced)
}

/// Class of two tones at once.
pub(crate) fn key_class(peaks: &Peaks) -> Option<Class> {
    if !(1.0 / TWIST..=TWIST).contains(&peaks.second_ratio) {
        return None;
    }
    let (low, high) = if peaks.frequency_hz < peaks.second_hz {
        (peaks.frequency_hz, peaks.second_hz)
    } else {
        (peaks.second_hz, peaks.frequency_hz)
    };
    let near = |list: &[f32; 4], hz: f32| {
        list.iter()
            .position(|key| (hz / key - 1.0).abs() <= TOLERANCE)
    };
    Some(Class::Key(
        near(&ROWS_HZ, low)? as u8,
        near(&COLUMNS_HZ, high)? as u8,
    ))
}
