//! What `live_check` and `beep_only` do differently.

mod session_util;

use session_util::{Line, call, config, line, speech, tones};
use tonegate_detect::{Config, Error, EventKind, Reason, Session, Strategy, VerdictKind};

#[test]
fn live_check_gives_one_final_verdict_on_a_short_answer() {
    let mut call_line = Line::new(config(Strategy::LiveCheck));
    call_line
        .play(&call(&[
            line(500),
            speech(600),
            line(8_000),
            speech(5_000),
            line(2_000),
        ]))
        .stop();
    assert_eq!(
        call_line.verdicts(),
        [(VerdictKind::LivePerson, Reason::ShortAnswer, true)]
    );
}

#[test]
fn live_check_gives_one_final_verdict_on_long_speech() {
    let mut call_line = Line::new(config(Strategy::LiveCheck));
    call_line
        .play(&call(&[line(500), speech(5_000), line(2_000)]))
        .stop();
    assert_eq!(
        call_line.verdicts(),
        [(VerdictKind::Voicemail, Reason::LongSpeech, true)]
    );
}

#[test]
fn live_check_says_silence_at_its_timeout_only() {
    let settings = Config {
        detection_timeout_ms: 8_000,
        ..config(Strategy::LiveCheck)
    };
    let mut call_line = Line::new(settings);
    call_line.play(&line(7_900));
    assert_eq!(call_line.detections().len(), 0);
    call_line.play(&line(200));
    assert_eq!(
        call_line.verdicts(),
        [(VerdictKind::Silence, Reason::NoSpeech, true)]
    );
}

#[test]
fn live_check_stopped_in_silence_says_nothing() {
    let mut call_line = Line::new(config(Strategy::LiveCheck));
    call_line.play(&line(6_000)).stop();
    assert_eq!(call_line.detections().len(), 0);
}

#[test]
fn beep_only_says_the_first_beep_and_nothing_else() {
    let mut call_line = Line::new(config(Strategy::BeepOnly));
    let beep = || tones(&[850.0], 400);
    call_line.play(&call(&[
        line(500),
        speech(2_000),
        line(400),
        beep(),
        line(1_500),
        speech(900),
    ]));
    call_line
        .play(&call(&[line(400), beep(), line(1_500)]))
        .stop();
    assert_eq!(call_line.events.len(), 1, "{:?}", call_line.events);
    assert!(matches!(call_line.events[0].kind, EventKind::Beep { .. }));
}

#[test]
fn beep_only_without_a_beep_ends_by_timeout() {
    let settings = Config {
        detection_timeout_ms: 3_000,
        ..config(Strategy::BeepOnly)
    };
    let mut call_line = Line::new(settings);
    call_line.play(&line(4_000));
    assert_eq!(call_line.events.len(), 1);
    assert_eq!(
        (call_line.events[0].kind, call_line.events[0].timestamp_ms),
        (EventKind::Timeout, 3_000.0)
    );
}

#[test]
fn beeps_after_a_final_verdict_are_still_said_under_standard() {
    let mut call_line = Line::standard();
    let beep = || tones(&[850.0], 400);
    call_line.play(&call(&[
        line(500),
        speech(2_000),
        line(400),
        beep(),
        line(3_000),
        beep(),
        line(1_000),
    ]));
    assert_eq!(
        call_line.count(|kind| matches!(kind, EventKind::Beep { .. })),
        2
    );
    assert_eq!(
        call_line.detections().iter().filter(|d| d.is_final).count(),
        1
    );
}

#[test]
fn settings_that_cannot_be_served_are_named() {
    let rate = Config {
        sample_rate_hz: 44_100,
        ..config(Strategy::Standard)
    };
    let timeout = Config {
        detection_timeout_ms: 0,
        ..config(Strategy::Standard)
    };
    assert_eq!(Session::new(rate).err(), Some(Error::SampleRate(44_100)));
    assert_eq!(Session::new(timeout).err(), Some(Error::DetectionTimeout));
}
