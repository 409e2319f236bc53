//! Another program sends a row, waits for the answer, and sends the next.

#![allow(clippy::unwrap_used)] // test code

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use support::{Place, text};

/// Sends rows one by one, and gives the answers. A command that keeps an answer back is a failure after a while.
fn talk(mut child: Child, header: &str, rows: &[&str]) -> Vec<String> {
    let mut input = child.stdin.take().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let (give, answers) = channel();
    std::thread::spawn(move || output.lines().try_for_each(|line| give.send(line.unwrap())));
    input.write_all(header.as_bytes()).unwrap();
    let mut found = Vec::new();
    for row in rows {
        input.write_all(row.as_bytes()).unwrap();
        let answer = answers.recv_timeout(Duration::from_secs(30));
        if answer.is_err() {
            child.kill().unwrap();
        }
        assert!(answer.is_ok(), "no answer to {row:?} after {found:?}");
        found.extend(answer);
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    assert!(answers.recv().is_err(), "as many answers as rows");
    found
}

impl Place {
    fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().unwrap()
    }
}

#[test]
fn each_row_is_answered_before_the_next_is_sent() {
    let place = Place::new("coprocess");
    for (name, header, rows) in [
        ("a.vw", "", &["1 |a x\n", "0 |b y\n", "1 |a z\n", "0 |c\n", "0 |a\n"][..]),
        ("a.svm", "", &["1 1:1 2:2\n", "0 2:1\n", "1 1:3\n"]),
        ("a.csv", "x,y\n", &["1,1\n", "2,0\n", "3,1\n"]),
        ("a.jsonl", "", &["{\"x\":1,\"y\":1}\n", "{\"x\":2,\"y\":0}\n"]),
    ] {
        place.write(name, format!("{header}{}", rows.concat()));
        let format = name.split_once('.').unwrap().1.replace("svm", "libsvm");
        place.ok(&["train", name, "--model", "m.gw"]);
        for threads in ["1", "2"] {
            let args = ["predict", "m.gw", "-", "--format", &format, "--threads", threads];
            let answers = talk(place.start(&args), header, rows);
            let whole = place.ok(&["predict", "m.gw", name]);
            assert_eq!(answers, whole.lines().collect::<Vec<_>>(), "{name}");

            let learn = ["--resume", "m.gw", "--predictions", "-", "--threads", threads];
            let args =
                [&["train", "-", "--format", &format, "--model", "c.gw"][..], &learn].concat();
            let answers = talk(place.start(&args), header, rows);
            let whole = place.ok(&[&["train", name, "--model", "w.gw"][..], &learn].concat());
            assert_eq!(answers, whole.lines().collect::<Vec<_>>(), "{name}");
            assert!(place.read("c.gw") == place.read("w.gw"), "the same bits, {name}");
        }
    }
    // A new model, where nothing has to be inferred.
    let args = ["train", "-", "--format", "vw", "--task", "binary", "--predictions", "-"];
    assert_eq!(talk(place.start(&args), "", &["1 |a\n", "-1 |b\n", "1 |a\n"]).len(), 3);
}

#[test]
fn the_summary_makes_way_for_predictions() {
    let place = Place::new("coprocess-summary");
    place.write("in.csv", "x,y\n1,1\n2,0\n3,1\n");
    let output = place.run(&["train", "in.csv", "--predictions", "-", "--progress", "none"]);
    assert_eq!(text(&output.stdout).lines().count(), 3);
    assert!(text(&output.stderr).contains("examples       3"));
    place.write("experts.csv", "a,b\n0.1,0.2\n0.3,0.1\n");
    let output = place.run(&["experts", "experts.csv", "--predictions", "-"]);
    assert_eq!(text(&output.stdout).lines().count(), 2);
    assert!(text(&output.stderr).contains("rounds         2"));
}

#[test]
fn predictions_while_learning_have_probabilities() {
    let place = Place::new("coprocess-proba");
    let rows = ["1,1,cat", "2,0,dog", "1,2,cat", "2,1,emu", "1,0,cat", "2,3,dog"];
    place.write("three.csv", format!("a,b,class\n{}\n", rows.join("\n")));
    place.write("two.csv", format!("a,b,class\n{}\n", rows.join("\n").replace("emu", "dog")));
    place.write("number.csv", "a,y\n1,0.5\n2,1.5\n3,2.5\n");
    for (file, model) in [("three.csv", "3.gw"), ("two.csv", "2.gw")] {
        place.ok(&["train", file, "--model", model]);
        let args = ["train", file, "--predictions", "p.csv", "--resume", model];
        place.ok(&args);
        let plain = text(&place.read("p.csv"));
        place.ok(&[&args[..], &["--proba"]].concat());
        let proba = text(&place.read("p.csv"));
        let mut lines = proba.lines();
        assert_eq!(lines.next(), Some("prediction,score,probability"));
        assert_eq!(proba.lines().count(), rows.len() + 1);
        for (line, class) in lines.zip(plain.lines()) {
            let fields: Vec<&str> = line.split(',').collect();
            assert_eq!(fields[0], class);
            let [score, p] = [fields[1], fields[2]].map(|field| field.parse::<f64>().unwrap());
            assert!((1.0 / 3.0 - 1e-9..=1.0).contains(&p), "{line}");
            if file == "two.csv" {
                assert!(
                    (p - 1.0 / (1.0 + geowalk::Real::exp(-score.abs()))).abs() < 1e-12,
                    "{line}"
                );
            }
        }
        // The first of them is what the saved model says of the first row.
        let saved = place.ok(&["predict", model, file, "--proba"]);
        let most = |line: &str| line.split(',').map(|p| p.parse().unwrap()).fold(0.0, f64::max);
        let first = proba.lines().nth(1).unwrap().rsplit(',').next().unwrap();
        assert_eq!(most(saved.lines().nth(1).unwrap()), first.parse::<f64>().unwrap());
    }
    place.ok(&["train", "number.csv", "--predictions", "n.csv", "--proba"]);
    assert_eq!(text(&place.read("n.csv")).lines().count(), 3);
    place.fails(&["train", "number.csv", "--proba"]);
}

#[test]
fn tags_stand_beside_predictions() {
    let place = Place::new("coprocess-tags");
    // The lines of VW's tutorial, and many more, so that several threads parse.
    let lines = [
        "0 | price:.23 sqft:.25 age:.05 2006",
        "1 2 second_house | price:.18 sqft:.15 age:.35 1976",
        "0 1 'third_house | price:.53 sqft:.32 age:.87 1924",
        "1 fourth| price:.2 age:.3",
    ];
    let rows: String = (0..5000)
        .map(|i| {
            lines[i % 4].replace("house", &format!("house{i}")).replace("fourth", &format!("f{i}"))
                + "\n"
        })
        .collect();
    place.write("t.vw", rows);
    let tags: Vec<String> = (0..5000)
        .map(|i| match i % 4 {
            0 => String::new(),
            1 => format!(" second_house{i}"),
            2 => format!(" third_house{i}"),
            _ => format!(" f{i}"),
        })
        .collect();
    let check = |text: &str| {
        assert_eq!(text.lines().count(), tags.len());
        for (line, tag) in text.lines().zip(&tags) {
            assert_eq!(&line[1..], tag);
        }
    };
    for threads in ["1", "2"] {
        let args =
            ["train", "t.vw", "--predictions", "p.txt", "--model", "m.gw", "--threads", threads];
        place.ok(&args);
        check(&text(&place.read("p.txt")));
        check(&place.ok(&["predict", "m.gw", "t.vw", "--threads", threads]));
    }
    let proba = place.ok(&["predict", "m.gw", "t.vw", "--proba"]);
    assert!(proba.lines().nth(2).unwrap().ends_with(" second_house1"));
    place.write("bad.vw", "1 x | a\n");
    place.fails(&["train", "bad.vw"]);
}

#[test]
fn waiting_for_the_first_rows_is_said() {
    let place = Place::new("waiting");
    for (more, said) in [(&[][..], true), (&["--task", "regression"], false)] {
        let args = [&["train", "-", "--format", "csv", "--predictions", "p.csv"], more].concat();
        let mut command = place.command(&args);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"x,y\n1,2.5\n2,3.5\n").unwrap();
        let err = text(&child.wait_with_output().unwrap().stderr);
        assert_eq!(err.contains("with --task every row is answered"), said, "{err}");
    }
}
