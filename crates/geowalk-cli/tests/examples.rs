//! The examples run, and show what they say.

#![cfg(unix)]
#![allow(clippy::unwrap_used)] // test code

use std::path::Path;
use std::process::Command;

fn run(name: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let ran = Command::new("bash")
        .arg(script)
        .env("GEOWALK", env!("CARGO_BIN_EXE_geowalk"))
        .output()
        .unwrap();
    assert!(ran.status.success(), "{name}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

/// The number behind the last word of a line that begins so.
fn number(text: &str, start: &str, field: usize) -> f64 {
    let line = text.lines().find(|line| line.starts_with(start)).unwrap();
    let rest: Vec<&str> = line[start.len()..].split_whitespace().collect();
    rest[field].trim_end_matches('%').parse().unwrap()
}

#[test]
fn multiplicative_updates_find_a_sparse_target() {
    let out = run("sparse-target.sh");
    let gd = number(&out, "gd ", 1);
    for walk in ["eg+-(scale=4) ", "egu(signed=true, start=0.001) "] {
        assert!(number(&out, walk, 1) < gd / 3.0, "{out}");
        assert!(number(&out, walk, 2) > number(&out, "gd ", 2), "{out}");
    }
}

#[test]
fn messages_are_told_apart() {
    let out = run("text.sh");
    assert!(out.contains("held out       500 examples"), "{out}");
    let lines: Vec<&str> = out.lines().collect();
    let [offer, draft] = lines[lines.len() - 2..] else { panic!("{out}") };
    let positive = |line: &str| line.split(',').nth(1).unwrap().parse::<f64>().unwrap();
    assert!(positive(offer) > 0.9 && positive(draft) < 0.1, "{out}");
}

#[test]
fn the_null_vector_is_found() {
    let out = run("null-vector.sh");
    assert_eq!(number(&out, "length of the vector found", 0), 1.0);
    assert!(number(&out, "|cosine| with the hidden one", 0) > 0.999, "{out}");
}

#[test]
fn every_example_is_described_and_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let (readme, own) =
        (std::fs::read_to_string(folder.join("README.md")).unwrap(), include_str!("examples.rs"));
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if Path::new(&name).extension().is_some_and(|end| end == "sh") && name != "common.sh" {
            assert!(readme.contains(&name) && own.contains(&name), "{name}");
        }
    }
}
