//! # The best linear model of a table
//! A walk goes through rows in their order; here all rows are at hand, and the model is the one to expect the
//! least of new rows from. For each ridge λ of a few the minimum of
//! $$F_\lambda(\theta) = \sum_i c_i\, \ell(\langle\theta, x_i\rangle, y_i) + \frac\lambda2 \Vert\theta\Vert^2$$
//! is found, with columns in units of their data (the kink of absolute and quantile losses is rounded by a
//! tenth of the residuals' size); what each of these members loses on rows that it has not seen is computed by
//! leaving out every row in turn, to second order in what one row changes. The model is the average of the
//! members, member k with the share
//! $$v_k \propto \pi(\lambda_k)\, e^{-\frac12 L_k}, \qquad \ln\lambda \sim N(\tfrac12, 1)$$
//! of its left-out loss L. An average of linear models is a linear model. For numbers L is the logarithm of the
//! likelihood, counts in full, and the prior is ln 10 wide.
//!
//! **Why these constants** λ = 1 is the prior of weights of size 1 on columns of size 1. Half of the loss
//! counts, since all members are judged by the same rows. Both were chosen on 39 tables out of 78 and then
//! tried on the others.
//! **Probabilities** are mixed with equal ones, with the share of half a row among all rows: n rows cannot show
//! that something never happens.
//! **Invariance** The order of rows, the units of columns, the unit and zero of numeric labels and the names of
//! classes change nothing but rounding; a row of weight two is two rows.
//!
//! | rows and columns | how |
//! |---|---|
//! | up to 1,024 columns | Newton steps, or L-BFGS in the metric of a part of the rows if there are many |
//! | more columns than rows, up to 1,024 rows | the same in the span of the rows |
//! | more of both | L-BFGS in the metric of the diagonal; members are judged on every fifth row, held out |
//!
//! **Cost** for n rows of d columns and K scores O(m K d²) for m = max(2,000, 5 d) of the rows, then O(n K d) for
//! each pass through all. **Care** values of 1e±150 are
//! fine; a column whose values differ by rounding only is left out.
//! **Source** leaving out to second order: \[RM20\]; averages instead of choices: \[Breiman96\].

mod cholesky;
mod design;
mod lbfgs;
mod objective;

use crate::Real;
use crate::halt::Halt;
use crate::loss::{AnyLoss, Loss};
use crate::row::Block;
use cholesky::Cholesky;
use design::Design;
use lbfgs::{Ended, Limit, Metric, minimise};
use objective::{Kind, Kink, Objective};

/// How far the kink of a loss is rounded, in standard deviations of residuals.
const ROUNDED: f64 = 0.1;
/// Columns, or rows, up to which second derivatives are kept as a matrix.
const MATRIX: usize = 1024;
/// Rows up to which minima are found to the last digits.
const EVERY: usize = 2_000;
/// Rows that are enough to judge members by, and to know second derivatives from: five for each column if that is more.
const SAMPLE: usize = 2_000;
/// Where a member is only judged, a further step may still gain this part of what is lost.
const LOOSE: f64 = 1e-5;
/// The same where second derivatives are not kept as a matrix: chance costs such a model far more.
const LOOSER: f64 = 1e-3;
/// The same for the logarithm of a probability, in nats: far less than what decides between members.
const NATS: f64 = 0.02;
/// The same for a member of the result, for each effective weight: a hundredth of what chance costs it.
const FINISHED: f64 = 0.005;
/// The most passes through the rows for one member.
const MOST: u64 = 300;
/// Smaller shares than this part of the largest are left out.
const SMALLEST: f64 = 0.05;
/// Exponents of the ridges, base ten.
const EXPONENTS: [i32; 7] = [-3, -2, -1, 0, 1, 2, 3];
/// The exponent to begin with, and where there are many columns.
const FIRST: usize = 3;
const HEAVY: usize = 5;
/// Members with a smaller share than this part of the largest are not worth their time.
const NEGLIGIBLE: f64 = 3.0;

/// What is to be learned.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one in a fit")]
pub enum Labels {
    /// Numbers, by this loss of them.
    Numbers(AnyLoss),
    /// Two classes, −1 and 1, by the logistic loss.
    Signs,
    /// So many classes, 0, 1, …, by the loss −ln softmax.
    Classes(usize),
}

/// A table of which the best linear model is wanted.
pub struct Table<'a> {
    /// Rows with labels and weights; all labels finite, all weights positive.
    pub blocks: &'a [Block],
    /// What the labels are.
    pub labels: Labels,
    /// Is there a constant in front of the features?
    pub constant: bool,
    /// Numbers that may be missing, each with the feature that is 1 where it is, in place of the number.
    pub absent: &'a [(u32, u32)],
    /// Is the feature of this number the indicator of a name or a word?
    pub named: &'a dyn Fn(usize) -> bool,
    /// Ends the search early.
    pub halt: Halt,
}

/// The minimum for one ridge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Member {
    /// λ.
    pub ridge: f64,
    /// What it loses on rows it has not seen, per unit of weight.
    pub loss: f64,
    /// Its share of the model.
    pub share: f64,
    /// Was the minimum reached?
    pub converged: bool,
}

/// The best linear model of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The weights of each score on the raw features, the constant first if there is one.
    pub weights: Vec<Vec<f64>>,
    /// What it was made of, by rising ridge.
    pub members: Vec<Member>,
    /// How often all rows were gone through.
    pub passes: u64,
    /// Was the minimum of every member reached?
    pub converged: bool,
    /// The share of equal probabilities in those of the model; 0 for numbers.
    pub floor: f64,
    /// Rows with their scores by the model without them, in raw units: all rows, or a sample.
    pub left_out: Vec<(usize, Vec<f64>)>,
}

/// Finds the best linear model. `None` if it was halted.
///
/// ```
/// use geowalk::loss::AnyLoss;
/// use geowalk::ridge::{Labels, Table, fit};
/// use geowalk::row::Block;
/// let mut block = Block::new();
/// for i in 0..40 {
///     let x = f64::from(i) * 1e6;
///     block.push_dense(&[x], 3.0 + 2e-6 * x, 1.0)?;
/// }
/// let labels = Labels::Numbers(AnyLoss::parse("squared")?);
/// let table = Table {
///     blocks: &[block],
///     labels,
///     constant: true,
///     absent: &[],
///     named: &|_| false,
///     halt: Default::default(),
/// };
/// let model = fit(&table).unwrap();
/// assert!((model.weights[0][0] - 3.0).abs() < 0.05 && (model.weights[0][1] - 2e-6).abs() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fit(table: &Table<'_>) -> Option<Fitted> {
    let raw: Vec<f64> = table.blocks.iter().flat_map(Block::labels).copied().collect();
    let weights: Vec<f64> = table.blocks.iter().flat_map(Block::weights).copied().collect();
    let (kind, shift, unit) = match &table.labels {
        Labels::Numbers(loss) => {
            let (shift, unit) = spread(&raw, &weights);
            (number(loss, unit), shift, unit)
        }
        Labels::Signs => (Kind::Logistic, 0.0, 1.0),
        Labels::Classes(classes) => (Kind::Softmax(*classes), 0.0, 1.0),
    };
    let labels: Vec<f64> = raw.iter().map(|y| (y - shift) / unit).collect();
    let features = table.blocks.iter().map(Block::bound).max().unwrap_or(0);
    let design = Design::new(table.blocks, table.constant, table.absent, table.named);
    let narrow = design.width() <= MATRIX;
    let span =
        (design.rows() < design.columns() && design.rows() <= MATRIX).then(|| Span::new(&design));
    let search = Search {
        design: span.as_ref().map_or(&design, |span| &span.design),
        narrow: narrow || span.is_some(),
        kind: &kind,
        labels: &labels,
        weights: &weights,
        total: weights.iter().sum(),
        halt: &table.halt,
    };
    let (members, average, left_out, passes) = search.run()?;
    let outputs = kind.outputs();
    let score = |z: f64| shift + unit * z;
    let unfold = |theta: &[f64]| {
        let theta = match &span {
            Some(span) => span.unfold(&design, theta),
            None => theta.to_vec(),
        };
        let mut raw = design.raw(&theta, features);
        for w in &mut raw {
            *w *= unit;
        }
        if let (true, Some(first)) = (table.constant, raw.first_mut()) {
            *first += shift;
        }
        raw
    };
    let width = search.design.width().max(1);
    let numbers = matches!(table.labels, Labels::Numbers(_));
    Some(Fitted {
        weights: average.chunks(width).map(unfold).collect(),
        converged: members.iter().all(|member| member.converged),
        members,
        passes,
        floor: if numbers { 0.0 } else { search.floor() },
        left_out: left_out
            .0
            .iter()
            .zip(left_out.1.chunks(outputs))
            .map(|(&i, z)| (i as usize, z.iter().map(|z| score(*z)).collect()))
            .collect(),
    })
}

/// The mean and the standard deviation of numbers; a spread of 0 counts as 1.
fn spread(values: &[f64], weights: &[f64]) -> (f64, f64) {
    let largest = values.iter().fold(0.0, |top: f64, y| top.max(y.abs()));
    if largest == 0.0 {
        return (0.0, 1.0);
    }
    let total: f64 = weights.iter().sum();
    let each = || values.iter().map(|y| y / largest).zip(weights);
    let mean = each().map(|(y, w)| w * y).sum::<f64>() / total;
    let square = each().map(|(y, w)| w * (y - mean) * (y - mean)).sum::<f64>() / total;
    let unit = if square.sqrt() > 1e-14 { square.sqrt() } else { 1.0 };
    (mean * largest, unit * largest)
}

/// The standard deviation of normal numbers about 0 with the median magnitude of these: one wild number does
/// not change it.
fn typical(values: &[f64], weights: &[f64]) -> f64 {
    let mut sizes: Vec<(f64, f64)> =
        values.iter().map(|r| r.abs()).zip(weights.iter().copied()).collect();
    sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * weights.iter().sum::<f64>();
    let mut below = 0.0;
    let middle = sizes.iter().find(|(_, weight)| {
        below += weight;
        below >= half
    });
    1.4826 * middle.map_or(0.0, |(size, _)| *size)
}

/// A loss of numbers with its mean curvature over residuals of this size, its kink rounded by a part of it.
fn rounded(loss: &AnyLoss, residuals: &[f64], weights: &[f64], size: f64) -> Kind {
    let h = 0.5 * size;
    let slope = |r: f64| loss.slope(h - r, 0.0) - loss.slope(-h - r, 0.0);
    let sum: f64 = residuals.iter().zip(weights).map(|(r, w)| w * slope(*r)).sum();
    let curvature = (sum / (2.0 * h * weights.iter().sum::<f64>())).max(1e-3);
    let (factor, tau) = match loss {
        AnyLoss::Absolute(_) => (2.0, 0.5),
        AnyLoss::Quantile(quantile) => (1.0, quantile.tau()),
        _ => return Kind::Other(loss.clone(), curvature),
    };
    Kind::Kinked(Kink { loss: loss.clone(), size: factor, tau, width: ROUNDED * size, curvature })
}

/// The loss of numbers in units of their spread.
fn number(loss: &AnyLoss, unit: f64) -> Kind {
    match loss {
        AnyLoss::Squared(_) => Kind::Squared,
        AnyLoss::Huber(huber) => {
            let delta = huber.delta() / unit;
            let scaled = AnyLoss::parse(&format!("huber(delta={delta:e})"));
            Kind::Other(scaled.unwrap_or_else(|_| loss.clone()), 1.0)
        }
        _ => Kind::Other(loss.clone(), 1.0),
    }
}

/// A table with more columns than rows, in the coordinates of what its rows span: X = LQ with QQᵀ = 1, so that
/// lengths of weights stay.
struct Span {
    factor: Cholesky,
    design: Design,
}

impl Span {
    fn new(wide: &Design) -> Self {
        let n = wide.rows();
        let mut lower = Vec::with_capacity(n * (n + 1) / 2);
        let mut written = vec![0.0; wide.width()];
        for i in 0..n {
            wide.write(i, &mut written);
            lower.extend((0..=i).map(|j| wide.inner(j, &written)));
        }
        let factor = Cholesky::new(n, lower);
        let design = Design::of_dense(n, n, wide.has_constant(), |i, row| factor.row(i, row));
        Self { factor, design }
    }

    /// The coordinates of the wide table.
    fn unfold(&self, wide: &Design, theta: &[f64]) -> Vec<f64> {
        let first = usize::from(wide.has_constant());
        let mut shares = theta[first..first + wide.rows()].to_vec();
        self.factor.backward(&mut shares);
        let mut all = vec![0.0; wide.width()];
        for (i, share) in shares.iter().enumerate() {
            wide.add(i, *share, &mut all);
        }
        if first == 1 {
            all[0] = theta[0];
        }
        all
    }
}

/// Rows and their scores without them.
type LeftOut = (Vec<u32>, Vec<f64>);

/// The search for the members.
struct Search<'a> {
    design: &'a Design,
    /// Second derivatives fit into a matrix.
    narrow: bool,
    kind: &'a Kind,
    labels: &'a [f64],
    weights: &'a [f64],
    total: f64,
    halt: &'a Halt,
}

/// A member on the way.
struct Candidate {
    at: usize,
    theta: Vec<f64>,
    /// The sums of second derivatives there.
    squares: Vec<Vec<f64>>,
    left_out: Vec<f64>,
    loss: f64,
    score: f64,
    ended: Ended,
    /// How many weights the rows could have told, where that is known.
    effective: f64,
}

impl Search<'_> {
    /// The share of equal probabilities.
    fn floor(&self) -> f64 {
        0.5 / (self.total + 0.5)
    }

    fn objective<'b>(&'b self, kind: &'b Kind, rows: &'b [u32]) -> Objective<'b> {
        let Self { design, labels, weights, halt, .. } = *self;
        Objective { design, kind, labels, weights, rows, halt }
    }

    fn run(&self) -> Option<(Vec<Member>, Vec<f64>, LeftOut, u64)> {
        #[allow(clippy::cast_possible_truncation)] // rows are numbered by u32
        let all: Vec<u32> = (0..self.design.rows() as u32).collect();
        let (kind, start, mut passes) = self.prepared(&all);
        let (learned, judged): (Vec<u32>, Vec<u32>) = if self.narrow {
            let few = part(&all, SAMPLE.max(5 * self.design.width()));
            (few.clone(), few)
        } else {
            all.iter().partition(|&&i| !mixed(i).is_multiple_of(5))
        };
        let mut found: Vec<Candidate> = Vec::new();
        let best =
            |found: &[Candidate]| found.iter().map(|c| c.score).fold(f64::INFINITY, f64::min);
        let squares = self.near(&kind, &learned, &start);
        // Without a matrix heavy ridges are found soonest, and light ones from them.
        let (first, ways) =
            if self.narrow { (FIRST, [true, false]) } else { (HEAVY, [false, true]) };
        found.push(self.candidate(&kind, first, (&start, &squares), &learned, &judged));
        for upward in ways {
            let mut last = 0;
            // Scores rise on both sides of the least: beyond a hopeless one all are.
            if found[0].score > best(&found) + NEGLIGIBLE {
                break;
            }
            while !self.halt.is_called() {
                let next = if upward { found[last].at + 1 } else { found[last].at.wrapping_sub(1) };
                let Some(_) = EXPONENTS.get(next) else { break };
                let from = (&found[last].theta[..], &found[last].squares[..]);
                let candidate = self.candidate(&kind, next, from, &learned, &judged);
                let hopeless = candidate.score > best(&found) + NEGLIGIBLE;
                found.push(candidate);
                last = found.len() - 1;
                if hopeless {
                    break;
                }
            }
        }
        found.sort_by_key(|candidate| candidate.at);
        let least = best(&found);
        let shares = found.iter().map(|c| Real::exp(least - c.score));
        let shares: Vec<f64> = shares.map(|s| if s < SMALLEST { 0.0 } else { s }).collect();
        let total: f64 = shares.iter().sum();
        let mut average = vec![0.0; found[0].theta.len()];
        let mut scores = vec![0.0; found[0].left_out.len()];
        let mut members = Vec::new();
        for (candidate, share) in found.iter_mut().zip(shares.iter().map(|share| share / total)) {
            passes += candidate.ended.passes * learned.len() as u64 / all.len().max(1) as u64;
            if share > 0.0 {
                self.finish(&kind, candidate, &learned, &all);
                passes += candidate.ended.passes;
            }
            for (sum, z) in scores.iter_mut().zip(&candidate.left_out) {
                *sum += share * z;
            }
            for (sum, theta) in average.iter_mut().zip(&candidate.theta) {
                *sum += share * theta;
            }
            let converged = candidate.ended.converged || share == 0.0;
            members.push(Member {
                ridge: ridge(candidate.at),
                loss: candidate.loss,
                share,
                converged,
            });
        }
        (!self.halt.is_called()).then_some((members, average, (judged, scores), passes))
    }

    /// Minimises on all rows, and leaves out those that judge.
    fn finish(&self, kind: &Kind, candidate: &mut Candidate, few: &[u32], all: &[u32]) {
        let lambda = ridge(candidate.at);
        let objective = self.objective(kind, all);
        let scale = all.len() as f64 / few.len() as f64;
        let metric = self.metric(&objective, &candidate.theta, &candidate.squares, (lambda, scale));
        // Predictions of few rows are to agree to many digits. What many rows tell is known to half a nat for
        // each effective weight.
        let (part, passes) = if all.len() <= EVERY { (1e-12, 10 * MOST) } else { (1e-8, MOST) };
        let many = kind.is_logarithmic() && all.len() > EVERY;
        let gain = if many { FINISHED * candidate.effective } else { 0.0 };
        let limit = if self.narrow { Limit { part, gain, passes } } else { self.loose(kind) };
        candidate.ended = minimise(&objective, lambda, metric, limit, &mut candidate.theta);
        if all.len() > few.len() && self.narrow {
            let factors = objective.factors(&candidate.squares, lambda, scale);
            self.objective(kind, few).left_out(&candidate.theta, &factors, &mut candidate.left_out);
        }
    }

    /// The metric of these sums of second derivatives times a scale.
    fn metric(
        &self,
        objective: &Objective<'_>,
        theta: &[f64],
        squares: &[Vec<f64>],
        (lambda, scale): (f64, f64),
    ) -> Metric {
        if self.narrow {
            return Metric::Full(objective.factors(squares, lambda, scale));
        }
        objective.metric(true, theta, lambda)
    }

    /// The sums of second derivatives, if they fit into matrices.
    fn near(&self, kind: &Kind, rows: &[u32], theta: &[f64]) -> Vec<Vec<f64>> {
        if self.narrow { self.objective(kind, rows).curvature(theta) } else { Vec::new() }
    }

    /// The loss with its curvature, where to begin, and the passes that took. The curvature of a loss with
    /// kinks is that of its mean over residuals.
    fn prepared(&self, all: &[u32]) -> (Kind, Vec<f64>, u64) {
        let size = self.design.width() * self.kind.outputs();
        let Kind::Other(loss, _) = self.kind else {
            return (self.kind.clone(), vec![0.0; size], 0);
        };
        let few = part(all, SAMPLE.max(5 * self.design.width()));
        let start = vec![0.0; size];
        let squares = self.near(&Kind::Squared, &few, &start);
        let Candidate { theta, ended, .. } =
            self.candidate(&Kind::Squared, FIRST, (&start, &squares), &few, &few);
        let (mut theta, mut passes) = (theta, ended.passes);
        let mut size = f64::INFINITY;
        // The first residuals are those of a squared loss, which one wild label can spoil: rounding gets finer
        // as they shrink.
        loop {
            let residuals: Vec<f64> = all
                .iter()
                .map(|&i| self.labels[i as usize] - self.design.score(i as usize, &theta))
                .collect();
            let before = std::mem::replace(&mut size, typical(&residuals, self.weights).max(1e-9));
            let kind = rounded(loss, &residuals, self.weights, size);
            if before < 2.0 * size || size <= 1e-9 || self.halt.is_called() {
                return (kind, theta, passes);
            }
            let squares = self.near(&kind, &few, &theta);
            let next = self.candidate(&kind, FIRST, (&theta, &squares), &few, &few);
            passes += next.ended.passes;
            theta = next.theta;
        }
    }

    /// The member of a ridge, from the minimum of another on, and what it loses on rows it has not seen.
    fn candidate(
        &self,
        kind: &Kind,
        at: usize,
        (start, squares): (&[f64], &[Vec<f64>]),
        learned: &[u32],
        judged: &[u32],
    ) -> Candidate {
        let (lambda, mut theta) = (ridge(at), start.to_vec());
        let objective = self.objective(kind, learned);
        let metric = self.metric(&objective, &theta, squares, (lambda, 1.0));
        let ended = minimise(&objective, lambda, metric, self.loose(kind), &mut theta);
        let squares = self.near(kind, learned, &theta);
        let mut left_out = Vec::new();
        let mut effective = 0.0;
        if self.narrow {
            let factors = objective.factors(&squares, lambda, 1.0);
            effective = self.objective(kind, judged).left_out(&theta, &factors, &mut left_out);
        } else {
            let width = self.design.width().max(1);
            for &i in judged {
                left_out
                    .extend(theta.chunks(width).map(|theta| self.design.score(i as usize, theta)));
            }
        }
        let loss = self.judge(kind, judged, &left_out);
        let weight: f64 = judged.iter().map(|&i| self.weights[i as usize]).sum();
        // What is left out of a squared loss is exact, and counts in full; its ridge is relative to a noise
        // that is not known.
        let (part, scale) = match kind {
            Kind::Squared | Kind::Other(..) | Kind::Kinked(_) => (1.0, std::f64::consts::LN_10),
            _ => (0.5, 1.0),
        };
        let log = match kind {
            Kind::Logistic | Kind::Softmax(_) => loss,
            Kind::Squared => 0.5 * Real::ln(loss.max(f64::MIN_POSITIVE)),
            Kind::Other(..) | Kind::Kinked(_) => Real::ln(loss.max(f64::MIN_POSITIVE)),
        };
        let away = (f64::from(EXPONENTS[at]) * std::f64::consts::LN_10 - 0.5) / scale;
        let score = part * weight * log + 0.5 * away * away;
        Candidate { at, theta, squares, left_out, loss, score, ended, effective }
    }

    /// When a member that is only judged is near enough, or any of many columns.
    fn loose(&self, kind: &Kind) -> Limit {
        let part = if self.narrow { LOOSE } else { LOOSER };
        Limit { part, gain: if kind.is_logarithmic() { NATS } else { 0.0 }, passes: MOST }
    }

    /// The mean loss of scores.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
    fn judge(&self, kind: &Kind, rows: &[u32], scores: &[f64]) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        let floor = self.floor();
        for (&i, z) in rows.iter().zip(scores.chunks(kind.outputs())) {
            let (y, weight) = (self.labels[i as usize], self.weights[i as usize]);
            let loss = match kind {
                Kind::Logistic => {
                    let p = 1.0 / (1.0 + Real::exp(-(y * z[0])));
                    -Real::ln((1.0 - floor) * p + 0.5 * floor)
                }
                Kind::Softmax(classes) => {
                    let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let sum: f64 = z.iter().map(|z| Real::exp(z - top)).sum();
                    let p = Real::exp(z[y as usize] - top) / sum;
                    -Real::ln((1.0 - floor) * p + floor / *classes as f64)
                }
                Kind::Squared => (z[0] - y) * (z[0] - y),
                Kind::Other(loss, _) | Kind::Kinked(Kink { loss, .. }) => loss.value(z[0], y),
            };
            sum += weight * loss;
            total += weight;
        }
        sum / total
    }
}

fn ridge(at: usize) -> f64 {
    Real::powf(10.0, f64::from(EXPONENTS[at]))
}

/// At most so many of the rows, without regard to their order.
fn part(rows: &[u32], most: usize) -> Vec<u32> {
    if rows.len() <= most {
        return rows.to_vec();
    }
    let limit = ((most as u64) << 32) / rows.len() as u64;
    rows.iter().copied().filter(|&i| mixed(i) >> 32 < limit).collect()
}

/// 64 bits that have nothing to do with the order of rows \[SLF14\].
fn mixed(i: u32) -> u64 {
    let mut x = (u64::from(i) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
