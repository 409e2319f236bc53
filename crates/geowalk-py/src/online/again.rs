//! # Rows that were learned from, once more
//! What a certificate against a comparator needs: the rows in blocks with labels as a reader gives them, and weights in the order of the learner's outputs.

use geowalk::row::Block;
use geowalk_data::Task;
use geowalk_run::model::Model;
use geowalk_run::pump::ROWS;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::answer::each_block;
use super::{Online, lengths};
use crate::error::unlearned;
use crate::frame::Frame;
use crate::label::ClassLabel;
use crate::rows::Rows;

impl Online {
    /// The rows of a table, or dictionaries, in blocks with labels as a reader gives them.
    pub(super) fn blocks(
        &mut self,
        x: &Bound<'_, PyAny>,
        y: &[f64],
        weight: Option<&[f64]>,
    ) -> PyResult<Vec<Block>> {
        let weigh = |i: usize| weight.map_or(1.0, |w| w[i]);
        let mut blocks = Vec::new();
        if let Ok(rows) = x.cast::<PyList>() {
            lengths(rows.len(), y, weight)?;
            let session = self.session.as_ref().ok_or_else(unlearned)?;
            let schema = session.schema();
            self.keys.learn_columns(schema);
            let mut block = Block::new();
            for (i, row) in rows.iter().enumerate() {
                self.keys.find(row.cast::<PyDict>()?, schema, None, &mut block)?;
                block.end(y[i], weigh(i));
                if block.len() == ROWS {
                    blocks.push(std::mem::take(&mut block));
                }
            }
            blocks.push(block);
        } else if let Ok(frame) = x.cast::<Frame>() {
            let (frame, session) = (frame.get(), self.session()?);
            lengths(frame.rows(), y, weight)?;
            each_block(
                session,
                frame,
                |i| y[i],
                weigh,
                &mut Block::new(),
                |block| {
                    blocks.push(std::mem::take(block));
                },
            )?;
        } else {
            let rows = Rows::new(x)?;
            let view = rows.view()?;
            lengths(view.len(), y, weight)?;
            let mut from = 0;
            while from < view.len() {
                let (range, mut block) = (view.block(from), Block::new());
                from = range.end;
                view.fill(range, &mut block, |i| y[i], weigh);
                blocks.push(block);
            }
        }
        for block in &mut blocks {
            self.label(block)?;
        }
        Ok(blocks)
    }

    /// All rows of a first table, in blocks with labels as a reader gives them.
    pub(super) fn gather(
        &mut self,
        x: &Bound<'_, PyAny>,
        y: &[f64],
        weight: Option<&[f64]>,
        names: Option<Vec<String>>,
    ) -> PyResult<Vec<Block>> {
        let weigh = |i: usize| weight.map_or(1.0, |w| w[i]);
        let (mut blocks, mut from) = (Vec::new(), 0);
        if let Ok(frame) = x.cast::<Frame>() {
            let frame = frame.get();
            lengths(frame.rows(), y, weight)?;
            let mut reader = self.frame_reader(frame)?;
            while from < frame.rows() {
                let mut block = Block::new();
                from = reader.fill(from, self.schema_mut(), &mut block, |i| y[i], weigh)?;
                blocks.push(block);
            }
        } else {
            let rows = Rows::new(x)?;
            let view = rows.view()?;
            lengths(view.len(), y, weight)?;
            self.settle(names, &view)?;
            while from < view.len() {
                let (range, mut block) = (view.block(from), Block::new());
                from = range.end;
                view.fill(range, &mut block, |i| y[i], weigh);
                blocks.push(block);
            }
        }
        for block in &mut blocks {
            self.label(block)?;
        }
        Ok(blocks)
    }

    /// The model as it is now, with the classes that were declared and have not come.
    pub(super) fn model(&self) -> PyResult<Model> {
        let session = self.session()?;
        let mut model = session.model();
        let seen = session.coding().classes();
        let classes = self.classes.iter().filter(|_| session.settings().task == Task::Multiclass);
        let unseen = classes
            .flat_map(|classes| classes.unseen(seen))
            .map(|label| match label {
                ClassLabel::Number(number) => number.to_string(),
                ClassLabel::Name(name) => name,
            })
            .collect();
        model.settings.stream.unseen = unseen;
        Ok(model)
    }

    /// Weights in the order of `classes`, as the learner has its outputs.
    pub(super) fn outputs(&self, given: Vec<Vec<f64>>) -> PyResult<Vec<Vec<f64>>> {
        let session = self.session()?;
        match &self.classes {
            Some(classes) if session.settings().task == Task::Multiclass => {
                let places = classes.places(session.coding().classes());
                let row = |at: &Option<usize>| at.and_then(|at| given.get(at).cloned());
                Ok(places.iter().map(|at| row(at).unwrap_or_default()).collect())
            }
            _ => Ok(given),
        }
    }
}
