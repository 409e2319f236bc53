//! # The average of the weights of a run
//! $$\bar w_T = \frac{1}{A_T} \sum_{t=1}^{T} a_t\, w_t, \qquad A_T = \sum_{t=1}^{T} a_t$$
//! where $w_t$ are the weights that predicted example t and $a_t$ is its importance. For a loss convex in the prediction, $\ell(\langle\bar w_T, x\rangle, y)$ is at most the average of
//! the $\ell(\langle w_t, x\rangle, y)$: on examples drawn independently the expected loss of $\bar w_T$ is at most the expected progressive loss of the run.
//!
//! **Which walks** Those whose step changes only the weights of the row's features ([`Walk::local`]), and perhaps a factor $c$ that all weights have in common
//! ([`Walk::common`]). With $C_t = \sum_{s \le t} a_s c_s$, a weight $c\,v_i$ that is not touched between s and t
//! adds $v_i (C_t - C_s)$ to its sum, which can be done when it is touched next. When a walk multiplies all $v_i$ by a number and divides $c$ by it
//! ([`Walk::unit`]), all sums are brought up to date, as the walk has gone through all weights then too; likewise when $c$ has become so small that it would drown
//! in $C_t$.
//! **Cost** O(nnz) per example, two more vectors. **Care** walks in units of a feature's scale (`free`, `adagrad`) predict an
//! unusually large value with a smaller weight than the one averaged here, the weight that they would report. A feature that comes late counts with the weight 0
//! before. An average of points of a sphere lies inside it.
//! **Source** \[PJ92\]; \[CCG04, thm. 1 and cor. 2\] for the bound.

use geowalk::ConfigError;
use geowalk::Real;
use geowalk::row::Row;
use geowalk::walk::Walk;

/// A factor so much smaller than the largest one in a sum loses three digits there.
const DROWNS: f64 = 1024.0;

/// Sums of weights, each up to date with the example that touched it last.
#[derive(Debug, Clone)]
pub(super) struct Average {
    /// A_t.
    total: f64,
    /// C_t, since all sums were brought up to date.
    scaled: f64,
    /// The unit of the walk.
    unit: f64,
    /// The largest common factor in C_t.
    largest: f64,
    sums: Vec<f64>,
    /// C_s of the example that touched the weight last, or 0 if all sums have been brought up to date since.
    since: Vec<f64>,
    /// Predictions are clipped to this range.
    range: (f64, f64),
}

impl Average {
    pub(super) fn new(range: (f64, f64)) -> Self {
        let (sums, since) = (Vec::new(), Vec::new());
        Self { total: 0.0, scaled: 0.0, unit: 0.0, largest: 0.0, sums, since, range }
    }

    /// The average of weights that join now, and count as 0 for as long as those of another have been averaged.
    pub(super) fn joining(other: &Self) -> Self {
        Self { total: other.total, ..Self::new(other.range) }
    }

    /// Sees that the present weights predict a row of this importance.
    pub(super) fn see<W: Walk, X: Row<f64>>(&mut self, walk: &W, x: X, importance: f64) {
        let common = walk.common();
        if walk.unit() != self.unit || DROWNS * common.abs() < self.largest {
            self.settle(walk);
        }
        self.largest = self.largest.max(common.abs());
        let n = walk.features();
        if n > self.sums.len() {
            self.sums.resize(n, 0.0);
            self.since.resize(n, self.scaled);
        }
        self.total += importance;
        self.scaled += importance * common;
        let Self { scaled, sums, since, .. } = self;
        x.each(|i, _| {
            if let (Some(sum), Some(since)) = (sums.get_mut(i), since.get_mut(i)) {
                *sum += walk.local(i).unwrap_or(f64::NAN) * (*scaled - *since);
                *since = *scaled;
            }
        });
    }

    /// Brings all sums up to date.
    #[cold]
    fn settle<W: Walk>(&mut self, walk: &W) {
        let before = self.before(walk);
        let Self { scaled, sums, since, .. } = self;
        for (i, (sum, since)) in sums.iter_mut().zip(since).enumerate() {
            // Weights that the last step touched have been counted with their old values.
            if *scaled != *since {
                *sum += before * walk.local(i).unwrap_or(f64::NAN) * (*scaled - *since);
            }
            *since = 0.0;
        }
        (self.scaled, self.unit, self.largest) = (0.0, walk.unit(), 0.0);
    }

    /// What makes the present local weights of those before the unit changed.
    fn before<W: Walk>(&self, walk: &W) -> f64 {
        if walk.unit() == self.unit { 1.0 } else { Real::exp(self.unit - walk.unit()) }
    }

    /// The average of the weight i, where `before` is of [`Average::before`].
    fn weight<W: Walk>(&self, walk: &W, i: usize, before: f64) -> f64 {
        let local = walk.local(i).unwrap_or(f64::NAN);
        if self.total > 0.0 {
            let sum = self.sums.get(i).copied().unwrap_or(0.0);
            let since = self.since.get(i).copied().unwrap_or(self.scaled);
            let rest =
                if self.scaled == since { 0.0 } else { before * local * (self.scaled - since) };
            (sum + rest) / self.total
        } else {
            walk.common() * local
        }
    }

    /// ⟨w̄, x⟩, clipped. Features without a weight count as weight 0.
    pub(super) fn predict<W: Walk, X: Row<f64>>(&self, walk: &W, x: X) -> f64 {
        let (n, before) = (walk.features(), self.before(walk));
        let mut z = 0.0;
        x.each(|i, x| {
            if i < n {
                z += self.weight(walk, i, before) * x;
            }
        });
        Real::clamp(z, self.range.0, self.range.1)
    }

    /// w ← w̄.
    pub(super) fn read<W: Walk>(&self, walk: &W, w: &mut Vec<f64>) {
        let before = self.before(walk);
        w.clear();
        w.extend((0..walk.features()).map(|i| self.weight(walk, i, before)));
    }

    pub(super) fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("average", &self.sums);
        put("average.since", &self.since);
        put("average.total", &[self.total, self.scaled, self.unit, self.largest]);
    }

    pub(super) fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let missing = ConfigError::Missing { name: "average", meaning: "the sums of the weights" };
        match (get("average"), get("average.since"), get("average.total").as_deref()) {
            (Some(sums), Some(since), Some(&[total, scaled, unit, largest]))
                if sums.len() == since.len() =>
            {
                (self.sums, self.since) = (sums, since);
                (self.total, self.scaled) = (total, scaled);
                (self.unit, self.largest) = (unit, largest);
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
    use geowalk::walk::{
        Adaptive, Burg, Entropy, Euclidean, Free, Hyperbolic, Implicit, PNorm, ReparamSimplex,
        Signed, Simplex, SimplexEntropy, Sphere,
    };

    use super::*;

    /// The average by its definition, with features that come late and examples of all importances. How often the unit changed.
    fn check<W: Walk>(mut walk: W, rate: f64) -> usize {
        let mut average = Average::new((f64::NEG_INFINITY, f64::INFINITY));
        let (mut sum, mut all, mut w, mut units) = ([0.0; 6], 0.0, Vec::new(), 0);
        for t in 0..300_u32 {
            let (i, j) = (t % 3, 3 + t % (1 + t / 105));
            let values = [0.25 + f64::from(t % 5) / 4.0, 0.5];
            let indices = [i, j];
            let x = Sparse::new(&indices, &values).unwrap();
            let target = Target { y: f64::from(t % 7) / 7.0, weight: f64::from(t % 4) / 2.0 };
            walk.grow(x.bound());
            walk.read(&mut w);
            all += target.weight;
            sum.iter_mut().zip(&w).for_each(|(sum, w)| *sum += target.weight * w);
            average.see(&walk, x, target.weight);
            let unit = walk.unit();
            walk.step(x, target, &Squared, rate).unwrap();
            units += usize::from(unit != walk.unit());
            if t % 50 == 49 {
                agrees(&average, &walk, &sum.map(|sum| sum / all));
            }
        }
        agrees(&average, &walk, &sum.map(|sum| sum / all));
        units
    }

    fn agrees<W: Walk>(average: &Average, walk: &W, exact: &[f64]) {
        let (mut w, mut z) = (Vec::new(), 0.0);
        average.read(walk, &mut w);
        // The difference of two units is as exact as they are.
        let allowed = 1e-13 + 4.0 * f64::EPSILON * walk.unit().abs();
        for (i, (w, exact)) in w.iter().zip(exact).enumerate() {
            let off = (w - exact).abs();
            assert!(
                off < allowed * (1.0 + w.abs()),
                "{} weight {i}: {w} {exact}",
                std::any::type_name::<W>()
            );
            z += w * (1.0 + i as f64);
        }
        let row = Sparse::new(&[0, 1, 2, 3, 4, 5], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert!((average.predict(walk, row) - z).abs() < 10.0 * allowed * (1.0 + z.abs()));
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
    fn also_where_all_weights_share_a_factor() {
        let units = [
            check(Sphere::new(1.0, 3).unwrap(), 3.0),
            check(Hyperbolic::new(), 0.02),
            check(PNorm::new(1.5).unwrap(), 0.1),
            check(Simplex::new(), 40.0),
            check(SimplexEntropy::new(), 40.0),
            check(ReparamSimplex::new(), 0.5),
            check(Implicit::new(SimplexEntropy::new()), 40.0),
            check(Signed::new(SimplexEntropy::new(), 2.0).unwrap(), 20.0),
        ];
        assert!(units.iter().filter(|&&units| units > 0).count() >= 4, "{units:?}");
    }

    #[test]
    fn before_the_first_example_it_is_the_start() {
        let average = Average::new((-1.0, 1.0));
        let mut walk = Entropy::new(3.0).unwrap();
        walk.grow(1);
        let (mut w, mut start) = (Vec::new(), Vec::new());
        average.read(&walk, &mut w);
        walk.read(&mut start);
        assert!(w == start && w.len() == 1, "{w:?}");
        assert_eq!(average.predict(&walk, Sparse::new(&[0, 9], &[1.0, 1.0]).unwrap()), 1.0);
    }
}
