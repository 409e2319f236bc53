//! # A search for false certificates
//! Draws random streams, walks, losses, rates, starts, declared constants, clips, ties, weights and comparators. It
//! learns with the same learners as `train`, computes the regret independently with [twice the digits](Double), and
//! looks for
//! * a bound that is valid and below the regret,
//! * a premise that is broken while the theorem stays valid: a comparator outside the set of the theorem, a label
//!   above the clip, a row longer than declared.
//!
//! The seed alone determines a run. **Cost** About a millisecond per run.

use std::collections::BTreeMap;

use geowalk::Real;
use geowalk::certify::{Certificate, Quantity, Status};
use geowalk::experts::{Combination, Experts, Kind, Rule, Settings as Weighing, Tuning};
use geowalk::laws::Sampler;
use geowalk::loss::{AnyLoss, Loss};
use geowalk::row::Block;
use geowalk_data::Task;
use geowalk_run::certificate::{Against, Report};
use geowalk_run::hindsight::{Domain, Form, Problem};
use geowalk_run::learner::Learner;
use geowalk_run::model::{LearnerSettings, Settings, WalkSettings};
use geowalk_run::theorem::Declared;
use geowalk_run::walks;

use crate::double::Double;

/// How often a theorem was valid and void.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Times it was valid with a finite bound.
    pub valid: u64,
    /// Times it was void or had no finite bound.
    pub void: u64,
}

/// The result of a search.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Number of runs.
    pub runs: u64,
    /// Number of runs whose settings were refused.
    pub refused: u64,
    /// Counts by name of the theorem.
    pub theorems: BTreeMap<&'static str, Count>,
    /// Every violation, with its seed.
    pub violations: Vec<String>,
}

impl Found {
    fn count(&mut self, certificate: &Certificate) -> bool {
        let count = self.theorems.entry(certificate.theorem).or_default();
        let valid = certificate.status == Status::Valid && certificate.bound.is_finite();
        if valid {
            count.valid += 1;
        } else {
            count.void += 1;
        }
        valid
    }

    /// Checks that a valid bound is not below the true value by more than the rounding of the losses.
    fn compare(&mut self, certificate: &Certificate, found: Double, size: f64, what: &str) {
        if self.count(certificate) {
            let slack = 32.0 * f64::EPSILON * size + f64::MIN_POSITIVE;
            if found > Double::from(certificate.bound) + Double::from(slack) {
                self.violations.push(format!("{what}: {} > {certificate}", found.number()));
            }
        }
        if certificate.status == Status::Valid && certificate.bound.is_nan() {
            self.violations.push(format!("{what}: valid and NaN: {certificate}"));
        }
    }

    /// Checks that a theorem with a broken premise is not valid.
    fn broken(&mut self, certificate: &Certificate, what: &str) {
        if certificate.status == Status::Valid {
            self.violations.push(format!("{what}, and still {certificate}"));
        }
    }
}

/// Makes `runs` runs, with seeds from `first` on.
pub fn search(first: u64, runs: u64) -> Found {
    let mut found = Found::default();
    for seed in first..first + runs {
        found.runs += 1;
        // One run in eight combines experts.
        if seed % 8 == 7 { game(seed, &mut found) } else { walk(seed, &mut found) }
    }
    found
}

/// 10 to a random power in this range.
fn power(random: &mut Sampler, lo: f64, hi: f64) -> f64 {
    Real::powf(10.0_f64, random.uniform(lo, hi))
}

fn one<T: Copy>(random: &mut Sampler, of: &[T]) -> T {
    of[random.below(of.len())]
}

const WALKS: [&str; 32] = [
    "free",
    "free(step=0, epsilon=1)",
    "gd",
    "gd",
    "perceptron",
    "implicit:euclidean",
    "mirror:p-norm(q=1.2)",
    "mirror:p-norm",
    "ols",
    "eg",
    "eg",
    "eg+-",
    "mirror:simplex-entropy(signed=true, scale=SCALE)",
    "egu(start=START)",
    "egu(start=START)",
    "egu(start=START, signed=true, scale=SCALE)",
    "reparam-egu(start=START)",
    "reparam-eg",
    "reparam-eg(lo=0, hi=1)",
    "neg(start=START)",
    "mirror:burg(start=START)",
    "mahalanobis(sigma=diag(1, 2, 0.5, 3, 1))",
    "winnow(n=5)",
    "reparam-winnow(n=5)",
    "adagrad",
    "sphere",
    "explicit:simplex",
    "explicit:hyperbolic",
    "implicit:simplex-entropy",
    "implicit:entropy(start=START)",
    "prod",
    "implicit:p-norm",
];

const LOSSES: [&str; 10] = [
    "squared",
    "squared",
    "absolute",
    "logistic",
    "hinge",
    "huber(delta=0.5)",
    "quantile(tau=0.3)",
    "exponential",
    "matsushita",
    "invariant",
];

/// Theorems on probability vectors, and on positive weights.
const SIMPLEX: [&str; 3] = ["eg", "linear-eg", "reparam-eg"];
const POSITIVE: [&str; 5] = ["egu", "reparam-egu", "winnow", "reparam-winnow", "natural-eg"];

/// The random choices of a run.
struct Case {
    settings: Settings,
    /// Whether rows are in [0, 1] times `scale`.
    positive: bool,
    /// Whether labels are in [0, 1] times `labels`.
    tame: bool,
    scale: f64,
    labels: f64,
    tag: String,
}

fn case(seed: u64, random: &mut Sampler) -> Case {
    // Data that satisfy theorems with many premises.
    let tame = random.below(2) == 0;
    let positive = tame || random.below(2) == 0;
    // Mostly ordinary scales, sometimes near the limits of floats.
    let scale = match random.below(12) {
        0 => power(random, -150.0, 100.0),
        1..5 => power(random, -3.0, 10.0),
        _ => 1.0,
    };
    let labels = if random.below(5) == 0 { power(random, -3.0, 3.0) } else { 1.0 };
    let mut walk = one(random, &WALKS).to_owned();
    walk = walk.replace("START", &format!("{:e}", power(random, -5.0, 1.5)));
    walk = walk.replace("SCALE", &format!("{:e}", power(random, -1.0, 1.5)));
    let loss = one(random, &LOSSES).to_owned();
    let rate = match random.below(10) {
        0 => "auto".to_owned(),
        1..4 => "certified".to_owned(),
        4 => format!("{:e}", power(random, -30.0, 10.0)),
        5..7 => format!("{:e}", power(random, -4.0, 0.0) / (scale * labels)),
        _ => format!("{:e}", power(random, -4.0, 1.0) / (scale * scale * labels.max(1.0))),
    };
    let y_range = match random.below(6) {
        _ if tame && walk.contains("egu(") && !walk.contains("signed") => Some((0.0, labels)),
        _ if tame => None,
        0 => Some((-1.0, 1.0)),
        1 | 2 => Some((0.0, power(random, -1.0, 1.0))),
        _ => None,
    };
    let sizes =
        [power(random, -1.0, 1.0) * scale, power(random, -1.0, 1.0), power(random, -1.0, 2.0)];
    let [x_norm, distance, comparator_loss] =
        sizes.map(|value| (random.below(3) == 0).then_some(value));
    let rounds = (random.below(3) == 0).then(|| 1 + random.below(40) as u64);
    let x_range = (random.below(3) == 0).then(|| {
        let most = power(random, -0.5, 0.5) * scale;
        (if positive { 0.0 } else { -most }, most)
    });
    let declared = Declared { x_norm, x_range, distance, comparator_loss, rounds };
    let margin = AnyLoss::parse(&loss).is_ok_and(|loss| loss.facts().margin);
    let binary = margin || walk == "perceptron" || walk.contains("winnow");
    let task = if binary { Task::Binary } else { Task::Regression };
    let intercept = !tame && random.below(2) == 0;
    let tag = format!(
        "seed {seed}: {walk}, {loss}, rate {rate}, y-range {y_range:?}, intercept {intercept}, {declared:?}, rows of {scale:e}"
    );
    let learner = LearnerSettings::Walk(WalkSettings { walk, rate, sigma: None, declared });
    let settings = Settings { seed, intercept, y_range, ..Settings::new(learner, loss, task) };
    Case { settings, positive, tame, scale, labels, tag }
}

/// A row as the learner sees it, including the constant, with its label and weight.
struct Example {
    x: Vec<f64>,
    y: f64,
    weight: f64,
}

fn stream(case: &Case, random: &mut Sampler) -> Vec<Example> {
    let n = 1 + random.below(4);
    let rounds = 1 + random.below(24);
    let (ties, late) = (random.below(3) == 0, random.below(6) == 0);
    let weighted = random.below(8) == 0;
    let binary = case.settings.task == Task::Binary;
    let nothing = case.tame && random.below(4) == 0;
    let target: Vec<f64> = (0..n).map(|_| random.uniform(-0.3, 0.8) / case.scale).collect();
    let mut rows: Vec<Example> = Vec::new();
    for t in 0..rounds {
        let lo = if case.positive { 0.0 } else { -1.0 };
        let mut x: Vec<f64> = (0..n)
            .map(|_| match random.below(if ties { 3 } else { 12 }) {
                0 => 0.0,
                1 => case.scale,
                _ => case.scale * random.uniform(lo, 1.0),
            })
            .collect();
        if ties && random.below(3) == 0 {
            x.fill(case.scale);
        }
        if late && t < rounds / 2 && n > 1 {
            x.truncate(n - 1);
        }
        let sum: f64 = target.iter().zip(&x).map(|(w, x)| w * x).sum();
        let y = match random.below(4) {
            _ if binary => {
                if sum + 0.3 * random.normal() > 0.2 {
                    1.0
                } else {
                    -1.0
                }
            }
            _ if nothing => 0.0,
            0 if case.tame => case.labels * random.unit(),
            0 => case.labels * random.uniform(-1.5, 1.5),
            1 => case.labels,
            _ => case.labels * (sum + 0.1 * random.normal()).clamp(0.0, 1.0),
        };
        if let (true, Some(last)) = (ties && random.below(3) == 0, rows.last()) {
            x.clone_from(&last.x[usize::from(case.settings.intercept)..].to_vec());
        }
        let weight = if weighted { one(random, &[0.0, 0.5, 1.0, 1.0]) } else { 1.0 };
        if case.settings.intercept {
            x.insert(0, 1.0);
        }
        rows.push(Example { x, y, weight });
    }
    rows
}

/// ⟨u, x⟩ with twice the digits.
fn dot(u: &[f64], x: &[f64]) -> Double {
    u.iter().zip(x).fold(Double::ZERO, |sum, (u, x)| sum + Double::product(*u, *x))
}

/// ℓ(z, y), with twice the digits if it is made of sums and products.
fn loss_at(loss: &AnyLoss, z: Double, y: f64) -> Double {
    let off = z - Double::from(y);
    match loss {
        AnyLoss::Squared(_) => off * off,
        AnyLoss::Absolute(_) => off.abs(),
        AnyLoss::Hinge(_) => (Double::from(1.0) - Double::from(y) * z).max(Double::ZERO),
        AnyLoss::Invariant(_) => z * z,
        // Adds the low part of z to first order.
        _ => {
            let near = z.number();
            let rest = (z - Double::from(near)).number();
            Double::from(loss.value(near, y)) + Double::from(loss.slope(near, y) * rest)
        }
    }
}

/// Comparators in the domain of the weights, at its edges, near the start, and outside.
fn comparators(domain: Domain, n: usize, start: f64, random: &mut Sampler) -> Vec<Vec<f64>> {
    let size = power(random, -2.0, 1.0);
    let signed: Vec<f64> = (0..n).map(|_| size * random.normal()).collect();
    let positive: Vec<f64> = signed.iter().map(|u| u.abs()).collect();
    let total = |v: &[f64]| v.iter().map(|v| v.abs()).sum::<f64>();
    let scaled = |v: &[f64], to: f64| {
        let sum = total(v);
        v.iter().map(|v| to * v / sum).collect::<Vec<f64>>()
    };
    let mut vertex = vec![0.0; n];
    vertex[random.below(n)] = 1.0;
    let near = power(random, -17.0, -1.0);
    let mut all = vec![signed.clone(), positive.clone(), vec![0.0; n], Vec::new()];
    match domain {
        Domain::Simplex => {
            all.push(scaled(&positive, 1.0));
            all.push(vertex);
            let mut close = vec![1.0 / n as f64; n];
            let moved = close[0] * near;
            close[0] += moved;
            close[n - 1] -= moved;
            all.push(close);
        }
        Domain::Cross(scale) => {
            all.push(scaled(&signed, scale * random.unit()));
            all.push(scaled(&vertex, scale));
            all.push(scaled(&signed, scale * near));
            all.push(scaled(&signed, scale * 1.01));
        }
        Domain::Sphere(radius) => {
            let length = signed.iter().map(|u| u * u).sum::<f64>().sqrt();
            all.push(signed.iter().map(|u| radius * u / length).collect());
        }
        Domain::Space | Domain::Positive => {
            all.push(positive.iter().map(|u| start + near * u).collect());
            all.push(signed.iter().map(|u| start * (1.0 + near * u)).collect());
            all.push(vertex.iter().map(|u| size * u).collect());
        }
    }
    all
}

/// One walk on one stream.
fn walk(seed: u64, found: &mut Found) {
    let mut random = Sampler::new(seed);
    let case = case(seed, &mut random);
    let rows = stream(&case, &mut random);
    let Ok(mut built) = walks::of(&case.settings, None) else {
        found.refused += 1;
        return;
    };
    let shift = usize::from(case.settings.intercept);
    let mut block = Block::new();
    for row in &rows {
        for (i, x) in row.x[shift..].iter().enumerate() {
            if *x != 0.0 || i + 1 == row.x.len() - shift {
                block.feature(u32::try_from(i).unwrap_or(0), *x);
            }
        }
        block.end(row.y, row.weight);
    }
    let mut outcomes = Vec::new();
    // A step that cannot be made ends the stream.
    let _ = built.learner.learn(&block, 0..block.len(), &mut outcomes);
    let rows = &rows[..outcomes.len()];
    let n = rows.iter().map(|row| row.x.len()).max().unwrap_or(0);
    if n == 0 {
        return;
    }
    let loss = &built.loss;
    let mut lost = (Double::ZERO, 0.0);
    for (outcome, row) in outcomes.iter().zip(rows) {
        let one = loss_at(loss, outcome.prediction.into(), row.y) * row.weight.into();
        lost = (lost.0 + one, lost.1 + one.number().abs());
    }
    let learner = built.learner.as_ref();
    let domain = learner.domain();
    let start = spec_number(&case.settings.walk(), "start=").unwrap_or(0.0);
    let mut all = comparators(domain, n, start, &mut random);
    let mut own = Vec::new();
    learner.weights(0, &mut own);
    all.push(own.clone());
    if seed % 64 == 3 {
        let problem = Problem {
            blocks: vec![(block, (0..rows.len()).collect())],
            loss,
            form: Form::One,
            intercept: case.settings.intercept,
            features: own.len(),
            outputs: 1,
            passes: 1.0,
            halt: geowalk::boost::Halt::default(),
        };
        all.extend(problem.best(domain, &[own.clone()]).map(|best| best.u[0].clone()));
    }
    for u in all {
        against(&case, learner, loss, rows, &u, lost, found);
    }
    // A bound for all weights within reach also holds for the final weights.
    if let Some(report) = learner.report(&Against::Reach, None) {
        let regret = regret(loss, rows, &own, lost);
        if let Some((regret, size)) = regret {
            judge(&report, regret, size, &format!("{}, all within reach", case.tag), found);
        }
    }
}

/// The number after a key in the specification of a walk.
fn spec_number(walk: &str, key: &str) -> Option<f64> {
    let rest = walk.split(key).nth(1)?;
    rest.split([',', ')']).next()?.trim().parse().ok()
}

/// The regret against u, and the magnitude of the numbers in it; `None` if it is not finite.
fn regret(
    loss: &AnyLoss,
    rows: &[Example],
    u: &[f64],
    (own, size): (Double, f64),
) -> Option<(Double, f64)> {
    let (mut sum, mut size) = (own, size);
    let allowed = loss.facts().predictions;
    for row in rows {
        let z = dot(u, &row.x);
        if !allowed.contains(z.number()) {
            return None;
        }
        let one = loss_at(loss, z, row.y) * row.weight.into();
        (sum, size) = (sum - one, size + one.number().abs());
    }
    sum.number().is_finite().then_some((sum, size))
}

fn judge(report: &Report, regret: Double, size: f64, what: &str, found: &mut Found) {
    found.compare(&report.first_order, regret, size, what);
    for verdict in &report.theorems {
        let c = &verdict.certificate;
        match verdict.quantity {
            Quantity::Regret => found.compare(c, regret, size, what),
            Quantity::Mistakes => found.compare(c, c.loss.into(), 0.0, what),
            // Only the theorem knows the losses after the steps; they never exceed those before.
            _ => {
                let _ = found.count(c);
            }
        }
    }
}

/// Checks one comparator, with and without its loss.
fn against(
    case: &Case,
    learner: &dyn Learner,
    loss: &AnyLoss,
    rows: &[Example],
    u: &[f64],
    lost: (Double, f64),
    found: &mut Found,
) {
    let what = format!("{}, against {u:?}", case.tag);
    let known = regret(loss, rows, u, lost);
    let given = [u.to_vec()];
    let asked = Against::Given(&given);
    let Some(report) = learner.report(&asked, None) else { return };
    premises(case, rows, u, learner.domain(), &report, &what, found);
    let Some((regret, size)) = known else { return };
    judge(&report, regret, size, &what, found);
    let own = (lost.0 - regret).number();
    if let Some(report) = learner.report(&asked, Some(own)) {
        judge(&report, regret, size, &format!("{what} that lost {own}"), found);
    }
}

/// Breaks premises on purpose.
fn premises(
    case: &Case,
    rows: &[Example],
    u: &[f64],
    domain: Domain,
    report: &Report,
    what: &str,
    found: &mut Found,
) {
    let total: f64 = u.iter().sum();
    let magnitude: f64 = u.iter().map(|u| u.abs()).sum();
    let negative = u.iter().any(|u| *u < 0.0);
    let off_simplex = negative || (total - 1.0).abs() > 1e-9;
    let x_norm = match &case.settings.learner {
        LearnerSettings::Walk(own) => own.declared.x_norm,
        _ => None,
    };
    let longest = rows.iter().map(|row| row.x.iter().map(|x| x * x).sum::<f64>().sqrt());
    let longest = longest.fold(0.0, f64::max);
    for verdict in &report.theorems {
        let c = &verdict.certificate;
        let simplex = SIMPLEX.contains(&c.theorem) || c.theorem == "mirror-steps";
        match domain {
            Domain::Simplex if simplex && off_simplex => found.broken(c, what),
            Domain::Cross(scale) if simplex && magnitude > scale * (1.0 + 1e-9) => {
                found.broken(c, what);
            }
            Domain::Positive if negative && (POSITIVE.contains(&c.theorem) || simplex) => {
                found.broken(c, what);
            }
            _ => {}
        }
        if let (true, Some((_, y))) = (c.theorem.ends_with("egu"), case.settings.y_range) {
            let outside = |row: &Example| row.y > y * (1.0 + 1e-9) || row.y < -1e-9;
            let below = |row: &Example| row.x.iter().any(|x| *x < 0.0);
            // A row of weight 0 is not an example.
            if rows.iter().any(|row| row.weight > 0.0 && (outside(row) || below(row))) {
                found.broken(c, &format!("{what}: a label or feature outside"));
            }
        }
        let declared = verdict.declared.iter().any(|d| d.premise == "|x| <= R");
        if let (true, Some(r)) = (declared, x_norm) {
            let own = if case.settings.intercept { Real::hypot(r, 1.0) } else { r };
            if longest > own * (1.0 + 1e-9) {
                found.broken(c, &format!("{what}: a row longer than declared"));
            }
        }
    }
}

/// How a game weighs its experts.
fn weighing(random: &mut Sampler) -> Weighing {
    let losses = ["squared", "absolute", "huber(delta=0.5)"];
    let loss = AnyLoss::parse(one(random, &losses)).ok();
    let kind = match (random.below(5), loss) {
        (0..=1, Some(loss)) => Kind::Forecasts(loss),
        (2, _) => Kind::Probabilities,
        (3, _) => Kind::Relatives,
        _ => Kind::Losses,
    };
    let rules = [
        Rule::Hedge,
        Rule::Hedge,
        Rule::ReparamHedge,
        Rule::Prod,
        Rule::Eg,
        Rule::Eg,
        Rule::ReparamEg,
        Rule::MlPoly,
        Rule::Boa,
    ];
    let rule = one(random, &rules);
    let tuning = match random.below(5) {
        _ if matches!(rule, Rule::MlPoly | Rule::Boa) => Tuning::Auto,
        0 => Tuning::Rate(power(random, -3.0, 1.0)),
        1 => Tuning::Tuned { loss: power(random, -1.0, 2.0) },
        2 => Tuning::Doubling,
        _ => Tuning::Auto,
    };
    let share = match rule {
        Rule::MlPoly | Rule::Boa => 0.0,
        _ => one(random, &[0.0, 0.0, 0.0, 0.1, 0.001, 0.9]),
    };
    let range = one(random, &[None, None, Some((0.0, 1.0)), Some((0.0, 2.0)), Some((-1.0, 1.0))]);
    Weighing { kind, rule, tuning, share, range }
}

/// One expert game.
fn game(seed: u64, found: &mut Found) {
    let mut random = Sampler::new(seed);
    let n = 1 + random.below(4);
    let weighing = weighing(&mut random);
    let Weighing { kind, rule, tuning, share, range } = weighing.clone();
    let few = 1 + random.below(6);
    let values = [0.5, 1.0, 0.0, 0.3, 0.1, 0.2];
    let scale = if random.below(6) == 0 { power(&mut random, -9.0, 9.0) } else { 1.0 };
    let tag = format!(
        "seed {seed}: {n} experts, {kind:?}, {rule:?}, {tuning:?}, share {share}, range {range:?}"
    );
    let Ok(mut experts) = Experts::new(n, weighing) else {
        found.refused += 1;
        return;
    };
    let draw = |random: &mut Sampler| {
        let value =
            if random.below(2) == 0 { values[random.below(few)] } else { random.uniform(0.0, 1.0) };
        match kind {
            Kind::Probabilities => value,
            Kind::Relatives => 0.2 + value,
            _ => scale * value,
        }
    };
    let mut sums = vec![Double::ZERO; n];
    let (mut own, mut size) = (Double::ZERO, 0.0);
    // A mixture, and a sequence of experts that changes now and then.
    let parts: Vec<f64> = (0..n).map(|_| random.below(3) as f64 * random.unit() + 1e-3).collect();
    let u: Vec<f64> = parts.iter().map(|u| u / parts.iter().sum::<f64>()).collect();
    let (mut mixed, mut sequence) = (Double::ZERO, Double::ZERO);
    let (mut on, mut switches, mut rounds) = (random.below(n), 0, 0_u64);
    for _ in 0..=random.below(20) {
        let same = random.below(4) == 0;
        let first = draw(&mut random);
        let row: Vec<f64> = (0..n).map(|_| if same { first } else { draw(&mut random) }).collect();
        let y = match kind {
            Kind::Probabilities => one(&mut random, &[0.0, 1.0]),
            _ => draw(&mut random),
        };
        let Ok(Some(play)) = experts.learn(&row, y) else { break };
        own = own + play.loss.into();
        size += play.loss.abs();
        for (sum, lost) in sums.iter_mut().zip(experts.last_losses()) {
            *sum = *sum + (*lost).into();
        }
        if rounds > 0 && random.below(4) == 0 {
            let next = random.below(n);
            switches += u64::from(next != on);
            on = next;
        }
        rounds += 1;
        sequence = sequence + experts.last_losses()[on].into();
        let mean = experts.last_row().iter().zip(&u).map(|(x, u)| x * u).sum();
        mixed = mixed + kind.loss().value(mean, y).into();
        let weight: f64 = experts.weights().iter().sum();
        let sound = (weight - 1.0).abs() <= 1e-9 && experts.weights().iter().all(|w| *w >= 0.0);
        if !sound {
            found.violations.push(format!("{tag}: weights {:?}", experts.weights()));
        }
    }
    for (i, sum) in sums.iter().enumerate() {
        let standing = experts.against_expert(i);
        let regret = own - *sum;
        if !regret.number().is_finite() {
            continue;
        }
        // Predictions are rounded sums, which affects the losses.
        let size = size + sum.number().abs() + standing.rounding / f64::EPSILON / 32.0;
        found.compare(&standing.certificate, regret, size, &tag);
        found.compare(&standing.first_order, regret, size, &tag);
    }
    let mixture = Combination { loss: mixed.number(), w: u, gap: 0.0 };
    let mixture = experts.against(&mixture).map(|standing| (standing, mixed, "a mixture"));
    let followed = experts.against_sequence(sequence.number(), switches);
    let followed = followed.map(|standing| (standing, sequence, "a sequence"));
    for (standing, lost, whom) in mixture.into_iter().chain(followed) {
        let regret = own - lost;
        if regret.number().is_finite() {
            let size = size + lost.number().abs() + standing.rounding / f64::EPSILON / 32.0;
            found.compare(&standing.certificate, regret, size, &format!("{tag}, against {whom}"));
        }
    }
}
