//! # Prod
//! $w_i \leftarrow w_i(1 - \eta\ell_i)$, divided by the sum, η ≤ ½, losses in [0, 1]. Against every probability vector u:
//! $$\sum_t \langle w_t, \ell_t\rangle \;\le\; L_u + \frac{D(u \Vert w_1)}{\eta} + \eta\sum_t\sum_i u_i\,\ell_{t,i}^2$$
//! **Proof** $\ln(1 - s) \ge -s - s^2$ for s ≤ ½, and $-\ln(1 - \eta\langle w, \ell\rangle) \ge \eta\langle w, \ell\rangle$. **Cost** O(n).
//! **Source** \[CMS07\].

use super::losses::{self, DOT, Losses, NO_MORE, UNIT};
use super::theorem::{
    AS_WRITTEN, CONSTANT, FINITE, Members, PROBABILITIES, Theorem, Watch, checked, declared, keep,
    outward, restore,
};
use super::{Bound, Certificate, Comparator};
use crate::Real;
use crate::error::ConfigError;
use crate::row::Row;
use crate::update::Round;

const HALF: &str = "rate <= 1/2";

pub(super) const THEOREM: Theorem = Theorem {
    name: "prod",
    premises: &[
        checked(UNIT),
        checked(DOT),
        checked(HALF),
        checked(CONSTANT),
        checked(NO_MORE),
        checked(PROBABILITIES),
        checked(AS_WRITTEN),
        checked(FINITE),
        declared("the weights are those of Prod"),
    ],
    bound: "D/eta + eta sum u_i l_i^2",
    source: "CMS07",
    correction: "",
};

/// The bound of Prod.
///
/// ```
/// use geowalk::certify::{Bound, Comparator, Prod};
/// use geowalk::experts::Linear;
/// use geowalk::row::Dense;
/// use geowalk::walk::{SimplexEntropy, Walk};
///
/// let mut walk = SimplexEntropy::prod();
/// let mut bound = Prod::new(&[0.5, 0.5], 0.0)?;
/// let round = walk.step(Dense(&[0.5, 1.0]), 0.0.into(), &Linear, 0.5)?;
/// bound.observe(&round, Dense(&[0.5, 1.0]));
/// let certificate = bound.certify(&Comparator::Given(&[1.0, 0.0]));
/// assert!((certificate.bound - (2.0 * 2.0_f64.ln() + 0.125)).abs() < 1e-12);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Prod {
    losses: Losses,
    watch: Watch,
}

impl Prod {
    /// From the probabilities `start`, with a part `share` of the weight shared after each round.
    pub fn new(start: &[f64], share: f64) -> Result<Self, ConfigError> {
        Ok(Self { losses: Losses::new(start, share)?, watch: Watch::new(&THEOREM) })
    }

    /// The rate √(D/L), at most ½: best for comparators whose losses are 0 or 1.
    pub fn rate(d: f64, l: f64) -> f64 {
        Real::min((d / l).sqrt(), 0.5)
    }

    /// Against a sequence of experts with `switches` switches that loses `loss`.
    pub fn switching(&self, loss: f64, switches: u64) -> Certificate {
        let d = self.losses.divergence_of_sequence(switches, self.watch.rounds);
        // ℓ² ≤ ℓ on [0, 1].
        let eta = self.watch.rate;
        self.watch.issue(outward(d / eta + eta * loss, 0.0))
    }

    /// What the experts lost.
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        keep(&self.watch, &[], put);
        self.losses.save(put);
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let [] = restore(&mut self.watch, get)?;
        self.losses.load(get)
    }
}

impl Bound for Prod {
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        self.watch.round(round);
        self.watch.constant_rate(round.rate);
        self.watch.demand(HALF, round.rate <= 0.5, round.rate);
        losses::dot(&mut self.watch, round);
        self.losses.row(x, &mut self.watch);
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        if let Some(refused) = self.watch.outside(u, Members::Probabilities) {
            return refused;
        }
        if self.watch.rounds == 0 {
            return self.watch.issue(0.0);
        }
        let eta = self.watch.rate;
        self.watch.issue(self.losses.worst(u, [0.0, eta, eta.recip()], self.watch.rounds))
    }
}
