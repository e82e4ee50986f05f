//! Cost of one 20 ms packet through the whole detector, beside the unit it is measured in: mu-law decode of the packet
//! and one 256-point transform. The bound is four units.

use divan::{Bencher, black_box};
use realfft::RealFftPlanner;
use tonegate_detect::{Config, Encoding, Input, Session, Strategy, ToneEvent, Tones};
use tonegate_dsp::{Decoder, FFT_LEN, FrontEnd};

/// Packets in one run: 20 s of audio.
const PACKETS: usize = 1_000;

/// Bytes of mu-law in 20 ms.
const PACKET_BYTES: usize = 160;

fn main() {
    divan::main();
}

/// Kinds of line whose cost differs.
const LINES: [&str; 4] = ["noise", "voice", "beep", "ringback"];

/// Deterministic audio of one kind, as mu-law by its top bits only: cost depends on the sound, not on its fidelity.
fn line(kind: &str) -> Vec<u8> {
    let mut seed = 1_u32;
    let mut noise = move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / 8_388_608.0 - 1.0
    };
    let sine = |hz: f32, n: usize| (std::f32::consts::TAU * hz * n as f32 / 8_000.0).sin();
    (0..PACKETS * PACKET_BYTES)
        .map(|n| {
            let pitch = 130.0 + 30.0 * (n as f32 / 8_000.0 * 2.0).sin();
            let sample = match kind {
                "noise" => 0.01 * noise(),
                "voice" => {
                    (1..20)
                        .map(|k| sine(pitch * k as f32, n) / k as f32)
                        .sum::<f32>()
                        * 0.1
                        + 0.005 * noise()
                }
                "beep" => 0.2 * sine(1_000.0, n) + 0.001 * noise(),
                _ => 0.1 * (sine(440.0, n) + sine(480.0, n)) + 0.001 * noise(),
            };
            mulaw(sample)
        })
        .collect()
}

/// ITU-T G.711 compression.
fn mulaw(sample: f32) -> u8 {
    let magnitude = ((sample.abs() * 32_768.0) as u32 + 132).min(32_767);
    let segment = (magnitude >> 7).ilog2();
    let step = (magnitude >> (segment + 3)) & 0x0f;
    let sign = if sample < 0.0 { 0x80 } else { 0 };
    !(sign | (segment << 4) | step) as u8
}

#[divan::bench]
fn unit_times_1000(bencher: Bencher) {
    let line = line("voice");
    let mut decoder = Decoder::new(Encoding::Mulaw, 8_000).expect("8 kHz is supported");
    let plan = RealFftPlanner::<f32>::new().plan_fft_forward(FFT_LEN);
    let mut scratch = plan.make_scratch_vec();
    let mut output = plan.make_output_vec();
    let mut input = [0.0_f32; FFT_LEN];
    bencher.bench_local(|| {
        for packet in line.chunks(PACKET_BYTES) {
            decoder.decode(packet, |samples| {
                input[..samples.len()].copy_from_slice(samples)
            });
            plan.process_with_scratch(&mut input, &mut output, &mut scratch)
                .expect("lengths match");
            _ = black_box(&output);
        }
    });
}

#[divan::bench(args = LINES)]
fn front_end_and_tones_times_1000(bencher: Bencher, kind: &str) {
    let line = line(kind);
    let mut decoder = Decoder::new(Encoding::Mulaw, 8_000).expect("8 kHz is supported");
    let mut front_end = FrontEnd::new();
    let mut tones = Tones::new();
    let mut events: Vec<ToneEvent> = Vec::with_capacity(8);
    bencher.bench_local(|| {
        for packet in line.chunks(PACKET_BYTES) {
            decoder.decode(packet, |samples| {
                front_end.push(samples, |frame| {
                    _ = black_box(tones.push(frame, true, &mut events))
                });
            });
            events.clear();
        }
    });
}

#[divan::bench(args = LINES)]
fn session_times_1000(bencher: Bencher, kind: &str) {
    let line = line(kind);
    bencher
        .with_inputs(|| {
            Session::new(Config {
                encoding: Encoding::Mulaw,
                sample_rate_hz: 8_000,
                strategy: Strategy::Standard,
                detection_timeout_ms: 45_000,
            })
            .expect("the configuration is valid")
        })
        .bench_local_values(|mut session| {
            for (index, packet) in line.chunks(PACKET_BYTES).enumerate() {
                session.handle(
                    index as f64 * 20.0,
                    Input::Audio {
                        bytes: packet,
                        media_ms: None,
                    },
                );
                while let Some(event) = session.poll_event() {
                    _ = black_box(event);
                }
            }
        });
}
