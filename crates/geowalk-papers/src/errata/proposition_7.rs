//! If losses are only once differentiable, small rates do not make every later loss decrease.

use geowalk::{ConfigError, Real};
use geowalk_page::{Plot, Table};

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "proposition-7",
    paper: "KMWW07, Proposition 7",
    what: "Three losses in the plane, gradient descent from 0: the third loss grows at its own step for every small rate, by about 0.197 η³, because its curvature is infinite at the axis.",
    run,
};

/// The increase of L₂ = u⁴ + |v|^1.5 in its step, after L₀ = −u and L₁ = −uv/10, divided by η³.
fn growth(rate: f64) -> f64 {
    let loss = |u: f64, v: f64| u * u * u * u + Real::powf(v.abs(), 1.5);
    let (mut u, mut v) = (rate, 0.0);
    (u, v) = (u + rate * 0.1 * v, v + rate * 0.1 * u);
    let before = loss(u, v);
    let (u, v) = (u - rate * 4.0 * u * u * u, v - rate * 1.5 * v.abs().sqrt() * v.signum());
    (loss(u, v) - before) / (rate * rate * rate)
}

#[allow(clippy::unnecessary_wraps)] // every experiment has this signature
fn run(_: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let rates: Vec<f64> = (0..=40).map(|i| Real::exp(-1.2 - 0.2 * f64::from(i))).collect();
    let least = rates.iter().map(|rate| growth(*rate)).fold(f64::INFINITY, f64::min);
    outcome.find(Finding::above("growth over η³, least over rates from 0.3 to 1e-4", least, 0.0));
    outcome.find(Finding::equal("growth over η³ as the rate vanishes", growth(1e-4), 0.197, 1e-3));
    let mut table = Table::new(["rate", "growth over η³"]);
    for rate in &rates {
        table.push([(*rate).into(), growth(*rate).into()]);
    }
    outcome.picture(
        "growth",
        Plot::new("Growth of the third loss at its own step, over η³")
            .x("rate")
            .y("growth")
            .log_x()
            .line("growth", rates.iter().map(|rate| (*rate, growth(*rate)))),
    );
    outcome.table("growth", table);
    Ok(outcome)
}
