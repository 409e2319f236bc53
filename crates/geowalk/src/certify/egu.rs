//! # EGU and its twin for the squared loss
//! Features in [0, X], labels in [0, Y], predictions clipped to Y, $w_i e^{-2\eta(\hat y - y)x_i}$ or $w = u^2$, $u_i(1 - \eta(\hat y - y)x_i)$. For $c = 2XY\eta < 1$ and every u ≥ 0:
//! $$\sum_t (y_t - \hat y_t)^2 \;\le\; \frac{L_u}{1 - c} + \frac{D(u\Vert w_1)}{\eta}$$
//! η = 1/(3XY) gives $3(L_u + XY D)$; $\eta = \sqrt D/(\sqrt{2LXY} + 2XY\sqrt D)$ gives $L_u + 2\sqrt{2LXYD} + 2XYD$ where $L_u \le L$, $D(u\Vert w_1) \le D$.
//! X and Y are those met (the largest feature, the largest label or prediction) unless declared. Where
//! predictions are clipped, Y must be declared ([`Egu::declare_labels`]): a label above the clip is out of
//! reach, and no bound holds.
//! **Cost** O(nnz). **Care** the loss is that of the *clipped* prediction: unclipped, w₁ = 1000, x = 1, y = 0, u = 0 refutes the printed bound, 10⁶ > 3000.
//! **Source** \[AW20, thm. 6 and 7\], corrected; \[KW97\]. The inequality behind the twin's was checked on grids and runs; the printed proof has slips of sign.

use super::losses::NO_MORE;
use super::origin::{Origin, Start};
use super::theorem::{
    AS_WRITTEN, CONSTANT, Declared, FINITE, Members, NONNEGATIVE, SQUARED, Theorem, Watch, checked,
    declared, keep, outward, restore,
};
use super::{Bound, Certificate, Comparator};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};
use crate::row::Row;
use crate::update::Round;

const FEATURES: &str = "features in [0, X]";
const LABELS: &str = "labels in [0, Y]";
const CLIPPED: &str = "predictions clipped to [0, Y]";
const SMALL: &str = "2 X Y rate < 1";

const PREMISES: &[super::Premise] = &[
    checked(FEATURES),
    checked(LABELS),
    checked(CLIPPED),
    checked(SMALL),
    checked(SQUARED),
    checked(CONSTANT),
    checked(NO_MORE),
    checked(NONNEGATIVE),
    checked(AS_WRITTEN),
    checked(FINITE),
    declared("the steps are those at the prediction min(<w, x>, Y)"),
];

pub(super) const EGU: Theorem = Theorem {
    name: "egu",
    premises: PREMISES,
    bound: "A <= L/(1 - c) + D/eta, c = 2 X Y eta",
    source: "AW20, thm. 6",
    correction: "for the clipped loss; at any rate below 1/(2XY)",
};

pub(super) const TWIN: Theorem = Theorem {
    name: "reparam-egu",
    premises: PREMISES,
    bound: "A <= L/(1 - c) + D/eta, c = 2 X Y eta",
    source: "AW20, thm. 7",
    correction: "for the clipped loss; signs in the proof",
};

/// The bound of EGU or of its twin.
///
/// ```
/// use geowalk::certify::{Bound, Comparator, Egu};
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Clipped, Entropy, Walk};
///
/// let mut walk = Clipped::new(Entropy::new(1000.0)?, 0.0, 1.0)?;
/// let mut bound = Egu::new(&[1000.0])?;
/// for _ in 0..100 {
///     let round = walk.step(Dense(&[1.0]), 0.0.into(), &Squared, 1.0 / 3.0)?;
///     bound.observe(&round, Dense(&[1.0]));
/// }
/// // u = 0 loses nothing: 3D = 3000.
/// let certificate = bound.certify_known(&Comparator::Given(&[0.0]), 0.0);
/// assert!((certificate.bound - 3000.0).abs() < 1e-9 && certificate.loss < 20.0);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Egu {
    start: Origin,
    /// X and Y, if they were declared.
    declared: (Option<f64>, Option<f64>),
    x: f64,
    y: f64,
    watch: Watch,
}

impl Egu {
    /// EGU from the positive weights `start`, with the X and Y that are met.
    pub fn new(start: &[f64]) -> Result<Self, ConfigError> {
        error::each("the start", start, Allowed::NonNegative)?;
        let watch = Watch::new(&EGU);
        Ok(Self { start: Origin::given(start), declared: (None, None), x: 0.0, y: 0.0, watch })
    }

    /// The twin of EGU; `start` is w, not u.
    pub fn twin(start: &[f64]) -> Result<Self, ConfigError> {
        Ok(Self { watch: Watch::new(&TWIN), ..Self::new(start)? })
    }

    /// The same from another start: for features that come at any time.
    #[must_use]
    pub fn starting(self, start: Start) -> Self {
        Self { start: Origin::new(start), ..self }
    }

    /// With X and Y declared beforehand.
    pub fn declare(self, x: f64, y: f64) -> Result<Self, ConfigError> {
        error::parameter("x", x, Allowed::Positive)?;
        let labels = self.declare_labels(y)?;
        Ok(Self { declared: (Some(x), Some(y)), x, ..labels })
    }

    /// With Y declared beforehand: where predictions are clipped. A label above it breaks the theorem, since
    /// predictions never get there.
    pub fn declare_labels(self, y: f64) -> Result<Self, ConfigError> {
        error::parameter("y", y, Allowed::Positive)?;
        Ok(Self { declared: (self.declared.0, Some(y)), y, ..self })
    }

    /// The rate √D/(√(2LXY) + 2XY√D) for comparators with divergence ≤ d that lose at most l.
    pub fn rate(x: f64, y: f64, d: f64, l: f64) -> f64 {
        d.sqrt() / ((2.0 * l * x * y).sqrt() + 2.0 * x * y * d.sqrt())
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        keep(&self.watch, &[self.x, self.y, self.start.save()], put);
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let [x, y, n] = restore(&mut self.watch, get)?;
        (self.x, self.y) = (x, y);
        self.start.load(n);
        Ok(())
    }

    fn bound(&self, u: &Comparator<'_>, loss: Option<f64>) -> Certificate {
        if let Some(refused) = self.watch.outside(u, Members::NonNegative) {
            return refused;
        }
        if self.watch.rounds == 0 {
            return self.watch.issue(0.0);
        }
        let eta = self.watch.rate;
        let c = 2.0 * self.x * self.y * eta;
        let p = outward(self.start.farthest_entropy(u) / eta, 0.0);
        self.watch.discount(SMALL, c, p, loss)
    }
}

impl Bound for Egu {
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        self.watch.round(round);
        self.watch.constant_rate(round.rate);
        let label = self.watch.squared(round, 1e-14);
        // The label is recovered from prediction and slope.
        let slack = 4.0 * f64::EPSILON * (round.z.abs() + round.slope.abs());
        self.start.see(x.bound(), &mut self.watch);
        let (mut lo, mut hi) = (0.0, 0.0);
        x.each(|_, x| (lo, hi) = (Real::min(lo, x.f64()), Real::max(hi, x.f64())));
        if self.declared.0.is_none() {
            self.x = Real::max(self.x, hi);
        }
        if self.declared.1.is_none() {
            self.y = Real::max(self.y, Real::max(label, round.z));
        }
        self.watch.demand(FEATURES, lo >= 0.0 && hi <= self.x, if lo < 0.0 { lo } else { hi });
        self.watch.demand(LABELS, label >= -slack && label <= self.y + slack, label);
        self.watch.demand(CLIPPED, round.z >= 0.0 && round.z <= self.y, round.z);
        let c = 2.0 * self.x * self.y * round.rate;
        self.watch.demand(SMALL, c < 1.0, c);
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        self.bound(u, None)
    }

    fn certify_known(&self, u: &Comparator<'_>, loss: f64) -> Certificate {
        self.bound(u, Some(loss))
    }

    fn declared(&self) -> Vec<Declared> {
        let (x, y) = self.declared;
        let premises = [x.map(|value| (FEATURES, value)), y.map(|value| (LABELS, value))];
        let all = premises.into_iter().flatten();
        all.map(|(premise, value)| Declared { premise, value }).collect()
    }
}
