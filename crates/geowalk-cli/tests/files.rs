//! No command destroys a file: outputs are neither inputs nor each other, and are whole or untouched.

#![allow(clippy::unwrap_used)] // test code

mod support;

use std::fs;
use std::process::Stdio;

use support::{Place, text};

const TABLE: &str = "size,color,y\n1,red,1\n0,blue,0\n2,red,1\n0.5,blue,0\n";

/// A directory with data, a model `m.gw`, and other spellings of `in.csv`.
fn place(name: &str) -> Place {
    let place = Place::new(name);
    place.write("in.csv", TABLE);
    place.ok(&["train", "in.csv", "--model", "m.gw"]);
    fs::create_dir(place.0.join("sub")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("in.csv", place.0.join("link.csv")).unwrap();
    fs::hard_link(place.0.join("in.csv"), place.0.join("hard.csv")).unwrap();
    place
}

/// All files of a directory with their contents.
fn contents(place: &Place) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = fs::read_dir(&place.0)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_file())
        .map(|entry| {
            (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).unwrap())
        })
        .collect();
    all.sort();
    all
}

#[test]
fn outputs_that_are_inputs_are_refused() {
    let place = place("inputs");
    let before = contents(&place);
    let spellings = ["in.csv", "./in.csv", "sub/../in.csv", "link.csv", "hard.csv"];
    for name in spellings {
        let quarantine = format!("quarantine={name}");
        for (args, option) in [
            (vec!["train", "in.csv", "--model", name], "--model"),
            (vec!["train", "in.csv", "--model", name, "--force"], "--model"),
            (vec!["train", "in.csv", "--report", name], "--report"),
            (vec!["train", "in.csv", "--predictions", name], "--predictions"),
            (vec!["train", "in*.csv", "--predictions", name], "--predictions"),
            (vec!["train", "m.gw", "--comparator", "in.csv", "--report", name], "--report"),
            (vec!["train", "in.csv", "--on-error", &quarantine], "--on-error quarantine"),
            (vec!["boost", "in.csv", "--model", name], "--model"),
            (vec!["boost", "in.csv", "--report", name], "--report"),
            (vec!["tree", "in.csv", "--model", name], "--model"),
            (vec!["tree", "in.csv", "--report", name], "--report"),
            (vec!["experts", "in.csv", "--report", name], "--report"),
            (vec!["experts", "in.csv", "--predictions", name], "--predictions"),
            (vec!["predict", "m.gw", "in.csv", "--output", name], "--output"),
            (vec!["convert", "in.csv", "--output", name], "--output"),
            (vec!["track", "in.csv", "--on-error", &quarantine], "--on-error quarantine"),
            (vec!["verify", "m.gw", "in.csv", "--on-error", &quarantine], "--on-error quarantine"),
        ] {
            let message = place.fails(&args);
            for part in [format!("{option} {name}"), "in.csv".to_owned(), "same file".to_owned()] {
                assert!(message.contains(&part), "{args:?}: {part:?} is not in {message}");
            }
        }
    }
    for args in [
        &["train", "in.csv", "--resume", "m.gw", "--predictions", "m.gw"][..],
        &["train", "in.csv", "--resume", "m.gw", "--report", "./m.gw"],
        &["predict", "m.gw", "in.csv", "--output", "m.gw"],
        &["verify", "m.gw", "in.csv", "--on-error", "quarantine=m.gw"],
        &["certify", "m.gw", "--data", "in.csv", "--on-error", "quarantine=in.csv"],
        &["certify", "m.gw", "--data", "in.csv", "--on-error", "quarantine=m.gw"],
        &["train", "in.csv", "in.csv.gwd", "--cache"],
        &["train", "in.csv", "--cache", "--predictions", "in.csv.gwd"],
    ] {
        if args.contains(&"in.csv.gwd") {
            place.write("in.csv.gwd", "");
        }
        place.refuses(args, "same file");
        let _ = fs::remove_file(place.0.join("in.csv.gwd"));
    }
    assert_eq!(contents(&place), before);
}

#[test]
fn repro_does_not_replace_a_table_it_reads() {
    let place = Place::new("repro-tables");
    place.write("findings.csv", TABLE);
    let args = ["repro", "figure-15", "--small", "--data", ".", "--out", "."];
    place.refuses(&args, "same file");
    assert_eq!(text(&place.read("findings.csv")), TABLE);
}

#[test]
fn two_outputs_of_one_name_are_refused() {
    let place = place("outputs");
    let before = contents(&place);
    for other in ["new", "./new", "sub/../new"] {
        place.refuses(&["train", "in.csv", "--model", "new", "--report", other], "same file");
        place.refuses(&["train", "in.csv", "--predictions", "new", "--report", other], "same file");
        let quarantine = format!("quarantine={other}");
        let args = ["predict", "m.gw", "in.csv", "--output", "new", "--on-error", &quarantine];
        place.refuses(&args, "same file");
    }
    assert_eq!(contents(&place), before);
}

#[cfg(unix)]
#[test]
fn redirections_to_and_from_a_file_are_seen() {
    let place = place("redirected");
    let data = place.0.join("in.csv");
    let append = fs::File::options().append(true).open(&data).unwrap();
    let mut command = place.command(&["predict", "m.gw", "in.csv"]);
    let output = command.stdout(append).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("same file"), "{}", text(&output.stderr));
    let mut command = place.command(&["train", "-", "--format", "csv", "--predictions", "in.csv"]);
    let output = command.stdin(fs::File::open(&data).unwrap()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("standard input"), "{}", text(&output.stderr));
    assert_eq!(text(&place.read("in.csv")), TABLE);
}

#[test]
fn models_replace_models_only_unless_forced() {
    let place = place("kinds");
    place.write("notes.txt", "years of work");
    place.write("empty", "");
    for command in ["train", "boost", "tree"] {
        place.refuses(&[command, "in.csv", "--model", "notes.txt"], "not a geowalk model");
        assert_eq!(place.read("notes.txt"), b"years of work");
        place.ok(&[command, "in.csv", "--model", "m.gw"]);
        place.ok(&[command, "in.csv", "--model", "empty"]);
    }
    for args in [
        &["train", "in.csv", "--report", "m.gw"][..],
        &["train", "in.csv", "--predictions", "m.gw"],
        &["train", "in.csv", "--on-error", "quarantine=m.gw"],
        &["predict", "empty", "in.csv", "--output", "m.gw"],
        &["convert", "in.csv", "--output", "m.gw"],
    ] {
        place.refuses(args, "a geowalk model; choose another name, or replace it with --force");
    }
    place.ok(&["show", "m.gw"]);
    place.ok(&["train", "in.csv", "--model", "notes.txt", "--force"]);
    place.ok(&["show", "notes.txt"]);
    place.ok(&["train", "in.csv", "--predictions", "notes.txt", "--force"]);
    assert_eq!(text(&place.read("notes.txt")).lines().count(), 4);
}

#[test]
fn failed_runs_leave_outputs_as_they_were() {
    let place = place("failed");
    for name in ["p.txt", "r.html", "q.txt"] {
        place.write(name, "yesterday");
    }
    place.write("bad.csv", "x,y\n1,1\n2,0\n1,x,3\n");
    let before = contents(&place);
    let outputs =
        ["--predictions", "p.txt", "--report", "r.html", "--on-error", "quarantine=q.txt"];
    for first in [
        &["train", "in.csv", "--walk", "simplx"][..],
        &["train", "in.csv", "--loss", "none"],
        &["train", "in.csv", "--label", "z"],
        &["train", "nothing.csv"],
        &["train", "in.csv", "--holdout", "x"],
        &["train", "in.csv", "--model", "nowhere/m"],
        &["experts", "in.csv", "--walk", "simplx"],
    ] {
        place.fails(&[first, &outputs].concat());
        assert_eq!(contents(&place), before, "{first:?}");
    }
    for args in [
        &["predict", "m.gw", "bad.csv", "--output", "p.txt"][..],
        &["train", "bad.csv", "--predictions", "p.txt", "--report", "r.html"],
        &["train", "in.csv", "--on-error", "quarantine", "--predictions", "p.txt"],
        &[
            "train",
            "in.csv",
            "--walk",
            "simplx",
            "--predictions",
            "new.txt",
            "--report",
            "new.html",
        ],
        &["boost", "in.csv", "--weak", "none", "--report", "new.html"],
        &["boost", "nothing.csv", "--report", "new.html"],
        &["tree", "nothing.csv", "--report", "new.html"],
    ] {
        place.fails(args);
        assert_eq!(contents(&place), before, "{args:?}");
    }
}

#[test]
fn quarantine_keeps_the_rows_of_one_pass() {
    let place = Place::new("quarantine-passes");
    place.write("in.csv", "x,y\n1,1\nno\n2,0\n3,1,4\n");
    let quarantine = ["--on-error", "quarantine=q.txt"];
    place.ok(&[&["train", "in.csv", "--passes", "3", "--model", "m.gw"][..], &quarantine].concat());
    assert_eq!(text(&place.read("q.txt")), "no\n3,1,4\n");
    place.ok(&[&["verify", "m.gw", "in.csv"][..], &quarantine].concat());
    assert_eq!(text(&place.read("q.txt")), "no\n3,1,4\n");
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_are_written_directly() {
    let place = place("devices");
    let null = "/dev/null";
    let args = ["train", "in.csv", "--model", null, "--report", null, "--predictions", null];
    place.ok(&args);
    let direct = place.ok(&["predict", "m.gw", "in.csv"]);
    for name in ["-", "/dev/stdout"] {
        assert_eq!(place.ok(&["predict", "m.gw", "in.csv", "--output", name]), direct);
        let file = fs::File::create(place.0.join("out.txt")).unwrap();
        let mut command = place.command(&["predict", "m.gw", "in.csv", "--output", name]);
        assert!(command.stdout(file).status().unwrap().success());
        assert_eq!(text(&place.read("out.txt")), direct);
    }
    let pipe = place.0.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn(move || fs::read_to_string(pipe).unwrap());
    place.ok(&["predict", "m.gw", "in.csv", "--output", "pipe"]);
    assert_eq!(reader.join().unwrap(), direct);
}

#[cfg(unix)]
#[test]
fn a_model_that_changed_meanwhile_is_not_replaced() {
    use std::io::Write;
    let place = place("meanwhile");
    let args = ["train", "-", "--format", "csv", "--resume", "m.gw", "--model", "./m.gw"];
    let mut slow = place.command(&args);
    slow.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut slow = slow.spawn().unwrap();
    let mut input = slow.stdin.take().unwrap();
    input.write_all(TABLE.as_bytes()).unwrap();
    // The model is read before the data: standard error tells when.
    std::thread::sleep(std::time::Duration::from_millis(500));
    place.ok(&["train", "in.csv", "--resume", "m.gw", "--model", "m.gw"]);
    let second = place.read("m.gw");
    drop(input);
    let output = slow.wait_with_output().unwrap();
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("m.gw.2") && message.contains("another run"), "{message}");
    assert_eq!(place.read("m.gw"), second);
    assert!(place.ok(&["show", "m.gw.2"]).contains("examples   8"));
    // Without a change in between, day after day is one model.
    place.ok(&["train", "in.csv", "--resume", "m.gw", "--model", "m.gw"]);
    assert!(place.ok(&["show", "m.gw"]).contains("examples   12"));
}

#[test]
fn leftovers_of_a_killed_run_go_with_the_next_one() {
    let place = place("killed");
    place.write(".m.gw.4194305-0.tmp", "half a model");
    place.ok(&["train", "in.csv", "--model", "m.gw"]);
    assert!(!place.0.join(".m.gw.4194305-0.tmp").exists());
}
