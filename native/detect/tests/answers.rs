//! Who answered, under `standard`.

mod session_util;

use session_util::{Line, call, line, speech, tones};
use tonegate_detect::{EventKind, Reason, VerdictKind};

use VerdictKind::{LivePerson, Silence, Voicemail};

fn is_verdict(kind: &EventKind) -> bool {
    matches!(kind, EventKind::Detection(_))
}

#[test]
fn a_short_answer_is_a_person_within_a_second_of_its_end() {
    let mut call_line = Line::standard();
    call_line.play(&call(&[line(500), speech(700), line(2_000)]));
    assert_eq!(
        call_line.verdicts(),
        [(LivePerson, Reason::ShortAnswer, false)]
    );
    let at_ms = call_line.at(is_verdict).expect("a verdict");
    assert!((1_800.0..2_200.0).contains(&at_ms), "{at_ms}");
}

#[test]
fn speech_begins_and_ends_at_its_samples() {
    let mut call_line = Line::standard();
    call_line.play(&call(&[line(500), speech(700), line(2_000)]));
    let start_ms = call_line
        .at(|kind| matches!(kind, EventKind::SpeechStart))
        .expect("a start");
    let end_ms = call_line
        .at(|kind| matches!(kind, EventKind::SpeechEnd))
        .expect("an end");
    assert!((start_ms - 500.0).abs() <= 80.0, "{start_ms}");
    assert!((end_ms - 1_200.0).abs() <= 80.0, "{end_ms}");
}

#[test]
fn a_person_who_waits_becomes_final_and_nothing_follows() {
    let mut call_line = Line::standard();
    call_line.play(&call(&[
        line(500),
        speech(700),
        line(9_000),
        speech(6_000),
        line(3_000),
    ]));
    call_line.stop();
    assert_eq!(
        call_line.verdicts(),
        [
            (LivePerson, Reason::ShortAnswer, false),
            (LivePerson, Reason::ShortAnswer, true)
        ]
    );
    assert!(!call_line.last().is_refinement);
    assert!(call_line.last().confidence >= 0.9);
}

#[test]
fn a_person_who_speaks_two_and_a_half_seconds_is_called_voicemail_at_first_only() {
    let mut call_line = Line::standard();
    call_line
        .play(&call(&[line(500), speech(2_500), line(10_000)]))
        .stop();
    assert_eq!(
        call_line.verdicts(),
        [
            (Voicemail, Reason::LongSpeech, false),
            (LivePerson, Reason::ShortAnswer, false),
            (LivePerson, Reason::ShortAnswer, true)
        ]
    );
    assert!(call_line.detections()[1].is_refinement);
    assert!(
        call_line.detections()[0].confidence < 0.6,
        "the first guess says that it is one"
    );
}

#[test]
fn a_long_greeting_is_voicemail_and_final_only_at_the_end() {
    let mut call_line = Line::standard();
    call_line.play(&call(&[line(500), speech(5_500), line(10_000)]));
    assert!(
        call_line
            .detections()
            .iter()
            .all(|d| d.kind == Voicemail && !d.is_final)
    );
    call_line.stop();
    assert_eq!(
        call_line.verdicts().last(),
        Some(&(Voicemail, Reason::LongSpeech, true))
    );
    assert!(call_line.last().confidence > 0.8);
}

#[test]
fn a_beep_after_a_greeting_is_final_and_ends_where_the_tone_ends() {
    let mut call_line = Line::standard();
    call_line.play(&call(&[
        line(500),
        speech(2_000),
        line(300),
        tones(&[1_000.0], 500),
        line(3_000),
    ]));
    assert_eq!(
        call_line.verdicts().last(),
        Some(&(Voicemail, Reason::Tone, true))
    );
    assert!(call_line.last().beep_detected);
    let end_ms = call_line
        .at(|kind| matches!(kind, EventKind::Beep { .. }))
        .expect("a beep");
    assert!((end_ms - 3_300.0).abs() <= 20.0, "{end_ms}");
}

#[test]
fn nobody_for_four_seconds_is_silence_and_final_at_the_timeout() {
    let mut call_line = Line::standard();
    call_line.play(&line(44_000));
    assert_eq!(call_line.verdicts(), [(Silence, Reason::NoSpeech, false)]);
    assert_eq!(call_line.at(is_verdict), Some(4_000.0));
    call_line.play(&line(2_000));
    assert_eq!(
        call_line.verdicts()[1..],
        [(Silence, Reason::NoSpeech, true)]
    );
    assert_eq!(
        call_line.count(|kind| matches!(kind, EventKind::Timeout)),
        0
    );
}

#[test]
fn a_voice_after_silence_replaces_it_and_says_so() {
    let mut call_line = Line::standard();
    call_line.play(&call(&[line(6_000), speech(700), line(2_000)]));
    assert_eq!(
        call_line.verdicts(),
        [
            (Silence, Reason::NoSpeech, false),
            (LivePerson, Reason::AnswerAfterSilence, false)
        ]
    );
    assert!(call_line.last().is_refinement);
}

#[test]
fn noise_that_begins_in_the_call_is_no_voice() {
    let mut noise = session_util::Noise::new(3);
    let hiss: Vec<f32> = (0..64_000).map(|_| 0.02 * noise.next()).collect();
    let mut call_line = Line::standard();
    call_line.play(&call(&[line(1_000), hiss]));
    assert_eq!(call_line.verdicts(), [(Silence, Reason::NoSpeech, false)]);
}

#[test]
fn held_chords_are_no_person() {
    let chords = [
        [262.0, 330.0, 392.0],
        [294.0, 349.0, 440.0],
        [247.0, 311.0, 370.0],
    ];
    let mut parts = vec![line(300)];
    for chord in chords.iter().cycle().take(18) {
        parts.push(tones(chord, 600));
        parts.push(line(60));
    }
    parts.push(line(3_000));
    let mut call_line = Line::standard();
    call_line.play(&call(&parts)).stop();
    assert!(call_line.detections().iter().all(|d| d.kind != LivePerson));
}

#[test]
fn a_verdict_carries_what_was_measured() {
    let mut call_line = Line::standard();
    call_line.play(&call(&[line(500), speech(700), line(2_000)]));
    let verdict = call_line.last();
    assert!(
        (verdict.speech_ms - 700.0).abs() < 120.0,
        "{}",
        verdict.speech_ms
    );
    assert!(
        (verdict.silence_ms - 700.0).abs() < 50.0,
        "{}",
        verdict.silence_ms
    );
    assert_eq!((verdict.measured.turns, verdict.measured.sit), (1, false));
    let level_dbfs = verdict.measured.level_dbfs.expect("there was speech");
    assert!((-40.0..-10.0).contains(&level_dbfs), "{level_dbfs}");
    assert!(verdict.measured.noise_floor_dbfs < -55.0);
}
