//! # Implicit steps on a manifold of curvature ≤ 0
//! With $D_t = \tfrac12\mathrm{dist}(w_t, u)^2$, steps of length $s_t$, and the loss after the step:
//! $$\sum_t L_t(w_{t+1}) - L_t(u) \;\le\; \sum_t \frac{D_t - D_{t+1} - s_t^2/2}{\eta_t} - 2\lambda D_{t+1}$$
//! and before it, with the gradient $g_t$ there and no factor for the curvature:
//! $$\sum_t L_t(w_t) - L_t(u) \;\le\; \sum_t \frac{D_t - D_{t+1}}{\eta_t} + \frac{\eta_t}{2}\Vert g_t\Vert^2$$
//! **Proof** In a triangle with angles no larger than Euclidean ones, $D_t \ge D_{t+1} + s_t^2/2 - \eta\langle g_{t+1}, \log_{w_{t+1}} u\rangle$, and convexity from $w_{t+1}$ to u.
//! Before: $L_t(w_t) - L_t(w_{t+1}) \le \Vert g_t\Vert s_t$, and $\Vert g\Vert s - s^2/2\eta \le \eta\Vert g\Vert^2/2$.
//! **Cost** O(n) per round: the comparator must be known beforehand.
//! **Care** as printed the theorem bounds the loss *before* the step by the right-hand side of the first line; L = w², w₀ = 1, u = 0, η = 1 refutes it: 1 > 2/9.
//! **Source** \[KMWW07, thm. 8\], corrected.

use super::theorem::{AS_WRITTEN, FINITE, Theorem, Watch, checked, declared, outward};
use super::{Certificate, theorem};
use crate::error::{Allowed, ConfigError, DomainError};
use crate::geometry::{ExpLog, Work};
use crate::row::Row;
use crate::sum::Sum;
use crate::update::Round;
use crate::walk::After;

const CURVATURE: &str = "sectional curvature <= 0";
const POSITIVE: &str = "a rate > 0 in every round";
const AHEAD: &str =
    "convexity of the loss along the geodesic from the weights after the step to the comparator";
const STEP: &str = "convexity of the loss along the step";
const IMPLICIT: &str = "a step from which the weights after it are at the reported distance";

const PREMISES: &[theorem::Premise] = &[
    checked(CURVATURE),
    checked(POSITIVE),
    checked(AHEAD),
    checked(STEP),
    checked(IMPLICIT),
    checked(AS_WRITTEN),
    checked(FINITE),
    declared("the rounds are implicit steps on this manifold"),
];

pub(super) const AFTER: Theorem = Theorem {
    name: "proximal-after",
    premises: PREMISES,
    bound: "loss after the step: sum (D_t - D_t+1 - length_t^2/2)/eta_t - 2 lambda D_t+1",
    source: "KMWW07, thm. 8",
    correction: "printed for the loss before the step and with D(w_t, u), which is false",
};

pub(super) const BEFORE: Theorem = Theorem {
    name: "proximal-before",
    premises: PREMISES,
    bound: "loss before the step: sum (D_t - D_t+1)/eta_t + eta_t |g_t|^2/2",
    source: "KMWW07, thm. 8",
    correction: "new: no factor for the curvature",
};

pub(crate) const FLAT: Theorem = Theorem {
    name: "proximal-flat",
    premises: &[
        declared(theorem::CONVEX),
        checked(theorem::CONSTANT),
        checked(AS_WRITTEN),
        checked(FINITE),
        declared("the rounds are implicit steps in R^n"),
    ],
    bound: "loss before the step: |u - w0|^2/(2 eta) + eta/2 sum g^2 |x|^2",
    source: "KMWW07, thm. 8",
    correction: "proximal-before in flat space, against every comparator at once",
};

/// The bounds of implicit steps against one comparator.
///
/// ```
/// use geowalk::certify::Proximal;
/// use geowalk::geometry::manifolds;
/// use geowalk::loss::{Loss, Squared};
/// use geowalk::row::Dense;
/// use geowalk::walk::{Euclidean, Implicit, Walk};
///
/// let mut walk = Implicit::new(Euclidean::new());
/// let mut bound = Proximal::new(manifolds::Euclidean::new(1)?, &[1.0], 0.0)?;
/// let round = walk.step(Dense(&[1.0]), 1.0.into(), &Squared, 1.0)?;
/// bound.observe(&[0.0], &[2.0 / 3.0], &round, &walk.after().unwrap(), Dense(&[1.0]), 0.0)?;
/// // The printed bound, ½ − 1/18 − 2/9 = 2/9, is below the loss before the step, 1.
/// let after = bound.after();
/// assert!((after.loss - 1.0 / 9.0).abs() < 1e-15 && (after.bound - 2.0 / 9.0).abs() < 1e-12);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct Proximal<M> {
    manifold: M,
    u: Vec<f64>,
    lambda: f64,
    watch: Watch,
    later: Sum,
    progress: Sum,
    steps: Sum,
    lambdas: Sum,
    gradients: Sum,
    log: Vec<f64>,
    covector: Vec<f64>,
    work: Work<f64>,
}

impl<M: ExpLog<f64>> Proximal<M> {
    /// Against `u`, for λ-convex losses.
    pub fn new(manifold: M, u: &[f64], lambda: f64) -> Result<Self, ConfigError> {
        manifold.check(u)?;
        crate::error::parameter("lambda", lambda, Allowed::NonNegative)?;
        let mut watch = Watch::new(&AFTER);
        let most = manifold.curvature().max;
        watch.demand(CURVATURE, most <= 0.0, most);
        Ok(Self {
            log: vec![0.0; u.len()],
            covector: vec![0.0; u.len()],
            u: u.to_vec(),
            manifold,
            lambda,
            watch,
            later: Sum::default(),
            progress: Sum::default(),
            steps: Sum::default(),
            lambdas: Sum::default(),
            gradients: Sum::default(),
            work: Work::new(),
        })
    }

    /// Sees a round that led from `from` to `to`, and in which the comparator lost `comparator`.
    pub fn observe<X: Row<f64>>(
        &mut self,
        from: &[f64],
        to: &[f64],
        round: &Round,
        after: &After,
        x: X,
        comparator: f64,
    ) -> Result<(), DomainError> {
        self.observe_between(from, to, round, after, (x, x), comparator)
    }

    /// As [`observe`](Self::observe), of a loss whose slopes before and after the step are along different rows.
    pub fn observe_between<X: Row<f64>>(
        &mut self,
        from: &[f64],
        to: &[f64],
        round: &Round,
        after: &After,
        (x, ahead): (X, X),
        comparator: f64,
    ) -> Result<(), DomainError> {
        let Self { manifold, u, log, covector, work, watch, .. } = self;
        watch.round(round);
        watch.demand(POSITIVE, round.rate > 0.0 && round.rate.is_finite(), round.rate);
        let (near, far) = (manifold.distance(to, u, work), manifold.distance(from, u, work));
        let moved = manifold.distance(from, to, work);
        let slack = 1e-7 * (1e-9 + moved + round.length);
        watch.demand(IMPLICIT, (moved - round.length).abs() <= slack, moved - round.length);
        // Convexity from the weights after the step: towards the comparator, and back along the step.
        for (target, value, premise) in [(&**u, comparator, AHEAD), (from, round.loss, STEP)] {
            manifold.log(to, target, log, work)?;
            let inner = after.slope * ahead.dot(log);
            let half = 0.5 * near * near;
            let lambda = if premise == AHEAD { 2.0 * self.lambda * half } else { 0.0 };
            let defect = after.loss + inner + lambda - value;
            let size = after.loss.abs() + inner.abs() + value.abs() + lambda;
            watch.demand(premise, defect <= 1e-9 * size, defect);
        }
        covector.fill(0.0);
        x.axpy(round.slope, covector);
        manifold.gradient(from, covector, log, work);
        let gradient = manifold.norm(from, log, work);
        watch.demand(FINITE, gradient.is_finite() && after.loss.is_finite(), gradient);
        let inverse = round.rate.recip();
        self.later.add(after.loss);
        self.progress.add(0.5 * far * far * inverse);
        self.progress.add(-0.5 * near * near * inverse);
        self.steps.add(0.5 * moved * moved * inverse);
        self.lambdas.add(self.lambda * near * near);
        self.gradients.add(0.5 * round.rate * gradient * gradient);
        Ok(())
    }

    /// The bound on the losses after the steps.
    pub fn after(&self) -> Certificate {
        let sum = self.progress.total() - self.steps.total() - self.lambdas.total();
        let scale = self.progress.magnitude() + self.steps.magnitude() + self.lambdas.magnitude();
        self.watch.issue_on(self.later.total(), outward(sum, scale))
    }

    /// The bound on the losses before the steps.
    pub fn before(&self) -> Certificate {
        let sum = self.progress.total() + self.gradients.total();
        self.watch.named(&BEFORE).issue(outward(sum, self.progress.magnitude()))
    }
}
