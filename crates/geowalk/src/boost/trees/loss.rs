//! # Losses of boosted trees
//! A loss of one score (two classes, numbers) or of one score per class, with its slope, curvature, starting
//! score and probabilities.
//!
//! | label | losses | curvature h of a row |
//! |---|---|---|
//! | two classes | every [`Surrogate`]: ψ(yH) | ψ″ |
//! | K classes | softmax log-loss | $\tfrac{K}{K-1} p_k(1 - p_k)$; the K trees of a round are checked together |
//! | numbers | `squared`, `absolute`, `quantile(tau)`, `huber(delta)` | 1: the tree is found so, its values are refitted |
//! | numbers >= 0 | `poisson`, mean $e^H$ | the mean |
//!
//! **Probabilities** are σ(s·t(H)), where t is the log-odds of the loss's link (its tangent at 0 where the
//! link saturates) and s is fitted on held-out rows; they are inside [1/(2n + 2), 1 − 1/(2n + 2)] for n
//! training rows, and for K classes mixed with the uniform distribution at weight 1/(n + 1). **Scale**
//! `squared` is (y − H)², with half its slope as g.

use crate::Real;
use crate::boost::Surrogate;
use crate::boost::surrogate::Form;
use crate::error::{Allowed, ConfigError, parameter};
use crate::loss::permissible::{AnyPermissible, Permissible};
use crate::real::lanes;
use crate::spec::{self, Spec};

/// A loss of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NumberLoss {
    /// (y − H)².
    Squared,
    /// |y − H|.
    Absolute,
    /// The loss of the τ-quantile, 0 < τ < 1.
    Quantile(f64),
    /// Half the square up to a residual of δ, linear beyond.
    Huber(f64),
    /// Counts with mean e^H, without the term ln y!.
    Poisson,
}

impl NumberLoss {
    /// By name: `squared`, `absolute`, `quantile(tau=0.5)`, `huber(delta=1)`, `poisson`.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let spec = Spec::parse(text)?;
        let mut args = spec.args();
        let loss = match spec.name() {
            "squared" => Self::Squared,
            "absolute" => Self::Absolute,
            "quantile" => {
                let tau = args.number("tau", 0.5)?;
                Self::Quantile(parameter("tau", tau, Allowed::Open(0.0, 1.0))?)
            }
            "huber" => {
                Self::Huber(parameter("delta", args.number("delta", 1.0)?, Allowed::Positive)?)
            }
            "poisson" => Self::Poisson,
            name => {
                let known = ["squared", "absolute", "quantile", "huber", "poisson"];
                return Err(spec::unknown("loss for trees on numbers", name, known));
            }
        };
        args.finish()?;
        Ok(loss)
    }

    /// The specification that gives it back.
    pub fn spec(self) -> String {
        match self {
            Self::Squared => "squared".to_owned(),
            Self::Absolute => "absolute".to_owned(),
            Self::Quantile(tau) => format!("quantile(tau={tau})"),
            Self::Huber(delta) => format!("huber(delta={delta})"),
            Self::Poisson => "poisson".to_owned(),
        }
    }

    /// The loss at score `h`, g and the curvature.
    #[inline]
    pub(super) fn all(self, h: f64, y: f64) -> [f64; 3] {
        let r = y - h;
        match self {
            Self::Squared => [r * r, r, 1.0],
            Self::Absolute => [r.abs(), sign(r), 1.0],
            Self::Quantile(tau) => {
                [Real::max(tau * r, (tau - 1.0) * r), if r > 0.0 { tau } else { tau - 1.0 }, 1.0]
            }
            Self::Huber(delta) => {
                let a = r.abs();
                let loss = if a <= delta { 0.5 * r * r } else { delta * (a - 0.5 * delta) };
                [loss, r.clamp(-delta, delta), 1.0]
            }
            Self::Poisson => {
                let mu = Real::exp(h);
                [mu - y * h, y - mu, mu]
            }
        }
    }
}

fn sign(r: f64) -> f64 {
    if r == 0.0 { 0.0 } else { r.signum() }
}

/// What the trees minimise.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one per model")]
pub enum TreeLoss {
    /// Of two classes: a convex loss of the margin.
    Margin(Surrogate),
    /// Of so many classes: softmax log-loss.
    Softmax(usize),
    /// Of numbers.
    Number(NumberLoss),
}

impl TreeLoss {
    /// Scores of a row: 1, or one for each class.
    pub fn outputs(&self) -> usize {
        if let Self::Softmax(classes) = self { *classes } else { 1 }
    }

    /// Its name.
    pub fn spec(&self) -> String {
        match self {
            Self::Margin(loss) => loss.spec(),
            Self::Softmax(_) => "softmax".to_owned(),
            Self::Number(loss) => loss.spec(),
        }
    }

    /// What a loss is divided by so that it is never below the training error; 1 for numbers.
    pub fn scale(&self) -> f64 {
        match self {
            Self::Margin(loss) => loss.scale(),
            Self::Softmax(_) => std::f64::consts::LN_2,
            Self::Number(_) => 1.0,
        }
    }

    /// The score that every row starts with, from labels (±1, class codes or numbers) and weights.
    pub(super) fn start(&self, y: &[f64], c: &[f64]) -> Vec<f64> {
        let total: f64 = c.iter().sum();
        let mean = |f: &dyn Fn(f64) -> f64| {
            y.iter().zip(c).map(|(y, c)| c * f(*y)).sum::<f64>()
                / Real::max(total, f64::MIN_POSITIVE)
        };
        match self {
            Self::Margin(loss) => {
                let share = mean(&|y| f64::from(u8::from(y > 0.0)));
                let p = (share * total + 0.5) / (total + 1.0);
                vec![score_of(loss, p)]
            }
            Self::Softmax(classes) => {
                let share = |k: usize| {
                    let own = mean(&|y| f64::from(u8::from(y == k as f64))) * total;
                    Real::ln((own + 0.5) / (total + 0.5 * *classes as f64))
                };
                (0..*classes).map(share).collect()
            }
            Self::Number(NumberLoss::Squared) => vec![mean(&|y| y)],
            Self::Number(NumberLoss::Poisson) => {
                vec![Real::ln((mean(&|y| y) * total + 0.5) / (total + 0.5))]
            }
            Self::Number(NumberLoss::Absolute | NumberLoss::Huber(_)) => vec![quantile(
                &mut y.iter().copied().zip(c.iter().copied()).collect::<Vec<_>>(),
                0.5,
            )],
            Self::Number(NumberLoss::Quantile(tau)) => vec![quantile(
                &mut y.iter().copied().zip(c.iter().copied()).collect::<Vec<_>>(),
                *tau,
            )],
        }
    }

    /// The log-odds t(H) of the second of two classes, with unbounded range.
    pub fn log_odds(&self, h: f64) -> f64 {
        let Self::Margin(loss) = self else { return h };
        let of = |phi: &AnyPermissible| {
            if phi.image().1.is_finite() {
                // The tangent at 0: p′(0)/(¼).
                4.0 * phi.conjugate_curvature(0.0) * h
            } else {
                // The smaller of the two keeps its digits.
                let t = Real::ln(phi.transfer(-h.abs())) - Real::ln(phi.complement(-h.abs()));
                let t = if t == f64::NEG_INFINITY { -1e4 } else { t };
                if h > 0.0 { -t } else { t }
            }
        };
        match &loss.form {
            Form::Entropy => h,
            Form::Exponential | Form::Squared | Form::Gini { .. } => 2.0 * h,
            Form::Custom(_) => {
                // As `probability` has it, in two calls.
                let (with, against) = (loss.weight(-h), loss.weight(h));
                let t = Real::ln(with) - Real::ln(against);
                if t.is_nan() { 4.0 * h } else { t.clamp(-1e4, 1e4) }
            }
            Form::Mu(mu) => 2.0 * Real::asinh(h / (1.0 - mu.mu())),
            _ => loss.permissible().map_or(2.0 * h, of),
        }
    }

    /// Probabilities of all classes from the scores of a row, for a model of `n` rows with link scale `s`.
    pub fn probabilities(&self, scores: &[f64], s: f64, n: f64, out: &mut [f64]) {
        if let (Self::Margin(_), [no, yes]) = (self, &mut *out) {
            let limit = Real::ln(2.0 * n + 1.0);
            let t = (s * self.log_odds(scores[0])).clamp(-limit, limit);
            let tail = Real::exp(-t.abs());
            let (small, large) = (tail / (1.0 + tail), 1.0 / (1.0 + tail));
            (*no, *yes) = if t < 0.0 { (large, small) } else { (small, large) };
            return;
        }
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, Real::max);
        for (p, score) in out.iter_mut().zip(scores) {
            *p = Real::exp(s * (score - most));
        }
        let sum: f64 = out.iter().sum();
        let (mix, k) = (1.0 / (n + 1.0), out.len() as f64);
        for p in out {
            *p = (1.0 - mix) * (*p / sum) + mix / k;
        }
    }

    /// −ln P(class) with link scale `s` and no floor.
    pub(super) fn log_loss(&self, scores: &[f64], y: f64, s: f64) -> f64 {
        match self {
            Self::Softmax(_) => {
                let most = scores.iter().copied().fold(f64::NEG_INFINITY, Real::max);
                let sum: f64 = scores.iter().map(|h| Real::exp(s * (h - most))).sum();
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a class"
                )]
                let own = scores[y as usize];
                s * (most - own) + Real::ln(sum)
            }
            Self::Margin(_) => logistic(y * s * self.log_odds(scores[0]))[0],
            Self::Number(loss) => loss.all(scores[0], y)[0],
        }
    }

    /// Loss, g and curvature of rows with one score each.
    pub(super) fn rows(&self, h: &[f64], y: &[f64], out: &mut Slopes<'_>) {
        let Slopes { loss, g, curvature } = out;
        match self {
            Self::Margin(own) if own.is_logistic() => lanes::widely(
                #[inline(always)]
                || {
                    let n = h.len();
                    let (y, loss) = (&y[..n], &mut loss[..n]);
                    let (g, curvature) = (&mut g[..n], &mut curvature[..n]);
                    for i in 0..n {
                        let z = y[i] * h[i];
                        let e = lanes::exp(-z.abs());
                        let up = 1.0 / (1.0 + e);
                        let down = e * up;
                        let log =
                            lanes::select(e <= lanes::NEAR, lanes::ln_1p(e), lanes::ln(1.0 + e));
                        let less = lanes::select(z < 0.0, -z, 0.0);
                        loss[i] = less + log;
                        g[i] = y[i] * lanes::select(z < 0.0, up, down);
                        curvature[i] = up * down;
                    }
                },
            ),
            Self::Margin(own) => {
                let mut all = || {
                    for i in 0..h.len() {
                        let z = y[i] * h[i];
                        loss[i] = own.value(z);
                        g[i] = y[i] * own.weight(z);
                        curvature[i] = own.curvature(z);
                    }
                };
                match &own.form {
                    Form::Custom(custom) => custom.within(&mut all),
                    _ => all(),
                }
            }
            Self::Number(own) => {
                for i in 0..h.len() {
                    [loss[i], g[i], curvature[i]] = own.all(h[i], y[i]);
                }
            }
            Self::Softmax(_) => {}
        }
    }

    /// The same of rows with a score for each class, row by row; one loss per row.
    pub(super) fn wide_rows(&self, h: &[f64], y: &[f64], out: &mut Slopes<'_>) {
        let Self::Softmax(classes) = *self else { return self.rows(h, y, out) };
        let c = classes as f64 / (classes as f64 - 1.0);
        let Slopes { loss, g, curvature } = out;
        lanes::widely(
            #[inline(always)]
            || {
                for (i, h) in h.chunks_exact(classes).enumerate() {
                    let p = &mut g[i * classes..][..classes];
                    let mut most = f64::NEG_INFINITY;
                    for h in h {
                        most = if *h > most { *h } else { most };
                    }
                    for (p, h) in p.iter_mut().zip(h) {
                        *p = lanes::exp(h - most);
                    }
                    let sum: f64 = p.iter().sum();
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "a class"
                    )]
                    let own = y[i] as usize;
                    loss[i] = (most - h[own]) + lanes::ln(sum);
                    let curvature = &mut curvature[i * classes..][..classes];
                    for (p, h) in p.iter_mut().zip(curvature) {
                        let share = *p / sum;
                        *h = c * share * (1.0 - share);
                        *p = -share;
                    }
                    p[own] += 1.0;
                }
            },
        );
    }
}

/// Where [`TreeLoss::rows`] puts what it finds.
pub(super) struct Slopes<'a> {
    pub(super) loss: &'a mut [f64],
    /// −∂loss/∂H.
    pub(super) g: &'a mut [f64],
    pub(super) curvature: &'a mut [f64],
}

/// ln(1 + e^−z) and 1/(1 + e^z).
pub(super) fn logistic(z: f64) -> [f64; 2] {
    let e = Real::exp(-z.abs());
    let tail = e / (1.0 + e);
    [Real::max(-z, 0.0) + Real::ln_1p(e), if z < 0.0 { 1.0 - tail } else { tail }]
}

/// ∇φ(p), and of the other losses the score of least expected loss.
fn score_of(loss: &Surrogate, p: f64) -> f64 {
    match &loss.form {
        Form::Exponential => 0.5 * (Real::ln(p) - Real::ln(1.0 - p)),
        Form::Squared => 2.0 * p - 1.0,
        Form::Custom(_) => {
            // The root of p·w(H) = (1 − p)·w(−H), by bisection.
            let (mut lo, mut hi) = (-64.0_f64, 64.0);
            for _ in 0..80 {
                let middle = f64::midpoint(lo, hi);
                let rises = p * loss.weight(middle) > (1.0 - p) * loss.weight(-middle);
                *(if rises { &mut lo } else { &mut hi }) = middle;
            }
            f64::midpoint(lo, hi)
        }
        Form::Entropy => Real::ln(p) - Real::ln(1.0 - p),
        _ => loss.permissible().map_or(2.0 * p - 1.0, |phi| phi.gradient(p)),
    }
}

/// The least value with at least the share τ of the weight at or below it. Sorts the values.
pub(super) fn quantile(values: &mut [(f64, f64)], tau: f64) -> f64 {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let total: f64 = values.iter().map(|(_, c)| c).sum();
    let mut sum = 0.0;
    for (value, c) in values.iter() {
        sum += c;
        // 1e-12: sums of weights are rounded.
        if *c > 0.0 && sum >= tau * total * (1.0 - 1e-12) {
            return *value;
        }
    }
    values.last().map_or(0.0, |(value, _)| *value)
}
