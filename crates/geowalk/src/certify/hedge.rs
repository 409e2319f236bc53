//! # Hedge
//! Losses $\ell_{t,i} \in [0, 1]$ of n experts, weights $w_i \propto w_{1,i} e^{-\eta L_i}$, and the loss $\langle w_t, \ell_t\rangle$ (or less). Against every probability vector u:
//! $$\sum_t \langle w_t, \ell_t\rangle \;\le\; \frac{\eta L_u + D(u\Vert w_1)}{1 - e^{-\eta}}, \qquad L_u = \sum_t\langle u, \ell_t\rangle$$
//! At $\eta = \ln(1 + \sqrt{2D/L})$, if $L_u \le L$ and $D(u\Vert w_1) \le D$, this is at most $L_u + \sqrt{2LD} + D(u\Vert w_1)$ ([`Hedge::tuned`]).
//! **Proof** $-\ln\sum w_i e^{-\eta\ell_i} \ge (1 - e^{-\eta})\langle w, \ell\rangle$ for ℓ in [0, 1]. **Cost** O(n), one exact sum per expert.
//! **Care** L must bound the loss of the *comparator*. As printed (L bounds the best expert's), three experts, start (½, ½, 1e-40), losses of the first two alternating, .0005 for the
//! third, L = .01, 20 rounds: 14.27 > 10.81.
//! **Source** \[AW20, thm. 4\], corrected; \[FS97\].

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

const TUNED: &str = "the rate of the tuning";
pub(super) const MOST_LOSS: &str = "a comparator that loses at most L";
pub(super) const MOST_DIVERGENCE: &str = "a comparator with D(u, w1) <= D";

pub(super) const THEOREM: Theorem = Theorem {
    name: "hedge",
    premises: &[
        checked(UNIT),
        checked(DOT),
        checked(CONSTANT),
        checked(NO_MORE),
        checked(PROBABILITIES),
        checked(TUNED),
        checked(MOST_LOSS),
        checked(MOST_DIVERGENCE),
        checked(AS_WRITTEN),
        checked(FINITE),
        declared("the weights are those of Hedge"),
    ],
    bound: "(eta L + D)/(1 - exp(-eta)) - L; tuned: sqrt(2 L D) + D",
    source: "AW20, thm. 4",
    correction: "L must bound the loss of the comparator, not of the best expert",
};

/// The bound of Hedge.
///
/// ```
/// use geowalk::certify::{Bound, Comparator, Hedge};
/// use geowalk::experts::Linear;
/// use geowalk::row::Dense;
/// use geowalk::walk::{SimplexEntropy, Walk};
///
/// let rate = Hedge::rate(2.0_f64.ln(), 5.0);
/// let mut walk = SimplexEntropy::new();
/// let mut bound = Hedge::new(&[0.5, 0.5], 0.0)?;
/// for t in 0..10 {
///     let losses = if t % 2 == 0 { [0.0, 1.0] } else { [1.0, 0.0] };
///     let round = walk.step(Dense(&losses), 0.0.into(), &Linear, rate)?;
///     bound.observe(&round, Dense(&losses));
/// }
/// let certificate = bound.tuned(&Comparator::Simplex { n: 2 }, 2.0_f64.ln(), 5.0);
/// assert!((certificate.bound - (10.0_f64 * 2.0_f64.ln()).sqrt() - 2.0_f64.ln()).abs() < 1e-12);
/// assert!(certificate.loss - 5.0 <= certificate.bound);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Hedge {
    losses: Losses,
    watch: Watch,
}

impl Hedge {
    /// From the probabilities `start`, with a part `share` of the weight shared after each round.
    pub fn new(start: &[f64], share: f64) -> Result<Self, ConfigError> {
        Ok(Self { losses: Losses::new(start, share)?, watch: Watch::new(&THEOREM) })
    }

    /// The rate ln(1 + √(2D/L)) for comparators with divergence ≤ d that lose at most l.
    pub fn rate(d: f64, l: f64) -> f64 {
        Real::ln_1p((2.0 * d / l).sqrt())
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

    /// Against a sequence of experts with `switches` switches that loses `loss`.
    pub fn switching(&self, loss: f64, switches: u64) -> Certificate {
        let d = self.losses.divergence_of_sequence(switches, self.watch.rounds);
        let eta = self.watch.rate;
        let gain = -Real::exp_m1(-eta);
        self.watch.issue(outward((eta * loss + d) / gain - loss, loss / gain))
    }

    /// The tuned form: void unless the rate is [`Hedge::rate`] and the comparators have divergence ≤ d and lose at most l.
    pub fn tuned(&self, u: &Comparator<'_>, d: f64, l: f64) -> Certificate {
        if let Some(refused) = self.watch.outside(u, Members::Probabilities) {
            return refused;
        }
        let rate = Self::rate(d, l);
        let (loss, divergence) = self.losses.most(u);
        if (rate - self.watch.rate).abs() > 1e-12 * rate {
            return self.watch.refuse(TUNED, self.watch.rate);
        }
        if loss > l * (1.0 + 1e-13) {
            return self.watch.refuse(MOST_LOSS, loss);
        }
        if divergence > d * (1.0 + 1e-13) {
            return self.watch.refuse(MOST_DIVERGENCE, divergence);
        }
        self.watch.issue(outward((2.0 * l * d).sqrt() + divergence, 0.0))
    }
}

impl Bound for Hedge {
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        self.watch.round(round);
        self.watch.constant_rate(round.rate);
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
        let gain = -Real::exp_m1(-eta);
        let factors = [eta / gain - 1.0, 0.0, gain.recip()];
        let bound = self.losses.worst(u, factors, self.watch.rounds);
        // η/(1 − e^{−η}) − 1 loses digits for small η: by at most this.
        self.watch.issue(outward(bound, self.watch.loss.upper()))
    }
}
