//! Verdicts on recordings, so that a change that makes them worse is seen at once.
//!
//! The folder is `TONEGATE_AUDIO_DIR`, else `../shared/audio/dev` beside the workspace. Limits lie a little below what
//! was measured; `npm run bench:detection` measures finely.

mod session_util;

use std::fs;
use std::path::{Path, PathBuf};

use session_util::{Line, config, line};
use tonegate_detect::{Config, Detection, Encoding, Input, Strategy, VerdictKind};

struct Recording {
    path: PathBuf,
    label: String,
    duration_s: f32,
}

/// The recordings of the manifest; `None`, and a line that says so, where there is no folder.
fn recordings() -> Option<Vec<Recording>> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/audio/dev");
    let folder = std::env::var_os("TONEGATE_AUDIO_DIR").map_or(beside, PathBuf::from);
    let Ok(manifest) = fs::read_to_string(folder.join("manifest.csv")) else {
        println!(
            "skipped: no recordings in {}; set TONEGATE_AUDIO_DIR",
            folder.display()
        );
        return None;
    };
    let rows = manifest.lines().skip(1).filter_map(|row| {
        let mut fields = row.splitn(4, ',');
        Some(Recording {
            path: folder.join(fields.next()?),
            label: fields.next()?.to_owned(),
            duration_s: fields.next()?.parse().ok()?,
        })
    });
    Some(rows.collect())
}

/// The mu-law bytes of an 8 kHz WAV file.
fn mulaw(path: &Path) -> Vec<u8> {
    let file = fs::read(path).expect("the manifest names files that are there");
    let data = file
        .windows(4)
        .position(|four| four == b"data")
        .expect("a WAV file has a data chunk");
    file[data + 8..].to_vec()
}

/// The recording on a line that stays open for 10 s after it; its final verdict.
fn final_verdict(recording: &Recording) -> Option<Detection> {
    let settings = Config {
        encoding: Encoding::Mulaw,
        ..config(Strategy::Standard)
    };
    let mut call = Line::new(settings);
    let quiet: Vec<u8> = line(10_000)
        .iter()
        .map(|sample| if *sample < 0.0 { 0x7f } else { 0xff })
        .collect();
    let bytes = [&quiet[..4_000], &mulaw(&recording.path), &quiet].concat();
    for frame in bytes.chunks(160) {
        call.now_ms += 20.0;
        call.put(Input::Audio {
            bytes: frame,
            media_ms: None,
        });
    }
    call.stop();
    call.detections().last().copied()
}

/// Share of the wanted recordings whose final verdict is right; nothing where there are no recordings.
fn check(wanted: impl Fn(&Recording) -> bool, right: impl Fn(VerdictKind) -> bool, at_least: f32) {
    let Some(recordings) = recordings() else {
        return;
    };
    let verdicts: Vec<_> = recordings
        .iter()
        .filter(|recording| wanted(recording))
        .map(|recording| (recording, final_verdict(recording)))
        .collect();
    assert!(!verdicts.is_empty(), "the manifest has such recordings");
    let (good, bad): (Vec<_>, Vec<_>) = verdicts
        .iter()
        .partition(|(_, verdict)| verdict.is_some_and(|verdict| right(verdict.kind)));
    let share = good.len() as f32 / verdicts.len() as f32;
    let names: Vec<_> = bad
        .iter()
        .map(|(recording, _)| recording.path.display().to_string())
        .collect();
    assert!(
        share >= at_least,
        "{share:.3} of {} right; wrong: {names:#?}",
        verdicts.len()
    );
}

#[test]
fn short_answers_are_people() {
    let short = |r: &Recording| r.label == "speech_short" || r.label == "live_hello";
    check(short, |kind| kind == VerdictKind::LivePerson, 0.97);
}

#[test]
fn greetings_of_five_seconds_are_voicemail() {
    let long = |r: &Recording| r.label == "voicemail_greeting" && r.duration_s >= 5.0;
    check(long, |kind| kind == VerdictKind::Voicemail, 0.95);
}

#[test]
fn recordings_with_a_beep_are_voicemail() {
    let beep = |r: &Recording| r.label == "voicemail_beep" || r.label == "beep";
    check(beep, |kind| kind == VerdictKind::Voicemail, 1.0);
}

#[test]
fn music_and_keys_are_no_person() {
    let machine = |r: &Recording| r.label == "music" || r.label == "dtmf";
    check(machine, |kind| kind != VerdictKind::LivePerson, 1.0);
}

#[test]
fn announcements_after_information_tones_are_the_carriers() {
    let sit = |r: &Recording| r.label == "carrier" && r.path.to_string_lossy().contains("-sit.wav");
    check(sit, |kind| kind == VerdictKind::Unknown, 1.0);
}
