//! # Which theorems apply
//! Only the premises about the loss are checked here. Premises about rates, norms and data are checked by the
//! certificates.

use super::report::{exact, number};
use super::{Diagnosis, Verdict};
use crate::loss::WinnowHinge;

/// Whether the loss meets the premises of one theorem.
#[derive(Debug, Clone, PartialEq)]
pub struct Applies {
    /// Name of the theorem.
    pub theorem: &'static str,
    /// Are its premises about the loss met?
    pub applies: bool,
    /// The reason, with numbers.
    pub why: String,
}

/// The reason for a failed premise; `missing` if the premise has no meaning for this loss.
fn reason(premise: &str, verdict: &Verdict, missing: &str) -> String {
    match verdict {
        Verdict::Holds => premise.to_owned(),
        Verdict::NotApplicable => missing.to_owned(),
        Verdict::Fails { at, label, found, needed } => format!(
            "not {premise} at z = {}, y = {}: found {}, needed {needed}",
            exact(*at),
            exact(*label),
            exact(*found)
        ),
    }
}

impl Diagnosis {
    /// sup |slope|: the declared value unless it is contradicted, else the measured one.
    fn slope_bound(&self) -> Option<f64> {
        self.declared.lipschitz.filter(|_| self.declared_lipschitz.holds()).or(self.lipschitz)
    }

    /// sup curvature: the declared value unless it is contradicted, else the measured one.
    fn curvature_bound(&self) -> Option<f64> {
        self.declared.smooth.filter(|_| self.declared_smooth.holds()).or(self.smooth)
    }

    /// inf curvature: the declared value unless it is contradicted, else the measured one.
    fn modulus(&self) -> f64 {
        if self.declared_strong.holds() { self.declared.strong } else { self.strong }
    }

    /// inf φ″ of the permissible function of a balanced convex loss: c/sup ψ″.
    fn curvature_floor(&self) -> Option<f64> {
        let smooth = self.curvature_bound().filter(|&smooth| smooth > 0.0)?;
        self.balance.map(|balance| balance / smooth)
    }

    /// All theorems, with the reason why the loss meets their premises or not.
    pub fn theorems(&self) -> Vec<Applies> {
        let finite = reason("finite", &self.finite, "not examined");
        let convex = reason("convex", &self.convex, &finite);
        let margin = reason("a function of the margin", &self.margin, "labels are not -1 and +1");
        // A theorem that needs convexity: it applies with this text, or does not apply with the reason.
        let if_convex = |theorem, applies: bool, why: String| Applies {
            theorem,
            applies: self.convex.holds() && applies,
            why: if self.convex.holds() { why } else { convex.clone() },
        };
        let gradients = match self.slope_bound() {
            Some(bound) => format!("convex, |slope| <= {}", number(bound)),
            None => "convex; the slope is unbounded, so the bound holds with the gradients met, \
                     not with a constant given beforehand"
                .to_owned(),
        };
        vec![
            if_convex("first-order certificate", true, "convex in z".to_owned()),
            if_convex("Theorem 6 [KMWW07], flat", true, gradients.clone()),
            if_convex(
                "Theorem 6 [KMWW07], lambda-convex",
                self.modulus() > 0.0,
                format!("inf curvature = {}, needed > 0", number(self.modulus())),
            ),
            if_convex("mirror descent", true, gradients),
            self.p_norm(&margin, &convex),
            self.boosting(&margin),
            self.boosting_rate(&margin, &convex),
            self.winnow(),
            if_convex(
                "free",
                self.slope_bound().is_some_and(|bound| bound <= 1.0 + 1e-9),
                match self.slope_bound() {
                    Some(bound) => format!("|slope| <= {}, needed <= 1", number(bound)),
                    None => "the slope is unbounded, needed |slope| <= 1".to_owned(),
                },
            ),
        ]
    }

    /// The first kink, in words.
    fn jump(&self) -> Option<String> {
        let kink = self.kinks.first()?;
        Some(format!("the slope jumps by {} at z = {}", number(kink.jump), number(kink.at)))
    }

    fn p_norm(&self, margin: &str, convex: &str) -> Applies {
        let (applies, why) = if !self.convex.holds() {
            (false, convex.to_owned())
        } else if !self.balanced.holds() {
            (false, reason("balanced", &self.balanced, margin))
        } else if !self.decreasing.holds() {
            (false, reason("decreasing", &self.decreasing, margin))
        } else if let (Some(balance), Some(floor)) = (self.balance, self.curvature_floor()) {
            let (balance, floor) = (number(balance), number(floor));
            (
                true,
                format!(
                    "balanced with c = {balance}, curvature floor lambda = inf phi'' = {floor}"
                ),
            )
        } else {
            let cause = self.jump().unwrap_or_else(|| "the curvature is unbounded".to_owned());
            (false, format!("balanced, but {cause}: the curvature floor is 0"))
        };
        Applies { theorem: "Theorems 3, 3' [NN09], p-norm OLS", applies, why }
    }

    fn boosting(&self, margin: &str) -> Applies {
        let strict = reason("strictly convex", &self.strictly_convex, "not finite");
        let derivative = reason("twice differentiable", &self.curvature, "not finite");
        let (applies, why) = if !self.margin.holds() {
            (false, margin.to_owned())
        } else if !self.strictly_convex.holds() {
            (false, strict)
        } else if let Some(jump) = self.jump() {
            (false, format!("not twice differentiable: {jump}"))
        } else {
            (self.curvature.holds(), format!("{strict}, {derivative}"))
        };
        Applies { theorem: "Theorem 1 [NN09], boosting", applies, why }
    }

    fn boosting_rate(&self, margin: &str, convex: &str) -> Applies {
        let (applies, why) = match self.curvature_bound() {
            _ if !self.margin.holds() => (false, margin.to_owned()),
            _ if !self.convex.holds() => (false, convex.to_owned()),
            Some(smooth) if smooth > 0.0 => {
                (true, format!("inf of the conjugate's curvature = {}", number(1.0 / smooth)))
            }
            Some(_) => (false, "the loss is linear".to_owned()),
            None => (
                false,
                "the curvature is unbounded: inf of the conjugate's curvature = 0".to_owned(),
            ),
        };
        Applies { theorem: "Theorem 2 [NN09], corrected rate", applies, why }
    }

    fn winnow(&self) -> Applies {
        let (applies, why) = match self.threshold {
            None => (false, "the loss is not max(0, -y(z - theta))".to_owned()),
            Some(theta) if theta <= 0.0 => {
                (false, format!("theta = {}, needed > 0: predictions are >= 0", number(theta)))
            }
            Some(theta) => {
                let tuned = [(WinnowHinge::WINNOW, "Winnow"), (WinnowHinge::REPARAM, "its twin")];
                let at = tuned.iter().find(|(best, _)| (best - theta).abs() <= 1e-9);
                let rest = match at {
                    Some((_, name)) => format!("the threshold of the bound of {name}"),
                    None => format!(
                        "the bounds are stated at {} (Winnow) and {} (its twin)",
                        number(WinnowHinge::WINNOW),
                        number(WinnowHinge::REPARAM)
                    ),
                };
                (true, format!("theta = {}, {rest}", number(theta)))
            }
        };
        Applies { theorem: "Theorems 2, 3 [AW20], Winnow", applies, why }
    }
}
