//! `geowalk merge`: one model of several.

use std::io::Write;

use geowalk_run::error::RunError;
use geowalk_run::merge::{Part, merge};
use geowalk_run::model::Model;

use crate::Failure;
use crate::args::Merge;
use crate::paths::Files;
use crate::report::lines;

/// Merges, writes the model, and prints what it is.
pub(crate) fn run(args: &Merge, out: &mut dyn Write) -> Result<(), Failure> {
    let mut files = Files::none();
    for path in &args.models {
        files = files.input("MODEL", Some(path));
    }
    files.input("--since", args.since.as_deref()).merged(&args.output, args.force).check()?;
    let (given, expected) = (args.weights.len(), args.models.len());
    if given > 0 && given != expected {
        return Err(Failure::Use(format!(
            "--weights has {given} numbers for {expected} models; give one for each"
        )));
    }
    let load = |path| Model::load(path).map_err(RunError::from);
    let mut models = Vec::new();
    for path in &args.models {
        models.push((path.display().to_string(), load(path)?));
    }
    let base = match &args.since {
        Some(path) => Some((path.display().to_string(), load(path)?)),
        None => None,
    };
    let part = |(name, model), weight| Part { name, model, weight };
    let parts: Vec<Part<'_>> = models
        .iter()
        .enumerate()
        .map(|(k, (name, model))| part((name.as_str(), model), args.weights.get(k).copied()))
        .collect();
    let since = base.as_ref().map(|(name, model)| part((name.as_str(), model), None));
    let merged = merge(&parts, since)?;
    merged.save(&args.output).map_err(RunError::from)?;
    let fact = |head: &str, text: String| (head.to_owned(), text);
    let facts = [
        fact("merged", format!("{} models", parts.len())),
        fact("walk", merged.settings.walk()),
        fact("examples", merged.examples.to_string()),
        fact("model", format!("saved to {}", args.output.display())),
    ];
    lines(&facts, out)?;
    Ok(())
}
