//! # The state of a booster
//! The scores $u_i = -y_i H(o_i)$ of all examples, their weights w(u) for the loss in use, the risk Σ c ψ(−u), and the record of each round.
//!
//! **Progress** For a step Δu to the minimum along features, with new weights w′, the Bregman–Pythagoras identity in its Fenchel–Young form holds:
//! $$\varepsilon(u) - \varepsilon(u + \Delta u) = \sum_i c_i\,[\tilde\psi(w'_i) + \psi(-u_i) - w'_i u_i]$$
//! Each round computes both sides; [`Round::slip`] is their difference divided by ε(u). The form with divergences D(w′‖w) fails where a loss
//! saturates; this one does not.
//!
//! **Guarantee** with $a = \inf\tilde\psi''$ and edge $g = \sum c\,m\,w$: the risk falls by at least $\tfrac a2 g^2/\sum cm^2$, with equality for the squared
//! loss; for the exponential loss to at most $\varepsilon\sqrt{1 - (\gamma/\max|m|)^2}$, $\gamma = g/\sum cw$.
//! **Care** u is moved, never recovered from w; it is recomputed from the leverages every [`REFRESH`] rounds.
//! **Source** \[NN09, eq. (74), (75), (86), (89)\], as corrected.

use rayon::prelude::*;

use super::chunks::{self, ROWS};
use super::line::{Known, MILD, Move, Outcome, Turn, filled};
use super::logistic::{self, Moved, Rows};
use super::surrogate::{Psi, Surrogate, with_psi};
use crate::Real;

/// Rounds after which the scores are recomputed from the leverages.
pub const REFRESH: usize = 64;

/// What happened in one round. Risks are normalised: 1 before the first round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Round {
    /// From 1.
    pub round: usize,
    /// Which loss of the bag made the step (0 if there is one).
    pub loss: usize,
    /// The feature; of several the one with the largest guaranteed decrease.
    pub feature: usize,
    /// The normalised edge Σ c w y h / Σ c|w|, in [−1, 1] for |h| ≤ 1.
    pub edge: f64,
    /// Σ c m² of the feature, divided by Σ c.
    pub norm: f64,
    /// max |m| of the feature.
    pub largest: f64,
    /// The sum of the weights, Σ c|w|/Σ c; for the exponential loss divided by the risk, so 1.
    pub weight: f64,
    /// The leverage δ of the feature.
    pub leverage: f64,
    /// How the step ended.
    pub outcome: Outcome,
    /// The scaled residual.
    pub residual: f64,
    /// Average normalised loss before the step.
    pub before: f64,
    /// Average normalised loss after the step: no less than the training error.
    pub surrogate: f64,
    /// The least decrease of it that theory promises.
    pub guaranteed: f64,
    /// How far the step is from the Bregman–Pythagoras identity, relative to `before`; about 0 unless the step was capped.
    pub slip: f64,
    /// Weighted training error after the step, where a score of 0 means the positive class.
    pub error: f64,
}

/// Scores, weights, risk.
#[derive(Debug, Clone)]
pub(crate) struct State<'a> {
    pub(crate) y: &'a [f64],
    pub(crate) c: &'a [f64],
    pub(crate) u: Vec<f64>,
    /// w(u − shift) for the loss of the last [`State::weigh`] or [`State::advance`].
    pub(crate) w: Vec<f64>,
    /// Σc.
    pub(crate) total: f64,
    shift: f64,
    /// Σ c ψ(−(u − shift)).
    risk: f64,
    /// e^−u, where the loss is logistic, its numbers neither overflow nor underflow, and every c is 1; else empty.
    e: Vec<f64>,
    /// y in one byte each, where every c is 1; else empty.
    signs: Vec<i8>,
    /// How many examples are on the wrong side, where that is known and every c is 1.
    wrong: Option<f64>,
    /// |Σ m w|/Σ|m| w after the last step, where that was along one feature and is known.
    pub(crate) residual: Option<f64>,
}

/// A step along one feature.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Along<'m, M> {
    /// The feature.
    pub(crate) m: &'m [M],
    pub(crate) delta: f64,
    /// s where it is ±s or 0.
    pub(crate) size: Option<f64>,
}

/// Scores, weights, changes and given weights of some rows.
type Part<'a> = (((&'a [f64], &'a mut [f64]), &'a [f64]), &'a [f64]);

/// Scores, weights, e^−u and labels of some rows.
type Chunk<'a> = (((&'a mut [f64], &'a mut [f64]), &'a mut [f64]), &'a [i8]);

/// The edge of a feature before a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    /// Σ c m w, with the sign of −edge.
    pub(crate) g: f64,
    /// Σ c m².
    pub(crate) norm: f64,
    /// max |m|.
    pub(crate) largest: f64,
    /// Σ c|w|.
    pub(crate) sum: f64,
}

impl Edge {
    /// The least decrease of the risk, divided by the risk's scale.
    pub(crate) fn guaranteed(&self, loss: &Surrogate, state: &State<'_>) -> f64 {
        if self.norm == 0.0 || self.g == 0.0 {
            return 0.0;
        }
        if loss.is_exponential() {
            let gamma = Real::min(self.g.abs() / (self.sum * self.largest), 1.0);
            return state.normalised(loss) * (1.0 - (1.0 - gamma * gamma).sqrt());
        }
        let decrease = 0.5 * loss.curvature_floor() * self.g * (self.g / self.norm);
        decrease / (state.total * loss.scale())
    }
}

impl<'a> State<'a> {
    /// All scores 0.
    pub(crate) fn new(y: &'a [f64], c: &'a [f64]) -> Self {
        let zeros = vec![0.0; y.len()];
        let ones = c.iter().all(|c| *c == 1.0);
        let sign = |y: &f64| if *y < 0.0 { -1 } else { 1 };
        Self {
            y,
            c,
            u: zeros.clone(),
            w: zeros,
            total: c.iter().sum(),
            shift: 0.0,
            risk: 0.0,
            e: Vec::new(),
            signs: if ones { y.iter().map(sign).collect() } else { Vec::new() },
            wrong: None,
            residual: None,
        }
    }

    /// What is known of the logistic loss beforehand.
    pub(crate) fn known(&self) -> Option<Known<'_>> {
        (!self.e.is_empty()).then_some(Known { e: &self.e, ones: true })
    }

    /// The labels in one byte each, if every weight of an example is 1.
    pub(crate) fn signs(&self) -> &[i8] {
        &self.signs
    }

    /// Weights and risk of the current scores for a loss.
    pub(crate) fn weigh(&mut self, loss: &Surrogate) {
        self.wrong = None;
        self.e.clear();
        let mild = |u: &f64| u.abs() <= MILD.0;
        if loss.is_logistic() && !self.signs.is_empty() && self.u.iter().all(mild) {
            self.e.resize(self.u.len(), 0.0);
            self.shift = 0.0;
            let sum = self.rows(&[], |rows, _: &[i8]| logistic::begin(rows));
            (self.risk, self.wrong) = (sum.risk, Some(sum.wrong));
            return;
        }
        self.shift = loss.weights(&self.u, &mut self.w);
        let shift = self.shift;
        self.risk = with_psi!(loss, psi => {
            self.u.iter().zip(self.c).map(|(&u, &c)| c * psi.risk(u - shift)).sum()
        });
    }

    /// The sums of `part` over chunks of rows, and of a feature unless that is empty.
    fn rows<M: Move>(
        &mut self,
        m: &[M],
        part: impl Fn(Rows<'_>, &[M]) -> Moved + Send + Sync,
    ) -> Moved {
        let rows = self.u.len();
        let chunk = |(k, (((u, w), e), y)): (usize, Chunk<'_>)| {
            let range = (k * ROWS).min(m.len())..((k + 1) * ROWS).min(m.len());
            part(Rows { u, w, e, y }, &m[range])
        };
        let parts: Vec<Moved> = if rows < chunks::WORTH {
            let parts = self.u.chunks_mut(ROWS).zip(self.w.chunks_mut(ROWS));
            let parts = parts.zip(self.e.chunks_mut(ROWS)).zip(self.signs.chunks(ROWS));
            parts.enumerate().map(chunk).collect()
        } else {
            let parts = self.u.par_chunks_mut(ROWS).zip(self.w.par_chunks_mut(ROWS));
            let parts = parts.zip(self.e.par_chunks_mut(ROWS)).zip(self.signs.par_chunks(ROWS));
            parts.enumerate().map(chunk).collect()
        };
        parts.into_iter().fold(Moved::default(), Moved::add)
    }

    /// Average normalised loss.
    pub(crate) fn normalised(&self, loss: &Surrogate) -> f64 {
        let average = self.risk / (self.total * loss.scale());
        if self.shift == 0.0 { average } else { Real::exp(self.shift + Real::ln(average)) }
    }

    /// The edge of the feature m.
    pub(crate) fn edge(&self, m: &[f64]) -> Edge {
        let (mut g, mut norm, mut sum, mut largest) = ([0.0; 4], [0.0; 4], [0.0; 4], [0.0; 4]);
        let mut four = |m: &[f64; 4], w: &[f64; 4], c: &[f64; 4]| {
            for k in 0..4 {
                g[k] += c[k] * m[k] * w[k];
                norm[k] += c[k] * m[k] * m[k];
                sum[k] += c[k] * w[k].abs();
                largest[k] = if m[k].abs() > largest[k] { m[k].abs() } else { largest[k] };
            }
        };
        let ((m4, m1), (w4, w1)) = (m.as_chunks(), self.w.as_chunks());
        let (c4, c1) = self.c.as_chunks();
        for ((m, w), c) in m4.iter().zip(w4).zip(c4) {
            four(m, w, c);
        }
        four(&filled(m1, 0.0), &filled(w1, 0.0), &filled(c1, 0.0));
        let all = |[a, b, c, d]: [f64; 4]| (a + b) + (c + d);
        let largest = largest.into_iter().fold(0.0, Real::max);
        Edge { g: all(g), norm: all(norm), largest, sum: all(sum) }
    }

    /// [`State::advance`] along one feature: the logistic loss needs no exponential then. `change` is memory for the other losses.
    pub(crate) fn advance_along<M: Move>(
        &mut self,
        loss: &Surrogate,
        along: Along<'_, M>,
        change: &mut [f64],
    ) -> f64 {
        let far = along.size.map_or(f64::INFINITY, |size| along.delta * size);
        if self.e.is_empty() || !loss.is_logistic() || far.is_nan() || far.abs() > MILD.1 {
            for (change, &m) in change.iter_mut().zip(along.m) {
                *change = along.delta * m.into();
            }
            return self.advance(loss, change);
        }
        let turn = Turn::new(far);
        let before = self.risk;
        let sum = self.rows(along.m, |rows, m| logistic::advance(rows, m, along.delta, turn));
        (self.risk, self.wrong) = (sum.risk, Some(sum.wrong));
        self.residual = Some(sum.edge.abs() / sum.scale);
        if sum.farthest > MILD.0 {
            self.e.clear();
        }
        ((-sum.risk - sum.young) / before).abs()
    }

    /// Moves the scores by `change` and weighs the examples anew; how far the step was from the identity.
    pub(crate) fn advance(&mut self, loss: &Surrogate, change: &[f64]) -> f64 {
        for (u, &change) in self.u.iter_mut().zip(change) {
            *u += change;
        }
        self.e.clear();
        (self.wrong, self.residual) = (None, None);
        let shift = loss.shift(self.u.iter().copied());
        let before =
            if shift == self.shift { self.risk } else { self.risk * Real::exp(self.shift - shift) };
        let (risk, young) = with_psi!(loss, psi => {
            let part = |(((u, w), change), c): Part<'_>| {
                let (mut risk, mut young) = (0.0, 0.0);
                for (((&u, w), &change), &c) in u.iter().zip(w).zip(change).zip(c) {
                    let u = u - shift;
                    let (value, weight, dual) = psi.all(u);
                    *w = weight;
                    risk += c * value;
                    young += c * (dual - weight * (u - change));
                }
                (risk, young)
            };
            let parts: Vec<(f64, f64)> = if self.u.len() < chunks::WORTH {
                let parts = self.u.chunks(ROWS).zip(self.w.chunks_mut(ROWS));
                parts.zip(change.chunks(ROWS)).zip(self.c.chunks(ROWS)).map(part).collect()
            } else {
                let parts = self.u.par_chunks(ROWS).zip(self.w.par_chunks_mut(ROWS));
                let parts = parts.zip(change.par_chunks(ROWS)).zip(self.c.par_chunks(ROWS));
                parts.map(part).collect()
            };
            parts.into_iter().fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1))
        });
        (self.shift, self.risk) = (shift, risk);
        // decrease = before − risk, and Σ[…] = before + young.
        ((-risk - young) / before).abs()
    }

    /// Divides the leverages and all scores by max(1, Σ|α|), if the loss wants that; by what they were multiplied.
    pub(crate) fn renormalise(&mut self, loss: &Surrogate, alpha: &mut [f64]) -> f64 {
        let size: f64 = alpha.iter().map(|alpha| alpha.abs()).sum();
        if !loss.renormalises() || size <= 1.0 {
            return 1.0;
        }
        let factor = 1.0 / size;
        for x in alpha.iter_mut().chain(&mut self.u) {
            *x *= factor;
        }
        self.weigh(loss);
        factor
    }

    /// Weighted share of examples on the wrong side; a score of 0 is positive.
    #[expect(clippy::needless_bitwise_bool, reason = "branches that nobody could predict")]
    pub(crate) fn error(&self) -> f64 {
        if let Some(wrong) = self.wrong {
            return wrong / self.total;
        }
        let mut wrong = 0.0;
        for ((&u, &y), &c) in self.u.iter().zip(self.y).zip(self.c) {
            wrong += if (u > 0.0) | ((u == 0.0) & (y < 0.0)) | u.is_nan() { c } else { 0.0 };
        }
        wrong / self.total
    }
}
