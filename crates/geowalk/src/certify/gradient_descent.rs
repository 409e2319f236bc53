//! # Gradient descent
//! $$\sum_t \ell(z_t, y_t) - \ell(\langle u, x_t\rangle, y_t) \;\le\; \frac{\Vert u - w_0\Vert^2}{2\eta} + \frac\eta2 \sum_t g_t^2 \Vert x_t\Vert^2 \;\le\;
//!   \frac{\Vert u - w_0\Vert^2}{2\eta} + \frac\eta2 k Z^2 R^2$$
//! for a loss convex in the prediction and a constant rate; the second form with declared Z ≥ |g|, R ≥ ‖x‖. At η = U/(ZR√k) it is ZRU√k.
//! **Proof** The linearised regret is $(D_0 - D_k)/\eta + \tfrac\eta2\sum\Vert g x\Vert^2$ exactly. **Cost** O(1) per round (O(nnz) with declared constants).
//! **Care** Z bounds the slopes *met*, which cannot be known beforehand unless the loss is Lipschitz.
//! **Source** \[KMWW07, ex. 6\], with ≤ in place of =.

use super::theorem::{
    AS_WRITTEN, CONSTANT, CONVEX, Declared, FINITE, Theorem, Watch, checked, declared, farthest,
    keep, outward, restore, underflow,
};
use super::{Bound, Certificate, Comparator};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};
use crate::loss::Facts;
use crate::row::{Norm, Row};
use crate::sum::Sum;
use crate::update::Round;

const SLOPE: &str = "|slope| <= Z";
const NORM: &str = "|x| <= R";
const LENGTH: &str = "steps of length rate |slope| |x|";

pub(super) const THEOREM: Theorem = Theorem {
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
};

/// The bound of gradient descent.
///
/// ```
/// use geowalk::certify::{Bound, Comparator, GradientDescent};
/// use geowalk::loss::{Hinge, Loss};
/// use geowalk::row::Dense;
/// use geowalk::walk::{Euclidean, Walk};
///
/// let mut walk = Euclidean::new();
/// let mut bound = GradientDescent::new(&[], &Hinge.facts());
/// for _ in 0..4 {
///     let round = walk.step(Dense(&[1.0]), 1.0.into(), &Hinge, 0.5)?;
///     bound.observe(&round, Dense(&[1.0]));
/// }
/// // Two mistakes: 1/(2·½) + ½·½·2.
/// let certificate = bound.certify(&Comparator::Given(&[1.0]));
/// assert!((certificate.bound - 1.5).abs() < 1e-12 && certificate.loss == 1.5);
/// # Ok::<(), geowalk::DomainError>(())
/// ```
#[derive(Debug, Clone)]
pub struct GradientDescent {
    start: Vec<f64>,
    constants: Option<(f64, f64)>,
    implicit: bool,
    watch: Watch,
    squares: Sum,
}

impl GradientDescent {
    /// From the weights `start` (0 beyond its end), with the gradients that are met.
    pub fn new(start: &[f64], facts: &Facts) -> Self {
        let watch = Watch::convex(&THEOREM, facts);
        Self {
            start: start.to_vec(),
            constants: None,
            implicit: false,
            watch,
            squares: Sum::default(),
        }
    }

    /// For implicit steps, of which the theorem is true as well: it is [`Proximal::before`](super::Proximal::before) in flat space, against every comparator at once.
    pub fn implicit(start: &[f64], facts: &Facts) -> Self {
        let watch = Watch::convex(&super::proximal::FLAT, facts);
        Self { implicit: true, watch, ..Self::new(start, facts) }
    }

    /// With constants declared beforehand: |g| ≤ z, ‖x‖ ≤ r.
    pub fn promised(start: &[f64], facts: &Facts, z: f64, r: f64) -> Result<Self, ConfigError> {
        error::parameter("z", z, Allowed::Positive)?;
        error::parameter("r", r, Allowed::Positive)?;
        Ok(Self { constants: Some((z, r)), ..Self::new(start, facts) })
    }

    /// Were constants declared, which every row must keep to?
    pub(super) fn is_promised(&self) -> bool {
        self.constants.is_some()
    }

    /// Sees a round of a walk whose steps have the length η|g|‖x‖, as gradient descent's own do: O(1).
    #[inline]
    pub fn observe_length(&mut self, round: &Round) {
        let pull = round.rate * round.slope.abs();
        let norm = if pull > 0.0 { round.length / pull } else { 0.0 };
        self.see(round, norm * (1.0 - 1e-15));
        self.squares.add(round.length * round.length);
    }

    fn see(&mut self, round: &Round, norm: f64) {
        self.watch.round(round);
        self.watch.constant_rate(round.rate);
        if let Some((z, r)) = self.constants {
            self.watch.demand(SLOPE, round.slope.abs() <= z, round.slope);
            self.watch.demand(NORM, norm <= r, norm);
        }
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        keep(&self.watch, &self.squares.save(), put);
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        self.squares = Sum::load(restore(&mut self.watch, get)?);
        Ok(())
    }

    /// The rate that is best for comparators at distance `u` after `k` rounds: U/(ZR√k).
    pub fn rate(u: f64, z: f64, r: f64, k: u64) -> f64 {
        u / (z * r * (k as f64).sqrt())
    }
}

impl Bound for GradientDescent {
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        let norm = x.norm(Norm::L2).f64();
        self.see(round, norm);
        let length = round.rate * round.slope.abs() * norm;
        // A clipped or two-sided walk makes other steps than this.
        let own = self.implicit || (length - round.length).abs() <= 1e-9 * length;
        self.watch.demand(LENGTH, own, round.length);
        self.squares.add(length * length);
    }

    fn compare(&mut self, round: &Round, prediction: f64, loss: f64) {
        self.watch.compare(round, prediction, loss);
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        let eta = self.watch.rate;
        let second = match self.constants {
            None => (self.squares.upper() + underflow(self.watch.rounds)) / (2.0 * eta),
            Some((z, r)) => 0.5 * eta * self.watch.rounds as f64 * z * z * r * r,
        };
        let distance = farthest(u, &self.start);
        if self.watch.rounds == 0 && !distance.is_nan() {
            return self.watch.issue(0.0);
        }
        // Every step is rounded.
        let bound = 0.5 * distance * (distance / eta) + second;
        self.watch.issue(outward(bound, 0.125 * self.watch.rounds as f64 * bound))
    }

    fn declared(&self) -> Vec<Declared> {
        let Some((z, r)) = self.constants else { return Vec::new() };
        vec![Declared { premise: SLOPE, value: z }, Declared { premise: NORM, value: r }]
    }
}
