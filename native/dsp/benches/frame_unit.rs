//! The unit of the frame cost: mu-law decode of one 20 ms packet and one 256-point transform.

use divan::{Bencher, black_box};
use realfft::RealFftPlanner;
use tonegate_dsp::{Decoder, Encoding, FFT_LEN, FrontEnd};

fn main() {
    divan::main();
}

/// 160 bytes of mu-law that are not all alike.
fn packet() -> [u8; 160] {
    std::array::from_fn(|n| (n * 37 % 256) as u8)
}

#[divan::bench]
fn mulaw_decode_20_ms(bencher: Bencher) {
    let packet = packet();
    let mut decoder = Decoder::new(Encoding::Mulaw, 8_000).expect("8 kHz is supported");
    bencher.bench_local(|| decoder.decode(black_box(&packet), |samples| _ = black_box(samples)));
}

#[divan::bench]
fn fft_256(bencher: Bencher) {
    let plan = RealFftPlanner::<f32>::new().plan_fft_forward(FFT_LEN);
    let mut scratch = plan.make_scratch_vec();
    let mut output = plan.make_output_vec();
    let source: [f32; FFT_LEN] = std::array::from_fn(|n| ((n * n) as f32).sin());
    let mut input = source;
    bencher.bench_local(|| {
        input.copy_from_slice(black_box(&source));
        plan.process_with_scratch(&mut input, &mut output, &mut scratch)
            .expect("lengths match");
        _ = black_box(&output);
    });
}

/// The unit itself: both of the above.
#[divan::bench]
fn unit_mulaw_decode_and_fft_256(bencher: Bencher) {
    let packet = packet();
    let mut decoder = Decoder::new(Encoding::Mulaw, 8_000).expect("8 kHz is supported");
    let plan = RealFftPlanner::<f32>::new().plan_fft_forward(FFT_LEN);
    let mut scratch = plan.make_scratch_vec();
    let mut output = plan.make_output_vec();
    let mut input = [0.0_f32; FFT_LEN];
    bencher.bench_local(|| {
        decoder.decode(black_box(&packet), |samples| {
            input[..samples.len()].copy_from_slice(samples)
        });
        plan.process_with_scratch(&mut input, &mut output, &mut scratch)
            .expect("lengths match");
        _ = black_box(&output);
    });
}

/// Decode and front end of a packet: two hops, two spectra.
#[divan::bench]
fn front_end_20_ms(bencher: Bencher) {
    let packet = packet();
    let mut decoder = Decoder::new(Encoding::Mulaw, 8_000).expect("8 kHz is supported");
    let mut front_end = FrontEnd::new();
    bencher.bench_local(|| {
        decoder.decode(black_box(&packet), |samples| {
            front_end.push(samples, |frame| _ = black_box(frame.power))
        });
    });
}
