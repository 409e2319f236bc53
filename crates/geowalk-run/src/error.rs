//! # What can go wrong in a run

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
    /// A walk, loss or rate that cannot be built.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Data that cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A model file that cannot be read or written.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A label that does not fit.
    #[error("{}: {cause}", at(place.as_ref(), *row))]
    Label {
        /// Row of all data, from 1.
        row: u64,
        /// Where it was read, if it was.
        place: Option<Place>,
        /// What is wrong with it.
        cause: LabelError,
    },
    /// A step that cannot be made.
    #[error("{}: the walk '{walk}' cannot go on: {cause}{}; {}", at(place.as_ref(), *row), of(feature.as_ref()), advice(*suggested, cause))]
    Diverged {
        /// Row of all data, from 1.
        row: u64,
        /// Where it was read, if it was.
        place: Option<Place>,
        /// The walk.
        walk: String,
        /// The feature at fault, if it is one.
        feature: Option<String>,
        /// A smaller rate, if a smaller rate may help.
        suggested: Option<f64>,
        /// What happened.
        cause: Box<Diverged>,
    },
    /// A checkpoint from which a run cannot go on.
    #[error("{}: {why}; remove the file to begin again", path.display())]
    Checkpoint {
        /// The file.
        path: std::path::PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// A file that cannot be converted, or the result not written.
    #[error("{}: {source}", path.display())]
    Convert {
        /// The file.
        path: std::path::PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A matrix that cannot be read.
    #[error("cannot read the matrix '{path}': {source}")]
    Sigma {
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// Another label than the model's.
    #[error(
        "the label of the model is '{own}', not '{asked}'; leave {label} out, or train a new model", label = Flag::Label
    )]
    OtherLabel {
        /// The label asked for.
        asked: String,
        /// The label of the model.
        own: String,
    },
    /// Data of another form than the model's.
    #[error("{file}: the model was trained on data {}; give data of the same form",
        if columns.is_empty() { "without named columns".to_owned() } else { format!("with the columns {}", columns.join(", ")) })]
    OtherForm {
        /// The file.
        file: String,
        /// The columns of the model.
        columns: Vec<String>,
    },
    /// A fitted model that has learned from more rows cannot be made again from rows alone.
    #[error(
        "the model was fitted to {fitted} rows at once and then learned {more} rows one by one; \
         only a model that learned nothing after its fit can be verified"
    )]
    Continued {
        /// Rows it was fitted to.
        fitted: u64,
        /// Rows it learned from later.
        more: u64,
    },
    /// A walk that does not stay on the unit sphere where one is needed.
    #[error(
        "a null vector is tracked on the unit sphere; the walk '{walk}' is not on it: use sphere, implicit:sphere or projected-sphere"
    )]
    NotOnTheSphere {
        /// The walk.
        walk: String,
    },
    /// A series of names.
    #[error("the values of a series must be numbers; choose its column with {}", Flag::Label)]
    NotASeries,
    /// Experts that cannot be told from the columns.
    #[error("{file}: {found}; {advice}")]
    Experts {
        /// The file.
        file: String,
        /// What is wrong.
        found: String,
        /// What to do.
        advice: &'static str,
    },
    /// A round of experts that cannot be played.
    #[error("row {row}: {cause}{}; correct the row, or choose another {loss}, {range} or {rate}", of(expert.as_ref()),
        loss = Flag::Loss, range = Flag::Range, rate = Flag::Rate)]
    Round {
        /// Row of the data, from 1.
        row: u64,
        /// The expert at fault, if it is one.
        expert: Option<String>,
        /// What happened.
        cause: DomainError,
    },
    /// A table that cannot be learned from.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A booster that cannot go on.
    #[error(transparent)]
    Boost(#[from] geowalk::boost::BoostError),
    /// A tree that cannot be grown or read.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// A fold that cannot be learned from.
    #[error("fold {fold}: {cause}; use fewer {}", Flag::Folds)]
    Fold {
        /// Its number, from 1.
        fold: usize,
        /// What is wrong.
        cause: Box<RunError>,
    },
    /// Labels that are not classes.
    #[error(
        "the task is {why}; this learns classes: use {}, or {} with the label", Flag::Task.with("multiclass"), Flag::Nominal
    )]
    NotClasses {
        /// The task, and why.
        why: String,
    },
    /// Labels that are names where numbers are needed.
    #[error("the labels are names, not numbers; leave out --task regression to learn classes")]
    NotNumbers,
    /// No labels.
    #[error(
        "none of the {rows} rows has a label to learn from; a line of VW begins with it, a table has it in the column {label}", label = Flag::Label
    )]
    NoLabels {
        /// How many rows there are.
        rows: u64,
    },
    /// Two contenders that cannot be compared.
    #[error("cannot compare: {why}; {fix}")]
    Compare {
        /// What is in the way.
        why: String,
        /// What can be done.
        fix: &'static str,
    },
    /// More values than fit in memory as columns.
    #[error(
        "{rows} rows and {columns} columns or more do not fit in memory (at most {most} values); use 'geowalk train', which takes sparse features as they are"
    )]
    TooLarge {
        /// Rows so far.
        rows: usize,
        /// Columns so far.
        columns: usize,
        /// The largest number of values.
        most: usize,
    },
    /// Hashed features where names are needed.
    #[error("{}: columns need their names; leave it out", Flag::Bits.with(bits))]
    Bits {
        /// The bits of the hash.
        bits: u32,
    },
    /// A model that cannot be continued.
    #[error(
        "the model is a {kind}, learned from all data at once: it cannot be continued; learn a new one"
    )]
    Batch {
        /// What it is.
        kind: String,
    },
    /// A model of something else than a walk or a batch learner.
    #[error(
        "the model is one of {kind}: geowalk.load of the Python package goes on with it; geowalk show tells what is in it"
    )]
    Apart {
        /// What it is.
        kind: String,
    },
    /// A bound below the true regret.
    #[error(transparent)]
    Contradiction(#[from] geowalk::certify::Contradiction),
    /// A comparator that cannot be read.
    #[error("{file}{}: {what}", line.map(|line| format!(":{line}")).unwrap_or_default())]
    Comparator {
        /// The file.
        file: String,
        /// The line, from 1, if it is one.
        line: Option<usize>,
        /// What is wrong, and what to do.
        what: String,
    },
    /// Other data than those that a model was learned from.
    #[error(
        "these are not the data of the model: {what}; give the same rows in the same order, read with the same flags"
    )]
    OtherData {
        /// What differs.
        what: String,
    },
    /// Somebody did not want to wait.
    #[error("it was halted before its end; ask again, or with fewer rows")]
    Halted,
    /// A question about a model that has no certificates.
    #[error("the model has no certificates ({why}); train it with --certificate on")]
    NoCertificate {
        /// Why.
        why: &'static str,
    },
    /// A model of boosting asked about a comparator.
    #[error(
        "the theorems of boosting bound its own training error, not a regret: there is no comparator to give"
    )]
    NoComparator,
    /// A tree asked for what is guaranteed.
    #[error("no theorem bounds a tree that is grown greedily")]
    NoTheorem,
    /// A form that a model cannot be written in.
    #[error("--format {form}: {why}")]
    NoForm {
        /// The form.
        form: &'static str,
        /// Why it cannot be.
        why: String,
    },
    /// A model that cannot be replayed.
    #[error(
        "the model is a {kind}, learned from all data at once: there is no run to replay; learn it again with the same flags and compare the files, which are the same bytes"
    )]
    NoReplay {
        /// What it is.
        kind: String,
    },
    /// A model of another task, which it cannot have.
    #[error(
        "{}: the model learns {} and cannot be converted, because {why}; train a new model with {}",
        Flag::Task.with(asked.name()), model.name(), Flag::Task.with(asked.name())
    )]
    OtherTask {
        /// The task of the model.
        model: Task,
        /// The task asked for.
        asked: Task,
        /// Why it cannot be.
        why: String,
    },
    /// A model whose run cannot be repeated, because settings were changed on the way.
    #[error(
        "the model was continued with another {what} (--resume): there is no single run to repeat"
    )]
    Changed {
        /// The settings.
        what: String,
    },
    /// No examples.
    #[error("there are no examples in the input")]
    Empty,
    /// Columns that are to be carried through, of a format that cannot.
    #[error("{file}: --id and --keep need CSV or TSV; leave them out, or write the table as CSV")]
    NotCarried {
        /// The file.
        file: String,
    },
    /// A booster that cannot be continued.
    #[error("--resume: {why}; boost from the start")]
    NotResumed {
        /// The reason.
        why: &'static str,
    },
    /// Predictions that have no explanation.
    #[error(
        "--explain: the model is a walk, '{walk}'; rules and trees can be explained (geowalk boost, geowalk tree)"
    )]
    NotExplained {
        /// The walk.
        walk: String,
    },
    /// Predictions that cannot be written.
    #[error("cannot write predictions: {0}")]
    Predictions(#[source] io::Error),
    /// The thread that reads has died.
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
    /// Features or columns that cannot be used.
    pub(crate) fn schema(kind: ErrorKind) -> Self {
        let (file, position) = ("the schema".to_owned(), None);
        Self::Data(DataError { file, position, kind: Box::new(kind) })
    }

    /// The same, with rows counted from the one after `origin`.
    pub(crate) fn counted_from(self, origin: u64) -> Self {
        match self {
            Self::Label { row, place, cause } => Self::Label { row: row - origin, place, cause },
            Self::Diverged { row, place, walk, feature, suggested, cause } => {
                Self::Diverged { row: row - origin, place, walk, feature, suggested, cause }
            }
            other => other,
        }
    }

    /// The same, with the name of the feature at fault instead of its number alone.
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
