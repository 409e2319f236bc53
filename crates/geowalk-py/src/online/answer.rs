//! # What is asked of a learner
//! Scores, probabilities and classes in the order of the labels that an estimator has: of tables, and of one row without any memory of its own.

use std::ffi::CString;

use geowalk::row::Block;
use geowalk_data::{Decision, Task};
use geowalk_run::label::make_room;
use geowalk_run::train::{Session, Wanted};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyAttributeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Online;
use crate::error::{data, unlearned};
use crate::frame::{Frame, FrameReader};
use crate::rows::Rows;

/// Calls `take` with the rows of a frame, block by block. Names that are new leave nothing behind. Gives what is
/// to be noted.
pub(super) fn each_block(
    session: &Session,
    frame: &Frame,
    label: impl Fn(usize) -> f64,
    weight: impl Fn(usize) -> f64,
    block: &mut Block,
    mut take: impl FnMut(&mut Block),
) -> PyResult<Option<Decision>> {
    let mut schema = session.settings().filling(session.schema());
    let mut reader = FrameReader::new(frame, &mut schema, true)?;
    let mut from = 0;
    while from < frame.rows() {
        from = reader.fill(from, &mut schema, block, &label, &weight)?;
        take(block);
    }
    Ok(schema.filled())
}

/// Warns of what a reader decided, where a user is to know it.
fn warn(py: Python<'_>, decision: Option<Decision>) -> PyResult<()> {
    let Some(decision) = decision else { return Ok(()) };
    let message = CString::new(decision.to_string()).unwrap_or_default();
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 3)
}

impl Online {
    /// Answers in the order of `classes`, and how many numbers there are per row.
    pub(super) fn arranged(
        &self,
        mut answer: Vec<f64>,
        wanted: Wanted,
    ) -> PyResult<(Vec<f64>, usize)> {
        let session = self.session()?;
        let Some(classes) = &self.classes else { return Ok((answer, 1)) };
        let places = classes.places(session.coding().classes());
        match (wanted, session.settings().task) {
            (Wanted::Scores, Task::Binary) => Ok((answer, 1)),
            (Wanted::Classes, _) => {
                let only = places.iter().flatten().next().copied().unwrap_or(0);
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
                for class in &mut answer {
                    let code = places.get(*class as usize).copied().flatten().unwrap_or(only);
                    *class = code as f64;
                }
                Ok((answer, 1))
            }
            (wanted, _) => {
                // Of two classes both have a score, also while one has not been seen.
                let (width, given) = (classes.len(), places.len().max(1));
                let unseen = width.saturating_sub(given);
                let mut none = if wanted == Wanted::Scores { f64::NEG_INFINITY } else { 0.0 };
                if wanted == Wanted::Probabilities && unseen > 0 {
                    for own in answer.chunks_exact_mut(given) {
                        none = make_room(own, unseen, session.examples());
                    }
                }
                let mut all = vec![none; answer.len() / given * width];
                for (own, row) in answer.chunks_exact(given).zip(all.chunks_exact_mut(width)) {
                    for (value, place) in own.iter().zip(&places) {
                        if let Some(code) = place {
                            row[*code] = *value;
                        }
                    }
                }
                Ok((all, width))
            }
        }
    }

    pub(super) fn answers(
        &self,
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        wanted: Wanted,
    ) -> PyResult<(Vec<f64>, usize)> {
        let session = self.session()?;
        if let Ok(frame) = x.cast::<Frame>() {
            let (frame, mut block, mut answer) = (frame.get(), Block::new(), Vec::new());
            let noted = py.detach(|| {
                each_block(
                    session,
                    frame,
                    |_| f64::NAN,
                    |_| 1.0,
                    &mut block,
                    |block| {
                        session.answer(block, wanted, &mut answer);
                    },
                )
            })?;
            warn(py, noted)?;
            return self.arranged(answer, wanted);
        }
        let rows = Rows::new(x)?;
        let view = rows.view()?;
        let answer = py.detach(|| {
            let (mut block, mut answer, mut from) = (Block::new(), Vec::new(), 0);
            while from < view.len() {
                let range = view.block(from);
                from = range.end;
                view.fill(range, &mut block, |_| f64::NAN, |_| 1.0);
                session.answer(&block, wanted, &mut answer);
            }
            answer
        });
        self.arranged(answer, wanted)
    }

    /// Fills `answer` for one row, in the order of codings.
    pub(super) fn ask(&mut self, x: &Bound<'_, PyDict>, wanted: Wanted) -> PyResult<()> {
        let session = self.session.as_ref().ok_or_else(unlearned)?;
        let block = self.block.get_or_insert_default();
        block.clear();
        self.keys.learn_columns(session.schema());
        let settings = session.settings();
        let filled = self.keys.find(x, session.schema(), Some(settings), block)?;
        warn(x.py(), filled)?;
        block.end(f64::NAN, 1.0);
        self.answer.clear();
        session.answer_with(block, wanted, &mut self.scores, &mut self.answer);
        Ok(())
    }

    /// The number of the class that was seen, if there is one.
    pub(super) fn only(&self) -> f64 {
        let own = self.session.as_ref().map_or(&[][..], |session| session.coding().classes());
        let places = self.classes.as_ref().map(|classes| classes.places(own)).unwrap_or_default();
        places.into_iter().flatten().next().unwrap_or(0) as f64
    }

    pub(super) fn refuse_without_probabilities(&self) -> PyResult<()> {
        let session = self.session()?;
        if session.has_probabilities() {
            return Ok(());
        }
        Err(PyAttributeError::new_err(format!(
            "the loss '{}' estimates no probabilities; use loss='logistic', or decision_function",
            session.settings().loss
        )))
    }
}

/// A vector, or a table if there are several numbers per row.
pub(super) fn table(py: Python<'_>, values: Vec<f64>, width: usize) -> PyResult<Bound<'_, PyAny>> {
    let rows = values.len() / width.max(1);
    let array = PyArray1::from_vec(py, values);
    if width == 1 {
        return Ok(array.into_any());
    }
    array.reshape([rows, width]).map(Bound::into_any)
}

/// Refuses labels or weights that are not one for each row.
pub(super) fn lengths(rows: usize, y: &[f64], weight: Option<&[f64]>) -> PyResult<()> {
    let lengths = [Some(y.len()), weight.map(<[f64]>::len)];
    match lengths.into_iter().flatten().find(|n| *n != rows) {
        None => Ok(()),
        Some(found) => {
            let message = format!("X has {rows} rows, y or the weights have {found}");
            Err(data(message, None, None, None))
        }
    }
}
