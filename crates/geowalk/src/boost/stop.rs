//! # When to stop, and what to keep
//! A run ends after a number of rounds; when the bound on the training error is as small as was wanted; when nothing has an edge any more; or when what is watched, the
//! error or the surrogate of a held-out set or else the surrogate in training, has not improved for a number of rounds. If something is watched on a held-out set, the rounds up to its best are
//! kept, and the others forgotten: the [`Path`] of the leverages is kept, since sums of leverages cannot be undone.

use super::surrogate::Surrogate;
use crate::error::{Allowed, ConfigError, parameter};

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All rounds were made.
    Rounds,
    /// The bound on the training error is met.
    Bound,
    /// No improvement of what is watched.
    Patience,
    /// No feature has an edge above the tolerance: the risk is at its minimum.
    Converged,
    /// A feature never errs, and the policy is to stop there.
    Separable,
    /// It was stopped from outside.
    Halted,
}

impl Ended {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Rounds => "all rounds were made",
            Self::Bound => "the bound on the training error is met",
            Self::Patience => "no improvement",
            Self::Converged => "no feature has an edge left",
            Self::Separable => "a feature never errs",
            Self::Halted => "it was stopped",
        }
    }
}

/// What is watched on a held-out set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Watched {
    /// The share of errors; of equal ones the surrogate decides.
    #[default]
    Error,
    /// The average surrogate.
    Surrogate,
}

/// When to stop.
///
/// ```
/// use geowalk::boost::Stop;
/// let stop = Stop::after(100)?;
/// assert_eq!((stop.rounds, stop.patience), (100, None));
/// assert!(Stop::after(0).unwrap_err().to_string().starts_with("rounds = 0; it must be a whole number >= 1"));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// The largest number of rounds, at least 1.
    pub rounds: usize,
    /// Stop as soon as the average normalised surrogate, which bounds the training error, is no larger.
    pub bound: Option<f64>,
    /// Rounds without improvement.
    pub patience: Option<usize>,
    /// The scaled edge below which nothing is left to gain.
    pub tolerance: f64,
    /// What is watched if there is a held-out set.
    pub watched: Watched,
}

impl Stop {
    /// After so many rounds, or when there is no edge above 1e-9.
    pub fn after(rounds: usize) -> Result<Self, ConfigError> {
        parameter("rounds", rounds as f64, Allowed::Whole(1))?;
        Ok(Self { rounds, bound: None, patience: None, tolerance: 1e-9, watched: Watched::Error })
    }
}

/// What is watched, and its best round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch {
    best: (f64, f64),
    /// The round of the best, 0 for none.
    pub(crate) round: usize,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Self { best: (f64::INFINITY, f64::INFINITY), round: 0 }
    }

    /// The best surrogate of what is watched.
    pub(crate) fn surrogate(&self, watched: Watched) -> f64 {
        match watched {
            Watched::Error => self.best.1,
            Watched::Surrogate => self.best.0,
        }
    }

    /// Sees what was reached after a round; is it time to stop?
    pub(crate) fn see(&mut self, round: usize, value: (f64, f64), patience: Option<usize>) -> bool {
        if value.0 < self.best.0 || (value.0 == self.best.0 && value.1 < self.best.1) {
            (self.best, self.round) = (value, round);
        }
        patience.is_some_and(|patience| round - self.round >= patience)
    }
}

/// The error and surrogate of scores u = −yH on a held-out set with weights of its examples, in the order in which they are compared.
pub(crate) fn judge(
    watched: Watched,
    loss: &Surrogate,
    y: &[f64],
    c: Option<&[f64]>,
    u: &[f64],
) -> (f64, f64) {
    let (mut total, mut error, mut surrogate) = (0.0, 0.0, 0.0);
    for (row, (&u, &y)) in u.iter().zip(y).enumerate() {
        let c = c.map_or(1.0, |c| c[row]);
        total += c;
        error += if u > 0.0 || (u == 0.0 && y < 0.0) { c } else { 0.0 };
        surrogate += c * loss.normalised(-u);
    }
    let (error, surrogate) = (error / total, surrogate / total);
    match watched {
        Watched::Error => (error, surrogate),
        Watched::Surrogate => (surrogate, error),
    }
}

/// One round of a path: some leverages grow, then all are multiplied.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Move {
    pub(crate) changes: Vec<(usize, f64)>,
    pub(crate) factor: f64,
}

/// The leverages, round by round.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Path {
    moves: Vec<Move>,
}

impl Path {
    pub(crate) fn push(&mut self, changes: Vec<(usize, f64)>, factor: f64) {
        self.moves.push(Move { changes, factor });
    }

    /// How many rounds there are.
    pub fn rounds(&self) -> usize {
        self.moves.len()
    }

    /// Forgets all but the first rounds.
    pub fn truncate(&mut self, rounds: usize) {
        self.moves.truncate(rounds);
    }

    /// The leverages of `features` features after the first `rounds` rounds.
    pub fn leverages(&self, rounds: usize, features: usize) -> Vec<f64> {
        let mut alpha = vec![0.0; features];
        for Move { changes, factor } in self.moves.iter().take(rounds) {
            for &(feature, delta) in changes {
                if let Some(alpha) = alpha.get_mut(feature) {
                    *alpha += delta;
                }
            }
            if *factor != 1.0 {
                for alpha in &mut alpha {
                    *alpha *= factor;
                }
            }
        }
        alpha
    }
}
