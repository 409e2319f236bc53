//! From flags to what a reader is told.

use std::fs::File;

use geowalk_data::{Duplicates, Indexing, Label, OnError, Options};

use crate::Failure;
use crate::args::{Data, How, Twice};

/// The options of a reader; called once per pass.
pub(crate) fn options(data: &Data) -> Result<Options, Failure> {
    options_of(&data.inputs, &data.how)
}

/// The same for inputs that are named elsewhere.
pub(crate) fn options_of(inputs: &[String], data: &How) -> Result<Options, Failure> {
    let on_error = match data.on_error.split_once('=') {
        None if data.on_error == "fail" => OnError::Fail,
        None if data.on_error == "skip" => OnError::Skip,
        Some(("quarantine", file)) => {
            let file = File::create(file).map_err(|error| Failure::file(file, error))?;
            OnError::Quarantine(Box::new(file))
        }
        _ => {
            return Err(Failure::Use(format!(
                "--on-error {}: fail, skip or quarantine=FILE expected",
                data.on_error
            )));
        }
    };
    Ok(Options {
        format: data.format.clone(),
        label: data.label.clone().map_or(Label::Guess, Label::Named),
        indexing: match (data.bits, data.exact) {
            (Some(bits), _) => Indexing::Hashed(bits),
            (None, true) => Indexing::Exact,
            (None, false) => Indexing::Usual,
        },
        index_base: data.index_base,
        duplicates: match data.duplicates {
            Twice::Refuse => Duplicates::Refuse,
            Twice::Add => Duplicates::Add,
        },
        header: !data.no_header,
        nominal: data.nominal.clone(),
        text: data.text.clone(),
        weight: data.weight.clone(),
        ignore: data.ignore.clone(),
        missing: data.missing.clone(),
        on_error,
        ..Options::new(inputs.iter().map(String::as_str))
    })
}
