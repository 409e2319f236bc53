//! # The cap
//! Limits the step to what a residual allows. A step changes the logit of its row by $-\gamma v_c K_c/p_c$. The loss
//! has curvature at most ½ in the logits, so changes up to $2v$ decrease the loss. Hence
//! $$\gamma \;\le\; c\,\frac{\sum_c v_c^2}{\sum_c v_c^2 K_c/p_c}\cdot\min\Bigl(1, \frac{k_t}{\bar k_t}\Bigr), \qquad
//!   k_t = \frac{\sum_c v_c^2 K_c/p_c}{\sum_c v_c^2/p_c},$$
//! with c = 2. Here $\bar k$ is the mean of the earlier $k$, with larger weights for later ones. A $k$ counts for at
//! most thirty times the mean before it, because statistics that are squares have such heavy tails that one row would
//! block all later ones.
//!
//! The second factor protects the other rows. A step at x changes the logits of x′ by up to $\sqrt{K(x')/K(x)}$ times
//! its own change, so a row near the middle must not move further than an average row may. This matters if features
//! have heavy tails, and at the beginning, when the covariance is not known well. Sparse families omit the factor,
//! because a few rows with rare features would block all others.
//!
//! **Weights** The simpler $c/\max_c K_c/p_c$ is equivalent if all classes are common. If a class is rare or not seen
//! yet, it makes every step tiny. **Care** If K is bounded, γ eventually falls below the cap, so the limit theorem
//! still holds. **Source** not in \[SC21\], whose method diverges without a cap.

/// Maximum weight of a row in the mean, relative to the mean before it.
const HEAVIEST: f64 = 30.0;

/// The cap, and the running mean of k.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cap {
    c: Option<f64>,
    /// Whether to protect other rows.
    wide: bool,
    mean: f64,
    weight: f64,
    seen: f64,
}

impl Cap {
    pub(crate) fn new(c: Option<f64>, wide: bool) -> Self {
        Self { c, wide, mean: 0.0, weight: 0.0, seen: 0.0 }
    }

    /// Returns γ and whether it was reduced; updates the mean of k. The cap is multiplied by `stake`.
    pub(crate) fn limit(
        &mut self,
        v: &[f64],
        p: &[f64],
        excess: &[f64],
        rate: f64,
        stake: f64,
    ) -> (f64, bool) {
        let Some(c) = self.c else { return (rate, false) };
        let c = stake * c;
        let (mut squares, mut plain, mut curvature) = (0.0, 0.0, 0.0);
        for ((v, p), excess) in v.iter().zip(p).zip(excess) {
            squares += v * v;
            plain += v * v / p;
            curvature += v * v * (1.0 + excess) / p;
        }
        let own = curvature / plain;
        let held = if self.wide && own < self.mean { self.mean * plain } else { curvature };
        // The first rows have no mean to be compared with.
        let own = if self.seen > 20.0 { own.min(HEAVIEST * self.mean) } else { own };
        if own.is_finite() {
            self.seen += 1.0;
            self.weight += self.seen;
            self.mean += self.seen / self.weight * (own - self.mean);
        }
        if held * rate > c * squares { (c * squares / held, true) } else { (rate, false) }
    }

    pub(crate) fn save(&self) -> [f64; 3] {
        [self.mean, self.weight, self.seen]
    }

    pub(crate) fn load(&mut self, [mean, weight, seen]: [f64; 3]) {
        (self.mean, self.weight, self.seen) = (mean, weight, seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_as_long_as_its_residual_bears() {
        let (v, p, excess) = ([0.5, -0.5], [0.5, 0.5], [3.0, 3.0]);
        let mut cap = Cap::new(Some(2.0), true);
        // Σv² = ½, Σv²K/p = 4.
        assert_eq!(cap.limit(&v, &p, &excess, 1.0, 1.0), (0.25, true));
        assert_eq!(cap.limit(&v, &p, &excess, 0.2, 1.0), (0.2, false));
        // Nearer than the average: limited as the average row.
        assert_eq!(cap.limit(&v, &p, &[0.0, 0.0], 1.0, 1.0), (0.25, true));
        let mut narrow = Cap::new(Some(2.0), false);
        narrow.limit(&v, &p, &excess, 1.0, 1.0);
        assert_eq!(narrow.limit(&v, &p, &[0.0, 0.0], 1.0, 1.0), (1.0, false));
        assert_eq!(Cap::new(None, true).limit(&v, &p, &excess, 7.0, 1.0), (7.0, false));
        let mut other = Cap::new(Some(2.0), true);
        other.load(cap.save());
        assert_eq!(other, cap);
        assert_eq!(cap.limit(&v, &p, &excess, 1.0, 0.25), (0.0625, true), "a quarter of it");
        // One row among many does not block the others permanently.
        let mut mean = Cap::new(Some(2.0), true);
        for _ in 0..100 {
            mean.limit(&v, &p, &excess, 1.0, 1.0);
        }
        mean.limit(&v, &p, &[1e9, 1e9], 1.0, 1.0);
        assert!(mean.limit(&v, &p, &excess, 1.0, 1.0).0 > 0.1);
        // Without a residual there is nothing to cap.
        assert_eq!(cap.limit(&[0.0, 0.0], &p, &excess, 1.0, 1.0), (1.0, false));
    }
}
