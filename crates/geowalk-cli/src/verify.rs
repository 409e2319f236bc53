//! `geowalk verify`: the run of a model once more, and what differs.

use std::io::Write;

use geowalk_run::certificate::Report;
use geowalk_run::error::RunError;
use geowalk_run::model::{Model, ModelError};
use geowalk_run::train::verify;
use serde_json::json;

use crate::Failure;
use crate::args::Verify;
use crate::data::Reading;
use crate::paths::Files;
use crate::serve::audit;

/// How many differences are printed.
const MOST: usize = 20;

/// Replays, and prints what was found.
pub(crate) fn run(args: &Verify, out: &mut dyn Write) -> Result<u8, Failure> {
    if args.model.join("models").is_dir() {
        if !args.inputs.is_empty() {
            return Err(Failure::Use(
                "the folder of a service has its data in its logs: give no DATA".to_owned(),
            ));
        }
        return audit(&args.model, args.json, out);
    }
    if args.inputs.is_empty() {
        return Err(Failure::Use("DATA is missing: give the files that the model saw".to_owned()));
    }
    Files::new(&args.inputs, &args.how)?.input("MODEL", Some(&args.model)).check()?;
    let model = match Model::load(&args.model) {
        Ok(model) => model,
        // A file that is not what was written is what this command is there to find.
        Err(ModelError::File { path, cause })
            if matches!(*cause, ModelError::Digest { .. } | ModelError::Truncated { .. }) =>
        {
            let what = format!("{}: {cause}", path.display());
            if args.json {
                writeln!(out, "{}", json!({"verified": false, "mismatches": [{"what": what}]}))?;
            } else {
                writeln!(out, "not verified   {what}")?;
            }
            return Ok(1);
        }
        Err(error) => return Err(RunError::from(error).into()),
    };
    if args.inputs.iter().any(|name| name == "-") {
        return Err(Failure::Use(
            "a replay may need the data more than once: give files instead of standard input"
                .to_owned(),
        ));
    }
    let mut data = Reading::new(&args.inputs, &args.how)?.like_the_run_of(&model);
    let found = verify(&model, || data.options().into())?;
    data.finish()?;
    let verified = found.mismatches.is_empty();
    let code = u8::from(!verified);
    if args.json {
        let mismatches: Vec<_> = found
            .mismatches
            .iter()
            .map(|m| json!({"what": m.what, "model": m.model, "replay": m.replay}))
            .collect();
        let object = json!({
            "verified": verified, "examples": found.examples, "passes": found.passes, "numbers": found.numbers,
            "digest": found.digest, "mismatches": mismatches,
            "certificate": found.certificate.as_ref().map(Report::json),
        });
        writeln!(out, "{object}")?;
        return Ok(code);
    }
    let numbers = found.numbers;
    if verified {
        writeln!(
            out,
            "verified       {numbers} numbers are the same to the bit after a replay of {} examples",
            found.examples
        )?;
    } else {
        writeln!(out, "not verified   {} of {numbers} comparisons differ", found.mismatches.len())?;
    }
    match &found.digest {
        Some(digest) => writeln!(
            out,
            "data           {digest}, {} pass{}",
            found.passes,
            if found.passes == 1 { "" } else { "es" }
        )?,
        None => writeln!(
            out,
            "data           the model holds no digest of its data; they are taken at your word"
        )?,
    }
    for m in found.mismatches.iter().take(MOST) {
        writeln!(
            out,
            "differs        {}: the model has {}, the replay {}",
            m.what, m.model, m.replay
        )?;
    }
    if found.mismatches.len() > MOST {
        writeln!(out, "               and {} more", found.mismatches.len() - MOST)?;
    }
    for (line, text) in found.certificate.iter().flat_map(Report::lines).enumerate() {
        let head = if line == 0 { "certificate" } else { "" };
        writeln!(out, "{head:<14} {text}")?;
    }
    Ok(code)
}
