//! # Natural gradient for several classes
//! Multinomial logistic regression with steps of natural gradient, at the cost of plain gradient descent. The metric
//! is that of a model of the joint distribution of row and class, which is learned together with the coefficients (see
//! [`Natural`] for the formulas). The scales of features have no effect; with a full covariance, neither have their
//! correlations.
//!
//! | item | content |
//! |---|---|
//! | [`Natural`] | the walk |
//! | [`AnyFamily`] | the model of rows given their class: categories, counts, numbers |
//! | [`Settings`], [`Schedule`] | rate, cap, averages, ridge |
//! | [`Report`] | convergence, and separability of the classes |
//! | [`Baseline`] | other methods for comparison: gradient descent, AdaGrad, other metrics, mirror descent |
//!
//! **Source** \[SC21\].

mod baseline;
mod cap;
mod coefficients;
mod dual;
mod families;
mod family;
mod guard;
mod layout;
mod low_rank;
mod matrix;
mod means;
mod monitor;
pub(crate) mod rows;
mod schedule;
mod statistic;
mod table;

pub use baseline::{Baseline, Method};
pub use dual::{Natural, Scratch, Settings};
pub use family::AnyFamily;
pub use monitor::Report;
pub use schedule::Schedule;

use crate::Real;
use crate::error::{Allowed, DomainError};
use crate::real::lanes;

/// The result of a step.
///
/// ```
/// use geowalk::natural::{AnyFamily, Natural, Settings};
/// use geowalk::row::Sparse;
/// let mut walk = Natural::new(AnyFamily::parse("discrete")?, Settings::default())?;
/// walk.grow(3, 2)?;
/// let moved = walk.step(Sparse::new(&[2], &[1.0])?, 1, 1.0)?;
/// assert_eq!((moved.probability, moved.prediction), (0.5, 0));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Moved {
    /// −log P of the class, before the step, times the weight.
    pub loss: f64,
    /// P of the class, before the step.
    pub probability: f64,
    /// The most probable class; among equals the first.
    pub prediction: usize,
    /// γ.
    pub rate: f64,
    /// Whether the cap made γ smaller than the schedule.
    pub capped: bool,
}

/// Refuses an invalid weight.
fn importance(weight: f64) -> Result<(), DomainError> {
    let allowed = Allowed::Closed(0.0, 1e12);
    if allowed.contains(weight) {
        return Ok(());
    }
    Err(DomainError::Scalar { what: "the importance weight", value: weight, allowed })
}

/// z ← exp(z − top), for all elements.
fn exponentials(z: &mut [f64], top: f64) {
    lanes::widely(
        #[inline(always)]
        || {
            for z in z.iter_mut() {
                *z = lanes::exp(*z - top);
            }
        },
    );
}

/// The class with the largest logit; among equals the first.
fn largest(z: &[f64]) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (c, &z) in z.iter().enumerate() {
        if z > best.1 {
            best = (c, z);
        }
    }
    best.0
}

/// v ← v − e_y for probabilities v. The entry q − 1 is computed from the others, which is precise also if q is near 1.
fn exclude(class: usize, v: &mut [f64]) {
    let (before, after) = (v.iter().take(class), v.iter().skip(class + 1));
    let others: f64 = before.chain(after).sum();
    if let Some(own) = v.get_mut(class) {
        *own = -others;
    }
}

/// The prediction for a class from the logits z, and v ← q − e_y. Also returns the largest logit minus the smallest.
fn posterior(z: &[f64], class: usize, v: &mut Vec<f64>) -> Result<(Moved, f64), DomainError> {
    let (mut top, mut least, mut best) = (f64::NEG_INFINITY, f64::INFINITY, 0);
    for (c, &z) in z.iter().enumerate() {
        if !z.is_finite() {
            let (what, allowed) = ("a logit", Allowed::Finite);
            return Err(DomainError::Scalar { what, value: z, allowed });
        }
        if z > top {
            (top, best) = (z, c);
        }
        if z < least {
            least = z;
        }
    }
    v.clear();
    v.extend_from_slice(z);
    exponentials(v, top);
    let sum: f64 = v.iter().sum();
    for v in v.iter_mut() {
        *v /= sum;
    }
    let (Some(&probability), Some(&own)) = (v.get(class), z.get(class)) else {
        return Err(DomainError::Dimension {
            what: "the list of classes",
            found: z.len(),
            expected: class + 1,
        });
    };
    let loss = (top - own) + Real::ln(sum);
    exclude(class, v);
    let moved = Moved { loss, probability, prediction: best, rate: 0.0, capped: false };
    Ok((moved, top - least))
}
