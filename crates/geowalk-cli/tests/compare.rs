//! `compare`, the intervals and the guarantee block, as a user meets them.

#![allow(clippy::unwrap_used)] // a test may stop

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn cancer() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("data/breast-cancer.csv").display().to_string()
}

fn place(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn run(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_geowalk")).current_dir(folder).args(args).output().unwrap()
}

fn ok(folder: &Path, args: &[&str]) -> String {
    let ran = run(folder, args);
    assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

fn fails(folder: &Path, args: &[&str]) -> String {
    let ran = run(folder, args);
    assert!(!ran.status.success(), "{args:?}");
    String::from_utf8(ran.stderr).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn two_walks_are_compared_row_by_row() {
    let (folder, data) = (place("compare-walks"), cancer());
    let args = ["compare", "free", "gd rate=1e-12", "--data", &data];
    let text = ok(&folder, &args);
    assert!(text.contains("rows           569"), "{text}");
    assert!(text.contains("95 % sure, at every row at once"), "{text}");
    let found = json(&ok(&folder, &[&args[..], &["--json"]].concat()));
    let (error, log_loss) = (&found["differences"][0], &found["differences"][1]);
    assert_eq!((&error["name"], &log_loss["name"]), (&"error".into(), &"log_loss".into()));
    let trained = json(&ok(&folder, &["train", &data, "--progress", "none", "--json"]));
    let interval = &trained["intervals"][0];
    assert_eq!(interval["name"], "error");
    let off = error["a"].as_f64().unwrap() - interval["average"].as_f64().unwrap();
    assert!(off.abs() < 1e-12, "{error} {interval}");
    assert_eq!(error["better"], "a");
    // Two walks read the data once: standard input is as good as a file.
    let piped = Command::new(env!("CARGO_BIN_EXE_geowalk"))
        .args(["compare", "free", "gd rate=1e-12", "--data", "-", "--json"])
        .stdin(std::fs::File::open(&data).unwrap())
        .output()
        .unwrap();
    assert_eq!(
        json(&String::from_utf8(piped.stdout).unwrap())["differences"],
        found["differences"]
    );
    assert!(error["high"].as_f64().unwrap() < 0.0, "{error}");
    let same = json(&ok(&folder, &["compare", "free", "free", "--data", &data, "--json"]));
    assert_eq!(same["differences"][0]["better"], Value::Null);
    assert_eq!(same["differences"][0]["difference"], 0.0);
}

#[test]
fn models_of_all_kinds_are_compared_as_they_are() {
    let (folder, data) = (place("compare-models"), cancer());
    let quiet = ["--progress", "none", "--model"];
    ok(&folder, &[&["train", &data][..], &quiet, &["walk.gw"]].concat());
    ok(&folder, &[&["tree", &data, "--leaves", "4"][..], &quiet, &["tree.gw"]].concat());
    let text = ok(&folder, &["compare", "walk.gw", "tree.gw", "--data", &data]);
    assert!(text.contains("walk.gw: ") && text.contains("tree.gw: "), "{text}");
    let mixed = json(&ok(&folder, &["compare", "tree.gw", "gd", "--data", &data, "--json"]));
    assert_eq!(mixed["rows"], 569);
    assert_eq!(mixed["a"], "tree.gw");
}

#[test]
fn what_cannot_be_compared_is_refused_with_a_remedy() {
    let folder = place("compare-bad");
    std::fs::write(folder.join("n.csv"), "x,y\n1,0.5\n2,1.5\n3,2.5\n").unwrap();
    let numbers = ["compare", "gd", "adagrad", "--data", "n.csv", "--task", "regression"];
    assert!(fails(&folder, &numbers).contains("--y-range"));
    let narrow = fails(&folder, &[&numbers[..], &["--y-range", "0,1"]].concat());
    assert!(narrow.contains("the label 1.5 is outside 0 to 1"), "{narrow}");
    let found = json(&ok(&folder, &[&numbers[..], &["--y-range", "0,3", "--json"]].concat()));
    assert_eq!(found["differences"][0]["name"], "squared_error");
    ok(
        &folder,
        &["train", "n.csv", "--task", "regression", "--progress", "none", "--model", "m.gw"],
    );
    assert!(fails(&folder, &["compare", "m.gw", "free", "--data", "-"]).contains("only once"));
    assert!(fails(&folder, &["compare", "gd", "fre", "--data", "n.csv"]).contains("unknown walk"));
    std::fs::write(folder.join("w.csv"), "x,w,y\n1,2,a\n2,1,b\n3,1,a\n").unwrap();
    let weighted = ["compare", "gd", "free", "--data", "w.csv", "--weight", "w"];
    assert!(fails(&folder, &weighted).contains("has the weight 2"));
}

#[test]
fn the_guarantee_has_at_most_four_lines_and_intervals_survive_a_resume() {
    let (folder, data) = (place("guarantee"), cancer());
    let out = ok(&folder, &["train", &data, "--progress", "none", "--model", "m.gw"]);
    let block: Vec<&str> = out.lines().skip_while(|line| !line.starts_with("guarantee")).collect();
    let count = 1 + block[1..].iter().take_while(|line| line.starts_with(' ')).count();
    assert!((1..=4).contains(&count), "{out}");
    assert!(block[0].contains("% of rows were predicted wrongly; expected: "), "{out}");
    assert!(out.contains("Nothing useful against all weights with each weight no larger"), "{out}");
    assert!(ok(&folder, &["show", "m.gw"]).contains("predicted wrongly"));

    let text = std::fs::read_to_string(&data).unwrap();
    let (head, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    for (name, rows) in [("a.csv", &rows[..300]), ("b.csv", &rows[300..])] {
        std::fs::write(folder.join(name), format!("{head}\n{}\n", rows.join("\n"))).unwrap();
    }
    let quiet = ["--progress", "none", "--model"];
    ok(&folder, &[&["train", "a.csv"][..], &quiet, &["half.gw"]].concat());
    let resumed = [&["train", "b.csv", "--resume", "half.gw", "--json"][..], &quiet, &["two.gw"]];
    let two = json(&ok(&folder, &resumed.concat()));
    let one = json(&ok(&folder, &["train", &data, "--progress", "none", "--json"]));
    assert_eq!(two["intervals"], one["intervals"]);
    // Rows of a second pass were learned from before.
    let again = ["train", &data, "--progress", "none", "--json", "--passes", "3"];
    assert_eq!(json(&ok(&folder, &again))["intervals"], one["intervals"]);
}

#[test]
fn the_second_order_certificate_is_printed_where_it_is_smaller() {
    let (folder, data) = (place("second-order"), cancer());
    let train = ["train", &data, "--progress", "none", "--json", "--certificate"];
    let bound = |name: &str| -> f64 {
        let found = json(&ok(&folder, &[&train[..], &[name]].concat()));
        found["certificate"]["bound"].as_f64().unwrap()
    };
    assert!(bound("full") < bound("on"));
    let found = json(&ok(&folder, &[&train[..], &["full", "--model", "m.gw"]].concat()));
    assert_eq!(found["certificate"]["name"], "second-order");
    assert!(ok(&folder, &["show", "m.gw"]).contains("between 0.25 % and 99.75 %"));
    let hinge = fails(&folder, &[&train[..], &["full", "--loss", "hinge"]].concat());
    assert!(hinge.contains("second-order"), "{hinge}");
}

#[test]
fn models_of_two_days_become_one() {
    let folder = place("merge");
    let day = |name: &str, header: &str, rows: &[[&str; 3]]| {
        let lines: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
        std::fs::write(folder.join(name), format!("{header}\n{}\n", lines.join("\n"))).unwrap();
    };
    // The same columns in another order, and a color that the first day did not have.
    let monday =
        [["1", "red", "yes"], ["0", "blue", "no"], ["2", "red", "yes"], ["0", "red", "no"]];
    let tuesday = [["red", "yes", "2"], ["green", "no", "1"], ["blue", "no", "0"]];
    day("monday.csv", "size,color,class", &monday.repeat(30));
    day("tuesday.csv", "color,class,size", &tuesday.repeat(30));
    for name in ["monday", "tuesday"] {
        let (data, model) = (format!("{name}.csv"), format!("{name}.gw"));
        ok(&folder, &["train", &data, "--walk", "free", "--model", &model, "--progress", "none"]);
    }
    let merge = ["merge", "monday.gw", "tuesday.gw", "--output", "both.gw"];
    let text = ok(&folder, &merge);
    assert!(text.contains("merged         2 models"), "{text}");
    assert!(text.contains("examples       210"), "{text}");
    let shown = ok(&folder, &["show", "both.gw"]);
    assert!(shown.contains("from 2 models") && shown.contains("color=green"), "{shown}");
    let measured = json(&ok(&folder, &["evaluate", "both.gw", "tuesday.csv", "--json"]));
    assert_eq!(measured["rows"], 90, "{measured}");
    // It goes on, and its bound is that of all rows.
    let resume = ["train", "monday.csv", "--resume", "both.gw", "--model", "more.gw", "--json"];
    assert_eq!(json(&ok(&folder, &resume))["examples"], 330);
    let certified = ok(&folder, &["certify", "both.gw"]);
    assert!(certified.contains("after 210 rounds"), "{certified}");
    assert!(fails(&folder, &["verify", "both.gw", "monday.csv"]).contains("merged from 2 models"));
    // What would destroy or mislead is refused.
    let same = ["merge", "monday.gw", "tuesday.gw", "--output", "monday.gw"];
    assert!(fails(&folder, &same).contains("are the same file"));
    let data = ["merge", "monday.gw", "tuesday.gw", "--output", "monday.csv"];
    assert!(fails(&folder, &data).contains("not a geowalk model"));
    let weights = [&merge[..], &["--weights", "1"]].concat();
    assert!(fails(&folder, &weights).contains("--weights has 1 numbers for 2 models"));
    ok(&folder, &["tree", "monday.csv", "--model", "tree.gw"]);
    let tree = ["merge", "monday.gw", "tree.gw", "--output", "none.gw"];
    let error = fails(&folder, &tree);
    assert!(error.contains("tree.gw: rules and trees have no mean"), "{error}");
    assert!(!folder.join("none.gw").exists());
}
