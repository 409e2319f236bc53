//! `convert` and `--cache`: the same bits from the binary form, and never from one that is out of date.

#![allow(clippy::unwrap_used)] // test code

mod support;

use std::fmt::Write as _;

use support::{FRUIT, Place, cancer};

fn words(rows: u32) -> String {
    let mut out = String::new();
    for k in 0..rows {
        let (y, value) = (k % 3 == 0, f64::from(k % 17) / 10.0);
        writeln!(out, "{} |w a{} b{}:{value} {}:0.5", i32::from(y), k % 90, k % 7, k % 40).unwrap();
    }
    out
}

/// Trains and gives the bytes of the model.
fn model(place: &Place, args: &[&str]) -> Vec<u8> {
    place.ok(&[&["train", "--progress", "none", "--model", "m.gw"], args].concat());
    place.read("m.gw")
}

#[test]
fn a_model_has_the_same_bytes_from_the_text_and_from_the_binary_form() {
    let place = Place::new("convert-bits");
    place.write("words.vw", words(3000));
    place.write("fruit.csv", FRUIT);
    for (text, flags) in [
        (cancer().as_str(), &[][..]),
        (&cancer(), &["--bits", "8"]),
        ("words.vw", &[]),
        ("words.vw", &["--bits", "5"]),
        ("words.vw", &["--exact"]),
        ("fruit.csv", &[]),
    ] {
        place.ok(&[&["convert", text, "--output", "data.gwd"], flags].concat());
        for how in [
            &[][..],
            &["--walk", "gd", "--rate", "0.1", "--passes", "2", "--holdout", "3"],
            &["--walk", "egu", "--rate", "0.01", "--loss", "squared", "--task", "regression"],
        ] {
            if how.contains(&"regression") && text != "words.vw" {
                continue; // classes are names there
            }
            let from_text = model(&place, &[&[text], flags, how].concat());
            assert!(model(&place, &[&["data.gwd"], how].concat()) == from_text, "{text} {how:?}");
        }
        // A model that was trained on the text predicts and is verified from the binary form.
        model(&place, &[&[text], flags].concat());
        let predicted = place.ok(&[&["predict", "m.gw", text], flags].concat());
        assert_eq!(place.ok(&["predict", "m.gw", "data.gwd"]), predicted);
        assert!(place.ok(&["verify", "m.gw", "data.gwd"]).starts_with("verified"));
    }
}

#[test]
fn boosting_and_trees_read_it_too() {
    let place = Place::new("convert-batch");
    place.write("fruit.csv", FRUIT);
    for data in [cancer().as_str(), "fruit.csv"] {
        place.ok(&["convert", data, "--output", "data.gwd"]);
        for how in
            [&["tree", "--progress", "none"][..], &["boost", "--rounds", "5", "--progress", "none"]]
        {
            place.ok(&[how, &[data, "--model", "a.gw"]].concat());
            place.ok(&[how, &["data.gwd", "--model", "b.gw"]].concat());
            assert!(place.read("a.gw") == place.read("b.gw"), "{data} {how:?}");
        }
    }
}

#[test]
fn a_resumed_run_goes_on_from_either_form() {
    let place = Place::new("convert-resume");
    place.write("one.vw", words(1500));
    place.write("two.vw", words(2500).split_off(words(1500).len()));
    place.ok(&["convert", "two.vw", "--output", "two.gwd"]);
    model(&place, &["one.vw"]);
    std::fs::rename(place.0.join("m.gw"), place.0.join("half.gw")).unwrap();
    let text = model(&place, &["two.vw", "--resume", "half.gw"]);
    assert!(model(&place, &["two.gwd", "--resume", "half.gw"]) == text);
    assert!(model(&place, &["one.vw", "two.vw"]) == text);
}

#[test]
fn a_cache_is_made_once_and_again_when_anything_has_changed() {
    let place = Place::new("convert-cache");
    let write = |rows| place.write("words.vw", words(rows));
    let written = || std::fs::metadata(place.0.join("words.vw.gwd")).unwrap().modified().unwrap();
    write(2000);
    let plain = model(&place, &["words.vw"]);
    assert!(model(&place, &["words.vw", "--cache"]) == plain);
    let first = written();
    assert!(model(&place, &["words.vw", "--cache", "--passes", "1"]) == plain);
    assert_eq!(written(), first, "it was true and is not written again");
    // Other options, then another text, then a damaged cache.
    assert!(
        model(&place, &["words.vw", "--cache", "--bits", "6"])
            == model(&place, &["words.vw", "--bits", "6"])
    );
    let second = written();
    assert!(second > first);
    write(2001);
    let longer = model(&place, &["words.vw"]);
    assert!(longer != plain && model(&place, &["words.vw", "--cache"]) == longer);
    place.write("words.vw.gwd", "something else");
    assert!(model(&place, &["words.vw", "--cache"]) == longer);
    let predicted = place.ok(&["predict", "m.gw", "words.vw"]);
    assert_eq!(place.ok(&["predict", "m.gw", "words.vw", "--cache"]), predicted);
    // What is in binary form needs none.
    model(&place, &["words.vw.gwd", "--cache"]);
    assert!(!place.0.join("words.vw.gwd.gwd").exists());
}

#[test]
fn what_it_says_and_what_it_refuses() {
    let place = Place::new("convert-words");
    place.write("a.svm", "1 1:0.5 3:1\n0 2:1\n1 oops\n");
    let said = place.ok(&["convert", "a.svm", "--output", "a.gwd", "--on-error", "skip"]);
    assert!(said.contains("a.gwd: 2 rows, 3 values, "), "{said}");
    assert!(said.contains("rows left out: 1") && said.contains("a.svm:3:"), "{said}");
    let object = place.parsed(&["convert", "a.svm", "-o", "a.gwd", "--on-error", "skip", "--json"]);
    assert_eq!((&object["rows"], &object["skipped"]), (&2.into(), &1.into()));
    let before = place.read("a.gwd");
    place.refuses(&["convert", "a.svm", "--output", "a.gwd"], "a.svm:3:3: ");
    assert_eq!(place.read("a.gwd"), before, "a failure leaves the old file");
    place.refuses(&["convert", "none.svm", "--output", "b.gwd"], "none.svm: No such file");
    assert!(!place.0.join("b.gwd").exists());
    place.refuses(&["train", "-", "--cache"], "-: this is not a regular file");
    place.refuses(&["train", "none.svm", "--cache"], "none.svm: ");
    place.refuses(
        &["train", "a.svm", "--cache", "--on-error", "quarantine=q"],
        "goes with geowalk convert",
    );
    place.refuses(&["train", "a.gwd", "--bits", "9"], "--bits says otherwise");
    place.write("cut.gwd", &before[..before.len() - 5]);
    place.refuses(&["train", "cut.gwd"], "cut.gwd: the binary file stops in the middle");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let place = Place::new("threads");
    let mut text = words(30_000); // several pieces
    place.write("good.vw", &text);
    text.insert_str(text.len() / 2 / 10 * 9, "\n1 |w bad:value\n");
    place.write("bad.vw", &text);
    place.write("fruit.csv", FRUIT);
    for (data, flags) in [
        ("good.vw", &[][..]),
        ("good.vw", &["--bits", "5", "--passes", "2", "--walk", "gd"]),
        ("good.vw", &["--exact", "--walk", "gd"]),
        ("bad.vw", &["--on-error", "skip"]),
        ("fruit.csv", &[]),
        (&cancer(), &[]),
    ] {
        let [one, two, three] = ["1", "2", "3"]
            .map(|threads| model(&place, &[&[data, "--threads", threads], flags].concat()));
        assert!(one == two && two == three, "{data} {flags:?}");
    }
    let refused = |threads| {
        let run = ["train", "bad.vw", "--threads", threads, "--on-error", "quarantine=q"];
        place.ok(&[&run[..], &["--progress", "none"]].concat());
        (
            place.read("q"),
            place.fails(&["train", "bad.vw", "--progress", "none", "--threads", threads]),
        )
    };
    assert_eq!(refused("1"), refused("2"));
    assert!(refused("2").1.contains("the value of feature bad is 'value'"));
    place.refuses(&["train", "good.vw", "--threads", "0"], "a number from 1 on expected");
}
