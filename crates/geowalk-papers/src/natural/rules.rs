//! The learning rules to compare, and the search for the learning rates of those that need one.

use geowalk::ConfigError;
use geowalk::natural::{AnyFamily, Baseline, Method, Natural, Schedule, Scratch, Settings};
use geowalk::row::Dense;

use super::sample::Sample;

/// Any of the rules.
pub(super) enum Learner {
    Natural(Box<Natural>),
    Other(Box<Baseline>),
}

impl Learner {
    /// A dual stochastic natural gradient learner.
    pub(super) fn natural(family: &str, settings: Settings) -> Result<Self, ConfigError> {
        Ok(Self::Natural(Box::new(Natural::new(AnyFamily::parse(family)?, settings)?)))
    }

    /// A learner with another rule, without averages.
    pub(super) fn other(
        method: Method,
        family: &str,
        schedule: Schedule,
    ) -> Result<Self, ConfigError> {
        Self::averaged(method, family, bare(schedule, None))
    }

    /// A learner with another rule and these settings.
    pub(super) fn averaged(
        method: Method,
        family: &str,
        settings: Settings,
    ) -> Result<Self, ConfigError> {
        Ok(Self::Other(Box::new(Baseline::new(method, AnyFamily::parse(family)?, settings)?)))
    }

    /// Makes a step; `false` if it failed.
    pub(super) fn step(&mut self, x: &[f64], class: usize) -> bool {
        match self {
            Self::Natural(own) => own.step(Dense(x), class, 1.0).is_ok(),
            Self::Other(own) => own.step(Dense(x), class, 1.0).is_ok(),
        }
    }

    /// Number of stored numbers between examples.
    pub(super) fn numbers(&self) -> usize {
        let mut numbers = 0;
        let mut count = |_: &str, values: &[f64]| numbers += values.len();
        match self {
            Self::Natural(own) => own.save(&mut count),
            Self::Other(own) => own.save(&mut count),
        }
        numbers
    }

    /// The logits of a row.
    pub(super) fn logits(&self, x: &[f64], z: &mut Vec<f64>) {
        let mut scratch = Scratch::default();
        match self {
            Self::Natural(own) => own.logits(Dense(x), &mut scratch, z),
            Self::Other(own) => own.logits(Dense(x), &mut scratch, z),
        }
    }
}

/// c/(1 + t/t0).
pub(super) fn inverse(c: f64, t0: f64) -> Schedule {
    Schedule::Power { c, t0, p: 1.0 }
}

/// Settings without averages.
pub(super) fn bare(schedule: Schedule, cap: Option<f64>) -> Settings {
    Settings { schedule, cap, average: false, ..Settings::default() }
}

/// Learning rates tried for gradient descent.
fn descents(few: bool) -> Vec<Schedule> {
    let rates: &[f64] = if few { &[0.1, 1.0] } else { &[0.01, 0.1, 1.0] };
    let mut all = Vec::new();
    for &c in rates {
        let longest: &[f64] = if few { &[1e3] } else { &[1e2, 1e3, 1e4] };
        all.extend(longest.iter().map(|t0| inverse(c, *t0)));
    }
    all
}

/// Learning rates tried for Adagrad.
fn adagrads(few: bool) -> Vec<Schedule> {
    let rates: &[f64] = if few { &[0.1, 0.5] } else { &[0.02, 0.1, 0.3, 1.0, 3.0] };
    rates.iter().map(|rate| Schedule::Constant { rate: *rate }).collect()
}

/// The excess of a rule at the best of its rates. The rates are tried on the measured stream, which favours the rule.
pub(super) fn tuned(
    method: Method,
    family: &str,
    sample: &Sample,
    best: f64,
    rounds: usize,
    seed: u64,
    few: bool,
) -> Result<f64, ConfigError> {
    let schedules = if method == Method::Adagrad { adagrads(few) } else { descents(few) };
    let mut least = f64::INFINITY;
    for schedule in schedules {
        let mut learner = Learner::other(method, family, schedule)?;
        let found = sample.run(&mut learner, best, &[rounds], seed);
        if let Some(Some(excess)) = found.first() {
            least = f64::min(least, *excess);
        }
    }
    Ok(least)
}

/// The excess of natural gradient; infinite if it diverged.
pub(super) fn excess(
    family: &str,
    settings: Settings,
    sample: &Sample,
    best: f64,
    rounds: usize,
    seed: u64,
) -> Result<f64, ConfigError> {
    let mut learner = Learner::natural(family, settings)?;
    let found = sample.run(&mut learner, best, &[rounds], seed);
    Ok(found.first().copied().flatten().unwrap_or(f64::INFINITY))
}
