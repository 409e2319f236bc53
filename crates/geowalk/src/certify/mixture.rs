//! # The mixture of experts under the logarithmic loss
//! Expert i gives the outcome probability $x_{t,i}$ (or multiplies its wealth by it), the mixture $z_t = \langle w_t, x_t\rangle$ loses $-\ln z_t$, and $w_i \propto w_{1,i}\prod x_{t,i}$: Hedge
//! on the losses −ln x at η = 1. Against every expert, and every probability vector u over experts with the loss $L_u = -\sum_t\sum_i u_i\ln x_{t,i}$:
//! $$-\sum_t \ln z_t \;\le\; L_u + D(u\Vert w_1)$$
//! whatever the number of rounds: ln n for a uniform start. For portfolios: buy and hold of equal parts is worth at least 1/n of the best stock.
//! **Proof** $\prod z_t = \sum_i w_{1,i}\prod x_{t,i}$. **Cost** O(n). **Care** u mixes losses, not forecasts: the best *combination* is another comparator ([`LinearEg`](super::LinearEg)).
//! **Source** \[Vovk90\].

use super::losses::{Losses, NO_MORE};
use super::theorem::{
    AS_WRITTEN, FINITE, Members, PROBABILITIES, Theorem, Watch, checked, declared, keep, restore,
};
use super::{Bound, Certificate, Comparator};
use crate::Real;
use crate::error::ConfigError;
use crate::row::Row;
use crate::update::Round;

const ONE: &str = "rate 1";
const LOGARITHMIC: &str = "the loss -ln z";
const POSITIVE: &str = "probabilities or relatives >= 0";

pub(super) const THEOREM: Theorem = Theorem {
    name: "mixture",
    premises: &[
        checked(ONE),
        checked(LOGARITHMIC),
        checked(POSITIVE),
        checked(NO_MORE),
        checked(PROBABILITIES),
        checked(AS_WRITTEN),
        checked(FINITE),
        declared("the weights are those of the mixture"),
    ],
    bound: "D(u, w1); ln n against the best expert",
    source: "Vovk90",
    correction: "",
};

/// The bound of the mixture.
///
/// ```
/// use geowalk::certify::{Comparator, Bound, Mixture};
/// let bound = Mixture::new(&[0.25; 4], 0.0)?;
/// let certificate = bound.certify(&Comparator::Simplex { n: 4 });
/// assert!((certificate.bound - 4.0_f64.ln()).abs() < 1e-12);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Mixture {
    losses: Losses,
    watch: Watch,
}

impl Mixture {
    /// From the probabilities `start`, with a part `share` of the weight shared after each round.
    pub fn new(start: &[f64], share: f64) -> Result<Self, ConfigError> {
        Ok(Self { losses: Losses::new(start, share)?, watch: Watch::new(&THEOREM) })
    }

    /// Against a sequence of experts with `switches` switches (its loss does not matter).
    pub fn switching(&self, switches: u64) -> Certificate {
        let d = self.losses.divergence_of_sequence(switches, self.watch.rounds);
        self.watch.issue(d)
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

impl Bound for Mixture {
    /// The row is the probabilities that the experts gave to the outcome, the prediction their mean.
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        self.watch.round(round);
        self.watch.demand(ONE, round.rate == 1.0, round.rate);
        let off = round.loss + Real::ln(round.z);
        self.watch.demand(LOGARITHMIC, off.abs() <= 1e-12 * (1.0 + round.loss.abs()), off);
        self.watch.demand(NO_MORE, x.bound() <= self.losses.experts(), x.bound() as f64);
        let (mut least, mut seen) = (0.0, 0);
        x.each(|i, x| {
            least = Real::min(least, x.f64());
            self.losses.add(i, -Real::ln(x.f64()));
            seen += 1;
        });
        self.watch.demand(POSITIVE, least >= 0.0 && seen == self.losses.experts(), least);
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        if let Some(refused) = self.watch.outside(u, Members::Probabilities) {
            return refused;
        }
        self.watch.issue(self.losses.worst(u, [0.0, 0.0, 1.0], self.watch.rounds))
    }
}
