//! From flags to what a reader is told.

use std::fs::File;
use std::io::{self, Write};

use geowalk_data::{Duplicates, Indexing, Input, Label, OnError, Options};
use geowalk_run::convert::{Cache, cache};

use crate::Failure;
use crate::args::{Data, How, Twice};

/// The options of a reader; called once per pass.
pub(crate) fn options(data: &Data) -> Result<Options, Failure> {
    options_of(&data.inputs, &data.how)
}

/// The same for inputs that are named elsewhere.
pub(crate) fn options_of(inputs: &[String], data: &How) -> Result<Options, Failure> {
    if !data.cache {
        return plain(inputs, data);
    }
    if data.on_error.starts_with("quarantine") {
        return Err(Failure::Use(
            "--cache reads the text only if it has changed: --on-error quarantine=FILE goes with geowalk convert"
                .to_owned(),
        ));
    }
    plain(inputs, data)?; // errors of use are told before the text is read
    let cached =
        cache(&mut || plain(inputs, data).unwrap_or_else(|_| Options::new(inputs.to_vec())));
    match cached? {
        None => plain(inputs, data),
        Some(Cache { path, made }) => {
            for decision in made.iter().flat_map(|made| &made.decisions) {
                // A note; nothing can be done if nobody can read it.
                let _ = writeln!(io::stderr(), "{decision}");
            }
            let (format, inputs) = (None, vec![Input::Path(path.to_string_lossy().into_owned())]);
            Ok(Options { format, inputs, ..plain(&[], data)? })
        }
    }
}

/// The options as they are spelled.
fn plain(inputs: &[String], data: &How) -> Result<Options, Failure> {
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
        decimal: data.decimal,
        thousands: data.thousands,
        separator: data.separator,
        skip_lines: data.skip_lines,
        on_error,
        ..Options::new(inputs.iter().map(String::as_str))
    })
}
