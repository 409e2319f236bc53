//! # Opening the input of a run
//! New data must match the data that the model was trained on: the same label, and columns if the model has columns.

mod memory;

use std::sync::Arc;

use geowalk::row::Block;
use geowalk_data::{Features, Label, Options, Schema, Source};

use crate::error::RunError;

/// The training rows of a model, to be read again.
#[derive(Debug)]
pub enum Rows {
    /// In files, or wherever else the options point to.
    Files(Box<Options>),
    /// In memory, with labels coded as in the schema of the model.
    Memory(Arc<Vec<Block>>),
}

impl From<Options> for Rows {
    fn from(options: Options) -> Self {
        Self::Files(Box::new(options))
    }
}

impl Rows {
    /// Opens the rows and reads them with the given schema.
    pub(crate) fn open(self, schema: &Schema) -> Result<Box<dyn Source>, RunError> {
        match self {
            Self::Files(options) => open(Options { schema: Some(schema.clone()), ..*options }),
            Self::Memory(blocks) => Ok(Box::new(memory::Memory::new(blocks, schema.clone()))),
        }
    }
}

/// All decisions of a source about its format, including those made only at the end of the data.
pub(crate) fn decisions(source: &dyn Source) -> Vec<String> {
    let all = source.decisions().iter().cloned().chain(source.remarks());
    all.map(|decision| decision.to_string()).collect()
}

/// Opens the data. If the options give a schema, data that do not match it are refused.
pub fn open(options: Options) -> Result<Box<dyn Source>, RunError> {
    let known = options.schema.clone();
    let own = known.as_ref().and_then(|schema| schema.label());
    if let (Label::Named(asked), Some(own)) = (&options.label, own)
        && asked != own
    {
        return Err(RunError::OtherLabel { asked: asked.clone(), own: own.to_owned() });
    }
    let source = geowalk_data::open(options)?;
    // Features named by the keys of Python dictionaries are looked up among the columns of a table.
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
