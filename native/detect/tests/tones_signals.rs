//! Signals of networks and machines are named, and none of them is a beep or a voice.

mod tones_util;

use tonegate_detect::SignalKind;
use tones_util::Line;

/// `count` bursts of tones with pauses between them.
fn bursts(line: Line, hz: &[f32], on_off_ms: (usize, usize), count: usize) -> Line {
    (0..count).fold(line, |line, _| {
        line.tones(hz, -18.0, on_off_ms.0).silence(on_off_ms.1)
    })
}

/// Levels and a slight mistuning do not matter; each line is heard alone and behind a voice.
fn assert_only(hz: &[f32], on_off_ms: (usize, usize), count: usize, kind: SignalKind) {
    for factor in [0.996, 1.0, 1.004] {
        let tuned: Vec<f32> = hz.iter().map(|hz| hz * factor).collect();
        for speech_before in [false, true] {
            let line = if speech_before {
                Line::after_voice(500)
            } else {
                Line::new().silence(500)
            };
            let heard = bursts(line, &tuned, on_off_ms, count).listen(speech_before);
            assert!(heard.beeps.is_empty(), "{tuned:?}: {:?}", heard.beeps);
            let kinds = heard.kinds();
            assert!(
                !kinds.is_empty() && kinds.iter().all(|&heard| heard == kind),
                "{tuned:?}: {kinds:?}"
            );
        }
    }
}

#[test]
fn ringback_of_three_networks_is_named_once_a_burst() {
    assert_only(&[440.0, 480.0], (2_000, 4_000), 2, SignalKind::Ringback);
    assert_only(&[400.0, 450.0], (400, 200), 4, SignalKind::Ringback);
    assert_only(&[425.0], (1_000, 4_000), 2, SignalKind::Ringback);
    let heard = bursts(Line::new().silence(300), &[440.0, 480.0], (2_000, 4_000), 3).listen(false);
    assert_eq!(heard.signals.len(), 3);
    assert!(
        heard.tonal_share(500, 2_250) > 0.9,
        "beating tones are tonal too"
    );
}

#[test]
fn busy_is_named() {
    assert_only(&[480.0, 620.0], (500, 500), 4, SignalKind::Busy);
    assert_only(&[480.0, 620.0], (250, 250), 4, SignalKind::Busy);
    assert_only(&[425.0], (500, 500), 4, SignalKind::Busy);
    assert_only(&[425.0], (250, 250), 4, SignalKind::Busy);
}

#[test]
fn dial_tone_is_named_once() {
    for hz in [&[350.0, 440.0][..], &[425.0]] {
        let heard = Line::new()
            .silence(200)
            .tones(hz, -18.0, 6_000)
            .listen(false);
        assert_eq!(heard.kinds(), [SignalKind::Dial]);
        assert!(heard.beeps.is_empty());
    }
}

#[test]
fn call_waiting_is_named_before_a_voice_and_no_beep_behind_one() {
    let alone = bursts(Line::new().silence(200), &[440.0], (300, 3_000), 2).listen(false);
    assert_eq!(alone.kinds(), [SignalKind::CallWaiting; 2]);
    assert!(alone.beeps.is_empty());
    assert!(
        bursts(Line::after_voice(500), &[440.0], (300, 3_000), 2)
            .listen(true)
            .beeps
            .is_empty()
    );
}

#[test]
fn special_information_tones_are_named_with_and_without_gaps() {
    for tones in [
        [985.2, 1_428.5, 1_776.7],
        [913.8, 1_370.6, 1_776.7],
        [913.8, 1_428.5, 1_776.7],
    ] {
        for gap_ms in [0, 10, 30] {
            let line = tones
                .iter()
                .zip([274, 380, 380])
                .fold(Line::new().silence(300), |line, (&hz, ms)| {
                    line.tones(&[hz], -16.0, ms).silence(gap_ms)
                });
            let heard = line.listen(false);
            assert_eq!(
                heard.kinds(),
                [SignalKind::Sit],
                "{tones:?}, {gap_ms} ms apart"
            );
            assert!(heard.beeps.is_empty(), "{:?}", heard.beeps);
        }
    }
}

#[test]
fn special_information_tones_in_another_order_are_not() {
    let line = [1_428.5, 985.2, 1_776.7]
        .iter()
        .fold(Line::new().silence(300), |line, &hz| {
            line.tones(&[hz], -16.0, 330)
        });
    assert!(!line.listen(false).kinds().contains(&SignalKind::Sit));
}

#[test]
fn fax_tones_are_named() {
    assert_only(&[1_100.0], (500, 3_000), 2, SignalKind::FaxCng);
    let heard = Line::new()
        .silence(1_800)
        .tones(&[2_100.0], -16.0, 3_000)
        .listen(false);
    assert_eq!(heard.kinds(), [SignalKind::FaxCed]);
    assert!(heard.beeps.is_empty());
}

#[test]
fn every_key_is_named_once_a_press_whatever_its_twist() {
    let rows = [697.0, 770.0, 852.0, 941.0];
    let columns = [1_209.0, 1_336.0, 1_477.0, 1_633.0];
    let keys = ["123A", "456B", "789C", "*0#D"];
    for (row, line_of_keys) in rows.iter().zip(keys) {
        for (column, key) in columns.iter().zip(line_of_keys.chars()) {
            for twist_db in [-4.0, 0.0, 6.0] {
                let press = |line: Line| {
                    let start = line.samples.len();
                    let mut line = line.tones(&[*row], -18.0, 80);
                    let high = Line::new().tones(&[*column], -18.0 + twist_db, 80);
                    for (sample, other) in line.samples[start..].iter_mut().zip(&high.samples) {
                        *sample += other;
                    }
                    line.silence(80)
                };
                let heard = press(press(Line::after_voice(300))).listen(true);
                assert_eq!(
                    heard.kinds(),
                    [SignalKind::Dtmf(key); 2],
                    "twist {twist_db} dB"
                );
                assert!(heard.beeps.is_empty(), "{key}: {:?}", heard.beeps);
            }
        }
    }
}
