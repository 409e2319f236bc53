//! # A dictionary as a row
//! Numbers are features by name, strings `name=value`, None `name=missing`: what the readers make of a table or of JSON. Programs give the same keys in the same order again
//! and again, so the last ones are remembered: a key that is the same object, or the same text in the same place, is not looked up.
//!
//! **Zeros** stay in rows of numbers alone and are left out beside names, as the readers of tables do: an averaged weight is brought up to date where a row has a value, so the bits
//! depend on it.

use std::borrow::Cow;

use geowalk::row::Block;
use geowalk_data::Features;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyString};

use crate::error::data;

/// Keys that are remembered.
const MOST: usize = 4096;

/// A key, and its feature.
struct Key {
    object: Py<PyAny>,
    text: String,
    index: u32,
}

/// The keys of the last dictionary, in order.
#[derive(Default)]
pub(super) struct Keys {
    known: Vec<Key>,
    /// The row under construction.
    row: Vec<(u32, f64)>,
}

/// What a value is.
enum Cell {
    Number(f64),
    Name(String),
    Missing,
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
    /// The feature of the key at this place, if it was the same the last time.
    #[inline]
    fn recall(&self, at: usize, key: &Bound<'_, PyAny>) -> Option<u32> {
        let known = self.known.get(at)?;
        let same = known.object.is(key)
            || key.cast::<PyString>().is_ok_and(|key| key.to_str().is_ok_and(|t| t == known.text));
        same.then_some(known.index)
    }

    fn remember(&mut self, at: usize, key: &Bound<'_, PyAny>, index: u32) -> PyResult<()> {
        let key = Key { object: key.clone().unbind(), text: text(key)?.into_owned(), index };
        if let Some(known) = self.known.get_mut(at) {
            *known = key;
        } else if at == self.known.len() && at < MOST {
            self.known.push(key);
        }
        Ok(())
    }

    /// Adds a row of plain numbers under the keys of the last dictionary, which is what nearly all rows are: no look-up, no copy. False, and nothing added, for any other.
    #[inline]
    fn repeat(&self, x: &Bound<'_, PyDict>, zeros: bool, block: &mut Block) -> bool {
        let mut finite = true;
        for (at, (key, value)) in x.iter().enumerate() {
            let known = self.known.get(at).filter(|known| known.object.is(&key));
            let (Some(known), Ok(number)) = (known, value.cast_exact::<PyFloat>()) else {
                block.abandon();
                return false;
            };
            let number = number.value();
            finite &= number.is_finite();
            if zeros || number != 0.0 {
                block.feature(known.index, number);
            }
        }
        if !finite {
            block.abandon();
        }
        finite
    }

    /// Adds the row to the block; new names become features.
    pub(super) fn place(
        &mut self,
        x: &Bound<'_, PyDict>,
        features: &mut Features,
        block: &mut Block,
    ) -> PyResult<()> {
        if self.repeat(x, true, block) {
            return Ok(());
        }
        let wrong = |error: geowalk_data::ErrorKind| data(error.to_string(), None, None, None);
        self.row.clear();
        let mut plain = true;
        for (at, (key, value)) in x.iter().enumerate() {
            let cell = cell(&key, &value)?;
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
            };
            self.row.push((index, number));
        }
        for (index, number) in &self.row {
            if plain || *number != 0.0 {
                block.feature(*index, *number);
            }
        }
        Ok(())
    }

    /// Adds the row to the block; unknown names are passed over.
    pub(super) fn find(
        &self,
        x: &Bound<'_, PyDict>,
        features: &Features,
        block: &mut Block,
    ) -> PyResult<()> {
        if self.repeat(x, false, block) {
            return Ok(());
        }
        for (at, (key, value)) in x.iter().enumerate() {
            let (index, number) = match cell(&key, &value)? {
                Cell::Number(number) => {
                    let known = self.recall(at, &key);
                    let index = match known {
                        None => features.find(&text(&key)?, None),
                        known => known,
                    };
                    (index, number)
                }
                Cell::Name(name) => (features.find(&text(&key)?, Some(&name)), 1.0),
                Cell::Missing => (features.find(&text(&key)?, Some("missing")), 1.0),
            };
            if let Some(index) = index
                && number != 0.0
            {
                block.feature(index, number);
            }
        }
        Ok(())
    }
}
