//! # Implicit steps
//! An implicit step uses the gradient at the weights *after* the step:
//! $$\mathrm{Exp}^{-1}_{w'}\, w = \eta\, \mathrm{grad}\, L(w') \qquad\text{or}\qquad
//!   \nabla\psi(w') = \nabla\psi(w) - \eta\, \partial L(w')$$
//! for a manifold and for a generator. Both minimise
//! $$U(w') = \tfrac1\eta D(w', w) + L(w'), \qquad D = \tfrac12 \mathrm{dist}^2 \text{ or } D_\psi(w' \Vert w)$$
//! so the loss on the example never increases, for any rate. $L(w) = \ell(\langle w, x\rangle, y)$ reduces it to an
//! equation in one variable:
//!
//! | walk | weights after | unknown | evaluation |
//! |---|---|---|---|
//! | [`Euclidean`](crate::walk::Euclidean) | w − κx | κ, often in closed form | O(1) |
//! | [`Sphere`](crate::walk::Sphere) | rotated by t in the plane of w and x | t | O(1) |
//! | [`Hyperbolic`](crate::walk::Hyperbolic) | rotated hyperbolically by t in the plane of w and x | t | O(1) |
//! | [`Simplex`](crate::walk::Simplex) | ∝ p_i/(1 + q∣x_i − x_j∣)², j the extreme feature | ln(1 + q·const) | O(nnz) |
//! | [`Orthant`](crate::walk::Orthant) | w_i exp(−W₀(κ x_i w_i)) | κ | O(nnz) |
//! | [`Entropy`](crate::walk::Entropy) | w_i e^{−κ x_i} | κ | O(nnz) |
//! | [`SimplexEntropy`](crate::walk::SimplexEntropy) | ∝ w_i e^{−κ x_i} | κ | O(nnz) |
//! | [`PNorm`](crate::walk::PNorm), [`Burg`](crate::walk::Burg) | θ − κx | κ | O(nnz) |
//!
//! κ = ηg′ with g′ the slope at the weights after the step.
//! **Unique?** If the unknown is κ, then κ − ηg(z(κ)) increases for every convex loss, since z falls with
//! κ. On the sphere and the simplex half the squared distance to {w′ : ⟨w′, x⟩ = z} is convex in z, so the root is
//! also unique for every convex loss (sphere: $(\varphi - d)/\sin\varphi$ increases with φ; simplex: checked on
//! samples). In hyperbolic space, and in these three spaces for losses that are not convex, up to 256 cells are
//! searched and the root with the smallest U is taken. With the other walks, no implicit step may be found for a loss
//! that is not convex. That is an error; a step never increases the loss.
//! **Care** At a kink of the loss, g′ is the slope between those on the two sides that solves the equation. A missing
//! sign change is an error; an end of the interval is never returned in its place. **Cost** O(nnz) per evaluation, 1
//! to 12 evaluations for most examples. Short steps with exponentials or on the simplex cost O(nnz) once and O(1) per
//! evaluation, by power series.
//! **Source** \[KMWW07, eq. (9)\], as corrected in this library's theorems.

pub(crate) mod central;
pub(crate) mod lambert;
pub(crate) mod series;

use super::base::{Walk, judge};
use super::gauge::Gauge;
use super::solve::{self, Root};
use super::{Get, Put, RowSummary, SparseForm, Steps};
use crate::Real;
use crate::error::{ConfigError, DomainError};
use crate::learn::{Chart, Moves};
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Round, Target};

/// A walk that can make implicit steps.
pub trait Proximal: Walk {
    /// Predicts, then makes an implicit step. Otherwise like [`Walk::step`].
    fn proximal<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Solved, DomainError>;
}

/// The result of an implicit step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solved {
    /// The round, as for any step. The loss and the slope are those *before* the move, which certificates need.
    pub round: Round,
    /// g′, the weighted slope after the move. At a kink, a slope between those on the two sides.
    pub slope: f64,
    /// Number of evaluations of the equation.
    pub evaluations: usize,
}

impl Solved {
    /// A step that leaves the weights unchanged.
    pub(crate) fn stay(round: Round) -> Self {
        Self { round, slope: round.slope, evaluations: 0 }
    }
}

/// The state after the last implicit step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct After {
    /// The prediction for the same example after the move.
    pub z: f64,
    /// The weighted loss there, never above the loss before.
    pub loss: f64,
    /// g′, the weighted slope that the move used.
    pub slope: f64,
    /// Number of evaluations of the equation.
    pub evaluations: usize,
}

/// A walk that makes implicit instead of explicit steps.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Euclidean, Implicit, Walk};
///
/// // Explicitly this rate would go from 0 to 200; implicitly it goes almost to the label.
/// let mut walk = Implicit::new(Euclidean::new());
/// let round = walk.step(Dense(&[1.0]), 1.0.into(), &Squared, 100.0)?;
/// assert_eq!((round.z, round.loss), (0.0, 1.0));
/// assert_eq!(walk.predict(Dense(&[1.0])), 200.0 / 201.0);
/// let after = walk.after().unwrap();
/// assert!((after.slope + 2.0 / 201.0).abs() < 1e-15);
/// # Ok::<(), geowalk::DomainError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Implicit<W> {
    walk: W,
    after: Option<After>,
}

impl<W: Proximal> Implicit<W> {
    /// Implicit steps from the current weights of `walk`. Variants of the explicit step, such as `projected` on the
    /// sphere or `prod` on the simplex, have no effect.
    pub fn new(walk: W) -> Self {
        Self { walk, after: None }
    }

    /// The wrapped walk.
    pub fn inner(&self) -> &W {
        &self.walk
    }

    /// The result of the last step.
    pub fn after(&self) -> Option<After> {
        self.after
    }
}

/// Compares weights; the result of the last step does not count.
impl<W: PartialEq> PartialEq for Implicit<W> {
    fn eq(&self, other: &Self) -> bool {
        self.walk == other.walk
    }
}

impl<W: Proximal> Walk for Implicit<W> {
    fn features(&self) -> usize {
        self.walk.features()
    }

    fn grow(&mut self, n: usize) {
        self.walk.grow(n);
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        self.walk.predict(x)
    }

    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        let Solved { round, slope, evaluations } = self.walk.proximal(x, target, loss, rate)?;
        let z = self.walk.predict(x);
        let value = target.weight * loss.value(z, target.y);
        self.after = Some(After { z, loss: value, slope, evaluations });
        Ok(round)
    }

    fn common(&self) -> f64 {
        self.walk.common()
    }

    fn unit(&self) -> f64 {
        self.walk.unit()
    }

    fn local(&self, i: usize) -> Option<f64> {
        self.walk.local(i)
    }

    fn gauge<X: Row<f64>>(&self, x: X) -> Gauge {
        self.walk.gauge(x)
    }

    fn read(&self, w: &mut Vec<f64>) {
        self.walk.read(w);
    }

    fn spec(&self) -> String {
        format!("implicit({})", self.walk.spec())
    }

    fn save_state(&self, put: Put<'_>) {
        self.walk.save_state(put);
    }

    fn load_state(&mut self, get: Get<'_>) -> Result<(), ConfigError> {
        self.walk.load_state(get)?;
        self.after = None;
        Ok(())
    }
}

/// A mirror geometry: the steps of all sizes κ form a curve. An implicit step is the point on it whose κ equals ηg
/// *after* the step.
pub trait Curve: SparseForm {
    /// The values computed once per row: none, or the moments of a power series.
    type Ready;

    /// Prepares the row for steps with |κ| up to `reach` on this `side` (±1, the sign of the slope). `None` if no step
    /// changes the prediction.
    fn ready<X: Row<f64>>(
        &self,
        chart: &Self::Chart,
        x: X,
        row: RowSummary,
        reach: f64,
        side: f64,
    ) -> Result<Option<Self::Ready>, DomainError>;

    /// z(κ) = ⟨w(κ), x⟩ and its derivative.
    fn along<X: Row<f64>>(
        &self,
        chart: &Self::Chart,
        x: X,
        row: RowSummary,
        ready: &Self::Ready,
        kappa: f64,
    ) -> (f64, f64);

    /// The largest possible |κ|.
    fn limit(&self, _ready: &Self::Ready) -> f64 {
        f64::MAX
    }

    /// κ by a closed formula, if there is one.
    fn formula<L: Loss + ?Sized>(
        &self,
        _row: RowSummary,
        _example: &Example<'_, L>,
    ) -> Option<f64> {
        None
    }

    /// A more accurate replacement of `ready`, if `ready` is too inaccurate for a step of this κ.
    fn refine<X: Row<f64>>(
        &self,
        _chart: &mut Self::Chart,
        _x: X,
        _ready: &Self::Ready,
        _kappa: f64,
    ) -> Option<Self::Ready> {
        None
    }

    /// Makes the step of size κ.
    fn arrive<X: Row<f64>>(
        &self,
        chart: &mut Self::Chart,
        x: X,
        row: RowSummary,
        _ready: &Self::Ready,
        kappa: f64,
        round: &mut Round,
    ) -> Result<(), DomainError> {
        if let Some(by) = self.plan(chart, row, kappa, round)? {
            chart.apply(x, by, round)?;
        }
        Ok(())
    }
}

impl<G: Curve> Proximal for Steps<G> {
    fn proximal<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Solved, DomainError> {
        let Self { form, chart } = self;
        chart.grow(x.bound());
        let row = chart.look(x);
        let mut round = judge(row.z, target, loss, rate)?;
        let (kappa, side) = (rate * round.slope, f64::copysign(1.0, round.slope));
        if kappa == 0.0 {
            return Ok(Solved::stay(round));
        }
        let Some(mut ready) = form.ready(chart, x, row, kappa.abs(), side)? else {
            return Ok(Solved::stay(round));
        };
        let example = Example { loss, target, rate };
        let solve = |chart: &G::Chart, ready: &G::Ready| {
            if let Some(at) = form.formula(row, &example) {
                return Ok(Root { at, value: 0.0, evaluations: 1 });
            }
            let limit = form.limit(ready);
            multiplier(&example, limit, &mut |kappa| form.along(chart, x, row, ready, kappa))
        };
        let mut root = solve(chart, &ready)?;
        if let Some(finer) = form.refine(chart, x, &ready, root.at) {
            let evaluations = root.evaluations + 1;
            ready = finer;
            root = solve(chart, &ready)?;
            root.evaluations += evaluations;
        }
        form.arrive(chart, x, row, &ready, root.at, &mut round)?;
        Ok(Solved { round, slope: root.at / rate, evaluations: root.evaluations })
    }
}

/// The loss of one example, as a function of the prediction.
#[derive(Debug, Clone, Copy)]
pub struct Example<'a, L: ?Sized> {
    pub(crate) loss: &'a L,
    pub(crate) target: Target,
    pub(crate) rate: f64,
}

impl<L: Loss + ?Sized> Example<'_, L> {
    /// ηg(z).
    #[inline]
    pub fn pull(&self, z: f64) -> f64 {
        // Far ends of brackets may be infinite, but losses accept only finite predictions.
        let z = Real::clamp(z, -f64::MAX, f64::MAX);
        self.rate * (self.target.weight * self.loss.slope(z, self.target.y))
    }

    /// The derivative of [`Example::pull`].
    #[inline]
    pub fn stiffness(&self, z: f64) -> f64 {
        let z = Real::clamp(z, -f64::MAX, f64::MAX);
        self.rate * (self.target.weight * self.loss.curvature(z, self.target.y))
    }

    /// The weighted loss.
    pub fn value(&self, z: f64) -> f64 {
        self.target.weight * self.loss.value(z, self.target.y)
    }

    /// The prediction with the smallest loss.
    pub fn minimizer(&self) -> f64 {
        self.loss.minimizer(self.target.y)
    }

    /// The prediction with the smallest loss, if it is finite, and the pulls on its two sides.
    pub fn at_minimizer(&self) -> Option<(f64, f64, f64)> {
        let z = self.minimizer();
        z.is_finite().then(|| (z, self.pull(z.next_down()), self.pull(z.next_up())))
    }
}

/// Name of the equations in errors.
pub(crate) const EQUATION: &str = "the equation of the implicit step";

/// Description of the error for a loss that is not convex.
const RISE: &str = "the implicit step, which would raise the loss,";

/// Solves κ = ηg(z(κ)). `predict` computes z(κ) and its derivative; z falls with κ. |κ| may not exceed `limit`.
pub(crate) fn multiplier<L: Loss + ?Sized>(
    example: &Example<'_, L>,
    limit: f64,
    predict: &mut impl FnMut(f64) -> (f64, f64),
) -> Result<Root, DomainError> {
    // Do not use the prediction of the round: it may differ in the last bit, and then the root may lie on the other
    // side.
    let start = example.pull(predict(0.0).0);
    if start == 0.0 {
        return Ok(Root { at: 0.0, value: 0.0, evaluations: 1 });
    }
    let limit = limit.copysign(start);
    // For a convex loss the pull after the step is no larger than before.
    let hi = if start.abs() <= limit.abs() { start } else { limit };
    if let Some(root) = kink(example, start, hi, predict) {
        return Ok(root);
    }
    let mut equation = |kappa: f64| {
        let (z, slope) = predict(kappa);
        (kappa - example.pull(z), 1.0 - example.stiffness(z) * slope)
    };
    let root = solve::root_near(EQUATION, 0.0, hi, limit, hi.abs(), &mut equation)?;
    if !example.loss.facts().convex {
        // For such a loss, a root need not be a minimum.
        let rise = example.value(predict(root.at).0) - example.value(predict(0.0).0);
        if rise.is_nan() || rise > 0.0 {
            let iterations = root.evaluations;
            return Err(DomainError::NotConverged { what: RISE, residual: rise, iterations });
        }
    }
    Ok(root)
}

/// The root at the kink where the loss is smallest, if it is there. Halving would find it too, at ten times the cost.
fn kink<L: Loss + ?Sized>(
    example: &Example<'_, L>,
    start: f64,
    hi: f64,
    predict: &mut impl FnMut(f64) -> (f64, f64),
) -> Option<Root> {
    let (z, below, above) = example.at_minimizer()?;
    if above - below < 0.5 * start.abs() {
        return None;
    }
    let mut miss = |kappa: f64| {
        let (there, slope) = predict(kappa);
        (there - z, slope)
    };
    let root = solve::root(EQUATION, 0.0, hi, &mut miss).ok()?;
    (below..=above).contains(&root.at).then_some(root)
}
