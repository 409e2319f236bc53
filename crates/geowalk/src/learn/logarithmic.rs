//! # Positive weights, stored as logarithms
//! The state is ln w; the weights themselves are cached, so that a prediction needs no exponential.
//!
//! **Care** The logarithm of a factor is clipped to ±700, and ln w to at most 345 (w < 1e150); both are counted. A
//! weight that underflows is 0 in predictions, but its logarithm is kept.
//! **Cost** O(nnz). **Source** \[AW20, sec. 5\].

use super::clip_remainder::ClipRemainder;
use super::entries::{Coords8, Entries, Entry, Step};
use super::factor::{Counts, Factor, Moved, beyond_linear};
use super::{Chart, Get, Moves, Put, RowSummary};
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::Event;
use crate::learn::base::{self, LARGEST};
use crate::real::lanes::{self, Lanes, WIDTH, select};
use crate::row::Row;
use crate::update::Round;

/// The exponent of a step: the change of ln w_i.
pub trait Exponent: Copy {
    /// The type of factor with this exponent.
    const FACTOR: Factor = Factor::Exponential;
    /// Are the exponents τ·x_i? If so, the logarithms contain Γ, and the divergence is the length of the step.
    const MIRROR: bool = true;

    /// τ.
    fn tau(self) -> f64;

    /// The exponent of a coordinate with value x and weight w; 0 if x is 0.
    fn of(self, x: f64, w: f64) -> f64;
}

/// The largest ln w.
const LARGEST_LOGARITHM: f64 = 345.0;

/// ln w, and the cached weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Logarithmic {
    start: f64,
    pub(crate) entries: Entries,
    cut: ClipRemainder,
    /// Number of coordinates that have crossed 0, in geometries where that can happen.
    folds: Option<u64>,
}

impl Logarithmic {
    /// All weights start at `start`.
    pub(crate) fn new(start: f64) -> Result<Self, ConfigError> {
        error::parameter("start", start, Allowed::Closed(1e-300, LARGEST))?;
        let start = Real::ln(start).min(LARGEST_LOGARITHM);
        let (entries, cut) = (Entries::default(), ClipRemainder::default());
        Ok(Self { start, entries, cut, folds: None })
    }

    /// The logarithm at which every weight begins.
    pub(crate) fn start(&self) -> f64 {
        self.start
    }

    /// Like `new`, for a geometry whose coordinates can cross 0: crossings are counted.
    pub(crate) fn folding(start: f64) -> Result<Self, ConfigError> {
        Ok(Self { folds: Some(0), ..Self::new(start)? })
    }

    /// √Σ(w_i x_i)² of the row passed to [`look`](Chart::look).
    pub(crate) fn length(&self) -> f64 {
        let square = self.entries.sum(
            #[inline(always)]
            |x, w| (w * x) * (w * x),
        );
        square.sqrt()
    }

    /// Multiplies w_i by the factor of s(x_i, w_i), which is 0 if x_i is, for the row passed to [`look`](Chart::look).
    pub(crate) fn multiply(&mut self, factor: Factor, s: impl Fn(f64, f64) -> f64) -> Moved {
        let counts = Counts::default();
        let step = self.entries.each(Multiply {
            factor,
            s,
            counts,
            divergence: [0.0; WIDTH],
            clamped: [0.0; WIDTH],
        });
        // The cast saturates; rows are far shorter than 2^53.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let clamped = step.clamped.iter().sum::<f64>() as usize;
        Moved {
            // Rounding may make the divergence of a step of length 0 slightly negative.
            divergence: Real::max(step.divergence.iter().sum(), 0.0),
            crossed: step.counts.crossed,
            clamped: step.counts.clamped + clamped,
        }
    }

    /// Records how much clipping changed the exponents τ·x_i of the step just made.
    #[cold]
    pub(crate) fn note_cuts(&mut self, tau: f64) {
        let Self { entries, cut, .. } = self;
        entries.before(|i, x, from| {
            let to = entries.logarithm(i).unwrap_or(from);
            if (tau * x).abs() > f64::MAX_EXPONENT || to == LARGEST_LOGARITHM {
                cut.add(i, tau * x, from, to);
            }
        });
    }
}

impl Chart for Logarithmic {
    fn features(&self) -> usize {
        self.entries.len()
    }

    fn grow(&mut self, n: usize) {
        self.entries.grow(n, self.start);
    }

    #[inline]
    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        self.entries.dot(x)
    }

    #[inline]
    fn look<X: Row<f64>>(&mut self, x: X) -> RowSummary {
        RowSummary { z: self.entries.take(x), size: 0.0 }
    }

    fn local(&self, i: usize) -> f64 {
        self.entries.weight(i).unwrap_or_else(|| lanes::exp(self.start))
    }

    fn gamma(&self, rate: Option<f64>, out: &mut Vec<f64>) -> Option<f64> {
        self.cut.gamma(self.entries.iter().map(|entry| entry.log), self.start, rate, out)
    }

    fn folds(&self) -> u64 {
        self.folds.unwrap_or(0)
    }

    fn logarithms(&self, out: &mut Vec<f64>) {
        self.entries.logarithms(out);
    }

    fn save(&self, put: Put<'_>) {
        let mut log = Vec::new();
        self.entries.logarithms(&mut log);
        put("log_w", &log);
        self.cut.save(put);
        if let Some(folds) = self.folds {
            put("folds", &[folds as f64]);
        }
    }

    fn load(&mut self, get: Get<'_>) -> Result<(), ConfigError> {
        let folds = self.folds.is_some().then(|| base::count(get, "folds")).transpose()?;
        let log = base::array(get, "log_w", Allowed::Closed(f64::MIN, LARGEST_LOGARITHM))?;
        self.cut = ClipRemainder::load(get)?;
        self.entries = log.into_iter().map(Entry::new).collect::<Vec<_>>().into();
        self.folds = folds;
        Ok(())
    }
}

impl<E: Exponent> Moves<E> for Logarithmic {
    fn apply<X: Row<f64>>(&mut self, _: X, by: E, round: &mut Round) -> Result<(), DomainError> {
        let moved = self.multiply(
            E::FACTOR,
            #[inline(always)]
            |x, w| by.of(x, w),
        );
        if E::MIRROR {
            round.length = (2.0 * moved.divergence).sqrt();
        }
        if let Some(folds) = &mut self.folds {
            *folds += moved.crossed as u64;
        }
        if moved.clamped > 0 {
            round.event = Event::Clamped { coordinates: moved.clamped };
            if E::MIRROR && E::FACTOR == Factor::Exponential {
                self.note_cuts(by.tau());
            }
        } else if moved.crossed > 0 {
            round.event = Event::Folded { coordinates: moved.crossed };
        }
        Ok(())
    }
}

/// [`Logarithmic::multiply`] on eight coordinates.
struct Multiply<S> {
    factor: Factor,
    s: S,
    counts: Counts,
    /// Σ of w·ln(w/w') − w + w'.
    divergence: Lanes,
    /// Number of clipped logarithms of weights.
    clamped: Lanes,
}

impl<S: Fn(f64, f64) -> f64> Step for Multiply<S> {
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // lanes with the same index k
    fn make(&mut self, coords: &Coords8<'_>) -> (Lanes, Lanes) {
        // One operation at a time on all eight lanes, so that the compiler vectorises them.
        let mut s = [0.0; WIDTH];
        for k in 0..WIDTH {
            s[k] = (self.s)(coords.x[k], coords.w[k]);
        }
        s = self.factor.factors(s, &mut self.counts).log;
        let mut log = [0.0; WIDTH];
        for k in 0..WIDTH {
            let to = coords.log[k] + s[k];
            let cut = to > LARGEST_LOGARITHM;
            log[k] = select(cut, LARGEST_LOGARITHM, to);
            s[k] = select(cut, LARGEST_LOGARITHM - coords.log[k], s[k]);
            self.clamped[k] += select(cut, 1.0, 0.0);
        }
        let w = lanes::map(log, lanes::exp);
        for k in 0..WIDTH {
            self.divergence[k] += beyond_linear(coords.w[k], w[k], s[k]);
        }
        (log, w)
    }
}
