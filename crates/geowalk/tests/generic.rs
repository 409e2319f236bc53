//! Walks at O(n) on every manifold and with every generator of the tables. They learn, and implicit steps never
//! increase the loss. They continue from a saved state with the same bits, allocate nothing per step, and return
//! errors for invalid input.

#![allow(clippy::unwrap_used, clippy::panic)] // test code

use geowalk::Real;
use geowalk::geometry::generators::{self, AnyGenerator};
use geowalk::geometry::manifolds::{self, AnyManifold};
use geowalk::geometry::{Event, ExpLog, Work};
use geowalk::laws::Sampler;
use geowalk::learn::{OnManifold, WithGenerator};
use geowalk::loss::{AnyLoss, Loss, Squared};
use geowalk::row::{Dense, Row, Sparse};
use geowalk::walk::Walk;

/// Number of features; valid for matrices and for pairs.
const N: usize = 4;

fn all_manifolds() -> Vec<AnyManifold> {
    manifolds::entries()
        .map(|entry| match entry.name {
            "product" => "product(sphere(n=2), euclidean(n=2))",
            name => name,
        })
        .map(|spec| AnyManifold::for_features(spec, N).unwrap())
        .collect()
}

fn all_generators() -> Vec<AnyGenerator> {
    generators::entries()
        .map(|entry| match entry.name {
            "mahalanobis" => "mahalanobis(sigma=2 0 0 0; 0 3 1 0; 0 1 2 0; 0 0 0 1)",
            name => name,
        })
        .map(|spec| AnyGenerator::parse(spec, N).unwrap())
        .collect()
}

/// Visits every walk, with a rate at which it learns.
fn each(mut visit: impl FnMut(&str, &mut dyn FnMut(&mut dyn Run))) {
    for manifold in all_manifolds() {
        for implicit in [false, true] {
            let walk = if implicit { OnManifold::implicit } else { OnManifold::explicit };
            let name = format!("{}, implicit {implicit}", manifold.spec());
            let walk = walk(manifold.clone()).unwrap();
            visit(&name, &mut |run| run.manifold(&walk));
        }
    }
    for generator in all_generators() {
        for implicit in [false, true] {
            let walk = if implicit { WithGenerator::implicit } else { WithGenerator::mirror };
            let name = format!("{}, implicit {implicit}", generator.spec());
            let walk = walk(generator.clone(), N).unwrap();
            visit(&name, &mut |run| run.generator(&walk));
        }
    }
}

trait Run {
    fn manifold(&mut self, walk: &OnManifold<AnyManifold>);
    fn generator(&mut self, walk: &WithGenerator<AnyGenerator>);
}

struct Visitor<F, G>(F, G);

impl<F: FnMut(OnManifold<AnyManifold>), G: FnMut(WithGenerator<AnyGenerator>)> Run
    for Visitor<F, G>
{
    fn manifold(&mut self, walk: &OnManifold<AnyManifold>) {
        (self.0)(walk.clone());
    }

    fn generator(&mut self, walk: &WithGenerator<AnyGenerator>) {
        (self.1)(walk.clone());
    }
}

/// Labels of weights that every geometry can approximate: positive, of sum 1. Of all rotations, the nearest one is the
/// initial point.
fn example(sampler: &mut Sampler) -> (Vec<f64>, f64) {
    let x: Vec<f64> = sampler.vector(N);
    let y = 0.1 * x[0] + 0.4 * x[1] + 0.4 * x[2] + 0.1 * x[3];
    (x, y)
}

fn weights<W: Walk>(walk: &W) -> Vec<f64> {
    let mut w = Vec::new();
    walk.read(&mut w);
    w
}

fn learns<W: Walk>(name: &str, mut walk: W) {
    let mut sampler = Sampler::new(3);
    let mut losses = Vec::new();
    for _ in 0..500 {
        let (x, mut y) = example(&mut sampler);
        if name.starts_with("rotations") {
            y = 0.6 * x[0] - 0.8 * x[1] + 0.8 * x[2] + 0.6 * x[3];
        }
        losses.push(walk.step(Dense(&x), y.into(), &Squared, 0.03).unwrap().loss);
    }
    let part = |from: usize| losses[from..from + 100].iter().sum::<f64>();
    // Unit columns and matrices of determinant 1 or more cannot fit these labels; their loss must still decrease.
    assert!(part(400) < part(0) || part(0) < 1e-3, "{name}: {} then {}", part(0), part(400));
    assert!(walk.features() == N && weights(&walk).len() == N, "{name}");
}

#[test]
fn every_geometry_learns() {
    each(|name, with| {
        let run = &mut Visitor(|walk| learns(name, walk), |walk| learns(name, walk));
        with(run);
    });
}

fn resumes<W: Walk + Clone + PartialEq + std::fmt::Debug>(fresh: &W) {
    let (mut whole, mut sampler) = (fresh.clone(), Sampler::new(8));
    let rows: Vec<_> = (0..60).map(|_| example(&mut sampler)).collect();
    let mut part = fresh.clone();
    for (t, (x, y)) in rows.iter().enumerate() {
        whole.step(Dense(x), (*y).into(), &Squared, 0.05).unwrap();
        if t == 30 {
            let mut saved = Vec::new();
            part.save(&mut |name, values| saved.push((name, values.to_vec())));
            part = fresh.clone();
            part.load(&mut |name| saved.iter().find(|a| a.0 == name).map(|a| a.1.clone())).unwrap();
            assert!(fresh.clone().load(&mut |_| Some(vec![1.0; 99])).is_err());
            assert!(fresh.clone().load(&mut |_| None).is_err());
        }
        part.step(Dense(x), (*y).into(), &Squared, 0.05).unwrap();
    }
    assert_eq!(weights(&part), weights(&whole));
}

#[test]
fn every_walk_resumes_with_the_same_bits() {
    each(|_, with| with(&mut Visitor(|walk| resumes(&walk), |walk| resumes(&walk))));
}

/// Dense and sparse rows, rows with too many features, rows and rates out of range: an error leaves the weights
/// unchanged.
fn refuses<W: Walk + Clone>(name: &str, mut walk: W) {
    let (x, y) = example(&mut Sampler::new(1));
    let mut other = walk.clone();
    let indices: Vec<u32> = vec![0, 1, 2, 3];
    walk.step(Dense(&x), y.into(), &Squared, 0.05).unwrap();
    other.step(Sparse::new(&indices, &x).unwrap(), y.into(), &Squared, 0.05).unwrap();
    assert_eq!(weights(&walk), weights(&other), "{name}");
    let before = weights(&walk);
    assert!(walk.step(Dense(&[1.0; N + 1]), y.into(), &Squared, 0.05).is_err(), "{name}");
    assert!(walk.step(Dense(&[f64::NAN; N]), y.into(), &Squared, 0.05).is_err(), "{name}");
    assert!(walk.step(Dense(&x), y.into(), &Squared, f64::NAN).is_err(), "{name}");
    assert_eq!(weights(&walk), before, "{name}");
    // Huge rates: an error or finite weights.
    for rate in [1e3, 1e10, 1e100, 1e150] {
        for size in [1.0, 1e100] {
            let row = x.iter().map(|x| x * size).collect::<Vec<_>>();
            let before = weights(&walk);
            match walk.step(Dense(&row), 1.0.into(), &Squared, rate) {
                Ok(_) => assert!(weights(&walk).iter().all(|w| w.is_finite()), "{name} {rate}"),
                Err(_) => assert_eq!(weights(&walk), before, "{name} {rate}"),
            }
        }
    }
}

#[test]
fn bad_rows_leave_the_weights() {
    each(|name, with| {
        let run = &mut Visitor(|walk| refuses(name, walk), |walk| refuses(name, walk));
        with(run);
    });
}

fn allocates<W: Walk>(mut walk: W) -> u64 {
    let mut sampler = Sampler::new(2);
    let rows: Vec<_> = (0..20).map(|_| example(&mut sampler)).collect();
    let mut pass = || {
        for (x, y) in &rows {
            walk.step(Dense(x), (*y).into(), &Squared, 0.05).unwrap();
        }
    };
    pass();
    allocation_counter::measure(pass).count_total
}

#[test]
fn no_step_allocates() {
    each(|name, with| {
        let check = |count| assert_eq!(count, 0, "{name}");
        with(&mut Visitor(|walk| check(allocates(walk)), |walk| check(allocates(walk))));
    });
}

#[test]
fn implicit_steps_are_minima() {
    let losses = ["squared", "logistic", "hinge", "absolute", "huber(delta=0.2)"];
    for manifold in all_manifolds() {
        let (mut sampler, mut work) = (Sampler::new(4), Work::new());
        let mut fell_back = 0;
        for case in 0..150 {
            let name = format!("{}, case {case}", manifold.spec());
            let p = sampler.point::<f64, _>(&manifold);
            let mut walk = OnManifold::implicit(manifold.clone()).unwrap().from_point(&p).unwrap();
            let loss = AnyLoss::parse(losses[case % 5]).unwrap();
            let (x, y) = (sampler.vector::<f64>(N), sampler.sign());
            let rate = Real::exp(sampler.uniform(-4.0, 3.0));
            let round = walk.step(Dense(&x), y.into(), &loss, rate).unwrap();
            if round.event == Event::Stationary {
                continue;
            }
            let first = p.len() - N;
            let mut u = |q: &[f64]| {
                let far: f64 = manifold.distance(&p, q, &mut work);
                far * far / (2.0 * rate) + loss.value(Dense(&x).dot(&q[first..]), y)
            };
            let (before, after) = (u(&p), u(walk.point()));
            assert!(after <= before + 1e-12 * (1.0 + before), "{name}: {after} > {before}");
            if round.event == Event::FellBack {
                fell_back += 1;
                continue;
            }
            // No nearby point has a lower objective; at a kink of the loss, not by more than the fourth digit.
            let slack = if loss.facts().smooth.is_some() { 1e-8 } else { 1e-4 };
            for k in 0..40 {
                let mut q = walk.point().to_vec();
                let v = sampler.tangent::<f64, _>(&manifold, &q, 1.0);
                let size = 1e-4 * f64::from(1 << (k % 10));
                if manifold.exp(&mut q, &v, size, &mut Work::new()).is_ok() {
                    let other = u(&q);
                    assert!(other >= after - slack * (1.0 + after), "{name}: {other} < {after}");
                }
            }
        }
        // Rates up to 20: some minima are too far for a search that starts at w.
        assert!(fell_back <= 45, "{}: {fell_back} of 150 steps fell back", manifold.spec());
    }
}

#[test]
fn sizes_that_do_not_fit_say_what_would() {
    for (spec, features, message) in [
        ("spd", 5, "'spd' cannot have 5 weights (features and intercept); 4 or 9 would fit"),
        ("torus", 7, "'torus' cannot have 7 weights (features and intercept); 6 or 8 would fit"),
        (
            "oblique(rows=3)",
            7,
            "'oblique(rows=3)' cannot have 7 weights (features and intercept); 6 or 9 would fit",
        ),
        ("spd(n=2)", 9, "'spd(n=2)' cannot have 9 weights (features and intercept); 4 would fit"),
        ("sphere(n=3, radius=-1)", 3, "radius = -1; it must be a finite number > 0"),
    ] {
        let error = AnyManifold::for_features(spec, features).unwrap_err().to_string();
        assert_eq!(error, message);
    }
    assert_eq!(AnyManifold::for_features("oblique(rows=3)", 9).unwrap().size(), 3);
    assert_eq!(AnyManifold::for_features("hyperbolic", 9).unwrap().size(), 10);
}
