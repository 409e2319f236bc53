//! # EG for the squared loss
//! $\max_i x_{t,i} - \min_i x_{t,i} \le R$ in every round, $w_i \propto w_i e^{-2\eta(\hat y - y)x_i}$. For $c = \eta R^2/2 < 1$ and every probability vector u:
//! $$\sum_t (y_t - \hat y_t)^2 \;\le\; \frac{L_u}{1 - c} + \frac{D(u\Vert w_1)}{\eta}$$
//! η = 2/(3R²) gives $\tfrac32(L_u + R^2D)$; $\eta = 2\sqrt D/(R\sqrt{2L} + R^2\sqrt D)$ gives $L_u + R\sqrt{2LD} + \tfrac12R^2D$ where $L_u \le L$, $D(u\Vert w_1) \le D$.
//! R is the range met unless declared; features that a row leaves out are 0. The two-sided form has 2n features (Ux, −Ux), so R = 2U max|x|.
//! **Cost** O(nnz). **Source** \[AW20, thm. 8\]; \[KW97\].

use super::losses::{NO_MORE, probabilities};
use super::origin::{Origin, Span, Start};
use super::theorem::{
    AS_WRITTEN, CONSTANT, Declared, FINITE, Members, PROBABILITIES, SQUARED, Theorem, WITHIN_SCALE,
    Watch, checked, declared, keep, outward, restore,
};
use super::{Bound, Certificate, Comparator};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};
use crate::row::Row;
use crate::update::Round;

const RANGE: &str = "features of a row within R of each other";
const SMALL: &str = "rate R^2/2 < 1";

pub(super) const THEOREM: Theorem = Theorem {
    name: "eg",
    premises: &[
        checked(RANGE),
        checked(SMALL),
        checked(SQUARED),
        checked(CONSTANT),
        checked(NO_MORE),
        checked(PROBABILITIES),
        checked(WITHIN_SCALE),
        checked(AS_WRITTEN),
        checked(FINITE),
        declared("the rounds are EG steps on the simplex"),
    ],
    bound: "A <= L/(1 - c) + D/eta, c = eta R^2/2",
    source: "AW20, thm. 8",
    correction: "at any rate below 2/R^2",
};

/// The bound of EG for the squared loss.
///
/// ```
/// use geowalk::certify::{Bound, Comparator, Eg};
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{SimplexEntropy, Walk};
///
/// let mut walk = SimplexEntropy::new();
/// let mut bound = Eg::new(&[0.5, 0.5])?;
/// for _ in 0..50 {
///     let round = walk.step(Dense(&[1.0, 0.0]), 1.0.into(), &Squared, 2.0 / 3.0)?;
///     bound.observe(&round, Dense(&[1.0, 0.0]));
/// }
/// let certificate = bound.certify_known(&Comparator::Given(&[1.0, 0.0]), 0.0);
/// assert!((certificate.bound - 1.5 * 2.0_f64.ln()).abs() < 1e-12 && certificate.loss < 0.6);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Eg {
    start: Origin,
    declared: Option<f64>,
    range: f64,
    watch: Watch,
}

impl Eg {
    /// From the probabilities `start`, with the range that is met.
    pub fn new(start: &[f64]) -> Result<Self, ConfigError> {
        probabilities(start)?;
        let (start, watch) = (Origin::given(start), Watch::new(&THEOREM));
        Ok(Self { start, declared: None, range: 0.0, watch })
    }

    /// The same from another start: for features that come at any time.
    #[must_use]
    pub fn starting(self, start: Start) -> Self {
        Self { start: Origin::new(start), ..self }
    }

    /// With R declared beforehand.
    pub fn declare(self, range: f64) -> Result<Self, ConfigError> {
        error::parameter("range", range, Allowed::Positive)?;
        Ok(Self { declared: Some(range), range, ..self })
    }

    /// The rate 2√D/(R√(2L) + R²√D) for comparators with divergence ≤ d that lose at most l.
    pub fn rate(range: f64, d: f64, l: f64) -> f64 {
        2.0 * d.sqrt() / (range * (2.0 * l).sqrt() + range * range * d.sqrt())
    }

    /// How many features have been seen.
    pub(super) fn features(&self) -> usize {
        self.start.features()
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        keep(&self.watch, &[self.range, self.start.save()], put);
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let [range, n] = restore(&mut self.watch, get)?;
        self.range = range;
        self.start.load(n);
        Ok(())
    }

    fn bound(&self, u: &Comparator<'_>, loss: Option<f64>) -> Certificate {
        if let Some(refused) = self.watch.outside(u, Members::Probabilities) {
            return refused;
        }
        if self.watch.rounds == 0 {
            return self.watch.issue(0.0);
        }
        let eta = self.watch.rate;
        let c = 0.5 * eta * self.range * self.range;
        let p = outward(self.start.farthest_entropy(u) / eta, 0.0);
        self.watch.discount(SMALL, c, p, loss)
    }
}

impl Bound for Eg {
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        self.watch.round(round);
        self.watch.constant_rate(round.rate);
        self.watch.squared(round, 1e-14);
        let row = Span::of(x, &mut self.start, &mut self.watch);
        let range = row.width();
        if self.declared.is_none() {
            self.range = Real::max(self.range, range);
        }
        self.watch.demand(RANGE, range <= self.range, range);
        let c = 0.5 * round.rate * self.range * self.range;
        self.watch.demand(SMALL, c < 1.0, c);
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        self.bound(u, None)
    }

    fn certify_known(&self, u: &Comparator<'_>, loss: f64) -> Certificate {
        self.bound(u, Some(loss))
    }

    fn declared(&self) -> Vec<Declared> {
        self.declared.map(|value| Declared { premise: RANGE, value }).into_iter().collect()
    }
}
