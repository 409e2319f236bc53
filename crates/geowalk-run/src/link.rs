//! # From scores to probabilities
//! Converts a score to the probability of the positive class: the inverse link of a proper loss.

use geowalk::Real;
use geowalk::loss::AnyLoss;
use geowalk::loss::permissible::Permissible;

use crate::model::Settings;

/// P(y = +1) for the score `z`; `None` if the loss estimates no probabilities. All links are symmetric, so P(y = −1)
/// is the probability for −z. That is more precise than 1 − P(y = +1).
pub fn probability(loss: &AnyLoss, z: f64) -> Option<f64> {
    match loss {
        AnyLoss::Logistic(_) => Some(sigmoid(z)),
        AnyLoss::Balanced(balanced) => Some(balanced.phi().transfer(z)),
        AnyLoss::Exponential(_) => Some(sigmoid(2.0 * z)),
        AnyLoss::Squared(_) => Some(f64::midpoint(1.0, z).clamp(0.0, 1.0)),
        _ => None,
    }
}

/// The score from which the positive class is predicted: 0, except for Winnow, whose weights are positive.
pub fn threshold(loss: &AnyLoss) -> f64 {
    match loss {
        AnyLoss::WinnowHinge(loss) => loss.theta(),
        _ => 0.0,
    }
}

/// Mixes the probabilities of a model with the uniform distribution, because rows cannot prove that an event is
/// impossible.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor(f64);

impl Floor {
    /// A floor with this share of the uniform distribution.
    pub fn new(share: f64) -> Self {
        Self(share)
    }

    /// The share stored in a model; 0 if a walk trained it.
    pub fn of_model(settings: &Settings) -> Self {
        let share = settings.stream.fit.as_ref().and_then(|fit| fit["floor"].as_f64());
        Self(share.unwrap_or(0.0))
    }

    /// The mixed probability of one class.
    pub fn of(self, p: f64, classes: usize) -> f64 {
        if self.0 == 0.0 { p } else { (1.0 - self.0) * p + self.0 / classes as f64 }
    }
}

/// 1/(1 + e⁻ᶻ).
pub fn sigmoid(z: f64) -> f64 {
    let e = Real::exp(-z.abs());
    if z >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn winnow_alone_has_a_threshold() {
        let at = |spec| threshold(&AnyLoss::parse(spec).unwrap());
        assert_eq!((at("winnow-hinge(theta=0.25)"), at("logistic")), (0.25, 0.0));
    }

    #[test]
    fn proper_losses_give_probabilities() {
        for (spec, z, p) in [("logistic", 0.0, 0.5), ("gini", 1.0, 1.0), ("squared", -1.0, 0.0)] {
            assert_eq!(probability(&AnyLoss::parse(spec).unwrap(), z), Some(p), "{spec}");
        }
        let (entropy, logistic) =
            (AnyLoss::parse("entropy").unwrap(), AnyLoss::parse("logistic").unwrap());
        let (a, b) = (probability(&entropy, 1.3).unwrap(), probability(&logistic, 1.3).unwrap());
        assert!((a - b).abs() < 1e-15);
        assert_eq!(probability(&AnyLoss::parse("hinge").unwrap(), 1.0), None);
        for spec in ["logistic", "exponential", "squared", "gini", "matsushita", "entropy"] {
            let loss = AnyLoss::parse(spec).unwrap();
            for z in [0.1, 0.7, 3.0] {
                let sum = probability(&loss, z).unwrap() + probability(&loss, -z).unwrap();
                assert!((sum - 1.0).abs() < 1e-15, "{spec} {z}");
            }
        }
    }
}
