//! # Positive weights, as logarithms
//! The state is ln w; the weights themselves are cached, so that a prediction needs no exponential.
//!
//! **Care** The logarithm of a factor is cut to ±700, and ln w to at most 345 (w < 1e150); both are counted. A weight that is
//! too small to be represented is 0 in predictions and alive in its logarithm.
//! **Cost** O(nnz). **Source** \[AW20, sec. 5\].

use super::partition::{Factor, Moved, beyond_linear};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};
use crate::row::Row;
use crate::walk::{self, LARGEST};

/// The largest ln w.
const LARGEST_LOGARITHM: f64 = 345.0;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Logarithms {
    start: f64,
    pub(super) log: Vec<f64>,
    pub(super) w: Vec<f64>,
}

impl Logarithms {
    /// Every weight begins at `start`.
    pub(super) fn new(start: f64) -> Result<Self, ConfigError> {
        error::parameter("start", start, Allowed::Closed(1e-300, LARGEST))?;
        Ok(Self { start: Real::ln(start).min(LARGEST_LOGARITHM), log: Vec::new(), w: Vec::new() })
    }

    pub(super) fn grow(&mut self, n: usize) {
        if n > self.w.len() {
            self.log.resize(n, self.start);
            self.w.resize(n, Real::exp(self.start));
        }
    }

    /// Multiplies w_i by the factor of s(x_i, w_i).
    pub(super) fn multiply<X: Row<f64>>(
        &mut self,
        x: X,
        factor: Factor,
        s: impl Fn(f64, f64) -> f64,
    ) -> Moved {
        let mut moved = Moved::default();
        let Self { log, w, .. } = self;
        x.each(|i, x| {
            let (Some(log), Some(w)) = (log.get_mut(i), w.get_mut(i)) else { return };
            let (s, crossing) = factor.logarithm(s(x, *w));
            moved.count(crossing);
            let to = (*log + s).min(LARGEST_LOGARITHM);
            let s = if to < *log + s {
                moved.clamped += 1;
                to - *log
            } else {
                s
            };
            *log = to;
            let new = Real::exp(*log);
            // D(w‖w') = w·ln(w/w') − w + w'.
            moved.divergence += beyond_linear(*w, new, s);
            *w = new;
        });
        // Rounding may leave a step of length 0 a little below it.
        moved.divergence = Real::max(moved.divergence, 0.0);
        moved
    }

    /// w_i; what it would begin with if it is not there.
    pub(super) fn weight(&self, i: usize) -> f64 {
        self.w.get(i).copied().unwrap_or_else(|| Real::exp(self.start))
    }

    /// ln w.
    pub(super) fn logarithms(&self, out: &mut Vec<f64>) {
        out.clone_from(&self.log);
    }

    pub(super) fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("log_w", &self.log);
    }

    pub(super) fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        self.log = walk::array(get, "log_w", Allowed::Closed(f64::MIN, LARGEST_LOGARITHM))?;
        self.w = self.log.iter().map(|&log| Real::exp(log)).collect();
        Ok(())
    }
}
