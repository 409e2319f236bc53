//! Properties of every walk: constraints, both kinds of rows, saving at any moment, extreme rates, new features during
//! a run. Also properties of some walks.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // test code

mod walk_support;

use std::collections::HashMap;
use std::fmt::Debug;

use geowalk::Real;
use geowalk::certify::{Bound, Comparator, FirstOrder};
use geowalk::geometry::Event;
use geowalk::loss::{Loss, Squared};
use geowalk::row::{Dense, Row, Sparse};
use geowalk::update::Target;
use geowalk::walk::{
    Adaptive, Entropy, Euclidean, Free, Hyperbolic, ReparamEntropy, ReparamSimplex, Simplex,
    SimplexEntropy, Sphere, Walk, winnow,
};
use walk_support::{Linear, Logistic, Mistake, Random, Stream, Visit, all, weights};

fn run<W: Walk>(walk: &mut W, stream: &mut Stream, steps: usize, rate: f64) {
    for _ in 0..steps {
        stream.next();
        let x = Sparse::new(&stream.indices, &stream.values).unwrap();
        walk.step(x, stream.y.into(), &Logistic, rate).unwrap();
    }
}

#[test]
fn dense_rows_and_sparse_rows_give_the_same_bits() {
    struct Rows;
    impl Visit for Rows {
        fn visit<W: Walk + Clone + PartialEq + Debug>(&mut self, name: &str, walk: W, rate: f64) {
            let (mut sparse, mut dense) = (walk.clone(), walk);
            sparse.grow(50);
            let mut stream = Stream::new(3, 50, 5);
            for _ in 0..500 {
                stream.next();
                let x = Sparse::new(&stream.indices, &stream.values).unwrap();
                let before = sparse.predict(x);
                let a = sparse.step(x, stream.y.into(), &Logistic, rate).unwrap();
                let b = dense.step(Dense(&stream.dense), stream.y.into(), &Logistic, rate).unwrap();
                assert_eq!(before, a.z, "{name}: what predict says is what step says");
                assert_eq!(a, b, "{name}");
            }
            let (sparse, dense) = (weights(&sparse), weights(&dense));
            assert_eq!(sparse, dense, "{name}");
            let moved = sparse.iter().filter(|&&w| w != sparse[0]).count();
            assert!(moved > 10, "{name} did not move: {sparse:?}");
        }
    }
    all(&mut Rows);
}

#[test]
fn sums_that_a_walk_keeps_are_those_of_its_rounds() {
    struct Sums(Vec<String>);
    impl Visit for Sums {
        fn visit<W: Walk + Clone + PartialEq + Debug>(&mut self, name: &str, walk: W, rate: f64) {
            let (mut walk, mut stream) = (walk, Stream::new(8, 40, 6));
            let mut exact = vec![geowalk::sum::Sum::default(); 40];
            let (mut long, mut short) =
                (FirstOrder::new(&Logistic.facts()), FirstOrder::new(&Logistic.facts()));
            for t in 0..2000 {
                stream.next();
                if t % 7 == 0 {
                    stream.values.iter_mut().for_each(|x| *x *= 1e-160); // too small to count for some walks
                }
                let x = Sparse::new(&stream.indices, &stream.values).unwrap();
                let round = walk.step(x, stream.y.into(), &Logistic, rate).unwrap();
                x.each(|i, x| exact[i].add(round.slope * x));
                long.observe(&round, x);
                short.observe_gradient(&round, walk.gradient(&round, x));
            }
            let mut gamma = Vec::new();
            let Some(size) = walk.gamma(Some(rate), &mut gamma) else { return };
            self.0.push(name.to_owned());
            for (found, exact) in gamma.iter().zip(&exact) {
                let off = (found - exact.total()).abs();
                let allowed = 2004.0 * f64::EPSILON * (exact.magnitude() + size) + 1e-147;
                assert!(off <= allowed, "{name}: {found} for {}", exact.total());
            }
            let u = [0.5; 40];
            for u in [Comparator::Given(&u), Comparator::Simplex { n: 40 }] {
                let (short, long) = (short.certify_with(&gamma, size, &u), long.certify(&u));
                assert!((short.bound - long.bound).abs() < 1e-6, "{name}: {short}, {long}");
            }
        }
    }
    let mut sums = Sums(Vec::new());
    all(&mut sums);
    let keep = ["gd", "egu", "eg", "p-norm", "burg", "adagrad", "free", "clipped egu"];
    assert_eq!(sums.0, keep);
}

#[test]
fn a_saved_walk_continues_with_the_same_bits() {
    struct Cuts(Random);
    impl Visit for Cuts {
        fn visit<W: Walk + Clone + PartialEq + Debug>(&mut self, name: &str, walk: W, rate: f64) {
            for _ in 0..4 {
                let (cut, rest) = (self.0.below(1500), 1 + self.0.below(500));
                let mut stream = Stream::new(self.0.below(1 << 30) as u64, 60, 6);
                let mut whole = walk.clone();
                run(&mut whole, &mut stream, cut, rate);
                let mut saved = HashMap::new();
                whole.save(&mut |name, values| {
                    assert!(saved.insert(name, values.to_vec()).is_none(), "{name} twice");
                });
                let mut resumed = walk.clone();
                resumed.load(&mut |name| saved.get(name).cloned()).unwrap();
                assert_eq!(resumed, whole, "{name} after {cut}");
                let mut again = stream.clone();
                run(&mut whole, &mut stream, rest, rate);
                run(&mut resumed, &mut again, rest, rate);
                assert_eq!(resumed, whole, "{name}: {cut} + {rest}");

                // A missing array, or one of the wrong length, is an error and changes nothing.
                let names: Vec<_> = saved.keys().copied().collect();
                for gone in names {
                    let mut fresh = walk.clone();
                    let get = &mut |name| saved.get(name).filter(|_| name != gone).cloned();
                    assert!(fresh.load(get).is_err(), "{name} without {gone}");
                    assert_eq!(fresh, walk);
                    let get = &mut |name: &'static str| {
                        let mut values = saved.get(name)?.clone();
                        if name == gone {
                            values.push(f64::NAN);
                        }
                        Some(values)
                    };
                    assert!(fresh.load(get).is_err(), "{name} with NaN in {gone}");
                    assert_eq!(fresh, walk);
                }
            }
        }
    }
    all(&mut Cuts(Random::new(1)));
}

#[test]
fn rates_beyond_reason_end_in_errors_or_events_never_in_nan() {
    struct Rates {
        refused: usize,
        events: usize,
    }
    impl Visit for Rates {
        fn visit<W: Walk + Clone + PartialEq + Debug>(&mut self, name: &str, walk: W, _: f64) {
            for rate in [1.0, 10.0, 1e3, 1e8, 1e30, 1e149, 1e300, f64::INFINITY, f64::NAN, -1.0] {
                for size in [1.0, 1e-160, 1e-80, 1e80, 1e149, 1e200] {
                    let mut walk = walk.clone();
                    let mut stream = Stream::new(5, 20, 5);
                    for t in 0..60 {
                        stream.next();
                        stream.values.iter_mut().for_each(|x| *x *= size);
                        let y = if t % 7 == 3 { 1e10 } else { stream.y };
                        let x = Sparse::new(&stream.indices, &stream.values).unwrap();
                        let before = weights(&walk);
                        let step = if t % 2 == 0 {
                            walk.step(x, y.into(), &Squared, rate)
                        } else {
                            walk.step(x, y.into(), &Logistic, rate)
                        };
                        let after = weights(&walk);
                        let place = format!("{name}, rate {rate:e}, size {size:e}, step {t}");
                        assert!(after.iter().all(|w| w.is_finite()), "{place}: {after:?}");
                        match step {
                            Ok(round) => {
                                assert!(!round.length.is_nan() && round.z.is_finite(), "{place}");
                                self.events += usize::from(round.event != Event::Inside);
                            }
                            Err(_) if before.len() == after.len() => {
                                self.refused += 1;
                                assert_eq!(before, after, "{place}: an error changes nothing");
                            }
                            Err(_) => self.refused += 1,
                        }
                    }
                }
            }
        }
    }
    let mut rates = Rates { refused: 0, events: 0 };
    all(&mut rates);
    assert!(rates.refused > 1000 && rates.events > 1000, "{} {}", rates.refused, rates.events);
}

#[test]
fn rows_labels_and_weights_that_are_not_numbers_are_refused() {
    struct Bad;
    impl Visit for Bad {
        fn visit<W: Walk + Clone + PartialEq + Debug>(&mut self, name: &str, walk: W, rate: f64) {
            let mut walk = walk;
            walk.grow(3);
            for x in [[f64::NAN, 1.0, 0.0], [0.0, f64::INFINITY, 1.0], [f64::NEG_INFINITY; 3]] {
                assert!(walk.step(Dense(&x), 1.0.into(), &Logistic, rate).is_err(), "{name} {x:?}");
            }
            let x = Dense(&[0.5, 0.0, -0.5]);
            assert!(walk.step(x, f64::NAN.into(), &Logistic, rate).is_err(), "{name}");
            for weight in [f64::NAN, -1.0, f64::INFINITY] {
                let target = Target { y: 1.0, weight };
                assert!(walk.step(x, target, &Logistic, rate).is_err(), "{name}");
            }
            let before = weights(&walk);
            let round = walk.step(x, Target { y: 1.0, weight: 0.0 }, &Logistic, rate).unwrap();
            assert_eq!(
                (round.loss, weights(&walk)),
                (0.0, before),
                "{name}: weight 0 is no example"
            );
        }
    }
    all(&mut Bad);
}

#[test]
fn a_gauge_foretells_how_far_a_short_step_moves_the_prediction() {
    struct Check;
    impl Visit for Check {
        fn visit<W: Walk + Clone + PartialEq + Debug>(&mut self, name: &str, walk: W, rate: f64) {
            // These have a separate metric for each feature, and no common rate.
            if ["adagrad", "free", "clipped egu", "experts-twin"].contains(&name) {
                return;
            }
            let mut walk = walk;
            let mut stream = Stream::new(17, 40, 5);
            run(&mut walk, &mut stream, 60, rate);
            for _ in 0..20 {
                stream.next();
                let x = Sparse::new(&stream.indices, &stream.values).unwrap();
                walk.grow(x.bound());
                let (gauge, before, mut after) = (walk.gauge(x), walk.clone(), walk.clone());
                let short = 1e-6;
                let round = after.step(x, 5.0.into(), &Squared, short).unwrap();
                let moved = (round.z - after.predict(x)) / (short * round.slope);
                let told = gauge.square * (1.0 + 1e-3) + 1e-6;
                assert!(moved <= told, "{name}: {moved}, {gauge:?}");
                if gauge.local || name == "gd" || name.starts_with("mahalanobis") {
                    assert!(
                        moved >= gauge.square * (1.0 - 1e-3) - 1e-6,
                        "{name}: {moved}, {gauge:?}"
                    );
                }
                // No weight changes by more than the stretch predicts, to first order.
                if gauge.local {
                    let (w, moved) = (weights(&before), weights(&after));
                    let most = short * round.slope.abs() * gauge.stretch * 1.001 + 1e-12;
                    let signed = name.ends_with("+-");
                    assert!(
                        signed || w.iter().zip(&moved).all(|(w, m)| (m / w - 1.0).abs() <= most),
                        "{name}"
                    );
                }
            }
        }
    }
    all(&mut Check);
}

#[test]
fn features_may_come_at_any_time() {
    // If weights are independent of each other, a late feature is equivalent to one that was 0 until then.
    fn check<W: Walk + Clone + PartialEq + Debug>(walk: W, rate: f64) {
        let (mut early, mut late) = (walk.clone(), walk);
        early.grow(100);
        for n in [10, 40, 100] {
            let mut stream = Stream::new(n as u64, n, 5);
            run(&mut early, &mut stream.clone(), 200, rate);
            run(&mut late, &mut stream, 200, rate);
        }
        late.grow(100);
        assert_eq!(weights(&early), weights(&late));
    }
    check(Euclidean::new(), 0.1);
    check(Hyperbolic::new(), 0.1);
    check(Entropy::new(0.01).unwrap(), 0.1);
    check(ReparamEntropy::new(0.01).unwrap(), 0.1);
    check(Adaptive::new(), 0.5);
    check(Free::new(1.0, 0.5, 1.0).unwrap(), 0.0);
    // If they are not, the constraint holds before and after.
    let mut sphere = Sphere::new(2.0, 9).unwrap();
    for n in [3, 30, 300] {
        run(&mut sphere, &mut Stream::new(1, n, 3), 50, 0.3);
        let norm: f64 = weights(&sphere).iter().map(|w| w * w).sum::<f64>().sqrt();
        assert!((norm - 2.0).abs() < 1e-14, "{norm}");
    }
    // The features present at the start get the same random direction, in any order of arrival.
    let (mut a, mut b) = (Sphere::new(1.0, 9).unwrap(), Sphere::new(1.0, 9).unwrap());
    a.grow(10);
    b.grow(4);
    b.grow(10);
    for (a, b) in weights(&a).iter().zip(weights(&b)) {
        assert!((a - b).abs() < 1e-15);
    }
}

#[test]
fn constraints_hold_to_twelve_digits() {
    struct Constraints;
    impl Visit for Constraints {
        fn visit<W: Walk + Clone + PartialEq + Debug>(&mut self, name: &str, walk: W, rate: f64) {
            let mut walk = walk;
            let mut stream = Stream::new(11, 200, 5);
            let radius = if name.contains("=3") { 3.0 } else { 1.0 };
            for _ in 0..20 {
                run(&mut walk, &mut stream, 1000, rate);
                let w = weights(&walk);
                // The weights of normalised rows are on the sphere, not the reported ones.
                if name.contains("sphere") && !name.starts_with("normalised") {
                    let norm = w.iter().map(|w| w * w).sum::<f64>().sqrt();
                    assert!((norm / radius - 1.0).abs() < 1e-12, "{name}: {norm}");
                } else if ["simplex", "eg", "prod", "approximated-eg", "reparam-eg"].contains(&name)
                    || name.starts_with("centred")
                {
                    let sum: f64 = w.iter().sum();
                    assert!((sum - 1.0).abs() < 1e-12, "{name}: {sum}");
                    assert!(w.iter().all(|&w| w >= 0.0), "{name}");
                } else if ["egu", "orthant", "burg", "reparam-egu"].contains(&name) {
                    assert!(w.iter().all(|&w| w > 0.0), "{name}");
                }
            }
        }
    }
    all(&mut Constraints);
}

#[test]
fn twins_approach_the_mirror_step_as_the_rate_vanishes() {
    // Over a total time of 1: 1/η steps at rate η. The difference is of first order in η.
    fn gap<A: Walk, B: Walk>(mut mirror: A, mut twin: B, steps: u32) -> f64 {
        let rate = 1.0 / f64::from(steps);
        let mut stream = Stream::new(2, 20, 10);
        stream.next();
        for _ in 0..steps {
            let x = Dense(&stream.dense);
            mirror.step(x, 2.0.into(), &Squared, rate).unwrap();
            twin.step(x, 2.0.into(), &Squared, rate).unwrap();
        }
        let differences =
            weights(&mirror).into_iter().zip(weights(&twin)).map(|(a, b)| (a - b).abs());
        differences.fold(0.0, f64::max)
    }
    for (coarse, fine) in [
        (
            gap(Entropy::new(0.1).unwrap(), ReparamEntropy::new(0.1).unwrap(), 100),
            gap(Entropy::new(0.1).unwrap(), ReparamEntropy::new(0.1).unwrap(), 1000),
        ),
        (
            gap(SimplexEntropy::new(), ReparamSimplex::new(), 100),
            gap(SimplexEntropy::new(), ReparamSimplex::new(), 1000),
        ),
        // So does the geodesic of the Fisher metric.
        (
            gap(SimplexEntropy::new(), Simplex::new(), 100),
            gap(SimplexEntropy::new(), Simplex::new(), 1000),
        ),
    ] {
        let ratio = coarse / fine;
        assert!(coarse > 1e-5 && (9.0..11.5).contains(&ratio), "{coarse:e} {fine:e}");
    }
}

#[test]
fn logarithms_survive_a_drift_that_kills_weights() {
    // Expert 1 is right for 2000 rounds, expert 2 for the next 1700: the first is still ahead by a factor e^{300η}.
    fn drift<W: Walk>(mut walk: W, rate: f64) -> Vec<f64> {
        walk.grow(2);
        for t in 0..3700 {
            let losses = if t < 2000 { [0.0, 1.0] } else { [1.0, 0.0] };
            walk.step(Dense(&losses), 0.0.into(), &Linear, rate).unwrap();
        }
        weights(&walk)
    }
    // Weights without logarithms get stuck at the smallest number, from where they recover too early.
    let (mut plain, mut u): ([f64; 2], [f64; 2]) = ([0.5; 2], [0.5_f64.sqrt(); 2]);
    for t in 0..3700 {
        let i = usize::from(t < 2000);
        plain[i] *= Real::exp(-0.5_f64);
        u[i] -= 0.5 * u[i];
        let (sum, norm) = (plain[0] + plain[1], Real::hypot(u[0], u[1]));
        for w in &mut plain {
            *w /= sum;
        }
        for u in &mut u {
            *u /= norm;
        }
    }
    assert!(plain[1] > plain[0] && u[1] > u[0], "plain weights would do: {plain:?} {u:?}");
    let hedge = drift(SimplexEntropy::new(), 0.5);
    assert!((Real::ln(hedge[1]) + 150.0).abs() < 1e-9, "{hedge:?}");
    let twin = drift(ReparamSimplex::experts(), 0.4);
    assert!((Real::ln(twin[1]) - 600.0 * Real::ln(0.6_f64)).abs() < 1e-9, "{twin:?}");
    let prod = drift(SimplexEntropy::prod(), 0.4);
    assert!((Real::ln(prod[1]) - 300.0 * Real::ln(0.6_f64)).abs() < 1e-9, "{prod:?}");
}

#[test]
fn on_losses_0_and_1_the_twin_of_hedge_is_hedge() {
    let (mut hedge, mut twin) = (SimplexEntropy::new(), ReparamSimplex::experts());
    let mut random = Random::new(8);
    for _ in 0..300 {
        let losses: Vec<f64> = (0..10).map(|_| f64::from(u8::from(random.unit() < 0.4))).collect();
        let rate = -2.0 * Real::ln(1.0 - 0.3_f64);
        let a = hedge.step(Dense(&losses), 0.0.into(), &Linear, rate).unwrap();
        let b = twin.step(Dense(&losses), 0.0.into(), &Linear, 0.3).unwrap();
        assert!((a.z - b.z).abs() < 1e-13);
    }
}

#[test]
fn winnow_keeps_its_promise() {
    fn mistakes<W: Walk>(mut walk: W, constants: winnow::Constants, n: usize) -> usize {
        let loss = Mistake { threshold: constants.threshold };
        let (mut random, mut mistakes) = (Random::new(4), 0);
        for _ in 0..2000 {
            let x: Vec<f64> = (0..n).map(|_| f64::from(u8::from(random.unit() < 0.2))).collect();
            let y = if x[..3].iter().any(|&x| x > 0.0) { 1.0 } else { -1.0 };
            let round = walk.step(Dense(&x), f64::into(y), &loss, constants.rate).unwrap();
            mistakes += usize::from(round.slope != 0.0);
        }
        mistakes
    }
    let n = 256;
    let start = winnow::start(n, 3).unwrap();
    let bound = 3.0 * Real::ln(n as f64 / 3.0);
    let constants = winnow::winnow(0.5).unwrap();
    let made = mistakes(Entropy::new(start).unwrap(), constants, n) as f64;
    assert!(made > 10.0 && made <= constants.mistakes * bound, "{made}");
    let constants = winnow::twin(0.5).unwrap();
    let made = mistakes(ReparamEntropy::new(start).unwrap(), constants, n) as f64;
    assert!(made > 10.0 && made <= constants.mistakes * bound, "{made}");
}

/// The predictions of a walk on rows whose features are multiplied by `scales`.
fn predictions<W: Walk>(mut walk: W, scales: &[f64]) -> Vec<f64> {
    let mut stream = Stream::new(21, scales.len(), 8);
    let mut out = Vec::new();
    for _ in 0..3000 {
        stream.next();
        for (&i, x) in stream.indices.iter().zip(&mut stream.values) {
            *x *= scales[i as usize];
        }
        let x = Sparse::new(&stream.indices, &stream.values).unwrap();
        out.push(walk.step(x, stream.y.into(), &Logistic, 0.5).unwrap().z);
    }
    out
}

#[test]
fn the_units_of_features_do_not_matter() {
    let ones = vec![1.0; 40];
    let decimal: Vec<f64> = (0..40).map(|i| [1e6, 1.0, 1e-6][i % 3]).collect();
    let binary: Vec<f64> = (0..40).map(|i| [1024.0, 1.0, 1.0 / 4096.0][i % 3]).collect();
    let close = |a: &[f64], b: &[f64], tolerance: f64| {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * (1.0 + a.abs()))
    };
    let free = |scales| predictions(Free::new(1.0, 0.5, 1.0).unwrap(), scales);
    assert_eq!(free(&ones), free(&binary), "powers of two change no bit");
    assert!(close(&free(&ones), &free(&decimal), 1e-9));
    let adaptive = |scales| predictions(Adaptive::new(), scales);
    assert_eq!(adaptive(&ones), adaptive(&binary));
    assert!(close(&adaptive(&ones), &adaptive(&decimal), 1e-9));
    let gd = |scales| predictions(Euclidean::new(), scales);
    assert!(!close(&gd(&ones), &gd(&binary), 1e-3), "gradient descent does care");
}

#[test]
fn free_carries_its_own_first_order_certificate() {
    for lipschitz in [1.0, 2.5] {
        let mut walk = Free::new(1.0, 0.5, lipschitz).unwrap();
        let mut sums = FirstOrder::new(&Logistic.facts());
        let mut stream = Stream::new(13, 50, 5);
        let mut a = 0.0;
        for t in 0..5000 {
            stream.next();
            let x = Sparse::new(&stream.indices, &stream.values).unwrap();
            let weight = if t % 3 == 0 { lipschitz } else { 0.5 };
            let round = walk.step(x, Target { y: stream.y, weight }, &Logistic, 0.0).unwrap();
            sums.observe(&round, x);
            a += round.slope * round.z;
        }
        assert!((walk.a() - a).abs() < 1e-10, "{} {a}", walk.a());
        let (mut gamma, u) = (Vec::new(), vec![0.7; 50]);
        walk.gamma(&mut gamma);
        let own = walk.a() - gamma.iter().zip(&u).map(|(g, u)| g * u).sum::<f64>();
        let certificate = sums.certify(&Comparator::Given(&u));
        // The certificate adds a bound on the rounding of its sums.
        let slack = certificate.bound - own;
        assert!((0.0..1e-6).contains(&slack), "{own} {}", certificate.bound);
    }
    // A slope beyond the declared bound could cost more than the wealth.
    let mut walk = Free::new(1.0, 0.5, 1.0).unwrap();
    assert!(walk.step(Dense(&[1.0]), 3.0.into(), &Squared, 0.0).is_err());
}

#[test]
fn free_never_bets_more_than_it_has() {
    // An adversary in one dimension plays against the bet, then with it, on values of all sizes.
    let mut random = Random::new(6);
    for _ in 0..300 {
        // With a constant common wealth, the total loss is the amount lost by betting.
        let mut walk = Free::new(1.0, 0.0, 1.0).unwrap();
        let (mut regret_of_zero, mut first) = (0.0, true);
        for _ in 0..400 {
            let x = Real::exp(20.0 * random.unit() - 10.0);
            let z = walk.predict(Dense(&[x]));
            let against = random.unit() < 0.7;
            let y = if (z >= 0.0) == against { -1e300 } else { 1e300 };
            let y = if first { 1e300 } else { y };
            first = false;
            let round = walk.step(Dense(&[x]), f64::into(y), &Logistic, 0.0).unwrap();
            regret_of_zero += round.slope * round.z;
            assert!(
                regret_of_zero <= 1.0 + 1e-12,
                "more than the wealth is lost: {regret_of_zero}"
            );
        }
    }
}

#[test]
fn free_keeps_its_promise() {
    // Rows of three features of very different scales; labels partly adversarial, partly from a target.
    let mut random = Random::new(8);
    for run in 0..200 {
        let step = [0.0, 0.5, 2.0][run % 3];
        let mut walk = Free::new(0.125, step, 1.0).unwrap();
        let mut first = [0.0; 3];
        for t in 0..300 {
            let x = [0, 1, 2].map(|i| {
                let size = Real::exp(4.0 * random.unit() - 2.0) * [1e-3, 1.0, 1e4][i];
                if random.unit() < 0.3 { 0.0 } else { size * random.sign() }
            });
            for i in 0..3 {
                if first[i] == 0.0 {
                    first[i] = x[i];
                }
            }
            let z = walk.predict(Dense(&x));
            let hostile = if z >= 0.0 { -1.0 } else { 1.0 };
            let honest = if 500.0 * x[0] - x[1] >= 0.0 { 1.0 } else { -1.0 };
            let y = if (t / 30) % 2 == run % 2 { hostile } else { honest };
            walk.step(Dense(&x), f64::into(y), &Logistic, 0.0).unwrap();
        }
        let mut state = std::collections::BTreeMap::new();
        walk.save(&mut |name, values| {
            state.insert(name, values.to_vec());
        });
        let known = |name: &str, i: usize| state[name].get(i).copied().unwrap_or(0.0);
        let lost: f64 = (0..3).map(|i| 1.0 - known("wealth", i)).sum();
        for c in [1e-3, 0.125, walk.common(), 10.0] {
            for target in [[0.0, 0.0, 0.0], [1e3, -2.0, 0.0], [500.0, -1.0, 1e-3]] {
                let promised: f64 = (0..3)
                    .map(|i| {
                        let root = Real::hypot(known("squares", i).sqrt(), known("scale", i));
                        let size = f64::abs(target[i]) * root;
                        let inside = 3.0 * size * root * root / (c * first[i] * first[i]);
                        let log = if size > 0.0 { (Real::ln(inside) - 1.0).max(0.0) } else { 0.0 };
                        c + 2.0 * size * log
                    })
                    .sum();
                let bound = walk.a() - c * lost + promised;
                let regret: f64 =
                    walk.a() + (0..3).map(|i| target[i] * known("sum", i)).sum::<f64>();
                assert!(regret <= bound + 1e-9, "run {run}: {regret} > {bound}");
            }
        }
        // Without steps of the common wealth the first two terms cancel.
        if step == 0.0 {
            assert!((walk.a() - 0.125 * lost).abs() < 1e-9);
        }
    }
}

/// The name, kind, state and a fresh copy of every walk: no two kinds may go on from each other's state.
#[test]
fn the_state_of_another_walk_is_refused() {
    type State = HashMap<&'static str, Vec<f64>>;
    struct Save(Vec<(String, String, State)>);
    impl Visit for Save {
        fn visit<W: Walk + Clone + PartialEq + Debug>(&mut self, name: &str, walk: W, rate: f64) {
            let (mut walk, mut state) = (walk, State::new());
            run(&mut walk, &mut Stream::new(3, 60, 6), 20, rate);
            walk.save(&mut |name, values| drop(state.insert(name, values.to_vec())));
            self.0.push((name.to_owned(), walk.spec(), state));
        }
    }
    struct Load<'a>(&'a [(String, String, State)]);
    impl Visit for Load<'_> {
        fn visit<W: Walk + Clone + PartialEq + Debug>(&mut self, name: &str, walk: W, _: f64) {
            for (other, spec, state) in self.0 {
                let mut into = walk.clone();
                let found = into.load(&mut |name| state.get(name).cloned());
                if other == name {
                    assert_eq!(found, Ok(()), "{name}");
                } else {
                    assert_ne!(spec, &walk.spec(), "{name} and {other} are saved alike");
                    let error = found.unwrap_err().to_string();
                    assert!(error.starts_with("the saved state is that of"), "{name}: {error}");
                    assert_eq!(into, walk, "{name} changed by {other}");
                }
            }
        }
    }
    let mut saved = Save(Vec::new());
    all(&mut saved);
    all(&mut Load(&saved.0));

    let mut states = [State::new(), State::new()];
    let spheres = [Sphere::new(2.0, 0).unwrap(), Sphere::new(1.0, 0).unwrap()];
    for (sphere, state) in spheres.iter().zip(&mut states) {
        sphere.save(&mut |name, values| drop(state.insert(name, values.to_vec())));
    }
    let error = spheres[1].clone().load(&mut |name| states[0].get(name).cloned()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the saved state is that of explicit:sphere(radius=2, seed=0), and this walk is \
         explicit:sphere(radius=1, seed=0); build the walk that was saved"
    );
}
