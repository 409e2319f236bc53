//! `geowalk tree` as a user meets it, and what the models it writes are good for.

#![allow(clippy::unwrap_used, clippy::format_collect)] // test code

mod support;

use std::fs;

use geowalk::Real;
use support::{FRUIT, Place, cancer};

#[test]
fn from_a_table_to_predictions() {
    let place = Place::new("tree-flow");
    let data = cancer();
    let args = ["tree", &data, "--leaves", "8", "--folds", "5", "--seed", "3", "--model", "m"];
    let (out, err) = place.both(&args);
    assert!(err.contains("task: binary, because the labels are 2 names"), "{err}");
    assert!(err.contains("fold 5 of 5: accuracy 0.9"), "{err}");
    assert!(out.contains("leaves         8") && out.contains("in 5 folds"), "{out}");
    let summary = place.parsed(&[&args[..], &["--json", "--progress", "none"]].concat());
    assert_eq!(summary["examples"], 569);
    let accuracy = summary["metrics"]["accuracy"].as_f64().unwrap();
    let validated = summary["cross_validation"]["mean"]["accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.95 && (0.88..accuracy).contains(&validated), "{summary}");
    assert_eq!(summary["cross_validation"]["folds"].as_array().unwrap().len(), 5);
    for key in ["loss", "walk", "rate", "certificate", "seconds", "importance"] {
        assert!(summary.get(key).is_some(), "{key}");
    }
    let predictions = place.ok(&["predict", "m", &data]);
    let rows = fs::read_to_string(&data).unwrap();
    let right = predictions.lines().zip(rows.lines().skip(1)).filter(|(p, row)| row.ends_with(p));
    assert_eq!(predictions.lines().count(), 569);
    assert!((right.count() as f64 / 569.0 - accuracy).abs() < 1e-12);
    let proba = place.ok(&["predict", "m", &data, "--proba"]);
    assert_eq!(proba.lines().next(), Some("benign,malignant"));
    let sums = |line: &str| line.split(',').map(|p| p.parse::<f64>().unwrap()).sum::<f64>();
    assert!(proba.lines().skip(1).all(|line| (sums(line) - 1.0).abs() < 1e-12));
    // The logarithmic loss is that of the probabilities of the classes that the rows have.
    let losses = proba.lines().skip(1).zip(rows.lines().skip(1)).map(|(line, row)| {
        let (benign, malignant) = line.split_once(',').unwrap();
        let own = if row.ends_with("benign") { benign } else { malignant };
        -Real::ln(own.parse::<f64>().unwrap())
    });
    let expected = losses.sum::<f64>() / 569.0;
    let log_loss = summary["metrics"]["log_loss"].as_f64().unwrap();
    assert!((log_loss - expected).abs() < 1e-12, "{log_loss} {expected}");
}

/// The JSON of a tree, followed by hand, says what `predict` says.
#[test]
fn exports_say_what_the_tree_says() {
    let place = Place::new("tree-exports");
    let data = cancer();
    place.ok(&["tree", &data, "--loss", "entropy", "--model", "m"]);
    let shown = place.parsed(&["show", "m", "--format", "json"]);
    let rows = fs::read_to_string(&data).unwrap();
    let header: Vec<&str> = rows.lines().next().unwrap().split(',').collect();
    let predictions = place.ok(&["predict", "m", &data]);
    for (row, predicted) in rows.lines().skip(1).zip(predictions.lines()) {
        let fields: Vec<&str> = row.split(',').collect();
        let mut node = &shown["nodes"][0];
        while node["test"].is_object() {
            let test = &node["test"];
            let at = header.iter().position(|name| test["column"] == *name).unwrap();
            let yes = fields[at].parse::<f64>().unwrap() <= test["at_most"].as_f64().unwrap();
            let next = if yes { &node["yes"] } else { &node["no"] };
            node = &shown["nodes"][usize::try_from(next.as_u64().unwrap()).unwrap()];
        }
        assert_eq!(node["class"], predicted);
    }
    let leaves = shown["nodes"].as_array().unwrap().iter().filter(|n| n["test"].is_null()).count();
    let dot = place.ok(&["show", "m", "--format", "dot"]);
    assert!(dot.starts_with("digraph tree {") && dot.matches("style=rounded").count() == leaves);
    let drawn = place.ok(&["show", "m", "--format", "text"]);
    assert_eq!(drawn.lines().count(), shown["nodes"].as_array().unwrap().len() + 2);
    assert!(place.ok(&["show", "m"]).ends_with(&drawn));
    assert_eq!(place.parsed(&["show", "m", "--json"])["walk"], "tree");
}

#[test]
fn names_gaps_and_names_never_seen() {
    let place = Place::new("tree-names");
    place.write("a.csv", FRUIT);
    place.ok(&["tree", "a.csv", "--loss", "gini", "--model", "m"]);
    let predicted = place.ok(&["predict", "m", "a.csv"]);
    let expected: String =
        FRUIT.lines().skip(1).map(|row| format!("{}\n", row.rsplit(',').next().unwrap())).collect();
    assert_eq!(predicted, expected);
    // Other columns first, no label, a new name.
    place.write("b.csv", "color,size\nblue,1.1\nblue,\nyellow,4\n");
    assert_eq!(place.ok(&["predict", "m", "b.csv"]).lines().count(), 3);
    let sql = place.ok(&["show", "m", "--format", "sql"]);
    assert!(sql.contains("geowalk_input.\"color\"") && sql.contains("FROM \"data\" AS"), "{sql}");
    assert!(place.ok(&["show", "m"]).contains("color = "), "names are names");
    place.write("c.csv", "color\nred\n");
    place.refuses(&["predict", "m", "c.csv"], "c.csv:1:1: no column 'size'");
    place.write("d.csv", "color,size\nred,big\n");
    place.refuses(&["predict", "m", "d.csv"], "d.csv:2:5");
}

#[test]
fn the_same_model_for_any_number_of_threads_and_any_form_of_the_data() {
    let place = Place::new("tree-bits");
    let data = cancer();
    for bins in [&[][..], &["--bins", "64"]] {
        let mut models = Vec::new();
        for threads in ["1", "2", "5"] {
            let args = [&["tree", &data, "--prune", "0.25", "--model", "m"], bins].concat();
            let ran = place.command(&args).env("RAYON_NUM_THREADS", threads).output().unwrap();
            assert!(ran.status.success());
            models.push(place.read("m"));
        }
        assert!(models.iter().all(|model| *model == models[0]));
    }
    let bins =
        |loss: &str| place.parsed(&["tree", &data, "--loss", loss, "--json"])["leaves"].clone();
    assert_eq!(bins("mu(mu=0.7)"), bins("matsushita"), "the same trees");
    assert_eq!(bins("exponential"), bins("matsushita"));
    assert_eq!(bins("squared"), bins("gini"));
}

#[test]
fn limits_do_what_they_say() {
    let place = Place::new("tree-limits");
    place.write("xor.csv", "a,b,y\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n");
    let tree = |flags: &[&str]| place.parsed(&[&["tree", "xor.csv", "--json"], flags].concat());
    let strict = tree(&[]);
    assert_eq!(strict["leaves"], 1);
    assert!(strict["notes"].to_string().contains("no split gains anything"), "{strict}");
    let solved = tree(&["--zero-gain"]);
    assert_eq!((&solved["leaves"], &solved["metrics"]["accuracy"]), (&4.into(), &1.0.into()));
    let data = cancer();
    let tree = |flags: &[&str]| place.parsed(&[&["tree", &data, "--json"], flags].concat());
    assert_eq!(tree(&["--depth", "2"])["depth"], 2);
    assert_eq!(tree(&["--leaves", "5", "--order", "depth"])["leaves"], 5);
    let full = tree(&["--prune", "off"])["leaves"].as_u64().unwrap();
    let pruned = tree(&[]);
    assert!(pruned["leaves"].as_u64().unwrap() < full / 2, "{pruned}");
    assert!(pruned["notes"].to_string().contains("prune: off"), "{pruned}");
    assert!(tree(&["--min-leaf", "20"])["leaves"].as_u64().unwrap() < full);
    assert!(tree(&["--prune", "0.3"])["leaves"].as_u64().unwrap() < full);
}

#[test]
fn bad_input_is_said_clearly() {
    let place = Place::new("tree-bad");
    place.write("a.csv", FRUIT);
    for (flags, says) in [
        (&["--leaves", "0"][..], "max_leaves = 0; it must be a whole number >= 1"),
        (&["--min-leaf", "0"], "min_leaf = 0"),
        (&["--prune", "of"], "unknown pruning 'of'"),
        (&["--folds", "1"], "folds = 1; it must be a whole number >= 2"),
        (&["--folds", "9"], "folds = 9; it must be in [2, 8]"),
        (&["--bins", "1"], "bins = 1; it must be in [2, 255]"),
        (&["--bins", "300"], "bins = 300"),
        (&["--prune", "0.9"], "prune = 0.9; it must be in (0, 0.5]"),
        (&["--smoothing", "-1"], "smoothing = -1"),
        (&["--loss", "ginny"], "did you mean 'gini'?"),
        (&["--bits", "9"], "--bits 9: columns need their names"),
        (&["--task", "binary"], "there are 3 classes (apple, banana, melon); this needs two"),
        (
            &["--task", "regression"],
            "--task regression: a tree learns classes; use 'geowalk train'",
        ),
        (&["--loss", "nope"], "nu, zeta, exponential, squared, logistic"),
        (&["--bins", "many"], "unknown number of bins 'many'; known: 2 to 255, exact"),
        (&["--label", "sort"], "no column 'sort'"),
        (&["--model", "no/where"], "no/where: "),
    ] {
        place.refuses(&[&["tree", "a.csv", "--progress", "none"], flags].concat(), says);
    }
    for (name, text, says) in [
        ("one.csv", "x,y\n1,1\n2,1\n", "all 2 rows have the class '1'"),
        ("real.csv", "x,y\n1,0.5\n2,3\n4,1.25\n", "because a label is 0.5; this learns classes"),
        ("none.csv", "x,y\n", "a header and no rows"),
        ("zero.vw", "1 0 |f a\n-1 0 |f b\n", "only 0 of the classes have weight"),
        ("lone.csv", "y\n1\n0\n", "a column to learn from expected"),
    ] {
        place.write(name, text);
        place.refuses(&["tree", name, "--progress", "none"], says);
    }
    place.write("rare.csv", "x,y\n1,a\n2,b\n3,b\n4,b\n");
    place.refuses(&["tree", "rare.csv", "--folds", "4"], "use fewer --folds");
    // Columns without content do no harm.
    place.write("idle.csv", "c,m,x,y\n7,,1,a\n7,,2,b\n");
    assert_eq!(place.parsed(&["tree", "idle.csv", "--json"])["leaves"], 2);
    place.ok(&["tree", "a.csv", "--model", "m"]);
    let says = "the model is a tree, learned from all data at once";
    place.refuses(&["train", "a.csv", "--resume", "m"], says);
    place.ok(&["train", "idle.csv", "--model", "w"]);
    place.refuses(&["show", "w", "--format", "sql"], "the model is a walk");
    assert!(place.ok(&["show", "w", "--format", "json"]).starts_with('{'));
}

#[test]
fn a_report_shows_the_tree() {
    let place = Place::new("tree-report");
    let data = cancer();
    let args = ["tree", &data, "--leaves", "5", "--report", "r.html"];
    assert!(place.ok(&args).contains("report         r.html"));
    let page = String::from_utf8(place.read("r.html")).unwrap();
    for part in
        ["training rows", "Loss and training error", "Reliability", "malignant", "class=\"box\""]
    {
        assert!(page.contains(part), "{part}");
    }
    place.refuses(&["tree", &data, "--report", "no/where.html"], "no/where.html");
}

#[test]
fn how_the_table_was_read_is_shown() {
    let place = Place::new("tree-table");
    let rows: String = (0..30)
        .map(|k| format!("{k},0106{},{},{}\n", k % 9, k * 7 % 30, ["good", "bad"][k % 2]))
        .collect();
    place.write("a.csv", format!("id,plz,age,class\n{rows}"));
    let sentence = "data           30 rows, columns: 3 of numbers; label 'class': bad 15, good 15";
    let zeros = "warning        column 'plz' has values with leading zeros";
    for learner in ["tree", "boost"] {
        let quiet = ["--progress", "none"];
        let read = place.ok(&[&[learner, "a.csv", "--dry-run"][..], &quiet].concat());
        for part in [sentence, zeros, "age     numbers  0 to 29", "use --ignore 'id'"] {
            assert!(read.contains(part), "{part}: {read}");
        }
        let json = place.parsed(&[learner, "a.csv", "--dry-run", "--json", "--progress", "none"]);
        assert_eq!((&json["rows"], &json["columns"][2]["kind"]), (&30.into(), &"numbers".into()));
        let args = [learner, "a.csv", "--model", "m", "--report", "r.html"];
        let summary = place.ok(&[&args[..], &quiet].concat());
        assert!(summary.contains(sentence) && summary.contains(zeros), "{summary}");
        assert!(!summary.contains("0 to 29"), "{summary}");
        assert!(place.ok(&["show", "m"]).contains("age     numbers  0 to 29"));
        let page = String::from_utf8(place.read("r.html")).unwrap();
        assert!(page.contains("How the table was read") && page.contains("leading zeros"));
    }
}
