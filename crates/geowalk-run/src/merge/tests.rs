use geowalk::laws::Sampler;
use geowalk::row::Block;
use geowalk_data::{Dictionary, Features, Labels, Schema};

use super::*;
use crate::certificate::Report;
use crate::certify::{Which, certify};
use crate::train::Plan;

/// Rows of three features, which may come in another order, and labels of so many classes.
fn rows(seed: u64, count: usize, order: [usize; 3], classes: u32) -> Block {
    let mut sampler = Sampler::new(seed);
    let mut block = Block::new();
    for _ in 0..count {
        let x = [(); 3].map(|()| sampler.uniform(0.1, 1.0));
        let z = x[0] - 2.0 * x[1] + 0.5 * x[2] + sampler.uniform(-0.2, 1.2);
        let label = (z.clamp(0.0, 0.99) * f64::from(classes)).floor();
        block.push_dense(&order.map(|at| x[at]), label, 1.0).unwrap();
    }
    block
}

const NAMES: [&str; 3] = ["a", "b", "c"];

fn schema(order: [usize; 3]) -> Schema {
    let names = Dictionary::from_names(order.map(|at| NAMES[at])).unwrap();
    Schema::from_parts(Features::Exact(names), Labels::Numbers, vec![])
}

fn plan(walk: &str, task: Task) -> Plan {
    let rate = if walk == "gd" { "0.125" } else { "auto" };
    Plan { walk: Some(walk.to_owned()), rate: rate.to_owned(), task: Some(task), ..Plan::default() }
}

fn trained(walk: &str, task: Task, seed: u64, order: [usize; 3], classes: u32) -> Model {
    let mut block = rows(seed, 200, order, classes);
    let mut session = Session::new(&plan(walk, task), schema(order), &block).unwrap();
    session.learn(&mut block).unwrap();
    session.model()
}

fn continued(model: &Model, seed: u64, classes: u32) -> Model {
    let mut session = Session::resume(model).unwrap();
    session.learn(&mut rows(seed, 200, [0, 1, 2], classes)).unwrap();
    session.model()
}

fn part<'a>(name: &'a str, model: &'a Model) -> Part<'a> {
    Part { name, model, weight: None }
}

/// The weights of an output by name of the feature, the constant one first.
fn weights(model: &Model, output: usize) -> [f64; 4] {
    let mut w = Vec::new();
    predict::restore(model).unwrap().learner.weights(output, &mut w);
    let of = |name: &str| {
        let key = geowalk_data::FeatureKey::Number(name);
        w[1 + model.schema.features().find(key).unwrap() as usize]
    };
    [w[0], of("a"), of("b"), of("c")]
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * (1.0 + expected.abs())
}

/// The first-order bound against fixed weights.
fn bound(model: &Model, outputs: usize) -> f64 {
    // Of features in their merged order.
    let of = |output: usize| {
        let names = (0..3).map(|at| model.schema.features().name(at).unwrap().into_owned());
        let value = |name: String| match name.as_str() {
            "a" => 0.25 + output as f64,
            "b" => 0.5,
            _ => -0.125,
        };
        [0.125].into_iter().chain(names.map(value)).collect::<Vec<f64>>()
    };
    let u = Which::Weights((0..outputs).map(of).collect());
    let report: Report = certify(model, Some(&u), None).unwrap();
    report.first_order.bound
}

const WALKS: [&str; 12] = [
    "gd",
    "explicit:euclidean",
    "free",
    "adagrad",
    "egu",
    "eg+-(scale=2)",
    "eg",
    "mirror:p-norm",
    "mirror:burg",
    "explicit:sphere",
    "explicit:hyperbolic",
    "reparam-egu",
];

#[test]
fn one_model_merged_alone_stays_as_it_is() {
    for walk in WALKS {
        for (task, classes) in [(Task::Binary, 2), (Task::Multiclass, 3)] {
            let model = trained(walk, task, 1, [0, 1, 2], classes);
            let merged = merge(&[part("m", &model)], None).unwrap();
            let outputs = if task == Task::Binary { 1 } else { classes as usize };
            for output in 0..outputs {
                let (found, expected) = (weights(&merged, output), weights(&model, output));
                let same = found.iter().zip(&expected).all(|(a, b)| near(*a, *b));
                assert!(same, "{walk} {task:?}: {found:?} {expected:?}");
            }
            let (found, expected) = (bound(&merged, outputs), bound(&model, outputs));
            assert!(near(found, expected), "{walk} {task:?}: {found} {expected}");
            assert_eq!(merged.examples, 200);
            // It goes on learning.
            assert_eq!(continued(&merged, 5, classes).examples, 400);
        }
    }
}

#[test]
fn features_and_classes_in_another_order_find_each_other() {
    for walk in WALKS {
        let [a, b] = [(2, [0, 1, 2]), (6, [2, 0, 1])]
            .map(|(seed, order)| trained(walk, Task::Multiclass, seed, order, 3));
        assert_ne!(a.classes, b.classes, "the test needs another order");
        let merged = merge(&[part("a", &a), part("b", &b)], None).unwrap();
        assert_eq!(merged.classes.len(), 3);
        let code = |model: &Model, class: f64| {
            model.classes.iter().position(|known| *known == class).unwrap()
        };
        for class in [0.0, 1.0, 2.0] {
            let of = |model: &Model| weights(model, code(model, class));
            let (a, b, both) = (of(&a), of(&b), of(&merged));
            // A mean of any kind is between the two; on constrained spaces nearly.
            let slack = if walk.contains("sphere") || walk.starts_with("eg") { 0.3 } else { 1e-9 };
            for (i, both) in both.iter().enumerate() {
                let (low, high) = (a[i].min(b[i]) - slack, a[i].max(b[i]) + slack);
                assert!((low..=high).contains(both), "{walk}: {a:?} {b:?} {both}");
            }
        }
    }
}

#[test]
fn losses_certificates_and_intervals_add_up() {
    for walk in WALKS {
        let a = trained(walk, Task::Binary, 2, [0, 1, 2], 2);
        let b = trained(walk, Task::Binary, 3, [1, 2, 0], 2);
        let merged = merge(&[part("a", &a), part("b", &b)], None).unwrap();
        let (found, expected) = (bound(&merged, 1), bound(&a, 1) + bound(&b, 1));
        assert!(near(found, expected), "{walk}: {found} {expected}");
        let loss = |model: &Model| model.summary["loss"].as_f64().unwrap();
        assert!(near(loss(&merged), 0.5 * (loss(&a) + loss(&b))), "{walk}");
        assert_eq!(merged.summary["intervals"].as_array().map(Vec::len), Some(2), "{walk}");
    }
}

#[test]
fn rounds_count_the_rows_before_them_once() {
    for walk in WALKS {
        let base = trained(walk, Task::Binary, 2, [0, 1, 2], 2);
        let [a, b] = [7, 8].map(|seed| continued(&base, seed, 2));
        let parts = [part("a", &a), part("b", &b)];
        let merged = merge(&parts, Some(part("base", &base))).unwrap();
        assert_eq!(merged.examples, 600);
        let expected = bound(&a, 1) + bound(&b, 1) - bound(&base, 1);
        assert!(near(bound(&merged, 1), expected), "{walk}");
        // Without anything new nothing changes.
        let parts = [part("a", &base), part("b", &base)].map(|p| Part { weight: Some(1.0), ..p });
        let same = merge(&parts, Some(part("base", &base))).unwrap();
        assert_eq!(same.examples, 200);
        for (found, expected) in weights(&same, 0).iter().zip(weights(&base, 0)) {
            assert!(near(*found, expected), "{walk}: {found} {expected}");
        }
    }
}

#[test]
fn weights_count_what_is_given() {
    let [a, b] = [2, 3].map(|seed| trained("gd", Task::Binary, seed, [0, 1, 2], 2));
    let parts = [(&a, 3.0), (&b, 1.0)]
        .map(|(model, weight)| Part { weight: Some(weight), ..part("m", model) });
    let merged = weights(&merge(&parts, None).unwrap(), 0);
    for (i, found) in merged.iter().enumerate() {
        assert!(near(*found, 0.75 * weights(&a, 0)[i] + 0.25 * weights(&b, 0)[i]));
    }
}

#[test]
fn models_that_do_not_go_together_are_refused() {
    let model = |walk, task, seed, classes| trained(walk, task, seed, [0, 1, 2], classes);
    let gd = model("gd", Task::Binary, 1, 2);
    let error = |other: &Model| {
        merge(&[part("a.gw", &gd), part("b.gw", other)], None).unwrap_err().to_string()
    };
    let found = error(&model("free", Task::Binary, 1, 2));
    assert!(found.contains("walk is gd in a.gw and free in b.gw"), "{found}");
    let found = error(&model("gd", Task::Multiclass, 1, 3));
    assert!(found.contains("task is binary in a.gw and multiclass in b.gw"), "{found}");
    let found = error(&model("natural", Task::Binary, 1, 2));
    assert!(found.starts_with("cannot merge: b.gw: "), "{found}");
    assert!(merge(&[], None).is_err());
    let zero = Part { weight: Some(0.0), ..part("a.gw", &gd) };
    assert!(merge(&[zero, zero], None).unwrap_err().to_string().contains("all 0"));
    let negative = Part { weight: Some(-1.0), ..part("a.gw", &gd) };
    assert!(merge(&[negative], None).is_err());
}
