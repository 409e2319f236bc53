//! `geowalk boost --weak trees` as a user meets it.

#![allow(clippy::unwrap_used)] // test code

mod support;

use support::{FRUIT, Place, cancer, text};

#[test]
fn from_a_table_to_predictions_and_back() {
    let place = Place::new("trees-flow");
    let data = cancer();
    let args =
        ["boost", &data, "--weak", "trees", "--folds", "3", "--model", "m", "--report", "r.html"];
    let (out, err) = place.both(&args);
    assert!(err.contains("held-out loss") && err.contains("fold 3 of 3"), "{err}");
    assert!(out.contains("then refitted on all rows for"), "{out}");
    assert!(out.contains("it rose in 0 rounds"), "{out}");
    assert!(out.contains("guarantee      training error 0.0 %, proved to be at most"), "{out}");
    assert!(out.contains("on rows held out by 3 folds"), "{out}");
    assert!(text(&place.read("r.html")).contains("Loss by round"));
    let first = place.read("m");
    place.ok(&args);
    assert_eq!(place.read("m"), first);
    let summary = place.parsed(&[&args[..], &["--json", "--progress", "none"]].concat());
    let verdict = &summary["cross_validation"]["verdict"];
    assert!(verdict["accuracy"].as_f64().unwrap() > 0.94, "{verdict}");
    assert!(verdict["log_loss"].as_f64().unwrap() < 0.15, "{verdict}");
    let proba = place.ok(&["predict", "m", &data, "--proba"]);
    assert_eq!(proba.lines().count(), 570);
    assert!(place.ok(&["predict", "m", &data, "--explain"]).contains("largest parts of its score"));
    assert!(place.ok(&["evaluate", "m", &data]).contains("accuracy"));
    assert!(place.ok(&["certify", "m"]).starts_with("training error 0.0 %"));
    assert!(place.ok(&["show", "m"]).contains("boosted trees, loss logistic"));
    for form in ["text", "json", "sql", "dot"] {
        assert!(place.ok(&["show", "m", "--format", form]).contains("worst"), "{form}");
    }
    place.refuses(&["train", &data, "--resume", "m"], "it cannot be continued");
}

#[test]
fn other_tasks_and_mistakes() {
    let place = Place::new("trees-tasks");
    place.write("fruit.csv", FRUIT);
    let trees = |more: &[&'static str]| {
        [&["boost", "fruit.csv", "--weak", "trees", "--json"], more].concat()
    };
    assert_eq!(place.parsed(&trees(&["--rounds", "3"]))["rounds"].as_array().unwrap().len(), 3);
    place.write(
        "n.csv",
        "a,y\n1,0.5\n2,1.5\n3,2.5\n4,3.5\n5,4.5\n6,5.5\n7,6.5\n8,7.5\n9,8.5\n10,9.5\n",
    );
    let n = ["boost", "n.csv", "--weak", "trees", "--json", "--min-leaf", "1"];
    assert!(place.parsed(&n)["metrics"]["rmse"].as_f64().unwrap() < 0.7);
    place.refuses(&trees(&["--literals", "3"]), "--literals does not go with --weak trees");
    place.refuses(&["boost", "fruit.csv", "--rate", "0.1"], "--rate goes with --weak trees");
    place.refuses(&trees(&["--bins", "exact"]), "2 to 254");
}
