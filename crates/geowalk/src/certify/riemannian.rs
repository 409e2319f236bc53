//! # Explicit steps on a manifold
//! For any manifold with sectional curvature ≥ κ, any differentiable loss, a comparator u, $D_t = \tfrac12 \mathrm{dist}(w_t, u)^2$ and steps of length $s_t = \eta_t \Vert g_t \Vert$:
//! $$\sum_t L_t(w_t) - L_t(u) \;\le\; \sum_t \frac{D_t - D_{t+1}}{\eta_t} + \zeta_t \frac{s_t^2}{2\eta_t} - 2\lambda D_t + \varepsilon_t$$
//! $$\zeta_t = 1 \text{ if } \kappa \ge 0, \text{ else } \tau\coth\tau,\; \tau = \sqrt{-\kappa}\,\mathrm{dist}(w_t, u), \qquad
//!   \varepsilon_t = \max\bigl(0,\; L_t(w_t) + \langle g_t, \log_{w_t} u\rangle + 2\lambda D_t - L_t(u)\bigr)$$
//! Where the loss is λ-convex along the geodesic from $w_t$ to u, $\varepsilon_t = 0$: that is the theorem ([`Riemannian::certificate`]). With the defects $\varepsilon_t$ it
//! is true of every differentiable loss ([`Riemannian::with_defect`]). In flat space with signed defects it is an identity.
//!
//! **Proof** Toponogov's hinge theorem (κ ≥ 0), or the comparison of \[ZS16, lemma 5\], round by round; the geodesic of the step need not be the shortest.
//! Folds of the simplex are allowed: they bring no comparator farther away. **Cost** O(n) per round: the comparator must be known beforehand.
//! **Care** the printed bound has dist(w_t, w_{t+1})² in place of the squared length, which is false for steps past the injectivity radius, and no factor ζ.
//! **Source** \[KMWW07, thm. 6\], corrected; ζ from \[ZS16\].

use super::Certificate;
use super::theorem::{AS_WRITTEN, FINITE, Theorem, Watch, checked, declared, outward};
use crate::Real;
use crate::error::ConfigError;
use crate::geometry::{ExpLog, Work};
use crate::row::Row;
use crate::sum::Sum;
use crate::update::Round;

const POSITIVE: &str = "a rate > 0 in every round";
const CONVEX: &str = "convexity of the loss along the geodesic to the comparator";
const WITHIN: &str = "the comparator within the injectivity radius";

pub(super) const THEOREM: Theorem = Theorem {
    name: "riemannian",
    premises: &[
        checked(CONVEX),
        checked(POSITIVE),
        checked(WITHIN),
        checked(AS_WRITTEN),
        checked(FINITE),
        declared("the rounds are explicit geodesic steps on this manifold"),
    ],
    bound: "sum (D_t - D_t+1)/eta_t + zeta_t length_t^2/(2 eta_t) - 2 lambda D_t",
    source: "KMWW07, thm. 6",
    correction: "length of the step, not distance; factor zeta for K < 0; rates may vary; lambda may be negative",
};

pub(super) const DEFECT: Theorem = Theorem {
    name: "riemannian-with-defect",
    premises: &[
        checked(POSITIVE),
        checked(WITHIN),
        checked(AS_WRITTEN),
        checked(FINITE),
        declared("the rounds are explicit geodesic steps on this manifold"),
    ],
    bound: "that of riemannian + sum of defects eps_t",
    source: "KMWW07, thm. 6",
    correction: "new: true for every differentiable loss",
};

/// The parts of the bound, which add up to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parts {
    /// Σ (D_t − D_{t+1})/η_t: how far the start is from the comparator, less where the walk led.
    pub distance: f64,
    /// Σ s_t²/2η_t: the squared lengths of the steps.
    pub steps: f64,
    /// Σ (ζ_t − 1)s_t²/2η_t: what negative curvature adds to them.
    pub curvature: f64,
    /// Σ ε_t: by how much convexity failed along the geodesics to the comparator.
    pub defect: f64,
}

/// The bound of explicit steps against one comparator.
///
/// ```
/// use geowalk::certify::Riemannian;
/// use geowalk::geometry::manifolds::Euclidean;
/// use geowalk::loss::{Loss, Squared};
/// use geowalk::row::{Dense, Row};
/// use geowalk::update::{Explicit, Update};
///
/// let (x, y, u) = ([1.0], 1.0, [1.0]);
/// let gd = Explicit::new(Euclidean::new(1)?);
/// let mut state = gd.start(&[0.0])?;
/// let mut bound = Riemannian::new(Euclidean::new(1)?, &u, 0.0)?;
/// let mut w = [0.0];
/// for _ in 0..3 {
///     gd.read(&state, &mut w);
///     let round = gd.step(&mut state, Dense(&x), y.into(), &Squared, 0.25)?;
///     bound.observe(&w, &round, Dense(&x), Squared.value(Dense(&x).dot(&u), y));
/// }
/// // 1 + ¼ + 1/16 lost; D₀/η = 2, and Σ s²/2η = ½(1 + ¼ + 1/16).
/// let certificate = bound.certificate();
/// assert!((certificate.bound - 2.65625).abs() < 1e-12, "{certificate}");
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct Riemannian<M> {
    manifold: M,
    u: Vec<f64>,
    lambda: f64,
    watch: Watch,
    /// Premises of the theorem without defects.
    convex: Watch,
    comparator: Sum,
    /// All but the defects.
    promise: Sum,
    distances: Sum,
    steps: Sum,
    curvature: Sum,
    defect: Sum,
    /// The defects with their signs.
    signed: Sum,
    /// D and 1/η of the round before.
    last: Option<(f64, f64)>,
    log: Vec<f64>,
    work: Work<f64>,
}

impl<M: ExpLog<f64>> Riemannian<M> {
    /// Against `u`, for losses that are λ-convex: L∘γ − λs² is convex along geodesics γ of unit speed. λ = 0 is convexity.
    pub fn new(manifold: M, u: &[f64], lambda: f64) -> Result<Self, ConfigError> {
        manifold.check(u)?;
        crate::error::parameter("lambda", lambda, crate::error::Allowed::Finite)?;
        Ok(Self {
            log: vec![0.0; u.len()],
            u: u.to_vec(),
            manifold,
            lambda,
            watch: Watch::new(&DEFECT),
            convex: Watch::new(&THEOREM),
            comparator: Sum::default(),
            promise: Sum::default(),
            distances: Sum::default(),
            steps: Sum::default(),
            curvature: Sum::default(),
            defect: Sum::default(),
            signed: Sum::default(),
            last: None,
            work: Work::new(),
        })
    }

    /// Sees a round that began at the weights `w`, in which the comparator lost `comparator` (importance weight included).
    pub fn observe<X: Row<f64>>(&mut self, w: &[f64], round: &Round, x: X, comparator: f64) {
        let distance = self.manifold.distance(w, &self.u, &mut self.work);
        let reachable = self.manifold.log(w, &self.u, &mut self.log, &mut self.work).is_ok();
        let inner = round.slope * x.dot(&self.log);
        for watch in [&mut self.watch, &mut self.convex] {
            watch.round(round);
            watch.demand(POSITIVE, round.rate > 0.0 && round.rate.is_finite(), round.rate);
            watch.demand(WITHIN, reachable, distance);
            watch.demand(FINITE, comparator.is_finite() && inner.is_finite(), inner);
        }
        self.comparator.add(comparator);
        let (d, inverse) = (0.5 * distance * distance, round.rate.recip());
        let before = self.last.map_or(0.0, |(_, inverse)| inverse);
        let (zeta, step) = (self.zeta(distance), round.length * round.length * 0.5 * inverse);
        self.promise.add(d * (inverse - before));
        self.promise.add(zeta * step);
        self.distances.add(d * (inverse - before));
        self.steps.add(step);
        self.curvature.add((zeta - 1.0) * step);
        self.promise.add(-2.0 * self.lambda * d);
        self.last = Some((d, inverse));
        let defect = round.loss + inner + 2.0 * self.lambda * d - comparator;
        // What rounding can make of a defect that is 0.
        let size = round.loss.abs() + inner.abs() + comparator.abs() + 2.0 * self.lambda.abs() * d;
        self.convex.demand(CONVEX, defect <= 1e-12 * size, defect);
        self.signed.add(defect);
        self.defect.add(Real::max(defect, 0.0) + 1e-15 * size);
    }

    /// τ coth τ where the manifold is curved negatively.
    fn zeta(&self, distance: f64) -> f64 {
        let least = self.manifold.curvature().min;
        let tau = Real::max(-least, 0.0).sqrt() * distance;
        if tau < 1e-4 { 1.0 + tau * tau / 3.0 } else { tau / Real::tanh(tau) }
    }

    /// Sees where the last step led: makes the bound smaller by D_k/η. More rounds may follow.
    pub fn arrive(&mut self, w: &[f64]) {
        let distance = self.manifold.distance(w, &self.u, &mut self.work);
        if let Some((_, inverse)) = self.last.take() {
            self.promise.add(-0.5 * distance * distance * inverse);
            self.distances.add(-0.5 * distance * distance * inverse);
        }
    }

    /// What the bound is made of, for λ = 0.
    pub fn parts(&self) -> Parts {
        Parts {
            distance: self.distances.total(),
            steps: self.steps.total(),
            curvature: self.curvature.total(),
            defect: self.defect.total(),
        }
    }

    /// The theorem: void where the loss was not λ-convex along the geodesic to the comparator.
    pub fn certificate(&self) -> Certificate {
        self.convex.issue(self.promised())
    }

    /// The bound with the defects, for any differentiable loss.
    pub fn with_defect(&self) -> Certificate {
        let bound = self.promised() + self.defect.upper();
        self.watch.issue(outward(bound, 0.0))
    }

    fn promised(&self) -> f64 {
        outward(self.promise.upper(), self.promise.magnitude())
    }

    /// What the comparator lost.
    pub fn comparator_loss(&self) -> f64 {
        self.comparator.total()
    }

    /// Σε_t, by how much convexity failed.
    pub fn defect(&self) -> f64 {
        self.defect.total()
    }

    /// The right-hand side with signed defects: in flat space, after [`Riemannian::arrive`], the regret itself.
    pub fn identity(&self) -> f64 {
        self.promise.total() + self.signed.total()
    }
}
