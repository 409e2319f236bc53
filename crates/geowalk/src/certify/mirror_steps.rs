//! # Mirror steps, measured
//! For a loss convex in the prediction, a constant rate and *any* generator:
//! $$\text{regret} \;\le\; \frac1\eta\Bigl(D_\psi(u \Vert w_0) + \sum_t D_\psi(w_t \Vert w_{t+1})\Bigr)$$
//! where a round reports $\sqrt{2D(w_t \Vert w_{t+1})}$ as its length. No modulus of convexity is needed, so it speaks of
//! the unnormalised entropy, of Burg's and of constant metrics too.
//! **Proof** $\eta g\langle w_t - u, x\rangle = D(u\Vert w_t) - D(u\Vert w_{t+1}) + D(w_t\Vert w_{t+1})$ exactly, round by
//! round. **Cost** O(1) per round.
//! **Source** standard, \[SS12, sec. 2.7\]; the identity \[NN09, lemma 9\].

use super::ledger::{Divergence, Formula, Ledger, LedgerRule, Need, Speaks, Totals, View};
use super::losses::NO_MORE;
use super::theorem::{
    AS_WRITTEN, CONSTANT, CONVEX, FINITE, Members, NONNEGATIVE, PROBABILITIES, Theorem,
    WITHIN_SCALE, checked, declared, outward,
};
use super::{Start, rules};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};
use crate::loss::Facts;

/// The theorems of mirror steps with Burg's entropy.
pub const BURG_STEPS: &[&LedgerRule] = &[&MIRROR_BURG];

/// The theorems of mirror steps in a constant metric.
pub const METRIC_STEPS: &[&LedgerRule] = &[&MIRROR_METRIC];

/// Mirror steps of relative entropy, on the simplex or unnormalised.
pub const MIRROR_ENTROPY: LedgerRule = LedgerRule {
    needs: &[Need::Convex],
    starts: true,
    speaks: Speaks::OfStart,
    step: |view| view.round.length * view.round.length + 2.0 * slip(view),
    ..LedgerRule::steps(
        &Theorem {
            name: "mirror-steps",
            premises: &[
                declared(CONVEX),
                checked(CONSTANT),
                checked(NO_MORE),
                checked(PROBABILITIES),
                checked(NONNEGATIVE),
                checked(WITHIN_SCALE),
                checked(AS_WRITTEN),
                checked(FINITE),
                declared(
                    "the rounds are mirror steps of this generator, of the length they report",
                ),
            ],
            bound: "(D(u, w0) + sum D(w_t, w_t+1))/eta",
            source: "SS12, sec. 2.7",
            correction: "",
        },
        |totals| {
            let origin = &totals.ledger.origin;
            bound(totals, origin.rounding(totals.far, totals.squares, totals.rounds))
        },
    )
};

/// Mirror steps of Burg's entropy.
pub const MIRROR_BURG: LedgerRule = LedgerRule {
    needs: &[Need::Convex, Need::OneSided],
    speaks: Speaks::All,
    step: |view| view.round.length * view.round.length,
    // −1/w_i is rounded in every step, |p/w − 1| is at most D + √2D, and |ηgz| is at most √n lengths.
    formula: Formula::Steps(|totals| {
        let (n, count) = (totals.ledger.origin.features() as f64, totals.rounds as f64);
        let far = totals.far + (2.0 * n * totals.far).sqrt() + (count * n * totals.squares).sqrt();
        bound(totals, (n + 32.0) * f64::EPSILON * count * far)
    }),
    ..MIRROR_ENTROPY
};

/// Mirror steps in a constant metric.
pub const MIRROR_METRIC: LedgerRule =
    LedgerRule { formula: Formula::Steps(measured), ..MIRROR_BURG };

/// Half the sum of squares, rounded up for what the walk's own lengths may have lost.
fn half(totals: &Totals<'_>) -> f64 {
    0.5 * totals.squares * (1.0 + 1e-10)
}

/// The bound of steps that are rounded relative to it.
pub(crate) fn measured(totals: &Totals<'_>) -> f64 {
    let rounding = 8.0 * f64::EPSILON * totals.rounds as f64 * (totals.far + half(totals));
    bound(totals, rounding)
}

fn bound(totals: &Totals<'_>, rounding: f64) -> f64 {
    outward((totals.far + half(totals) + rounding) / totals.eta, 0.0)
}

/// No less than what D(w_t‖w_{t+1}) may have lost to rounding, beside 1e-10 of itself.
///
/// On the simplex it is ln Σwe^s − Σws, and Σws = −ηgz. Where it is much less than its terms, all weight
/// has nearly the same s, so these are of size (ηgz)², or 1 + |ηgz| for large ones. The walk's sum of
/// weights is good to 1e-13, those over a row of n to n roundings, and so is the prediction.
fn slip(view: &View<'_>) -> f64 {
    if view.ledger.origin.members() != Members::Probabilities {
        return 0.0;
    }
    let linear = (view.round.rate * view.round.slope * view.round.z).abs();
    let roundings = (view.row.bound as f64 + 32.0) * f64::EPSILON;
    (4e-13 + roundings) * Real::min(linear * linear, 1.0 + linear) + roundings * linear
}

impl Ledger {
    /// Mirror steps of measured length, from a start that is positive for entropies and 0 for the others; those of
    /// p-norms are bounded by strong convexity.
    ///
    /// ```
    /// use geowalk::certify::{Bound, Comparator, Divergence, Ledger, Start};
    /// use geowalk::loss::{Logistic, Loss};
    /// use geowalk::row::Dense;
    /// use geowalk::walk::{Entropy, Walk};
    ///
    /// let mut egu = Entropy::new(0.5)?;
    /// let start = Start::Each(0.5);
    /// let mut bound = Ledger::mirror_steps(Divergence::Entropy, start, &Logistic.facts())?;
    /// for y in [1.0, -1.0, 1.0, 1.0] {
    ///     let round = egu.step(Dense(&[y, 1.0]), y.into(), &Logistic, 0.5)?;
    ///     bound.observe(&round, Dense(&[y, 1.0]));
    /// }
    /// let certificate = bound.certify(&Comparator::Given(&[2.0, 0.5]));
    /// // 2 · (2 ln 4 − 1.5) and the steps.
    /// assert!(certificate.bound > 2.545 && certificate.bound < 2.8, "{certificate}");
    /// # Ok::<(), geowalk::ConfigError>(())
    /// ```
    pub fn mirror_steps(
        divergence: Divergence,
        start: Start,
        facts: &Facts,
    ) -> Result<Self, ConfigError> {
        let rule = match divergence {
            Divergence::PNorm { .. } => &rules::MIRROR_DESCENT,
            Divergence::Burg => &MIRROR_BURG,
            Divergence::Entropy => &MIRROR_ENTROPY,
            _ => &MIRROR_METRIC,
        };
        if let (Divergence::Entropy, Start::Each(_) | Start::Given(_)) = (&divergence, &start) {
            let start = match &start {
                Start::Given(w) => w.as_slice(),
                Start::Each(w) => std::slice::from_ref(w),
                Start::Even => &[],
            };
            error::each("the start", start, Allowed::Positive)?;
        }
        Ok(Self::new(divergence, start)?.with(rule, facts))
    }
}
