//! Sounds that are like beeps and are none.

mod tones_util;

use proptest::prelude::*;
use tonegate_dsp::{Decoder, Encoding};
use tones_util::{Line, listen_to};

fn assert_no_beep(line: Line, what: &str) {
    let heard = line.listen(true);
    assert!(heard.beeps.is_empty(), "{what}: {:?}", heard.beeps);
}

#[test]
fn voices_noise_and_silence_are_neither_beeps_nor_tonal() {
    assert_no_beep(Line::new().silence(3_000), "silence");
    assert_no_beep(Line::new().silence(3_000).with_noise(-30.0), "noise");
    let heard = Line::new().voice(4_000).listen(true);
    assert!(heard.beeps.is_empty());
    assert!(heard.tonal_share(100, 4_000) < 0.05);
}

#[test]
fn a_tune_is_no_beep_beyond_its_first_note() {
    let scale = [523.3, 587.3, 659.3, 698.5, 784.0, 880.0, 987.8, 1_046.5];
    let line = scale.iter().fold(Line::after_voice(500), |line, &hz| {
        line.tones(&[hz], -18.0, 250).silence(30)
    });
    assert_no_beep(line, "scale with short rests");
    let slow = scale.iter().fold(Line::after_voice(500), |line, &hz| {
        line.tones(&[hz], -18.0, 250).silence(300)
    });
    assert!(
        slow.listen(true).beeps.len() <= 1,
        "only the first note of a tune stands alone"
    );
}

#[test]
fn a_note_at_the_pitch_of_a_fax_is_no_fax() {
    let notes = [784.0, 1_108.7, 932.3, 1_108.7];
    let line = notes.iter().fold(Line::new().silence(300), |line, &hz| {
        line.tones(&[hz], -18.0, 500).silence(100)
    });
    assert!(line.listen(false).signals.is_empty());
}

#[test]
fn a_struck_bell_is_no_beep() {
    for hz in [600.0, 880.0, 1_320.0] {
        assert_no_beep(Line::after_voice(400).bell(hz, -14.0, 900), "bell");
    }
}

#[test]
fn a_tone_that_other_sound_takes_over_is_no_beep() {
    assert_no_beep(
        Line::after_voice(400)
            .tones(&[760.0], -20.0, 300)
            .tones(&[1_140.0], -20.0, 600),
        "two notes",
    );
}

#[test]
fn clicks_are_no_beeps() {
    for ms in [10, 30, 50] {
        assert_no_beep(Line::after_voice(400).tones(&[1_000.0], -16.0, ms), "click");
    }
}

#[test]
fn a_whistle_that_bends_is_no_beep() {
    let mut line = Line::after_voice(400);
    let mut phase = 0.0_f32;
    for n in 0..6_400 {
        let t = n as f32 / 8_000.0;
        let hz = 1_200.0 * (1.0 + 0.02 * (std::f32::consts::TAU * 3.0 * t).sin());
        phase = (phase + hz / 8_000.0).fract();
        line.samples
            .push(0.2 * (std::f32::consts::TAU * phase).sin());
    }
    assert_no_beep(line, "whistle");
}

#[test]
fn a_tone_at_call_progress_pitch_alone_on_the_line_is_no_beep() {
    for hz in [400.0, 425.0, 440.0, 450.0] {
        assert!(
            Line::new()
                .silence(300)
                .tones(&[hz], -16.0, 700)
                .listen(false)
                .beeps
                .is_empty(),
            "{hz} Hz"
        );
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic_and_every_event_lies_in_the_audio(
        bytes in prop::collection::vec(any::<u8>(), 0..12_000),
        repeats in 1_usize..4,
        speech_before in any::<bool>(),
    ) {
        let bytes = bytes.repeat(repeats);
        let mut decoder = Decoder::new(Encoding::Mulaw, 8_000).expect("8 kHz is supported");
        let heard = listen_to(&mut decoder, &bytes, speech_before);
        prop_assert_eq!(heard.hops.len(), bytes.len() / 160 * 2);
        for hop in &heard.hops {
            prop_assert!(hop.purity.is_finite() && (0.0..=4_000.0).contains(&hop.frequency_hz));
        }
        for beep in &heard.beeps {
            prop_assert!(beep.start_sample <= beep.end_sample && beep.end_sample <= bytes.len() as u64);
            prop_assert!((0.0..=1.0).contains(&beep.confidence));
        }
        for signal in &heard.signals {
            prop_assert!(signal.start_sample <= signal.end_sample && signal.end_sample <= bytes.len() as u64);
        }
    }
}
