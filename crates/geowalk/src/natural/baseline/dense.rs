//! # Dense steps
//! The dense solve of CSNGD, natural gradient in the metric of the parameters, and mirror descent. The joint Fisher
//! metric has the coordinates α (one fewer than classes) and β. With the moments $\theta_c$ and $C_c$ of T in class c:
//! $$G = \mathrm{Cov}\bigl([y=i],\,[y=c]\,T\bigr): \quad p_i\delta_{ij} - p_ip_j, \quad
//!   p_i\theta_i\delta_{ic} - p_ip_c\theta_c, \quad
//!   p_c(C_c + \theta_c\theta_c^\top)\delta_{cd} - p_cp_d\,\theta_c\theta_d^\top .$$
//! **Source** \[SC21, eq. (4), (8), (9), (14)\].

use super::Baseline;
use crate::error::{Allowed, DomainError};
use crate::natural::Moved;
use crate::natural::baseline::chart::Chart;
use crate::natural::family::Family;
use crate::natural::matrix;
use crate::natural::statistic::Statistic;
use crate::{Real, walk};

/// Maximum number of parameters of a dense solve.
const LARGEST: usize = 1024;

impl Baseline {
    fn prior(&self, out: &mut Vec<f64>) {
        let a = self.family.pseudo(self.settings.a);
        let all = self.total + a * self.n.len() as f64;
        out.clear();
        out.extend(self.n.iter().map(|n| (n + a) / all));
    }

    /// Makes the step. Refuses it if it is not finite or too long.
    fn apply(&mut self, deltas: &[f64], classes: usize, size: usize) -> Result<(), DomainError> {
        let length = deltas.iter().fold(0.0, |most: f64, delta| Real::max(most, delta.abs()));
        if length.is_nan() || length > walk::LARGEST {
            return Err(DomainError::Overflow { length, limit: walk::LARGEST });
        }
        for c in 0..classes {
            self.shift(c, deltas[c]);
            for j in 0..size {
                self.beta.add(j, c, deltas[classes + c * size + j]);
            }
        }
        Ok(())
    }

    /// η −= γ G_ζ⁻¹∇ℓ, with G as a matrix.
    pub(super) fn csngd(&mut self, t: &Statistic, moved: &mut Moved) -> Result<(), DomainError> {
        let (s, size) = (self.n.len(), self.family.size());
        let k = s - 1 + s * size;
        if k > LARGEST {
            let what = "the number of parameters (of a dense solve; natural needs none)";
            let allowed = Allowed::Closed(0.0, LARGEST as f64);
            return Err(DomainError::Scalar { what, value: k as f64, allowed });
        }
        let (mut p, mut dense) = (Vec::new(), Vec::new());
        self.prior(&mut p);
        t.spread(size, &mut dense);
        let (mut dots, mut excess) = (vec![0.0; s], vec![0.0; s]);
        self.family.score(t, &mut dots, &mut excess);
        (moved.rate, moved.capped) = self.cap.limit(&self.v, &p, &excess, moved.rate, 1.0);
        let (mut metric, mut gradient) = (vec![0.0; k * k], vec![0.0; k]);
        let (mut means, mut covariance) = (vec![Vec::new(); s], Vec::new());
        for (c, mean) in means.iter_mut().enumerate() {
            self.family.mean(c, mean);
        }
        let place = |c: usize, j: usize| s - 1 + c * size + j;
        for i in 0..s - 1 {
            gradient[i] = self.v[i];
            for j in 0..s - 1 {
                metric[i * k + j] = -p[i] * p[j] + if i == j { p[i] } else { 0.0 };
            }
            for c in 0..s {
                for j in 0..size {
                    let own = if i == c { p[i] * means[c][j] } else { 0.0 };
                    let value = own - p[i] * p[c] * means[c][j];
                    metric[i * k + place(c, j)] = value;
                    metric[place(c, j) * k + i] = value;
                }
            }
        }
        for c in 0..s {
            self.family.covariance(c, &mut covariance);
            for i in 0..size {
                gradient[place(c, i)] = self.v[c] * dense[i];
                for d in 0..s {
                    for j in 0..size {
                        let both = means[c][i] * means[d][j];
                        let own =
                            if c == d { p[c] * (covariance[i * size + j] + both) } else { 0.0 };
                        metric[place(c, i) * k + place(d, j)] = own - p[c] * p[d] * both;
                    }
                }
            }
        }
        if !matrix::solve(&mut metric, k, &mut gradient) {
            // ζ does not cover all features yet, so no step is made.
            moved.rate = 0.0;
            return Ok(());
        }
        let mut deltas = vec![0.0; s + s * size];
        for (i, g) in gradient.iter().enumerate() {
            deltas[if i < s - 1 { i } else { i + 1 }] = -moved.rate * g;
        }
        self.apply(&deltas, s, size)
    }

    /// p ← P(class), means ← θ of every class, at the present parameters.
    fn joint(&self, chart: Chart, p: &mut Vec<f64>, means: &mut Vec<Vec<f64>>) {
        let (s, size) = (self.n.len(), self.family.size());
        let mut beta = Vec::new();
        means.resize(s, Vec::new());
        p.clear();
        for (c, mean) in means.iter_mut().enumerate() {
            beta.clear();
            beta.extend((0..size).map(|j| self.beta.at(j, c) + chart.origin()));
            p.push(self.alpha[c] + chart.mean(&beta, mean));
        }
        let top = p.iter().copied().fold(f64::NEG_INFINITY, Real::max);
        for p in &mut *p {
            *p = Real::exp(*p - top);
        }
        let sum: f64 = p.iter().sum();
        for p in &mut *p {
            *p /= sum;
        }
    }

    /// η −= γ G_η⁻¹∇ℓ.
    pub(super) fn sngd(&mut self, t: &Statistic, rate: f64) -> Result<(), DomainError> {
        let Some(chart) = self.chart else { return Ok(()) };
        let (s, size) = (self.n.len(), self.family.size());
        let (mut p, mut means, mut dense) = (Vec::new(), Vec::new(), Vec::new());
        self.joint(chart, &mut p, &mut means);
        t.spread(size, &mut dense);
        let mut deltas = vec![0.0; s + s * size];
        for c in 0..s {
            let w = self.v[c] / p[c];
            let mut dot = 0.0;
            for (j, (&t, &theta)) in dense.iter().zip(&means[c]).enumerate() {
                let g = chart.g(t, theta);
                dot += theta * g;
                deltas[s + c * size + j] = -rate * w * g;
            }
            deltas[c] = -rate * w * (1.0 - dot);
        }
        self.apply(&deltas, s, size)
    }

    /// η\* −= γ∇ℓ, then η from η\*.
    pub(super) fn mirror(&mut self, t: &Statistic, rate: f64) -> Result<(), DomainError> {
        let Some(chart) = self.chart else { return Ok(()) };
        let (s, size) = (self.n.len(), self.family.size());
        let (mut p, mut means, mut dense) = (Vec::new(), Vec::new(), Vec::new());
        self.joint(chart, &mut p, &mut means);
        t.spread(size, &mut dense);
        let mut deltas = vec![0.0; s + s * size];
        let (mut beta, mut scratch) = (Vec::new(), Vec::new());
        for c in 0..s {
            let mass = p[c] - rate * self.v[c];
            let what = "a probability in the dual coordinates";
            let allowed = Allowed::Open(0.0, 1.0);
            if s > 1 && !allowed.contains(mass) {
                return Err(DomainError::Scalar { what, value: mass, allowed });
            }
            beta.clear();
            for (&t, &theta) in dense.iter().zip(&means[c]) {
                let new = (p[c] * theta - rate * self.v[c] * t) / mass;
                let natural = chart.natural(new);
                if !natural.is_finite() {
                    let (what, allowed) = ("a mean in the dual coordinates", Allowed::Positive);
                    return Err(DomainError::Scalar { what, value: new, allowed });
                }
                beta.push(natural);
            }
            let psi = chart.mean(&beta, &mut scratch);
            deltas[c] = Real::ln(mass) - psi - self.alpha[c];
            for (j, &beta) in beta.iter().enumerate() {
                deltas[s + c * size + j] = beta - chart.origin() - self.beta.at(j, c);
            }
        }
        self.apply(&deltas, s, size)
    }
}
