//! Implicit steps: the printed right-hand sides bound the loss after the step, not the one before it.

use geowalk::ConfigError;
use geowalk::certify::Proximal;
use geowalk::geometry::manifolds::Euclidean;
use geowalk::loss::Squared;
use geowalk::row::Dense;
use geowalk::walk::{self, Implicit, Walk};
use geowalk_page::{Plot, Table};

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "theorem-8",
    paper: "KMWW07, Theorem 8",
    what: "L = w², one implicit step from 1, comparator 0: the printed (16) is broken iff the rate is above (√2 − 1)/2, and (17) even for the loss after the step; corrected, both hold.",
    run,
};

/// One implicit step on the parabola: loss before, loss after, and the bounds on both.
fn step(rate: f64) -> Result<(f64, f64, Proximal<Euclidean>), ConfigError> {
    let mut walk = Implicit::new(walk::Euclidean::new());
    // (w + 1)² from 0 with comparator −1 is w² from 1 with comparator 0.
    let round = walk.step(Dense(&[1.0]), (-1.0).into(), &Squared, rate)?;
    let after = walk.after().ok_or(ConfigError::Missing {
        name: "after",
        meaning: "the loss after an implicit step",
    })?;
    let mut to = Vec::new();
    walk.read(&mut to);
    let mut bound = Proximal::new(Euclidean::new(1)?, &[-1.0], 0.0)?;
    bound.observe(&[0.0], &to, &round, &after, Dense(&[1.0]), 0.0)?;
    Ok((round.loss, after.loss, bound))
}

fn printed(rate: f64) -> f64 {
    2.0 / ((1.0 + 2.0 * rate) * (1.0 + 2.0 * rate))
}

fn run(_: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let limit = (2.0_f64.sqrt() - 1.0) / 2.0;
    let (before, after, bound) = step(1.0)?;
    outcome.find(Finding::equal(
        "rate 1: the printed right-hand side of (16)",
        printed(1.0),
        2.0 / 9.0,
        1e-12,
    ));
    outcome.find(Finding::above(
        "rate 1: loss before the step, against (16)",
        before,
        printed(1.0),
    ));
    outcome.find(Finding::certified(
        "rate 1: loss before the step, corrected",
        before,
        &bound.before(),
    ));
    outcome.find(Finding::certified(
        "rate 1: loss after the step, corrected",
        after,
        &bound.after(),
    ));
    // (17) is the corrected bound on the loss after the step with D(w_t, u) in place of D(w_{t+1}, u); here that is
    // smaller by 1.
    outcome.find(Finding::equal(
        "rate 1: the printed right-hand side of (17)",
        bound.after().bound - 1.0,
        2.0 / 9.0 - 1.0,
        1e-9,
    ));
    outcome.find(Finding::above(
        "rate 1: loss after the step, against (17)",
        after,
        bound.after().bound - 1.0,
    ));
    for (name, rate, broken) in
        [("just below", limit - 1e-6, false), ("just above", limit + 1e-6, true)]
    {
        let (before, ..) = step(rate)?;
        let found = before > printed(rate);
        let word = |broken: bool| if broken { "broken" } else { "holds" };
        outcome.find(Finding::new(
            format!("(16) at a rate {name} (√2 − 1)/2"),
            word(broken),
            word(found),
            found == broken,
        ));
    }
    let mut table = Table::new([
        "rate",
        "before",
        "printed (16)",
        "after",
        "corrected, before",
        "corrected, after",
    ]);
    let mut rows = Vec::new();
    for i in 1..=40 {
        let rate = 0.05 * f64::from(i);
        let (before, after, bound) = step(rate)?;
        let row = [rate, before, printed(rate), after, bound.before().bound, bound.after().bound];
        table.push(row.map(Into::into));
        rows.push(row);
    }
    let column = |i: usize| rows.iter().map(move |row| (row[0], row[i])).collect::<Vec<_>>();
    let plot = Plot::new("One implicit step on w²").x("rate").y("loss").log_y();
    outcome.picture(
        "step",
        plot.line("loss before", column(1))
            .dashed("printed (16)", column(2))
            .line("loss after", column(3))
            .dashed("corrected, before", column(4)),
    );
    outcome.table("step", table);
    Ok(outcome)
}
