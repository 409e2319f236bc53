//! # Rates
//! | text | η_t |
//! |---|---|
//! | `0.5` | 0.5 |
//! | `inv(c, t0)` | c / (1 + t/t0) |
//! | `power(c, t0, p)` | c / (1 + t/t0)^p |
//! | `auto` | self-tuned: c / √(Σ_{s<t} ‖grad_s‖²), with c = 1 and the length of each walk per unit of rate as ‖grad‖ |
//!
//! The self-tuned rate needs no constant of the data: where the domain has diameter D, its regret is within a constant of D√(Σ‖grad‖²)
//! \[SM10\]. Walks that need no rate (`free`, `adagrad`) ignore it.

use geowalk::error::Allowed;
use geowalk::spec::{self, Spec};
use geowalk::{ConfigError, Real};

/// How the rate of a step is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Self-tuned from the lengths of the walks so far.
    Auto,
    /// Always the same.
    Constant(f64),
    /// c / (1 + t/t0)^p.
    Power {
        /// c.
        c: f64,
        /// t0.
        t0: f64,
        /// p.
        p: f64,
    },
}

impl Rate {
    /// Parses `auto`, a number, `inv(c, t0)` or `power(c, t0, p)`.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        if let Ok(rate) = text.trim().parse() {
            return positive("rate", rate).map(Self::Constant);
        }
        let spec = Spec::parse(text)?;
        let mut args = spec.args();
        let rate = match spec.name() {
            "auto" => Self::Auto,
            "inv" => Self::Power {
                c: positive("c", args.number("c", 1.0)?)?,
                t0: positive("t0", args.number("t0", 1.0)?)?,
                p: 1.0,
            },
            "power" => Self::Power {
                c: positive("c", args.number("c", 1.0)?)?,
                t0: positive("t0", args.number("t0", 1.0)?)?,
                p: positive("p", args.number("p", 0.5)?)?,
            },
            name => {
                return Err(spec::unknown("rate", name, ["auto", "inv", "power", "a number"]));
            }
        };
        args.finish()?;
        Ok(rate)
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => write!(f, "auto"),
            Self::Constant(rate) if (1e-5..1e16).contains(rate) => write!(f, "{rate}"),
            Self::Constant(rate) => write!(f, "{rate:e}"),
            Self::Power { c, t0, p: 1.0 } => write!(f, "inv({c}, {t0})"),
            Self::Power { c, t0, p } => write!(f, "power({c}, {t0}, {p})"),
        }
    }
}

fn positive(name: &'static str, value: f64) -> Result<f64, ConfigError> {
    let allowed = Allowed::Positive;
    if allowed.contains(value) {
        Ok(value)
    } else {
        Err(ConfigError::OutOfRange { name, value, allowed })
    }
}

/// A rate in use: what it has seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    rate: Rate,
    t: u64,
    squares: f64,
}

impl Schedule {
    /// A schedule at its beginning.
    pub fn new(rate: Rate) -> Self {
        Self { rate, t: 0, squares: 0.0 }
    }

    /// The rate of the next step, on a row with ‖x‖₂ = `norm`.
    #[inline]
    pub fn next(&self, norm: impl FnOnce() -> f64) -> f64 {
        match self.rate {
            Rate::Constant(rate) => rate,
            Rate::Power { c, t0, p } => {
                let base = 1.0 + self.t as f64 / t0;
                c / if p == 1.0 { base } else { Real::powf(base, p) }
            }
            Rate::Auto if self.squares > 0.0 => 1.0 / self.squares.sqrt(),
            // Nothing seen yet: the step that a slope of 1 turns into a change of the prediction by at most 1.
            Rate::Auto => {
                let norm = norm();
                if norm > 0.0 { 1.0 / (norm * norm) } else { 1.0 }
            }
        }
    }

    /// Sees that a step of this rate walked this far.
    #[inline]
    pub fn saw(&mut self, rate: f64, length: f64) {
        self.t += 1;
        if self.rate == Rate::Auto && rate > 0.0 {
            let gradient = length / rate;
            self.squares += gradient * gradient;
        }
    }

    /// Everything that changes, for the model file.
    pub fn save(&self) -> [f64; 2] {
        [self.t as f64, self.squares]
    }

    /// Continues from what [`Schedule::save`] gave.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a count below 2^53
    pub fn load(mut self, [t, squares]: [f64; 2]) -> Self {
        self.t = t as u64;
        self.squares = squares;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_and_written() {
        for text in ["auto", "0.5", "1e200", "inv(2, 10)", "power(1, 1, 0.5)"] {
            assert_eq!(Rate::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            Rate::parse("-1").unwrap_err().to_string(),
            "rate = -1; it must be a finite number > 0"
        );
        assert!(Rate::parse("nan").is_err());
        assert!(Rate::parse("certain").unwrap_err().to_string().contains("unknown rate 'certain'"));
    }

    #[test]
    fn the_self_tuned_rate_falls_with_the_gradients_seen() {
        let mut schedule = Schedule::new(Rate::Auto);
        assert_eq!(schedule.next(|| 2.0), 0.25);
        schedule.saw(0.25, 0.75);
        assert_eq!(schedule.next(|| 2.0), 1.0 / 3.0);
        let again = Schedule::new(Rate::Auto).load(schedule.save());
        assert_eq!(again, schedule);
    }
}
