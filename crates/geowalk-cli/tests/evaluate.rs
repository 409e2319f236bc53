//! `geowalk evaluate`, and the same figures in the summaries of `boost` and `tree`.

#![allow(clippy::format_collect)] // test code

mod support;

use support::{FRUIT, Place, cancer};

#[test]
fn every_learner_has_the_same_figures() {
    let place = Place::new("evaluate");
    let data = cancer();
    for (learner, model) in [("boost", "rules"), ("tree", "tree"), ("train", "walk")] {
        let summary = place.ok(&[learner, &data, "--model", model, "--progress", "none"]);
        let text = place.ok(&["evaluate", model, &data]);
        assert!(text.contains("of 569 rows; always 'benign' has 62.7 %"), "{text}");
        assert!(text.contains("recall  precision  predicted as:  benign  malignant"), "{text}");
        let json = place.parsed(&["evaluate", model, &data, "--json"]);
        // What `predict` says, counted.
        let predicted = place.ok(&["predict", model, &data]);
        let table = std::fs::read_to_string(&data).unwrap();
        let labels = table.lines().skip(1).map(|row| row.rsplit(',').next().unwrap());
        let right = predicted.lines().zip(labels).filter(|(found, label)| found == label).count();
        let accuracy = json["accuracy"].as_f64().unwrap();
        assert!((accuracy - right as f64 / 569.0).abs() < 1e-12, "{json}");
        assert!(json["auc"].as_f64().unwrap() > 0.9 && json["log_loss"].as_f64().unwrap() < 1.0);
        assert_eq!(json["classes"][0]["predicted_as"].as_array().unwrap().len(), 2);
        // The summary has the same lines.
        if learner != "train" {
            assert!(summary.contains(&text), "{summary}\n{text}");
        }
    }
    let folds = place.ok(&["boost", &data, "--folds", "3", "--progress", "none"]);
    assert!(folds.contains("on rows held out by 3 folds\naccuracy "), "{folds}");
}

#[test]
fn numbers_and_rows_without_a_known_class() {
    let place = Place::new("evaluate-other");
    place.write("n.csv", "x,y\n1,2.5\n2,4.5\n3,6.5\n4,8.5\n");
    place.ok(&["train", "n.csv", "--model", "m", "--progress", "none"]);
    let text = place.ok(&["evaluate", "m", "n.csv"]);
    assert!(text.contains("on 4 rows; always guessing their mean has 2.2361"), "{text}");
    place.write("a.csv", "x,class\n1,a\n2,a\n3,b\n4,b\n");
    place.ok(&["tree", "a.csv", "--model", "m", "--progress", "none"]);
    place.write("b.csv", "x,class\n1,b\n2,a\n3,c\n4,b\n5,b\n");
    let ran = place.command(&["evaluate", "m", "b.csv"]).output().unwrap();
    let (out, notes) =
        (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap());
    assert!(
        out.starts_with("accuracy       75.0 % of 4 rows; always 'b' has 75.0 %, so the model"),
        "{out}"
    );
    assert!(notes.contains("1 rows are of a class that the model does not know"), "{notes}");
    place.write("c.csv", "x\n1\n");
    place.refuses(&["evaluate", "m", "c.csv"], "class");
}

#[test]
fn train_is_judged_on_the_folds_of_boost() {
    let place = Place::new("evaluate-folds");
    let data = cancer();
    let boosted = place.parsed(&["boost", &data, "--folds", "4", "--json", "--progress", "none"]);
    for more in [&["--walk", "free"][..], &["--walk", "natural"], &["--passes", "auto"]] {
        let args = [&["train", &data, "--folds", "4", "--progress", "none"], more].concat();
        let text = place.ok(&args);
        assert!(text.contains("on rows held out by 4 folds\naccuracy "), "{text}");
        assert!(text.contains("of 569 rows; always 'benign' has 62.7 %"), "{text}");
        let json = place.parsed(&[&args[..], &["--json"]].concat());
        let (own, other) = (&json["cross_validation"], &boosted["cross_validation"]);
        assert_eq!((&own["folds"], &own["seed"]), (&4.into(), &other["seed"]));
        let (own, other) = (&own["verdict"], &other["verdict"]);
        assert_eq!(own["baseline"], other["baseline"]);
        assert!(own["accuracy"].as_f64().unwrap() > 0.9, "{own}");
        assert!(own["auc"].as_f64().unwrap() > 0.97 && own["log_loss"].as_f64().unwrap() < 0.3);
    }
    // A fold is predicted by a model that never saw it: of labels by chance nothing can be known.
    let coin = |k: u64| (k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % 2;
    let rows: String = (0..400).map(|k| format!("{k},w{k},{}\n", coin(k))).collect();
    place.write("coin.csv", format!("x,name,class\n{rows}"));
    let folds = ["train", "coin.csv", "--folds", "10", "--json", "--progress", "none"];
    for passes in ["20", "auto"] {
        let json = place.parsed(&[&folds[..], &["--passes", passes]].concat());
        let auc = json["cross_validation"]["verdict"]["auc"].as_f64().unwrap();
        assert!((0.4..0.6).contains(&auc), "{auc}");
    }
}

#[test]
fn folds_of_several_classes_and_of_numbers() {
    let place = Place::new("evaluate-kinds");
    let fruit: String = FRUIT.lines().skip(1).map(|line| format!("{line}\n")).collect();
    place.write("fruit.csv", format!("size,color,class\n{}", fruit.repeat(5)));
    let out = place.ok(&["train", "fruit.csv", "--folds", "5", "--report", "r.html"]);
    assert!(out.contains("of 40 rows; always 'apple' has 37.5 %"), "{out}");
    let page = String::from_utf8(place.read("r.html")).unwrap();
    assert!(
        page.contains("of 40 rows held out by 5 folds; always answering &#39;apple&#39;"),
        "{page}"
    );
    let rows: String = (0..60).map(|k| format!("{k},{}.5\n", 3 * k)).collect();
    place.write("n.csv", format!("x,y\n{rows}"));
    let out = place.ok(&["train", "n.csv", "--passes", "auto", "--folds", "3"]);
    assert!(out.contains("on rows held out by 3 folds\nRMSE "), "{out}");
    place.refuses(&["train", "n.csv", "--folds", "1"], "folds");
    place.refuses(&["train", "n.csv", "--folds", "100"], "folds");
    place.refuses(&["train", "-", "--folds", "3"], "standard input can be read only once");
}
