//! # The best fixed weights in hindsight
//! The default comparator of the regret: the minimiser u of Σℓ(⟨u, x_t⟩, y_t) over the training rows, in the domain of
//! the weights of the walk.
//!
//! | [`Domain`] | variables of the search | competitors v | gap: no v loses less than u by more than |
//! |---|---|---|---|
//! | ℝⁿ | standardised weights (below) | ‖v‖₂ ≤ 2‖u‖₂ | ⟨∇, u⟩ + 2‖u‖‖∇‖ |
//! | positive | θ, u = θ² | Σv ≤ 2Σu | ⟨∇, u⟩ + 2Σu·max(0, −min∇) |
//! | simplex, ‖u‖₁ ≤ U | θ, u = θ²/Σθ² | all of the set | max ⟨∇, u − v⟩ |
//! | sphere | θ, u = rθ/‖θ‖ | – | none: the problem is not convex, u is a local minimum |
//!
//! In ℝⁿ, each weight is multiplied by the standard deviation of its feature, and the constant refers to the means of
//! the features.
//!
//! **Separable data** For the logistic loss and similar losses no finite score is best, so a minimum may not exist. On
//! separable data longer weights are always better, the infimum of the loss is 0, and the bound against it depends on
//! when the search stops. For these losses, in ℝⁿ and among positive weights, the search therefore minimises the loss
//! plus a ridge penalty. The penalty is half of Σ(σ_j u_j)², where σ_j is the standard deviation of feature j; the
//! constant is not penalised. This is a common remedy: scikit-learn's `LogisticRegression` on standardised features
//! does it by default. The result is the best of all weights with no larger penalty, and on many rows the penalty is
//! negligible beside the loss. The reported loss excludes the penalty.
//!
//! The gap then refers to weights with no larger penalty. For those, ⟨∇ridge(u), v − u⟩ ≤ 0, so the gradient of the
//! sum may replace that of the loss.
//!
//! A limit of the scores on all rows would also give a finite answer, but the most extreme row would determine it. On
//! the breast cancer data, the best weights with scores within ±6 lose 84; the best weights with a ridge lose a third
//! of that.
//!
//! **Method** L-BFGS \[NW06, alg. 7.5\] with 20 pairs and backtracking. It starts from the learned weights or from the
//! start of the walk, whichever loses less. The gap follows from convexity, ℓ(v) ≥ ℓ(u) + ⟨∇, v − u⟩, so it is valid
//! even if the search ends early. It is 0 at a minimum of a smooth loss and may stay large at a kink.
//!
//! **Cost** O(nnz of all rows · outputs) per iteration, at most 1000 iterations. All rows are in memory. A [`Halt`]
//! can end the search between two blocks of rows.

mod lbfgs;

use geowalk::Real;
use geowalk::boost::Halt;
use geowalk::loss::{AnyLoss, Loss};
use geowalk::row::{Block, Row};
use geowalk::sum::Sum;
use lbfgs::minimise;

/// The set of admissible weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Domain {
    /// ℝⁿ.
    Space,
    /// u ≥ 0.
    Positive,
    /// u ≥ 0, Σu = 1.
    Simplex,
    /// ‖u‖₁ ≤ U.
    Cross(f64),
    /// ‖u‖₂ = r.
    Sphere(f64),
}

/// How the losses of several outputs are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One output; the label is ±1 or a number.
    One,
    /// One output per class, each against the rest.
    Apart,
    /// One output per class, with the loss −ln softmax.
    Joint,
}

/// Training rows and the loss to minimise on them.
#[derive(Debug)]
pub struct Problem<'a> {
    /// The rows, with labels as coded for the learner, and the indices of the rows to use in each block.
    pub blocks: Vec<(Block, Vec<usize>)>,
    /// The loss.
    pub loss: &'a AnyLoss,
    /// How the losses of the outputs are combined.
    pub form: Form,
    /// Whether coordinate 0 is a constant.
    pub intercept: bool,
    /// Number of coordinates of each output.
    pub features: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Number of passes over the rows.
    pub passes: f64,
    /// Stops a search that takes too long.
    pub halt: Halt,
}

/// The result of the search.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// One weight vector per output.
    pub u: Vec<Vec<f64>>,
    /// Their loss, without the ridge.
    pub loss: f64,
    /// The gap to the best weights; `None` if it is not known.
    pub gap: Option<f64>,
    /// The gap as text.
    pub words: String,
    /// Whether a ridge was added.
    pub ridge: bool,
}

/// Calls f with the index and value of each coordinate of a row, including the constant.
fn each(block: &Block, i: usize, intercept: bool, mut f: impl FnMut(usize, f64)) {
    let shift = usize::from(intercept);
    if intercept {
        f(0, 1.0);
    }
    if block.columns().is_some() {
        block.dense(i).each(|j, x| f(j + shift, x));
    } else {
        block.sparse(i).each(|j, x| f(j + shift, x));
    }
}

/// a ← a + x·b.
#[inline]
fn add<const W: usize>(a: &mut [[f64; W]], b: &[[f64; W]], x: f64) {
    for (a, b) in a.iter_mut().zip(b) {
        for (a, b) in a.iter_mut().zip(b) {
            *a += b * x;
        }
    }
}

impl Problem<'_> {
    /// Loss of the weights u. Writes the gradient to `gradient` if it is given. Both are flat: one output after the
    /// other, n coordinates each. `place` maps a feature to its coordinate. Returns NaN if halted.
    fn evaluate(
        &self,
        u: &[f64],
        n: usize,
        place: impl Fn(usize) -> usize,
        gradient: Option<&mut [f64]>,
    ) -> f64 {
        match self.outputs {
            1 => self.evaluate_by::<1>(u, n, place, gradient),
            _ => self.evaluate_by::<4>(u, n, place, gradient),
        }
    }

    /// As `evaluate`, processing W outputs at a time.
    fn evaluate_by<const W: usize>(
        &self,
        u: &[f64],
        n: usize,
        place: impl Fn(usize) -> usize,
        gradient: Option<&mut [f64]>,
    ) -> f64 {
        let outputs = self.outputs;
        let lanes = outputs.div_ceil(W);
        // The weights of one feature are adjacent, so one pass over a row serves all outputs. Unused lanes stay 0.
        let mut by_feature = vec![[0.0; W]; n * lanes];
        for (k, u) in u.chunks_exact(n.max(1)).enumerate() {
            for (j, u) in u.iter().enumerate() {
                by_feature[j * lanes + k / W][k % W] = *u;
            }
        }
        let mut sums = vec![[0.0; W]; if gradient.is_some() { n * lanes } else { 0 }];
        let mut sum = Sum::default();
        let (mut z, mut slopes) = (vec![[0.0; W]; lanes], vec![[0.0; W]; lanes]);
        for (block, rows) in &self.blocks {
            if self.halt.is_called() {
                return f64::NAN;
            }
            for &i in rows {
                z.fill([0.0; W]);
                each(block, i, self.intercept, |j, x| {
                    let j = place(j);
                    if j < n && x != 0.0 {
                        add(&mut z, &by_feature[j * lanes..(j + 1) * lanes], x);
                    }
                });
                let (y, weight) = (block.labels()[i], block.weights()[i]);
                let own = &mut slopes.as_flattened_mut()[..outputs];
                sum.add(weight * self.judge(&z.as_flattened()[..outputs], y, own));
                if gradient.is_none() {
                    continue;
                }
                for slope in own {
                    *slope *= self.passes * weight;
                }
                each(block, i, self.intercept, |j, x| {
                    let j = place(j);
                    if j < n && x != 0.0 {
                        add(&mut sums[j * lanes..(j + 1) * lanes], &slopes, x);
                    }
                });
            }
        }
        if let Some(gradient) = gradient {
            for (k, gradient) in gradient.chunks_exact_mut(n.max(1)).enumerate() {
                for (j, gradient) in gradient.iter_mut().enumerate() {
                    *gradient = sums[j * lanes + k / W][k % W];
                }
            }
        }
        self.passes * sum.total()
    }

    /// Loss at these scores; writes the slopes.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
    fn judge(&self, z: &[f64], y: f64, slopes: &mut [f64]) -> f64 {
        match self.form {
            Form::One => {
                slopes[0] = self.loss.slope(z[0], y);
                self.loss.value(z[0], y)
            }
            Form::Apart => {
                let mut sum = 0.0;
                for (k, (slope, &z)) in slopes.iter_mut().zip(z).enumerate() {
                    let y = if k == y as usize { 1.0 } else { -1.0 };
                    *slope = self.loss.slope(z, y);
                    sum += self.loss.value(z, y);
                }
                sum
            }
            Form::Joint => {
                let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                slopes.iter_mut().zip(z).for_each(|(slope, z)| *slope = Real::exp(z - top));
                let total: f64 = slopes.iter().sum();
                for (k, slope) in slopes.iter_mut().enumerate() {
                    *slope = *slope / total - if k == y as usize { 1.0 } else { 0.0 };
                }
                let own = z.get(y as usize).copied().unwrap_or(f64::NEG_INFINITY);
                top + Real::ln(total) - own
            }
        }
    }

    /// Loss of a comparator.
    pub fn loss_of(&self, u: &[Vec<f64>]) -> f64 {
        self.evaluate(&self.flat(u), self.features, |j| j, None)
    }

    /// How much the rounding of scores may have reduced the computed loss of a comparator. Scores are sums of as many
    /// products as the row has coordinates.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
    pub fn rounding_of(&self, u: &[Vec<f64>]) -> f64 {
        // For each output, ⟨u, x⟩ and Σ|u_j x_j|.
        let (mut scores, mut sum) = (vec![(0.0, 0.0); self.outputs], 0.0);
        for (block, rows) in &self.blocks {
            for &i in rows {
                scores.fill((0.0, 0.0));
                let mut count = 0.0;
                each(block, i, self.intercept, |j, x| {
                    count += 1.0;
                    for ((z, size), u) in scores.iter_mut().zip(u) {
                        let term = u.get(j).map_or(0.0, |u| u * x);
                        (*z, *size) = (*z + term, *size + term.abs());
                    }
                });
                sum += block.weights()[i] * self.rounding_at(block.labels()[i], &scores, count);
            }
        }
        self.passes * sum
    }

    /// The rounding of the loss of one row, whose scores are sums of `count` terms.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
    fn rounding_at(&self, y: f64, scores: &[(f64, f64)], count: f64) -> f64 {
        let off = |size: f64| 2.0 * (count + 4.0) * f64::EPSILON * size;
        let one = |y: f64, (z, size): (f64, f64)| {
            let value = |z: f64| self.loss.value(z, y);
            let here = value(z);
            let rise = (value(z + off(size)) - here).abs() + (value(z - off(size)) - here).abs();
            rise + 16.0 * f64::EPSILON * here.abs()
        };
        let sign = |k: usize| if k == y as usize { 1.0 } else { -1.0 };
        match self.form {
            Form::One => one(y, scores[0]),
            Form::Apart => (0..).zip(scores).map(|(k, score)| one(sign(k), *score)).sum(),
            // The slopes of the joint loss add up to at most 2 in absolute value.
            Form::Joint => scores.iter().map(|(z, size)| 2.0 * off(z.abs() + size)).sum(),
        }
    }

    fn flat(&self, u: &[Vec<f64>]) -> Vec<f64> {
        let mut flat = vec![0.0; self.outputs * self.features];
        for (k, u) in u.iter().enumerate().take(self.outputs) {
            for (j, &u) in u.iter().enumerate().take(self.features) {
                flat[k * self.features + j] = u;
            }
        }
        flat
    }

    /// Mean and root mean square of every coordinate.
    fn moments(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut sums, mut weights) = (vec![(0.0, 0.0); self.features], 0.0);
        for (block, rows) in &self.blocks {
            for &i in rows {
                let weight = block.weights()[i];
                weights += weight;
                each(block, i, self.intercept, |j, x| {
                    if let Some((sum, square)) = sums.get_mut(j) {
                        *sum += weight * x;
                        *square += weight * x * x;
                    }
                });
            }
        }
        let one = |(sum, square): (f64, f64)| (sum / weights, (square / weights).sqrt());
        sums.into_iter().map(one).unzip()
    }

    /// The best weights in a domain; the search may start from the weights `learned`. `None` if halted.
    pub fn best(&self, domain: Domain, learned: &[Vec<f64>]) -> Option<Best> {
        // All features that never occur share one coordinate, because only the sum of their weights matters.
        let (means, sizes) = self.moments();
        let active: Vec<usize> = (0..self.features).filter(|&j| sizes[j] > 0.0).collect();
        let rest = (0..self.features).find(|&j| sizes[j] == 0.0 || sizes[j].is_nan());
        let coordinates: Vec<usize> = active.iter().copied().chain(rest).collect();
        let n = coordinates.len();
        let mut places = vec![usize::MAX; self.features];
        active.iter().enumerate().for_each(|(place, &j)| places[j] = place);
        let place = |j: usize| places.get(j).copied().unwrap_or(usize::MAX);
        // With a constant, features are centred at their means. Uncentred, features far from 0 are nearly collinear
        // with the constant, and the search converges slowly.
        let centred = self.intercept && domain == Domain::Space;
        let scale = |&j: &usize| {
            let (mean, size) = (means[j], sizes[j]);
            let spread = (size - mean.abs()).max(0.0) * (size + mean.abs());
            if centred && j > 0 && spread > 1e-9 * size * size {
                (mean, spread.sqrt())
            } else {
                (0.0, if size > 0.0 { size } else { 1.0 })
            }
        };
        let (means, sizes) = coordinates.iter().map(scale).unzip();
        let chart = Chart { domain, means, sizes, n };
        let open = matches!(domain, Domain::Space | Domain::Positive);
        let ridge = open && self.loss.minimizer(1.0).is_infinite();
        // Half of Σ(σ_j u_j)², and its gradient.
        let penalty = |u: &[f64], gradient: Option<&mut Vec<f64>>| {
            let size = |k: usize| match k % n.max(1) {
                0 if self.intercept => 0.0,
                j => {
                    if ridge {
                        chart.sizes[j]
                    } else {
                        0.0
                    }
                }
            };
            let mut sum = Sum::default();
            u.iter().enumerate().for_each(|(k, u)| sum.add(0.5 * (size(k) * u) * (size(k) * u)));
            for (k, g) in gradient.into_iter().flatten().enumerate() {
                *g += size(k) * (size(k) * u[k]);
            }
            sum.total()
        };
        let objective = |theta: &[f64], gradient: &mut Vec<f64>| {
            let u = chart.weights(theta);
            let mut own = vec![0.0; u.len()];
            let value = self.evaluate(&u, n, place, Some(&mut own));
            let value = value + penalty(&u, Some(&mut own));
            chart.pull(theta, &u, &own, gradient);
            value
        };
        let flat: Vec<f64> = (0..self.outputs)
            .flat_map(|k| coordinates.iter().map(move |&j| (k, j)))
            .map(|(k, j)| learned.get(k).and_then(|w| w.get(j)).copied().unwrap_or(0.0))
            .collect();
        let candidates = [chart.point(&flat), chart.point(&vec![0.0; flat.len()])];
        let start = candidates.into_iter().min_by(|a, b| {
            let (a, b) = (chart.weights(a), chart.weights(b));
            let value = |u: &[f64]| self.evaluate(u, n, place, None) + penalty(u, None);
            value(&a).total_cmp(&value(&b))
        });
        let theta = minimise(objective, start.unwrap_or_default());
        let u = chart.weights(&theta);
        let mut own = vec![0.0; u.len()];
        let loss = self.evaluate(&u, n, place, Some(&mut own));
        penalty(&u, Some(&mut own));
        if self.halt.is_called() {
            return None;
        }
        let gap = chart.gap(&u, &own);
        let no_larger = if ridge { " and with no larger ridge" } else { "" };
        let least = |gap: f64| format!("{no_larger} lose less by more than {gap:.3e}");
        let words = match (gap, domain) {
            (Some(gap), Domain::Space) => {
                format!("no weights at most twice as long{}", least(gap))
            }
            (Some(gap), Domain::Positive) => {
                format!("no positive weights with at most twice the sum{}", least(gap))
            }
            (Some(gap), Domain::Simplex) => format!("no weights on the simplex{}", least(gap)),
            (Some(gap), Domain::Cross(_)) => {
                format!("no weights with this sum of magnitudes{}", least(gap))
            }
            _ => "on the sphere it is the best in its neighbourhood: the problem is not convex"
                .to_owned(),
        };
        let expand = |u: &[f64]| {
            let mut all = vec![0.0; self.features];
            coordinates.iter().zip(u).for_each(|(&j, &u)| all[j] = u);
            all
        };
        let u = u.chunks(n.max(1)).map(expand).collect();
        Some(Best { u, loss, gap, words, ridge })
    }
}

/// Maps unconstrained variables θ to the weights in a domain.
struct Chart {
    domain: Domain,
    /// Subtracted from the features; only in ℝⁿ with a constant, which is the first coordinate.
    means: Vec<f64>,
    sizes: Vec<f64>,
    n: usize,
}

impl Chart {
    /// The θ of these weights, or of weights close to them.
    fn point(&self, u: &[f64]) -> Vec<f64> {
        // A coordinate that is exactly 0 has zero gradient and would stay 0.
        let root = |u: f64| Real::max(u, 1e-6 / self.n.max(1) as f64).sqrt();
        let one = |u: &[f64]| -> Vec<f64> {
            match self.domain {
                Domain::Space => {
                    let mut theta: Vec<f64> =
                        u.iter().zip(&self.sizes).map(|(u, s)| u * s).collect();
                    self.shift(&mut theta, u, 1.0);
                    theta
                }
                Domain::Positive | Domain::Simplex if u.iter().all(|u| *u == 0.0) => {
                    vec![(1.0 / self.n.max(1) as f64).sqrt(); u.len()]
                }
                Domain::Positive | Domain::Simplex => u.iter().map(|&u| root(u)).collect(),
                Domain::Cross(scale) => {
                    let total: f64 = u.iter().map(|u| u.abs()).sum();
                    let left = Real::max(1.0 - total / scale, 1e-3) / (2 * u.len()).max(1) as f64;
                    let sides = u.iter().flat_map(|u| [*u, -u]);
                    sides.map(|u| (Real::max(u / scale, 0.0) + left).sqrt()).collect()
                }
                Domain::Sphere(_) if u.iter().all(|u| *u == 0.0) => vec![1.0; u.len()],
                Domain::Sphere(_) => u.to_vec(),
            }
        };
        u.chunks(self.n.max(1)).flat_map(one).collect()
    }

    /// Adds to the constant the weights times the means of the features, times `sign`. The constant feature has size
    /// 1.
    fn shift(&self, constant: &mut [f64], u: &[f64], sign: f64) {
        let given: f64 = u.iter().zip(&self.means).map(|(u, mean)| u * mean).sum();
        if let Some(first) = constant.first_mut() {
            *first += sign * given;
        }
    }

    /// Number of variables θ per output.
    fn width(&self) -> usize {
        if let Domain::Cross(_) = self.domain { 2 * self.n } else { self.n }.max(1)
    }

    /// The weights at θ.
    fn weights(&self, theta: &[f64]) -> Vec<f64> {
        let one = |theta: &[f64]| -> Vec<f64> {
            let total = Real::max(theta.iter().map(|t| t * t).sum(), f64::MIN_POSITIVE);
            match self.domain {
                Domain::Space => {
                    let u: Vec<f64> = theta.iter().zip(&self.sizes).map(|(t, s)| t / s).collect();
                    let mut moved = u.clone();
                    self.shift(&mut moved, &u, -1.0);
                    moved
                }
                Domain::Positive => theta.iter().map(|t| t * t).collect(),
                Domain::Simplex => theta.iter().map(|t| t * t / total).collect(),
                Domain::Cross(scale) => {
                    let pairs = theta.chunks_exact(2);
                    pairs.map(|t| scale * (t[0] * t[0] - t[1] * t[1]) / total).collect()
                }
                Domain::Sphere(r) => theta.iter().map(|t| r * t / total.sqrt()).collect(),
            }
        };
        theta.chunks(self.width()).flat_map(one).collect()
    }

    /// out ← the gradient with respect to θ; `own` is the gradient with respect to u.
    fn pull(&self, theta: &[f64], u: &[f64], own: &[f64], out: &mut Vec<f64>) {
        out.clear();
        let parts = theta.chunks(self.width()).zip(u.chunks(self.n.max(1)));
        for ((theta, u), g) in parts.zip(own.chunks(self.n.max(1))) {
            let total = Real::max(theta.iter().map(|t| t * t).sum(), f64::MIN_POSITIVE);
            let inner: f64 = u.iter().zip(g).map(|(u, g)| u * g).sum();
            match self.domain {
                Domain::Space => {
                    let constant = g.first().copied().unwrap_or(0.0);
                    let own = g.iter().zip(&self.means).zip(&self.sizes);
                    out.extend(own.map(|((g, mean), s)| (g - mean * constant) / s));
                }
                Domain::Positive => out.extend(theta.iter().zip(g).map(|(t, g)| 2.0 * t * g)),
                Domain::Simplex => {
                    out.extend(theta.iter().zip(g).map(|(t, g)| 2.0 * t / total * (g - inner)));
                }
                Domain::Cross(scale) => {
                    for (t, g) in theta.chunks_exact(2).zip(g) {
                        out.push(2.0 * t[0] / total * (scale * g - inner));
                        out.push(2.0 * t[1] / total * (-scale * g - inner));
                    }
                }
                Domain::Sphere(r) => {
                    let along = u.iter().zip(g);
                    out.extend(along.map(|(u, g)| (g - inner / r * (u / r)) * r / total.sqrt()));
                }
            }
        }
    }

    /// max ⟨∇, u − v⟩ over the competitors v of the domain.
    fn gap(&self, u: &[f64], gradient: &[f64]) -> Option<f64> {
        let mut gap = Sum::default();
        for (u, g) in u.chunks(self.n.max(1)).zip(gradient.chunks(self.n.max(1))) {
            let least = g.iter().copied().fold(f64::INFINITY, f64::min);
            let largest = g.iter().fold(0.0, |top: f64, g| top.max(g.abs()));
            let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
            u.iter().zip(g).for_each(|(u, g)| gap.add(u * g));
            gap.add(match self.domain {
                Domain::Space => 2.0 * norm(u) * norm(g),
                Domain::Positive => 2.0 * u.iter().sum::<f64>() * Real::max(-least, 0.0),
                Domain::Simplex => -least,
                Domain::Cross(scale) => scale * largest,
                Domain::Sphere(_) => return None,
            });
        }
        Some(Real::max(gap.total(), 0.0))
    }
}
