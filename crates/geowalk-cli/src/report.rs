//! What reports have in common: margins, calibration, how to repeat the run.

use std::fs;
use std::path::Path;

use geowalk_page::{Page, Plot, Table};
use geowalk_run::calibration::Calibration;

use crate::Failure;

/// Intervals of the histogram of margins.
const INTERVALS: usize = 40;

/// Refuses a place that cannot be written, before any work is done.
pub(crate) fn check(path: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map(|_| ())
        .map_err(|error| Failure::file(path.display(), error))
}

/// Writes the page.
pub(crate) fn write(path: &Path, page: &Page) -> Result<(), Failure> {
    fs::write(path, page.html()).map_err(|error| Failure::file(path.display(), error))
}

/// Margins and reliability; `seen` says on which rows.
pub(crate) fn probabilities(
    page: Page,
    found: &Calibration,
    two: Option<&str>,
    seen: &str,
) -> Page {
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
pub(crate) fn repeat(page: Page) -> Page {
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
    page.section("To repeat this run")
        .code(&format!("geowalk {}", arguments.join(" ")))
        .facts([("version", concat!("geowalk ", env!("CARGO_PKG_VERSION")))])
        .prose("The same data and the same command give the same model, bit by bit, whatever the number of threads.")
}
