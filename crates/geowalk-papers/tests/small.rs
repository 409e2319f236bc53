//! Every experiment, small: everything is as expected; names; what is kept; the same seed gives the same numbers, another seed others.

#![allow(clippy::panic)] // a test

use std::collections::BTreeSet;

use geowalk_papers::repro::Settings;
use geowalk_papers::{EXPERIMENTS, Run, Size, find};

#[test]
fn everything_is_as_expected_in_small() {
    for experiment in EXPERIMENTS {
        let mut last = 0.0;
        let mut watch = |part: f64| {
            assert!(
                (last..=1.0).contains(&part),
                "{}: progress from {last} to {part}",
                experiment.name
            );
            last = part;
        };
        let outcome = (experiment.run)(&mut Run::watched(Size::Small, 0, &mut watch))
            .unwrap_or_else(|error| panic!("{}: {error}", experiment.name));
        assert!(!outcome.findings.is_empty(), "{} finds nothing", experiment.name);
        for f in &outcome.findings {
            assert!(
                !f.fails(),
                "{}: {}: expected {}, measured {}",
                experiment.name,
                f.what,
                f.expected,
                f.measured
            );
        }
        let files: BTreeSet<&String> = outcome.tables.iter().map(|t| &t.0).collect();
        assert_eq!(
            files.len(),
            outcome.tables.len(),
            "{}: two tables in one file",
            experiment.name
        );
    }
}

#[test]
fn the_seed_decides_the_numbers() {
    let experiment = find("null-starts").expect("an experiment");
    let table = |seed: u64| {
        let outcome = (experiment.run)(&mut Run::new(Size::Small, seed)).expect("a run");
        outcome.tables[0].1.csv()
    };
    assert_eq!(table(3), table(3));
    assert_ne!(table(3), table(4));
}

#[test]
fn names_are_distinct_and_made_for_typing() {
    let mut seen = BTreeSet::new();
    for experiment in EXPERIMENTS {
        assert!(seen.insert(experiment.name), "{} occurs twice", experiment.name);
        assert!(
            experiment
                .name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
            "{}",
            experiment.name
        );
        assert!(!experiment.paper.is_empty() && experiment.what.len() > 40, "{}", experiment.name);
    }
    assert!(find("all").is_none(), "all means all");
}

#[test]
fn what_is_finished_is_kept_and_the_page_is_the_same() {
    let out = std::env::temp_dir().join(format!("geowalk-papers-{}", std::process::id()));
    let mut settings = Settings {
        out: out.clone(),
        size: Size::Small,
        seed: 0,
        version: "1".to_owned(),
        again: false,
        domains: Vec::new(),
        flags: "--small".to_owned(),
    };
    let experiment = find("theorem-8").expect("an experiment");
    let (first, kept) = settings.carry_out(experiment, &mut |_| ()).expect("a run");
    assert!(
        !kept
            && out.join("theorem-8/step.csv").is_file()
            && out.join("theorem-8/step.svg").is_file()
    );
    let page = settings.write_page().expect("a page");
    let text = std::fs::read_to_string(&page).expect("its text");
    assert!(
        text.contains("theorem-8") && !text.contains("<h2 id=\"s3\">"),
        "only what is finished is on the page"
    );
    let (second, kept) = settings.carry_out(experiment, &mut |_| ()).expect("no run");
    assert!(kept && second.findings == first.findings);
    settings.write_page().expect("a page");
    assert_eq!(std::fs::read_to_string(&page).expect("its text"), text);
    // Another version, another seed, or an order to do it again: not kept.
    settings.seed = 1;
    assert!(!settings.carry_out(experiment, &mut |_| ()).expect("a run").1);
    settings.version = "2".to_owned();
    assert!(!settings.carry_out(experiment, &mut |_| ()).expect("a run").1);
    assert!(settings.carry_out(experiment, &mut |_| ()).expect("no run").1);
    settings.again = true;
    assert!(!settings.carry_out(experiment, &mut |_| ()).expect("a run").1);
    std::fs::remove_dir_all(out).expect("cleaning up");
}
