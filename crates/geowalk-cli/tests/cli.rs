//! The command as a user meets it: the flow of the README, exit codes, and what is said about bad input.

#![allow(clippy::unwrap_used, clippy::format_collect)] // test code

mod support;

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;
use support::{Place, cancer, text};

/// What is refused.
impl Place {
    /// Training on this text fails with one line that has these parts, and leaves an old model as it was.
    fn refuses_to_train(
        &self,
        file: &str,
        bytes: impl AsRef<[u8]>,
        flags: &[&str],
        parts: &[&str],
    ) {
        self.write(file, bytes);
        self.write("kept.model", "what was here before");
        let mut args =
            vec!["train", file, "--progress", "none", "--model", "kept.model", "--force"];
        args.extend(flags);
        let message = self.fails(&args);
        assert_eq!(message.lines().count(), 1, "{message}");
        for part in parts {
            assert!(message.contains(part), "{part:?} is not in {message}");
        }
        assert_eq!(self.read("kept.model"), b"what was here before");
        let mut names = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(!names.any(|name| name.to_string_lossy().ends_with(".tmp")));
    }
}

const TABLE: &str = "size,color,y\n1,red,1\n0,blue,0\n2,red,1\n0.5,blue,0\n";

#[test]
fn from_a_file_to_predictions() {
    let place = Place::new("flow");
    let data = cancer();
    let output = place.run(&["train", &data, "--model", "m"]);
    assert_eq!(output.status.code(), Some(0));
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(err.contains("task: binary, because the labels are 2 names"), "{err}");
    assert!(err.contains("average      since    example"), "{err}");
    assert!(out.contains("examples       569"), "{out}");
    assert!(out.contains("guarantee      ") && out.contains("Proved: no weights"), "{out}");
    assert!(!out.contains("first-order"), "theorems are for certify: {out}");
    assert!(place.ok(&["certify", "m"]).contains("first-order: valid"));

    let shown = place.ok(&["show", "m", "--top", "2"]);
    assert!(shown.contains("classes    benign, malignant"), "{shown}");
    assert!(shown.contains("score of malignant"), "{shown}");
    let json = place.ok(&["show", "m", "--top", "2", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["weights"][0]["top"].as_array().unwrap().len(), 2);

    let predicted = place.ok(&["predict", "m", &data]);
    assert_eq!(predicted.lines().count(), 569);
    assert!(predicted.lines().all(|line| line == "benign" || line == "malignant"));
    assert_eq!(place.ok(&["predict", "m", &data, "--proba", "--output", "p.csv"]), "");
    let proba = text(&place.read("p.csv"));
    assert_eq!(proba.lines().next(), Some("benign,malignant"));
    for (line, class) in proba.lines().skip(1).zip(predicted.lines()) {
        let p: Vec<f64> = line.split(',').map(|p| p.parse().unwrap()).collect();
        assert!((p[0] + p[1] - 1.0).abs() < 1e-12);
        assert_eq!(p[1] >= 0.5, class == "malignant");
    }
}

#[test]
fn the_summary_as_json() {
    let place = Place::new("json");
    let out = place.ok(&["train", &cancer(), "--json", "--progress", "none", "--predictions", "p"]);
    let summary: Value = serde_json::from_str(&out).unwrap();
    for key in [
        "examples",
        "loss",
        "since_last",
        "metrics",
        "task",
        "walk",
        "rate",
        "certificate",
        "seconds",
        "notes",
    ] {
        assert!(!summary[key].is_null(), "{key}");
    }
    for key in ["theorem", "status", "reason", "loss", "comparator_loss", "regret", "bound"] {
        assert!(summary["certificate"].get(key).is_some(), "{key}");
    }
    assert_eq!(summary["examples"], 569);
    // The predictions are those that were measured.
    let right = summary["metrics"]["accuracy"].as_f64().unwrap();
    let data = fs::read_to_string(cancer()).unwrap();
    let labels = data.lines().skip(1).map(|line| line.rsplit(',').next().unwrap());
    let predicted = text(&place.read("p"));
    let same = predicted.lines().zip(labels).filter(|(a, b)| a == b).count();
    assert!((same as f64 / 569.0 - right).abs() < 1e-12);
}

#[test]
fn an_interrupted_run_leaves_the_same_file() {
    let place = Place::new("resume");
    let data = fs::read_to_string(cancer()).unwrap();
    let lines: Vec<&str> = data.lines().collect();
    place.write("a.csv", lines[..200].join("\n"));
    place.write("b.csv", format!("{}\n{}\n", lines[0], lines[200..].join("\n")));
    place.ok(&["train", &cancer(), "--model", "whole"]);
    place.ok(&["train", "a.csv", "--model", "part"]);
    place.ok(&["train", "b.csv", "--resume", "part", "--model", "part"]);
    assert!(place.read("part") == place.read("whole"));
    place.ok(&["train", "a.csv", "b.csv", "--model", "files"]);
    assert!(place.read("files") == place.read("whole"));
    let mut child = place
        .command(&["train", "-", "--model", "piped"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(data.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(place.read("piped") == place.read("whole"));
}

#[test]
fn lists_doctor_completions_and_manual() {
    let place = Place::new("lists");
    for (what, name) in [
        ("walks", "mirror:entropy"),
        ("losses", "huber"),
        ("formats", "libsvm"),
        ("geometries", "sphere"),
        ("permissible", "gini"),
    ] {
        assert!(place.ok(&["list", what]).contains(name));
    }
    let rows: Value = serde_json::from_str(&place.ok(&["list", "--json"])).unwrap();
    assert!(rows.as_array().unwrap().len() > 40);
    assert!(place.ok(&["doctor", "logistic"]).contains("holds"));
    let sphere = place.ok(&["doctor", "sphere", "squared"]);
    for part in [
        "compatible            yes",
        "geodesically convex   no",
        "riemannian-with-defect",
        "uniform on the sphere",
    ] {
        assert!(sphere.contains(part), "{part}: {sphere}");
    }
    let gd = place.ok(&["doctor", "gd", "squared"]);
    assert!(gd.contains("geodesically convex   yes") && gd.contains("least-squares"), "{gd}");
    assert!(place.ok(&["doctor", "--prior", "log-uniform"]).contains("explicit:orthant"));
    assert!(place.fails(&["doctor", "--prior", "wide"]).contains("unknown prior 'wide'"));
    for shell in ["bash", "zsh", "fish", "powershell"] {
        assert!(place.ok(&["completions", shell]).contains("train"), "{shell}");
    }
    assert!(place.ok(&["man"]).contains("train"));
    let (man, bash) = (place.ok(&["man", "train"]), place.ok(&["completions", "bash"]));
    for flag in ["resume", "holdout", "average", "window", "progress"] {
        assert!(man.contains(flag) && bash.contains(&format!("--{flag}")), "{flag}");
    }
    assert!(place.fails(&["man", "tran"]).contains("did you mean 'train'?"));
    assert!(place.ok(&["--help"]).contains("train"));
    assert!(place.ok(&["--version"]).contains("geowalk"));
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_error() {
    let place = Place::new("pipe");
    place.ok(&["train", &cancer(), "--model", "m"]);
    let data = cancer();
    let mut many = vec!["predict", "m"];
    many.extend([data.as_str(); 40]);
    for args in [many, vec!["list"], vec!["completions", "bash"], vec!["man"]] {
        let mut child = place.command(&args).stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}");
    }
}

#[test]
fn input_that_is_empty_or_has_no_label() {
    let place = Place::new("empty");
    place.refuses_to_train("a.csv", "", &[], &["geowalk: a.csv: the input is empty"]);
    place.refuses_to_train("a.csv", "a,y\n", &[], &["a.csv: a header and no rows", "--no-header"]);
    let none = ["a.csv:1:1: no label column", "--label", "columns: a, b"];
    place.refuses_to_train("a.csv", "a,b\n1,2\n", &[], &none);
    let other = ["no column 'z' for the label", "columns: size, color, y"];
    place.refuses_to_train("a.csv", TABLE, &["--label", "z"], &other);
    assert!(place.fails(&["train", "none.csv"]).contains("none.csv: No such file"));
    assert!(place.fails(&["train", "none*.csv"]).contains("no file fits the pattern"));
    assert!(place.fails(&["train"]).contains("<DATA>"));
}

#[test]
fn one_class_is_learned_and_said() {
    let place = Place::new("one");
    for (name, text) in
        [("a.csv", "x,y\n1,1\n2,1\n"), ("b.csv", "x,y\n1,0\n2,0\n"), ("c.csv", "x,y\n1,no\n2,no\n")]
    {
        place.write(name, text);
        let out = place.ok(&["train", name, "--model", "m"]);
        assert!(out.contains("note           there are not two classes"), "{out}");
        assert!(out.contains("auc            undefined"), "{out}");
        place.ok(&["show", "m"]);
        let proba = place.ok(&["predict", "m", name, "--proba"]);
        assert!(proba.lines().next().unwrap().contains("(unseen)"), "{proba}");
        assert!(proba.lines().all(|line| line.split(',').count() == 2), "{proba}");
    }
    // The other class may come later.
    place.write("d.csv", "x,y\n3,0\n");
    place.ok(&["train", "a.csv", "--model", "m"]);
    place.ok(&["train", "d.csv", "--resume", "m", "--model", "m"]);
    assert!(place.ok(&["show", "m"]).contains("classes    0, 1"));
}

#[test]
fn rows_that_cannot_be_read() {
    let place = Place::new("rows");
    for bad in ["inf", "-Infinity"] {
        let parts = ["a.csv:3:1: ", bad, "a finite number", "--on-error skip"];
        place.refuses_to_train("a.csv", format!("x,y\n1,1\n{bad},0\n"), &[], &parts);
    }
    let nan = ["a.svm:2:5: the value of feature 2 is 'nan'"];
    place.refuses_to_train("a.svm", "1 1:1\n0 2:nan\n", &[], &nan);
    let base: String = (0..1200).map(|k| format!("{} 1:1 2:{k}\n", k % 2)).collect();
    let zero = ["a.svm:1201:3: index 0", "--index-base 0"];
    place.refuses_to_train("a.svm", base + "1 0:1\n", &[], &zero);
    let twice = ["a.svm:1:7: index 1 occurs twice", "--duplicates add"];
    place.refuses_to_train("a.svm", "1 1:1 1:2\n", &[], &twice);
    place.refuses_to_train(
        "a.csv",
        b"caf\xe9,y\n1,2\n",
        &[],
        &["a.csv:1:1: ", "is not UTF-8", "iconv"],
    );
    let rows: String = (0..20_000).map(|k| format!("{k},{}\n", k % 2)).collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(format!("x,y\n{rows}").as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let half = ["a.csv.gz:", "the gzip stream stops in the middle"];
    place.refuses_to_train("a.csv.gz", &gzip[..gzip.len() / 2], &[], &half);

    place.write("a.svm", "1 1:1\n0 2:x\n0 2:1\n");
    let out = place.ok(&["train", "a.svm", "--on-error", "skip"]);
    assert!(out.contains("rows skipped   1") && out.contains("a.svm:2:5"), "{out}");
    place.ok(&["train", "a.svm", "--on-error", "quarantine=bad.svm"]);
    assert_eq!(text(&place.read("bad.svm")), "0 2:x\n");
    let shrug = ["--on-error shrug: fail, skip or quarantine=FILE"];
    place.refuses_to_train("a.svm", "1 1:1\n", &["--on-error", "shrug"], &shrug);
}

#[test]
fn labels_that_do_not_fit() {
    let place = Place::new("labels");
    let rows: String = (0..1100).map(|k| format!("{k},{}\n", k % 2)).collect();
    let third = ["a.csv:1102: the label 2 is neither 0 nor 1", "--task multiclass"];
    place.refuses_to_train("a.csv", format!("x,y\n{rows}5,2\n"), &[], &third);
    let names = "x,y\n1,yes\n2,no\n";
    let regression = ["--task", "regression"];
    place.refuses_to_train(
        "a.csv",
        names,
        &regression,
        &["a.csv:2: the label 'yes' is not a number"],
    );
    for flags in [["--loss", "logistic"], ["--walk", "winnow(n=2)"]] {
        let flags = [&regression[..], &flags].concat();
        let parts = ["a.csv:2: the label is 0.5; with the loss", "-1 or +1", "--task binary"];
        place.refuses_to_train("a.csv", "x,y\n1,0.5\n2,3\n", &flags, &parts);
    }
}

#[test]
fn walks_losses_and_rates_that_are_none() {
    let place = Place::new("names");
    for (flag, value, says) in [
        ("--walk", "egg", "unknown walk 'egg' (did you mean 'eg'?)\n"),
        ("--walk", "simplex", "unknown walk 'simplex' (did you mean 'explicit:simplex'?)\n"),
        (
            "--walk",
            "xyzzy",
            "are known, such as free, free:euclidean, adagrad, explicit:adaptive: see `geowalk list walks`\n",
        ),
        ("--loss", "logisti", "unknown loss 'logisti' (did you mean 'logistic'?)"),
        ("--format", "csw", "unknown format 'csw' (did you mean 'csv'?)"),
        ("--rate", "-1", "rate = -1; it must be a finite number > 0"),
        ("--rate", "sometimes", "unknown rate 'sometimes'; known: auto"),
        ("--walk", "ols(q=7)", "q = 7; it must be in [1.001, 2]"),
        ("--walk", "sphere(radus=1)", "unknown parameter 'radus' (did you mean 'radius'?)"),
        ("--walk", "sphere(radius=-1)", "radius = -1; it must be"),
        ("--walk", "winnow", "n is missing: the number of features"),
        ("--walk", "gd(", "expected at column 4"),
    ] {
        place.refuses_to_train("a.csv", TABLE, &[flag, value], &[says]);
    }
    let free = ["--walk", "free", "--loss", "squared"];
    let bound = ["a bound on the slope of the loss is missing", "adagrad"];
    place.refuses_to_train("a.csv", TABLE, &free, &bound);
    let negative = "a,b,y\n1,0,1\n0,1,0\n1,-1,1\n";
    let outside = ["a.csv:4: ", "is -1; it must be in [0, 1] (feature 'b')"];
    place.refuses_to_train("a.csv", negative, &["--walk", "winnow(n=2)"], &outside);
    let heavy = ["a.vw:1: ", "the importance weight is 1000000000", "use another walk"];
    place.refuses_to_train("a.vw", "1 1e9 |f a\n", &[], &heavy);
}

#[test]
fn flags_without_effect_are_said() {
    let place = Place::new("notes");
    place.write("a.csv", TABLE);
    let notes = |flags: &[&str]| {
        let args = [&["train", "a.csv", "--json", "--progress", "none"], flags].concat();
        let summary: Value = serde_json::from_str(&place.ok(&args)).unwrap();
        summary["notes"].to_string()
    };
    let said = notes(&["--rate", "3"]);
    assert!(said.contains("--rate 3 has no effect: the rate of the walk 'free'"), "{said}");
    let said = notes(&["--walk", "perceptron", "--loss", "hinge", "--rate", "3"]);
    assert!(said.contains("--loss hinge has no effect"), "{said}");
    assert!(said.contains("--rate 3 has no effect"), "{said}");
    let said = notes(&["--walk", "gd", "--rate", "0.5", "--loss", "hinge"]);
    assert!(!said.contains("no effect"), "{said}");
    // The number of features of a hash is known.
    place.write("b.csv", "a,b,y\n1,0,1\n0,1,0\n");
    place.ok(&["train", "b.csv", "--walk", "winnow", "--bits", "10", "--model", "m"]);
    place.ok(&["train", "b.csv", "--resume", "m"]);
    place.ok(&["train", "b.csv", "--walk", "ols(q=auto)", "--bits", "10"]);
}

/// The data with numbers as labels.
fn numbers() -> String {
    let data = fs::read_to_string(cancer()).unwrap();
    data.replace("malignant", "1").replace("benign", "0")
}

#[test]
fn a_run_that_diverges_suggests_a_rate_that_works() {
    let place = Place::new("diverge");
    place.write("a.csv", numbers());
    for (walk, rate) in [
        ("gd", "1e200"),
        ("gd", "0.1"),
        ("mirror:p-norm", "1"),
        ("explicit:hyperbolic", "0.1"),
        ("mirror:burg", "10"),
        ("egu", "1"),
    ] {
        let args = ["--walk", walk, "--task", "regression", "--rate", rate];
        let parts =
            ["geowalk: a.csv:", "cannot go on", &format!("the walk '{walk}'"), "try --rate "];
        place.refuses_to_train("a.csv", numbers(), &args, &parts);
        let message = place.fails(&[&["train", "a.csv", "--progress", "none"], &args[..]].concat());
        let suggested = message.split("try --rate ").nth(1).unwrap().split(' ').next().unwrap();
        let again = ["--walk", walk, "--task", "regression", "--rate", suggested];
        let out = place.ok(&[&["train", "a.csv"], &again[..]].concat());
        // Where all weights begin at 0.1 the first predictions are far off, whatever the rate.
        let far = out.contains("exceeds that of predicting 0");
        assert_eq!(far, walk == "mirror:burg", "{walk} {suggested}: {out}");
    }
    // The coordinate at fault has a name.
    let burg = ["--walk", "mirror:burg", "--rate", "10", "--task", "regression"];
    let message = place.fails(&[&["train", "a.csv"], &burg[..]].concat());
    assert!(
        message.contains("of the dual weights is ") && message.contains("(feature '"),
        "{message}"
    );
    // A loss that explodes without overflowing is reported.
    let egu = ["--walk", "egu", "--task", "regression", "--rate", "0.003"];
    let out = place.ok(&[&["train", "a.csv"], &egu[..]].concat());
    assert!(out.contains("exceeds that of predicting 0"), "{out}");
    assert!(out.contains("try a smaller --rate"), "{out}");
}

#[test]
fn model_files_that_are_none() {
    let place = Place::new("models");
    place.write("a.csv", TABLE);
    place.ok(&["train", "a.csv", "--model", "m"]);
    let good = place.read("m");
    place.write("cut", &good[..500]);
    place.write("short", &good[..good.len() - 1]);
    let mut altered = good.clone();
    altered[good.len() / 2] ^= 1;
    place.write("altered", altered);
    for (file, says) in [
        ("cut", "cut: the model file ends after 500 bytes"),
        ("short", "short: the model file ends after"),
        ("altered", "altered: the model file was altered"),
        ("a.csv", "a.csv: this is not a geowalk model"),
        ("none", "none: No such file"),
    ] {
        for args in [
            vec!["show", file],
            vec!["predict", file, "a.csv"],
            vec!["train", "a.csv", "--resume", file],
        ] {
            let message = place.fails(&args);
            assert!(message.starts_with(&format!("geowalk: {says}")), "{args:?}: {message}");
        }
    }
    assert!(place.read("m") == good);
}

#[test]
fn data_that_are_not_the_models() {
    let place = Place::new("schema");
    place.write("a.csv", TABLE);
    place.ok(&["train", "a.csv", "--model", "m"]);
    place.write("order.csv", "color,y,size\nred,1,1\nblue,0,0\nred,1,2\nblue,0,0.5\n");
    assert_eq!(place.ok(&["predict", "m", "order.csv"]), place.ok(&["predict", "m", "a.csv"]));
    place.write("new.csv", "size,color\n1,green\n");
    assert_eq!(place.ok(&["predict", "m", "new.csv"]).lines().count(), 1);
    place.write("fewer.csv", "size,y\n1,1\n");
    let message = place.fails(&["predict", "m", "fewer.csv"]);
    assert!(message.contains("fewer.csv:1:1: no column 'color'"), "{message}");
    place.write("more.csv", "size,color,price,y\n1,red,3,1\n");
    assert!(place.fails(&["predict", "m", "more.csv", "--strict"]).contains("--ignore 'price'"));
    let message = place.fails(&["train", "a.csv", "--label", "size", "--resume", "m"]);
    assert!(message.contains("the label of the model is 'y', not 'size'"), "{message}");
    place.write("a.svm", "1 1:1\n");
    let message = place.fails(&["predict", "m", "a.svm"]);
    let says = "a.svm: the model was trained on data with the columns size, color, y";
    assert!(message.contains(says), "{message}");
    for flags in [["--walk", "gd"], ["--rate", "1"], ["--bits", "9"]] {
        let args = [&["train", "a.csv", "--resume", "m"][..], &flags].concat();
        assert!(place.fails(&args).contains("cannot be used with"), "{flags:?}");
    }
}

#[test]
fn outputs_that_cannot_be_written() {
    let place = Place::new("outputs");
    place.write("a.csv", TABLE);
    place.ok(&["train", "a.csv", "--model", "m"]);
    for args in [
        vec!["train", "a.csv", "--model", "no/where"],
        vec!["train", "a.csv", "--predictions", "no/where"],
        vec!["predict", "m", "a.csv", "--output", "no/where"],
        vec!["train", "a.csv", "--on-error", "quarantine=no/where"],
    ] {
        assert!(place.fails(&args).contains("no/where: "), "{args:?}");
    }
    assert!(place.fails(&["train", "a.csv", "--model", "."]).contains("directory"));
    let message = place.fails(&["train", "-", "--passes", "2"]);
    assert!(message.contains("standard input can be read only once"), "{message}");
}

#[test]
fn every_word_of_the_output_is_explained() {
    let place = Place::new("explain");
    let data = cancer();
    let runs: [&[&str]; 7] = [
        &["train", &data, "--model", "w", "--holdout", "5", "--window", "9"],
        &["train", &data, "--passes", "auto", "--folds", "2"],
        &["boost", &data, "--model", "b", "--folds", "2", "--rounds", "2"],
        &["boost", &data, "--weak", "trees", "--rounds", "2"],
        &["tree", &data, "--model", "t"],
        &["show", "b"],
        &["evaluate", "t", &data],
    ];
    let mut words = std::collections::BTreeSet::new();
    for run in runs {
        // Heads of lines: a word or two before blanks.
        let heads = place.ok(run);
        let heads = heads.lines().filter_map(|line| line.trim_start().split_once("  "));
        let letters =
            |head: &str| head.chars().all(|c| c.is_ascii_alphabetic() || "_ -".contains(c));
        words.extend(heads.map(|(head, _)| head.to_owned()).filter(|head| letters(head)));
    }
    // Classes and columns of the data, and paths.
    let data = std::fs::read_to_string(cancer()).unwrap();
    let columns: Vec<&str> = data.lines().next().unwrap().split(',').collect();
    let known =
        ["benign", "malignant", "report", "model", "by pass", "because", "column", "read as"];
    words.retain(|word| !word.is_empty() && !columns.contains(&word.as_str()));
    for word in words.iter().filter(|word| !known.contains(&word.as_str())) {
        let out = place.ok(&["explain", word]);
        assert!(out.contains(": "), "{word}: {out}");
    }
    assert!(words.len() > 25, "{words:?}");
    let out = place.ok(&["explain", "leverage"]);
    assert!(out.starts_with("leverage, vote: the weight of a rule"), "{out}");
    assert!(place.ok(&["explain", "LOG_LOSS"]).starts_with("log loss: "));
    assert!(place.ok(&["explain", "natural", "gradient"]).starts_with("natural gradient"));
    assert!(place.ok(&["explain"]).lines().count() > 60);
    place.refuses(&["explain", "leverige"], "did you mean 'leverage'?");
}

#[test]
fn short_help_has_the_first_ten_options() {
    let place = Place::new("help");
    for (command, most) in [("train", 10), ("boost", 10), ("tree", 10), ("predict", 10)] {
        let short = place.ok(&[command, "-h"]);
        let options = short.lines().filter(|line| line.trim_start().starts_with('-')).count();
        assert!((5..=most + 2).contains(&options), "{command}: {short}");
        assert!(
            short.contains("for example --") && short.contains("geowalk explain WORD"),
            "{short}"
        );
        let long = place.ok(&[command, "--help"]);
        let all = long.lines().filter(|line| line.trim_start().starts_with("--")).count();
        assert!(all > options && long.contains("More options:"), "{command}: {long}");
    }
}
