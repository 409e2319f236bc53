//! # Minimising
//! L-BFGS \[NW06, alg. 7.5\] in the metric of a matrix near the second derivatives: with the exact one its
//! first step is Newton's.

use super::cholesky::Cholesky;
use super::design::dot;
use super::objective::Objective;

/// Pairs of differences that are remembered.
const MEMORY: usize = 20;

/// A matrix near the second derivatives, to be solved with.
#[derive(Debug)]
pub(super) enum Metric {
    /// One matrix per score.
    Full(Vec<Cholesky>),
    Diagonal(Vec<f64>),
}

impl Metric {
    fn is_diagonal(&self) -> bool {
        matches!(self, Self::Diagonal(_))
    }

    fn solve(&self, x: &mut [f64]) {
        match self {
            Self::Full(factors) => {
                let width = x.len() / factors.len().max(1);
                for (factor, x) in factors.iter().zip(x.chunks_exact_mut(width.max(1))) {
                    factor.solve(x);
                }
            }
            Self::Diagonal(diagonal) => {
                x.iter_mut().zip(diagonal).for_each(|(x, d)| *x /= d.max(f64::MIN_POSITIVE));
            }
        }
    }
}

/// How a search ended.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ended {
    /// How often all rows were gone through.
    pub(super) passes: u64,
    pub(super) converged: bool,
}

/// When a search ends: where a further step would gain less than this part of what is lost, or less than this
/// much, or when all rows were gone through this often.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    pub(super) part: f64,
    pub(super) gain: f64,
    pub(super) passes: u64,
}

/// Moves `theta` towards the minimum. Second derivatives are computed anew at the point reached after as many
/// passes as that costs, then after twice as many, and so on.
pub(super) fn minimise(
    objective: &Objective<'_>,
    lambda: f64,
    mut metric: Metric,
    limit: Limit,
    theta: &mut Vec<f64>,
) -> Ended {
    let mut gradient = vec![0.0; theta.len()];
    let mut next = gradient.clone();
    let mut value = objective.evaluate(theta, lambda, &mut gradient);
    let mut ended = Ended { passes: 1, converged: false };
    let mut pairs: Vec<(Vec<f64>, Vec<f64>, f64)> = Vec::new();
    // A row's part of a matrix is d²/2 products, of a score and its gradient 2d.
    let mut renewal = (objective.design.width() as u64 / 4).max(8);
    while ended.passes <= limit.passes && value.is_finite() {
        if ended.passes > renewal {
            metric = objective.metric(metric.is_diagonal(), theta, lambda);
            pairs.clear();
            renewal = 2 * ended.passes;
        }
        let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut alphas = Vec::with_capacity(pairs.len());
        for (s, y, rho) in pairs.iter().rev() {
            let alpha = rho * dot(s, &direction);
            direction.iter_mut().zip(y).for_each(|(d, y)| *d -= alpha * y);
            alphas.push(alpha);
        }
        metric.solve(&mut direction);
        for ((s, y, rho), alpha) in pairs.iter().zip(alphas.into_iter().rev()) {
            let beta = rho * dot(y, &direction);
            direction.iter_mut().zip(s).for_each(|(d, s)| *d += (alpha - beta) * s);
        }
        // The gain of the step, to second order, is half of this.
        let descent = -dot(&gradient, &direction);
        if descent.is_nan() || descent <= (limit.part * value).max(limit.gain) {
            ended.converged = true;
            break;
        }
        let rounding = 1e-14 * value.abs();
        let (mut step, mut found) = (1.0, None);
        for _ in 0..30 {
            let tried: Vec<f64> = theta.iter().zip(&direction).map(|(t, d)| t + step * d).collect();
            let there = objective.evaluate(&tried, lambda, &mut next);
            ended.passes += 1;
            if there <= value - 1e-4 * step * descent + rounding {
                found = Some((tried, there));
                break;
            }
            step *= 0.5;
        }
        let Some((tried, there)) = found else {
            if pairs.is_empty() {
                break;
            }
            pairs.clear();
            continue;
        };
        let s: Vec<f64> = tried.iter().zip(theta.iter()).map(|(a, b)| a - b).collect();
        let y: Vec<f64> = next.iter().zip(&gradient).map(|(a, b)| a - b).collect();
        let curvature = dot(&s, &y);
        if curvature > 1e-12 * (dot(&y, &y) * dot(&s, &s)).sqrt() {
            if pairs.len() == MEMORY {
                pairs.remove(0);
            }
            pairs.push((s, y, curvature.recip()));
        }
        // A step that changes nothing any more is the last one.
        let stuck = (value - there).abs() <= rounding && descent <= 1e3 * rounding;
        (*theta, value) = (tried, there);
        std::mem::swap(&mut gradient, &mut next);
        if stuck {
            ended.converged = true;
            break;
        }
    }
    ended
}
