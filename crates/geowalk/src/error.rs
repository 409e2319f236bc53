//! # Errors
//! Every error carries the numbers: the value found, the values allowed, and where it was found. Front ends format
//! these fields in their own way (an exit message, a Python exception, a JSON object).

use std::fmt;

/// A point, vector or argument outside the domain of an operation, with the size of the violation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DomainError {
    /// A slice of the wrong length.
    #[error("{what} has {found} coordinates; {expected} are needed")]
    Dimension {
        /// Name of the argument.
        what: &'static str,
        /// Its length.
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
    /// A quantity (a norm, a sum, an inner product) that does not have the value that the manifold requires.
    #[error("{quantity} is {}; it must be {} within {tolerance:e}", short(*found), short(*expected))]
    Constraint {
        /// The quantity that was measured, in words: `"the norm of the point"`.
        quantity: &'static str,
        /// The value found.
        found: f64,
        /// The required value.
        expected: f64,
        /// Largest deviation that is accepted.
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
    /// `log` of two points that are not joined by a unique shortest geodesic.
    #[error(
        "no unique shortest geodesic: the points are {distance} apart and the cut locus begins at {limit}"
    )]
    CutLocus {
        /// Distance of the two points.
        distance: f64,
        /// The distance from which on the logarithm is not unique (the injectivity radius).
        limit: f64,
    },
    /// A step so long that its result would overflow.
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
        /// Name of the argument.
        what: &'static str,
        /// The value found.
        value: f64,
        /// The values allowed.
        allowed: Allowed,
    },
    /// An iteration that did not reach its tolerance.
    #[error("{what} did not converge: residual {residual:e} after {iterations} iterations")]
    NotConverged {
        /// Name of the computation.
        what: &'static str,
        /// The residual after the last iteration.
        residual: f64,
        /// Number of iterations made.
        iterations: usize,
    },
    /// A function without a sign change on the interval: it has no root between the ends, or none that can be
    /// distinguished from rounding error.
    #[error("{what} has no sign change between {lo:e} and {hi:e}: it is {at_lo:e} and {at_hi:e}")]
    NoRoot {
        /// Name of the equation.
        what: &'static str,
        /// One end of the interval.
        lo: f64,
        /// The other end.
        hi: f64,
        /// Value of the function at `lo`.
        at_lo: f64,
        /// Value of the function at `hi`.
        at_hi: f64,
    },
    /// A feature without errors, for a loss without a finite minimiser: the best leverage is infinite.
    #[error(
        "the feature never errs on the {examples} examples: its best leverage is infinite; allow a cap, or stop there"
    )]
    Separable {
        /// Number of examples.
        examples: usize,
    },
    /// An operation that this geometry has not, or that failed in code of the user's.
    #[error("{what} is not defined here")]
    Undefined {
        /// Which operation.
        what: &'static str,
    },
    /// A computation on empty input.
    #[error("{what} is empty")]
    Empty {
        /// Name of the argument.
        what: &'static str,
    },
}

/// A set of allowed scalars, printed in error messages.
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

/// Formats a number briefly: 1e300 instead of its 301 digits.
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

/// The known names, unless they are too many to read.
fn others(kind: &str, is_near: bool, known: &str) -> String {
    match known.split(", ").count() {
        0..=20 => format!("; known: {known}"),
        _ if is_near => String::new(),
        count => {
            let first: Vec<&str> = known.split(", ").take(4).collect();
            let plural = match kind.strip_suffix('y') {
                Some(stem) => format!("{stem}ies"),
                None => format!("{kind}s"),
            };
            format!(
                "; {count} are known, such as {}: see `geowalk list {plural}`",
                first.join(", ")
            )
        }
    }
}

/// A specification that cannot be built: an unknown name, or a parameter that is missing, superfluous or out of range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A parameter outside its range.
    #[error("{name} = {}; it must be {allowed}", short(*value))]
    OutOfRange {
        /// Name of the parameter.
        name: &'static str,
        /// The given value.
        value: f64,
        /// The values allowed.
        allowed: Allowed,
    },
    /// A name that is not in the table.
    #[error(
        "unknown {kind} '{name}'{}{}",
        nearest.as_ref().map(|n| format!(" (did you mean '{n}'?)")).unwrap_or_default(),
        others(kind, nearest.is_some(), known)
    )]
    Unknown {
        /// The kind of thing that was looked up: `"geometry"`, `"loss"`, …
        kind: &'static str,
        /// The given name.
        name: String,
        /// The nearest known name, if one is close.
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
        /// The element that is expected there.
        expected: &'static str,
    },
    /// A required parameter that is absent.
    #[error("{name} is missing: {meaning}")]
    Missing {
        /// Name of the parameter.
        name: &'static str,
        /// The meaning of the parameter.
        meaning: &'static str,
    },
    /// A parameter that is given more than once.
    #[error("{name} is given twice")]
    Twice {
        /// Name of the parameter.
        name: String,
    },
    /// A saved state of another walk.
    #[error(
        "the saved state is that of {found}, and this walk is {expected}; build the walk that was saved"
    )]
    OtherWalk {
        /// The walk that was saved.
        found: String,
        /// The walk that was to go on.
        expected: String,
    },
    /// A geometry that cannot have this number of weights.
    #[error("'{spec}' cannot have {features} weights (features and intercept); {fits} would fit")]
    Width {
        /// The geometry as requested.
        spec: String,
        /// Number of features of the rows, including the intercept.
        features: usize,
        /// The nearest numbers of features that are possible.
        fits: String,
    },
    /// Numbers outside the domain of the object to be built.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// A user's loss or function without a required property.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// For what is converted without a failure.
impl From<std::convert::Infallible> for ConfigError {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

/// The reason why a user's function was refused, with the place where it violates the condition.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("refused: {condition} fails at {at}: found {found}, needed {needed}")]
pub struct Refusal {
    /// The condition, in words: `"convexity"`.
    pub condition: &'static str,
    /// The argument at which the condition fails.
    pub at: f64,
    /// The value found.
    pub found: f64,
    /// The required value, in words and numbers.
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

/// Checks that every coordinate of a slice is in the allowed set.
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

/// Checks that a constructor's parameter is in the allowed set.
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
