//! # The aggregating algorithm for the squared loss
//! Labels and predictions within [a, b]. With $\eta = 2/(b-a)^2$, $v_k \propto \pi_k e^{-\eta L_k}$ and the
//! generalised prediction $G(y) = -\tfrac1\eta \ln \sum_k v_k e^{-\eta (p_k - y)^2}$,
//! $$\hat y = \frac{a+b}2 - \frac{G(b) - G(a)}{2(b-a)}, \qquad (\hat y - y)^2 \le G(y) \text{ for all } y \in [a, b]$$
//! so the overhead against member k is at most $\ln(1/\pi_k)/\eta$: for K equal members $(b-a)^2 \ln K/2$.
//! Importances divide η by the largest of them.
//!
//! **The range** is declared, or grows: a label outside makes it at least twice as wide, and η smaller, which
//! costs nothing but the larger $1/\eta$. In the round of such a label nothing is promised, nor in one
//! heavier than all before: what was lost there beyond the member is added to the bound as it is (the price
//! of the range).
//! **Members** outside the range are clipped to it, which no label inside can hold against them.
//! **Start** The mean of the members; then the first label, until a different one has come. **Cost** O(K): two exponentials per member, one of
//! them kept.
//! **Source** \[Vovk90\].

use super::Overhead;
use crate::Real;
use crate::error::{self, Allowed, ConfigError};
use crate::sum::Sum;

/// Members that predict numbers, and one prediction made of theirs.
///
/// ```
/// use geowalk::team::Aggregate;
/// // The second of two members is nearer.
/// let mut team = Aggregate::new(2, Some((0.0, 1.0)))?;
/// for t in 0..100 {
///     let y = f64::from(t % 2);
///     team.predict(&[0.5, 0.9 * y]);
///     team.learn(y, 1.0);
/// }
/// let found = team.against(1);
/// assert!(found.overhead <= found.bound && found.bound < 0.35); // ln 2 / 2
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Aggregate {
    range: Option<(f64, f64)>,
    /// The largest importance, no less than 1.
    heaviest: f64,
    /// What members lost while labels were in the range, clipped to it.
    clipped: Vec<Sum>,
    /// What they lost in all.
    sums: Vec<Sum>,
    /// What was lost beyond them where labels were outside.
    price: Vec<Sum>,
    loss: Sum,
    /// How often the range has grown.
    grown: u64,
    v: Vec<f64>,
    p: Vec<f64>,
    z: f64,
}

impl Aggregate {
    /// A team of so many members, and the range of the labels if it is known.
    pub fn new(members: usize, range: Option<(f64, f64)>) -> Result<Self, ConfigError> {
        error::parameter("members", members as f64, Allowed::Whole(1))?;
        if let Some((lo, hi)) = range {
            error::parameter("the lower end of the range", lo, Allowed::Finite)?;
            error::parameter("the upper end of the range", hi, Allowed::OpenClosed(lo, f64::MAX))?;
        }
        Ok(Self {
            range,
            heaviest: 1.0,
            clipped: vec![Sum::default(); members],
            sums: vec![Sum::default(); members],
            price: vec![Sum::default(); members],
            loss: Sum::default(),
            grown: 0,
            v: vec![1.0 / members as f64; members],
            p: Vec::new(),
            z: 0.0,
        })
    }

    /// η; infinite until the range has a width.
    fn rate(&self) -> f64 {
        let width = self.range.map_or(0.0, |(a, b)| b - a);
        2.0 / (width * width * self.heaviest)
    }

    /// The prediction for a row, from those of the members.
    pub fn predict(&mut self, p: &[f64]) -> f64 {
        self.p.clear();
        self.p.extend_from_slice(p);
        self.z = self.answer(p);
        self.z
    }

    /// The same, of a finished team.
    pub fn answer(&self, p: &[f64]) -> f64 {
        let Some((a, b)) = self.range else {
            return p.iter().zip(&self.v).map(|(p, v)| v * p).sum();
        };
        if a >= b {
            return a;
        }
        let rate = self.rate() * self.heaviest;
        // Relative to the end: G(b) − G(a) is a difference of logarithms.
        let (mut at_a, mut at_b) = (0.0, 0.0);
        for (p, v) in p.iter().zip(&self.v) {
            let p = Real::clamp(*p, a, b);
            let (from_a, from_b) = (p - a, b - p);
            at_a += v * Real::exp(-rate * from_a * from_a);
            at_b += v * Real::exp(-rate * from_b * from_b);
        }
        // e^{−η(b−a)²} = e^{−2}: neither is 0.
        let apart = (Real::ln(at_a) - Real::ln(at_b)) / rate;
        Real::clamp(f64::midpoint(a, b) - apart / (2.0 * (b - a)), a, b)
    }

    /// Learns the label of the row that was predicted last, of this importance. What the team lost.
    pub fn learn(&mut self, y: f64, weight: f64) -> f64 {
        let off = self.z - y;
        let loss = weight * off * off;
        if weight == 0.0 {
            return 0.0;
        }
        self.loss.add(loss);
        let within = self.range.filter(|(a, b)| (*a..=*b).contains(&y));
        let inside = within.filter(|(a, b)| a < b && weight <= self.heaviest);
        self.heaviest = Real::max(self.heaviest, weight);
        for (k, p) in self.p.iter().enumerate() {
            let lost = weight * (p - y) * (p - y);
            self.sums[k].add(lost);
            if let Some((a, b)) = inside {
                let p = Real::clamp(*p, a, b);
                self.clipped[k].add(weight * (p - y) * (p - y));
            } else {
                self.price[k].add(loss - lost);
            }
        }
        if within.is_none() {
            self.widen(y);
        }
        self.reweigh();
        loss
    }

    /// A range with this label in it, at least twice as wide as before.
    fn widen(&mut self, y: f64) {
        self.grown += 1;
        self.range = match self.range {
            None => Some((y, y)),
            Some((a, b)) if y > b => Some((a, Real::max(y, b + (b - a)))),
            Some((a, b)) => Some((Real::min(y, a - (b - a)), b)),
        };
    }

    fn reweigh(&mut self) {
        let rate = self.rate();
        if !rate.is_finite() {
            return;
        }
        let first = self.clipped[0];
        let best = self.clipped.iter().fold(first, |a, b| if b.less(&a) < 0.0 { *b } else { a });
        let mut total = 0.0;
        for (v, sum) in self.v.iter_mut().zip(&self.clipped) {
            *v = Real::exp(-rate * sum.less(&best));
            total += *v;
        }
        self.v.iter_mut().for_each(|v| *v /= total);
    }

    /// The posterior of the members.
    pub fn weights(&self) -> &[f64] {
        &self.v
    }

    /// What the team lost.
    pub fn loss(&self) -> f64 {
        self.loss.total()
    }

    /// The member that lost least, the first of equals.
    pub fn best(&self) -> usize {
        let less = |i: usize, best: usize| self.sums[i].less(&self.sums[best]) < 0.0;
        (1..self.sums.len()).fold(0, |best, i| if less(i, best) { i } else { best })
    }

    /// The range of the labels so far.
    pub fn range(&self) -> Option<(f64, f64)> {
        self.range
    }

    /// What the team lost beyond member k, and the most that it can have lost beyond it.
    pub fn against(&self, k: usize) -> Overhead {
        let (Some(sum), Some(price)) = (self.sums.get(k), self.price.get(k)) else {
            return Overhead { member_loss: f64::NAN, overhead: f64::NAN, bound: f64::INFINITY };
        };
        let nats = Real::ln(self.sums.len() as f64);
        let theorem = if self.range.is_some() { nats / self.rate() } else { 0.0 };
        // Each loss is a rounded square, and the prediction is a rounded difference of logarithms.
        let rounding = 64.0 * f64::EPSILON * (self.loss.magnitude() + sum.magnitude())
            + 1e-14 * self.loss.count() as f64 * self.scale();
        let bound = (theorem + price.upper() + rounding).next_up();
        Overhead { member_loss: sum.total(), overhead: self.loss.less(sum), bound }
    }

    /// The square of the largest label.
    fn scale(&self) -> f64 {
        let (a, b) = self.range.unwrap_or((0.0, 0.0));
        let most = Real::max(a.abs(), b.abs());
        self.heaviest * most * most
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(String, &[f64])) {
        let sums = |sums: &[Sum]| sums.iter().flat_map(Sum::save).collect::<Vec<_>>();
        put("losses".to_owned(), &sums(&self.sums));
        put("clipped".to_owned(), &sums(&self.clipped));
        put("price".to_owned(), &sums(&self.price));
        put("loss".to_owned(), &self.loss.save());
        let range = self.range.map_or_else(Vec::new, |(a, b)| vec![a, b]);
        put("range".to_owned(), &range);
        put("state".to_owned(), &[self.heaviest, self.grown as f64]);
    }

    /// Continues from what [`Aggregate::save`] gave, with the same bits.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let missing =
            ConfigError::Missing { name: "team", meaning: "the state of a team of forecasts" };
        let n = self.sums.len();
        let mut sums = |name: &str, n: usize| {
            let saved = get(name).filter(|saved| saved.len() == 4 * n).ok_or(missing.clone())?;
            let (fours, _) = saved.as_chunks::<4>();
            Ok::<_, ConfigError>(fours.iter().map(|four| Sum::load(*four)).collect::<Vec<_>>())
        };
        let (all, clipped, price) = (sums("losses", n)?, sums("clipped", n)?, sums("price", n)?);
        let loss = sums("loss", 1)?[0];
        let range = get("range").ok_or(missing.clone())?;
        let state = get("state").and_then(|state| <[f64; 2]>::try_from(state).ok());
        let [heaviest, grown] = state.ok_or(missing)?;
        (self.sums, self.clipped, self.price, self.loss) = (all, clipped, price, loss);
        self.range = <[f64; 2]>::try_from(range).ok().map(|[a, b]| (a, b));
        (self.heaviest, self.grown) = (heaviest, grown as u64);
        self.reweigh();
        Ok(())
    }
}
