//! `geowalk predict`.

use std::fs::File;
use std::io::{BufWriter, Write};

use geowalk_run::model::Model;
use geowalk_run::predict::predict;
use geowalk_run::pump::usual_threads;

use crate::args::Predict;
use crate::{Failure, data};

/// Predicts, to a file or to standard output.
pub(crate) fn run(args: &Predict, out: &mut dyn Write) -> Result<(), Failure> {
    let model = Model::load(&args.model).map_err(geowalk_run::error::RunError::from)?;
    let options = data::options(&args.data)?;
    let threads = args.threads.unwrap_or_else(usual_threads);
    match &args.output {
        None => {
            predict(&model, options, args.proba, threads, out)?;
        }
        Some(path) => {
            let file = File::create(path).map_err(|error| Failure::file(path.display(), error))?;
            let mut file = BufWriter::new(file);
            predict(&model, options, args.proba, threads, &mut file)?;
            file.flush()?;
        }
    }
    Ok(())
}
