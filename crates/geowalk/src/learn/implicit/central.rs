//! # Distributions on the simplex after a short step, from moments
//! With $\delta_i = D_i - \mathrm{E}_p D$ and $\mu_k = \mathrm{E}_p \delta^k$, a step on the simplex in the Fisher
//! metric gives $p_i' \propto p_i f_i^2$,
//! $f_i = 1/(1 + r\delta_i)$. The geometric series gives, without cancellation,
//! $$\mathrm{E}_p f = 1 + \sum_{k \ge 2} (-r)^k \mu_k, \quad
//!   \mathrm{E}_p f^2 = 1 + \sum_{k \ge 2} (k+1) (-r)^k \mu_k, \quad
//!   \mathrm{Var}_p f = \sum_{k \ge 2} (k-1)(-r)^k \mu_k - \Bigl(\sum_{k \ge 2} (-r)^k \mu_k\Bigr)^2$$
//! The moments of δ under p' follow from the moments of one and two orders higher.
//! **Care** |δ| ≤ 1, so the omitted terms are below $k\,r^{k-2}$ of the first: 16·0.08¹⁶ and 32·0.26³², both below
//! 1e-15.
//! **Source** \[KMWW07, ex. 3\]; the rest is the geometric series.

use super::series;
use crate::row::Row;

/// Number of moments of a short series, and of a long one.
const SHORT: usize = 18;
const LONG: usize = 34;

/// The largest r for each series.
const RADII: [f64; 2] = [0.08, 0.26];

/// The moments μ_k.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Central {
    moments: [f64; LONG],
    length: usize,
}

/// Statistics of a step, computed from the moments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    /// E_p f.
    pub(crate) mean_f: f64,
    /// E_p f².
    pub(crate) mean_ff: f64,
    /// √Var_p f.
    pub(crate) deviation_f: f64,
    /// E_{p'} δ.
    pub(crate) shift: f64,
    /// √Var_{p'} δ.
    pub(crate) deviation: f64,
}

impl Central {
    /// Number of moments needed for this r; `None` if the long series is too short.
    pub(crate) fn length(r: f64) -> Option<usize> {
        match r {
            r if r <= RADII[0] => Some(SHORT),
            r if r <= RADII[1] => Some(LONG),
            _ => None,
        }
    }

    /// The first `length` moments of one weight at δ.
    pub(crate) fn new(length: usize, weight: f64, delta: f64) -> Self {
        let mut moments = [0.0; LONG];
        let mut term = weight;
        for moment in &mut moments {
            *moment = term;
            term *= delta;
        }
        Self { moments, length }
    }

    /// Adds the moments of the coordinates of a row; `term` gives weight and δ of a coordinate.
    pub(crate) fn with<X: Row<f64>>(
        mut self,
        x: X,
        term: impl Fn(usize, f64) -> (f64, f64),
    ) -> Self {
        let mut add = |moments: &[f64]| {
            self.moments.iter_mut().zip(moments).for_each(|(sum, moment)| *sum += moment);
        };
        if self.length == SHORT {
            add(&series::moments::<SHORT, X>(x, term));
        } else {
            add(&series::moments::<LONG, X>(x, term));
        }
        self
    }

    /// The step with this r; `None` if r is too large for the series.
    pub(crate) fn at(&self, r: f64) -> Option<Spread> {
        let radius = if self.length == SHORT { RADII[0] } else { RADII[1] };
        if r > radius {
            return None;
        }
        let moments = self.moments.get(..self.length)?;
        // Σ (−r)^{k−2} a_k μ_k for k ≥ 2 with a = 1, k + 1, k − 1, and the sums for the orders one and two higher.
        let [mut one, mut two, mut var, mut up, mut up2] = [0.0; 5];
        let top = moments.len() - 3;
        for k in (2..=top).rev() {
            let order = k as f64;
            let mu = moments[k];
            one = mu - r * one;
            two = (order + 1.0) * mu - r * two;
            var = (order - 1.0) * mu - r * var;
            up = (order + 1.0) * moments[k + 1] - r * up;
            up2 = (order + 1.0) * moments[k + 2] - r * up2;
        }
        let square = r * r;
        let (mean_f, mean_ff) = (1.0 + square * one, 1.0 + square * two);
        // The terms of order 0 and 1.
        let shift = (moments[1] - 2.0 * r * moments[2] + square * up) / mean_ff;
        let second = (moments[2] - 2.0 * r * moments[3] + square * up2) / mean_ff;
        Some(Spread {
            mean_f,
            mean_ff,
            deviation_f: r * (var - square * one * one).max(0.0).sqrt(),
            shift,
            deviation: (second - shift * shift).max(0.0).sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Dense;

    #[test]
    fn as_the_sums_themselves() {
        let (p, d) = ([0.1, 0.25, 0.05, 0.4], [0.0, 1.0, 0.3, 0.65]);
        let off = (0.2, 0.45);
        let mean: f64 = p.iter().zip(d).map(|(p, d)| p * d).sum::<f64>() + off.0 * off.1;
        for r in [0.0, 1e-9, 0.03, 0.08, 0.17, 0.26] {
            let length = Central::length(r).unwrap();
            let central = Central::new(length, off.0, off.1 - mean);
            let found = central.with(Dense(&d), |i, d| (p[i], d - mean)).at(r).unwrap();
            let all = p.into_iter().zip(d).chain([off]);
            let average = |g: &dyn Fn(f64, f64) -> f64| -> f64 {
                all.clone().map(|(p, d)| p * g(1.0 / (1.0 + r * (d - mean)), d - mean)).sum()
            };
            let mean_f = average(&|f, _| f);
            let mean_ff = average(&|f, _| f * f);
            let shift = average(&|f, delta| f * f * delta) / mean_ff;
            // f − E f = r·(fδ's mean − fδ), which does not cancel.
            let slope = average(&|f, delta| f * delta);
            let square = |a: f64| a * a;
            let variance_f = average(&|f, delta| square(r * (f * delta - slope)));
            let variance = average(&|f, delta| square(f * (delta - shift))) / mean_ff;
            for (name, found, exact) in [
                ("mean", found.mean_f, mean_f),
                ("mean of squares", found.mean_ff, mean_ff),
                ("deviation of f", found.deviation_f, variance_f.sqrt()),
                ("deviation", found.deviation, variance.sqrt()),
            ] {
                assert!((found - exact).abs() <= 4e-15 * exact, "{name} at {r}: {found} {exact}");
            }
            assert!((found.shift - shift).abs() < 4e-16, "{} {shift}", found.shift);
        }
        assert_eq!(Central::length(0.3), None);
        assert_eq!(Central::new(SHORT, 1.0, 0.5).at(0.1), None);
    }
}
