//! `geowalk convert`.

use std::io::Write;

use geowalk_run::convert::convert;
use serde_json::json;

use crate::Failure;
use crate::args::Convert;
use crate::data::Reading;
use crate::paths::Files;

/// Writes data in binary form and says what was written.
pub(crate) fn run(args: &Convert, out: &mut dyn Write) -> Result<(), Failure> {
    if args.data.how.cache {
        return Err(Failure::Use("--cache is for commands that learn or predict".to_owned()));
    }
    Files::of(&args.data)?.output("--output", Some(&args.output)).check()?;
    let mut data = Reading::of(&args.data)?;
    let done = convert(data.options(), &args.output)?;
    data.finish()?;
    let file = args.output.display().to_string();
    if args.json {
        let object = json!({
            "file": file,
            "rows": done.rows,
            "values": done.values,
            "bytes": done.bytes,
            "skipped": done.skipped,
            "notes": done.decisions,
        });
        writeln!(out, "{object}")?;
        return Ok(());
    }
    for decision in &done.decisions {
        writeln!(out, "{decision}")?;
    }
    writeln!(out, "{file}: {} rows, {} values, {} bytes", done.rows, done.values, done.bytes)?;
    if done.skipped > 0 {
        writeln!(out, "rows left out: {}", done.skipped)?;
        for error in &done.skipped_first {
            writeln!(out, "  {error}")?;
        }
    }
    Ok(())
}
