//! `geowalk experts`, as a user types it.

#![allow(clippy::unwrap_used, clippy::print_stderr)] // test code

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use geowalk::Real;
use serde_json::Value;

/// Runs `geowalk experts` on a table.
fn run(name: &str, table: &str, flags: &[&str]) -> Output {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("experts");
    fs::create_dir_all(&place).unwrap();
    let file = place.join(name);
    fs::write(&file, table).unwrap();
    play(&file, flags)
}

fn play(file: &Path, flags: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_geowalk"))
        .arg("experts")
        .arg(file)
        .args(flags)
        .output()
        .unwrap()
}

fn json(output: &Output) -> Value {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn fails(output: &Output, parts: &[&str]) {
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(error.lines().count(), 1, "{error}");
    for part in parts {
        assert!(error.contains(part), "{part:?} is not in {error}");
    }
}

/// Every field of a certificate is filled, and it holds.
fn filled(summary: &Value) {
    let certificate = &summary["certificate"];
    assert_eq!(certificate["status"], "valid", "{certificate}");
    let number = |name: &str| certificate[name].as_f64().unwrap();
    assert!(
        (number("loss") - number("comparator_loss") - number("regret")).abs()
            <= 1e-9 * number("loss").abs().max(1.0)
    );
    assert!(
        number("regret") <= number("bound") + 1e-9 * number("loss").abs().max(1.0),
        "{certificate}"
    );
    assert_eq!(certificate["theorem"]["status"], "valid");
    assert!(certificate["theorem"]["bound"].as_f64().unwrap() >= number("bound"));
    assert_eq!(certificate["first_order"]["status"], "valid");
    assert!(certificate["theorem"]["name"].is_string());
    for name in ["examples", "loss", "seconds"] {
        assert!(summary[name].is_number(), "{name}");
    }
}

const LOSSES: &str = "a,b,c\n0.1,0.9,0.5\n0.2,0.8,0.5\n0,1,0.5\n0.3,0.6,0.5\n";

#[test]
fn losses_as_they_are() {
    let output = run("losses.csv", LOSSES, &["--json"]);
    let summary = json(&output);
    filled(&summary);
    assert_eq!(summary["examples"], 4);
    assert_eq!(summary["best_expert"]["name"], "a");
    assert!((summary["certificate"]["comparator_loss"].as_f64().unwrap() - 0.6).abs() < 1e-12);
    assert_eq!(summary["best_combination"], Value::Null);
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        notes.contains("3 experts: a, b, c; losses as given; walk hedge, rate auto"),
        "{notes}"
    );
    assert!(notes.contains("average        since     round"), "{notes}");
    for flags in [
        ["--walk", "hedge", "--rate", "0.5"],
        ["--walk", "reparam-hedge", "--rate", "doubling"],
        ["--walk", "prod", "--rate", "0.4"],
        ["--walk", "eg", "--rate", "tuned(loss=1)"],
        ["--share", "0.01", "--rate", "auto"],
    ] {
        let flags: Vec<&str> = flags.into_iter().chain(["--json"]).collect();
        filled(&json(&run("losses.csv", LOSSES, &flags)));
    }
}

#[test]
fn experts_that_change() {
    let mut table = "a,b\n".to_owned();
    for t in 0..200 {
        table.push_str(if t / 50 % 2 == 0 { "0,1\n" } else { "1,0\n" });
    }
    let flags = ["--rate", "0.5", "--share", "0.02", "--switches", "3", "--json"];
    let summary = json(&run("change.csv", &table, &flags));
    let sequence = &summary["best_sequence"];
    assert_eq!(
        (sequence["loss"].as_f64(), sequence["certificate"]["theorem"]["status"].as_str()),
        (Some(0.0), Some("valid"))
    );
    let number = |name: &str| sequence["certificate"][name].as_f64().unwrap();
    assert!(number("regret") <= number("bound") && number("bound") < 100.0, "{sequence}");
    let text = run("change.csv", &table, &flags[..6]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("best sequence of experts with 3 switches loses 0.00000"), "{text}");
    // Without a share there is no promise about sequences.
    let without = run("change.csv", &table, &["--rate", "0.5", "--switches", "3"]);
    let text = String::from_utf8_lossy(&without.stdout).into_owned();
    assert!(
        text.contains(
            "no theorem compares hedge with it; one needs --share and a --rate that is a number"
        ),
        "{text}"
    );
}

#[test]
fn a_broken_premise_is_named_with_its_row() {
    let table = "a,b\n0.1,0.9\n0.5,1.5\n0.1,0.2\n";
    let summary = json(&run("broken.csv", table, &["--rate", "0.5", "--json"]));
    let theorem = &summary["certificate"]["theorem"];
    assert_eq!(
        (&theorem["status"], &theorem["reason"]),
        (&"void".into(), &"losses in [0, 1] (row 2)".into())
    );
    let summary = json(&run("broken.csv", table, &["--rate", "0.5", "--range", "0,2", "--json"]));
    filled(&summary);
}

#[test]
fn forecasts_of_a_label() {
    let mut table = "good,bad,target\n".to_owned();
    for t in 0..200 {
        let y = f64::from(t % 11);
        table.push_str(&[(y + 0.1).to_string(), "5".to_owned(), y.to_string()].join(","));
        table.push('\n');
    }
    let summary = json(&run("forecasts.csv", &table, &["--json"]));
    filled(&summary);
    assert_eq!(summary["walk"], "eg");
    assert_eq!(summary["certificate"]["comparators"], "the best convex combination");
    let weights = summary["best_combination"]["weights"].as_array().unwrap();
    assert!(weights[0].as_f64().unwrap() > 0.9);
    for flags in [
        ["--loss", "absolute", "--walk", "eg", "--rate", "auto"],
        ["--loss", "squared", "--walk", "hedge", "--rate", "auto"],
        ["--loss", "squared", "--walk", "eg", "--rate", "0.005"],
        ["--range", "0,10.2", "--walk", "reparam-eg", "--rate", "tuned(loss=10)"],
    ] {
        let flags: Vec<&str> = flags.into_iter().chain(["--json"]).collect();
        filled(&json(&run("forecasts.csv", &table, &flags)));
    }
    let out = run("forecasts.csv", &table, &[]);
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(text.contains("best expert    good") && text.contains("ada-hedge: valid"), "{text}");
}

/// A column of dates is an expert that loses ten thousand times as much as others: it is named, with what to do.
#[test]
fn a_column_that_is_no_forecast_is_named() {
    let rows = (0..20).map(|t| format!("{},{},{},{}\n", 737_000 + t, t % 3, t % 4, t % 3));
    let table = format!("date,a,b,y\n{}", rows.collect::<String>());
    let summary = json(&run("dates.csv", &table, &["--json"]));
    let notes = summary["notes"].to_string();
    assert!(notes.contains("no forecasts: date; leave them out with --ignore"), "{notes}");
    let without = json(&run("dates.csv", &table, &["--json", "--ignore", "date"]));
    assert_eq!(without["notes"].as_array().map(Vec::len), Some(0), "{}", without["notes"]);
}

#[test]
fn probabilities_odds_and_portfolios() {
    let table = "p,q,y\n0.9,0.5,1\n0.8,0.5,1\n0.3,,0\n,,1\n";
    let summary = json(&run("log.csv", table, &["--loss", "log", "--json"]));
    filled(&summary);
    assert_eq!(
        (summary["examples"].as_u64(), summary["certificate"]["theorem"]["name"].as_str()),
        (Some(3), Some("mixture"))
    );
    assert!(summary["notes"][0].as_str().unwrap().starts_with("1 rows in which no expert"));
    let table = "oneH,oneA,twoH,twoA,class\n1.5,3,2,2,H\n1.2,6,,,H\n2.5,1.4,2,2,A\n";
    let summary = json(&run("odds.csv", table, &["--odds", "H,A", "--json"]));
    filled(&summary);
    assert_eq!(summary["experts"][1]["name"], "two");
    // 1.5 and 3 are ⅔ and ⅓.
    let one = summary["experts"][0]["loss"].as_f64().unwrap();
    let expected = -Real::ln(2.0_f64 / 3.0 * (6.0 / 7.2) * (2.5 / 3.9));
    assert!((one - expected).abs() < 1e-12, "{one} {expected}");
    let table = "s1,s2\n2,0.5\n0.5,2\n2,0.5\n0.5,2\n";
    let summary =
        json(&run("prices.csv", table, &["--loss", "portfolio", "--rate", "0.05", "--json"]));
    filled(&summary);
    let wealth = summary["metrics"]["best_rebalanced_wealth"].as_f64().unwrap();
    assert!((wealth - 1.25 * 1.25 * 1.25 * 1.25).abs() < 1e-9, "{wealth}");
    let summary =
        json(&run("prices.csv", table, &["--loss", "portfolio", "--walk", "hedge", "--json"]));
    filled(&summary);
    let (own, hold) = (&summary["metrics"]["wealth"], &summary["metrics"]["buy_and_hold_wealth"]);
    assert!((own.as_f64().unwrap() - hold.as_f64().unwrap()).abs() < 1e-12);
}

#[test]
fn what_cannot_be_done_is_said() {
    fails(
        &run("a.csv", "x,class\nred,1\nblue,0\n", &["--progress", "none"]),
        &["a.csv: no column is an expert"],
    );
    fails(
        &run("b.csv", "a,b\n1,2\n", &["--loss", "squared"]),
        &["no label to judge forecasts by", "--label"],
    );
    fails(
        &run("c.csv", LOSSES, &["--walk", "hedg"]),
        &["unknown walk of experts 'hedg'", "'hedge'"],
    );
    fails(&run("d.csv", LOSSES, &["--rate", "fast"]), &["unknown rate 'fast'"]);
    fails(&run("e.csv", LOSSES, &["--share", "1.5", "--progress", "none"]), &["share = 1.5"]);
    fails(
        &run("f.csv", "a,b\n0.5,1\n-1,2\n", &["--loss", "portfolio", "--progress", "none"]),
        &["row 2", "coordinate 0", "(feature 'a')"],
    );
    fails(
        &run("g.csv", "oneH,oneA,twoH,class\n1,2,3,H\n", &["--odds", "H,A", "--progress", "none"]),
        &["'two' has odds for 1 of 2"],
    );
    fails(
        &run("h.csv", "oneH,oneA,class\n1.1,2,D\n", &["--odds", "H,A", "--progress", "none"]),
        &["outcome 'D'"],
    );
    fails(&run("i.csv", "a,b\n", &[]), &["a header and no rows"]);
}

/// Every real table of experts, where there is one.
#[test]
fn real_tables() {
    let shared = std::env::var_os("GEOWALK_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let data = shared.join("data");
    if !data.join("experts").is_dir() {
        eprintln!("SKIPPED: no experts in {}; set GEOWALK_SHARED", data.display());
        return;
    }
    for (file, flags, best) in [
        ("experts/french-load-experts.csv", &[] as &[&str], "nat0.1"),
        ("experts/rain-innsbruck-ensemble.csv.gz", &[], "member2"),
        ("experts/trump-approval.csv", &["--ignore", "ordinal_date"], "you_gov"),
        ("experts/football-odds.csv.gz", &["--odds", "H,D,A"], "PS"),
        ("experts/tennis-odds-atp.csv.gz", &["--odds", "W,L"], "PS"),
        ("portfolios/djia.csv.gz", &["--loss", "portfolio"], "s4"),
        ("portfolios/nyse_o.csv.gz", &["--loss", "portfolio"], "s30"),
        ("portfolios/sp500.csv.gz", &["--loss", "portfolio"], "s18"),
        ("portfolios/tse.csv.gz", &["--loss", "portfolio"], "s51"),
    ] {
        let flags: Vec<&str> =
            flags.iter().copied().chain(["--json", "--progress", "none"]).collect();
        let summary = json(&play(&data.join(file), &flags));
        filled(&summary);
        assert_eq!(summary["best_expert"]["name"], best, "{file}");
    }
}

#[test]
fn a_report_shows_the_game() {
    let rows = (0..700_u32).map(|t| {
        let y = f64::from(t % 7) / 7.0;
        format!("{},{},{},{y}\n", y + 0.01, 1.0 - y, f64::from(t % 3) / 3.0)
    });
    let table = String::from("a,b,c,y\n") + &rows.collect::<String>();
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("experts/report.html");
    let path = page.to_str().unwrap();
    let output =
        run("report.csv", &table, &["--label", "y", "--report", path, "--progress", "none"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("report         "), "{said}");
    let html = fs::read_to_string(&page).unwrap();
    for part in [
        "Regret against the best expert so far, and its bound",
        "Average loss so far",
        "Weights",
        "the best convex combination",
        "The 3 of 3 experts that lost least.",
        "To repeat this run",
        "--label y",
    ] {
        assert!(html.contains(part), "{part} is not in the page");
    }
    assert!(!html.contains("<script src") && !html.contains("<link"), "no network");
    // Prices become wealth.
    let prices = "a,b\n1.1,0.9\n0.95,1.2\n1.02,1.01\n";
    let output = run("prices.csv", prices, &["--loss", "portfolio", "--report", path]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(fs::read_to_string(&page).unwrap().contains("What 1 has become"));
    fails(&run("prices.csv", prices, &["--report", "no/where.html"]), &["no/where.html"]);
}
