//! # Certificates: what is promised
//! A certificate is a theorem evaluated on the run that was made: the learner's loss, a bound on its regret against a
//! comparator, and a status. It is [`Valid`](Status::Valid) only while every premise of the theorem holds; the first one that
//! breaks makes it [`Void`](Status::Void), with the row where it did. Bounds are rounded outward: what is printed is
//! never below what the theorem says.
//!
//! A bound sees [`Round`]s and rows, never an update: it can judge a log that another program wrote.
//!
//! | theorem | for | bound on the regret against u |
//! |---|---|---|
//! | [`FirstOrder`] | every convex loss | A − ⟨u, Γ⟩, measured |
//! | [`SecondOrder`] | the logistic and the squared loss | the same with curvature, measured |
//! | [`Riemannian`], [`Proximal`] | explicit and implicit steps on a manifold | distances and lengths of steps |
//! | [`NullVector`] | the sphere, rows orthogonal to u | ln(1/cos c₀)/(2η(1 − η)) |
//! | [`Ledger`]: gradient descent, natural EG, mirror steps, EG | convex losses | D(u, w₀)/η + a sum over steps |
//! | [`Ledger`]: least squares, p-norms, EG, EGU, twins | squared and smooth losses | L·c/(1 − c) + D/η |
//! | [`Winnow`] | Winnow and its twin | mistakes ≤ c·D(u‖w₀) |
//! | [`Hedge`], [`ReparamHedge`], [`Prod`], [`AdaHedge`], [`Mixture`] | experts | (ηL + D)/(1 − e^{−η}) − L and relatives |
//! | [`SharedHedge`], [`MlPoly`], [`Boa`] | experts, without a rate | measured sums |
//! | [`FreeBets`] | `free` | a sum over coordinates |
//!
//! A theorem that is a formula of running sums is a constant beside its geometry, listed in [`rules`], and a [`Ledger`]
//! keeps it. [`AnyBound`] is what a run carries along; [`Epochs`] is the same over several stretches of a run, each with
//! another rate.
//! [`entries`] has them all, with premises and sources; `docs/corrections.md` says where a printed theorem had to be corrected.

mod ada_hedge;
mod any;
mod boa;
#[cfg(feature = "boosting")]
mod boosting;
mod epochs;
mod first_order;
mod free_bets;
mod hedge;
mod interval;
pub(crate) mod ledger;
pub(crate) mod losses;
mod metric;
pub(crate) mod mirror_steps;
mod mixture;
mod ml_poly;
mod null_vector;
mod origin;
mod prod;
pub(crate) mod proximal;
mod reparam_hedge;
mod riemannian;
pub mod rules;
mod second_order;
mod shared_hedge;
pub(crate) mod theorem;
pub(crate) mod weights;
mod winnow;

pub use ada_hedge::AdaHedge;
pub use any::{AnyBound, Quantity, Verdict};
pub use boa::Boa;
#[cfg(feature = "boosting")]
pub use boosting::Boosting;
pub use epochs::Epochs;
pub use first_order::FirstOrder;
pub use free_bets::FreeBets;
pub use hedge::Hedge;
pub use interval::LossInterval;
pub use ledger::{Divergence, Ledger, LedgerRule, Need, Prescription};
pub use losses::Losses;
pub(crate) use losses::{flat, sums};
pub use metric::Metric;
pub use mixture::Mixture;
pub use ml_poly::MlPoly;
pub use null_vector::NullVector;
pub use origin::Start;
pub use prod::Prod;
pub use proximal::Proximal;
pub use reparam_hedge::ReparamHedge;
pub use riemannian::{Parts, Riemannian};
pub use second_order::{Curvature, SecondOrder};
pub use shared_hedge::SharedHedge;
pub use theorem::{Declared, KNOWN, Premise, Theorem, entries};
pub use winnow::Winnow;

use crate::Real;
use crate::row::{Norm, Row};
use crate::update::Round;

/// One theorem, as running sums and a verdict.
pub trait Bound {
    /// Sees one round.
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X);

    /// The bound on the regret against the comparators `u`.
    fn certify(&self, u: &Comparator<'_>) -> Certificate;

    /// The same, where the comparator's own loss on the rows is known (an upper bound of it is enough). Theorems whose bound grows with
    /// that loss are sharper then; without it they use the least loss that their own bound and the learner's loss allow.
    fn certify_known(&self, u: &Comparator<'_>, loss: f64) -> Certificate {
        let _ = loss;
        self.certify(u)
    }

    /// In the round that was just seen some fixed weights predicted `prediction` and lost `loss` (with the
    /// weight of the example). A loss that is convex in the prediction lies above its tangents: if this one
    /// does not, convexity was declared and is not true, and the theorem is void from this round on.
    fn compare(&mut self, round: &Round, prediction: f64, loss: f64) {
        let _ = (round, prediction, loss);
    }

    /// The premises that nobody but the user can vouch for, with the numbers that were declared.
    fn declared(&self) -> Vec<Declared> {
        Vec::new()
    }
}

/// Against what the regret is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Comparator<'a> {
    /// These weights. Coordinates beyond the end count as 0.
    Given(&'a [f64]),
    /// All weights with ‖u‖ ≤ radius.
    Ball {
        /// ‖·‖.
        norm: Norm,
        /// The largest norm.
        radius: f64,
    },
    /// All weights with |u_i| ≤ radii_i; coordinates beyond the end are 0.
    Box {
        /// The largest magnitude of each coordinate.
        radii: &'a [f64],
    },
    /// All weights with ‖u‖₂ = radius.
    Sphere {
        /// The norm.
        radius: f64,
    },
    /// All probability vectors of n coordinates.
    Simplex {
        /// How many coordinates; those that no row touched count too.
        n: usize,
    },
    /// All weights u ≥ 0 with Σu ≤ total.
    Positive {
        /// The largest sum.
        total: f64,
    },
    /// The weights u, as positive weights of the rows (Ux, −Ux) of a [two-sided](crate::walk::Signed) walk.
    Signed {
        /// The weights of x.
        u: &'a [f64],
        /// U.
        scale: f64,
    },
}

impl Comparator<'_> {
    /// How many coordinates they have at least.
    fn features(&self) -> usize {
        match *self {
            Self::Given(u) | Self::Box { radii: u } => u.len(),
            Self::Simplex { n } => n,
            Self::Signed { u, .. } => 2 * u.len(),
            _ => 0,
        }
    }
}

/// A theorem, on a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// Name of the theorem.
    pub theorem: &'static str,
    /// Does it hold for this run?
    pub status: Status,
    /// Rounds seen.
    pub rounds: u64,
    /// Σℓ(z_t, y_t), what the learner lost.
    pub loss: f64,
    /// No less than the regret, loss − comparator's loss. NaN unless the status is valid.
    pub bound: f64,
}

/// Whether a theorem's premises held.
#[derive(Debug, Clone, PartialEq)]
pub enum Status {
    /// Every premise held in every round.
    Valid,
    /// A premise broke.
    Void(Broken),
}

/// The premise that broke first.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    /// The premise, in words.
    pub premise: &'static str,
    /// The 1-based round in which it broke; 0 if it was never true.
    pub row: u64,
    /// The number that broke it.
    pub found: f64,
}

/// A valid bound below what it bounds: a mistake in this library, or a premise that was declared and is not true.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "internal error: after {rounds} rounds the theorem '{theorem}' promises at most {bound}, and {found} was found; please report this, with the data if you can"
)]
pub struct Contradiction {
    /// Name of the theorem.
    pub theorem: &'static str,
    /// Rounds seen.
    pub rounds: u64,
    /// What was promised.
    pub bound: f64,
    /// What was found.
    pub found: f64,
}

impl Certificate {
    /// Compares a valid bound with what it bounds, where that is known. `rounding` is by how much `found` may
    /// be too large because it was worked out with rounded numbers; the rounding of the learner's own losses is
    /// added to it.
    ///
    /// ```
    /// use geowalk::certify::{Certificate, Status};
    /// let c = Certificate { theorem: "hedge", status: Status::Valid, rounds: 9, loss: 4.0, bound: 1.5 };
    /// assert!(c.check(1.5, 0.0).is_ok());
    /// let wrong = c.check(1.6, 0.0).unwrap_err();
    /// assert!(wrong.to_string().starts_with("internal error: after 9 rounds the theorem 'hedge' promises"));
    /// ```
    pub fn check(&self, found: f64, rounding: f64) -> Result<(), Contradiction> {
        // A loss is good to a few units in the last place, and so is their compensated sum.
        let slack = rounding + 16.0 * f64::EPSILON * self.loss.abs();
        if self.status == Status::Valid && found > self.bound + slack {
            let Self { theorem, rounds, bound, .. } = *self;
            return Err(Contradiction { theorem, rounds, bound, found });
        }
        Ok(())
    }
}

/// Six decimals; of a number too long to be read that way an exponent.
///
/// ```
/// use geowalk::certify::figure;
/// assert_eq!(figure(2.0 / 3.0), "0.666667");
/// assert_eq!(figure(-1.25e24), "-1.250000e24");
/// ```
pub fn figure(value: f64) -> String {
    if value.is_finite() && value.abs() >= 1e12 {
        return format!("{value:.6e}");
    }
    format!("{value:.6}")
}

impl std::fmt::Display for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.status {
            Status::Valid => write!(
                f,
                "{}: valid; after {} rounds with loss {}, regret <= {}",
                self.theorem,
                self.rounds,
                figure(self.loss),
                figure(self.bound)
            ),
            Status::Void(broken) if broken.row == 0 && broken.found.is_nan() => {
                write!(f, "{}: void; {} does not hold", self.theorem, broken.premise)
            }
            Status::Void(broken) if broken.row == 0 => write!(
                f,
                "{}: void; {} does not hold (found {})",
                self.theorem, broken.premise, broken.found
            ),
            Status::Void(broken) => write!(
                f,
                "{}: void since row {}; {} does not hold (found {})",
                self.theorem, broken.row, broken.premise, broken.found
            ),
        }
    }
}
