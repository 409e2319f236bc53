//! # Mirror descent
//! $$\theta_{t+1} = \theta_t - \eta\, g\, x, \qquad w = \nabla\psi^{-1}(\theta)$$
//! A straight line in the dual chart; the same as $-\eta\, g\, x \diamond w_t$. **Cost** O(n). **Care** The state is
//! θ, never recomputed from w. Weights that underflow to 0 in w are kept in θ; weights that overflow are an error.
//! **Source** \[NN09, eq. (49)\]; \[KMWW07s, eq. (6)\].

use super::{Round, Target, Update};
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::{Event, Generator};
use crate::loss::Loss;
use crate::row::Row;

/// The mirror step of a generator.
///
/// ```
/// use geowalk::geometry::generators::KullbackLeibler;
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::update::{Mirror, Update};
///
/// // EGU: w ← w·exp(−2η(ŷ − y)x). Here ŷ = 1, y = 0, so w₁ shrinks by e⁻¹ and w₂ stays.
/// let egu = Mirror::new(KullbackLeibler);
/// let mut state = egu.start(&[1.0, 1.0])?;
/// egu.step(&mut state, Dense(&[1.0, 0.0]), 0.0.into(), &Squared, 0.5)?;
/// let mut w = [0.0; 2];
/// egu.read(&state, &mut w);
/// assert_eq!(w, [0.36787944117144233, 1.0]);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Mirror<G> {
    generator: G,
}

/// Dual coordinates θ and the corresponding weights.
#[derive(Debug, Clone, PartialEq)]
pub struct MirrorState<F> {
    theta: Vec<F>,
    w: Vec<F>,
    /// θ and w of the next state, computed here until the step is known to succeed.
    next: [Vec<F>; 2],
}

impl<G> Mirror<G> {
    /// The mirror step of `generator`.
    pub fn new(generator: G) -> Self {
        Self { generator }
    }

    /// The generator.
    pub fn generator(&self) -> &G {
        &self.generator
    }

    /// The state at the dual coordinates θ.
    pub(crate) fn resume<F: Real>(&self, theta: Vec<F>) -> Result<MirrorState<F>, ConfigError>
    where
        G: Generator<F>,
    {
        self.generator.check_dual(&theta)?;
        let mut w = vec![F::ZERO; theta.len()];
        self.generator.unlink(&theta, &mut w);
        error::each("the weights", &w, Allowed::Finite)?;
        let next = [theta.clone(), w.clone()];
        Ok(MirrorState { theta, w, next })
    }

    /// The weights at θ + a·x. Does not change the weights of the state.
    pub(crate) fn ahead<'a, F: Real, X: Row<F>>(
        &self,
        state: &'a mut MirrorState<F>,
        x: X,
        a: F,
    ) -> Result<&'a [F], DomainError>
    where
        G: Generator<F>,
    {
        let MirrorState { theta, next: [next_theta, next_w], .. } = state;
        next_theta.copy_from_slice(theta);
        x.axpy(a, next_theta);
        self.generator.check_dual(next_theta)?;
        self.generator.unlink(next_theta, next_w);
        error::each("the weights after the step", next_w, Allowed::Finite)?;
        Ok(next_w)
    }

    /// θ ← θ + a·x; returns √(2D(w‖w')). On an error the state is unchanged.
    pub(crate) fn advance<F: Real, X: Row<F>>(
        &self,
        state: &mut MirrorState<F>,
        x: X,
        a: F,
    ) -> Result<f64, DomainError>
    where
        G: Generator<F>,
    {
        self.ahead(state, x, a)?;
        let MirrorState { theta, w, next: [next_theta, next_w] } = state;
        let length = (F::TWO * self.generator.divergence(w, next_w)).max(F::ZERO).sqrt().f64();
        std::mem::swap(theta, next_theta);
        std::mem::swap(w, next_w);
        Ok(length)
    }
}

impl<F> MirrorState<F> {
    /// The weights.
    pub fn weights(&self) -> &[F] {
        &self.w
    }

    /// Their dual coordinates.
    pub fn theta(&self) -> &[F] {
        &self.theta
    }
}

impl<F: Real, G: Generator<F>> Update<F> for Mirror<G> {
    type State = MirrorState<F>;

    fn start(&self, w: &[F]) -> Result<Self::State, ConfigError> {
        self.generator.check(w)?;
        let mut theta = vec![F::ZERO; w.len()];
        self.generator.link(w, &mut theta);
        self.generator.check_dual(&theta)?;
        let next = [theta.clone(), w.to_vec()];
        Ok(MirrorState { theta, w: w.to_vec(), next })
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
        let length = self.advance(state, x, F::of(-rate * slope))?;
        Ok(Round {
            z,
            loss: target.weight * loss.value(z, target.y),
            slope,
            rate,
            length,
            event: Event::Inside,
        })
    }
}
