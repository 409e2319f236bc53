//! # Any cost on any manifold
//! $$\min_{p \in M} f(p), \qquad p' = R_p(-\eta\,\mathrm{grad} f(p))$$
//! from values and Euclidean gradients: all examples at once with a line search ([`Minimizer`]), batches of examples, or
//! one example after the other ([`Descent`]).
//!
//! | [`Rule`] | a step |
//! |---|---|
//! | `Explicit` | along −grad; of all examples at once with a line search if the rate is `Auto` |
//! | `Implicit` | to the minimum of f(q) + d(p, q)²/2η, sought by conjugate gradients |
//! | `Momentum` | along −m, m = 0.9 m + grad, m carried along |
//! | `Adam` | along −m/√s, with the decaying mean m of gradients and s of their squared lengths |
//! | `ConjugateGradient` | along −grad + β d, all examples at once, with a line search |
//!
//! **Rates** `Auto` on batches is the largest distance from the start over the root of the sum of squared
//! gradients, no number to choose; for Adam 0.01.
//! **Theorems** With a comparator, explicit steps carry the corrected Theorem 6 and implicit ones Theorem 8 of
//! \[KMWW07\], see [`certify`](crate::certify); for the other rules none is known.
//! **Care** What is not finite is never stepped on: a line search goes back from it, any other step ends the run with
//! [`Reason::NotFinite`] at the last good point. Minima are local.
//! **Source** conjugate gradients \[Boumal23\]; Adam \[BG19\]; automatic rates \[DSN24\].

mod check;
mod descent;
mod search;

pub use check::{GradientCheck, check_gradient};
pub use descent::{Descent, Taken};

use crate::certify::Certificate;
use crate::error::{Allowed, ConfigError, DomainError};
use crate::geometry::ExpLog;

/// The cost could not be computed, for a reason that its author knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

/// A function on the points of a manifold, or a sum of one over examples.
pub trait Cost {
    /// The value at p; where `gradient` is given the vector of partial derivatives goes there. `batch` numbers the
    /// examples to use, `None` means all.
    fn evaluate(
        &mut self,
        p: &[f64],
        batch: Option<&[usize]>,
        gradient: Option<&mut [f64]>,
    ) -> Result<f64, Interrupted>;
}

impl<T: FnMut(&[f64], Option<&mut [f64]>) -> f64> Cost for T {
    fn evaluate(
        &mut self,
        p: &[f64],
        _: Option<&[usize]>,
        gradient: Option<&mut [f64]>,
    ) -> Result<f64, Interrupted> {
        Ok(self(p, gradient))
    }
}

/// How steps are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// Geodesic steps against the gradient.
    Explicit,
    /// Steps to the minimum of the cost and the squared distance.
    Implicit,
    /// Explicit steps with a memory of earlier ones.
    Momentum,
    /// Momentum with lengths by the size of earlier gradients.
    Adam,
    /// Directions that do not undo earlier ones; line searches; all examples.
    ConjugateGradient,
}

impl Rule {
    /// The names that [`Rule::parse`] knows.
    pub const NAMES: [&'static str; 5] =
        ["explicit", "implicit", "momentum", "adam", "conjugate-gradient"];

    /// The rule of a name.
    pub fn parse(name: &str) -> Result<Self, ConfigError> {
        Ok(match name {
            "explicit" => Self::Explicit,
            "implicit" => Self::Implicit,
            "momentum" => Self::Momentum,
            "adam" => Self::Adam,
            "conjugate-gradient" => Self::ConjugateGradient,
            _ => return Err(crate::spec::unknown("update", name, Self::NAMES)),
        })
    }
}

/// The rate η of steps.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum StepRate {
    /// Found while running.
    Auto,
    /// The same in every step.
    Constant(f64),
}

impl StepRate {
    fn check(self) -> Result<Self, ConfigError> {
        if let Self::Constant(rate) = self {
            crate::error::parameter("rate", rate, Allowed::Positive)?;
        }
        Ok(self)
    }
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The gradient is no longer than the tolerance.
    Gradient,
    /// No shorter step lowers the cost by more than rounding.
    Stalled,
    /// All steps were made.
    Steps,
    /// The cost or its gradient is not finite.
    NotFinite,
    /// A step left the numbers or the manifold.
    Left,
    /// The observer asked for it.
    Asked,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Gradient => "the gradient is no longer than the tolerance",
            Self::Stalled => "no shorter step lowers the cost by more than rounding",
            Self::Steps => "all steps were made",
            Self::NotFinite => "the cost or its gradient is not finite",
            Self::Left => "a step left the numbers or the manifold",
            Self::Asked => "the callback asked for it",
        })
    }
}

/// A run that could not begin or go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OptimizeError {
    /// The start is not on the manifold.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// A parameter out of range, or parameters that do not go together.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The cost was interrupted by its author.
    #[error("the cost was interrupted")]
    Interrupted,
}

impl From<Interrupted> for OptimizeError {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

/// A step, as observers see it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Steps made.
    pub step: u64,
    /// The cost before the step, of the batch if there is one.
    pub value: f64,
    /// The length of its gradient.
    pub gradient: f64,
    /// The length of the step.
    pub length: f64,
}

/// What a run found.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// The best point of a run on all examples, the last one of a run on batches.
    pub point: Vec<f64>,
    /// The cost there, of all examples.
    pub value: f64,
    /// The length of the gradient there.
    pub gradient: f64,
    /// Steps made.
    pub steps: u64,
    /// How often the cost was evaluated.
    pub evaluations: u64,
    /// Why it ended.
    pub reason: Reason,
    /// Every step.
    pub history: Vec<Progress>,
    /// What theorems promise against the comparator, or why they do not.
    pub certificates: Result<Vec<Certificate>, &'static str>,
}

/// A search for the minimum of a cost.
///
/// ```
/// use geowalk::geometry::manifolds::Sphere;
/// use geowalk::optimize::{Minimizer, Reason, Rule};
/// // The direction of least variance: p'Ap on the sphere, A = diag(3, 2, 1).
/// let mut cost = |p: &[f64], gradient: Option<&mut [f64]>| {
///     if let Some(gradient) = gradient {
///         (0..3).for_each(|i| gradient[i] = 2.0 * (3 - i) as f64 * p[i]);
///     }
///     (0..3).map(|i| (3 - i) as f64 * p[i] * p[i]).sum::<f64>()
/// };
/// let start = [0.6, 0.48, 0.64];
/// let found = Minimizer::new(Rule::ConjugateGradient).run(&Sphere::new(3, 1.0)?, &mut cost, &start)?;
/// assert_eq!(found.reason, Reason::Gradient);
/// assert!((found.value - 1.0).abs() < 1e-12);
/// # Ok::<(), geowalk::optimize::OptimizeError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Minimizer {
    rule: Rule,
    rate: StepRate,
    steps: u64,
    tolerance: f64,
    /// How many examples there are, how many make a batch, and the seed of their order.
    examples: Option<(usize, usize, u64)>,
    comparator: Option<Vec<f64>>,
}

impl Minimizer {
    /// At most 1000 steps, to a gradient of length 1e-6, on all examples at once.
    pub fn new(rule: Rule) -> Self {
        let (rate, steps, tolerance) = (StepRate::Auto, 1000, 1e-6);
        Self { rule, rate, steps, tolerance, examples: None, comparator: None }
    }

    /// With this rate.
    #[must_use]
    pub fn rate(self, rate: StepRate) -> Self {
        Self { rate, ..self }
    }

    /// With at most so many steps.
    #[must_use]
    pub fn steps(self, steps: u64) -> Self {
        Self { steps, ..self }
    }

    /// Ends where the gradient is no longer than this.
    #[must_use]
    pub fn tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// On batches of so many examples, in an order drawn anew for each pass.
    #[must_use]
    pub fn batches(self, examples: usize, batch: usize, seed: u64) -> Self {
        Self { examples: Some((examples, batch, seed)), ..self }
    }

    /// With the theorems against this point, which cost an evaluation per step.
    #[must_use]
    pub fn against(self, comparator: &[f64]) -> Self {
        Self { comparator: Some(comparator.to_vec()), ..self }
    }

    /// Runs to the end.
    pub fn run<M: ExpLog<f64> + ?Sized>(
        &self,
        manifold: &M,
        cost: &mut dyn Cost,
        start: &[f64],
    ) -> Result<Minimum, OptimizeError> {
        self.observed(manifold, cost, start, &mut |_, _| true)
    }

    /// Runs; `observe` sees every step and the point after it, and ends the run by `false`.
    pub fn observed<M: ExpLog<f64> + ?Sized>(
        &self,
        manifold: &M,
        cost: &mut dyn Cost,
        start: &[f64],
        observe: &mut dyn FnMut(&Progress, &[f64]) -> bool,
    ) -> Result<Minimum, OptimizeError> {
        manifold.check(start)?;
        crate::error::parameter("tolerance", self.tolerance, Allowed::NonNegative)?;
        let whole = self.examples.is_none();
        let searched = self.rule == Rule::ConjugateGradient
            || (self.rule == Rule::Explicit && self.rate == StepRate::Auto && whole);
        if searched {
            if !whole {
                let meaning = "all examples at once: conjugate-gradient takes no batch; use explicit, momentum or adam";
                return Err(ConfigError::Missing { name: "batch", meaning }.into());
            }
            return self.search(manifold, cost, start, observe);
        }
        self.descend(manifold, cost, start, observe)
    }

    fn search<M: ExpLog<f64> + ?Sized>(
        &self,
        manifold: &M,
        cost: &mut dyn Cost,
        start: &[f64],
        observe: &mut dyn FnMut(&Progress, &[f64]) -> bool,
    ) -> Result<Minimum, OptimizeError> {
        let mut covector = vec![0.0; start.len()];
        let mut work = crate::geometry::Work::new();
        let mut f = |p: &[f64], gradient: Option<&mut [f64]>| {
            let Some(gradient) = gradient else { return cost.evaluate(p, None, None) };
            let value = cost.evaluate(p, None, Some(&mut covector))?;
            manifold.gradient(p, &covector, gradient, &mut work);
            Ok(value)
        };
        let limits = search::Limits {
            steps: self.steps,
            tolerance: self.tolerance,
            conjugate: self.rule == Rule::ConjugateGradient,
        };
        let mut history = Vec::new();
        let found = search::search(manifold, &mut f, start, &limits, &mut |progress, p| {
            history.push(*progress);
            observe(progress, p)
        })?;
        let certificates =
            Err("no theorem is known for steps with a line search; use a constant rate");
        Ok(Minimum {
            point: found.point,
            value: found.value,
            gradient: found.gradient,
            steps: history.len() as u64,
            evaluations: found.evaluations,
            reason: found.reason,
            history,
            certificates,
        })
    }

    fn descend<M: ExpLog<f64> + ?Sized>(
        &self,
        manifold: &M,
        cost: &mut dyn Cost,
        start: &[f64],
        observe: &mut dyn FnMut(&Progress, &[f64]) -> bool,
    ) -> Result<Minimum, OptimizeError> {
        let mut descent = Descent::new(manifold, start, self.rule, self.rate)?;
        if let Some(comparator) = &self.comparator {
            descent = descent.against(comparator)?;
        }
        let mut order =
            self.examples.map(|(n, size, seed)| Order::new(n, size, seed)).transpose()?;
        let (mut history, mut reason) = (Vec::new(), Reason::Steps);
        for step in 1..=self.steps {
            let batch = order.as_mut().map(Order::next);
            let taken = match descent.step(cost, batch)? {
                Ok(taken) => taken,
                Err(ended) => {
                    reason = ended;
                    break;
                }
            };
            let Taken { value, gradient, length, .. } = taken;
            let progress = Progress { step, value, gradient, length };
            history.push(progress);
            let asked = !observe(&progress, descent.point());
            // The gradient of a batch is not that of the cost.
            if order.is_none() && gradient <= self.tolerance {
                reason = Reason::Gradient;
                break;
            }
            if asked {
                reason = Reason::Asked;
                break;
            }
        }
        let (value, gradient) = descent.measure(cost)?;
        Ok(Minimum {
            value,
            gradient,
            steps: history.len() as u64,
            evaluations: descent.evaluations(),
            reason,
            history,
            certificates: descent.certificates(),
            point: descent.point().to_vec(),
        })
    }
}

/// The examples in an order that is drawn anew for each pass.
struct Order {
    all: Vec<usize>,
    at: usize,
    size: usize,
    random: crate::laws::Sampler,
}

impl Order {
    fn new(examples: usize, size: usize, seed: u64) -> Result<Self, ConfigError> {
        crate::error::parameter("examples", examples as f64, Allowed::Whole(1))?;
        crate::error::parameter("batch", size as f64, Allowed::Whole(1))?;
        let size = size.min(examples);
        let random = crate::laws::Sampler::new(seed);
        Ok(Self { all: (0..examples).collect(), at: examples, size, random })
    }

    fn next(&mut self) -> &[usize] {
        if self.at + self.size > self.all.len() {
            for i in (1..self.all.len()).rev() {
                self.all.swap(i, self.random.below(i + 1));
            }
            self.at = 0;
        }
        let from = self.at;
        self.at += self.size;
        &self.all[from..self.at]
    }
}

#[cfg(test)]
mod tests;
