//! The labelled recordings: every beep is heard with its end, and nothing else is one.
//!
//! The folder is `TONEGATE_AUDIO_DIR`, or `../shared/audio/dev` beside the project; without it the test says so and passes.

mod tones_util;

use std::path::{Path, PathBuf};

use tonegate_dsp::{Decoder, Encoding};
use tones_util::{Heard, listen_to};

/// One line of `manifest.csv`; its first four columns hold no commas inside quotes for the labels used here.
struct Recording {
    name: String,
    label: String,
    mulaw: Vec<u8>,
}

fn audio_dir() -> Option<PathBuf> {
    let dir = std::env::var_os("TONEGATE_AUDIO_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/audio/dev"),
        PathBuf::from,
    );
    if dir.join("manifest.csv").is_file() {
        return Some(dir);
    }
    eprintln!(
        "skipped: no recordings in {} (set TONEGATE_AUDIO_DIR)",
        dir.display()
    );
    None
}

fn recordings() -> Vec<Recording> {
    let Some(dir) = audio_dir() else {
        return Vec::new();
    };
    let manifest =
        std::fs::read_to_string(dir.join("manifest.csv")).expect("the manifest is readable");
    manifest
        .lines()
        .skip(1)
        .filter_map(|line| {
            let mut columns = line.split(',');
            let (name, label) = (columns.next()?, columns.next()?);
            let wav =
                std::fs::read(dir.join(name)).expect("the manifest names files that are there");
            Some(Recording {
                name: name.into(),
                label: label.into(),
                mulaw: data_chunk(&wav)?.to_vec(),
            })
        })
        .collect()
}

/// The samples of a mu-law WAV file.
fn data_chunk(wav: &[u8]) -> Option<&[u8]> {
    let mut at = 12;
    loop {
        let id = wav.get(at..at + 4)?;
        let length = u32::from_le_bytes(wav.get(at + 4..at + 8)?.try_into().ok()?) as usize;
        if id == b"data" {
            return wav.get(at + 8..(at + 8 + length).min(wav.len()));
        }
        at += 8 + length + length % 2;
    }
}

/// The recording, then half a second of silence.
fn listen(recording: &Recording, speech_before: bool) -> Heard {
    let mut bytes = recording.mulaw.clone();
    bytes.extend([0xff; 4_000]);
    let mut decoder = Decoder::new(Encoding::Mulaw, 8_000).expect("8 kHz is supported");
    listen_to(&mut decoder, &bytes, speech_before)
}

#[test]
fn every_recorded_beep_is_heard_alone_and_behind_a_voice() {
    for recording in recordings()
        .iter()
        .filter(|recording| recording.label == "beep")
    {
        for speech_before in [false, true] {
            let heard = listen(recording, speech_before);
            assert_eq!(heard.beeps.len(), 1, "{}", recording.name);
            let beep = heard.beeps[0];
            assert!(
                (beep.frequency_hz - 700.0).abs() < 1.0,
                "{}: {beep:?}",
                recording.name
            );
            assert!(
                beep.end_sample.abs_diff(3_280) < 160,
                "{}: {beep:?}",
                recording.name
            );
        }
    }
}

#[test]
fn the_three_beeps_of_a_real_voicemail_call_are_heard_with_their_ends() {
    for recording in recordings()
        .iter()
        .filter(|recording| recording.label == "voicemail_beep")
    {
        let ends: Vec<u64> = listen(recording, true)
            .beeps
            .iter()
            .map(|beep| beep.end_sample / 8)
            .collect();
        assert_eq!(ends.len(), 3, "{}: {ends:?} ms", recording.name);
        for (end_ms, labelled_ms) in ends.iter().zip([13_050, 29_850, 46_650]) {
            assert!(
                end_ms.abs_diff(labelled_ms) <= 40,
                "{}: {ends:?} ms",
                recording.name
            );
        }
    }
}

#[test]
fn nothing_else_recorded_is_a_beep_and_signals_are_named_only_where_there_are_some() {
    for recording in recordings()
        .iter()
        .filter(|recording| !recording.label.contains("beep"))
    {
        let heard = listen(recording, true);
        assert!(
            heard.beeps.is_empty(),
            "{} ({}): {:?}",
            recording.name,
            recording.label,
            heard.beeps
        );
        let holds_one = recording.label == "dtmf" || recording.name.to_lowercase().contains("sit");
        let signals = heard.signals;
        assert_eq!(
            signals.len(),
            usize::from(holds_one),
            "{} ({}): {signals:?}",
            recording.name,
            recording.label
        );
    }
}

#[test]
fn music_and_other_tones_are_no_beeps_without_a_voice_before_them_either() {
    const TONAL_LABELS: [&str; 4] = ["music", "ding", "dtmf", "neg_sound"];
    for recording in recordings()
        .iter()
        .filter(|recording| TONAL_LABELS.contains(&recording.label.as_str()))
    {
        let heard = listen(recording, false);
        assert!(
            heard.beeps.is_empty(),
            "{} ({}): {:?}",
            recording.name,
            recording.label,
            heard.beeps
        );
    }
}
