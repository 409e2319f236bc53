//! `geowalk track`: the null vector of a stream, or the recurrence of a series.

use std::io::Write;

use geowalk_data::{ErrorKind, Label, Options};
use geowalk_run::error::RunError;
use geowalk_run::track::{Found, Plan, track};

use crate::Failure;
use crate::args::Track;
use crate::data::Reading;
use crate::paths::Files;

/// So many coordinates are printed.
const SHOWN: usize = 20;

/// Tracks, and prints what was found.
pub(crate) fn run(args: &Track, out: &mut dyn Write) -> Result<(), Failure> {
    let plan = Plan {
        walk: args.walk.clone(),
        rate: args.rate.clone(),
        order: args.order.map(usize::from),
        center: args.center,
        moving: usize::from(args.ma),
        seed: args.seed,
    };
    Files::of(&args.data)?.check()?;
    let mut data = Reading::of(&args.data)?;
    let options = data.options();
    let guessing = options.label == Label::Guess;
    let found = match track(&plan, options) {
        // Rows to track need no label; one that is there is left out.
        Err(RunError::Data(error))
            if guessing
                && plan.order.is_none()
                && matches!(*error.kind, ErrorKind::NoLabelColumn { .. }) =>
        {
            data = Reading::of(&args.data)?;
            track(&plan, Options { label: Label::Absent, ..data.options() })?
        }
        found => found?,
    };
    data.finish()?;
    if args.json {
        writeln!(out, "{}", found.json())?;
        return Ok(());
    }
    print(&found, &plan, out)?;
    Ok(())
}

fn print(found: &Found, plan: &Plan, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "rows           {}", found.rows)?;
    if found.left_out > 0 {
        writeln!(out, "left out       {} (all zero, or with missing values)", found.left_out)?;
    }
    writeln!(out, "walk           {}, rate {}", plan.walk, found.rate)?;
    let average = found.loss / found.rows as f64;
    writeln!(out, "loss           {:.6} in all, {average:.3e} per row", found.loss)?;
    if let Some(certificate) = found.certificate.as_ref().map(|all| &all.first_order) {
        writeln!(
            out,
            "regret         at most {:.6} against every unit vector (certificate {})",
            certificate.bound,
            if certificate.status == geowalk::certify::Status::Valid { "valid" } else { "void" },
        )?;
    }
    if let (Some(batch), Some(degrees)) = (&found.batch, found.degrees) {
        let [least, next] = batch.share;
        writeln!(
            out,
            "batch          {degrees:.3e} degrees away; {least:.3e} per row, the next best direction {next:.3e}"
        )?;
    }
    writeln!(out, "null vector")?;
    let mut order: Vec<usize> = (0..found.vector.len()).collect();
    if plan.order.is_none() {
        order.sort_by(|&i, &j| found.vector[j].abs().total_cmp(&found.vector[i].abs()));
    }
    for &i in order.iter().take(SHOWN) {
        let batch = found.batch.as_ref().and_then(|batch| batch.vector.get(i));
        let batch = batch.map_or(String::new(), |batch| format!("   batch {batch:+.6}"));
        writeln!(out, "  {:+.6}{batch}   {}", found.vector[i], found.names[i])?;
    }
    if order.len() > SHOWN {
        writeln!(out, "  and {} more: --json has all", order.len() - SHOWN)?;
    }
    let Some(recurrence) = &found.recurrence else { return Ok(()) };
    let terms: Vec<String> = recurrence
        .coefficients
        .iter()
        .enumerate()
        .map(|(k, a)| format!("{a:+.6} y[t-{}]", k + 1))
        .collect();
    writeln!(out, "recurrence     y[t] = {}", terms.join(" "))?;
    if recurrence.moving > 0 {
        let terms = recurrence.moving;
        writeln!(
            out,
            "               from autocovariances: y is disturbed by a moving average of {terms} terms"
        )?;
    }
    if recurrence.is_biased {
        writeln!(
            out,
            "note           the values are noisy, which biases these coefficients; --ma Q finds them without the bias"
        )?;
    }
    if plan.center {
        writeln!(
            out,
            "               y is what is left of the series without its mean {}",
            recurrence.mean
        )?;
    }
    for root in recurrence.roots.iter().flatten().filter(|root| root.frequency >= 0.0) {
        writeln!(
            out,
            "  root         modulus {:.6}, frequency {:.6}",
            root.modulus, root.frequency
        )?;
    }
    let mut clear = recurrence.periods.iter().filter(|period| period.stands_out).peekable();
    if clear.peek().is_none() {
        let best = recurrence.periods.first().filter(|period| period.explained > 0.0);
        let best = best.map_or(String::new(), |period| {
            let share = 100.0 * period.explained;
            format!("; the best, {:.2}, predicts {share:.1} % of the other half", period.length)
        });
        writeln!(out, "period         no period stands out{best}")?;
    }
    for period in clear {
        let (low, high) = period.range;
        writeln!(
            out,
            "period         {:.2} ({low:.2} to {high:.2}); fitted to one half of the series it predicts {:.1} % of the other",
            period.length,
            100.0 * period.explained
        )?;
    }
    Ok(())
}
