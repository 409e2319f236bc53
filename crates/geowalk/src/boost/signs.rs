//! # Features of ±1
//! Stumps say ±1 of every row: one byte, where a number has eight. For the logistic loss with all weights of examples 1 a round then moves little more memory than the scores, their weights and
//! the bins, and nearly all of it is done in three passes: that of the weak learner, the sums below, the step.
//!
//! **Start of the line search** With p = w(1 − w) and m = ±1 the derivatives of $g(\delta) = \sum m\,w(u + \delta m)$ at 0 are
//! $$g' = \sum p, \qquad g'' = \sum m\,p\,(1 - 2w), \qquad g^{(3)} = \sum p\,(1 - 6p),$$
//! all from the weights that are known. The root of that cubic, by the first terms of the inverse series, is where the search begins, and one Newton's step from there mostly ends it: how much that leaves of g is known beforehand, and measured in the pass that makes the step.
//! **Cost** one pass. **Source** \[NN09, eq. (70), table 2\].

use rayon::prelude::*;

use super::chunks::{self, ROWS};
use super::line::{Move, NEAR, Slope, Start};
use super::state::Edge;
use crate::real::lanes::widely;

/// Sums over the examples.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Met {
    /// Σ m w, its derivatives, and Σ w.
    g: f64,
    bend: f64,
    tilt: f64,
    twist: f64,
    sum: f64,
    /// Σ m.
    sides: f64,
    rows: f64,
}

/// Turns h into m = −yh, and meets the weights.
pub(super) fn meet(w: &[f64], y: &[i8], h: &mut [i8]) -> Met {
    let part = |((h, y), w): ((&mut [i8], &[i8]), &[f64])| {
        let (mut sum, mut room, mut terms) = (Met::default(), [0.0; NEAR], [[0.0; NEAR]; 4]);
        for ((h, y), w) in h.chunks_mut(NEAR).zip(y.chunks(NEAR)).zip(w.chunks(NEAR)) {
            for (h, y) in h.iter_mut().zip(y) {
                *h *= -y;
            }
            sum = sum.add(widely(
                #[inline(always)]
                || sums(w, i8::numbers(h, &mut room), &mut terms),
            ));
        }
        sum
    };
    let parts: Vec<Met> = if w.len() < chunks::WORTH {
        h.chunks_mut(ROWS).zip(y.chunks(ROWS)).zip(w.chunks(ROWS)).map(part).collect()
    } else {
        let parts = h.par_chunks_mut(ROWS).zip(y.par_chunks(ROWS));
        parts.zip(w.par_chunks(ROWS)).map(part).collect()
    };
    parts.into_iter().fold(Met::default(), Met::add)
}

#[inline(always)] // where it is called is compiled for wide vectors
fn sums(w: &[f64], m: &[f64], room: &mut [[f64; NEAR]; 4]) -> Met {
    let [terms, bends, tilts, twists] = &mut *room;
    let into = terms.iter_mut().zip(bends).zip(tilts.iter_mut().zip(twists));
    for ((&w, &m), ((term, bend), (tilt, twist))) in w.iter().zip(m).zip(into) {
        let p = w - w * w;
        *term = m * w;
        *bend = p;
        *tilt = m * (p * (1.0 - 2.0 * w));
        *twist = p * (1.0 - 6.0 * p);
    }
    let [g, bend, tilt, twist] = room.each_ref().map(|all| chunks::sum(&all[..w.len()]));
    let (sum, sides) = (chunks::sum(w), chunks::sum(m));
    Met { g, bend, tilt, twist, sum, sides, rows: w.len() as f64 }
}

impl Met {
    fn add(self, other: Self) -> Self {
        Self {
            g: self.g + other.g,
            bend: self.bend + other.bend,
            tilt: self.tilt + other.tilt,
            twist: self.twist + other.twist,
            sum: self.sum + other.sum,
            sides: self.sides + other.sides,
            rows: self.rows + other.rows,
        }
    }

    /// Is the feature wrong somewhere, and right somewhere?
    pub(super) fn mixed(&self) -> bool {
        self.sides.abs() < self.rows
    }

    /// The edge.
    pub(super) fn edge(&self) -> Edge {
        Edge { g: self.g, norm: self.rows, largest: 1.0, sum: self.sum }
    }

    /// Where the search for the leverage begins.
    pub(super) fn start(&self) -> Start {
        let here = Slope { g: self.g, curvature: self.bend, scale: self.sum };
        let newton = -self.g / self.bend;
        let (second, third) = (0.5 * self.tilt / self.bend, self.twist / (6.0 * self.bend));
        let bent = -second * newton + (2.0 * second * second - third) * newton * newton;
        // A series that has not converged says nothing.
        let guess = if bent.abs() < 0.5 { newton + bent * newton } else { newton };
        Start { here, guess }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boost::line;
    use crate::boost::surrogate::{EntropyPsi, Psi, Surrogate};
    use crate::laws::Sampler;

    #[test]
    fn the_start_is_near_the_root() {
        let mut s = Sampler::new(8);
        let rows = 3 * ROWS + 5;
        let u: Vec<f64> = (0..rows).map(|_| s.normal()).collect();
        let w: Vec<f64> = u.iter().map(|u| EntropyPsi.weight(*u)).collect();
        let e: Vec<f64> = u.iter().map(|u| crate::Real::exp(-u)).collect();
        let y: Vec<i8> = (0..rows).map(|_| if s.normal() > 0.0 { 1 } else { -1 }).collect();
        let h: Vec<i8> = y.iter().map(|y| if s.normal() > -0.3 { *y } else { -*y }).collect();
        let mut m = h.clone();
        let met = meet(&w, &y, &mut m);
        assert!(m.iter().zip(&h).zip(&y).all(|((m, h), y)| *m == -y * h));
        let values: Vec<f64> = m.iter().map(|m| f64::from(*m)).collect();
        let g: f64 = values.iter().zip(&w).map(|(m, w)| m * w).sum();
        assert!((met.edge().g - g).abs() <= 1e-12 * met.edge().sum && met.mixed());
        let c = vec![1.0; rows];
        let known = line::Known { e: &e, ones: true };
        let quick = line::leverage_of_signs(&u, &m, &c, known, met.start()).unwrap();
        let loss = Surrogate::parse("logistic").unwrap();
        let plain = line::leverage(&loss, &u, &values, &c, line::Separable::Cap).unwrap();
        assert!((quick.delta - plain.delta).abs() <= 1e-11 * plain.delta.abs());
        assert!(quick.residual < 1e-12 && quick.evaluations < plain.evaluations, "{quick:?}");
        let there = u.iter().zip(&values).map(|(u, m)| m * EntropyPsi.weight(u + quick.delta * m));
        assert!(there.sum::<f64>().abs() <= 1e-12 * met.sum);
        // Nearer than Newton's step from 0.
        let newton = -met.g / met.bend - plain.delta;
        assert!((met.start().guess - plain.delta).abs() < 0.2 * newton.abs());
    }

    #[test]
    fn a_feature_that_never_errs_is_not_mixed() {
        for right in [1, -1] {
            let y = [1, -1, 1, 1, -1];
            let mut h = y.map(|y| y * right);
            assert!(!meet(&[0.5; 5], &y, &mut h).mixed());
            assert_eq!(h, [-right; 5]);
        }
    }
}
