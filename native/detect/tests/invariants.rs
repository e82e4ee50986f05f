//! What holds for every input.

mod session_util;

use proptest::prelude::*;
use proptest::strategy::Strategy as _;
use session_util::{call, config, line, pcm16, speech, tones};
use tonegate_detect::{Config, Encoding, Event, EventKind, Input, Session, Strategy};

fn strategies() -> impl proptest::strategy::Strategy<Value = Strategy> {
    prop_oneof![
        Just(Strategy::Standard),
        Just(Strategy::LiveCheck),
        Just(Strategy::BeepOnly)
    ]
}

fn encodings() -> impl proptest::strategy::Strategy<Value = (Encoding, u32)> {
    (
        prop_oneof![
            Just(Encoding::Pcm16),
            Just(Encoding::Mulaw),
            Just(Encoding::Alaw)
        ],
        prop_oneof![Just(8_000_u32), Just(16_000)],
    )
}

fn drain(session: &mut Session) -> Vec<Event> {
    std::iter::from_fn(|| session.poll_event()).collect()
}

fn audio(bytes: &[u8]) -> Input<'_> {
    Input::Audio {
        bytes,
        media_ms: None,
    }
}

/// What a client or a wire can do.
#[derive(Debug, Clone)]
enum Op {
    Audio(Vec<u8>, Option<f64>),
    Wait(f64),
    Answered,
    Stop,
}

fn ops() -> impl proptest::strategy::Strategy<Value = Vec<Op>> {
    let bytes = proptest::collection::vec(any::<u8>(), 0..4_000);
    let op = prop_oneof![
        12 => (bytes, proptest::option::of(any::<f64>())).prop_map(|(bytes, at)| Op::Audio(bytes, at)),
        4 => (0.0..20_000.0).prop_map(Op::Wait),
        1 => any::<f64>().prop_map(Op::Wait),
        1 => Just(Op::Answered),
        1 => Just(Op::Stop),
    ];
    proptest::collection::vec(op, 0..60)
}

/// The rules that every run of events keeps.
fn keeps_the_rules(events: &[Event], strategy: Strategy) -> Result<(), TestCaseError> {
    let finals = events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::Detection(d) if d.is_final))
        .count();
    prop_assert!(finals <= 1, "one final verdict at most");
    let timeouts = events
        .iter()
        .filter(|event| event.kind == EventKind::Timeout)
        .count();
    prop_assert!(
        timeouts <= 1 && timeouts + finals <= 1,
        "a timeout or a final verdict"
    );
    let last_verdict = events
        .iter()
        .rposition(|event| matches!(event.kind, EventKind::Detection(_)));
    let final_verdict = events
        .iter()
        .position(|event| matches!(event.kind, EventKind::Detection(d) if d.is_final));
    prop_assert!(
        final_verdict.is_none() || final_verdict == last_verdict,
        "nothing after the final one"
    );
    if let Some(ended) = events
        .iter()
        .position(|event| event.kind == EventKind::Ended)
    {
        prop_assert_eq!(ended, events.len() - 1);
    }
    if strategy == Strategy::BeepOnly {
        let only_beeps = events.iter().all(|event| {
            matches!(
                event.kind,
                EventKind::Beep { .. } | EventKind::Timeout | EventKind::Ended
            )
        });
        prop_assert!(only_beeps, "beep_only says beeps and its end");
    }
    for event in events {
        prop_assert!(event.timestamp_ms.is_finite() && event.timestamp_ms >= 0.0);
        if let EventKind::Detection(d) = event.kind {
            prop_assert!((0.0..=1.0).contains(&d.confidence));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_operations_keep_the_rules_and_end(
        ops in ops(), strategy in strategies(), (encoding, sample_rate_hz) in encodings(),
        detection_timeout_ms in 1..60_000_u32,
    ) {
        let settings = Config { encoding, sample_rate_hz, strategy, detection_timeout_ms };
        let mut session = Session::new(settings).expect("valid settings");
        let mut now_ms = 0.0;
        let mut events = Vec::new();
        let mut stopped = false;
        for op in &ops {
            match op {
                Op::Audio(bytes, media_ms) => {
                    session.handle(now_ms, Input::Audio { bytes, media_ms: *media_ms });
                }
                Op::Wait(ms) => {
                    now_ms += ms;
                    session.handle(now_ms, Input::Tick);
                }
                Op::Answered => session.handle(now_ms, Input::Answered),
                Op::Stop => {
                    session.handle(now_ms, Input::Stop);
                    stopped = true;
                }
            }
            events.extend(drain(&mut session));
        }
        // However it was used, the deadlines it names lead to its end.
        for _ in 0..8 {
            let deadline_ms = session.next_deadline_ms();
            if deadline_ms == f64::INFINITY {
                break;
            }
            session.handle(deadline_ms, Input::Tick);
            events.extend(drain(&mut session));
        }
        keeps_the_rules(&events, strategy)?;
        let ended = stopped || events.iter().any(|event| match event.kind {
            EventKind::Detection(d) => d.is_final,
            EventKind::Timeout | EventKind::Ended => true,
            EventKind::Beep { .. } => strategy == Strategy::BeepOnly,
            _ => false,
        });
        prop_assert!(ended, "{:?}", events);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn chunks_of_any_size_give_the_same_events(
        sizes in proptest::collection::vec(1..3_000_usize, 1..40), strategy in strategies(),
    ) {
        let bytes = pcm16(&call(&[
            line(600), speech(1_800), line(500), speech(900), line(300), tones(&[900.0], 400), line(2_500),
        ]));
        let mut whole = Session::new(config(strategy)).expect("valid settings");
        whole.handle(0.0, audio(&bytes));
        let mut pieces = Session::new(config(strategy)).expect("valid settings");
        let mut rest = &bytes[..];
        for &size in sizes.iter().cycle() {
            let (piece, after) = rest.split_at(size.min(rest.len()));
            pieces.handle(0.0, audio(piece));
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        let events = drain(&mut whole);
        prop_assert!(!events.is_empty());
        prop_assert_eq!(events, drain(&mut pieces));
    }
}
