//! # A dictionary as a row
//! Numbers are features by name, strings `name=value`, None `name=missing`: what the readers make of a table or
//! of JSON. Where the model has columns, or some were declared, numbers and truth values of a column of names
//! are names, and free text is split into words. Programs give the same keys in the same order again and again,
//! so the last ones are remembered: a key that is the same object, or the same text in the same place, is not
//! looked up.
//!
//! **Zeros** stay in rows of numbers alone and are left out beside names, as the readers of tables do: an averaged weight is brought up to date where a row has a value, so the bits
//! depend on it.

use std::borrow::Cow;
use std::collections::HashMap;

use geowalk::row::Block;
use geowalk_data::{Decision, Features, Kind, Schema, Words};
use geowalk_run::model::Settings;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyString};

use super::borrowed;
use crate::error::data;

/// Keys that are remembered.
const MOST: usize = 4096;

/// The keys of the last dictionary, in order. A list of its own for each part: what goes over every key of every row is short.
#[derive(Default)]
pub(super) struct Keys {
    objects: Vec<Py<PyAny>>,
    texts: Vec<String>,
    indices: Vec<u32>,
    /// The row under construction, and its features in order.
    row: Vec<(u32, f64)>,
    sorted: Vec<u32>,
    numbers: Vec<f64>,
    /// The columns of names and of text; None before the schema was asked.
    columns: Option<HashMap<String, Kind>>,
    /// The words of the row under construction.
    counts: Vec<u32>,
    words: Words,
}

/// What a value is.
enum Cell {
    Number(f64),
    Name(String),
    Missing,
    Text(String),
    /// A text that is missing has no words.
    Nothing,
}

/// A cell of a column of names or text.
fn of_column(kind: Kind, cell: Cell, value: &Bound<'_, PyAny>) -> Cell {
    match (kind, cell) {
        (Kind::Nominal, Cell::Number(number)) if value.cast::<PyBool>().is_ok() => {
            Cell::Name(if number == 0.0 { "false" } else { "true" }.to_owned())
        }
        (Kind::Nominal, Cell::Number(number)) => Cell::Name(number.to_string()),
        (Kind::Text, Cell::Name(text)) => Cell::Text(text),
        (Kind::Text, Cell::Missing) => Cell::Nothing,
        (_, cell) => cell,
    }
}

fn cell(key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<Cell> {
    let number = if let Ok(number) = value.cast_exact::<PyFloat>() {
        number.value()
    } else if value.is_none() {
        return Ok(Cell::Missing);
    } else if let Ok(text) = value.cast::<PyString>() {
        return Ok(Cell::Name(text.to_str()?.to_owned()));
    } else if let Ok(number) = value.extract() {
        number
    } else {
        let message = format!(
            "the value of {} is {}; a number, a string or None is needed",
            key.repr()?,
            value.repr()?
        );
        return Err(data(message, None, None, None));
    };
    if number.is_finite() {
        return Ok(Cell::Number(number));
    }
    let message = format!("the value of {} is {number}; a finite number is needed", key.repr()?);
    Err(data(message, None, None, Some(number)))
}

/// Keys are texts; other objects are what `str` makes of them.
fn text<'a>(key: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, str>> {
    match key.cast::<PyString>() {
        Ok(text) => Ok(Cow::Borrowed(text.to_str()?)),
        Err(_) => Ok(Cow::Owned(key.str()?.to_str()?.to_owned())),
    }
}

impl Keys {
    /// Takes the columns of names and text from a schema, if that has not been done.
    pub(super) fn learn_columns(&mut self, schema: &Schema) {
        if self.columns.is_none() {
            let own = schema.feature_columns();
            let own = own.filter(|column| matches!(column.kind, Kind::Nominal | Kind::Text));
            self.columns = Some(own.map(|column| (column.name.clone(), column.kind)).collect());
        }
    }

    /// The schema has changed.
    pub(super) fn forget_columns(&mut self) {
        self.columns = None;
    }

    fn cell(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<Cell> {
        let cell = cell(key, value)?;
        match &self.columns {
            Some(columns) if !columns.is_empty() => {
                let kind = columns.get(&*text(key)?).copied();
                Ok(of_column(kind.unwrap_or(Kind::Undecided), cell, value))
            }
            _ => Ok(cell),
        }
    }

    /// The feature of the key at this place, if it was the same the last time.
    #[inline]
    fn recall(&self, at: usize, key: &Bound<'_, PyAny>) -> Option<u32> {
        let same = self.objects.get(at)?.is(key)
            || key
                .cast::<PyString>()
                .is_ok_and(|key| key.to_str().is_ok_and(|text| text == self.texts[at]));
        same.then_some(self.indices[at])
    }

    fn remember(&mut self, at: usize, key: &Bound<'_, PyAny>, index: u32) -> PyResult<()> {
        let (before, from) = self.indices.split_at(at.min(self.indices.len()));
        if before.contains(&index) || from.iter().skip(1).any(|known| *known == index) {
            // Two keys may be one feature, as 1 and "1" are. Of those that are remembered no two are: a row under them needs no look.
            self.objects.truncate(at);
            self.texts.truncate(at);
            self.indices.truncate(at);
            return Ok(());
        }
        let (object, text) = (key.clone().unbind(), text(key)?.into_owned());
        if at < self.objects.len() {
            (self.objects[at], self.texts[at], self.indices[at]) = (object, text, index);
        } else if at == self.objects.len() && at < MOST {
            self.objects.push(object);
            self.texts.push(text);
            self.indices.push(index);
        }
        Ok(())
    }

    /// Refuses the row if two of its keys are one feature: 1 and "1", or "color=red" and "color" with the value "red". Where names are hashed that is nobody's mistake.
    fn refuse_doubles(&mut self, features: &Features) -> PyResult<()> {
        if matches!(features, Features::Hashed(_)) {
            return Ok(());
        }
        self.sorted.clear();
        self.sorted.extend(self.row.iter().map(|(index, _)| *index));
        self.sorted.sort_unstable();
        let Some(pair) = self.sorted.windows(2).find(|pair| pair[0] == pair[1]) else {
            return Ok(());
        };
        let name = match features {
            Features::Exact(names) => names.name(pair[0]).unwrap_or_default().to_owned(),
            _ => pair[0].to_string(),
        };
        let message = format!("two keys are the feature '{name}'; give one of them another name");
        Err(data(message, None, None, None))
    }

    /// Reads a row of finite numbers under the keys of the last dictionary, which is what nearly all rows are: no look-up, no copy. How many they are; None for any other row.
    fn repeat(&mut self, x: &Bound<'_, PyDict>) -> Option<usize> {
        self.numbers.resize(self.objects.len(), 0.0);
        let count = borrowed::read(x, &self.objects, &mut self.numbers)?;
        self.numbers[..count].iter().all(|number| number.is_finite()).then_some(count)
    }

    /// Adds the row to the block; new names become features.
    pub(super) fn place(
        &mut self,
        x: &Bound<'_, PyDict>,
        features: &mut Features,
        block: &mut Block,
    ) -> PyResult<()> {
        if let Some(count) = self.repeat(x) {
            block.features(&self.indices[..count], &self.numbers[..count]);
            return Ok(());
        }
        let wrong = |error: geowalk_data::ErrorKind| data(error.to_string(), None, None, None);
        self.row.clear();
        self.counts.clear();
        let mut plain = true;
        // A copy, for `str` of a key may be anybody's code, and do anything with the dictionary.
        for (at, (key, value)) in x.copy()?.iter().enumerate() {
            let cell = self.cell(&key, &value)?;
            plain &= matches!(cell, Cell::Number(_));
            let (index, number) = match cell {
                Cell::Number(number) => {
                    let known = self.recall(at, &key);
                    let index = match known {
                        Some(index) => index,
                        None => features.place(&text(&key)?, None).map_err(wrong)?,
                    };
                    if known.is_none() {
                        self.remember(at, &key, index)?;
                    }
                    (index, number)
                }
                Cell::Name(name) => {
                    (features.place(&text(&key)?, Some(&name)).map_err(wrong)?, 1.0)
                }
                Cell::Missing => {
                    (features.place(&text(&key)?, Some("missing")).map_err(wrong)?, 1.0)
                }
                Cell::Text(words) => {
                    let (name, counts) = (text(&key)?, &mut self.counts);
                    self.words.each(name.as_bytes(), &words, |word| {
                        let word = String::from_utf8_lossy(word);
                        counts.push(features.place(&word, None).map_err(wrong)?);
                        Ok::<_, PyErr>(())
                    })?;
                    continue;
                }
                Cell::Nothing => continue,
            };
            self.row.push((index, number));
        }
        self.refuse_doubles(features)?;
        for index in &self.counts {
            block.feature(*index, 1.0);
        }
        for (index, number) in &self.row {
            if plain || *number != 0.0 {
                block.feature(*index, *number);
            }
        }
        Ok(())
    }

    /// Adds the row to the block; unknown names are passed over. With the settings of a fitted model a missing
    /// number of a column that had no gaps counts as its mean, which is noted.
    pub(super) fn find(
        &mut self,
        x: &Bound<'_, PyDict>,
        schema: &Schema,
        settings: Option<&Settings>,
        block: &mut Block,
    ) -> PyResult<Option<Decision>> {
        let features = schema.features();
        let mut filling: Option<Schema> = None;
        if let Some(count) = self.repeat(x) {
            let (indices, numbers) = (&self.indices[..count], &self.numbers[..count]);
            if numbers.contains(&0.0) {
                let row = indices.iter().zip(numbers).filter(|(_, number)| **number != 0.0);
                row.for_each(|(index, number)| block.feature(*index, *number));
            } else {
                block.features(indices, numbers);
            }
            return Ok(None);
        }
        self.row.clear();
        self.counts.clear();
        for (at, (key, value)) in x.copy()?.iter().enumerate() {
            let (index, number) = match self.cell(&key, &value)? {
                Cell::Number(number) => {
                    let known = self.recall(at, &key);
                    let index = match known {
                        None => features.find(&text(&key)?, None),
                        known => known,
                    };
                    if let (None, Some(index)) = (known, index) {
                        self.remember(at, &key, index)?;
                    }
                    (index, number)
                }
                Cell::Name(name) => (features.find(&text(&key)?, Some(&name)), 1.0),
                Cell::Missing => {
                    let column = text(&key)?;
                    let index = features.find(&column, Some("missing"));
                    let settings =
                        settings.filter(|own| index.is_none() && own.stream.fit.is_some());
                    let filled = settings.and_then(|settings| {
                        filling.get_or_insert_with(|| settings.filling(schema)).fill(&column)
                    });
                    filled.map_or((index, 1.0), |(index, mean)| (Some(index), mean))
                }
                Cell::Text(words) => {
                    let (name, counts) = (text(&key)?, &mut self.counts);
                    self.words.each(name.as_bytes(), &words, |word| {
                        counts.extend(features.find(&String::from_utf8_lossy(word), None));
                        Ok::<_, PyErr>(())
                    })?;
                    continue;
                }
                Cell::Nothing => continue,
            };
            self.row.extend(index.map(|index| (index, number)));
        }
        self.refuse_doubles(features)?;
        for index in &self.counts {
            block.feature(*index, 1.0);
        }
        for (index, number) in self.row.iter().filter(|(_, number)| *number != 0.0) {
            block.feature(*index, *number);
        }
        Ok(filling.and_then(|schema| schema.filled()))
    }
}
