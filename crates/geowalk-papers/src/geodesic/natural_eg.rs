//! Natural EG (geodesic steps on the positive orthant), EGU and gradient descent, all tuned in the same way.

use geowalk::ConfigError;
use geowalk::laws::Sampler;
use geowalk::loss::Squared;
use geowalk::walk::{Entropy, Euclidean, Orthant};
use geowalk_page::{Cell, Table};

use crate::stream::{Example, dot, learn, mean, median};
use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "natural-eg",
    paper: "KMWW07, Example 7",
    what: "Sparse and dense positive targets, rate and starting weight tuned alike for all: the advantage on sparse targets belongs to EGU, not to the geodesic step of natural EG, which from the paper's weights of 1 is worse than predicting 0.",
    run,
};

const N: usize = 100;
const SETTINGS: [&str; 3] =
    ["sparse target, normal rows", "sparse target, uniform rows", "dense target, normal rows"];
const NAMES: [&str; 4] = ["gradient descent", "natural EG", "EGU", "natural EG from 1"];
const RATES: [f64; 8] = [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0];
const STARTS: [f64; 5] = [0.0001, 0.001, 0.01, 0.1, 1.0];
const ZERO_TOO: [f64; 6] = [0.0, 0.0001, 0.001, 0.01, 0.1, 1.0];

fn stream(setting: usize, rounds: usize, seed: u64) -> Vec<Example> {
    let mut random = Sampler::new(seed);
    let mut u = vec![0.0; N];
    if setting == 2 {
        u.fill_with(|| 0.2 * random.unit());
    } else {
        u[..3].fill(1.0);
    }
    (0..rounds)
        .map(|_| {
            let x: Vec<f64> = if setting == 1 {
                (0..N).map(|_| random.unit()).collect()
            } else {
                random.vector(N)
            };
            let y = dot(&u, &x) + 0.1 * random.normal();
            (x, y)
        })
        .collect()
}

/// Total loss. It is infinite if the walk failed, or lost more than a million times the loss of predicting 0.
fn loss(method: usize, examples: &[Example], rate: f64, start: f64) -> Result<f64, ConfigError> {
    let zero: f64 = examples.iter().map(|(_, y)| y * y).sum();
    let total = match method {
        // Weights starting at `start` instead of 0 change each prediction by a fixed amount.
        0 => {
            let moved: Vec<Example> = examples
                .iter()
                .map(|(x, y)| (x.clone(), y - start * x.iter().sum::<f64>()))
                .collect();
            learn(&mut Euclidean::new(), &moved, &Squared, rate)
        }
        2 => learn(&mut Entropy::new(start)?, examples, &Squared, rate),
        _ => learn(&mut Orthant::new(start)?, examples, &Squared, rate),
    };
    Ok(total.ok().filter(|total| *total < 1e6 * zero).unwrap_or(f64::INFINITY))
}

/// The rate and start with the smallest mean loss; pairs with a diverged run are excluded.
fn tune(method: usize, streams: &[Vec<Example>]) -> Result<(f64, f64), ConfigError> {
    let starts: &[f64] = match method {
        0 => &ZERO_TOO,
        3 => &[1.0],
        _ => &STARTS,
    };
    let mut best = (f64::INFINITY, RATES[0], starts[0]);
    for rate in RATES {
        for start in starts {
            let all: Result<Vec<f64>, ConfigError> =
                streams.iter().map(|e| loss(method, e, rate, *start)).collect();
            let total = mean(&all?);
            if total < best.0 {
                best = (total, rate, *start);
            }
        }
    }
    Ok((best.1, best.2))
}

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let rounds = run.size.pick(200, 500);
    let (tuning, testing) = run.size.pick((2, 4), (5, 20));
    let base = run.seed * 1000;
    let mut table = Table::new([
        "setting",
        "method",
        "rate",
        "start",
        "median loss",
        "diverged",
        "predicting 0",
    ])
    .caption(format!(
        "Total loss in {rounds} rounds, {testing} seeds other than the {tuning} of the tuning"
    ));
    let mut worse_than_zero = 0;
    for (setting, name) in SETTINGS.into_iter().enumerate() {
        let tuned: Vec<Vec<Example>> =
            (0..tuning).map(|seed| stream(setting, rounds, base + seed)).collect();
        let tests: Vec<Vec<Example>> =
            (0..testing).map(|seed| stream(setting, rounds, base + 100 + seed)).collect();
        let zero =
            median(&tests.iter().map(|e| e.iter().map(|(_, y)| y * y).sum()).collect::<Vec<f64>>());
        let mut medians = [0.0; 4];
        for method in 0..4 {
            let (rate, start) = tune(method, &tuned)?;
            let all: Result<Vec<f64>, ConfigError> =
                tests.iter().map(|e| loss(method, e, rate, start)).collect();
            let all = all?;
            medians[method] = median(&all);
            let diverged = all.iter().filter(|l| l.is_infinite()).count();
            table.push([
                name.into(),
                NAMES[method].into(),
                rate.into(),
                start.into(),
                medians[method].into(),
                Cell::from(diverged),
                zero.into(),
            ]);
        }
        let [gd, natural, egu, from_one] = medians;
        if setting < 2 {
            outcome.find(Finding::above(
                format!("{name}: gradient descent over EGU"),
                gd / egu,
                1.5,
            ));
            outcome.find(Finding::above(
                format!("{name}: natural EG over EGU"),
                natural / egu,
                1.5,
            ));
        } else {
            outcome.find(Finding::above(
                format!("{name}: natural EG over gradient descent"),
                natural / gd,
                1.0,
            ));
        }
        worse_than_zero += u32::from(from_one > zero);
        run.done(setting + 1, SETTINGS.len());
    }
    outcome.find(Finding::above(
        "settings of three in which natural EG from weights of 1 loses more than predicting 0",
        f64::from(worse_than_zero),
        1.0,
    ));
    outcome.table("losses", table);
    Ok(outcome)
}
