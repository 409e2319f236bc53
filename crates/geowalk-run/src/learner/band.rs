//! # Intervals of prediction
//! Beside a prediction of numbers, two quantiles of the label are learned from the same rows, of ranks (1 − p)/2
//! and (1 + p)/2, by AdaGrad on labels in their own units. What they leave to be desired a margin makes good:
//! $$[\,q_{lo} - m_t,\; q_{hi} + m_t\,], \qquad m_t = \mu_t r_t, \qquad
//!   \mu_{t+1} = \mu_t + \gamma\,(\mathbb 1\{y_t \text{ outside}\} - (1 - p))$$
//! with r the mean distance of labels from their predictions so far. Summed up, the part of the labels outside is
//! $(1 - p) + (\mu_{T+1} - \mu_1)/(\gamma T)$, whatever the data: it can be far from 1 − p only as long as the margin
//! grows.
//! **Cost** two more walks. **Source** \[GC21\].

use std::ops::Range;

use geowalk::loss::AnyLoss;
use geowalk::row::Block;
use geowalk::{ConfigError, Real};
use geowalk_data::Task;

use super::{Diverged, Learner, Outcome, Setting, forward};
use crate::certificate::{Against, Report};
use crate::rate::Rate;
use crate::walks::{self, Request};

/// How far the margin moves: a part of the labels that is off by 1 % for good is noticed within 100 / γ rows.
const STEP: f64 = 0.01;

/// What became of the intervals that were made before their labels were seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coverage {
    /// The part of the labels that was to be inside.
    pub wanted: f64,
    /// The part that was; NaN before the first.
    pub found: f64,
    /// Mean width.
    pub width: f64,
    /// How many.
    pub examples: u64,
}

impl Coverage {
    /// For people.
    pub fn sentence(&self) -> String {
        let Self { wanted, found, width, examples } = self;
        format!(
            "{:.1} % of {examples} labels were inside ({:.1} % wanted), mean width {width:.4}",
            100.0 * found,
            100.0 * wanted
        )
    }
}

/// A learner of numbers, and two of quantiles.
pub(crate) struct Banded {
    inner: Box<dyn Learner>,
    ends: [Box<dyn Learner>; 2],
    part: f64,
    /// μ.
    margin: f64,
    /// Labels seen and inside, sums of widths and of distances.
    seen: f64,
    inside: f64,
    widths: f64,
    far: f64,
    /// Of the rows that were learned from or examined last.
    last: Vec<[f64; 2]>,
    scratch: [Vec<Outcome>; 2],
}

impl Banded {
    /// Beside this learner, for numbers.
    pub(crate) fn new(
        inner: Box<dyn Learner>,
        part: f64,
        request: &Request,
    ) -> Result<Self, ConfigError> {
        if request.task != Task::Regression {
            return Err(ConfigError::Missing {
                name: "numbers to predict",
                meaning: "--interval is for numbers; classes have probabilities (--proba)",
            });
        }
        let end = |tau: f64| {
            let loss = AnyLoss::parse(&format!("quantile(tau={tau})"))?;
            let setting = Setting {
                intercept: request.setting.intercept,
                certificate: false,
                ..Setting::new(loss, Rate::Auto)
            };
            let request =
                Request { y_range: request.y_range, ..Request::new(request.task, setting, 0) };
            Ok::<_, ConfigError>(walks::build("adagrad(centre=true)", request)?.learner)
        };
        let ends = [end((1.0 - part) / 2.0)?, end(f64::midpoint(1.0, part))?];
        let (seen, inside, widths, far) = (0.0, 0.0, 0.0, 0.0);
        let (last, scratch) = (Vec::new(), [Vec::new(), Vec::new()]);
        Ok(Self { inner, ends, part, margin: 0.0, seen, inside, widths, far, last, scratch })
    }

    /// The interval around two quantiles, which holds the prediction too.
    fn around(&self, z: f64, a: f64, b: f64) -> [f64; 2] {
        let margin = if self.seen > 0.0 { self.margin * self.far / self.seen } else { 0.0 };
        let (lo, hi) = (Real::min(a, b) - margin, Real::max(a, b) + margin);
        [Real::min(lo, z), Real::max(hi, z)]
    }

    fn judge(&mut self, [lo, hi]: [f64; 2], z: f64, y: f64) {
        let outside = y < lo || y > hi;
        self.seen += 1.0;
        self.inside += f64::from(u8::from(!outside));
        self.widths += hi - lo;
        self.far += (y - z).abs();
        self.margin += STEP * (f64::from(u8::from(outside)) - (1.0 - self.part));
    }
}

impl Learner for Banded {
    forward!();

    fn learn(
        &mut self,
        block: &Block,
        rows: Range<usize>,
        out: &mut Vec<Outcome>,
    ) -> Result<(), Diverged> {
        let from = out.len();
        let learned = self.inner.learn(block, rows.clone(), out);
        let rows = rows.start..rows.start + (out.len() - from);
        self.scratch.iter_mut().for_each(Vec::clear);
        for (end, scratch) in self.ends.iter_mut().zip(&mut self.scratch) {
            end.learn(block, rows.clone(), scratch)?;
        }
        self.last.clear();
        for (k, i) in rows.enumerate() {
            let (z, y) = (out[from + k].prediction, block.labels()[i]);
            let [a, b] = [0, 1].map(|end: usize| self.scratch[end][k].prediction);
            let found = self.around(z, a, b);
            self.last.push(found);
            if !y.is_nan() && block.weights()[i] > 0.0 {
                self.judge(found, z, y);
            }
        }
        learned
    }

    fn examine(&mut self, block: &Block, rows: Range<usize>, out: &mut Vec<Outcome>) {
        let from = out.len();
        self.inner.examine(block, rows.clone(), out);
        self.scratch.iter_mut().for_each(Vec::clear);
        for (end, scratch) in self.ends.iter_mut().zip(&mut self.scratch) {
            end.examine(block, rows.clone(), scratch);
        }
        let ends = self.scratch[0].iter().zip(&self.scratch[1]).zip(&out[from..]);
        let found = ends.map(|((a, b), o)| self.around(o.prediction, a.prediction, b.prediction));
        self.last = found.collect();
    }

    fn report(&self, against: &Against<'_>, loss: Option<f64>) -> Option<Report> {
        self.inner.report(against, loss)
    }

    fn coverage(&self) -> Option<Coverage> {
        let Self { part, seen, inside, widths, .. } = *self;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a count
        let examples = seen as u64;
        Some(Coverage { wanted: part, found: inside / seen, width: widths / seen, examples })
    }

    fn last_intervals(&self) -> &[[f64; 2]] {
        &self.last
    }

    fn intervals(&self, block: &Block, out: &mut Vec<[f64; 2]>) {
        let (mut z, mut a, mut b) = (Vec::new(), Vec::new(), Vec::new());
        self.inner.predict(block, &mut z);
        self.ends[0].predict(block, &mut a);
        self.ends[1].predict(block, &mut b);
        let rows = z.iter().zip(&a).zip(&b);
        out.extend(rows.map(|((z, a), b)| self.around(*z, *a, *b)));
    }

    fn save(&self, put: &mut dyn FnMut(String, &[f64])) {
        self.inner.save(put);
        for (name, end) in ["low", "high"].iter().zip(&self.ends) {
            end.save(&mut |own, values| put(format!("interval.{name}.{own}"), values));
        }
        let Self { margin, seen, inside, widths, far, .. } = *self;
        put("interval.state".to_owned(), &[margin, seen, inside, widths, far]);
    }

    fn load(&mut self, get: &mut dyn FnMut(&str) -> Option<Vec<f64>>) -> Result<(), ConfigError> {
        self.inner.load(get)?;
        for (name, end) in ["low", "high"].iter().zip(&mut self.ends) {
            end.load(&mut |own| get(&format!("interval.{name}.{own}")))?;
        }
        let state = get("interval.state").and_then(|state| <[f64; 5]>::try_from(state).ok());
        let missing = ConfigError::Missing { name: "interval", meaning: "the state of intervals" };
        [self.margin, self.seen, self.inside, self.widths, self.far] = state.ok_or(missing)?;
        Ok(())
    }
}
