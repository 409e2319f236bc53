//! # Families with closed forms for both charts
//! Natural parameter β, mean θ, log-partition ψ with $\theta = \nabla\psi(\beta)$, and the variance $\psi''$, for each
//! coordinate:
//!
//! | family | θ | ψ | θ″ |
//! |---|---|---|---|
//! | bernoulli | 1/(1 + e^−β) | ln(1 + e^β) | θ(1 − θ) |
//! | poisson | e^β | e^β | θ |
//! | exponential | −1/β | −ln(−β) | θ² |
//!
//! For `discrete`, all coordinates together: θ = softmax β, ψ = ln Σ e^β. **Source** \[SC21, eq. (5), (15)\].

use crate::Real;

/// A family with closed forms for both charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chart {
    Discrete,
    Bernoulli,
    Poisson,
    Exponential,
}

impl Chart {
    pub(super) fn of(family: &str) -> Option<Self> {
        match family {
            "discrete" => Some(Self::Discrete),
            "bernoulli" => Some(Self::Bernoulli),
            "poisson" => Some(Self::Poisson),
            "exponential" => Some(Self::Exponential),
            _ => None,
        }
    }

    /// The natural parameter of a coefficient of 0. It is −1 if 0 is outside the domain.
    pub(super) fn origin(self) -> f64 {
        if self == Self::Exponential { -1.0 } else { 0.0 }
    }

    /// θ ← the means at β; returns ψ.
    pub(super) fn mean(self, beta: &[f64], theta: &mut Vec<f64>) -> f64 {
        theta.clear();
        if self == Self::Discrete {
            let top = beta.iter().copied().fold(f64::NEG_INFINITY, Real::max);
            theta.extend(beta.iter().map(|beta| Real::exp(beta - top)));
            let sum: f64 = theta.iter().sum();
            for theta in &mut *theta {
                *theta /= sum;
            }
            return top + Real::ln(sum);
        }
        let mut psi = 0.0;
        for &beta in beta {
            let (theta_j, psi_j) = match self {
                Self::Bernoulli => {
                    let e = Real::exp(-beta.abs());
                    let theta = if beta >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
                    (theta, Real::max(beta, 0.0) + Real::ln_1p(e))
                }
                Self::Exponential => (-1.0 / beta, -Real::ln(-beta)),
                Self::Poisson | Self::Discrete => (Real::exp(beta), Real::exp(beta)),
            };
            theta.push(theta_j);
            psi += psi_j;
        }
        psi
    }

    /// β for the θ of one coordinate; NaN outside the domain.
    pub(super) fn natural(self, theta: f64) -> f64 {
        match self {
            Self::Bernoulli => Real::ln(theta) - Real::ln_1p(-theta),
            Self::Exponential if theta > 0.0 => -1.0 / theta,
            Self::Exponential => f64::NAN,
            Self::Poisson | Self::Discrete => Real::ln(theta),
        }
    }

    /// g = ∇_θ log P for one coordinate.
    pub(super) fn g(self, t: f64, theta: f64) -> f64 {
        match self {
            Self::Discrete => t / theta,
            Self::Bernoulli => (t - theta) / (theta * (1.0 - theta)),
            Self::Poisson => t / theta - 1.0,
            Self::Exponential => (t - theta) / (theta * theta),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_the_slopes_of_the_log_partition() {
        for chart in [Chart::Discrete, Chart::Bernoulli, Chart::Poisson, Chart::Exponential] {
            let beta = [-0.3, -1.2, -2.0];
            let (mut theta, mut scratch) = (Vec::new(), Vec::new());
            chart.mean(&beta, &mut theta);
            for j in 0..3 {
                let (mut up, mut down) = (beta, beta);
                up[j] += 1e-5;
                down[j] -= 1e-5;
                let slope =
                    (chart.mean(&up, &mut scratch) - chart.mean(&down, &mut scratch)) / 2e-5;
                assert!((slope - theta[j]).abs() < 1e-8, "{chart:?}: {slope} {}", theta[j]);
                if chart != Chart::Discrete {
                    assert!((chart.natural(theta[j]) - beta[j]).abs() < 1e-12, "{chart:?}");
                }
            }
        }
        assert!(Chart::Poisson.natural(-1.0).is_nan());
    }
}
