//! `verify`, `certify`, comparators and certified rates, as they are typed.

#![allow(clippy::unwrap_used, clippy::panic)] // test code

mod support;

use std::fmt::Write as _;

use serde_json::Value;
use support::{Place, cancer, text};

/// Numbers that look random.
fn table(rows: u32) -> String {
    let mut out = "a,b,c,y\n".to_owned();
    for k in 0..rows {
        let [a, b, c] = [7_u32, 11, 13].map(|p| f64::from(k * k * p % 101) / 101.0);
        writeln!(out, "{a},{b},{c},{}", 0.6 * a + 0.3 * b + 0.02 * c).unwrap();
    }
    out
}

fn train(place: &Place, args: &[&str]) {
    place.ok(&[&["train", "--progress", "none"], args].concat());
}

/// The exit code and the JSON of a verification.
fn verify(place: &Place, args: &[&str]) -> (Option<i32>, Value) {
    let output = place.run(&[&["verify", "--json"], args].concat());
    let found = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{args:?}: {}", text(&output.stderr)));
    (output.status.code(), found)
}

#[test]
fn a_run_is_verified_and_a_changed_one_is_not() {
    let place = Place::new("verify");
    place.write("data.csv", table(120));
    for (name, flags) in [
        ("default", &[][..]),
        ("gd", &["--walk", "gd", "--rate", "0.1"]),
        ("passes", &["--walk", "egu", "--passes", "3", "--holdout", "5", "--average"]),
        ("sphere", &["--walk", "sphere", "--loss", "invariant", "--seed", "4"]),
        ("certified", &["--walk", "gd", "--rate", "certified", "--x-norm", "2"]),
        ("epochs", &["--walk", "gd", "--loss", "absolute", "--rate", "certified", "--average"]),
        ("restarts", &["--walk", "eg+-", "--rate", "certified", "--passes", "1"]),
        ("hashed", &["--bits", "6", "--window", "10"]),
        ("off", &["--certificate", "off"]),
    ] {
        let model = format!("{name}.gw");
        train(&place, &[&["data.csv", "--model", &model], flags].concat());
        let (code, found) = verify(&place, &[&model, "data.csv"]);
        assert_eq!((code, &found["verified"]), (Some(0), &true.into()), "{name}: {found}");
        assert!(found["numbers"].as_u64().unwrap() > 20);
        assert_eq!(found["digest"].is_null(), name == "off");
        assert_eq!(found["passes"], if name == "passes" { 3 } else { 1 });
    }
    // Another value, another order, rows too few and too many.
    let rows = table(120);
    let swapped: Vec<&str> = {
        let mut lines: Vec<&str> = rows.lines().collect();
        lines.swap(40, 41);
        lines
    };
    let changed = rows.replacen("0.3564", "0.3565", 1);
    assert_ne!(changed, rows);
    for (name, other) in [
        ("swapped", swapped.join("\n")),
        ("changed", changed),
        ("few", table(119)),
        ("many", table(121)),
    ] {
        place.write("other.csv", other);
        for model in ["gd.gw", "default.gw", "passes.gw"] {
            let (code, found) = verify(&place, &[model, "other.csv"]);
            assert_eq!((code, &found["verified"]), (Some(1), &false.into()), "{name} {model}");
            let what = found["mismatches"].to_string();
            assert!(what.contains("digest of the data"), "{name} {model}: {what}");
        }
    }
    // Without a digest the numbers still differ.
    let (code, found) = verify(&place, &["off.gw", "other.csv"]);
    assert_eq!(code, Some(1), "{found}");
    let said = place.run(&["verify", "gd.gw", "other.csv"]);
    assert!(text(&said.stdout).contains("not verified"), "{}", text(&said.stdout));
}

#[test]
fn an_altered_model_is_found_out() {
    use geowalk_run::model::Model;
    let place = Place::new("verify-model");
    place.write("data.csv", table(60));
    train(&place, &["data.csv", "--walk", "gd", "--rate", "0.1", "--model", "m.gw"]);
    // A byte.
    let mut bytes = place.read("m.gw");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    place.write("byte.gw", &bytes);
    let (code, found) = verify(&place, &["byte.gw", "data.csv"]);
    assert_eq!(code, Some(1), "{found}");
    // Numbers, in a file that is whole.
    let mut model = Model::load(&place.0.join("m.gw")).unwrap();
    let weights = model.arrays.iter_mut().find(|(name, _)| name == "walk.0.w").unwrap();
    weights.1[1] = weights.1[1].next_up();
    model.summary["certificate"]["bound"] = 0.25.into();
    model.save(&place.0.join("altered.gw")).unwrap();
    let (code, found) = verify(&place, &["altered.gw", "data.csv"]);
    let what = found["mismatches"].to_string();
    assert_eq!(code, Some(1));
    assert!(what.contains("array walk.0.w, place 1"), "{what}");
    assert!(what.contains("summary.certificate.bound"), "{what}");
    // What is no model, and no data, are errors.
    assert!(place.fails(&["verify", "data.csv", "data.csv"]).contains("data.csv"));
    assert!(place.fails(&["verify", "m.gw", "nowhere.csv"]).contains("nowhere.csv"));
    assert!(place.fails(&["verify", "m.gw", "-"]).contains("standard input"));
}

#[test]
fn a_continued_run_is_verified_with_all_its_rows() {
    let place = Place::new("verify-resume");
    let rows = table(100);
    let lines: Vec<&str> = rows.lines().collect();
    place.write("first.csv", lines[..41].join("\n"));
    place.write("second.csv", [&lines[..1], &lines[41..]].concat().join("\n"));
    train(&place, &["first.csv", "--walk", "eg+-", "--rate", "0.1", "--model", "m.gw"]);
    train(&place, &["second.csv", "--resume", "m.gw", "--model", "m.gw"]);
    let (code, found) = verify(&place, &["m.gw", "first.csv", "second.csv"]);
    assert_eq!(code, Some(0), "{found}");
    assert_eq!(verify(&place, &["m.gw", "second.csv", "first.csv"]).0, Some(1));
    assert_eq!(verify(&place, &["m.gw", "first.csv"]).0, Some(1));
}

#[test]
fn batch_models_are_refused() {
    let place = Place::new("verify-batch");
    place.ok(&["tree", &cancer(), "--leaves", "3", "--progress", "none", "--model", "tree.gw"]);
    let said = place.fails(&["verify", "tree.gw", &cancer()]);
    assert!(said.contains("learned from all data at once"), "{said}");
    assert!(place.fails(&["certify", "tree.gw"]).contains("no theorem bounds a tree"));
}

#[test]
fn boosters_are_certified_from_their_file() {
    let place = Place::new("certify-boost");
    let boost = ["boost", &cancer(), "--rounds", "4", "--progress", "none", "--model", "b.gw"];
    let learned = place.ok(&boost);
    let certified = place.ok(&["certify", "b.gw"]);
    assert_eq!(certified.lines().count(), 3, "{certified}");
    let shown = place.ok(&["show", "b.gw"]);
    for line in certified.lines() {
        assert!(learned.contains(&format!("certificate    {line}\n")), "{line}");
        assert!(shown.contains(&format!("{line}\n")), "{line}");
    }
    assert!(certified.contains("training-error: valid; training error"), "{certified}");
    let json: serde_json::Value =
        serde_json::from_str(&place.ok(&["certify", "b.gw", "--json"])).unwrap();
    assert_eq!(json["theorem"], "boosting-rate");
    assert!(json["loss"].as_f64() <= json["bound"].as_f64());
    assert_eq!(json["members"][0]["certificates"][1]["theorem"], "training-error");
    for flags in [&["--comparator", "best"][..], &["--curve"]] {
        let said = place.fails(&[&["certify", "b.gw"], flags].concat());
        assert!(said.contains("there is no comparator to give"), "{said}");
    }
}

#[test]
fn comparators_are_answered() {
    let place = Place::new("certify");
    place.write("data.csv", table(200));
    train(&place, &["data.csv", "--walk", "gd", "--rate", "0.1", "--model", "m.gw"]);
    place.write("u.txt", "a,0.6\nb,0.3\nc,0.02\n");
    let ask = |args: &[&str]| -> Value {
        serde_json::from_str(&place.ok(&[&["certify", "m.gw", "--json"], args].concat())).unwrap()
    };
    let number = |value: &Value| value.as_f64().unwrap();
    // Without the data there is a bound and no loss.
    let given = ask(&["--comparator", "u.txt"]);
    assert!(given["comparator_loss"].is_null() && given["regret"].is_null());
    assert_eq!(given["status"], "valid");
    // With them all fields are filled; these weights lose nothing.
    let known = ask(&["--comparator", "u.txt", "--data", "data.csv"]);
    assert!(number(&known["comparator_loss"]) < 1e-20, "{known}");
    assert_eq!(
        number(&known["regret"]),
        number(&known["loss"]) - number(&known["comparator_loss"])
    );
    assert!(number(&known["regret"]) <= number(&known["bound"]));
    assert_eq!(known["first_order"]["bound"], given["first_order"]["bound"]);
    assert_eq!(known["theorem"]["name"], "least-squares");
    let own = given["theorems"].as_array().unwrap().iter().find(|t| t["name"] == "least-squares");
    assert!(
        number(&known["theorem"]["bound"]) <= number(&own.unwrap()["bound"]),
        "{known} {given}"
    );
    // The best is at least as good as any.
    let best = ask(&["--comparator", "best", "--data", "data.csv"]);
    assert!(number(&best["comparator_loss"]) <= 1e-12, "{best}");
    assert!(best["gap"].as_str().unwrap().contains("lose less by more than"));
    // The same from train; the live one speaks of a set.
    let trained =
        place.json(&["data.csv", "--walk", "gd", "--rate", "0.1", "--comparator", "best"]);
    assert_eq!(trained["certificate"], best);
    // The curve grows.
    let curve = ask(&["--curve"]);
    let bounds: Vec<f64> = curve
        .as_array()
        .unwrap()
        .iter()
        .map(|p| number(&p["certificate"]["first_order"]["bound"]))
        .collect();
    assert!(bounds.len() > 10 && bounds.windows(2).all(|pair| pair[0] < pair[1]), "{bounds:?}");
    let text = place.ok(&["certify", "m.gw", "--curve"]);
    assert!(
        text.ends_with(
            "\nregret bound against all weights whose sum of squares is at most the square of U\n"
        ),
        "{text}"
    );
    // What is wrong is said.
    place.write("bad.txt", "a,0.5\nz,1\n");
    assert!(
        place
            .fails(&["certify", "m.gw", "--comparator", "bad.txt"])
            .contains("bad.txt:2: the model has no feature 'z'")
    );
    place.write("bad.txt", "a,x\n");
    assert!(
        place
            .fails(&["certify", "m.gw", "--comparator", "bad.txt"])
            .contains("bad.txt:1: the weight 'x' is not a number")
    );
    assert!(place.fails(&["certify", "m.gw", "--comparator", "best"]).contains("--data"));
    place.write("other.csv", table(199));
    let other = ["certify", "m.gw", "--comparator", "u.txt", "--data", "other.csv"];
    assert!(place.fails(&other).contains("not the data of the model"));
    assert!(place.fails(&["train", "-", "--comparator", "best"]).contains("standard input"));
}

#[test]
fn the_best_comparator_of_several_classes() {
    let place = Place::new("certify-classes");
    let row = |k: u32| format!("{} |f a:{} b:{}\n", k * k % 7 % 3, k % 5, k * 3 % 4);
    place.write("data.vw", (0..90).map(row).collect::<String>());
    for walk in ["free", "gd", "eg+-"] {
        let rate = if walk == "free" { "auto" } else { "0.05" };
        train(
            &place,
            &["data.vw", "--task", "multiclass", "--walk", walk, "--rate", rate, "--model", "m.gw"],
        );
        let out =
            place.ok(&["certify", "m.gw", "--json", "--comparator", "best", "--data", "data.vw"]);
        let best: Value = serde_json::from_str(&out).unwrap();
        let number = |key: &str| best[key].as_f64().unwrap();
        assert!(number("comparator_loss") < number("loss"), "{walk}: {best}");
        assert!(number("regret") <= number("bound"), "{walk}: {best}");
        assert_eq!(best["theorem"]["status"], "valid", "{walk}: {best}");
    }
    place.write("u.txt", "1,f^a,0.5\n0,(intercept),1\n");
    place.ok(&["certify", "m.gw", "--comparator", "u.txt"]);
    place.write("u.txt", "9,f^a,0.5\n");
    assert!(
        place.fails(&["certify", "m.gw", "--comparator", "u.txt"]).contains("unknown class '9'")
    );
}

#[test]
fn what_was_declared_is_named_and_held_to() {
    let place = Place::new("declared");
    place.write("data.csv", table(100));
    let flags = ["--walk", "eg", "--no-intercept", "--rate", "certified", "--progress", "none"];
    // What train says, and what certify says of its model.
    let both = |more: &[&str]| {
        let train = ["train", "data.csv", "--model", "m.gw"];
        let said = place.ok(&[&train[..], more, &flags[..]].concat());
        (said, place.ok(&["certify", "m.gw"]))
    };
    let (train, said) = both(&["--x-range", "0,1"]);
    assert!(train.contains("(certified by eg)"), "{train}");
    assert!(
        said.contains("eg: valid")
            && said.contains("you declared features of a row within R of each other: 1"),
        "{said}"
    );
    // A range that the fourth row refutes.
    let (train, said) = both(&["--x-range", "0,0.4"]);
    assert!(
        train.contains("Void: the theorem 'eg' assumes") && train.contains("in row 4"),
        "{train}"
    );
    assert!(said.contains("eg: void since row 4"), "{said}");
    assert!(said.contains("first-order: valid"), "{said}");
    // Without one, an epoch for each range that is met.
    let (train, said) = both(&[]);
    assert!(train.contains("doubling (certified by eg) (last "), "{train}");
    let eg = said.lines().find(|line| line.trim_start().starts_with("eg: valid")).unwrap();
    assert!(eg.contains("; in ") && eg.ends_with(" epochs"), "{said}");
    let refused = place.fails(&[&["train", "data.csv", "--average"], &flags[..]].concat());
    assert!(refused.contains("epochs that begin at the start again"), "{refused}");
    let twin = ["--walk", "reparam-eg", "--rate", "certified"];
    let refused = place.fails(&[&["train", "data.csv"], &twin[..]].concat());
    assert!(refused.contains("--x-range LO,HI"), "{refused}");
    place.ok(&["train", "data.csv", "--walk", "adagrad", "--progress", "none", "--model", "m.gw"]);
    let none = place.ok(&["certify", "m.gw"]);
    assert!(none.contains("theorem: none; the metric is learned"), "{none}");
}

#[test]
fn a_null_vector_is_certified_on_the_data() {
    let place = Place::new("null");
    let row = |k: u32| {
        let (a, b) = (f64::from(k * k % 17) / 40.0, f64::from(k * 5 % 13) / 40.0);
        format!("0 1:{} 2:{} 3:{b}\n", -0.8 * a, 0.6 * a)
    };
    place.write("rows.svm", (1..80).map(row).collect::<String>());
    let flags = [
        "--walk",
        "sphere",
        "--loss",
        "invariant",
        "--rate",
        "0.5",
        "--no-intercept",
        "--task",
        "regression",
    ];
    train(&place, &[&["rows.svm", "--model", "m.gw"], &flags[..]].concat());
    place.write("u.txt", "1,0.6\n2,0.8\n");
    let ask = ["certify", "m.gw", "--json", "--comparator", "u.txt", "--data", "rows.svm"];
    let found: Value = serde_json::from_str(&place.ok(&ask)).unwrap();
    assert_eq!(
        (&found["theorem"]["name"], &found["theorem"]["status"]),
        (&"null-vector".into(), &"valid".into()),
        "{found}"
    );
    assert!(found["regret"].as_f64() <= found["theorem"]["bound"].as_f64());
}

/// What was once printed as valid beside a regret that is larger; each with the input that showed it.
#[test]
fn false_certificates_are_void() {
    let place = Place::new("never");
    let theorem = |out: &Value, name: &str| -> Value {
        let all = out["certificate"]["theorems"].as_array().unwrap();
        all.iter().find(|t| t["name"] == name).unwrap_or_else(|| panic!("{name}: {out}")).clone()
    };
    let common = ["--label", "y", "--loss", "squared", "--no-intercept"];
    // Labels above the range to which predictions are clipped.
    place.write("f1.csv", format!("a,y\n{}", "1,1.3\n".repeat(50)));
    place.write("f1.txt", "a,1.3\n");
    for (walk, name) in [("egu(start=2)", "egu"), ("reparam-egu(start=2)", "reparam-egu")] {
        for more in [&[][..], &["--x-range", "0,1"]] {
            let args = ["f1.csv", "--walk", walk, "--rate", ".3", "--y-range", "0,1"];
            let out = place.json(&[&args[..], &common, &["--comparator", "f1.txt"], more].concat());
            let own = theorem(&out, name);
            assert_eq!(
                (&own["status"], &own["reason"]),
                (&"void".into(), &"labels in [0, Y] (row 1)".into()),
                "{own}"
            );
            assert!((out["certificate"]["regret"].as_f64().unwrap() - 4.5).abs() < 1e-9);
        }
    }
    // A comparator that is no probability vector.
    place.write("f5.csv", format!("a,b,y\n{}", "1,0,2\n0,1,2\n".repeat(500)));
    place.write("f5.txt", "a,2\nb,2\n");
    for (walk, names) in
        [("eg", &["eg", "mirror-steps", "linear-eg"][..]), ("reparam-eg", &["reparam-eg"])]
    {
        let args = ["f5.csv", "--walk", walk, "--rate", ".1", "--comparator", "f5.txt"];
        let out = place.json(&[&args[..], &common].concat());
        for name in names {
            let own = theorem(&out, name);
            assert_eq!(own["status"], "void", "{own}");
            let reason = "a comparator with weights >= 0 that sum to 1 (found 4)";
            assert!(*name == "reparam-eg" || own["reason"] == reason, "{own}");
        }
    }
    // One that is longer than the walk reaches is told so, and not to ask about one comparator.
    let args = ["f5.csv", "--walk", "eg+-", "--rate", ".01", "--comparator", "f5.txt"];
    let out = place.json(&[&args[..], &common].concat());
    let reason = theorem(&out, "mirror-steps")["reason"].clone();
    let says = "a comparator whose magnitudes sum to at most the scale of the walk (found 4)";
    assert_eq!(reason, says, "{out}");
}

#[test]
fn equal_losses_in_first_rounds_leave_weights() {
    let place = Place::new("ties");
    place.write("f2.csv", "a,b,c\n1,1,1\n1,1,1\n0,0,1\n.5,.2,.1\n");
    let out = place.parsed(&["experts", "f2.csv", "--json", "--progress", "none"]);
    assert_eq!(out["certificate"]["status"], "valid", "{out}");
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{out}"));
    let experts = out["experts"].as_array().unwrap();
    let total: f64 = experts.iter().map(|expert| number(&expert["weight"])).sum();
    assert!((total - 1.0).abs() < 1e-12);
    assert!(number(&out["certificate"]["regret"]) <= number(&out["certificate"]["bound"]));
}

/// A model whose sums were changed promises too little: exit code 1, and no two numbers that contradict each other.
#[test]
fn refuted_bounds_are_internal_errors() {
    let place = Place::new("refuted");
    place.write("data.csv", table(100));
    place.write("u.txt", "a,0.6\nb,0.3\nc,0.02\n");
    train(&place, &["data.csv", "--walk", "gd", "--rate", "0.1", "--model", "m.gw"]);
    let path = place.0.join("m.gw");
    let mut model = geowalk_run::model::Model::load(&path).unwrap();
    let sums = model.arrays.iter_mut().find(|(name, _)| name.ends_with("certificate.a")).unwrap();
    // A = Σgz, far below what it was.
    sums.1[0] -= 1e3;
    model.save(&path).unwrap();
    let ask = ["certify", "m.gw", "--comparator", "u.txt", "--data", "data.csv"];
    for flags in [&[][..], &["--json"]] {
        let output = place.run(&[&ask[..], flags].concat());
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(text(&output.stdout), "");
        let said = text(&output.stderr);
        let (all, theorem) = ("geowalk: internal error: after 100 rounds", "'first-order'");
        assert!(said.starts_with(all) && said.contains(theorem), "{said}");
        assert!(said.contains("please report this"), "{said}");
    }
}

/// On separable data longer weights are always better: the best of all loses nothing, and a bound against it
/// means nothing.
#[test]
fn best_of_separable_data_has_a_ridge() {
    let place = Place::new("separable");
    let row = |k: u32| format!("{},{}\n", if k.is_multiple_of(2) { 1 } else { -1 }, k % 2);
    place.write("data.csv", format!("a,y\n{}", (0..100).map(row).collect::<String>()));
    for walk in ["free", "gd"] {
        let rate = if walk == "free" { "auto" } else { ".1" };
        let args = ["data.csv", "--label", "y", "--walk", walk, "--rate", rate];
        let out = place.json(&[&args[..], &["--comparator", "best"]].concat());
        let own = &out["certificate"];
        let number = |key: &str| own[key].as_f64().unwrap();
        // The minimum of 100 ln(1 + e^{-w}) + w²/2, at w(1 + e^w) = 100.
        assert!((number("comparator_loss") - 3.416_995_0).abs() < 1e-4, "{own}");
        assert!(number("regret") <= number("bound") && number("bound") < 1e3, "{own}");
        let words = "the best fixed weights in hindsight, with a ridge (half their squared length in standard deviations of the features)";
        assert_eq!(own["comparators"], words);
        let gap = own["gap"].as_str().unwrap();
        let small = gap.split("more than ").nth(1).unwrap().parse::<f64>().unwrap() < 1e-3;
        assert!(gap.contains("with no larger ridge") && small, "{gap}");
    }
}

/// Theorems on manifolds see the comparator in every round of the run made again; their parts add up.
#[test]
fn curved_walks_have_their_theorems() {
    let place = Place::new("curved");
    place.write("data.csv", table(100));
    place.write("u.csv", "a,0.6\nb,0.8\n");
    let ask = |walk: &str, loss: &str| {
        let flags = ["--no-intercept", "--rate", "0.05", "--loss", loss, "--progress", "none"];
        place.ok(&[&["train", "data.csv", "--walk", walk, "--model", "m.gw"], &flags[..]].concat());
        let certify = ["certify", "m.gw", "--comparator", "u.csv", "--data", "data.csv"];
        let text = place.ok(&certify);
        let json = place.ok(&[&certify[..], &["--json"]].concat());
        (text, serde_json::from_str::<serde_json::Value>(&json).unwrap())
    };
    for walk in ["sphere", "explicit:hyperbolic"] {
        let (text, json) = ask(walk, "squared");
        let all = json["theorems"].as_array().unwrap();
        let theorem = all.iter().find(|one| one["name"] == "riemannian-with-defect");
        assert!(theorem.is_some(), "{walk}: {text}");
        let theorem = theorem.unwrap();
        assert_eq!(theorem["status"], "valid", "{walk}: {text}");
        let (bound, regret) =
            (theorem["bound"].as_f64().unwrap(), json["regret"].as_f64().unwrap());
        assert!(regret <= bound, "{walk}: {text}");
        let part = |name: &str| json["parts"][name].as_f64().unwrap();
        let sum = part("distance") + part("steps") + part("curvature") + part("defect");
        assert!((sum - bound).abs() < 1e-9 * (1.0 + bound.abs()), "{walk}: {sum} {text}");
        assert!(text.contains("of which distance to the start"), "{text}");
    }
    let (text, json) = ask("implicit:hyperbolic", "squared");
    let after =
        json["theorems"].as_array().unwrap().iter().find(|one| one["name"] == "proximal-after");
    assert!(after.is_some(), "{text}");
}
