//! # Weights that sum to 1
//! $$w_i = \frac{e_i}{Z}, \qquad e_i = e^{\lambda_i}, \qquad Z = \sum_i e_i$$
//! The logarithms λ are the state, defined up to a common constant, and the e_i are stored with them. The e_i are
//! exponentials of λ_i or, if factors are known without an exponential, products of factors. Both are rounded, so they
//! drift apart by less than (2 + |λ_i|)ε per step. Z is corrected by the difference whenever a λ_i changes. A step on
//! the simplex multiplies the weights of a row by factors and all others by 1.
//!
//! **Why logarithms** A weight of 1e-400 is not 0, and can grow again later. **Care** If Z has lost digits or leaves a
//! safe range, the largest λ is subtracted from all and Z is recomputed in O(n). **Cost** O(nnz), an exponential or a
//! logarithm per coordinate of the row. **Source** \[AW20, sec. 4\].

use super::clip_remainder::ClipRemainder;
use super::compensated_sum::{Changes, CompensatedSum};
use super::entries::{Coords8, Entries, Entry, Step};
use super::factor::{Counts, Factor, Factors, Moved, beyond_linear};
use super::{Chart, Get, Moves, Put, RowSummary};
use crate::Real;
use crate::error::{Allowed, ConfigError, DomainError};
use crate::geometry::Event;
use crate::learn::base;
use crate::real::lanes::{self, Lanes, WIDTH, select};
use crate::row::Row;
use crate::update::Round;

/// s − ln(1 + s), without cancellation near 0.
#[inline]
pub(crate) fn beyond_logarithm(s: f64) -> f64 {
    if s.abs() < 0.01 {
        let series = (3..=8).rev().fold(1.0 / 9.0, |sum, k| 1.0 / f64::from(k) - s * sum);
        s * s * (0.5 - s * series)
    } else {
        s - Real::ln_1p(s)
    }
}

/// D(w‖w') = ln Σ w e^s − Σ w s, from Σ w s, Σ w (e^s − 1 − s) and ln Σ w e^s.
fn divergence(linear: f64, rest: f64, log_sum: f64) -> f64 {
    let t = linear + rest;
    let divergence = if t.abs() < 0.5 {
        // With Σ w e^s = 1 + t this is (t − Σ w s) − (t − ln(1 + t)), two terms of second order.
        rest - beyond_logarithm(t)
    } else {
        log_sum - linear
    };
    // Logarithms of factors are within ±700.
    let largest = 2.0 * f64::MAX_EXPONENT;
    if divergence.abs() <= largest { divergence.max(0.0) } else { largest }
}

/// From this λ on, overflow is near.
const LARGEST_LOGARITHM: f64 = 100.0;
/// Below this Z, all weights have shrunk.
const SMALLEST_SUM: f64 = 1e-40;

/// Log-weights and the sum of the weights.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Partitioned {
    /// λ and e.
    pub(crate) entries: Entries,
    /// The logarithm of a weight that no row has changed.
    untouched: f64,
    pub(crate) sum: CompensatedSum,
    cut: ClipRemainder,
    /// Number of coordinates that have crossed 0, in geometries where that can happen.
    folds: Option<u64>,
}

/// w_i ∝ w_i·factor(τ·x_i). The divergence is the length of the step if it is `MEASURED`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reweigh<const MEASURED: bool> {
    /// The factor.
    pub factor: Factor,
    /// τ.
    pub tau: f64,
    /// Is the factor common to all weights negative? Then the coordinates that did not cross 0 count as crossed.
    pub flipped: bool,
}

/// From this size on, a product of an e_i and a factor is not subnormal, so it has all its digits.
const SMALLEST_PRODUCT: f64 = 1e-290;

/// A step on eight coordinates: λ ← λ + s, and e ← exp λ or e times the factor. It accumulates the changes of Z and
/// the divergence, in eight sums each.
struct Reweight<S, const MEASURED: bool> {
    /// Computes the factors from x.
    factors: S,
    counts: Counts,
    /// Σe·s.
    linear: Lanes,
    /// Σe·(e^s − 1 − s).
    rest: Lanes,
    changes: Changes,
    /// The largest λ after the step, if it is positive.
    largest: Lanes,
}

impl<S, const MEASURED: bool> Step for Reweight<S, MEASURED>
where
    S: Fn(Lanes, &mut Counts) -> Factors,
{
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // lanes with the same index k
    fn make(&mut self, coords: &Coords8<'_>) -> (Lanes, Lanes) {
        // One operation at a time on all eight lanes, so that the compiler vectorises them.
        let Factors { log: s, growth } = (self.factors)(*coords.x, &mut self.counts);
        let (mut log, mut changes) = (*coords.log, [0.0; WIDTH]);
        for k in 0..WIDTH {
            log[k] += s[k];
        }
        let product =
            growth.map(|growth| lanes::zip(*coords.w, growth, |e, growth| e + e * growth));
        let e = match product {
            Some(e) if all_above(&e, SMALLEST_PRODUCT) => e,
            _ => lanes::map(log, lanes::exp),
        };
        for k in 0..WIDTH {
            self.largest[k] = select(log[k] > self.largest[k], log[k], self.largest[k]);
        }
        if MEASURED {
            for k in 0..WIDTH {
                self.linear[k] += coords.w[k] * s[k];
            }
            for k in 0..WIDTH {
                self.rest[k] += beyond_linear(coords.w[k], e[k], s[k]);
            }
        }
        for k in 0..WIDTH {
            changes[k] = e[k] - coords.w[k];
        }
        self.changes.add(changes);
        (log, e)
    }
}

/// Are all of them at least `least`?
#[inline(always)]
fn all_above(e: &Lanes, least: f64) -> bool {
    let mut above = true;
    for e in e {
        above &= *e >= least;
    }
    above
}

impl Partitioned {
    /// For a geometry whose coordinates can cross 0: counts crossings.
    pub(crate) fn folding() -> Self {
        Self { folds: Some(0), ..Self::default() }
    }

    /// 1/Z; 0 if there are no weights.
    #[inline]
    pub(crate) fn share(&self) -> f64 {
        if self.entries.len() == 0 { 0.0 } else { 1.0 / self.sum.value() }
    }

    /// ⟨w, x²⟩ of the row passed to [`look`](Chart::look).
    pub(crate) fn second(&self) -> f64 {
        let sum = self.entries.sum(
            #[inline(always)]
            |x, e| e * x * x,
        );
        sum * self.share()
    }

    /// Multiplies w_i by the factor of s_i = τ·x_i for the row passed to [`look`](Chart::look), and divides all
    /// weights by their sum. The divergence is 0 unless `MEASURED`.
    pub(crate) fn multiply<const MEASURED: bool>(&mut self, factor: Factor, tau: f64) -> Moved {
        // Compiled separately for each factor, so that the innermost loop has no branch.
        macro_rules! multiply {
            ($factor:expr) => {
                self.reweight::<MEASURED>(
                    #[inline(always)]
                    |x, counts| $factor.factors(lanes::map(x, |x| tau * x), counts),
                )
            };
        }
        match factor {
            Factor::Exponential => multiply!(Factor::Exponential),
            Factor::Linear => multiply!(Factor::Linear),
            Factor::Square => multiply!(Factor::Square),
        }
    }

    /// Multiplies the w_i of the row passed to [`look`](Chart::look) by `factors` of the x_i (1 for x_i = 0), and
    /// divides all weights by their sum.
    pub(crate) fn reweight<const MEASURED: bool>(
        &mut self,
        factors: impl Fn(Lanes, &mut Counts) -> Factors,
    ) -> Moved {
        let share = self.share();
        let step = self.entries.each(Reweight::<_, MEASURED> {
            factors,
            counts: Counts::default(),
            linear: [0.0; WIDTH],
            rest: [0.0; WIDTH],
            changes: Changes::default(),
            largest: [0.0; WIDTH],
        });
        self.sum.absorb(&step.changes);
        let [linear, rest] = [step.linear, step.rest].map(|sums| share * sums.iter().sum::<f64>());
        let top = if step.largest.iter().all(|&largest| largest < LARGEST_LOGARITHM) {
            self.settle()
        } else {
            self.center()
        };
        // Take the sum after it was recomputed: if nearly all weight shrinks, the old sum is mostly rounding error.
        let divergence = if MEASURED {
            divergence(linear, rest, Real::ln(share * self.sum.value()) + top)
        } else {
            0.0
        };
        Moved { divergence, crossed: step.counts.crossed, clamped: step.counts.clamped }
    }

    /// Records how much clipping changed the exponents τ·x_i of the step just made.
    #[cold]
    pub(crate) fn note_cuts(&mut self, tau: f64) {
        let Self { entries, cut, .. } = self;
        entries.before(|i, x, from| {
            if (tau * x).abs() > f64::MAX_EXPONENT {
                // The value before all logarithms were shifted together, which may have happened since.
                let to = from + f64::MAX_EXPONENT.copysign(tau * x);
                cut.add(i, tau * x, from, to);
            }
        });
    }

    /// Recomputes the sum if necessary; returns the amount subtracted from all λ.
    fn settle(&mut self) -> f64 {
        if self.sum.worn() || self.sum.value() < SMALLEST_SUM { self.center() } else { 0.0 }
    }

    /// Shifts the largest λ to 0 and recomputes the sum; returns the amount subtracted from all λ.
    #[cold]
    fn center(&mut self) -> f64 {
        let top = self.entries.iter().map(|entry| entry.log).fold(f64::NEG_INFINITY, f64::max);
        if !top.is_finite() {
            return 0.0;
        }
        let mut largest = self.untouched.abs();
        for entry in self.entries.iter_mut() {
            *entry = Entry::new(entry.log - top);
            largest = Real::max(largest, entry.log.abs());
        }
        self.untouched -= top;
        self.cut.blur(largest + self.untouched.abs());
        self.sum = CompensatedSum::of(self.entries.iter().map(|entry| entry.w));
        top
    }
}

impl Chart for Partitioned {
    fn features(&self) -> usize {
        self.entries.len()
    }

    fn grow(&mut self, n: usize) {
        let old = self.entries.len();
        if n > old {
            self.entries.grow(n, self.untouched);
            let e = lanes::exp(self.untouched);
            for _ in old..n {
                self.sum.add(e);
            }
            self.settle();
        }
    }

    #[inline]
    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        self.entries.dot(x) * self.share()
    }

    #[inline]
    fn look<X: Row<f64>>(&mut self, x: X) -> RowSummary {
        RowSummary { z: self.entries.take(x) * self.share(), size: 0.0 }
    }

    fn common(&self) -> f64 {
        self.share()
    }

    fn local(&self, i: usize) -> f64 {
        self.entries.weight(i).unwrap_or_default()
    }

    fn unit(&self) -> f64 {
        self.untouched
    }

    fn gamma(&self, rate: Option<f64>, out: &mut Vec<f64>) -> Option<f64> {
        let lambda = self.entries.iter().map(|entry| entry.log);
        self.cut.gamma(lambda, self.untouched, rate, out)
    }

    fn folds(&self) -> u64 {
        self.folds.unwrap_or(0)
    }

    fn logarithms(&self, out: &mut Vec<f64>) {
        let log_sum = Real::ln(self.sum.value());
        self.entries.logarithms(out);
        for lambda in out.iter_mut() {
            *lambda -= log_sum;
        }
    }

    fn save(&self, put: Put<'_>) {
        let mut lambda = Vec::new();
        self.entries.logarithms(&mut lambda);
        put("log_w", &lambda);
        if self.entries.iter().any(|entry| entry.w != lanes::exp(entry.log)) {
            // The second number marks that `e` is saved as well.
            put("untouched", &[self.untouched, 1.0]);
            put("e", &self.entries.iter().map(|entry| entry.w).collect::<Vec<_>>());
        } else {
            put("untouched", &[self.untouched]);
        }
        self.sum.save("sum", put);
        self.cut.save(put);
        if let Some(folds) = self.folds {
            put("folds", &[folds as f64]);
        }
    }

    fn load(&mut self, get: Get<'_>) -> Result<(), ConfigError> {
        let folds = self.folds.is_some().then(|| base::count(get, "folds")).transpose()?;
        let lambda = base::array(get, "log_w", Allowed::Open(f64::MIN, LARGEST_LOGARITHM))?;
        let known = base::array(get, "untouched", Allowed::Finite)?;
        let (&[untouched] | &[untouched, _]) = known.as_slice() else {
            let (what, found) = ("untouched", known.len());
            return Err(DomainError::Dimension { what, found, expected: 1 }.into());
        };
        let mut entries: Vec<Entry> = lambda.into_iter().map(Entry::new).collect();
        if known.len() == 2 {
            let e = base::array_of(get, "e", Allowed::NonNegative, entries.len())?;
            for (entry, e) in entries.iter_mut().zip(e) {
                entry.w = e;
            }
        }
        let (sum, cut) = (CompensatedSum::load("sum", get)?, ClipRemainder::load(get)?);
        *self = Self { entries: entries.into(), untouched, sum, cut, folds };
        Ok(())
    }
}

impl<const MEASURED: bool> Moves<Reweigh<MEASURED>> for Partitioned {
    fn apply<X: Row<f64>>(
        &mut self,
        _: X,
        by: Reweigh<MEASURED>,
        round: &mut Round,
    ) -> Result<(), DomainError> {
        let mut moved = self.multiply::<MEASURED>(by.factor, by.tau);
        if MEASURED {
            round.length = (2.0 * moved.divergence).sqrt();
        }
        if by.flipped {
            // A clipped factor is 0, which has no sign and cannot cross.
            moved.crossed = self.features().saturating_sub(moved.crossed + moved.clamped);
        }
        if let Some(folds) = &mut self.folds {
            *folds += moved.crossed as u64;
        }
        if moved.clamped > 0 {
            round.event = Event::Clamped { coordinates: moved.clamped };
            if by.factor == Factor::Exponential {
                self.note_cuts(by.tau);
            }
        } else if moved.crossed > 0 {
            round.event = Event::Folded { coordinates: moved.crossed };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Dense;

    fn weights(partition: &Partitioned, w: &mut Vec<f64>) {
        w.clear();
        w.extend(partition.entries.iter().map(|entry| entry.w * partition.share()));
    }

    #[test]
    fn second_order_terms_keep_their_digits() {
        // mpmath, 50 digits.
        for (s, exp, log) in [
            (1e-9, 5.000_000_001_666_667e-19, 4.999_999_996_666_667e-19),
            (0.0099, 4.916_711_754_213_868e-5, 4.868_394_962_581_728e-5),
            (-0.049, 0.001_181_129_698_504_853_5, 0.001_241_216_436_746_746_6),
            (0.5, 0.148_721_270_700_128_14, 0.094_534_891_891_835_62),
        ] {
            let beyond = beyond_linear(2.0, 2.0 * Real::exp(s), s) / 2.0;
            assert!((beyond / exp - 1.0).abs() < 1e-13, "{s}: {beyond}");
            assert!(
                (beyond_logarithm(s) / log - 1.0).abs() < 1e-13,
                "{s}: {}",
                beyond_logarithm(s)
            );
        }
    }

    #[test]
    fn the_divergence_is_the_relative_entropy() {
        let mut partition = Partitioned::default();
        partition.grow(4);
        partition.look(Dense(&[1.0, -0.5, 0.0, 2.0]));
        partition.multiply::<true>(Factor::Exponential, 0.3);
        for (factor, tau) in
            [(Factor::Exponential, 1e-3), (Factor::Exponential, -1.0), (Factor::Square, 0.4)]
        {
            let (mut before, mut after) = (Vec::new(), Vec::new());
            weights(&partition, &mut before);
            partition.look(Dense(&[0.5, 1.0, 0.0, -2.0]));
            let moved = partition.multiply::<true>(factor, tau);
            weights(&partition, &mut after);
            let exact: f64 = before.iter().zip(&after).map(|(w, v)| w * Real::ln(w / v)).sum();
            assert!((moved.divergence - exact).abs() < 1e-14, "{} {exact}", moved.divergence);
        }
    }

    #[test]
    fn products_stay_with_their_logarithms_and_weights_come_back_from_nothing() {
        let mut partition = Partitioned::default();
        partition.grow(3);
        let mut dead = 0;
        // Down by 0.8² and up by 1.25² per step: both go far beyond the range of floats, by steps near 1.
        for tau in std::iter::repeat_n(-0.2, 2000).chain(std::iter::repeat_n(0.25, 1999)) {
            partition.look(Dense(&[1.0, 0.0, 0.5]));
            partition.multiply::<false>(Factor::Square, tau);
            for entry in partition.entries.iter() {
                let exact = lanes::exp(entry.log);
                let near = (entry.w - exact).abs() <= 1e-9 * exact + f64::MIN_POSITIVE;
                assert!(near, "{} {exact}", entry.w);
            }
            dead += usize::from(partition.local(0) == 0.0);
        }
        assert!(dead > 100, "{dead}");
        let mut w = Vec::new();
        weights(&partition, &mut w);
        assert!((w[0] / w[1] - 0.64).abs() < 1e-9, "one step more down than up: {w:?}");
        assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{w:?}");
    }

    #[test]
    fn far_exponents_are_cut_and_counted() {
        let mut partition = Partitioned::default();
        partition.grow(2);
        partition.look(Dense(&[1.0, 0.0]));
        let moved = partition.multiply::<true>(Factor::Exponential, 1e10);
        assert_eq!(moved.clamped, 1);
        let mut w = Vec::new();
        weights(&partition, &mut w);
        assert_eq!(w, [1.0, 9.859_676_543_759_77e-305]);
        partition.look(Dense(&[1.0, 0.0]));
        let moved = partition.multiply::<true>(Factor::Square, -1.0);
        assert_eq!(moved.clamped, 1, "a factor of exactly 0 would kill the weight");
    }
}
