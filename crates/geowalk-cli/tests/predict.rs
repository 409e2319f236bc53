//! `geowalk predict`: line k of the output belongs to row k of the data, and nothing is lost.

#![allow(clippy::format_collect)] // test code

mod support;

use support::Place;

const TRAIN: &str = "id,age,job,note,class\n1,20,cook,a,bad\n2,25,cook,b,bad\n3,40,clerk,a,good\n\
    4,50,clerk,b,good\n5,60,cook,a,good\n6,22,clerk,b,bad\n7,45,cook,a,good\n8,28,cook,b,bad\n";

/// A model of each kind: boosted rules, a tree, a walk.
fn models(name: &str) -> Place {
    let place = Place::new(name);
    place.write("a.csv", TRAIN);
    let quiet = ["--progress", "none", "--ignore", "id"];
    place.ok(&[&["boost", "a.csv", "--model", "rules", "--rounds", "3"][..], &quiet].concat());
    place.ok(&[&["tree", "a.csv", "--model", "tree"][..], &quiet].concat());
    place.ok(&[&["train", "a.csv", "--model", "walk", "--passes", "50"][..], &quiet].concat());
    place
}

#[test]
fn skipped_rows_keep_their_line() {
    let place = models("predict-lines");
    let rows = "id,age,job,note\n1,20,cook,a\n2,old,cook,a\n,,,\n4,50,clerk,b\n5,60\n , ,,\n";
    place.write("b.csv", rows);
    for model in ["rules", "tree", "walk"] {
        let args = ["predict", model, "b.csv", "--on-error", "skip"];
        let lines = place.ok(&args);
        let lines: Vec<&str> = lines.split_terminator('\n').collect();
        assert_eq!(lines, ["bad", "", "", "good", "", ""], "{model}");
        let kept = place.ok(&[&args[..], &["--id", "id"]].concat());
        let expected = "id,prediction\n1,bad\n2,\n,\n4,good\n5,\n,\n";
        assert_eq!(kept, expected, "{model}");
        let shares = place.ok(&[&args[..], &["--proba", "--id", "id"]].concat());
        assert!(shares.starts_with("id,bad,good\n1,") && shares.contains("\n2,,\n"), "{shares}");
        let ran = place.command(&args).output().unwrap();
        let notes = String::from_utf8(ran.stderr).unwrap();
        assert!(notes.contains("4 rows have no prediction"), "{notes}");
        assert!(notes.contains("(2 without any value)") && notes.contains("b.csv:3:3"), "{notes}");
    }
    let why = place.ok(&["predict", "tree", "b.csv", "--on-error", "skip", "--explain", "--keep"]);
    assert!(why.starts_with("id,age,job,note,prediction,explanation\n1,20,cook,a,bad,"), "{why}");
    assert!(why.contains("2,old,cook,a,,\"not predicted: b.csv:3:3: "), "{why}");
    assert!(why.contains(",,,,,not predicted: b.csv:4: no values\n"), "{why}");
    // Rows without any value need no --on-error, and are no rows to learn from.
    place.write("c.csv", format!("{TRAIN},,,,\n,,,,\n"));
    let summary = place.parsed(&["tree", "c.csv", "--json", "--progress", "none"]);
    assert_eq!((&summary["examples"], &summary["skipped"]), (&8.into(), &2.into()));
}

#[test]
fn fields_are_quoted_where_they_must_be() {
    let place = Place::new("predict-quotes");
    let rows = "\"x, y\",class\n1,\"no, \"\"never\"\"\"\n2,\"no, \"\"never\"\"\"\n3,yes\n4,yes\n";
    place.write("a.csv", rows);
    place.ok(&["tree", "a.csv", "--model", "m", "--progress", "none"]);
    let out = place.ok(&["predict", "m", "a.csv", "--id", "x, y"]);
    let never = "\"no, \"\"never\"\"\"";
    assert_eq!(out, format!("\"x, y\",prediction\n1,{never}\n2,{never}\n3,yes\n4,yes\n"));
    let out = place.ok(&["predict", "m", "a.csv", "--proba"]);
    assert!(out.starts_with(&format!("{never},yes\n")), "{out}");
    assert!(place.ok(&["predict", "m", "a.csv"]).starts_with(&format!("{never}\n")));
}

#[test]
fn columns_may_be_more_or_fewer_unless_strict() {
    let place = models("predict-columns");
    let note = |args: &[&str]| {
        let ran = place.command(args).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stderr).unwrap()
    };
    // Neither the tree nor the rules ask for the note.
    place.write("b.csv", "job,shop,age\ncook,1,20\nclown,2,50\nbaker,2,50\n");
    for model in ["rules", "tree"] {
        assert_eq!(place.ok(&["predict", model, "b.csv"]), "bad\ngood\ngood\n");
        let notes = note(&["predict", model, "b.csv"]);
        assert!(notes.contains("the model does not know 'shop'"), "{notes}");
        assert!(notes.contains("without 'note', which the model does not use"), "{notes}");
        assert!(notes.contains(
            "column 'job': 2 rows have a value that training has not seen, first 'clown'"
        ));
        place.refuses(&["predict", model, "b.csv", "--strict"], "no column 'note'");
    }
    // A walk has a weight for every column.
    place.refuses(&["predict", "walk", "b.csv"], "no column 'note'");
    place.write("c.csv", "job,shop,age,note\ncook,1,20,a\nclown,2,50,b\n");
    let notes = note(&["predict", "walk", "c.csv"]);
    assert!(notes.contains("'shop'") && notes.contains("first 'clown'"), "{notes}");
    place.refuses(&["predict", "walk", "c.csv", "--strict"], "column 'shop' is not in the schema");
    place.refuses(&["predict", "walk", "c.csv", "--id", "nobody"], "no column 'nobody'");
    // Types are the model's: the advice is not to declare others.
    place.write("d.csv", "job,age,note\ncook,old,a\n");
    let ran = place.command(&["predict", "rules", "d.csv"]).output().unwrap();
    let message = String::from_utf8(ran.stderr).unwrap();
    assert!(message.contains("d.csv:2:6") && !message.contains("--nominal"), "{message}");
}

#[test]
fn a_failed_run_leaves_the_old_output() {
    let place = models("predict-output");
    place.write("b.csv", "age,job,note\n20,cook,a\n30,cook,a\nold,cook,a\n");
    place.write("out.csv", "the old one\n");
    for model in ["rules", "tree", "walk"] {
        place.refuses(&["predict", model, "b.csv", "--output", "out.csv"], "b.csv:4:1");
        assert_eq!(place.read("out.csv"), b"the old one\n");
    }
    place.ok(&["predict", "rules", "a.csv", "--output", "out.csv"]);
    assert_eq!(String::from_utf8(place.read("out.csv")).unwrap().lines().count(), 8);
}

#[test]
fn each_row_is_explained_in_one_sentence() {
    let place = models("predict-why");
    let why = place.ok(&["predict", "tree", "a.csv", "--explain"]);
    assert!(
        why.starts_with("prediction,explanation\nbad,bad because age <= 34: 4 of 4 in training\n"),
        "{why}"
    );
    let why = place.ok(&["predict", "rules", "a.csv", "--explain"]);
    assert_eq!(why.lines().filter(|line| line.contains(" because age ≤ 34")).count(), 4, "{why}");
    assert_eq!(why.lines().filter(|line| line.contains(" because age > 34")).count(), 4, "{why}");
    let why = place.ok(&["predict", "walk", "a.csv", "--explain"]);
    assert!(why.starts_with("prediction,explanation\nbad,bad because "), "{why}");
    for line in why.lines().skip(1) {
        let against = line.split_once("; against it ").map_or("", |(_, text)| text);
        assert!(line.contains("age = ") || line.contains("job=") || against.is_empty(), "{line}");
    }
    // Votes are weights times values: y = 2a - b.
    let row = |k: usize| format!("{},{},{}.5\n", k % 7, k % 5, 2 * (k % 7) + 5 - k % 5);
    place.write("n.csv", format!("a,b,y\n{}", (0..70).map(row).collect::<String>()));
    place.ok(&["train", "n.csv", "--passes", "auto", "--model", "n.gw"]);
    place.write("one.csv", "a,b\n3,1\n");
    let why = place.ok(&["predict", "n.gw", "one.csv", "--explain"]);
    assert!(why.contains(" because a = 3 (6.00); against it b = 1 (1.00)"), "{why}");
    let gaussian = ["--walk", "natural:gaussian-diagonal", "--task", "binary"];
    place.write("g.csv", "x,z,class\n1,2,a\n2,1,b\n3,3,a\n4,1,b\n");
    place.ok(&[&["train", "g.csv", "--model", "g.gw"], &gaussian[..]].concat());
    place.refuses(&["predict", "g.gw", "g.csv", "--explain"], "are not sums over features");
    place.write("gap.csv", "age,job,note\n,cook,a\n");
    let why = place.ok(&["predict", "rules", "gap.csv", "--explain"]);
    assert!(why.contains("age is missing"), "{why}");
}
