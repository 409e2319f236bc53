//! Compares the score of every family with its two definitions: the gradient of the log-density in the mean
//! parameters, by finite differences, and Cov(T)⁻¹(T − θ).

use super::*;
use crate::Real;
use crate::laws::Sampler;
use crate::row::Dense;

const CLASSES: usize = 3;

/// A random row in the domain of the family.
fn row(family: &str, sampler: &mut Sampler) -> Vec<f64> {
    let mut pick = |n: usize| (0..n).find(|_| sampler.unit() < 0.4).unwrap_or(n - 1);
    match family {
        "discrete" => {
            let mut x = vec![0.0; 4];
            x[pick(4)] = 1.0;
            x
        }
        "naive-bayes" => {
            let mut x = vec![0.0; 6];
            x[pick(3)] = 1.0;
            x[3 + pick(3)] = 1.0;
            x
        }
        "bernoulli" => (0..4).map(|_| f64::from(u8::from(sampler.unit() < 0.3))).collect(),
        "poisson" | "multinomial" | "gaussian-sparse" => {
            (0..5).map(|_| (sampler.unit() * 3.0).floor()).collect()
        }
        "exponential" => (0..3).map(|_| 0.1 + 4.0 * sampler.unit()).collect(),
        _ => (0..3).map(|j| 2.0 * sampler.normal() + f64::from(j)).collect(),
    }
}

/// A family that has seen some rows, and the statistic and class scores of one more.
fn trained(name: &str, seed: u64) -> (AnyFamily, Statistic, Vec<f64>, Vec<f64>) {
    let mut sampler = Sampler::new(seed);
    let mut family = AnyFamily::parse(name).unwrap();
    let mut t = Statistic::default();
    let (mut dots, mut excess) = (vec![0.0; CLASSES], vec![0.0; CLASSES]);
    for n in 0..30 {
        let x = row(name, &mut sampler);
        family.grow(x.len(), CLASSES).unwrap();
        family.statistic(Dense(&x), &mut t).unwrap();
        (dots, excess) = (vec![0.0; CLASSES], vec![0.0; CLASSES]);
        family.score(&t, &mut dots, &mut excess);
        if n < 29 {
            family.observe(&t, n % CLASSES, 1.0);
        }
    }
    (family, t, dots, excess)
}

/// g of a class, obtained from a step of length 1.
fn score(family: &AnyFamily, t: &Statistic, class: usize) -> Vec<f64> {
    let mut beta = Coefficients::new(false);
    beta.grow(family.size(), CLASSES, &[]);
    family.clone().settle(&mut beta);
    let mut a = vec![0.0; CLASSES];
    a[class] = 1.0;
    family.walk(t, &a, &mut beta);
    (0..family.size()).map(|j| beta.at(j, class)).collect()
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

/// The bits of a step do not depend on the number of features processed together.
#[test]
fn to_advance_is_to_walk_and_to_observe() {
    fn saved(family: &AnyFamily, beta: &Coefficients) -> Vec<(&'static str, Vec<f64>)> {
        let mut all = Vec::new();
        family.save(&mut |name, values| all.push((name, values.to_vec())));
        beta.save(&mut |name, values| all.push((name, values.to_vec())));
        all
    }
    for (name, features) in
        [("gaussian-shared-diagonal", 700), ("gaussian-shared", 40), ("exponential", 500)]
    {
        for (seen, classes) in [(5, 5), (21, 21), (29, 31)] {
            let mut sampler = Sampler::new(3);
            let mut family = AnyFamily::parse(name).unwrap();
            let mut beta = Coefficients::new(true);
            family.grow(features, classes).unwrap();
            beta.grow(features, classes, &[]);
            let (mut other, mut other_beta) = (family.clone(), beta.clone());
            let mut t = Statistic::default();
            for n in 0..40_u32 {
                let x: Vec<f64> = (0..features).map(|_| sampler.unit()).collect();
                let a: Vec<f64> = (0..classes).map(|_| sampler.normal()).collect();
                family.statistic(Dense(&x), &mut t).unwrap();
                for (family, beta) in [(&mut family, &mut beta), (&mut other, &mut other_beta)] {
                    let (mut dots, mut excess) = (vec![0.0; classes], vec![0.0; classes]);
                    family.score(&t, &mut dots, &mut excess);
                    beta.begin(f64::from(n));
                }
                let class = n as usize % seen;
                family.advance(&t, &a, &mut beta, class, 0.5);
                other.walk(&t, &a, &mut other_beta);
                other.observe(&t, class, 0.5);
            }
            assert_eq!(saved(&family, &beta), saved(&other, &other_beta), "{name} {classes}");
            // As above, after loading.
            let kept = saved(&family, &beta);
            let mut get = |name| kept.iter().find(|one| one.0 == name).map(|one| one.1.clone());
            let mut loaded = AnyFamily::parse(name).unwrap();
            loaded.load(&mut get, features, classes).unwrap();
            let (mut dots, mut excess) = (vec![0.0; classes], vec![0.0; classes]);
            let (mut dots_too, mut excess_too) = (dots.clone(), excess.clone());
            family.score(&t, &mut dots, &mut excess);
            loaded.score(&t, &mut dots_too, &mut excess_too);
            assert_eq!((dots, excess), (dots_too, excess_too), "{name} {classes}");
        }
    }
}

#[test]
fn scores_solve_the_covariance() {
    for entry in AnyFamily::entries() {
        for seed in 0..5 {
            let (family, t, dots, excess) = trained(entry.name, seed);
            let size = family.size();
            for class in 0..CLASSES {
                let g = score(&family, &t, class);
                let (mut theta, mut covariance, mut dense) = (Vec::new(), Vec::new(), Vec::new());
                family.mean(class, &mut theta);
                family.covariance(class, &mut covariance);
                t.spread(size, &mut dense);
                if entry.name == "naive-bayes" {
                    // Two columns of three categories; the categories of a column exclude each other.
                    for (i, j) in (0..6).flat_map(|i| (0..6).map(move |j| (i, j))) {
                        if i / 3 == j / 3 {
                            covariance[i * 6 + j] -= theta[i] * theta[j];
                        }
                    }
                }
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                for i in 0..size {
                    let left = dot(&covariance[i * size..(i + 1) * size], &g);
                    let right = dense[i] - theta[i];
                    assert!(close(left, right, 1e-9), "{}: {left} {right}", entry.name);
                }
                let residual: Vec<f64> = dense.iter().zip(&theta).map(|(t, m)| t - m).collect();
                assert!(close(dots[class], dot(&theta, &g), 1e-9), "{}", entry.name);
                assert!(close(excess[class], dot(&residual, &g), 1e-9), "{}", entry.name);
            }
        }
    }
}

/// log P(x) with mean parameters θ, up to a constant; `p` is the inverse of a known covariance.
fn log_density(name: &str, t: &[f64], theta: &[f64], covariance: &[f64]) -> f64 {
    let d = theta.len();
    let sum = |f: &dyn Fn(usize) -> f64| (0..d).map(f).sum::<f64>();
    match name {
        "discrete" | "naive-bayes" => sum(&|j| t[j] * Real::ln(theta[j])),
        "bernoulli" => sum(&|j| t[j] * Real::ln(theta[j]) + (1.0 - t[j]) * Real::ln_1p(-theta[j])),
        "poisson" => sum(&|j| t[j] * Real::ln(theta[j]) - theta[j]),
        "exponential" => sum(&|j| -Real::ln(theta[j]) - t[j] / theta[j]),
        "gaussian-shared" | "gaussian-shared-diagonal" | "gaussian-sparse" => {
            let mut r: Vec<f64> = t.iter().zip(theta).map(|(t, m)| t - m).collect();
            let own = r.clone();
            assert!(crate::natural::matrix::solve(&mut covariance.to_vec(), d, &mut r));
            -0.5 * own.iter().zip(&r).map(|(a, b)| a * b).sum::<f64>()
        }
        "gaussian-diagonal" => (0..d / 2)
            .map(|j| {
                let (m1, m2) = (theta[2 * j], theta[2 * j + 1]);
                let v = m2 - m1 * m1;
                -0.5 * Real::ln(v) - 0.5 * (t[2 * j] - m1) * (t[2 * j] - m1) / v
            })
            .sum(),
        _ => {
            // x_0, x_0², x_1, x_1x_0, x_1², x_2, …
            let linear = |i: usize| i * (i + 1) / 2 + i;
            let n = (0..=d).find(|&n| linear(n) == d).unwrap();
            let mut sigma = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..=i {
                    let value = theta[linear(i) + 1 + j] - theta[linear(i)] * theta[linear(j)];
                    sigma[i * n + j] = value;
                    sigma[j * n + i] = value;
                }
            }
            let r: Vec<f64> = (0..n).map(|i| t[linear(i)] - theta[linear(i)]).collect();
            let mut solved = r.clone();
            let l = crate::geometry::linalg::cholesky(&sigma, n).unwrap();
            let log_det: f64 = (0..n).map(|i| 2.0 * Real::ln(l[i * n + i])).sum();
            assert!(crate::natural::matrix::solve(&mut sigma, n, &mut solved));
            -0.5 * log_det - 0.5 * r.iter().zip(&solved).map(|(a, b)| a * b).sum::<f64>()
        }
    }
}

#[test]
fn scores_are_gradients_of_the_log_density() {
    for entry in AnyFamily::entries().filter(|entry| entry.name != "multinomial") {
        for seed in 0..3 {
            let (family, t, _, _) = trained(entry.name, 100 + seed);
            let (mut theta, mut covariance, mut dense) = (Vec::new(), Vec::new(), Vec::new());
            for class in 0..CLASSES {
                let g = score(&family, &t, class);
                family.mean(class, &mut theta);
                family.covariance(class, &mut covariance);
                t.spread(family.size(), &mut dense);
                for j in 0..theta.len() {
                    let h = 1e-5 * theta[j].abs().max(1e-2);
                    let mut at = |h: f64| {
                        let old = theta[j];
                        theta[j] += h;
                        let value = log_density(entry.name, &dense, &theta, &covariance);
                        theta[j] = old;
                        value
                    };
                    let slope =
                        (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
                    assert!(close(slope, g[j], 1e-6), "{} {j}: {slope} {}", entry.name, g[j]);
                }
            }
        }
    }
}
