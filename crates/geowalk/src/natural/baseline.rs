//! # Methods for comparison
//! The same model fitted with other rules. They show the gain of natural gradient and the need for its safeguards.
//!
//! | method | step | cost |
//! |---|---|---|
//! | `Sgd` | η − γ∇ℓ \[SC21, eq. (1)\] | O(s·nnz) |
//! | `Adagrad` | η − γ∇ℓ/√Σ(∇ℓ)², by coordinate \[DHS11\] | O(s·nnz) |
//! | `Csngd` | η − γ G_ζ⁻¹∇ℓ by a dense solve \[SC21, eq. (9)\]: what [`Natural`](super::Natural) computes without one | O(k³) |
//! | `Sngd` | η − γ G_η⁻¹∇ℓ, the metric at the parameters themselves \[SC21, eq. (4), (7)\]: blows up | O(k) |
//! | `Mirror` | η\* − γ∇ℓ in the dual coordinates \[SC21, eq. (8)\]: leaves its domain | O(k) |
//!
//! **Care** `Csngd` needs a statistic without redundancy (not `discrete` or `naive-bayes`) and k ≤ 1024. `Sngd` and
//! `Mirror` need a family with closed forms for both charts: `discrete`, `bernoulli`, `poisson`, `exponential`. A step
//! that is not finite is an error; these methods are included to show it.

mod chart;
mod dense;

use super::cap::Cap;
use super::coefficients::{Coefficients, table};
use super::dual::{Scratch, Settings};
use super::family::{AnyFamily, Family};
use super::statistic::Statistic;
use super::table::Table;
use super::{Moved, importance, posterior};
use crate::error::{Allowed, ConfigError, DomainError};
use crate::row::Row;
use crate::{spec, walk};
use chart::Chart;

/// The update rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Gradient descent.
    Sgd,
    /// Gradient descent with one rate per coordinate.
    Adagrad,
    /// Natural gradient in the metric of ζ, by a dense solve.
    Csngd,
    /// Natural gradient in the metric of the parameters.
    Sngd,
    /// Gradient descent in the dual coordinates.
    Mirror,
}

impl Method {
    /// The rule with this name.
    pub fn parse(name: &str) -> Result<Self, ConfigError> {
        let known = [
            ("sgd", Self::Sgd),
            ("adagrad", Self::Adagrad),
            ("csngd", Self::Csngd),
            ("sngd", Self::Sngd),
            ("mirror", Self::Mirror),
        ];
        match known.iter().find(|(known, _)| *known == name) {
            Some((_, method)) => Ok(*method),
            None => Err(spec::unknown("method", name, known.map(|(name, _)| name))),
        }
    }
}

/// Multinomial logistic regression with another update rule.
///
/// ```
/// use geowalk::natural::{AnyFamily, Baseline, Method, Schedule, Settings};
/// use geowalk::row::Sparse;
/// // One value of x, labels 1, 2, 1, 2, …, γ = 1. The log-odds are 2, −6.389, 589.9 and then −1.6e256, beyond the longest step that is taken (1e150): natural
/// // gradient in its own metric makes three steps and refuses the fourth.
/// let settings = Settings { schedule: Schedule::Constant { rate: 1.0 }, average: false, ..Settings::default() };
/// let mut sngd = Baseline::new(Method::Sngd, AnyFamily::parse("discrete")?, settings)?;
/// sngd.grow(1, 2)?;
/// let x = Sparse::new(&[0], &[1.0])?;
/// let steps = (0..10).take_while(|t| sngd.step(x, t % 2, 1.0).is_ok()).count();
/// assert_eq!(steps, 3);
/// assert!(sngd.step(x, 1, 1.0).unwrap_err().to_string().contains("overflows"));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Baseline {
    method: Method,
    family: AnyFamily,
    chart: Option<Chart>,
    settings: Settings,
    features: usize,
    alpha: Vec<f64>,
    alpha_sums: Vec<f64>,
    beta: Coefficients,
    /// Σ(∇ℓ)² of α and β, for AdaGrad.
    squares: (Vec<f64>, Table),
    cap: Cap,
    n: Vec<f64>,
    total: f64,
    t: u64,
    weight: f64,
    scratch: Scratch,
    v: Vec<f64>,
    residuals: Vec<f64>,
}

impl Baseline {
    /// All coefficients 0, no classes.
    pub fn new(method: Method, family: AnyFamily, settings: Settings) -> Result<Self, ConfigError> {
        let missing = |meaning| Err(ConfigError::Missing { name: "another family", meaning });
        let chart = Chart::of(family.name());
        if matches!(method, Method::Sngd | Method::Mirror) && chart.is_none() {
            return missing("sngd and mirror know discrete, bernoulli, poisson and exponential");
        }
        if method == Method::Csngd && matches!(family.name(), "discrete" | "naive-bayes") {
            return missing(
                "the metric of discrete and naive-bayes is singular; natural needs no inverse",
            );
        }
        if settings.ridge != 0.0 {
            let (value, allowed) = (settings.ridge, Allowed::Closed(0.0, 0.0));
            return Err(ConfigError::OutOfRange { name: "ridge (of a baseline)", value, allowed });
        }
        Ok(Self {
            method,
            chart,
            beta: Coefficients::new(settings.average),
            cap: Cap::new(settings.cap, !family.is_sparse()),
            family,
            settings,
            features: 0,
            alpha: Vec::new(),
            alpha_sums: Vec::new(),
            squares: (Vec::new(), Table::default()),
            n: Vec::new(),
            total: 0.0,
            t: 0,
            weight: 0.0,
            scratch: Scratch::default(),
            v: Vec::new(),
            residuals: Vec::new(),
        })
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.n.len()
    }

    /// Number of features that there is room for.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Makes room for features and classes; their coefficients are 0.
    pub fn grow(&mut self, features: usize, classes: usize) -> Result<(), DomainError> {
        if features <= self.features && classes <= self.n.len() {
            return Ok(());
        }
        let (features, s) = (features.max(self.features), classes.max(self.n.len()));
        self.family.grow(features, s)?;
        let size = self.family.size();
        self.beta.grow(size, s, &[]);
        self.alpha.resize(s, 0.0);
        self.alpha_sums.resize(s, 0.0);
        self.n.resize(s, 0.0);
        self.features = features;
        if self.method == Method::Adagrad {
            self.squares.0.resize(s, 0.0);
            self.squares.1.grow(size, s, |_, _| 0.0);
        }
        Ok(())
    }

    fn averages(&self) -> bool {
        self.settings.average && self.weight > 0.0
    }

    fn score(&self, t: &Statistic, z: &mut Vec<f64>, sums: &mut Vec<f64>) {
        z.clone_from(&self.alpha);
        sums.clone_from(&self.alpha_sums);
        self.beta.score(t, z, sums);
    }

    /// out ← α_c + β_c·T(x) for every class.
    pub fn logits<X: Row<f64>>(&self, x: X, scratch: &mut Scratch, out: &mut Vec<f64>) {
        let (t, sums, _) = scratch.all();
        // The statistic is computed even if the row is invalid.
        let _ = self.family.statistic(x, t);
        self.score(t, out, sums);
        if self.averages() {
            for (z, sum) in out.iter_mut().zip(sums.iter()) {
                *z -= sum / self.weight;
            }
        }
    }

    /// Whether the log-odds are linear in the features.
    pub fn is_linear(&self) -> bool {
        self.family.size() == self.features
    }

    /// The logits of the last prediction, before learning.
    pub fn predicted(&self) -> &[f64] {
        self.scratch.z()
    }

    /// P(c) − \[c = y\] for every class c, as predicted in the last step before learning.
    pub fn residuals(&self) -> &[f64] {
        &self.residuals
    }

    /// Predicts a row, then learns its class. On an error nothing has changed.
    pub fn step<X: Row<f64>>(
        &mut self,
        x: X,
        class: usize,
        weight: f64,
    ) -> Result<Moved, DomainError> {
        importance(weight)?;
        self.grow(x.bound(), class + 1)?;
        let mut scratch = std::mem::take(&mut self.scratch);
        let moved = self.learn(x, class, weight, &mut scratch);
        self.scratch = scratch;
        moved
    }

    fn learn<X: Row<f64>>(
        &mut self,
        x: X,
        class: usize,
        weight: f64,
        scratch: &mut Scratch,
    ) -> Result<Moved, DomainError> {
        let (t, sums, z) = scratch.all();
        self.family.statistic(x, t)?;
        self.score(t, z, sums);
        let (mut moved, _) = posterior(z, class, &mut self.v)?;
        if self.averages() {
            for (z, sum) in z.iter_mut().zip(sums.iter()) {
                *z -= sum / self.weight;
            }
            moved = posterior(z, class, &mut self.residuals)?.0;
        } else {
            self.residuals.clone_from(&self.v);
        }
        let s = self.n.len();
        let pseudo = self.family.pseudo(self.settings.a);
        let rate = self.settings.schedule.rate(self.total, s, self.family.size(), pseudo);
        moved.rate = weight * rate;
        self.beta.begin(self.weight);
        match self.method {
            Method::Sgd => self.sgd(t, moved.rate),
            Method::Adagrad => self.adagrad(t, rate, weight),
            Method::Csngd => self.csngd(t, &mut moved)?,
            Method::Sngd => self.sngd(t, moved.rate)?,
            Method::Mirror => self.mirror(t, moved.rate)?,
        }
        self.family.observe(t, class, weight);
        self.n[class] += weight;
        self.total += weight;
        self.t += 1;
        self.weight += self.t as f64;
        moved.loss *= weight;
        Ok(moved)
    }

    /// α_c += delta.
    fn shift(&mut self, c: usize, delta: f64) {
        self.alpha[c] += delta;
        self.alpha_sums[c] += self.weight * delta;
    }

    fn sgd(&mut self, t: &Statistic, rate: f64) {
        for c in 0..self.v.len() {
            self.shift(c, -rate * self.v[c]);
        }
        let v = &self.v;
        t.each(|j, x| self.beta.update(j, v, v, |_| -rate * x));
    }

    fn adagrad(&mut self, t: &Statistic, rate: f64, weight: f64) {
        let (alpha, beta) = &mut self.squares;
        for (c, (&v, square)) in self.v.iter().zip(alpha).enumerate() {
            let g = weight * v;
            *square += g * g;
            let delta = if g == 0.0 { 0.0 } else { -rate * g / square.sqrt() };
            self.alpha[c] += delta;
            self.alpha_sums[c] += self.weight * delta;
        }
        let v = &self.v;
        t.each(|j, x| {
            let row = beta.row_mut(j);
            for (square, v) in row.iter_mut().zip(v) {
                *square += (weight * v * x) * (weight * v * x);
            }
            self.beta.update(j, v, row, |square| {
                if square > 0.0 { -rate * weight * x / square.sqrt() } else { 0.0 }
            });
        });
    }

    /// Returns α of a class, and out ← its β.
    pub fn coefficients(&self, class: usize, out: &mut Vec<f64>) -> f64 {
        let weight = if self.averages() { self.weight } else { 0.0 };
        out.clear();
        out.extend((0..self.beta.size()).map(|j| self.beta.averaged(j, class, weight)));
        let sum = self.alpha_sums.get(class).copied().unwrap_or(0.0);
        let alpha = self.alpha.get(class).copied().unwrap_or(0.0);
        if weight > 0.0 { alpha - sum / weight } else { alpha }
    }

    /// Returns α, and out ← β of a class at the coordinates that are features.
    pub fn linear(&self, class: usize, out: &mut Vec<f64>) -> f64 {
        let mut all = Vec::new();
        let alpha = self.coefficients(class, &mut all);
        out.clear();
        let at = |i| all.get(self.family.linear(i)).copied().unwrap_or(0.0);
        out.extend((0..self.features).map(at));
        alpha
    }

    /// Passes all mutable state to `put`, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&str, &[f64])) {
        put("natural", &[self.features as f64, self.t as f64, self.weight, self.total]);
        put("class-counts", &self.n);
        put("alpha", &self.alpha);
        put("alpha-sums", &self.alpha_sums);
        put("cap", &self.cap.save());
        if self.method == Method::Adagrad {
            put("squares", &self.squares.0);
            put("beta-squares", self.squares.1.cells());
        }
        self.family.save(&mut |name, values| put(&format!("0.{name}"), values));
        self.beta.save(&mut |name, values| put(&format!("0.{name}"), values));
    }

    /// Restores the state written by [`Baseline::save`]. On an error it is unchanged.
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let mut new = self.clone();
        let top = &mut |name: &'static str| get(name);
        let allowed = Allowed::Closed(0.0, 1e300);
        let [features, t, weight, total] = walk::numbers(top, "natural", allowed)?;
        new.n = walk::array(top, "class-counts", Allowed::NonNegative)?;
        let s = new.n.len();
        new.alpha = walk::array_of(top, "alpha", Allowed::Finite, s)?;
        new.alpha_sums = walk::array_of(top, "alpha-sums", Allowed::Finite, s)?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
        {
            (new.features, new.t) = (features.min(4_294_967_296.0) as usize, t as u64);
        }
        (new.weight, new.total) = (weight, total);
        let top = &mut |name: &'static str| get(name);
        new.cap.load(walk::numbers(top, "cap", Allowed::NonNegative)?);
        let own = &mut |name: &'static str| get(&format!("0.{name}"));
        new.family.load(own, new.features, s)?;
        new.beta.load(own, new.family.size(), s)?;
        if self.method == Method::Adagrad {
            let size = new.family.size();
            let top = &mut |name: &'static str| get(name);
            new.squares.0 = walk::array_of(top, "squares", Allowed::NonNegative, s)?;
            new.squares.1 = table(top, "beta-squares", Allowed::NonNegative, size, s)?;
        }
        *self = new;
        Ok(())
    }
}
