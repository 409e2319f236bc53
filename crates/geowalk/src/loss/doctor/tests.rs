//! The doctor must find every defect and accept every correct loss.

use super::*;
use crate::Real;
use crate::loss::{
    Absolute, AnyLoss, Exponential, Geodesic, Hinge, Huber, Invariant, Logistic, Quantile, Space,
    Squared, WinnowHinge,
};

/// A loss built from functions without any check.
#[derive(Clone, Copy)]
struct Unchecked {
    value: fn(f64, f64) -> f64,
    slope: fn(f64, f64) -> f64,
    curvature: fn(f64, f64) -> f64,
    facts: Facts,
}

impl std::fmt::Debug for Unchecked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unchecked")
    }
}

impl Loss for Unchecked {
    fn spec(&self) -> String {
        "unchecked".to_owned()
    }
    fn value(&self, z: f64, y: f64) -> f64 {
        (self.value)(z, y)
    }
    fn slope(&self, z: f64, y: f64) -> f64 {
        (self.slope)(z, y)
    }
    fn curvature(&self, z: f64, y: f64) -> f64 {
        (self.curvature)(z, y)
    }
    fn minimizer(&self, y: f64) -> f64 {
        y
    }
    fn facts(&self) -> Facts {
        self.facts
    }
}

fn diagnose(loss: &dyn Loss) -> Diagnosis {
    examine(loss, &Range::of(loss))
}

fn squared() -> Unchecked {
    Unchecked {
        value: |z, y| (z - y) * (z - y),
        slope: |z, y| 2.0 * (z - y),
        curvature: |_, _| 2.0,
        facts: Squared.facts(),
    }
}

fn applying(diagnosis: &Diagnosis) -> Vec<&'static str> {
    diagnosis.theorems().into_iter().filter(|t| t.applies).map(|t| t.theorem).collect()
}

fn built_in() -> Vec<AnyLoss> {
    let mut losses: Vec<AnyLoss> =
        crate::loss::entries().map(|entry| AnyLoss::parse(entry.name).unwrap()).collect();
    for text in [
        "huber(delta=0.01)",
        "huber(delta=7.3)",
        "quantile(tau=0.01)",
        "quantile(tau=0.9)",
        "winnow-hinge(theta=0)",
        "winnow-hinge(theta=-2.37)",
        "geodesic(space=euclidean)",
        "geodesic(space=spacelike)",
        "geodesic(space=timelike)",
        "geodesic(space=null)",
    ] {
        losses.push(AnyLoss::parse(text).unwrap());
    }
    losses
}

#[test]
fn every_built_in_loss_is_what_it_says() {
    for loss in built_in() {
        let diagnosis = diagnose(&loss);
        assert!(diagnosis.consistent(), "{diagnosis}");
        assert!(diagnosis.non_negative.holds() && diagnosis.bounded_below.holds(), "{diagnosis}");
        let facts = loss.facts();
        // The losses do not understate their properties: what is declared absent is measured absent.
        assert_eq!(diagnosis.convex.holds(), facts.convex, "{diagnosis}");
        if facts.convex {
            assert_eq!(diagnosis.lipschitz.is_some(), facts.lipschitz.is_some(), "{diagnosis}");
            assert_eq!(diagnosis.smooth.is_some(), facts.smooth.is_some(), "{diagnosis}");
        }
        let reached = |measured: Option<f64>, declared: Option<f64>| {
            declared.is_none_or(|d| measured.is_some_and(|m| (m - d).abs() <= 1e-6 * d))
        };
        assert!(reached(diagnosis.lipschitz, facts.lipschitz), "{diagnosis}");
        assert!(reached(diagnosis.smooth, facts.smooth), "{diagnosis}");
        if facts.strong.is_finite() {
            assert!((diagnosis.strong - facts.strong).abs() < 1e-3, "{diagnosis}");
        }
        let signed = facts.labels == Allowed::Sign;
        assert_eq!(diagnosis.margin.holds(), signed && facts.margin, "{diagnosis}");
    }
}

#[test]
fn kinks_are_found_where_they_are() {
    let places = |loss: &dyn Loss| -> Vec<(f64, f64, f64)> {
        diagnose(loss).kinks.iter().map(|k| (k.at, k.label, k.jump)).collect()
    };
    for (at, label, jump) in places(&Absolute) {
        assert_eq!((at, jump), (label, 2.0));
    }
    assert_eq!(places(&Absolute).len(), 8);
    assert_eq!(places(&Hinge), [(1.0, 1.0, 1.0), (-1.0, -1.0, 1.0)]);
    let theta = 0.192_966_637_999_097_13;
    for (at, _, jump) in places(&WinnowHinge::new(theta).unwrap()) {
        assert!((at - theta).abs() < 1e-12 && jump == 1.0);
    }
    for smooth in [
        &Logistic as &dyn Loss,
        &Huber::new(0.3).unwrap(),
        &Exponential,
        &Squared,
        &Geodesic::new(Space::Sphere),
    ] {
        assert_eq!(places(smooth), []);
    }
    assert!((places(&Quantile::new(0.2).unwrap())[0].2 - 1.0).abs() < 1e-15);
}

#[test]
fn theorems_follow_the_premises() {
    let first = ["first-order certificate", "Theorem 6 [KMWW07], flat"];
    let both = |rest: &[&'static str]| -> Vec<&'static str> { [&first, rest].concat() };
    let [lambda, mirror, ols] = [
        "Theorem 6 [KMWW07], lambda-convex",
        "mirror descent",
        "Theorems 3, 3' [NN09], p-norm OLS",
    ];
    let [boosting, rate, winnow, free] = [
        "Theorem 1 [NN09], boosting",
        "Theorem 2 [NN09], corrected rate",
        "Theorems 2, 3 [AW20], Winnow",
        "free",
    ];
    for (loss, wanted) in [
        ("squared", both(&[lambda, mirror])),
        ("invariant", both(&[lambda, mirror])),
        ("geodesic(space=sphere)", both(&[lambda, mirror])),
        ("geodesic(space=spacelike)", vec![]),
        ("absolute", both(&[mirror, free])),
        ("huber(delta=1)", both(&[mirror, free])),
        ("huber(delta=2)", both(&[mirror])),
        ("quantile", both(&[mirror, free])),
        ("logistic", both(&[mirror, ols, boosting, rate, free])),
        ("exponential", both(&[mirror, boosting])),
        ("hinge", both(&[mirror, free])),
        ("winnow-hinge", both(&[mirror, winnow, free])),
        ("winnow-hinge(theta=-1)", both(&[mirror, free])),
    ] {
        let diagnosis = diagnose(&AnyLoss::parse(loss).unwrap());
        assert_eq!(applying(&diagnosis), wanted, "{diagnosis}");
    }
}

#[test]
fn constants_of_the_balanced_losses() {
    // φ_B on the raw scale: (1 − z)²/4 on [−1, 1], 0 above, −z below; λ = 2.
    let gini = Unchecked {
        value: |z, y| {
            let m = y * z;
            if m <= -1.0 { -m } else { 0.25 * (1.0 - m).max(0.0) * (1.0 - m).max(0.0) }
        },
        slope: |z, y| -y * (0.5 * (1.0 - y * z)).clamp(0.0, 1.0),
        curvature: |z, _| if z.abs() <= 1.0 { 0.5 } else { 0.0 },
        facts: Facts { smooth: Some(0.5), ..Logistic.facts() },
    };
    // Matsushita on the scale F: −z + √(1 + z²), so c = 2 and λ = 2.
    let matsushita = Unchecked {
        value: |z, y| {
            let h = Real::hypot(1.0, z);
            if y * z > 0.0 { 1.0 / (h + y * z) } else { h - y * z }
        },
        slope: |z, y| {
            let (m, h) = (y * z, Real::hypot(1.0, z));
            y * if m > 0.0 { -1.0 / (h * (h + m)) } else { m / h - 1.0 }
        },
        curvature: |z, _| 1.0 / (Real::hypot(1.0, z) * (1.0 + z * z)),
        facts: Facts { lipschitz: Some(2.0), smooth: Some(1.0), ..Logistic.facts() },
    };
    for (loss, balance, floor) in [(&gini, 1.0, 2.0), (&matsushita, 2.0, 2.0)] {
        let diagnosis = diagnose(loss);
        assert!(diagnosis.consistent() && diagnosis.calibrated.holds(), "{diagnosis}");
        assert!((diagnosis.balance.unwrap() - balance).abs() < 1e-9, "{diagnosis}");
        let text =
            format!("balanced with c = {balance}, curvature floor lambda = inf phi'' = {floor}");
        assert!(diagnosis.theorems().iter().any(|t| t.why == text), "{diagnosis}");
    }
    let logistic = diagnose(&Logistic);
    assert!(logistic.to_string().contains("inf phi'' = 4"), "{logistic}");
    assert!(logistic.to_string().contains("inf of the conjugate's curvature = 4"), "{logistic}");
    // With labels ±1 the squared loss is (1 − yz)²: balanced with c = 4, but it increases beyond the margin 1.
    let squared = examine(&Squared, &Range::new(-30.0, 30.0, Allowed::Sign).unwrap());
    assert!(squared.margin.holds() && squared.decreasing.fails(), "{squared}");
    assert!((squared.balance.unwrap() - 4.0).abs() < 1e-9, "{squared}");
    let theorems = squared.theorems();
    let rate = theorems.iter().find(|t| t.theorem.contains("rate")).unwrap();
    assert!(rate.applies && rate.why.ends_with("= 0.5"), "{squared}");
    assert!(!theorems.iter().any(|t| t.theorem.contains("OLS") && t.applies), "{squared}");
    assert!(diagnose(&Exponential).balanced.fails() && diagnose(&Hinge).balanced.fails());
    assert!(
        !diagnose(&gini).strictly_convex.holds() && diagnose(&matsushita).strictly_convex.holds()
    );
}

#[test]
fn catches_losses_that_are_not_convex() {
    let sigmoid = Unchecked {
        value: |z, y| 1.0 / (1.0 + Real::exp(y * z)),
        slope: |z, y| -y * Logistic.curvature(z, 1.0),
        curvature: |z, y| {
            let p = 1.0 / (1.0 + Real::exp(y * z));
            p * (1.0 - p) * (1.0 - 2.0 * p)
        },
        facts: Facts { smooth: None, strong: -1.0, ..Logistic.facts() },
    };
    let diagnosis = diagnose(&sigmoid);
    assert!(diagnosis.slope.holds() && diagnosis.curvature.holds(), "{diagnosis}");
    // The slope decreases from 0 as the margin increases from −∞.
    assert!(matches!(&diagnosis.convex, Verdict::Fails { at, label: 1.0, .. } if *at < 0.0));
    assert!(diagnosis.declared_convex.fails() && diagnosis.calibrated.fails());
    assert!(applying(&diagnosis).is_empty(), "{diagnosis}");

    // Tukey's biweight, tuning constant 1.
    let biweight = Unchecked {
        value: |z, y| {
            let t = 1.0 - ((z - y) * (z - y)).min(1.0);
            (1.0 - t * t * t) / 6.0
        },
        slope: |z, y| {
            let t = 1.0 - ((z - y) * (z - y)).min(1.0);
            (z - y) * t * t
        },
        curvature: |z, y| {
            let r = ((z - y) * (z - y)).min(1.0);
            (1.0 - r) * (1.0 - 5.0 * r)
        },
        facts: Facts { lipschitz: Some(0.3), ..Absolute.facts() },
    };
    let diagnosis = diagnose(&biweight);
    assert!(diagnosis.convex.fails() && diagnosis.declared_strong.fails(), "{diagnosis}");
    assert!(diagnosis.slope.holds() && diagnosis.declared_lipschitz.holds(), "{diagnosis}");
    assert!((diagnosis.strong + 0.8).abs() < 1e-6, "{diagnosis}");
}

#[test]
fn catches_wrong_derivatives() {
    let wrong = Unchecked { slope: |z, y| 2.000_01 * (z - y), ..squared() };
    assert!(diagnose(&wrong).slope.fails());
    // Correct everywhere except on a small part.
    let wrong = Unchecked { slope: |z, y| 2.0 * (z - y).min(20.0), ..squared() };
    assert!(
        matches!(diagnose(&wrong).slope, Verdict::Fails { at, label: -10.0, .. } if at >= 10.0)
    );
    let wrong = Unchecked { curvature: |_, _| 1.999, ..squared() };
    assert!(diagnose(&wrong).curvature.fails());
    assert!(diagnose(&squared()).consistent());
}

#[test]
fn catches_false_declarations() {
    let facts = Facts { smooth: Some(10.0), ..Absolute.facts() };
    let kinked = Unchecked {
        value: |z, y| Absolute.value(z, y),
        slope: |z, y| Absolute.slope(z, y),
        curvature: |_, _| 0.0,
        facts,
    };
    assert!(matches!(diagnose(&kinked).declared_smooth, Verdict::Fails { found: 2.0, .. }));
    // The slope is unbounded, although the constant is not exceeded on the grid within the range.
    let steep = Unchecked { facts: Facts { lipschitz: Some(1e6), ..Squared.facts() }, ..squared() };
    let diagnosis = diagnose(&steep);
    assert!(diagnosis.declared_lipschitz.fails() && diagnosis.lipschitz.is_none(), "{diagnosis}");
    let strong = Unchecked { facts: Facts { strong: 2.01, ..Squared.facts() }, ..squared() };
    assert!(diagnose(&strong).declared_strong.fails());
    let smooth = Unchecked { facts: Facts { smooth: Some(1.9), ..Squared.facts() }, ..squared() };
    assert!(diagnose(&smooth).declared_smooth.fails());
    let labels = Allowed::Sign;
    let margin = Unchecked {
        value: |z, y| Huber::new(1.0).unwrap().value(z, 0.5 * y + 0.5),
        slope: |z, y| Huber::new(1.0).unwrap().slope(z, 0.5 * y + 0.5),
        curvature: |z, y| Huber::new(1.0).unwrap().curvature(z, 0.5 * y + 0.5),
        facts: Facts { labels, margin: true, ..Huber::new(1.0).unwrap().facts() },
    };
    assert!(diagnose(&margin).declared_margin.fails());
}

#[test]
fn catches_what_is_not_finite_or_falls_for_ever() {
    let holed = Unchecked {
        value: |z, y| if (3.0..4.0).contains(&z) { f64::NAN } else { Squared.value(z, y) },
        ..squared()
    };
    let diagnosis = diagnose(&holed);
    assert!(matches!(diagnosis.finite, Verdict::Fails { at, .. } if (3.0..4.0).contains(&at)));
    assert_eq!(diagnosis.convex, Verdict::NotApplicable);
    assert!(applying(&diagnosis).is_empty() && !diagnosis.consistent());
    // NaN beyond the grid, because a formula overflows.
    let overflowing = Unchecked {
        value: |z, y| Real::ln(Real::exp(z - y) / Real::exp(y - z)),
        slope: |_, _| 2.0,
        curvature: |_, _| 0.0,
        facts: Invariant.facts(),
    };
    assert!(diagnose(&overflowing).finite.fails());
    let falling = Unchecked {
        value: |z, y| y - z,
        slope: |_, _| -1.0,
        curvature: |_, _| 0.0,
        facts: Absolute.facts(),
    };
    let diagnosis = diagnose(&falling);
    assert!(diagnosis.bounded_below.fails() && diagnosis.non_negative.fails(), "{diagnosis}");
}

#[test]
fn the_report_is_aligned_and_names_the_places() {
    let report = diagnose(&Geodesic::new(Space::Null)).to_string();
    for line in report.lines().skip(1) {
        let (name, finding) = (&line[2..37], &line[37..]);
        assert!(name.ends_with(' ') && !finding.starts_with(' '), "{report}");
    }
    assert_eq!(report.lines().count(), 1 + 16 + 5 + 9);
    let convex = report.lines().find(|line| line.starts_with("  convex ")).unwrap();
    assert!(convex[37..].starts_with("FAILS at z = "), "{report}");
    assert!(Range::new(1.0, 1.0, Allowed::Sign).is_err());
}
