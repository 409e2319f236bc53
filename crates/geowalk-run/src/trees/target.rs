//! # What trees learn from
//! A table with classes or numbers. Rows of weight 0 and rows without a label are left out.

use geowalk::boost::table::{Classes, Table};
use geowalk_data::{Labels, Options, Schema, Task};

use super::spread;
use crate::error::RunError;
use crate::label::Coding;
use crate::model::ReadSettings;
use crate::profile::{Profile, Reading};
use crate::table::{self, Examples, Reader};

/// A table with its labels.
#[derive(Debug)]
pub struct Target {
    /// The columns.
    pub table: Table,
    /// ±1 for two classes, codes for several, numbers.
    pub y: Vec<f64>,
    /// The class of each row; of numbers a group of rows with labels near each other.
    pub codes: Vec<u32>,
    /// The names of the classes; none for numbers.
    pub classes: Vec<String>,
    /// The weight of each row, if not all are 1.
    pub weights: Option<Vec<f64>>,
    /// The weight of one row.
    pub unit: f64,
    /// The labels of the classes as the reader gives them.
    pub coding: Coding,
    /// What columns, features and labels mean.
    pub schema: Schema,
    /// How the table was read, if that is known.
    pub profile: Option<Profile>,
    /// Options of the reader that models keep.
    pub reading: ReadSettings,
    /// What the user should know, a line each.
    pub notes: Vec<String>,
}

impl Target {
    /// Reads all of the data.
    pub fn read(options: Options, task: Option<Task>) -> Result<Self, RunError> {
        let reading = Reading::asked(&options);
        let mut reader = Reader::open(options)?;
        let rows = reader.read(usize::MAX)?.ok_or(RunError::Empty)?;
        let names = reader.source().schema().labels();
        let known = Task::infer(names, &rows.labels);
        if task.unwrap_or(known.task) != Task::Regression
            || known.reason == geowalk_data::Reason::NoLabels
        {
            return Self::of(table::examples_of(&reader, rows, reading, task)?);
        }
        let schema = reader.source().schema().clone();
        if let Labels::Names(_) = schema.labels() {
            return Err(RunError::NotNumbers);
        }
        let mut notes: Vec<String> = crate::input::decisions(reader.source());
        if task.is_none() {
            notes.insert(0, format!("task: {}", known.explained()));
        }
        let skipped = reader.source().skipped();
        if skipped.rows() > 0 {
            notes.push(format!("{} rows could not be read and are left out", skipped.rows()));
        }
        let reading = reading.found(reader.source());
        let profile = Profile::of_numbers(&rows.table, &rows.labels, &reader.schema()?, &reading);
        let weights = rows.weights.iter().any(|weight| *weight != 1.0).then_some(rows.weights);
        let own = Self::numbers(rows.table, rows.labels, weights, schema, notes)?;
        Ok(Self { profile: Some(profile), reading: reading.settings, ..own })
    }

    /// Classes.
    pub fn of(examples: Examples) -> Result<Self, RunError> {
        let profile = Some(Profile::new(&examples));
        let reading = examples.reading.settings.clone();
        let unit = examples.weight_unit();
        let Examples { table, classes, weights, coding, schema, said, decisions, .. } = examples;
        let mut notes: Vec<String> = said.iter().map(|why| format!("task: {why}")).collect();
        notes.extend(decisions);
        if examples.unlabelled > 0 {
            notes.push(format!("{} rows without a label are left out", examples.unlabelled));
        }
        if examples.skipped.0 > 0 {
            notes.push(format!("{} rows could not be read and are left out", examples.skipped.0));
        }
        if let Some(weights) = &weights {
            classes.check_weights(weights)?;
        }
        let names = classes.names().to_vec();
        let y = if names.len() == 2 {
            classes.signs()?
        } else {
            classes.codes().iter().map(|code| f64::from(*code)).collect()
        };
        let codes = classes.codes().to_vec();
        let classes = names;
        Self { table, y, codes, classes, weights, unit, coding, schema, profile, reading, notes }
            .weighted()
    }

    /// Numbers; NaN is no label.
    pub fn numbers(
        table: Table,
        y: Vec<f64>,
        weights: Option<Vec<f64>>,
        schema: Schema,
        mut notes: Vec<String>,
    ) -> Result<Self, RunError> {
        let rows = y.len();
        let kept: Vec<u32> =
            (0..).zip(&y).filter(|(_, y)| y.is_finite()).map(|(row, _)| row).collect();
        if kept.is_empty() {
            return Err(RunError::NoLabels { rows: rows as u64 });
        }
        let all = Self {
            codes: spread(&y),
            classes: Vec::new(),
            unit: weights.as_deref().map_or(1.0, table::weight_unit),
            table,
            y,
            weights,
            coding: Coding::new(Task::Regression),
            schema,
            profile: None,
            reading: ReadSettings::default(),
            notes: Vec::new(),
        };
        if kept.len() < rows {
            notes.push(format!("{} rows without a label are left out", rows - kept.len()));
        }
        let mut own = if kept.len() < rows { all.select(&kept)? } else { all };
        own.notes = notes;
        own.weighted()
    }

    /// Without rows of weight 0, which would have a part in the thresholds.
    fn weighted(self) -> Result<Self, RunError> {
        let Some(weights) = &self.weights else { return Ok(self) };
        let kept: Vec<u32> =
            (0..).zip(weights).filter(|(_, w)| **w > 0.0).map(|(row, _)| row).collect();
        if kept.len() == self.y.len() || kept.is_empty() {
            return Ok(self);
        }
        let own = self.select(&kept)?;
        Ok(Self { profile: self.profile, reading: self.reading, notes: self.notes, ..own })
    }

    /// Some of the rows.
    pub fn select(&self, rows: &[u32]) -> Result<Self, RunError> {
        let at = |row: &u32| *row as usize;
        let codes: Vec<u32> = rows.iter().map(|row| self.codes[at(row)]).collect();
        if !self.classes.is_empty() {
            Classes::new(codes.clone(), self.classes.clone())?;
        }
        Ok(Self {
            table: self.table.select(rows)?,
            y: rows.iter().map(|row| self.y[at(row)]).collect(),
            codes,
            classes: self.classes.clone(),
            weights: self.weights.as_ref().map(|all| rows.iter().map(|row| all[at(row)]).collect()),
            unit: self.unit,
            coding: self.coding.clone(),
            schema: self.schema.clone(),
            profile: None,
            reading: self.reading.clone(),
            notes: Vec::new(),
        })
    }

    /// How many rows there are, each counted as often as its weight says.
    pub fn count(&self) -> u64 {
        let Some(weights) = &self.weights else { return self.y.len() as u64 };
        let sum: f64 = weights.iter().sum();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let count = (sum / self.unit).round() as u64;
        count
    }
}
