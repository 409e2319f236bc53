//! # What is minimised
//! $$F(\theta) = \sum_i c_i\, \ell(z_i, y_i) + \frac\lambda2 \sum_j \theta_j^2, \qquad z_i = \langle\theta, x_i\rangle$$ with one θ per score, and no ridge on the constant. Rows are gone through in pieces: scores first, then losses and slopes of the whole piece, then the sums that they make.

use super::cholesky::Cholesky;
use super::design::Design;
use super::lbfgs::Metric;
use crate::halt::Halt;
use crate::loss::{AnyLoss, Loss};
use crate::real::lanes;

/// Rows of a piece.
const PIECE: usize = 128;

/// The constant is pulled to 0 by this much: scores of all classes may rise together without changing a probability.
const CONSTANT: f64 = 1e-9;

/// The loss, and how labels are coded.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// ln(1 + e^(−yz)), labels ±1.
    Logistic,
    /// −ln softmax, labels 0, 1, …
    Softmax(usize),
    /// (z − y)²/2.
    Squared,
    /// Any other loss of a number, whose curvature is taken to be this.
    Other(AnyLoss, f64),
    /// A loss with a kink.
    Kinked(Kink),
}

/// A loss with a kink at y, which is rounded where the loss is minimised: with r = y − z, size·(τr + w ln(1 +
/// e^(−r/w))).
#[derive(Debug, Clone)]
pub(super) struct Kink {
    /// The loss itself, by which members are judged.
    pub(super) loss: AnyLoss,
    pub(super) size: f64,
    pub(super) tau: f64,
    /// w, how far the kink is rounded.
    pub(super) width: f64,
    /// The mean curvature.
    pub(super) curvature: f64,
}

impl Kind {
    /// Is the loss the logarithm of a probability?
    pub(super) fn is_logarithmic(&self) -> bool {
        matches!(self, Self::Logistic | Self::Softmax(_))
    }

    pub(super) fn outputs(&self) -> usize {
        if let Self::Softmax(classes) = self { *classes } else { 1 }
    }

    /// Losses of the rows of a piece; scores become slopes, and curvatures are written if they are wanted.
    /// Score k of row r is at k·PIECE + r.
    #[inline(always)]
    fn judge(&self, y: &[f64], z: &mut [f64], curvature: Option<&mut [f64]>) -> [f64; PIECE] {
        let mut losses = [0.0; PIECE];
        match self {
            Self::Logistic => {
                let mut curved = [0.0; PIECE];
                for r in 0..PIECE {
                    let m = y[r] * z[r];
                    let e = lanes::exp(-m.abs());
                    let sum = 1.0 + e;
                    losses[r] = lanes::ln(sum) + lanes::select(m < 0.0, -m, 0.0);
                    z[r] = -y[r] * lanes::select(m < 0.0, 1.0, e) / sum;
                    curved[r] = e / (sum * sum);
                }
                if let Some(curvature) = curvature {
                    curvature[..PIECE].copy_from_slice(&curved);
                }
            }
            Self::Squared => {
                for r in 0..PIECE {
                    z[r] -= y[r];
                    losses[r] = 0.5 * z[r] * z[r];
                }
                if let Some(curvature) = curvature {
                    curvature[..PIECE].fill(1.0);
                }
            }
            Self::Other(loss, curved) => {
                for r in 0..PIECE {
                    losses[r] = loss.value(z[r], y[r]);
                    z[r] = loss.slope(z[r], y[r]);
                }
                if let Some(curvature) = curvature {
                    curvature[..PIECE].fill(*curved);
                }
            }
            Self::Kinked(Kink { size, tau, width, curvature: curved, .. }) => {
                for r in 0..PIECE {
                    let left = (y[r] - z[r]) / width;
                    let e = lanes::exp(-left.abs());
                    let above = lanes::select(left < 0.0, 1.0, e) / (1.0 + e);
                    let bent = lanes::ln(1.0 + e) + lanes::select(left < 0.0, -left, 0.0);
                    losses[r] = size * width * (tau * left + bent);
                    z[r] = size * (above - tau);
                }
                if let Some(curvature) = curvature {
                    curvature[..PIECE].fill(*curved);
                }
            }
            Self::Softmax(classes) => {
                softmax(*classes, y, z, &mut losses);
                if let Some(curvature) = curvature {
                    // The joint curvature diag(p) − ppᵀ, seen from one score: exact for two classes, and for
                    // equal probabilities.
                    let joint = *classes as f64 / (*classes as f64 - 1.0);
                    for (k, (curvature, slopes)) in
                        curvature.chunks_exact_mut(PIECE).zip(z.chunks_exact(PIECE)).enumerate()
                    {
                        for r in 0..PIECE {
                            let p = slopes[r] + if y[r] == k as f64 { 1.0 } else { 0.0 };
                            curvature[r] = joint * p * (1.0 - p);
                        }
                    }
                }
            }
        }
        losses
    }
}

#[inline(always)]
fn softmax(classes: usize, y: &[f64], z: &mut [f64], losses: &mut [f64; PIECE]) {
    let mut top = [f64::NEG_INFINITY; PIECE];
    for scores in z.chunks_exact(PIECE) {
        for r in 0..PIECE {
            top[r] = lanes::select(scores[r] > top[r], scores[r], top[r]);
        }
    }
    let (mut sum, mut label) = ([0.0; PIECE], [0.0; PIECE]);
    for (k, scores) in z.chunks_exact_mut(PIECE).enumerate().take(classes) {
        for r in 0..PIECE {
            let above = scores[r] - top[r];
            label[r] = lanes::select(y[r] == k as f64, above, label[r]);
            scores[r] = lanes::exp(above);
            sum[r] += scores[r];
        }
    }
    for r in 0..PIECE {
        losses[r] = lanes::ln(sum[r]) - label[r];
    }
    for (k, scores) in z.chunks_exact_mut(PIECE).enumerate().take(classes) {
        for r in 0..PIECE {
            scores[r] = scores[r] / sum[r] - lanes::select(y[r] == k as f64, 1.0, 0.0);
        }
    }
}

/// The objective on some rows.
#[derive(Debug)]
pub(super) struct Objective<'a> {
    pub(super) design: &'a Design,
    pub(super) kind: &'a Kind,
    /// Labels and weights of all rows.
    pub(super) labels: &'a [f64],
    pub(super) weights: &'a [f64],
    /// The rows that count.
    pub(super) rows: &'a [u32],
    pub(super) halt: &'a Halt,
}

/// Memory for a piece.
struct Piece {
    z: Vec<f64>,
    curvature: Vec<f64>,
    labels: [f64; PIECE],
    weights: [f64; PIECE],
}

impl Objective<'_> {
    fn piece(&self) -> Piece {
        let size = PIECE * self.kind.outputs();
        Piece {
            z: vec![0.0; size],
            curvature: vec![0.0; size],
            labels: [0.0; PIECE],
            weights: [0.0; PIECE],
        }
    }

    /// Labels, weights and scores of a piece. Places behind the last row have weight 0.
    #[inline(always)]
    fn load(&self, rows: &[u32], theta: &[f64], piece: &mut Piece) {
        let label = rows.first().map_or(0.0, |&i| self.labels[i as usize]);
        piece.labels.fill(label);
        piece.weights.fill(0.0);
        for (r, &i) in rows.iter().enumerate() {
            piece.labels[r] = self.labels[i as usize];
            piece.weights[r] = self.weights[i as usize];
        }
        let width = self.design.width();
        for (z, theta) in piece.z.chunks_exact_mut(PIECE).zip(theta.chunks_exact(width.max(1))) {
            for (z, &i) in z.iter_mut().zip(rows) {
                *z = self.design.score(i as usize, theta);
            }
            z[rows.len()..].fill(0.0);
        }
    }

    /// The ridge on a coordinate of one score.
    fn ridge(&self, place: usize, lambda: f64) -> f64 {
        if place == 0 && self.design.has_constant() { CONSTANT } else { lambda }
    }

    /// F and its gradient.
    pub(super) fn evaluate(&self, theta: &[f64], lambda: f64, gradient: &mut [f64]) -> f64 {
        let width = self.design.width();
        let mut value = 0.0;
        for (t, (gradient, theta)) in gradient.iter_mut().zip(theta).enumerate() {
            let ridge = self.ridge(t % width, lambda);
            value += 0.5 * ridge * theta * theta;
            *gradient = ridge * theta;
        }
        let mut piece = self.piece();
        for rows in self.rows.chunks(PIECE) {
            if self.halt.is_called() {
                return f64::NAN;
            }
            value += lanes::widely(
                #[inline(always)]
                || {
                    self.load(rows, theta, &mut piece);
                    let losses = self.kind.judge(&piece.labels, &mut piece.z, None);
                    let mut sum = 0.0;
                    for (weight, loss) in piece.weights.iter().zip(&losses) {
                        sum += weight * loss;
                    }
                    for (slopes, gradient) in
                        piece.z.chunks_exact(PIECE).zip(gradient.chunks_exact_mut(width))
                    {
                        for (r, &i) in rows.iter().enumerate() {
                            self.design.add(i as usize, piece.weights[r] * slopes[r], gradient);
                        }
                    }
                    sum
                },
            );
        }
        value
    }

    /// The sums over rows in the second derivatives of each score by itself: lower triangles.
    pub(super) fn curvature(&self, theta: &[f64]) -> Vec<Vec<f64>> {
        let (width, outputs) = (self.design.width(), self.kind.outputs());
        // At the beginning all classes are alike.
        let alike = theta.iter().all(|t| *t == 0.0);
        let mut squares = vec![vec![0.0; width * (width + 1) / 2]; if alike { 1 } else { outputs }];
        let mut piece = self.piece();
        for rows in self.rows.chunks(PIECE) {
            if self.halt.is_called() {
                break;
            }
            lanes::widely(
                #[inline(always)]
                || {
                    self.load(rows, theta, &mut piece);
                    self.kind.judge(&piece.labels, &mut piece.z, Some(&mut piece.curvature));
                    for (curved, h) in piece.curvature.chunks_exact(PIECE).zip(&mut squares) {
                        for (r, &i) in rows.iter().enumerate() {
                            let a = piece.weights[r] * curved[r];
                            self.design.add_square(i as usize, a, h);
                        }
                    }
                },
            );
        }
        squares.resize(outputs, squares[0].clone());
        squares
    }

    /// The factors of second derivatives whose sums over rows are these, times `scale`.
    pub(super) fn factors(&self, squares: &[Vec<f64>], lambda: f64, scale: f64) -> Vec<Cholesky> {
        let factor = |h: &Vec<f64>| {
            let mut h: Vec<f64> = h.iter().map(|h| scale * h).collect();
            for t in 0..self.design.width() {
                h[t * (t + 1) / 2 + t] += self.ridge(t, lambda);
            }
            Cholesky::new(self.design.width(), h)
        };
        squares.iter().map(factor).collect()
    }

    /// The second derivatives there, or their diagonal.
    pub(super) fn metric(&self, is_diagonal: bool, theta: &[f64], lambda: f64) -> Metric {
        if is_diagonal {
            return Metric::Diagonal(self.diagonal(theta, lambda));
        }
        Metric::Full(self.factors(&self.curvature(theta), lambda, 1.0))
    }

    /// The diagonal of the second derivatives.
    fn diagonal(&self, theta: &[f64], lambda: f64) -> Vec<f64> {
        let width = self.design.width();
        let mut diagonal = vec![0.0; theta.len()];
        let mut piece = self.piece();
        for rows in self.rows.chunks(PIECE) {
            self.load(rows, theta, &mut piece);
            self.kind.judge(&piece.labels, &mut piece.z, Some(&mut piece.curvature));
            for (curved, out) in
                piece.curvature.chunks_exact(PIECE).zip(diagonal.chunks_exact_mut(width))
            {
                for (r, &i) in rows.iter().enumerate() {
                    let a = piece.weights[r] * curved[r];
                    for (out, x) in out.iter_mut().zip(self.design.front(i as usize)) {
                        *out += a * x * x;
                    }
                    let (places, values) = self.design.back(i as usize);
                    for (&place, x) in places.iter().zip(values) {
                        out[place as usize] += a * x * x;
                    }
                }
            }
        }
        for (t, diagonal) in diagonal.iter_mut().enumerate() {
            *diagonal += self.ridge(t % width, lambda);
        }
        diagonal
    }

    /// Scores of every row by the weights learned without a unit of that row's weight, to second order in what
    /// one row changes:
    /// $$z_i^{(-i)} \approx z_i + \frac{a_i g_i}{1 - a_i h_i}, \qquad a_i = x_i^\top H^{-1} x_i$$
    /// with slope g and curvature h of the row. Exact for the squared loss. Score k of row r is at r·outputs + k.
    /// Gives the effective number of weights, Σ a_i h_i.
    pub(super) fn left_out(&self, theta: &[f64], factors: &[Cholesky], out: &mut Vec<f64>) -> f64 {
        let (width, outputs) = (self.design.width(), self.kind.outputs());
        let mut effective = 0.0;
        let mut piece = self.piece();
        let (mut written, mut row) = (vec![0.0; width * PIECE], vec![0.0; width]);
        let mut panel = written.clone();
        let mut lengths = vec![0.0; PIECE * outputs];
        out.clear();
        for rows in self.rows.chunks(PIECE) {
            self.load(rows, theta, &mut piece);
            let scores = piece.z.clone();
            self.kind.judge(&piece.labels, &mut piece.z, Some(&mut piece.curvature));
            for (r, &i) in rows.iter().enumerate() {
                self.design.write(i as usize, &mut row);
                for (column, x) in written.chunks_exact_mut(PIECE).zip(&row) {
                    column[r] = *x;
                }
            }
            for (factor, lengths) in factors.iter().zip(lengths.chunks_exact_mut(PIECE)) {
                panel.copy_from_slice(&written);
                lanes::widely(
                    #[inline(always)]
                    || factor.lengths(&mut panel, lengths),
                );
            }
            for (r, weight) in piece.weights.iter().enumerate().take(rows.len()) {
                let unit = weight.min(1.0);
                for at in (r..PIECE * outputs).step_by(PIECE) {
                    let moved = unit * lengths[at] * piece.curvature[at];
                    effective += moved;
                    let kept = (1.0 - moved).max(1e-6);
                    out.push(scores[at] + unit * lengths[at] * piece.z[at] / kept);
                }
            }
        }
        effective
    }
}
