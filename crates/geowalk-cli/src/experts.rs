//! `geowalk experts`: whom to trust, with the regret against the best expert and the best combination.

mod report;

use std::io::{self, Write};

use geowalk::Real;
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
        label: None,
        model: args.model.clone(),
        resume: args.resume.clone(),
        combination: !args.no_combination,
        switches: usize::from(args.switches),
        trace: args.report.is_some(),
    };
    Files::of(&args.data)?
        .resume(args.resume.as_deref())
        .model(args.model.as_deref())
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
        if let Some(path) = &args.model {
            writeln!(out, "model          {}", path.display())?;
        }
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

/// The line of a comparator with a theorem: the regret, and what bounds it.
fn against(whom: &str, standing: &Standing, prices: bool, out: &mut dyn Write) -> io::Result<()> {
    let (theorem, first) = (&standing.certificate, &standing.first_order);
    let valid = [theorem, first].into_iter().filter(|own| own.status == Status::Valid);
    let regret = short(standing.regret);
    match valid.min_by(|a, b| a.bound.total_cmp(&b.bound)) {
        Some(best) => {
            let weak = best.bound > best.loss && best.loss > 0.0 && !prices;
            let weak = if weak { "; too weak to mean much: geowalk lost less" } else { "" };
            let (name, bound) = (best.theorem, short(best.bound));
            writeln!(out, "  {whom}: regret {regret}, at most {bound} ({name}{weak})")?;
        }
        None => writeln!(out, "  {whom}: regret {regret}")?,
    }
    if theorem.status != Status::Valid {
        writeln!(out, "    {theorem}")?;
    }
    Ok(())
}

/// A line of the table: whom, what was lost, per round, in how many rounds, and of prices what 1 became.
fn line(out: &mut dyn Write, cells: [&str; 5], prices: bool, remark: &str) -> io::Result<()> {
    let [whom, total, mean, rounds, wealth] = cells;
    let wealth = if prices { format!(" {wealth:>12}") } else { String::new() };
    let line = format!("{whom:<22.22} {total:>12} {mean:>12} {rounds:>9}{wealth}  {remark}");
    writeln!(out, "{}", line.trim_end())
}

/// Wealth is shown, and losses are of its logarithm, which may be of either sign.
fn is_of_prices(summary: &Summary) -> bool {
    summary.metrics.iter().any(|(name, _)| *name == "wealth")
}

/// The game and all that it is compared with.
fn table(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let prices = is_of_prices(summary);
    let total = summary.against_best.certificate.loss;
    line(out, ["", "total loss", "per round", "rounds", "wealth"], prices, "")?;
    let mut row = |whom: &str, loss: f64, mean: f64, rounds: u64, remark: &str| {
        let wealth = short(Real::exp(-loss));
        let cells = [whom, &short(loss), &short(mean), &rounds.to_string(), &wealth];
        line(out, cells, prices, remark)
    };
    let rounds = summary.examples;
    let over = |loss: f64| loss / rounds as f64;
    row("geowalk", total, over(total), rounds, "")?;
    if let Some((rounds, loss)) = summary.day {
        row("  this run", loss, loss / rounds as f64, rounds, "")?;
    }
    for plain in &summary.plain {
        row(plain.name, plain.loss, over(plain.loss), rounds, "")?;
    }
    let best = &summary.experts[summary.best];
    let spoken = best.spoken.map_or(rounds, |(rounds, _)| rounds);
    let mean = best.mean().unwrap_or_else(|| over(best.loss));
    row("best expert", best.loss, mean, spoken, &best.name)?;
    if let Some((best, _)) = &summary.combination {
        row("best fixed mixture", best.loss, over(best.loss), rounds, "known only in hindsight")?;
    }
    if let Some((switches, loss, _)) = &summary.sequence {
        let remark = format!("with {switches} switches, known only in hindsight");
        row("best sequence", *loss, over(*loss), rounds, &remark)?;
    }
    Ok(())
}

fn print(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nrounds         {}  ({})", summary.examples, summary.loss_name)?;
    table(summary, out)?;
    writeln!(out, "walk           {}", summary.walk)?;
    let epochs =
        if summary.epochs > 1 { format!(", {} epochs", summary.epochs) } else { String::new() };
    let last = match summary.final_rate {
        own if own.is_nan() => "one for every expert".to_owned(),
        last => format!("{} at the end{epochs}", short(last)),
    };
    writeln!(out, "rate           {} ({last})", summary.rate)?;
    writeln!(
        out,
        "guarantee      how much more geowalk lost than others, and what is proved of it"
    )?;
    let prices = is_of_prices(summary);
    for plain in &summary.plain {
        if let Some(standing) = &plain.standing {
            against(plain.name, standing, prices, out)?;
        }
    }
    let best = &summary.experts[summary.best];
    against(&format!("best expert, {}", best.name), &summary.against_best, prices, out)?;
    let combined = summary.combination.as_ref().map(|(_, own)| ("best fixed mixture", own));
    let sequence = summary.sequence.as_ref().map(|(_, _, own)| ("best sequence", own));
    for (whom, standing) in combined.into_iter().chain(sequence) {
        match standing {
            Some(standing) => against(whom, standing, prices, out)?,
            None => writeln!(out, "  {whom}: {}", without(whom, &summary.walk))?,
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

/// Why there is no theorem.
fn without(whom: &str, walk: &str) -> String {
    let fix = match whom {
        "best sequence" => "; one needs --share, without a doubling rate",
        _ => "; those of eg, ml-poly and boa do",
    };
    format!("no theorem compares {walk} with it{fix}")
}
