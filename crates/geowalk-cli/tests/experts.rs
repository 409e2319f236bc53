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
    assert!(text.contains("best sequence") && text.contains("with 3 switches"), "{text}");
    // A rate that is found on the way has the same promise.
    let flags = ["--share", "0.02", "--switches", "3", "--json"];
    let sequence = &json(&run("change.csv", &table, &flags))["best_sequence"];
    let number = |name: &str| sequence["certificate"][name].as_f64().unwrap();
    assert_eq!(sequence["certificate"]["theorem"]["name"], "shared-hedge");
    assert!(number("regret") <= number("bound") && number("bound") < 120.0, "{sequence}");
    // Without a share there is no promise about sequences.
    let without = run("change.csv", &table, &["--rate", "0.5", "--switches", "3"]);
    let text = String::from_utf8_lossy(&without.stdout).into_owned();
    let without = "no theorem compares hedge with it; one needs --share, without a doubling rate";
    assert!(text.contains(without), "{text}");
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
        ["--loss", "squared", "--walk", "ml-poly", "--rate", "auto"],
        ["--loss", "absolute", "--walk", "boa", "--rate", "auto"],
        ["--loss", "absolute", "--walk", "eg", "--share", "0.01"],
        ["--share", "0.01", "--walk", "eg", "--rate", "0.001"],
    ] {
        let flags: Vec<&str> = flags.into_iter().chain(["--json"]).collect();
        filled(&json(&run("forecasts.csv", &table, &flags)));
    }
    let out = run("forecasts.csv", &table, &[]);
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    for part in [
        "best expert, good: regret ",
        "(first-order",
        "uniform mixture: regret",
        "best fixed mixture",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    fails(
        &run("forecasts.csv", &table, &["--walk", "boa", "--share", "0.1"]),
        &["share (with ml-poly or boa) = 0.1"],
    );
}

/// A column of dates is no expert; a column that loses ten thousand times as much as others is named.
#[test]
fn columns_that_are_no_forecasts_are_named() {
    let rows = (0..20).map(|t| format!("{},{},{},{}\n", 737_000 + t, t % 3, t % 4, t % 3));
    let table = format!("ordinal_date,a,b,y\n{}", rows.collect::<String>());
    let summary = json(&run("dates.csv", &table, &["--json"]));
    let notes = summary["notes"].to_string();
    assert!(notes.contains("not experts: ordinal_date (it counts the rows"), "{notes}");
    assert_eq!(summary["experts"].as_array().map(Vec::len), Some(2));
    let other = table.replace("ordinal_date", "far");
    let notes = json(&run("far.csv", &other, &["--json"]))["notes"].to_string();
    assert!(notes.contains("no forecasts: far; leave them out with --ignore"), "{notes}");
    let days = "day,a,b,y\n2024-01-01,1,2,1\n2024-01-02,2,1,2\n2024-01-03,1,1,1\n";
    let notes = json(&run("days.csv", days, &["--json"]))["notes"].to_string();
    assert!(notes.contains("not experts: day (dates)"), "{notes}");
}

#[test]
fn prices_are_not_taken_for_losses() {
    let relatives = "a,b\n1.01,0.99\n0.97,1.03\n1.02,1.01\n";
    fails(
        &run("relatives.csv", relatives, &[]),
        &["look like price relatives", "--loss portfolio", "--loss given"],
    );
    filled(&json(&run("relatives.csv", relatives, &["--loss", "given", "--json"])));
    fails(
        &run("prices.csv", "a,b\n41,70.5\n42,70.1\n", &["--loss", "portfolio"]),
        &["no price relatives", "divide each price by the one before"],
    );
}

/// Weights near the even ones: prices that are noise cost little, also against the uniform mixture.
#[test]
fn the_default_on_prices_stays_near_the_uniform_mixture() {
    let mut random = geowalk::laws::Sampler::new(3);
    let mut table = "a,b,c\n".to_owned();
    for _ in 0..2000 {
        let day: Vec<String> = (0..3).map(|_| (1.0 + 0.03 * random.normal()).to_string()).collect();
        table.push_str(&(day.join(",") + "\n"));
    }
    let summary = json(&run("noise.csv", &table, &["--loss", "portfolio", "--json"]));
    filled(&summary);
    let even = &summary["plain"][0];
    assert_eq!(
        (even["name"].as_str(), summary["final_rate"].as_f64()),
        (Some("uniform mixture"), Some(0.05))
    );
    let number = |name: &str| even["certificate"][name].as_f64().unwrap();
    assert!(number("regret").abs() < 0.05 && number("regret") <= number("bound"), "{even}");
    assert!(number("bound") < 0.1, "{even}");
    let text = run("noise.csv", &table, &["--loss", "portfolio"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    for part in ["wealth", "uniform mixture", "buy and hold", "best expert", "best fixed mixture"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn absent_experts_are_measured_where_they_spoke() {
    let row = |t: u32| if t.is_multiple_of(4) { "0.5,0,0\n" } else { "0.5,,0\n" };
    let table = format!("a,b,y\n{}", (0..40).map(row).collect::<String>());
    let summary = json(&run("absent.csv", &table, &["--json"]));
    let b = &summary["experts"][1];
    assert_eq!(
        (b["name"].as_str(), b["rounds"].as_u64(), b["mean"].as_f64()),
        (Some("b"), Some(10), Some(0.0))
    );
    let notes = summary["notes"].to_string();
    assert!(notes.contains("b is silent in 30 of 40 rounds"), "{notes}");
    // The even mixture of those that speak: 1/4 squared in 10 rounds, 1/2 squared in 30.
    assert!((summary["plain"][0]["loss"].as_f64().unwrap() - (10.0 / 16.0 + 7.5)).abs() < 1e-12);
}

#[test]
fn a_game_goes_on_another_day_with_the_same_bits() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("experts");
    fs::create_dir_all(&place).unwrap();
    let row = |t: u32| {
        let y = f64::from(t % 7);
        let c = if t.is_multiple_of(3) { String::new() } else { (y - 1.0).to_string() };
        format!("{},{},{c},{y}\n", y + 0.2, t % 5)
    };
    let (first, second) =
        ((0..60).map(row).collect::<String>(), (60..100).map(row).collect::<String>());
    let head = "a,b,c,load\n";
    for walk in ["eg", "hedge", "ml-poly", "boa", "prod"] {
        let file =
            |name: &str| place.join(format!("{walk}-{name}.gw")).to_str().unwrap().to_owned();
        let (day, both, whole) = (file("day"), file("both"), file("whole"));
        let flags = ["--label", "load", "--walk", walk, "--json", "--model"];
        let with = |path: &str| {
            flags.into_iter().map(str::to_owned).chain([path.to_owned()]).collect::<Vec<_>>()
        };
        let go = |name: &str, table: String, flags: &[String]| {
            json(&run(name, &table, &flags.iter().map(String::as_str).collect::<Vec<_>>()))
        };
        go("one.csv", format!("{head}{first}"), &with(&day));
        let resumed = ["--resume", &day, "--json", "--model", &both].map(str::to_owned);
        // The columns may come in another order.
        let turned: String = format!("{head}{second}")
            .lines()
            .map(|line| {
                let cells: Vec<&str> = line.split(',').collect();
                [cells[3], cells[1], cells[2], cells[0]].join(",") + "\n"
            })
            .collect();
        let end = go("two.csv", turned, &resumed);
        let at_once = go("all.csv", format!("{head}{first}{second}"), &with(&whole));
        for key in ["examples", "loss", "experts", "best_expert", "plain", "final_rate"] {
            assert_eq!(end[key], at_once[key], "{walk}: {key}");
        }
        assert_eq!(end["this_run"]["rounds"], 40);
        let predict = |model: &str| {
            let data = place.join("two.csv");
            Command::new(env!("CARGO_BIN_EXE_geowalk"))
                .arg("predict")
                .args([model, data.to_str().unwrap()])
                .output()
                .unwrap()
        };
        let (a, b) = (predict(&both), predict(&whole));
        assert_eq!(a.stdout, b.stdout);
        assert_eq!(
            String::from_utf8_lossy(&a.stdout).lines().count(),
            40,
            "{}",
            String::from_utf8_lossy(&a.stderr)
        );
        fails(&run("two.csv", "a,b,load\n1,2,3\n", &["--resume", &day]), &["no column 'c'"]);
    }
    let odds = "oneH,oneA,twoH,twoA,class\n1.5,3,2,2,H\n1.2,6,,,H\n2.5,1.4,2,2,A\n";
    let model = place.join("odds.gw");
    run("odds.csv", odds, &["--odds", "H,A", "--model", model.to_str().unwrap()]);
    let ask = place.join("ask.csv");
    fs::write(&ask, "oneH,oneA,twoH,twoA\n2,2,2,2\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_geowalk"))
        .arg("predict")
        .arg(&model)
        .arg(&ask)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "H,A\n0.5,0.5\n");
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
        ("experts/trump-approval.csv", &[], "you_gov"),
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
        if let Some(wealth) = summary["metrics"]["wealth"].as_f64() {
            let even = summary["metrics"]["uniform_mixture_wealth"].as_f64().unwrap();
            assert!(wealth > 0.9 * even, "{file}: {wealth} of {even}");
        }
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
