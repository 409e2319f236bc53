//! # Mirror descent
//! $$\theta_{t+1} = \theta_t - \eta\, g\, x, \qquad w = \nabla\psi^{-1}(\theta)$$
//! A straight walk in the dual chart; the same as $-\eta\, g\, x \diamond w_t$.
//! **Cost** O(n). **Care** the state is θ, never recomputed from w: weights that underflow to 0 in w are still alive in θ; weights that
//! overflow are an error.
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

/// Dual coordinates θ and the weights they stand for.
#[derive(Debug, Clone, PartialEq)]
pub struct MirrorState<F> {
    theta: Vec<F>,
    w: Vec<F>,
    /// Where a step is made before it is known to succeed: θ and w.
    next: [Vec<F>; 2],
}

impl<G> Mirror<G> {
    /// The mirror step of `generator`.
    pub fn new(generator: G) -> Self {
        Self { generator }
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
        let a = F::of(-rate * slope);
        let MirrorState { theta, w, next: [next_theta, next_w] } = state;
        next_theta.copy_from_slice(theta);
        x.axpy(a, next_theta);
        self.generator.check_dual(next_theta)?;
        self.generator.unlink(next_theta, next_w);
        error::each("the weights after the step", next_w, Allowed::Finite)?;
        let length = (F::TWO * self.generator.divergence(w, next_w)).max(F::ZERO).sqrt().f64();
        std::mem::swap(theta, next_theta);
        std::mem::swap(w, next_w);
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
