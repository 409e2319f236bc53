//! The limit on the learning rate on the sphere is sharp.

use geowalk::geometry::manifolds::Sphere;
use geowalk::loss::Invariant;
use geowalk::row::Dense;
use geowalk::update::{Explicit, Update};
use geowalk::{ConfigError, Real};
use geowalk_page::Plot;

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "lemma-7",
    paper: "KMWW07s, Lemma 7",
    what: "Steps on the sphere towards a null vector never move away from it for rates up to 1, and just above 1 they do: the limit is sharp.",
    run,
};

/// The decrease of the distance to the equator by one step from angle d to the row.
fn progress(d: f64, rate: f64) -> Result<f64, ConfigError> {
    let update = Explicit::new(Sphere::new(2, 1.0)?);
    let (sin, cos) = Real::sin_cos(d);
    let mut state = update.start(&[sin, cos])?;
    update.step(&mut state, Dense(&[0.0, 1.0]), 0.0.into(), &Invariant, rate)?;
    let mut w = [0.0_f64; 2];
    update.read(&state, &mut w);
    Ok(w[0].abs() - sin)
}

fn run(_: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    outcome.find(Finding::above(
        "rate 0.99, d = 1.5: cosine to the null vector grows by",
        progress(1.5, 0.99)?,
        0.0,
    ));
    outcome.find(Finding::above("rate 1.05, d = 1.5: it falls by", -progress(1.5, 1.05)?, 0.0));
    let (mut least_within, mut least_beyond) = (f64::INFINITY, f64::INFINITY);
    let mut lines = [Vec::new(), Vec::new(), Vec::new()];
    for i in 1..=150 {
        let d = 0.01 * f64::from(i);
        for rate in [0.1, 0.5, 0.9, 1.0] {
            least_within = least_within.min(progress(d, rate)?);
        }
        least_beyond = least_beyond.min(progress(d, 1.05)?);
        for (line, rate) in lines.iter_mut().zip([0.5, 1.0, 1.05]) {
            line.push((d, progress(d, rate)?));
        }
    }
    outcome.find(Finding::above(
        "least growth for rates up to 1, d from 0.01 to 1.5",
        least_within,
        -1e-12,
    ));
    outcome.find(Finding::above("largest fall at rate 1.05", -least_beyond, 1e-5));
    let [a, b, c] = lines;
    outcome.picture(
        "progress",
        Plot::new("One step: growth of the cosine to the null vector")
            .x("angle d to the row")
            .y("growth")
            .line("rate 0.5", a)
            .line("rate 1", b)
            .line("rate 1.05", c),
    );
    Ok(outcome)
}
