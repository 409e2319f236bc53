//! The wrong printed statements on their counterexamples: the printed bound is violated, the corrected one holds or is
//! void.

use geowalk::certify::{
    Bound, Comparator, Hedge, Ledger, NullVector, Proximal, ReparamHedge, Riemannian, rules,
};
use geowalk::experts::Linear;
use geowalk::geometry::manifolds::{Euclidean, PositiveOrthant, Simplex, Sphere};
use geowalk::geometry::{Event, ExpLog, Link, PullBack, Work, link};
use geowalk::loss::permissible::{AnyPermissible, Permissible};
use geowalk::loss::{AnyLoss, Invariant, Loss, Squared, WinnowHinge};
use geowalk::row::Dense;
use geowalk::update::{Explicit, Update};
use geowalk::walk::{
    self, Clipped, Entropy, Implicit, Orthant, PNorm, ReparamEntropy, ReparamSimplex,
    SimplexEntropy, Walk, winnow,
};

use super::support::{holds, void};

/// One implicit step on L = w² from w₀ = 1, u = 0: loss before and after, and the corrected bounds.
fn one_implicit(rate: f64) -> (f64, f64, Proximal<Euclidean>) {
    let mut walk = Implicit::new(walk::Euclidean::new());
    // With x = 1, the label −1 at 0 gives the parabola w² at 1; so move the origin instead.
    let round = walk.step(Dense(&[1.0]), (-1.0).into(), &Squared, rate).unwrap();
    let after = walk.after().unwrap();
    let mut to = Vec::new();
    walk.read(&mut to);
    let mut bound = Proximal::new(Euclidean::new(1).unwrap(), &[-1.0], 0.0).unwrap();
    bound.observe(&[0.0], &to, &round, &after, Dense(&[1.0]), 0.0).unwrap();
    (round.loss, after.loss, bound)
}

#[test]
fn paper_1_theorem_8() {
    // (16): the right-hand side is 2/(1 + 2η)²; it fails iff η > (√2 − 1)/2.
    for (rate, fails) in [(0.2, false), (0.2072, true), (1.0, true)] {
        let (before, after, bound) = one_implicit(rate);
        let printed = 2.0 / ((1.0 + 2.0 * rate) * (1.0 + 2.0 * rate));
        assert_eq!(before > printed, fails, "η = {rate}");
        let own = bound.after();
        assert!((own.bound - printed).abs() < 1e-9, "that is the bound on the loss after the step");
        holds(&own, after);
        holds(&bound.before(), before);
    }
    // (17), η = 1: even the loss after the step, 1/9, is above the printed bound with D(w_t, u).
    let (_, after, bound) = one_implicit(1.0);
    let printed = bound.after().bound - 1.0;
    assert!((after - 0.1111).abs() < 1e-4 && (printed + 0.7778).abs() < 1e-4);
    assert!(after > printed);
}

#[test]
fn paper_1_example_5() {
    let mut bound = Ledger::least_squares_after(&[]);
    let mut walk = Implicit::new(walk::Euclidean::new());
    let round = walk.step(Dense(&[1.0]), 1.0.into(), &Squared, 1.0).unwrap();
    let after = walk.after().unwrap();
    bound.observe(&round, Dense(&[1.0]));
    // Printed bound on the loss after the steps, for a comparator with loss 0: ‖u‖²/(4η(1 + 3ηX²)).
    let printed: f64 = 1.0 / (4.0 * (1.0 + 3.0));
    assert!((printed - 0.0625).abs() < 1e-15);
    assert!((after.loss - 0.1111).abs() < 1e-4 && after.loss > printed);
    let corrected = bound.certify_known(&Comparator::Given(&[1.0]), 0.0);
    holds(&corrected, after.loss);
    assert!((corrected.bound - 0.125).abs() < 1e-12);
}

#[test]
fn paper_1_the_simplex_is_not_complete() {
    let simplex = Simplex::new(2).unwrap();
    let mut p: [f64; 2] = [0.5, 0.5];
    let step = simplex.exp(&mut p, &[1.0, -1.0], 1.0, &mut Work::new()).unwrap();
    assert_eq!(step.event, Event::Folded { coordinates: 1 });
    assert!((step.length - 2.0).abs() < 1e-15);
    // Without folding, 2√p would be (1.954, −0.426).
    assert!((2.0 * p[0].sqrt() - 1.954).abs() < 1e-3 && (2.0 * p[1].sqrt() - 0.426).abs() < 1e-3);
}

#[test]
fn paper_1_example_7() {
    // The squared loss at x = 1, y = u = 10, w₀ = 1 is not convex along the geodesic: 81 > 41.45 for every η.
    let line = PositiveOrthant::new(1).unwrap();
    for rate in [1e-4, 1e-3, 1e-2] {
        let update = Explicit::new(PositiveOrthant::new(1).unwrap());
        let mut state = update.start(&[1.0]).unwrap();
        let round = update.step(&mut state, Dense(&[1.0]), 10.0.into(), &Squared, rate).unwrap();
        let mut w = [0.0];
        update.read(&state, &mut w);
        let mut work = Work::new();
        let (far, near) =
            (line.distance(&[1.0], &[10.0], &mut work), line.distance(&w, &[10.0], &mut work));
        let printed = (far * far - near * near + round.length * round.length) / (2.0 * rate);
        assert!((printed - 41.45).abs() < 0.01 && round.loss == 81.0, "{printed}");
        let mut bound = Riemannian::new(PositiveOrthant::new(1).unwrap(), &[10.0], 0.0).unwrap();
        bound.observe(&[1.0], &round, Dense(&[1.0]), 0.0);
        void(&bound.certificate(), 1, "convexity of the loss along the geodesic to the comparator");
        holds(&bound.with_defect(), 81.0);
        let mut own = Ledger::natural_eg(&[1.0], &Squared.facts()).unwrap();
        own.observe(&round, Dense(&[1.0]));
        void(&own.certify(&Comparator::Given(&[10.0])), 1, "slope x_i >= 0 for every feature");
    }
    // A convex one, L = w, k = 100, w₀ = 1, u = e⁻¹⁰: printed U² Z R √k = 10 with U = max ‖w‖ = 1 at η = 1/√k.
    let u = [(-10.0_f64).exp()];
    let mut walk = Orthant::new(1.0).unwrap();
    let mut bound = Ledger::natural_eg(&[1.0], &Linear.facts()).unwrap();
    let mut regret = 0.0;
    for _ in 0..100 {
        let round = walk.step(Dense(&[1.0]), 0.0.into(), &Linear, 0.1).unwrap();
        bound.observe(&round, Dense(&[1.0]));
        regret += round.loss - u[0];
    }
    assert!((regret - 24.08).abs() < 0.01 && regret > 10.0, "{regret}");
    holds(&bound.certify(&Comparator::Given(&u)), regret);
}

#[test]
fn paper_1_theorem_6_with_distance_for_length() {
    // S¹, L = θ² near 0, θ₀ = 1, u = 0, η = π: the step has length 2π and returns to its start, so dist(w_t, w_{t+1})
    // = 0 and D does not change.
    let (loss, distance, length, rate) =
        (1.0, 0.0, 2.0 * std::f64::consts::PI, std::f64::consts::PI);
    let printed = distance * distance / (2.0 * rate);
    assert!(loss > printed);
    assert!(loss <= length * length / (2.0 * rate));
    // What the library reports in this case: the event, and the length.
    let mut walk = walk::Sphere::new(1.0, 7).unwrap();
    walk.grow(2);
    let round = walk.step(Dense(&[1.0, 0.0]), 5.0.into(), &Squared, 2.0).unwrap();
    assert_eq!(round.event, Event::PastInjectivity);
    assert!(round.length > std::f64::consts::PI);
}

#[test]
fn paper_1_proposition_7_for_losses_of_class_c1() {
    // L₀ = −u, L₁ = −uv/10, L₂ = u⁴ + |v|^1.5, gradient descent from 0 with one rate: L₂ increases at the third step
    // for every small rate.
    for rate in [0.3, 0.1, 0.03, 0.01] {
        let l2 = |u: f64, v: f64| u.powi(4) + v.abs().powf(1.5);
        let (mut u, mut v) = (0.0, 0.0);
        u += rate;
        (u, v) = (u + rate * 0.1 * v, v + rate * 0.1 * u);
        let before = l2(u, v);
        (u, v) = (u - rate * 4.0 * u.powi(3), v - rate * 1.5 * v.abs().sqrt() * v.signum());
        let growth = (l2(u, v) - before) / rate.powi(3);
        assert!(growth > 0.0, "η = {rate}: {growth}");
        if rate == 0.01 {
            assert!((growth - 0.197).abs() < 0.05, "{growth}");
        }
    }
}

#[test]
fn paper_1_the_squared_distance_has_a_kink_at_the_antipode() {
    let circle = Sphere::new(2, 1.0).unwrap();
    let mut work = Work::new();
    let half = |angle: f64| {
        let (sin, cos) = angle.sin_cos();
        let d: f64 = circle.distance(&[1.0, 0.0], &[cos, sin], &mut Work::new());
        0.5 * d * d
    };
    let h = 1e-6;
    let pi = std::f64::consts::PI;
    let (left, right) = ((half(pi) - half(pi - h)) / h, (half(pi + h) - half(pi)) / h);
    assert!((left - pi).abs() < 1e-3 && (right + pi).abs() < 1e-3, "{left} {right}");
    let mut v = [0.0; 2];
    assert!(circle.log(&[1.0, 0.0], &[-1.0, 0.0], &mut v, &mut work).is_err());
}

#[test]
fn papers_1_and_2_have_two_algorithms_under_one_formula() {
    // w = (½, 2), ∂L = (1, −1), η = ½, f = ln.
    let ln = link::Log;
    let geodesic: Vec<f64> = [(0.5, 1.0), (2.0, -1.0)]
        .into_iter()
        .map(|(w, g)| ln.unlink(ln.link(w) - 0.5 * g / ln.slope(w)).unwrap())
        .collect();
    let mirror: Vec<f64> = [(0.5, 1.0), (2.0, -1.0)]
        .into_iter()
        .map(|(w, g)| ln.unlink(ln.link(w) - 0.5 * g).unwrap())
        .collect();
    assert!((geodesic[0] - 0.3894).abs() < 1e-4 && (geodesic[1] - 5.4366).abs() < 1e-4);
    assert!((mirror[0] - 0.3033).abs() < 1e-4 && (mirror[1] - 3.2974).abs() < 1e-4);
    let _ = PullBack::new(ln, 2);
}

#[test]
fn paper_2_lemma_9_beyond_a_third_of_pi() {
    let c0: f64 = 1.55;
    let (sin, cos) = c0.sin_cos();
    let start = [cos, sin];
    let update = Explicit::new(Sphere::new(2, 1.0).unwrap());
    let mut state = update.start(&start).unwrap();
    let mut bound = NullVector::new(&start, &[1.0, 0.0]).unwrap();
    let mut loss = 0.0;
    for _ in 0..200 {
        let round =
            update.step(&mut state, Dense(&[0.0, 1.0]), 0.0.into(), &Invariant, 0.5).unwrap();
        bound.observe(&round, Dense(&[0.0, 1.0]));
        loss += round.loss;
    }
    let printed = 2.0 * c0 * c0;
    assert!((loss - 5.7086).abs() < 1e-4 && (printed - 4.805).abs() < 1e-3 && loss > printed);
    void(&bound.near(), 0, "a start at most pi/3 from the comparator");
    let corrected = bound.certify(&Comparator::Given(&[1.0, 0.0]));
    holds(&corrected, loss);
    assert!((corrected.bound + 2.0 * cos.ln()).abs() < 1e-9);
}

#[test]
fn paper_2_lemma_7_is_sharp_in_the_rate() {
    // η = 1.05, d = 1.5: the step moves away from the comparator.
    let d: f64 = 1.5;
    let (sin, cos) = d.sin_cos();
    let update = Explicit::new(Sphere::new(2, 1.0).unwrap());
    for (rate, away) in [(0.99, false), (1.05, true)] {
        let mut state = update.start(&[sin, cos]).unwrap();
        update.step(&mut state, Dense(&[0.0, 1.0]), 0.0.into(), &Invariant, rate).unwrap();
        let mut w = [0.0; 2];
        update.read(&state, &mut w);
        assert_eq!(w[0].abs() < sin, away, "η = {rate}");
    }
}

#[test]
fn paper_3_theorem_3_bounds_no_loss() {
    // φ_B, x = 1, η = 2 (its rate), labels alternating: loss 1 per round against ¼ for u = 0.
    let phi = AnyPermissible::parse("gini").unwrap();
    let loss = AnyLoss::parse("gini").unwrap();
    let mut walk = PNorm::new(2.0).unwrap();
    let rate = phi.curvature_floor();
    assert_eq!(rate, 2.0);
    let mut bound = Ledger::ols(2.0, &loss.facts()).unwrap();
    let (mut total, mut zero) = (0.0, 0.0);
    for t in 0..200 {
        let y = if t % 2 == 0 { -1.0 } else { 1.0 };
        let round = walk.step(Dense(&[1.0]), y.into(), &loss, rate).unwrap();
        bound.observe(&round, Dense(&[1.0]));
        total += round.loss;
        zero += loss.value(0.0, y);
    }
    assert!((zero / 200.0 - 0.25).abs() < 1e-12 && total / 200.0 > 0.99, "{total} {zero}");
    void(&bound.certify(&Comparator::Given(&[0.0])), 1, "rate (p - 1) |x|_p^2 S < 1");
}

#[test]
fn paper_5_winnow_begins_at_k_over_n() {
    let (n, k): (usize, usize) = (256, 3);
    // Three ones and n − 3 zeros.
    let divergence = |n: f64, w: f64| 3.0 * (-(w.ln()) - 1.0 + w) + (n - 3.0) * w;
    assert!((divergence(100.0, 100.0 / 3.0) - 3319.8).abs() < 0.1);
    assert!((divergence(100.0, 0.03) - 10.52).abs() < 0.01);
    for (twin, printed, least) in [(false, 95.8, 1000), (true, 95.8, 300)] {
        let constants = if twin { winnow::twin(0.5) } else { winnow::winnow(0.5) }.unwrap();
        let loss = WinnowHinge::new(constants.threshold).unwrap();
        let mistakes = |start: f64| {
            let mut egu = Entropy::new(start).unwrap();
            let mut reparam = ReparamEntropy::new(start).unwrap();
            let mut count = 0;
            for t in 0..6000 {
                // Each row has one literal; those of the disjunction are positive.
                let mut x = vec![0.0; n];
                x[t % n] = 1.0;
                let y = if t % n < k { 1.0 } else { -1.0 };
                let round = if twin {
                    reparam.step(Dense(&x), y.into(), &loss, constants.rate)
                } else {
                    egu.step(Dense(&x), y.into(), &loss, constants.rate)
                };
                count += usize::from(round.unwrap().slope != 0.0);
            }
            count
        };
        let (wrong, right) = (mistakes(n as f64 / k as f64), mistakes(k as f64 / n as f64));
        assert!(wrong > least && wrong as f64 > printed, "{wrong}");
        let bound = constants.mistakes * k as f64 * (n as f64 / k as f64).ln();
        assert!((right as f64) <= bound, "{right} > {bound}");
    }
}

#[test]
fn paper_5_theorems_4_and_5_need_the_loss_of_the_comparator() {
    let start = [0.5, 0.5, 1e-40];
    let (d, l) = (2.0_f64.ln(), 0.01);
    let run = |twin: bool, rate: f64| {
        let mut weights = start;
        let mut loss = 0.0;
        for t in 0..20 {
            let row = [f64::from(t % 2 == 0), f64::from(t % 2 == 1), 0.0005];
            let total: f64 = weights.iter().sum();
            loss += weights.iter().zip(&row).map(|(w, x)| w * x).sum::<f64>() / total;
            for (w, x) in weights.iter_mut().zip(&row) {
                *w *= if twin { (1.0 - rate * x) * (1.0 - rate * x) } else { (-rate * x).exp() };
            }
        }
        loss
    };
    let own = 10.0;
    let hedge = run(false, Hedge::rate(d, l));
    let printed = own + (2.0 * l * d).sqrt() + d;
    assert!((hedge - 14.274).abs() < 1e-3 && (printed - 10.811).abs() < 1e-3 && hedge > printed);
    let twin = run(true, ReparamHedge::printed_rate(d, l));
    let printed = own + 2.0 * (l * d).sqrt() + d;
    assert!((twin - 14.886).abs() < 1e-3 && (printed - 10.860).abs() < 1e-3 && twin > printed);
    // The corrected theorem is void: the comparator e₁ loses 10 > L.
    let mut bound = Hedge::new(&[0.5, 0.5], 0.0).unwrap();
    let mut walk = SimplexEntropy::new();
    let rate = Hedge::rate(d, l);
    let mut lost = 0.0;
    for t in 0..20 {
        let row = [f64::from(t % 2 == 0), f64::from(t % 2 == 1)];
        let round = walk.step(Dense(&row), 0.0.into(), &Linear, rate).unwrap();
        bound.observe(&round, Dense(&row));
        lost += round.loss;
    }
    void(
        &bound.tuned(&Comparator::Given(&[1.0, 0.0]), d, l),
        0,
        "a comparator that loses at most L",
    );
    holds(&bound.certify(&Comparator::Given(&[1.0, 0.0])), lost - 10.0);
}

#[test]
fn paper_5_theorem_6_is_about_clipped_predictions() {
    // n = 1, X = Y = 1, w₁ = 1000, x = 1, y = 0, u = 0.
    let mut walk = Entropy::new(1000.0).unwrap();
    let mut bound = Ledger::egu(&[1000.0]).unwrap().declare([Some(1.0), Some(1.0)]).unwrap();
    let round = walk.step(Dense(&[1.0]), 0.0.into(), &Squared, 1.0 / 3.0).unwrap();
    bound.observe(&round, Dense(&[1.0]));
    let printed = 3.0 * 1000.0;
    assert!((round.loss - 1e6).abs() < 1e-6 && round.loss > printed);
    void(&bound.certify(&Comparator::Given(&[0.0])), 1, "predictions clipped to [0, Y]");
    let mut walk = Clipped::new(Entropy::new(1000.0).unwrap(), 0.0, 1.0).unwrap();
    let mut bound = Ledger::egu(&[1000.0]).unwrap().declare([Some(1.0), Some(1.0)]).unwrap();
    let mut total = 0.0;
    for _ in 0..50 {
        let round = walk.step(Dense(&[1.0]), 0.0.into(), &Squared, 1.0 / 3.0).unwrap();
        bound.observe(&round, Dense(&[1.0]));
        total += round.loss;
    }
    holds(&bound.certify_known(&Comparator::Given(&[0.0]), 0.0), total);
}

/// The twin of EG on x = (1, 0) by its plain formula (a weight that reaches 0 stays 0); the label is `first` once,
/// then 1.
fn twin_of_eg(rate: f64, first: f64, rounds: usize) -> f64 {
    let mut u = [0.9_f64.sqrt(), 0.1_f64.sqrt()];
    let mut loss = 0.0;
    for t in 0..rounds {
        let y = if t == 0 { first } else { 1.0 };
        let z = u[0] * u[0];
        loss += (z - y) * (z - y);
        u[0] *= 1.0 - rate * (z - y);
        let norm = (u[0] * u[0] + u[1] * u[1]).sqrt();
        u = [u[0] / norm, u[1] / norm];
    }
    loss
}

#[test]
fn paper_5_theorem_9_has_another_rate_and_needs_labels_in_range() {
    let (x, l, d): (f64, f64, f64) = (1.0, 1.0, 3.125);
    let printed_rate = 2.0 * d.sqrt() / (x * (2.0 * l).sqrt() + x * x * d.sqrt());
    assert!((printed_rate - 1.1111).abs() < 1e-4);
    let divergence = -(0.9_f64.ln());
    let promised = l + 2.0 * x * (2.0 * l * d).sqrt() + 2.0 * x * x * divergence;
    let lost = twin_of_eg(printed_rate, 0.0, 401);
    assert!((lost - 400.8).abs() < 0.1 && (promised - 6.21).abs() < 0.01, "{lost} {promised}");
    let lost = twin_of_eg(rules::reparam_eg_rate(x, d, l), 0.0, 401);
    assert!((lost - 1.12).abs() < 0.01 && lost < promised, "{lost}");
    // Labels: y = −2.1 at η = ⅓.
    let lost = twin_of_eg(1.0 / 3.0, -2.1, 401);
    let promised = 3.0 * ((1.0 + 2.1) * (1.0 + 2.1) + divergence);
    assert!((lost - 409.0).abs() < 1.0 && (promised - 29.1).abs() < 0.1, "{lost} {promised}");
    let mut walk = ReparamSimplex::new();
    walk.grow(2);
    let mut bound =
        Ledger::reparam_eg(&[0.5, 0.5], 0.0).unwrap().declare([Some(1.0), None]).unwrap();
    let round = walk.step(Dense(&[1.0, 0.0]), (-2.1).into(), &Squared, 1.0 / 3.0).unwrap();
    bound.observe(&round, Dense(&[1.0, 0.0]));
    void(&bound.certify(&Comparator::Given(&[1.0, 0.0])), 1, "labels within X of the middle");
}

#[test]
fn paper_5_claim_1_holds_with_x_and_not_2x() {
    // The inequality behind it, progress ≥ ηδ² − b(y − s)² with η = b/(1 + 2b) for features and labels in [−1, 1], on
    // a grid.
    for b in [1e-4, 1e-2, 0.1, 1.0, 10.0, 1e4] {
        for j in -20..=20 {
            let value = worst(b / (1.0 + 2.0 * b), b, 0.1 * f64::from(j));
            assert!(value <= 1e-12, "b = {b}, ŷ − y = {}: {value}", 0.1 * f64::from(j));
        }
    }
    // At the printed rate (22) it is violated.
    assert!(worst(2.0 / (1.0 + 1.0), 1.0, 0.9) > 1e-2);
}

/// max over s and ŷ in [−1, 1], rows of ±1, of a p² − b(y − s)² − progress, at η = a and p = ŷ − y.
fn worst(a: f64, b: f64, p: f64) -> f64 {
    let mut worst = f64::NEG_INFINITY;
    for i in -20..=20 {
        let z = 0.05 * f64::from(i);
        let y = z - p;
        if y.abs() > 1.0 {
            continue;
        }
        // The row is ±1: weights (1 ± z)/2. The comparator predicts s.
        for j in -20..=20 {
            let s = 0.05 * f64::from(j);
            let (up, down) = (1.0 - a * p, 1.0 + a * p);
            let norm = 0.5 * (1.0 + z) * up * up + 0.5 * (1.0 - z) * down * down;
            let progress = (1.0 + s) * up.ln() + (1.0 - s) * down.ln() - norm.ln();
            worst = worst.max(a * p * p - b * (y - s) * (y - s) - progress);
        }
    }
    worst
}
