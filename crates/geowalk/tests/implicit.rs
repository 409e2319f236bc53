//! Implicit steps: residual of the equation, objective against brute force, theorems about the step, edge cases.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // test code

mod walk_support;

use std::collections::HashMap;
use std::fmt::Debug;

use geowalk::geometry::generators::{self, ItakuraSaito, KullbackLeibler};
use geowalk::geometry::manifolds::{self, Hyperboloid, PositiveOrthant};
use geowalk::geometry::{Event, ExpLog, Generator, Work};
use geowalk::loss::{AnyLoss, Facts, Loss, Squared};
use geowalk::row::{Dense, Sparse};
use geowalk::update::Target;
use geowalk::walk::{
    Burg, Entropy, Euclidean, Hyperbolic, Implicit, Orthant, PNorm, Proximal, Simplex,
    SimplexEntropy, Sphere, Walk,
};
use geowalk::{DomainError, Real};
use walk_support::{Random, weights};

/// A geometry of the library, and the walk that is tested with it.
trait Space: Debug {
    type Walk: Proximal + Clone + PartialEq + Debug;

    fn start(&self) -> Self::Walk;

    /// The saved state of a walk at the weights w.
    fn state(&self, w: &[f64]) -> HashMap<&'static str, Vec<f64>>;

    /// Random weights; a large `wild` gives weights near the edges.
    fn random(&self, n: usize, wild: f64, random: &mut Random) -> Vec<f64>;

    /// D(to, from), the penalty term of the implicit step.
    fn cost(&self, to: &[f64], from: &[f64]) -> f64;

    /// Weights near w, at a distance of about `size`.
    fn near(&self, w: &[f64], size: f64, random: &mut Random) -> Vec<f64>;

    /// The error of the equation at `to`, for the covector ηg′x.
    fn residual(&self, to: &[f64], from: &[f64], covector: &[f64]) -> f64;

    fn at(&self, w: &[f64]) -> Implicit<Self::Walk> {
        let state = self.state(w);
        let mut walk = self.start();
        walk.load_state(&mut |name| state.get(name).cloned()).unwrap();
        Implicit::new(walk)
    }
}

fn normal(random: &mut Random) -> f64 {
    (-2.0 * Real::ln(random.unit())).sqrt() * Real::cos(std::f64::consts::TAU * random.unit())
}

fn named<const N: usize>(arrays: [(&'static str, Vec<f64>); N]) -> HashMap<&'static str, Vec<f64>> {
    arrays.into_iter().collect()
}

fn scaled(w: &[f64]) -> HashMap<&'static str, Vec<f64>> {
    let square = w.iter().map(|w| w * w).sum();
    named([
        ("v", w.to_vec()),
        ("factors", vec![1.0, 0.0]),
        ("square", vec![square, 0.0, 0.0]),
        ("w", w.to_vec()),
    ])
}

fn partition(w: &[f64]) -> HashMap<&'static str, Vec<f64>> {
    let log: Vec<f64> = w.iter().map(|&w| Real::ln(w)).collect();
    let sum = log.iter().map(|&l| Real::exp(l)).sum();
    named([
        ("log_w", log),
        ("untouched", vec![0.0]),
        ("sum", vec![sum, 0.0, 0.0]),
        ("folds", vec![0.0]),
    ])
}

fn positive(n: usize, wild: f64, random: &mut Random) -> Vec<f64> {
    (0..n).map(|_| Real::exp(wild * normal(random))).collect()
}

fn distribution(n: usize, wild: f64, random: &mut Random) -> Vec<f64> {
    let w = positive(n, wild, random);
    let sum: f64 = w.iter().sum();
    w.iter().map(|w| w / sum).collect()
}

/// A walk on a manifold. `lift` adds the ambient coordinates that are not weights.
#[derive(Debug)]
struct Riemannian<M, W> {
    manifold: fn(usize) -> M,
    start: W,
    state: fn(&[f64]) -> HashMap<&'static str, Vec<f64>>,
    random: fn(usize, f64, &mut Random) -> Vec<f64>,
    lift: fn(&[f64]) -> Vec<f64>,
    /// Number of ambient coordinates that are not weights.
    skip: usize,
}

impl<M: ExpLog<f64> + Debug, W: Proximal + Clone + PartialEq + Debug> Space for Riemannian<M, W> {
    type Walk = W;

    fn start(&self) -> W {
        self.start.clone()
    }

    fn state(&self, w: &[f64]) -> HashMap<&'static str, Vec<f64>> {
        (self.state)(w)
    }

    fn random(&self, n: usize, wild: f64, random: &mut Random) -> Vec<f64> {
        (self.random)(n, wild, random)
    }

    fn cost(&self, to: &[f64], from: &[f64]) -> f64 {
        let distance = (self.manifold)(to.len()).distance(
            &(self.lift)(to),
            &(self.lift)(from),
            &mut Work::new(),
        );
        0.5 * distance * distance
    }

    fn near(&self, w: &[f64], size: f64, random: &mut Random) -> Vec<f64> {
        let (m, mut p) = ((self.manifold)(w.len()), (self.lift)(w));
        let covector: Vec<f64> = p.iter().map(|_| normal(random)).collect();
        let mut v = vec![0.0; p.len()];
        let mut work = Work::new();
        m.gradient(&p, &covector, &mut v, &mut work);
        let norm = m.norm(&p, &v, &mut work);
        if norm > 0.0 {
            m.exp(&mut p, &v, size / norm, &mut work).unwrap();
        }
        p.split_off(self.skip)
    }

    fn residual(&self, to: &[f64], from: &[f64], covector: &[f64]) -> f64 {
        let (m, p, q) = ((self.manifold)(to.len()), (self.lift)(to), (self.lift)(from));
        let mut full = vec![0.0; self.skip];
        full.extend(covector);
        let (mut v, mut g) = (vec![0.0; p.len()], vec![0.0; p.len()]);
        let mut work = Work::new();
        m.log(&p, &q, &mut v, &mut work).unwrap();
        m.gradient(&p, &full, &mut g, &mut work);
        let difference: Vec<f64> = v.iter().zip(&g).map(|(v, g)| v - g).collect();
        m.norm(&p, &difference, &mut work) / (1.0 + m.norm(&p, &v, &mut work))
    }
}

/// A walk with a generator.
#[derive(Debug)]
struct Dual<G, W> {
    generator: G,
    start: W,
    state: fn(&[f64]) -> HashMap<&'static str, Vec<f64>>,
    random: fn(usize, f64, &mut Random) -> Vec<f64>,
    /// On the simplex θ is defined up to a constant, and weights are divided by their sum.
    normalized: bool,
    positive: bool,
}

impl<G: Generator<f64> + Debug, W: Proximal + Clone + PartialEq + Debug> Space for Dual<G, W> {
    type Walk = W;

    fn start(&self) -> W {
        self.start.clone()
    }

    fn state(&self, w: &[f64]) -> HashMap<&'static str, Vec<f64>> {
        (self.state)(w)
    }

    fn random(&self, n: usize, wild: f64, random: &mut Random) -> Vec<f64> {
        (self.random)(n, wild, random)
    }

    fn cost(&self, to: &[f64], from: &[f64]) -> f64 {
        self.generator.divergence(to, from)
    }

    fn near(&self, w: &[f64], size: f64, random: &mut Random) -> Vec<f64> {
        let mut w = w.to_vec();
        for w in &mut w {
            let change = size * normal(random);
            *w = if self.positive { *w * Real::exp(change) } else { *w + change };
        }
        if self.normalized {
            let sum: f64 = w.iter().sum();
            for w in &mut w {
                *w /= sum;
            }
        }
        w
    }

    fn residual(&self, to: &[f64], from: &[f64], covector: &[f64]) -> f64 {
        let (mut a, mut b) = (vec![0.0; to.len()], vec![0.0; to.len()]);
        self.generator.link(to, &mut a);
        self.generator.link(from, &mut b);
        // The link of subnormal weights is inaccurate; leave them out.
        let there: Vec<usize> =
            (0..to.len()).filter(|&i| a[i].is_finite() && to[i].abs() > 1e-300).collect();
        let size = there.iter().fold(1.0_f64, |top, &i| top.max(a[i].abs()).max(b[i].abs()));
        let off: Vec<f64> = there.iter().map(|&i| a[i] - b[i] + covector[i]).collect();
        let (least, most) =
            off.iter().fold((f64::MAX, f64::MIN), |(l, m), &o| (l.min(o), m.max(o)));
        (if self.normalized { most - least } else { most.abs().max(least.abs()) }) / size
    }
}

fn signed_weights(n: usize, wild: f64, random: &mut Random) -> Vec<f64> {
    (0..n).map(|_| wild * normal(random)).collect()
}

fn euclidean() -> Riemannian<manifolds::Euclidean, Euclidean> {
    Riemannian {
        manifold: |n| manifolds::Euclidean::new(n).unwrap(),
        start: Euclidean::new(),
        state: scaled,
        random: signed_weights,
        lift: <[f64]>::to_vec,
        skip: 0,
    }
}

fn on_sphere(radius: f64, n: usize, random: &mut Random) -> Vec<f64> {
    let w = signed_weights(n, 1.0, random);
    let norm = w.iter().map(|w| w * w).sum::<f64>().sqrt();
    w.iter().map(|w| radius * w / norm).collect()
}

fn sphere() -> Riemannian<manifolds::Sphere, Sphere> {
    Riemannian {
        manifold: |n| manifolds::Sphere::new(n, 1.0).unwrap(),
        start: Sphere::new(1.0, 0).unwrap(),
        state: scaled,
        random: |n, _, random| on_sphere(1.0, n, random),
        lift: <[f64]>::to_vec,
        skip: 0,
    }
}

fn sphere_of_radius_3() -> Riemannian<manifolds::Sphere, Sphere> {
    Riemannian {
        manifold: |n| manifolds::Sphere::new(n, 3.0).unwrap(),
        start: Sphere::new(3.0, 0).unwrap(),
        random: |n, _, random| on_sphere(3.0, n, random),
        ..sphere()
    }
}

fn hyperbolic() -> Riemannian<Hyperboloid, Hyperbolic> {
    Riemannian {
        manifold: |n| Hyperboloid::new(n + 1).unwrap(),
        start: Hyperbolic::new(),
        state: scaled,
        random: signed_weights,
        lift: |w| {
            let time = (1.0 + w.iter().map(|w| w * w).sum::<f64>()).sqrt();
            std::iter::once(time).chain(w.iter().copied()).collect()
        },
        skip: 1,
    }
}

fn simplex() -> Riemannian<manifolds::Simplex, Simplex> {
    Riemannian {
        manifold: |n| manifolds::Simplex::new(n).unwrap(),
        start: Simplex::new(),
        state: partition,
        random: distribution,
        lift: <[f64]>::to_vec,
        skip: 0,
    }
}

fn orthant() -> Riemannian<PositiveOrthant, Orthant> {
    Riemannian {
        manifold: |n| PositiveOrthant::new(n).unwrap(),
        start: Orthant::new(1.0).unwrap(),
        state: partition,
        random: positive,
        lift: <[f64]>::to_vec,
        skip: 0,
    }
}

fn entropy() -> Dual<KullbackLeibler, Entropy> {
    Dual {
        generator: KullbackLeibler,
        start: Entropy::new(1.0).unwrap(),
        state: partition,
        random: positive,
        normalized: false,
        positive: true,
    }
}

fn simplex_entropy() -> Dual<generators::SimplexEntropy, SimplexEntropy> {
    Dual {
        generator: generators::SimplexEntropy,
        start: SimplexEntropy::new(),
        state: partition,
        random: distribution,
        normalized: true,
        positive: true,
    }
}

fn burg() -> Dual<ItakuraSaito, Burg> {
    Dual {
        generator: ItakuraSaito,
        start: Burg::new(1.0).unwrap(),
        state: |w| named([("theta", w.iter().map(|w| -1.0 / w).collect())]),
        random: positive,
        normalized: false,
        positive: true,
    }
}

const Q: f64 = 1.3;

fn p_norm() -> Dual<generators::PNorm, PNorm> {
    Dual {
        generator: generators::PNorm::new(Q).unwrap(),
        start: PNorm::new(Q).unwrap(),
        state: |w| {
            let mut theta = vec![0.0; w.len()];
            generators::PNorm::new(Q).unwrap().link(w, &mut theta);
            let top = theta.iter().fold(0.0_f64, |top, t| top.max(t.abs()));
            let mass = theta.iter().map(|t| Real::powf(t.abs() / top, Q / (Q - 1.0))).sum();
            named([("theta", theta), ("reference", vec![top]), ("mass", vec![mass, 0.0, 0.0])])
        },
        random: signed_weights,
        normalized: false,
        positive: false,
    }
}

/// A visitor of every geometry.
trait Tour {
    fn visit<S: Space>(&mut self, name: &str, space: &S);
}

fn tour(tourist: &mut impl Tour) {
    tourist.visit("euclidean", &euclidean());
    tourist.visit("sphere", &sphere());
    tourist.visit("sphere(radius=3)", &sphere_of_radius_3());
    tourist.visit("hyperbolic", &hyperbolic());
    tourist.visit("simplex", &simplex());
    tourist.visit("orthant", &orthant());
    tourist.visit("entropy", &entropy());
    tourist.visit("simplex-entropy", &simplex_entropy());
    tourist.visit("burg", &burg());
    tourist.visit("p-norm", &p_norm());
}

/// A loss that is not convex in the prediction, for the walks that search for the root.
const BUMPY: &str = "geodesic(space=spacelike)";

fn losses() -> Vec<AnyLoss> {
    let names = [
        "squared",
        "absolute",
        "hinge",
        "logistic",
        "huber(delta=0.2)",
        "quantile(tau=0.9)",
        "exponential",
    ];
    names.iter().map(|name| AnyLoss::parse(name).unwrap()).collect()
}

const RATES: [f64; 8] = [1e-9, 1e-3, 0.05, 0.5, 2.0, 10.0, 100.0, 316.0];

/// A row with a few zeros: indices, values, and dense.
fn row(n: usize, random: &mut Random) -> (Vec<u32>, Vec<f64>, Vec<f64>) {
    let mut dense = vec![0.0; n];
    for x in &mut dense {
        if random.unit() < 0.7 {
            *x = normal(random) * [1.0, 1.0, 5.0][random.below(3)];
        }
    }
    let present: Vec<usize> = (0..n).filter(|&i| dense[i] != 0.0).collect();
    let values = present.iter().map(|&i| dense[i]).collect();
    #[allow(clippy::cast_possible_truncation)]
    let indices = present.iter().map(|&i| i as u32).collect();
    (indices, values, dense)
}

fn dot(w: &[f64], x: &[f64]) -> f64 {
    w.iter().zip(x).map(|(w, x)| w * x).sum()
}

#[test]
fn the_equation_holds_and_nothing_is_better() {
    struct Definition;
    impl Tour for Definition {
        fn visit<S: Space>(&mut self, name: &str, space: &S) {
            let mut random = Random::new(17);
            let (mut worst, mut better, mut rise) = (0.0_f64, 0.0_f64, 0.0_f64);
            let (mut steps, mut fell_back, mut evaluations, mut most) = (0, 0, 0, 0);
            for case in 0..1500 {
                let n = 2 + random.below(5);
                let wild = [0.3, 1.0, 3.0][case % 3];
                let w = space.random(n, wild, &mut random);
                let (indices, values, x) = row(n, &mut random);
                let y = f64::copysign(1.0, random.unit() - 0.5);
                let mut losses = losses();
                if ["sphere", "hyperbolic", "simplex"].contains(&name) {
                    losses.push(AnyLoss::parse(BUMPY).unwrap());
                }
                let loss = &losses[random.below(losses.len())];
                let rate = RATES[random.below(RATES.len())];
                let weight = 0.5 + random.unit();
                let target = Target { y, weight };
                let mut walk = space.at(&w);
                let sparse = Sparse::new(&indices, &values).unwrap();
                if loss.value(walk.predict(sparse), y) > 1e100 {
                    continue;
                }
                let before = weights(&walk);
                let round = walk.step(sparse, target, loss, rate);
                let place = format!("{name}, case {case}: {loss:?} {w:?} {x:?} {y} {rate}");
                let round = round.unwrap_or_else(|error| panic!("{place}: {error}"));
                let (after, to) = (walk.after().unwrap(), weights(&walk));
                if round.event == Event::Stationary {
                    continue;
                }
                steps += 1;
                evaluations += after.evaluations;
                most = most.max(after.evaluations);

                // U decreases, and so does the loss.
                let value = |w: &[f64]| weight * loss.value(dot(w, &x), y);
                let u = |q: &[f64]| space.cost(q, &before) / rate + value(q);
                let tiny = 1e-12 * (1.0 + round.loss);
                assert!(u(&to) <= u(&before) + tiny, "{place}: U {} > {}", u(&to), u(&before));
                rise = rise.max((after.loss - round.loss) / (1.0 + round.loss));
                assert!((after.z - dot(&to, &x)).abs() < 1e-9 * (1.0 + after.z.abs()));
                if round.event == Event::FellBack {
                    fell_back += 1;
                    continue;
                }
                // The slope is a slope of the loss at the end point, and the equation holds with it.
                let around = 1e-9 * (1.0 + after.z.abs());
                let slope = |z: f64| weight * loss.slope(z, y);
                let (below, above) = (slope(after.z - around), slope(after.z + around));
                let (below, above) = (below.min(above), below.max(above));
                let slack = 1e-9 * (1.0 + after.slope.abs());
                assert!(
                    (below - slack..=above + slack).contains(&after.slope),
                    "{place}: {} not in {below}..{above}",
                    after.slope
                );
                let covector: Vec<f64> = x.iter().map(|x| rate * after.slope * x).collect();
                let residual = space.residual(&to, &before, &covector);
                let clamped = matches!(round.event, Event::Clamped { .. });
                worst = worst.max(if clamped { 0.0 } else { residual });
                assert!(clamped || residual <= 1e-8, "{place}: residual {residual:e}");

                // No other point is better, near the solution or far from it.
                let (best, from) = (u(&to), [&to, &before]);
                // On the orthant, also not if a single weight grows or shrinks.
                if name == "orthant" {
                    for (i, k) in (0..n).flat_map(|i| (-60..=60).map(move |k| (i, f64::from(k)))) {
                        let mut other = before.clone();
                        other[i] *= Real::exp(0.1 * k);
                        better = better.max((best - u(&other)) / (1.0 + best.abs()));
                    }
                }
                for _ in 0..60 {
                    let size = Real::exp(-12.0 * random.unit());
                    for from in from {
                        let other = u(&space.near(from, size, &mut random));
                        if other.is_finite() {
                            better = better.max((best - other) / (1.0 + best.abs()));
                        }
                    }
                }
                // Nor is a point on the curve of the solutions for other rates.
                for k in -30..=30 {
                    let mut walk = space.at(&w);
                    let other =
                        rate * Real::exp(if k % 2 == 0 { 0.2 } else { 1e-4 } * f64::from(k));
                    let round = walk.step(sparse, target, loss, other).unwrap();
                    if round.event != Event::FellBack {
                        better = better.max((best - u(&weights(&walk))) / (1.0 + best.abs()));
                    }
                }
                assert!(better <= 1e-9, "{place}: better by {better:e}");
            }
            assert!(rise <= 1e-12, "{name}: the loss rose by {rise:e}");
            println!(
                "{name}: {steps} steps, residual {worst:.1e}, better {better:.1e}, evaluations {:.1} (at most {most}), fell back {fell_back}",
                evaluations as f64 / f64::from(steps)
            );
        }
    }
    tour(&mut Definition);
}

#[test]
fn brute_force_finds_what_is_not_optimal() {
    // Use the explicit step instead of the implicit one.
    let (space, x, mut random) = (euclidean(), [1.0, -0.5], Random::new(3));
    let before = [0.2, 0.1];
    let u = |q: &[f64]| space.cost(q, &before) / 0.3 + Squared.value(dot(q, &x), 1.0);
    let mut walk = Euclidean::new();
    walk.load_state(&mut |_| Some(before.to_vec())).unwrap();
    walk.step(Dense(&x), 1.0.into(), &Squared, 0.3).unwrap();
    let to = weights(&walk);
    let mut best = u(&to);
    for _ in 0..60 {
        let size = Real::exp(-12.0 * random.unit());
        best = best.min(u(&space.near(&to, size, &mut random)));
    }
    assert!(u(&to) - best > 1e-3, "{} {best}", u(&to));
    assert!(space.residual(&to, &before, &[0.3, -0.15]) > 1e-3);
}

#[test]
fn where_the_loss_is_a_squared_distance_the_step_is_a_proportion() {
    // L is the squared distance to the solution set. At distance D, t²/2η + (D − t)² is least at t = 2ηD/(1 + 2η).
    let x = [0.6, 0.0, -0.8];
    for rate in [1e-6, 0.1, 1.0, 316.0] {
        for (y, w) in [(0.3, [0.1, 0.9, 0.4]), (-0.9, [0.7, 0.2, -0.3]), (0.99, [-0.5, 0.6, 0.1])] {
            let loss = AnyLoss::parse("geodesic").unwrap();
            let norm = dot(&w, &w).sqrt();
            let mut walk = sphere().at(&w.map(|w| w / norm));
            let round = walk.step(Dense(&x), y.into(), &loss, rate).unwrap();
            let whole = (Real::acos(dot(&w, &x) / norm) - Real::acos(y)).abs();
            let part = 2.0 * rate / (1.0 + 2.0 * rate) * whole;
            assert!((round.length - part).abs() < 1e-14, "{y} {rate}: {} {part}", round.length);
            assert!((walk.after().unwrap().loss - (whole - part) * (whole - part)).abs() < 1e-14);

            // This loss is not convex in z, so the solver searches.
            let loss = AnyLoss::parse(BUMPY).unwrap();
            let (y, w) = (20.0 * y, w.map(|w| 30.0 * w));
            let mut walk = hyperbolic().at(&w);
            let round = walk.step(Dense(&x), y.into(), &loss, rate).unwrap();
            let whole = (Real::asinh(dot(&w, &x)) - Real::asinh(y)).abs();
            let part = 2.0 * rate / (1.0 + 2.0 * rate) * whole;
            assert!((round.length - part).abs() < 1e-13, "{y} {rate}: {} {part}", round.length);
        }
    }
}

/// On the principal branch of W the smallest U is 0.966.
#[test]
fn on_the_orthant_the_minimum_is_global() {
    let loss = AnyLoss::parse("hinge").unwrap();
    let mut walk = orthant().at(&[0.0346]);
    let round = walk.step(Dense(&[-0.808]), (-1.0).into(), &loss, 10.0).unwrap();
    let paid = round.length * round.length / 20.0 + walk.after().unwrap().loss;
    assert!(round.event == Event::Inside && (paid - 0.639_780_366_626_164).abs() < 1e-12, "{paid}");
    let far = Real::ln(1.0 / (0.808 * 0.0346));
    assert!((round.length - far).abs() < 1e-12, "{far}");
}

/// D(w, w') ≤ ½η(L(w) − L(w')) if L is convex along the geodesic \[KMWW07, prop. 9\].
#[test]
fn proposition_9() {
    /// `region` decides for which margins yz the loss is convex in the geometry.
    fn check<S: Space>(
        space: &S,
        names: &[&str],
        label: f64,
        nonnegative: bool,
        region: fn(f64) -> bool,
    ) -> usize {
        let mut random = Random::new(23);
        let mut checked = 0;
        for case in 0..2000 {
            let w = space.random(4, 1.0, &mut random);
            let (_, _, mut x) = row(4, &mut random);
            if nonnegative {
                for x in &mut x {
                    *x = x.abs();
                }
            }
            let u = dot(&w, &x);
            if !region(label * u) {
                continue;
            }
            let loss = AnyLoss::parse(names[case % names.len()]).unwrap();
            let rate = RATES[random.below(RATES.len())];
            let mut walk = space.at(&w);
            let round = walk.step(Dense(&x), label.into(), &loss, rate).unwrap();
            let after = walk.after().unwrap();
            // The other end of the geodesic must be in the region too.
            if round.event != Event::Inside || !region(label * after.z) {
                continue;
            }
            let paid = space.cost(&weights(&walk), &w);
            let slack = 1e-13 * (1.0 + round.loss);
            assert!(
                paid <= 0.5 * rate * (round.loss - after.loss + slack) + 1e-14,
                "{w:?} {x:?} {rate}"
            );
            checked += usize::from(paid > 1e-10);
        }
        checked
    }
    let all = ["squared", "absolute", "hinge", "logistic", "huber(delta=0.2)", "exponential"];
    let everywhere: fn(f64) -> bool = |_| true;
    let signed = ["logistic", "hinge"];
    for y in [-1.0, 1.0] {
        for (made, least) in [
            (check(&euclidean(), &all, y, false, everywhere), 1000),
            (check(&hyperbolic(), &["invariant"], y, false, everywhere), 1000),
            (check(&hyperbolic(), &signed, y, false, |margin| margin <= 0.0), 200),
            (check(&sphere(), &signed, y, false, |margin| margin >= 0.0), 300),
        ] {
            assert!(made > least, "{made}");
        }
    }
    // On the orthant with x ≥ 0: losses that do not decrease.
    let rising = check(&orthant(), &["logistic"], -1.0, true, everywhere);
    assert!(rising > 1000, "{rising}");
}

/// The corrected theorem 8 on Hadamard manifolds: after the updates the regret is within the bound.
#[test]
fn theorem_8_as_corrected() {
    fn check<S: Space>(space: &S, loss: &AnyLoss, rate: f64) {
        let mut random = Random::new(29);
        let (start, best) = (space.random(4, 0.3, &mut random), space.random(4, 0.5, &mut random));
        let mut walk = space.at(&start);
        let (mut regret, mut moved) = (0.0, 0.0);
        for _ in 0..300 {
            let (_, _, x) = row(4, &mut random);
            let y = f64::copysign(1.0, random.unit() - 0.5);
            let before = weights(&walk);
            walk.step(Dense(&x), y.into(), loss, rate).unwrap();
            regret += walk.after().unwrap().loss - loss.value(dot(&best, &x), y);
            moved += space.cost(&weights(&walk), &before);
        }
        let bound = (space.cost(&best, &start) - space.cost(&best, &weights(&walk)) - moved) / rate;
        assert!(
            regret <= bound + 1e-9 * (1.0 + bound.abs()),
            "{space:?} {rate}: {regret} > {bound}"
        );
    }
    for rate in [0.01, 0.3, 2.0, 50.0] {
        for name in ["squared", "absolute", "logistic", "hinge"] {
            check(&euclidean(), &AnyLoss::parse(name).unwrap(), rate);
        }
        check(&hyperbolic(), &AnyLoss::parse("invariant").unwrap(), rate);
    }
}

#[test]
fn weights_of_1e58_come_back_on_and_off_the_row() {
    // Nearly all weight is on the first feature, but the label needs the second.
    for x in [[0.0, 1.0, 0.3], [1.0, 0.0, 0.5]] {
        for rate in [0.1, 3.0, 316.0, 1e12] {
            let y = 10.0 * (x[1] - x[0]);
            let p = [1.0 - 1e-9, 1e-58, 1e-9];
            let place = format!("{x:?} {rate}");
            let present: Vec<u32> = (0..3).filter(|&i| x[i as usize] != 0.0).collect();
            let values: Vec<f64> = present.iter().map(|&i| x[i as usize]).collect();
            let row = Sparse::new(&present, &values).unwrap();
            let mut walk = simplex().at(&p);
            let round = walk.step(row, y.into(), &Squared, rate).unwrap();
            let (to, after) = (weights(&walk), walk.after().unwrap());
            assert!(after.loss < round.loss, "{place}");
            let covector: Vec<f64> = x.iter().map(|x| rate * after.slope * x).collect();
            let residual = simplex().residual(&to, &p, &covector);
            assert!(residual <= 1e-8, "{place}: {residual:e} {to:?}");
            assert!(rate < 100.0 || to[1] > 0.99, "{place}: {to:?}");

            let mut walk = simplex_entropy().at(&p);
            walk.step(row, y.into(), &Squared, rate).unwrap();
            let to = weights(&walk);
            let covector: Vec<f64> =
                x.iter().map(|x| rate * walk.after().unwrap().slope * x).collect();
            let residual = simplex_entropy().residual(&to, &p, &covector);
            assert!(residual <= 1e-10, "{place}: {residual:e} {to:?}");
            assert!(rate < 100.0 || to[1] > 0.99, "{place}: {to:?}");
        }
    }
    // On the same example explicit EG needs the exponent that the solver found.
    let p = p_norm();
    let w = [3.0, 1e-12, 0.0];
    let mut walk = p.at(&w);
    let row = Sparse::new(&[0], &[1.0]).unwrap();
    walk.step(row, 0.0.into(), &Squared, 1e9).unwrap();
    let to = weights(&walk);
    let residual = p.residual(&to, &w, &[1e9 * walk.after().unwrap().slope, 0.0, 0.0]);
    assert!(residual <= 1e-10, "{residual:e} {to:?}");
}

/// −z², declared as convex although it is not.
#[derive(Debug)]
struct Hill;

impl Loss for Hill {
    fn spec(&self) -> String {
        "hill".to_owned()
    }
    fn value(&self, z: f64, _: f64) -> f64 {
        -z * z
    }
    fn slope(&self, z: f64, _: f64) -> f64 {
        -2.0 * z
    }
    fn curvature(&self, _: f64, _: f64) -> f64 {
        -2.0
    }
    fn minimizer(&self, _: f64) -> f64 {
        f64::INFINITY
    }
    fn facts(&self) -> Facts {
        Facts { smooth: None, strong: 0.0, ..Squared.facts() }
    }
}

#[test]
fn an_equation_without_a_root_is_an_error_and_moves_nothing() {
    struct Hopeless(usize);
    impl Tour for Hopeless {
        fn visit<S: Space>(&mut self, name: &str, space: &S) {
            let w = space.random(3, 0.3, &mut Random::new(5));
            let mut walk = space.at(&w);
            let before = weights(&walk);
            match walk.step(Dense(&[1.0, -0.5, 2.0]), 0.0.into(), &Hill, 100.0) {
                Err(DomainError::NoRoot { lo, hi, at_lo, at_hi, .. }) => {
                    let changes = at_lo * at_hi <= 0.0;
                    assert!(!changes && lo != hi, "{name}: {at_lo} {at_hi}");
                    self.0 += 1;
                }
                Err(_) => {}
                // Bounded weights have a smallest U, even for this loss.
                Ok(_) => return,
            }
            assert_eq!(weights(&walk), before, "{name}");
        }
    }
    let mut hopeless = Hopeless(0);
    tour(&mut hopeless);
    assert!(hopeless.0 >= 2, "{}", hopeless.0);
}

#[test]
fn the_same_example_for_ever() {
    // At the solution the signs are rounding errors, which must not make the solver fail.
    struct Again;
    impl Tour for Again {
        fn visit<S: Space>(&mut self, name: &str, space: &S) {
            let mut random = Random::new(31);
            for loss in losses() {
                for rate in [1e-6, 0.1, 3.0, 316.0, 1e12, 1e100] {
                    for y in [-1.0, 1.0] {
                        let w = space.random(5, 0.5, &mut random);
                        let (indices, values, _) = row(5, &mut random);
                        let x = Sparse::new(&indices, &values).unwrap();
                        let mut walk = space.at(&w);
                        let mut last = f64::INFINITY;
                        for t in 0..40 {
                            let place = format!("{name} {loss:?} {rate} {y}, step {t}");
                            let round = walk.step(x, y.into(), &loss, rate);
                            let round = round.unwrap_or_else(|error| panic!("{place}: {error}"));
                            assert!(round.loss <= last + 1e-13, "{place}: {last} {}", round.loss);
                            last = round.loss;
                        }
                    }
                }
            }
        }
    }
    tour(&mut Again);
}

#[test]
fn nothing_is_allocated_per_example() {
    struct Memory;
    impl Tour for Memory {
        fn visit<S: Space>(&mut self, name: &str, space: &S) {
            let mut random = Random::new(37);
            let mut walk = space.at(&space.random(6, 1.0, &mut random));
            let (indices, values, _) = row(6, &mut random);
            let x = Sparse::new(&indices, &values).unwrap();
            let losses = losses();
            let counted = allocation_counter::measure(|| {
                for loss in &losses {
                    for rate in [0.1, 10.0] {
                        walk.step(x, 1.0.into(), loss, rate).unwrap();
                    }
                }
            });
            assert_eq!(counted.count_total, 0, "{name}");
        }
    }
    tour(&mut Memory);
}
