//! Steps on one example or one batch after the other.

#![allow(clippy::too_many_lines)] // one step, rule by rule

use super::search::{self, Limits};
use super::{Cost, OptimizeError, Reason, Rule, StepRate};
use crate::Real;
use crate::certify::{Certificate, Proximal, Riemannian};
use crate::error::ConfigError;
use crate::geometry::{Event, ExpLog, Work};
use crate::row::Dense;
use crate::update::Round;
use crate::walk::After;

/// A point that moves by the gradient of one example, or of one batch, at a time.
///
/// ```
/// use geowalk::geometry::manifolds::PositiveOrthant;
/// use geowalk::optimize::{Descent, Rule, StepRate};
/// let mut walk = Descent::new(PositiveOrthant::new(1)?, &[1.0], Rule::Explicit, StepRate::Constant(0.1))?;
/// for _ in 0..200 {
///     let mut cost = |p: &[f64], gradient: Option<&mut [f64]>| {
///         if let Some(gradient) = gradient {
///             gradient[0] = p[0] - 2.0;
///         }
///         0.5 * (p[0] - 2.0) * (p[0] - 2.0)
///     };
///     walk.step(&mut cost, None)?.map_err(|reason| assert!(false, "{reason}")).ok();
/// }
/// assert!((walk.point()[0] - 2.0).abs() < 1e-9);
/// # Ok::<(), geowalk::optimize::OptimizeError>(())
/// ```
#[derive(Debug)]
pub struct Descent<M> {
    manifold: M,
    rule: Rule,
    rate: StepRate,
    point: Vec<f64>,
    start: Vec<f64>,
    memory: Vec<f64>,
    covector: Vec<f64>,
    gradient: Vec<f64>,
    after: Vec<f64>,
    work: Work<f64>,
    steps: u64,
    evaluations: u64,
    /// The sum of squared gradients, or their decaying mean; the largest distance from the start.
    squares: f64,
    farthest: f64,
    theorems: Option<Theorems<M>>,
}

/// The theorems against a point.
#[derive(Debug)]
struct Theorems<M> {
    comparator: Vec<f64>,
    explicit: Option<Riemannian<M>>,
    implicit: Option<Proximal<M>>,
}

/// A step that was taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Taken {
    /// The cost before the step.
    pub value: f64,
    /// The length of its gradient.
    pub gradient: f64,
    /// The rate.
    pub rate: f64,
    /// The length of the step.
    pub length: f64,
    /// Whether the walk stayed where theorems hold.
    pub event: Event,
}

const MOMENTUM: f64 = 0.9;
const SQUARES: f64 = 0.999;
const ADAM_RATE: f64 = 0.01;
/// The first distance of automatic rates, relative to the unit of length.
const FIRST: f64 = 1e-3;

impl<M: ExpLog<f64> + Clone> Descent<M> {
    /// With the theorems against this point: each step then evaluates the cost there too.
    pub fn against(mut self, comparator: &[f64]) -> Result<Self, ConfigError> {
        let manifold = || self.manifold.clone();
        let explicit = match self.rule {
            Rule::Explicit => Some(Riemannian::new(manifold(), comparator, 0.0)?),
            _ => None,
        };
        let implicit = match self.rule {
            Rule::Implicit => Some(Proximal::new(manifold(), comparator, 0.0)?),
            _ => None,
        };
        self.manifold.check(comparator)?;
        let comparator = comparator.to_vec();
        self.theorems = Some(Theorems { comparator, explicit, implicit });
        Ok(self)
    }
}

impl<M: ExpLog<f64>> Descent<M> {
    /// From this point.
    pub fn new(
        manifold: M,
        start: &[f64],
        rule: Rule,
        rate: StepRate,
    ) -> Result<Self, ConfigError> {
        manifold.check(start)?;
        if rule == Rule::ConjugateGradient {
            let meaning = "conjugate-gradient needs all examples at once; use explicit, implicit, momentum or adam";
            return Err(ConfigError::Missing { name: "an update for single steps", meaning });
        }
        let rate = rate.check()?;
        let zeros = || vec![0.0; start.len()];
        Ok(Self {
            point: start.to_vec(),
            start: start.to_vec(),
            memory: zeros(),
            covector: zeros(),
            gradient: zeros(),
            after: zeros(),
            work: Work::new(),
            steps: 0,
            evaluations: 0,
            squares: 0.0,
            farthest: 0.0,
            theorems: None,
            manifold,
            rule,
            rate,
        })
    }

    /// The point so far.
    pub fn point(&self) -> &[f64] {
        &self.point
    }

    /// How often the cost was evaluated.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }

    /// The cost of all examples at the point, and the length of its gradient.
    pub fn measure(&mut self, cost: &mut dyn Cost) -> Result<(f64, f64), OptimizeError> {
        let value = cost.evaluate(&self.point, None, Some(&mut self.covector))?;
        self.evaluations += 1;
        let Self { manifold, point, covector, gradient, work, .. } = self;
        manifold.gradient(point, covector, gradient, work);
        Ok((value, manifold.norm(point, gradient, work)))
    }

    /// One step on a batch, or on all examples. `Ok(Err(reason))`: it could not be made, and the point is where it was.
    pub fn step(
        &mut self,
        cost: &mut dyn Cost,
        batch: Option<&[usize]>,
    ) -> Result<Result<Taken, Reason>, OptimizeError> {
        let value = cost.evaluate(&self.point, batch, Some(&mut self.covector))?;
        self.evaluations += 1;
        let Self { manifold, point, covector, gradient, memory, after, work, .. } = self;
        manifold.gradient(point, covector, gradient, work);
        let size = manifold.norm(point, gradient, work);
        if !(value.is_finite() && size.is_finite()) {
            return Ok(Err(Reason::NotFinite));
        }
        self.steps += 1;
        let rate = match self.rate {
            StepRate::Constant(rate) => rate,
            StepRate::Auto if self.rule == Rule::Adam => ADAM_RATE,
            StepRate::Auto => {
                self.squares += size * size;
                // Far on a negatively curved manifold a gradient moves the distance by less.
                let tau = Real::max(-manifold.curvature().min, 0.0).sqrt() * self.farthest;
                let zeta = if tau < 1e-4 { 1.0 } else { tau / Real::tanh(tau) };
                let unit = manifold.injectivity(&self.start).min(1.0);
                self.farthest.max(FIRST * unit)
                    / (zeta * self.squares.max(f64::MIN_POSITIVE)).sqrt()
            }
        };
        let round = |length: f64, event: Event| Round {
            z: 0.0,
            loss: value,
            slope: 1.0,
            rate,
            length,
            event,
        };
        after.copy_from_slice(point);
        let (mut later, mut later_value) = (Vec::new(), f64::NAN);
        let step = if self.rule == Rule::Implicit {
            let mut towards = vec![0.0; point.len()];
            let mut inner_work = Work::new();
            let mut euclidean = vec![0.0; point.len()];
            let (mut evaluations, from) = (0, &*point);
            let mut f = |q: &[f64], g: Option<&mut [f64]>| {
                evaluations += 1;
                let far = manifold.distance(q, from, &mut inner_work);
                let whole = |value: f64| value + far * far / (2.0 * rate);
                let Some(g) = g else { return Ok(whole(cost.evaluate(q, batch, None)?)) };
                let value = cost.evaluate(q, batch, Some(&mut euclidean))?;
                manifold.gradient(q, &euclidean, g, &mut inner_work);
                if manifold.log(q, from, &mut towards, &mut inner_work).is_err() {
                    return Ok(f64::NAN);
                }
                g.iter_mut().zip(&towards).for_each(|(g, v)| *g -= v / rate);
                Ok(whole(value))
            };
            let limits = Limits { steps: 200, tolerance: 1e-10 * (size + 1e-300), conjugate: true };
            let found = search::search(&*manifold, &mut f, point, &limits, &mut |_, _| true)?;
            self.evaluations += evaluations;
            if found.reason == Reason::NotFinite {
                return Ok(Err(Reason::NotFinite));
            }
            after.copy_from_slice(&found.point);
            let length = manifold.distance(point, after, work);
            if self.theorems.is_some() {
                later = vec![0.0; point.len()];
                later_value = cost.evaluate(after, batch, Some(&mut later))?;
                self.evaluations += 1;
            }
            Ok((length, Event::Inside))
        } else {
            let direction = match self.rule {
                Rule::Momentum => {
                    memory.iter_mut().zip(&*gradient).for_each(|(m, g)| *m = MOMENTUM * *m + g);
                    &*memory
                }
                Rule::Adam => {
                    let each = memory.iter_mut().zip(&*gradient);
                    each.for_each(|(m, g)| *m = MOMENTUM * *m + (1.0 - MOMENTUM) * g);
                    self.squares = SQUARES * self.squares + (1.0 - SQUARES) * size * size;
                    &*memory
                }
                _ => &*gradient,
            };
            let t = match self.rule {
                // A sum of ten gradients at once, as many as are remembered.
                Rule::Momentum if self.rate == StepRate::Auto => rate * (1.0 - MOMENTUM),
                Rule::Adam => {
                    let k = i32::try_from(self.steps).unwrap_or(i32::MAX);
                    let mean = 1.0 - power(MOMENTUM, k);
                    let spread = (self.squares / (1.0 - power(SQUARES, k))).sqrt();
                    rate / mean / (spread + 1e-300)
                }
                _ => rate,
            };
            manifold.retract(after, direction, -t, work).map(|step| (step.length, step.event))
        };
        let Ok((length, event)) = step else { return Ok(Err(Reason::Left)) };
        if !after.iter().all(|x| x.is_finite()) || !length.is_finite() {
            return Ok(Err(Reason::Left));
        }
        if let Some(theorems) = &mut self.theorems {
            let known = cost.evaluate(&theorems.comparator, batch, None)?;
            self.evaluations += 1;
            let round = round(length, event);
            if let Some(bound) = &mut theorems.explicit {
                bound.observe(point, &round, Dense(covector), known);
            }
            if let Some(bound) = &mut theorems.implicit {
                let end = After { z: 0.0, loss: later_value, slope: 1.0, evaluations: 0 };
                let rows = (Dense(&*covector), Dense(&later));
                bound.observe_between(point, after, &round, &end, rows, known)?;
            }
        }
        if matches!(self.rule, Rule::Momentum | Rule::Adam) {
            let before = manifold.norm(point, memory, work);
            let carried = manifold.carry(point, after, memory, work).is_ok();
            let now = manifold.norm(after, memory, work);
            if !carried || !now.is_finite() {
                memory.fill(0.0);
            } else if now > before {
                // A cheap map may stretch, and what is remembered would grow without end.
                for m in memory.iter_mut() {
                    *m *= before / now;
                }
            }
        }
        point.copy_from_slice(after);
        if self.rate == StepRate::Auto {
            let far = manifold.distance(&self.start, point, work);
            if far.is_finite() {
                self.farthest = self.farthest.max(far);
            }
        }
        Ok(Ok(Taken { value, gradient: size, rate, length, event }))
    }

    /// What the theorems promise so far, or why they do not.
    pub fn certificates(&self) -> Result<Vec<Certificate>, &'static str> {
        let Some(theorems) = &self.theorems else {
            return Err("theorems need a comparator");
        };
        match (&theorems.explicit, &theorems.implicit) {
            (Some(bound), _) => Ok(vec![bound.certificate(), bound.with_defect()]),
            (_, Some(bound)) => Ok(vec![bound.before(), bound.after()]),
            _ => Err("no theorem is known for this update; use explicit or implicit"),
        }
    }
}

/// xᵏ by repeated multiplication.
fn power(x: f64, k: i32) -> f64 {
    let (mut base, mut left, mut result) = (x, k, 1.0);
    while left > 0 {
        if left & 1 == 1 {
            result *= base;
        }
        base *= base;
        left >>= 1;
    }
    result
}
