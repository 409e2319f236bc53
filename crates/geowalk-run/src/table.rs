//! # Tables
//! From whatever can be read to columns: what boosting and trees learn from. Readers give rows of features; here the features `color=red`, `color=blue` become one column of names
//! again, and `size=missing` a gap in the column `size`.
//!
//! | data | columns |
//! |---|---|
//! | tables | as they are: numbers and names; an empty field is missing |
//! | JSON | one of numbers or names for each key; a key that is absent counts as 0 or as a missing name, `null` as missing |
//! | VW, LIBSVM | one of numbers for each feature; what is absent is 0 |
//!
//! **Layout** Columns and the codes of names follow from the schema alone, in the order of its features. So a model that keeps the schema needs nothing else to read new data, and names that it does not
//! know get new codes, equal to none of the old ones.
//! **Care** everything is in memory, 8 bytes per number and 4 per name: data with very many sparse features are refused. A cell that holds the word `missing` is missing: the name of its feature is the same.

use std::collections::BTreeMap;

use geowalk::boost::table::{Classes, Column, MISSING, Table, TableError};
use geowalk::row::{Block, Row};
use geowalk_data::{
    Features, Indexing, Kind, Label, Labels, Options, Places, Reason, Schema, Source, Task,
};

use crate::error::RunError;
use crate::input;
use crate::label::Coding;
use crate::profile::Reading;
use crate::pump::ROWS;

/// Values that fit: 2 GB of numbers.
const MOST_VALUES: usize = 1 << 28;

/// Columns that can be searched one by one.
const MOST_COLUMNS: usize = 1 << 17;

/// A column as it grows.
#[derive(Debug, Clone)]
struct Growing {
    name: String,
    values: Grown,
}

#[derive(Debug, Clone)]
enum Grown {
    Numbers(Vec<f64>),
    Names {
        codes: Vec<u32>,
        names: Vec<String>,
    },
    /// So many rows, all missing.
    Nothing(usize),
}

/// What a feature says of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Slot {
    Number(usize),
    Name(usize, u32),
    Missing(usize),
    /// A feature that the model does not know.
    Nothing,
}

/// Which feature belongs to which column.
#[derive(Debug, Clone)]
struct Layout {
    columns: Vec<Growing>,
    /// Where the column of a name is.
    places: BTreeMap<String, usize>,
    slots: Vec<Slot>,
    /// The rest of the schema: columns whose features stand for themselves.
    others: Vec<String>,
    /// Names of features follow `column=value`.
    tabular: bool,
    /// Columns are those of a model; new ones are passed over.
    closed: bool,
}

impl Layout {
    fn new(schema: &Schema) -> Self {
        let is_column = |kind| matches!(kind, Kind::Numeric | Kind::Nominal | Kind::Undecided);
        let (own, others): (Vec<_>, Vec<_>) =
            schema.columns().iter().partition(|column| is_column(column.kind));
        let values = |kind| match kind {
            Kind::Numeric => Grown::Numbers(Vec::new()),
            Kind::Nominal => Grown::Names { codes: Vec::new(), names: Vec::new() },
            _ => Grown::Nothing(0),
        };
        let column = |column: &&geowalk_data::Column| Growing {
            name: column.name.clone(),
            values: values(column.kind),
        };
        let columns: Vec<Growing> = own.iter().map(column).collect();
        let mut layout = Self {
            places: columns.iter().map(|column| column.name.clone()).zip(0..).collect(),
            columns,
            slots: Vec::new(),
            others: others.into_iter().map(|column| column.name.clone()).collect(),
            tabular: !schema.columns().is_empty(),
            closed: false,
        };
        layout.extend(schema.features(), usize::MAX, 0);
        layout
    }

    /// Gives every feature up to this index its slot, in the order of the indices.
    fn extend(&mut self, features: &Features, index: usize, rows: usize) {
        let known = match features {
            Features::Exact(names) => names.len(),
            // Numbers have no end; they get slots as they come.
            Features::Index(_) if index < usize::MAX => index.saturating_add(1),
            _ => 0,
        };
        while self.slots.len() < known.min(index.saturating_add(1)) && !self.full() {
            let next = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
            let name = features.name(next).unwrap_or_default();
            let slot = self.slot(&name, rows);
            self.slots.push(slot);
        }
    }

    /// Are there more columns than can be searched?
    fn full(&self) -> bool {
        self.columns.len() > MOST_COLUMNS
    }

    /// Is this a word of a column that is split into words?
    fn is_word(&self, name: &str) -> bool {
        let begins = |column: &String| name.strip_prefix(column.as_str());
        self.others.iter().filter_map(begins).any(|rest| rest.starts_with('='))
    }

    fn slot(&mut self, name: &str, rows: usize) -> Slot {
        if self.tabular {
            // The column with the longest name that fits.
            let ends = name.rmatch_indices('=').map(|(at, _)| at);
            let best = std::iter::once(name.len())
                .chain(ends)
                .find_map(|end| self.places.get(&name[..end]).map(|at| (*at, name.get(end + 1..))));
            if let Some((at, value)) = best
                && let Some(slot) = self.put(at, value, rows)
            {
                return slot;
            }
        }
        if self.closed {
            return Slot::Nothing;
        }
        let (column, value) = match name.split_once('=') {
            Some((column, value)) if self.tabular && !self.is_word(name) => {
                // A key with numbers and names has two columns.
                let taken = self.places.contains_key(column);
                (if taken { format!("{column}=") } else { column.to_owned() }, Some(value))
            }
            _ => (name.to_owned(), None),
        };
        let known = self.places.get(&column).copied();
        let at = known.unwrap_or_else(|| {
            self.places.insert(column.clone(), self.columns.len());
            self.columns.push(Growing { name: column, values: Grown::Nothing(rows) });
            self.columns.len() - 1
        });
        if !self.tabular || known.is_none() && value.is_none() {
            // Absent is 0, not missing.
            self.columns[at].values = Grown::Numbers(vec![0.0; rows]);
        }
        self.put(at, value, rows).unwrap_or(Slot::Nothing)
    }

    /// The slot of a value in a column, if it can be one of it.
    fn put(&mut self, at: usize, value: Option<&str>, rows: usize) -> Option<Slot> {
        let column = &mut self.columns[at].values;
        if let Grown::Nothing(_) = column {
            match value {
                None => *column = Grown::Numbers(vec![f64::NAN; rows]),
                Some("missing") => {}
                Some(_) => {
                    *column = Grown::Names { codes: vec![MISSING; rows], names: Vec::new() };
                }
            }
        }
        match (column, value) {
            (Grown::Numbers(_), None) => Some(Slot::Number(at)),
            (_, Some("missing")) => Some(Slot::Missing(at)),
            (Grown::Names { names, .. }, Some(value)) => {
                let code = u32::try_from(names.len()).ok()?;
                names.push(value.to_owned());
                Some(Slot::Name(at, code))
            }
            _ => None,
        }
    }

    /// Adds a row.
    fn push<X: Row<f64>>(&mut self, row: X, features: &Features, rows: usize) {
        // Absent is 0; what is unknown so far stays so if this row says that it is missing.
        for column in &mut self.columns {
            match &mut column.values {
                Grown::Numbers(values) => values.push(0.0),
                Grown::Names { codes, .. } => codes.push(MISSING),
                Grown::Nothing(count) => *count += 1,
            }
        }
        let mut flagged = Vec::new();
        row.each(|index, value| {
            if index >= self.slots.len() {
                self.extend(features, index, rows + 1);
            }
            let slot = self.slots.get(index).copied().unwrap_or(Slot::Nothing);
            match slot {
                Slot::Number(at) => {
                    if let Grown::Numbers(values) = &mut self.columns[at].values
                        && let Some(last) = values.last_mut()
                    {
                        *last = value;
                    }
                }
                Slot::Name(at, code) => {
                    if let Grown::Names { codes, .. } = &mut self.columns[at].values
                        && let Some(last) = codes.last_mut()
                    {
                        *last = code;
                    }
                }
                Slot::Missing(at) => match &mut self.columns[at].values {
                    Grown::Numbers(values) => {
                        if let Some(last) = values.last_mut() {
                            *last = f64::NAN;
                        }
                    }
                    Grown::Names { .. } => {}
                    Grown::Nothing(_) => flagged.push(at),
                },
                Slot::Nothing => {}
            }
        });
        // A zero is not among the features: a column that is not said to be missing has its first number here.
        for at in 0..self.columns.len() {
            if let Grown::Nothing(count) = self.columns[at].values
                && !flagged.contains(&at)
                && count > 0
            {
                let mut values = vec![f64::NAN; count];
                values[count - 1] = 0.0;
                self.columns[at].values = Grown::Numbers(values);
            }
        }
    }

    /// The rows so far, which are forgotten.
    fn take(&mut self) -> Result<Table, TableError> {
        let column = |column: &mut Growing| match &mut column.values {
            Grown::Numbers(values) => Column::numeric(&column.name, std::mem::take(values)),
            Grown::Names { codes, names } => Column::nominal(
                &column.name,
                std::mem::take(codes),
                names.iter().map(String::as_str),
            ),
            Grown::Nothing(count) => {
                Column::numeric(&column.name, vec![f64::NAN; std::mem::take(count)])
            }
        };
        Table::new(self.columns.iter_mut().map(column).collect())
    }
}

/// A column of a model, without its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// Its name.
    pub name: String,
    /// The names that it knows, by code; `None` for a column of numbers.
    pub names: Option<Vec<String>>,
    /// Training has seen missing values.
    pub gaps: bool,
    /// Where its values come from.
    pub origin: Origin,
    /// Fields of a table that count as missing, besides the empty one.
    pub missing: Vec<String>,
}

/// Where the values of a column come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A column of a table.
    Cell,
    /// How often a word occurs in a column of free text.
    Word {
        /// The column.
        column: String,
        /// The word, in lower case.
        word: String,
    },
    /// A feature of sparse rows; what is absent is 0.
    Entry,
}

impl Heading {
    /// `color = red`, or `color ≠ red` if `is` is false, for the value with this code. Columns of truth values
    /// are `flag` and `not flag`.
    pub fn says(&self, code: u32, is: bool) -> String {
        let name = &self.name;
        let names = self.names.as_deref().unwrap_or_default();
        let truth = |value: &String| match value.as_str() {
            "true" | "True" => Some(true),
            "false" | "False" => Some(false),
            _ => None,
        };
        let own = names.get(code as usize);
        if names.iter().all(|value| truth(value).is_some())
            && let Some(truth) = own.and_then(truth)
            && (is || !self.gaps)
        {
            return if truth == is { name.clone() } else { format!("not {name}") };
        }
        let own = own.map_or("?", String::as_str);
        if is { format!("{name} = {own}") } else { format!("{name} ≠ {own}") }
    }
}

/// The columns of a model, of which there are `count`.
pub fn headings(schema: &Schema, count: usize) -> Vec<Heading> {
    let mut layout = Layout::new(schema);
    if let (Features::Index(_), Some(last)) = (schema.features(), count.checked_sub(1)) {
        layout.extend(schema.features(), last, 0);
    }
    let slots = layout.slots;
    let word = |name: &str| {
        let texts = schema.of_kind(Kind::Text);
        let split =
            |column: &str| Some((column.len(), name.strip_prefix(column)?.strip_prefix('=')?));
        let (at, word) = texts.filter_map(split).max()?;
        Some(Origin::Word { column: name[..at].to_owned(), word: word.to_owned() })
    };
    let is_cell = |name: &str| schema.columns().iter().any(|column| column.name == name);
    let origin = |name: &str| match () {
        () if is_cell(name) => Origin::Cell,
        () if !layout.tabular => Origin::Entry,
        () => word(name).unwrap_or(Origin::Cell),
    };
    let heading = |(at, column): (usize, Growing)| Heading {
        origin: origin(&column.name),
        missing: schema.missing().to_vec(),
        name: column.name,
        gaps: slots.contains(&Slot::Missing(at)),
        names: match column.values {
            Grown::Names { names, .. } => Some(names),
            _ => None,
        },
    };
    layout.columns.into_iter().enumerate().map(heading).collect()
}

/// Reads data as tables.
pub struct Reader {
    source: Box<dyn Source>,
    layout: Layout,
    block: Block,
    /// How many names each column of the model has, and how many rows have others.
    known: Vec<(u32, u64)>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("source", &self.source).finish_non_exhaustive()
    }
}

/// Some rows.
#[derive(Debug)]
pub struct Rows {
    /// The columns.
    pub table: Table,
    /// The label of each row as the reader gives it; NaN if there is none.
    pub labels: Vec<f64>,
    /// The weight of each row.
    pub weights: Vec<f64>,
    /// Where they come from, and what was left out between them.
    pub places: Places,
}

/// Rows with a name that the model has not seen, in one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unseen {
    /// The column.
    pub column: String,
    /// How many rows.
    pub rows: u64,
    /// The first such name.
    pub first: String,
}

impl Reader {
    /// Opens data. Features are kept by name.
    pub fn open(options: Options) -> Result<Self, RunError> {
        if let Indexing::Hashed(bits) = options.indexing {
            return Err(RunError::Bits { bits });
        }
        Ok(Self::over(input::open(Options { indexing: Indexing::Exact, ..options })?))
    }

    /// Reads what a source gives.
    pub fn over(source: Box<dyn Source>) -> Self {
        let layout = Layout::new(source.schema());
        Self { source, layout, block: Block::new(), known: Vec::new() }
    }

    /// The same for a model with this schema and so many columns, which is also the schema of the source.
    pub fn over_known(source: Box<dyn Source>, schema: &Schema, columns: usize) -> Self {
        let mut layout = Layout::new(schema);
        if let (Features::Index(_), Some(last)) = (schema.features(), columns.checked_sub(1)) {
            layout.extend(schema.features(), last, 0);
        }
        layout.closed = true;
        let count = |column: &Growing| match &column.values {
            Grown::Names { names, .. } => (u32::try_from(names.len()).unwrap_or(u32::MAX), 0),
            Grown::Numbers(_) | Grown::Nothing(_) => (MISSING, 0),
        };
        let known = layout.columns.iter().map(count).collect();
        Self { source, layout, block: Block::new(), known }
    }

    /// [`reopen`](Self::reopen) for predictions: labels may be missing, and their column is that of the training data if no other is named.
    pub fn unlabelled(schema: &Schema, columns: usize, options: Options) -> Result<Self, RunError> {
        let label = match (options.label, schema.label()) {
            (Label::Guess, Some(name)) => Label::Named(name.to_owned()),
            (Label::Guess, None) => Label::Absent,
            (given, _) => given,
        };
        Self::reopen(schema, columns, Options { unlabelled: true, label, ..options })
    }

    /// Opens data for a model with this schema and so many columns.
    pub fn reopen(schema: &Schema, columns: usize, options: Options) -> Result<Self, RunError> {
        let reader = Self::open(Options { schema: Some(schema.clone()), ..options })?;
        Ok(Self::over_known(reader.source, schema, columns))
    }

    /// The columns in which names occurred that the model has not seen.
    pub fn unseen(&self) -> Vec<Unseen> {
        let columns = self.layout.columns.iter().zip(&self.known);
        let unseen = |(column, (known, rows)): (&Growing, &(u32, u64))| match &column.values {
            Grown::Names { names, .. } if *rows > 0 => Some(Unseen {
                column: column.name.clone(),
                rows: *rows,
                first: names.get(*known as usize).cloned().unwrap_or_default(),
            }),
            _ => None,
        };
        columns.filter_map(unseen).collect()
    }

    /// The next rows, at most so many; `None` at the end.
    pub fn read(&mut self, most: usize) -> Result<Option<Rows>, RunError> {
        let (mut labels, mut weights) = (Vec::new(), Vec::new());
        let mut places = Places::default();
        while labels.len() < most {
            let read = self.source.read(&mut self.block, ROWS.min(most - labels.len()))?;
            places.append(self.source.places());
            if read == 0 {
                break;
            }
            let features = self.source.schema().features();
            for i in 0..read {
                if self.block.columns().is_some() {
                    self.layout.push(self.block.dense(i), features, labels.len() + i);
                } else {
                    self.layout.push(self.block.sparse(i), features, labels.len() + i);
                }
            }
            labels.extend_from_slice(self.block.labels());
            weights.extend_from_slice(self.block.weights());
            let (rows, columns) = (labels.len(), self.layout.columns.len());
            if self.layout.full() || rows.saturating_mul(columns) > MOST_VALUES {
                return Err(RunError::TooLarge { rows, columns, most: MOST_VALUES });
            }
        }
        if labels.is_empty() && places.left_out().is_empty() {
            return Ok(None);
        }
        if !self.layout.closed {
            let features = self.source.schema().features();
            self.layout.extend(features, usize::MAX, labels.len());
        }
        for (column, (known, rows)) in self.layout.columns.iter().zip(&mut self.known) {
            if let Grown::Names { codes, .. } = &column.values {
                *rows += codes.iter().filter(|c| **c >= *known && **c != MISSING).count() as u64;
            }
        }
        let table = self.layout.take()?;
        Ok(Some(Rows { table, labels, weights, places }))
    }

    /// What is known of the data.
    pub fn source(&self) -> &dyn Source {
        self.source.as_ref()
    }
}

/// A table to learn classes from.
#[derive(Debug)]
pub struct Examples {
    /// The columns.
    pub table: Table,
    /// The class of each row.
    pub classes: Classes,
    /// The weight of each row, if not all are 1.
    pub weights: Option<Vec<f64>>,
    /// The labels of the classes as the reader gives them: numbers rising, names in the order of the alphabet. The second of two is the positive one.
    pub coding: Coding,
    /// What columns, features and labels mean.
    pub schema: Schema,
    /// Rows left out because they have no label.
    pub unlabelled: usize,
    /// Rows left out because they could not be read, and the first errors.
    pub skipped: (u64, Vec<String>),
    /// Why this task, if it was not given.
    pub said: Option<String>,
    /// What the reader has decided.
    pub decisions: Vec<String>,
    /// What is known of how they were read.
    pub reading: Reading,
}

impl Examples {
    /// The weight of one row: 1 without weights; the largest weight of which all others are multiples, if there
    /// is one, so that weights that are counts stand for rows that come again; otherwise the mean of the
    /// positive weights. It grows with the weights, so that what is measured in it does not depend on their
    /// scale.
    pub fn weight_unit(&self) -> f64 {
        self.weights.as_deref().map_or(1.0, weight_unit)
    }
}

/// Weights have more than this part of the largest one in common, or nothing.
const COARSE: f64 = 1e-6;

pub(crate) fn weight_unit(weights: &[f64]) -> f64 {
    let positive = || weights.iter().copied().filter(|weight| *weight > 0.0);
    let (count, largest) = (positive().count(), positive().fold(0.0, f64::max));
    if count == 0 {
        return 1.0;
    }
    let mean = positive().sum::<f64>() / count as f64;
    let mut unit = largest;
    for weight in positive() {
        // Euclid's algorithm; a rest this small is rounding.
        let (mut a, mut b) = (unit, weight);
        while b > COARSE * COARSE * largest {
            let rest = a - (a / b).round() * b;
            (a, b) = (b, rest.abs());
        }
        unit = a;
        if unit < COARSE * largest {
            return mean;
        }
    }
    unit
}

/// Reads all of the data, to learn classes from.
pub fn examples(options: Options, task: Option<Task>) -> Result<Examples, RunError> {
    let declared = options.nominal.iter().chain(&options.text).cloned().collect();
    let mut reader = Reader::open(options)?;
    let rows = reader.read(usize::MAX)?.ok_or(RunError::Empty)?;
    examples_of(&reader, rows, declared, task)
}

/// The same of rows that were read; `declared` are the columns that were declared to be names or text.
pub(crate) fn examples_of(
    reader: &Reader,
    rows: Rows,
    declared: Vec<String>,
    task: Option<Task>,
) -> Result<Examples, RunError> {
    let Rows { table, labels, weights, .. } = rows;
    if labels.is_empty() {
        return Err(RunError::Empty);
    }
    let schema = reader.source().schema().clone();
    let looks = reader.source().looks();
    let looks = looks.into_iter().map(|(name, looks)| (name.to_owned(), looks.clone())).collect();
    let reading = Reading { looks, declared };
    let skipped = reader.source().skipped();
    let skipped = (skipped.rows(), skipped.first().iter().map(ToString::to_string).collect());
    let decisions = input::decisions(reader.source());
    let names = schema.labels();
    let inference = Task::infer(names, &labels);
    if inference.reason == Reason::NoLabels {
        return Err(RunError::NoLabels { rows: labels.len() as u64 });
    }
    let said = task.is_none().then(|| inference.explained());
    if task.unwrap_or(inference.task) == Task::Regression {
        return Err(RunError::NotClasses { why: inference.to_string() });
    }
    let values = distinct(names, &labels);
    if task == Some(Task::Binary) && values.len() > 2 {
        let text = |label: &f64| names.name(*label).map_or(label.to_string(), str::to_owned);
        let classes: Vec<String> = values.iter().map(text).collect();
        return Err(TableError::not_two(&classes).into());
    }
    let task = if values.len() > 2 { Task::Multiclass } else { task.unwrap_or(inference.task) };
    let coding = Coding::restore(task, values);
    let kept: Vec<u32> =
        (0..).zip(&labels).filter(|(_, y)| !y.is_nan()).map(|(row, _)| row).collect();
    let code = |label: f64| coding.classes().iter().position(|class| *class == label);
    let codes = labels.iter().filter_map(|y| code(*y)).filter_map(|k| u32::try_from(k).ok());
    let mut texts: Vec<String> =
        (0..coding.classes().len()).map(|k| coding.text(k, names)).collect();
    if texts.len() < 2 {
        texts.push("(unseen)".to_owned());
    }
    let classes = Classes::new(codes.collect(), texts)?;
    let unlabelled = labels.len() - kept.len();
    let table = if unlabelled > 0 { table.select(&kept)? } else { table };
    let weights: Vec<f64> = kept.iter().map(|row| weights[*row as usize]).collect();
    let weights = weights.iter().any(|weight| *weight != 1.0).then_some(weights);
    Ok(Examples {
        table,
        classes,
        weights,
        coding,
        schema,
        unlabelled,
        skipped,
        said,
        decisions,
        reading,
    })
}

/// The labels that occur, in order.
fn distinct(names: &Labels, labels: &[f64]) -> Vec<f64> {
    let mut values: Vec<f64> = labels.iter().filter(|y| !y.is_nan()).map(|y| y + 0.0).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    if let Labels::Names(_) = names {
        values.sort_by_key(|value| names.name(*value).map(str::to_owned));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use geowalk::boost::table::Values;
    use geowalk_data::Input;

    fn load(name: &str, text: &str) -> Examples {
        examples(Options::new([Input::text(name, text)]), None).unwrap()
    }

    fn numbers(table: &Table, at: usize) -> Vec<f64> {
        match table.columns()[at].values() {
            Values::Numeric(values) => values.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn names(table: &Table, at: usize) -> (Vec<u32>, Vec<String>) {
        match table.columns()[at].values() {
            Values::Nominal { codes, names } => (codes.clone(), names.clone()),
            other => panic!("{other:?}"),
        }
    }

    fn same(a: &[f64], b: &[f64]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
    }

    #[test]
    fn the_unit_of_weights_follows_their_scale() {
        for scale in [1.0, 10.0, 0.1, 1e-9, 3e7] {
            let unit = |weights: &[f64]| {
                weight_unit(&weights.iter().map(|weight| weight * scale).collect::<Vec<_>>())
            };
            let near = |a: f64, b: f64| (a - b * scale).abs() < 1e-9 * scale;
            assert!(near(unit(&[1.0, 1.0]), 1.0));
            assert!(near(unit(&[2.0, 0.0, 3.0, 4.0]), 1.0), "counts");
            assert!(near(unit(&[0.5, 1.5, 4.0]), 0.5));
            assert!(near(
                unit(&[1.0, std::f64::consts::PI]),
                f64::midpoint(1.0, std::f64::consts::PI)
            ));
        }
        assert_eq!((weight_unit(&[1.0, 1.0]), weight_unit(&[0.0])), (1.0, 1.0));
    }

    #[test]
    fn columns_of_a_table_stay_columns() {
        let text = "size,color,empty,zero,class\n1.5,red,,0,yes\n,blue,,0,no\n0,,,0,yes\n";
        let loaded = load("a.csv", text);
        let table = &loaded.table;
        let header: Vec<&str> = table.columns().iter().map(Column::name).collect();
        assert_eq!(header, ["size", "color", "empty", "zero"]);
        assert!(same(&numbers(table, 0), &[1.5, f64::NAN, 0.0]));
        assert_eq!(names(table, 1), (vec![0, 1, MISSING], vec!["red".into(), "blue".into()]));
        assert!(same(&numbers(table, 2), &[f64::NAN; 3]));
        assert!(same(&numbers(table, 3), &[0.0, 0.0, 0.0]));
        assert_eq!(loaded.classes.codes(), [1, 0, 1]);
        assert_eq!(loaded.classes.names(), ["no", "yes"]);
    }

    #[test]
    fn all_numbers_are_dense_and_all_the_same() {
        let loaded = load("a.csv", "a,b,y\n1,0,3\n0,2,1\n5,6,2\n");
        assert_eq!(numbers(&loaded.table, 0), [1.0, 0.0, 5.0]);
        assert_eq!(numbers(&loaded.table, 1), [0.0, 2.0, 6.0]);
        assert_eq!(
            (loaded.classes.names(), loaded.classes.codes()),
            (&["1", "2", "3"].map(String::from)[..], &[2, 0, 1][..])
        );
    }

    #[test]
    fn keys_features_and_indices_become_columns() {
        let json = "{\"n\":null,\"c\":\"x\",\"y\":1}\n{\"n\":2,\"y\":0}\n{\"n\":0,\"c\":\"y\",\"c2\":\"z\",\"y\":1}\n";
        let table = load("a.jsonl", json).table;
        assert!(same(&numbers(&table, 0), &[f64::NAN, 2.0, 0.0]));
        assert_eq!(names(&table, 1).0, [0, MISSING, 1]);
        assert_eq!(names(&table, 2).0, [MISSING, MISSING, 0]);
        let vw = load("a.vw", "1 2 |f a:2 b\n-1 |f b:3 c=d\n").table;
        let header: Vec<&str> = vw.columns().iter().map(Column::name).collect();
        assert_eq!(header, ["f^a", "f^b", "f^c=d"]);
        assert_eq!(
            [0, 1, 2].map(|at| numbers(&vw, at)),
            [vec![2.0, 0.0], vec![1.0, 3.0], vec![0.0, 1.0]]
        );
        let loaded = load("a.vw", "1 2 |f a:2 b\n|f a:9\n-1 |f b:3 c=d\n");
        assert_eq!((loaded.weights, loaded.unlabelled), (Some(vec![2.0, 1.0]), 1));
        assert_eq!(numbers(&loaded.table, 0), [2.0, 0.0]);
        let svm = load("a.svm", "1 3:5\n-1 1:2\n").table;
        let header: Vec<&str> = svm.columns().iter().map(Column::name).collect();
        assert_eq!(header, ["1", "2", "3"]);
        assert_eq!(numbers(&svm, 2), [5.0, 0.0]);
    }

    #[test]
    fn new_data_have_the_columns_of_the_model() {
        let loaded = load("a.csv", "size,color,late,y\n1,red,,1\n2,blue,,0\n");
        let headings = headings(&loaded.schema, 3);
        assert_eq!(headings[1].names, Some(vec!["red".to_owned(), "blue".to_owned()]));
        assert_eq!((headings[0].names.as_ref(), headings.len()), (None, 3));
        assert_eq!((headings[0].gaps, headings[2].gaps), (false, true));
        let text = "color,late,size\ngreen,1,5\nblue,,\n,,1\nred,,0\ngreen,,3\n";
        let options = Options { unlabelled: true, ..Options::new([Input::text("b.csv", text)]) };
        let mut reader = Reader::reopen(&loaded.schema, 3, options).unwrap();
        let first = reader.read(2).unwrap().unwrap();
        assert!(same(&numbers(&first.table, 0), &[5.0, f64::NAN]));
        assert_eq!(names(&first.table, 1).0, [2, 1]);
        assert!(same(&numbers(&first.table, 2), &[1.0, f64::NAN]));
        let second = reader.read(9).unwrap().unwrap();
        assert_eq!(names(&second.table, 1).0, [MISSING, 0, 2]);
        assert!(reader.read(9).unwrap().is_none());
        // A feature that the model has no column for is passed over.
        let loaded = load("a.svm", "1 1:5\n-1 2:2\n");
        let options =
            Options { unlabelled: true, ..Options::new([Input::text("b.svm", "1 2:7 9:1\n")]) };
        let mut reader = Reader::reopen(&loaded.schema, 2, options).unwrap();
        let table = reader.read(9).unwrap().unwrap().table;
        assert_eq!((table.columns().len(), numbers(&table, 1)), (2, vec![7.0]));
    }

    #[test]
    fn data_that_are_no_classes_or_too_large() {
        let message = |name: &str, text: &str| {
            examples(Options::new([Input::text(name, text)]), None).unwrap_err().to_string()
        };
        let one = message("a.csv", "x,y\n1,1\n2,1\n");
        assert!(one.starts_with("all 2 rows have the class '1'"), "{one}");
        let real = message("a.csv", "x,y\n1,0.5\n2,1\n3,7\n");
        assert!(real.contains("a label is 0.5") && real.contains("--task multiclass"), "{real}");
        let none = message("a.vw", "|f a\n|f b\n");
        assert!(none.contains("none of the 2 rows has a label"), "{none}");
        let options = Options::new([Input::text("a.vw", "1 |f a\n")]);
        let bits = Options { indexing: Indexing::Hashed(9), ..options };
        assert!(examples(bits, None).unwrap_err().to_string().contains("--bits 9"));
        let wide = message("a.svm", "1 2000000:1\n0 3000000:1\n");
        assert!(wide.contains("rows and") && wide.contains("geowalk train"), "{wide}");
    }
}
