//! # Dual stochastic natural gradient
//! Multinomial logistic regression, $P(c \mid x) \propto \exp(\alpha_c + \beta_c\cdot T(x))$, by steps
//! $$\alpha_c \mathrel{-}= \gamma\,w_c\,(1 - \theta_c\cdot g_c), \qquad \beta_c \mathrel{-}= \gamma\,w_c\,g_c, \qquad
//!   w_c = \frac{q_c - [c=y]}{p_c},$$
//! where q is the prediction. p and g = ∇_θ log P(x∣c) are those of a model ζ of the joint distribution, which is
//! learned at the same time: ζ is used *before* it sees the example. **For every ζ** this is $G_\zeta^{-1}\nabla\ell$,
//! a step of natural gradient in the Fisher metric of ζ, at O(k) and without a matrix. The loss converges to that of
//! the best logistic regression, even if the family is wrong.
//!
//! **Cap** γ is limited as described in `cap.rs`. Without the cap the method fails: its excess loss is 10 to 90
//! instead of 0.001.
//!
//! **Guard** Predictions are mixed with the class frequencies, which get the larger share if they lose less. If the
//! loss is much larger than theirs, the coefficients restart at zero: see `guard.rs`.
//!
//! **Ridge** The gradient λβ is preconditioned too, by $(B_c + \lambda I_\beta)^{-1}$ with
//! $B_c = p_c E_c[\varphi\varphi^\top]$, φ = (1, T):
//! $$d\beta = (p_c C_c + \lambda I)^{-1}\bigl(v_c(T - \theta_c) + \lambda\beta_c\bigr), \qquad
//!   d\alpha = v_c/p_c - \theta_c\cdot d\beta .$$
//!
//! **Cost** O(s·nnz), O(s·d) or O(d² + s·d) by family; O(s·dim T) with a ridge. **Care** α has one coordinate per
//! class; adding a constant to all has no effect. A class that appears later enters with the log-odds of its prior
//! probability. If classes are separable, there is no finite optimum; [`Natural::report`] says so. **Source** \[SC21,
//! def. 1, prop. 2 and 3\]. Not in the paper: that the step is natural gradient for every ζ, the cap, and the ridge.

mod saved;

use super::cap::Cap;
use super::coefficients::Coefficients;
use super::family::{AnyFamily, Family};
use super::guard::Guard;
use super::layout::{Layout, Picked};
use super::monitor::{EVERY, Monitor, Report};
use super::schedule::Schedule;
use super::statistic::Statistic;
use super::{Moved, exclude, importance, largest, posterior};
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::row::Row;
use crate::{Real, walk};

/// Settings of the walk.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Pseudo-examples per class.
    pub a: f64,
    /// γ.
    pub schedule: Schedule,
    /// The constant of the cap; `None` for the algorithm as printed, which diverges.
    pub cap: Option<f64>,
    /// Whether to predict with the average of the iterates, weighted by their number.
    pub average: bool,
    /// λ.
    pub ridge: f64,
    /// Whether to limit the loss relative to the class frequencies; requires a cap.
    pub guard: bool,
}

impl Default for Settings {
    /// One pseudo-example, γ = (1 + t)^(-3/4), cap 2, averages, no ridge, guarded.
    fn default() -> Self {
        let schedule = Schedule::Power { c: 1.0, t0: 1.0, p: 0.75 };
        Self { a: 1.0, schedule, cap: Some(2.0), average: true, ridge: 0.0, guard: true }
    }
}

/// A family and its coefficients.
#[derive(Debug, Clone)]
struct Part {
    family: AnyFamily,
    beta: Coefficients,
}

/// Scratch memory for predictions.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    statistics: Vec<Statistic>,
    z: Vec<f64>,
    sums: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
}

/// Dual stochastic natural gradient.
///
/// ```
/// use geowalk::natural::{AnyFamily, Natural, Scratch, Settings};
/// use geowalk::row::Dense;
///
/// let mut walk = Natural::new(AnyFamily::parse("gaussian-shared")?, Settings::default())?;
/// for t in 0..1000 {
///     let x = [f64::from(t % 10), 1e4 * f64::from(t % 3)]; // scales do not matter
///     let y = usize::from(t % 10 + t % 3 + (t / 30) % 2 * 3 > 6);
///     walk.step(Dense(&x), y, 1.0)?;
/// }
/// let mut z = Vec::new();
/// walk.logits(Dense(&[9.0, 2e4]), &mut Scratch::default(), &mut z);
/// assert!(z[1] - z[0] > 2.0, "{z:?}");
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Natural {
    settings: Settings,
    parts: Vec<Part>,
    layout: Layout,
    features: usize,
    /// Total weight of the examples of each class, and of all.
    n: Vec<f64>,
    total: f64,
    alpha: Vec<f64>,
    alpha_sums: Vec<f64>,
    /// Number of examples, and the sum of their weights in the average.
    t: u64,
    weight: f64,
    cap: Cap,
    guard: Guard,
    monitor: Monitor,
    scratch: Scratch,
    work: Work,
}

/// Vectors with one number per class.
#[derive(Debug, Clone, Default)]
struct Work {
    p: Vec<f64>,
    v: Vec<f64>,
    /// q − e of the prediction. It differs from v if the prediction is averaged or insured.
    residuals: Vec<f64>,
    dots: Vec<f64>,
    excess: Vec<f64>,
    a: Vec<f64>,
    dense: Vec<f64>,
    theta: Vec<f64>,
}

impl Natural {
    /// One family for all features, and no classes.
    pub fn new(family: AnyFamily, settings: Settings) -> Result<Self, ConfigError> {
        Self::build(vec![family], Layout::One, settings)
    }

    /// A family for each set of features, and one for all other features, including new ones.
    ///
    /// ```
    /// use geowalk::natural::{AnyFamily, Natural, Settings};
    /// use geowalk::row::Dense;
    /// let number = AnyFamily::parse("gaussian-shared")?;
    /// let rest = AnyFamily::parse("naive-bayes")?;
    /// let mut walk = Natural::mixed(vec![(number, vec![0])], rest, Settings::default())?;
    /// let step = walk.step(Dense(&[37.5, 1.0, 0.0]), 0, 1.0)?;
    /// assert_eq!(step.loss, 0.0, "there is only one class");
    /// # Ok::<(), geowalk::ConfigError>(())
    /// ```
    pub fn mixed(
        parts: Vec<(AnyFamily, Vec<usize>)>,
        rest: AnyFamily,
        settings: Settings,
    ) -> Result<Self, ConfigError> {
        let (mut families, sets): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        families.push(rest);
        Self::build(families, Layout::split(&sets)?, settings)
    }

    fn build(
        families: Vec<AnyFamily>,
        layout: Layout,
        settings: Settings,
    ) -> Result<Self, ConfigError> {
        error::parameter("a", settings.a, Allowed::Closed(1e-6, 1e6))?;
        error::parameter("ridge", settings.ridge, Allowed::Closed(0.0, 1e9))?;
        if let Some(cap) = settings.cap {
            error::parameter("cap", cap, Allowed::Closed(1e-6, 1e6))?;
        }
        if settings.ridge > 0.0
            && let Some(family) = families.iter().find(|family| !family.damps())
        {
            let allowed = Allowed::Closed(0.0, 0.0);
            let name = match family.name() {
                "gaussian" => "ridge (the family gaussian has none)",
                _ => "ridge (the family has none)",
            };
            return Err(ConfigError::OutOfRange { name, value: settings.ridge, allowed });
        }
        let average = settings.average;
        let cap = Cap::new(settings.cap, !families.iter().any(AnyFamily::is_sparse));
        let guard = Guard::new(settings.guard && settings.cap.is_some());
        let part = |family| Part { family, beta: Coefficients::new(average) };
        Ok(Self {
            settings,
            parts: families.into_iter().map(part).collect(),
            layout,
            features: 0,
            n: Vec::new(),
            total: 0.0,
            alpha: Vec::new(),
            alpha_sums: Vec::new(),
            t: 0,
            weight: 0.0,
            cap,
            guard,
            monitor: Monitor::default(),
            scratch: Scratch::default(),
            work: Work::default(),
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

    /// Number of examples learned.
    pub fn examples(&self) -> u64 {
        self.t
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Pseudo-examples per class.
    fn pseudo(&self) -> f64 {
        match self.parts.as_slice() {
            [only] => only.family.pseudo(self.settings.a),
            _ => self.settings.a,
        }
    }

    /// out ← P(class) of ζ.
    pub fn prior(&self, out: &mut Vec<f64>) {
        let a = self.pseudo();
        let all = self.total + a * self.n.len() as f64;
        out.clear();
        out.extend(self.n.iter().map(|n| (n + a) / all));
    }

    /// Makes room for features and classes.
    pub fn grow(&mut self, features: usize, classes: usize) -> Result<(), DomainError> {
        if features <= self.features && classes <= self.n.len() {
            return Ok(());
        }
        self.monitor.forget();
        let features = features.max(self.features);
        let mut layout = self.layout.clone();
        layout.grow(features);
        for (k, part) in self.parts.iter_mut().enumerate() {
            part.family.grow(layout.count(k, features), self.n.len())?;
        }
        self.layout = layout;
        self.features = features;
        let mut p = Vec::new();
        self.prior(&mut p);
        for part in &mut self.parts {
            part.beta.grow(part.family.size(), self.n.len(), &p);
        }
        while self.n.len() < classes {
            self.join(&p)?;
            self.prior(&mut p);
        }
        self.settle();
        Ok(())
    }

    fn settle(&mut self) {
        for part in &mut self.parts {
            part.family.settle(&mut part.beta);
        }
    }

    /// Adds a class; the existing classes have the probabilities p.
    fn join(&mut self, p: &[f64]) -> Result<(), DomainError> {
        let s = self.n.len() + 1;
        for (k, part) in self.parts.iter_mut().enumerate() {
            part.family.grow(self.layout.count(k, self.features), s)?;
            part.beta.grow(part.family.size(), s, p);
        }
        let mean = |values: &[f64]| values.iter().zip(p).map(|(a, p)| a * p).sum::<f64>();
        let (alpha, sums) = (mean(&self.alpha), mean(&self.alpha_sums));
        self.n.push(0.0);
        let a = self.pseudo();
        let odds = a / (self.total + a * (s - 1) as f64);
        // Before the first example all classes are equal.
        let prior = if self.total > 0.0 { Real::ln(odds * (s - 1) as f64) } else { 0.0 };
        self.alpha.push(alpha + prior);
        self.alpha_sums.push(sums);
        Ok(())
    }

    /// The statistics of a row, in every family.
    fn statistics<X: Row<f64>>(&self, x: X, out: &mut Vec<Statistic>) -> Result<(), DomainError> {
        out.resize_with(self.parts.len(), Statistic::default);
        for (k, (part, t)) in self.parts.iter().zip(out).enumerate() {
            match &self.layout {
                Layout::One => part.family.statistic(x, t)?,
                Layout::Split { of, .. } => part
                    .family
                    .statistic(Picked { row: x, of, part: k }, t)
                    .map_err(|error| self.layout.outside(k, error))?,
            }
        }
        Ok(())
    }

    /// z ← the logits of the last iterate; `sums` ← what converts them to those of the average.
    fn score(&self, statistics: &[Statistic], z: &mut Vec<f64>, sums: &mut Vec<f64>) {
        z.clone_from(&self.alpha);
        sums.clone_from(&self.alpha_sums);
        for (part, t) in self.parts.iter().zip(statistics) {
            part.beta.score(t, z, sums);
        }
    }

    fn averages(&self) -> bool {
        self.settings.average && self.weight > 0.0
    }

    /// out ← α_c + β_c·T(x) for every class, from the average if there is one. If the walk is guarded, out ← the
    /// logarithms of the insured probabilities, mixed with the class frequencies. Features without a coefficient count
    /// as 0. Rows outside the domain of the family are scored too; a NaN gives a NaN.
    pub fn logits<X: Row<f64>>(&self, x: X, scratch: &mut Scratch, out: &mut Vec<f64>) {
        self.raw_logits(x, scratch, out);
        self.prior(&mut scratch.p);
        if self.guard.insure(self.t, &scratch.p, out, &mut scratch.q) {
            self.guard.blend(&scratch.p, out, &mut scratch.q);
        }
    }

    /// The logits without insurance and mixing.
    pub fn raw_logits<X: Row<f64>>(&self, x: X, scratch: &mut Scratch, out: &mut Vec<f64>) {
        scratch.statistics.resize_with(self.parts.len(), Statistic::default);
        for (k, (part, t)) in self.parts.iter().zip(&mut scratch.statistics).enumerate() {
            // The statistic is computed even if the row is invalid.
            let _ = match &self.layout {
                Layout::One => part.family.statistic(x, t),
                Layout::Split { of, .. } => {
                    part.family.statistic(Picked { row: x, of, part: k }, t)
                }
            };
        }
        self.score(&scratch.statistics, out, &mut scratch.sums);
        if self.averages() {
            for (z, sum) in out.iter_mut().zip(&scratch.sums) {
                *z -= sum / self.weight;
            }
        }
    }

    /// Whether the log-odds are linear in the features. They are not if a family uses squares or products of features.
    pub fn is_linear(&self) -> bool {
        let own =
            |(k, part): (usize, &Part)| part.family.size() == self.layout.count(k, self.features);
        self.parts.iter().enumerate().all(own)
    }

    /// The logits of the last prediction, before learning.
    pub fn predicted(&self) -> &[f64] {
        &self.scratch.z
    }

    /// P(c) − \[c = y\] for every class c, as predicted in the last step before learning: the slopes of the loss in
    /// the logits.
    pub fn residuals(&self) -> &[f64] {
        &self.work.residuals
    }

    /// Predicts a row, then learns its class. New features and classes are added first. On an error nothing has
    /// changed.
    pub fn step<X: Row<f64>>(
        &mut self,
        x: X,
        class: usize,
        weight: f64,
    ) -> Result<Moved, DomainError> {
        importance(weight)?;
        self.grow(x.bound(), class + 1)?;
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut work = std::mem::take(&mut self.work);
        let moved = self.learn(x, class, weight, &mut scratch, &mut work);
        (self.scratch, self.work) = (scratch, work);
        moved
    }

    fn learn<X: Row<f64>>(
        &mut self,
        x: X,
        class: usize,
        weight: f64,
        scratch: &mut Scratch,
        work: &mut Work,
    ) -> Result<Moved, DomainError> {
        let Scratch { statistics, z, sums, .. } = scratch;
        self.statistics(x, statistics)?;
        self.score(statistics, z, sums);
        self.prior(&mut work.p);
        let (mut moved, spread) = posterior(z, class, &mut work.v)?;
        let averages = self.averages();
        if averages {
            for (z, sum) in z.iter_mut().zip(sums.iter()) {
                *z -= sum / self.weight;
            }
        }
        let of_iterate = moved.loss;
        let insured = self.guard.insure(self.t, &work.p, z, &mut work.a);
        let of_insured = -z[class];
        if insured {
            self.guard.blend(&work.p, z, &mut work.a);
            let (loss, probability) = (-z[class], work.a[class]);
            moved = Moved { loss, probability, prediction: largest(z), ..moved };
            work.residuals.clone_from(&work.a);
            exclude(class, &mut work.residuals);
        } else if averages {
            (moved, _) = posterior(z, class, &mut work.residuals)?;
        } else {
            work.residuals.clone_from(&work.v);
        }
        let of_walk = if insured { of_insured } else { moved.loss };
        if averages {
            self.monitor.losses(self.t as f64, of_iterate, of_walk);
        }
        work.dots.clear();
        work.dots.resize(self.n.len(), 0.0);
        work.excess.clone_from(&work.dots);
        for (part, t) in self.parts.iter_mut().zip(statistics.iter()) {
            part.family.score(t, &mut work.dots, &mut work.excess);
        }
        let (rate, capped) = self.rate(work, weight)?;
        let again = weight > 0.0 && self.fails(of_walk, work.p[class]);
        if insured {
            self.guard.weigh(self.t, of_walk, -Real::ln(work.p[class]), weight);
        }
        (moved.rate, moved.capped) = (rate, capped);
        self.monitor.saw(moved.prediction == class, spread);
        let probing = self.t.is_multiple_of(EVERY);
        let paired = self.t % EVERY == 1 && !self.monitor.residual.is_empty();
        let before = paired.then(|| self.probe(&mut work.theta));
        for part in &mut self.parts {
            part.beta.begin(self.weight);
        }
        if self.settings.ridge > 0.0 {
            self.damped(rate, statistics, work);
        } else {
            self.slide(rate, work);
        }
        self.advance(statistics, work, class, weight);
        if let Some(before) = before {
            let after = self.probe(&mut work.theta);
            if rate > 0.0 {
                self.monitor.pair(self.t as f64, (before - after) / rate);
            }
            self.monitor.forget();
        }
        if probing {
            self.monitor.probe.clone_from(statistics);
            self.monitor.residual.clone_from(&work.v);
        }
        if again {
            self.begin_again(&work.p);
        }
        self.settle();
        self.n[class] += weight;
        self.total += weight;
        self.t += 1;
        self.weight += self.t as f64;
        moved.loss *= weight;
        Ok(moved)
    }

    /// Whether the loss has become too large compared with that of the class frequencies.
    fn fails(&mut self, loss: f64, p: f64) -> bool {
        let size: usize = self.parts.iter().map(|part| part.family.size()).sum();
        let coefficients = (self.n.len() - 1) as f64 * size as f64;
        self.guard.saw(loss, -Real::ln(p), coefficients)
    }

    /// Resets the coefficients to zero and predictions to the class frequencies p; ζ is kept.
    fn begin_again(&mut self, p: &[f64]) {
        for part in &mut self.parts {
            part.beta = Coefficients::new(self.settings.average);
            part.beta.grow(part.family.size(), self.n.len(), p);
        }
        for (alpha, &p) in self.alpha.iter_mut().zip(p) {
            *alpha = Real::ln(p);
        }
        self.alpha_sums.fill(0.0);
        self.weight = 0.0;
        self.monitor.forget();
    }

    /// Σ_c v_c z_c for the first example of a pair.
    fn probe(&self, z: &mut Vec<f64>) -> f64 {
        z.clone_from(&self.alpha);
        for (part, t) in self.parts.iter().zip(&self.monitor.probe) {
            part.beta.score_iterate(t, z);
        }
        z.iter().zip(&self.monitor.residual).map(|(z, v)| z * v).sum()
    }

    /// γ after the cap.
    fn rate(&mut self, work: &Work, weight: f64) -> Result<(f64, bool), DomainError> {
        let size = self.parts.iter().map(|part| part.family.size()).sum();
        let schedule = self.settings.schedule;
        let stake = self.guard.stake();
        let rate = stake * weight * schedule.rate(self.total, self.n.len(), size, self.pseudo());
        let (used, capped) = self.cap.limit(&work.v, &work.p, &work.excess, rate, stake);
        let steps = || {
            let ratios = work.v.iter().zip(&work.p).map(|(v, p)| used * v / p);
            ratios
                .zip(work.dots.iter().zip(&work.excess))
                .map(|(step, (dot, excess))| [(step * dot).abs(), (step * (1.0 + excess)).abs()])
        };
        let safe = |value: f64| value <= walk::LARGEST;
        if steps().fold(safe(used), |all, [a, b]| all & safe(a) & safe(b)) {
            return Ok((used, capped));
        }
        let length = steps().flatten().fold(used, Real::max);
        Err(DomainError::Overflow { length, limit: walk::LARGEST })
    }

    /// The step of α without a ridge, and the factors of g in the step of β.
    fn slide(&mut self, rate: f64, work: &mut Work) {
        work.a.clear();
        work.a.extend(work.v.iter().zip(&work.p).map(|(v, p)| -rate * v / p));
        for (c, (a, dot)) in work.a.iter().zip(&work.dots).enumerate() {
            let delta = a * (1.0 - dot);
            self.alpha[c] += delta;
            self.alpha_sums[c] += self.weight * delta;
        }
    }

    /// The step of ζ, and of β if there is no ridge.
    fn advance(&mut self, statistics: &[Statistic], work: &Work, class: usize, weight: f64) {
        let walks = self.settings.ridge == 0.0;
        // A row of weight 0 carries no information, and would give means of NaN.
        let tells = weight > 0.0;
        for (Part { family, beta }, t) in self.parts.iter_mut().zip(statistics) {
            match (walks, tells) {
                (true, true) => family.advance(t, &work.a, beta, class, weight),
                (true, false) => family.walk(t, &work.a, beta),
                (false, true) => family.observe(t, class, weight),
                (false, false) => {}
            }
        }
    }

    fn damped(&mut self, rate: f64, statistics: &[Statistic], work: &mut Work) {
        let ridge = self.settings.ridge;
        let Work { p, v, dense, theta, .. } = work;
        for c in 0..self.n.len() {
            let mut delta = v[c] / p[c];
            for (part, t) in self.parts.iter_mut().zip(statistics) {
                t.spread(part.family.size(), dense);
                part.family.mean(c, theta);
                for (j, (r, theta)) in dense.iter_mut().zip(theta.iter()).enumerate() {
                    *r = v[c] * (*r - theta) + ridge * part.beta.at(j, c);
                }
                part.family.damp(c, p[c], ridge, dense);
                for (j, (db, theta)) in dense.iter().zip(theta.iter()).enumerate() {
                    delta -= theta * db;
                    part.beta.add(j, c, -rate * db);
                }
            }
            self.alpha[c] -= rate * delta;
            self.alpha_sums[c] -= self.weight * rate * delta;
        }
    }

    /// The state of convergence.
    pub fn report(&self) -> Report {
        let mut cells = (0, 0);
        for part in &self.parts {
            let (empty, all) = part.family.empty_cells(&self.n);
            cells = (cells.0 + empty, cells.1 + all);
        }
        Report { again: self.guard.again(), ..self.monitor.report(self.t, cells) }
    }

    /// Returns α of a class, and out ← its β; from the average if there is one. The coordinates of all families are
    /// concatenated.
    pub fn coefficients(&self, class: usize, out: &mut Vec<f64>) -> f64 {
        let weight = if self.averages() { self.weight } else { 0.0 };
        out.clear();
        for part in &self.parts {
            out.extend((0..part.beta.size()).map(|j| part.beta.averaged(j, class, weight)));
        }
        let sum = self.alpha_sums.get(class).copied().unwrap_or(0.0);
        let alpha = self.alpha.get(class).copied().unwrap_or(0.0);
        if weight > 0.0 { alpha - sum / weight } else { alpha }
    }

    /// Returns α of a class at the last iterate, and out ← its β.
    pub fn iterate(&self, class: usize, out: &mut Vec<f64>) -> f64 {
        out.clear();
        for part in &self.parts {
            out.extend((0..part.beta.size()).map(|j| part.beta.at(j, class)));
        }
        self.alpha.get(class).copied().unwrap_or(0.0)
    }

    /// out ← β of a class at the coordinates that are features, in the order of the features.
    pub fn linear(&self, class: usize, out: &mut Vec<f64>) -> f64 {
        let weight = if self.averages() { self.weight } else { 0.0 };
        out.clear();
        out.resize(self.features, 0.0);
        for (k, part) in self.parts.iter().enumerate() {
            let inside = self.layout.inside(k);
            for i in 0..self.layout.count(k, self.features) {
                let feature = inside.get(i).copied().unwrap_or(i);
                if let Some(out) = out.get_mut(feature) {
                    *out = part.beta.averaged(part.family.linear(i), class, weight);
                }
            }
        }
        self.coefficients(class, &mut Vec::new())
    }

    /// mean ← θ of a class, covariance ← its covariance (column-major), as estimated by ζ. `None` if there are several
    /// families.
    pub fn moments(
        &self,
        class: usize,
        mean: &mut Vec<f64>,
        covariance: &mut Vec<f64>,
    ) -> Option<()> {
        let [part] = self.parts.as_slice() else { return None };
        part.family.mean(class, mean);
        part.family.covariance(class, covariance);
        Some(())
    }
}

impl Scratch {
    /// The logits.
    pub(super) fn z(&self) -> &[f64] {
        &self.z
    }

    /// The statistic of the only family, the sums of the average, the logits.
    pub(super) fn all(&mut self) -> (&mut Statistic, &mut Vec<f64>, &mut Vec<f64>) {
        if self.statistics.is_empty() {
            self.statistics.push(Statistic::default());
        }
        (&mut self.statistics[0], &mut self.sums, &mut self.z)
    }
}
