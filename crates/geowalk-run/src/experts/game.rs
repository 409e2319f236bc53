//! # A game under way
//! The rounds of a table, what is kept of them, and what comes out.

use std::io::Write;

use geowalk::DomainError;
use geowalk::experts::{Combination, Experts, Kind, Sequences, Table, best_combination};
use geowalk::row::Block;
use geowalk_data::Schema;

use super::columns::Columns;
use super::course::{self, Point};
use super::summary::{Named, Summary};
use super::{Plan, Progress, Said, meaning};
use crate::error::RunError;
use crate::thinned::Thinned;

/// Most values kept for the best combination.
const KEPT: usize = 1 << 26;

/// What is kept for the best combination.
#[derive(Debug, Default)]
struct Kept {
    rows: Vec<f64>,
    y: Vec<f64>,
    full: bool,
}

/// Where predictions and messages go.
pub(super) struct Out<'a> {
    pub(super) predictions: Option<&'a mut dyn Write>,
    pub(super) said: &'a mut dyn FnMut(Said<'_>),
}

/// A game under way.
pub(super) struct Game<'a> {
    plan: &'a Plan,
    pub(super) kind: Kind,
    pub(super) columns: Columns,
    pub(super) experts: Experts,
    /// Rounds and loss before this run.
    before: (u64, f64),
    kept: Kept,
    /// Rows of the data, and those in which nobody says anything.
    rows: u64,
    silent: u64,
    rounds: u64,
    /// Loss and rounds at the last row of progress.
    since: (f64, u64),
    sequences: Sequences,
    course: Option<Thinned<Point>>,
    row: Vec<f64>,
}

impl<'a> Game<'a> {
    pub(super) fn new(plan: &'a Plan, kind: Kind, columns: Columns, experts: Experts) -> Self {
        let before = (experts.rounds(), experts.loss());
        Self {
            sequences: Sequences::new(columns.experts().len(), plan.switches),
            course: plan.trace.then(|| Thinned::new(before.0)),
            rounds: before.0,
            since: (before.1, before.0),
            before,
            plan,
            kind,
            columns,
            experts,
            kept: Kept::default(),
            rows: 0,
            silent: 0,
            row: Vec::new(),
        }
    }

    /// Plays the rows of a block.
    pub(super) fn block(
        &mut self,
        block: &Block,
        schema: &Schema,
        out: &mut Out<'_>,
    ) -> Result<(), RunError> {
        for i in 0..block.len() {
            self.rows += 1;
            let y = self.columns.read(block, i, schema, &mut self.row)?;
            let round = self.experts.learn(&self.row, y).map_err(|cause| {
                let expert = match cause {
                    DomainError::Coordinate { index, .. } => {
                        self.columns.experts().get(index).cloned()
                    }
                    _ => None,
                };
                RunError::Round { row: self.rows, expert, cause }
            })?;
            let Some(round) = round else {
                self.silent += 1;
                continue;
            };
            self.rounds += 1;
            if self.plan.switches > 0 {
                self.sequences.add(self.experts.last_losses());
            }
            let whole = self.plan.combination && self.plan.resume.is_none();
            self.kept.add(whole, &self.experts, y);
            if let Some(out) = &mut out.predictions {
                writeln!(out, "{}", round.prediction).map_err(RunError::Predictions)?;
            }
            let rounds = self.rounds;
            if let Some(course) = self.course.as_mut().filter(|course| course.next() == rounds) {
                course.add(rounds, Point::new(&self.experts));
            }
            if rounds.is_power_of_two() {
                let outcome = Columns::outcome(block.labels()[i], schema);
                let progress = self.progress(outcome, round.prediction)?;
                (out.said)(Said::Progress(&progress));
            }
        }
        Ok(())
    }

    /// A row of the progress table.
    fn progress(&mut self, outcome: String, prediction: f64) -> Result<Progress, RunError> {
        let (best, loss, rounds) = (self.experts.best(), self.experts.loss(), self.rounds);
        let since = std::mem::replace(&mut self.since, (loss, rounds));
        Ok(Progress {
            average: loss / rounds as f64,
            since_last: (loss - since.0) / (rounds - since.1) as f64,
            rounds,
            outcome,
            prediction,
            best: self.columns.experts()[best].clone(),
            standing: self.experts.against_expert(best).checked()?,
        })
    }

    /// What came out, with these notes first.
    pub(super) fn summary(&mut self, rule: &str, notes: Vec<String>) -> Result<Summary, RunError> {
        let (plan, resumed) = (self.plan, self.plan.resume.is_some());
        if self.rounds == self.before.0 {
            return Err(RunError::Experts {
                file: self.columns.file().to_owned(),
                found: "no expert says anything in any row".to_owned(),
                advice: "check --label, --ignore and --odds",
            });
        }
        let n = self.columns.experts().len();
        let best = self.kept.solve(n, &self.kind);
        let course = self.course.take();
        let mut points = course.map(|all| all.end(self.rounds, || Point::new(&self.experts)));
        if let (Some(points), Some(best)) = (&mut points, &best) {
            let table = Table { n, rows: &self.kept.rows, y: &self.kept.y };
            course::follow(points, best, &table, self.kind.loss());
        }
        let unsought = resumed && plan.combination && !matches!(self.kind, Kind::Losses);
        let mut summary = Summary::new(&self.experts, &self.columns, best);
        (summary.walk, summary.rate) = (rule.to_owned(), plan.rate.clone());
        summary.loss_name = meaning(&self.kind);
        summary.course = points;
        if let Some(loss) = self.sequences.loss(plan.switches).filter(|_| plan.switches > 0) {
            let standing = self.experts.against_sequence(loss, plan.switches as u64);
            summary.sequence = Some((plan.switches, loss, standing));
        }
        if matches!(self.kind, Kind::Relatives) {
            summary.portfolio();
        }
        summary.notes = notes;
        if unsought {
            summary.notes.push(UNSOUGHT.to_owned());
        }
        summary.notes.extend(remarks(&self.kept, self.silent));
        summary.notes.extend(summary.silence());
        if resumed {
            summary.day(self.before);
        }
        if matches!(self.kind, Kind::Forecasts(_)) {
            summary.notes.extend(outsiders(&summary.experts));
        }
        Ok(summary.checked()?)
    }
}

/// Why there is no best mixture after several days.
const UNSOUGHT: &str =
    "the best fixed mixture needs the rows of all days: it is not sought with --resume";

/// What the user should know at the end.
fn remarks(kept: &Kept, silent: u64) -> Vec<String> {
    let mut notes = Vec::new();
    if kept.full {
        notes.push(format!(
            "the best combination was not solved for: more than {KEPT} values would have to be kept"
        ));
    }
    if silent > 0 {
        notes.push(format!("{silent} rows in which no expert says anything were passed over"));
    }
    notes
}

/// How many times as much as the middle one an expert must lose to be taken for a column that is none.
const OUTSIDE: f64 = 1e4;

/// Says which columns hardly are forecasts: a date, an identifier.
fn outsiders(experts: &[Named]) -> Option<String> {
    let mut losses: Vec<f64> = experts.iter().map(|expert| expert.loss).collect();
    losses.sort_by(f64::total_cmp);
    let middle = *losses.get(losses.len().saturating_sub(1) / 2)?;
    let outside = experts.iter().filter(|expert| middle > 0.0 && expert.loss > OUTSIDE * middle);
    let names: Vec<&str> = outside.map(|expert| expert.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "columns that lost more than {OUTSIDE} times what the middle one lost, and may be no forecasts: {}; leave them out with --ignore",
            names.join(", ")
        )
    })
}

impl Kept {
    fn add(&mut self, wanted: bool, experts: &Experts, y: f64) {
        if !wanted || self.full {
            return;
        }
        let row = experts.last_row();
        if self.rows.len() + row.len() > KEPT {
            *self = Self { full: true, ..Self::default() };
            return;
        }
        self.rows.extend_from_slice(row);
        self.y.push(y);
    }

    /// The best combination; of losses it is an expert, which is known already.
    fn solve(&self, n: usize, kind: &Kind) -> Option<Combination> {
        if self.y.is_empty() || matches!(kind, Kind::Losses) {
            return None;
        }
        let table = Table { n, rows: &self.rows, y: &self.y };
        Some(best_combination(&table, kind.loss()))
    }
}
