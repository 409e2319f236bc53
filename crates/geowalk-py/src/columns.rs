//! # Columns in memory
//! What boosting and trees learn from: a column of numbers, NaN where one is missing, or of names. A schema is written for them, so that the model file is the one that the command line
//! would have written for the same table.

use geowalk::boost::table::{Classes as Codes, Column, MISSING, SparseValues, Table, Values};
use geowalk_data::{
    Column as Described, Dictionary, FeatureKey, Features, Kind, Labels, Schema, Task,
};
use geowalk_run::error::RunError;
use geowalk_run::label::Coding;
use geowalk_run::profile::Reading;
use geowalk_run::table::{Examples, Heading};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::convert::unreadable;
use crate::error::{data, run};
use crate::label::{ClassLabel, Classes};

fn refused(error: impl Into<RunError>) -> PyErr {
    run(error.into())
}

/// The numbers of a column, or the names of its values and which row has which (−1: missing), or the rows whose
/// number is not 0, these numbers and how many rows there are; or days alone in a tuple.
pub(crate) enum ColumnData {
    Numbers(Vec<f64>),
    Names {
        codes: Vec<i64>,
        names: Vec<String>,
    },
    Sparse(SparseValues),
    /// Days since 1970-01-01, NaN where one is missing.
    Days(Vec<f64>),
}

pub(crate) fn column_data(column: &Bound<'_, PyAny>) -> PyResult<ColumnData> {
    if let Ok(days) = column.cast::<PyTuple>()
        && days.len() == 1
    {
        let days = days.get_item(0)?;
        let days = days.cast::<PyArray1<f64>>()?.try_readonly().map_err(unreadable)?;
        return Ok(ColumnData::Days(days.as_array().to_vec()));
    }
    if let Ok(stored) = column.cast::<PyTuple>()
        && stored.len() == 3
    {
        let (rows, values) = (stored.get_item(0)?, stored.get_item(1)?);
        let rows = rows.cast::<PyArray1<u32>>()?.try_readonly().map_err(unreadable)?;
        let values = values.cast::<PyArray1<f64>>()?.try_readonly().map_err(unreadable)?;
        let (rows, values) = (rows.as_array().to_vec(), values.as_array().to_vec());
        return Ok(ColumnData::Sparse(SparseValues::new(
            stored.get_item(2)?.extract()?,
            rows,
            values,
        )));
    }
    if let Ok(pair) = column.cast::<PyTuple>() {
        let codes = pair.get_item(0)?;
        let codes = codes.cast::<PyArray1<i64>>()?.try_readonly().map_err(unreadable)?;
        let codes = codes.as_array().to_vec();
        return Ok(ColumnData::Names { codes, names: pair.get_item(1)?.extract()? });
    }
    let numbers = column.cast::<PyArray1<f64>>()?.try_readonly().map_err(unreadable)?;
    Ok(ColumnData::Numbers(numbers.as_array().to_vec()))
}

fn finite(values: &[f64], column: usize) -> PyResult<()> {
    match values.iter().position(|x| x.is_infinite()) {
        None => Ok(()),
        Some(row) => Err(infinity(row, column, values[row])),
    }
}

fn infinity(row: usize, column: usize, x: f64) -> PyErr {
    let message = format!(
        "Input X contains infinity (row {row}, column {column}); every value must be a finite number, or NaN where it is missing"
    );
    data(message, Some(row), Some(column), Some(x))
}

fn finite_sparse(values: &SparseValues, column: usize) -> PyResult<()> {
    let infinite = values.iter().find(|(_, x)| x.is_infinite());
    infinite.map_or(Ok(()), |(row, x)| Err(infinity(row, column, x)))
}

/// A column of which little is stored stays sparse.
fn sparse(name: &str, values: SparseValues) -> Column {
    if values.is_mostly_zero() {
        Column::sparse(name, values)
    } else {
        Column::numeric(name, values.dense())
    }
}

/// A table of named columns.
pub(crate) fn table(names: &[String], columns: &[Bound<'_, PyAny>]) -> PyResult<Table> {
    let mut built = Vec::new();
    for (at, (name, column)) in names.iter().zip(columns).enumerate() {
        built.push(match column_data(column)? {
            ColumnData::Numbers(values) => {
                finite(&values, at)?;
                Column::numeric(name, values)
            }
            ColumnData::Sparse(values) => {
                finite_sparse(&values, at)?;
                sparse(name, values)
            }
            // Tables with dates are read as those of files.
            ColumnData::Days(values) => Column::numeric(name, values),
            ColumnData::Names { codes, names } => {
                let code = |code: i64| u32::try_from(code).unwrap_or(MISSING);
                Column::nominal(name, codes.into_iter().map(code).collect(), names)
            }
        });
    }
    Table::new(built).map_err(refused)
}

/// The same for columns that a model knows: names keep its codes, and new ones get others.
pub(crate) fn known(headings: &[Heading], columns: &[Bound<'_, PyAny>]) -> PyResult<Table> {
    let mut built = Vec::new();
    for (at, (heading, column)) in headings.iter().zip(columns).enumerate() {
        built.push(match (&heading.names, column_data(column)?) {
            (None, ColumnData::Numbers(values)) => {
                finite(&values, at)?;
                Column::numeric(&heading.name, values)
            }
            (None, ColumnData::Sparse(values)) => {
                finite_sparse(&values, at)?;
                sparse(&heading.name, values)
            }
            (Some(own), ColumnData::Names { codes, names }) => {
                let mut all = own.clone();
                let place = |name: &String| {
                    let at = all.iter().position(|known| known == name).unwrap_or_else(|| {
                        all.push(name.clone());
                        all.len() - 1
                    });
                    u32::try_from(at).unwrap_or(MISSING)
                };
                let places: Vec<u32> = names.iter().map(place).collect();
                let code = |code: i64| usize::try_from(code).map_or(MISSING, |code| places[code]);
                Column::nominal(&heading.name, codes.into_iter().map(code).collect(), all)
            }
            (Some(_), _) => return Err(other(&heading.name, "names")),
            (None, _) => return Err(other(&heading.name, "numbers")),
        });
    }
    Table::new(built).map_err(refused)
}

fn other(name: &str, kind: &str) -> PyErr {
    data(
        format!("the column '{name}' was one of {kind} when the model was learned"),
        None,
        None,
        None,
    )
}

/// What columns of a table, features and labels are in a model file.
pub(crate) fn schema(table: &Table, labels: Labels, label: Option<&str>) -> PyResult<Schema> {
    let mut features = Features::Exact(Dictionary::default());
    let mut insert = |key: FeatureKey<'_>| {
        let inserted = features.place(key);
        inserted.map_err(|error| data(error.to_string(), None, None, None))
    };
    let mut columns = Vec::new();
    for column in table.columns() {
        let name = column.name().to_owned();
        let gaps = column.values().gaps() > 0;
        let kind = if let Values::Nominal { names, .. } = column.values() {
            for value in names {
                insert(FeatureKey::Is(&name, value))?;
            }
            Kind::Nominal
        } else {
            insert(FeatureKey::Number(&name))?;
            Kind::Numeric
        };
        if gaps {
            insert(FeatureKey::Missing(&name))?;
        }
        columns.push(Described { name, kind });
    }
    let mut schema = Schema::from_parts(features, labels, columns);
    if let Some(name) = label {
        schema.add_column(name, Kind::Label);
    }
    Ok(schema)
}

/// Examples of classes, as the command line reads them from a file; with the schema of the table, if a reader made one.
pub(crate) fn examples(
    table: Table,
    codes: &PyReadonlyArray1<'_, f64>,
    labels: Vec<ClassLabel>,
    weights: Option<&PyReadonlyArray1<'_, f64>>,
    label: Option<&str>,
    read: Option<Schema>,
) -> PyResult<Examples> {
    let mut classes = Classes::new(Some(labels));
    let mut meaning = classes.labels();
    let codes = codes.as_slice().map_err(unreadable)?;
    // Names are numbered as they come.
    for code in codes {
        classes.value(*code, &mut meaning)?;
    }
    let values: Vec<f64> = (0..classes.len())
        .map(|code| classes.value(code as f64, &mut meaning))
        .collect::<PyResult<_>>()?;
    let task = if values.len() > 2 { Task::Multiclass } else { Task::Binary };
    let coding = Coding::restore(task, values);
    let texts = coding.texts(&meaning);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // class numbers
    let codes = codes.iter().map(|code| *code as u32).collect();
    let weights = match weights {
        Some(weights) => Some(weights.as_slice().map_err(unreadable)?.to_vec()),
        None => None,
    };
    Ok(Examples {
        classes: Codes::new(codes, texts).map_err(refused)?,
        schema: match read {
            None => schema(&table, meaning, label)?,
            Some(mut schema) => {
                *schema.labels_mut() = meaning;
                if let Some(name) = label {
                    schema.add_column(name, Kind::Label);
                }
                schema
            }
        },
        table,
        weights: weights.filter(|weights| weights.iter().any(|weight| *weight != 1.0)),
        coding,
        unlabelled: 0,
        skipped: (0, Vec::new()),
        said: None,
        decisions: Vec::new(),
        reading: Reading::default(),
    })
}
