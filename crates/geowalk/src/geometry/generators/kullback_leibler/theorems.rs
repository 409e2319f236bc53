//! # Theorems of EGU and its twin, for the squared loss
//! Features in [0, X], labels in [0, Y], predictions clipped to Y, $w_i e^{-2\eta(\hat y - y)x_i}$ or $w = u^2$,
//! $u_i(1 - \eta(\hat y - y)x_i)$. For $c = 2XY\eta < 1$ and every u ≥ 0:
//! $$\sum_t (y_t - \hat y_t)^2 \;\le\; \frac{L_u}{1 - c} + \frac{D(u\Vert w_1)}{\eta}$$
//! η = 1/(3XY) gives $3(L_u + XY D)$; $\eta = \sqrt D/(\sqrt{2LXY} + 2XY\sqrt D)$ gives
//! $L_u + 2\sqrt{2LXYD} + 2XYD$ where $L_u \le L$, $D(u\Vert w_1) \le D$.
//! X and Y are the largest feature and the largest label or prediction of the run, unless declared. If predictions are
//! clipped, Y must be declared: a label above the clip cannot be predicted, and no bound holds.
//! **Cost** O(nnz). **Care** The loss is that of the *clipped* prediction. Without clipping, w₁ = 1000, x = 1, y = 0,
//! u = 0 refutes the printed bound, 10⁶ > 3000.
//! **Source** \[AW20, thm. 6 and 7\], corrected; \[KW97\]. The inequality behind the twin's theorem was checked on
//! grids and runs; the printed proof has sign errors.

use crate::ConfigError;
use crate::Real;
use crate::certify::ledger::{Divergence, Formula, Ledger, LedgerRule, Need, Prescription, Speaks};
use crate::certify::losses::NO_MORE;
use crate::certify::mirror_steps::MIRROR_ENTROPY;
use crate::certify::theorem::{
    AS_WRITTEN, CONSTANT, FINITE, Members, NONNEGATIVE, SQUARED, checked, declared, outward,
};
use crate::certify::{Premise, Start, Theorem};
use crate::loss::{Loss, Squared};

const FEATURES: &str = "features in [0, X]";
const LABELS: &str = "labels in [0, Y]";
const CLIPPED: &str = "predictions clipped to [0, Y]";
const SMALL: &str = "2 X Y rate < 1";

const PREMISES: &[Premise] = &[
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

/// The theorems of EGU.
pub const EGU_STEPS: &[&LedgerRule] = &[&MIRROR_ENTROPY, &EGU];

/// The theorems of the twin of EGU.
pub const REPARAM_EGU_STEPS: &[&LedgerRule] = &[&REPARAM_EGU];

/// EGU with the squared loss.
pub const EGU: LedgerRule = LedgerRule {
    needs: &[Need::Squared, Need::Clipped, Need::OneSided],
    rate: Prescription::Egu,
    starts: true,
    span: true,
    speaks: Speaks::Of(Members::NonNegative),
    nothing: &[0.0, 0.0],
    sizes: |view| {
        let [x, y] = view.sizes;
        [Real::max(x, view.row.hi), Real::max(y, Real::max(view.row.label, view.round.z))]
    },
    declares: [FEATURES, LABELS],
    demands: |watch, view| {
        let ([x, y], row, z) = (view.sizes, view.row, view.round.z);
        let outer = if row.lo < 0.0 { row.lo } else { row.hi };
        watch.demand(FEATURES, row.lo >= 0.0 && row.hi <= x, outer);
        watch.demand(LABELS, row.label >= -row.slack && row.label <= y + row.slack, row.label);
        watch.demand(CLIPPED, z >= 0.0 && z <= y, z);
        let c = 2.0 * x * y * view.round.rate;
        watch.demand(SMALL, c < 1.0, c);
    },
    ..LedgerRule::squared(
        &Theorem {
            name: "egu",
            premises: PREMISES,
            bound: "A <= L/(1 - c) + D/eta, c = 2 X Y eta",
            source: "AW20, thm. 6",
            correction: "for the clipped loss; at any rate below 1/(2XY)",
        },
        Formula::Discounted(SMALL, |totals| {
            let c = 2.0 * totals.sizes[0] * totals.sizes[1] * totals.eta;
            (c, outward(totals.far / totals.eta, 0.0))
        }),
    )
};

/// The twin of EGU with the squared loss.
pub const REPARAM_EGU: LedgerRule = LedgerRule {
    theorem: &Theorem {
        name: "reparam-egu",
        premises: PREMISES,
        bound: "A <= L/(1 - c) + D/eta, c = 2 X Y eta",
        source: "AW20, thm. 7",
        correction: "for the clipped loss; signs in the proof",
    },
    ..EGU
};

/// The rate √D/(√(2LXY) + 2XY√D) for comparators with divergence ≤ d and total loss ≤ l.
pub fn egu_rate(x: f64, y: f64, d: f64, l: f64) -> f64 {
    d.sqrt() / ((2.0 * l * x * y).sqrt() + 2.0 * x * y * d.sqrt())
}

impl Ledger {
    /// The bound of EGU with initial weights `start` ≥ 0; X and Y are measured.
    ///
    /// ```
    /// use geowalk::certify::{Bound, Comparator, Ledger};
    /// use geowalk::loss::Squared;
    /// use geowalk::row::Dense;
    /// use geowalk::walk::{Clipped, Entropy, Walk};
    ///
    /// let mut walk = Clipped::new(Entropy::new(1000.0)?, 0.0, 1.0)?;
    /// let mut bound = Ledger::egu(&[1000.0])?;
    /// for _ in 0..100 {
    ///     let round = walk.step(Dense(&[1.0]), 0.0.into(), &Squared, 1.0 / 3.0)?;
    ///     bound.observe(&round, Dense(&[1.0]));
    /// }
    /// // u = 0 loses nothing: 3D = 3000.
    /// let certificate = bound.certify_known(&Comparator::Given(&[0.0]), 0.0);
    /// assert!((certificate.bound - 3000.0).abs() < 1e-9 && certificate.loss < 20.0);
    /// # Ok::<(), geowalk::ConfigError>(())
    /// ```
    pub fn egu(start: &[f64]) -> Result<Self, ConfigError> {
        let start = Start::Given(start.to_vec());
        Ok(Self::new(Divergence::Entropy, start)?.with(&EGU, &Squared.facts()))
    }

    /// The bound of the twin of EGU; `start` is w, not u.
    pub fn reparam_egu(start: &[f64]) -> Result<Self, ConfigError> {
        let start = Start::Given(start.to_vec());
        Ok(Self::new(Divergence::Entropy, start)?.with(&REPARAM_EGU, &Squared.facts()))
    }
}
