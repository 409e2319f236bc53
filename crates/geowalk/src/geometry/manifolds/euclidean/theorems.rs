//! # Theorems of gradient descent
//! For a loss convex in the prediction and a constant rate, explicit or implicit steps:
//! $$\sum_t \ell(z_t, y_t) - \ell(\langle u, x_t\rangle, y_t) \;\le\; \frac{\Vert u - w_0\Vert^2}{2\eta} + \frac\eta2 \sum_t g_t^2 \Vert x_t\Vert^2 \;\le\;
//!   \frac{\Vert u - w_0\Vert^2}{2\eta} + \frac\eta2 k Z^2 R^2$$
//! The second form uses declared limits Z ≥ |g|, R ≥ ‖x‖. At η = U/(ZR√k) it is ZRU√k. **Proof** The linearised regret
//! is exactly $(D_0 - D_k)/\eta + \tfrac\eta2\sum\Vert g x\Vert^2$. **Care** Z bounds the slopes that *occur*, which
//! cannot be known in advance unless the loss is Lipschitz.
//!
//! For the squared loss, let W = ‖u − w₀‖, L the loss of u, A that of the learner, and X ≥ ‖x‖ ≥ $X_-$ the norms that
//! occur:
//! $$\sqrt A \le \frac{\sqrt L + \sqrt{L + W^2(1 - \eta X^2)/\eta}}{2(1 - \eta X^2)} \quad\text{explicit, } \eta X^2 < 1, \qquad
//!   \sqrt{A_+} \le \frac{\sqrt L + \sqrt{L + W^2(1 + \eta X_-^2)/\eta}}{2(1 + \eta X_-^2)} \quad\text{implicit}$$
//! where $A_+$ is the loss *after* the implicit steps. If ‖x‖ = X throughout, an implicit step is an explicit one at
//! the rate η/(1 + 2ηX²). So the loss before the steps satisfies the first bound at any η. **Proof** Both are
//! $(1 \mp c)A - \sqrt{LA} \le W^2/4\eta$, from λ-convexity along the segment to u.
//!
//! **Cost** O(1) per round if the walk reports steps of this length, otherwise O(nnz). **Source** \[KMWW07, ex. 6\],
//! with ≤ instead of =; \[KMWW07, ex. 4\] (its condition on the loss of u is not needed); \[KMWW07, ex. 5\],
//! corrected: as printed 0.1111 > 0.0625 at x = y = u = η = 1.

use crate::ConfigError;
use crate::Real;
use crate::certify::ledger::{Divergence, Formula, Ledger, LedgerRule, Need, Prescription, View};
use crate::certify::proximal::FLAT;
use crate::certify::theorem::{
    AS_WRITTEN, CONSTANT, CONVEX, FINITE, SQUARED, Watch, checked, declared, outward,
};
use crate::certify::{Quantity, Start, Theorem};
use crate::error::{self, Allowed};
use crate::loss::{Facts, Loss, Squared};

const SLOPE: &str = "|slope| <= Z";
const NORM: &str = "|x| <= R";
const LENGTH: &str = "steps of length rate |slope| |x|";
const SMALL: &str = "rate |x|^2 < 1";

/// The theorems of explicit steps.
pub const GRADIENT_STEPS: &[&LedgerRule] = &[&GRADIENT_DESCENT, &LEAST_SQUARES];

/// The theorems of implicit steps.
pub const IMPLICIT_STEPS: &[&LedgerRule] = &[&IMPLICIT_DESCENT, &LEAST_SQUARES_AFTER];

/// Explicit steps, any convex loss.
pub const GRADIENT_DESCENT: LedgerRule = LedgerRule {
    needs: &[Need::Convex, Need::OneSided, Need::Lengths],
    rate: Prescription::Descent,
    norm: true,
    demands: |watch, view| reported(watch, view, 1e-9, 0.0),
    step: |view| view.length() * view.length(),
    ..LedgerRule::steps(
        &Theorem {
            name: "gradient-descent",
            premises: &[
                declared(CONVEX),
                checked(CONSTANT),
                checked(SLOPE),
                checked(NORM),
                checked(LENGTH),
                checked(AS_WRITTEN),
                checked(FINITE),
                declared("predictions are not clipped"),
            ],
            bound: "|u - w0|^2/(2 eta) + eta/2 sum g^2 |x|^2, or with k Z^2 R^2 for the sum",
            source: "KMWW07, ex. 6",
            correction: "<= for =; Z must be known beforehand",
        },
        |totals| {
            let second = totals.squares / (2.0 * totals.eta);
            descent(totals.far, totals.eta, second, totals.rounds)
        },
    )
};

/// Explicit steps with limits declared in advance: |g| ≤ Z, ‖x‖ ≤ R.
pub const PROMISED_DESCENT: LedgerRule = LedgerRule {
    // The loss guarantees its slopes.
    declares: ["", NORM],
    demands: |watch, view| {
        let [z, r] = view.sizes;
        watch.demand(SLOPE, view.round.slope.abs() <= z, view.round.slope);
        watch.demand(NORM, view.row.norm <= r, view.row.norm);
        reported(watch, view, 1e-9, 0.0);
    },
    formula: Formula::Steps(|totals| {
        let [z, r] = totals.sizes;
        let second = 0.5 * totals.eta * totals.rounds as f64 * z * z * r * r;
        descent(totals.far, totals.eta, second, totals.rounds)
    }),
    ..GRADIENT_DESCENT
};

/// Implicit steps, any convex loss.
pub const IMPLICIT_DESCENT: LedgerRule =
    LedgerRule { theorem: &FLAT, needs: FLAT_NEEDS, demands: |_, _| {}, ..GRADIENT_DESCENT };

const FLAT_NEEDS: &[Need] = &[Need::Convex, Need::OneSided];

/// Explicit steps, the squared loss.
pub const LEAST_SQUARES: LedgerRule = LedgerRule {
    needs: &[Need::Squared, Need::OneSided, Need::Lengths],
    rate: Prescription::LeastSquares,
    norm: true,
    nothing: &[0.0, f64::INFINITY],
    sizes: norms,
    demands: |watch, view| {
        let c = view.round.rate * view.sizes[0] * view.sizes[0];
        watch.demand(SMALL, c < 1.0, c);
        reported(watch, view, 1e-9, 0.0);
    },
    ..LedgerRule::squared(
        &Theorem {
            name: "least-squares",
            premises: &[
                checked(SQUARED),
                checked(SMALL),
                checked(CONSTANT),
                checked(LENGTH),
                checked(AS_WRITTEN),
                checked(FINITE),
                declared("predictions are not clipped"),
            ],
            bound: "sqrt A <= (sqrt L + sqrt(L + W^2 (1 - c)/eta))/(2 (1 - c)), c = eta X^2",
            source: "KMWW07, ex. 4",
            correction: "the proviso L < |u|^2 X^2 is not needed",
        },
        // Near 1 the difference is only rounding, so make it negative.
        Formula::Root(SMALL, |totals| {
            1.0 - totals.eta * totals.sizes[0] * totals.sizes[0] * (1.0 + 1e-12)
        }),
    )
};

/// Implicit steps and the squared loss, for the losses after the steps.
pub const LEAST_SQUARES_AFTER: LedgerRule = LedgerRule {
    quantity: Quantity::After,
    norm: true,
    nothing: &[0.0, f64::INFINITY],
    sizes: norms,
    demands: |watch, view| reported(watch, view, 1e-6, 1e-12),
    ..LedgerRule::squared(
        &Theorem {
            name: "least-squares-implicit",
            premises: &[
                checked(SQUARED),
                checked(CONSTANT),
                checked(LENGTH),
                checked(AS_WRITTEN),
                checked(FINITE),
                declared("loss, prediction and slope are those after the implicit step"),
            ],
            bound: "loss after the step: sqrt A <= (sqrt L + sqrt(L + W^2 (1 + c)/eta))/(2 (1 + c)), c = eta Xmin^2",
            source: "KMWW07, ex. 5",
            correction: "printed with another constant and for the loss before the step, which is false",
        },
        Formula::Root(SMALL, |totals| {
            let least = if totals.sizes[1].is_finite() { totals.sizes[1] } else { 0.0 };
            1.0 + totals.eta * least * least
        }),
    )
};

/// Checks the length of a step. A clipped or two-sided walk makes steps of another length.
fn reported(watch: &mut Watch, view: &View<'_>, relative: f64, absolute: f64) {
    let (length, found) = (view.length(), view.round.length);
    let near = (length - found).abs() <= relative * length + absolute;
    watch.demand(LENGTH, near || view.row.reported, found);
}

fn norms(view: &View<'_>) -> [f64; 2] {
    let ([most, least], norm) = (view.sizes, view.row.norm);
    // A row without a residual adds nothing to either side.
    let known = norm.is_finite();
    if known { [Real::max(most, norm), Real::min(least, norm)] } else { view.sizes }
}

fn descent(distance: f64, eta: f64, second: f64, rounds: u64) -> f64 {
    let bound = 0.5 * distance * (distance / eta) + second;
    // Every step is rounded.
    outward(bound, 0.125 * rounds as f64 * bound)
}

fn flat(start: &[f64], rule: &'static LedgerRule, facts: &Facts) -> Ledger {
    Ledger::at(Divergence::Euclidean, Start::Given(start.to_vec())).with(rule, facts)
}

impl Ledger {
    /// Gradient descent from the weights `start` (0 beyond its end), with the gradients that occur.
    ///
    /// ```
    /// use geowalk::certify::{Bound, Comparator, Ledger};
    /// use geowalk::loss::{Hinge, Loss};
    /// use geowalk::row::Dense;
    /// use geowalk::walk::{Euclidean, Walk};
    ///
    /// let mut walk = Euclidean::new();
    /// let mut bound = Ledger::gradient_descent(&[], &Hinge.facts());
    /// for _ in 0..4 {
    ///     let round = walk.step(Dense(&[1.0]), 1.0.into(), &Hinge, 0.5)?;
    ///     bound.observe(&round, Dense(&[1.0]));
    /// }
    /// // Two mistakes: 1/(2·½) + ½·½·2.
    /// let certificate = bound.certify(&Comparator::Given(&[1.0]));
    /// assert!((certificate.bound - 1.5).abs() < 1e-12 && certificate.loss == 1.5);
    /// # Ok::<(), geowalk::DomainError>(())
    /// ```
    pub fn gradient_descent(start: &[f64], facts: &Facts) -> Self {
        flat(start, &GRADIENT_DESCENT, facts)
    }

    /// As `gradient_descent`, with limits declared in advance: |g| ≤ z, ‖x‖ ≤ r.
    pub fn promised_descent(
        start: &[f64],
        facts: &Facts,
        z: f64,
        r: f64,
    ) -> Result<Self, ConfigError> {
        error::parameter("z", z, Allowed::Positive)?;
        flat(start, &PROMISED_DESCENT, facts).declare([Some(z), Some(r)])
    }

    /// Implicit steps: [`Proximal::before`](crate::certify::Proximal::before) in flat space, against all comparators
    /// together.
    pub fn implicit_descent(start: &[f64], facts: &Facts) -> Self {
        flat(start, &IMPLICIT_DESCENT, facts)
    }

    /// Gradient descent for the squared loss.
    ///
    /// ```
    /// use geowalk::certify::{Bound, Comparator, Ledger};
    /// use geowalk::loss::Squared;
    /// use geowalk::row::Dense;
    /// use geowalk::walk::{Euclidean, Walk};
    ///
    /// let mut walk = Euclidean::new();
    /// let mut bound = Ledger::least_squares(&[]);
    /// for _ in 0..8 {
    ///     let round = walk.step(Dense(&[1.0]), 1.0.into(), &Squared, 0.25)?;
    ///     bound.observe(&round, Dense(&[1.0]));
    /// }
    /// // The comparator loses nothing: W²/(4η(1 − η)) = 4/3.
    /// let certificate = bound.certify_known(&Comparator::Given(&[1.0]), 0.0);
    /// assert!((certificate.bound - 4.0 / 3.0).abs() < 1e-12 && certificate.loss > 1.333);
    /// # Ok::<(), geowalk::DomainError>(())
    /// ```
    pub fn least_squares(start: &[f64]) -> Self {
        flat(start, &LEAST_SQUARES, &Squared.facts())
    }

    /// Implicit steps for the squared loss, for the losses after the steps. Rounds must be given as the walk reports
    /// them, with loss, prediction and slope before the step.
    pub fn least_squares_after(start: &[f64]) -> Self {
        flat(start, &LEAST_SQUARES_AFTER, &Squared.facts())
    }
}
