//! # Positive weights, as logarithms
//! The state is ln w; the weights themselves are cached, so that a prediction needs no exponential.
//!
//! **Care** The logarithm of a factor is cut to ±700, and ln w to at most 345 (w < 1e150); both are counted. A weight that is
//! too small to be represented is 0 in predictions and alive in its logarithm.
//! **Cost** O(nnz). **Source** \[AW20, sec. 5\].

use super::entries::{Eight, Entries, Entry, Step};
use super::factor::{Counts, Factor, Moved, beyond_linear};
use super::shortfall::Shortfall;
use crate::Real;
use crate::error::{self, Allowed, ConfigError};
use crate::real::lanes::{self, Lanes, WIDTH, select};
use crate::row::Row;
use crate::walk::{self, LARGEST};

/// The largest ln w.
const LARGEST_LOGARITHM: f64 = 345.0;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Logarithms {
    start: f64,
    pub(super) entries: Entries,
    cut: Shortfall,
}

impl Logarithms {
    /// Every weight begins at `start`.
    pub(super) fn new(start: f64) -> Result<Self, ConfigError> {
        error::parameter("start", start, Allowed::Closed(1e-300, LARGEST))?;
        let start = Real::ln(start).min(LARGEST_LOGARITHM);
        Ok(Self { start, entries: Entries::default(), cut: Shortfall::default() })
    }

    pub(super) fn features(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn grow(&mut self, n: usize) {
        self.entries.grow(n, self.start);
    }

    /// ⟨w, x⟩.
    #[inline]
    pub(super) fn dot<X: Row<f64>>(&self, x: X) -> f64 {
        self.entries.dot(x)
    }

    /// Takes the row for a step; gives ⟨w, x⟩.
    #[inline]
    pub(super) fn take<X: Row<f64>>(&mut self, x: X) -> f64 {
        self.entries.take(x)
    }

    /// √Σ(w_i x_i)² of the row that was taken.
    pub(super) fn length(&self) -> f64 {
        let square = self.entries.sum(
            #[inline(always)]
            |x, w| (w * x) * (w * x),
        );
        square.sqrt()
    }

    /// Multiplies w_i by the factor of s(x_i, w_i), which is 0 where x_i is, on the row that was [taken](Self::take).
    pub(super) fn multiply(&mut self, factor: Factor, s: impl Fn(f64, f64) -> f64) -> Moved {
        let counts = Counts::default();
        let step = self.entries.each(Multiply {
            factor,
            s,
            counts,
            divergence: [0.0; WIDTH],
            clamped: [0.0; WIDTH],
        });
        // Saturates; rows are far shorter than 2^53.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let clamped = step.clamped.iter().sum::<f64>() as usize;
        Moved {
            // Rounding may leave a step of length 0 a little below it.
            divergence: Real::max(step.divergence.iter().sum(), 0.0),
            crossed: step.counts.crossed,
            clamped: step.counts.clamped + clamped,
        }
    }

    /// Notes what cuts took from the exponents τ·x_i of the step that was just made.
    #[cold]
    pub(super) fn note_cuts(&mut self, tau: f64) {
        let Self { entries, cut, .. } = self;
        entries.before(|i, x, from| {
            let to = entries.logarithm(i).unwrap_or(from);
            if (tau * x).abs() > f64::MAX_EXPONENT || to == LARGEST_LOGARITHM {
                cut.add(i, tau * x, from, to);
            }
        });
    }

    /// out ← Γ of exponents −ηg·x_i, if all cuts were [noted](Self::note_cuts); see [`Walk::gamma`](super::Walk::gamma).
    pub(super) fn gamma(&self, rate: Option<f64>, out: &mut Vec<f64>) -> Option<f64> {
        self.cut.gamma(self.entries.iter().map(|entry| entry.log), self.start, rate, out)
    }

    /// w_i; what it would begin with if it is not there.
    pub(super) fn weight(&self, i: usize) -> f64 {
        self.entries.weight(i).unwrap_or_else(|| lanes::exp(self.start))
    }

    /// out ← w.
    pub(super) fn read(&self, out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.entries.iter().map(|entry| entry.w));
    }

    /// ln w.
    pub(super) fn logarithms(&self, out: &mut Vec<f64>) {
        self.entries.logarithms(out);
    }

    pub(super) fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        let mut log = Vec::new();
        self.entries.logarithms(&mut log);
        put("log_w", &log);
        self.cut.save(put);
    }

    pub(super) fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let log = walk::array(get, "log_w", Allowed::Closed(f64::MIN, LARGEST_LOGARITHM))?;
        self.cut = Shortfall::load(get)?;
        self.entries = log.into_iter().map(Entry::new).collect::<Vec<_>>().into();
        Ok(())
    }
}

/// [`Logarithms::multiply`] on eight coordinates.
struct Multiply<S> {
    factor: Factor,
    s: S,
    counts: Counts,
    /// Σ of w·ln(w/w') − w + w'.
    divergence: Lanes,
    /// How many logarithms of weights were cut.
    clamped: Lanes,
}

impl<S: Fn(f64, f64) -> f64> Step for Multiply<S> {
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // lanes, all of the same k
    fn make(&mut self, eight: &Eight<'_>) -> (Lanes, Lanes) {
        // One operation after the other, each on all eight: compilers see vectors in that.
        let mut s = [0.0; WIDTH];
        for k in 0..WIDTH {
            s[k] = (self.s)(eight.x[k], eight.w[k]);
        }
        s = self.factor.factors(s, &mut self.counts).log;
        let mut log = [0.0; WIDTH];
        for k in 0..WIDTH {
            let to = eight.log[k] + s[k];
            let cut = to > LARGEST_LOGARITHM;
            log[k] = select(cut, LARGEST_LOGARITHM, to);
            s[k] = select(cut, LARGEST_LOGARITHM - eight.log[k], s[k]);
            self.clamped[k] += select(cut, 1.0, 0.0);
        }
        let w = lanes::map(log, lanes::exp);
        for k in 0..WIDTH {
            self.divergence[k] += beyond_linear(eight.w[k], w[k], s[k]);
        }
        (log, w)
    }
}
