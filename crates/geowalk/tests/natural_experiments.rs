//! Natural gradient, measured: excess loss over the optimum, convergence under a wrong family, the fixed point with a
//! ridge, rare classes. The experiments that compare it with other methods and measure the time of a step are in
//! `geowalk-papers`. Seeds are fixed; the numbers next to the bounds are measured values.

#![allow(clippy::unwrap_used, clippy::panic)] // test code

mod natural_support;

use geowalk::Real;
use geowalk::laws::Sampler;
use geowalk::natural::{AnyFamily, Natural, Schedule, Scratch, Settings};
use geowalk::row::{Dense, Sparse};
use natural_support::Sample;

fn natural(family: &str, settings: Settings) -> Natural {
    Natural::new(AnyFamily::parse(family).unwrap(), settings).unwrap()
}

fn inv(c: f64, t0: f64) -> Schedule {
    Schedule::Power { c, t0, p: 1.0 }
}

/// A categorical variable with a Zipf distribution, and random P(y∣x) ≥ 0.02.
struct Categorical {
    x: Vec<f64>,
    y: Vec<Vec<f64>>,
}

impl Categorical {
    fn new(m: usize, s: usize, sampler: &mut Sampler) -> Self {
        let mut x: Vec<f64> = (1..=m).map(|i| 1.0 / i as f64).collect();
        let sum: f64 = x.iter().sum();
        for p in &mut *x {
            *p /= sum;
        }
        let y = (0..m)
            .map(|_| {
                // Squares of normals are Gamma(½): Dirichlet(½).
                let mut p: Vec<f64> = (0..s)
                    .map(|_| sampler.normal() * sampler.normal().abs())
                    .map(f64::abs)
                    .collect();
                let sum: f64 = p.iter().sum();
                for p in &mut *p {
                    *p = (*p / sum).max(0.02);
                }
                let sum: f64 = p.iter().sum();
                p.iter().map(|p| p / sum).collect()
            })
            .collect();
        Self { x, y }
    }

    fn draw(&self, sampler: &mut Sampler) -> (usize, usize) {
        let pick = |p: &[f64], mut u: f64| {
            p.iter().position(|p| {
                u -= p;
                u < 0.0
            })
        };
        let x = pick(&self.x, sampler.unit()).unwrap_or(self.x.len() - 1);
        let y = pick(&self.y[x], sampler.unit()).unwrap_or(self.y[x].len() - 1);
        (x, y)
    }

    /// Σ P(x) KL(P(·∣x) ‖ model).
    fn excess(&self, walk: &Natural) -> f64 {
        let (mut sum, mut z) = (0.0, Vec::new());
        for (i, (px, p)) in (0..).zip(self.x.iter().zip(&self.y)) {
            let x = Sparse::new(std::slice::from_ref(&i), &[1.0]).unwrap();
            walk.logits(x, &mut Scratch::default(), &mut z);
            let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let lse = top + Real::ln(z.iter().map(|z| Real::exp(z - top)).sum::<f64>());
            sum += px * p.iter().zip(&z).map(|(p, z)| p * (Real::ln(*p) - z + lse)).sum::<f64>();
        }
        sum
    }
}

/// 10. E1: with the cap or the counting schedule the excess is at most four times m(s − 1)/2T; without either it is of
///     another order.
#[test]
fn one_categorical_variable_is_learned_as_well_as_it_can_be() {
    let (m, s, rounds) = (10, 3, 100_000);
    for seed in 0..2 {
        let mut sampler = Sampler::new(seed);
        let truth = Categorical::new(m, s, &mut sampler);
        let stream: Vec<(usize, usize)> = (0..rounds).map(|_| truth.draw(&mut sampler)).collect();
        let run = |schedule, cap| {
            let mut walk = natural(
                "discrete",
                Settings { schedule, cap, average: false, ..Settings::default() },
            );
            walk.grow(m, s).unwrap();
            for &(x, y) in &stream {
                let x = u32::try_from(x).unwrap();
                walk.step(Sparse::new(&[x], &[1.0]).unwrap(), y, 1.0).unwrap();
            }
            truth.excess(&walk)
        };
        let efficient = (m * (s - 1)) as f64 / (2.0 * f64::from(rounds));
        let counting = run(Schedule::Counting, None);
        let capped = run(inv(1.0, 1.0), Some(1.0));
        let raw = run(inv(1.0, 1.0), None);
        println!(
            "E1 seed {seed}: counting {counting:.2e}, cap {capped:.2e}, raw {raw:.2e}, efficient {efficient:.2e}"
        );
        assert!(
            counting < 4.0 * efficient && capped < 4.0 * efficient,
            "{counting} {capped} {efficient}"
        );
        assert!(raw > 10.0 * efficient, "{raw}");
    }
}

/// Classes with different covariances: no logistic regression is the true model, and linear discriminant analysis is
/// not optimal.
fn heteroscedastic(d: usize, n: usize, seed: u64) -> Sample {
    let mut sampler = Sampler::new(seed);
    let s = 4;
    let means: Vec<Vec<f64>> =
        (0..s).map(|_| (0..d).map(|_| 0.6 * sampler.normal()).collect()).collect();
    let (mut rows, mut classes) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let y = sampler.below(s);
        let spread = 0.4 + y as f64;
        // A common factor correlates all features.
        let factor = sampler.normal();
        let x = (0..d).map(|j| {
            let scale = if j % 2 == 0 { 1.0 } else { 20.0 };
            scale * (means[y][j] + spread * (sampler.normal() + factor))
        });
        rows.push(x.collect());
        classes.push(y);
    }
    Sample { rows, classes, s }
}

fn excess(sample: &Sample, best: f64, walk: &Natural) -> f64 {
    sample.loss(&sample.coefficients(walk), 0.0) - best
}

/// 11. E8: under a wrong family the loss still converges to that of the best logistic regression, at about 1/T.
#[test]
fn a_wrong_family_reaches_the_logistic_optimum() {
    let sample = heteroscedastic(10, 2000, 1);
    let (best, _) = sample.best(0.0);
    let mut walk = natural("gaussian-shared", Settings::default());
    let mut sampler = Sampler::new(2);
    let mut measured = Vec::new();
    for t in 1..=100_000 {
        let i = sampler.below(sample.rows.len());
        walk.step(Dense(&sample.rows[i]), sample.classes[i], 1.0).unwrap();
        if t == 10_000 || t == 100_000 {
            measured.push(excess(&sample, best, &walk));
        }
    }
    println!("E8: excess {measured:?} over {best:.4}; {:?}", walk.report());
    assert!(measured[1] < 0.3 * measured[0], "{measured:?}");
    assert!(measured[1] > 0.0 && measured[1] < 2e-3, "{measured:?}");
}

/// 15. With a ridge the walk converges to the solution of Newton's method.
#[test]
fn a_ridge_has_the_right_fixed_point() {
    let ridge = 0.3;
    for family in ["gaussian-shared", "gaussian-shared-diagonal"] {
        let mut sample = heteroscedastic(3, 300, 7);
        // The effect of the ridge depends on the scale of the features.
        for x in &mut sample.rows {
            x[1] /= 20.0;
        }
        let (best, w) = sample.best(ridge);
        let mut walk = natural(family, Settings { ridge, ..Settings::default() });
        let mut sampler = Sampler::new(3);
        for _ in 0..240_000 {
            let i = sampler.below(sample.rows.len());
            walk.step(Dense(&sample.rows[i]), sample.classes[i], 1.0).unwrap();
        }
        let found = sample.coefficients(&walk);
        let gap = sample.loss(&found, ridge) - best;
        // Coefficients of the classes relative to their mean: α has no ridge and is defined only up to a constant.
        let relative = |w: &[f64]| -> Vec<f64> {
            let mean: Vec<f64> =
                (0..4).map(|j| w.iter().skip(j).step_by(4).sum::<f64>() / 4.0).collect();
            w.iter().enumerate().map(|(k, w)| w - mean[k % 4]).collect()
        };
        let distance = relative(&found)
            .iter()
            .zip(relative(&w))
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        let without = sample.loss(&sample.best(0.0).1, ridge) - best;
        println!(
            "ridge, {family}: gap {gap:.2e}, largest difference {distance:.2e}; of the plain optimum {without:.2e}"
        );
        assert!(gap < 2e-4 && gap < 0.02 * without, "{family}: {gap} {without}");
        assert!(distance < 0.05, "{family}: {distance}");
    }
}

/// 16. A declared class that never occurs costs nothing; with a cap by the largest K/p every step would be tiny.
#[test]
fn a_class_that_never_comes_costs_nothing() {
    let (d, s) = (10, 5);
    let mut sampler = Sampler::new(31);
    let means: Vec<Vec<f64>> =
        (0..s).map(|_| (0..d).map(|_| 0.7 * sampler.normal()).collect()).collect();
    let mut draw = |n: usize| -> Vec<(Vec<f64>, usize)> {
        (0..n)
            .map(|_| {
                let y = sampler.below(s);
                (means[y].iter().map(|m| m + sampler.normal()).collect(), y)
            })
            .collect()
    };
    let (stream, held_out) = (draw(20_000), draw(5_000));
    let run = |declared: usize| {
        let mut walk = natural("gaussian-shared", Settings::default());
        walk.grow(d, declared).unwrap();
        for (x, y) in &stream {
            walk.step(Dense(x), *y, 1.0).unwrap();
        }
        let mut z = Vec::new();
        let loss = held_out.iter().map(|(x, y)| {
            walk.logits(Dense(x), &mut Scratch::default(), &mut z);
            let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            top + Real::ln(z.iter().map(|z| Real::exp(z - top)).sum::<f64>()) - z[*y]
        });
        loss.sum::<f64>() / held_out.len() as f64
    };
    let (with, without) = (run(s + 1), run(s));
    println!("unseen class: {with:.5} with, {without:.5} without");
    assert!((with / without - 1.0).abs() < 0.01, "{with} {without}");
}

/// E3: with a full covariance the condition number of the features does not matter; with a diagonal one it does.
#[test]
fn the_condition_number_does_not_matter() {
    let (d, s, n, rounds) = (10, 4, 2000, 20_000);
    let run = |condition: f64, family: &str| {
        let mut sampler = Sampler::new(5);
        // Scales in a rotated basis: reflections mix all coordinates.
        let axis: Vec<f64> = (0..d).map(|_| sampler.normal()).collect();
        let square: f64 = axis.iter().map(|a| a * a).sum();
        let means: Vec<Vec<f64>> =
            (0..s).map(|_| (0..d).map(|_| 0.6 * sampler.normal()).collect()).collect();
        let (mut rows, mut classes) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let y = sampler.below(s);
            let mut x: Vec<f64> = (0..d)
                .map(|j| {
                    let power = -0.5 * j as f64 / (d - 1) as f64;
                    (means[y][j] + sampler.normal()) * Real::powf(condition, power)
                })
                .collect();
            let dot: f64 = x.iter().zip(&axis).map(|(x, a)| x * a).sum();
            x.iter_mut().zip(&axis).for_each(|(x, a)| *x -= 2.0 * dot / square * a);
            rows.push(x);
            classes.push(y);
        }
        let sample = Sample { rows, classes, s };
        let (best, _) = sample.best(0.0);
        let mut walk = natural(family, Settings::default());
        for _ in 0..rounds {
            let i = sampler.below(n);
            walk.step(Dense(&sample.rows[i]), sample.classes[i], 1.0).unwrap();
        }
        excess(&sample, best, &walk)
    };
    let full: Vec<f64> = [1.0, 1e2, 1e4].map(|c| run(c, "gaussian-shared")).to_vec();
    let diagonal = run(1e4, "gaussian-shared-diagonal");
    let efficient = f64::from(3 * 11) / (2.0 * f64::from(rounds));
    println!("E3: full {full:?}, diagonal at 1e4 {diagonal:.2e}, efficient {efficient:.2e}");
    for excess in &full {
        assert!(*excess < 4.0 * efficient, "{full:?}");
    }
    assert!(full[2] < 1.5 * full[0], "{full:?}");
    assert!(diagonal > 5.0 * full[2], "{diagonal}");
}

/// E10: with a prior that knows the scale, the dimension-aware warm-up makes the cap unnecessary.
#[test]
fn a_warm_up_replaces_the_cap() {
    let mut sample = heteroscedastic(10, 2000, 1);
    for x in &mut sample.rows {
        x.iter_mut().skip(1).step_by(2).for_each(|x| *x /= 20.0);
    }
    let (best, _) = sample.best(0.0);
    let identity: Vec<f64> = (0..100).map(|k| f64::from(u8::from(k / 10 == k % 10))).collect();
    let run = |cap| {
        let schedule = Schedule::Warm { c: 10.0 };
        let family = AnyFamily::gaussian_shared(5.0, &[0.0; 10], &identity).unwrap();
        let settings = Settings { schedule, cap, average: false, ..Settings::default() };
        let mut walk = Natural::new(family, settings).unwrap();
        let mut sampler = Sampler::new(2);
        for _ in 0..20_000 {
            let i = sampler.below(sample.rows.len());
            walk.step(Dense(&sample.rows[i]), sample.classes[i], 1.0).unwrap();
        }
        excess(&sample, best, &walk)
    };
    let (on, off) = (run(Some(1.0)), run(None));
    println!("E10: excess {on:.2e} with the cap, {off:.2e} without");
    assert!(on < 0.02 && off < 2.0 * on, "{on} {off}");
}

/// Features with Cauchy-like tails, several of them nearly equal, and classes in long runs: squares of features become
/// huge.
fn rough(t: usize, sampler: &mut Sampler) -> (Vec<f64>, usize) {
    let class = if t < 600 { t / 200 } else { sampler.below(3) };
    let common = sampler.normal() / (sampler.normal().abs() + 0.02);
    let x = (0..8).map(|j| common + 0.1 * sampler.normal() + (class * j) as f64 * 0.2).collect();
    (x, class)
}

/// A guarded run loses at most ln 2 + ln(T + 1) more than the class frequencies; one without guard does not.
#[test]
fn a_guarded_run_is_not_worse_than_class_frequencies() {
    let rounds = 3000;
    let run = |family: &str, guard: bool| {
        let mut sampler = Sampler::new(5);
        let mut walk = natural(family, Settings { guard, ..Settings::default() });
        walk.grow(8, 3).unwrap();
        let (mut loss, mut frequencies, mut p) = (0.0, 0.0, Vec::new());
        for t in 0..rounds {
            let (x, y) = rough(t, &mut sampler);
            walk.prior(&mut p);
            frequencies -= Real::ln(p[y]);
            let one = walk.step(Dense(&x), y, 1.0).unwrap().loss;
            if guard {
                assert!(
                    one <= Real::ln(t as f64 + 2.0) - Real::ln(p[y]) + 1e-9,
                    "{family}, row {t}: {one}"
                );
                let most = frequencies + Real::ln(2.0 * (t as f64 + 2.0));
                loss += one;
                assert!(loss <= most + 1e-9, "{family}, row {t}: {loss} {most}");
            } else {
                loss += one;
            }
        }
        (loss, frequencies)
    };
    for family in ["gaussian-diagonal", "gaussian", "gaussian-shared"] {
        let ((loss, frequencies), (raw, _)) = (run(family, true), run(family, false));
        println!("{family}: {loss} guarded, {raw} not, {frequencies} of frequencies");
        assert!(raw > 1.2 * loss, "{family}: the rows are rough enough to matter: {raw} {loss}");
    }
}

/// Rows that carry no information on the class: the loss ends near that of the frequencies, with few restarts.
#[test]
fn noise_is_not_begun_again_for_ever() {
    let mut sampler = Sampler::new(6);
    let mut walk = natural("gaussian-shared", Settings::default());
    walk.grow(30, 2).unwrap();
    let (mut loss, mut frequencies, mut p) = (0.0, 0.0, Vec::new());
    for _ in 0..20_000 {
        let x: Vec<f64> = (0..30).map(|_| sampler.normal()).collect();
        let y = sampler.below(2);
        walk.prior(&mut p);
        frequencies -= Real::ln(p[y]);
        loss += walk.step(Dense(&x), y, 1.0).unwrap().loss;
    }
    let again = walk.report().again;
    let most = frequencies + Real::ln(2.0 * 20_001.0);
    assert!(loss <= most && again <= 4, "{loss} {most} {again}");
}
