//! Ctrl-C keeps what was made, and `boost --resume` continues it.
#![cfg(unix)]
#![allow(clippy::unwrap_used)] // helpers of tests

mod support;

use std::fmt::Write as _;
use std::process::{Child, Command, Stdio};

use std::time::{Duration, Instant};

use support::Place;

fn table(place: &Place, rows: usize) {
    let mut text = String::from("a,b,c,d,class\n");
    let mut bits: u64 = 1;
    for _ in 0..rows {
        let mut next = || {
            bits = bits
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            bits >> 40
        };
        let (a, b, c, d) = (next(), next(), next(), next());
        let class = if (a ^ b ^ (c & d)) & 0x80_0000 == 0 { "x" } else { "y" };
        writeln!(text, "{a},{b},{c},{d},{class}").unwrap();
    }
    place.write("a.csv", text);
}

/// Waits until some progress is on standard error, then sends SIGINT.
fn interrupt(mut child: Child) -> (Option<i32>, String) {
    use std::io::Read as _;
    let mut stderr = child.stderr.take().unwrap();
    let (mut seen, mut byte) = (Vec::new(), [0; 1]);
    // A few lines of rounds.
    while seen.iter().filter(|byte: &&u8| **byte == b'\n').take(6).count() < 6 {
        assert_eq!(stderr.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&seen));
        seen.push(byte[0]);
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    stderr.read_to_end(&mut seen).unwrap();
    let code = child.wait().unwrap().code();
    (code, String::from_utf8(seen).unwrap())
}

#[test]
fn rounds_so_far_are_a_model_that_can_be_continued() {
    let place = Place::new("interrupt-boost");
    table(&place, 2000);
    let begin = |rounds: &str, model: &str| {
        let args = [
            "boost",
            "a.csv",
            "--literals",
            "3",
            "--rounds",
            rounds,
            "--folds",
            "3",
            "--model",
            model,
        ];
        place.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let (code, told) = interrupt(begin("100000", "part"));
    assert_eq!(code, Some(130), "{told}");
    assert!(told.contains("interrupted: ") && told.contains("of 100000 rounds are made"), "{told}");
    assert!(
        told.contains("continue with geowalk boost a.csv --resume part --model part"),
        "{told}"
    );
    let part = place.parsed(&["show", "part", "--json"]);
    let made = part["summary"]["members"][0]["rounds"].as_array().unwrap().len();
    assert!((1..100_000).contains(&made));
    assert!(
        part["summary"]["cross_validation"].is_null(),
        "folds that were cut short tell nothing"
    );
    // Continued, it is what it would have been.
    let more = (made + 5).to_string();
    let quiet = ["--progress", "none", "--rounds", &more];
    let resume = ["boost", "a.csv", "--resume", "part", "--model", "whole"];
    place.ok(&[&resume[..], &quiet].concat());
    place.ok(&[&["boost", "a.csv", "--literals", "3", "--model", "once"][..], &quiet].concat());
    assert_eq!(place.read("whole"), place.read("once"));
    // Other data are refused, and so are other settings.
    table(&place, 1999);
    place.refuses(&[&resume[..], &quiet].concat(), "--resume: the data");
    place.refuses(&["boost", "a.csv", "--resume", "part", "--loss", "gini"], "cannot be used with");
}

#[test]
fn every_kind_of_booster_is_continued_bit_by_bit() {
    let place = Place::new("interrupt-kinds");
    table(&place, 300);
    place.write(
        "three.csv",
        "x,c,class\n1,u,a\n2,v,b\n3,u,c\n4,v,a\n5,u,b\n6,v,c\n7,u,a\n8,v,b\n9,,c\n,u,a\n",
    );
    for data in ["a.csv", "three.csv"] {
        for kind in [
            &["--weak", "stumps"][..],
            &["--weak", "small-trees", "--loss", "logistic"],
            &["--weak", "columns", "--loss", "exponential"],
            &["--leverage", "all"],
            &["--abstain", "--loss", "gini", "--bins", "exact"],
            &["--hold-out", "0.3", "--loss", "renorm"],
            &["--reduction", "mh"],
        ] {
            let quiet = ["--progress", "none", "--model"];
            let run = |rounds: &str, model: &str| {
                place
                    .ok(&[&["boost", data, "--rounds", rounds][..], kind, &quiet, &[model]]
                        .concat());
            };
            run("4", "part");
            run("9", "once");
            let resume = ["boost", data, "--resume", "part", "--rounds", "9"];
            place.ok(&[&resume[..], &quiet, &["whole"]].concat());
            assert_eq!(place.read("whole"), place.read("once"), "{data} {kind:?}");
        }
    }
}

#[test]
fn an_interrupted_tree_is_kept() {
    let place = Place::new("interrupt-tree");
    table(&place, 60_000);
    let args = ["tree", "a.csv", "--folds", "500", "--model", "m", "--bins", "255"];
    let child = place.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    let (code, told) = interrupt(child);
    assert_eq!(code, Some(130), "{told}");
    assert!(told.contains("leaves so far") && told.contains("m holds it"), "{told}");
    assert!(start.elapsed() < Duration::from_secs(120));
    assert!(place.ok(&["show", "m"]).starts_with("tree "));
}
