//! Implicit least squares.

use geowalk::ConfigError;
use geowalk::certify::{Bound, Comparator, Ledger};
use geowalk::loss::Squared;
use geowalk::row::Dense;
use geowalk::walk::{Euclidean, Implicit, Walk};
use geowalk_page::{Plot, Table};

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "example-5",
    paper: "KMWW07, Example 5",
    what: "x = y = u = 1 from 0, one implicit step: the printed bound is broken, at one step for rates above 0.3536 even by the loss after it; the corrected one holds, and is attained as steps go on.",
    run,
};

/// The loss after `steps` implicit steps, and the corrected bound on it.
fn steps(rate: f64, steps: usize) -> Result<(f64, f64), ConfigError> {
    let mut bound = Ledger::least_squares_after(&[]);
    let mut walk = Implicit::new(Euclidean::new());
    let mut total = 0.0;
    for _ in 0..steps {
        let round = walk.step(Dense(&[1.0]), 1.0.into(), &Squared, rate)?;
        let after = walk.after().ok_or(ConfigError::Missing {
            name: "after",
            meaning: "the loss after an implicit step",
        })?;
        bound.observe(&round, Dense(&[1.0]));
        total += after.loss;
    }
    Ok((total, bound.certify_known(&Comparator::Given(&[1.0]), 0.0).bound))
}

/// The printed bound ‖u‖²/(4η(1 + 3ηX²)) for a comparator with loss 0.
fn printed(rate: f64) -> f64 {
    1.0 / (4.0 * rate * (1.0 + 3.0 * rate))
}

fn run(_: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let (loss, corrected) = steps(1.0, 1)?;
    outcome.find(Finding::equal("rate 1, one step: loss after it", loss, 1.0 / 9.0, 1e-12));
    outcome.find(Finding::above("against the printed bound", loss, printed(1.0)));
    outcome.find(Finding::equal("the printed bound", printed(1.0), 0.0625, 1e-12));
    outcome.find(Finding::at_most("against the corrected bound", loss, corrected));
    outcome.find(Finding::equal("the corrected bound W²/(4η(1 + c))", corrected, 0.125, 1e-9));
    let (long, corrected) = steps(1.0, 60)?;
    outcome.find(Finding::equal(
        "rate 1, 60 steps: loss over the corrected bound, which is attained",
        long / corrected,
        1.0,
        1e-9,
    ));
    let mut table = Table::new(["rate", "loss after one step", "printed", "corrected"]);
    let mut rows = Vec::new();
    for i in 1..=40 {
        let rate = 0.05 * f64::from(i);
        let (loss, corrected) = steps(rate, 1)?;
        table.push([rate.into(), loss.into(), printed(rate).into(), corrected.into()]);
        rows.push([rate, loss, printed(rate), corrected]);
    }
    let limit = 0.125_f64.sqrt();
    for (name, rate, broken) in
        [("just below", limit - 1e-6, false), ("just above", limit + 1e-6, true)]
    {
        let word = |broken: bool| if broken { "broken" } else { "holds" };
        let found = steps(rate, 1)?.0 > printed(rate);
        outcome.find(Finding::new(
            format!("the printed bound at a rate {name} 1/√8"),
            word(broken),
            word(found),
            found == broken,
        ));
    }
    let column = |i: usize| rows.iter().map(move |row| (row[0], row[i])).collect::<Vec<_>>();
    outcome.picture(
        "step",
        Plot::new("One implicit step, x = y = u = 1")
            .x("rate")
            .y("loss after")
            .log_y()
            .bound("corrected", column(3))
            .dashed("printed", column(2))
            .line("loss", column(1)),
    );
    outcome.table("step", table);
    Ok(outcome)
}
