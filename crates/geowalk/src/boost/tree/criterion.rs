//! # What a leaf costs
//! With k of n examples positive, and any permissible φ,
//! $$\operatorname{cost} = n\,\frac{-\varphi(k/n) - a}{b}, \qquad A_\varphi = \sum_{\text{children}}\operatorname{cost} - \operatorname{cost}(\text{parent}) \le 0,$$
//! with equality exactly if the children have equal proportions. It is the least that a constant score can reach of the balanced convex loss on the leaf, and
//! the cost of a tree is the sum over its leaves. A leaf of n examples, half of them positive, costs n.
//!
//! | φ | criterion | also the least of |
//! |---|---|---|
//! | `gini` | CART | the squared loss |
//! | `entropy` | information gain, in bits | the logistic loss |
//! | `matsushita`, `mu` (the same trees) | Kearns and Mansour | the exponential loss |
//!
//! **More classes** With proportions $p_c$: `entropy` is Shannon's, $-\sum p_c\ln p_c/\ln 2$; every other φ is summed over one class against the rest,
//! $\tfrac12\sum_c(-\varphi(p_c) - a)/b$, which for `gini` is the usual one. Both agree with the above for two classes.
//! **Care** C4.5's *gain ratio* is not of this kind. $(n, k) \mapsto \operatorname{cost}$ is concave and homogeneous; the search for thresholds uses it.
//! **Source** \[NN09, eq. (31), (104)–(106)\].

use crate::Real;
use crate::error::ConfigError;
use crate::loss::permissible::{self, AnyPermissible, Permissible};
use crate::spec::{self, Spec};

/// Losses of which a permissible function is the least, and which.
const LOSSES: [(&str, &str); 3] =
    [("exponential", "matsushita"), ("squared", "gini"), ("logistic", "entropy")];

/// The criterion of a tree: a permissible function, for any number of classes.
///
/// ```
/// use geowalk::boost::tree::Criterion;
/// let gini = Criterion::parse("gini")?;
/// assert!((gini.cost(&[8.0, 2.0]) - 6.4).abs() < 1e-14); // 10 · 4 · 0.8 · 0.2
/// assert_eq!(gini.cost(&[5.0, 5.0, 0.0]), 10.0);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Criterion {
    phi: AnyPermissible,
}

impl Default for Criterion {
    /// Matsushita's error.
    fn default() -> Self {
        Self { phi: AnyPermissible::Matsushita(crate::loss::permissible::Matsushita) }
    }
}

impl Criterion {
    /// The criterion of a permissible function.
    pub fn new(phi: AnyPermissible) -> Self {
        Self { phi }
    }

    /// Reads the name of a permissible function, or of a loss of which one is the least: `exponential`, `squared`, `logistic`.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let name = LOSSES.iter().find(|(loss, _)| *loss == text).map_or(text, |(_, phi)| *phi);
        let spec = Spec::parse(name)?;
        if permissible::entries().all(|entry| entry.name != spec.name()) {
            let functions = permissible::entries().map(|entry| entry.name);
            let known = functions.chain(LOSSES.iter().map(|(loss, _)| *loss));
            return Err(spec::unknown("criterion", spec.name(), known));
        }
        AnyPermissible::parse(name).map(Self::new)
    }

    /// The permissible function.
    pub fn phi(&self) -> &AnyPermissible {
        &self.phi
    }

    /// The cost of a leaf with these weights of the classes; 0 if it is empty.
    pub fn cost(&self, masses: &[f64]) -> f64 {
        if let [negative, positive] = masses {
            return self.two(*negative, *positive);
        }
        let n: f64 = masses.iter().sum();
        if n == 0.0 {
            return 0.0;
        }
        // A share near 1 says little of the rest; at most one class has more than half, and its rest is summed.
        let rest = |own: usize| -> f64 {
            let others = masses.iter().enumerate().filter(|(class, _)| *class != own);
            (others.map(|(_, mass)| mass).sum::<f64>() / n).clamp(0.0, 0.5)
        };
        // Sums of weights that were subtracted from each other may be off by their rounding.
        let shares = masses.iter().map(|mass| (mass / n).clamp(0.0, 1.0)).enumerate();
        let sum: f64 = match &self.phi {
            AnyPermissible::Entropy(_) => shares
                .map(|(class, p)| {
                    if p > 0.5 {
                        -p * Real::ln_1p(-rest(class))
                    } else if p > 0.0 {
                        -p * Real::ln(p)
                    } else {
                        0.0
                    }
                })
                .sum(),
            phi => {
                let lighter = shares.map(|(class, p)| if p > 0.5 { rest(class) } else { p });
                0.5 * lighter.map(|p| phi.impurity(p)).sum::<f64>()
            }
        };
        n * (sum / self.phi.b())
    }

    /// The cost of a leaf with these weights of two classes. The share is that of the lighter one: the other is near 1 where costs are small, and has lost its digits.
    #[inline]
    pub(super) fn two(&self, negative: f64, positive: f64) -> f64 {
        two(&self.phi, negative, positive)
    }
}

/// [`Criterion::two`] of a permissible function.
#[inline(always)]
pub(super) fn two<P: Permissible>(phi: &P, negative: f64, positive: f64) -> f64 {
    let n = negative + positive;
    let lighter = if negative < positive { negative } else { positive };
    if n > 0.0 { n * (phi.impurity((lighter / n).clamp(0.0, 0.5)) / phi.b()) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_classes_are_a_case_of_many() {
        for name in ["gini", "matsushita", "entropy", "mu(mu=0.3)", "nu(nu=0.4)", "zeta(zeta=-3)"] {
            let criterion = Criterion::parse(name).unwrap();
            for (negative, positive) in [(3.0, 5.0), (0.0, 4.0), (1e-9, 7.0), (0.0, 0.0)] {
                let two = criterion.cost(&[negative, positive]);
                let three = criterion.cost(&[negative, positive, 0.0]);
                assert!((two - three).abs() <= 1e-12 * two, "{name}: {two} {three}");
                assert_eq!(two, criterion.phi().cost(negative, negative + positive), "{name}");
                assert_eq!(two, criterion.cost(&[positive, negative]), "{name}");
            }
            assert_eq!(criterion.cost(&[6.0, 6.0]), 12.0, "{name}");
            assert_eq!(criterion.cost(&[0.0, 6.0, 0.0]), 0.0, "{name}");
            // One class against many crumbs: the sum of its rest, not what a share near 1 leaves.
            let crumbs = criterion.cost(&[1e-9, 7.0, 2e-9]);
            let wide = criterion.cost(&[1e-9, 0.0, 2e-9, 7.0]);
            assert!((crumbs - wide).abs() <= 1e-12 * wide && wide > 0.0, "{name}: {crumbs} {wide}");
        }
    }

    #[test]
    fn losses_name_the_criterion_they_lead_to() {
        // Σ over a leaf of the loss at its best constant score, by golden sections.
        let least = |loss: &dyn Fn(f64) -> f64| {
            (0..40_000).map(|k| loss(f64::from(k - 20_000) * 2e-4)).fold(f64::INFINITY, f64::min)
        };
        let (k, n) = (3.0, 10.0);
        for (name, loss) in [
            ("exponential", (|z| Real::exp(-z)) as fn(f64) -> f64),
            ("squared", |z| (1.0 - z) * (1.0 - z)),
            ("logistic", |z| Real::ln_1p(Real::exp(-z)) / std::f64::consts::LN_2),
        ] {
            let best = least(&|h| k * loss(h) + (n - k) * loss(-h));
            let cost = Criterion::parse(name).unwrap().cost(&[n - k, k]);
            assert!((best - cost).abs() < 1e-6, "{name}: {best} {cost}");
        }
        let error = Criterion::parse("gain-ratio").unwrap_err().to_string();
        assert!(error.contains("zeta, exponential, squared, logistic"), "{error}");
    }
}
