//! # Natural gradient for several classes
//! Multinomial logistic regression whose steps are those of natural gradient, at the price of plain gradient descent: the metric is that of a model of the
//! joint distribution of row and class, learned beside the coefficients ([`Natural`]; the formulas are there). Scales of features, and with
//! a full covariance their correlations, do not matter.
//!
//! | piece | what it is |
//! |---|---|
//! | [`Natural`] | the walk |
//! | [`AnyFamily`] | the model of rows given their class: categories, counts, numbers |
//! | [`Settings`], [`Schedule`] | rate, cap, averages, ridge |
//! | [`Report`] | has it converged? are the classes separable? |
//! | [`Baseline`] | plain and adaptive gradient descent, natural gradient in the metric of the parameters themselves, mirror descent: to see what is gained |
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

/// What a step did.
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
    /// The class that was most probable; of equal ones the first.
    pub prediction: usize,
    /// γ.
    pub rate: f64,
    /// Was γ smaller than the schedule's, by the cap?
    pub capped: bool,
}

/// Refuses a weight that an example cannot have.
fn importance(weight: f64) -> Result<(), DomainError> {
    let allowed = Allowed::Closed(0.0, 1e12);
    if allowed.contains(weight) {
        return Ok(());
    }
    Err(DomainError::Scalar { what: "the importance weight", value: weight, allowed })
}

/// z ← exp(z − top), all of them.
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

/// The first of the classes with the largest logit.
fn largest(z: &[f64]) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (c, &z) in z.iter().enumerate() {
        if z > best.1 {
            best = (c, z);
        }
    }
    best.0
}

/// v ← v − e_y for probabilities v: q − 1 from the others, which loses no digits where q is nearly 1.
fn exclude(class: usize, v: &mut [f64]) {
    let (before, after) = (v.iter().take(class), v.iter().skip(class + 1));
    let others: f64 = before.chain(after).sum();
    if let Some(own) = v.get_mut(class) {
        *own = -others;
    }
}

/// What the logits z say of a class, and v ← q − e_y. With it, the difference of the largest and the smallest logit.
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
