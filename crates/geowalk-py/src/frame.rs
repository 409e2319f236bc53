//! # Tables of numbers and names for on-line learners
//! Columns that come from pandas, Polars or Arrow, as features by the rule of the readers of files
//! ([`geowalk_data::Frame`]).

use geowalk::row::Block;
use geowalk_data::{
    BadCell, Cell, ColumnBuffer, DataError, Decision, Dictionary, Door, Features, Labels, Options,
    Places, Position, SAMPLE_ROWS, Schema, Skipped, Source,
};
use geowalk_run::pump::ROWS;
use pyo3::prelude::*;

use crate::columns::{ColumnData, column_data};
use crate::error::data;

/// Columns with names, as on-line learners read them: each an array of numbers, NaN where one is missing, or a
/// pair of codes, -1 where one is missing, and the names that they stand for.
///
/// `nominal` and `text` are columns that hold names or free text whatever their values look like. A column of
/// names whose values mostly differ and have several words is text too, and split into words, as
/// `geowalk train` does.
///
/// >>> import numpy as np
/// >>> from geowalk._geowalk import Frame
/// >>> len(Frame(["size", "color"], [np.array([1.0, 2.0]), (np.array([0, -1]), ["red"])]))
/// 2
///
/// Reference: the features are those of `geowalk train`, docs/guides.
#[pyclass(module = "geowalk._geowalk", frozen)]
pub(crate) struct Frame {
    names: Vec<String>,
    columns: Vec<ColumnData>,
    nominal: Vec<String>,
    text: Vec<String>,
    rows: usize,
}

fn wrong(error: geowalk_data::ErrorKind) -> PyErr {
    let message = match error {
        geowalk_data::ErrorKind::DuplicateColumn { name } => {
            format!("two columns have the name '{name}'; rename one")
        }
        other => Door::Python.words(&other),
    };
    data(message, None, None, None)
}

/// A schema without anything.
fn nothing() -> Schema {
    let features = Features::Exact(Dictionary::default());
    Schema::from_parts(features, Labels::Numbers, Vec::new())
}

#[pymethods]
impl Frame {
    #[new]
    #[pyo3(signature = (names, columns, nominal=None, text=None))]
    fn new(
        names: Vec<String>,
        columns: Vec<Bound<'_, PyAny>>,
        nominal: Option<Vec<String>>,
        text: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let (nominal, text) = (nominal.unwrap_or_default(), text.unwrap_or_default());
        let columns: Vec<ColumnData> = columns.iter().map(column_data).collect::<PyResult<_>>()?;
        let rows = columns.first().map_or(0, ColumnData::len);
        if let Some(k) = (1..names.len()).find(|&k| names[..k].contains(&names[k])) {
            let name = names[k].clone();
            return Err(wrong(geowalk_data::ErrorKind::DuplicateColumn { name }));
        }
        let even = columns.iter().all(|column| column.len() == rows);
        if !even || columns.len() != names.len() {
            let message = "the columns of a table need one name each and the same length";
            return Err(data(message.to_owned(), None, None, None));
        }
        Ok(Self { names, columns, nominal, text, rows })
    }

    fn __len__(&self) -> usize {
        self.rows
    }

    /// How many columns.
    #[getter]
    fn width(&self) -> usize {
        self.columns.len()
    }

    /// What each column is for a learner that knows nothing yet: `numeric`, `nominal`, `text` or `undecided`.
    fn kinds(&self) -> PyResult<Vec<&'static str>> {
        let mut schema = nothing();
        FrameReader::new(self, &mut schema, false)?;
        Ok(schema.columns().iter().map(|column| column.kind.name()).collect())
    }
}

impl Frame {
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }
}

impl ColumnData {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Numbers(values) | Self::Days(values) => values.len(),
            Self::Names { codes, .. } => codes.len(),
            Self::Sparse(values) => values.len(),
        }
    }

    fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            Self::Numbers(values) | Self::Days(values) if values[row].is_nan() => Cell::Missing,
            Self::Numbers(values) | Self::Days(values) => Cell::Number(values[row]),
            Self::Sparse(values) => match values.get(row) {
                x if x.is_nan() => Cell::Missing,
                x => Cell::Number(x),
            },
            Self::Names { codes, names } => {
                let name = usize::try_from(codes[row]).ok().and_then(|code| names.get(code));
                name.map_or(Cell::Missing, |name| Cell::Text(name.as_bytes()))
            }
        }
    }
}

/// The rows of a frame as those of a file, for learners of whole tables.
pub(crate) struct FrameSource {
    given: Frame,
    frame: geowalk_data::Frame,
    next: usize,
    skipped: Skipped,
    places: Places,
}

impl FrameSource {
    /// Columns with names, of which these hold names or free text; for a model with this schema, if there is one.
    pub(crate) fn new(
        names: Vec<String>,
        columns: &[Bound<'_, PyAny>],
        (nominal, text): (&[String], &[String]),
        known: Option<&Schema>,
    ) -> PyResult<Self> {
        let columns = columns.to_vec();
        let given = Frame::new(names, columns, Some(nominal.to_vec()), Some(text.to_vec()))?;
        let mut schema = known.cloned().unwrap_or_else(nothing);
        let mut frame = FrameReader::new(&given, &mut schema, known.is_some())?.frame;
        frame.exchange(&mut schema);
        Ok(Self { given, frame, next: 0, skipped: Skipped::default(), places: Places::default() })
    }
}

impl Source for FrameSource {
    fn read(&mut self, block: &mut Block, rows: usize) -> Result<usize, DataError> {
        block.clear();
        while self.next < self.given.rows && block.len() < rows {
            let (row, columns) = (self.next, self.given.columns.iter());
            let pushed = self.frame.push(columns.map(|c| c.cell(row)), f64::NAN, 1.0, block);
            let position = Some(self.place().1);
            let bad = |error: BadCell| DataError {
                file: "X".to_owned(),
                position,
                kind: Box::new(error.kind),
            };
            if !pushed.map_err(bad)? {
                break;
            }
            self.next += 1;
        }
        Ok(block.len())
    }

    fn read_columns(
        &mut self,
        columns: &mut ColumnBuffer,
        rows: usize,
    ) -> Result<usize, DataError> {
        let end = self.given.rows.min(self.next + rows);
        let from = self.next;
        while self.next < end {
            let (row, cells) = (self.next, self.given.columns.iter());
            let pushed = self.frame.push_cells(cells.map(|c| c.cell(row)), f64::NAN, 1.0, columns);
            let position = Some(self.place().1);
            pushed.map_err(|error| DataError {
                file: "X".to_owned(),
                position,
                kind: Box::new(error.kind),
            })?;
            self.next += 1;
        }
        Ok(end - from)
    }

    fn schema(&self) -> &Schema {
        self.frame.schema()
    }

    fn decisions(&self) -> &[Decision] {
        &[]
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn places(&mut self) -> &mut Places {
        &mut self.places
    }

    fn place(&self) -> (&str, Position) {
        ("X", Position { line: self.next as u64 + 1, column: 1, byte: 0, is_row: true })
    }
}

/// Goes through the rows of a frame.
pub(crate) struct FrameReader<'a> {
    given: &'a Frame,
    frame: geowalk_data::Frame,
}

impl<'a> FrameReader<'a> {
    /// A reader for a learner with this schema, which is `known` if the learner has seen a table or
    /// dictionaries before.
    pub(crate) fn new(given: &'a Frame, schema: &mut Schema, known: bool) -> PyResult<Self> {
        let mut options = Options::new([""; 0]);
        if known {
            options.schema = Some(std::mem::replace(schema, nothing()));
        } else {
            options.nominal.clone_from(&given.nominal);
            options.text.clone_from(&given.text);
        }
        let labels = schema.labels().clone();
        let names = given.names.clone();
        let mut frame = geowalk_data::Frame::new(names, options).map_err(wrong)?;
        for row in 0..given.rows.min(SAMPLE_ROWS) {
            let cells: Vec<Cell<'_>> = given.columns.iter().map(|c| c.cell(row)).collect();
            if !frame.sample(&cells) {
                break;
            }
        }
        let is_text = |column: &ColumnData| matches!(column, ColumnData::Names { .. });
        let texts = given.columns.iter().enumerate().filter(|(_, column)| is_text(column));
        let texts: Vec<usize> = texts.map(|(k, _)| k).collect();
        let is_date = |column: &ColumnData| matches!(column, ColumnData::Days(_));
        let dates = given.columns.iter().enumerate().filter(|(_, column)| is_date(column));
        let dates: Vec<usize> = dates.map(|(k, _)| k).collect();
        let settled = frame.settle(&texts, &dates);
        frame.exchange(schema);
        if !known {
            *schema.labels_mut() = labels;
        }
        settled.map_err(wrong)?;
        Ok(Self { given, frame })
    }

    /// Fills a block with the rows from this one on; gives the row after the last. The schema gets the new names.
    pub(crate) fn fill(
        &mut self,
        from: usize,
        schema: &mut Schema,
        block: &mut Block,
        label: impl Fn(usize) -> f64,
        weight: impl Fn(usize) -> f64,
    ) -> PyResult<usize> {
        block.clear();
        self.frame.exchange(schema);
        let mut filled = Ok(from);
        for row in from..self.given.rows.min(from + ROWS) {
            let cells = self.given.columns.iter().map(|column| column.cell(row));
            match self.frame.push(cells, label(row), weight(row), block) {
                Ok(true) => filled = Ok(row + 1),
                Ok(false) => break,
                Err(error) => {
                    let message = format!("row {row}: {error}");
                    filled = Err(data(message, Some(row), Some(error.column), None));
                    break;
                }
            }
        }
        self.frame.exchange(schema);
        filled
    }
}
