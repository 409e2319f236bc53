//! `train --checkpoint` and `train --follow`.

#![allow(clippy::unwrap_used)] // test code

mod support;

use std::fs::OpenOptions;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use support::{Place, text};

fn rows(from: u64, count: u64) -> String {
    let row = |k: u64| {
        let x = (k * 29 % 53) as f64 / 26.0 - 1.0;
        format!("{x},c{},{}\n", k * k % 97, if x > 0.0 { "yes" } else { "no" })
    };
    (from..from + count).map(row).collect()
}

#[test]
fn killed_run_goes_on_to_the_same_bits() {
    let place = Place::new("checkpoint");
    let data = format!("x,color,label\n{}", rows(0, 6000));
    place.write("data.csv", &data);
    let common = ["--model", "m.gw", "--holdout", "7", "--threads", "2"];
    place.ok(&[&["train", "data.csv"], &common[..]].concat());
    let whole = place.read("m.gw");
    // The input stops in the middle, and the process is killed there.
    let args = [&["train", "-", "--format", "csv", "--checkpoint", "c.gw:0"], &common[..]].concat();
    for (kill, part) in [2500, 4700, 4701, usize::MAX].into_iter().enumerate() {
        std::fs::remove_file(place.0.join("m.gw")).unwrap_or_default();
        let mut child = place
            .command(&args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        if part == usize::MAX {
            input.write_all(data.as_bytes()).unwrap();
            drop(input);
            let output = child.wait_with_output().unwrap();
            let notes = text(&output.stderr);
            assert!(output.status.success() && notes.contains("goes on after"), "{notes}");
            break;
        }
        let length = data.split_inclusive('\n').take(part).map(str::len).sum::<usize>();
        input.write_all(&data.as_bytes()[..length]).unwrap();
        input.flush().unwrap();
        let begun = Instant::now();
        let file = place.0.join("c.gw");
        let written = || std::fs::metadata(&file).and_then(|found| found.modified()).ok();
        let before = written();
        while (kill < 2 && written() == before) || written().is_none() {
            assert!(begun.elapsed() < Duration::from_secs(60), "there is no checkpoint");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(100));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(place.read("m.gw") == whole, "the bits differ");
    assert!(!place.0.join("c.gw").exists(), "a run that has ended leaves no checkpoint");
}

#[test]
fn wrong_checkpoints_are_refused() {
    let place = Place::new("checkpoint-wrong");
    place.write("data.csv", format!("x,color,label\n{}", rows(0, 3000)));
    place.write("other.csv", format!("x,color,label\n{}", rows(1, 3000)));
    place.write("short.csv", format!("x,color,label\n{}", rows(0, 30)));
    let train = ["train", "-", "--format", "csv", "--checkpoint", "c.gw:0"];
    let mut child = place
        .command(&train)
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&place.read("data.csv")).unwrap();
    let begun = Instant::now();
    while !place.0.join("c.gw").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(200));
    child.kill().unwrap();
    child.wait().unwrap();
    let with = |data| ["train", data, "--format", "csv", "--checkpoint", "c.gw:0"];
    place.refuses(&with("other.csv"), "the data do not begin with the rows that it has seen");
    place.refuses(&with("short.csv"), "the data end before the rows that it has seen");
    place.refuses(
        &[&with("data.csv")[..], &["--walk", "gd"]].concat(),
        "it was made with other settings",
    );
    place.refuses(&[&with("data.csv")[..], &["--passes", "2"]].concat(), "one pass");
    place.ok(&["train", "data.csv", "--model", "m.gw"]);
    place
        .refuses(&["train", "data.csv", "--checkpoint", "m.gw"], "it is a model, not a checkpoint");
}

#[cfg(unix)]
#[test]
fn growing_file_is_followed_until_it_is_asked_to_stop() {
    let place = Place::new("follow");
    let (head, first, second) = ("x,color,label\n", rows(0, 1500), rows(1500, 700));
    place.write("grows.csv", format!("{head}{first}"));
    let args = [
        "train",
        "--follow",
        "grows.csv",
        "--task",
        "binary",
        "--model",
        "m.gw",
        "--checkpoint",
        "c.gw:0",
    ];
    let child = place.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let mut file = OpenOptions::new().append(true).open(place.0.join("grows.csv")).unwrap();
    file.write_all(second.as_bytes()).unwrap();
    file.write_all(b"0.5,c1,y").unwrap(); // a line that is not whole yet
    std::thread::sleep(Duration::from_millis(1500));
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    place.write("all.csv", format!("{head}{first}{second}"));
    place.ok(&["train", "all.csv", "--task", "binary", "--model", "all.gw"]);
    assert!(place.read("m.gw") == place.read("all.gw"));
}
