//! `geowalk experts`: whom to trust, with the regret against the best expert and the best combination.

mod report;

use std::io::{self, Write};

use geowalk::certify::Status;
use geowalk::experts::Standing;
use geowalk_run::experts::{Plan, Progress, Said, Summary, play};

use crate::args::{Experts, Shown};
use crate::data::Reading;
use crate::paths::Files;
use crate::predict::Predictions;
use crate::{Failure, report as reports};

/// Plays the table, and prints the summary.
pub(crate) fn run(args: &Experts, out: &mut dyn Write) -> Result<(), Failure> {
    let plan = Plan {
        walk: args.walk.clone(),
        loss: args.loss.clone(),
        rate: args.rate.clone(),
        share: args.share,
        range: args.range,
        odds: args.odds.clone(),
        combination: !args.no_combination,
        switches: usize::from(args.switches),
        trace: args.report.is_some(),
    };
    Files::of(&args.data)?
        .output("--report", args.report.as_deref())
        .output("--predictions", args.predictions.as_deref())
        .check()?;
    let mut data = Reading::of(&args.data)?;
    let mut predictions = Predictions::create(args.predictions.as_deref())?;
    let mut table = Table { shown: args.progress == Shown::Auto, headed: false };
    let summary = play(&plan, data.options(), predictions.writer(), &mut |said| table.say(&said))?;
    let mut err = io::stderr();
    let out: &mut dyn Write = if predictions.take_stdout() { &mut err } else { out };
    predictions.finish()?;
    data.finish()?;
    if let Some(path) = &args.report {
        reports::write(path, &report::page(&summary))?;
    }
    if args.json {
        writeln!(out, "{}", summary.json())?;
    } else {
        print(&summary, out)?;
        if let Some(path) = &args.report {
            writeln!(out, "report         {}", path.display())?;
        }
    }
    Ok(())
}

/// The table of progress: the columns of `train`, with the best expert so far.
struct Table {
    shown: bool,
    headed: bool,
}

const HEAD: [[&str; 9]; 2] = [
    ["average", "since", "round", "current", "current", "best", "regret", "regret", "certificate"],
    ["loss", "last", "counter", "outcome", "predict", "expert", "so far", "bound", "status"],
];

impl Table {
    fn say(&mut self, said: &Said<'_>) {
        if !self.shown {
            return;
        }
        // Progress is for people who watch: if nobody can, the game goes on.
        let _ = match said {
            Said::Note(text) => writeln!(io::stderr(), "{text}"),
            Said::Progress(row) => self.row(row),
        };
    }

    fn row(&mut self, row: &Progress) -> io::Result<()> {
        let mut err = io::stderr().lock();
        if !self.headed {
            self.headed = true;
            for [a, b, c, d, e, f, g, h, i] in HEAD {
                writeln!(
                    err,
                    "{a:>12} {b:>12} {c:>9} {d:>11} {e:>11} {f:>15} {g:>12} {h:>12}  {i}"
                )?;
            }
        }
        let certificate = &row.standing.certificate;
        let (bound, status) = match &certificate.status {
            Status::Valid => (short(certificate.bound), "valid"),
            Status::Void(_) if certificate.theorem == "none" => ("-".to_owned(), "none"),
            Status::Void(_) => ("-".to_owned(), "void"),
        };
        writeln!(
            err,
            "{:>12} {:>12} {:>9} {:>11.11} {:>11} {:>15.15} {:>12} {:>12}  {}",
            short(row.average),
            short(row.since_last),
            row.rounds,
            row.outcome,
            short(row.prediction),
            row.best,
            short(row.standing.regret),
            bound,
            status
        )
    }
}

/// A number in a column.
fn short(x: f64) -> String {
    if x == 0.0 || (1e-4..1e6).contains(&x.abs()) { format!("{x:.5}") } else { format!("{x:.4e}") }
}

fn against(standing: &Standing, out: &mut dyn Write) -> io::Result<()> {
    let certificate = &standing.certificate;
    writeln!(
        out,
        "               it lost {}; regret {}",
        short(standing.comparator_loss),
        short(standing.regret)
    )?;
    writeln!(out, "               {certificate}")
}

fn print(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nrounds         {}", summary.examples)?;
    writeln!(out, "average loss   {}  ({})", short(summary.loss), summary.loss_name)?;
    for (name, value) in &summary.metrics {
        writeln!(out, "{:<22} {}", name.replace('_', " "), short(*value))?;
    }
    writeln!(out, "walk           {}", summary.walk)?;
    let epochs =
        if summary.epochs > 1 { format!(", {} epochs", summary.epochs) } else { String::new() };
    let last = short(summary.final_rate);
    writeln!(out, "rate           {} ({last} at the end{epochs})", summary.rate)?;
    writeln!(out, "best expert    {}", summary.experts[summary.best].name)?;
    against(&summary.against_best, out)?;
    if let Some((best, standing)) = &summary.combination {
        writeln!(
            out,
            "best convex combination, in hindsight, loses {} (at least {})",
            short(best.loss),
            short(best.loss - best.gap)
        )?;
        match standing {
            Some(standing) => against(standing, out)?,
            None => writeln!(out, "               no theorem compares {} with it", summary.walk)?,
        }
    }
    if let Some((switches, loss, standing)) = &summary.sequence {
        writeln!(out, "best sequence of experts with {switches} switches loses {}", short(*loss))?;
        match standing {
            Some(standing) => against(standing, out)?,
            None => writeln!(
                out,
                "               no theorem compares {} with it; one needs --share and a --rate that is a number",
                summary.walk
            )?,
        }
    }
    let mut order: Vec<_> = summary.experts.iter().collect();
    order.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let heavy: Vec<String> = order
        .iter()
        .take(5)
        .map(|expert| format!("{} {:.4}", expert.name, expert.weight))
        .collect();
    writeln!(out, "weights        {}", heavy.join(", "))?;
    for note in &summary.notes {
        writeln!(out, "note           {note}")?;
    }
    if summary.skipped > 0 {
        writeln!(out, "rows skipped   {}", summary.skipped)?;
    }
    writeln!(out, "seconds        {:.3}", summary.seconds)
}
