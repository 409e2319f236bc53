//! # Opening what a run reads
//! New data must be what the model was trained on: the same label, columns where there were columns.

mod memory;

use std::sync::Arc;

use geowalk::row::Block;
use geowalk_data::{Features, Label, Options, Schema, Source};

use crate::error::RunError;

/// Rows that were learned from, and that are wanted once more.
#[derive(Debug)]
pub enum Rows {
    /// In files, or wherever else they are read from.
    Files(Box<Options>),
    /// In memory, with labels as in the schema of the model.
    Memory(Arc<Vec<Block>>),
}

impl From<Options> for Rows {
    fn from(options: Options) -> Self {
        Self::Files(Box::new(options))
    }
}

impl Rows {
    /// Opens them, as they are meant by a schema.
    pub(crate) fn open(self, schema: &Schema) -> Result<Box<dyn Source>, RunError> {
        match self {
            Self::Files(options) => open(Options { schema: Some(schema.clone()), ..*options }),
            Self::Memory(blocks) => Ok(Box::new(memory::Memory::new(blocks, schema.clone()))),
        }
    }
}

/// What a source has decided, at its beginning and by its end.
pub(crate) fn decisions(source: &dyn Source) -> Vec<String> {
    let all = source.decisions().iter().cloned().chain(source.remarks());
    all.map(|decision| decision.to_string()).collect()
}

/// Opens the data. Where a schema is given, data that cannot be meant by it are refused.
pub fn open(options: Options) -> Result<Box<dyn Source>, RunError> {
    let known = options.schema.clone();
    let own = known.as_ref().and_then(|schema| schema.label());
    if let (Label::Named(asked), Some(own)) = (&options.label, own)
        && asked != own
    {
        return Err(RunError::OtherLabel { asked: asked.clone(), own: own.to_owned() });
    }
    let source = geowalk_data::open(options)?;
    // Features that came by name, from dictionaries of Python, are found by it in the columns of a table.
    let by_name = |schema: &Schema| {
        schema.columns().is_empty() && matches!(schema.features(), Features::Exact(_))
    };
    match known {
        Some(schema)
            if !by_name(&schema)
                && schema.columns().is_empty() != source.schema().columns().is_empty() =>
        {
            let columns = schema.columns().iter().map(|column| column.name.clone()).collect();
            Err(RunError::OtherForm { file: source.place().0.to_owned(), columns })
        }
        _ => Ok(source),
    }
}
