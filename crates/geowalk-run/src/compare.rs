//! # Which of two is better
//! Two contenders lose something on every row: a model file as it is, or a walk that predicts each row before it learns
//! from it. The average difference of what they lose has an [interval](LossInterval) that holds at every row at once, so
//! one may stop as soon as it leaves out 0. Of classes the error is compared, and the log loss with probabilities cut at
//! 1 % where both have probabilities; of numbers the squared error, as a part of the square of a declared range.
//! **Cost** one pass through the data if both are walks, which then learn block by block side by side; one for each
//! contender if one is a model. Two numbers per row are kept.

use geowalk::Real;
use geowalk::certify::LossInterval;
use geowalk::row::Block;
use geowalk_data::{Options, Task};
use serde_json::{Value, json};

use crate::error::RunError;
use crate::evaluate::judge;
use crate::input;
use crate::label::Coding;
use crate::metrics::{ALPHA, CUT, Seen};
use crate::model::Model;
use crate::pump::{Filled, Pump, ROWS};
use crate::train::{Plan, Session, train};

/// What is compared.
#[derive(Debug)]
pub enum Contender {
    /// A model as it is.
    Model(Box<Model>),
    /// A run that is made.
    Run(Box<Plan>),
}

impl Contender {
    /// A walk, with `loss=` and `rate=` behind it if they are not the usual ones: `gd rate=0.1 loss=hinge`.
    ///
    /// ```
    /// use geowalk_run::compare::Contender;
    /// let Contender::Run(plan) = Contender::parse("gd rate=0.1", &Default::default()) else { panic!() };
    /// assert_eq!((plan.walk.as_deref(), plan.rate.as_str()), (Some("gd"), "0.1"));
    /// ```
    pub fn parse(text: &str, plan: &Plan) -> Self {
        let mut plan = Plan { rows: true, certificate: false, passes: 1, ..plan.clone() };
        let mut walk = Vec::new();
        for word in text.split_whitespace() {
            if let Some(loss) = word.strip_prefix("loss=") {
                plan.loss = Some(loss.to_owned());
            } else if let Some(rate) = word.strip_prefix("rate=") {
                rate.clone_into(&mut plan.rate);
            } else {
                walk.push(word);
            }
        }
        plan.walk = Some(walk.join(" "));
        Self::Run(Box::new(plan))
    }

    /// What it loses on every row that has a label: parts of the largest loss, NaN where there is none.
    fn losses(
        &self,
        open: &mut dyn FnMut() -> Options,
        threads: usize,
        range: Option<(f64, f64)>,
    ) -> Result<Losses, RunError> {
        match self {
            Self::Model(model) => of_model(model, open(), threads, range),
            Self::Run(plan) => {
                let plan = Plan { y_range: range, threads, ..(**plan).clone() };
                let summary = train(&plan, open, None, None, &mut |_| {})?;
                let rows: Result<Vec<_>, _> = summary
                    .rows
                    .iter()
                    .enumerate()
                    .map(|(row, seen)| row_losses(row, seen, summary.task, range))
                    .collect();
                Ok((summary.task, rows?))
            }
        }
    }
}

/// What one contender loses on every row.
type Losses = (Task, Vec<[f64; 2]>);

/// What two walks lose, from one reading of the data.
fn together(
    plans: [&Plan; 2],
    options: Options,
    threads: usize,
    range: Option<(f64, f64)>,
) -> Result<[Losses; 2], RunError> {
    let mut source = input::open(options)?;
    let mut block = Block::new();
    if source.read(&mut block, ROWS)? == 0 {
        return Err(RunError::Empty);
    }
    let begin = |plan: &Plan| {
        let plan = Plan { y_range: range, ..plan.clone() };
        plan.check()?;
        let mut session = Session::new(&plan, source.schema().clone(), &block)?;
        session.keep_rows();
        let task = session.settings().task;
        Ok::<_, RunError>((session, (task, Vec::new())))
    };
    let mut sides = [begin(plans[0])?, begin(plans[1])?];
    let learn = |sides: &mut [(Session, Losses); 2], block: &mut Block| {
        let mut other = block.clone();
        for ((session, (task, losses)), block) in sides.iter_mut().zip([block, &mut other]) {
            session.learn(block)?;
            for seen in session.take_rows() {
                losses.push(row_losses(losses.len(), &seen, *task, range)?);
            }
        }
        Ok::<_, RunError>(())
    };
    learn(&mut sides, &mut block)?;
    let (mut pump, mut filled) = (Pump::start(source, threads), Filled::default());
    while pump.next(&mut filled)? {
        if let Some(labels) = filled.labels.take() {
            for (session, _) in &mut sides {
                session.schema_mut().labels_mut().clone_from(&labels);
            }
        }
        learn(&mut sides, &mut filled.block)?;
    }
    let [(_, a), (_, b)] = sides;
    Ok([a, b])
}

/// What a row lost that was predicted and then learned from, in [0, 1]: the error of a class or the squared error of a
/// number as a part of the square of its range, and the log loss cut at 1 %; NaN where there is none.
pub fn row_losses(
    row: usize,
    seen: &Seen,
    task: Task,
    range: Option<(f64, f64)>,
) -> Result<[f64; 2], RunError> {
    weight_of(row, seen.weight)?;
    Ok(match task {
        Task::Regression => [squared(seen.prediction, seen.y, range)?, f64::NAN],
        _ => [1.0 - seen.score(task), (seen.log_loss / CUT).min(1.0)],
    })
}

fn weight_of(row: usize, weight: f64) -> Result<(), RunError> {
    let what = || format!("row {} with a label has the weight {weight}", row + 1);
    let fix = "leave weights out: rows count once each";
    if weight == 1.0 { Ok(()) } else { Err(RunError::Compare { why: what(), fix }) }
}

/// A squared error as a part of the square of the range.
fn squared(prediction: f64, y: f64, range: Option<(f64, f64)>) -> Result<f64, RunError> {
    let Some((lo, hi)) = range.filter(|(lo, hi)| hi > lo) else {
        return Err(RunError::Compare {
            why: "the labels are numbers without a known range".to_owned(),
            fix: "state it with --y-range LO,HI",
        });
    };
    if !(lo..=hi).contains(&y) {
        return Err(RunError::Compare {
            why: format!("the label {y} is outside {lo} to {hi}"),
            fix: "state a larger --y-range",
        });
    }
    let off = (prediction.clamp(lo, hi) - y) / (hi - lo);
    Ok(off * off)
}

fn of_model(
    model: &Model,
    options: Options,
    threads: usize,
    range: Option<(f64, f64)>,
) -> Result<Losses, RunError> {
    let (judged, _) = judge(model, options, threads)?;
    let task = model.settings.task;
    let coding = Coding::restore(task, model.classes.clone());
    let (classes, n) = (coding.classes(), judged.labels.len());
    // As many for each row, classes that have not come behind the others; or none.
    let width = judged.answers.shares.len() / n.max(1);
    let mut rows = Vec::new();
    for (row, &y) in judged.labels.iter().enumerate().filter(|(_, y)| !y.is_nan()) {
        weight_of(row, judged.weights[row])?;
        let found = judged.answers.found[row];
        rows.push(if task == Task::Regression {
            [squared(found, y, range)?, f64::NAN]
        } else {
            // A class that the model does not know is never predicted.
            let class = classes.iter().position(|class| *class == y);
            let wrong = class.is_none_or(|class| class as f64 != found);
            let p = class.map_or(0.0, |class| {
                if width > 0 { judged.answers.shares[row * width + class] } else { f64::NAN }
            });
            let loss = -Real::ln(Real::max(p, f64::MIN_POSITIVE)) / CUT;
            [f64::from(u8::from(wrong)), if p.is_nan() { p } else { loss.min(1.0) }]
        });
    }
    Ok((task, rows))
}

/// The average difference of two losses, a minus b.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// What is compared: `error`, `log_loss` or `squared_error`.
    pub name: &'static str,
    /// The averages of both.
    pub averages: [f64; 2],
    /// The interval that the average expected difference is in, at every row at once with 95 %.
    pub interval: (f64, f64),
    /// The first row looked at after which the interval left out 0.
    pub decided: Option<u64>,
}

impl Difference {
    /// Of the losses of two contenders, all parts of `largest`.
    fn new(
        name: &'static str,
        losses: impl Iterator<Item = [f64; 2]>,
        largest: f64,
    ) -> Option<Self> {
        let (mut both, mut sums, mut decided, mut look) =
            (LossInterval::default(), [0.0; 2], None, 1);
        for [a, b] in losses {
            both.see(f64::midpoint(1.0, a - b));
            sums = [sums[0] + a, sums[1] + b];
            if decided.is_none() && both.rows() == look {
                // Often enough that a decision is seen within one part in fifty of its row.
                look += 1 + look / 50;
                decided = (sign(interval(&both)?) != 0.0).then_some(both.rows());
            }
        }
        let rows = both.rows() as f64;
        let averages = sums.map(|sum| largest * sum / rows);
        let (low, high) = interval(&both)?;
        let interval = (largest * low, largest * high);
        // Once it is decided it stays so: the intervals hold together.
        let decided = decided.or((sign(interval) != 0.0).then_some(both.rows()));
        averages[0].is_finite().then_some(())?;
        averages[1].is_finite().then_some(Self { name, averages, interval, decided })
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let Self { name, averages: [a, b], interval: (low, high), decided } = self;
        json!({"name": name, "a": a, "b": b, "difference": a - b, "low": low, "high": high,
            "confidence": 1.0 - ALPHA, "better": self.better(), "decided_at": decided})
    }

    /// Which is better for sure: `a`, `b`, or none yet.
    pub fn better(&self) -> Option<&'static str> {
        let sign = sign(self.interval);
        if sign < 0.0 { Some("a") } else { (sign > 0.0).then_some("b") }
    }

    /// In words.
    fn lines(&self, [a, b]: [&str; 2]) -> Vec<String> {
        let Self { name, averages, interval: (low, high), decided } = self;
        let (unit, digits, size) = if *name == "error" { (" %", 2, 100.0) } else { ("", 4, 1.0) };
        let show = |x: f64| format!("{:.digits$}{unit}", size * x);
        let what = name.replace('_', " ");
        let verdict = match (self.better(), decided) {
            (Some(better), Some(row)) => format!(
                "{} is better; the interval has left out 0 since row {row} or earlier",
                if better == "a" { a } else { b }
            ),
            _ => "not decided: 0 is in the interval".to_owned(),
        };
        vec![
            format!("{what:<14} {a}: {}, {b}: {}", show(averages[0]), show(averages[1])),
            format!(
                "{:<14} {} to {} (95 % sure, at every row at once)",
                "difference",
                show(*low),
                show(*high)
            ),
            format!("{:<14} {verdict}", ""),
        ]
    }
}

/// The interval of a − b.
fn interval(both: &LossInterval) -> Option<(f64, f64)> {
    let (low, high) = both.bounds(ALPHA).ok()?;
    Some((2.0 * low - 1.0, 2.0 * high - 1.0))
}

/// On which side of 0 all of an interval is; 0 if on none.
fn sign((low, high): (f64, f64)) -> f64 {
    if high < 0.0 { -1.0 } else { f64::from(u8::from(low > 0.0)) }
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Rows with labels.
    pub rows: u64,
    /// By each measure.
    pub differences: Vec<Difference>,
}

impl Comparison {
    /// Of two losses, in [0, 1], for each row of each contender, as parts of the largest; see [`compare`].
    pub fn new(task: Task, a: &[[f64; 2]], b: &[[f64; 2]], largest: f64) -> Self {
        let pairs = |k: usize| a.iter().zip(b).map(move |(a, b)| [a[k], b[k]]);
        let classes = task != Task::Regression;
        let names = if classes { ["error", "log_loss"] } else { ["squared_error", ""] };
        let sizes = if classes { [1.0, CUT] } else { [largest, 0.0] };
        let all = (0..if classes { 2 } else { 1 })
            .filter_map(|k| Difference::new(names[k], pairs(k), sizes[k]));
        Self { rows: a.len() as u64, differences: all.collect() }
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let differences: Vec<Value> = self.differences.iter().map(Difference::json).collect();
        json!({"rows": self.rows, "differences": differences})
    }

    /// For people, with the names of both.
    pub fn lines(&self, names: [&str; 2]) -> Vec<String> {
        let mut lines = vec![format!("{:<14} {}", "rows", self.rows)];
        lines.extend(self.differences.iter().flat_map(|one| one.lines(names)));
        lines
    }
}

/// Compares two on the same data, which are opened once for each, or once for two walks; numbers lie in this range.
pub fn compare(
    contenders: [&Contender; 2],
    mut open: impl FnMut() -> Options,
    threads: usize,
    range: Option<(f64, f64)>,
) -> Result<Comparison, RunError> {
    let [(task, first), (other, second)] = match contenders {
        [Contender::Run(a), Contender::Run(b)] => {
            together([a.as_ref(), b.as_ref()], open(), threads, range)?
        }
        [a, b] => [a.losses(&mut open, threads, range)?, b.losses(&mut open, threads, range)?],
    };
    if (task == Task::Regression) != (other == Task::Regression) {
        return Err(RunError::Compare {
            why: "one predicts numbers, the other classes".to_owned(),
            fix: "compare two of a kind, or state --task",
        });
    }
    if first.len() != second.len() {
        return Err(RunError::Compare {
            why: format!("one has losses on {} rows, the other on {}", first.len(), second.len()),
            fix: "the same rows must be readable for both",
        });
    }
    if first.is_empty() {
        return Err(RunError::Empty);
    }
    let largest = range.map_or(1.0, |(lo, hi)| (hi - lo) * (hi - lo));
    Ok(Comparison::new(task, &first, &second, largest))
}

#[cfg(test)]
mod tests {
    use geowalk::laws::Sampler;

    use super::*;

    fn errors(seed: u64, rows: usize, p: [f64; 2]) -> Comparison {
        let mut random = Sampler::new(seed);
        let mut draw = |p: f64| -> Vec<[f64; 2]> {
            let wrong = |random: &mut Sampler| f64::from(u8::from(random.unit() < p));
            (0..rows).map(|_| [wrong(&mut random), f64::NAN]).collect()
        };
        let (a, b) = (draw(p[0]), draw(p[1]));
        Comparison::new(Task::Binary, &a, &b, 1.0)
    }

    #[test]
    fn clear_differences_are_decided_and_equal_ones_are_not() {
        let mut wrong = 0;
        for seed in 0..40 {
            let clear = errors(seed, 4000, [0.10, 0.20]);
            assert_eq!(clear.differences.len(), 1, "no probabilities, no log loss");
            let one = &clear.differences[0];
            assert_eq!(one.better(), Some("a"), "{one:?}");
            assert!(one.decided.is_some_and(|row| row < 4000));
            assert!(one.interval.0 < -0.1 && one.interval.1 > -0.1, "{one:?}");
            let swapped = errors(seed, 4000, [0.20, 0.10]);
            assert_eq!(swapped.differences[0].better(), Some("b"));
            let equal = errors(seed + 100, 2000, [0.15, 0.15]);
            wrong += u32::from(equal.differences[0].decided.is_some());
        }
        assert!(wrong <= 2, "{wrong} of 40 equal contenders were told apart at 95 %");
        let lines = errors(1, 4000, [0.1, 0.2]).lines(["x", "y"]);
        assert!(lines[3].contains("x is better"), "{lines:?}");
    }
}
