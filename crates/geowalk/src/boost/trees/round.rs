//! # A run of rounds
//! Scores, slopes and losses of all rows, and what one round does to them. Rows with weight 0 in a run are
//! held out: their scores are kept, and nothing is learned from them.

use rayon::prelude::*;

use super::grow::{Grower, Grown, Limits};
use super::histogram::Units;
use super::loss::{NumberLoss, Slopes, TreeLoss, quantile};
use super::model::{AdditiveTrees, ScoreTree, TreeNode};
use super::{LeafStep, Shape, TreeBooster, TreeData};
use crate::Real;
use crate::boost::chunks::{ROWS, fold};
use crate::sampler::Sampler;

/// What a round did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TreeRound {
    /// Which, from 1.
    pub round: usize,
    /// The mean training loss before it.
    pub before: f64,
    /// The mean training loss after it: measured on all rows.
    pub risk: f64,
    /// The share of training rows on the wrong side, of classes; NaN for numbers.
    pub error: f64,
    /// Leaves of its trees.
    pub leaves: usize,
    /// Steps that were halved because the risk rose.
    pub halved: usize,
}

/// How often a step is halved before it is given up.
const HALVINGS: usize = 40;

/// Passes of the exact leaf step at most.
const PASSES: usize = 100;

/// Rounding of sums: a risk rose if it grew by more than this part.
const ROUNDING: f64 = 1e-12;

/// Sums over the training rows of a leaf.
#[derive(Debug, Clone, Copy, Default)]
struct LeafSums {
    g: f64,
    h: f64,
    rows: f64,
    /// Rows of the class, or Σy.
    own: f64,
    loss: f64,
}

impl LeafSums {
    fn add(&mut self, other: &Self) {
        self.g += other.g;
        self.h += other.h;
        self.rows += other.rows;
        self.own += other.own;
        self.loss += other.loss;
    }
}

pub(super) struct Run<'a> {
    booster: &'a TreeBooster,
    data: &'a TreeData<'a>,
    outputs: usize,
    /// Weights in this run; 0 where rows are held out.
    c: Vec<f64>,
    total: f64,
    pub(super) scores: Vec<f64>,
    next: Vec<f64>,
    g: Vec<f64>,
    h: Vec<f64>,
    /// Of each row, at its present scores.
    pub(super) loss: Vec<f64>,
    /// Of each output and row.
    leaf_of: Vec<u16>,
    growers: Vec<Grower<'a>>,
    pub(super) model: AdditiveTrees,
    pub(super) round: usize,
    risk: f64,
    rows: u64,
}

impl<'a> Run<'a> {
    /// A run on the rows that are not held out.
    pub(super) fn new(
        booster: &'a TreeBooster,
        data: &'a TreeData<'a>,
        held: &dyn Fn(usize) -> bool,
    ) -> Self {
        let (n, outputs) = (data.y.len(), booster.loss.outputs());
        let weight = |row| if held(row) { 0.0 } else { data.weights[row] };
        let c: Vec<f64> = (0..n).map(weight).collect();
        let start = booster.loss.start(data.y, &c);
        let scores: Vec<f64> = (0..n).flat_map(|_| start.iter().copied()).collect();
        let (count, each) = if booster.vector {
            (1, outputs)
        } else {
            (rayon::current_num_threads().min(outputs).max(1), 1)
        };
        let growers = (0..count).map(|_| Grower::new(&data.binned, &data.panels, each)).collect();
        let rows =
            (0..n).filter(|row| c[*row] > 0.0).map(|row| u64::from(data.count(row))).sum::<u64>();
        let model = AdditiveTrees {
            loss: booster.loss.clone(),
            start,
            trees: Vec::new(),
            columns: data.binned.columns().len(),
            scale: 1.0,
            rows: rows as f64,
        };
        let mut run = Self {
            booster,
            data,
            outputs,
            total: c.iter().sum(),
            c,
            next: scores.clone(),
            scores,
            g: vec![0.0; n * outputs],
            h: vec![0.0; n * outputs],
            loss: vec![0.0; n],
            leaf_of: vec![0; n * outputs],
            growers,
            model,
            round: 0,
            risk: 0.0,
            rows,
        };
        run.slopes();
        run.risk = run.mean_loss();
        run
    }

    /// Starts from other scores.
    #[cfg(test)]
    pub(super) fn begin_at(&mut self, scores: &[f64]) {
        self.next.copy_from_slice(scores);
        self.scores.copy_from_slice(scores);
        self.slopes();
        self.risk = self.mean_loss();
    }

    /// Slopes, curvatures and losses at the scores in `next`.
    fn slopes(&mut self) {
        let (k, loss) = (self.outputs, &self.booster.loss);
        let rows = self.next.par_chunks(ROWS * k).zip(self.data.y.par_chunks(ROWS));
        let out = self.loss.par_chunks_mut(ROWS).zip(self.g.par_chunks_mut(ROWS * k));
        let out = out.zip(self.h.par_chunks_mut(ROWS * k));
        rows.zip(out).for_each(|((scores, y), ((into, g), h))| {
            loss.wide_rows(scores, y, &mut Slopes { loss: into, g, curvature: h });
        });
    }

    fn mean_loss(&self) -> f64 {
        let sum = fold(
            self.c.len(),
            |rows| {
                let own = self.c[rows.clone()].iter().zip(&self.loss[rows]);
                own.map(|(c, loss)| if *c > 0.0 { c * loss } else { 0.0 }).sum::<f64>()
            },
            0.0,
            |a, b| a + b,
        );
        sum / Real::max(self.total, f64::MIN_POSITIVE)
    }

    /// The share of training rows whose class is not predicted.
    fn error(&self) -> f64 {
        let (k, y) = (self.outputs, self.data.y);
        let wrong = |row: usize| match self.booster.loss {
            TreeLoss::Margin(_) => (self.scores[row] >= 0.0) != (y[row] > 0.0),
            TreeLoss::Softmax(_) => {
                let own = &self.scores[row * k..][..k];
                crate::boost::multiclass::largest(own) as f64 != y[row]
            }
            TreeLoss::Number(_) => false,
        };
        if let TreeLoss::Number(_) = self.booster.loss {
            return f64::NAN;
        }
        let sum = fold(
            self.c.len(),
            |rows| rows.filter(|row| wrong(*row)).map(|row| self.c[row]).sum::<f64>(),
            0.0,
            |a, b| a + b,
        );
        sum / Real::max(self.total, f64::MIN_POSITIVE)
    }

    /// Rows whose structure the trees of this round are found on, and the others.
    fn sample(&mut self) {
        let share = self.booster.rows;
        let key = mix(self.booster.seed ^ mix(self.round as u64 + 1));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
        let limit = (share * (1_u64 << 53) as f64) as u64;
        let Self { growers, c, rows, booster, .. } = self;
        let few = share < 1.0 && (*rows as f64) * share < 2.0 * booster.least_rows as f64;
        let Some((first, others)) = growers.split_first_mut() else { return };
        first.fit.clear();
        first.ride.clear();
        for (row, c) in (0_u32..).zip(c) {
            let drawn = share >= 1.0 || few || mix(key ^ u64::from(row)) >> 11 < limit;
            if *c > 0.0 && drawn {
                first.fit.push(row);
            } else {
                first.ride.push(row);
            }
        }
        for other in others {
            other.fit.clone_from(&first.fit);
            other.ride.clone_from(&first.ride);
        }
    }

    /// The trees of a round, without values.
    fn grow(&mut self) -> Vec<Vec<Grown>> {
        let (n, k) = (self.c.len(), self.outputs);
        let rule = self.booster.shape == Shape::Rules;
        let limits = Limits {
            // A rule leaves one leaf behind with each of its tests.
            leaves: if rule { self.booster.depth + 1 } else { self.booster.leaves },
            depth: self.booster.depth,
            lambda: self.booster.lambda,
            least_rows: self.booster.least_rows,
            columns: self.booster.columns,
            effective: self.booster.effective,
            // Slopes of numbers have the scale of the labels.
            least_gain: match self.booster.loss {
                TreeLoss::Number(_) => {
                    let most = self.g.iter().fold(0.0, |most: f64, g| Real::max(most, g.abs()));
                    1e-9 * most * most
                }
                _ => 1e-9,
            },
            rule,
            monotone: &self.booster.monotone,
            groups: &self.data.groups,
        };
        let draw = mix(self.booster.seed.wrapping_add(0x6a09) ^ mix(self.round as u64 + 1));
        let (c, g, h, data) = (&self.c, &self.g, &self.h, self.data);
        let ready = |grower: &mut Grower<'a>, at: usize, from: usize| {
            let (mut most_g, mut most_h, mut rows) = (0.0, 0.0, 0);
            for row in &grower.fit {
                let row = *row as usize;
                most_g = Real::max(most_g, (c[row] * g[row * k + at]).abs());
                most_h = Real::max(most_h, c[row] * h[row * k + at]);
                rows += u64::from(data.count(row));
            }
            let units = Units::new(most_g, most_h, rows);
            for row in &grower.fit {
                let row = *row as usize;
                let (g, h) = (c[row] * g[row * k + at], c[row] * h[row * k + at]);
                grower.cells[from + row] = units.cell(g, h, data.count(row));
            }
            units
        };
        let one = |grower: &mut Grower<'a>, at: usize, leaf_of: &mut [u16]| {
            let units = ready(grower, at, 0);
            let mut sampler = Sampler::new(draw ^ at as u64);
            grower.grow(&[units], limits, &mut sampler, leaf_of)
        };
        if k == 1 {
            vec![one(&mut self.growers[0], 0, &mut self.leaf_of)]
        } else if self.booster.vector {
            let grower = &mut self.growers[0];
            let units: Vec<Units> = (0..k).map(|at| ready(grower, at, at * n)).collect();
            let mut sampler = Sampler::new(draw);
            let grown = grower.grow(&units, limits, &mut sampler, &mut self.leaf_of[..n]);
            (1..k).for_each(|at| self.leaf_of.copy_within(..n, at * n));
            vec![grown; k]
        } else {
            // Output by output, in as many growers as there are threads; sums are exact, so it does not
            // matter in which.
            let mut all: Vec<(usize, &mut [u16], Vec<Grown>)> =
                self.leaf_of.chunks_mut(n).enumerate().map(|(at, own)| (at, own, vec![])).collect();
            let share = k.div_ceil(self.growers.len());
            let parts = all.par_chunks_mut(share).zip(&mut self.growers);
            parts.for_each(|(part, grower)| {
                let (fit, ride) = (grower.fit.clone(), grower.ride.clone());
                for (at, leaf_of, into) in part {
                    grower.fit.clone_from(&fit);
                    grower.ride.clone_from(&ride);
                    *into = one(grower, *at, leaf_of);
                }
            });
            all.into_iter().map(|(.., grown)| grown).collect()
        }
    }

    /// One round.
    pub(super) fn step(&mut self) -> TreeRound {
        self.sample();
        let before = self.risk;
        let grown = self.grow();
        let counts: Vec<usize> =
            grown.iter().map(|nodes| nodes.iter().filter(|n| n.branch.is_none()).count()).collect();
        let (mut steps, mut sums) = (Vec::new(), Vec::new());
        for (at, leaves) in counts.iter().enumerate() {
            let own = self.sums(at, *leaves);
            steps.push(self.values(at, &own));
            sums.push(own);
        }
        if self.booster.vector && self.outputs > 1 {
            self.together(&sums, &mut steps);
        }
        for (steps, nodes) in steps.iter_mut().zip(&grown) {
            for node in nodes.iter().filter(|node| node.branch.is_none()) {
                let (least, most) = node.bounds;
                steps[node.leaf] = steps[node.leaf].clamp(least, most);
            }
        }
        for step in steps.iter_mut().flatten() {
            *step *= self.booster.rate;
        }
        let halved = self.advance(&mut steps, &sums);
        self.round += 1;
        for (at, nodes) in grown.into_iter().enumerate() {
            let node = |node: Grown| {
                let is_leaf = node.branch.is_none();
                TreeNode {
                    value: if is_leaf { steps[at][node.leaf] } else { 0.0 },
                    rows: if is_leaf { sums[at][node.leaf].rows } else { 0.0 },
                    own: if is_leaf { sums[at][node.leaf].own } else { 0.0 },
                    branch: node.branch,
                }
            };
            let nodes = nodes.into_iter().map(node).collect();
            self.model.trees.push(ScoreTree { output: at, nodes });
        }
        let leaves = counts.iter().sum();
        TreeRound {
            round: self.round,
            before,
            risk: self.risk,
            error: self.error(),
            leaves,
            halved,
        }
    }

    /// Sums over the training rows of each leaf of an output's tree.
    fn sums(&self, at: usize, leaves: usize) -> Vec<LeafSums> {
        let (n, k) = (self.c.len(), self.outputs);
        let leaf_of = &self.leaf_of[at * n..][..n];
        let own = |row: usize| match self.booster.loss {
            TreeLoss::Margin(_) => f64::from(u8::from(self.data.y[row] > 0.0)),
            TreeLoss::Softmax(_) => f64::from(u8::from(self.data.y[row] == at as f64)),
            TreeLoss::Number(_) => self.data.y[row],
        };
        self.fold(leaves, |row, sums| {
            let (c, sums) = (self.c[row], &mut sums[usize::from(leaf_of[row])]);
            sums.g += c * self.g[row * k + at];
            sums.h += c * self.h[row * k + at];
            sums.rows += c;
            sums.own += c * own(row);
            sums.loss += c * self.loss[row];
        })
    }

    /// Adds up training rows by leaf, chunk by chunk.
    fn fold(
        &self,
        leaves: usize,
        add: impl Fn(usize, &mut [LeafSums]) + Sync + Send,
    ) -> Vec<LeafSums> {
        let part = |rows: std::ops::Range<usize>| {
            let mut sums = vec![LeafSums::default(); leaves];
            for row in rows {
                if self.c[row] > 0.0 {
                    add(row, &mut sums);
                }
            }
            sums
        };
        fold(self.c.len(), part, vec![LeafSums::default(); leaves], |mut all, part| {
            all.iter_mut().zip(&part).for_each(|(all, part)| all.add(part));
            all
        })
    }

    /// The full step of each leaf.
    fn values(&self, at: usize, sums: &[LeafSums]) -> Vec<f64> {
        let lambda = self.booster.lambda;
        let newton = |sums: &LeafSums| {
            let d = sums.g / (sums.h + lambda);
            if d.is_finite() { d } else { 0.0 }
        };
        match &self.booster.loss {
            TreeLoss::Number(NumberLoss::Absolute) => self.residuals(at, 0.5, sums.len()),
            TreeLoss::Number(NumberLoss::Quantile(tau)) => self.residuals(at, *tau, sums.len()),
            TreeLoss::Number(NumberLoss::Poisson) => {
                // Σμ = Σy − Σg.
                let mean = |s: &LeafSums| {
                    let d = Real::ln((s.own + lambda) / (s.own - s.g + lambda));
                    if d.is_finite() { d } else { 0.0 }
                };
                sums.iter().map(mean).collect()
            }
            TreeLoss::Number(NumberLoss::Huber(_)) => self.exact(sums),
            TreeLoss::Number(NumberLoss::Squared) => sums.iter().map(newton).collect(),
            TreeLoss::Margin(_) if self.booster.leaf == LeafStep::Exact => self.exact(sums),
            _ if self.booster.leaf == LeafStep::Kl => {
                let kappa = self.booster.kappa;
                let step = |s: &LeafSums| {
                    // Rows of the class and of others; what is expected of them.
                    let (yes, no) = (s.own, s.rows - s.own);
                    let (p, q) = (yes - s.g, no + s.g);
                    let d = Real::ln((yes + kappa) / (no + kappa))
                        - Real::ln((p + kappa) / (q + kappa));
                    if d.is_finite() { d } else { newton(s) }
                };
                sums.iter().map(step).collect()
            }
            _ => sums.iter().map(newton).collect(),
        }
    }

    /// The steps of leaves that vote for all classes at once: of the majoriser diag(P) − PPᵀ/n of their
    /// curvature, or the logarithms of counts to what was expected.
    fn together(&self, sums: &[Vec<LeafSums>], steps: &mut [Vec<f64>]) {
        let (lambda, kappa) = (self.booster.lambda, self.booster.kappa);
        for leaf in 0..steps[0].len() {
            let expected = |k: usize| Real::max(0.0, sums[k][leaf].own - sums[k][leaf].g);
            if self.booster.leaf == LeafStep::Kl {
                for (k, steps) in steps.iter_mut().enumerate() {
                    let d = Real::ln((sums[k][leaf].own + kappa) / (expected(k) + kappa));
                    steps[leaf] = if d.is_finite() { d } else { 0.0 };
                }
                continue;
            }
            let (mut across, mut within) = (0.0, 0.0);
            for (k, sums) in sums.iter().enumerate() {
                let p = expected(k);
                across += p * sums[leaf].g / (p + lambda);
                within += p * p / (p + lambda);
            }
            let rest = sums[0][leaf].rows - within;
            let shift = if rest > 0.0 { across / rest } else { 0.0 };
            for (k, steps) in steps.iter_mut().enumerate() {
                let p = expected(k);
                let d = (sums[k][leaf].g + p * shift) / (p + lambda);
                steps[leaf] = if d.is_finite() { d } else { 0.0 };
            }
        }
    }

    /// Quantiles of the residuals of each leaf.
    fn residuals(&self, at: usize, tau: f64, leaves: usize) -> Vec<f64> {
        let n = self.c.len();
        let mut all = vec![Vec::new(); leaves];
        for (row, leaf) in self.leaf_of[at * n..][..n].iter().enumerate() {
            if self.c[row] > 0.0 {
                let residual = self.data.y[row] - self.scores[row];
                all[usize::from(*leaf)].push((residual, self.c[row]));
            }
        }
        all.par_iter_mut().map(|own| quantile(own, tau)).collect()
    }

    /// The minimisers of the leaves' risks and ridges, by Newton steps in brackets; all leaves share each
    /// pass.
    fn exact(&self, sums: &[LeafSums]) -> Vec<f64> {
        struct Root {
            lo: f64,
            hi: f64,
            d: f64,
            done: bool,
        }
        let lambda = self.booster.lambda;
        let cap = match &self.booster.loss {
            #[expect(clippy::cast_possible_truncation, reason = "a number of rows")]
            TreeLoss::Margin(loss) => 4.0 * loss.cap(self.rows as usize),
            _ => f64::INFINITY,
        };
        let root = |s: &LeafSums| {
            let d = s.g / (s.h + lambda);
            let done = s.g == 0.0 || s.rows == 0.0;
            let d = if done {
                0.0
            } else if d.is_finite() {
                d
            } else {
                s.g.signum()
            };
            let (lo, hi) = if s.g > 0.0 { (0.0, f64::INFINITY) } else { (f64::NEG_INFINITY, 0.0) };
            Root { lo, hi, d: d.clamp(-cap, cap), done }
        };
        let mut roots: Vec<Root> = sums.iter().map(root).collect();
        for _ in 0..PASSES {
            if roots.iter().all(|root| root.done) {
                break;
            }
            let probe = self.fold(roots.len(), |row, sums| {
                let leaf = usize::from(self.leaf_of[row]);
                if roots[leaf].done {
                    return;
                }
                let (mut loss, mut g, mut h) = ([0.0], [0.0], [0.0]);
                let mut out = Slopes { loss: &mut loss, g: &mut g, curvature: &mut h };
                let score = [self.scores[row] + roots[leaf].d];
                self.booster.loss.rows(&score, &self.data.y[row..=row], &mut out);
                let inside = match self.booster.loss {
                    TreeLoss::Number(NumberLoss::Huber(delta)) => g[0].abs() < delta,
                    _ => true,
                };
                let sums = &mut sums[leaf];
                sums.g += self.c[row] * g[0];
                sums.h += if inside { self.c[row] * h[0] } else { 0.0 };
                sums.own += self.c[row] * g[0].abs();
            });
            for (root, sums) in roots.iter_mut().zip(&probe).filter(|(root, _)| !root.done) {
                let slope = sums.g - lambda * root.d;
                let size = sums.own + lambda * root.d.abs();
                if slope > 0.0 {
                    root.lo = root.d;
                } else {
                    root.hi = root.d;
                }
                let at_cap = root.d.abs() >= cap && (slope > 0.0) == (root.d > 0.0);
                if slope.abs() <= 1e-13 * size
                    || at_cap
                    || root.hi - root.lo <= 1e-14 * root.d.abs()
                {
                    root.done = true;
                    continue;
                }
                let newton = root.d + slope / (sums.h + lambda);
                let open = !(root.lo.is_finite() && root.hi.is_finite());
                root.d = if newton > root.lo && newton < root.hi && newton.is_finite() {
                    // Not much farther than what was known, where there is no other end yet.
                    if open {
                        newton.clamp(-2.0 * root.d.abs() - 1.0, 2.0 * root.d.abs() + 1.0)
                    } else {
                        newton
                    }
                } else if open {
                    2.0 * root.d
                } else {
                    f64::midpoint(root.lo, root.hi)
                }
                .clamp(-cap, cap);
            }
        }
        roots.into_iter().map(|root| root.d).collect()
    }

    /// Takes the steps, and halves those that raise the risk; how many had to be.
    fn advance(&mut self, steps: &mut [Vec<f64>], sums: &[Vec<LeafSums>]) -> usize {
        let (n, k) = (self.c.len(), self.outputs);
        // Of several outputs, and where values are in order, one leaf may lose what others win, and all are halved.
        let joint = k > 1 || self.booster.monotone.iter().any(|sign| *sign != 0);
        let before: Vec<f64> = if joint {
            vec![self.risk * self.total]
        } else {
            sums[0].iter().map(|sums| sums.loss).collect()
        };
        let mut halved = vec![0_usize; before.len()];
        loop {
            let (leaf_of, scores) = (&self.leaf_of, &self.scores);
            self.next.par_chunks_mut(ROWS * k).enumerate().for_each(|(chunk, next)| {
                for (at, (leaf_of, steps)) in leaf_of.chunks(n).zip(&*steps).enumerate() {
                    let rows = (chunk * ROWS..).zip(next.chunks_exact_mut(k));
                    for (row, next) in rows {
                        next[at] = scores[row * k + at] + steps[usize::from(leaf_of[row])];
                    }
                }
            });
            self.slopes();
            let after: Vec<f64> = if joint {
                vec![self.mean_loss() * self.total]
            } else {
                let found = self.fold(before.len(), |row, sums| {
                    sums[usize::from(self.leaf_of[row])].loss += self.c[row] * self.loss[row];
                });
                found.iter().map(|sums| sums.loss).collect()
            };
            let mut again = false;
            for (leaf, (before, after)) in before.iter().zip(&after).enumerate() {
                let fine = *after <= before + ROUNDING * before.abs();
                let moves = if joint {
                    steps.iter().flatten().any(|step| *step != 0.0)
                } else {
                    steps[0][leaf] != 0.0
                };
                if fine || !moves {
                    continue;
                }
                again = true;
                let factor = if halved[leaf] < HALVINGS { 0.5 } else { 0.0 };
                halved[leaf] += 1;
                if joint {
                    steps.iter_mut().flatten().for_each(|step| *step *= factor);
                } else {
                    steps[0][leaf] *= factor;
                }
            }
            if !again {
                break;
            }
        }
        std::mem::swap(&mut self.scores, &mut self.next);
        self.risk = self.mean_loss();
        halved.iter().filter(|count| **count > 0).count()
    }
}

/// Scrambles 64 bits (the end of SplitMix64).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
