//! # Mixtures under the logarithmic loss
//! Member k gives what happens the probability $p_{t,k}$ and loses $L_k = -\sum_t w_t \ln p_{t,k}$, $w_t$ the
//! importance of the row. With the prior π the posterior is $v_k \propto \pi_k e^{-\eta L_k}$, and the
//! mixture predicts $\sum_k v_k p_k$. For importances of 1 and η = 1
//! $$L_{mix} = -\ln \sum_k \pi_k e^{-L_k} \;\le\; \min_k \bigl( L_k + \ln 1/\pi_k \bigr)$$
//! is an identity. With other importances $\eta = 1/\max(1, \max_s w_s)$, and the overhead is at most
//! $\ln(1/\pi_k)/\eta$ and what was lost in rounds that were heavier than all before them.
//!
//! **Shares** After a round $v \leftarrow (1-\alpha_t) v + \alpha_t \pi$: the mixture over all *sequences* of
//! members whose every round is a new choice with probability $\alpha_t$.
//! **Stacks** Two learners of scores, on the members' log-odds: see `stack.rs`. They find sums of members
//! that no mixture can.
//! **The upper mixture** mixes the plain mixture, the shared ones and the stacks, from a uniform prior: ln J
//! more.
//!
//! **Floor** Log-odds are clipped to ±40 ln 2, and probabilities of several classes are kept above 2⁻⁴⁰: a
//! member that gave 0 to what happened would be lost for good. What the floor costs counts as the member's
//! loss.
//! **Care** Weights are products of probabilities, which are made anew from the compensated sums $L_k$ before
//! their rounding shows, so that no weight dies and the identity holds to 1e-12.
//! **Cost** O(K) per round of two classes, O(KC) for C classes. **Source** \[Vovk90\]; \[HW98\].

use super::Overhead;
use super::stack::{Chosen, Stack};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};
use crate::loss::{Logistic, Loss};
use crate::sum::Sum;

/// The least probability of a member.
pub const FLOOR: f64 = 1.0 / (1_u64 << 40) as f64;

/// 40 ln 2: log-odds of two classes are kept within ± this.
const FARTHEST: f64 = 27.725_887_222_397_812;

/// Log-odds within the range that members are held to; 0 for NaN.
#[must_use]
pub fn log_odds_in_range(z: f64) -> f64 {
    if z.is_nan() { 0.0 } else { z.clamp(-FARTHEST, FARTHEST) }
}

/// The part of the weight that goes back to the prior after a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Share {
    /// None: the mixture of members.
    None,
    /// 1/(t + 1) after round t.
    Falling,
    /// Always the same.
    Constant(f64),
}

impl Share {
    fn after(self, rounds: u64) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Falling => 1.0 / (rounds as f64 + 1.0),
            Self::Constant(share) => share,
        }
    }
}

/// A posterior over some predictors.
#[derive(Debug, Clone, PartialEq)]
struct Posterior {
    share: Share,
    v: Vec<f64>,
    /// A lower bound of how far weights have moved apart since they were made from the sums.
    drift: f64,
    made: u64,
}

/// Products of so many probabilities are rounded by less than 1e-13.
const PRODUCTS: u64 = 128;

/// Weights may move apart by this factor before they are made anew; none is set smaller than its square root
/// to begin with.
const APART: f64 = 1e-100;
const LEAST: f64 = 1e-200;

impl Posterior {
    fn new(n: usize, share: Share) -> Self {
        Self { share, v: vec![1.0 / n as f64; n], drift: 1.0, made: 0 }
    }

    /// v_k ∝ v_k f_k, then the share. `sums` are what predictors lost in all.
    fn update(&mut self, factors: &[f64], rounds: u64, rate: f64, sums: &[Sum]) {
        let n = self.v.len() as f64;
        let (mut total, mut least, mut most) = (0.0, f64::INFINITY, 0.0);
        for (v, factor) in self.v.iter_mut().zip(factors) {
            *v *= factor;
            total += *v;
            least = Real::min(least, *factor);
            most = Real::max(most, *factor);
        }
        if self.share == Share::None {
            self.drift *= least / most;
            if rounds >= self.made + PRODUCTS || self.drift < APART || total < LEAST {
                self.make(rounds, rate, sums);
                return;
            }
        }
        let share = self.share.after(rounds);
        let (keep, part) = ((1.0 - share) / total, share / n);
        self.v.iter_mut().for_each(|v| *v = keep * *v + part);
    }

    /// The weights as they follow from the sums.
    fn make(&mut self, rounds: u64, rate: f64, sums: &[Sum]) {
        let first = sums.first().copied().unwrap_or_default();
        let best = sums.iter().fold(first, |a, b| if b.less(&a) < 0.0 { *b } else { a });
        let mut total = 0.0;
        for (v, sum) in self.v.iter_mut().zip(sums) {
            *v = Real::max(Real::exp(-rate * sum.less(&best)), LEAST);
            total += *v;
        }
        self.v.iter_mut().for_each(|v| *v /= total);
        (self.drift, self.made) = (1.0, rounds);
    }

    /// v_k ∝ π (v_k/π)^power: the same beliefs at a smaller rate.
    fn temper(&mut self, power: f64) {
        let n = self.v.len() as f64;
        let mut total = 0.0;
        for v in &mut self.v {
            *v = Real::powf(*v * n, power);
            total += *v;
        }
        self.v.iter_mut().for_each(|v| *v /= total);
    }

    fn save(&self) -> Vec<f64> {
        let mut all = self.v.clone();
        all.extend([self.drift, self.made as f64]);
        all
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    fn load(&mut self, saved: Option<Vec<f64>>) -> Result<(), ConfigError> {
        let n = self.v.len();
        let saved = saved.filter(|saved| saved.len() == n + 2).ok_or(MISSING)?;
        self.v.copy_from_slice(&saved[..n]);
        (self.drift, self.made) = (saved[n], saved[n + 1] as u64);
        Ok(())
    }
}

const MISSING: ConfigError = ConfigError::Missing { name: "team", meaning: "the state of a team" };

/// Members that give probabilities, and their mixture.
///
/// ```
/// use geowalk::team::LogMixture;
/// // The first of two members says 3:1 for what happens, the second 1:3.
/// let mut team = LogMixture::new(2)?;
/// for _ in 0..50 {
///     team.predict_two(&[3.0_f64.ln(), -3.0_f64.ln()]);
///     team.learn_two(1.0, 1.0);
/// }
/// let found = team.against(0);
/// assert!(team.weights()[0] > 0.999 && found.overhead <= found.bound);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct LogMixture {
    posteriors: [Posterior; 3],
    stacks: Option<[Stack; 2]>,
    upper: Posterior,
    /// L_k.
    sums: Vec<Sum>,
    /// What the predictors of the upper mixture lost.
    upper_sums: Vec<Sum>,
    loss: Sum,
    /// What was lost in rounds heavier than all before them, which the theorem does not cover.
    price: Sum,
    rate: f64,
    rounds: u64,
    /// All importances were 1.
    plain: bool,
    /// Of the row that was predicted last: log-odds, or the probabilities of all classes, member by member.
    z: Vec<f64>,
    p: Vec<f64>,
    classes: usize,
    /// The probabilities that the predictors of the upper mixture give, predictor by predictor.
    q: Vec<f64>,
    /// The probabilities of the team.
    answer: Vec<f64>,
    factors: Vec<f64>,
    upper_factors: Vec<f64>,
}

impl LogMixture {
    /// A team of so many members that starts from equal weights. Its shares are 1/(t + 1) and 0.01.
    pub fn new(members: usize) -> Result<Self, ConfigError> {
        Self::with_share(members, 0.01)
    }

    /// The same with another constant share.
    pub fn with_share(members: usize, share: f64) -> Result<Self, ConfigError> {
        error::parameter("members", members as f64, Allowed::Whole(1))?;
        error::parameter("share", share, Allowed::Open(0.0, 1.0))?;
        let posterior = |share| Posterior::new(members, share);
        let posteriors = [Share::None, Share::Falling, Share::Constant(share)].map(posterior);
        let stacks = if members > 1 {
            Some([Stack::new(members, members)?, Stack::new(members, members.min(3))?])
        } else {
            None
        };
        let upper = 3 + stacks.as_ref().map_or(0, |stacks| stacks.len());
        Ok(Self {
            posteriors,
            stacks,
            upper: Posterior::new(upper, Share::None),
            sums: vec![Sum::default(); members],
            upper_sums: vec![Sum::default(); upper],
            loss: Sum::default(),
            price: Sum::default(),
            rate: 1.0,
            rounds: 0,
            plain: true,
            z: Vec::new(),
            p: Vec::new(),
            classes: 0,
            q: Vec::new(),
            answer: Vec::new(),
            factors: Vec::new(),
            upper_factors: Vec::new(),
        })
    }

    /// A team for several classes, whose log-odds are not stacked.
    #[must_use]
    pub fn without_stacks(mut self) -> Self {
        self.stacks = None;
        self.upper = Posterior::new(3, Share::None);
        self.upper_sums.truncate(3);
        self
    }

    /// The log-odds of the second of two classes, from those of the members.
    pub fn predict_two(&mut self, log_odds: &[f64]) -> f64 {
        self.begin_two(log_odds);
        let stacked = self.stacks.as_mut().map(|stacks| {
            let z = &self.z;
            let sums = &self.sums;
            stacks.each_mut().map(|stack| stack.predict(z, sums))
        });
        self.answer_two(stacked)
    }

    /// The same without being able to learn next: of a finished team.
    #[must_use]
    pub fn score_two(&self, log_odds: &[f64], scratch: &mut Scratch) -> f64 {
        scratch.z.clear();
        scratch.z.extend(log_odds.iter().map(|z| log_odds_in_range(*z)));
        let (mut no, mut yes) = (0.0, 0.0);
        let pairs = || scratch.z.iter().map(|z| pair(*z));
        for (posterior, u) in self.posteriors.iter().zip(&self.upper.v) {
            let (mut first, mut second) = (0.0, 0.0);
            for (v, (a, b)) in posterior.v.iter().zip(pairs()) {
                first += v * a;
                second += v * b;
            }
            no += u * first;
            yes += u * second;
        }
        for (stack, u) in self.stacks.iter().flatten().zip(&self.upper.v[3..]) {
            let z = stack.score(&scratch.z, &self.sums, &mut scratch.chosen);
            let (a, b) = pair(log_odds_in_range(z));
            no += u * a;
            yes += u * b;
        }
        Real::ln(yes) - Real::ln(no)
    }

    fn begin_two(&mut self, log_odds: &[f64]) {
        self.classes = 2;
        self.z.clear();
        self.z.extend(log_odds.iter().map(|z| log_odds_in_range(*z)));
        self.p.clear();
        for z in &self.z {
            let (no, yes) = pair(*z);
            self.p.extend([no, yes]);
        }
    }

    fn answer_two(&mut self, stacked: Option<[f64; 2]>) -> f64 {
        self.mix();
        for z in stacked.iter().flatten() {
            let (no, yes) = pair(log_odds_in_range(*z));
            self.q.extend([no, yes]);
        }
        self.finish();
        Real::ln(self.answer[1]) - Real::ln(self.answer[0])
    }

    /// The probabilities of several classes, from those of the members, member by member.
    pub fn predict_several(&mut self, classes: usize, probabilities: &[f64]) -> &[f64] {
        self.classes = classes;
        self.z.clear();
        self.p.clear();
        floor(probabilities, classes, &mut self.p);
        self.mix();
        self.finish();
        &self.answer
    }

    /// The same without being able to learn next: of a finished team.
    pub fn probabilities(
        &self,
        classes: usize,
        probabilities: &[f64],
        scratch: &mut Scratch,
        out: &mut Vec<f64>,
    ) {
        scratch.p.clear();
        floor(probabilities, classes, &mut scratch.p);
        let from = out.len();
        out.resize(from + classes, 0.0);
        for (k, row) in scratch.p.chunks_exact(classes.max(1)).enumerate() {
            // The weight of the member in all mixtures together.
            let v: f64 = self
                .posteriors
                .iter()
                .zip(&self.upper.v)
                .map(|(posterior, u)| u * posterior.v[k])
                .sum();
            for (out, p) in out[from..].iter_mut().zip(row) {
                *out += v * p;
            }
        }
    }

    /// What the three mixtures say.
    fn mix(&mut self) {
        let Self { posteriors, p, q, classes, .. } = self;
        let classes = *classes;
        q.clear();
        q.resize(3 * classes, 0.0);
        for (posterior, q) in posteriors.iter().zip(q.chunks_exact_mut(classes.max(1))) {
            for (v, p) in posterior.v.iter().zip(p.chunks_exact(classes.max(1))) {
                for (q, p) in q.iter_mut().zip(p) {
                    *q += v * p;
                }
            }
        }
    }

    /// What the upper mixture says.
    fn finish(&mut self) {
        let Self { upper, q, answer, classes, .. } = self;
        answer.clear();
        answer.resize(*classes, 0.0);
        for (u, q) in upper.v.iter().zip(q.chunks_exact((*classes).max(1))) {
            for (answer, q) in answer.iter_mut().zip(q) {
                *answer += u * q;
            }
        }
    }

    /// Learns that the row that was predicted last is of the second of two classes (y > 0) or of the first,
    /// and of this importance. What the team lost.
    pub fn learn_two(&mut self, y: f64, weight: f64) -> f64 {
        let loss = self.learn_several(usize::from(y > 0.0), weight);
        for stack in self.stacks.iter_mut().flatten() {
            stack.learn(y, weight);
        }
        loss
    }

    /// Learns which of several classes the row that was predicted last is of, and of what importance. What
    /// the team lost.
    pub fn learn_several(&mut self, class: usize, weight: f64) -> f64 {
        if weight == 0.0 {
            return 0.0;
        }
        self.rounds += 1;
        self.plain &= weight == 1.0;
        let loss = weight * -Real::ln(self.answer[class]);
        self.loss.add(loss);
        if weight * self.rate > 1.0 {
            self.price.add(loss);
            let rate = 1.0 / weight;
            let power = rate / self.rate;
            self.posteriors.iter_mut().chain([&mut self.upper]).for_each(|p| p.temper(power));
            self.rate = rate;
        }
        let Self { rate, rounds, classes, .. } = *self;
        let power = rate * weight;
        let factor = |p: f64| if power == 1.0 { p } else { Real::powf(p, power) };
        self.factors.clear();
        for (p, sum) in self.p.chunks_exact(classes).zip(&mut self.sums) {
            // The probability of two classes is as exact as its logarithm.
            sum.add(weight * -Real::ln(p[class]));
            self.factors.push(factor(p[class]));
        }
        self.upper_factors.clear();
        for (q, sum) in self.q.chunks_exact(classes).zip(&mut self.upper_sums) {
            sum.add(weight * -Real::ln(q[class]));
            self.upper_factors.push(factor(q[class]));
        }
        for posterior in &mut self.posteriors {
            posterior.update(&self.factors, rounds, rate, &self.sums);
        }
        self.upper.update(&self.upper_factors, rounds, rate, &self.upper_sums);
        loss
    }

    /// The posterior of the members, that of the mixture without shares.
    pub fn weights(&self) -> &[f64] {
        &self.posteriors[0].v
    }

    /// The weights of the upper mixture: of the mixture, the two shared ones, and the two stacks if there are
    /// any.
    pub fn upper_weights(&self) -> &[f64] {
        &self.upper.v
    }

    /// Its predictors, in the same order.
    pub const UPPER: [&str; 5] =
        ["mixture", "falling share", "constant share", "stack of all", "stack of the best"];

    /// How many members there are.
    pub fn members(&self) -> usize {
        self.sums.len()
    }

    /// What the team lost.
    pub fn loss(&self) -> f64 {
        self.loss.total()
    }

    /// What a predictor of the upper mixture lost.
    pub fn upper_loss(&self, j: usize) -> f64 {
        self.upper_sums.get(j).map_or(f64::NAN, Sum::total)
    }

    /// The member that lost least, the first of equals.
    pub fn best(&self) -> usize {
        let less = |i: usize, best: usize| self.sums[i].less(&self.sums[best]) < 0.0;
        (1..self.sums.len()).fold(0, |best, i| if less(i, best) { i } else { best })
    }

    /// What the team lost beyond member k, and the most that it can have lost beyond it.
    pub fn against(&self, k: usize) -> Overhead {
        let Some(sum) = self.sums.get(k) else {
            return Overhead { member_loss: f64::NAN, overhead: f64::NAN, bound: f64::INFINITY };
        };
        let nats = Real::ln(self.sums.len() as f64) + Real::ln(self.upper.v.len() as f64);
        let bound = self.rounded(nats / self.rate + self.price.upper());
        Overhead { member_loss: sum.total(), overhead: self.loss.less(sum), bound }
    }

    /// The most that the team can have lost beyond any sequence of members with so many switches: by the
    /// mixture with the falling share.
    pub fn against_sequences(&self, switches: u64) -> f64 {
        if self.rate < 1.0 || switches >= self.rounds.max(1) {
            return f64::INFINITY;
        }
        let (n, rounds, m) = (self.sums.len() as f64, self.rounds as f64, switches as f64);
        // A switch after round t costs ln((t + 1)n), and rounds without one Π t/(t + 1) at the most.
        let nats = Real::ln(n) + m * (Real::ln(n) + Real::ln(rounds)) + Real::ln(rounds + 1.0);
        self.rounded(nats + Real::ln(self.upper.v.len() as f64))
    }

    /// A bound, with what rounding can have done to losses and weights.
    fn rounded(&self, bound: f64) -> f64 {
        let rounds = self.rounds as f64;
        let most = self.sums.iter().fold(self.loss.magnitude(), |m, s| Real::max(m, s.magnitude()));
        let slack = 1e-13 * rounds + 16.0 * f64::EPSILON * most;
        (bound + slack).next_up()
    }

    /// $L_{mix} + \ln\sum_k \pi_k e^{-L_k}$ of the mixture without shares: 0, but for rounding, if all
    /// importances are 1; `None` otherwise.
    pub fn identity(&self) -> Option<f64> {
        let best = self.sums.get(self.best()).filter(|_| self.plain)?;
        let total: f64 = self.sums.iter().map(|sum| Real::exp(-sum.less(best))).sum();
        let mixed = self.upper_sums.first()?;
        Some(mixed.less(best) + Real::ln(total / self.sums.len() as f64))
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(String, &[f64])) {
        let sums = |sums: &[Sum]| sums.iter().flat_map(Sum::save).collect::<Vec<_>>();
        put("losses".to_owned(), &sums(&self.sums));
        put("upper.losses".to_owned(), &sums(&self.upper_sums));
        put("loss".to_owned(), &sums(&[self.loss, self.price]));
        let plain = f64::from(u8::from(self.plain));
        put("state".to_owned(), &[self.rate, self.rounds as f64, plain]);
        for (j, posterior) in self.posteriors.iter().enumerate() {
            put(format!("posterior.{j}"), &posterior.save());
        }
        put("upper".to_owned(), &self.upper.save());
        for (j, stack) in self.stacks.iter().flatten().enumerate() {
            stack.save(&mut |name, values| put(format!("stack.{j}.{name}"), values));
        }
    }

    /// Continues from what [`LogMixture::save`] gave, with the same bits.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let mut sums = |name: &str, n: usize| {
            let saved = get(name).filter(|saved| saved.len() == 4 * n).ok_or(MISSING)?;
            let (fours, _) = saved.as_chunks::<4>();
            Ok::<_, ConfigError>(fours.iter().map(|four| Sum::load(*four)).collect::<Vec<_>>())
        };
        let members = sums("losses", self.sums.len())?;
        let upper = sums("upper.losses", self.upper_sums.len())?;
        let loss = sums("loss", 2)?;
        let state = get("state").and_then(|state| <[f64; 3]>::try_from(state).ok());
        let [rate, rounds, plain] = state.ok_or(MISSING)?;
        for (j, posterior) in self.posteriors.iter_mut().enumerate() {
            posterior.load(get(&format!("posterior.{j}")))?;
        }
        self.upper.load(get("upper"))?;
        for (j, stack) in self.stacks.iter_mut().flatten().enumerate() {
            stack.load(&mut |name| get(&format!("stack.{j}.{name}")))?;
        }
        (self.sums, self.upper_sums) = (members, upper);
        (self.loss, self.price) = (loss[0], loss[1]);
        (self.rate, self.rounds, self.plain) = (rate, rounds as u64, plain == 1.0);
        Ok(())
    }
}

/// Memory for predictions of a finished team.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    z: Vec<f64>,
    p: Vec<f64>,
    chosen: Chosen,
}

/// The probabilities of two classes with these log-odds, each with all its digits.
fn pair(z: f64) -> (f64, f64) {
    let e = Real::exp(-z.abs());
    let (large, small) = (1.0 / (1.0 + e), e / (1.0 + e));
    if z >= 0.0 { (small, large) } else { (large, small) }
}

/// Probabilities of classes, none below the floor. A member that gives none, or NaN, says that all are alike.
fn floor(probabilities: &[f64], classes: usize, out: &mut Vec<f64>) {
    let keep = 1.0 - FLOOR * classes as f64;
    for row in probabilities.chunks_exact(classes.max(1)) {
        let total: f64 = row.iter().sum();
        let alike = 1.0 / classes as f64;
        out.extend(row.iter().map(|p| {
            let p = if total > 0.0 && total.is_finite() { p / total } else { alike };
            keep * p + FLOOR
        }));
    }
}

/// The logistic loss of a score that an offset is added to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offset(pub(super) f64);

impl Loss for Offset {
    fn spec(&self) -> String {
        "logistic".to_owned()
    }

    fn value(&self, z: f64, y: f64) -> f64 {
        Logistic.value(z + self.0, y)
    }

    fn slope(&self, z: f64, y: f64) -> f64 {
        Logistic.slope(z + self.0, y)
    }

    fn curvature(&self, z: f64, y: f64) -> f64 {
        Logistic.curvature(z + self.0, y)
    }

    fn minimizer(&self, y: f64) -> f64 {
        Logistic.minimizer(y)
    }

    fn facts(&self) -> crate::loss::Facts {
        Logistic.facts()
    }
}
