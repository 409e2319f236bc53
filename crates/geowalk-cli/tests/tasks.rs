//! What is learned: guessed from the labels, said with its reason, and changed with `--task`.

#![allow(clippy::unwrap_used, clippy::format_collect)] // test code

mod support;

use support::Place;

/// Rows with whole numbers as labels.
fn rows(labels: impl Iterator<Item = i64>) -> String {
    let rows: String =
        labels.enumerate().map(|(i, y)| format!("{},{},{y}\n", i % 7, (i * i) % 5)).collect();
    format!("a,b,y\n{rows}")
}

#[test]
fn many_whole_numbers_are_numbers() {
    let place = Place::new("task-numbers");
    place.write("delays.csv", rows((0..200).map(|i| (i * 37) % 61 - 12)));
    place.write("fifty.csv", rows((0..600).map(|i| (i * 31) % 51)));
    place.write("digits.csv", rows((0..200).map(|i| (i * 7) % 10)));
    for file in ["delays.csv", "fifty.csv"] {
        let (out, err) = place.both(&["train", file]);
        for text in [&out, &err] {
            assert!(text.contains("regression, because the labels are"), "{text}");
            assert!(text.contains("if they are classes, use --task multiclass"), "{text}");
        }
        assert_eq!(place.json(&[file])["task"], "regression");
        assert_eq!(place.json(&[file, "--task", "multiclass"])["task"], "multiclass");
        for command in [&["boost", "--plain"][..], &["tree"]] {
            place.refuses(&[command, &[file]].concat(), "use --task multiclass");
            place.ok(&[command, &[file, "--task", "multiclass"]].concat());
        }
        let (_, err) = place.both(&["boost", file]);
        assert!(err.contains("regression, because the labels are"), "{err}");
    }
    let (out, err) = place.both(&["train", "digits.csv"]);
    for text in [&out, &err] {
        assert!(text.contains("multiclass, because the labels are 10 small whole"), "{text}");
        assert!(text.contains("if they are numbers, use --task regression"), "{text}");
    }
    let (_, err) = place.both(&["tree", "digits.csv"]);
    assert!(err.contains("if they are numbers, use --task regression"), "{err}");
}

#[test]
fn classes_that_keep_coming_are_noticed() {
    let place = Place::new("task-coming");
    place.write("one.csv", rows((0..300).map(|i| (i * 7) % 10)));
    place.write("two.csv", rows((0..900).map(|i| (i * 37) % 211)));
    place.ok(&["train", "one.csv", "--model", "m.gw"]);
    let (out, err) = place.both(&["train", "two.csv", "--resume", "m.gw"]);
    for text in [&out, &err] {
        assert!(
            text.contains("new classes keep coming: 211 after 512 examples, up from 10"),
            "{text}"
        );
        assert!(text.contains("train anew with --task regression"), "{text}");
    }
    // All classes have come, and no others do.
    place.write("three.csv", rows((0..4000).map(|i| (i * 37) % 211)));
    let (out, _) = place.both(&["train", "three.csv", "--task", "multiclass"]);
    assert!(!out.contains("new classes keep coming"), "{out}");
}

#[test]
fn two_classes_become_several() {
    let place = Place::new("task-several");
    let labels = ["cat", "dog", "emu"];
    let table = |classes: usize| {
        let row = |i: usize| {
            let k = (i * 5 + i / 7) % classes;
            format!("{},{},{}\n", k * 2 + i % 2, u8::from(k == 1), labels[k])
        };
        format!("a,b,class\n{}", (0..300).map(row).collect::<String>())
    };
    place.write("two.csv", table(2));
    place.write("three.csv", table(3));
    for walk in ["free", "adagrad", "gd"] {
        place.ok(&["train", "two.csv", "--walk", walk, "--model", "m.gw"]);
        let says = "neither cat nor dog; with more than two classes use --task multiclass";
        place.refuses(&["train", "three.csv", "--resume", "m.gw"], says);
        let args = ["train", "two.csv", "--resume", "m.gw", "--task", "multiclass"];
        // Nothing but the form has changed: an empty second day would predict the same.
        let before = place.ok(&["predict", "m.gw", "two.csv"]);
        place.write(
            "one.csv",
            table(2).lines().take(2).map(|l| format!("{l}\n")).collect::<String>(),
        );
        let one =
            ["train", "one.csv", "--resume", "m.gw", "--task", "multiclass", "--model", "s.gw"];
        let (out, _) = place.both(&one);
        assert!(out.contains("converted from two classes"), "{out}");
        let after = place.ok(&["predict", "s.gw", "two.csv"]);
        let same = before.lines().zip(after.lines()).filter(|(a, b)| a == b).count();
        assert!(same >= 297, "{walk}: {same}");
        assert!(place.both(&args).0.contains("examples       600"));
        let args = ["three.csv", "--resume", "m.gw", "--task", "multiclass", "--model", "s.gw"];
        let summary = place.json(&args);
        assert_eq!(summary["examples"], 600);
        let predicted = place.ok(&["predict", "s.gw", "three.csv"]);
        let right = table(3);
        let right =
            right.lines().skip(1).zip(predicted.lines()).filter(|(row, p)| row.ends_with(p));
        assert!(right.count() > 250, "{walk}");
        place.refuses(&["verify", "s.gw", "three.csv"], "continued with another task");
        // A day later it is as any other model.
        let again = ["three.csv", "--resume", "s.gw", "--task", "multiclass", "--model", "s.gw"];
        assert_eq!(place.json(&again)["examples"], 900);
    }
}

#[test]
fn other_tasks_are_refused_with_advice() {
    let place = Place::new("task-refused");
    place.write("two.csv", "x,y\n1,0\n2,1\n3,1\n0,0\n");
    place.ok(&["train", "two.csv", "--model", "m.gw"]);
    place.refuses(
        &["train", "two.csv", "--resume", "m.gw", "--task", "regression"],
        "the model learns binary and cannot be converted, because its weights mean something else; train a new model with --task regression",
    );
    place.ok(&["train", "two.csv", "--average", "--model", "a.gw"]);
    place.refuses(&["train", "two.csv", "--resume", "a.gw", "--task", "multiclass"], "averaged");
    place.ok(&["train", "two.csv", "--resume", "m.gw", "--task", "binary"]);
}
