//! Any bytes as settings, operations and audio: `cargo +nightly fuzz run session` in `native/detect`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tonegate_detect::{Config, Encoding, Input, Session, Strategy};

fuzz_target!(|data: &[u8]| {
    let [settings, ops @ ..] = data else {
        return;
    };
    let config = Config {
        encoding: [Encoding::Pcm16, Encoding::Mulaw, Encoding::Alaw][usize::from(settings % 3)],
        sample_rate_hz: if settings & 0x40 == 0 { 8_000 } else { 16_000 },
        strategy: [Strategy::Standard, Strategy::LiveCheck, Strategy::BeepOnly]
            [usize::from(settings / 3 % 3)],
        detection_timeout_ms: 1 + u32::from(*settings) * 100,
    };
    let mut session = Session::new(config).expect("every value is one that can be served");
    let mut now_ms = 0.0;
    // An operation is a byte and, for audio, as many bytes as it says; real runs of audio come from long inputs.
    let mut rest = ops;
    while let [op, after @ ..] = rest {
        rest = after;
        now_ms += f64::from(op >> 2);
        match op & 3 {
            0 => session.handle(now_ms, Input::Tick),
            1 if *op == 0x55 => session.handle(now_ms, Input::Answered),
            _ => {
                let (bytes, after) = rest.split_at(rest.len().min(usize::from(*op) * 8));
                rest = after;
                let media_ms = (op & 3 == 3).then_some(now_ms);
                session.handle(now_ms, Input::Audio { bytes, media_ms });
            }
        }
        while session.poll_event().is_some() {}
    }
    session.handle(now_ms, Input::Stop);
});
