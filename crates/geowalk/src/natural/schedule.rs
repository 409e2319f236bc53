//! # Schedules
//! | text | γ_t | for |
//! |---|---|---|
//! | `power(c, t0, p)` | c/(1 + t/t0)^p, ½ < p ≤ 1 | p = ¾ with averages: needs no eigenvalue |
//! | `inv(c, t0)` | c/(1 + t/t0) | `inv(1, 3)` is 3/(t + 3): noisy labels, sparse counts |
//! | `counting` | 1/(t + a·s·m) | one categorical variable: the step is (q − e)/N, self-normalising |
//! | `warm(c)` | c/(t + c·s(1 + dim T)) | a warm-up that replaces the cap |
//! | a number | that number | no convergence |
//!
//! **Care** With γ = γ₀/t, the rate of convergence needs γ₀·λ > ½ for the smallest eigenvalue λ of G⁻¹H, which is in
//! (0, 1]. It is 1 for one categorical variable, and 0.07 for well separated classes. Hence p < 1 and averages.
//! **Source** \[SC21, sec. 5\]; \[PJ92\].

use crate::error::{self, Allowed};
use crate::spec::{self, Spec};
use crate::{ConfigError, Real};

/// How γ decreases.
///
/// ```
/// use geowalk::natural::Schedule;
/// let schedule = Schedule::parse("inv(1, 3)")?;
/// assert_eq!(schedule.rate(0.0, 4, 20, 1.0), 1.0);
/// assert_eq!(schedule.rate(3.0, 4, 20, 1.0), 0.5);
/// assert!(Schedule::parse("power(1, 1, 0.3)").is_err());
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Schedule {
    /// c/(1 + t/t0)^p.
    Power {
        /// c.
        c: f64,
        /// t0.
        t0: f64,
        /// p.
        p: f64,
    },
    /// 1/(t + pseudo-examples of all classes).
    Counting,
    /// c/(t + c·s(1 + dim T)).
    Warm {
        /// c.
        c: f64,
    },
    /// A constant rate.
    Constant {
        /// γ.
        rate: f64,
    },
}

impl Schedule {
    /// Parses the texts of the table above.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let allowed = Allowed::Closed(1e-12, 1e12);
        if let Ok(rate) = text.trim().parse() {
            let rate = error::parameter("rate", rate, allowed)?;
            return Ok(Self::Constant { rate });
        }
        let spec = Spec::parse(text)?;
        let mut args = spec.args();
        let mut c = |default| error::parameter("c", args.number("c", default)?, allowed);
        let schedule = match spec.name() {
            "counting" => Self::Counting,
            "warm" => Self::Warm { c: c(10.0)? },
            "inv" => {
                let c = c(1.0)?;
                let t0 = error::parameter("t0", args.number("t0", 3.0)?, allowed)?;
                Self::Power { c, t0, p: 1.0 }
            }
            "power" => {
                let c = c(1.0)?;
                let t0 = error::parameter("t0", args.number("t0", 1.0)?, allowed)?;
                let p = args.number("p", 0.75)?;
                let p = error::parameter("p", p, Allowed::OpenClosed(0.5, 1.0))?;
                Self::Power { c, t0, p }
            }
            name => {
                let known = ["power", "inv", "counting", "warm", "a number"];
                return Err(spec::unknown("schedule", name, known));
            }
        };
        args.finish()?;
        Ok(schedule)
    }

    /// γ after t examples, for these numbers of classes, coordinates of T, and pseudo-examples per class.
    pub fn rate(&self, t: f64, classes: usize, size: usize, pseudo: f64) -> f64 {
        let s = classes as f64;
        match *self {
            Self::Power { c, t0, p: 1.0 } => c / (1.0 + t / t0),
            Self::Power { c, t0, p: 0.75 } => {
                // The default exponent by square roots: `powf` would take a twentieth of the time of a step with few
                // features.
                let root = (1.0 + t / t0).sqrt();
                c / (root * root.sqrt())
            }
            Self::Power { c, t0, p } => c / Real::powf(1.0 + t / t0, p),
            Self::Counting => 1.0 / (t + s * pseudo),
            Self::Warm { c } => c / (t + c * s * (1.0 + size as f64)),
            Self::Constant { rate } => rate,
        }
    }
}

impl std::fmt::Display for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Power { c, t0, p: 1.0 } => write!(f, "inv({c}, {t0})"),
            Self::Power { c, t0, p } => write!(f, "power({c}, {t0}, {p})"),
            Self::Counting => write!(f, "counting"),
            Self::Warm { c } => write!(f, "warm({c})"),
            Self::Constant { rate } => write!(f, "{rate}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_exponent_is_a_power_like_others() {
        let rate = |p: f64, t: f64| Schedule::Power { c: 2.0, t0: 3.0, p }.rate(t, 2, 2, 1.0);
        for t in [0.0, 1.0, 7.5, 1e3, 1e9] {
            let power = 2.0 / Real::powf(1.0 + t / 3.0, 0.75);
            assert!((rate(0.75, t) / power - 1.0).abs() < 4.0 * f64::EPSILON, "{t}");
            let beside = rate(0.75 + 1e-12, t);
            assert!((rate(0.75, t) / beside - 1.0).abs() < 1e-10, "{t}");
        }
    }
}
