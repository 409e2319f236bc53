//! # Weights of experts, in logarithms
//! $$w_i \propto e^{\lambda_i}, \qquad \lambda_i \leftarrow \lambda_i + \ln f_i, \qquad w \leftarrow (1 - \alpha)\,w + \alpha/n$$
//! A weight of 1e-900 is alive and comes back when its time comes; plain products stick at 0 or at the smallest number there is.
//! **Cost** O(n), one exponential per expert. **Source** \[AW20, sec. 4\]; fixed share \[HW98\].

use crate::Real;

/// Log-domain weights that sum to 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Weights {
    /// ln w, up to what the last normalisation left: the largest is near 0.
    lambda: Vec<f64>,
    w: Vec<f64>,
}

impl Weights {
    /// Equal weights.
    pub(crate) fn new(n: usize) -> Self {
        let w = 1.0 / n as f64;
        Self { lambda: vec![Real::ln(w); n], w: vec![w; n] }
    }

    /// w.
    pub(crate) fn read(&self) -> &[f64] {
        &self.w
    }

    /// ln w.
    pub(crate) fn logarithms(&self) -> &[f64] {
        &self.lambda
    }

    /// Goes on with these weights and their logarithms, one for each expert.
    pub(crate) fn restore(&mut self, w: Vec<f64>, lambda: Vec<f64>) {
        (self.w, self.lambda) = (w, lambda);
    }

    /// Multiplies w_i by e^{logs_i}, spreads the part `share` evenly, and divides by the sum.
    pub(crate) fn multiply(&mut self, logs: impl Iterator<Item = f64>, share: f64) {
        for (lambda, log) in self.lambda.iter_mut().zip(logs) {
            *lambda += log;
        }
        let top = self.lambda.iter().copied().fold(f64::NEG_INFINITY, Real::max);
        let mut total = 0.0;
        for (lambda, w) in self.lambda.iter_mut().zip(&mut self.w) {
            *lambda -= top;
            *w = Real::exp(*lambda);
            total += *w;
        }
        let (log, n) = (Real::ln(total), self.w.len() as f64);
        for (lambda, w) in self.lambda.iter_mut().zip(&mut self.w) {
            *w /= total;
            *lambda -= log;
            if share > 0.0 {
                *w = (1.0 - share) * *w + share / n;
                *lambda = Real::ln(*w);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2000 rounds against the first expert, 1700 against the second, and so on: what plain products do not survive.
    fn drift(rounds: usize) {
        let mut weights = Weights::new(2);
        let rate = 1.0;
        let (mut first, mut second) = (0.0, 0.0);
        for t in 0..rounds {
            let losses = if t % 3700 < 2000 { [1.0, 0.0] } else { [0.0, 1.0] };
            first += losses[0];
            second += losses[1];
            weights.multiply(losses.iter().map(|loss| -rate * loss), 0.0);
        }
        let gap: f64 = rate * (second - first);
        let [one, two] = [weights.logarithms()[0], weights.logarithms()[1]];
        assert!(((one - two) - gap).abs() <= 1e-9 * gap.abs().max(1.0), "{one} {two} {gap}");
        assert!(one.is_finite() && two.is_finite());
    }

    #[test]
    fn no_weight_dies() {
        drift(3700);
        drift(100_000);
    }

    #[test]
    fn no_weight_dies_in_ten_million_rounds() {
        drift(10_000_000);
    }

    #[test]
    fn shares_keep_every_weight_above_their_part() {
        let mut weights = Weights::new(4);
        for _ in 0..1000 {
            weights.multiply([-5.0, 0.0, -1.0, -2.0].into_iter(), 0.01);
        }
        assert!(weights.read().iter().all(|&w| w >= 0.0025 - 1e-15));
        assert!((weights.read().iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
