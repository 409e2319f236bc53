//! Rows for every family, the metric as a matrix, and the best coefficients by Newton's method.

#![allow(dead_code)] // each test file uses some of these

use geowalk::Real;
use geowalk::laws::Sampler;
use geowalk::natural::{Natural, Scratch};
use geowalk::row::Dense;

pub(crate) const FAMILIES: [&str; 11] = [
    "discrete",
    "naive-bayes",
    "bernoulli",
    "poisson",
    "multinomial",
    "exponential",
    "gaussian-shared",
    "gaussian-shared-diagonal",
    "gaussian-sparse",
    "gaussian-diagonal",
    "gaussian",
];

/// A random row in the domain of the family.
pub(crate) fn row(family: &str, sampler: &mut Sampler) -> Vec<f64> {
    let mut one_of = |x: &mut [f64]| {
        let n = x.len();
        x[(0..n).find(|_| sampler.unit() < 0.4).unwrap_or(n - 1)] = 1.0;
    };
    let mut x = vec![0.0; 6];
    match family {
        "discrete" => {
            x.truncate(4);
            one_of(&mut x);
            x
        }
        "naive-bayes" => {
            one_of(&mut x[..3]);
            one_of(&mut x[3..]);
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

/// The minimal statistic: omits the last category of a column.
pub(crate) fn minimal(family: &str, x: &[f64]) -> Vec<f64> {
    match family {
        "discrete" => x[..3].to_vec(),
        "naive-bayes" => vec![x[0], x[1], x[3], x[4]],
        "gaussian-diagonal" => x.iter().flat_map(|x| [*x, x * x]).collect(),
        "gaussian" => {
            let products = |i: usize| (0..=i).map(move |j| x[i] * x[j]);
            (0..x.len()).flat_map(|i| std::iter::once(x[i]).chain(products(i))).collect()
        }
        _ => x.to_vec(),
    }
}

/// Solves A x = b by elimination with pivots; `a` is row-major.
pub(crate) fn solve(mut a: Vec<f64>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot =
            (k..n).max_by(|&i, &j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs())).unwrap();
        for j in 0..n {
            a.swap(k * n + j, pivot * n + j);
        }
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            for j in k..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| a[k * n + j] * b[j]).sum();
        b[k] = (b[k] - sum) / a[k * n + k];
    }
    b
}

/// G_ζ⁻¹∇ℓ(η) for three classes, in minimal coordinates: α of the first two classes, then β class by class.
pub(crate) fn direction(walk: &Natural, family: &str, x: &[f64], y: usize) -> Vec<f64> {
    let s = 3;
    let t = minimal(family, x);
    let size = t.len();
    let (mut p, mut z) = (Vec::new(), Vec::new());
    walk.prior(&mut p);
    walk.logits(Dense(x), &mut Scratch::default(), &mut z);
    let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = z.iter().map(|z| Real::exp(z - top)).sum();
    let v: Vec<f64> =
        (0..s).map(|c| Real::exp(z[c] - top) / sum - f64::from(u8::from(c == y))).collect();
    let kept: Vec<usize> = match family {
        "discrete" => vec![0, 1, 2],
        "naive-bayes" => vec![0, 1, 3, 4],
        _ => (0..size).collect(),
    };
    let k = s - 1 + s * size;
    let place = |c: usize, j: usize| s - 1 + c * size + j;
    let (mut means, mut covariances) = (Vec::new(), Vec::new());
    for c in 0..s {
        let (mut mean, mut covariance) = (Vec::new(), Vec::new());
        walk.moments(c, &mut mean, &mut covariance).unwrap();
        let full = mean.len();
        means.push(kept.iter().map(|&j| mean[j]).collect::<Vec<_>>());
        covariances.push(
            kept.iter()
                .flat_map(|&i| kept.iter().map(move |&j| (i, j)))
                .map(|(i, j)| {
                    let excluded = family == "naive-bayes" && i / 3 == j / 3;
                    covariance[i * full + j] - if excluded { mean[i] * mean[j] } else { 0.0 }
                })
                .collect::<Vec<_>>(),
        );
    }
    let (mut g, mut gradient) = (vec![0.0; k * k], vec![0.0; k]);
    for i in 0..s - 1 {
        gradient[i] = v[i];
        for j in 0..s - 1 {
            g[i * k + j] = if i == j { p[i] } else { 0.0 } - p[i] * p[j];
        }
        for c in 0..s {
            for j in 0..size {
                let value = means[c][j] * p[c] * (if i == c { 1.0 } else { 0.0 } - p[i]);
                g[i * k + place(c, j)] = value;
                g[place(c, j) * k + i] = value;
            }
        }
    }
    for c in 0..s {
        for i in 0..size {
            gradient[place(c, i)] = v[c] * t[i];
            for d in 0..s {
                for j in 0..size {
                    let both = means[c][i] * means[d][j];
                    let own =
                        if c == d { p[c] * (covariances[c][i * size + j] + both) } else { 0.0 };
                    g[place(c, i) * k + place(d, j)] = own - p[c] * p[d] * both;
                }
            }
        }
    }
    solve(g, gradient)
}

type Kind = fn(&str, usize, &mut Sampler) -> (Vec<f64>, usize);

/// Streams with edge cases.
pub(crate) fn kinds() -> [Kind; 6] {
    [
        // A single class.
        |family, _, sampler| (row(family, sampler), 0),
        // A class that appears late.
        |family, t, sampler| (row(family, sampler), if t < 50 { t % 2 } else { 2 }),
        // Always the same row: no variance.
        |family, t, _| (row(family, &mut Sampler::new(0)), t % 3),
        // Zero cells: the row determines the class.
        |family, _, sampler| {
            let x = row(family, sampler);
            let y = usize::from(x[0] > 0.5);
            (x, y)
        },
        // More features than rows, most of them constant; a feature that appears late.
        |family, t, sampler| {
            let mut x = row(family, sampler);
            if !matches!(family, "discrete" | "naive-bayes") {
                x.resize(20 + t / 30, 1.0);
            }
            (x, t % 3)
        },
        // Rows of zeros.
        |family, t, sampler| {
            let x = row(family, sampler);
            (if family == "discrete" { x } else { vec![0.0; x.len()] }, t % 2)
        },
    ]
}

/// Rows with their classes.
pub(crate) struct Sample {
    pub(crate) rows: Vec<Vec<f64>>,
    pub(crate) classes: Vec<usize>,
    pub(crate) s: usize,
}

impl Sample {
    /// Mean loss of coefficients (α and β, class after class), its gradient with the ridge, and its Hessian.
    fn quadratic(&self, w: &[f64], ridge: f64) -> (f64, Vec<f64>, Vec<f64>) {
        let (s, d) = (self.s, self.rows[0].len() + 1);
        let k = s * d;
        let (mut loss, mut gradient, mut hessian) = (0.0, vec![0.0; k], vec![0.0; k * k]);
        for (x, &y) in self.rows.iter().zip(&self.classes) {
            let phi: Vec<f64> = std::iter::once(1.0).chain(x.iter().copied()).collect();
            let z: Vec<f64> =
                w.chunks_exact(d).map(|w| w.iter().zip(&phi).map(|(w, x)| w * x).sum()).collect();
            let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = z.iter().map(|z| Real::exp(z - top)).sum();
            let q: Vec<f64> = z.iter().map(|z| Real::exp(z - top) / sum).collect();
            loss += top + Real::ln(sum) - z[y];
            for c in 0..s {
                let v = q[c] - f64::from(u8::from(c == y));
                for i in 0..d {
                    gradient[c * d + i] += v * phi[i];
                    for b in 0..=c {
                        let curvature = q[c] * (f64::from(u8::from(b == c)) - q[b]) * phi[i];
                        for j in 0..d {
                            hessian[(c * d + i) * k + b * d + j] += curvature * phi[j];
                        }
                    }
                }
            }
        }
        let n = self.rows.len() as f64;
        for h in &mut *hessian {
            *h /= n;
        }
        for i in 0..k {
            for j in i / d * d + d..k {
                // Fill the blocks above the diagonal.
                hessian[i * k + j] = hessian[j * k + i];
            }
        }
        loss /= n;
        for (i, (g, w)) in gradient.iter_mut().zip(w).enumerate() {
            *g /= n;
            // A small ridge for the directions that change nothing.
            hessian[i * k + i] += 1e-9;
            if i % d > 0 {
                *g += ridge * w;
                hessian[i * k + i] += ridge;
                loss += 0.5 * ridge * w * w;
            }
        }
        (loss, gradient, hessian)
    }

    /// The best coefficients and their loss, by Newton's method.
    pub(crate) fn best(&self, ridge: f64) -> (f64, Vec<f64>) {
        let mut w = vec![0.0; self.s * (self.rows[0].len() + 1)];
        for _ in 0..60 {
            let (loss, gradient, hessian) = self.quadratic(&w, ridge);
            let step = solve(hessian, gradient.clone());
            let decrease: f64 = step.iter().zip(&gradient).map(|(a, b)| a * b).sum();
            if decrease < 1e-14 {
                return (loss, w);
            }
            let mut t = 1.0;
            loop {
                let new: Vec<f64> = w.iter().zip(&step).map(|(w, step)| w - t * step).collect();
                if self.loss(&new, ridge) <= loss - 1e-4 * t * decrease || t < 1e-6 {
                    w = new;
                    break;
                }
                t *= 0.5;
            }
        }
        (self.loss(&w, ridge), w)
    }

    /// Mean loss of coefficients, with the ridge.
    pub(crate) fn loss(&self, w: &[f64], ridge: f64) -> f64 {
        let d = self.rows[0].len() + 1;
        let mut loss = 0.0;
        for (x, &y) in self.rows.iter().zip(&self.classes) {
            let logit = |w: &[f64]| w[0] + w[1..].iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
            let z: Vec<f64> = w.chunks_exact(d).map(logit).collect();
            let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            loss += top + Real::ln(z.iter().map(|z| Real::exp(z - top)).sum::<f64>()) - z[y];
        }
        let squares: f64 = w.chunks_exact(d).flat_map(|w| &w[1..]).map(|w| w * w).sum();
        loss / self.rows.len() as f64 + 0.5 * ridge * squares
    }

    /// The coefficients of a walk, in the layout of `best`.
    pub(crate) fn coefficients(&self, walk: &Natural) -> Vec<f64> {
        let (mut all, mut beta) = (Vec::new(), Vec::new());
        for c in 0..self.s {
            all.push(walk.coefficients(c, &mut beta));
            all.extend_from_slice(&beta);
        }
        all
    }
}
