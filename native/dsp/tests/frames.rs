//! Frames against a naive transform, and their independence of encoding, rate and chunk size.

use proptest::prelude::*;
use tonegate_dsp::{
    BINS, Decoder, Encoding, FFT_LEN, FrontEnd, HOP, POWER_PER_MEAN_SQUARE, RECENT_LEN,
};

/// A frame, owned.
#[derive(Debug, Clone, PartialEq)]
struct Owned {
    index: u64,
    end_sample: u64,
    energy: f32,
    power: [f32; BINS],
    recent: [f32; RECENT_LEN],
}

fn frames_of(front_end: &mut FrontEnd, samples: &[f32], frames: &mut Vec<Owned>) {
    front_end.push(samples, |frame| {
        frames.push(Owned {
            index: frame.index,
            end_sample: frame.end_sample,
            energy: frame.energy,
            power: *frame.power,
            recent: *frame.recent,
        });
    });
}

/// Frames of `bytes` handed over in pieces whose sizes repeat.
fn frames_in_chunks(
    encoding: Encoding,
    sample_rate_hz: u32,
    bytes: &[u8],
    sizes: &[usize],
) -> Vec<Owned> {
    let mut decoder = Decoder::new(encoding, sample_rate_hz).expect("both rates are supported");
    let mut front_end = FrontEnd::new();
    let mut frames = Vec::new();
    let mut left = bytes;
    for &size in sizes.iter().cycle() {
        if left.is_empty() {
            break;
        }
        let (chunk, rest) = left.split_at(size.min(left.len()));
        decoder.decode(chunk, |samples| {
            frames_of(&mut front_end, samples, &mut frames)
        });
        left = rest;
    }
    frames
}

/// Uniform noise in [-0.5, 0.5) from a fixed seed (xorshift).
fn noise(count: usize) -> Vec<f32> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / 16_777_216.0 - 0.5
        })
        .collect()
}

/// The definition: Hann window scaled to read 1 for a full-scale sine on a bin, then the sum over all samples.
fn naive_power(samples: &[f32], bin: usize) -> f64 {
    let turn = std::f64::consts::TAU / FFT_LEN as f64;
    let (mut real, mut imaginary) = (0.0, 0.0);
    for (n, &sample) in samples.iter().enumerate() {
        let window = (0.5 - 0.5 * (turn * n as f64).cos()) / 64.0;
        let phase = turn * (n * bin) as f64;
        real += window * f64::from(sample) * phase.cos();
        imaginary += window * f64::from(sample) * phase.sin();
    }
    real * real + imaginary * imaginary
}

#[test]
fn spectra_equal_the_naive_transform() {
    let samples = noise(20 * HOP);
    let mut frames = Vec::new();
    frames_of(&mut FrontEnd::new(), &samples, &mut frames);
    assert_eq!(frames.len(), 20);
    for frame in frames.iter().skip(4) {
        let end = frame.end_sample as usize;
        for (bin, &power) in frame.power.iter().enumerate() {
            let expected = naive_power(&samples[end - FFT_LEN..end], bin);
            assert!(
                (f64::from(power) - expected).abs() < 1e-4,
                "frame {}, bin {bin}: {power}, {expected}",
                frame.index
            );
        }
    }
}

#[test]
fn a_full_scale_sine_on_a_bin_reads_one() {
    let sine: Vec<f32> = (0..800)
        .map(|n| (std::f32::consts::TAU * 1_000.0 * n as f32 / 8_000.0).sin())
        .collect();
    let mut frames = Vec::new();
    frames_of(&mut FrontEnd::new(), &sine, &mut frames);
    let frame = frames.last().expect("ten hops were pushed");
    assert!((frame.power[32] - 1.0).abs() < 1e-4);
    assert!((frame.power[31] - 0.25).abs() < 1e-4);
    assert!((frame.energy - 0.5).abs() < 1e-4);
    let sum: f32 = frame.power.iter().sum();
    assert!((sum / frame.energy - POWER_PER_MEAN_SQUARE).abs() < 1e-3);
}

#[test]
fn recent_samples_are_the_newest_in_order_across_all_moves_of_the_line() {
    let samples: Vec<f32> = (0..50 * HOP).map(|n| n as f32 + 1.0).collect();
    let mut frames = Vec::new();
    frames_of(&mut FrontEnd::new(), &samples, &mut frames);
    for frame in &frames {
        let newest = frame.end_sample as f32;
        let expected: [f32; RECENT_LEN] =
            std::array::from_fn(|n| (newest - (RECENT_LEN - 1 - n) as f32).max(0.0));
        assert_eq!(frame.recent, expected);
    }
}

#[test]
fn chunking_never_changes_a_frame() {
    let bytes: Vec<u8> = noise(16_001)
        .iter()
        .map(|sample| ((sample + 0.5) * 255.0) as u8)
        .collect();
    for encoding in [Encoding::Pcm16, Encoding::Mulaw, Encoding::Alaw] {
        for sample_rate_hz in [8_000, 16_000] {
            let whole = frames_in_chunks(encoding, sample_rate_hz, &bytes, &[bytes.len()]);
            let bytes_per_sample = if encoding == Encoding::Pcm16 { 2 } else { 1 };
            let samples = bytes.len() / bytes_per_sample / (sample_rate_hz as usize / 8_000);
            assert_eq!(whole.len(), samples / HOP);
            for sizes in [
                &[1_usize][..],
                &[2],
                &[3, 1],
                &[79],
                &[160],
                &[161, 159, 7],
                &[4_096],
            ] {
                let cut = frames_in_chunks(encoding, sample_rate_hz, &bytes, sizes);
                assert!(
                    cut == whole,
                    "{encoding:?} at {sample_rate_hz} Hz in chunks of {sizes:?}"
                );
            }
        }
    }
}

#[test]
fn both_rates_measure_the_same_tone() {
    let tone = |rate: f64| -> Vec<u8> {
        (0..(rate / 2.0) as usize)
            .map(|n| (8_000.0 * (std::f64::consts::TAU * 850.0 * n as f64 / rate).sin()) as i16)
            .flat_map(i16::to_le_bytes)
            .collect()
    };
    let slow = frames_in_chunks(Encoding::Pcm16, 8_000, &tone(8_000.0), &[320]);
    let fast = frames_in_chunks(Encoding::Pcm16, 16_000, &tone(16_000.0), &[640]);
    assert_eq!(slow.len(), fast.len());
    let (slow, fast) = (slow.last().expect("frames"), fast.last().expect("frames"));
    assert!((slow.power[27] / fast.power[27] - 1.0).abs() < 0.02);
}

#[test]
fn a_reset_front_end_and_decoder_begin_anew() {
    let samples = noise(1_000);
    let (mut front_end, mut first, mut again) = (FrontEnd::new(), Vec::new(), Vec::new());
    frames_of(&mut front_end, &samples, &mut first);
    front_end.reset();
    frames_of(&mut front_end, &samples, &mut again);
    assert_eq!(first, again);

    let mut decoder = Decoder::new(Encoding::Pcm16, 16_000).expect("16 kHz is supported");
    let mut outputs = [Vec::new(), Vec::new()];
    for output in &mut outputs {
        decoder.decode(&[1, 2, 3, 4, 5, 6, 7, 8, 9], |samples| {
            output.extend_from_slice(samples)
        });
        decoder.reset();
    }
    assert_eq!(outputs[0], outputs[1]);
}

#[test]
fn other_rates_are_refused() {
    for sample_rate_hz in [0, 8_001, 11_025, 44_100] {
        let error = Decoder::new(Encoding::Mulaw, sample_rate_hz)
            .expect_err("only 8 and 16 kHz are supported");
        assert_eq!(error.sample_rate_hz, sample_rate_hz);
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_in_arbitrary_chunks_give_finite_frames_and_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..6_000),
        sizes in prop::collection::vec(1_usize..700, 1..8),
        encoding in prop::sample::select(vec![Encoding::Pcm16, Encoding::Mulaw, Encoding::Alaw]),
        sample_rate_hz in prop::sample::select(vec![8_000_u32, 16_000]),
    ) {
        let frames = frames_in_chunks(encoding, sample_rate_hz, &bytes, &sizes);
        for (index, frame) in frames.iter().enumerate() {
            prop_assert_eq!(frame.index, index as u64);
            prop_assert!(frame.energy.is_finite() && frame.power.iter().all(|power| power.is_finite()));
            prop_assert!(frame.recent.iter().all(|sample| (-1.5..=1.5).contains(sample)));
        }
    }
}
