//! # The cap
//! The largest step that a residual can bear. A step changes the logit of its own row by $-\gamma v_c K_c/p_c$, and the loss has curvature at most ½ in
//! the logits: changes up to $2v$ descend. Hence
//! $$\gamma \;\le\; c\,\frac{\sum_c v_c^2}{\sum_c v_c^2 K_c/p_c}\cdot\min\Bigl(1, \frac{k_t}{\bar k_t}\Bigr), \qquad
//!   k_t = \frac{\sum_c v_c^2 K_c/p_c}{\sum_c v_c^2/p_c},$$
//! with c = 2 and $\bar k$ the mean of the $k$ so far, later ones weighing more, and none for more than thirty times the mean before it: the k of statistics that are
//! squares have tails so heavy that one row would hold all others for good. The second factor looks at the other rows: a step at x changes the logits of x′ by
//! up to $\sqrt{K(x')/K(x)}$ times as much as its own, so that a row near the middle must not move further than an average one may. It matters where
//! features have heavy tails, and at the beginning, when the covariance is hardly known. Sparse families go without it: a few rows with rare features
//! would hold all others.
//!
//! **Why weighted** $c/\max_c K_c/p_c$, simpler, is the same where all classes are common, and collapses where one is rare or has not been seen: every
//! step is then tiny. **Care** γ falls below the cap in the end where K is bounded, so that the limit theorem is untouched.
//! **Source** not in \[SC21\], whose method diverges without one.

/// The most that a row counts for in the mean, in terms of the mean before it.
const HEAVIEST: f64 = 30.0;

/// The cap, and the mean of what it saw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cap {
    c: Option<f64>,
    /// Look at other rows?
    wide: bool,
    mean: f64,
    weight: f64,
    seen: f64,
}

impl Cap {
    pub(crate) fn new(c: Option<f64>, wide: bool) -> Self {
        Self { c, wide, mean: 0.0, weight: 0.0, seen: 0.0 }
    }

    /// γ, and whether it was made smaller; learns k. The cap is `stake` of what it is otherwise.
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
        // The first ones have nothing to be compared with.
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
        // Nearer than the average: no longer than the average may be.
        assert_eq!(cap.limit(&v, &p, &[0.0, 0.0], 1.0, 1.0), (0.25, true));
        let mut narrow = Cap::new(Some(2.0), false);
        narrow.limit(&v, &p, &excess, 1.0, 1.0);
        assert_eq!(narrow.limit(&v, &p, &[0.0, 0.0], 1.0, 1.0), (1.0, false));
        assert_eq!(Cap::new(None, true).limit(&v, &p, &excess, 7.0, 1.0), (7.0, false));
        let mut other = Cap::new(Some(2.0), true);
        other.load(cap.save());
        assert_eq!(other, cap);
        assert_eq!(cap.limit(&v, &p, &excess, 1.0, 0.25), (0.0625, true), "a quarter of it");
        // One row among many does not hold the others for good.
        let mut mean = Cap::new(Some(2.0), true);
        for _ in 0..100 {
            mean.limit(&v, &p, &excess, 1.0, 1.0);
        }
        mean.limit(&v, &p, &[1e9, 1e9], 1.0, 1.0);
        assert!(mean.limit(&v, &p, &excess, 1.0, 1.0).0 > 0.1);
        // No residual, nothing to cap.
        assert_eq!(cap.limit(&[0.0, 0.0], &p, &excess, 1.0, 1.0), (1.0, false));
    }
}
