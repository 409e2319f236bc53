//! # Errors of a run

use std::io;

use geowalk::boost::table::TableError;
use geowalk::boost::tree::TreeError;
use geowalk::{ConfigError, DomainError};
use geowalk_data::{DataError, ErrorKind, Features, Flag, Place, Task};

use crate::label::LabelError;
use crate::learner::Diverged;
use crate::model::ModelError;

/// Why a run stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A walk, loss or rate that is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Data that cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A model file that cannot be read or written.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A label that does not fit the task or the loss.
    #[error("{}: {cause}", at(place.as_ref(), *row))]
    Label {
        /// Row number from 1, counted over all data.
        row: u64,
        /// File and line of the row, if the row was read from a file.
        place: Option<Place>,
        /// The problem with the label.
        cause: LabelError,
    },
    /// The walk could not make its next step.
    #[error("{}: the walk '{walk}' cannot go on: {cause}{}; {}", at(place.as_ref(), *row), of(feature.as_ref()), advice(*suggested, cause))]
    Diverged {
        /// Row number from 1, counted over all data.
        row: u64,
        /// File and line of the row, if the row was read from a file.
        place: Option<Place>,
        /// Specification of the walk.
        walk: String,
        /// Name of the feature at fault, if one feature is.
        feature: Option<String>,
        /// A smaller rate to try, if that may help.
        suggested: Option<f64>,
        /// The error of the walk.
        cause: Box<Diverged>,
    },
    /// A checkpoint that this run cannot continue.
    #[error("{}: {why}; remove the file to begin again", path.display())]
    Checkpoint {
        /// The file.
        path: std::path::PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// A file could not be converted, or the result could not be written.
    #[error("{}: {source}", path.display())]
    Convert {
        /// The file.
        path: std::path::PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file of a matrix could not be read.
    #[error("cannot read the matrix '{path}': {source}")]
    Sigma {
        /// The file.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The user asked for another label column than the model was trained with.
    #[error(
        "the label of the model is '{own}', not '{asked}'; leave {label} out, or train a new model", label = Flag::Label
    )]
    OtherLabel {
        /// The label asked for.
        asked: String,
        /// The label of the model.
        own: String,
    },
    /// The columns of the data do not match those of the model.
    #[error("{file}: the model was trained on data {}; give data of the same form",
        if columns.is_empty() { "without named columns".to_owned() } else { format!("with the columns {}", columns.join(", ")) })]
    OtherForm {
        /// The file.
        file: String,
        /// The columns of the model.
        columns: Vec<String>,
    },
    /// A fitted model that later learned more rows cannot be reproduced from the rows alone.
    #[error(
        "the model was fitted to {fitted} rows at once and then learned {more} rows one by one; \
         only a model that learned nothing after its fit can be verified"
    )]
    Continued {
        /// Number of rows the model was fitted to.
        fitted: u64,
        /// Number of rows it learned one by one afterwards.
        more: u64,
    },
    /// The walk does not stay on the unit sphere, but a null vector needs that.
    #[error(
        "a null vector is tracked on the unit sphere; the walk '{walk}' is not on it: use sphere, implicit:sphere or projected-sphere"
    )]
    NotOnTheSphere {
        /// The walk.
        walk: String,
    },
    /// The values of a series are names, not numbers.
    #[error("the values of a series must be numbers; choose its column with {}", Flag::Label)]
    NotASeries,
    /// The expert columns cannot be determined from the columns of the file.
    #[error("{file}: {found}; {advice}")]
    Experts {
        /// The file.
        file: String,
        /// The problem found.
        found: String,
        /// How to fix it.
        advice: &'static str,
    },
    /// A round of an expert game has an invalid value.
    #[error("row {row}: {cause}{}; correct the row, or choose another {loss}, {range} or {rate}", of(expert.as_ref()),
        loss = Flag::Loss, range = Flag::Range, rate = Flag::Rate)]
    Round {
        /// Row of the data, from 1.
        row: u64,
        /// The expert at fault, if it is one.
        expert: Option<String>,
        /// The invalid value.
        cause: DomainError,
    },
    /// The table is not suitable for training.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Boosting cannot continue.
    #[error(transparent)]
    Boost(#[from] geowalk::boost::BoostError),
    /// A tree that cannot be grown or read.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// One fold of a cross-validation failed.
    #[error("fold {fold}: {cause}; use fewer {}", Flag::Folds)]
    Fold {
        /// Number of the fold, from 1.
        fold: usize,
        /// The error in the fold.
        cause: Box<RunError>,
    },
    /// The task is not classification, but the learner needs classes.
    #[error(
        "the task is {why}; this learns classes: use {}, or {} with the label", Flag::Task.with("multiclass"), Flag::Nominal
    )]
    NotClasses {
        /// The task, and why.
        why: String,
    },
    /// Labels are names, but the task needs numbers.
    #[error("the labels are names, not numbers; leave out --task regression to learn classes")]
    NotNumbers,
    /// No row has a label.
    #[error(
        "none of the {rows} rows has a label to learn from; a line of VW begins with it, a table has it in the column {label}", label = Flag::Label
    )]
    NoLabels {
        /// Number of rows read.
        rows: u64,
    },
    /// Two models that cannot be compared.
    #[error("cannot compare: {why}; {fix}")]
    Compare {
        /// Why they cannot be compared.
        why: String,
        /// How to fix it.
        fix: &'static str,
    },
    /// Models that cannot be merged.
    #[error("cannot merge: {why}; {fix}")]
    Merge {
        /// Why they cannot be merged.
        why: String,
        /// How to fix it.
        fix: &'static str,
    },
    /// An operation on a single run was requested for a merged model.
    #[error(
        "the model was merged from {models} models, which is no single run; verify each of them"
    )]
    Merged {
        /// Number of merged models.
        models: usize,
    },
    /// A table that does not fit in memory as columns.
    #[error(
        "{rows} rows and {columns} columns or more do not fit in memory (at most {most} values); use 'geowalk train', which takes sparse features as they are"
    )]
    TooLarge {
        /// Number of rows read when the limit was reached.
        rows: usize,
        /// Number of columns at that time, at least.
        columns: usize,
        /// The largest allowed number of values.
        most: usize,
    },
    /// Weights and names that are larger than the user allows.
    #[error(
        "{features} features take about {} of memory, more than {}; {}, or allow more",
        gigabytes(*bytes), Flag::Memory.with(gigabytes(*limit)), fewer(*named)
    )]
    Memory {
        /// How many features have a weight.
        features: usize,
        /// What is needed.
        bytes: u64,
        /// What is allowed.
        limit: u64,
        /// They have names of their own.
        named: bool,
    },
    /// Features are hashed, but the learner needs column names.
    #[error("{}: columns need their names; leave it out", Flag::Bits.with(bits))]
    Bits {
        /// Number of bits of the hash.
        bits: u32,
    },
    /// A batch model cannot be continued: it was fitted to all data together.
    #[error(
        "the model is a {kind}, learned from all data at once: it cannot be continued; learn a new one"
    )]
    Batch {
        /// Kind of model.
        kind: String,
    },
    /// An operation that only walks and batch learners support.
    #[error(
        "the model is one of {kind}: geowalk.load of the Python package goes on with it; geowalk show tells what is in it"
    )]
    Apart {
        /// Kind of model.
        kind: String,
    },
    /// A bound came out below the true regret.
    #[error(transparent)]
    Contradiction(#[from] geowalk::certify::Contradiction),
    /// A comparator that cannot be read.
    #[error("{file}{}: {what}", line.map(|line| format!(":{line}")).unwrap_or_default())]
    Comparator {
        /// File of the comparator.
        file: String,
        /// Line number from 1, if the fault is on one line.
        line: Option<usize>,
        /// The problem, and how to fix it.
        what: String,
    },
    /// The data are not the rows the model was trained on.
    #[error(
        "these are not the data of the model: {what}; give the same rows in the same order, read with the same flags"
    )]
    OtherData {
        /// The difference found.
        what: String,
    },
    /// Interrupted by the user.
    #[error("it was halted before its end; ask again, or with fewer rows")]
    Halted,
    /// Certificates were requested, but the model keeps none.
    #[error("the model has no certificates ({why}); train it with --certificate on")]
    NoCertificate {
        /// Why.
        why: &'static str,
    },
    /// A comparator was given for a boosted model, whose theorems need none.
    #[error(
        "the theorems of boosting bound its own training error, not a regret: there is no comparator to give"
    )]
    NoComparator,
    /// Guarantees were requested for a tree.
    #[error("no theorem bounds a tree that is grown greedily")]
    NoTheorem,
    /// The model cannot be written in this format.
    #[error("--format {form}: {why}")]
    NoForm {
        /// Name of the format.
        form: &'static str,
        /// Why the model cannot be written in it.
        why: String,
    },
    /// A batch model has no run to replay.
    #[error(
        "the model is a {kind}, learned from all data at once: there is no run to replay; learn it again with the same flags and compare the files, which are the same bytes"
    )]
    NoReplay {
        /// Kind of model.
        kind: String,
    },
    /// The model cannot be converted to the requested task.
    #[error(
        "{}: the model learns {} and cannot be converted, because {why}; train a new model with {}",
        Flag::Task.with(asked.name()), model.name(), Flag::Task.with(asked.name())
    )]
    OtherTask {
        /// Task of the model.
        model: Task,
        /// Requested task.
        asked: Task,
        /// Why the conversion is impossible.
        why: String,
    },
    /// The run cannot be repeated, because settings were changed when it was resumed.
    #[error(
        "the model was continued with another {what} (--resume): there is no single run to repeat"
    )]
    Changed {
        /// The changed settings.
        what: String,
    },
    /// The input has no examples.
    #[error("there are no examples in the input")]
    Empty,
    /// `--id` or `--keep` was given for a format that does not support them.
    #[error("{file}: --id and --keep need CSV or TSV; leave them out, or write the table as CSV")]
    NotCarried {
        /// The file.
        file: String,
    },
    /// A booster that cannot be resumed.
    #[error("--resume: {why}; boost from the start")]
    NotResumed {
        /// Why it cannot be resumed.
        why: &'static str,
    },
    /// Explanations were requested for a walk.
    #[error(
        "--explain: the scores of '{walk}' are not sums over features; rules, trees and linear walks can be explained"
    )]
    NotExplained {
        /// The walk.
        walk: String,
    },
    /// Predictions that cannot be written.
    #[error("cannot write predictions: {0}")]
    Predictions(#[source] io::Error),
    /// The reader thread has panicked.
    #[error("the reader stopped unexpectedly: this is a defect of geowalk, please report it")]
    Reader,
}

fn at(place: Option<&Place>, row: u64) -> String {
    place.map_or_else(|| format!("row {row}"), Place::to_string)
}

fn of(feature: Option<&String>) -> String {
    feature.map(|name| format!(" (feature '{name}')")).unwrap_or_default()
}

fn advice(suggested: Option<f64>, cause: &Diverged) -> String {
    match suggested {
        Some(rate) => format!(
            "the rate of this step was {:e}: try {} or {}, or the default walk",
            cause.rate,
            Flag::Rate.with(format_args!("{rate:.1e}")),
            Flag::Rate.with("auto")
        ),
        None => "correct the row, or use another walk".to_owned(),
    }
}

impl RunError {
    /// Error for features or columns that cannot be used.
    pub(crate) fn schema(kind: ErrorKind) -> Self {
        let (file, position) = ("the schema".to_owned(), None);
        Self::Data(DataError { file, position, kind: Box::new(kind) })
    }

    /// Renumbers the row of the error so that the row after `origin` is row 1.
    pub(crate) fn counted_from(self, origin: u64) -> Self {
        match self {
            Self::Label { row, place, cause } => Self::Label { row: row - origin, place, cause },
            Self::Diverged { row, place, walk, feature, suggested, cause } => {
                Self::Diverged { row: row - origin, place, walk, feature, suggested, cause }
            }
            other => other,
        }
    }

    /// Replaces the index of the feature at fault by its name.
    pub(crate) fn named(self, features: &Features, intercept: bool) -> Self {
        match self {
            Self::Diverged { row, place, walk, suggested, cause, .. } => {
                let feature = match cause.cause {
                    DomainError::Coordinate { index, .. } => index
                        .checked_sub(usize::from(intercept))
                        .and_then(|index| features.name(u32::try_from(index).ok()?))
                        .map(std::borrow::Cow::into_owned),
                    _ => None,
                };
                Self::Diverged { row, place, walk, feature, suggested, cause }
            }
            other => other,
        }
    }
}

/// Bytes for people, in the form that is read as an option.
fn gigabytes(bytes: u64) -> String {
    let giga = bytes as f64 / 1e9;
    if giga < 0.1 { format!("{:.1}M", giga * 1e3) } else { format!("{giga:.1}G") }
}

/// What makes features fewer.
fn fewer(named: bool) -> String {
    if named {
        format!("hash their names with {}", Flag::Bits.with(22))
    } else {
        format!("use fewer places, such as {}", Flag::Bits.with(24))
    }
}
