//! # Reports
//! One self-contained page for each kind of learner: [`online`], [`Boosted`], [`Grown`]. They are made from what a run left, whichever door it came through; here is what they have in common: margins,
//! calibration, how to repeat the run.
//!
//! A page begins with what it comes to, in one sentence, and the figures people know; theorems come last, folded.

use std::io::{self, Write};
use std::path::Path;

use geowalk::certify::{Certificate, Status};
use geowalk_data::Date;
use geowalk_page::{Cell, Mark, Page, Plot, Table};
use geowalk_run::calibration::Calibration;
use geowalk_run::learned;
use geowalk_run::profile::Profile;
use geowalk_run::replace::Output;
use geowalk_run::table::Examples;
use geowalk_run::verdict::{Threshold, Verdict, percent, thresholds};

use crate::Failure;
pub use crate::boost::report::Report as Boosted;
pub use crate::train::report::{Beside, page as online};
pub use crate::tree::report::Report as Grown;
pub use crate::trees::{About, page as boosted_trees};

/// Which rows predictions are judged on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judges {
    /// Those that were learned from.
    Training,
    /// Rows held out by so many folds.
    Folds(usize),
    /// Others, which the user gave.
    Given,
}

impl Judges {
    /// Those of a run with or without folds.
    pub fn of(folds: Option<usize>) -> Self {
        folds.filter(|count| *count > 0).map_or(Self::Training, Self::Folds)
    }

    fn words(self) -> String {
        match self {
            Self::Training => "training rows".to_owned(),
            Self::Folds(count) => format!("rows held out by {count} folds"),
            Self::Given => "rows that were given".to_owned(),
        }
    }

    /// Above figures in a terminal.
    pub(crate) fn heading(self) -> String {
        match self {
            Self::Training => "on the training rows (--folds K holds rows out)".to_owned(),
            other => format!("on {}", other.words()),
        }
    }
}

/// How good predictions of classes are.
#[derive(Debug)]
pub struct Judged {
    /// The figures.
    pub verdict: Verdict,
    /// Margins and calibration.
    pub found: Calibration,
    /// Every threshold on the probability of the second of two classes.
    pub curve: Vec<Threshold>,
    /// On which rows.
    pub judges: Judges,
}

impl Judged {
    /// Judges the probabilities of rows of the classes `codes`.
    pub fn new(
        classes: &[String],
        codes: &[u32],
        weights: Option<&[f64]>,
        probabilities: &[f64],
        judges: Judges,
    ) -> Self {
        let k = classes.len();
        let second: Vec<f64> = probabilities.iter().skip(1).step_by(k.max(1)).copied().collect();
        let curve = if k == 2 { thresholds(&second, codes, weights) } else { Vec::new() };
        let verdict = Verdict::of_probabilities(classes, codes, weights, probabilities);
        let found = Calibration::new(probabilities, k, codes);
        Self { verdict, found, curve, judges }
    }

    /// What it comes to, in one or two sentences.
    fn sentence(&self) -> String {
        let (class, share) = self.verdict.baseline();
        let accuracy = self.verdict.accuracy();
        let mut text = format!(
            "The class is right for {} of {} {}{}; always answering '{}' is right for {}.",
            percent(Some(accuracy)),
            self.verdict.rows,
            self.judges.words(),
            if self.verdict.weighted { " (by weight)" } else { "" },
            self.verdict.classes.get(class).map_or("", String::as_str),
            percent(Some(share))
        );
        if accuracy <= share {
            text.push_str(" For accuracy the model is of no use.");
        }
        if self.judges == Judges::Training {
            text.push_str(
                " On new rows it will be less often right: --folds 5 estimates how often.",
            );
        }
        text
    }

    fn tiles(&self) -> Vec<(String, String)> {
        let (class, share) = self.verdict.baseline();
        let always = self.verdict.classes.get(class).map_or("", String::as_str);
        let mut tiles = vec![
            ("of rows predicted right".to_owned(), percent(Some(self.verdict.accuracy()))),
            (format!("if always '{always}' is answered"), percent(Some(share))),
        ];
        let auc =
            |auc| ("AUC (1: all ranked right, 0.5: by chance)".to_owned(), format!("{auc:.3}"));
        tiles.extend(self.verdict.auc.map(auc));
        let loss = |loss| ("log loss (0 is perfect)".to_owned(), format!("{loss:.3}"));
        tiles.extend(self.verdict.log_loss.map(loss));
        tiles
    }
}

/// Where a report comes from: how the run can be made again, and its data.
#[derive(Debug, Clone)]
pub struct Origin {
    how: String,
    data: Option<String>,
}

impl From<&str> for Origin {
    fn from(how: &str) -> Self {
        Self { how: how.to_owned(), data: None }
    }
}

/// Today, or the day that SOURCE_DATE_EPOCH gives in seconds, so that a page can be made again to the letter.
fn today() -> String {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse::<f64>().ok());
    let seconds = given.or_else(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(since.as_secs_f64())
    });
    let date = seconds.and_then(|seconds| Date::of_days((seconds / 86_400.0).floor()));
    date.map(Date::text).unwrap_or_default()
}

/// The beginning of a page: what is predicted, how well in one sentence, by what, from which data, when; and the figures
/// that matter most.
pub(crate) fn opening(
    label: Option<&str>,
    learner: &str,
    (rows, from): (u64, &Origin),
    sentence: &str,
    tiles: Vec<(String, String)>,
) -> Page {
    let title = match label {
        Some(label) => format!("Predicting '{label}'"),
        None => learner.to_owned(),
    };
    let mut under = vec![learner.to_owned(), format!("{rows} rows")];
    under.extend(from.data.clone());
    under.push(today());
    Page::new(title).contents().lead(sentence, &under.join(" · ")).tiles(tiles)
}

/// The same for predictions of classes; `known` is what is said where no rows were judged.
pub(crate) fn of_classes(
    label: Option<&str>,
    learner: &str,
    about: (u64, &Origin),
    judged: Option<&Judged>,
    known: &str,
) -> Page {
    let sentence = judged.map_or_else(|| known.to_owned(), Judged::sentence);
    opening(label, learner, about, &sentence, judged.map(Judged::tiles).unwrap_or_default())
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
pub(crate) fn verdict(verdict: &Verdict, judges: Judges, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{}", judges.heading())?;
    lines(&verdict.lines(), out)?;
    writeln!(out)
}

/// Prints lines with a head.
pub(crate) fn lines(lines: &[(String, String)], out: &mut dyn Write) -> io::Result<()> {
    lines.iter().try_for_each(|(head, text)| writeln!(out, "{head:<14} {text}"))
}

/// Prints how the table was read, and nothing else.
pub(crate) fn dry_run(examples: &Examples, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    profile(&Profile::new(examples), json, out)?;
    if examples.skipped.0 > 0 && !json {
        writeln!(out, "rows skipped   {}", examples.skipped.0)?;
    }
    Ok(())
}

/// Prints how each column was read.
pub(crate) fn profile(profile: &Profile, json: bool, out: &mut dyn Write) -> io::Result<()> {
    if json {
        writeln!(out, "{}", profile.json())
    } else {
        write!(out, "{}", learned::reading(profile))
    }
}

/// How each column was read.
pub(crate) fn reading(page: Page, profile: Option<&Profile>) -> Page {
    let Some(profile) = profile else { return page };
    let mut page = page.folded("How the table was read").prose(&format!("{}.", profile.sentence()));
    for warning in &profile.warnings {
        page = page.prose(&format!("Warning: {warning}."));
    }
    let mut table = Table::new(["column", "read as", "values", "missing", "because"]);
    for column in &profile.columns {
        table.push([
            column.name.clone().into(),
            column.kind.clone().into(),
            column.values.clone().into(),
            column.missing.map_or(Cell::from(""), Cell::from),
            column.why.clone().into(),
        ]);
    }
    page.table(table)
}

/// Rows of a bin below which its share is drawn as uncertain.
const FEW: usize = 20;

/// Points of a curve that are drawn at most.
const POINTS: usize = 200;

/// Classes beyond which the table of mistakes is too wide to read.
const WIDE: usize = 12;

/// How good predictions are: mistakes by class, what thresholds find, whether probabilities are what they say.
pub(crate) fn quality(page: Page, judged: &Judged) -> Page {
    let Judged { verdict, found, curve, judges } = judged;
    let k = verdict.classes.len();
    let mut head = ["class", "rows", "found", "right when predicted"].map(str::to_owned).to_vec();
    if k <= WIDE {
        head.extend(verdict.classes.iter().map(|class| format!("taken for {class}")));
    }
    let mut table = Table::new(head)
        .caption("Each class: how many of its rows are found, and what the others are taken for");
    for (class, name) in verdict.classes.iter().enumerate() {
        let mut cells: Vec<Cell> = vec![
            name.clone().into(),
            verdict.of_class(class).into(),
            Cell::Figures(percent(verdict.recall(class))),
            Cell::Figures(percent(verdict.precision(class))),
        ];
        if k <= WIDE {
            cells.extend((0..k).map(|other| Cell::from(verdict.cell(class, other))));
        }
        table.push(cells);
    }
    let mut page = page
        .section("How good it is")
        .prose(&format!("On {} {}.", verdict.rows, judges.words()))
        .table(table);
    if let [_, second] = verdict.classes.as_slice()
        && !curve.is_empty()
    {
        let step = curve.len().div_ceil(POINTS);
        let some = || curve.iter().rev().step_by(step).rev();
        let first = std::iter::once((0.0, 0.0));
        let roc = Plot::new(format!("How many '{second}' are found, for how many false alarms"))
            .x("false alarms")
            .y(format!("share of {second} found"))
            .dashed("by chance", [(0.0, 0.0), (1.0, 1.0)])
            .line("this model", first.chain(some().map(|t| (t.false_alarms, t.recall))));
        let precision = Plot::new(format!("How many of those taken for '{second}' are right"))
            .x(format!("share of {second} found"))
            .y("share that is right")
            .line("this model", some().map(|t| (t.recall, t.precision)));
        page = page.figure(roc).figure(precision);
    }
    let what = match verdict.classes.as_slice() {
        [_, second] => format!("probability of {second}"),
        _ => "probability of the class that is predicted".to_owned(),
    };
    let dots = |few: bool| {
        let bins = found.bins.iter().filter(move |bin| (bin.rows < FEW) == few);
        bins.map(|bin| (bin.said, bin.came))
    };
    let mut reliability = Plot::new("Reliability: are probabilities what they say?")
        .x(what.clone())
        .y("share of rows of which it was true")
        .dashed("as it should be", [(0.0, 0.0), (1.0, 1.0)])
        .line("as it is", found.bins.iter().map(|bin| (bin.said, bin.came)))
        .dots("bins", dots(false));
    if dots(true).next().is_some() {
        reliability = reliability.rings(format!("of fewer than {FEW} rows"), dots(true));
    }
    page.figure(reliability)
}

/// Margins, and the bins of the probabilities.
pub(crate) fn margins(page: Page, judged: &Judged) -> Page {
    let Judged { found, verdict, judges, .. } = judged;
    let wrong = found.margins.iter().filter(|margin| **margin < 0.0).count();
    let margins = Plot::new("Margins")
        .x("P of the class less the largest P of another")
        .y("rows")
        .bars("rows", found.histogram(INTERVALS));
    let what = match verdict.classes.as_slice() {
        [_, second] => format!("probability of {second}"),
        _ => "probability of the class that is predicted".to_owned(),
    };
    let mut table = Table::new(["rows", "mean probability", "share that came"])
        .caption(format!("Calibration: {what}, in ten bins"));
    for bin in &found.bins {
        let [said, came] = [bin.said, bin.came].map(|x| Cell::Figures(format!("{x:.3}")));
        table.push([bin.rows.into(), said, came]);
    }
    page.folded("Margins and calibration")
        .prose(&format!(
            "On {}: {wrong} of {} rows have a negative margin, that is, another class is more probable than their own. Probabilities are off by {:.4} on average (the expected calibration error).",
            judges.words(),
            found.margins.len(),
            found.error
        ))
        .figure(margins)
        .table(table)
}

/// The command as it was typed, so that it can be typed again, and the names of its data without their folders.
pub(crate) fn typed(inputs: &[String]) -> Origin {
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
    let name = |path: &String| {
        let own = Path::new(path).file_name();
        own.map_or_else(|| path.clone(), |name| name.to_string_lossy().into_owned())
    };
    let data = (!inputs.is_empty()).then(|| inputs.iter().map(name).collect::<Vec<_>>().join(", "));
    Origin { how: format!("geowalk {}", arguments.join(" ")), data }
}

/// How the run can be made again.
pub(crate) fn repeat(page: Page, from: &Origin) -> Page {
    page.folded("To repeat this run")
        .code(&from.how)
        .facts([("version", concat!("geowalk ", env!("CARGO_PKG_VERSION")))])
        .prose("The same data in the same order, and the same settings, give the same model, bit by bit, whatever the number of threads.")
}
