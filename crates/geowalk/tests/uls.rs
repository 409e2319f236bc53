//! Properties of ULS on given features, for every loss.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests are tests

use std::sync::Arc;

use geowalk::Real;
use geowalk::boost::uls::classical_margins;
use geowalk::boost::{
    Ended, HeldOut, Leverage, Order, Outcome, Separable, Stop, Surrogate, Uls, Watched, block, line,
};
use geowalk::certify::Boosting;
use geowalk::error::Allowed;
use geowalk::laws::Sampler;
use geowalk::loss::doctor::Range;
use geowalk::loss::permissible::Permissible;
use geowalk::loss::{AnyLoss, Custom};

const NAMES: [&str; 8] = [
    "exponential",
    "squared",
    "gini",
    "matsushita",
    "entropy",
    "mu(mu=0.3)",
    "nu(nu=0.25)",
    "zeta(zeta=-4)",
];

/// −ln of a user-defined sigmoid, with another slope at 0.
fn own() -> Surrogate {
    let psi = |z: f64| 0.5 * (Real::max(-2.0 * z, 0.0) + Real::ln_1p(Real::exp(-(2.0 * z).abs())));
    let slope = |z: f64| -1.0 / (1.0 + Real::exp(2.0 * z));
    let bend = |z: f64| {
        let e = Real::exp(-(2.0 * z).abs());
        2.0 * e / ((1.0 + e) * (1.0 + e))
    };
    let range = Range::new(-60.0, 60.0, Allowed::Sign).unwrap();
    let loss = Custom::margin(Arc::new(psi), Arc::new(slope), Some(Arc::new(bend)), range);
    Surrogate::new(AnyLoss::Custom(loss.unwrap())).unwrap()
}

fn losses() -> Vec<Surrogate> {
    let named = NAMES.iter().map(|name| Surrogate::parse(name).unwrap());
    named.chain([own()]).collect()
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Real,
    Sign,
    Abstaining,
}

/// Features and noisy labels that no combination of features separates.
fn problem(s: &mut Sampler, kind: Kind, m: usize, t: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let draw = |s: &mut Sampler| match kind {
        Kind::Real => s.uniform(-1.5, 1.5),
        Kind::Sign => s.sign(),
        Kind::Abstaining => {
            if s.uniform(0.0, 1.0) < 0.3 {
                0.0
            } else {
                s.sign()
            }
        }
    };
    let features: Vec<Vec<f64>> = (0..t).map(|_| (0..m).map(|_| draw(s)).collect()).collect();
    let truth: Vec<f64> = (0..t).map(|_| s.uniform(-1.0, 1.0)).collect();
    let labels = (0..m).map(|i| {
        let h: f64 = features.iter().zip(&truth).map(|(f, w)| w * f[i]).sum();
        let y = if h >= 0.0 { 1.0 } else { -1.0 };
        if s.uniform(0.0, 1.0) < 0.25 { -y } else { y }
    });
    let labels = labels.collect();
    (features, labels)
}

fn risk(loss: &Surrogate, features: &[Vec<f64>], labels: &[f64], alpha: &[f64]) -> f64 {
    let margin = |i: usize| -> f64 {
        labels[i] * features.iter().zip(alpha).map(|(f, a)| a * f[i]).sum::<f64>()
    };
    (0..labels.len()).map(|i| loss.value(margin(i))).sum()
}

#[test]
fn leverages_are_roots_at_every_scale() {
    let mut s = Sampler::new(7);
    for loss in losses() {
        for case in 0..40 {
            let scale = Real::exp(s.uniform(-6.9, 6.9));
            let size = if case % 2 == 0 { 1.0 } else { 20.0 };
            // A custom loss is defined only on a range.
            let size = if loss.spec() == "custom" { 1.0 } else { size };
            let n = 30;
            let u: Vec<f64> = (0..n).map(|_| s.uniform(-size, size)).collect();
            let mut m: Vec<f64> = (0..n).map(|_| scale * s.uniform(-1.0, 1.0)).collect();
            (m[0], m[1]) = (scale, -scale);
            let c: Vec<f64> = (0..n).map(|_| s.uniform(0.1, 2.0)).collect();
            let step = line::leverage(&loss, &u, &m, &c, Separable::Error).unwrap();
            assert_eq!(step.outcome, Outcome::Solved);
            assert!(step.residual <= 1e-10, "{} {case}: {step:?}", loss.spec());
            // The vector form gives the same result: here for the feature and a copy, whose leverages add up.
            let both = block::leverages(&loss, &u, &[&m, &m], &c, Separable::Error).unwrap();
            let sum = both.delta[0] + both.delta[1];
            let value = |delta: f64| -> f64 {
                (0..n).map(|i| c[i] * loss.value(-(u[i] + delta * m[i]))).sum()
            };
            let (one, two) = (value(step.delta), value(sum));
            assert!(
                (one - two).abs() <= 1e-9 * one.max(1e-3),
                "{} {case}: {one} {two}",
                loss.spec()
            );
        }
    }
}

/// The logistic loss has a special form along a feature with a single magnitude; here the weights are computed from
/// the definition.
#[test]
fn leverages_of_the_logistic_loss_are_roots_of_the_definition() {
    let mut s = Sampler::new(11);
    let loss = Surrogate::parse("entropy").unwrap();
    for case in 0..40 {
        let scale = Real::exp(s.uniform(-6.9, 6.9));
        // Scores up to sizes that the special form rejects.
        let size = [1.0, 20.0, 400.0, 700.0][case % 4];
        let n = 50;
        let u: Vec<f64> = (0..n).map(|_| s.uniform(-size, size)).collect();
        let mut m: Vec<f64> = (0..n).map(|_| scale * [-1.0, -1.0, 0.0, 1.0][s.below(4)]).collect();
        (m[0], m[1]) = (scale, -scale);
        let c: Vec<f64> = (0..n).map(|_| s.uniform(0.1, 2.0)).collect();
        let step = line::leverage(&loss, &u, &m, &c, Separable::Error).unwrap();
        assert_eq!(step.outcome, Outcome::Solved);
        let (mut g, mut all) = (0.0, 0.0);
        for i in 0..n {
            let term = c[i] * m[i] * loss.weight(-(u[i] + step.delta * m[i]));
            g += term;
            all += term.abs();
        }
        // One unit in the last place of u + δm changes its weight by this much.
        let allowed = 1e-12 + 4.0 * f64::EPSILON * size.max((step.delta * scale).abs());
        assert!(g.abs() <= allowed * all, "{case}: {} of {all}, {step:?}", g.abs());
    }
}

#[test]
fn closed_forms_and_flat_stretches() {
    let gini = Surrogate::parse("gini").unwrap();
    let step =
        line::leverage(&gini, &[0.0, -0.5, 0.2], &[-1.0; 3], &[1.0; 3], Separable::Error).unwrap();
    assert!((step.delta - 1.2).abs() < 1e-14, "{step:?}");
    // Saturated on both sides: every δ up to 1 keeps the derivative at 0; the smallest is 0.
    let step =
        line::leverage(&gini, &[3.0, 3.0], &[1.0, -1.0], &[1.0; 2], Separable::Error).unwrap();
    assert_eq!(step.delta, 0.0);
    // zeta saturates at tanh(k/4).
    let zeta = Surrogate::parse("zeta(zeta=-4)").unwrap();
    let step = line::leverage(&zeta, &[0.0, 0.1], &[1.0; 2], &[1.0; 2], Separable::Error).unwrap();
    assert!((step.delta + 0.1 + Real::tanh(1.0)).abs() < 1e-14, "{step:?}");
    // Exponential: half the logarithm of the ratio of weights; abstentions do not count.
    let exponential = Surrogate::parse("exponential").unwrap();
    let (u, m) = ([0.3, -0.2, 0.9, 5.0], [-2.0, -2.0, 2.0, 0.0]);
    let step = line::leverage(&exponential, &u, &m, &[1.0; 4], Separable::Error).unwrap();
    let expected = Real::ln((Real::exp(0.3) + Real::exp(-0.2)) / Real::exp(0.9)) / 4.0;
    assert!((step.delta - expected).abs() < 1e-15 && step.evaluations == 1);
    // Scores whose exponentials overflow.
    let step =
        line::leverage(&exponential, &[2e4, 2e4 + 3.0], &[-1.0, 1.0], &[1.0; 2], Separable::Cap);
    assert!((step.unwrap().delta + 1.5).abs() < 1e-12);
    let step = line::leverage(&exponential, &[0.0, 2e3], &[-1.0, 1.0], &[1.0; 2], Separable::Cap);
    assert!((step.unwrap().delta + 1e3).abs() < 1e-9);
    // The feature is zero everywhere.
    let step =
        line::leverage(&exponential, &[1.0; 2], &[0.0; 2], &[1.0; 2], Separable::Cap).unwrap();
    assert_eq!((step.delta, step.outcome), (0.0, Outcome::Flat));
    let wrong = line::leverage(&exponential, &[1.0; 2], &[0.0; 3], &[1.0; 2], Separable::Cap);
    assert!(wrong.unwrap_err().to_string().contains("has 3 coordinates; 2 are needed"));
    assert!(line::leverage(&exponential, &[1.0], &[f64::NAN], &[1.0], Separable::Cap).is_err());
}

#[test]
fn every_round_keeps_what_is_promised() {
    let mut s = Sampler::new(11);
    for kind in [Kind::Real, Kind::Sign, Kind::Abstaining] {
        let (features, labels) = problem(&mut s, kind, 60, 6);
        let weights: Vec<f64> = (0..60).map(|_| s.uniform(0.2, 3.0)).collect();
        for loss in losses() {
            let mut uls = Uls::new(loss.clone(), Stop::after(40).unwrap());
            uls.order = Order::Greedy;
            let fit = uls.fit(&features, &labels, Some(&weights), None).unwrap();
            let mut last = 1.0;
            for round in &fit.rounds {
                let name = loss.spec();
                assert_eq!(round.outcome, Outcome::Solved);
                assert!(round.slip <= 1e-10, "{name} {kind:?}: {round:?}");
                assert!(round.surrogate <= round.before * (1.0 + 1e-12), "{name} {round:?}");
                assert!((round.before - last).abs() <= 1e-12, "{name} {round:?}");
                let decrease = round.before - round.surrogate;
                assert!(decrease >= round.guaranteed * (1.0 - 1e-9) - 1e-14, "{name} {round:?}");
                if name == "squared" {
                    assert!((decrease - round.guaranteed).abs() <= 1e-12, "{round:?}");
                }
                assert!(round.error <= round.surrogate * (1.0 + 1e-12), "{name} {round:?}");
                last = round.surrogate;
            }
        }
    }
}

#[test]
fn all_orders_reach_the_same_risk_and_the_dual_says_so() {
    let mut s = Sampler::new(3);
    for kind in [Kind::Real, Kind::Sign, Kind::Abstaining] {
        let (features, labels) = problem(&mut s, kind, 50, 5);
        for loss in losses() {
            let given = Order::Given(vec![vec![0, 3], vec![4, 1], vec![2]]);
            let runs = [
                (Leverage::One, Order::Cyclic),
                (Leverage::One, Order::Greedy),
                (Leverage::Some(3), Order::Cyclic),
                (Leverage::Some(2), Order::Greedy),
                (Leverage::All, Order::Cyclic),
                (Leverage::One, given),
            ];
            let mut least = f64::NAN;
            for (leverage, order) in runs {
                let mut uls = Uls::new(loss.clone(), Stop::after(4000).unwrap());
                (uls.leverage, uls.order) = (leverage, order.clone());
                let fit = uls.fit(&features, &labels, None, None).unwrap();
                assert_eq!(fit.ended, Ended::Converged, "{} {leverage:?} {order:?}", loss.spec());
                let alpha = fit.alpha();
                let reached = risk(&loss, &features, &labels, &alpha);
                if least.is_nan() {
                    least = reached;
                }
                assert!((reached - least).abs() <= 1e-7 * least, "{} {order:?}", loss.spec());
                let gap = uls.gap(&features, &labels, None, &alpha).unwrap();
                assert!((gap.risk - reached).abs() <= 1e-12 * reached);
                assert!(gap.gap() >= -1e-12 * reached && gap.gap() <= 1e-7 * reached, "{gap:?}");
            }
            // Weak duality, far from the optimum.
            let uls = Uls::new(loss.clone(), Stop::after(1).unwrap());
            let fit = uls.fit(&features, &labels, None, None).unwrap();
            let gap = uls.gap(&features, &labels, None, &fit.alpha()).unwrap();
            assert!(gap.dual <= least * (1.0 + 1e-9), "{} {gap:?} {least}", loss.spec());
        }
    }
}

#[test]
fn the_exponential_loss_is_adaboost() {
    let mut s = Sampler::new(5);
    let (features, labels) = problem(&mut s, Kind::Sign, 80, 12);
    let mut uls = Uls::new(Surrogate::parse("exponential").unwrap(), Stop::after(30).unwrap());
    uls.order = Order::Greedy;
    let fit = uls.fit(&features, &labels, None, None).unwrap();
    // AdaBoost as published by Freund and Schapire.
    let mut d = vec![1.0 / 80.0; 80];
    let mut alpha = [0.0; 12];
    let mut risk = 1.0;
    for round in &fit.rounds {
        let wrong = |t: usize| -> f64 {
            (0..80).filter(|&i| features[t][i] != labels[i]).map(|i| d[i]).sum()
        };
        let far = |t: usize| (wrong(t) - 0.5).abs();
        let t = (0..12).max_by(|&a, &b| far(a).total_cmp(&far(b)).then(b.cmp(&a))).unwrap();
        let error = wrong(t);
        let step = 0.5 * Real::ln((1.0 - error) / error);
        alpha[t] += step;
        let mut z = 0.0;
        for i in 0..80 {
            d[i] *= Real::exp(-step * labels[i] * features[t][i]);
            z += d[i];
        }
        for d in &mut d {
            *d /= z;
        }
        risk *= z;
        assert_eq!(round.feature, t);
        assert!((round.leverage - step).abs() < 1e-12);
        assert!((round.edge - (1.0 - 2.0 * error)).abs() < 1e-12);
        assert!((round.surrogate - risk).abs() < 1e-12);
        // The linear rate holds with equality for features ±1.
        let rate = round.before * (1.0 - round.edge * round.edge).sqrt();
        assert!((round.surrogate - rate).abs() < 1e-12);
    }
    for (found, expected) in fit.alpha().iter().zip(alpha) {
        assert!((found - expected).abs() < 1e-11);
    }
}

#[test]
fn the_logistic_loss_is_logistic_regression() {
    // Newton's method written out for two features.
    let mut s = Sampler::new(9);
    let (features, labels) = problem(&mut s, Kind::Real, 100, 2);
    let mut w = [0.0, 0.0];
    for _ in 0..50 {
        let (mut g, mut h) = ([0.0; 2], [0.0; 3]);
        for i in 0..100 {
            let x = [features[0][i], features[1][i]];
            let z = labels[i] * (w[0] * x[0] + w[1] * x[1]);
            let p = 1.0 / (1.0 + Real::exp(z));
            for k in 0..2 {
                g[k] -= labels[i] * p * x[k];
            }
            let bend = p * (1.0 - p);
            h[0] += bend * x[0] * x[0];
            h[1] += bend * x[0] * x[1];
            h[2] += bend * x[1] * x[1];
        }
        let det = h[0] * h[2] - h[1] * h[1];
        w[0] -= (h[2] * g[0] - h[1] * g[1]) / det;
        w[1] -= (h[0] * g[1] - h[1] * g[0]) / det;
    }
    let uls = Uls::new(Surrogate::parse("logistic").unwrap(), Stop::after(5000).unwrap());
    let alpha = uls.fit(&features, &labels, None, None).unwrap().alpha();
    assert!((alpha[0] - w[0]).abs() < 1e-6 && (alpha[1] - w[1]).abs() < 1e-6, "{alpha:?} {w:?}");
}

#[test]
fn mu_is_matsushita_on_another_scale() {
    let mut s = Sampler::new(21);
    let (features, labels) = problem(&mut s, Kind::Abstaining, 70, 8);
    let fit = |name: &str| {
        let mut uls = Uls::new(Surrogate::parse(name).unwrap(), Stop::after(60).unwrap());
        uls.order = Order::Greedy;
        uls.fit(&features, &labels, None, None).unwrap()
    };
    let matsushita = fit("matsushita");
    for mu in [0.1, 0.5, 0.9] {
        let other = fit(&format!("mu(mu={mu})"));
        for (a, b) in matsushita.rounds.iter().zip(&other.rounds) {
            assert_eq!((a.feature, a.error), (b.feature, b.error));
            assert!((a.surrogate - b.surrogate).abs() < 1e-10);
        }
        for (a, b) in matsushita.alpha().iter().zip(other.alpha()) {
            assert!((b - (1.0 - mu) * a).abs() < 1e-8, "{mu}");
        }
    }
}

#[test]
fn features_that_never_err() {
    let labels = [1.0, 1.0, -1.0];
    let good = vec![1.0, 1.0, -1.0];
    let other = vec![1.0, -1.0, -1.0];
    for name in ["exponential", "matsushita", "entropy", "nu", "mu"] {
        let loss = Surrogate::parse(name).unwrap();
        let mut uls = Uls::new(loss.clone(), Stop::after(20).unwrap());
        let features = vec![good.clone(), other.clone()];
        let fit = uls.fit(&features, &labels, None, None).unwrap();
        assert_eq!(fit.rounds[0].outcome, Outcome::Separable);
        assert!((fit.rounds[0].leverage - loss.cap(3)).abs() < 1e-15);
        assert!(fit.rounds.iter().all(|r| r.leverage.is_finite() && r.surrogate.is_finite()));
        uls.separable = Separable::Stop;
        let fit = uls.fit(&features, &labels, None, None).unwrap();
        assert_eq!((fit.ended, fit.rounds.len()), (Ended::Separable, 1));
        assert_eq!(fit.alpha(), [loss.cap(3), 0.0]);
        uls.separable = Separable::Error;
        let error = uls.fit(&features, &labels, None, None).unwrap_err().to_string();
        assert!(error.contains("never errs on the 3 examples"), "{error}");
        // A feature that always errs has a negative leverage. One that abstains and never errs is also separable.
        let step = line::leverage(&loss, &[0.0; 3], &[1.0; 3], &[1.0; 3], Separable::Cap).unwrap();
        assert_eq!(step.delta, -loss.cap(3));
        let step = line::leverage(&loss, &[0.0; 3], &[-1.0, -1.0, 0.0], &[1.0; 3], Separable::Cap)
            .unwrap();
        assert_eq!(step.outcome, Outcome::Separable);
        // Each has one error, but their combination has none: the whole block is separable.
        let (a, b) = ([-2.0, 1.0], [1.0, -2.0]);
        let found =
            block::leverages(&loss, &[0.0; 2], &[&a, &b], &[1.0; 2], Separable::Cap).unwrap();
        assert_eq!(found.outcome, Outcome::Separable, "{name}");
        assert!(found.delta.iter().all(|d| d.is_finite()));
        assert!(found.change.iter().all(|c| *c < 0.0), "{found:?}");
    }
    // Losses with a minimum are not separable.
    for name in ["squared", "gini", "zeta"] {
        let loss = Surrogate::parse(name).unwrap();
        let step =
            line::leverage(&loss, &[0.0; 3], &[-1.0; 3], &[1.0; 3], Separable::Error).unwrap();
        assert_eq!(step.outcome, Outcome::Solved);
        assert!((step.delta - loss.minimizer()).abs() < 1e-14, "{name} {step:?}");
    }
}

#[test]
fn what_stands_alone_is_what_the_last_round_tells_of() {
    let labels = [1.0, 1.0, -1.0, -1.0];
    let (errs, never) = (vec![1.0, -1.0, -1.0, -1.0], vec![1.0, 1.0, -1.0, -1.0]);
    let features = vec![errs, never];
    let loss = Surrogate::parse("matsushita").unwrap();
    let mut uls = Uls::new(loss.clone(), Stop::after(5).unwrap());
    uls.separable = Separable::Stop;
    let fit = uls.fit(&features, &labels, None, None).unwrap();
    assert_eq!((fit.ended, fit.rounds.len(), fit.alpha()[0]), (Ended::Separable, 2, 0.0));
    let alpha = fit.alpha()[1];
    assert!(alpha > 0.0);
    let last = fit.rounds[1];
    assert!((last.surrogate - loss.normalised(alpha)).abs() < 1e-15, "{last:?}");
    assert_eq!(last.error, 0.0);
    // With errors on a held-out set, the earlier model is preferred.
    let wrong = vec![vec![1.0, -1.0], vec![-1.0, 1.0]];
    let held = HeldOut { features: &wrong, labels: &[1.0, -1.0], weights: None };
    let fit = uls.fit(&features, &labels, None, Some(held)).unwrap();
    assert_eq!((fit.kept, fit.alpha()[1]), (1, 0.0));
    assert!(fit.alpha()[0] > 0.0);
}

/// For features ±1 the product in the rate equals the risk, so no better rate is possible.
#[test]
fn the_exponential_rate_is_exact_for_signs() {
    let mut s = Sampler::new(71);
    let (features, labels) = problem(&mut s, Kind::Sign, 120, 12);
    let loss = Surrogate::parse("exponential").unwrap();
    let fit = Uls::new(loss.clone(), Stop::after(20).unwrap()).fit(&features, &labels, None, None);
    let mut bound = Boosting::new(&loss);
    for round in &fit.unwrap().rounds {
        bound.observe(round);
        let rate = bound.rate();
        assert!(rate.loss <= rate.bound && rate.bound - rate.loss < 1e-9, "{rate:?}");
    }
    assert!(bound.rate().bound < 0.99);
}

#[test]
fn invariances() {
    let mut s = Sampler::new(33);
    let (features, labels) = problem(&mut s, Kind::Real, 40, 4);
    for loss in losses() {
        let fit = |features: &[Vec<f64>], labels: &[f64]| {
            let uls = Uls::new(loss.clone(), Stop::after(12).unwrap());
            uls.fit(features, labels, None, None).unwrap()
        };
        let plain = fit(&features, &labels);
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        // −h flips the leverage, s·h divides it.
        let mut other = features.clone();
        other[1].iter_mut().for_each(|h| *h = -*h);
        other[2].iter_mut().for_each(|h| *h *= 8.0);
        let alpha = fit(&other, &labels).alpha();
        let back = [alpha[0], -alpha[1], 8.0 * alpha[2], alpha[3]];
        assert!(near(&back, &plain.alpha()), "{}", loss.spec());
        // The examples in another order; the sample twice.
        let turned: Vec<Vec<f64>> =
            features.iter().map(|f| f.iter().rev().copied().collect()).collect();
        let reversed: Vec<f64> = labels.iter().rev().copied().collect();
        assert!(near(&fit(&turned, &reversed).alpha(), &plain.alpha()), "{}", loss.spec());
        let twice: Vec<Vec<f64>> = features.iter().map(|f| [f.as_slice(), f].concat()).collect();
        let double = fit(&twice, &[labels.clone(), labels.clone()].concat());
        assert!(near(&double.alpha(), &plain.alpha()), "{}", loss.spec());
        // Labels and scores with the opposite sign.
        let negative: Vec<f64> = labels.iter().map(|y| -y).collect();
        let alpha: Vec<f64> = fit(&features, &negative).alpha().iter().map(|a| -a).collect();
        assert!(near(&alpha, &plain.alpha()), "{}", loss.spec());
    }
}

#[test]
fn stopping() {
    let mut s = Sampler::new(41);
    let (features, labels) = problem(&mut s, Kind::Sign, 200, 20);
    let (train, held): (Vec<Vec<f64>>, Vec<Vec<f64>>) =
        features.iter().map(|f| (f[..100].to_vec(), f[100..].to_vec())).unzip();
    let mut uls = Uls::new(Surrogate::parse("matsushita").unwrap(), Stop::after(300).unwrap());
    uls.order = Order::Greedy;
    uls.stop.bound = Some(0.9);
    let fit = uls.fit(&train, &labels[..100], None, None).unwrap();
    assert_eq!(fit.ended, Ended::Bound);
    assert!(fit.rounds.last().unwrap().surrogate <= 0.9);
    uls.stop.bound = None;
    uls.stop.patience = Some(5);
    for watched in [Watched::Error, Watched::Surrogate] {
        uls.stop.watched = watched;
        let held = HeldOut { features: &held, labels: &labels[100..], weights: None };
        let fit = uls.fit(&train, &labels[..100], None, Some(held)).unwrap();
        assert_eq!(fit.ended, Ended::Patience);
        assert_eq!(fit.kept + 5, fit.rounds.len());
        // The kept leverages are those of a run that stops at that round.
        uls.stop.rounds = fit.kept;
        let short = uls.fit(&train, &labels[..100], None, None).unwrap();
        assert_eq!(short.alpha(), fit.alpha());
        uls.stop.rounds = 300;
    }
    let zero = vec![vec![1.0, -1.0, 1.0, -1.0]];
    let fit = uls.fit(&zero, &[1.0, 1.0, -1.0, -1.0], None, None).unwrap();
    assert_eq!(fit.ended, Ended::Converged);
}

#[test]
fn renorm_keeps_leverages_small_and_may_lose_ground() {
    let mut s = Sampler::new(8);
    let mut lost = 0;
    for _ in 0..20 {
        let (features, labels) = problem(&mut s, Kind::Sign, 30, 6);
        let uls = Uls::new(Surrogate::renorm(), Stop::after(30).unwrap());
        let fit = uls.fit(&features, &labels, None, None).unwrap();
        assert!(fit.alpha().iter().map(|a| a.abs()).sum::<f64>() <= 1.0 + 1e-12);
        lost += fit.rounds.iter().filter(|r| r.surrogate > r.before + 1e-9).count();
    }
    assert!(lost > 0, "the print's renormalisation is not a descent method");
}

#[test]
fn margins_lie_between_minus_one_and_one() {
    let mut s = Sampler::new(2);
    let (features, labels) = problem(&mut s, Kind::Abstaining, 40, 5);
    for name in ["matsushita", "entropy", "gini", "nu", "zeta"] {
        let loss = Surrogate::parse(name).unwrap();
        let alpha = Uls::new(loss.clone(), Stop::after(40).unwrap())
            .fit(&features, &labels, None, None)
            .unwrap()
            .alpha();
        let classical = classical_margins(&features, &labels, &alpha);
        assert!(classical.iter().all(|m| m.abs() <= 1.0));
        let phi = loss.permissible().unwrap();
        for i in 0..40 {
            let h: f64 = features.iter().zip(&alpha).map(|(f, a)| a * f[i]).sum();
            let margin = phi.margin(h, labels[i]);
            // (42) = (43): y(2P − 1).
            assert!((margin - labels[i] * (2.0 * loss.probability(h) - 1.0)).abs() < 1e-12);
            assert!(margin.abs() <= 1.0);
        }
    }
    assert_eq!(classical_margins(&features, &labels, &[0.0; 5]), [0.0; 40]);
}

#[test]
fn bad_input_is_named() {
    let uls = Uls::new(Surrogate::parse("entropy").unwrap(), Stop::after(5).unwrap());
    let message = |features: &[Vec<f64>], labels: &[f64], weights: Option<&[f64]>| {
        uls.fit(features, labels, weights, None).unwrap_err().to_string()
    };
    assert_eq!(message(&[], &[1.0], None), "the table of features is empty");
    let one = [vec![1.0, 2.0]];
    assert!(
        message(&one, &[1.0, 0.0], None)
            .starts_with("coordinate 1 of the labels is 0; it must be -1 or +1")
    );
    assert!(message(&[vec![1.0]], &[1.0, -1.0], None).contains("has 1 coordinates; 2 are needed"));
    assert!(
        message(&[vec![1.0, f64::NAN]], &[1.0, -1.0], None)
            .contains("coordinate 1 of a feature is NaN")
    );
    assert!(message(&one, &[1.0, -1.0], Some(&[1.0, -2.0])).contains("a finite number >= 0"));
    let mut given = uls.clone();
    given.order = Order::Given(vec![vec![3]]);
    assert!(
        given.fit(&one, &[1.0, -1.0], None, None).unwrap_err().to_string().contains("feature = 3")
    );
    assert!(Leverage::parse("0").is_err() && Leverage::parse("some").is_err());
    assert_eq!(Leverage::parse("7").unwrap(), Leverage::Some(7));
}
