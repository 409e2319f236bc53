//! The bound on the sphere beyond an angle of π/3.

use geowalk::certify::{Bound, Comparator, NullVector};
use geowalk::geometry::manifolds::Sphere;
use geowalk::loss::Invariant;
use geowalk::row::Dense;
use geowalk::update::{Explicit, Update};
use geowalk::{ConfigError, Real};
use geowalk_page::{Plot, Table};

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "lemma-9",
    paper: "KMWW07s, Lemma 9",
    what: "One row again and again, from an angle c₀ to the null vector: beyond π/3 the printed bound 2c₀² is broken (5.71 > 4.81 at 1.55); the logarithmic one, 2 ln sec c₀, holds for every start below π/2 and is sharper everywhere.",
    run,
};

/// Total loss of 200 rounds at rate 1/2, and the bounds.
fn from(c0: f64) -> Result<(f64, NullVector), ConfigError> {
    let (sin, cos) = Real::sin_cos(c0);
    let start = [cos, sin];
    let update = Explicit::new(Sphere::new(2, 1.0)?);
    let mut state = update.start(&start)?;
    let mut bound = NullVector::new(&start, &[1.0, 0.0])?;
    let mut loss = 0.0;
    for _ in 0..200 {
        let round = update.step(&mut state, Dense(&[0.0, 1.0]), 0.0.into(), &Invariant, 0.5)?;
        bound.observe(&round, Dense(&[0.0, 1.0]));
        loss += round.loss;
    }
    Ok((loss, bound))
}

fn run(_: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let null = Comparator::Given(&[1.0, 0.0]);
    let (loss, bound) = from(1.55)?;
    outcome.find(Finding::equal("c₀ = 1.55: loss", loss, 5.7086, 1e-4));
    outcome.find(Finding::above("against the printed 2c₀²", loss, 2.0 * 1.55 * 1.55));
    outcome.find(Finding::void(
        "the printed form, as implemented",
        &bound.near(),
        "a start at most pi/3 from the comparator",
    ));
    outcome.find(Finding::certified("against the logarithmic bound", loss, &bound.certify(&null)));
    let third = std::f64::consts::FRAC_PI_3;
    let (_, bound) = from(third - 1e-9)?;
    outcome.find(Finding::equal(
        "at π/3: logarithmic bound",
        bound.certify(&null).bound,
        1.3863,
        1e-4,
    ));
    outcome.find(Finding::equal("at π/3: printed 2c₀²", 2.0 * third * third, 2.1932, 1e-4));
    let mut table = Table::new(["c₀", "loss", "printed 2c₀²", "2 ln sec c₀"]);
    let mut rows = Vec::new();
    let mut held = true;
    for i in 1..=78 {
        let c0 = 0.02 * f64::from(i);
        let (loss, bound) = from(c0)?;
        let certificate = bound.certify(&null);
        held &= Finding::certified("", loss, &certificate).met;
        let row = [c0, loss, 2.0 * c0 * c0, certificate.bound];
        table.push(row.map(Into::into));
        rows.push(row);
    }
    outcome.find(Finding::new(
        "the logarithmic bound from 78 starts up to 1.56",
        "valid, met",
        if held { "valid, met" } else { "not met" },
        held,
    ));
    let column = |i: usize| rows.iter().map(move |row| (row[0], row[i])).collect::<Vec<_>>();
    outcome.picture(
        "starts",
        Plot::new("Loss from an angle c₀, rate 1/2")
            .x("c₀")
            .y("loss")
            .bound("2 ln sec c₀", column(3))
            .dashed("printed 2c₀²", column(2))
            .line("loss", column(1)),
    );
    outcome.table("starts", table);
    Ok(outcome)
}
