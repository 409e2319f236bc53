//! # The average of the weights of a run
//! $$\bar w_T = \frac{1}{A_T} \sum_{t=1}^{T} a_t\, w_t, \qquad A_T = \sum_{t=1}^{T} a_t$$
//! where $w_t$ are the weights that predicted example t and $a_t$ is its importance. For a loss convex in the prediction, $\ell(\langle\bar w_T, x\rangle, y)$ is at most the average of
//! the $\ell(\langle w_t, x\rangle, y)$: on examples drawn independently the expected loss of $\bar w_T$ is at most the expected progressive loss of the run.
//!
//! **Which walks** Those whose step changes only the weights of the row's features ([`Walk::local`]), and perhaps a factor $c$ that all weights have in common
//! ([`Walk::common`]). With $C_t = \sum_{s \le t} a_s c_s$, a weight $c\,v_i$ that is not touched between s and t
//! adds $v_i (C_t - C_s)$ to its sum, which can be done when it is touched next.
//! **Cost** O(nnz) per example, two more vectors. **Care** walks in units of a feature's scale (`free`, `adagrad`) predict an
//! unusually large value with a smaller weight than the one averaged here, the weight that they would report.
//! **Source** \[PJ92\]; \[CCG04, thm. 1 and cor. 2\] for the bound.

use geowalk::ConfigError;
use geowalk::Real;
use geowalk::row::Row;
use geowalk::walk::Walk;

/// Sums of weights, each up to date with the example that touched it last.
#[derive(Debug, Clone)]
pub(super) struct Average {
    /// A_t.
    total: f64,
    /// C_t.
    scaled: f64,
    sums: Vec<f64>,
    /// C_s of the example that touched the weight last.
    since: Vec<f64>,
    /// Predictions are clipped to this range.
    range: (f64, f64),
}

impl Average {
    pub(super) fn new(range: (f64, f64)) -> Self {
        Self { total: 0.0, scaled: 0.0, sums: Vec::new(), since: Vec::new(), range }
    }

    /// The average of weights that join now, and have been at their beginning as long as those of another have been averaged.
    pub(super) fn joining(other: &Self) -> Self {
        Self { total: other.total, scaled: other.scaled, ..Self::new(other.range) }
    }

    /// Sees that the present weights predict a row of this importance.
    pub(super) fn see<W: Walk, X: Row<f64>>(&mut self, walk: &W, x: X, importance: f64) {
        self.total += importance;
        self.scaled += importance * walk.common();
        let n = x.bound();
        if n > self.sums.len() {
            self.sums.resize(n, 0.0);
            self.since.resize(n, 0.0);
        }
        let Self { scaled, sums, since, .. } = self;
        x.each(|i, _| {
            if let (Some(sum), Some(since)) = (sums.get_mut(i), since.get_mut(i)) {
                *sum += walk.local(i).unwrap_or(f64::NAN) * (*scaled - *since);
                *since = *scaled;
            }
        });
    }

    /// The average of the weight i.
    fn weight<W: Walk>(&self, walk: &W, i: usize) -> f64 {
        let local = walk.local(i).unwrap_or(f64::NAN);
        if self.total > 0.0 {
            let sum = self.sums.get(i).copied().unwrap_or(0.0);
            let since = self.since.get(i).copied().unwrap_or(0.0);
            (sum + local * (self.scaled - since)) / self.total
        } else {
            walk.common() * local
        }
    }

    /// ⟨w̄, x⟩, clipped. Features without a weight count as weight 0.
    pub(super) fn predict<W: Walk, X: Row<f64>>(&self, walk: &W, x: X) -> f64 {
        let n = walk.features();
        let mut z = 0.0;
        x.each(|i, x| {
            if i < n {
                z += self.weight(walk, i) * x;
            }
        });
        Real::clamp(z, self.range.0, self.range.1)
    }

    /// w ← w̄.
    pub(super) fn read<W: Walk>(&self, walk: &W, w: &mut Vec<f64>) {
        w.clear();
        w.extend((0..walk.features()).map(|i| self.weight(walk, i)));
    }

    pub(super) fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("average", &self.sums);
        put("average.since", &self.since);
        put("average.total", &[self.total, self.scaled]);
    }

    pub(super) fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let missing = ConfigError::Missing { name: "average", meaning: "the sums of the weights" };
        match (get("average"), get("average.since"), get("average.total").as_deref()) {
            (Some(sums), Some(since), Some(&[total, scaled])) if sums.len() == since.len() => {
                (self.sums, self.since) = (sums, since);
                (self.total, self.scaled) = (total, scaled);
                Ok(())
            }
            _ => Err(missing),
        }
    }
}

#[cfg(test)]
mod tests {
    use geowalk::loss::Squared;
    use geowalk::row::Sparse;
    use geowalk::update::Target;
    use geowalk::walk::{Adaptive, Burg, Entropy, Euclidean, Free, Signed};

    use super::*;

    /// The average by its definition, with features that come late and examples of all importances.
    fn check<W: Walk>(mut walk: W, rate: f64) {
        let mut average = Average::new((f64::NEG_INFINITY, f64::INFINITY));
        let (mut sum, mut all, mut w) = ([0.0; 6], 0.0, Vec::new());
        walk.grow(6);
        for t in 0..200_u32 {
            let (i, j) = (t % 3, 3 + t % (1 + t / 70));
            let values = [0.25 + f64::from(t % 5) / 4.0, 0.5];
            let indices = [i, j];
            let x = Sparse::new(&indices, &values).unwrap();
            let target = Target { y: f64::from(t % 7) / 7.0, weight: f64::from(t % 4) / 2.0 };
            walk.read(&mut w);
            all += target.weight;
            sum.iter_mut().zip(&w).for_each(|(sum, w)| *sum += target.weight * w);
            average.see(&walk, x, target.weight);
            walk.step(x, target, &Squared, rate).unwrap();
        }
        average.read(&walk, &mut w);
        let mut z = 0.0;
        for (i, (w, sum)) in w.iter().zip(sum).enumerate() {
            assert!((w - sum / all).abs() < 1e-13 * (1.0 + w.abs()), "weight {i}: {w}");
            z += w * (1.0 + i as f64);
        }
        let row = Sparse::new(&[0, 1, 2, 3, 4, 5], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert!((average.predict(&walk, row) - z).abs() < 1e-12 * (1.0 + z.abs()));
    }

    #[test]
    fn lazy_sums_are_the_average() {
        check(Euclidean::new(), 0.1);
        check(Free::new(0.5, 0.5, 100.0).unwrap(), 0.0);
        check(Adaptive::new(), 0.5);
        check(Entropy::new(0.1).unwrap(), 0.2);
        check(Burg::new(0.1).unwrap(), 0.2);
        check(Signed::new(Entropy::new(0.1).unwrap(), 2.0).unwrap(), 0.1);
    }

    #[test]
    fn before_the_first_example_it_is_the_start() {
        let average = Average::new((-1.0, 1.0));
        let mut walk = Entropy::new(3.0).unwrap();
        walk.grow(1);
        let mut w = Vec::new();
        average.read(&walk, &mut w);
        assert!(w.len() == 1 && (w[0] - 3.0).abs() < 1e-14, "{w:?}");
        assert_eq!(average.predict(&walk, Sparse::new(&[0, 9], &[1.0, 1.0]).unwrap()), 1.0);
    }
}
