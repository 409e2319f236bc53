//! Trees through files: every domain at hand, and models that come back as they were.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // test code

use std::fmt::Write as _;
use std::path::PathBuf;

use geowalk::boost::tree::{Criterion, Growth};
use geowalk_data::{Input, Options};
use geowalk_run::learned::Form;
use geowalk_run::model::{LearnerSettings, Model};
use geowalk_run::predict::{Wanted, predict};
use geowalk_run::sql::Target;
use geowalk_run::table::{self, Reader};
use geowalk_run::tree::{self, Plan, Prune, Shown};

fn plan(loss: &str) -> Plan {
    Plan { growth: Growth::new(Criterion::parse(loss).unwrap()), ..Plan::default() }
}

fn place(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("trees-{name}"))
}

/// Files of classification domains: `$GEOWALK_SHARED/data/uci` or `../shared/data/uci` beside the workspace.
fn domains() -> Vec<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let shared = std::env::var_os("GEOWALK_SHARED").unwrap_or_else(|| beside.into());
    let folder = PathBuf::from(shared).join("data/uci");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: no data in {} (set GEOWALK_SHARED)", folder.display());
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_domain_gives_a_tree_of_finite_numbers() {
    const LOSSES: [&str; 6] = ["gini", "entropy", "matsushita", "nu", "zeta", "mu"];
    // Larger files say nothing new and take minutes without optimisation.
    let small = |file: &PathBuf| std::fs::metadata(file).unwrap().len() < 40_000;
    let model = place("domain");
    let mut seen = 0;
    for (k, file) in domains().into_iter().filter(small).enumerate() {
        let options = || Options::new([file.to_str().unwrap()]);
        let bins = (k % 2 == 0).then_some(64);
        let plan = Plan { folds: Some(3), bins, prune: Prune::Off, ..plan(LOSSES[k % 6]) };
        let summary = tree::fit(&plan, options(), Some(&model), &mut |_| {});
        let grown = summary.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let summary = &grown.summary;
        let sums = grown.probabilities.chunks_exact(grown.tree.classes());
        assert!(sums.map(|own| own.iter().sum::<f64>()).all(|sum| (sum - 1.0).abs() < 1e-12));
        let numbers = summary.metrics.iter().map(|(_, value)| *value);
        let mut numbers = numbers.chain(summary.importance.iter().map(|(_, part)| *part));
        assert!(summary.loss.is_finite() && numbers.all(f64::is_finite), "{}", file.display());
        // What the model says of the rows it was grown on is what was measured.
        let loaded = Model::load(&model).unwrap();
        let mut out = Vec::new();
        let rows = predict(&loaded, options(), &Wanted::default(), &mut out).unwrap().rows;
        let examples = table::examples(options(), None).unwrap();
        let said = String::from_utf8(out).unwrap();
        let right = said.lines().zip(examples.classes.codes());
        let right = right.filter(|(said, code)| examples.classes.names()[**code as usize] == *said);
        let accuracy = right.count() as f64 / examples.table.rows() as f64;
        assert_eq!(
            (rows, summary.metrics[0]),
            (rows, ("accuracy", accuracy)),
            "{}",
            file.display()
        );
        let (proba, mut out) = (Wanted { proba: true, ..Wanted::default() }, Vec::new());
        predict(&loaded, options(), &proba, &mut out).unwrap();
        assert!(!String::from_utf8(out).unwrap().contains("NaN"));
        seen += 1;
    }
    println!("{seen} domains");
}

#[test]
fn a_model_comes_back_as_it_was() {
    let text = "size,color,late,y\n1,red,,a\n2,blue,,b\n,red,,c\n4,,,a\n5,blue,3,b\n6,red,,c\n";
    let options = || Options::new([Input::text("a.csv", text)]);
    let model = place("back");
    tree::fit(&plan("entropy"), options(), Some(&model), &mut |_| {}).unwrap();
    let loaded = Model::load(&model).unwrap();
    assert_eq!(loaded.to_bytes().unwrap(), std::fs::read(&model).unwrap());
    let (grown, kappa) = tree::load(&loaded).unwrap();
    let examples = table::examples(options(), None).unwrap();
    let growth = Growth::new(Criterion::parse("entropy").unwrap());
    let anew = geowalk::boost::tree::Tree::exact(&examples.table, &examples.classes, None, &growth);
    assert!(grown == anew.unwrap() && kappa == 1.0);
    let shown = Shown::of(&loaded).unwrap();
    for (form, says) in [
        (Form::Text, "└─ no:  c (0, 0, 2)"),
        (Form::Sql, " = 'blue' THEN "),
        (Form::Dot, "0 -> 1 [label=\"yes\"]"),
        (Form::Json, "\"at_most\":5.5"),
    ] {
        let text = shown.write(form, &Target::default()).unwrap();
        assert!(text.contains(says), "{text}");
    }
    // Rows one by one, or all at once.
    let mut reader = Reader::reopen(&loaded.schema, grown.columns(), options()).unwrap();
    let mut leaves = Vec::new();
    while let Some(rows) = reader.read(1).unwrap() {
        leaves.push(grown.leaf(&rows.table, 0));
    }
    assert_eq!(leaves, grown.leaves_of(&examples.table));
}

#[test]
fn what_is_pruned_by_has_the_share_that_was_asked_for() {
    let mut text = String::from("x,y\n");
    for k in 0..100_u32 {
        writeln!(text, "{},{}", (k * 37) % 101, if (k * k) % 7 < 3 { "a" } else { "b" }).unwrap();
    }
    let grow = |text: &str, part: f64| {
        let plan = Plan { prune: Prune::Part(part), ..plan("gini") };
        tree::fit(&plan, Options::new([Input::text("a.csv", text)]), None, &mut |_| {})
    };
    for (part, own) in [(0.1, 90), (0.25, 75), (0.3, 70), (0.4, 60), (0.5, 50)] {
        let rows = grow(&text, part).unwrap().tree.nodes()[0].rows;
        assert!(rows.abs_diff(own) <= 1, "{part}: {rows}");
    }
    // One row of a class is grown on; what is held out is all of the other, and speaks against every split.
    let mut lone = String::from("x,y\n50,rare\n");
    for k in 0..20 {
        writeln!(lone, "{k},usual").unwrap();
    }
    assert_eq!(grow(&lone, 0.3).unwrap().summary.shape, (1, 0));
    let error = grow(&lone, 0.01).unwrap_err().to_string();
    assert_eq!(error, "prune = 0.01; it must be in (0.025, 0.5]");
}

/// Arrays that no tree has: an error that says so, never a panic.
#[test]
fn arrays_that_are_no_tree() {
    let text = "x,y\n1,a\n2,b\n3,a\n";
    let model = place("wrong");
    tree::fit(&plan("gini"), Options::new([Input::text("a.csv", text)]), Some(&model), &mut |_| {})
        .unwrap();
    let good = Model::load(&model).unwrap();
    for (name, values) in &good.arrays {
        for wrong in [-1.0, 0.5, 1e300, 7.0] {
            for at in 0..values.len() {
                let mut bad = good.clone();
                let own = bad.arrays.iter_mut().find(|(own, _)| own == name).unwrap();
                own.1[at] = wrong;
                // Some numbers make another tree; the rest are refused.
                if let Ok((tree, _)) = tree::load(&bad) {
                    assert!(tree.leaves().count() >= 1);
                }
            }
        }
        let mut bad = good.clone();
        bad.arrays.retain(|(own, _)| own != name);
        assert!(tree::load(&bad).unwrap_err().to_string().contains(name.as_str()));
        let mut bad = good.clone();
        bad.arrays.iter_mut().find(|(own, _)| own == name).unwrap().1.push(0.0);
        assert!(tree::load(&bad).is_err(), "{name}");
    }
    let mut bad = good.clone();
    bad.settings.learner = LearnerSettings::parse("gd", "auto").unwrap();
    assert!(tree::load(&bad).is_err());
}
