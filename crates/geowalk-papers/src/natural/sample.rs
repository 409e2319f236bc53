//! Rows with classes, their optimal coefficients, and streams drawn from them.

use geowalk::Real;
use geowalk::laws::Sampler;

use super::rules::Learner;

/// Rows and their classes.
pub(super) struct Sample {
    pub(super) rows: Vec<Vec<f64>>,
    pub(super) classes: Vec<usize>,
    pub(super) s: usize,
}

/// ln Σ e^z, without overflow.
pub(super) fn log_sum(z: &[f64]) -> f64 {
    let top = z.iter().copied().fold(f64::NEG_INFINITY, Real::max);
    top + Real::ln(z.iter().map(|z| Real::exp(z - top)).sum::<f64>())
}

pub(super) fn square(x: f64) -> f64 {
    x * x
}

/// Replaces the lower half of A by L with A = L Lᵀ; A must be positive definite.
fn factor(a: &mut [f64], n: usize) {
    for j in 0..n {
        for i in j..n {
            let dot: f64 = (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum();
            let rest = a[i * n + j] - dot;
            a[i * n + j] = if i == j { rest.sqrt() } else { rest / a[j * n + j] };
        }
    }
}

/// b ← L⁻¹b.
pub(super) fn forward(l: &[f64], n: usize, b: &mut [f64]) {
    for i in 0..n {
        let dot: f64 = (0..i).map(|k| l[i * n + k] * b[k]).sum();
        b[i] = (b[i] - dot) / l[i * n + i];
    }
}

/// The Cholesky factor L of a positive definite matrix.
pub(super) fn cholesky(mut a: Vec<f64>, n: usize) -> Vec<f64> {
    factor(&mut a, n);
    a
}

/// b ← A⁻¹b, given L with A = L Lᵀ.
pub(super) fn solve(l: &[f64], n: usize, b: &mut [f64]) {
    forward(l, n, b);
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|k| l[k * n + i] * b[k]).sum();
        b[i] = (b[i] - dot) / l[i * n + i];
    }
}

impl Sample {
    /// The mean loss of a predictor that returns logits.
    pub(super) fn loss(&self, mut logits: impl FnMut(&[f64], &mut Vec<f64>)) -> f64 {
        let mut z = Vec::new();
        let losses = self.rows.iter().zip(&self.classes).map(|(x, y)| {
            logits(x, &mut z);
            log_sum(&z) - z[*y]
        });
        losses.sum::<f64>() / self.rows.len() as f64
    }

    /// The loss of the best coefficients, by Newton's method with the coefficients of the last class fixed at 0.
    pub(super) fn best(&self) -> f64 {
        let d = self.rows[0].len() + 1;
        let free = self.s - 1;
        let k = free * d;
        let mut w = vec![0.0; k];
        let score = |w: &[f64], x: &[f64], z: &mut Vec<f64>| {
            z.clear();
            z.extend(
                w.chunks_exact(d)
                    .map(|w| w[0] + w[1..].iter().zip(x).map(|(w, x)| w * x).sum::<f64>()),
            );
            z.push(0.0);
        };
        let mut before = f64::INFINITY;
        for _ in 0..60 {
            let (mut gradient, mut hessian, mut z) = (vec![0.0; k], vec![0.0; k * k], Vec::new());
            for (x, &y) in self.rows.iter().zip(&self.classes) {
                score(&w, x, &mut z);
                let lse = log_sum(&z);
                let phi = |i: usize| if i == 0 { 1.0 } else { x[i - 1] };
                for c in 0..free {
                    let q = Real::exp(z[c] - lse);
                    for i in 0..d {
                        gradient[c * d + i] += (q - f64::from(u8::from(c == y))) * phi(i);
                        for b in 0..=c {
                            let other = if b == c { 1.0 - q } else { -Real::exp(z[b] - lse) };
                            let own = q * other * phi(i);
                            for j in 0..d {
                                hessian[(c * d + i) * k + b * d + j] += own * phi(j);
                            }
                        }
                    }
                }
            }
            let scale = 1e-12 * (0..k).map(|i| hessian[i * k + i]).fold(0.0, Real::max);
            (0..k).for_each(|i| hessian[i * k + i] += scale);
            let l = cholesky(hessian, k);
            let mut step = gradient.clone();
            solve(&l, k, &mut step);
            let decrease: f64 = step.iter().zip(&gradient).map(|(a, b)| a * b).sum();
            let mut t = 1.0;
            let mut after;
            loop {
                let new: Vec<f64> = w.iter().zip(&step).map(|(w, s)| w - t * s).collect();
                after = self.loss(|x, z| score(&new, x, z));
                if after <= before || t < 1e-6 {
                    w = new;
                    break;
                }
                t *= 0.5;
            }
            let ends = decrease / (self.rows.len() as f64) < 1e-13;
            before = Real::min(before, after);
            if ends {
                break;
            }
        }
        before
    }

    /// Draws `rounds` rows and trains on them. Returns the excess loss over the best coefficients at each of the
    /// `marks`; `None` if the learner diverged.
    pub(super) fn run(
        &self,
        learner: &mut Learner,
        best: f64,
        marks: &[usize],
        seed: u64,
    ) -> Vec<Option<f64>> {
        let mut random = Sampler::new(seed);
        let mut found = Vec::new();
        let mut whole = true;
        for t in 1..=marks.last().copied().unwrap_or(0) {
            let i = random.below(self.rows.len());
            whole = whole && learner.step(&self.rows[i], self.classes[i]);
            if marks.contains(&t) {
                let loss = self.loss(|x, z| learner.logits(x, z));
                found.push((whole && loss.is_finite()).then_some(loss - best));
            }
        }
        found
    }

    /// Number of rows of each class, and their mean.
    pub(super) fn means(&self) -> (Vec<f64>, Vec<Vec<f64>>) {
        let mut counts = vec![0.0; self.s];
        let mut means = vec![vec![0.0; self.rows[0].len()]; self.s];
        for (x, &y) in self.rows.iter().zip(&self.classes) {
            counts[y] += 1.0;
            means[y].iter_mut().zip(x).for_each(|(m, x)| *m += x);
        }
        for (mean, count) in means.iter_mut().zip(&counts) {
            for m in mean {
                *m /= count;
            }
        }
        (counts, means)
    }

    /// The loss of linear discriminant analysis on the rows, which is the prediction of the model ζ alone.
    pub(super) fn plug_in(&self) -> f64 {
        let (n, d, s) = (self.rows.len() as f64, self.rows[0].len(), self.s);
        let (counts, means) = self.means();
        let mut covariance = vec![0.0; d * d];
        for (x, &y) in self.rows.iter().zip(&self.classes) {
            let r: Vec<f64> = x.iter().zip(&means[y]).map(|(x, m)| x - m).collect();
            for i in 0..d {
                for j in 0..d {
                    covariance[i * d + j] += r[i] * r[j] / n;
                }
            }
        }
        let l = cholesky(covariance, d);
        let weights: Vec<(f64, Vec<f64>)> = (0..s)
            .map(|c| {
                let mut w = means[c].clone();
                solve(&l, d, &mut w);
                let half: f64 = w.iter().zip(&means[c]).map(|(w, m)| 0.5 * w * m).sum();
                (Real::ln(counts[c] / n) - half, w)
            })
            .collect();
        self.loss(|x, z| {
            z.clear();
            z.extend(
                weights.iter().map(|(a, w)| a + w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>()),
            );
        })
    }
}

/// A random unit vector.
pub(super) fn direction(d: usize, random: &mut Sampler) -> Vec<f64> {
    let x: Vec<f64> = (0..d).map(|_| random.normal()).collect();
    let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    x.into_iter().map(|x| x / norm).collect()
}

/// Reflects x at the hyperplane orthogonal to a unit vector: this mixes all coordinates and preserves lengths.
pub(super) fn reflect(x: &mut [f64], axis: &[f64]) {
    let dot: f64 = x.iter().zip(axis).map(|(x, a)| x * a).sum();
    x.iter_mut().zip(axis).for_each(|(x, a)| *x -= 2.0 * dot * a);
}
