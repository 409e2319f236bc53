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
    let plain = ["boost", "fruit.csv", "--plain", "--rate", "0.1"];
    place.refuses(&plain, "--rate does not go with --plain");
    let stumps = ["boost", "fruit.csv", "--weak", "stumps", "--rate", "0.1"];
    place.refuses(&stumps, "--rate goes with --weak rules or --weak trees");
    let unknown = ["boost", "fruit.csv", "--increasing", "weigth"];
    place.refuses(&unknown, "unknown column 'weigth'");
    let names = ["boost", "n.csv", "--increasing", "a", "--decreasing", "a"];
    place.refuses(&names, "unknown column in two directions 'a'");
    place.refuses(&trees(&["--bins", "exact"]), "--bins exact does not go with --weak trees");
    place.refuses(&trees(&["--bins", "many"]), "2 to 254");
}

#[test]
fn rules_without_rounds_generalise() {
    let place = Place::new("rules-flow");
    let data = cancer();
    let args = ["boost", &data, "--folds", "3", "--model", "m", "--report", "r.html"];
    let out = place.ok(&args);
    assert!(out.contains("then refitted on all rows for"), "{out}");
    assert!(out.contains("largest rules") && out.contains(" for malignant if "), "{out}");
    assert!(out.contains("it rose in 0 rounds"), "{out}");
    let page = text(&place.read("r.html"));
    for part in
        ["Boosted rules", "largest of", "mean probability of malignant by", "gained together"]
    {
        assert!(page.contains(part), "{part}");
    }
    let first = place.read("m");
    place.ok(&args);
    assert_eq!(place.read("m"), first);
    let summary = place.parsed(&[&args[..], &["--json", "--progress", "none"]].concat());
    let verdict = &summary["cross_validation"]["verdict"];
    assert!(verdict["log_loss"].as_f64().unwrap() < 0.15, "{verdict}");
    assert!(place.ok(&["predict", "m", &data, "--explain"]).contains("loudest rules: +"));
    let shown = place.ok(&["show", "m"]);
    assert!(
        shown.contains("boosted rules, loss logistic")
            && shown.contains("rules, the largest first")
    );
    let all = place.ok(&["show", "m", "--format", "text"]);
    assert!(all.contains("each rule adds its value where it is true"), "{all}");
    let json: serde_json::Value =
        serde_json::from_str(&place.ok(&["show", "m", "--format", "json"])).unwrap();
    let rules = json["rules"].as_array().unwrap();
    assert!(rules.len() > 30);
    for rule in rules {
        let (rows, share) = (rule["rows"].as_f64().unwrap(), rule["share"].as_f64().unwrap());
        assert!((1.0..=569.0).contains(&rows) && (0.0..=1.0).contains(&share), "{rule}");
        let condition = rule["condition"].as_str().unwrap();
        assert!(condition.matches(" and ").count() <= 5, "{condition}");
    }
    // The plain algorithm by name, and by a number of rounds.
    let plain = place.ok(&["boost", &data, "--plain", "--progress", "none"]);
    assert!(plain.contains("rules of at most 2 literals"), "{plain}");
    let same = place.ok(&["boost", &data, "--rounds", "10", "--progress", "none"]);
    let still = |out: &str| out.lines().filter(|l| !l.starts_with("seconds")).collect::<String>();
    assert_eq!(still(&plain), still(&same));
}
