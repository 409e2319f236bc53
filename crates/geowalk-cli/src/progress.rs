//! What is seen of a run while it goes on: a table, and on a terminal a bar below it.

use std::io::{self, IsTerminal, Write};

use geowalk::certify::Status;
use geowalk_data::visible;
use geowalk_run::metrics::Interval;
use geowalk_run::train::{Progress, Said};
use indicatif::{ProgressBar, ProgressStyle};

/// Lines on standard error, and below them, only where that is a terminal, a bar. Progress is for people who watch: if nobody can, the work goes on.
pub(crate) struct Lines {
    shown: bool,
    bar: Option<ProgressBar>,
}

impl Lines {
    /// A bar in this style for so many steps, or a spinner where nobody knows how many.
    pub(crate) fn new(shown: bool, style: &str, steps: Option<usize>) -> Self {
        let bar = (shown && io::stderr().is_terminal()).then(|| {
            let bar = match steps {
                Some(steps) => ProgressBar::new(steps as u64),
                None => ProgressBar::new_spinner(),
            };
            // A style that cannot be read would leave the plain one.
            if let Ok(style) = ProgressStyle::with_template(style) {
                bar.set_style(style);
            }
            bar
        });
        Self { shown, bar }
    }

    /// Does anybody see them?
    pub(crate) fn shown(&self) -> bool {
        self.shown
    }

    /// A line above the bar.
    pub(crate) fn line(&self, text: &str) {
        match &self.bar {
            _ if !self.shown => {}
            Some(bar) => bar.println(text),
            None => {
                let _ = writeln!(io::stderr(), "{text}");
            }
        }
    }

    /// So far, and this beside it.
    pub(crate) fn at(&self, steps: u64, message: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_position(steps);
            bar.set_message(message());
        }
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The table of progress, in the columns that users of Vowpal Wabbit know, and ours behind them.
pub(crate) struct Table {
    headed: bool,
    lines: Lines,
}

const HEAD: [[&str; 9]; 2] = [
    [
        "average",
        "since",
        "example",
        "current",
        "current",
        "current",
        "error",
        "regret",
        "certificate",
    ],
    ["loss", "last", "counter", "label", "predict", "features", "95 %", "bound", "status"],
];

/// The error as percentages that its expectation is between, or squared errors.
fn interval(of: Option<&Interval>) -> String {
    match of {
        None => "-".to_owned(),
        Some(Interval { name: "error", low, high, .. }) => {
            format!("{:.1}-{:.1}%", 100.0 * low, 100.0 * high)
        }
        Some(Interval { low, high, .. }) => format!("{low:.3}-{high:.3}"),
    }
}

/// A bound in at most twelve characters.
fn bound(value: f64) -> String {
    if value.abs() < 1e7 { format!("{value:.4}") } else { format!("{value:.4e}") }
}

impl Table {
    pub(crate) fn new(shown: bool) -> Self {
        let style = "{spinner} {human_pos} examples, {per_sec:0}, average loss {msg}, {elapsed}";
        Self { headed: false, lines: Lines::new(shown, style, None) }
    }

    /// Shows what is said.
    pub(crate) fn say(&mut self, said: &Said<'_>) {
        match said {
            Said::Note(text) => self.lines.line(text),
            Said::Progress(row) => self.row(row),
            Said::Block { examples, loss } => self.lines.at(*examples, || format!("{loss:.6}")),
        }
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        self.lines.end();
    }

    fn row(&mut self, row: &Progress) {
        if !self.lines.shown() {
            return;
        }
        // One more column where the last examples are measured by themselves.
        let window = |text: &str| row.window.map(|_| format!(" {text:>10}")).unwrap_or_default();
        if !self.headed {
            self.headed = true;
            for ([a, b, c, d, e, f, g, h, i], extra) in HEAD.into_iter().zip(["window", "loss"]) {
                let extra = window(extra);
                self.lines.line(&format!(
                    "{a:>10} {b:>10} {c:>10} {d:>12} {e:>12} {f:>9}{extra} {g:>11} {h:>12}  {i}"
                ));
            }
        }
        let (regret, status) = match &row.certificate() {
            None => ("-".to_owned(), "none"),
            Some(c) if c.status == Status::Valid => (bound(c.bound), "valid"),
            Some(_) => ("-".to_owned(), "void"),
        };
        // As in Vowpal Wabbit, h marks the losses of examples that are kept from learning.
        let mark = if row.held { " h" } else { "" };
        self.lines.line(&format!(
            "{:>10.6} {:>10.6} {:>10} {:>12.12} {:>12.12} {:>9}{} {:>11} {regret:>12}  {status}{mark}",
            row.average,
            row.since_last,
            row.examples,
            visible(&row.label),
            visible(&row.prediction),
            row.features,
            window(&format!("{:.6}", row.window.unwrap_or(f64::NAN))),
            interval(row.interval.as_ref()),
        ));
    }
}
