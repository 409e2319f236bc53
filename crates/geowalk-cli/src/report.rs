//! # Reports
//! One self-contained page for each kind of learner: [`online`], [`Boosted`], [`Grown`]. They are made from what a run left, whichever door it came through; here is what they have in common: margins,
//! calibration, how to repeat the run.

use std::io::{self, Write};
use std::path::Path;

use geowalk::certify::{Certificate, Status};
use geowalk_page::{Cell, Mark, Page, Plot, Table};
use geowalk_run::calibration::Calibration;
use geowalk_run::learned;
use geowalk_run::profile::Profile;
use geowalk_run::replace::Output;
use geowalk_run::table::Examples;
use geowalk_run::verdict::Verdict;

use crate::Failure;
pub use crate::boost::report::Report as Boosted;
pub use crate::train::report::page as online;
pub use crate::tree::report::Report as Grown;

/// Margins and calibration of some rows.
#[derive(Debug)]
pub struct Judged {
    /// What was found.
    pub found: Calibration,
    /// Which rows they are, in words.
    pub seen: String,
}

/// Intervals of the histogram of margins.
const INTERVALS: usize = 40;

/// The name of a theorem with a tick if its bound says something: it is valid and less than `most`, which
/// nothing can exceed anyway.
pub(crate) fn theorem(certificate: &Certificate, most: f64) -> Cell {
    let theorem = certificate.theorem.to_owned();
    match certificate.status {
        Status::Valid if most > 0.0 && certificate.bound >= most => {
            Cell::Text(format!("{theorem} (valid, but too weak to say anything)"))
        }
        Status::Valid => Cell::Verdict(Mark::Good, theorem),
        Status::Void(_) => Cell::Verdict(Mark::Bad, theorem),
    }
}

/// Writes the page.
pub(crate) fn write(path: &Path, page: &Page) -> Result<(), Failure> {
    let written = Output::create(path).and_then(|mut output| {
        output.write_all(page.html().as_bytes())?;
        output.finish()
    });
    written.map_err(|error| Failure::file(path.display(), error))
}

/// Prints what deserves notice of how a table was read.
pub(crate) fn short(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    profile.short().iter().try_for_each(|(head, text)| writeln!(out, "{head:<14} {text}"))
}

/// Prints how good predictions are.
pub(crate) fn verdict(verdict: &Verdict, seen: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{seen}")?;
    lines(&verdict.lines(), out)?;
    writeln!(out)
}

/// Prints lines with a head.
pub(crate) fn lines(lines: &[(String, String)], out: &mut dyn Write) -> io::Result<()> {
    lines.iter().try_for_each(|(head, text)| writeln!(out, "{head:<14} {text}"))
}

/// Prints how the table was read, and nothing else.
pub(crate) fn dry_run(examples: &Examples, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let profile = Profile::new(examples);
    if json {
        writeln!(out, "{}", profile.json())?;
    } else {
        write!(out, "{}", learned::reading(&profile))?;
        if examples.skipped.0 > 0 {
            writeln!(out, "rows skipped   {}", examples.skipped.0)?;
        }
    }
    Ok(())
}

/// How each column was read.
pub(crate) fn reading(page: Page, profile: Option<&Profile>) -> Page {
    let Some(profile) = profile else { return page };
    let mut page =
        page.section("How the table was read").prose(&format!("{}.", profile.sentence()));
    for warning in &profile.warnings {
        page = page.prose(&format!("Warning: {warning}."));
    }
    let mut table = Table::new(["column", "read as", "values", "missing", "because"]);
    for column in &profile.columns {
        table.push([
            column.name.clone().into(),
            column.kind.clone().into(),
            column.values.clone().into(),
            column.missing.into(),
            column.why.clone().into(),
        ]);
    }
    page.table(table)
}

/// Margins and reliability.
pub(crate) fn probabilities(page: Page, judged: &Judged, two: Option<&str>) -> Page {
    let Judged { found, seen } = judged;
    let wrong = found.margins.iter().filter(|margin| **margin < 0.0).count();
    let margins = Plot::new("Margins")
        .x("P of the class less the largest P of another")
        .y("rows")
        .bars("rows", found.histogram(INTERVALS));
    let what = match two {
        Some(class) => format!("probability of {class}"),
        None => "probability of the class that is predicted".to_owned(),
    };
    let dots = found.bins.iter().map(|bin| (bin.said, bin.came));
    let reliability = Plot::new("Reliability")
        .x(what.clone())
        .y("share of rows of which it was true")
        .dashed("as it should be", [(0.0, 0.0), (1.0, 1.0)])
        .line("as it is", dots.clone())
        .dots("bins", dots);
    let mut table = Table::new(["rows", "mean probability", "share that came"])
        .caption(format!("Calibration: {what}, in ten bins."));
    for bin in &found.bins {
        table.push([bin.rows.into(), bin.said.into(), bin.came.into()]);
    }
    page.section("Margins and calibration")
        .prose(&format!(
            "On {seen}: {wrong} of {} rows have a negative margin, that is, another class is more probable than their own. Probabilities are off by {:.4} on average (the expected calibration error).",
            found.margins.len(),
            found.error
        ))
        .figure(margins)
        .figure(reliability)
        .table(table)
}

/// The command as it was typed, so that it can be typed again.
pub(crate) fn typed() -> String {
    let quoted = |text: String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+,:%@".contains(c);
        if !text.is_empty() && text.chars().all(plain) {
            text
        } else {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
    };
    let arguments: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|text| quoted(text.to_string_lossy().into_owned()))
        .collect();
    format!("geowalk {}", arguments.join(" "))
}

/// How the run can be made again.
pub(crate) fn repeat(page: Page, how: &str) -> Page {
    page.section("To repeat this run")
        .code(how)
        .facts([("version", concat!("geowalk ", env!("CARGO_PKG_VERSION")))])
        .prose("The same data in the same order, and the same settings, give the same model, bit by bit, whatever the number of threads.")
}
