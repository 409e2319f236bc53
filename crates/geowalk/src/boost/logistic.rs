//! # The logistic loss along one feature
//! Where all weights of examples are 1 and a step moves every score by ±δs or not at all, $e^{-u}$ is multiplied by one of two numbers, and everything follows from it:
//! $$w = \frac1{1 + e^{-u}}, \qquad \sum_i \psi(-u_i) = \sum_i \max(u_i, 0) + \ln \prod_i \frac1{\max(w_i, 1 - w_i)}$$
//! No exponential per example, and one logarithm for [`BLOCK`] of them: the factors are in [1, 2].
//!
//! **Care** $e^{-u}$ is computed anew when the [scores](super::state) are. A factor next to 1 loses what is smaller than half an ulp: where the mean
//! logarithm of a block is below [`SMALL`] it is summed up by `ln_1p`. **Source** \[NN09, table 2\].

use super::line::Turn;
use crate::Real;

/// Examples whose factors are multiplied; 2^−512 does not underflow.
const BLOCK: usize = 512;

/// Mean logarithms from here on have 12 good digits.
const SMALL: f64 = 1e-4;

/// Sums over the rows of a step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moved {
    /// Σ ψ(−u), after the step.
    pub(super) risk: f64,
    /// Σ ψ̃(w) − w u, with u before and w after the step.
    pub(super) young: f64,
    /// max |u|.
    pub(super) farthest: f64,
}

impl Moved {
    pub(super) fn add(self, other: Self) -> Self {
        Self {
            risk: self.risk + other.risk,
            young: self.young + other.young,
            farthest: Real::max(self.farthest, other.farthest),
        }
    }
}

/// Moves the scores u by δm, and w and e = e^−u with them.
pub(super) fn advance(
    u: &mut [f64],
    w: &mut [f64],
    e: &mut [f64],
    m: &[f64],
    delta: f64,
    turn: Turn,
) -> Moved {
    let mut sum = Moved::default();
    let blocks = u.chunks_mut(BLOCK).zip(w.chunks_mut(BLOCK)).zip(e.chunks_mut(BLOCK));
    for (((u, w), e), m) in blocks.zip(m.chunks(BLOCK)) {
        for (((u, w), e), &m) in u.iter_mut().zip(&mut *w).zip(&mut *e).zip(m) {
            *u += delta * m;
            *e = if m == 0.0 { *e } else { turn.after(*e, m) };
            *w = 1.0 / (1.0 + *e);
        }
        sum = sum.add(sums(u, w, e, m, delta));
    }
    sum
}

/// The sums over a block, in four lanes.
fn sums(u: &[f64], w: &[f64], e: &[f64], m: &[f64], delta: f64) -> Moved {
    let (mut product, mut right, mut cross, mut farthest) =
        ([1.0; 4], [0.0; 4], [0.0; 4], [0.0; 4]);
    let mut four = |u: &[f64; 4], w: &[f64; 4], e: &[f64; 4], m: &[f64; 4]| {
        for k in 0..4 {
            // 1/(1 + e^−|u|) and e^−|u|/(1 + e^−|u|): w and 1 − w = e w in the order of their sizes.
            let (far, other) = (u[k].abs(), e[k] * w[k]);
            let (large, small) = if w[k] >= other { (w[k], other) } else { (other, w[k]) };
            product[k] *= large;
            right[k] += if u[k] > 0.0 { u[k] } else { 0.0 };
            cross[k] += small * far + w[k] * (u[k] - delta * m[k]);
            farthest[k] = if far > farthest[k] { far } else { farthest[k] };
        }
    };
    let ((u4, u1), (w4, w1)) = (u.as_chunks(), w.as_chunks());
    let ((e4, e1), (m4, m1)) = (e.as_chunks(), m.as_chunks());
    for (((u, w), e), m) in u4.iter().zip(w4).zip(e4).zip(m4) {
        four(u, w, e, m);
    }
    // u = 0, w = 1, e = 0 adds nothing.
    let filled = |rest: &[f64], with: f64| {
        let mut all = [with; 4];
        all[..rest.len()].copy_from_slice(rest);
        all
    };
    four(&filled(u1, 0.0), &filled(w1, 1.0), &filled(e1, 0.0), &filled(m1, 0.0));
    let sum = |[a, b, c, d]: [f64; 4]| (a + b) + (c + d);
    let mut log = -Real::ln((product[0] * product[1]) * (product[2] * product[3]));
    if log < SMALL * u.len() as f64 {
        let one = |(u, e): (&f64, &f64)| Real::ln_1p(if *u >= 0.0 { *e } else { 1.0 / e });
        log = u.iter().zip(e).map(one).sum();
    }
    let farthest = farthest.into_iter().fold(0.0, Real::max);
    Moved { risk: sum(right) + log, young: -log - sum(cross), farthest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boost::stumps::Stumps;
    use crate::boost::surrogate::{EntropyPsi, Psi};
    use crate::boost::table::{Column, Table};
    use crate::boost::{Booster, Stop, Surrogate};
    use crate::laws::Sampler;

    /// What the definition says of scores u after a step, and of the step.
    fn plainly(u: &[f64], m: &[f64], delta: f64) -> Moved {
        let one = |(u, m): (&f64, &f64)| {
            let (risk, w, dual) = EntropyPsi.all(*u);
            Moved { risk, young: dual - w * (u - delta * m), farthest: u.abs() }
        };
        u.iter().zip(m).map(one).fold(Moved::default(), Moved::add)
    }

    #[test]
    fn sums_are_those_of_the_definition() {
        let mut s = Sampler::new(5);
        // Mild scores, none at all, far ones of which the risk is tiny, and a length that no lane divides.
        for (centre, width) in [(0.0, 1.0), (0.0, 0.0), (-12.0, 2.0), (-40.0, 3.0), (300.0, 50.0)] {
            let rows = 3 * BLOCK + 3;
            let mut u: Vec<f64> = (0..rows).map(|_| centre + width * s.normal()).collect();
            let m: Vec<f64> = (0..rows).map(|k| [2.0, -2.0, 0.0, -2.0, 2.0][k % 5]).collect();
            let (mut e, mut w) =
                (u.iter().map(|u| Real::exp(-u)).collect::<Vec<_>>(), vec![0.0; rows]);
            let delta = 0.3;
            let found = advance(&mut u, &mut w, &mut e, &m, delta, Turn::new(2.0 * delta));
            let right = plainly(&u, &m, delta);
            assert!((found.risk / right.risk - 1.0).abs() < 2e-12, "{found:?} {right:?}");
            let scale = right.young.abs().max(right.risk);
            assert!((found.young - right.young).abs() <= 1e-11 * scale, "{found:?} {right:?}");
            assert_eq!(found.farthest, right.farthest);
            for ((u, w), e) in u.iter().zip(&w).zip(&e) {
                assert!((w / EntropyPsi.weight(*u) - 1.0).abs() < 1e-13 * (1.0 + u.abs()));
                assert!((e / Real::exp(-u) - 1.0).abs() < 1e-13 * (1.0 + u.abs()));
            }
        }
    }

    /// Weights of 2 are not 1: they take the general way, to the same leverages.
    #[test]
    fn both_ways_lead_to_the_same_ensemble() {
        let mut s = Sampler::new(6);
        let rows = 700;
        let columns: Vec<Vec<f64>> =
            (0..3).map(|_| (0..rows).map(|_| s.normal()).collect()).collect();
        let labels: Vec<f64> = (0..rows)
            .map(|k| columns[0][k] + columns[1][k] * columns[2][k] + s.normal())
            .map(|score| if score > 0.0 { 1.0 } else { -1.0 })
            .collect();
        let named = columns.into_iter().enumerate();
        let named = named.map(|(k, x)| Column::numeric(format!("x{k}"), x));
        let table = Table::new(named.collect()).unwrap();
        let booster = Booster::new(Surrogate::parse("logistic").unwrap(), Stop::after(90).unwrap());
        let [quick, general] = [None, Some(vec![2.0; rows])].map(|weights| {
            let mut weak = Stumps::new(&table, Some(32)).unwrap();
            booster.fit(&mut weak, &labels, weights.as_deref(), None, &mut |_, _| {}).unwrap()
        });
        assert_eq!(quick.hypotheses, general.hypotheses);
        for (a, b) in quick.alpha.iter().zip(&general.alpha) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
        for (a, b) in quick.rounds.iter().zip(&general.rounds) {
            assert!((a.surrogate - b.surrogate).abs() < 1e-12 && a.error == b.error, "{a:?} {b:?}");
            assert!(a.slip < 1e-10 && a.residual < 1e-12, "{a:?}");
        }
    }
}
