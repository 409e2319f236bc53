//! # EG through the linearised loss
//! For EG on the simplex, any loss convex in the prediction and a constant rate:
//! $$\text{regret} \;\le\; \frac{D(u \Vert w_1)}{\eta} + \frac\eta8 \sum_t g_t^2 \bigl(\max_i x_{t,i} - \min_i x_{t,i}\bigr)^2$$
//! For portfolios (loss −ln z, x the price relatives) with min x/max x ≥ r it is the known $\ln n/\eta + \eta k/8r^2$.
//! **Proof** $\ln\sum_i w_i e^{-\eta g x_i} \le -\eta g z + \eta^2g^2\,\mathrm{range}^2/8$ (Hoeffding), round by round. **Cost** O(nnz).
//! **Care** features that the row leaves out count as 0 in the range. **Source** \[KW97\]; portfolios \[HSSW98\].

use super::origin::{Origin, Span, Start, keep_steps, restore_steps};
use super::theorem::{
    AS_WRITTEN, CONSTANT, CONVEX, FINITE, Members, PROBABILITIES, Theorem, WITHIN_SCALE, Watch,
    checked, declared, outward, underflow,
};
use super::{Bound, Certificate, Comparator, losses};
use crate::Real;
use crate::error::ConfigError;
use crate::loss::Facts;
use crate::row::Row;
use crate::sum::Sum;
use crate::update::Round;

pub(super) const THEOREM: Theorem = Theorem {
    name: "linear-eg",
    premises: &[
        declared(CONVEX),
        checked(CONSTANT),
        checked(losses::NO_MORE),
        checked(PROBABILITIES),
        checked(WITHIN_SCALE),
        checked(AS_WRITTEN),
        checked(FINITE),
        declared("the rounds are EG steps on the simplex"),
    ],
    bound: "D(u, w1)/eta + eta/8 sum g^2 (max x - min x)^2",
    source: "HSSW98",
    correction: "",
};

/// The bound of EG for any convex loss.
///
/// ```
/// use geowalk::certify::{Bound, Comparator, LinearEg};
/// use geowalk::loss::{Absolute, Loss};
/// use geowalk::row::Dense;
/// use geowalk::walk::{SimplexEntropy, Walk};
///
/// let mut eg = SimplexEntropy::new();
/// let mut bound = LinearEg::new(&[0.5, 0.5], &Absolute.facts())?;
/// let round = eg.step(Dense(&[1.0, 0.0]), 1.0.into(), &Absolute, 0.5)?;
/// bound.observe(&round, Dense(&[1.0, 0.0]));
/// let certificate = bound.certify(&Comparator::Simplex { n: 2 });
/// assert!((certificate.bound - (2.0 * 2.0_f64.ln() + 1.0 / 16.0)).abs() < 1e-12);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct LinearEg {
    start: Origin,
    watch: Watch,
    squares: Sum,
}

impl LinearEg {
    /// From the probabilities `start`.
    pub fn new(start: &[f64], facts: &Facts) -> Result<Self, ConfigError> {
        losses::probabilities(start)?;
        let watch = Watch::convex(&THEOREM, facts);
        let start = Origin::given(start);
        Ok(Self { start, watch, squares: Sum::default() })
    }

    /// The same from another start: for features that come at any time.
    #[must_use]
    pub fn starting(self, start: Start) -> Self {
        Self { start: Origin::new(start), ..self }
    }

    /// How many features have been seen.
    pub(super) fn features(&self) -> usize {
        self.start.features()
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        keep_steps(&self.watch, &self.squares, &self.start, put);
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        restore_steps(&mut self.watch, &mut self.squares, &mut self.start, get)
    }
}

impl Bound for LinearEg {
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        self.watch.round(round);
        self.watch.constant_rate(round.rate);
        let row = Span::of(x, &mut self.start, &mut self.watch);
        let step = round.slope * row.width();
        self.squares.add(step * step);
    }

    fn compare(&mut self, round: &Round, prediction: f64, loss: f64) {
        self.watch.compare(round, prediction, loss);
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        if let Some(refused) = self.watch.outside(u, Members::Probabilities) {
            return refused;
        }
        let d = self.start.farthest_entropy(u);
        if self.watch.rounds == 0 && !d.is_nan() {
            return self.watch.issue(0.0);
        }
        let eta = self.watch.rate;
        let squares = self.squares.upper() + underflow(self.watch.rounds);
        // No step is longer than half of rate·|slope|·range, and no prediction rounded by more than that says
        // of the range and 0.
        let rounding = self.start.rounding(d, 0.25 * eta * eta * squares, self.watch.rounds) / eta;
        self.watch.issue(outward(d / eta + 0.125 * eta * squares + rounding, 0.0))
    }
}
