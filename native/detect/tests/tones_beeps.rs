//! Record beeps of every shape are heard, with their end, pitch and length.

mod tones_util;

use tones_util::{Heard, Line, PER_MS};

/// Media time between a tone's end and the event, at most: 160 ms, less a packet of 20 ms.
const TOLD_WITHIN: u64 = 140 * PER_MS as u64;

/// Checks the only beep of a line against the tone put there.
fn assert_beep(heard: &Heard, hz: f32, ms: usize, end_sample: u64) {
    assert_eq!(
        heard.beeps.len(),
        1,
        "{hz} Hz for {ms} ms: {:?}",
        heard.beeps
    );
    let beep = heard.beeps[0];
    assert!(
        (beep.frequency_hz - hz).abs() < 1.0,
        "{hz} Hz was heard as {}",
        beep.frequency_hz
    );
    assert!(
        beep.end_sample.abs_diff(end_sample) < 10 * PER_MS as u64,
        "end {} for {end_sample}",
        beep.end_sample
    );
    assert!(
        beep.duration_ms.abs_diff(ms as u32) < 15,
        "{ms} ms were heard as {}",
        beep.duration_ms
    );
    assert!(
        heard.told_at[0] - end_sample <= TOLD_WITHIN,
        "told {} samples after the end",
        heard.told_at[0] - end_sample
    );
}

#[test]
fn every_pitch_and_length_is_heard_to_the_hertz() {
    for hz in [
        460.0, 660.0, 744.3, 850.0, 1_003.0, 1_336.0, 1_715.5, 2_000.0,
    ] {
        for ms in [120, 200, 265, 560, 2_000] {
            let line = Line::after_voice(300).tones(&[hz], -16.0, ms);
            let end = line.now();
            assert_beep(&line.listen(true), hz, ms, end);
        }
    }
}

#[test]
fn quiet_and_noisy_beeps_are_heard() {
    for (dbfs, noise_dbfs) in [(-45.0, -66.0), (-30.0, -50.0), (-20.0, -32.0)] {
        let line = Line::after_voice(300).tones(&[880.0], dbfs, 400);
        let end = line.now();
        assert_beep(
            &line.silence(300).with_noise(noise_dbfs).listen(true),
            880.0,
            400,
            end,
        );
    }
}

#[test]
fn a_beep_right_behind_a_voice_is_heard() {
    for pause_ms in [0, 5, 20, 50, 100] {
        let line = Line::after_voice(pause_ms).tones(&[700.0], -18.0, 400);
        let end = line.now();
        assert_beep(&line.listen(true), 700.0, 400, end);
    }
}

#[test]
fn lost_packets_inside_a_beep_neither_end_it_nor_bend_it() {
    let line = Line::after_voice(300).tones(&[1_000.0], -18.0, 800);
    let end = line.now();
    assert_beep(
        &line.with_hole(1_500).with_hole(1_760).listen(true),
        1_000.0,
        800,
        end,
    );
}

#[test]
fn harmonics_do_not_change_the_pitch() {
    let line = Line::after_voice(300);
    let start = line.samples.len();
    let mut line = line.tones(&[1_003.0], -18.0, 400);
    let third = Line::new().tones(&[3_009.0], -24.0, 400);
    for (sample, overtone) in line.samples[start..].iter_mut().zip(&third.samples) {
        *sample += overtone;
    }
    let end = line.now();
    assert_beep(&line.listen(true), 1_003.0, 400, end);
}

#[test]
fn two_tones_at_once_are_one_beep() {
    let line = Line::after_voice(300).tones(&[600.0, 1_050.0], -16.0, 500);
    let end = line.now();
    let heard = line.listen(true);
    assert_eq!(heard.beeps.len(), 1);
    assert!(
        [600.0, 1_050.0]
            .iter()
            .any(|hz| (heard.beeps[0].frequency_hz - hz).abs() < 1.0)
    );
    assert!(heard.beeps[0].end_sample.abs_diff(end) < 80);
}

#[test]
fn a_chirp_is_heard_behind_a_voice_with_its_middle_pitch_and_less_confidence() {
    let line = Line::after_voice(300).glide(&[800.0], 1.4, -16.0, 500);
    let end = line.now();
    let heard = line.listen(true);
    assert_eq!(heard.beeps.len(), 1);
    assert!((heard.beeps[0].frequency_hz - 960.0).abs() < 10.0);
    assert!(heard.beeps[0].end_sample.abs_diff(end) < 80);
    assert!(heard.beeps[0].confidence < 0.9);
}

#[test]
fn a_lone_beep_is_heard_with_less_confidence_than_one_behind_a_greeting() {
    let lone = Line::new()
        .silence(20)
        .tones(&[700.0], -12.0, 390)
        .listen(false);
    let behind = Line::after_voice(300)
        .tones(&[700.0], -12.0, 390)
        .listen(true);
    assert_eq!((lone.beeps.len(), behind.beeps.len()), (1, 1));
    assert!(lone.beeps[0].confidence < behind.beeps[0].confidence);
}

#[test]
fn a_beep_whose_start_was_cut_is_heard() {
    let line = Line::new().tones(&[850.0], -16.0, 200);
    let end = line.now();
    let heard = line.listen(true);
    assert_eq!(heard.beeps.len(), 1);
    assert!(heard.beeps[0].end_sample.abs_diff(end) < 80);
}

#[test]
fn the_end_of_a_fade_is_where_it_is_silent() {
    for fade_ms in [10, 20, 40, 60] {
        let mut line = Line::after_voice(300).tones(&[880.0], -16.0, 400);
        let (end, count) = (line.samples.len(), fade_ms * PER_MS);
        for (left, sample) in line.samples[end - count..].iter_mut().rev().enumerate() {
            *sample *= left as f32 / count as f32;
        }
        assert_beep(&line.listen(true), 880.0, 400, end as u64);
    }
}

#[test]
fn a_tone_without_an_end_is_no_beep() {
    let mut line = Line::after_voice(300).tones(&[900.0], -16.0, 2_500);
    line.samples.truncate(line.samples.len() - 8);
    let bytes: Vec<u8> = line
        .samples
        .iter()
        .map(|&sample| tones_util::mulaw(sample))
        .collect();
    let mut decoder = tonegate_dsp::Decoder::new(tonegate_dsp::Encoding::Mulaw, 8_000)
        .expect("8 kHz is supported");
    assert!(
        tones_util::listen_to(&mut decoder, &bytes, true)
            .beeps
            .is_empty()
    );
}

#[test]
fn a_reset_detector_remembers_no_tone() {
    use tonegate_detect::Tones;
    use tonegate_dsp::FrontEnd;
    let line = Line::after_voice(300)
        .tones(&[900.0], -16.0, 500)
        .silence(60);
    let (mut front_end, mut tones, mut events) = (FrontEnd::new(), Tones::new(), Vec::new());
    front_end.push(&line.samples, |frame| {
        _ = tones.push(frame, true, &mut events)
    });
    tones.reset();
    front_end.push(&[0.0; 8_000], |frame| {
        _ = tones.push(frame, true, &mut events)
    });
    assert!(events.is_empty(), "{events:?}");
}

#[test]
fn decoder_front_end_and_tones_of_a_session_stay_within_8_kib() {
    let bytes = size_of::<tonegate_dsp::Decoder>()
        + size_of::<tonegate_dsp::FrontEnd>()
        + size_of::<tonegate_detect::Tones>();
    assert!(bytes <= 8 * 1_024, "{bytes} bytes");
}
