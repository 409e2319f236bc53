//! An operator's days: quiet ones, columns in another order, weights, rows that are left out.

#![allow(clippy::unwrap_used, clippy::format_collect)] // test code

mod support;

use support::{Place, text};

const DAY: &str = "a,b,y\n1,2,1\n0,1,0\n2,2,1\n";

#[test]
fn a_quiet_day_leaves_the_model_as_it_was() {
    let place = Place::new("quiet");
    place.write("day.csv", DAY);
    place.write("empty.csv", "");
    place.write("header.csv", "a,b,y\n");
    place.write("bad.csv", "a,b,y\nx\n");
    for kind in ["train", "boost", "tree"] {
        place.ok(&[kind, "day.csv", "--model", &format!("{kind}.gw")]);
    }
    let before = place.read("train.gw");
    for quiet in ["empty.csv", "header.csv"] {
        let (out, _) = place.both(&["train", quiet, "--resume", "train.gw", "--model", "train.gw"]);
        assert!(out.contains("no examples in the input: the model is as it was"), "{out}");
        assert_eq!(place.read("train.gw"), before);
        place.ok(&["train", quiet, "--resume", "train.gw", "--passes", "2", "--report", "r.html"]);
        for model in ["train.gw", "boost.gw", "tree.gw"] {
            assert_eq!(place.ok(&["predict", model, quiet]), "", "{model}");
        }
        assert_eq!(place.ok(&["predict", "train.gw", quiet, "--proba"]), "0,1\n");
        // Nothing can be made of nothing.
        place.refuses(&["train", quiet, "--model", "new.gw"], quiet);
        for files in [["day.csv", quiet], [quiet, "day.csv"]] {
            assert_eq!(place.json(&files)["examples"], 3);
        }
    }
    let mut command = place.command(&["train", "-", "--resume", "train.gw", "--model", "train.gw"]);
    let output = command.stdin(std::process::Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let args = ["bad.csv", "--resume", "train.gw", "--on-error", "skip"];
    assert_eq!(place.json(&args)["skipped"], 1);
}

#[test]
fn columns_in_another_order_are_the_same_columns() {
    let place = Place::new("reordered");
    place.write("day.csv", "a,b,c,y\n1,red,2,1\n0,blue,1,0\n2,red,2,1\n");
    place.write("turned.csv", "c,y,b,a\n5,0,blue,1\n2,1,green,0\n");
    place.write("straight.csv", "a,b,c,y\n1,blue,5,0\n0,green,2,1\n");
    place.write("header.csv", "y,c,b,a\n");
    let model = |args: &[&str]| {
        let all = [&["train", "--model", "m.gw", "--progress", "none", "--force"][..], args];
        place.ok(&all.concat());
        place.read("m.gw")
    };
    place.ok(&["train", "day.csv", "--model", "d.gw"]);
    let resumed = model(&["turned.csv", "--resume", "d.gw"]);
    assert!(model(&["day.csv", "turned.csv"]) == resumed);
    assert!(model(&["header.csv", "day.csv", "turned.csv"]) == resumed);
    assert!(model(&["day.csv", "header.csv", "turned.csv", "header.csv"]) == resumed);
    // Rows of numbers have no order: not a bit differs.
    let numbers = ["--ignore", "b"];
    let straight = model(&[&["day.csv", "straight.csv"][..], &numbers].concat());
    assert!(model(&[&["day.csv", "turned.csv"][..], &numbers].concat()) == straight);
    let straight = place.ok(&["predict", "m.gw", "straight.csv", "day.csv"]);
    assert_eq!(place.ok(&["predict", "m.gw", "turned.csv", "day.csv"]), straight);
    place.write("other.csv", "c,y,b,z\n5,0,blue,1\n");
    place.refuses(&["train", "day.csv", "other.csv"], "header differs");
    place.write("twice.csv", "c,y,b,b\n5,0,blue,1\n");
    place.refuses(&["train", "day.csv", "twice.csv"], "header differs");
}

#[test]
fn semicolons_separate_fields() {
    let place = Place::new("semicolons");
    place.write("comma.csv", DAY);
    place.write("semi.csv", DAY.replace(',', ";"));
    place.ok(&["train", "comma.csv", "--model", "c.gw"]);
    let (_, err) = place.both(&["train", "semi.csv", "--model", "s.gw"]);
    assert!(err.contains("separator: a semicolon"), "{err}");
    assert!(place.read("c.gw") == place.read("s.gw"));
    place.ok(&["train", "semi.csv", "--resume", "c.gw"]);
    assert_eq!(place.ok(&["predict", "c.gw", "semi.csv"]).lines().count(), 3);
    place.write("decimal.csv", "a;b;y\n1,5;2;1\n0,5;1;0\n");
    let (_, err) = place.both(&["train", "decimal.csv"]);
    assert!(err.contains("--decimal"), "{err}");
    let (_, err) = place.both(&["train", "decimal.csv", "--decimal", ","]);
    assert!(!err.contains("names:"), "{err}");
}

#[test]
fn notes_tell_rounds_from_examples_and_show_no_equal_numbers() {
    let place = Place::new("notes");
    place.write("w.csv", "a,w,y\n1,1,1\n0,2,0\n2,1,1\n");
    let (out, _) = place.both(&["train", "w.csv", "--weight", "w", "--model", "m.gw"]);
    assert!(out.contains("examples       3"), "{out}");
    let says = "3 examples made 4 rounds: one of weight w > 1 is learned in several";
    assert!(out.contains(says), "{out}");
    assert!(place.ok(&["show", "m.gw"]).contains(says));
    // A loss that is larger only in digits that are not shown is not worth a note.
    let rows: String = (0..400).map(|i| format!("{}\n", i % 2)).collect();
    place.write("coin.csv", format!("y\n{rows}"));
    let (out, _) = place.both(&["train", "coin.csv", "--rate", "1e-6", "--walk", "gd"]);
    assert!(!out.contains("exceeds"), "{out}");
}

#[test]
fn certify_and_verify_skip_what_the_run_skipped() {
    let place = Place::new("skipped");
    place.write("in.csv", "a,y\n1,1\noops\n0,0\n2,1\n");
    place.ok(&["train", "in.csv", "--on-error", "skip", "--model", "m.gw"]);
    place.ok(&["certify", "m.gw", "--comparator", "best", "--data", "in.csv"]);
    place.ok(&["verify", "m.gw", "in.csv"]);
    place.write("good.csv", "a,y\n1,1\n0,0\n2,1\n");
    place.ok(&["train", "good.csv", "--model", "g.gw"]);
    place.refuses(&["certify", "g.gw", "--comparator", "best", "--data", "in.csv"], "in.csv:3");
}

#[test]
fn a_resumed_day_has_its_own_numbers() {
    let place = Place::new("own-numbers");
    // The second day says the opposite of the first.
    let day = |sign: i32| {
        let row = |i: i32| {
            format!("{},{}\n", if i % 2 == 0 { 1 } else { -1 }, (i % 2 == 0) == (sign > 0))
        };
        format!("x,y\n{}", (0..200).map(row).collect::<String>())
    };
    place.write("one.csv", day(1));
    place.write("two.csv", day(-1));
    assert!(place.json(&["one.csv", "--model", "m.gw"])["this_run"].is_null());
    let both = place.json(&["one.csv", "two.csv"]);
    let second = place.json(&["two.csv", "--resume", "m.gw", "--window", "50", "--model", "w.gw"]);
    for key in ["examples", "loss", "metrics", "window"] {
        assert_eq!(second[key], both[key], "{key}");
    }
    let run = &second["this_run"];
    assert_eq!((&run["examples"], &run["window"]["examples"]), (&200.into(), &50.into()));
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let (total, first) = (number(&second["loss"]), number(&place.json(&["one.csv"])["loss"]));
    assert!((number(&run["loss"]) - (2.0 * total - first)).abs() < 1e-12);
    assert!(number(&run["metrics"]["accuracy"]) < number(&second["metrics"]["accuracy"]));
    place.ok(&["verify", "w.gw", "one.csv", "two.csv"]);
    let (out, _) = place.both(&["train", "two.csv", "--resume", "m.gw", "--window", "50"]);
    assert!(
        out.contains("examples       400") && out.contains("this run       200 examples"),
        "{out}"
    );
    assert!(out.contains("  last 50 "), "{out}");

    let args = ["two.csv", "--resume", "m.gw", "--holdout", "4", "--model", "h.gw"];
    let held = place.json(&args);
    assert_eq!((&held["examples"], &held["holdout"]["examples"]), (&350.into(), &50.into()));
    assert_eq!(held["this_run"]["holdout"], {
        let mut all = held["holdout"].clone();
        all.as_object_mut().unwrap().remove("passes");
        all
    });
    let third = place.json(&["one.csv", "--resume", "h.gw"]);
    assert_eq!(third["holdout"]["examples"], 100, "it goes on");
    assert_eq!(third["this_run"]["holdout"]["examples"], 50);
    place.refuses(&["verify", "h.gw", "one.csv", "two.csv"], "continued with another holdout");
    let best = ["certify", "h.gw", "--comparator", "best", "--data", "one.csv", "two.csv"];
    place.refuses(&best, "continued with another holdout");
    place.refuses(&["train", "two.csv", "--resume", "m.gw", "--holdout", "x"], "holdout");
}

#[test]
fn names_that_turn_into_text_are_noticed() {
    let place = Place::new("turned");
    let row = |i: usize| {
        let (good, word) = (i.is_multiple_of(2), ["the", "old", "new", "big"][i % 4]);
        let text = match (i, good) {
            (0..1200, true) => "buy".to_owned(),
            (0..1200, false) => "ok".to_owned(),
            _ => format!("{word} thing number n{i} was {}", if good { "fine" } else { "poor" }),
        };
        format!("{text},{}\n", u8::from(good))
    };
    let table = |n: usize| format!("note,y\n{}", (0..n).map(row).collect::<String>());
    place.write("turns.csv", table(2400));
    place.write("names.csv", table(1200));
    let says = "column 'note' began with names and now holds sentences";
    let (out, _) = place.both(&["train", "turns.csv"]);
    assert!(out.contains(says) && out.contains("--text 'note'"), "{out}");
    assert!(!place.ok(&["train", "names.csv", "--model", "n.gw"]).contains(says));
    for flag in ["--text", "--nominal"] {
        assert!(!place.ok(&["train", "turns.csv", flag, "note"]).contains(says), "{flag}");
    }
    place.write("later.csv", format!("note,y\n{}", (2000..2400).map(row).collect::<String>()));
    assert!(place.ok(&["train", "later.csv", "--resume", "n.gw"]).contains(says));
    // Names of several words are names as long as they come again.
    let rows: String = (0..3000)
        .map(|i| format!("{},{}\n", ["ok", "some college no degree"][usize::from(i > 1500)], i % 2))
        .collect();
    place.write("census.csv", format!("note,y\n{rows}"));
    assert!(!place.ok(&["train", "census.csv"]).contains(says));
}

#[test]
fn a_period_is_printed_only_if_it_stands_out() {
    let place = Place::new("periods");
    let wave = [0.0, 0.5, 0.87, 1.0, 0.87, 0.5, 0.0, -0.5, -0.87, -1.0, -0.87, -0.5];
    let series = |size: f64| {
        let mut random = geowalk::laws::Sampler::new(7);
        let row = |i: usize| format!("{}\n", size * wave[i % 12] + random.normal());
        format!("y\n{}", (0..1200).map(row).collect::<String>())
    };
    place.write("wave.csv", series(3.0));
    place.write("noise.csv", series(0.0));
    let args = ["--order", "4", "--center"];
    let out = place.ok(&[&["track", "wave.csv"][..], &args].concat());
    assert!(out.contains("period         12.00 ("), "{out}");
    assert!(!out.contains("no period stands out"), "{out}");
    let out = place.ok(&[&["track", "noise.csv"][..], &args].concat());
    assert!(out.contains("period         no period stands out"), "{out}");
    let json = place.parsed(&[&["track", "wave.csv", "--json"][..], &args].concat());
    assert_eq!(json["recurrence"]["periods"][0]["stands_out"], true);
}

#[test]
fn rows_are_read_again_as_they_were() {
    let place = Place::new("read-again");
    let rows = |k: u32| format!("{},5;{};{}\n", k % 7, k % 3, if k % 7 > 3 { "yes" } else { "no" });
    let file = |rows: &mut dyn Iterator<Item = String>| {
        format!("a note\nx;z;y\n{}", rows.collect::<String>())
    };
    place.write("one.csv", file(&mut (0..60).map(rows)));
    place.write("two.csv", file(&mut (60..90).map(rows)));
    place.write("both.csv", file(&mut (0..90).map(rows)));
    let how = ["--decimal", ",", "--separator", ";", "--skip-lines", "1", "--ignore", "z"];
    let train = ["train", "one.csv", "--label", "y", "--model", "m.gw"];
    place.ok(&[&train[..], &how].concat());
    // Without the flags of the first run.
    assert!(place.ok(&["verify", "m.gw", "one.csv"]).starts_with("verified"));
    place.ok(&["train", "two.csv", "--resume", "m.gw", "--model", "n.gw"]);
    let whole = ["train", "both.csv", "--label", "y", "--model", "o.gw"];
    place.ok(&[&whole[..], &how].concat());
    assert!(place.ok(&["verify", "n.gw", "one.csv", "two.csv"]).starts_with("verified"));
    let shown = |name| place.ok(&["show", name, "--json"]);
    let [n, o] = ["n.gw", "o.gw"]
        .map(|name| serde_json::from_str::<serde_json::Value>(&shown(name)).unwrap());
    assert_eq!(n["weights"], o["weights"]);
    assert!(n["weights"][0]["top"].as_array().unwrap().iter().all(|one| one["feature"] != "z"));
    // A flag that is given counts.
    place.fails(&["verify", "m.gw", "one.csv", "--separator", "/"]);
}

/// A table as a German bank exports it.
fn export() -> String {
    let row = |k: usize| {
        let region = ["Nord", "Süd", "west", "West"][k % 4];
        let label = ["gut", "schlecht", "gut"][k % 3];
        format!(
            "{};0{};{}.{:03},50;{:02}.03.2024;{}%;{region};{label}\n",
            k + 1000,
            1000 + k % 7,
            k % 9 + 1,
            k % 1000,
            k % 28 + 1,
            k % 30
        )
    };
    let rows: String = (0..60).map(row).collect();
    format!("Kunde;PLZ;Betrag;Eröffnet;Rabatt;Region;Risiko\n{rows}")
}

#[test]
fn every_command_says_how_it_read_the_table() {
    let place = Place::new("reading");
    place.write("a.csv", export());
    let warnings = [
        "column 'Kunde' has a different value in every row, like an id",
        "column 'PLZ' has values with leading zeros, which numbers lose ('01000'); --nominal 'PLZ'",
        "column 'Betrag' holds numbers with commas, read as names ('1.000,50'); use --decimal , --thousands .",
        "column 'Rabatt' holds numbers with percent signs",
        "column 'Region' has 'west' and 'West', which count as different",
    ];
    let label = ["--label", "Risiko", "--progress", "none"];
    for command in ["train", "boost", "tree"] {
        let out = place.ok(&[&[command, "a.csv", "--report", "r.html"], &label[..]].concat());
        assert!(out.contains("data           60 rows, columns: 4 of names, 5 of numbers"), "{out}");
        let dry = place.ok(&[&[command, "a.csv", "--dry-run"], &label[..]].concat());
        assert!(dry.contains("\nEröffnet.year ") && dry.contains("column "), "{dry}");
        let page = String::from_utf8(place.read("r.html")).unwrap();
        assert!(page.contains("How the table was read"));
        for warning in warnings {
            assert!(out.contains(warning) && dry.contains(warning), "{command}: {warning}\n{out}");
            let escaped = warning.replace('\'', "&#39;");
            assert!(page.contains(&escaped), "{command}: {warning}");
        }
        // The advice works.
        let amounts = ["--decimal", ",", "--thousands", ".", "--dry-run"];
        let dry = place.ok(&[&[command, "a.csv"], &amounts[..], &label].concat());
        assert!(dry.contains("Betrag            numbers  1000.5 to 9053.5"), "{dry}");
        // The model knows how numbers are written.
        let ignore = ["--ignore", "Kunde", "--model", "m", "--force"];
        place.ok(&[&[command, "a.csv"], &amounts[..4], &ignore, &label].concat());
        let (out, notes) = place.both(&["predict", "m", "a.csv"]);
        assert_eq!(out.lines().count(), 60);
        assert!(notes.contains("as in training, --decimal , --thousands .;"), "{notes}");
        assert!(place.ok(&["evaluate", "m", "a.csv"]).contains("of 60 rows"));
        let row = "Kunde;PLZ;Betrag;Eröffnet;Rabatt;Region\n1;01000;1500.5;01.03.2024;3%;Nord\n";
        place.write("b.csv", row);
        place.refuses(&["predict", "m", "b.csv"], "1500.5");
        let (points, notes) = place.both(&["predict", "m", "b.csv", "--decimal", "."]);
        assert!(points.lines().count() == 1 && !notes.contains("as in training"), "{notes}");
    }
    let json = place.json(&[&["a.csv"], &label[..2]].concat());
    assert_eq!(json["table"]["columns"][2]["column"], "Betrag");
    assert_eq!(json["table"]["classes"][0], serde_json::json!({"class": "gut", "rows": 40}));
    place.ok(&[&["train", "a.csv", "--model", "m"], &label[..]].concat());
    let shown = place.ok(&["show", "m"]);
    assert!(shown.contains("how the table was read") && shown.contains("Region"), "{shown}");
    assert!(shown.contains("names    4: Nord, Süd, west, West"), "{shown}");
}

#[test]
fn long_files_and_streams_are_read_once() {
    let place = Place::new("reading-once");
    let rows: String = (0..12_000).map(|k| format!("{},{}\n", k % 100, k % 2)).collect();
    place.write("long.csv", format!("x,class\n{rows}"));
    let out = place.ok(&["train", "long.csv", "--progress", "none"]);
    assert!(out.contains("data           first 10000 rows, columns: 1 of numbers"), "{out}");
    let rows: String = (0..30).map(|k| format!("{k},{k}.5\n")).collect();
    place.write("n.csv", format!("x,y\n{rows}"));
    let out = place.ok(&["train", "n.csv", "--progress", "none"]);
    assert!(out.contains("label 'y': 0.5 to 29.5"), "{out}");
    for weak in ["rules", "trees"] {
        let dry = place.ok(&["boost", "n.csv", "--weak", weak, "--dry-run"]);
        assert!(dry.contains("label 'y': 0.5 to 29.5") && !dry.contains("rounds"), "{dry}");
    }
    place.write("a.svm", "1 1:2\n-1 2:3\n");
    let out = place.ok(&["train", "a.svm", "--progress", "none"]);
    assert!(!out.contains("data  "), "{out}");
    place.refuses(&["train", "a.svm", "--dry-run"], "--dry-run needs files with columns");
    place.refuses(&["train", "none.csv", "--dry-run"], "none.csv");
    // What cannot be read is said by the run, and goes to the quarantine once.
    place.write("bad.csv", "x,class\n1,0\n2\n3,1\n");
    place.refuses(&["train", "bad.csv"], "bad.csv:3");
    place.ok(&["train", "bad.csv", "--on-error", "quarantine=q"]);
    assert_eq!(text(&place.read("q")).lines().count(), 1);
}

#[test]
fn a_title_above_the_header_is_passed_over() {
    let place = Place::new("title");
    for title in ["Customers, third quarter\n", "Customers\n\n", "Customers;;\n"] {
        place.write("a.csv", format!("{title}{}", DAY.replace(',', ";")));
        let lines = title.lines().count().to_string();
        if !title.contains(", ") {
            place.refuses(&["train", "a.csv"], "pass over it with --skip-lines 1");
        }
        let out = place.ok(&["train", "a.csv", "--skip-lines", &lines]);
        assert!(out.contains("data           3 rows, columns: 2 of numbers"), "{out}");
    }
}
