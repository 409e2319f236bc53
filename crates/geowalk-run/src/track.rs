//! # Tracking a null vector
//! Rows at unit length through a learner on the sphere with the loss ⟨p, x⟩²; beside it the batch answer, and for a series the recurrence that
//! the vector is. The flow is that of [`train`](crate::train), without labels.

mod file;
mod period;

use geowalk::loss::{AnyLoss, Invariant};
use geowalk::row::{Block, Dense, Norm, Row};
use geowalk::sum::Sum;
use geowalk::track::{self, Autoregression, Gram, Least, Root};
use geowalk_data::{ErrorKind, Labels, Options, Source, Task};

use crate::certificate::{self, Against, Known, Report};
use crate::error::RunError;
use crate::input;
use crate::learner::{Outcome, Reach, Setting};
use crate::model::{Arrays, array};
use crate::pump::ROWS;
use crate::rate::Rate;
use crate::walks::{self, Built, Request};

pub use period::Period;

/// What to track, and how.
#[derive(Debug, Clone)]
pub struct Plan {
    /// A walk on the sphere.
    pub walk: String,
    /// The rate; with `inv(0.5, 10)` the vector settles as fast as that of the batch method.
    pub rate: String,
    /// Of a series: how many values back the recurrence looks. `None`: the rows themselves are tracked.
    pub order: Option<usize>,
    /// Subtract the mean of the series first.
    pub center: bool,
    /// Terms of the moving average that disturbs the series; 0: the recurrence is that of the null vector.
    pub moving: usize,
    /// Seed of the starting point.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            walk: "sphere".to_owned(),
            rate: "inv(0.5, 10)".to_owned(),
            order: None,
            center: false,
            moving: 0,
            seed: 0,
        }
    }
}

/// What was found.
#[derive(Debug)]
pub struct Found {
    /// Rows learned from.
    pub rows: u64,
    /// Rows left out: of length 0, or with a missing value of the series in them.
    pub left_out: u64,
    /// What each coordinate is.
    pub names: Vec<String>,
    /// The vector learned on-line, upright.
    pub vector: Vec<f64>,
    /// Σ⟨p_t, x_t⟩² over the rows, each before it was learned from.
    pub loss: f64,
    /// The batch answer; `None` with more than [`Gram::LARGEST`] features.
    pub batch: Option<Least>,
    /// The angle between the two, in degrees.
    pub degrees: Option<f64>,
    /// The recurrence of a series.
    pub recurrence: Option<Recurrence>,
    /// The certificates, against all unit vectors.
    pub certificate: Option<Report>,
    /// The rate that was used.
    pub rate: String,
}

/// $y_t = \sum_k a_k y_{t-k}$ and its roots.
#[derive(Debug, Clone)]
pub struct Recurrence {
    /// The mean that was subtracted.
    pub mean: f64,
    /// a₁, …, a_P.
    pub coefficients: Vec<f64>,
    /// The series is taken to be disturbed by a moving average of so many terms.
    pub moving: usize,
    /// The null vector of noisy values: the coefficients are biased.
    pub is_biased: bool,
    /// Its roots, if they were found.
    pub roots: Option<Vec<Root>>,
    /// The periods of the first roots that have one, with the verdict on each; equal ones are named once.
    pub periods: Vec<Period>,
}

/// The part of a row of unit length that the best null vector leaves, above which values are noisy: a thousandth of
/// their size.
const NOISE: f64 = 1e-6;

/// So many roots are asked for their period: the slowest to die out.
const PERIODS: usize = 10;

/// The periods that roots suggest.
fn periods(series: &[f64], roots: &[Root]) -> Vec<Period> {
    let mut found: Vec<Period> = Vec::new();
    let roots = roots.iter().filter(|root| root.frequency > 0.0).take(PERIODS);
    for period in roots.filter_map(|root| Period::near(series, root.frequency)) {
        let known = |other: &Period| (other.length - period.length).abs() <= 1e-3 * other.length;
        if !found.iter().any(known) {
            found.push(period);
        }
    }
    found.sort_by(|a, b| b.explained.total_cmp(&a.explained));
    found
}

impl Found {
    /// All of it as one JSON object.
    pub fn json(&self) -> serde_json::Value {
        let vector: serde_json::Map<_, _> =
            self.names.iter().cloned().zip(self.vector.iter().map(|&p| p.into())).collect();
        let recurrence = self.recurrence.as_ref().map(|r| {
            let roots = r.roots.as_ref().map(|roots| {
                let one = |root: &Root| {
                    serde_json::json!({"modulus": root.modulus, "frequency": root.frequency})
                };
                roots.iter().map(one).collect::<Vec<_>>()
            });
            let periods: Vec<_> = r.periods.iter().map(Period::json).collect();
            serde_json::json!({"mean": r.mean, "coefficients": r.coefficients, "moving": r.moving,
                "is_biased": r.is_biased, "roots": roots, "periods": periods})
        });
        let batch = self
            .batch
            .as_ref()
            .map(|least| serde_json::json!({"vector": least.vector, "share": least.share}));
        serde_json::json!({
            "rows": self.rows,
            "left_out": self.left_out,
            "loss": self.loss,
            "rate": self.rate,
            "vector": vector,
            "batch": batch,
            "degrees": self.degrees,
            "recurrence": recurrence,
            "certificate": self.certificate.as_ref().map_or_else(certificate::off, Report::json),
        })
    }
}

/// A tracker in the middle of its work.
///
/// ```
/// use geowalk::row::Dense;
/// use geowalk_run::track::{Plan, Tracker};
/// let mut tracker = Tracker::new(&Plan::default())?;
/// for _ in 0..500 {
///     tracker.row(Dense(&[3.0, 4.0]), Some(&[3.0, 4.0]))?;
/// }
/// tracker.learn()?;
/// assert!((tracker.vector()[0] - 0.8).abs() < 1e-3);
/// # Ok::<(), geowalk_run::error::RunError>(())
/// ```
#[derive(Debug)]
pub struct Tracker {
    built: Built,
    block: Block,
    outcomes: Vec<Outcome>,
    gram: Option<Gram>,
    /// No batch answer is kept beside it.
    alone: bool,
    loss: Sum,
    rows: u64,
    left_out: u64,
    plan: Plan,
}

impl Tracker {
    /// At the beginning.
    pub fn new(plan: &Plan) -> Result<Self, RunError> {
        Self::against(plan, None)
    }

    /// The same, with a comparator that the theorems of the walk see in every round.
    fn against(plan: &Plan, comparator: Option<Vec<f64>>) -> Result<Self, RunError> {
        let setting = Setting::new(AnyLoss::from(Invariant), Rate::parse(&plan.rate)?);
        let request = Request::new(Task::Regression, setting, plan.seed);
        let built = walks::build(&plan.walk, Request { comparator, ..request })?;
        if built.learner.reach() != Reach::Sphere(1.0) {
            return Err(RunError::NotOnTheSphere { walk: plan.walk.clone() });
        }
        Ok(Self {
            built,
            block: Block::new(),
            outcomes: Vec::new(),
            gram: None,
            alone: false,
            loss: Sum::default(),
            rows: 0,
            left_out: 0,
            plan: plan.clone(),
        })
    }

    /// The same without the batch answer, which costs O(n²) per row.
    #[must_use]
    pub fn alone(self) -> Self {
        Self { alone: true, ..self }
    }

    /// Takes a row, and its numbers if it is dense, into the block.
    pub fn row<X: Row<f64>>(&mut self, x: X, dense: Option<&[f64]>) -> Result<(), RunError> {
        let length = x.norm(Norm::L2);
        if length == 0.0 || length.is_nan() {
            self.left_out += 1;
            return Ok(());
        }
        let n = x.bound();
        if self.rows == 0 && self.block.is_empty() && !self.alone {
            self.gram = Gram::new(n).ok();
        }
        if let (None, Some(gram)) = (dense, &self.gram)
            && n > gram.features()
        {
            // A sparse stream that goes on growing: there is no batch answer to compare with.
            self.gram = None;
        }
        if let Some(gram) = &mut self.gram {
            gram.add(x);
        }
        if let Some(values) = dense {
            let unit: Vec<f64> = values.iter().map(|x| x / length).collect();
            self.block.push_dense(&unit, 0.0, 1.0).map_err(geowalk::ConfigError::from)?;
        } else {
            x.each(|i, x| {
                if let Ok(i) = u32::try_from(i) {
                    self.block.feature(i, x / length);
                }
            });
            self.block.end(0.0, 1.0);
        }
        if self.block.len() >= ROWS { self.learn() } else { Ok(()) }
    }

    /// Learns from the rows taken so far.
    pub fn learn(&mut self) -> Result<(), RunError> {
        self.outcomes.clear();
        let all = 0..self.block.len();
        let learned = self.built.learner.learn(&self.block, all, &mut self.outcomes);
        for outcome in &self.outcomes {
            self.loss.add(outcome.loss);
        }
        let before = self.rows + self.left_out;
        self.rows += self.outcomes.len() as u64;
        self.block.clear();
        learned.map_err(|diverged| RunError::Diverged {
            row: before + diverged.row as u64 + 1,
            place: None,
            walk: self.plan.walk.clone(),
            feature: None,
            suggested: None,
            cause: Box::new(diverged),
        })
    }

    /// The vector learned so far, upright.
    pub fn vector(&self) -> Vec<f64> {
        let mut vector = Vec::new();
        self.built.learner.weights(0, &mut vector);
        track::upright(&mut vector);
        vector
    }

    /// What the certificates say of a unit vector, or of the best in hindsight. What it lost is known from the rows that were learned from; so is the best.
    pub fn certify(&self, u: Option<&[f64]>, rows: Option<&[Block]>) -> Result<Report, RunError> {
        let (mut own, mut known) = (u.map(<[f64]>::to_vec), None);
        if let Some(blocks) = rows {
            let mut gap = None;
            if own.is_none() {
                let n = blocks.iter().map(Block::bound).max().unwrap_or(0);
                let mut gram = Gram::new(n)?;
                for block in blocks {
                    for i in 0..block.len() {
                        if block.columns().is_some() {
                            gram.add(block.dense(i));
                        } else {
                            gram.add(block.sparse(i));
                        }
                    }
                }
                own = gram.least().map(|least| least.vector);
                gap = Some("no unit vector loses less".to_owned());
            }
            let (mut loss, mut rounding, mut count) = (Sum::default(), 0.0, 0);
            let u = own.as_deref().unwrap_or_default();
            for block in blocks {
                for i in 0..block.len() {
                    let [dot, square] = if block.columns().is_some() {
                        products(block.dense(i), u)
                    } else {
                        products(block.sparse(i), u)
                    };
                    if square > 0.0 {
                        loss.add(dot * dot / square);
                        // ⟨u, x⟩/‖x‖ is off by no more than this, and twice that times itself is what its
                        // square is off by.
                        let off = 2.0 * (u.len() as f64 + 4.0) * f64::EPSILON;
                        rounding += 2.0 * off * (dot.abs() / square.sqrt() + off);
                        count += 1;
                    }
                }
            }
            if count != self.rows {
                let what = format!("it has learned from {} rows, here are {count}", self.rows);
                return Err(RunError::OtherData { what });
            }
            known = Some(Known { loss: loss.total(), rounding, gap });
        }
        let none = || RunError::Comparator {
            file: "best".to_owned(),
            line: None,
            what: "the best vector is sought on the rows that were learned from: give them"
                .to_owned(),
        };
        let u = own.ok_or_else(none)?;
        let loss = known.as_ref().map(|known| known.loss);
        // Theorems of the sphere see the comparator in every round: the rows are learned from once more.
        let again = rows.map(|blocks| self.again(blocks, &u)).transpose()?;
        let learner = again.as_ref().map_or(&self.built.learner, |again| &again.built.learner);
        let report = learner.report(&Against::Given(&[u]), loss);
        let report = report.ok_or(RunError::NoCertificate { why: "they were off" })?;
        Ok(report.facing("the comparator".to_owned(), known)?)
    }

    /// The same run with a comparator.
    fn again(&self, blocks: &[Block], u: &[f64]) -> Result<Self, RunError> {
        let mut again = Self::against(&self.plan, Some(u.to_vec()))?.alone();
        for block in blocks {
            for i in 0..block.len() {
                if block.columns().is_some() {
                    let row = block.dense(i);
                    again.row(row, Some(row.0))?;
                } else {
                    again.row(block.sparse(i), None)?;
                }
            }
        }
        again.learn()?;
        if again.vector() != self.vector() {
            let what = "the same rows in the same order lead to another vector than was learned";
            return Err(RunError::OtherData { what: what.to_owned() });
        }
        Ok(again)
    }

    /// The certificates, against all unit vectors, as JSON.
    pub fn certificate_json(&self) -> serde_json::Value {
        let report = self.built.learner.report(&Against::Reach, None);
        report.map_or_else(certificate::off, |report| report.json())
    }

    /// Rows learned from, and rows left out because they have no direction.
    pub fn rows(&self) -> (u64, u64) {
        (self.rows, self.left_out)
    }

    /// Everything that changes, as named arrays, but for the batch answer.
    pub fn save(&self) -> Arrays {
        let mut arrays = vec![
            ("loss".to_owned(), self.loss.save().to_vec()),
            ("rows".to_owned(), vec![self.rows as f64, self.left_out as f64]),
        ];
        let mut put = |name: String, values: &[f64]| {
            arrays.push((format!("learner.{name}"), values.to_vec()));
        };
        self.built.learner.save(&mut put);
        arrays
    }

    /// Goes on, [alone](Self::alone), from what [`save`](Self::save) gave.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
    pub fn load(plan: &Plan, arrays: &[(String, Vec<f64>)]) -> Result<Self, RunError> {
        let mut tracker = Self::new(plan)?.alone();
        let loss = <[f64; 4]>::try_from(array(arrays, "loss", Some(4))?);
        tracker.loss = Sum::load(loss.unwrap_or_default());
        let rows = array(arrays, "rows", Some(2))?;
        (tracker.rows, tracker.left_out) = (rows[0] as u64, rows[1] as u64);
        tracker.built.learner.load(&mut |name| {
            array(arrays, &format!("learner.{name}"), None).ok().map(<[f64]>::to_vec)
        })?;
        Ok(tracker)
    }

    fn finish(mut self, name: impl Fn(usize) -> String) -> Result<Found, RunError> {
        self.learn()?;
        if self.rows == 0 {
            return Err(RunError::Empty);
        }
        let vector = self.vector();
        let batch = self.gram.as_ref().and_then(Gram::least);
        Ok(Found {
            rows: self.rows,
            left_out: self.left_out,
            names: (0..vector.len()).map(name).collect(),
            degrees: batch.as_ref().map(|least| track::degrees(&vector, &least.vector)),
            vector,
            loss: self.loss.total(),
            batch,
            recurrence: None,
            certificate: self.built.learner.report(&Against::Reach, None),
            rate: self.built.rate,
        })
    }
}

/// ⟨x, u⟩ and ⟨x, x⟩.
fn products<X: Row<f64>>(x: X, u: &[f64]) -> [f64; 2] {
    let (mut dot, mut square) = (Sum::default(), Sum::default());
    x.each(|i, x| {
        dot.add(x * u.get(i).copied().unwrap_or(0.0));
        square.add(x * x);
    });
    [dot.total(), square.total()]
}

/// Tracks the null vector of what `options` read.
pub fn track(plan: &Plan, options: Options) -> Result<Found, RunError> {
    let mut source = input::open(Options { unlabelled: true, ..options })?;
    match plan.order {
        None => rows(plan, source.as_mut()),
        Some(order) => {
            let series = series(source.as_mut())?;
            recurrence(plan, order, series)
        }
    }
}

fn rows(plan: &Plan, source: &mut dyn Source) -> Result<Found, RunError> {
    let mut tracker = Tracker::new(plan)?;
    let (mut block, mut features) = (Block::new(), 0);
    while source.read(&mut block, ROWS)? > 0 {
        features = features.max(block.bound());
        for i in 0..block.len() {
            if block.columns().is_some() {
                let row = block.dense(i);
                tracker.row(row, Some(row.0))?;
            } else {
                tracker.row(block.sparse(i), None)?;
            }
        }
    }
    if features == 0 {
        return Err(ErrorKind::NoColumns.of(source.place().0).into());
    }
    let features = source.schema().features();
    let name = |i: usize| {
        let index = u32::try_from(i).ok();
        let name = index.and_then(|index| features.name(index));
        name.map_or_else(|| i.to_string(), std::borrow::Cow::into_owned)
    };
    tracker.finish(name)
}

/// The label column is the series; missing values are NaN.
fn series(source: &mut dyn Source) -> Result<Vec<f64>, RunError> {
    let (mut block, mut series) = (Block::new(), Vec::new());
    while source.read(&mut block, ROWS)? > 0 {
        series.extend_from_slice(block.labels());
    }
    match source.schema().labels() {
        Labels::Numbers => Ok(series),
        Labels::Names(_) => Err(RunError::NotASeries),
    }
}

fn recurrence(plan: &Plan, order: usize, mut series: Vec<f64>) -> Result<Found, RunError> {
    let mut mean = 0.0;
    if plan.center {
        let mut sum = Sum::default();
        series.iter().filter(|y| !y.is_nan()).for_each(|&y| sum.add(y));
        mean = if sum.count() == 0 { 0.0 } else { sum.total() / sum.count() as f64 };
        for y in &mut *series {
            *y -= mean;
        }
    }
    let mut tracker = Tracker::new(plan)?;
    let mut result = Ok(());
    track::hankel(&series, order, |row| {
        if result.is_ok() {
            result = tracker.row(Dense(row), Some(row));
        }
    });
    result?;
    let lag = |k: usize| if k == 0 { "y[t]".to_owned() } else { format!("y[t-{k}]") };
    let mut found = tracker.finish(lag)?;
    let model = match plan.moving {
        0 => Autoregression::from_null(&found.vector).ok(),
        moving => Autoregression::disturbed(&series, order, moving),
    };
    if let Some(model) = model {
        let coefficients = model.coefficients().to_vec();
        let roots = model.roots();
        let periods = periods(&series, roots.as_deref().unwrap_or_default());
        let moving = plan.moving;
        let is_biased =
            moving == 0 && found.batch.as_ref().is_some_and(|least| least.share[0] > NOISE);
        found.recurrence =
            Some(Recurrence { mean, coefficients, moving, is_biased, roots, periods });
    }
    Ok(found)
}
