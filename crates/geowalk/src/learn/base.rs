//! # What every walk is
//! The trait [`Walk`], and the checks and readers of saved states that walks share.

use super::gauge::Gauge;
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::Event;
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Round, Target};

/// A learner's weights, and the rule that moves them.
pub trait Walk: Send + Sync {
    /// How many features have a weight.
    fn features(&self) -> usize;

    /// Makes room for the features below `n`.
    fn grow(&mut self, n: usize);

    /// z = ⟨w, x⟩. Features without a weight count as weight 0.
    fn predict<X: Row<f64>>(&self, x: X) -> f64;

    /// Predicts, then moves. Features of the row that have no weight get one first. On an error the weights are
    /// unchanged.
    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError>;

    /// How the last step pulled at what this walk shares with the walks of the other classes of one softmax: 0
    /// if it shares nothing.
    fn pull(&self) -> f64 {
        0.0
    }

    /// Makes the shared part of the last step again, with the pull of all classes in place of its own.
    fn follow(&mut self, _pull: f64) {}

    /// Takes over what walks of one softmax share.
    fn share(&mut self, _other: &Self) {}

    /// w ← the weights, one for each feature.
    fn read(&self, w: &mut Vec<f64>);

    /// A factor that all weights have in common and that any step may change.
    fn common(&self) -> f64 {
        1.0
    }

    /// w_i without the [common](Walk::common) factor, if a step changes no other such weights than those of the
    /// row; `None` if it changes all of them.
    fn local(&self, _i: usize) -> Option<f64> {
        None
    }

    /// The logarithm of what all [local](Walk::local) weights have been multiplied by at once so far, and the
    /// common factor divided by.
    fn unit(&self) -> f64 {
        0.0
    }

    /// How strongly a row of features that have weights pulls.
    fn gauge<X: Row<f64>>(&self, x: X) -> Gauge {
        Gauge::euclidean(x)
    }

    /// out ← Γ = Σ g_t x_t of all steps so far, if the state holds it; `rate` is that of every step, if they
    /// all had the same. The
    /// [first-order certificate](crate::certify::FirstOrder) then needs no vector of its own. Returns b ≥ 0 such that each coordinate is as exact as the plain sum of the terms and of one more of size b, each rounded at most four times, values of the row below 1e-150 left out; `None` if Γ is not there.
    fn gamma(&self, _rate: Option<f64>, _out: &mut Vec<f64>) -> Option<f64> {
        None
    }

    /// No less than ‖w‖₂ and ‖Γ‖₂, and hardly more, if the state holds [Γ](Walk::gamma): in one pass and
    /// without copies, for certificates that are asked for often.
    fn lengths(&self, _rate: Option<f64>) -> Option<(f64, f64)> {
        None
    }

    /// A bound on the regret against all u with |u_i| ≤ size(i) that the state holds, as that of bets does.
    fn bets(&self, _size: &dyn Fn(usize) -> f64) -> Option<f64> {
        None
    }

    /// ‖g·x‖₂ of a round that was made on this row, for the same certificate.
    #[inline]
    fn gradient<X: Row<f64>>(&self, round: &Round, x: X) -> f64 {
        round.slope.abs() * x.length()
    }

    /// Gives away everything that changes, as named arrays.
    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64]));

    /// Continues from what [`Walk::save`] gave, with the same bits as if there had been no interruption. On an
    /// error the walk is unchanged.
    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError>;
}

/// No weight, rate or slope may be larger: products of two stay finite, and so do sums of many.
pub(crate) const LARGEST: f64 = 1e150;

/// Values of features nearer to 0 are taken for 0 by the walks that divide by a feature's scale.
pub(crate) const SMALLEST: f64 = 1e-150;

/// What the example says about the prediction z, as a round that has not moved yet.
pub(crate) fn judge<L: Loss + ?Sized>(
    z: f64,
    target: Target,
    loss: &L,
    rate: f64,
) -> Result<Round, DomainError> {
    scalar("the prediction", z, Allowed::Finite)?;
    scalar("the importance weight", target.weight, Allowed::NonNegative)?;
    scalar("the rate", rate, Allowed::Closed(0.0, LARGEST))?;
    let (value, slope) = loss.value_and_slope(z, target.y);
    let (value, slope) = (target.weight * value, target.weight * slope);
    scalar("the loss", value, Allowed::Finite)?;
    scalar("the slope of the loss", slope, Allowed::Closed(-LARGEST, LARGEST))?;
    Ok(Round { z, loss: value, slope, rate, length: 0.0, event: Event::Inside })
}

#[inline(always)] // what is allowed is known where it is called
pub(crate) fn scalar(what: &'static str, value: f64, allowed: Allowed) -> Result<f64, DomainError> {
    if allowed.contains(value) {
        Ok(value)
    } else {
        Err(DomainError::Scalar { what, value, allowed })
    }
}

/// Refuses steps that are too long to be represented, and NaN.
pub(crate) fn length(length: f64) -> Result<f64, DomainError> {
    if length <= LARGEST {
        Ok(length)
    } else {
        Err(DomainError::Overflow { length, limit: LARGEST })
    }
}

/// Is the value of a feature large enough to count? True for NaN.
#[inline]
pub(crate) fn present(x: f64) -> bool {
    x.abs() >= SMALLEST || x.is_nan()
}

/// Refuses rows with values beyond 1e150, and NaN; gives the largest magnitude.
pub(crate) fn in_range<X: Row<f64>>(x: X) -> Result<f64, DomainError> {
    let (mut bad, mut largest) = (None, 0.0);
    x.each(|i, x| {
        if x.is_nan() || x.abs() > LARGEST {
            bad = Some((i, x));
        }
        largest = Real::max(largest, x.abs());
    });
    match bad {
        None => Ok(largest),
        Some((index, value)) => {
            let allowed = Allowed::Closed(-LARGEST, LARGEST);
            Err(DomainError::Coordinate { what: "the row", index, value, allowed })
        }
    }
}

/// out ← (start − θ)/η, the Γ of a walk whose dual coordinates θ began at `start` and moved by −ηg x; see
/// [`Walk::gamma`].
pub(crate) fn dual_gamma(
    theta: &[f64],
    start: f64,
    rate: Option<f64>,
    out: &mut Vec<f64>,
) -> Option<f64> {
    // A rate so small that products with it underflow would leave nothing of Γ.
    let rate = rate.filter(|&rate| Allowed::Closed(1e-100, LARGEST).contains(rate))?;
    out.clear();
    out.extend(theta.iter().map(|theta| (start - theta) / rate));
    Some(start.abs() / rate)
}

/// An array of a saved state, checked coordinate by coordinate.
pub(crate) fn array(
    get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    name: &'static str,
    allowed: Allowed,
) -> Result<Vec<f64>, ConfigError> {
    let values =
        get(name).ok_or(ConfigError::Missing { name, meaning: "an array of the saved state" })?;
    error::each(name, &values, allowed)?;
    Ok(values)
}

/// N numbers of a saved state.
pub(crate) fn numbers<const N: usize>(
    get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    name: &'static str,
    allowed: Allowed,
) -> Result<[f64; N], ConfigError> {
    let values = array(get, name, allowed)?;
    values
        .as_slice()
        .try_into()
        .map_err(|_| DomainError::Dimension { what: name, found: values.len(), expected: N }.into())
}

/// A count of a saved state.
pub(crate) fn count(
    get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    name: &'static str,
) -> Result<u64, ConfigError> {
    let [count] = numbers(get, name, Allowed::Whole(0))?;
    // Saturates; counts are far below 2^53.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Ok(count as u64)
}

/// An array of a saved state that has as many coordinates as another.
pub(crate) fn array_of(
    get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    name: &'static str,
    allowed: Allowed,
    n: usize,
) -> Result<Vec<f64>, ConfigError> {
    let values = array(get, name, allowed)?;
    if values.len() == n {
        Ok(values)
    } else {
        Err(DomainError::Dimension { what: name, found: values.len(), expected: n }.into())
    }
}
