//! Boosting from data to a model and back.

#![allow(clippy::unwrap_used, clippy::print_stderr)] // test code

use std::fmt::Write as _;
use std::path::PathBuf;

use geowalk::boost::multiclass::Reduction;
use geowalk::boost::{Flavour, Leverage, Surrogate};
use geowalk::certify::Boosting;
use geowalk_data::{Input, Options};
use geowalk_run::boost::words::{self, Names};
use geowalk_run::boost::{Boosted, History, Kind, Plan, summary, validate};
use geowalk_run::folds::hold_out;
use geowalk_run::model::Model;
use geowalk_run::predict::{Wanted, predict};
use geowalk_run::sql::Target;
use geowalk_run::table::{Examples, examples, headings};

/// Two or three classes that depend on a number, a name and what is missing.
fn text(classes: usize) -> String {
    let mut text = String::from("size,color,note,empty,same,class\n");
    for k in 0..120_u32 {
        let size = (k * 37) % 101;
        let color = ["red", "blue", "it's \"green\""][(k % 3) as usize];
        let note = if k % 5 == 0 { String::new() } else { (k % 7).to_string() };
        let class = if size > 60 && k % 3 != 0 {
            "yes"
        } else if classes == 3 && k % 5 == 0 {
            "perhaps"
        } else {
            "no"
        };
        let color = color.replace('"', "\"\"");
        writeln!(text, "{size},\"{color}\",{note},,7,{class}").unwrap();
    }
    text
}

fn load(classes: usize) -> Examples {
    examples(Options::new([Input::text("a.csv", text(classes))]), None).unwrap()
}

fn course(plan: &Plan, examples: &Examples) -> (Boosted, Vec<History>) {
    let weights = examples.weights.as_deref();
    plan.fit(&examples.table, &examples.classes, weights, &mut |_| {}).unwrap()
}

fn learn(plan: &Plan, examples: &Examples) -> Boosted {
    course(plan, examples).0
}

#[test]
fn every_learner_learns_and_comes_back_from_its_file() {
    for classes in [2, 3] {
        let examples = load(classes);
        for weak in Kind::ALL {
            for reduction in [Reduction::Ova, Reduction::Mh] {
                if classes > 2
                    && reduction == Reduction::Mh
                    && matches!(weak, Kind::Stumps | Kind::Columns)
                {
                    continue;
                }
                let plan = Plan { weak, reduction, rounds: 30, ..Plan::default() };
                let (boosted, histories) = course(&plan, &examples);
                let error = boosted.error(&examples.table, examples.classes.codes(), None).unwrap();
                assert!(weak == Kind::Columns || error < 0.05, "{weak:?} {reduction:?} {error}");
                let summary = summary(&plan, &examples, &boosted, &histories, (error, None));
                let model = plan.model(&examples, &boosted, &histories, summary);
                let bytes = model.to_bytes().unwrap();
                let again = Model::from_bytes(&bytes).unwrap();
                // So does what a report tells: to the last digit.
                let told = History::of(&again, None).unwrap();
                assert_eq!(format!("{told:?}"), format!("{histories:?}"), "{weak:?} {reduction:?}");
                let restored = Plan { reduction, ..Plan::of(&again).unwrap() };
                assert_eq!(format!("{restored:?}"), format!("{plan:?}"));
                let restored = Boosted::of(&again).unwrap();
                let (a, b) = (
                    boosted.predict(&examples.table).unwrap(),
                    restored.predict(&examples.table).unwrap(),
                );
                assert_eq!(a, b, "{weak:?} {reduction:?}");
                assert!(a.1.iter().all(|p| (0.0..=1.0).contains(p)));
                // The door: the same classes, one per line.
                let mut out = Vec::new();
                let options = Options::new([Input::text("a.csv", text(classes))]);
                assert_eq!(
                    predict(&again, options, &Wanted::default(), &mut out).unwrap().rows,
                    120
                );
                let lines: Vec<String> =
                    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect();
                let expected: Vec<String> =
                    a.0.iter().map(|k| boosted.classes[*k].clone()).collect();
                assert_eq!(lines, expected);
            }
        }
    }
}

#[test]
fn unseen_names_and_missing_columns_are_predicted() {
    let examples = load(2);
    let plan = Plan { rounds: 10, ..Plan::default() };
    let boosted = learn(&plan, &examples);
    let model = plan.model(&examples, &boosted, &[], serde_json::Value::Null);
    assert!(History::of(&model, None).is_none());
    let mut out = Vec::new();
    let new = "color,size,note,empty,same\nviolet,99,,,\n,,,,1\nred,1,2,,7\n";
    let options = Options::new([Input::text("b.csv", new)]);
    let wanted = Wanted { proba: true, ..Wanted::default() };
    assert_eq!(predict(&model, options, &wanted, &mut out).unwrap().rows, 3);
    let text = String::from_utf8(out).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("no,yes"));
    for line in lines {
        let sum: f64 = line.split(',').map(|p| p.parse::<f64>().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{line}");
    }
}

#[test]
fn folds_estimate_the_error() {
    let examples = load(2);
    let plan = Plan { rounds: 20, ..Plan::default() };
    let mut heard = Vec::new();
    let found = validate::validate(&plan, &examples, 5, &mut |checked| {
        if let validate::Checked::Fold(fold, error) = checked {
            heard.push((fold, error));
        }
    })
    .unwrap();
    assert_eq!(heard.len(), 5);
    assert_eq!(found.errors, heard.iter().map(|(_, e)| *e).collect::<Vec<_>>());
    assert!(found.mean() < 0.1, "{found:?}");
    assert_eq!(found, validate::validate(&plan, &examples, 5, &mut |_| {}).unwrap());
    for count in [0, 1, 121] {
        let error = validate::validate(&plan, &examples, count, &mut |_| {}).unwrap_err();
        assert!(error.to_string().starts_with("folds = "), "{error}");
    }
}

#[test]
fn held_out_rows_and_flavours() {
    let examples = load(3);
    for adapt in [Flavour::F1, Flavour::F2, Flavour::E1, Flavour::E2, Flavour::FStar] {
        let plan = Plan {
            adapt,
            rounds: 12,
            held_out: Some(0.25),
            patience: Some(4),
            leverage: Leverage::Some(2),
            ..Plan::default()
        };
        let error = learn(&plan, &examples).error(&examples.table, examples.classes.codes(), None);
        assert!(error.unwrap() < 0.35, "{adapt:?}");
    }
}

/// What a mixed flavour is certified by is the loss of its rounds, not that of its probabilities.
#[test]
fn certificates_are_about_the_loss_of_the_rounds() {
    let mut told_apart = 0;
    for seed in 0..40_u32 {
        let mut text = String::from("x,z,class\n");
        for k in 0..120_u32 {
            let (x, z) = ((k * 31 + seed * 7) % 61, (k * k + seed) % 13);
            // A rare class: the loss that steps is not that of least risk.
            let class = if x > 50 && z % 5 == seed % 5 { "a" } else { "b" };
            writeln!(text, "{x},{z},{class}").unwrap();
        }
        // Some have one class only.
        let Ok(examples) = examples(Options::new([Input::text("a.csv", text)]), None) else {
            continue;
        };
        for adapt in [Flavour::F2, Flavour::E2] {
            let plan = Plan { adapt, rounds: 1, literals: 1, ..Plan::default() };
            let (_, histories) = course(&plan, &examples);
            let own = &histories[0];
            let bag =
                adapt.bag(&Surrogate::parse("matsushita").unwrap(), plan.mu, plan.nu).unwrap();
            assert_eq!(own.stepped, bag[own.rounds[0].loss].spec());
            let mut bound = Boosting::new(&bag[own.rounds[0].loss]);
            for round in &own.rounds {
                bound.observe(round);
            }
            // As texts: the bound of a void one is NaN.
            let expected = [bound.rate(), bound.training_error(), bound.weak_learning()];
            assert_eq!(format!("{:?}", own.certificates), format!("{expected:?}"));
            told_apart += usize::from(own.stepped != own.loss);
        }
    }
    assert!(told_apart > 0);
}

#[test]
fn a_class_without_weight_is_never_said() {
    let examples = load(3);
    let codes = examples.classes.codes();
    let name = |code: u32| examples.classes.names()[code as usize].as_str();
    let weights: Vec<f64> =
        codes.iter().map(|code| if name(*code) == "perhaps" { 0.0 } else { 1.0 }).collect();
    let plan = Plan::default();
    let (boosted, histories) =
        plan.fit(&examples.table, &examples.classes, Some(&weights), &mut |_| {}).unwrap();
    assert_eq!((boosted.members.len(), histories.len()), (3, 2));
    let found = boosted.predict(&examples.table).unwrap().0;
    assert!(found.iter().all(|class| boosted.classes[*class] != "perhaps"));
    assert!(boosted.error(&examples.table, codes, Some(&weights)).unwrap() < 0.1);
    let names = Names::new(headings(&examples.schema, boosted.columns), &boosted);
    let all: Vec<String> =
        words::sentences(&boosted, &names).into_iter().flat_map(|(_, all)| all).collect();
    assert!(all.contains(&"1.000e300 for not perhaps, always".to_owned()), "{all:?}");
}

/// Held-out rows count with their weights, and there must be some.
#[test]
fn held_out_rows_have_weights() {
    let examples = load(2);
    let plan = Plan { held_out: Some(0.4), rounds: 30, ..Plan::default() };
    let kept = |weights: &[f64]| {
        let (_, histories) =
            plan.fit(&examples.table, &examples.classes, Some(weights), &mut |_| {}).unwrap();
        histories[0].rounds.len()
    };
    // Weights that are learned from alike, and judged by differently.
    let (_, held) = hold_out(examples.classes.codes(), 0.4, plan.seed);
    let by = |heavy: usize| {
        let mut weights = vec![1.0; 120];
        for (at, row) in held.iter().enumerate() {
            weights[*row as usize] = if at % 6 == heavy { 50.0 } else { 0.5 };
        }
        kept(&weights)
    };
    let all: Vec<usize> = (0..6).map(by).collect();
    assert!(all.iter().any(|rounds| *rounds != all[0]), "{all:?}");
    let few = Plan { held_out: Some(0.001), ..Plan::default() };
    let error = few.fit(&examples.table, &examples.classes, None, &mut |_| {}).unwrap_err();
    assert!(error.to_string().starts_with("hold-out = 0.001; it must be in (0.00"), "{error}");
}

#[test]
fn words() {
    let examples = load(2);
    let plan = Plan { rounds: 6, ..Plan::default() };
    let boosted = learn(&plan, &examples);
    let names = Names::new(headings(&examples.schema, boosted.columns), &boosted);
    let sentences = words::sentences(&boosted, &names);
    assert_eq!(sentences[0].0, "yes");
    assert!(
        sentences[0].1[0].contains("if size ") && sentences[0].1[0].contains("then "),
        "{sentences:?}"
    );
    let sql = words::to_sql(&boosted, &names, &Target::default()).unwrap();
    assert!(sql.contains("geowalk_input.\"size\"") && sql.contains("'yes'"), "{sql}");
    let dot = words::to_dot(&boosted, &names);
    assert!(dot.starts_with("digraph boost {") && dot.trim_end().ends_with('}'));
    let json = words::to_json(&boosted, &names, &[]);
    assert_eq!(
        json["members"][0]["features"].as_array().unwrap().len(),
        boosted.members[0].alpha.len()
    );
}

#[test]
fn bad_input_is_named() {
    let message = |text: &str| {
        examples(Options::new([Input::text("a.csv", text)]), None).unwrap_err().to_string()
    };
    assert!(message("x,y\n1,a\n2,a\n").starts_with("all 2 rows have the class 'a'"));
    let examples = load(2);
    let fail = |plan: Plan, weights: Option<&[f64]>| {
        plan.fit(&examples.table, &examples.classes, weights, &mut |_| {}).unwrap_err().to_string()
    };
    let plan = Plan::default;
    assert!(fail(Plan { literals: 0, ..plan() }, None).starts_with("literals = 0"));
    assert!(fail(Plan { rounds: 0, ..plan() }, None).starts_with("rounds = 0"));
    assert!(fail(Plan { bins: Some(1), ..plan() }, None).starts_with("bins = 1"));
    assert!(fail(Plan { weak: Kind::Trees, leaves: 1, ..plan() }, None).starts_with("leaves = 1"));
    assert!(fail(Plan { held_out: Some(1.5), ..plan() }, None).starts_with("hold-out = 1.5"));
    assert!(fail(Plan { loss: "hinge".into(), ..plan() }, None).contains("matsushita"));
    assert!(fail(plan(), Some(&[0.0; 120])).starts_with("only 0 of the classes have weight"));
    let mut weights = [1.0; 120];
    weights[9] = -2.0;
    assert!(fail(plan(), Some(&weights)).starts_with("the weight of row 10 is -2"));
    assert!(
        Kind::parse("forest")
            .unwrap_err()
            .to_string()
            .contains("known: rules, stumps, small-trees, columns, trees")
    );
}

/// Real domains: none may fail, and all of them learn something.
#[test]
fn domains_of_the_shared_data() {
    let root = std::env::var("GEOWALK_SHARED")
        .map_or_else(|_| PathBuf::from("../../../shared"), PathBuf::from);
    let folder = root.join("data/uci");
    for name in ["vote.csv", "labor.csv", "iris.csv", "hepatitis.csv", "sonar.csv"] {
        let path = folder.join(name);
        if !path.is_file() {
            eprintln!("skipped: {} is not there", path.display());
            continue;
        }
        let examples = examples(Options::new([path.to_string_lossy().as_ref()]), None).unwrap();
        for loss in
            ["exponential", "squared", "gini", "renorm", "matsushita", "entropy", "nu", "zeta"]
        {
            let plan = Plan { loss: loss.to_owned(), rounds: 20, ..Plan::default() };
            let boosted = learn(&plan, &examples);
            let error = boosted.error(&examples.table, examples.classes.codes(), None).unwrap();
            assert!(error < 0.2, "{name} {loss}: {error}");
            let (_, all) = boosted.predict(&examples.table).unwrap();
            assert!(all.iter().all(|p| p.is_finite()), "{name} {loss}");
        }
    }
}
