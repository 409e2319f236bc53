//! # The guard
//! Three measures that bound how much worse a run can be than predicting class frequencies, for any rows.
//!
//! * **Insurance** After t examples, a prediction q is mixed with the class frequencies p of those examples:
//!   $$q' = (1-\varepsilon)\,q + \varepsilon\,p, \qquad \varepsilon = \frac1{t+2}.$$
//!   This is the rule of succession: t examples do not justify more certainty than one in t + 2. An example costs at
//!   most $\ln(t+2) - \ln p_y$. Without insurance, a coefficient learned before its feature showed its scale can cost
//!   millions. The insurance of a whole run costs at most $\sum_t -\ln(1-\varepsilon_t) = \ln(T+1)$.
//! * **Frequencies as a second expert** The insured prediction and the class frequencies are mixed according to their
//!   losses, with a share that lets the better one recover \[HW98, fixed share\]:
//!   $$q'' = (1-v)\,q' + v\,p, \qquad v \leftarrow (1-s)\,u + s\,(1-u), \quad u = v\,p_y/q''_y, \quad
//!   s = \frac1{t+2}.$$
//!   Rows of weight 1 cost in total at most $\ln 2 + \ln(T+1)$ more than the frequencies, and than the insured walk. A
//!   model that recently lost to the frequencies predicts nearly the frequencies.
//! * **Restart** If the loss since the last restart exceeds that of the frequencies by more than 20 + k/10 nats, where
//!   k is the number of coefficients, the coefficients return to zero and α to the frequencies. ζ is kept, because it
//!   is known better by now. From the second restart on, steps become shorter by a factor of four each time, so a run
//!   that cannot learn ends with the frequencies.
//!
//! Steps use the q of the walk, not q′ or q″; the restart uses q′. **Constants** Learning k coefficients costs about ½
//! k ln(t/k) nats, most of which is recovered early. A smaller allowance than k/10 stopped runs that would have
//! learned; a larger one (k/2) came late. **Care** The algorithm as printed has no guard, and neither has a walk
//! without a cap. **Source** not in \[SC21\]; the rule is Laplace's; the constants were chosen on nineteen tables
//! (docs/runs/2026-11-16-natural).

use super::{exponentials, rows};
use crate::Real;
use crate::real::lanes;

/// Allowed loss above the frequencies before a restart, in nats: this, plus `PER_COEFFICIENT` for each coefficient.
const ALLOWANCE: f64 = 20.0;
const PER_COEFFICIENT: f64 = 0.1;
/// Factor of the step length at each restart from the second on.
const SHORTER: f64 = 0.25;

/// Compares the loss with that of the class frequencies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Guard {
    on: bool,
    /// Loss since the last restart, minus that of the frequencies.
    excess: f64,
    /// Factor of the step length.
    stake: f64,
    /// Number of restarts.
    again: u64,
    /// v, the share of the class frequencies.
    share: f64,
}

impl Guard {
    pub(crate) fn new(on: bool) -> Self {
        Self { on, excess: 0.0, stake: 1.0, again: 0, share: 0.5 }
    }

    pub(crate) fn stake(&self) -> f64 {
        self.stake
    }

    pub(crate) fn again(&self) -> u64 {
        self.again
    }

    /// q ← q′ and z ← ln q′, where z were the logits of q. Returns false, without a change, if there is no guard or a
    /// logit is not finite.
    pub(crate) fn insure(&self, t: u64, p: &[f64], z: &mut [f64], q: &mut Vec<f64>) -> bool {
        if !self.on {
            return false;
        }
        let top = z.iter().fold(f64::NEG_INFINITY, |top, &z| Real::max(top, z));
        // NaN is left unchanged, and is refused by the caller.
        if !top.is_finite() || z.iter().any(|z| z.is_nan()) {
            return false;
        }
        q.clear();
        q.extend_from_slice(z);
        exponentials(q, top);
        let share = 1.0 / (t as f64 + 2.0);
        let own = (1.0 - share) / q.iter().sum::<f64>();
        lanes::widely(
            #[inline(always)]
            || {
                rows::change_both(q, z, p, p, |q, _, p, _| {
                    let q = own * q + share * p;
                    // At least a share of p, so neither 0 nor subnormal.
                    (q, lanes::ln(q))
                });
            },
        );
        true
    }

    /// q ← q″ and z ← ln q″, where q was q′.
    pub(crate) fn blend(&self, p: &[f64], z: &mut [f64], q: &mut [f64]) {
        let share = self.share;
        if share == 0.0 {
            return;
        }
        lanes::widely(
            #[inline(always)]
            || {
                rows::change_both(q, z, p, p, |q, _, p, _| {
                    let q = (1.0 - share) * q + share * p;
                    (q, lanes::ln(q))
                });
            },
        );
    }

    /// Updates v with −ln q′ and −ln p for the class of example t, which has this weight.
    pub(crate) fn weigh(&mut self, t: u64, loss: f64, of_frequencies: f64, weight: f64) {
        if !self.on {
            return;
        }
        let odds = Real::exp(weight * (of_frequencies - loss)) * ((1.0 - self.share) / self.share);
        let share = 1.0 / (1.0 + odds);
        let switch = 1.0 / (t as f64 + 2.0);
        let share = (1.0 - switch) * share + switch * (1.0 - share);
        if share > 0.0 && share < 1.0 {
            self.share = share;
        }
    }

    /// Adds the losses of an example. Returns whether to restart a model with this number of coefficients.
    pub(crate) fn saw(&mut self, loss: f64, of_frequencies: f64, coefficients: f64) -> bool {
        if !self.on {
            return false;
        }
        self.excess += loss - of_frequencies;
        if self.excess <= ALLOWANCE + PER_COEFFICIENT * coefficients {
            return false;
        }
        self.excess = 0.0;
        self.stake *= if self.again == 0 { 1.0 } else { SHORTER };
        self.again += 1;
        true
    }

    pub(crate) fn save(&self) -> [f64; 3] {
        [self.excess, self.stake, self.again as f64]
    }

    /// v; it is 0 for models of older versions, which predict without it.
    pub(crate) fn share(&self) -> f64 {
        self.share
    }

    pub(crate) fn load(&mut self, [excess, stake, again]: [f64; 3], share: f64) {
        // Saturates; the count is far below 2^53.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let again = again as u64;
        *self = Self { on: self.on, excess, stake, again, share };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_example_costs_more_than_the_rule_of_succession() {
        let guard = Guard::new(true);
        let (p, mut q) = ([0.25, 0.75], Vec::new());
        let mut z = [-1e6, 1e6];
        assert!(guard.insure(98, &p, &mut z, &mut q));
        assert!((z[0] - Real::ln(0.25 / 100.0)).abs() < 1e-14, "{z:?}");
        assert!((q[0] + q[1] - 1.0).abs() < 1e-15);
        // If q is p, nothing changes.
        let mut z = [3.0 + Real::ln(p[0]), 3.0 + Real::ln(p[1])];
        assert!(guard.insure(0, &p, &mut z, &mut q));
        assert!((z[0] - Real::ln(p[0])).abs() < 1e-15 && (z[1] - Real::ln(p[1])).abs() < 1e-15);
        let mut nan = [f64::NAN, 0.0];
        assert!(!guard.insure(5, &p, &mut nan, &mut q));
        assert!(nan[0].is_nan() && nan[1] == 0.0);
        let mut raw = [-1e6, 1e6];
        assert!(!Guard::new(false).insure(98, &p, &mut raw, &mut q));
        assert_eq!(raw, [-1e6, 1e6]);
    }

    #[test]
    fn it_begins_again_where_the_loss_exceeds_that_of_the_frequencies() {
        let mut guard = Guard::new(true);
        assert!(!guard.saw(20.0, 0.0, 0.0), "20 nats are allowed");
        assert!(guard.saw(0.7, 0.6, 0.0));
        assert_eq!((guard.stake(), guard.again()), (1.0, 1), "the first time costs nothing");
        assert!(!guard.saw(21.0, 0.0, 100.0), "and a tenth for each coefficient");
        assert!(guard.saw(9.5, 0.0, 100.0));
        assert_eq!((guard.stake(), guard.again()), (0.25, 2));
        let mut other = Guard::new(true);
        other.load(guard.save(), guard.share());
        assert_eq!(other, guard);
        assert!(!Guard::new(false).saw(1e9, 0.0, 0.0));
    }
}
