//! What is heard before somebody answers, and machines of the network.

mod session_util;

use session_util::{Line, call, config, line, ring, speech, tones};
use tonegate_detect::{Config, EventKind, Input, Reason, Strategy, VerdictKind};

use VerdictKind::{LivePerson, Silence, Unknown};

#[test]
fn ringback_starts_no_clock() {
    let settings = Config {
        detection_timeout_ms: 8_000,
        ..config(Strategy::Standard)
    };
    let mut call_line = Line::new(settings);
    call_line.play(&call(&[ring(), ring(), ring(), ring()]));
    assert_eq!(
        call_line.detections().len(),
        0,
        "24 s of ringing are no silence and no timeout"
    );
    assert_eq!(
        call_line.count(|kind| matches!(kind, EventKind::Timeout)),
        0
    );
}

#[test]
fn an_answer_after_ringback_is_a_person() {
    let mut call_line = Line::standard();
    call_line.play(&call(&[
        ring(),
        tones(&[440.0, 480.0], 1_200),
        line(500),
        speech(700),
        line(2_000),
    ]));
    assert_eq!(
        call_line.verdicts(),
        [(LivePerson, Reason::ShortAnswer, false)]
    );
    assert!(call_line.last().measured.ringback_cycles >= 1);
}

#[test]
fn silence_after_the_last_ring_is_silence_in_the_end() {
    let mut call_line = Line::standard();
    call_line.play(&call(&[ring(), ring(), line(8_000)]));
    assert_eq!(call_line.verdicts(), [(Silence, Reason::NoSpeech, false)]);
}

#[test]
fn answered_forgets_early_media_and_starts_the_clocks_again() {
    let settings = Config {
        detection_timeout_ms: 12_000,
        ..config(Strategy::Standard)
    };
    let mut call_line = Line::new(settings);
    call_line.play(&call(&[line(500), speech(6_000), line(3_500)]));
    assert_eq!(call_line.last().kind, VerdictKind::Voicemail);
    call_line.put(Input::Answered);
    call_line.play(&call(&[line(500), speech(700), line(9_000)]));
    assert_eq!(call_line.last().kind, LivePerson);
    assert!(
        call_line.last().speech_ms < 900.0,
        "early media is no evidence"
    );
    assert!(call_line.last().is_final);
}

#[test]
fn a_standing_verdict_on_early_media_is_not_said_at_stop_after_answered() {
    let mut call_line = Line::standard();
    call_line.play(&call(&[line(500), speech(6_000)]));
    let said = call_line.detections().len();
    call_line.put(Input::Answered).stop();
    assert_eq!(call_line.detections().len(), said);
}

#[test]
fn special_information_tones_are_a_carrier_announcement() {
    let sit = [
        tones(&[985.2], 380),
        tones(&[1_428.5], 380),
        tones(&[1_776.7], 380),
    ]
    .concat();
    let mut call_line = Line::standard();
    call_line
        .play(&call(&[
            line(500),
            sit,
            line(300),
            speech(4_000),
            line(1_000),
        ]))
        .stop();
    assert_eq!(
        call_line.verdicts(),
        [(Unknown, Reason::CarrierAnnouncement, true)]
    );
    assert!(call_line.last().measured.sit);
}

#[test]
fn a_fax_is_a_fax() {
    let mut call_line = Line::standard();
    call_line
        .play(&call(&[line(500), tones(&[2_100.0], 3_300), line(3_000)]))
        .stop();
    assert_eq!(
        call_line.verdicts().last(),
        Some(&(Unknown, Reason::Fax, true))
    );
}

#[test]
fn busy_is_busy() {
    let mut parts = vec![line(300)];
    for _ in 0..8 {
        parts.push(tones(&[480.0, 620.0], 500));
        parts.push(line(500));
    }
    let mut call_line = Line::standard();
    call_line.play(&call(&parts)).stop();
    assert_eq!(call_line.verdicts(), [(Unknown, Reason::Busy, true)]);
}

#[test]
fn bursts_of_call_waiting_are_neither_a_beep_nor_a_person() {
    let mut call_line = Line::standard();
    let mut parts = vec![line(500)];
    for _ in 0..4 {
        parts.push(tones(&[400.0], 100));
        parts.push(line(2_000));
    }
    call_line.play(&call(&parts));
    call_line.stop();
    assert_eq!(
        call_line.count(|kind| matches!(kind, EventKind::Beep { .. })),
        0
    );
    assert!(
        call_line
            .verdicts()
            .iter()
            .all(|(kind, ..)| *kind == Silence)
    );
}
