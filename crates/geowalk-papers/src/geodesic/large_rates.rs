//! Explicit and implicit steps as the learning rate grows.

use geowalk::laws::Sampler;
use geowalk::loss::Squared;
use geowalk::row::Norm;
use geowalk::walk::{Euclidean, Hyperbolic, Implicit, Proximal, Sphere, Walk};
use geowalk::{ConfigError, Real};
use geowalk_page::{Cell, Plot, Table};

use crate::stream::{Example, dot, learn, median};
use crate::{Experiment, Finding, Outcome, Run, Size};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "large-rates",
    paper: "KMWW07, sec. 4 and 5",
    what: "Squared loss in flat space, on the sphere and in hyperbolic space: explicit steps are as good or better at small rates and diverge at large ones; implicit steps survive every rate.",
    run,
};

const SPACES: [&str; 3] = ["flat space", "sphere", "hyperbolic space"];
const N: usize = 10;

/// Unit rows, labels from a target in the space, noise 0.1.
fn stream(space: usize, rounds: usize, seed: u64) -> Vec<Example> {
    let mut random = Sampler::new(seed);
    let mut target: Vec<f64> = random.vector(N);
    let length = Norm::L2.of(&target);
    // A point of norm 1 is on the sphere, and has moderate size in the other spaces.
    for w in &mut target {
        *w /= length;
    }
    let scale = if space == 2 { Real::sinh(1.0) } else { 1.0 };
    (0..rounds)
        .map(|_| {
            let x: Vec<f64> = random.vector(N);
            let length = Norm::L2.of(&x);
            let x: Vec<f64> = x.iter().map(|x| x / length).collect();
            let y = scale * dot(&target, &x) + 0.1 * random.normal();
            (x, y)
        })
        .collect()
}

/// Total losses of one method over the seeds. A loss is infinite if the walk failed, or lost more than a million times
/// the loss of predicting 0.
fn losses<W: Walk>(
    make: impl Fn(u64) -> Result<W, ConfigError>,
    streams: &[Vec<Example>],
    rate: f64,
) -> Result<Vec<f64>, ConfigError> {
    let mut all = Vec::new();
    for (seed, examples) in streams.iter().enumerate() {
        let zero: f64 = examples.iter().map(|(_, y)| y * y).sum();
        let mut walk = make(seed as u64)?;
        walk.grow(N);
        let total = learn(&mut walk, examples, &Squared, rate).unwrap_or(f64::INFINITY);
        all.push(if total < 1e6 * zero { total } else { f64::INFINITY });
    }
    Ok(all)
}

/// The losses with explicit and with implicit steps.
fn both<W: Walk + Proximal>(
    make: impl Fn(u64) -> Result<W, ConfigError>,
    streams: &[Vec<Example>],
    rate: f64,
) -> Result<[Vec<f64>; 2], ConfigError> {
    Ok([
        losses(&make, streams, rate)?,
        losses(|seed| Ok(Implicit::new(make(seed)?)), streams, rate)?,
    ])
}

/// Values measured earlier with other seeds: (rate, explicit, implicit).
fn before(space: usize) -> &'static [(f64, f64, f64)] {
    match space {
        0 => &[(0.1, 8.26, 8.69), (0.5, 11.8, 7.91)],
        1 => &[(10.0, 105.6, 11.75)],
        _ => &[],
    }
}

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let (seeds, rounds) = run.size.pick((4_u64, 200), (10, 500));
    let rates = [0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];
    for (space, name) in SPACES.into_iter().enumerate() {
        let streams: Vec<Vec<Example>> =
            (0..seeds).map(|seed| stream(space, rounds, run.seed * 1000 + seed)).collect();
        let mut rows = Vec::new();
        for rate in rates {
            rows.push(match space {
                0 => both(|_| Ok(Euclidean::new()), &streams, rate)?,
                1 => both(|seed| Sphere::new(1.0, seed), &streams, rate)?,
                _ => both(|_| Ok(Hyperbolic::new()), &streams, rate)?,
            });
        }
        let diverged = |losses: &[f64]| losses.iter().filter(|l| l.is_infinite()).count();
        let row = |rate: f64| rates.iter().position(|r| *r == rate).map_or(&rows[0], |i| &rows[i]);
        outcome.find(Finding::equal(
            format!("{name}: implicit runs that diverged, all rates"),
            rows.iter().map(|r| diverged(&r[1])).sum::<usize>() as f64,
            0.0,
            0.0,
        ));
        let [explicit, implicit] = row(0.01);
        outcome.find(Finding::between(
            format!("{name}, rate 0.01: explicit over implicit"),
            median(explicit) / median(implicit),
            0.9,
            1.01,
        ));
        if space == 1 {
            outcome.find(Finding::above(
                format!("{name}, rate 10: explicit over implicit"),
                median(&row(10.0)[0]) / median(&row(10.0)[1]),
                3.0,
            ));
        } else {
            for rate in [2.0, 5.0, 10.0] {
                outcome.find(Finding::equal(
                    format!("{name}, rate {rate}: part of the explicit runs that diverged"),
                    diverged(&row(rate)[0]) as f64 / seeds as f64,
                    1.0,
                    0.0,
                ));
            }
        }
        if run.size == Size::Full {
            for (rate, explicit, implicit) in before(space) {
                let found = row(*rate);
                outcome.find(Finding::equal(
                    format!("{name}, rate {rate}: explicit"),
                    median(&found[0]),
                    *explicit,
                    0.2 * explicit,
                ));
                outcome.find(Finding::equal(
                    format!("{name}, rate {rate}: implicit"),
                    median(&found[1]),
                    *implicit,
                    0.2 * implicit,
                ));
            }
        }
        let best = rows.iter().map(|r| median(&r[1])).fold(f64::INFINITY, f64::min);
        outcome.find(Finding::at_most(
            format!("{name}: implicit at rate 10 over its best rate"),
            median(&row(10.0)[1]) / best,
            4.0,
        ));
        let mut table = Table::new(["rate", "explicit", "diverged", "implicit", "diverged"])
            .caption(format!("{name}: total loss in {rounds} rounds, median over {seeds} seeds"));
        for (rate, [explicit, implicit]) in rates.iter().zip(&rows) {
            let count = |losses: &[f64]| Cell::Figures(format!("{} of {seeds}", diverged(losses)));
            table.push([
                (*rate).into(),
                median(explicit).into(),
                count(explicit),
                median(implicit).into(),
                count(implicit),
            ]);
        }
        let line = |i: usize| {
            rates.iter().zip(&rows).map(move |(rate, r)| (*rate, median(&r[i]))).collect::<Vec<_>>()
        };
        let file = name.replace(' ', "-");
        outcome.picture(
            &file,
            Plot::new(format!("Loss against the rate: {name}"))
                .x("rate")
                .y("total loss")
                .log_x()
                .log_y()
                .line("explicit", line(0))
                .line("implicit", line(1)),
        );
        outcome.table(&file, table);
        run.done(space + 1, SPACES.len());
    }
    Ok(outcome)
}
