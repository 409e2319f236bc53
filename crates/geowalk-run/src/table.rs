//! # Tables
//! Reads any supported input into [columns](ColumnBuffer), from which boosting and trees learn.
//!
//! Columns and the codes of names are determined by the schema of a model alone. So a model needs only its schema to
//! read new data. Names that the model does not know get new codes, different from all known ones.
//!
//! **Memory** The whole table is in memory: 8 bytes per number and 4 per name. Columns that are mostly 0 take 12 bytes
//! per nonzero value.

use geowalk::boost::table::{Classes, Table, TableError};
use geowalk_data::{
    ColumnBuffer, ErrorKind, Indexing, Label, Labels, Options, Places, Reason, Schema, Source, Task,
};
pub use geowalk_data::{Heading, Origin};

use crate::error::RunError;
use crate::input;
use crate::label::Coding;
use crate::profile::Reading;
use crate::pump::ROWS;

/// The largest number of values: 2 GB of numbers.
const MOST_VALUES: usize = 1 << 28;

/// The columns of a model; `count` is their number.
pub fn headings(schema: &Schema, count: usize) -> Vec<Heading> {
    // The names in a schema are valid text, so this does not fail.
    ColumnBuffer::known(schema, count).map(|buffer| buffer.headings()).unwrap_or_default()
}

/// Reads data as tables.
pub struct Reader {
    source: Box<dyn Source>,
    buffer: ColumnBuffer,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("source", &self.source).finish_non_exhaustive()
    }
}

/// A table of consecutive rows.
#[derive(Debug)]
pub struct Rows {
    /// The columns.
    pub table: Table,
    /// The label of each row as the reader gives it; NaN if the row has none.
    pub labels: Vec<f64>,
    /// The weight of each row.
    pub weights: Vec<f64>,
    /// File and line of each row, and of the skipped rows between them.
    pub places: Places,
}

/// Names in one column that the model has not seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unseen {
    /// Name of the column.
    pub column: String,
    /// Number of rows with such a name.
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

    /// Reads the rows of a source.
    pub fn over(source: Box<dyn Source>) -> Self {
        let buffer = ColumnBuffer::new(source.schema());
        Self { source, buffer }
    }

    /// Reads the rows of a source for a model with this schema and number of columns. The source must have the same
    /// schema.
    pub fn over_known(
        source: Box<dyn Source>,
        schema: &Schema,
        columns: usize,
    ) -> Result<Self, RunError> {
        let buffer = ColumnBuffer::known(schema, columns);
        Ok(Self { buffer: buffer.map_err(RunError::schema)?, source })
    }

    /// [`reopen`](Self::reopen) for predictions: labels may be missing. Unless the options name a label column, it is
    /// that of the training data.
    pub fn unlabelled(schema: &Schema, columns: usize, options: Options) -> Result<Self, RunError> {
        let label = match (options.label, schema.label()) {
            (Label::Guess, Some(name)) => Label::Named(name.to_owned()),
            (Label::Guess, None) => Label::Absent,
            (given, _) => given,
        };
        Self::reopen(schema, columns, Options { unlabelled: true, label, ..options })
    }

    /// Opens data for a model with this schema and number of columns.
    pub fn reopen(schema: &Schema, columns: usize, options: Options) -> Result<Self, RunError> {
        let reader = Self::open(Options { schema: Some(schema.clone()), ..options })?;
        Self::over_known(reader.source, schema, columns)
    }

    /// The columns with names that the model has not seen.
    pub fn unseen(&self) -> Vec<Unseen> {
        let unseen = |(column, rows, first): (&str, u64, &str)| Unseen {
            column: column.to_owned(),
            rows,
            first: first.to_owned(),
        };
        self.buffer.unseen().map(unseen).collect()
    }

    /// The next rows, at most `most`; `None` at the end.
    pub fn read(&mut self, most: usize) -> Result<Option<Rows>, RunError> {
        let mut places = Places::default();
        while self.buffer.rows() < most {
            let wanted = ROWS.min(most - self.buffer.rows());
            let read = self.source.read_columns(&mut self.buffer, wanted)?;
            places.append(self.source.places());
            if read == 0 {
                break;
            }
            if self.buffer.width() > ColumnBuffer::MOST || self.buffer.stored() > MOST_VALUES {
                let (rows, columns) = (self.buffer.rows(), self.buffer.width());
                return Err(RunError::TooLarge { rows, columns, most: MOST_VALUES });
            }
        }
        if self.buffer.rows() == 0 && places.left_out().is_empty() {
            return Ok(None);
        }
        if self.buffer.rows() > 0 && self.buffer.width() == 0 {
            return Err(ErrorKind::NoColumns.of(self.source.place().0).into());
        }
        let (table, labels, weights) = self.buffer.take()?;
        Ok(Some(Rows { table, labels, weights, places }))
    }

    /// The schema of columns, labels and features.
    pub fn schema(&self) -> Result<Schema, RunError> {
        self.buffer.schema(self.source.schema()).map_err(RunError::schema)
    }

    /// The source of the rows.
    pub fn source(&self) -> &dyn Source {
        self.source.as_ref()
    }
}

/// A table for training a classifier.
#[derive(Debug)]
pub struct Examples {
    /// The columns.
    pub table: Table,
    /// The class of each row.
    pub classes: Classes,
    /// The weight of each row; `None` if all are 1.
    pub weights: Option<Vec<f64>>,
    /// The class labels as the reader gives them: numbers ascending, names in alphabetical order. Of two classes, the
    /// second is the positive one.
    pub coding: Coding,
    /// The schema of columns, features and labels.
    pub schema: Schema,
    /// Number of rows skipped because they have no label.
    pub unlabelled: usize,
    /// Number of rows skipped because they are unreadable, and the first errors.
    pub skipped: (u64, Vec<String>),
    /// Why this task was chosen, if the user did not give one.
    pub said: Option<String>,
    /// What the reader has inferred about the format.
    pub decisions: Vec<String>,
    /// How the rows were read.
    pub reading: Reading,
}

impl Examples {
    /// The weight that stands for one row. Without weights, it is 1. If all weights are multiples of a common unit,
    /// such as counts of repeated rows, it is the largest such unit. Otherwise, it is the mean of the positive
    /// weights. It scales with the weights, so quantities measured in it do not depend on their scale.
    pub fn weight_unit(&self) -> f64 {
        self.weights.as_deref().map_or(1.0, weight_unit)
    }
}

/// Smallest accepted common unit, relative to the largest weight.
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
        // Euclid's algorithm; a remainder this small is rounding error.
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

/// Reads all of the data for training a classifier.
pub fn examples(options: Options, task: Option<Task>) -> Result<Examples, RunError> {
    let reading = Reading::asked(&options);
    let mut reader = Reader::open(options)?;
    let rows = reader.read(usize::MAX)?.ok_or(RunError::Empty)?;
    examples_of(&reader, rows, reading, task)
}

/// Makes a training table of rows that were read already. `reading` holds what was asked of the reader.
pub(crate) fn examples_of(
    reader: &Reader,
    rows: Rows,
    reading: Reading,
    task: Option<Task>,
) -> Result<Examples, RunError> {
    let Rows { table, labels, weights, .. } = rows;
    if labels.is_empty() {
        return Err(RunError::Empty);
    }
    let schema = reader.schema()?;
    let reading = reading.found(reader.source());
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

/// The distinct labels, in order.
pub(crate) fn distinct(names: &Labels, labels: &[f64]) -> Vec<f64> {
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
    use geowalk::boost::table::{Column, MISSING, Values};
    use geowalk_data::Input;
    use std::fmt::Write as _;

    fn load(name: &str, text: &str) -> Examples {
        examples(Options::new([Input::text(name, text)]), None).unwrap()
    }

    fn numbers(table: &Table, at: usize) -> Vec<f64> {
        match table.columns()[at].values() {
            Values::Numeric(values) => values.clone(),
            Values::Sparse(values) => values.dense(),
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
        // A feature that the model has no column for is ignored.
        let loaded = load("a.svm", "1 1:5\n-1 2:2\n");
        let options =
            Options { unlabelled: true, ..Options::new([Input::text("b.svm", "1 2:7 9:1\n")]) };
        let mut reader = Reader::reopen(&loaded.schema, 2, options).unwrap();
        let table = reader.read(9).unwrap().unwrap().table;
        assert_eq!((table.columns().len(), numbers(&table, 1)), (2, vec![7.0]));
    }

    #[test]
    fn a_cell_that_reads_missing_is_a_name() {
        let cells = ["missing", "missing", "", "", "red", "blue"];
        let classes = ["a", "a", "b", "b", "a", "b"];
        let (mut csv, mut jsonl) = ("color,class\n".to_owned(), String::new());
        for (cell, class) in cells.iter().zip(classes) {
            writeln!(csv, "{cell},{class}").unwrap();
            let cell = if cell.is_empty() { "null".to_owned() } else { format!("\"{cell}\"") };
            writeln!(jsonl, "{{\"color\":{cell},\"class\":\"{class}\"}}").unwrap();
        }
        for (name, text) in
            [("a.csv", &csv), ("a.tsv", &csv.replace(',', "\t")), ("a.jsonl", &jsonl)]
        {
            let loaded = load(name, text);
            let expected = (
                vec![0, 0, MISSING, MISSING, 1, 2],
                ["missing", "red", "blue"].map(String::from).to_vec(),
            );
            assert_eq!(names(&loaded.table, 0), expected, "{name}");
            // A model keeps only the schema.
            let kept = headings(&loaded.schema, 1);
            assert_eq!((kept[0].names.as_ref(), kept[0].gaps), (Some(&expected.1), true));
            let options = Options::new([Input::text(name, text.clone())]);
            let mut reader = Reader::reopen(&loaded.schema, 1, options).unwrap();
            assert_eq!(names(&reader.read(9).unwrap().unwrap().table, 0), expected, "{name}");
        }
        // A file of an earlier version stores the text for a missing value, which is still the same.
        let old = load("a.csv", "color,class\nred,a\n,b\n");
        assert_eq!(old.schema.features().name(1).as_deref(), Some("color=missing"));
    }

    #[test]
    fn numbers_and_names_of_a_key_have_two_columns() {
        let json = "{\"c\":1,\"y\":1}\n{\"c\":\"x\",\"y\":0}\n{\"c\":2,\"d\":\"z\",\"y\":1}\n{\"d\":3,\"y\":0}\n";
        let loaded = load("a.jsonl", json);
        let table = &loaded.table;
        let header: Vec<&str> = table.columns().iter().map(Column::name).collect();
        assert_eq!(header, ["c", "c=", "d", "d="]);
        assert_eq!(numbers(table, 0), [1.0, 0.0, 2.0, 0.0]);
        assert_eq!(names(table, 1).0, [MISSING, 0, MISSING, MISSING]);
        assert_eq!(names(table, 2).0, [MISSING, MISSING, 0, MISSING]);
        assert_eq!(numbers(table, 3), [0.0, 0.0, 0.0, 3.0]);
        let options = Options::new([Input::text("b.jsonl", json)]);
        let mut reader = Reader::reopen(&loaded.schema, 4, options).unwrap();
        assert_eq!(format!("{:?}", reader.read(9).unwrap().unwrap().table), format!("{table:?}"));
    }

    #[test]
    fn words_are_columns_of_counts() {
        let line = |k: usize| format!("the word w{k} and the other\t{}\n", k % 2);
        let text = "note\ty\n".to_owned() + &(0..30).map(line).collect::<String>();
        let loaded = load("a.tsv", &text);
        let kept = headings(&loaded.schema, 34);
        assert_eq!((kept[0].name.as_str(), kept.len()), ("note=the", 34));
        let word = Origin::Word { column: "note".to_owned(), word: "w3".to_owned() };
        let at = kept.iter().position(|heading| heading.origin == word).unwrap();
        assert!(matches!(loaded.table.columns()[at].values(), Values::Sparse(_)));
        assert_eq!((numbers(&loaded.table, at)[3], numbers(&loaded.table, 0)[3]), (1.0, 2.0));
        let new = "note\nw3 and news, W3\n";
        let options = Options { unlabelled: true, ..Options::new([Input::text("b.tsv", new)]) };
        let mut reader =
            Reader::reopen(&loaded.schema, 34, Options { format: Some("tsv".into()), ..options })
                .unwrap();
        let rows = reader.read(9).unwrap().unwrap();
        assert_eq!((numbers(&rows.table, at), rows.table.columns().len()), (vec![2.0], 34));
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
