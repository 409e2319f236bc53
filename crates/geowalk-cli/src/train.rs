//! `geowalk train`: the loop, with a table of progress on standard error and the summary on standard output.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use geowalk::certify::Status;
use geowalk_data::Task;
use geowalk_run::train::{Plan, Progress, Said, Summary, train};

use crate::args::{Shown, Switch, Train, What};
use crate::{Failure, data};

/// Trains, and prints the summary.
pub(crate) fn run(args: &Train, out: &mut dyn Write) -> Result<(), Failure> {
    let plan = Plan {
        walk: args.walk.clone(),
        loss: args.loss.clone(),
        rate: args.rate.clone(),
        task: args.task.map(|task| match task {
            What::Regression => Task::Regression,
            What::Binary => Task::Binary,
            What::Multiclass => Task::Multiclass,
        }),
        passes: args.passes,
        seed: args.seed,
        intercept: !args.no_intercept,
        certificate: args.certificate == Switch::On,
        y_range: args.y_range,
        resume: args.resume.clone(),
    };
    if args.passes > 1 && args.data.inputs.iter().any(|name| name == "-") {
        return Err(Failure::Use(
            "standard input can be read only once: --passes needs files".to_owned(),
        ));
    }
    // The flags are read before the loop, so that a bad one is an error and not a surprise in the second pass.
    let mut first = Some(data::options(&args.data)?);
    let mut predictions = match &args.predictions {
        None => None,
        Some(path) => {
            let file = File::create(path).map_err(|error| Failure::file(path.display(), error))?;
            Some(BufWriter::new(file))
        }
    };
    let mut table = Table { shown: args.progress == Shown::Auto, headed: false };
    let summary = train(
        &plan,
        || {
            first.take().or_else(|| data::options(&args.data).ok()).unwrap_or_else(|| {
                geowalk_data::Options::new(args.data.inputs.iter().map(String::as_str))
            })
        },
        args.model.as_deref(),
        predictions.as_mut().map(|file| file as &mut dyn Write),
        &mut |said| table.say(&said),
    )?;
    if let Some(mut file) = predictions {
        file.flush()?;
    }
    if args.json {
        writeln!(out, "{}", summary.json())?;
    } else {
        print(&summary, out)?;
        if let Some(path) = &args.model {
            writeln!(out, "model          {}", path.display())?;
        }
    }
    Ok(())
}

/// The table of progress, in the columns that users of Vowpal Wabbit know, and ours behind them.
struct Table {
    shown: bool,
    headed: bool,
}

const HEAD: [[&str; 8]; 2] = [
    ["average", "since", "example", "current", "current", "current", "regret", "certificate"],
    ["loss", "last", "counter", "label", "predict", "features", "bound", "status"],
];

impl Table {
    fn say(&mut self, said: &Said<'_>) {
        if !self.shown {
            return;
        }
        // Progress is for people who watch: if nobody can, training goes on.
        let _ = match said {
            Said::Note(text) => writeln!(io::stderr(), "{text}"),
            Said::Progress(row) => self.row(row),
        };
    }

    fn row(&mut self, row: &Progress) -> io::Result<()> {
        let mut err = io::stderr().lock();
        if !self.headed {
            self.headed = true;
            for [a, b, c, d, e, f, g, h] in HEAD {
                writeln!(err, "{a:>10} {b:>10} {c:>10} {d:>12} {e:>12} {f:>9} {g:>12}  {h}")?;
            }
        }
        let (bound, status) = match &row.certificate {
            None => ("-".to_owned(), "none"),
            Some(c) if c.status == Status::Valid => (format!("{:.4}", c.bound), "valid"),
            Some(_) => ("-".to_owned(), "void"),
        };
        writeln!(
            err,
            "{:>10.6} {:>10.6} {:>10} {:>12.12} {:>12.12} {:>9} {:>12}  {}",
            row.average,
            row.since_last,
            row.examples,
            row.label,
            row.prediction,
            row.features,
            bound,
            status
        )
    }
}

/// A number as a person reads it.
pub(crate) fn number(value: f64) -> String {
    match value {
        _ if value.is_nan() => "undefined".to_owned(),
        _ if value.abs() < 1e12 => format!("{value:.6}"),
        _ => format!("{value:.6e}"),
    }
}

fn print(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nexamples       {}", summary.examples)?;
    writeln!(out, "average loss   {}  ({})", number(summary.loss), summary.loss_name)?;
    for (name, value) in &summary.metrics {
        writeln!(out, "{name:<14} {}", number(*value))?;
    }
    writeln!(out, "task           {}", summary.task.name())?;
    writeln!(out, "walk           {}", summary.walk)?;
    writeln!(out, "rate           {}", summary.rate)?;
    match &summary.certificate {
        None => writeln!(out, "certificate    none (off)")?,
        Some(c) => writeln!(out, "certificate    {c}\n               against {}", summary.reach)?,
    }
    for note in &summary.notes {
        writeln!(out, "note           {note}")?;
    }
    if summary.skipped > 0 {
        writeln!(out, "rows skipped   {}", summary.skipped)?;
        for error in &summary.skipped_first {
            writeln!(out, "               {error}")?;
        }
    }
    writeln!(out, "seconds        {:.3}", summary.seconds)
}
