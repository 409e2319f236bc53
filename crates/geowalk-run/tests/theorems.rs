//! The test that ties certificates together: through the same learners as `train`, on random streams, the true regret is below every bound whose status is valid; theorems that are proved through the
//! linearised regret are never below the first-order certificate; and a premise that breaks, breaks at its row.

#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_possible_truncation)] // test code

use std::collections::BTreeSet;

use geowalk::boost::Halt;
use geowalk::certify::{Quantity, Status};
use geowalk::laws::Sampler;
use geowalk::loss::{AnyLoss, Loss};
use geowalk::row::Block;
use geowalk_data::Task;
use geowalk_run::certificate::{Against, Report};
use geowalk_run::hindsight::{Domain, Form, Problem};
use geowalk_run::learner::Learner;
use geowalk_run::model::{LearnerSettings, Settings};
use geowalk_run::walks;

/// Proved through the linearised regret alone.
const LINEARISED: [&str; 6] =
    ["gradient-descent", "mirror-descent", "mirror-steps", "linear-eg", "free", "proximal-flat"];

#[derive(Clone, Copy)]
struct Case {
    walk: &'static str,
    loss: &'static str,
    rate: &'static str,
    y_range: Option<(f64, f64)>,
    declared: &'static [(&'static str, &'static str)],
    /// Features in [0, 1], or in [−1, 1].
    positive: bool,
}

const fn case(walk: &'static str, loss: &'static str, rate: &'static str) -> Case {
    Case { walk, loss, rate, y_range: None, declared: &[], positive: false }
}

const CASES: &[Case] = &[
    case("free", "logistic", "auto"),
    case("free(step=0, epsilon=1)", "absolute", "auto"),
    case("free", "hinge", "certified"),
    case("gd", "squared", "0.05"),
    case("gd", "squared", "0.4"),
    case("gd", "logistic", "0.3"),
    case("gd", "absolute", "0.1"),
    Case { declared: &[("x-norm", "3")], ..case("gd", "squared", "certified") },
    Case {
        declared: &[("x-norm", "3"), ("distance", "2"), ("comparator-loss", "5")],
        ..case("gd", "squared", "certified")
    },
    Case {
        declared: &[("x-norm", "3"), ("distance", "2"), ("rounds", "300")],
        ..case("gd", "hinge", "certified")
    },
    case("perceptron", "logistic", "auto"),
    case("implicit:euclidean", "squared", "0.5"),
    case("implicit:euclidean", "logistic", "2"),
    case("mirror:p-norm(q=1.3)", "absolute", "0.1"),
    case("mirror:p-norm", "squared", "0.02"),
    case("ols", "matsushita", "0.05"),
    Case {
        declared: &[("x-norm", "3"), ("distance", "2"), ("rounds", "300")],
        ..case("ols", "logistic", "certified")
    },
    case("eg", "squared", "0.3"),
    case("eg", "logistic", "0.5"),
    case("eg+-", "squared", "0.2"),
    case("mirror:simplex-entropy(signed=true, scale=3)", "absolute", "0.1"),
    Case { declared: &[("x-range", "-1,1")], ..case("eg", "squared", "certified") },
    Case {
        declared: &[("x-range", "-1,1"), ("distance", "1.8"), ("rounds", "300")],
        ..case("eg", "absolute", "certified")
    },
    case("egu(start=0.1)", "squared", "0.02"),
    case("egu(start=0.1)", "absolute", "0.05"),
    case("egu(start=0.1, signed=true, scale=2)", "logistic", "0.05"),
    Case {
        y_range: Some((0.0, 1.0)),
        positive: true,
        declared: &[("x-range", "0,1")],
        ..case("egu(start=0.1)", "squared", "certified")
    },
    Case { y_range: Some((0.0, 1.0)), positive: true, ..case("egu(start=0.1)", "squared", "0.3") },
    Case {
        y_range: Some((0.0, 1.0)),
        positive: true,
        ..case("reparam-egu(start=0.1)", "squared", "0.3")
    },
    case("reparam-eg", "squared", "0.2"),
    Case {
        positive: true,
        declared: &[("x-range", "0,1")],
        ..case("reparam-eg(lo=0, hi=1)", "squared", "certified")
    },
    // Nothing declared: in epochs.
    case("gd", "squared", "certified"),
    case("gd", "absolute", "certified"),
    case("gd", "logistic", "certified"),
    Case { declared: &[("distance", "4")], ..case("gd", "hinge", "certified") },
    Case {
        declared: &[("distance", "2"), ("comparator-loss", "5")],
        ..case("gd", "squared", "certified")
    },
    case("implicit:euclidean", "squared", "certified"),
    case("implicit:euclidean", "hinge", "certified"),
    case("mirror:p-norm(q=1.3)", "absolute", "certified"),
    case("mirror:p-norm(q=1.3)", "squared", "certified"),
    case("ols", "matsushita", "certified"),
    case("eg", "squared", "certified"),
    case("eg", "logistic", "certified"),
    case("eg+-", "absolute", "certified"),
    case("eg+-", "squared", "certified"),
    Case {
        y_range: Some((0.0, 1.0)),
        positive: true,
        ..case("egu(start=0.1)", "squared", "certified")
    },
    Case {
        y_range: Some((0.0, 1.0)),
        positive: true,
        ..case("reparam-egu(start=0.1)", "squared", "certified")
    },
    Case { positive: true, ..case("neg", "squared", "0.05") },
    case("mirror:burg", "logistic", "0.02"),
    case("mahalanobis(sigma=diag(1, 2, 0.5, 3))", "logistic", "0.3"),
    case("mahalanobis(sigma=diag(1, 2, 0.5, 3))", "squared", "0.1"),
    // A full matrix, as a model keeps the text of its file.
    Case {
        declared: &[("sigma", "2 1 0 0\n1 3 0.5 0\n0 0.5 1 -0.2\n0 0 -0.2 0.7\n")],
        ..case("mahalanobis(sigma=matrix.csv)", "absolute", "0.1")
    },
];

const N: usize = 4;

fn settings(case: &Case, task: Task) -> Settings {
    let mut learner = LearnerSettings::parse(case.walk, case.rate).unwrap();
    if let LearnerSettings::Walk(own) = &mut learner {
        let number = |text: &str| text.parse().unwrap();
        for (key, value) in case.declared {
            let declared = &mut own.declared;
            match *key {
                "x-norm" => declared.x_norm = Some(number(value)),
                "x-range" => {
                    declared.x_range = value.split_once(',').map(|(a, b)| (number(a), number(b)));
                }
                "distance" => declared.distance = Some(number(value)),
                "comparator-loss" => declared.comparator_loss = Some(number(value)),
                "rounds" => declared.rounds = Some(value.parse().unwrap()),
                _ => own.sigma = Some((*value).to_owned()),
            }
        }
    }
    Settings { seed: 3, y_range: case.y_range, ..Settings::new(learner, case.loss, task) }
}

/// Rows with labels that the loss takes. Of odd seeds the last feature comes late, of even ones all are in the first row.
fn stream(case: &Case, task: Task, seed: u64) -> Block {
    let mut random = Sampler::new(seed);
    let margin = AnyLoss::parse(case.loss).unwrap().facts().margin || case.walk == "perceptron";
    let target: Vec<f64> = (0..N).map(|_| random.uniform(0.0, 0.7)).collect();
    let mut block = Block::new();
    for t in 0..300_u32 {
        let mut sum = 0.0;
        for (i, w) in target.iter().enumerate() {
            let x = random.uniform(if case.positive { 0.0 } else { -1.0 }, 1.0);
            let late = !seed.is_multiple_of(2) && i + 1 == N && t <= 150;
            if !late && (random.uniform(0.0, 1.0) < 0.8 || t == 0) {
                block.feature(i as u32, x);
                sum += w * x;
            }
        }
        let noise = random.uniform(-0.3, 0.3);
        let y = match task {
            Task::Multiclass => f64::from(if sum + noise > 0.3 { 2 } else { t % 2 }),
            _ if margin => {
                if sum + noise > 0.1 {
                    1.0
                } else {
                    -1.0
                }
            }
            _ => (sum + noise).clamp(0.0, 1.0),
        };
        block.end(y, 1.0);
    }
    block
}

/// A comparator where the weights live.
fn comparator(domain: Domain, n: usize, random: &mut Sampler) -> Vec<f64> {
    let positive: Vec<f64> = (0..n).map(|_| random.uniform(1e-3, 1.0)).collect();
    let signed: Vec<f64> = (0..n).map(|_| random.uniform(-1.0, 1.0)).collect();
    let scaled = |v: &[f64], size: f64| {
        let total: f64 = v.iter().map(|v| v.abs()).sum();
        v.iter().map(|v| size * v / total).collect()
    };
    match domain {
        Domain::Space => signed,
        Domain::Positive => positive,
        Domain::Simplex => scaled(&positive, 1.0),
        Domain::Cross(scale) => scaled(&signed, random.uniform(0.1, 1.0) * scale),
        Domain::Sphere(_) => panic!("no theorem for every comparator"),
    }
}

fn learn(case: &Case, task: Task, block: &Block) -> (walks::Built, u64) {
    let mut built = walks::of(&settings(case, task), None).unwrap();
    let mut outcomes = Vec::new();
    built.learner.learn(block, 0..block.len(), &mut outcomes).unwrap();
    (built, outcomes.len() as u64)
}

fn weights(learner: &dyn Learner) -> Vec<Vec<f64>> {
    let mut w = Vec::new();
    let mut one = |k| {
        learner.weights(k, &mut w);
        w.clone()
    };
    (0..learner.outputs()).map(&mut one).collect()
}

/// The regret is below what is valid; gives the names of theorems that were.
fn below(report: &Report, loss: f64, what: &str, names: &mut BTreeSet<&'static str>) {
    let first = &report.first_order;
    let regret = first.loss - loss;
    let slack = 1e-12 * (1.0 + first.loss.abs() + loss.abs());
    assert_eq!(first.status, Status::Valid, "{what}");
    assert!(regret <= first.bound + slack, "{what}: {regret} > {first}");
    for verdict in report.theorems.iter().filter(|verdict| verdict.quantity == Quantity::Regret) {
        let c = &verdict.certificate;
        if c.status != Status::Valid {
            continue;
        }
        names.insert(c.theorem);
        assert!(regret <= c.bound + slack, "{what}: {regret} > {c}");
        // Against the final weights gradient descent's bound is the first-order one, which allows for more rounding.
        let above = c.bound >= first.bound - 1e-9 * (1.0 + first.bound.abs());
        assert!(above || !LINEARISED.contains(&c.theorem), "{what}: {c} below {first}");
    }
    let best = report.best();
    assert!(best.bound <= first.bound, "{what}");
}

#[test]
fn the_true_regret_is_below_every_valid_bound() {
    let mut names = BTreeSet::new();
    for case in CASES {
        for task in [Task::Regression, Task::Binary, Task::Multiclass] {
            let loss = AnyLoss::parse(case.loss).unwrap();
            let margin = loss.facts().margin || case.walk == "perceptron";
            if margin == (task == Task::Regression) {
                continue;
            }
            for seed in 0..4 {
                let what = format!("{} {} {} {task:?} {seed}", case.walk, case.loss, case.rate);
                let block = stream(case, task, seed);
                let (built, _) = learn(case, task, &block);
                let own = weights(built.learner.as_ref());
                let rows = (0..block.len()).collect();
                let problem = Problem {
                    blocks: vec![(block, rows)],
                    loss: &built.loss,
                    form: match (task, built.joint) {
                        (Task::Multiclass, true) => Form::Joint,
                        (Task::Multiclass, false) => Form::Apart,
                        _ => Form::One,
                    },
                    intercept: true,
                    features: own[0].len(),
                    outputs: own.len(),
                    passes: 1.0,
                    halt: Halt::default(),
                };
                let mut random = Sampler::new(seed + 100);
                let domain = built.learner.domain();
                let mut comparators: Vec<Vec<Vec<f64>>> = (0..6)
                    .map(|_| own.iter().map(|w| comparator(domain, w.len(), &mut random)).collect())
                    .collect();
                let best = problem.best(domain, &own).unwrap();
                let least = best.loss;
                comparators.push(best.u);
                for u in &comparators {
                    let lost = problem.loss_of(u);
                    assert!(
                        least <= lost + 1e-6 * (1.0 + lost) + best.gap.unwrap_or(0.0),
                        "{what}: {least} {lost}"
                    );
                    for known in [None, Some(lost)] {
                        let report = built.learner.report(&Against::Given(u), known).unwrap();
                        assert!(!report.theorems.is_empty(), "{what}: {}", report.reason);
                        below(&report, lost, &what, &mut names);
                        // On the simplex a feature that comes late breaks the theorems, where it comes.
                        // Unless an epoch begins there: its simplex has the feature.
                        let epochs = report.theorems.iter().any(|verdict| verdict.epochs > 1);
                        let simplex = matches!(domain, Domain::Simplex | Domain::Cross(_));
                        if simplex && !epochs && !seed.is_multiple_of(2) {
                            for verdict in &report.theorems {
                                let Status::Void(broken) = &verdict.certificate.status else {
                                    panic!("{what}: {}", verdict.certificate)
                                };
                                let late = broken.premise == "no more features than the start has";
                                assert!(!late || broken.row > 151, "{what}: {broken:?}");
                            }
                        }
                    }
                }
                // Sets: what holds for all of them holds for the final weights.
                let report = built.learner.report(&Against::Reach, None).unwrap();
                below(&report, problem.loss_of(&own), &what, &mut names);
            }
        }
    }
    let expected = [
        "eg",
        "egu",
        "free",
        "gradient-descent",
        "least-squares",
        "linear-eg",
        "mirror-descent",
        "mirror-steps",
        "ols",
        "proximal-flat",
        "reparam-eg",
        "reparam-egu",
    ];
    assert_eq!(names.into_iter().collect::<Vec<_>>(), expected, "theorems that were never valid");
}

#[test]
fn mistakes_of_winnow_are_within_their_bound_whatever_the_comparator() {
    for walk in ["winnow(n=5)", "reparam-winnow(n=5)", "winnow(n=5, margin=0.7)"] {
        let case = Case { positive: true, ..case(walk, "logistic", "auto") };
        for seed in 0..5 {
            let block = stream(&case, Task::Binary, seed);
            let (built, _) = learn(&case, Task::Binary, &block);
            let mut random = Sampler::new(seed);
            for _ in 0..20 {
                let u = vec![comparator(Domain::Positive, N + 1, &mut random)];
                let report = built.learner.report(&Against::Given(&u), None).unwrap();
                let verdict = &report.theorems[0];
                let c = &verdict.certificate;
                assert_eq!((verdict.quantity, &c.status), (Quantity::Mistakes, &Status::Valid));
                assert!(c.loss > 0.0 && c.loss <= c.bound, "{walk} {seed}: {c}");
                assert_eq!(report.best().theorem, "first-order");
            }
            let all = built.learner.report(&Against::Reach, None).unwrap();
            assert!(all.theorems[0].certificate.loss <= all.theorems[0].certificate.bound);
        }
    }
}

#[test]
fn a_null_vector_that_is_known_has_its_theorem() {
    // Rows orthogonal to (0.6, 0.8, 0).
    let mut block = Block::new();
    let mut random = Sampler::new(1);
    for _ in 0..200 {
        let (a, b) = (random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5));
        block.features(&[0, 1, 2], &[-0.8 * a, 0.6 * a, b]);
        block.end(0.0, 1.0);
    }
    let case = case("sphere", "invariant", "0.5");
    let plain = Settings { intercept: false, ..settings(&case, Task::Regression) };
    let none = walks::of(&plain, None).unwrap().learner.report(&Against::Reach, None).unwrap();
    assert!(none.reason.contains("one comparator"), "{}", none.reason);
    let setting = geowalk_run::learner::Setting::new(
        AnyLoss::parse("invariant").unwrap(),
        geowalk_run::rate::Rate::Constant(0.5),
    );
    let u = vec![0.6, 0.8, 0.0];
    let mut request = walks::Request::new(Task::Regression, setting, 3);
    request.comparator = Some(u.clone());
    let mut built = walks::build("sphere", request).unwrap();
    built.learner.learn(&block, 0..block.len(), &mut Vec::new()).unwrap();
    let report = built.learner.report(&Against::Given(&[u]), None).unwrap();
    let c = &report.theorems[0].certificate;
    assert_eq!((c.theorem, &c.status), ("null-vector", &Status::Valid));
    assert!(c.loss > 0.01 && c.loss <= c.bound, "{c}");
}

#[test]
fn a_premise_breaks_at_its_row() {
    // The squared loss at a rate of ½: a row with |x|² > 1 (and the constant, from the beginning) is too long.
    let mut block = Block::new();
    for t in 0..20_u32 {
        block.feature(0, if t == 12 { 2.0 } else { 0.1 });
        block.end(0.5, 1.0);
    }
    let case = case("gd", "squared", "0.5");
    let (built, _) = learn(&case, Task::Regression, &block);
    let report = built.learner.report(&Against::Reach, None).unwrap();
    let theorem = |name| {
        report.theorems.iter().find(|v| v.certificate.theorem == name).map(|v| &v.certificate)
    };
    let Status::Void(broken) = &theorem("least-squares").unwrap().status else { panic!("valid") };
    assert_eq!((broken.row, broken.premise), (13, "rate |x|^2 < 1"));
    assert_eq!(theorem("gradient-descent").unwrap().status, Status::Valid);
    // A second feature below 0 breaks EGU's premise; declared ranges are held to.
    let mut block = Block::new();
    for t in 0..10_u32 {
        block.feature(0, if t == 6 { 1.5 } else { 0.5 });
        block.end(0.5, 1.0);
    }
    let egu = Case {
        y_range: Some((0.0, 1.0)),
        declared: &[("x-range", "0,1")],
        ..self::case("egu", "squared", "0.1")
    };
    let (built, _) = learn(&egu, Task::Regression, &block);
    let report = built.learner.report(&Against::Reach, None).unwrap();
    let verdict = report.theorem().unwrap();
    let Status::Void(broken) = &verdict.certificate.status else { panic!("valid") };
    assert_eq!((broken.row, broken.premise), (7, "features in [0, X]"));
    assert_eq!(verdict.declared.len(), 2, "{:?}", verdict.declared);
    let json = report.json();
    assert_eq!(json["theorem"]["status"], "void");
    assert_eq!(json["theorem"]["reason"], "features in [0, X] (row 7)");
    assert_eq!((&json["status"], &json["name"]), (&"valid".into(), &"first-order".into()));
}

#[test]
fn certified_rates_are_refused_with_a_reason() {
    let refused = |case: &Case| match walks::of(&settings(case, Task::Binary), None) {
        Ok(built) => panic!("{}: {}", case.walk, built.rate),
        Err(error) => error.to_string(),
    };
    for (case, part) in [
        (case("adagrad", "logistic", "certified"), "metric"),
        (case("neg", "logistic", "certified"), "prescribes no rate"),
        (case("eg", "exponential", "certified"), "slopes are not bounded"),
        (case("egu", "squared", "certified"), "--y-range 0,Y"),
        (case("reparam-eg", "squared", "certified"), "--x-range LO,HI"),
        (case("reparam-eg", "logistic", "certified"), "squared loss"),
        (
            Case { declared: &[("x-norm", "-1")], ..case("gd", "squared", "certified") },
            "--x-norm R",
        ),
        (case("explicit:simplex", "logistic", "certified"), "no theorem"),
        (case("natural", "logistic", "certified"), "natural gradient has none"),
    ] {
        let said = refused(&case);
        assert!(said.contains(part), "{}: {said}", case.walk);
    }
    let declared = Case {
        declared: &[("x-norm", "1.0"), ("distance", "2"), ("rounds", "100")],
        ..case("gd", "logistic", "certified")
    };
    let built =
        walks::of(&Settings { intercept: false, ..settings(&declared, Task::Binary) }, None);
    assert_eq!(built.unwrap().rate, "0.2 (certified by gradient-descent)");
}

/// Rows grow, and a long one comes at the end: a new epoch for each, at the rate of the theorem, whose premises hold in all of them.
#[test]
fn without_declared_constants_there_are_epochs() {
    for (case, least, theorem) in [
        (case("gd", "squared", "certified"), 4, "least-squares"),
        (case("gd", "absolute", "certified"), 3, "gradient-descent"),
        (case("implicit:euclidean", "absolute", "certified"), 3, "proximal-flat"),
        (case("mirror:p-norm", "squared", "certified"), 4, "ols"),
        (case("eg", "squared", "certified"), 4, "eg"),
        (case("eg", "absolute", "certified"), 3, "linear-eg"),
    ] {
        let mut block = Block::new();
        for t in 0..200_u32 {
            let grown = if t == 190 { 50.0 } else { 1.0 + f64::from(t) / 50.0 };
            let x = [grown, grown * f64::from(t % 3) / 2.0 - 1.0, f64::from(t % 5)];
            block.push_dense(&x, 0.5 * x[0] + 0.5 * x[1], 1.0).unwrap();
        }
        let settings = Settings { intercept: false, ..settings(&case, Task::Regression) };
        let mut built = walks::of(&settings, None).unwrap();
        assert_eq!(built.rate, format!("doubling (certified by {theorem})"));
        built.learner.learn(&block, 0..200, &mut Vec::new()).unwrap();
        let u = vec![vec![0.5, 0.5, 0.0]];
        let report = built.learner.report(&Against::Given(&u), Some(0.0)).unwrap();
        let named = report.theorems.iter().find(|v| v.certificate.theorem == theorem).unwrap();
        assert_eq!(named.certificate.status, Status::Valid, "{}", named.certificate);
        assert!(named.epochs >= least, "{}: {} epochs", case.walk, named.epochs);
        assert!(named.certificate.loss <= named.certificate.bound, "{}", named.certificate);
        assert_eq!(named.certificate.rounds, 200);
        let words = geowalk_run::certificate::words(named);
        assert!(words.ends_with(&format!("; in {} epochs", named.epochs)), "{words}");
        // A constant rate, the largest that the rows before the last would have allowed, is void there.
        let rate = match theorem {
            "least-squares" | "eg" => "0.01",
            "ols" => "0.005",
            _ => continue,
        };
        let settings = Settings { learner: settings.learner.at_rate(rate), ..settings };
        let mut built = walks::of(&settings, None).unwrap();
        built.learner.learn(&block, 0..200, &mut Vec::new()).unwrap();
        let report = built.learner.report(&Against::Given(&u), None).unwrap();
        let named = report.theorems.iter().find(|v| v.certificate.theorem == theorem).unwrap();
        let Status::Void(broken) = &named.certificate.status else { panic!("{theorem}") };
        assert_eq!(broken.row, 191, "{theorem}: {broken:?}");
    }
}
