//! The options of `train`, through the command, on real data: rows kept from learning, averages, windows, new features and classes, every walk of the table.

#![allow(clippy::unwrap_used)] // test code

mod support;

use std::fmt::Write as _;
use std::fs;

use geowalk::Real;
use geowalk_data::Hashed;
use serde_json::Value;
use support::{Place, cancer, text};

/// The labels of the data.
fn labels() -> Vec<String> {
    let data = fs::read_to_string(cancer()).unwrap();
    data.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().to_owned()).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn kept_rows_are_never_learned_from() {
    let place = Place::new("holdout");
    let data = cancer();
    let train = ["--predictions", "p", "--model", "m"];
    let summary = place.json(&[&[&data[..], "--holdout", "5"], &train[..]].concat());
    assert_eq!((&summary["examples"], &summary["holdout"]["examples"]), (&456.into(), &113.into()));
    // What was measured are the predictions for every fifth row, and for the others.
    let (predicted, labels) = (text(&place.read("p")), labels());
    let mut right = [0.0, 0.0];
    for (i, (predicted, label)) in predicted.lines().zip(&labels).enumerate() {
        right[usize::from((i + 1) % 5 == 0)] += f64::from(u8::from(predicted == label));
    }
    let accuracy = |of: &Value| number(&of["metrics"]["accuracy"]);
    assert!((right[0] / 456.0 - accuracy(&summary)).abs() < 1e-12);
    assert!((right[1] / 113.0 - accuracy(&summary["holdout"])).abs() < 1e-12);
    // A model that never saw those rows is the same but for what was measured of them.
    let text = fs::read_to_string(&data).unwrap();
    let others: Vec<&str> =
        text.lines().enumerate().filter(|(i, _)| i % 5 != 0 || *i == 0).map(|(_, l)| l).collect();
    place.write("others.csv", &(others.join("\n") + "\n"));
    let plain = place.json(&["others.csv", "--model", "plain"]);
    assert_eq!(plain["loss"], summary["loss"]);
    assert_eq!(
        place.ok(&["predict", "m", &data, "--proba"]),
        place.ok(&["predict", "plain", &data, "--proba"])
    );
    // In two halves it is the same file.
    let rows: Vec<&str> = text.lines().collect();
    place.write("a.csv", rows[..203].join("\n"));
    place.write("b.csv", format!("{}\n{}\n", rows[0], rows[203..].join("\n")));
    place.ok(&["train", "a.csv", "--holdout", "5", "--model", "part"]);
    place.ok(&["train", "b.csv", "--resume", "part", "--model", "part"]);
    assert!(place.read("part") == place.read("m"));

    // Over several passes: the same rows, their loss in each pass, and in the table from the second pass on.
    let args = ["train", &data, "--holdout", "0.2", "--passes", "3"];
    let (out, err) = place.both(&args);
    assert!(out.contains("held out       113 examples in the last pass"), "{out}");
    assert!(out.contains("  by pass      "), "{out}");
    assert!(err.contains(" 512 ") && err.lines().any(|line| line.ends_with("valid h")), "{err}");
    assert!(err.lines().find(|line| line.contains(" 256 ")).unwrap().ends_with("valid"), "{err}");
    let summary = place.json(&args[1..]);
    let passes = summary["holdout"]["passes"].as_array().unwrap();
    assert_eq!((passes.len(), &passes[2]), (3, &summary["holdout"]["loss"]));
    assert!(number(&passes[2]) < number(&passes[0]));
    for wrong in ["1", "0", "1.5", "-2", "often"] {
        let holdout = format!("--holdout={wrong}");
        assert!(place.fails(&["train", &data, &holdout]).contains("every N-th row"), "{wrong}");
    }
}

#[test]
fn averaged_weights_predict() {
    let place = Place::new("average");
    // y = 2a - b + noise: the last weights follow the noise, their average does not.
    let mut text = "a,b,y\n".to_owned();
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 23) - 1.0
    };
    for _ in 0..2000 {
        let (a, b) = (noise(), noise());
        writeln!(text, "{a},{b},{}", 2.0 * a - b + 2.0 * noise()).unwrap();
    }
    place.write("a.csv", &text);
    let args = [
        "a.csv",
        "--task",
        "regression",
        "--walk",
        "gd",
        "--rate",
        "0.4",
        "--no-intercept",
        "--holdout",
        "4",
    ];
    let last = place.json(&[&args[..], &["--model", "last"]].concat());
    let average = place.json(&[&args[..], &["--model", "average", "--average"]].concat());
    // The iterates are the same, what is predicted with is not.
    assert_eq!(last["loss"], average["loss"]);
    assert!(
        number(&average["holdout"]["loss"]) < 0.9 * number(&last["holdout"]["loss"]),
        "{average}"
    );
    let shown: Value = serde_json::from_str(&place.ok(&["show", "average", "--json"])).unwrap();
    let top = shown["weights"][0]["top"].as_array().unwrap();
    let weight = |name: &str| number(&top.iter().find(|w| w["feature"] == name).unwrap()["weight"]);
    assert!((weight("a") - 2.0).abs() < 0.2 && (weight("b") + 1.0).abs() < 0.2, "{shown}");
    place.write("new.csv", "a,b\n3,5\n");
    let predicted: f64 = place.ok(&["predict", "average", "new.csv"]).trim().parse().unwrap();
    assert!((predicted - 3.0 * weight("a") - 5.0 * weight("b")).abs() < 1e-12);
    // The label's range holds for averages too.
    let clipped = [&args[..], &["--average", "--y-range", "0,1", "--model", "clipped"]].concat();
    place.json(&clipped);
    let predicted: f64 = place.ok(&["predict", "clipped", "new.csv"]).trim().parse().unwrap();
    assert!((0.0..=1.0).contains(&predicted));
    // Also where all weights share a factor.
    for walk in ["sphere", "eg+-", "ols", "explicit:hyperbolic", "implicit:simplex"] {
        let data = [&cancer()[..], "--walk", walk, "--holdout", "4", "--model"];
        let last = place.json(&[&data[..], &["last"]].concat());
        let average = place.json(&[&data[..], &["average", "--average"]].concat());
        assert_eq!(last["loss"], average["loss"], "{walk}");
        assert_ne!(last["holdout"]["loss"], average["holdout"]["loss"], "{walk}");
    }
    let metric = "mahalanobis(sigma=sigma.csv)";
    place.write("sigma.csv", "2,1\n1,2\n");
    let message = place.fails(&["train", "a.csv", "--walk", metric, "--average", "--no-intercept"]);
    assert!(message.contains("--average goes with all walks but this one"), "{message}");
    assert!(
        place
            .fails(&["train", "a.csv", "--resume", "last", "--average"])
            .contains("cannot be used")
    );
}

#[test]
fn the_last_examples_are_measured_by_themselves() {
    let place = Place::new("window");
    let data = cancer();
    let args = [&data[..], "--window", "100", "--predictions", "p"];
    let summary = place.json(&args);
    let (predicted, labels) = (text(&place.read("p")), labels());
    let pairs: Vec<_> = predicted.lines().zip(&labels).collect();
    let right = pairs[pairs.len() - 100..].iter().filter(|(p, l)| p == l).count();
    assert_eq!(summary["window"]["examples"], 100);
    assert!((number(&summary["window"]["accuracy"]) - right as f64 / 100.0).abs() < 1e-12);
    let (out, err) = place.both(&[&["train"], &args[..]].concat());
    assert!(out.contains("last 100       loss "), "{out}");
    assert!(
        err.lines().any(|line| line.contains("current     window       error       regret")),
        "{err}"
    );
    // No bar where nobody sees it.
    assert!(!err.contains('\r') && !err.contains('\u{1b}'), "{err}");
}

#[test]
fn features_and_classes_may_come_in_mid_stream() {
    let place = Place::new("late");
    let row = |k: usize, classes: usize| {
        format!("{} |f w{} common:{}\n", k % classes, k % classes, k % 3)
    };
    let rows =
        |from: usize, to: usize, classes| (from..to).map(|k| row(k, classes)).collect::<String>();
    place.write("a.vw", rows(0, 200, 2));
    place.write("b.vw", rows(200, 800, 5));
    let multiclass = ["--task", "multiclass"];
    for exact in [&[][..], &["--exact"]] {
        let flags = [&multiclass[..], exact].concat();
        place.json(&[&["a.vw", "b.vw", "--model", "whole"], &flags[..]].concat());
        place.json(&[&["a.vw", "--model", "part"], &flags[..]].concat());
        let summary =
            place.json(&["b.vw", "--resume", "part", "--model", "part", "--predictions", "p"]);
        assert!(place.read("part") == place.read("whole"));
        assert_eq!(summary["examples"], 800);
        let predicted = text(&place.read("p"));
        let last = predicted.lines().enumerate().skip(400);
        let right = last.filter(|(k, p)| *p == ((200 + k) % 5).to_string()).count();
        assert!(right > 190, "{right} of 200");
        let proba = place.ok(&["predict", "whole", "b.vw", "--proba"]);
        assert_eq!(proba.lines().next(), Some("0,1,2,3,4"));
    }
}

#[test]
fn shared_places_are_counted() {
    let place = Place::new("hash");
    let names: Vec<String> = (0..300).map(|k| format!("word{k}x")).collect();
    let rows = names.chunks(3).enumerate();
    let rows = rows
        .map(|(k, names)| format!("{} |f {}\n", if k % 2 == 0 { 1 } else { -1 }, names.join(" ")));
    place.write("a.vw", rows.collect::<String>());
    let mut hashed = Hashed::new(8).unwrap();
    let places: std::collections::BTreeSet<u32> =
        names.iter().map(|name| hashed.place("f", name).unwrap()).collect();
    let shared = 300 - places.len();
    assert!(shared > 50);
    let summary = place.json(&["a.vw", "--bits", "8"]);
    assert_eq!(summary["collisions"]["names"], 300);
    assert_eq!(summary["collisions"]["shared"], shared);
    let out = place.ok(&["train", "a.vw", "--bits", "8"]);
    let says = format!("hash           {shared} of 300 features share a place with another in 2^8");
    assert!(out.contains(&says), "{out}");
    for flags in [["--bits", "24"].as_slice(), &["--exact"]] {
        let out = place.ok(&[&["train", "a.vw"], flags].concat());
        assert!(!out.contains("share a place"), "{out}");
    }
    assert!(place.json(&["a.vw", "--exact"])["collisions"].is_null());
}

/// Every walk of the table and every alias: trains on features of all scales with the self-tuned rate, without exploding, and predicts.
#[test]
fn every_walk_learns_from_real_data_untuned() {
    let place = Place::new("walks");
    let data = cancer();
    let table: Value = serde_json::from_str(&place.ok(&["list", "walks", "--json"])).unwrap();
    let mut specs: Vec<String> = table
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap().to_owned())
        // The families of natural gradient want data of their kind: see below.
        .filter(|name| !name.starts_with("natural"))
        // It is for the squared loss alone.
        .filter(|name| name != "vaw")
        // These do not exist with 31 weights, or need to be told their factors.
        .filter(|name| {
            [":spd", ":oblique", ":torus", ":product", ":rotations", "implicit:mahalanobis"]
                .iter()
                .all(|part| !name.contains(part))
        })
        .collect();
    let aliases = "free adagrad gd eg egu eg+- reparam-eg reparam-egu winnow reparam-winnow perceptron prod ols neg sphere projected-sphere mahalanobis";
    specs.extend(aliases.split(' ').map(str::to_owned));
    specs.extend(
        [
            "mirror:simplex-entropy(signed=true, scale=2)",
            "ols(q=1.2)",
            "sphere(radius=2)",
            "mirror:euclidean",
        ]
        .map(str::to_owned),
    );
    assert!(specs.len() > 38, "{specs:?}");
    let ones = vec!["1"; 30].join(", ");
    // Winnow is for features between 0 and 1.
    let (text, mut lines) = (fs::read_to_string(&data).unwrap(), Vec::new());
    for line in text.lines() {
        let fields = line.split(',').map(|field| match field.parse::<f64>() {
            Ok(x) => (x / (1.0 + x)).to_string(),
            Err(_) => field.to_owned(),
        });
        lines.push(fields.collect::<Vec<_>>().join(","));
    }
    place.write("unit.csv", &(lines.join("\n") + "\n"));
    for spec in specs {
        let (input, spec) = match spec.as_str() {
            "winnow" | "reparam-winnow" => ("unit.csv", format!("{spec}(n=31)")),
            "mahalanobis" | "mirror:mahalanobis" => {
                (&data[..], format!("{spec}(sigma=diag({ones}))"))
            }
            _ => (&data[..], spec),
        };
        let summary = place.json(&[input, "--walk", &spec, "--model", "m"]);
        let loss = number(&summary["loss"]);
        // The loss of the perceptron, whose rate is 1, is in the unit of the features.
        assert!(loss < 100.0 || spec == "perceptron", "{spec}: {loss}");
        assert_eq!(summary["certificate"]["status"], "valid", "{spec}");
        assert_eq!(place.ok(&["predict", "m", input]).lines().count(), 569, "{spec}");
        if spec.starts_with("ols") {
            assert_eq!(summary["loss_name"], "matsushita");
        }
    }
    assert!(place.fails(&["train", &data, "--walk", "mahalanobis"]).contains("sigma is missing"));
    let message = place.fails(&["train", &data, "--walk", "mahalanobis(sigma=diag(1, 2))"]);
    assert!(message.contains("the row has ") || message.contains("expected"), "{message}");
}

/// A baseline that cannot step says so; a schedule may be named where the family is chosen.
#[test]
fn baselines_say_what_they_left_out_and_schedules_go_with_any_family() {
    let place = Place::new("natural_notes");
    let rows: Vec<String> = (0..60)
        .map(|t| format!("{},7,{}", (t * 13) % 10, ["a", "b"][usize::from((t * 13) % 10 > 4)]))
        .collect();
    place.write("constant.csv", format!("x,same,class\n{}\n", rows.join("\n")));
    let task = ["--task", "multiclass", "--model", "m"];
    let with = |walk: &'static str| [&["constant.csv", "--walk", walk], &task[..]].concat();
    let notes = place.json(&with("natural-csngd:gaussian-shared"))["notes"].to_string();
    let (left_out, _) = notes.split_once(" of 60 steps were not made").expect(&notes);
    let count: usize = left_out.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap();
    assert!(count >= 50, "a metric that is singular but for rounding: {notes}");
    let notes = place.json(&with("natural-sgd:gaussian-shared"))["notes"].to_string();
    assert!(!notes.contains("not made"), "{notes}");
    let summary = place.json(&with("natural(schedule=inv(1, 3))"));
    assert_eq!(summary["rate"], "inv(1, 3)", "{summary}");
}

/// Every family of natural gradient and every baseline learns from data of its kind.
#[test]
fn every_family_of_natural_gradient_learns_from_its_kind_of_data() {
    let place = Place::new("families");
    let table: Value = serde_json::from_str(&place.ok(&["list", "walks", "--json"])).unwrap();
    let names = table.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap());
    let natural: Vec<&str> = names.filter(|name| name.starts_with("natural")).collect();
    assert!(natural.len() > 15, "{natural:?}");
    let text = fs::read_to_string(cancer()).unwrap();
    let mapped = |map: &dyn Fn(f64) -> String, columns: usize| {
        let line = |line: &str| {
            let fields: Vec<&str> = line.split(',').collect();
            let (label, features) = fields.split_last().unwrap();
            let features = features.iter().take(columns);
            let mut line: String = features
                .map(|field| field.parse().map_or_else(|_| (*field).to_owned(), map) + ",")
                .collect();
            line.push_str(label);
            line + "\n"
        };
        text.lines().map(line).collect::<String>()
    };
    place.write("numbers.csv", &text);
    place.write("unit.csv", mapped(&|x| (x / (1.0 + x)).to_string(), 30));
    place.write("counts.csv", mapped(&|x| x.floor().to_string(), 30));
    place.write("names.csv", mapped(&|x| format!("about{:.0}", (2.0 * Real::ln(x)).floor()), 30));
    place.write("name.csv", mapped(&|x| format!("about{:.0}", x.floor()), 1));
    // Coefficients that are quadratic in thirty correlated features want more than 569 rows.
    place.write("few.csv", mapped(&|x| x.to_string(), 5));
    let half = std::f64::consts::LN_2;
    for name in natural {
        let (data, walk) = match name {
            "natural:discrete" => ("name.csv", name.to_owned()),
            "natural:naive-bayes" => ("names.csv", name.to_owned()),
            "natural:bernoulli" | "natural:exponential" => ("unit.csv", name.to_owned()),
            "natural:gaussian" | "natural:gaussian-diagonal" => ("few.csv", name.to_owned()),
            "natural:poisson" | "natural:multinomial" => ("counts.csv", name.to_owned()),
            "natural:mixed" => {
                let parts = "gaussian-shared-diagonal=0-9, exponential=10-19, rest=bernoulli";
                ("unit.csv", format!("{name}({parts})"))
            }
            _ if name.starts_with("natural-") => ("unit.csv", format!("{name}(family=bernoulli)")),
            _ => ("numbers.csv", name.to_owned()),
        };
        // Baselines have no safeguards, and may run away: then they say so, and do not go on.
        if name.starts_with("natural-") {
            let output = place.run(&["train", data, "--walk", &walk, "--json"]);
            let message = support::text(&output.stderr);
            let stopped = output.status.code() == Some(2) && message.contains("rate");
            assert!(output.status.success() || stopped, "{walk}: {message}");
            continue;
        }
        let summary = place.json(&[data, "--walk", &walk, "--model", "m"]);
        let loss = number(&summary["loss"]);
        println!("{walk} {loss} {}", summary["metrics"]["accuracy"]);
        assert!(loss < half, "{walk}: {loss}");
        assert_eq!(place.ok(&["predict", "m", data]).lines().count(), 569, "{walk}");
    }
}

#[test]
fn the_metric_of_a_walk_goes_with_the_model() {
    let place = Place::new("sigma");
    place.write("a.csv", "a,b,y\n1,0,1\n0,1,0\n1,1,1\n0,2,0\n");
    place.write("sigma.csv", "2,0.5\n0.5,1\n");
    let walk = ["--walk", "mahalanobis(sigma=sigma.csv)", "--rate", "0.5"];
    place.json(&[&["a.csv", "--model", "m"], &walk[..]].concat());
    let before = place.ok(&["predict", "m", "a.csv", "--proba"]);
    fs::remove_file(place.0.join("sigma.csv")).unwrap();
    assert_eq!(place.ok(&["predict", "m", "a.csv", "--proba"]), before);
    place.json(&["a.csv", "--resume", "m", "--model", "m"]);
    let message = place.fails(&[&["train", "a.csv"], &walk[..]].concat());
    assert!(message.contains("cannot read the matrix 'sigma.csv'"), "{message}");
    place.write("sigma.csv", "1,2\n2,1\n");
    let message = place.fails(&[&["train", "a.csv"], &walk[..]].concat());
    assert!(message.contains("not positive definite"), "{message}");
}

#[test]
fn a_report_shows_the_run() {
    let place = Place::new("report");
    let data = cancer();
    let out =
        place.ok(&["train", &data, "--report", "r.html", "--model", "with", "--holdout", "9"]);
    assert!(out.contains("report         r.html"), "{out}");
    let page = text(&place.read("r.html"));
    for part in [
        "What is proved",
        "Average loss so far",
        "Regret and its bound",
        "bound on the regret",
        "The largest weights",
        "score of malignant",
        "held out",
        "--report r.html",
    ] {
        assert!(page.contains(part), "{part} is not in the page");
    }
    assert!(!page.contains("The walk</h2>"), "thirty weights cannot be drawn");
    assert!(!page.contains("<script") && !page.contains("http"), "it needs nothing else");
    // To watch a run does not change it.
    place.ok(&["train", &data, "--model", "without", "--holdout", "9"]);
    assert!(place.read("with") == place.read("without"));
    // Three weights are drawn where they live; those of normalised rows live nowhere in particular.
    let lines: Vec<String> = fs::read_to_string(&data)
        .unwrap()
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            [fields[0], fields[4], fields[30]].join(",") + "\n"
        })
        .collect();
    place.write("two.csv", lines.concat());
    for (walk, says) in [
        ("sphere(normalise=false)", "on their sphere"),
        ("eg(normalise=false)", "on their simplex"),
    ] {
        place.ok(&["train", "two.csv", "--walk", walk, "--report", "w.html"]);
        assert!(text(&place.read("w.html")).contains(says), "{walk}");
    }
    let best = ["train", "two.csv", "--walk", "gd", "--rate", "0.001"];
    place.ok(&[&best[..], &["--comparator", "best", "--report", "b.html"]].concat());
    assert!(text(&place.read("b.html")).contains("so the regret is"));
    place.refuses(&["train", &data, "--report", "no/where.html"], "no/where.html");
}

#[test]
fn the_table_of_vw_flags_names_flags_that_exist() {
    let place = Place::new("vw-flags");
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/from-vw.md");
    let page = fs::read_to_string(page).unwrap();
    let help: String =
        ["train", "predict", "show"].iter().map(|command| place.ok(&[command, "--help"])).collect();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    assert!(rows.len() > 20);
    for row in rows {
        let ours = row.replace("\\|", "").split('|').nth(2).unwrap().to_owned();
        let flags = ours.split(['`', ' ', ',']).filter(|word| word.starts_with("--"));
        for flag in flags {
            assert!(
                help.contains(&format!("{flag} ")) || help.contains(&format!("{flag}\n")),
                "{flag}: {row}"
            );
        }
    }
    for walk in ["adagrad", "free", "implicit:euclidean", "gd", "eg+-"] {
        assert!(page.contains(walk));
        place.write("in.csv", "a,y\n1,1\n0,0\n");
        place.ok(&["train", "in.csv", "--walk", walk, "--rate", "0.1"]);
    }
}
