//! # What a model learned
//! A model file holds arrays; [`Model::learned`] makes of them what predicts, certifies and describes itself. This is
//! where kinds of learners differ. Whoever has a model asks [`Learned`] and need not know its kind: predictions,
//! evaluation, `show` and `certify` are written once, for all.

mod apart;
mod boost;
mod tree;
mod trees;
mod walk;

use geowalk::boost::table::Table;
use geowalk::row::Block;
use geowalk_data::Schema;
use serde_json::Value;

pub use boost::{Boosting, promise};
pub use tree::Grown;
pub use trees::Trees;
pub use walk::{Output, Walking, largest, weight_names};

use crate::certificate::Report;
use crate::certify::{Open, Which};
use crate::error::RunError;
use crate::model::{LearnerSettings, Model};
use crate::profile::Profile;
use crate::sql::Target;
use crate::table::Heading;

/// What predictions are made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// Rows of features, as they come.
    Rows,
    /// So many columns of a table.
    Columns(usize),
}

/// What is asked of rows besides the prediction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ask {
    /// The probability of every class.
    pub shares: bool,
    /// Why each row is what it is predicted to be.
    pub why: bool,
    /// Probabilities as a user should have them: none is 0 because of rows that were never seen, and classes that
    /// were declared and have not come have a share.
    pub fair: bool,
}

/// What was answered, row after row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    /// The place of the class in [`Learned::classes`], or the predicted number.
    pub found: Vec<f64>,
    /// The probability of every class, if it was asked for and the loss has probabilities.
    pub shares: Vec<f64>,
    /// What grows with the second of two classes, where that is more than its probability.
    pub scores: Vec<f64>,
    /// Why.
    pub why: Vec<String>,
    /// Rows with the same number have the same answers. Empty if that is not known.
    pub groups: Vec<usize>,
}

impl Answers {
    /// Forgets all answers; their memory is kept.
    pub fn clear(&mut self) {
        self.found.clear();
        self.shares.clear();
        self.scores.clear();
        self.why.clear();
        self.groups.clear();
    }
}

/// How a model is written for another program, or for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For people.
    Text,
    /// A query.
    Sql,
    /// For programs.
    Json,
    /// For Graphviz.
    Dot,
}

impl Form {
    /// All of them, by name.
    pub const ALL: [(&'static str, Self); 4] =
        [("text", Self::Text), ("json", Self::Json), ("sql", Self::Sql), ("dot", Self::Dot)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, form)| *form == self).map_or("", |(name, _)| name)
    }
}

/// A part of what a model tells of itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Section {
    /// Values with their names.
    Facts(Vec<(String, String)>),
    /// Lines of text.
    Lines(Vec<String>),
    /// Lines of text below a title, which may be empty.
    Titled(String, Vec<String>),
}

impl std::fmt::Display for Section {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Facts(facts) => {
                facts.iter().try_for_each(|(name, text)| writeln!(f, "{name:<10} {text}"))
            }
            Self::Lines(lines) => lines.iter().try_for_each(|line| writeln!(f, "{line}")),
            Self::Titled(title, lines) => {
                writeln!(f)?;
                if !title.is_empty() {
                    writeln!(f, "{title}")?;
                }
                lines.iter().try_for_each(|line| writeln!(f, "{line}"))
            }
        }
    }
}

/// How each column of a table was read.
pub fn reading(profile: &Profile) -> Section {
    let empty = || std::iter::once(String::new());
    let short = profile.short();
    let short = short.iter().map(|(head, text)| format!("{head:<14} {text}"));
    let lines = empty().chain(profile.lines()).chain(empty()).chain(short);
    Section::Titled("how the table was read".to_owned(), lines.collect())
}

/// What the guarantees of a model are, for people and for programs.
#[derive(Debug, Clone, PartialEq)]
pub struct Guarantees {
    /// Line by line.
    pub lines: Vec<String>,
    /// As one JSON object.
    pub json: Value,
}

/// What was learned.
pub trait Learned: Send + Sync {
    /// What it predicts from; an error if it does not predict rows of data.
    fn wants(&self) -> Result<Wants, RunError>;

    /// The classes, in the order of their places; none if it predicts numbers.
    fn classes(&self) -> &[String];

    /// The columns of the data that it asks about; `None` if it asks about all.
    fn used_columns(&self, _schema: &Schema) -> Option<Vec<String>> {
        None
    }

    /// Can it say why?
    fn explains(&self) -> bool {
        false
    }

    /// The same with other names of its columns, if it [explains](Self::explains).
    fn renamed(&self, _columns: Vec<Heading>) -> Option<Box<dyn Learned>> {
        None
    }

    /// Adds the answers for all rows of a block, if it [wants](Self::wants) rows.
    fn answer_rows(&self, _rows: &Block, _ask: Ask, _out: &mut Answers) -> Result<(), RunError> {
        self.wants().map(|_| ())
    }

    /// Adds the answers for all rows of a table, if it [wants](Self::wants) columns.
    fn answer_table(&self, _table: &Table, _ask: Ask, _out: &mut Answers) -> Result<(), RunError> {
        self.wants().map(|_| ())
    }

    /// What is in it, for people; of each list the first `top`.
    fn describe(&self, model: &Model, top: usize) -> Result<Vec<Section>, RunError>;

    /// What is in it, for programs; of each list the first `top`.
    fn json(&self, model: &Model, top: usize) -> Result<Value, RunError>;

    /// The forms that it can be written in.
    fn forms(&self) -> &[Form] {
        &[]
    }

    /// The model in another form; with other names of its columns if they are given.
    fn write(
        &self,
        _form: Form,
        _target: &Target,
        _columns: Option<Vec<Heading>>,
    ) -> Result<String, RunError>;

    /// What is guaranteed: against a comparator if one is given, which may need the data once more.
    fn certify(
        &self,
        model: &Model,
        which: Option<&Which>,
        data: Option<Open<'_>>,
    ) -> Result<Guarantees, RunError>;

    /// What is guaranteed against all weights within a distance, for several distances.
    fn curve(&self, model: &Model) -> Result<Vec<(f64, Report)>, RunError> {
        // Without bounds against comparators there is a reason, which is the same for all of them.
        self.certify(model, Some(&Which::Best), None).map(|_| Vec::new())
    }
}

impl Model {
    /// What was learned, ready to predict.
    pub fn learned(&self) -> Result<Box<dyn Learned>, RunError> {
        Ok(match &self.settings.learner {
            LearnerSettings::Walk(_) | LearnerSettings::Natural(_) => Box::new(Walking::of(self)?),
            LearnerSettings::Boost(_) => Box::new(Boosting::of(self)?),
            LearnerSettings::Tree(_) => Box::new(Grown::of(self)?),
            LearnerSettings::Trees(_) => Box::new(Trees::of(self, None)?),
            LearnerSettings::Experts(_) | LearnerSettings::Track(_) => {
                Box::new(apart::Apart { kind: self.settings.walk() })
            }
        })
    }
}
