//! `geowalk boost` as a user meets it, and what the models it writes are good for.

#![allow(clippy::unwrap_used)] // test code

mod support;

use support::{FRUIT, Place, cancer};

#[test]
fn from_a_table_to_predictions() {
    let place = Place::new("boost-flow");
    let data = cancer();
    let args = ["boost", &data, "--rounds", "12", "--folds", "5", "--seed", "3", "--model", "m"];
    let (out, err) = place.both(&args);
    assert!(err.contains("round      edge   leverage  surrogate"), "{err}");
    assert!(err.contains("fold 5: error 0.0"), "{err}");
    assert!(out.contains("certificate    boosting-rate: valid; surrogate 0."), "{out}");
    assert!(out.contains("mean and deviation of 5 folds, seed 3"), "{out}");
    let summary = place.parsed(&[&args[..], &["--json", "--progress", "none"]].concat());
    assert_eq!(summary["examples"], 569);
    assert!(summary["metrics"]["training_error"].as_f64().unwrap() < 0.03, "{summary}");
    assert!(summary["cross_validation"]["mean"]["error"].as_f64().unwrap() < 0.08, "{summary}");
    assert_eq!(summary["certificate"]["status"], "valid");
    assert_eq!(summary["members"][0]["rounds"].as_array().unwrap().len(), 12);
    for key in ["loss", "walk", "rate", "seconds"] {
        assert!(summary.get(key).is_some(), "{key}");
    }
    let predicted = place.ok(&["predict", "m", &data]);
    assert_eq!(predicted.lines().count(), 569);
    let proba = place.ok(&["predict", "m", &data, "--proba"]);
    assert_eq!(proba.lines().count(), 570);
    // The same input, the same model.
    let first = place.read("m");
    place.ok(&args);
    assert_eq!(place.read("m"), first);
    place.refuses(&["train", &data, "--resume", "m"], "it cannot be continued");
}

#[test]
fn a_model_in_words() {
    let place = Place::new("boost-words");
    place.write("fruit.csv", FRUIT);
    place.ok(&["boost", "fruit.csv", "--rounds", "4", "--model", "m", "--progress", "none"]);
    let shown = place.ok(&["show", "m"]);
    assert!(
        shown.contains("walk       boost:rules") && shown.contains("if color = yellow then banana"),
        "{shown}"
    );
    let sql = place.ok(&["show", "m", "--format", "sql"]);
    assert!(sql.starts_with("-- Boosted rules for sqlite, table \"data\"\n"), "{sql}");
    let sql = place.ok(&["show", "m", "--format", "sql", "--dialect", "mysql", "--table", "a.b"]);
    assert!(sql.contains("FROM `a`.`b` AS geowalk_input"), "{sql}");
    place.refuses(&["show", "m", "--table", "b"], "--table goes with --format sql");
    place.refuses(&["show", "m", "--format", "sql", "--table", "a."], "a name is empty");
    place.refuses(
        &["show", "m", "--format", "sql", "--dialect", "oracle"],
        "unknown dialect 'oracle'",
    );
    let dot = place.ok(&["show", "m", "--format", "dot"]);
    assert!(dot.starts_with("digraph boost {"), "{dot}");
    let json = place.parsed(&["show", "m", "--format", "json"]);
    assert_eq!(json["classes"].as_array().unwrap().len(), 3);
    assert_eq!(place.parsed(&["show", "m", "--json"])["task"], "multiclass");
    // Names and gaps that training has not seen.
    place.write("new.csv", "color,size\nviolet,1\n,\n");
    assert_eq!(place.ok(&["predict", "m", "new.csv"]).lines().count(), 2);
}

#[test]
fn errors_and_promises_are_of_the_rows_they_name() {
    let place = Place::new("boost-errors");
    let data = cancer();
    let args = ["boost", &data, "--hold-out", "0.3", "--patience", "3", "--rounds", "50"];
    let quiet = ["--json", "--progress", "none"];
    let summary = place.parsed(&[&args[..], &quiet].concat());
    // The certificate is about the rows that were learned from, and so is the training error.
    let certified = &summary["members"][0]["certificates"][1];
    assert_eq!(certified["theorem"], "training-error");
    let error = |value: &serde_json::Value| value.as_f64().unwrap();
    let training = error(&summary["metrics"]["training_error"]);
    assert!((training - error(&certified["loss"])).abs() < 1e-15, "{summary}");
    assert!(error(&summary["metrics"]["held_out_error"]) > 0.0);
    assert!(place.ok(&args).contains("held-out error 0."));
    // Nothing to learn from: no error was measured in any round.
    place.write("idle.csv", "c,class\n7,a\n7,b\n7,b\n");
    let out = place.ok(&["boost", "idle.csv", "--weak", "stumps", "--progress", "none"]);
    assert!(out.contains("training-error: void; a round does not hold"), "{out}");
    assert!(!out.contains("NaN"), "{out}");
    let out = place.ok(&["boost", &data, "--adapt", "F1", "--rounds", "9", "--progress", "none"]);
    assert!(out.contains("boosting-rate: void since round "), "{out}");
    // What cannot be validated is said before anything is learned.
    let err = place.fails(&["boost", &data, "--folds", "9999"]);
    assert!(err.contains("folds = 9999; it must be in [2, 569]") && !err.contains("leverage"));
    place.refuses(&["boost", &data, "--mu", "7"], "mu = 7; it must be in [0, 1)");
}

#[test]
fn every_way_to_boost() {
    let place = Place::new("boost-ways");
    place.write("fruit.csv", FRUIT);
    let data = cancer();
    for way in [
        &["--weak", "stumps", "--loss", "exponential"][..],
        &["--weak", "small-trees", "--leaves", "3", "--loss", "entropy", "--bins", "exact"],
        &["--weak", "columns", "--leverage", "all", "--loss", "logistic", "--rounds", "40"],
        &["--literals", "3", "--search", "screened(4)", "--leverage", "3"],
        &["--search", "exact", "--bins", "16", "--loss", "zeta"],
        &["--adapt", "F1", "--abstain"],
        &["--adapt", "F*", "--rounds", "5"],
        &["--adapt", "E2", "--mu", "0.3", "--nu", "0.4"],
        &["--hold-out", "0.3", "--patience", "5", "--rounds", "60"],
        &["--until", "0.5", "--rounds", "60"],
        &["--separable", "stop", "--loss", "renorm"],
        &["--task", "binary", "--loss", "squared"],
    ] {
        let args = [&["boost", data.as_str(), "--json", "--progress", "none"], way].concat();
        let summary = place.parsed(&args);
        let error = summary["metrics"]["training_error"].as_f64().unwrap();
        assert!(error < 0.1, "{way:?}: {error}");
    }
    for way in [
        &["--reduction", "mh", "--rounds", "30"][..],
        &["--reduction", "ova", "--weak", "small-trees"],
    ] {
        let args = [&["boost", "fruit.csv", "--json", "--progress", "none"], way].concat();
        assert!(
            place.parsed(&args)["metrics"]["training_error"].as_f64().unwrap() < 0.3,
            "{way:?}"
        );
    }
}

#[test]
fn what_is_wrong_is_said() {
    let place = Place::new("boost-wrong");
    place.write("fruit.csv", FRUIT);
    place.write("one.csv", "x,class\n1,a\n2,a\n");
    place.write("weights.vw", "1 -1 |f a\n-1 1 |f b\n");
    let data = cancer();
    let boost = |more: &[&'static str]| -> Vec<String> {
        let args = ["boost", data.as_str(), "--progress", "none"].into_iter();
        args.chain(more.iter().copied()).map(str::to_owned).collect()
    };
    for (more, says) in [
        (&["--literals", "0"][..], "literals = 0; it must be a whole number >= 1"),
        (&["--rounds", "0"], "rounds = 0; it must be a whole number >= 1"),
        (&["--loss", "hinge"], "instead of 'hinge'"),
        (&["--loss", "matsushit"], "did you mean 'matsushita'?"),
        (&["--weak", "forest"], "unknown weak learner 'forest'"),
        (&["--adapt", "F9"], "unknown flavour 'F9'"),
        (&["--leverage", "0"], "leverage = 0"),
        (&["--search", "deep"], "unknown search 'deep'"),
        (&["--plain", "--bins", "300"], "bins = 300; it must be in [2, 255]"),
        (&["--separable", "hope"], "unknown policy 'hope'"),
        (&["--reduction", "tree"], "unknown reduction 'tree'"),
        (&["--folds", "1"], "folds = 1; it must be in [2, 569]"),
        (&["--hold-out", "1"], "hold-out = 1; it must be in (0, 1)"),
        (&["--until", "2"], "until = 2; it must be in (0, 1)"),
        (&["--loss", "nope"], "known: exponential, squared, logistic, renorm, gini"),
        (&["--plain", "--task", "regression"], "boosting learns classes"),
    ] {
        let args = boost(more);
        place.refuses(&args.iter().map(String::as_str).collect::<Vec<_>>(), says);
    }
    place.refuses(&["boost", "one.csv"], "all 2 rows have the class 'a'");
    place.refuses(
        &["boost", "fruit.csv", "--task", "binary"],
        "there are 3 classes (apple, banana, melon); this needs two",
    );
    place.refuses(
        &["boost", "fruit.csv", "--reduction", "mh", "--weak", "stumps"],
        "weak learner for mh 'stumps'",
    );
    place.refuses(&["boost", "weights.vw"], "weight");
}

#[test]
fn a_report_says_what_was_learned_and_how_sure_it_is() {
    let place = Place::new("boost-report");
    let data = cancer();
    let args = ["boost", &data, "--rounds", "6", "--folds", "3", "--report", "r.html"];
    assert!(place.ok(&args).contains("report         r.html"));
    let page = String::from_utf8(place.read("r.html")).unwrap();
    for part in [
        "rows held out by 3 folds",
        "expected calibration error",
        "Reliability",
        "Surrogate and training error",
        "no more rows are misclassified than this share",
        "6 rounds were kept",
        "of them in that class",
        "<b>",
        "if always &#39;benign&#39; is answered",
        "this model",
        "--report r.html",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("http://") && !page.contains("<script"), "one file by itself");
    // The same run, the same page; several classes; a place that is none.
    place.ok(&args);
    assert_eq!(String::from_utf8(place.read("r.html")).unwrap(), page);
    place.write("fruit.csv", FRUIT);
    place.ok(&["boost", "fruit.csv", "--rounds", "3", "--report", "f.html"]);
    let page = String::from_utf8(place.read("f.html")).unwrap();
    assert!(page.contains("banana against the rest") && page.contains("class that is predicted"));
    place.refuses(&["boost", &data, "--report", "no/where.html"], "no/where.html");
    // One row per class: a wrong answer is not a row that is misclassified.
    let mh = ["boost", "fruit.csv", "--reduction", "mh", "--report", "m.html"];
    assert!(place.ok(&mh).contains("errors below are wrong answers"));
    let page = String::from_utf8(place.read("m.html")).unwrap();
    assert!(page.contains("share of the answers is wrong"));
    assert!(!page.contains("no more rows are misclassified"));
}
