//! Media time, wall time, and that everything ends.

mod session_util;

use session_util::{Line, call, config, line, pcm16, speech};
use tonegate_detect::{Config, EventKind, Input, Reason, Session, Strategy, VerdictKind};

const STEP: usize = 320;

fn short_timeout() -> Line {
    Line::new(Config {
        detection_timeout_ms: 10_000,
        ..config(Strategy::Standard)
    })
}

#[test]
fn a_dead_wire_ends_at_the_deadline() {
    let mut call_line = short_timeout();
    call_line.play(&line(1_000));
    let deadline_ms = call_line.session.next_deadline_ms();
    assert_eq!(deadline_ms, 1_020.0 + 10_000.0, "from the first audio");
    call_line.wait(deadline_ms - call_line.now_ms - 1.0);
    assert_eq!(call_line.events.len(), 0);
    call_line.wait(1.0);
    assert_eq!(call_line.events.len(), 1);
    assert_eq!(call_line.events[0].kind, EventKind::Timeout);
}

#[test]
fn a_dead_wire_makes_a_standing_verdict_final_without_new_evidence() {
    let mut call_line = short_timeout();
    call_line
        .play(&call(&[line(500), speech(600), line(900)]))
        .wait(20_000.0);
    assert_eq!(
        call_line.verdicts(),
        [
            (VerdictKind::LivePerson, Reason::ShortAnswer, false),
            (VerdictKind::LivePerson, Reason::ShortAnswer, true)
        ]
    );
    assert!(
        call_line.last().silence_ms < 1_000.0,
        "a stalled wire is no silence"
    );
}

#[test]
fn a_session_without_any_audio_ends_too() {
    let mut call_line = short_timeout();
    assert_eq!(
        call_line.session.next_deadline_ms(),
        0.0,
        "the first tick is due at once"
    );
    call_line.wait(0.0).wait(9_999.0);
    assert_eq!(call_line.events.len(), 0);
    call_line.wait(1.0);
    assert_eq!(call_line.events[0].kind, EventKind::Timeout);
}

#[test]
fn a_file_pushed_at_once_gets_the_same_events() {
    let audio = call(&[
        line(500),
        speech(700),
        line(5_000),
        speech(3_000),
        line(4_000),
    ]);
    let mut slow = short_timeout();
    slow.play(&audio);
    let mut fast = short_timeout();
    for frame in pcm16(&audio).chunks(STEP) {
        fast.put(Input::Audio {
            bytes: frame,
            media_ms: None,
        });
    }
    assert!(slow.events.len() > 3);
    assert_eq!(slow.events, fast.events);
}

#[test]
fn a_gap_in_the_wire_moves_media_time_and_is_no_silence() {
    let mut call_line = Line::standard();
    let put = |call_line: &mut Line, samples: &[f32], from_ms: f64| {
        for (n, frame) in pcm16(samples).chunks(STEP).enumerate() {
            call_line.now_ms += 20.0;
            let media_ms = Some(from_ms + 20.0 * n as f64);
            call_line.put(Input::Audio {
                bytes: frame,
                media_ms,
            });
        }
    };
    put(&mut call_line, &line(2_000), 5_000.0);
    put(&mut call_line, &line(1_500), 17_000.0);
    assert_eq!(
        call_line.detections().len(),
        0,
        "3.5 s of audio are not yet silence"
    );
    put(&mut call_line, &line(1_000), 18_500.0);
    let verdict = call_line.last();
    assert_eq!(
        (verdict.kind, verdict.silence_ms),
        (VerdictKind::Silence, 4_000.0)
    );
    let at_ms = call_line
        .at(|kind| matches!(kind, EventKind::Detection(_)))
        .expect("a verdict");
    assert_eq!(
        at_ms, 14_000.0,
        "two seconds before the gap, ten of gap, two after"
    );
    assert_eq!(call_line.session.audio_ms(), 4_500.0);
}

#[test]
fn time_stamps_that_jump_far_ahead_end_the_session_and_no_more() {
    let mut call_line = short_timeout();
    call_line.play(&line(100));
    let frame = pcm16(&line(20));
    call_line.put(Input::Audio {
        bytes: &frame,
        media_ms: Some(0.0),
    });
    call_line.put(Input::Audio {
        bytes: &frame,
        media_ms: Some(f64::MAX),
    });
    call_line.put(Input::Audio {
        bytes: &frame,
        media_ms: Some(f64::NAN),
    });
    let kinds: Vec<_> = call_line.events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::Timeout, EventKind::Ended]);
}

#[test]
fn three_hundred_seconds_end_the_session() {
    let mut call_line = Line::standard();
    for _ in 0..301 {
        call_line.play(&line(1_000));
    }
    let last = call_line.events.last().expect("an end");
    assert_eq!(
        (last.kind, last.timestamp_ms),
        (EventKind::Ended, 300_000.0)
    );
    assert_eq!(call_line.session.next_deadline_ms(), f64::INFINITY);
}

#[test]
fn three_hundred_seconds_of_a_dead_wire_end_the_session() {
    let mut call_line = Line::standard();
    call_line.play(&line(100)).wait(299_000.0);
    assert_eq!(call_line.count(|kind| matches!(kind, EventKind::Ended)), 0);
    call_line.wait(1_000.0);
    assert_eq!(call_line.count(|kind| matches!(kind, EventKind::Ended)), 1);
}

#[test]
fn after_stop_nothing_is_said() {
    let mut call_line = Line::standard();
    call_line
        .play(&call(&[line(500), speech(700), line(1_500)]))
        .stop();
    let said = call_line.events.len();
    assert!(call_line.last().is_final);
    call_line.play(&speech(3_000)).wait(400_000.0).stop();
    assert_eq!(call_line.events.len(), said);
}

#[test]
fn a_clock_that_steps_back_or_is_no_number_changes_nothing() {
    let mut session = Session::new(config(Strategy::Standard)).expect("valid settings");
    for now_ms in [
        5_000.0,
        f64::NAN,
        -1.0,
        f64::NEG_INFINITY,
        f64::INFINITY,
        4_000.0,
    ] {
        session.handle(now_ms, Input::Tick);
    }
    assert_eq!(session.poll_event(), None);
    assert_eq!(session.next_deadline_ms(), 50_000.0);
}
