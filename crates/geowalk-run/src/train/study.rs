//! # A learner and what is measured of it
//! The part of a run that there may be two of, while only one of two classes has been seen.

use std::ops::Range;

use geowalk::loss::AnyLoss;
use geowalk::row::Block;
use geowalk_data::Task;

use crate::error::RunError;
use crate::learner::{Diverged, Outcome};
use crate::link::{probability, threshold};
use crate::metrics::{Metrics, Seen, Window, log_loss};
use crate::model::{Arrays, Settings};
use crate::settings::check_window;
use crate::walks::{self, Built};

/// A learner and all that is measured of it.
#[derive(Debug)]
pub(super) struct Study {
    pub(super) built: Built,
    pub(super) metrics: Metrics,
    pub(super) held: Option<Metrics>,
    pub(super) window: Option<Window>,
    /// The same of this run alone, if it continues a model.
    pub(super) day: Option<Box<Day>>,
    pub(super) outcomes: Vec<Outcome>,
    /// What was measured of every row learned from, if it is kept.
    pub(super) rows: Option<Vec<Seen>>,
    /// Why it could not go on, if it is the silent one.
    pub(super) failed: Option<RunError>,
}

/// What is measured of one run that continues a model.
#[derive(Debug)]
pub(super) struct Day {
    pub(super) metrics: Metrics,
    pub(super) held: Option<Metrics>,
    pub(super) window: Option<Window>,
}

/// Measures of rows that are predicted before they are learned from.
pub(super) fn fresh(settings: &Settings) -> Metrics {
    Metrics::progressive(settings.task, settings.y_range)
}

impl Day {
    /// At its beginning. The window is that of the model, unless another one is wanted.
    pub(super) fn new(settings: &Settings, window: Option<usize>) -> Result<Self, RunError> {
        let size = window.or(settings.stream.window);
        check_window(size)?;
        Ok(Self {
            metrics: fresh(settings),
            held: settings.stream.holdout.map(|_| fresh(settings)),
            window: size.map(|size| Window::new(settings.task, size)),
        })
    }
}

impl Study {
    /// At the beginning.
    pub(super) fn new(settings: &Settings, width: Option<usize>) -> Result<Self, RunError> {
        check_window(settings.stream.window)?;
        Ok(Self {
            built: walks::of(settings, width)?,
            metrics: fresh(settings),
            held: settings.stream.holdout.map(|_| fresh(settings)),
            window: settings.stream.window.map(|size| Window::new(settings.task, size)),
            day: None,
            outcomes: Vec::new(),
            rows: None,
            failed: None,
        })
    }

    /// As a model has it, in arrays whose names begin with the prefix.
    pub(super) fn load(
        settings: &Settings,
        width: Option<usize>,
        arrays: &Arrays,
        prefix: &str,
    ) -> Result<Self, RunError> {
        let own: Arrays = arrays
            .iter()
            .filter_map(|(name, values)| {
                Some((name.strip_prefix(prefix)?.to_owned(), values.clone()))
            })
            .collect();
        let mut study = Self::new(settings, width)?;
        let find = |name: &str| own.iter().find(|(own, _)| own == name).map(|(_, v)| v.clone());
        study.built.learner.load(&mut |name| find(name))?;
        study.metrics = study.metrics.load("metrics", &own)?;
        // Rows may be held out from this run on.
        if let Some(held) = &mut study.held
            && own.iter().any(|(name, _)| name == "holdout")
        {
            *held = fresh(settings).load("holdout", &own)?;
        }
        if let (Some(window), Some(size)) = (&mut study.window, settings.stream.window) {
            *window = Window::load(settings.task, size, &own)?;
        }
        Ok(study)
    }

    pub(super) fn save(&self, prefix: &str, arrays: &mut Arrays) {
        let mut own = self.metrics.save("metrics");
        own.extend(self.held.iter().flat_map(|held| held.save("holdout")));
        own.extend(self.window.iter().flat_map(Window::save));
        self.built.learner.save(&mut |name, values| own.push((name, values.to_vec())));
        arrays.extend(own.into_iter().map(|(name, values)| (format!("{prefix}{name}"), values)));
    }

    /// Learns from rows, or if they are `kept` only predicts them. What it said of them is in the outcomes.
    pub(super) fn go(
        &mut self,
        task: Task,
        block: &Block,
        rows: Range<usize>,
        kept: bool,
    ) -> Result<(), Diverged> {
        self.outcomes.clear();
        let learned = if kept {
            self.built.learner.examine(block, rows.clone(), &mut self.outcomes);
            Ok(())
        } else {
            self.built.learner.learn(block, rows.clone(), &mut self.outcomes)
        };
        for (i, outcome) in rows.zip(&self.outcomes) {
            let Some(seen) = seen(task, &self.built.loss, block, i, outcome) else { continue };
            if let (Some(held), true) = (&mut self.held, kept) {
                held.see(&seen);
                self.day.iter_mut().filter_map(|day| day.held.as_mut()).for_each(|m| m.see(&seen));
            } else {
                self.metrics.see(&seen);
                self.rows.iter_mut().for_each(|rows| rows.push(seen));
                self.window.iter_mut().for_each(|window| window.see(&seen));
                if let Some(day) = &mut self.day {
                    day.metrics.see(&seen);
                    day.window.iter_mut().for_each(|window| window.see(&seen));
                }
            }
        }
        learned
    }
}

/// What metrics see of a row; `None` without a label.
pub(super) fn seen(
    task: Task,
    loss: &AnyLoss,
    block: &Block,
    i: usize,
    outcome: &Outcome,
) -> Option<Seen> {
    let (y, weight) = (block.labels()[i], block.weights()[i]);
    if y.is_nan() {
        return None;
    }
    // Of two classes metrics ask on which side of 0 the prediction is.
    let theta = if task == Task::Binary { threshold(loss) } else { 0.0 };
    let log_loss = match (task, loss) {
        // It is the loss itself.
        (Task::Binary, AnyLoss::Logistic(_)) => outcome.loss,
        (Task::Binary, loss) => probability(loss, y * outcome.prediction)
            .map_or(f64::NAN, |probability| log_loss(probability, weight)),
        (Task::Multiclass, _) => log_loss(outcome.probability, weight),
        (Task::Regression, _) => f64::NAN,
    };
    let (loss, zero) = (outcome.loss, outcome.zero);
    Some(Seen { y, prediction: outcome.prediction - theta, log_loss, loss, zero, weight })
}
