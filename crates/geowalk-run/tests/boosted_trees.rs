//! Boosted trees from data to a model and back.

#![allow(clippy::unwrap_used, clippy::panic)] // test code

use std::fmt::Write as _;

use geowalk::boost::Halt;
use geowalk_data::{Input, Options, Task};
use geowalk_run::error::RunError;
use geowalk_run::evaluate::{Evaluation, evaluate};
use geowalk_run::learned::Form;
use geowalk_run::model::Model;
use geowalk_run::predict::{Wanted, predict};
use geowalk_run::sql;
use geowalk_run::trees::{BoostedTrees, Judgement, Predicted, Shown, Target, TreesPlan};

/// Classes or a number that depend on a number, a name and what is missing.
fn text(kind: &str, rows: u32) -> String {
    let mut text = format!("size,color,note,{kind}\n");
    for k in 0..rows {
        let size = (k * 37) % 101;
        let color = ["red", "blue", "green", ""][(k % 4) as usize];
        let note = if k % 5 == 0 { String::new() } else { (k % 7).to_string() };
        let score = f64::from(size) / 50.0 + f64::from(k % 4) + if k % 5 == 0 { 2.0 } else { 0.0 };
        let label = match kind {
            "y" => format!("{:.2}", score + f64::from(k % 3) / 10.0),
            "class" => (if score > 2.5 { "yes" } else { "no" }).to_owned(),
            _ => (if score < 2.0 {
                "low"
            } else if score < 4.0 {
                "middle"
            } else {
                "high"
            })
            .to_owned(),
        };
        writeln!(text, "{size},{color},{note},{label}").unwrap();
    }
    text
}

fn target(kind: &str, rows: u32) -> Target {
    let label = geowalk_data::Label::Named(kind.to_owned());
    Target::read(Options { label, ..Options::new([Input::text("a.csv", text(kind, rows))]) }, None)
        .unwrap()
}

fn file(plan: &TreesPlan, target: &Target) -> (BoostedTrees, Model) {
    let learned = plan.fit(target, &mut |_| {}).unwrap();
    let judged = learned.predict(&target.table).judge(target);
    let summary = learned.summary(plan, target, &judged);
    let model = plan.model(target, &learned, summary).unwrap();
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    (learned, again)
}

#[test]
fn models_come_back_and_predict_the_same() {
    for kind in ["class", "level", "y"] {
        let target = target(kind, 300);
        let (learned, model) = file(&TreesPlan::default(), &target);
        let again = BoostedTrees::of(&model, None).unwrap();
        assert_eq!(again.model.trees, learned.model.trees);
        assert_eq!(again.predict(&target.table), learned.predict(&target.table));
        assert_eq!(learned.predict_training(&target.table), learned.predict(&target.table));
        assert!(learned.chosen.as_ref().is_some_and(|chosen| chosen.refitted && chosen.best > 0));
        match learned.predict(&target.table).judge(&target) {
            Judgement::Classes(verdict) => assert!(verdict.accuracy() > 0.95, "{kind} {verdict:?}"),
            Judgement::Numbers(numbers) => assert!(numbers.rmse < 0.3 * numbers.baseline),
        }
        // The command's way: rows as text, one line each.
        let mut out = Vec::new();
        let wanted = Wanted { explain: true, ..Wanted::default() };
        let data = Options::new([Input::text("b.csv", text(kind, 300))]);
        let done = predict(&model, data, &wanted, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert_eq!((done.rows, out.lines().count()), (300, 301));
        assert!(out.contains("largest parts of its score: "), "{out}");
        let data = Options::new([Input::text("b.csv", text(kind, 300))]);
        let found = evaluate(&model, data, 1).unwrap().evaluation;
        assert_eq!(matches!(found, Evaluation::Numbers(_)), kind == "y");
        let shown = Shown::of(&model, None).unwrap();
        for form in [Form::Text, Form::Json, Form::Sql, Form::Dot] {
            let text = shown.write(form, &sql::Target::default()).unwrap();
            assert!(text.contains("size") && text.contains("color"), "{text}");
        }
    }
}

#[test]
fn explicit_rounds_are_made_and_staged() {
    let target = target("class", 200);
    let plan = TreesPlan { rounds: Some(7), ..TreesPlan::default() };
    let (learned, _) = file(&plan, &target);
    assert_eq!((learned.rounds.len(), learned.model.rounds()), (7, 7));
    let mut stages = Vec::new();
    learned.staged(&target.table, &mut |stage| stages.push(stage));
    assert_eq!(stages.len(), 7);
    assert_eq!(stages[6], learned.predict(&target.table));
    let certificate = learned.certificate().unwrap();
    assert!(certificate.loss <= certificate.bound);
    let folds = plan.validate(&target, 4, &mut |_| {}).unwrap();
    let Predicted::Classes(found, shares) = folds else { panic!() };
    assert_eq!((found.len(), shares.len()), (200, 400));
}

#[test]
fn few_rows_are_all_learned_from() {
    let (learned, _) = file(&TreesPlan::default(), &target("class", 30));
    assert_eq!((learned.rounds.len(), learned.chosen.is_none()), (50, true));
}

#[test]
fn mistakes_are_named() {
    let fail = |plan: TreesPlan, kind: &str| {
        plan.fit(&target(kind, 100), &mut |_| {}).unwrap_err().to_string()
    };
    let plan = TreesPlan::default;
    assert!(fail(TreesPlan { rate: Some(2.0), ..plan() }, "class").starts_with("rate = 2"));
    assert!(fail(TreesPlan { rounds: Some(0), ..plan() }, "class").starts_with("rounds = 0"));
    assert!(fail(TreesPlan { bins: Some(255), ..plan() }, "class").starts_with("bins = 255"));
    let loss = |name: &str| TreesPlan { loss: Some(name.to_owned()), ..plan() };
    assert!(fail(loss("gini"), "level").contains("more than two classes"));
    assert!(fail(loss("logistic"), "y").contains("loss for trees on numbers"));
    assert!(fail(loss("hinge"), "class").contains("strict convexity"));
    assert!(fail(TreesPlan { held_out: Some(1.5), ..plan() }, "class").contains("hold-out"));
    let halt = Halt::new();
    halt.call();
    let halted = TreesPlan { halt, ..plan() }.fit(&target("class", 100), &mut |_| {});
    assert!(matches!(halted, Err(RunError::Halted)));
    let names = Options::new([Input::text("a.csv", "x,class\n1,a\n2,b\n")]);
    assert!(Target::read(names, Some(Task::Regression)).unwrap_err().to_string().contains("names"));
}
