//! # Errors
//! Every error carries the numbers: what was found, what is allowed, where. None carries a ready-made sentence, so
//! that a front end can say the same thing in its own form (an exit message, a Python exception, a JSON field).

use std::fmt;

/// A point, vector or argument that is outside the domain of an operation, with the amount of the violation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DomainError {
    /// A slice of the wrong length.
    #[error("{what} has {found} coordinates; {expected} are needed")]
    Dimension {
        /// Which argument.
        what: &'static str,
        /// The length it has.
        found: usize,
        /// The length it must have.
        expected: usize,
    },
    /// A coordinate that is NaN, infinite, or outside its interval.
    #[error("coordinate {index} of {what} is {}; it must be {allowed}", short(*value))]
    Coordinate {
        /// Which argument.
        what: &'static str,
        /// Position of the coordinate.
        index: usize,
        /// The value found there.
        value: f64,
        /// The values allowed.
        allowed: Allowed,
    },
    /// A quantity (a norm, a sum, an inner product) that does not have the value the manifold demands.
    #[error("{quantity} is {}; it must be {} within {tolerance:e}", short(*found), short(*expected))]
    Constraint {
        /// What was measured, in words: `"the norm of the point"`.
        quantity: &'static str,
        /// The value found.
        found: f64,
        /// The value demanded.
        expected: f64,
        /// The deviation that would have been accepted.
        tolerance: f64,
    },
    /// A matrix that is not positive definite.
    #[error("the matrix is not positive definite: its smallest eigenvalue is {}", short(*smallest))]
    NotDefinite {
        /// The smallest eigenvalue found (NaN if none could be computed).
        smallest: f64,
    },
    /// A matrix that is not symmetric.
    #[error(
        "the matrix is not symmetric: entries ({row}, {column}) and ({column}, {row}) differ by {difference:e}"
    )]
    NotSymmetric {
        /// Row of the first entry.
        row: usize,
        /// Column of the first entry.
        column: usize,
        /// The difference of the two entries.
        difference: f64,
    },
    /// `log` between points that no unique shortest geodesic joins.
    #[error(
        "no unique shortest geodesic: the points are {distance} apart and the cut locus begins at {limit}"
    )]
    CutLocus {
        /// Distance of the two points.
        distance: f64,
        /// The distance from which on the logarithm is not unique.
        limit: f64,
    },
    /// A step so long that the result would overflow.
    #[error(
        "a step of length {} overflows; the longest allowed is {}; use a smaller rate",
        short(*length),
        short(*limit)
    )]
    Overflow {
        /// Length of the step.
        length: f64,
        /// The largest length that can be computed.
        limit: f64,
    },
    /// A scalar argument outside its interval.
    #[error("{what} is {}; it must be {allowed}", short(*value))]
    Scalar {
        /// Which argument.
        what: &'static str,
        /// The value found.
        value: f64,
        /// The values allowed.
        allowed: Allowed,
    },
    /// An iteration that did not reach its tolerance.
    #[error("{what} did not converge: residual {residual:e} after {iterations} iterations")]
    NotConverged {
        /// Which computation.
        what: &'static str,
        /// What remained.
        residual: f64,
        /// How many iterations were made.
        iterations: usize,
    },
    /// An equation without a sign change where one must be: there is no root between the ends, or none that can be told
    /// from rounding error.
    #[error("{what} has no sign change between {lo:e} and {hi:e}: it is {at_lo:e} and {at_hi:e}")]
    NoRoot {
        /// Which equation.
        what: &'static str,
        /// One end of the interval.
        lo: f64,
        /// The other end.
        hi: f64,
        /// The function at `lo`.
        at_lo: f64,
        /// The function at `hi`.
        at_hi: f64,
    },
    /// A feature that never errs, for a loss without a finite minimiser.
    #[error(
        "the feature never errs on the {examples} examples: its best leverage is infinite; allow a cap, or stop there"
    )]
    Separable {
        /// How many examples there are.
        examples: usize,
    },
    /// A computation on empty input.
    #[error("{what} is empty")]
    Empty {
        /// Which argument.
        what: &'static str,
    },
}

/// A set of scalars, as an error message states it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Allowed {
    /// Any finite number.
    Finite,
    /// A finite number > 0.
    Positive,
    /// A finite number ≥ 0.
    NonNegative,
    /// A finite number < 0.
    Negative,
    /// lo ≤ x ≤ hi.
    Closed(f64, f64),
    /// lo < x < hi.
    Open(f64, f64),
    /// lo < x ≤ hi.
    OpenClosed(f64, f64),
    /// lo ≤ x < hi.
    ClosedOpen(f64, f64),
    /// A whole number ≥ the given one.
    Whole(usize),
    /// −1 or +1.
    Sign,
    /// 0 or 1.
    Indicator,
}

impl Allowed {
    /// Is `x` in the set? NaN and infinities never are.
    #[inline]
    pub fn contains(self, x: f64) -> bool {
        x.is_finite()
            && match self {
                Self::Finite => true,
                Self::Positive => x > 0.0,
                Self::NonNegative => x >= 0.0,
                Self::Negative => x < 0.0,
                Self::Closed(lo, hi) => lo <= x && x <= hi,
                Self::Open(lo, hi) => lo < x && x < hi,
                Self::OpenClosed(lo, hi) => lo < x && x <= hi,
                Self::ClosedOpen(lo, hi) => lo <= x && x < hi,
                Self::Whole(least) => x >= least as f64 && x == x.floor(),
                Self::Sign => x == 1.0 || x == -1.0,
                Self::Indicator => x == 0.0 || x == 1.0,
            }
    }
}

/// A number as people write it: 1e300 and not its 301 digits.
fn short(x: f64) -> String {
    let plain = x == 0.0 || (1e-5..1e16).contains(&x.abs());
    if plain { format!("{x}") } else { format!("{x:e}") }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finite => write!(f, "a finite number"),
            Self::Positive => write!(f, "a finite number > 0"),
            Self::NonNegative => write!(f, "a finite number >= 0"),
            Self::Negative => write!(f, "a finite number < 0"),
            Self::Closed(lo, hi) => write!(f, "in [{}, {}]", short(*lo), short(*hi)),
            Self::Open(lo, hi) => write!(f, "in ({}, {})", short(*lo), short(*hi)),
            Self::OpenClosed(lo, hi) => write!(f, "in ({}, {}]", short(*lo), short(*hi)),
            Self::ClosedOpen(lo, hi) => write!(f, "in [{}, {})", short(*lo), short(*hi)),
            Self::Whole(least) => write!(f, "a whole number >= {least}"),
            Self::Sign => write!(f, "-1 or +1"),
            Self::Indicator => write!(f, "0 or 1"),
        }
    }
}

/// A specification that cannot be built: an unknown name, a parameter that is missing, superfluous or out of range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A parameter outside its range.
    #[error("{name} = {}; it must be {allowed}", short(*value))]
    OutOfRange {
        /// Name of the parameter.
        name: &'static str,
        /// The value given.
        value: f64,
        /// The values allowed.
        allowed: Allowed,
    },
    /// A name that is not in the table.
    #[error(
        "unknown {kind} '{name}'{}{}",
        nearest.as_ref().map(|n| format!(" (did you mean '{n}'?)")).unwrap_or_default(),
        if nearest.is_some() && known.split(", ").count() > 20 {
            String::new() // too many to read, where one of them is near
        } else {
            format!("; known: {known}")
        }
    )]
    Unknown {
        /// What was looked up: `"geometry"`, `"loss"`, …
        kind: &'static str,
        /// The name given.
        name: String,
        /// The nearest known name, if one is near.
        nearest: Option<String>,
        /// All known names, separated by commas.
        known: String,
    },
    /// Text that does not follow `name(param=value, ...)`.
    #[error("'{text}': {expected} expected at column {column}")]
    Syntax {
        /// The text that was parsed.
        text: String,
        /// 1-based column of the first character that does not fit.
        column: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// A parameter that must be given and is not.
    #[error("{name} is missing: {meaning}")]
    Missing {
        /// Name of the parameter.
        name: &'static str,
        /// What it is.
        meaning: &'static str,
    },
    /// A parameter that is given more than once.
    #[error("{name} is given twice")]
    Twice {
        /// Name of the parameter.
        name: String,
    },
    /// A geometry that cannot have so many weights.
    #[error("'{spec}' cannot have {features} weights (features and intercept); {fits} would fit")]
    Width {
        /// The geometry as it was asked for.
        spec: String,
        /// How many features the rows have, the intercept included.
        features: usize,
        /// The nearest numbers of features that it can have.
        fits: String,
    },
    /// Numbers that are outside the domain of what is built from them.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// A loss or function of the user's that does not have a property it must have.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// Why a user's own function was refused, with the place where it breaks the condition.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("refused: {condition} fails at {at}: found {found}, needed {needed}")]
pub struct Refusal {
    /// The condition, in words: `"convexity"`.
    pub condition: &'static str,
    /// The argument at which it fails.
    pub at: f64,
    /// The value found.
    pub found: f64,
    /// What was needed, in words and numbers.
    pub needed: String,
}

/// Checks that a slice has the right length and only finite coordinates.
pub(crate) fn finite<F: crate::Real>(
    what: &'static str,
    x: &[F],
    expected: usize,
) -> Result<(), DomainError> {
    if x.len() != expected {
        return Err(DomainError::Dimension { what, found: x.len(), expected });
    }
    each(what, x, Allowed::Finite)
}

/// Checks each coordinate of a slice.
pub(crate) fn each<F: crate::Real>(
    what: &'static str,
    x: &[F],
    allowed: Allowed,
) -> Result<(), DomainError> {
    match x.iter().position(|v| !allowed.contains(v.f64())) {
        Some(index) => Err(DomainError::Coordinate { what, index, value: x[index].f64(), allowed }),
        None => Ok(()),
    }
}

/// Checks a parameter of a constructor.
pub(crate) fn parameter(
    name: &'static str,
    value: f64,
    allowed: Allowed,
) -> Result<f64, ConfigError> {
    if allowed.contains(value) {
        Ok(value)
    } else {
        Err(ConfigError::OutOfRange { name, value, allowed })
    }
}
