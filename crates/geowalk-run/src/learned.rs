//! # Trained models behind one interface
//! A model file holds arrays. [`Model::learned`] turns them into a [`Learned`] object that predicts, certifies and
//! describes itself. Only this module distinguishes the kinds of learners, so predictions, evaluation, `show` and
//! `certify` are written once for all of them.

mod apart;
mod boost;
mod tree;
mod trees;
mod walk;

use geowalk::boost::table::Table;
use geowalk::row::Block;
use geowalk_data::{Schema, visible};
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

/// The input that a model predicts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// Rows of features.
    Rows,
    /// A table with this number of columns.
    Columns(usize),
}

/// Additional outputs requested for each row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ask {
    /// The probability of every class.
    pub shares: bool,
    /// An explanation of each prediction.
    pub why: bool,
    /// Probabilities for users: no class has probability 0 merely because it was not seen, and declared classes
    /// without examples get a probability.
    pub fair: bool,
}

/// The predictions, row by row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    /// The index of the class in [`Learned::classes`], or the predicted number.
    pub found: Vec<f64>,
    /// The probability of every class, if requested and defined for the loss.
    pub shares: Vec<f64>,
    /// A score that increases with the second of two classes, if it carries more than the probability does.
    pub scores: Vec<f64>,
    /// Intervals of predicted numbers, if the model has them.
    pub intervals: Vec<[f64; 2]>,
    /// The explanations.
    pub why: Vec<String>,
    /// Rows with equal numbers have equal answers. Empty if unknown.
    pub groups: Vec<usize>,
}

impl Answers {
    /// Clears all answers, but keeps their memory.
    pub fn clear(&mut self) {
        self.found.clear();
        self.shares.clear();
        self.scores.clear();
        self.intervals.clear();
        self.why.clear();
        self.groups.clear();
    }
}

/// Output format of a model, for other programs or for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Text for people.
    Text,
    /// An SQL query.
    Sql,
    /// JSON for programs.
    Json,
    /// A Graphviz graph.
    Dot,
}

impl Form {
    /// All formats with their names.
    pub const ALL: [(&'static str, Self); 4] =
        [("text", Self::Text), ("json", Self::Json), ("sql", Self::Sql), ("dot", Self::Dot)];

    /// Name of the format.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, form)| *form == self).map_or("", |(name, _)| name)
    }
}

/// A section of the description of a model.
#[derive(Debug, Clone, PartialEq)]
pub enum Section {
    /// Pairs of names and values.
    Facts(Vec<(String, String)>),
    /// Lines of text.
    Lines(Vec<String>),
    /// Lines of text under a title; the title may be empty.
    Titled(String, Vec<String>),
}

impl std::fmt::Display for Section {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Facts(facts) => facts
                .iter()
                .try_for_each(|(name, text)| writeln!(f, "{name:<10} {}", visible(text))),
            Self::Lines(lines) => {
                lines.iter().try_for_each(|line| writeln!(f, "{}", visible(line)))
            }
            Self::Titled(title, lines) => {
                writeln!(f)?;
                if !title.is_empty() {
                    writeln!(f, "{}", visible(title))?;
                }
                lines.iter().try_for_each(|line| writeln!(f, "{}", visible(line)))
            }
        }
    }
}

/// Section that describes how each column of a table was read.
pub fn reading(profile: &Profile) -> Section {
    let empty = || std::iter::once(String::new());
    let short = profile.short();
    let short = short.iter().map(|(head, text)| format!("{head:<14} {text}"));
    let lines = empty().chain(profile.lines()).chain(empty()).chain(short);
    Section::Titled("how the table was read".to_owned(), lines.collect())
}

/// The guarantees of a model, for people and for programs.
#[derive(Debug, Clone, PartialEq)]
pub struct Guarantees {
    /// Lines of text.
    pub lines: Vec<String>,
    /// One JSON object.
    pub json: Value,
}

/// A trained model of any kind.
pub trait Learned: Send + Sync {
    /// The input that it predicts from. Fails if the model does not predict rows of data.
    fn wants(&self) -> Result<Wants, RunError>;

    /// The class names, in the order of their indices; empty if the model predicts numbers.
    fn classes(&self) -> &[String];

    /// Do predicted numbers have intervals?
    fn has_intervals(&self) -> bool {
        false
    }

    /// The columns that the model uses; `None` if it uses all.
    fn used_columns(&self, _schema: &Schema) -> Option<Vec<String>> {
        None
    }

    /// Whether the model can explain its predictions.
    fn explains(&self) -> bool {
        false
    }

    /// An explanation for each row of a block; empty if the model explains only rows of tables.
    fn explain_rows(&self, _model: &Model, _rows: &Block, _found: &[f64]) -> Vec<String> {
        Vec::new()
    }

    /// A copy with other column names. `None` if the model does not [explain](Self::explains) its predictions.
    fn renamed(&self, _columns: Vec<Heading>) -> Option<Box<dyn Learned>> {
        None
    }

    /// Appends the answers for all rows of a block. Does nothing if the model does not [want](Self::wants) rows.
    fn answer_rows(&self, _rows: &Block, _ask: Ask, _out: &mut Answers) -> Result<(), RunError> {
        self.wants().map(|_| ())
    }

    /// Appends the answers for all rows of a table. Does nothing if the model does not [want](Self::wants) columns.
    fn answer_table(&self, _table: &Table, _ask: Ask, _out: &mut Answers) -> Result<(), RunError> {
        self.wants().map(|_| ())
    }

    /// The description of the model for people; each list is cut to its first `top` entries.
    fn describe(&self, model: &Model, top: usize) -> Result<Vec<Section>, RunError>;

    /// The description of the model as JSON; each list is cut to its first `top` entries.
    fn json(&self, model: &Model, top: usize) -> Result<Value, RunError>;

    /// The output formats that the model supports.
    fn forms(&self) -> &[Form] {
        &[]
    }

    /// Writes the model in a format, with other column names if they are given.
    fn write(
        &self,
        _form: Form,
        _target: &Target,
        _columns: Option<Vec<Heading>>,
    ) -> Result<String, RunError>;

    /// The guarantees of the model, against a comparator if one is given. Some comparators require reading the data
    /// again.
    fn certify(
        &self,
        model: &Model,
        which: Option<&Which>,
        data: Option<Open<'_>>,
    ) -> Result<Guarantees, RunError>;

    /// The bounds against all weights within a distance, for several distances.
    fn curve(&self, model: &Model) -> Result<Vec<(f64, Report)>, RunError> {
        // A model without such bounds gives the same reason for every comparator.
        self.certify(model, Some(&Which::Best), None).map(|_| Vec::new())
    }
}

impl Model {
    /// The trained model, ready to predict.
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
