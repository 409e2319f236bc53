//! The sphere compared with plain gradient descent, with and without renormalisation.

use geowalk::ConfigError;
use geowalk::geometry::manifolds::Euclidean;
use geowalk::loss::Invariant;
use geowalk::row::{Dense, Norm};
use geowalk::track::degrees;
use geowalk::update::{Explicit, Update};
use geowalk::walk::{Implicit, Sphere, Walk};
use geowalk_page::{Plot, Table};

use super::series::{columns, null_vector, walk};
use crate::stream::mean;
use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "projection",
    paper: "KMWW07s, sec. 1 and 5",
    what: "Geodesic steps on the sphere against gradient descent with renormalisation: no better at moderate rates, better at large ones, and the implicit step best there; without renormalisation gradient descent has exactly the same direction and a norm that vanishes.",
    run,
};

const OMEGA: f64 = 0.7;

/// Plain gradient descent and the projected walk from the same start: the largest angle between them in degrees, and
/// the last norm.
fn unconstrained(columns: &[Vec<f64>], rate: f64, seed: u64) -> Result<(f64, f64), ConfigError> {
    let mut projected = Sphere::projected(1.0, seed)?;
    projected.grow(3);
    let (mut p, mut w) = (Vec::new(), vec![0.0; 3]);
    projected.read(&mut p);
    let update = Explicit::new(Euclidean::new(3)?);
    let mut state = update.start(&p)?;
    let mut gap: f64 = 0.0;
    for x in columns {
        projected.step(Dense(x), 0.0.into(), &Invariant, rate)?;
        update.step(&mut state, Dense(x), 0.0.into(), &Invariant, rate)?;
        projected.read(&mut p);
        update.read(&state, &mut w);
        gap = gap.max(degrees(&p, &w));
    }
    Ok((gap, Norm::L2.of(&w)))
}

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let (seeds, rounds) = run.size.pick((60, 300), (200, 500));
    let rates = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];
    let mut losses = vec![[const { Vec::new() }; 3]; rates.len()];
    let mut gap: f64 = 0.0;
    let mut norms = Vec::new();
    let mut rounds_to = [Vec::new(), Vec::new()];
    for seed in 0..seeds {
        let seed = run.seed * 1000 + seed;
        let clean = columns(|_| OMEGA, rounds, 0.0, seed, false);
        let null = |_| null_vector(OMEGA);
        for (rate, losses) in rates.iter().zip(&mut losses) {
            losses[0].push(walk(Sphere::new(1.0, seed)?, &clean, |_| *rate, null)?.loss);
            losses[1].push(walk(Sphere::projected(1.0, seed)?, &clean, |_| *rate, null)?.loss);
            losses[2]
                .push(walk(Implicit::new(Sphere::new(1.0, seed)?), &clean, |_| *rate, null)?.loss);
        }
        let noisy = columns(|_| OMEGA, rounds.min(500), 0.05, seed, false);
        let (own, last) = unconstrained(&noisy, 0.5, seed)?;
        gap = gap.max(own);
        norms.push(last);
        // The frequency jumps from 0.7 to 1.2 in the middle. Measures the rounds until the angle to the new null
        // vector is below 5 degrees.
        let half = 500;
        let omega = move |t: usize| if t < half { OMEGA } else { 1.2 };
        let jump = columns(omega, 2 * half, 0.02, seed, false);
        for (i, rounds_to) in rounds_to.iter_mut().enumerate() {
            let sphere =
                if i == 0 { Sphere::new(1.0, seed)? } else { Sphere::projected(1.0, seed)? };
            let walked = walk(sphere, &jump, |_| 0.1, |t| null_vector(omega(t)))?;
            let taken = walked.angles[half..].iter().position(|a| *a < 5.0).unwrap_or(half);
            rounds_to.push(taken as f64 + 1.0);
        }
        run.done(
            usize::try_from(seed % 1000).unwrap_or(0) + 1,
            usize::try_from(seeds).unwrap_or(1),
        );
    }
    let at = |rate: usize, method: usize| mean(&losses[rate][method]);
    outcome.find(Finding::at_most(
        "plain gradient descent and renormalised: largest angle between their directions, degrees",
        gap,
        1e-10,
    ));
    outcome.find(Finding::at_most(
        "plain gradient descent: mean norm at the end, rate 0.5, noise 0.05",
        mean(&norms),
        0.4,
    ));
    outcome.find(Finding::above(
        "rate 0.5: loss of the geodesic step over the projected one",
        at(4, 0) / at(4, 1),
        1.0,
    ));
    outcome.find(Finding::between(
        "rate 0.5: loss of the implicit step over the geodesic one",
        at(4, 2) / at(4, 0),
        0.9,
        1.2,
    ));
    outcome.find(Finding::above(
        "rate 0.95: loss of the projected step over the geodesic one",
        at(9, 1) / at(9, 0),
        1.3,
    ));
    outcome.find(Finding::above(
        "rate 0.95: loss of the geodesic step over the implicit one",
        at(9, 0) / at(9, 2),
        1.3,
    ));
    outcome.find(Finding::between(
        "tracking a jump of the frequency: rounds, geodesic over projected",
        mean(&rounds_to[0]) / mean(&rounds_to[1]),
        0.8,
        1.25,
    ));

    let names = ["geodesic", "projected", "implicit"];
    let mut table = Table::new(["rate", names[0], names[1], names[2]])
        .caption(format!("Total loss without noise, mean over {seeds} starts"));
    let mut plot =
        Plot::new("Loss on the way to the null vector").x("rate").y("total loss").log_y();
    for (i, rate) in rates.iter().enumerate() {
        table.push([(*rate).into(), at(i, 0).into(), at(i, 1).into(), at(i, 2).into()]);
    }
    for (method, name) in names.into_iter().enumerate() {
        plot = plot.line(name, rates.iter().enumerate().map(|(i, rate)| (*rate, at(i, method))));
    }
    outcome.table("loss", table);
    outcome.picture("loss", plot);
    Ok(outcome)
}
