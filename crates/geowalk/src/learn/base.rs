//! # The `Walk` trait
//! All walks implement [`Walk`]. This file also has the checks and the readers of saved states that walks share.

use super::gauge::Gauge;
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::Event;
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Round, Target};

/// The weights of a learner, and the rule that updates them.
pub trait Walk: Send + Sync {
    /// Number of features that have a weight.
    fn features(&self) -> usize;

    /// Makes room for all features below `n`.
    fn grow(&mut self, n: usize);

    /// z = ⟨w, x⟩. Features without a weight count as weight 0.
    fn predict<X: Row<f64>>(&self, x: X) -> f64;

    /// Predicts, then updates the weights. New features of the row get an initial weight first. On an error the
    /// weights are unchanged.
    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError>;

    /// The effect of the last step on the state that this walk shares with the walks of the other softmax classes; 0
    /// if no state is shared.
    fn pull(&self) -> f64 {
        0.0
    }

    /// Repeats the update of the shared state in the last step, with the combined pull of all classes.
    fn follow(&mut self, _pull: f64) {}

    /// Copies the state that walks of one softmax share.
    fn share(&mut self, _other: &Self) {}

    /// w ← the weights, one per feature.
    fn read(&self, w: &mut Vec<f64>);

    /// A factor common to all weights, which any step may change.
    fn common(&self) -> f64 {
        1.0
    }

    /// w_i without the [common](Walk::common) factor, if a step changes only the weights of the row's features; `None`
    /// if it changes all of them.
    fn local(&self, _i: usize) -> Option<f64> {
        None
    }

    /// Logarithm of the total factor by which all [local](Walk::local) weights have been multiplied so far, and the
    /// common factor divided.
    fn unit(&self) -> f64 {
        0.0
    }

    /// The effect of a row per unit of rate and slope. All its features must have weights.
    fn gauge<X: Row<f64>>(&self, x: X) -> Gauge {
        Gauge::euclidean(x)
    }

    /// out ← Γ = Σ g_t x_t of all steps so far, if the state contains it. `rate` is the rate of all steps, if it was
    /// constant. The [first-order certificate](crate::certify::FirstOrder) then needs no separate vector. Returns
    /// `None` if Γ is not available. Otherwise returns b ≥ 0 such that each coordinate is as exact as a plain sum of
    /// the terms and one extra term of size b, each rounded at most four times. Values of the row below 1e-150 are
    /// left out.
    fn gamma(&self, _rate: Option<f64>, _out: &mut Vec<f64>) -> Option<f64> {
        None
    }

    /// Upper bounds on ‖w‖₂ and ‖Γ‖₂, close to them, if the state contains [Γ](Walk::gamma). Takes one pass without
    /// copies, for certificates that are evaluated often.
    fn lengths(&self, _rate: Option<f64>) -> Option<(f64, f64)> {
        None
    }

    /// A bound on the regret against all u with |u_i| ≤ size(i), if the state contains one, as in betting algorithms.
    fn bets(&self, _size: &dyn Fn(usize) -> f64) -> Option<f64> {
        None
    }

    /// ‖g·x‖₂ of a round made on this row, for the first-order certificate.
    #[inline]
    fn gradient<X: Row<f64>>(&self, round: &Round, x: X) -> f64 {
        round.slope.abs() * x.length()
    }

    /// Kind and parameters. Only a walk for which this is the same can go on from a saved state.
    fn spec(&self) -> String;

    /// Gives away everything that changes, as named arrays, and what walk it belongs to.
    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put(KIND, &kind(&self.spec()));
        self.save_state(put);
    }

    /// Continues from what [`Walk::save`] gave, with the same bits as if there had been no interruption. The state of
    /// a walk of another kind, or with other parameters, is an error. On an error the walk is unchanged.
    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let found = array(get, KIND, Allowed::Closed(0.0, 255.0))?;
        let expected = self.spec();
        if found != kind(&expected) {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked above
            let bytes: Vec<u8> = found.iter().map(|&byte| byte as u8).collect();
            let found = String::from_utf8_lossy(&bytes).into_owned();
            return Err(ConfigError::OtherWalk { found, expected: cut(&expected) });
        }
        self.load_state(get)
    }

    /// [`save`](Walk::save) without the kind, for files that name the walk themselves.
    fn save_state(&self, put: &mut dyn FnMut(&'static str, &[f64]));

    /// Continues from what [`save_state`](Walk::save_state) gave. The caller vouches that it was a walk like this one.
    fn load_state(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError>;
}

/// The name of the saved array that says what walk a state belongs to.
const KIND: &str = "kind";

/// The bytes of a specification; of a long one the beginning and a hash of the whole.
fn kind(spec: &str) -> Vec<f64> {
    cut(spec).bytes().map(f64::from).collect()
}

fn cut(spec: &str) -> String {
    const LONGEST: usize = 120;
    if spec.len() <= LONGEST {
        return spec.to_owned();
    }
    let hash = spec.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let start: String = spec.chars().take(LONGEST / 2).collect();
    format!("{start}… (hash {hash:016x})")
}

/// Upper limit of weights, rates and slopes: products of two stay finite, and so do long sums.
pub(crate) const LARGEST: f64 = 1e150;

/// Walks that divide by a feature's scale treat smaller values as 0.
pub(crate) const SMALLEST: f64 = 1e-150;

/// Evaluates the loss at the prediction z. Returns a round without a move.
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

#[inline(always)] // the allowed set is a constant at the call
pub(crate) fn scalar(what: &'static str, value: f64, allowed: Allowed) -> Result<f64, DomainError> {
    if allowed.contains(value) {
        Ok(value)
    } else {
        Err(DomainError::Scalar { what, value, allowed })
    }
}

/// Returns an error if a step is too long to be represented, or NaN.
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

/// Returns the largest magnitude of a row. Values beyond 1e150 and NaN are errors.
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

/// out ← (start − θ)/η, the Γ of a walk whose dual coordinates θ began at `start` and changed by −ηg x; see
/// [`Walk::gamma`].
pub(crate) fn dual_gamma(
    theta: &[f64],
    start: f64,
    rate: Option<f64>,
    out: &mut Vec<f64>,
) -> Option<f64> {
    // At a rate so small that products with it underflow, Γ would be lost.
    let rate = rate.filter(|&rate| Allowed::Closed(1e-100, LARGEST).contains(rate))?;
    out.clear();
    out.extend(theta.iter().map(|theta| (start - theta) / rate));
    Some(start.abs() / rate)
}

/// Loads an array of a saved state and checks every coordinate.
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

/// Loads N numbers of a saved state.
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

/// Loads a count of a saved state.
pub(crate) fn count(
    get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    name: &'static str,
) -> Result<u64, ConfigError> {
    let [count] = numbers(get, name, Allowed::Whole(0))?;
    // The cast saturates; counts are far below 2^53.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Ok(count as u64)
}

/// Loads an array of a saved state that must have the same length as another.
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
