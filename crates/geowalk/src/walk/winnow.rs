//! # Constants of Winnow
//! Winnow is [`Entropy`](super::Entropy) and its twin is [`ReparamEntropy`](super::ReparamEntropy), both with the loss
//! $\max(0, -y(z - \theta))$, whose slope is −y on a mistake and 0 otherwise. If some r ≥ 0 has
//! $\langle r, x\rangle \ge \mu$ on positive examples and 0 on negative ones, both make at most $c\,D(r \Vert w_1)$
//! mistakes. For a disjunction of k of n literals, starting from $w_1 = k/n$, that is $c\,k \ln(n/k)$:
//!
//! | | step on a mistake | η | θ | c |
//! |---|---|---|---|---|
//! | Winnow | $w_i e^{\eta y x_i}$ | 1.2784645428 | $\mu\eta/(e^\eta - e^{-\eta})$ | $(e^\eta + 1)/(\mu\eta)$ |
//! | twin | $u_i (1 + \eta y x_i)$ | 0.8545507191 | $\mu\ln(1+\eta)/(2\eta)$ | $2/(\mu(2-\eta)\ln(1+\eta))$ |
//!
//! For μ = ½: θ = 0.1929666380, c = 7.1823, and θ = 0.1806921617, c = 5.6539.
//! **Care** In this library's scale, $u_i(1 - \tfrac{\eta}{2} g x_i)$, the rate of the twin is twice the η of the
//! table. **Source** \[AW20, thm. 2 and 3\], with the exact constants and initial weight k/n.

use crate::Real;
use crate::error::{self, Allowed, ConfigError};

/// The parameters of a Winnow algorithm, and its mistake bound.
///
/// ```
/// use geowalk::walk::winnow;
/// let constants = winnow::twin(0.5)?;
/// assert!((constants.rate - 2.0 * 0.8545507191).abs() < 1e-9);
/// assert!((constants.threshold - 0.1806921617).abs() < 1e-9);
/// // 3 literals of 256:
/// let mistakes = constants.mistakes * 3.0 * (256.0_f64 / 3.0).ln();
/// assert!((mistakes - 75.4).abs() < 0.1, "{mistakes}");
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants {
    /// The rate, on the scale of the walk.
    pub rate: f64,
    /// θ, the threshold of the prediction.
    pub threshold: f64,
    /// c: there are at most c·D(r‖w₁) mistakes.
    pub mistakes: f64,
}

/// Minimises (e^η + 1)/η.
const RATE: f64 = 1.278_464_542_761_074;
/// Minimises 1/((2 − η) ln(1 + η)).
const TWIN_RATE: f64 = 0.854_550_719_096_126_2;

/// The constants of Winnow for the margin μ; ½ is usual.
pub fn winnow(margin: f64) -> Result<Constants, ConfigError> {
    let mu = error::parameter("margin", margin, Allowed::Positive)?;
    let e = Real::exp(RATE);
    Ok(Constants {
        rate: RATE,
        threshold: mu * RATE / (e - 1.0 / e),
        mistakes: (e + 1.0) / (mu * RATE),
    })
}

/// The constants of the twin of Winnow for the margin μ; ½ is usual.
pub fn twin(margin: f64) -> Result<Constants, ConfigError> {
    let mu = error::parameter("margin", margin, Allowed::Positive)?;
    let log = Real::ln_1p(TWIN_RATE);
    Ok(Constants {
        rate: 2.0 * TWIN_RATE,
        threshold: mu * log / (2.0 * TWIN_RATE),
        mistakes: 2.0 / (mu * (2.0 - TWIN_RATE) * log),
    })
}

/// The initial weight k/n of each of n features, if k of them are expected to matter.
pub fn start(n: usize, k: usize) -> Result<f64, ConfigError> {
    error::parameter("n", n as f64, Allowed::Whole(1))?;
    error::parameter("k", k as f64, Allowed::Closed(1.0, n as f64))?;
    Ok(k as f64 / n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constants_are_those_of_the_theorems() {
        let winnow = winnow(0.5).unwrap();
        assert!((winnow.rate - 1.278_464_542_8).abs() < 1e-9);
        assert!((winnow.threshold - 0.192_966_638_0).abs() < 1e-9);
        assert!((winnow.mistakes - 7.182_242_953_3).abs() < 1e-9);
        let twin = twin(0.5).unwrap();
        assert!((twin.rate / 2.0 - 0.854_550_719_1).abs() < 1e-9);
        assert!((twin.threshold - 0.180_692_161_7).abs() < 1e-9);
        assert!((twin.mistakes - 5.653_885_102_8).abs() < 1e-9);
        assert_eq!(start(100, 3).unwrap(), 0.03);
        assert!(start(3, 4).is_err());
    }
}
