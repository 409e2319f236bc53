//! Behaviour of the walks at the edges of their domains.

use std::f64::consts::PI;

use super::*;
use crate::geometry::Event;
use crate::loss::{Absolute, Hinge, Squared};
use crate::row::Dense;
use crate::{DomainError, Real};

/// A walk on the unit sphere, at the direction w.
fn at(w: &[f64]) -> Sphere {
    let mut sphere = Sphere::new(1.0, 0).unwrap();
    let square: f64 = w.iter().map(|w| w * w).sum();
    let mut state = |name| match name {
        "v" => Some(w.to_vec()),
        "factors" => Some(vec![square.sqrt().recip(), 0.0]),
        _ => Some(vec![square, 0.0, 0.0]),
    };
    sphere.load_state(&mut state).unwrap();
    sphere
}

#[test]
fn aligned_with_the_row_it_cannot_move() {
    // The loss has its maximum, and the gradient is 0.
    let mut sphere = at(&[-0.6, -0.8]);
    let round = sphere.step(Dense(&[0.6, 0.8]), 1.0.into(), &Squared, 0.5).unwrap();
    assert_eq!((round.event, round.length), (Event::Stationary, 0.0));
    let round = sphere.step(Dense(&[0.6, 0.8]), (-1.0).into(), &Squared, 0.5).unwrap();
    assert!(round.loss < 1e-30 && round.length == 0.0);
    let round = sphere.step(Dense(&[0.0, 0.0]), 1.0.into(), &Squared, 0.5).unwrap();
    assert_eq!(round.event, Event::Inside, "an empty row says nothing about w");
}

#[test]
fn a_quarter_turn_has_no_part_along_w() {
    // θ = η|g| = π/2 with w ⊥ x: a = 0, which the common factor cannot represent.
    let mut sphere = at(&[1.0, 0.0, 0.0]);
    let rate = PI / 4.0;
    let round = sphere.step(Dense(&[0.0, 1.0, 0.0]), 1.0.into(), &Squared, rate).unwrap();
    assert!((round.length - PI / 2.0).abs() < 1e-15);
    let mut w = Vec::new();
    sphere.read(&mut w);
    assert!(w[0].abs() < 1e-15 && (w[1] - 1.0).abs() < 1e-15, "{w:?}");
}

#[test]
fn a_walk_past_the_antipode_says_so() {
    let mut sphere = at(&[1.0, 0.0]);
    let round = sphere.step(Dense(&[0.0, 1.0]), 1.0.into(), &Squared, 2.0).unwrap();
    assert_eq!((round.length, round.event), (4.0, Event::PastInjectivity));
    let mut w = Vec::new();
    sphere.read(&mut w);
    assert!((w[0] - Real::cos(4.0_f64)).abs() < 1e-15);
}

#[test]
fn a_step_is_as_long_as_it_says() {
    let mut walk = Hyperbolic::new();
    let x = [0.3, -0.7, 0.2];
    for (y, rate) in [(1.0, 0.4), (-2.0, 0.3), (0.5, 0.8)] {
        let before = point(&walk);
        let round = walk.step(Dense(&x), f64::into(y), &Squared, rate).unwrap();
        let after = point(&walk);
        // cosh d = −⟨p, q⟩_L.
        let inner = before[0] * after[0]
            - before.iter().zip(&after).skip(1).map(|(p, q)| p * q).sum::<f64>();
        assert!((inner - Real::cosh(round.length)).abs() < 1e-13, "{inner} {}", round.length);
    }
}

fn point(walk: &Hyperbolic) -> Vec<f64> {
    let mut w = Vec::new();
    walk.read(&mut w);
    w.resize(3, 0.0);
    w.insert(0, walk.time());
    w
}

#[test]
fn long_steps_are_refused() {
    let mut walk = Hyperbolic::new();
    let error = walk.step(Dense(&[1.0]), 1.0.into(), &Squared, 200.0).unwrap_err();
    assert_eq!(error, DomainError::Overflow { length: 400.0, limit: 350.0 });
    assert_eq!(walk.predict(Dense(&[1.0])), 0.0);
}

#[test]
fn with_q_two_it_is_gradient_descent() {
    let mut walk = PNorm::new(2.0).unwrap();
    let mut gd = Euclidean::new();
    for t in 0..50 {
        let x = [1.0, -0.5 * f64::from(t % 3), 0.25];
        let a = walk.step(Dense(&x), 2.0.into(), &Squared, 0.1).unwrap();
        let b = gd.step(Dense(&x), 2.0.into(), &Squared, 0.1).unwrap();
        assert!((a.z - b.z).abs() < 1e-14 && (a.length - b.length).abs() < 1e-7, "{a:?} {b:?}");
    }
}

#[test]
fn auto_follows_the_declared_number_of_features() {
    assert!((PNorm::auto(1000).unwrap().p() - 13.815_510_557_964_274).abs() < 1e-12);
    assert_eq!(PNorm::auto(2).unwrap().p(), 2.0);
    assert!(PNorm::new(1.0).is_err() && PNorm::new(f64::NAN).is_err());
}

#[test]
fn a_walk_of_length_two_from_the_middle_folds() {
    // p = (½, ½), length 2 > π/2: without folding, 2√p would be (1.954, −0.426) up to order.
    let mut walk = Simplex::new();
    let round = walk.step(Dense(&[1.0, 0.0]), 0.0.into(), &Squared, 4.0).unwrap();
    assert_eq!((round.slope, round.length), (1.0, 2.0));
    assert_eq!(round.event, Event::Folded { coordinates: 1 });
    assert_eq!(walk.folds(), 1);
    let mut p = Vec::new();
    walk.read(&mut p);
    assert!((2.0 * p[1].sqrt() - 1.954).abs() < 1e-3, "{p:?}");
    assert!((2.0 * p[0].sqrt() - 0.426).abs() < 1e-3, "{p:?}");
}

#[test]
fn a_very_long_walk_stays_on_the_simplex() {
    let mut walk = Simplex::new();
    for (t, rate) in [1e3, 1e10, 1e100, 3.0, 1e140].into_iter().enumerate() {
        let round = walk.step(Dense(&[1.0, -2.0, 0.0, 0.5]), 3.0.into(), &Squared, rate).unwrap();
        let mut p = Vec::new();
        walk.read(&mut p);
        let sum: f64 = p.iter().sum();
        assert!((sum - 1.0).abs() < 1e-14, "step {t}: {p:?} {round:?}");
    }
    assert!(walk.folds() > 0);
}

#[test]
fn a_weight_that_meets_zero_is_reported_and_lives() {
    // w = (½, ½), g = 1 and η = 2 make the factor of u₁ exactly 0.
    let mut walk = ReparamSimplex::new();
    let round = walk.step(Dense(&[1.0, 0.0]), 0.0.into(), &Squared, 2.0).unwrap();
    assert_eq!(round.event, Event::Clamped { coordinates: 1 });
    for _ in 0..300 {
        walk.step(Dense(&[1.0, 0.0]), 1.0.into(), &Squared, 0.5).unwrap();
    }
    assert!(walk.predict(Dense(&[1.0, 0.0])) > 0.99, "it came back");
}

#[test]
fn crossing_zero_is_a_fold() {
    let mut walk = ReparamEntropy::new(1.0).unwrap();
    let round = walk.step(Dense(&[1.0, 0.5]), 0.0.into(), &Squared, 1.0).unwrap();
    assert_eq!(round.event, Event::Folded { coordinates: 1 });
    assert_eq!(walk.folds(), 1);
    // z = 1.5, g = 3: u = (1 − 1.5, 1 − 0.75).
    let mut w = Vec::new();
    walk.read(&mut w);
    assert!((w[0] - 0.25).abs() < 1e-15 && (w[1] - 0.0625).abs() < 1e-15, "{w:?}");
}

#[test]
fn the_formulas_of_three_losses() {
    let x = [1.0, -2.0];
    let mut walk = Implicit::new(Euclidean::new());
    // Squared: κ = 2η(u − y)/(1 + 2η‖x‖²).
    walk.step(Dense(&x), 3.0.into(), &Squared, 0.1).unwrap();
    assert!((walk.predict(Dense(&x)) - 5.0 * 0.6 / 2.0).abs() < 1e-15);
    // Absolute: η, or the remaining distance.
    walk.step(Dense(&x), 3.0.into(), &Absolute, 0.1).unwrap();
    assert!((walk.predict(Dense(&x)) - 2.0).abs() < 1e-15);
    walk.step(Dense(&x), 3.0.into(), &Absolute, 50.0).unwrap();
    assert!((walk.predict(Dense(&x)) - 3.0).abs() < 1e-15);
    let after = walk.after().unwrap();
    assert!((after.slope + 0.2 / 50.0).abs() < 1e-15, "a slope between −1 and 1");
    // Hinge: the passive-aggressive step.
    walk.step(Dense(&x), (-1.0).into(), &Hinge, 50.0).unwrap();
    assert!((walk.predict(Dense(&x)) + 1.0).abs() < 1e-14);
    let round = walk.step(Dense(&x), (-1.0).into(), &Hinge, 50.0).unwrap();
    assert!(round.length < 1e-14);
}
