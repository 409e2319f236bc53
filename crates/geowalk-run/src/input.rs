//! # Opening what a run reads
//! New data must be what the model was trained on: the same label, columns where there were columns.

use geowalk_data::{Label, Options, Source};

use crate::error::RunError;

/// Opens the data. Where a schema is given, data that cannot be meant by it are refused.
pub(crate) fn open(options: Options) -> Result<Box<dyn Source>, RunError> {
    let known = options.schema.clone();
    let own = known.as_ref().and_then(|schema| schema.label());
    if let (Label::Named(asked), Some(own)) = (&options.label, own)
        && asked != own
    {
        return Err(RunError::OtherLabel { asked: asked.clone(), own: own.to_owned() });
    }
    let source = geowalk_data::open(options)?;
    match known {
        Some(schema) if schema.columns().is_empty() != source.schema().columns().is_empty() => {
            let columns = schema.columns().iter().map(|column| column.name.clone()).collect();
            Err(RunError::OtherForm { file: source.place().0.to_owned(), columns })
        }
        _ => Ok(source),
    }
}
