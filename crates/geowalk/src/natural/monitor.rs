//! # Convergence monitor
//! Cheap estimates of the distance to the optimum. They are the same in every gauge: adding one vector to the
//! coefficients of all classes changes neither predictions nor these numbers.
//!
//! * **Natural decrement** For two independent examples x, x′ at the same parameters,
//!   $$E\Bigl[\sum_c v_c\,v'_c\,K_c(x', x)/p_c\Bigr] = \nabla L^\top G_\zeta^{-1}\,\nabla L ,$$
//!   and because $H \preceq G$, the gap $L - \min L$ near the optimum is at least half of it. The kernel is not
//!   computed: it is the change that a step at x causes in the logits of x′. Every sixteenth pair of neighbours is
//!   used, with weights that grow with t.
//! * **Gain of the average** The mean loss of the last iterate minus that of the average, on the same examples before
//!   they are learned.
//! * **Separation** The number of consecutive correct classifications, and the largest difference of logits. If no
//!   example of the last half was wrong, the classes may be separable. Then there is no finite optimum, and logits
//!   drift like log t.
//!
//! **Cost** O(k/16) extra. **Care** The decrement is an estimate whose standard error exceeds the gap once a run has
//! converged. **Source** \[SC21, eq. (42)\] for the inner product.

use super::statistic::Statistic;

/// A pair is taken every this many examples.
pub(crate) const EVERY: u64 = 16;

/// Running sums.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Monitor {
    /// Σ w, Σ w d, Σ w d², Σ w² of the pairs.
    sums: [f64; 4],
    /// Σ w, Σ w (loss of the iterate − loss of the average).
    gain: [f64; 2],
    /// Examples since the last mistake.
    right: u64,
    /// The largest difference of two logits.
    widest: f64,
    /// The first example of a pair: its statistics, and v.
    pub(crate) probe: Vec<Statistic>,
    pub(crate) residual: Vec<f64>,
}

/// The state of convergence of a run.
///
/// ```
/// use geowalk::natural::{AnyFamily, Natural, Settings};
/// use geowalk::row::Dense;
/// let mut walk = Natural::new(AnyFamily::parse("gaussian-shared")?, Settings::default())?;
/// for t in 0..200 {
///     let x = f64::from(t % 7) - 3.0;
///     walk.step(Dense(&[x]), usize::from(x > 0.0), 1.0)?;
/// }
/// let report = walk.report();
/// assert!(report.separable, "x > 0 decides, and no finite coefficients are best: {report:?}");
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// A lower estimate of L − min L, from pairs of examples; NaN before the first pair.
    pub gap: f64,
    /// The standard error of the gap.
    pub gap_error: f64,
    /// Mean loss of the last iterate minus that of the average; 0 without averages.
    pub gain: f64,
    /// Examples since the last mistake.
    pub right: u64,
    /// The largest difference of two logits so far.
    pub widest: f64,
    /// Whether the last half of the run had no mistake.
    pub separable: bool,
    /// Cells (category or word, class) without an example, and all cells whose row and column have one; (0, 0) if
    /// there are no cells.
    pub empty_cells: (u64, u64),
    /// Number of restarts with zero coefficients because the class frequencies were better.
    pub again: u64,
}

impl Monitor {
    /// Adds an estimate of the decrement, at time t.
    pub(crate) fn pair(&mut self, t: f64, decrement: f64) {
        if decrement.is_finite() {
            let [w, d, square, weights] = &mut self.sums;
            *w += t;
            *d += t * decrement;
            *square += t * decrement * decrement;
            *weights += t * t;
        }
    }

    pub(crate) fn losses(&mut self, t: f64, iterate: f64, average: f64) {
        if (iterate - average).is_finite() {
            self.gain[0] += t;
            self.gain[1] += t * (iterate - average);
        }
    }

    pub(crate) fn saw(&mut self, right: bool, spread: f64) {
        self.right = if right { self.right + 1 } else { 0 };
        if spread > self.widest {
            self.widest = spread;
        }
    }

    /// Drops an incomplete pair, because features or classes were added.
    pub(crate) fn forget(&mut self) {
        self.residual.clear();
    }

    pub(crate) fn report(&self, t: u64, empty_cells: (u64, u64)) -> Report {
        let [w, d, square, weights] = self.sums;
        let mean = d / w;
        let variance = (square / w - mean * mean).max(0.0) * weights / (w * w);
        Report {
            gap: 0.5 * mean,
            gap_error: 0.5 * variance.sqrt(),
            gain: if self.gain[0] > 0.0 { self.gain[1] / self.gain[0] } else { 0.0 },
            right: self.right,
            widest: self.widest,
            separable: t >= 100 && 2 * self.right > t,
            empty_cells,
            again: 0,
        }
    }

    /// The saved state; an incomplete pair is not saved.
    pub(crate) fn save(&self) -> [f64; 8] {
        let ([w, d, square, weights], [gw, g]) = (self.sums, self.gain);
        [w, d, square, weights, gw, g, self.right as f64, self.widest]
    }

    pub(crate) fn load(saved: [f64; 8]) -> Self {
        let [w, d, square, weights, gw, g, right, widest] = saved;
        // Saturates; counts are far below 2^53.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let right = right as u64;
        Self { sums: [w, d, square, weights], gain: [gw, g], right, widest, ..Self::default() }
    }
}
