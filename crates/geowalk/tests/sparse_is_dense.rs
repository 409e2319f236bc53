//! A million sparse steps of every walk (fewer where the dense formula is slow), against its formula for dense
//! weights. The formulas are written here, independent of the library.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // test code

mod walk_support;

use geowalk::Real;
use geowalk::loss::{Loss, Squared};
use geowalk::row::Sparse;
use geowalk::walk::{
    Adaptive, Burg, Entropy, Euclidean, Free, Hyperbolic, Orthant, PNorm, ReparamEntropy,
    ReparamSimplex, Signed, Simplex, SimplexEntropy, Sphere, Walk,
};
use walk_support::{Logistic, Stream, weights};

const N: usize = 200;

/// A dense formula: updates w on the row x, given the slope g of the loss at ⟨w, x⟩.
type Formula<'a> = &'a mut dyn FnMut(&mut [f64], &[f64], f64);

fn dot(w: &[f64], x: &[f64]) -> f64 {
    w.iter().zip(x).map(|(w, x)| w * x).sum()
}

/// Runs both and returns the largest difference of weights, relative to the largest weight.
fn compare<W: Walk, L: Loss>(
    mut walk: W,
    steps: usize,
    rate: f64,
    loss: &L,
    formula: Formula<'_>,
) -> f64 {
    let mut stream = Stream::new(42, N, 5);
    walk.grow(N);
    let mut w = weights(&walk);
    let mut worst = 0.0_f64;
    for t in 1..=steps {
        stream.next();
        let x = Sparse::new(&stream.indices, &stream.values).unwrap();
        let round = walk.step(x, stream.y.into(), loss, rate).unwrap();
        let z = dot(&w, &stream.dense);
        worst = worst.max((round.z - z).abs());
        formula(&mut w, &stream.dense, loss.slope(z, stream.y));
        if t.is_power_of_two() || t % 100_000 == 0 {
            let size = w.iter().fold(0.0_f64, |top, w| top.max(w.abs()));
            for (sparse, dense) in weights(&walk).iter().zip(&w) {
                let difference = (sparse - dense).abs() / size;
                assert!(difference.is_finite());
                worst = worst.max(difference);
            }
        }
    }
    println!("{steps} steps: {worst:.1e}");
    worst
}

fn normalize(w: &mut [f64]) {
    let sum: f64 = w.iter().sum();
    for w in w.iter_mut() {
        *w /= sum;
    }
}

#[test]
fn gradient_descent() {
    let mut formula = |w: &mut [f64], x: &[f64], g: f64| {
        w.iter_mut().zip(x).for_each(|(w, x)| *w -= 0.1 * g * x);
    };
    let worst = compare(Euclidean::new(), 200_000, 0.1, &Squared, &mut formula);
    assert!(worst < 1e-13, "{worst:e}");
}

#[test]
fn sphere_a_million_steps() {
    for radius in [1.0, 5.0] {
        let mut formula = |w: &mut [f64], x: &[f64], g: f64| {
            let (u, r2) = (dot(w, x), radius * radius);
            let theta = 0.3 * g.abs() * (dot(x, x) - u * u / r2).max(0.0).sqrt() / radius;
            let sinc = if theta == 0.0 { 1.0 } else { Real::sin(theta) / theta };
            let (a, b) = (Real::cos(theta) + 0.3 * g * u / r2 * sinc, -0.3 * g * sinc);
            w.iter_mut().zip(x).for_each(|(w, x)| *w = a * *w + b * x);
            let norm = dot(w, w).sqrt() / radius;
            for w in w.iter_mut() {
                *w /= norm;
            }
        };
        let steps = if radius == 1.0 { 1_000_000 } else { 100_000 };
        let walk = Sphere::new(radius, 7).unwrap();
        let worst = compare(walk, steps, 0.3, &Squared, &mut formula);
        assert!(worst < 1e-12, "{worst:e}");
    }
}

#[test]
fn projected_sphere() {
    let mut formula = |w: &mut [f64], x: &[f64], g: f64| {
        w.iter_mut().zip(x).for_each(|(w, x)| *w -= 0.3 * g * x);
        let norm = dot(w, w).sqrt();
        for w in w.iter_mut() {
            *w /= norm;
        }
    };
    let walk = Sphere::projected(1.0, 7).unwrap();
    let worst = compare(walk, 100_000, 0.3, &Squared, &mut formula);
    assert!(worst < 1e-12, "{worst:e}");
}

#[test]
fn hyperbolic_a_million_steps() {
    // All n + 1 coordinates; the time coordinate is in `time`.
    let mut time = 1.0;
    let mut formula = |w: &mut [f64], x: &[f64], g: f64| {
        let u = dot(w, x);
        // The Riemannian gradient g(x + u w), in all coordinates, and the exponential map.
        let length = 0.2 * g.abs() * (dot(x, x) + u * u).sqrt();
        let sinhc = if length == 0.0 { 1.0 } else { Real::sinh(length) / length };
        let step = -0.2 * g * sinhc;
        let cosh = Real::cosh(length);
        for (w, x) in w.iter_mut().zip(x) {
            *w = cosh * *w + step * (x + u * *w);
        }
        time = (1.0 + dot(w, w)).sqrt();
    };
    let worst = compare(Hyperbolic::new(), 1_000_000, 0.2, &Squared, &mut formula);
    assert!(worst < 1e-12, "{worst:e}");
    assert!(time > 1.0);
}

#[test]
fn simplex_a_million_steps() {
    let mut formula = |p: &mut [f64], x: &[f64], g: f64| {
        let u = dot(p, x);
        let var = p.iter().zip(x).map(|(p, x)| p * (x - u) * (x - u)).sum::<f64>();
        let theta = 0.25 * g.abs() * var.sqrt();
        let b = 0.25 * g * if theta == 0.0 { 1.0 } else { Real::sin(theta) / theta };
        let a = Real::cos(theta) + b * u;
        p.iter_mut().zip(x).for_each(|(p, x)| *p *= (a - b * x) * (a - b * x));
        normalize(p);
    };
    let worst = compare(Simplex::new(), 1_000_000, 0.5, &Squared, &mut formula);
    assert!(worst < 1e-12, "{worst:e}");
}

/// On the simplex: multiply by factors, divide by the sum.
fn multiplicative(
    walk: impl Walk,
    steps: usize,
    rate: f64,
    factor: impl Fn(f64, f64, f64) -> f64,
) -> f64 {
    let mut formula = |w: &mut [f64], x: &[f64], g: f64| {
        let z = dot(w, x);
        for (w, &x) in w.iter_mut().zip(x) {
            // Skipping zeros: their exponentials would dominate the run time of the test.
            *w *= factor(g, x, z);
        }
        normalize(w);
    };
    compare(walk, steps, rate, &Squared, &mut formula)
}

#[test]
fn exponentiated_gradient_a_million_steps() {
    let factor = |g: f64, x: f64, _: f64| if x == 0.0 { 1.0 } else { Real::exp(-0.5 * g * x) };
    let worst = multiplicative(SimplexEntropy::new(), 1_000_000, 0.5, factor);
    assert!(worst < 1e-12, "{worst:e}");
}

#[test]
fn the_relatives_and_twins_of_exponentiated_gradient() {
    let square = |f: f64| f * f;
    let steps = 100_000;
    let worst = [
        multiplicative(SimplexEntropy::prod(), steps, 0.5, |g, x, _| 1.0 - 0.5 * g * x),
        multiplicative(SimplexEntropy::approximated(), steps, 0.5, |g, x, z| {
            1.0 - 0.5 * g * (x - z)
        }),
        multiplicative(ReparamSimplex::new(), steps, 0.5, |g, x, _| square(1.0 - 0.25 * g * x)),
        multiplicative(ReparamSimplex::experts(), steps, 0.5, |g, x, _| square(1.0 - 0.5 * g * x)),
        multiplicative(ReparamSimplex::centred(-1.0, 1.6).unwrap(), steps, 0.5, |g, x, _| {
            square(1.0 - 0.25 * g * (x - 0.3))
        }),
    ];
    assert!(worst.iter().all(|&worst| worst < 1e-12), "{worst:?}");
}

#[test]
fn approximated_eg_needs_no_normalisation() {
    let mut formula = |w: &mut [f64], x: &[f64], g: f64| {
        let z = dot(w, x);
        w.iter_mut().zip(x).for_each(|(w, x)| *w *= 1.0 - 0.5 * g * (x - z));
        let sum: f64 = w.iter().sum();
        assert!((sum - 1.0).abs() < 1e-11, "{sum}");
    };
    let walk = SimplexEntropy::approximated();
    let worst = compare(walk, 20_000, 0.5, &Squared, &mut formula);
    assert!(worst < 1e-11, "{worst:e}");
}

#[test]
fn eg_with_two_signs() {
    let (mut plus, mut minus) = (vec![1.0 / 400.0; N], vec![1.0 / 400.0; N]);
    let mut formula = |w: &mut [f64], x: &[f64], g: f64| {
        for ((plus, minus), &x) in plus.iter_mut().zip(&mut minus).zip(x) {
            *plus *= Real::exp(-0.05 * g * 2.0 * x);
            *minus *= Real::exp(0.05 * g * 2.0 * x);
        }
        let sum: f64 = plus.iter().chain(minus.iter()).sum();
        for ((w, plus), minus) in w.iter_mut().zip(&mut plus).zip(&mut minus) {
            (*plus, *minus) = (*plus / sum, *minus / sum);
            *w = 2.0 * (*plus - *minus);
        }
    };
    let walk = Signed::new(SimplexEntropy::new(), 2.0).unwrap();
    let worst = compare(walk, 50_000, 0.05, &Squared, &mut formula);
    assert!(worst < 1e-11, "{worst:e}");
}

#[test]
fn walks_on_positive_weights() {
    let steps = 100_000;
    let mut neg = |w: &mut [f64], x: &[f64], g: f64| {
        for (w, &x) in w.iter_mut().zip(x).filter(|(_, x)| **x != 0.0) {
            *w *= Real::exp(-0.5 * g * x * *w);
        }
    };
    let worst = compare(Orthant::new(0.1).unwrap(), steps, 0.5, &Squared, &mut neg);
    assert!(worst < 1e-13, "neg {worst:e}");
    let mut egu = |w: &mut [f64], x: &[f64], g: f64| {
        for (w, &x) in w.iter_mut().zip(x).filter(|(_, x)| **x != 0.0) {
            *w *= Real::exp(-0.2 * g * x);
        }
    };
    let worst = compare(Entropy::new(1e-4).unwrap(), steps, 0.2, &Squared, &mut egu);
    assert!(worst < 1e-13, "egu {worst:e}");
    let mut u = vec![0.1; N];
    let mut twin = |w: &mut [f64], x: &[f64], g: f64| {
        for ((w, u), x) in w.iter_mut().zip(&mut u).zip(x) {
            *u -= 0.5 * 0.2 * g * *u * x;
            *w = *u * *u;
        }
    };
    let worst = compare(ReparamEntropy::new(0.01).unwrap(), steps, 0.2, &Squared, &mut twin);
    assert!(worst < 1e-13, "reparam-egu {worst:e}");
    let mut burg = |w: &mut [f64], x: &[f64], g: f64| {
        w.iter_mut().zip(x).for_each(|(w, x)| *w /= 1.0 + 0.1 * g * x * *w);
    };
    let worst = compare(Burg::new(0.1).unwrap(), steps, 0.1, &Squared, &mut burg);
    assert!(worst < 1e-13, "burg {worst:e}");
}

#[test]
fn p_norms() {
    for q in [1.1, 1.5, 2.0] {
        let p = q / (q - 1.0);
        let mut theta = vec![0.0; N];
        let mut formula = |w: &mut [f64], x: &[f64], g: f64| {
            theta.iter_mut().zip(x).for_each(|(theta, x)| *theta -= 0.05 * g * x);
            let norm = Real::powf(
                theta.iter().map(|t: &f64| Real::powf(t.abs(), p)).sum::<f64>(),
                1.0 / p,
            );
            for (w, theta) in w.iter_mut().zip(&theta) {
                *w = theta.signum() * norm * Real::powf(theta.abs() / norm, p - 1.0);
            }
        };
        let worst = compare(PNorm::new(q).unwrap(), 20_000, 0.05, &Squared, &mut formula);
        assert!(worst < 1e-11, "{worst:e}");
    }
}

#[test]
fn normalised_adagrad() {
    let (mut scale, mut squares) = (vec![0.0_f64; N], vec![0.0; N]);
    let mut formula = |w: &mut [f64], x: &[f64], g: f64| {
        for (((w, scale), squares), &x) in w.iter_mut().zip(&mut scale).zip(&mut squares).zip(x) {
            if x == 0.0 {
                continue;
            }
            *scale = scale.max(x.abs());
            *squares += g * x * g * x;
            *w -= 0.5 * g * x / (*scale * squares.sqrt());
        }
    };
    // New values in (−1, 1) keep exceeding the largest |x| so far. The walk then rescales w; the formula does so
    // before it predicts.
    let (mut walk, mut stream) = (Adaptive::new(), Stream::new(42, N, 5));
    let (mut w, mut record) = (vec![0.0; N], vec![0.0_f64; N]);
    let mut worst = 0.0_f64;
    for _ in 0..100_000 {
        stream.next();
        for ((w, record), x) in w.iter_mut().zip(&mut record).zip(&stream.dense) {
            if x.abs() > *record {
                *w *= *record / x.abs();
                *record = x.abs();
            }
        }
        let x = Sparse::new(&stream.indices, &stream.values).unwrap();
        let round = walk.step(x, stream.y.into(), &Logistic, 0.5).unwrap();
        let z = dot(&w, &stream.dense);
        worst = worst.max((round.z - z).abs());
        formula(&mut w, &stream.dense, Logistic.slope(z, stream.y));
    }
    assert!(worst < 1e-11, "{worst:e}");
}

#[test]
fn free() {
    // The lines of the definition, coordinate by coordinate.
    let (mut s2, mut sum, mut m, mut wealth) =
        (vec![0.0; N], vec![0.0_f64; N], vec![0.0_f64; N], vec![1.0; N]);
    let (mut common, mut squares): (f64, f64) = (0.3, 1.0);
    let (mut walk, mut stream) = (Free::new(0.3, 0.5, 1.0).unwrap(), Stream::new(42, N, 5));
    let mut w = vec![0.0; N];
    for _ in 0..100_000 {
        stream.next();
        let x = &stream.dense;
        for i in (0..N).filter(|&i| x[i] != 0.0) {
            m[i] = m[i].max(x[i].abs());
            let root = f64::sqrt(s2[i] + m[i] * m[i]);
            let theta: f64 = sum[i] / root;
            w[i] = wealth[i] * theta.signum() * theta.abs().min(1.0) / (2.0 * root);
        }
        let z = common * (0..N).filter(|&i| x[i] != 0.0).map(|i| w[i] * x[i]).sum::<f64>();
        let row = Sparse::new(&stream.indices, &stream.values).unwrap();
        let round = walk.step(row, stream.y.into(), &Logistic, 0.0).unwrap();
        assert!((round.z - z).abs() <= 1e-11 * (1.0 + z.abs()), "{} {z}", round.z);
        let g = Logistic.slope(z, stream.y);
        for i in (0..N).filter(|&i| x[i] != 0.0) {
            sum[i] -= g * x[i];
            s2[i] += g * x[i] * g * x[i];
            wealth[i] -= g * x[i] * w[i];
        }
        squares += g * z * g * z;
        common *= Real::exp(-0.5 * g * z / squares.sqrt());
    }
    assert!((walk.common() / common - 1.0).abs() < 1e-10);
}
