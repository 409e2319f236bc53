//! # The logistic loss along one feature
//! Where all weights of examples are 1 and a step moves every score by ±δs or not at all, $e^{-u}$ is multiplied by one of two numbers, and everything follows from it:
//! $$w = \frac1{1 + e^{-u}}, \qquad \sum_i \psi(-u_i) = \sum_i \max(u_i, 0) + \ln \prod_i \frac1{\max(w_i, 1 - w_i)}$$
//! No exponential per example, and one logarithm for [`NEAR`] of them: the factors are in [1, 2], and 2^−512 does not underflow.
//!
//! **Care** $e^{-u}$ is computed anew when the [scores](super::state) are. A factor next to 1 loses what is smaller than half an ulp: where the mean
//! logarithm of a block is below [`SMALL`] it is summed up by `ln_1p`. **Source** \[NN09, table 2\].

use super::chunks::{lanes, sum};
use super::line::{Move, NEAR, Turn};
use crate::Real;
use crate::real::lanes::widely;

/// Mean logarithms from here on have 12 good digits.
const SMALL: f64 = 1e-4;

/// A feature that moves nothing.
const STILL: [f64; NEAR] = [0.0; NEAR];

/// Sums over the rows of a step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moved {
    /// Σ ψ(−u), after the step.
    pub(super) risk: f64,
    /// Σ ψ̃(w) − w u, with u before and w after the step.
    pub(super) young: f64,
    /// max |u|.
    pub(super) farthest: f64,
    /// How many rows are on the wrong side; a score of 0 is positive.
    pub(super) wrong: f64,
    /// Σ m w and Σ |m| w, with w after the step.
    pub(super) edge: f64,
    pub(super) scale: f64,
}

impl Moved {
    pub(super) fn add(self, other: Self) -> Self {
        Self {
            risk: self.risk + other.risk,
            young: self.young + other.young,
            farthest: Real::max(self.farthest, other.farthest),
            wrong: self.wrong + other.wrong,
            edge: self.edge + other.edge,
            scale: self.scale + other.scale,
        }
    }
}

/// What a step changes of some rows.
pub(super) struct Rows<'a> {
    /// The scores.
    pub(super) u: &'a mut [f64],
    /// Their weights.
    pub(super) w: &'a mut [f64],
    /// e^−u.
    pub(super) e: &'a mut [f64],
    /// The labels, ±1.
    pub(super) y: &'a [i8],
}

impl Rows<'_> {
    /// The first few, and the others.
    fn split(self, at: usize) -> (Self, Self) {
        let ((u, us), (w, ws)) = (self.u.split_at_mut(at), self.w.split_at_mut(at));
        let ((e, es), (y, ys)) = (self.e.split_at_mut(at), self.y.split_at(at));
        (Self { u, w, e, y }, Self { u: us, w: ws, e: es, y: ys })
    }
}

/// Moves the scores u by δm, and w and e = e^−u with them.
pub(super) fn advance<M: Move>(mut rows: Rows<'_>, m: &[M], delta: f64, turn: Turn) -> Moved {
    let (mut all, mut room, mut terms) = (Moved::default(), [0.0; NEAR], [[0.0; NEAR]; 3]);
    for m in m.chunks(NEAR) {
        let (now, rest) = rows.split(m.len());
        all = all.add(widely(
            #[inline(always)]
            || {
                let m = M::numbers(m, &mut room);
                for (((u, w), e), &m) in now.u.iter_mut().zip(&mut *now.w).zip(&mut *now.e).zip(m) {
                    *u += delta * m;
                    *e = if m == 0.0 { *e } else { turn.after(*e, m) };
                    *w = 1.0 / (1.0 + *e);
                }
                sums(&now, m, delta, &mut terms)
            },
        ));
        rows = rest;
    }
    all
}

/// e^−u and w for scores that are given.
pub(super) fn begin(mut rows: Rows<'_>) -> Moved {
    let (mut all, mut terms) = (Moved::default(), [[0.0; NEAR]; 3]);
    while !rows.u.is_empty() {
        let few = rows.u.len().min(NEAR);
        let (now, rest) = rows.split(few);
        for ((u, w), e) in now.u.iter().zip(&mut *now.w).zip(&mut *now.e) {
            *e = Real::exp(-u);
            *w = 1.0 / (1.0 + *e);
        }
        all = all.add(sums(&now, &STILL[..few], 0.0, &mut terms));
        rows = rest;
    }
    all
}

/// The sums over a block, for whose terms there is room.
#[inline(always)] // where it is called is compiled for wide vectors
fn sums(
    rows: &Rows<'_>,
    m: &[f64],
    delta: f64,
    [larger, cross, edges]: &mut [[f64; NEAR]; 3],
) -> Moved {
    let (u, w, e) = (&*rows.u, &*rows.w, &*rows.e);
    let of_rows = u.iter().zip(w).zip(e.iter().zip(m));
    let into = larger.iter_mut().zip(&mut *cross).zip(&mut *edges);
    for (((&u, &w), (&e, &m)), ((larger, cross), edge)) in of_rows.zip(into) {
        // 1/(1 + e^−|u|) and e^−|u|/(1 + e^−|u|): w and 1 − w = e w in the order of their sizes.
        let other = e * w;
        let (large, small) = if w >= other { (w, other) } else { (other, w) };
        *larger = large;
        *cross = small * u.abs() + w * (u - delta * m);
        *edge = m * w;
    }
    let (edges, add) = (&edges[..m.len()], |a: f64, b: f64| a + b);
    let scale = lanes(edges, 0.0, |sum, edge| sum + edge.abs(), add);
    let product = lanes(&larger[..m.len()], 1.0, |a, b| a * b, |a, b| a * b);
    let mut log = -Real::ln(product);
    if log < SMALL * m.len() as f64 {
        let one = |(u, e): (&f64, &f64)| Real::ln_1p(if *u >= 0.0 { *e } else { 1.0 / e });
        log = u.iter().zip(e).map(one).sum();
    }
    let right = lanes(u, 0.0, |sum, u| sum + if u > 0.0 { u } else { 0.0 }, add);
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let farthest = lanes(u, 0.0, |far, u| larger(far, u.abs()), larger);
    let nearest =
        lanes(u, f64::INFINITY, |near, u| -larger(-near, -u.abs()), |a, b| -larger(-a, -b));
    let mut wrong = lanes(u, 0.0, |sum, u| sum + if u > 0.0 { 1.0 } else { 0.0 }, add);
    if nearest == 0.0 {
        // A score of 0 is positive: wrong where the label is not.
        let undecided = |(u, y): &(&f64, &i8)| **u == 0.0 && **y < 0;
        wrong += u.iter().zip(rows.y).filter(undecided).count() as f64;
    }
    let young = -log - sum(&cross[..m.len()]);
    Moved { risk: right + log, young, farthest, wrong, edge: sum(edges), scale }
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
            let (young, farthest) = (dual - w * (u - delta * m), u.abs());
            let (edge, scale) = (m * w, m.abs() * w);
            Moved { risk, young, farthest, wrong: f64::from(*u > 0.0), edge, scale }
        };
        u.iter().zip(m).map(one).fold(Moved::default(), Moved::add)
    }

    #[test]
    fn sums_are_those_of_the_definition() {
        let mut s = Sampler::new(5);
        // Mild scores, none at all, far ones of which the risk is tiny, and a length that no lane divides.
        for (centre, width) in [(0.0, 1.0), (0.0, 0.0), (-12.0, 2.0), (-40.0, 3.0), (300.0, 50.0)] {
            let rows = 3 * NEAR + 3;
            let mut u: Vec<f64> = (0..rows).map(|_| centre + width * s.normal()).collect();
            let m: Vec<f64> = (0..rows).map(|k| [2.0, -2.0, 0.0, -2.0, 2.0][k % 5]).collect();
            let (mut e, mut w) =
                (u.iter().map(|u| Real::exp(-u)).collect::<Vec<_>>(), vec![0.0; rows]);
            let delta = 0.3;
            let y: Vec<i8> = (0..rows).map(|k| if k % 3 == 0 { -1 } else { 1 }).collect();
            let state = Rows { u: &mut u, w: &mut w, e: &mut e, y: &y };
            let found = advance(state, &m, delta, Turn::new(2.0 * delta));
            let right = plainly(&u, &m, delta);
            assert!((found.risk / right.risk - 1.0).abs() < 2e-12, "{found:?} {right:?}");
            let scale = right.young.abs().max(right.risk);
            assert!((found.young - right.young).abs() <= 1e-11 * scale, "{found:?} {right:?}");
            assert_eq!(found.farthest, right.farthest);
            assert!((found.edge - right.edge).abs() <= 1e-12 * right.scale);
            assert!((found.scale / right.scale - 1.0).abs() < 1e-12);
            let zero = |(u, y): (&f64, &i8)| *u == 0.0 && *y < 0;
            let undecided = u.iter().zip(&y).filter(|row| zero(*row)).count() as f64;
            assert_eq!(found.wrong, right.wrong + undecided);
            let (mut anew, mut exact) = (w.clone(), e.clone());
            let again = begin(Rows { u: &mut u, w: &mut anew, e: &mut exact, y: &y });
            assert!((again.risk / right.risk - 1.0).abs() < 2e-12 && again.wrong == found.wrong);
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
