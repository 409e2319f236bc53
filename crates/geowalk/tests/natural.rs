//! Natural gradient: the step against its definition, the algorithm as printed, invariances, and edge cases.

#![allow(clippy::unwrap_used, clippy::panic, clippy::many_single_char_names)] // test code

mod natural_support;

use geowalk::Real;
use geowalk::laws::Sampler;
use geowalk::natural::{AnyFamily, Baseline, Method, Natural, Schedule, Scratch, Settings};
use geowalk::row::{Dense, Sparse};
use natural_support::{FAMILIES, direction, kinds, minimal, row, solve};

/// Settings with a constant rate only: no cap, average or guard.
fn bare(rate: f64) -> Settings {
    let schedule = Schedule::Constant { rate };
    Settings { schedule, cap: None, average: false, guard: false, ..Settings::default() }
}

fn natural(family: &str, settings: Settings) -> Natural {
    Natural::new(AnyFamily::parse(family).unwrap(), settings).unwrap()
}

fn logits(walk: &Natural, x: &[f64]) -> Vec<f64> {
    let mut z = Vec::new();
    walk.logits(Dense(x), &mut Scratch::default(), &mut z);
    z
}

/// P(class) from logits.
fn softmax(z: &[f64]) -> Vec<f64> {
    let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let e: Vec<f64> = z.iter().map(|z| Real::exp(z - top)).collect();
    let sum: f64 = e.iter().sum();
    e.iter().map(|e| e / sum).collect()
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs())))
}

/// 1. The step is G_ζ⁻¹∇ℓ(η) for a ζ that is not η, in every family; in the logits, up to a constant of all classes.
#[test]
fn the_step_is_natural_gradient_in_the_metric_of_zeta() {
    for family in FAMILIES {
        for seed in 0..4 {
            let mut sampler = Sampler::new(seed);
            let mut walk = natural(family, Settings { cap: Some(1.0), ..bare(1e-3) });
            for t in 0..40 {
                walk.step(Dense(&row(family, &mut sampler)), t % 3, 1.0).unwrap();
            }
            let (x, y) = (row(family, &mut sampler), sampler.below(3));
            let d = direction(&walk, family, &x, y);
            let before = walk.clone();
            let rate = walk.step(Dense(&x), y, 1.0).unwrap().rate;
            let others: Vec<Vec<f64>> = (0..20).map(|_| row(family, &mut sampler)).collect();
            let changes = others.iter().map(|x| {
                let (new, old) = (logits(&walk, x), logits(&before, x));
                let t = minimal(family, x);
                let expected = |c: usize| {
                    let beta = &d[2 + c * t.len()..2 + (c + 1) * t.len()];
                    let dot: f64 = beta.iter().zip(&t).map(|(b, t)| b * t).sum();
                    -rate * (dot + if c < 2 { d[c] } else { 0.0 })
                };
                (0..2)
                    .map(|c| ((new[c] - old[c]) - (new[2] - old[2]), expected(c) - expected(2)))
                    .collect::<Vec<_>>()
            });
            let changes: Vec<(f64, f64)> = changes.flatten().collect();
            let size = changes.iter().fold(0.0, |most: f64, (a, _)| most.max(a.abs()));
            assert!(size > 1e-6, "{family}: nothing moved");
            for (found, expected) in changes {
                assert!((found - expected).abs() <= 1e-9 * size, "{family}: {found} {expected}");
            }
        }
    }
}

/// A dense solve with the same metric gives the same steps for a whole run.
#[test]
fn a_dense_solve_takes_the_same_steps() {
    for family in
        ["gaussian-shared-diagonal", "poisson", "bernoulli", "exponential", "gaussian-diagonal"]
    {
        let mut sampler = Sampler::new(7);
        let settings = Settings { average: false, guard: false, ..Settings::default() };
        let mut walk = natural(family, settings.clone());
        let mut dense =
            Baseline::new(Method::Csngd, AnyFamily::parse(family).unwrap(), settings).unwrap();
        let rows: Vec<Vec<f64>> = (0..150).map(|_| row(family, &mut sampler)).collect();
        walk.grow(rows[0].len(), 3).unwrap();
        dense.grow(rows[0].len(), 3).unwrap();
        for (t, x) in rows.iter().enumerate() {
            let y = (t * 7 + t / 3) % 3;
            let one = walk.step(Dense(x), y, 1.0).unwrap();
            let two = dense.step(Dense(x), y, 1.0).unwrap();
            if two.rate > 0.0 {
                assert!((one.loss - two.loss).abs() < 1e-7, "{family} {t}: {one:?} {two:?}");
                continue;
            }
            // The dense solve cannot handle features without variance yet. Restart it from the state of the walk.
            assert!(t < 3, "{family} {t}");
            let saved = saved(&walk);
            let get =
                |name: &str| saved.iter().find(|(known, _)| known == name).map(|(_, v)| v.clone());
            dense.load(&mut |name| get(name)).unwrap();
        }
    }
}

/// The algorithm as printed for one categorical variable: minimal statistics, proposition 5.
struct Printed {
    alpha: Vec<f64>,
    beta: Vec<Vec<f64>>,
}

impl Printed {
    fn logits(&self, x: usize) -> Vec<f64> {
        let s = self.beta.len();
        let alpha = |c: usize| if c < s - 1 { self.alpha[c] } else { 0.0 };
        (0..s).map(|c| alpha(c) + self.beta[c].get(x).copied().unwrap_or(0.0)).collect()
    }

    /// ∇h·(q − e), with P_ζ(x, ·) as `joint`.
    fn direction(&self, x: usize, y: usize, joint: &[f64]) -> Vec<f64> {
        let (s, t) = (self.beta.len(), self.beta[0].len());
        let mut v = softmax(&self.logits(x));
        v[y] -= 1.0;
        let w: Vec<f64> = v.iter().zip(joint).map(|(v, p)| v / p).collect();
        let mut d = vec![0.0; s - 1 + s * t];
        if x == t {
            for c in 0..s - 1 {
                d[c] = w[c] - w[s - 1];
            }
        }
        for c in 0..s {
            for j in 0..t {
                let own = &mut d[s - 1 + c * t + j];
                *own = match x {
                    _ if x == t => -w[c],
                    _ if x == j => w[c],
                    _ => 0.0,
                };
            }
        }
        d
    }
}

/// 3. Minimal and over-complete statistics give the same predictions at all times.
#[test]
fn the_printed_algorithm_has_the_same_trajectory() {
    let (s, m) = (3, 4);
    let settings =
        Settings { schedule: Schedule::Counting, cap: None, average: false, ..Settings::default() };
    let mut walk = natural("discrete", settings);
    walk.grow(m, s).unwrap();
    let mut printed = Printed { alpha: vec![0.0; s - 1], beta: vec![vec![0.0; m - 1]; s] };
    let mut counts = vec![vec![1.0; s]; m];
    let mut sampler = Sampler::new(3);
    for t in 0..400 {
        let (x, y) = (sampler.below(m), sampler.below(s));
        let total = f64::from(t) + (s * m) as f64;
        let joint: Vec<f64> = counts[x].iter().map(|n| n / total).collect();
        let d = printed.direction(x, y, &joint);
        for (a, d) in printed.alpha.iter_mut().chain(printed.beta.iter_mut().flatten()).zip(d) {
            *a -= d / total;
        }
        counts[x][y] += 1.0;
        let mut row = vec![0.0; m];
        row[x] = 1.0;
        walk.step(Dense(&row), y, 1.0).unwrap();
        for x in 0..m {
            let mut row = vec![0.0; m];
            row[x] = 1.0;
            let (a, b) = (softmax(&logits(&walk, &row)), softmax(&printed.logits(x)));
            assert!(close(&a, &b, 1e-12), "{t} {x}: {a:?} {b:?}");
        }
    }
}

/// 4. Equation (27) has a wrong sign in its third component: the printed one is −2.872, natural gradient +2.872.
#[test]
fn the_sign_in_equation_27_is_corrected() {
    let printed = Printed { alpha: vec![0.3], beta: vec![vec![0.0], vec![0.0]] };
    let (alpha, beta) = (0.45, [0.2, 0.35]);
    let joint = [alpha - beta[0], 1.0 - alpha - beta[1]];
    let d = printed.direction(1, 1, &joint);
    let r = 1.0 / (1.0 + Real::exp(0.3));
    assert!((d[2] - (1.0 - r) / 0.2).abs() < 1e-12 && (d[2] - 2.872).abs() < 5e-4, "{d:?}");
    // G of ζ: the covariance of ([y=1], [y=1, x=1], [y=2, x=1]).
    let p = [alpha, beta[0], beta[1]];
    let both = [[alpha, beta[0], 0.0], [beta[0], beta[0], 0.0], [0.0, 0.0, beta[1]]];
    let g: Vec<f64> = (0..9).map(|k| both[k / 3][k % 3] - p[k / 3] * p[k % 3]).collect();
    let q = 1.0 - r;
    let solved = solve(g, vec![q, 0.0, 0.0]);
    assert!(close(&d, &solved, 1e-12), "{d:?} {solved:?}");
}

fn saved(walk: &Natural) -> Vec<(String, Vec<f64>)> {
    let mut arrays = Vec::new();
    walk.save(&mut |name, values| arrays.push((name.to_owned(), values.to_vec())));
    arrays
}

fn loaded(family: &str, settings: Settings, arrays: &[(String, Vec<f64>)]) -> Natural {
    let mut walk = natural(family, settings);
    walk.load(&mut |name| arrays.iter().find(|(known, _)| known == name).map(|(_, v)| v.clone()))
        .unwrap();
    walk
}

/// 5. A vector added to the coefficients of all classes changes neither predictions nor later learning.
#[test]
fn the_gauge_does_not_matter() {
    for family in FAMILIES {
        let settings = Settings { average: false, ..Settings::default() };
        let mut sampler = Sampler::new(11);
        let mut walk = natural(family, settings.clone());
        for t in 0..50 {
            walk.step(Dense(&row(family, &mut sampler)), t % 3, 1.0).unwrap();
        }
        let mut arrays = saved(&walk);
        for (name, values) in &mut arrays {
            match name.as_str() {
                "alpha" => values.iter_mut().for_each(|a| *a += 0.7),
                "0.beta" => {
                    for (j, row) in values.chunks_exact_mut(3).enumerate() {
                        for b in &mut *row {
                            *b += 0.1 * ((j % 5) as f64 - 2.0);
                        }
                    }
                }
                _ => {}
            }
        }
        let mut shifted = loaded(family, settings, &arrays);
        for t in 0..50 {
            let x = row(family, &mut sampler);
            let (a, b) = (softmax(&logits(&walk, &x)), softmax(&logits(&shifted, &x)));
            assert!(close(&a, &b, 1e-9), "{family} {t}: {a:?} {b:?}");
            walk.step(Dense(&x), t % 3, 1.0).unwrap();
            shifted.step(Dense(&x), t % 3, 1.0).unwrap();
        }
        let (one, two) = (walk.report(), shifted.report());
        assert!(
            (one.gap - two.gap).abs() <= 1e-6 * (1.0 + one.gap.abs()),
            "{family}: {one:?} {two:?}"
        );
    }
}

/// 6. ζ is used before it is updated with the example. The other order gives different numbers.
#[test]
fn zeta_is_used_before_it_sees_the_example() {
    let stream = [(2.0, 0), (1.0, 1), (0.0, 0), (3.0, 1), (1.0, 0), (4.0, 1), (2.0, 1)];
    let by_hand = |after: bool| {
        // Two classes, one Poisson feature, κ = λ₀ = 1, a = 1, γ = 0.1.
        let (mut alpha, mut beta) = ([0.0; 2], [0.0; 2]);
        let (mut n, mut sums) = ([0.0; 2], [0.0; 2]);
        for (x, y) in stream {
            if after {
                n[y] += 1.0;
                sums[y] += x;
            }
            let q = softmax(&[alpha[0] + beta[0] * x, alpha[1] + beta[1] * x]);
            for c in 0..2 {
                let p = (n[c] + 1.0) / (n[0] + n[1] + 2.0);
                let lambda = (sums[c] + 1.0) / (n[c] + 1.0);
                let w = (q[c] - f64::from(u8::from(c == y))) / p;
                let g = x / lambda - 1.0;
                alpha[c] -= 0.1 * w * (1.0 - lambda * g);
                beta[c] -= 0.1 * w * g;
            }
            if !after {
                n[y] += 1.0;
                sums[y] += x;
            }
        }
        [alpha[1] - alpha[0], beta[1] - beta[0]]
    };
    let mut walk = natural("poisson", bare(0.1));
    walk.grow(1, 2).unwrap();
    for (x, y) in stream {
        walk.step(Dense(&[x]), y, 1.0).unwrap();
    }
    let (mut one, mut two) = (Vec::new(), Vec::new());
    let alpha = walk.iterate(1, &mut two) - walk.iterate(0, &mut one);
    let found = [alpha, two[0] - one[0]];
    assert!(close(&found, &by_hand(false), 1e-13), "{found:?} {:?}", by_hand(false));
    assert!(!close(&found, &by_hand(true), 1e-3), "{:?}", by_hand(true));
}

/// 7. Counts, updating only the nonzero ones, against the formula over all.
#[test]
fn sparse_counts_equal_dense_ones() {
    let (s, d) = (3, 30);
    let mut sampler = Sampler::new(5);
    let mut walk = natural("poisson(kappa=2, start=0.5)", bare(0.01));
    walk.grow(d, s).unwrap();
    let (mut alpha, mut beta) = (vec![0.0; s], vec![vec![0.0; d]; s]);
    let (mut n, mut sums) = (vec![0.0; s], vec![vec![0.0; d]; s]);
    for t in 0..500 {
        let y = sampler.below(s);
        let mut x = vec![0.0; d];
        for _ in 0..4 {
            x[(sampler.below(d) + y * 3) % d] += 1.0;
        }
        let logit = |c: usize| alpha[c] + x.iter().zip(&beta[c]).map(|(x, b)| x * b).sum::<f64>();
        let q = softmax(&(0..s).map(logit).collect::<Vec<_>>());
        for c in 0..s {
            let p = (n[c] + 1.0) / (n.iter().sum::<f64>() + s as f64);
            let w = (q[c] - f64::from(u8::from(c == y))) / p;
            let mut dot = 0.0;
            for j in 0..d {
                let lambda = (sums[c][j] + 1.0) / (n[c] + 2.0);
                let g = x[j] / lambda - 1.0;
                dot += lambda * g;
                beta[c][j] -= 0.01 * w * g;
            }
            alpha[c] -= 0.01 * w * (1.0 - dot);
        }
        n[y] += 1.0;
        sums[y].iter_mut().zip(&x).for_each(|(sum, x)| *sum += x);
        let (indices, values): (Vec<u32>, Vec<f64>) =
            (0..).zip(&x).filter(|(_, x)| **x != 0.0).map(|(i, x)| (i, *x)).unzip();
        let moved = walk.step(Sparse::new(&indices, &values).unwrap(), y, 1.0).unwrap();
        assert!((moved.probability - q[y]).abs() < 1e-12, "{t}");
    }
    for c in 0..s {
        let mut found = Vec::new();
        let a = walk.iterate(c, &mut found);
        assert!((a - alpha[c]).abs() < 1e-11 && close(&found, &beta[c], 1e-12), "{c}");
    }
}

/// 7, for bits: a step that updates only the bits that are 1 and a scalar per class, with probabilities that are kept
/// until a class has grown by 5 %. It is compared with the formula over all coordinates with the same probabilities,
/// including averages.
#[test]
fn sparse_bits_equal_dense_ones() {
    let (s, d) = (3, 30);
    let mut sampler = Sampler::new(6);
    let mut walk = natural("bernoulli(kappa=2)", Settings { average: true, ..bare(0.01) });
    walk.grow(d, s).unwrap();
    let (mut alpha, mut beta) = (vec![0.0; s], vec![vec![0.0; d]; s]);
    let (mut mean, mut weights) = (vec![vec![0.0; d]; s], 0.0);
    let (mut n, mut sums) = (vec![0.0; s], vec![vec![0.0; d]; s]);
    let (mut theta, mut due) = (vec![vec![0.5; d]; s], vec![0.0; s]);
    for t in 0..500 {
        let y = sampler.below(s);
        let mut x = vec![0.0; d];
        for _ in 0..4 {
            x[(sampler.below(d) / (1 + y) + y) % d] = if t % 7 == 0 { 0.5 } else { 1.0 };
        }
        let logit = |c: usize| alpha[c] + x.iter().zip(&beta[c]).map(|(x, b)| x * b).sum::<f64>();
        let q = softmax(&(0..s).map(logit).collect::<Vec<_>>());
        weights += f64::from(t + 1);
        for c in 0..s {
            let p = (n[c] + 1.0) / (n.iter().sum::<f64>() + s as f64);
            let w = (q[c] - f64::from(u8::from(c == y))) / p;
            let mut dot = 0.0;
            for j in 0..d {
                let g = (x[j] - theta[c][j]) / (theta[c][j] * (1.0 - theta[c][j]));
                dot += theta[c][j] * g;
                beta[c][j] -= 0.01 * w * g;
                mean[c][j] += f64::from(t + 1) * beta[c][j];
            }
            alpha[c] -= 0.01 * w * (1.0 - dot);
        }
        n[y] += 1.0;
        for j in 0..d {
            sums[y][j] += x[j];
        }
        if n[y] >= due[y] {
            due[y] = 1.05 * n[y];
            for j in 0..d {
                theta[y][j] = (sums[y][j] + 1.0) / (n[y] + 2.0);
            }
        }
        let (indices, values): (Vec<u32>, Vec<f64>) =
            (0..).zip(&x).filter(|(_, x)| **x != 0.0).map(|(i, x)| (i, *x)).unzip();
        walk.step(Sparse::new(&indices, &values).unwrap(), y, 1.0).unwrap();
    }
    for c in 0..s {
        let (mut found, mut average) = (Vec::new(), Vec::new());
        let a = walk.iterate(c, &mut found);
        assert!((a - alpha[c]).abs() < 1e-11 && close(&found, &beta[c], 1e-11), "{c}");
        walk.coefficients(c, &mut average);
        let mean: Vec<f64> = mean[c].iter().map(|sum| sum / weights).collect();
        assert!(close(&average, &mean, 1e-11), "{c}: {average:?} {mean:?}");
        let (mut moments, mut covariance) = (Vec::new(), Vec::new());
        walk.moments(c, &mut moments, &mut covariance).unwrap();
        assert!(close(&moments, &theta[c], 1e-14), "{c}");
    }
    let (empty, cells) = walk.report().empty_cells;
    assert!(0 < empty && empty < cells, "{empty} of {cells}");
}

/// A row with explicit zeros gives the same bits as the row without them.
#[test]
fn zeros_written_out_change_no_bit() {
    for family in FAMILIES {
        let (mut one, mut two) =
            (natural(family, Settings::default()), natural(family, Settings::default()));
        let mut sampler = Sampler::new(23);
        for t in 0..120 {
            let x = row(family, &mut sampler);
            one.grow(x.len(), 1).unwrap();
            two.grow(x.len(), 1).unwrap();
            let (indices, values): (Vec<u32>, Vec<f64>) =
                (0..).zip(&x).filter(|(_, x)| **x != 0.0).map(|(i, x)| (i, *x)).unzip();
            one.step(Dense(&x), t % 3, 1.0).unwrap();
            two.step(Sparse::new(&indices, &values).unwrap(), t % 3, 1.0).unwrap();
        }
        assert_eq!(saved(&one), saved(&two), "{family}");
    }
}

/// Features with a distant origin: the same predictions as with a near origin, up to the lost digits.
#[test]
fn an_origin_far_away_costs_only_its_digits() {
    let mut sampler = Sampler::new(31);
    let (mut near, mut far) = (
        natural("gaussian-shared", Settings::default()),
        natural("gaussian-shared", Settings::default()),
    );
    for t in 0..2000 {
        let y = t % 3;
        let x: Vec<f64> =
            (0..4).map(|j| sampler.normal() + 2.0 * f64::from(u8::from(j == y))).collect();
        // Round both versions in the same way.
        let moved: Vec<f64> = x.iter().map(|x| x + 1e6).collect();
        let x: Vec<f64> = moved.iter().map(|x| x - 1e6).collect();
        let (p, q) =
            (near.step(Dense(&x), y, 1.0).unwrap(), far.step(Dense(&moved), y, 1.0).unwrap());
        assert!((p.probability - q.probability).abs() < 1e-6, "{t}: {p:?} {q:?}");
    }
}

/// The residuals are the slopes of the loss at the step's prediction.
#[test]
fn residuals_are_those_of_the_prediction() {
    for settings in [Settings::default(), bare(0.1), Settings { average: true, ..bare(0.1) }] {
        let mut walk = natural("gaussian-shared", settings.clone());
        let mut sgd = Baseline::new(
            Method::Sgd,
            AnyFamily::parse("gaussian-shared").unwrap(),
            Settings { schedule: Schedule::Constant { rate: 0.01 }, ..settings },
        )
        .unwrap();
        let mut sampler = Sampler::new(12);
        for t in 0..50 {
            let x = row("gaussian-shared", &mut sampler);
            walk.step(Dense(&x), t % 3, 1.0).unwrap();
            sgd.step(Dense(&x), t % 3, 1.0).unwrap();
            for (z, residuals) in
                [(walk.predicted(), walk.residuals()), (sgd.predicted(), sgd.residuals())]
            {
                let mut expected = softmax(z);
                expected[t % 3] -= 1.0;
                assert!(close(residuals, &expected, 1e-14), "{t}: {residuals:?} {expected:?}");
            }
        }
    }
}

/// 8. Natural gradient in its primal metric overflows; the dual one does not, on the same stream.
#[test]
fn only_the_dual_metric_stays_finite() {
    let x = Sparse::new(&[0], &[1.0]).unwrap();
    let discrete = || AnyFamily::parse("discrete").unwrap();
    let mut sngd = Baseline::new(Method::Sngd, discrete(), bare(1.0)).unwrap();
    sngd.grow(1, 2).unwrap();
    let mut z = Vec::new();
    for (t, expected) in [2.0, -6.389, 589.9, -1.6e256].into_iter().enumerate() {
        if let Err(error) = sngd.step(x, t % 2, 1.0) {
            // The fourth step is too long to be represented.
            assert!(t == 3 && error.to_string().contains("overflows"), "{t}: {error}");
            break;
        }
        sngd.logits(x, &mut Scratch::default(), &mut z);
        assert!((z[0] - z[1] - expected).abs() < 1e-3 * expected.abs(), "{t}: {z:?}");
    }
    assert!(sngd.step(x, 1, 1.0).is_err());
    let settings = Settings {
        schedule: Schedule::Power { c: 1.0, t0: 1.0, p: 1.0 },
        average: false,
        ..Settings::default()
    };
    let mut walk = natural("discrete", settings);
    walk.grow(1, 2).unwrap();
    for t in 0..20_000 {
        walk.step(x, t % 2, 1.0).unwrap();
    }
    let z = logits(&walk, &[1.0]);
    assert!((z[0] - z[1]).abs() < 1e-3, "{z:?}");
    // Mirror descent leaves its domain immediately at such a rate.
    let mut mirror = Baseline::new(Method::Mirror, discrete(), bare(1.0)).unwrap();
    mirror.grow(1, 2).unwrap();
    assert!(mirror.step(x, 0, 1.0).is_err());
}

/// Mirror descent and natural gradient in the dual coordinates agree to first order: mirror descent at rate γ, against
/// SNGD run backwards in the other chart.
#[test]
fn mirror_descent_descends_in_the_dual_chart() {
    for family in ["discrete", "bernoulli", "poisson", "exponential"] {
        let mut sampler = Sampler::new(21);
        let mut mirror =
            Baseline::new(Method::Mirror, AnyFamily::parse(family).unwrap(), bare(1e-3)).unwrap();
        let rows: Vec<(Vec<f64>, usize)> =
            (0..60).map(|t| (row(family, &mut sampler), t % 3)).collect();
        mirror.grow(rows[0].0.len(), 3).unwrap();
        let mut losses = Vec::new();
        for _ in 0..20 {
            let loss: f64 =
                rows.iter().map(|(x, y)| mirror.step(Dense(x), *y, 1.0).unwrap().loss).sum();
            losses.push(loss);
        }
        assert!(losses[19] < losses[0] - 0.01, "{family}: {losses:?}");
    }
}

/// 9. Zero cells, a single class, a constant feature, fewer rows than features, a late class and a late feature:
///    finite results for every family.
#[test]
fn edges_stay_finite() {
    for family in FAMILIES {
        for settings in [Settings::default(), Settings { average: false, ..Settings::default() }] {
            for (k, kind) in kinds().into_iter().enumerate() {
                let mut sampler = Sampler::new(1);
                let mut walk = natural(family, settings.clone());
                for t in 0..60 {
                    let (x, y) = kind(family, t, &mut sampler);
                    let moved = walk.step(Dense(&x), y, 1.0);
                    let moved =
                        moved.unwrap_or_else(|error| panic!("{family}, stream {k}, {t}: {error}"));
                    assert!(moved.loss.is_finite() && moved.loss >= 0.0, "{family} {t}: {moved:?}");
                    assert!(logits(&walk, &x).iter().all(|z| z.is_finite()), "{family} {t}");
                }
                let report = walk.report();
                assert!(report.widest.is_finite(), "{family}: {report:?}");
            }
        }
    }
}

/// A value that is not finite or not in the family's domain is an error with its place, and leaves the walk unchanged.
#[test]
fn rows_outside_the_domain_are_refused() {
    for (family, x, place) in [
        ("discrete", vec![1.0, 1.0], "the number of features"),
        ("naive-bayes", vec![0.0, 2.0], "coordinate 1"),
        ("bernoulli", vec![0.5, -0.1], "coordinate 1"),
        ("poisson", vec![-1.0, 0.0], "coordinate 0"),
        ("gaussian-shared", vec![0.0, f64::NAN], "coordinate 1"),
        ("gaussian", vec![f64::INFINITY, 0.0], "coordinate 0"),
    ] {
        let mut walk = natural(family, Settings::default());
        walk.grow(2, 2).unwrap();
        let before = saved(&walk);
        let error = walk.step(Dense(&x), 0, 1.0).unwrap_err().to_string();
        assert!(error.contains(place), "{family}: {error}");
        assert_eq!(saved(&walk), before, "{family}");
    }
    let mut walk = natural("poisson", Settings::default());
    assert!(walk.step(Dense(&[1.0]), 0, f64::NAN).is_err());
}

/// 13. The numbering of the classes does not matter.
#[test]
fn relabelling_changes_nothing() {
    for family in FAMILIES {
        let order = [2, 0, 1];
        let mut sampler = Sampler::new(17);
        let (mut one, mut two) =
            (natural(family, Settings::default()), natural(family, Settings::default()));
        let n = row(family, &mut Sampler::new(0)).len();
        one.grow(n, 3).unwrap();
        two.grow(n, 3).unwrap();
        for _ in 0..200 {
            let (x, y) = (row(family, &mut sampler), sampler.below(3));
            one.step(Dense(&x), y, 1.0).unwrap();
            two.step(Dense(&x), order[y], 1.0).unwrap();
            let (a, b) = (softmax(&logits(&one, &x)), softmax(&logits(&two, &x)));
            let b: Vec<f64> = order.iter().map(|&c| b[c]).collect();
            assert!(close(&a, &b, 1e-8), "{family}: {a:?} {b:?}");
        }
    }
}

/// 14. An affine map of the features changes no prediction if the prior is mapped too. Units and origins never matter.
#[test]
fn affine_maps_of_the_features_change_nothing() {
    let a = [[2.0, 0.5, 0.0], [-1.0, 30.0, 0.2], [0.0, 0.1, 0.01]];
    let b = [5.0, -700.0, 0.3];
    let map = |x: &[f64]| -> Vec<f64> {
        (0..3).map(|i| b[i] + (0..3).map(|j| a[i][j] * x[j]).sum::<f64>()).collect()
    };
    let unit = |i: usize| (0..3).map(|j| f64::from(u8::from(i == j))).collect::<Vec<_>>();
    let identity: Vec<f64> = (0..3).flat_map(unit).collect();
    let image: Vec<f64> = (0..9).map(|k| (0..3).map(|l| a[k / 3][l] * a[k % 3][l]).sum()).collect();
    let prior = |mean: &[f64], sigma: &[f64]| {
        Natural::new(AnyFamily::gaussian_shared(0.5, mean, sigma).unwrap(), Settings::default())
            .unwrap()
    };
    let (mut one, mut two) = (prior(&[0.0; 3], &identity), prior(&b, &image));
    let mut sampler = Sampler::new(9);
    for t in 0..300 {
        let y = t % 3;
        let x: Vec<f64> = (0..3).map(|j| sampler.normal() + f64::from(u8::from(j == y))).collect();
        let (p, q) =
            (one.step(Dense(&x), y, 1.0).unwrap(), two.step(Dense(&map(&x)), y, 1.0).unwrap());
        assert!((p.probability - q.probability).abs() < 1e-7, "{t}: {p:?} {q:?}");
    }
    for family in ["gaussian-shared", "gaussian-shared-diagonal", "gaussian-diagonal", "gaussian"] {
        let (mut one, mut two) =
            (natural(family, Settings::default()), natural(family, Settings::default()));
        for t in 0..300 {
            let y = t % 3;
            let x: Vec<f64> =
                (0..3).map(|j| sampler.normal() + f64::from(u8::from(j == y))).collect();
            let scaled = [1e6 * x[0], 0.001 * x[1] + 5.0, x[2] - 40.0];
            let (p, q) =
                (one.step(Dense(&x), y, 1.0).unwrap(), two.step(Dense(&scaled), y, 1.0).unwrap());
            assert!((p.probability - q.probability).abs() < 1e-5, "{family} {t}: {p:?} {q:?}");
        }
    }
}

/// A loaded walk continues with the same bits, even in the middle of a pair of the monitor.
#[test]
fn a_loaded_walk_goes_on_with_the_same_bits() {
    for family in FAMILIES {
        for stop in [1, 17, 40] {
            let settings = Settings {
                ridge: if family == "gaussian" { 0.0 } else { 1e-3 },
                ..Settings::default()
            };
            let mut sampler = Sampler::new(2);
            let mut whole = natural(family, settings.clone());
            let mut parts = natural(family, settings.clone());
            for t in 0..60 {
                let (x, y) = (row(family, &mut sampler), t % (2 + t / 30));
                whole.step(Dense(&x), y, 1.0).unwrap();
                if t == stop {
                    parts = loaded(family, settings.clone(), &saved(&parts));
                }
                parts.step(Dense(&x), y, 1.0).unwrap();
            }
            assert_eq!(saved(&whole), saved(&parts), "{family} {stop}");
        }
    }
}

/// The parts of a mixed row are separate families, and their scores are concatenated.
#[test]
fn mixed_columns_equal_one_family_where_they_are_of_one() {
    // Independent features: two halves of a Bernoulli row are one Bernoulli row.
    let bernoulli = || AnyFamily::parse("bernoulli").unwrap();
    let mut mixed =
        Natural::mixed(vec![(bernoulli(), vec![3, 1])], bernoulli(), Settings::default()).unwrap();
    let mut one = natural("bernoulli", Settings::default());
    let mut sampler = Sampler::new(4);
    for t in 0..100 {
        let x = row("bernoulli", &mut sampler);
        let (a, b) =
            (mixed.step(Dense(&x), t % 3, 1.0).unwrap(), one.step(Dense(&x), t % 3, 1.0).unwrap());
        assert!((a.loss - b.loss).abs() < 1e-12, "{t}: {a:?} {b:?}");
    }
    let (mut a, mut b) = (Vec::new(), Vec::new());
    mixed.linear(1, &mut a);
    one.linear(1, &mut b);
    assert!(close(&a, &b, 1e-10), "{a:?} {b:?}");
    let error = mixed.step(Dense(&[0.0, 7.0, 0.0, 0.0]), 0, 1.0).unwrap_err().to_string();
    assert!(error.contains("coordinate 1 of the row is 7"), "{error}");
}
