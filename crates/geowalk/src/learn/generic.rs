//! # Walks on any manifold and with any generator, at O(n)
//! [`OnManifold`] and [`WithGenerator`] need only the definition of a geometry. They work for every row of the tables
//! of [manifolds](crate::geometry::manifolds) and [generators](crate::geometry::generators), and for types outside
//! this crate. Geometries with an O(nnz) form ([`SparseForm`](super::SparseForm)) do not need them.
//!
//! **Width** A point has a fixed number of coordinates, so the number of features is fixed when the walk is made. Rows
//! with larger feature indices are errors. Coordinates before [`Manifold::first_feature`] do not belong to features.
//!
//! **Implicit steps** minimise $U(w') = \tfrac1\eta D(w', w) + L(w')$. With κ = ηg′ the minimiser is that of
//! $\tfrac12 \mathrm{dist}^2(w', w) + \kappa \langle w', x\rangle$, which is smooth for every loss. It is found by
//! descent along $\log_{w'} w - \kappa\, x^\sharp$, and κ as the root of $\kappa = \eta\, g(z(\kappa))$. For a
//! generator the step is θ − κx.
//! **Care** On a curved manifold the minimum that is found is the one that continuously follows from w as the rate
//! increases from 0. If it does not exist, gradient descent from w lowers U. If that does not end at a minimum, it is
//! reported as [`Event::FellBack`]. U never increases, and so the loss never increases.
//! **Cost** O(n) per step (SPD: O(n³)); implicit steps take about 10 to 50 times that. No allocation per step.

use std::fmt::Debug;

use super::base::{self, Walk, array, judge};
use super::implicit::{Example, multiplier};
use super::{Get, Put};
use crate::error::{Allowed, ConfigError, DomainError};
use crate::geometry::{Curved, Event, ExpLog, Manifold, Work};
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Explicit, Mirror, MirrorState, Round, Target, Update};

/// A row shifted so that its feature 0 is a later coordinate of a point.
#[derive(Debug, Clone, Copy)]
struct Shifted<X> {
    x: X,
    by: usize,
}

impl<X: Row<f64>> Row<f64> for Shifted<X> {
    fn each(self, mut f: impl FnMut(usize, f64)) {
        self.x.each(|i, x| f(i + self.by, x));
    }

    fn bound(self) -> usize {
        if self.x.bound() == 0 { 0 } else { self.x.bound() + self.by }
    }
}

/// Returns an error if the row has more features than the walk.
fn fits<X: Row<f64>>(x: X, features: usize) -> Result<(), DomainError> {
    let found = x.bound();
    if found > features {
        return Err(DomainError::Dimension { what: "the row", found, expected: features });
    }
    Ok(())
}

/// A walk on a manifold by geodesic steps.
///
/// ```
/// use geowalk::geometry::manifolds::PoincareBall;
/// use geowalk::learn::OnManifold;
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::Walk;
///
/// let mut walk = OnManifold::explicit(PoincareBall::new(2)?)?;
/// for _ in 0..100 {
///     walk.step(Dense(&[1.0, 0.5]), 0.3.into(), &Squared, 0.5)?;
/// }
/// assert!((walk.predict(Dense(&[1.0, 0.5])) - 0.3).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct OnManifold<M> {
    rule: Explicit<M>,
    point: Vec<f64>,
    implicit: bool,
    memory: Memory,
}

/// Scratch memory of a step.
#[derive(Debug, Default)]
struct Memory {
    covector: Vec<f64>,
    direction: Vec<f64>,
    /// The point after an implicit step, and a trial point.
    after: Vec<f64>,
    trial: Vec<f64>,
    back: Vec<f64>,
    work: Work<f64>,
}

impl Memory {
    fn new(n: usize) -> Self {
        let zeros = || vec![0.0; n];
        let [covector, direction, after, trial, back] =
            [zeros(), zeros(), zeros(), zeros(), zeros()];
        Self { covector, direction, after, trial, back, work: Work::new() }
    }
}

impl<M: Clone> Clone for OnManifold<M> {
    fn clone(&self) -> Self {
        let memory = Memory::new(self.point.len());
        let (rule, point) = (self.rule.clone(), self.point.clone());
        Self { rule, point, implicit: self.implicit, memory }
    }
}

/// Compares points and manifolds; scratch memory does not count.
impl<M: PartialEq> PartialEq for OnManifold<M> {
    fn eq(&self, other: &Self) -> bool {
        let kind = self.implicit == other.implicit;
        kind && self.rule.manifold() == other.rule.manifold() && self.point == other.point
    }
}

impl<M: Manifold<f64>> OnManifold<M> {
    /// Explicit geodesic steps from the manifold's origin.
    pub fn explicit(manifold: M) -> Result<Self, ConfigError> {
        let mut point = vec![0.0; manifold.ambient()];
        manifold.origin(&mut point);
        manifold.check(&point)?;
        let memory = Memory::new(point.len());
        Ok(Self { rule: Explicit::new(manifold), point, implicit: false, memory })
    }

    /// Implicit steps from the manifold's origin.
    pub fn implicit(manifold: M) -> Result<Self, ConfigError> {
        Ok(Self { implicit: true, ..Self::explicit(manifold)? })
    }

    /// Starts the walk at another point.
    pub fn from_point(self, point: &[f64]) -> Result<Self, ConfigError> {
        self.rule.manifold().check(point)?;
        Ok(Self { point: point.to_vec(), ..self })
    }

    /// All coordinates of the point, including those before the first feature.
    pub fn point(&self) -> &[f64] {
        &self.point
    }

    fn first(&self) -> usize {
        self.rule.manifold().first_feature()
    }
}

/// Iteration limit of the inner minimisation, and its tolerance relative to the step.
const ITERATIONS: usize = 200;
const NEAR: f64 = 1e-12;

/// U must fall by at least this fraction of the decrease that its slope predicts.
const SUFFICIENT: f64 = 1e-4;

/// A fraction of a step below which the step counts as 0.
const SHORTEST: f64 = 1e-12;

impl<M: ExpLog<f64>> OnManifold<M> {
    /// `memory.after` ← the minimiser of ½dist²(w', w) + κ⟨w', x⟩ that continuously follows from w; returns ⟨w', x⟩
    /// and approximately its derivative. `None` if there is no minimiser.
    fn along<X: Row<f64>>(&mut self, x: Shifted<X>, kappa: f64) -> Option<(f64, f64)> {
        let m = self.rule.manifold();
        let Memory { covector, direction, after, trial, back, work } = &mut self.memory;
        let p = &self.point;
        after.copy_from_slice(p);
        let mut value = kappa * x.dot(after);
        for iteration in 0..ITERATIONS {
            m.gradient(after, covector, direction, work);
            let square = m.inner(after, direction, direction, work);
            if iteration == 0 {
                back.fill(0.0);
            } else {
                m.log(after, p, back, work).ok()?;
            }
            for (back, x) in back.iter_mut().zip(direction.iter()) {
                *back -= kappa * x;
            }
            let rest = m.norm(after, back, work);
            if rest <= NEAR * (kappa.abs() * square.sqrt()) {
                return Some((x.dot(after), -square));
            }
            let mut part = 1.0;
            loop {
                trial.copy_from_slice(after);
                if m.exp(trial, back, part, work).is_ok() {
                    let far = m.distance(trial, p, work);
                    let lower = 0.5 * far * far + kappa * x.dot(trial);
                    // Near the minimum, differences of values are rounding error.
                    let slack = 1e-14 * (value.abs() + lower.abs());
                    if lower <= value - SUFFICIENT * part * rest * rest + slack {
                        value = lower;
                        break;
                    }
                }
                part *= 0.5;
                if part < SHORTEST {
                    return None;
                }
            }
            after.copy_from_slice(trial);
            // The path length grows without bound: there is no minimum.
            if !value.is_finite() {
                return None;
            }
        }
        // Slow convergence near the end of the branch is accepted if the remaining distance is small.
        let size = m.norm(after, direction, work);
        let rest = m.norm(after, back, work);
        (rest <= 1e-7 * kappa.abs() * size).then(|| (x.dot(after), -size * size))
    }

    fn proximal<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: Shifted<X>,
        example: &Example<'_, L>,
        mut round: Round,
    ) -> Result<Round, DomainError> {
        base::in_range(x)?;
        self.memory.covector.fill(0.0);
        x.axpy(1.0, &mut self.memory.covector);
        let root = multiplier(example, f64::MAX, &mut |kappa| {
            // If there is no minimum, the step is too long.
            let beyond = (-f64::MAX.copysign(kappa), f64::NAN);
            self.along(x, kappa).unwrap_or(beyond)
        });
        // The slope must be a slope of the loss at z(κ). If z(κ) jumps, the root is not a solution. At a kink the
        // slope is between those on both sides.
        let holds = |kappa: f64, z: f64| {
            let (around, slack) = (1e-8 * (1.0 + z.abs()), 1e-6 * kappa.abs());
            let (a, b) = (example.pull(z - around), example.pull(z + around));
            (a.min(b) - slack..=a.max(b) + slack).contains(&kappa)
        };
        let solved =
            root.is_ok_and(|root| self.along(x, root.at).is_some_and(|(z, _)| holds(root.at, z)));
        if !solved {
            self.memory.after.copy_from_slice(&self.point);
        }
        let (far, objective, converged) = self.descend(x, example);
        if objective.is_nan() || objective > round.loss {
            // Not even a short step lowers the objective: the gradient is 0 although the loss is not.
            round.event = Event::Stationary;
            return Ok(round);
        }
        if !solved && !converged {
            round.event = Event::FellBack;
        }
        round.length = base::length(far)?;
        self.point.copy_from_slice(&self.memory.after);
        Ok(round)
    }

    /// Lowers U from `memory.after` until its gradient is 0, or until no shorter step lowers it, as at a kink of the
    /// loss. Returns the distance from w, U, and whether the gradient is 0.
    fn descend<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: Shifted<X>,
        example: &Example<'_, L>,
    ) -> (f64, f64, bool) {
        let m = self.rule.manifold();
        let Memory { covector, direction, after, trial, back, work } = &mut self.memory;
        let p = &self.point;
        let objective = |q: &[f64], work: &mut Work<f64>| {
            let far = m.distance(q, p, work);
            (far, far * far / (2.0 * example.rate) + example.value(x.dot(q)))
        };
        let (mut far, mut least) = objective(after, work);
        for _ in 0..ITERATIONS {
            let z = x.dot(after);
            let pull = example.pull(z);
            m.gradient(after, covector, direction, work);
            let square = m.inner(after, direction, direction, work);
            if m.log(after, p, back, work).is_err() {
                break;
            }
            // −η times the gradient of U.
            for (back, x) in back.iter_mut().zip(direction.iter()) {
                *back -= pull * x;
            }
            let rest = m.norm(after, back, work);
            if rest <= 1e-10 * (far + pull.abs() * square.sqrt()) {
                return (far, least, true);
            }
            // The longest step that a loss of this curvature allows.
            let stiffness = example.stiffness(z);
            let mut part = if stiffness > 0.0 { 1.0 / (1.0 + stiffness * square) } else { 1.0 };
            let lower = loop {
                trial.copy_from_slice(after);
                if m.exp(trial, back, part, work).is_ok() {
                    let (far, u) = objective(trial, work);
                    if u < least - SUFFICIENT * part * rest * rest / example.rate {
                        break Some((far, u));
                    }
                }
                part *= 0.5;
                if part < SHORTEST {
                    break None;
                }
            };
            let Some(lower) = lower else { break };
            (far, least) = lower;
            after.copy_from_slice(trial);
        }
        (far, least, false)
    }
}

impl<M: ExpLog<f64> + Clone + Debug + Send + Sync> Walk for OnManifold<M> {
    fn features(&self) -> usize {
        self.point.len() - self.first()
    }

    /// Does nothing: the number of coordinates is fixed.
    fn grow(&mut self, _: usize) {}

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        Shifted { x, by: self.first() }.dot(&self.point)
    }

    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        fits(x, self.features())?;
        let x = Shifted { x, by: self.first() };
        let mut round = judge(x.dot(&self.point), target, loss, rate)?;
        if rate == 0.0 || round.slope == 0.0 {
            return Ok(round);
        }
        if self.implicit {
            return self.proximal(x, &Example { loss, target, rate }, round);
        }
        let Memory { covector, direction, after, work, .. } = &mut self.memory;
        after.copy_from_slice(&self.point);
        let step = self.rule.walk(after, x, round.slope, rate, covector, direction, work)?;
        crate::error::each("the weights after the step", after, Allowed::Finite)?;
        (round.length, round.event) = (base::length(step.length)?, step.event);
        self.point.copy_from_slice(after);
        Ok(round)
    }

    fn read(&self, w: &mut Vec<f64>) {
        w.clear();
        w.extend(self.point.iter().skip(self.first()));
    }

    fn spec(&self) -> String {
        let step = if self.implicit { "implicit" } else { "explicit" };
        format!("{step}:{:?}", self.rule.manifold())
    }

    fn save_state(&self, put: Put<'_>) {
        put("point", &self.point);
    }

    fn load_state(&mut self, get: Get<'_>) -> Result<(), ConfigError> {
        let point = array(get, "point", Allowed::Finite)?;
        if point.len() != self.point.len() {
            let (what, expected) = ("the saved point", self.point.len());
            return Err(DomainError::Dimension { what, found: point.len(), expected }.into());
        }
        self.rule.manifold().check(&point)?;
        self.point = point;
        Ok(())
    }
}

/// A walk in the dual coordinates of a generator, by mirror steps.
///
/// ```
/// use geowalk::geometry::generators::SquaredEuclidean;
/// use geowalk::learn::WithGenerator;
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::Walk;
///
/// // θ = 2w, so a mirror step is half a gradient step.
/// let mut walk = WithGenerator::mirror(SquaredEuclidean, 2)?;
/// walk.step(Dense(&[1.0, 0.0]), 1.0.into(), &Squared, 0.5)?;
/// assert_eq!(walk.predict(Dense(&[1.0, 0.0])), 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct WithGenerator<G> {
    rule: Mirror<G>,
    state: MirrorState<f64>,
    implicit: bool,
    /// The row, and its product with the inverse Hessian.
    dense: [Vec<f64>; 2],
}

/// Compares weights.
impl<G> PartialEq for WithGenerator<G> {
    fn eq(&self, other: &Self) -> bool {
        self.implicit == other.implicit && self.state.theta() == other.state.theta()
    }
}

impl<G: Curved<f64>> WithGenerator<G> {
    /// Mirror steps for n features, from the generator's origin.
    pub fn mirror(generator: G, n: usize) -> Result<Self, ConfigError> {
        let mut w = vec![0.0; n];
        generator.origin(&mut w);
        let rule = Mirror::new(generator);
        let state = rule.start(&w)?;
        let dense = [vec![0.0; n], vec![0.0; n]];
        Ok(Self { rule, state, implicit: false, dense })
    }

    /// Implicit steps for n features, from the generator's origin.
    pub fn implicit(generator: G, n: usize) -> Result<Self, ConfigError> {
        Ok(Self { implicit: true, ..Self::mirror(generator, n)? })
    }

    /// Starts the walk at other weights.
    pub fn from_weights(self, w: &[f64]) -> Result<Self, ConfigError> {
        Ok(Self { state: self.rule.start(w)?, ..self })
    }

    fn proximal<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        example: &Example<'_, L>,
        mut round: Round,
    ) -> Result<Round, DomainError> {
        base::in_range(x)?;
        let Self { rule, state, dense: [row, image], .. } = self;
        row.fill(0.0);
        x.axpy(1.0, row);
        let root = multiplier(example, f64::MAX, &mut |kappa| {
            // Outside the image of the link the step is too long.
            let beyond = (-f64::MAX.copysign(kappa), f64::NAN);
            let Ok(w) = rule.ahead(state, x, -kappa) else { return beyond };
            let generator = rule.generator();
            if generator.check_curved(w).is_err() {
                return (x.dot(w), f64::NAN);
            }
            generator.hessian_inverse(w, row, image);
            (x.dot(w), -x.dot(image))
        })?;
        round.length = rule.advance(state, x, -root.at)?;
        Ok(round)
    }
}

impl<G: Curved<f64> + Clone + Debug + Send + Sync> Walk for WithGenerator<G> {
    fn features(&self) -> usize {
        self.state.weights().len()
    }

    /// Does nothing: the number of weights of a generator is fixed.
    fn grow(&mut self, _: usize) {}

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        x.dot(self.state.weights())
    }

    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        fits(x, self.features())?;
        let mut round = judge(self.predict(x), target, loss, rate)?;
        if rate == 0.0 || round.slope == 0.0 {
            return Ok(round);
        }
        if self.implicit {
            return self.proximal(x, &Example { loss, target, rate }, round);
        }
        round.length = self.rule.advance(&mut self.state, x, -rate * round.slope)?;
        Ok(round)
    }

    fn read(&self, w: &mut Vec<f64>) {
        w.clear();
        w.extend(self.state.weights());
    }

    fn spec(&self) -> String {
        let step = if self.implicit { "implicit" } else { "mirror" };
        format!("{step}:{:?}", self.rule.generator())
    }

    fn save_state(&self, put: Put<'_>) {
        put("theta", self.state.theta());
    }

    fn load_state(&mut self, get: Get<'_>) -> Result<(), ConfigError> {
        let theta = array(get, "theta", Allowed::Finite)?;
        if theta.len() != self.features() {
            let (what, expected) = ("the saved weights", self.features());
            return Err(DomainError::Dimension { what, found: theta.len(), expected }.into());
        }
        self.state = self.rule.resume(theta)?;
        Ok(())
    }
}
