//! The time of a step as the number of parameters grows: it grows in proportion, but that of a dense solve with the
//! cube.

use std::time::Instant;

use geowalk::ConfigError;
use geowalk::laws::Sampler;
use geowalk::natural::{Method, Schedule, Settings};
use geowalk_page::{Plot, Table};

use super::rules::{Learner, inverse};
use crate::{Experiment, Finding, Outcome, Run, Size};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "natural-cost",
    paper: "SC21, theorem 3",
    what: "Seconds per example against the number k of parameters: natural gradient with a diagonal family, plain gradient descent, and natural gradient by a dense solve.",
    run,
};

/// Number of classes.
const S: usize = 5;

/// The smallest time per example of several repetitions, and the number of stored numbers.
fn cost(mut learner: Learner, d: usize, examples: usize, seed: u64) -> (f64, usize) {
    let mut random = Sampler::new(seed);
    let x: Vec<f64> = (0..d).map(|_| random.normal()).collect();
    for t in 0..S {
        learner.step(&x, t);
    }
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        for t in 0..examples {
            learner.step(&x, t % S);
        }
        least = f64::min(least, start.elapsed().as_secs_f64() / examples as f64);
    }
    (least, learner.numbers())
}

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let sizes: &[usize] = run.size.pick(&[100, 1_000], &[100, 1_000, 10_000, 30_000, 100_000]);
    let work = run.size.pick(200_000, 2_000_000);
    let mut table = Table::new(["k", "natural", "descent", "natural over descent"])
        .caption("Seconds per example, the least of five repetitions");
    let (mut points, mut kept) = (Vec::new(), Vec::new());
    for (at, &d) in sizes.iter().enumerate() {
        let k = S - 1 + S * d;
        let family = "gaussian-shared-diagonal";
        // Both learners compute the same averages.
        let settings = |schedule: Schedule| Settings { schedule, ..Settings::default() };
        let own = Learner::natural(family, Settings::default())?;
        let plain = Learner::averaged(Method::Sgd, family, settings(inverse(1e-6, 1.0)))?;
        let examples = (work / d).max(10);
        let (own, numbers) = cost(own, d, examples, run.seed);
        let (plain, _) = cost(plain, d, examples, run.seed);
        kept.push((k as f64, numbers as f64));
        table.push([k.into(), own.into(), plain.into(), (own / plain).into()]);
        points.push((k as f64, own, plain));
        run.done(at + 1, sizes.len() + 1);
    }
    let mut dense = Vec::new();
    for &d in run.size.pick(&[5, 20][..], &[10, 100, 200][..]) {
        let learner =
            Learner::other(Method::Csngd, "gaussian-shared-diagonal", inverse(1e-3, 1.0))?;
        dense.push(((S - 1 + S * d) as f64, cost(learner, d, 2, run.seed).0));
    }
    let last = points[points.len() - 1];
    let tenth = points
        .iter()
        .find(|p| p.0 > 0.09 * last.0 && p.0 < 0.11 * last.0)
        .copied()
        .unwrap_or(points[0]);
    // Parameters, their averages, the means of the classes, and three numbers for each of the k/5 features.
    for (k, numbers) in kept {
        outcome.find(Finding::at_most(
            format!("numbers kept, per parameter, at k = {k}"),
            numbers / k,
            4.0,
        ));
    }
    // Times of a few milliseconds are too noisy.
    if run.size == Size::Full {
        outcome.find(Finding::at_most(
            format!("time at k = {} over k = {}", last.0, tenth.0),
            last.1 / tenth.1,
            13.0,
        ));
        outcome.find(Finding::at_most(
            format!("natural over descent at k = {}", tenth.0),
            tenth.1 / tenth.2,
            3.0,
        ));
        let (few, many) = (dense[0], dense[dense.len() - 1]);
        outcome.find(Finding::above(
            format!("dense solve: time at k = {} over k = {}", many.0, few.0),
            many.1 / few.1,
            2.0 * many.0 / few.0,
        ));
    }
    outcome.table("seconds", table);
    outcome.picture(
        "seconds",
        Plot::new("Seconds per example")
            .x("parameters k")
            .y("seconds")
            .log_x()
            .log_y()
            .line("natural", points.iter().map(|p| (p.0, p.1)))
            .line("descent", points.iter().map(|p| (p.0, p.2)))
            .line("dense solve", dense),
    );
    run.done(1, 1);
    Ok(outcome)
}
