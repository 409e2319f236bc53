//! # Explicit geodesic update
//! $$w_{t+1} = R_{w_t}\bigl(-\eta\, \mathrm{grad} L_t(w_t)\bigr), \qquad \mathrm{grad} L_t = g\, x^\sharp$$
//! The geodesic step if the manifold has one, $R = \exp$; a retraction on Hessian manifolds. **Cost** O(n) (SPD:
//! O(n³)). **Care** Walks past the injectivity radius, folds and clamps are reported in [`Round::event`]. **Source**
//! \[KMWW07, eq. (10)\].

use super::{Round, Target, Update};
use crate::Real;
use crate::error::{ConfigError, DomainError};
use crate::geometry::{Manifold, Step, Work};
use crate::loss::Loss;
use crate::row::Row;

/// The geodesic step on a manifold.
///
/// ```
/// use geowalk::geometry::manifolds::Sphere;
/// use geowalk::loss::Invariant;
/// use geowalk::row::Dense;
/// use geowalk::update::{Explicit, Update};
///
/// // Two looks at x = (0, 1) turn w towards the null direction (1, 0).
/// let walk = Explicit::new(Sphere::new(2, 1.0)?);
/// let mut state = walk.start(&[0.6, 0.8])?;
/// for _ in 0..2 {
///     walk.step(&mut state, Dense(&[0.0, 1.0]), 0.0.into(), &Invariant, 0.5)?;
/// }
/// let z: f64 = walk.predict(&state, Dense(&[0.0, 1.0]));
/// assert!(z.abs() < 0.06, "{z}"); // from 0.8
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Explicit<M> {
    manifold: M,
}

/// Weights on the manifold, and scratch memory.
#[derive(Debug)]
pub struct ExplicitState<F> {
    w: Vec<F>,
    covector: Vec<F>,
    direction: Vec<F>,
    work: Work<F>,
}

impl<M> Explicit<M> {
    /// The geodesic step on `manifold`.
    pub fn new(manifold: M) -> Self {
        Self { manifold }
    }

    /// The manifold.
    pub fn manifold(&self) -> &M {
        &self.manifold
    }

    /// w ← R_w(−η g x♯), in memory supplied by the caller.
    #[allow(clippy::too_many_arguments)] // most of them are scratch memory
    pub(crate) fn walk<F: Real, X: Row<F>>(
        &self,
        w: &mut [F],
        x: X,
        slope: f64,
        rate: f64,
        covector: &mut [F],
        direction: &mut [F],
        work: &mut Work<F>,
    ) -> Result<Step<F>, DomainError>
    where
        M: Manifold<F>,
    {
        covector.fill(F::ZERO);
        x.axpy(F::of(slope), covector);
        self.manifold.gradient(w, covector, direction, work);
        self.manifold.retract(w, direction, F::of(-rate), work)
    }
}

impl<F: Real, M: Manifold<F>> Update<F> for Explicit<M> {
    type State = ExplicitState<F>;

    fn start(&self, w: &[F]) -> Result<Self::State, ConfigError> {
        self.manifold.check(w)?;
        Ok(ExplicitState {
            w: w.to_vec(),
            covector: vec![F::ZERO; w.len()],
            direction: vec![F::ZERO; w.len()],
            work: Work::new(),
        })
    }

    fn read(&self, state: &Self::State, w: &mut [F]) {
        for (w, &value) in w.iter_mut().zip(&state.w) {
            *w = value;
        }
    }

    fn predict<X: Row<F>>(&self, state: &Self::State, x: X) -> F {
        x.dot(&state.w)
    }

    fn step<X: Row<F>, L: Loss + ?Sized>(
        &self,
        state: &mut Self::State,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        target.check()?;
        let z = self.predict(state, x).f64();
        let slope = target.weight * loss.slope(z, target.y);
        let ExplicitState { w, covector, direction, work } = state;
        let step = self.walk(w, x, slope, rate, covector, direction, work)?;
        let length = step.length.f64();
        Ok(Round {
            z,
            loss: target.weight * loss.value(z, target.y),
            slope,
            rate,
            length,
            event: step.event,
        })
    }
}
