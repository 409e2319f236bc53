//! Claim 1 holds with X, not 2X.

use geowalk::{ConfigError, Real};
use geowalk_page::Plot;

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "claim-1",
    paper: "AW20, Claim 1 and App. C",
    what: "The inequality behind the bound of the twin of EG for features of both signs holds on a grid with X in place of the printed 2X, and is broken at the printed rate (22); the printed K(c, p) is another function.",
    run,
};

/// Largest value of a p² − b(y − s)² − progress over predictions and comparators in [−1, 1], for rows of ±1, at η = a
/// and p = ŷ − y. It is at most 0 if the bound holds.
fn worst(a: f64, b: f64, p: f64, fine: i32) -> f64 {
    let mut worst = f64::NEG_INFINITY;
    for i in -fine..=fine {
        let z = f64::from(i) / f64::from(fine);
        let y = z - p;
        if y.abs() > 1.0 {
            continue;
        }
        for j in -fine..=fine {
            let s = f64::from(j) / f64::from(fine);
            let (up, down) = (1.0 - a * p, 1.0 + a * p);
            let norm = 0.5 * (1.0 + z) * up * up + 0.5 * (1.0 - z) * down * down;
            let progress = (1.0 + s) * Real::ln(up) + (1.0 - s) * Real::ln(down) - Real::ln(norm);
            worst = worst.max(a * p * p - b * (y - s) * (y - s) - progress);
        }
    }
    worst
}

/// The K(c, p) of App. C, either with the last logarithm as printed, −ln((1 + 2c)² − p²), or corrected.
fn k(c: f64, p: f64, printed: bool) -> f64 {
    let e = 1.0 + 2.0 * c;
    let log = Real::ln((e + p * c) / (e - p * c));
    let part = c * p / e;
    let last = if printed { e * e - p * p } else { 1.0 - part * part };
    let bracket = log / (4.0 * c) + 0.5 * part - p + 0.5 / part;
    log * bracket + Real::ln(part / log) + p * part - Real::ln(last) + std::f64::consts::LN_2 - 1.0
}

#[allow(clippy::unnecessary_wraps)] // every experiment has this signature
fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let fine = run.size.pick(20, 60);
    let mut largest = f64::NEG_INFINITY;
    let bs = [1e-4, 1e-2, 0.1, 1.0, 10.0, 1e4];
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    for (i, b) in bs.into_iter().enumerate() {
        for j in -20..=20 {
            let p = 0.1 * f64::from(j);
            let value = worst(b / (1.0 + 2.0 * b), b, p, fine);
            largest = largest.max(value);
            if b == 1.0 {
                right.push((p, value));
                // (22) at L = D: η = 2/(1 + 1).
                let printed = worst(1.0, b, p, fine);
                if printed.is_finite() && p.abs() < 0.995 {
                    wrong.push((p, printed));
                }
            }
        }
        run.done(i + 1, bs.len());
    }
    outcome.find(Finding::at_most("largest value on the grid with X", largest, 1e-12));
    outcome.find(Finding::above(
        "at the printed rate (22), ŷ − y = 0.9",
        worst(1.0, 1.0, 0.9, fine),
        1e-2,
    ));
    outcome.find(Finding::equal("K(1, 1) as printed", k(1.0, 1.0, true), -2.203, 1e-3));
    outcome.find(Finding::equal("K(1, 1) as it must be", k(1.0, 1.0, false), -0.00562, 1e-5));
    let undefined = k(0.01, 2.0, true).is_nan();
    outcome.find(Finding::new(
        "K(0.01, 2) as printed",
        "undefined",
        if undefined { "undefined" } else { "a number" },
        undefined,
    ));
    let grid = (-40..=40).flat_map(|a| {
        (1..=100).map(move |p| k(Real::exp(0.23 * f64::from(a)), 0.02 * f64::from(p), false))
    });
    outcome.find(Finding::at_most(
        "K as it must be, largest on a grid of c from 1e-4 to 1e4 and p to 2",
        grid.fold(f64::NEG_INFINITY, f64::max),
        1e-12,
    ));
    outcome.picture(
        "inequality",
        Plot::new("The inequality at b = 1: at most 0 where the bound holds")
            .x("ŷ − y")
            .y("largest value")
            .line("corrected rate", right)
            .line("printed rate (22)", wrong),
    );
    Ok(outcome)
}
