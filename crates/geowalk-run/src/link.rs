//! # From scores to probabilities
//! The probability of the positive class that a loss gives to a score: the inverse of its link where the loss is proper.

use geowalk::Real;
use geowalk::loss::AnyLoss;
use geowalk::loss::permissible::Permissible;

use crate::model::Settings;

/// P(y = +1) for the score `z`; `None` if the loss estimates no probabilities. All are symmetric, P(y = −1) is that of −z, which has more digits than
/// 1 − P(y = +1).
pub fn probability(loss: &AnyLoss, z: f64) -> Option<f64> {
    match loss {
        AnyLoss::Logistic(_) => Some(sigmoid(z)),
        AnyLoss::Balanced(balanced) => Some(balanced.phi().transfer(z)),
        AnyLoss::Exponential(_) => Some(sigmoid(2.0 * z)),
        AnyLoss::Squared(_) => Some(f64::midpoint(1.0, z).clamp(0.0, 1.0)),
        _ => None,
    }
}

/// The score from which on the positive class is predicted: 0, but for Winnow, whose weights are positive.
pub fn threshold(loss: &AnyLoss) -> f64 {
    match loss {
        AnyLoss::WinnowHinge(loss) => loss.theta(),
        _ => 0.0,
    }
}

/// The share of equal probabilities in those of a model: rows cannot show that something never happens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor(f64);

impl Floor {
    /// This share.
    pub fn new(share: f64) -> Self {
        Self(share)
    }

    /// The share that a model has; 0 where a walk went through the rows.
    pub fn of_model(settings: &Settings) -> Self {
        let share = settings.stream.fit.as_ref().and_then(|fit| fit["floor"].as_f64());
        Self(share.unwrap_or(0.0))
    }

    /// The probability of one of so many classes.
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
