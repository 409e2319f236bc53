//! Figure 3: weights trained to convergence on the first t rows of a Hadamard matrix.

use geowalk::loss::Squared;
use geowalk::row::Dense;
use geowalk::walk::{Entropy, Euclidean, ReparamEntropy, ReparamSimplex, SimplexEntropy, Walk};
use geowalk::{ConfigError, DomainError};
use geowalk_page::{Cell, Plot, Table};

use super::hadamard_matrix::{Problem, panel};
use crate::stream::{error, mean};
use crate::{Experiment, Finding, Outcome, Run, Size};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "hadamard",
    paper: "AW20, figure 3",
    what: "A target of one column of a Hadamard matrix, trained to the end on its first t rows: gradient descent knows no more than 1 − t/n; multiplicative updates and their twins have it after a few more than log₂ n rows.",
    run,
};

/// For each t in turn, trains on the first t rows until no error exceeds 1e-3. Returns the error over all rows after
/// each t.
fn curve<W: Walk>(walk: W, problem: &Problem, rate: f64) -> Result<Vec<f64>, DomainError> {
    Ok(path(walk, problem, rate)?.into_iter().map(|(_, error)| error).collect())
}

/// The same, with the weights after each t.
fn path<W: Walk>(
    mut walk: W,
    problem: &Problem,
    rate: f64,
) -> Result<Vec<(Vec<f64>, f64)>, DomainError> {
    let n = problem.rows.len();
    walk.grow(n);
    let mut path = Vec::new();
    for t in 1..=n {
        for _ in 0..20_000 {
            let mut worst: f64 = 0.0;
            for (x, y) in problem.rows[..t].iter().zip(&problem.labels) {
                let round = walk.step(Dense(x), (*y).into(), &Squared, rate)?;
                worst = worst.max((round.z - y).abs());
            }
            if worst <= 1e-3 {
                break;
            }
        }
        let mut w = Vec::new();
        walk.read(&mut w);
        path.push((w, problem.error_of(&walk)));
    }
    Ok(path)
}

/// The curve of one algorithm: the mean over orders and targets, and its standard error.
struct Curve {
    name: &'static str,
    mean: Vec<f64>,
    error: Vec<f64>,
}

fn curves(run: &mut Run<'_>, n: usize, orders: usize) -> Result<Vec<Curve>, ConfigError> {
    let names = ["gradient descent", "EGU", "twin of EGU", "EG", "twin of EG"];
    let mut all_curves = vec![Vec::new(); names.len()];
    let start = 1.0 / n as f64;
    for order in 0..orders {
        let problem = Problem::new(n, run.seed * 1000 + order as u64);
        let all = [
            curve(Euclidean::new(), &problem, 0.5 / n as f64)?,
            curve(Entropy::new(start)?, &problem, 0.25)?,
            curve(ReparamEntropy::new(start)?, &problem, 0.25)?,
            curve(SimplexEntropy::new(), &problem, 0.5)?,
            curve(ReparamSimplex::new(), &problem, 0.25)?,
        ];
        for (curves, errors) in all_curves.iter_mut().zip(all) {
            curves.push(errors);
        }
        run.done(order + 1, orders);
    }
    let collect = |(name, curves): (&'static str, Vec<Vec<f64>>)| {
        let at = |t: usize| curves.iter().map(|curve| curve[t]).collect::<Vec<f64>>();
        Curve {
            name,
            mean: (0..n).map(|t| mean(&at(t))).collect(),
            error: (0..n).map(|t| error(&at(t))).collect(),
        }
    };
    Ok(names.into_iter().zip(all_curves).map(collect).collect())
}

/// The three panels of the figure: all weights and the error, on one order and target.
fn panels(outcome: &mut Outcome, n: usize, seed: u64) -> Result<(), ConfigError> {
    let (problem, start) = (Problem::new(n, seed), 1.0 / n as f64);
    let mut add = |file, name: &str, path: Vec<(Vec<f64>, f64)>| {
        panel(outcome, file, &format!("{name}, n = {n}: trained on the first t rows"), &path);
    };
    add("figure-3a", "Gradient descent", path(Euclidean::new(), &problem, 0.5 / n as f64)?);
    add("figure-3b", "EGU", path(Entropy::new(start)?, &problem, 0.25)?);
    add("figure-3c", "Twin of EGU", path(ReparamEntropy::new(start)?, &problem, 0.25)?);
    Ok(())
}

/// Values measured earlier on other orders and targets, n = 128: (t, EGU, its twin).
const BEFORE: [(usize, f64, f64); 5] = [
    (4, 0.914, 0.906),
    (8, 0.647, 0.572),
    (12, 0.324, 0.198),
    (16, 0.172, 0.083),
    (24, 0.051, 0.017),
];

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let (n, orders) = run.size.pick((32, 3), (128, 10));
    let curves = curves(run, n, orders)?;
    let errors = |i: usize| curves[i].mean.as_slice();
    let gap = errors(0)
        .iter()
        .enumerate()
        .map(|(i, e)| (e - (1.0 - (i + 1) as f64 / n as f64)).abs())
        .fold(0.0, f64::max);
    let linear = "gradient descent: the error falls linearly; largest distance from 1 − t/n";
    outcome.find(Finding::at_most(linear, gap, 1e-9).stated());
    panels(&mut outcome, n, run.seed * 1000)?;
    if run.size == Size::Full {
        // The difference of two means over ten orders each: three standard errors of it, and the rounding of the
        // recorded values.
        let tolerance = |i: usize, t: usize| 3.0 * 2.0_f64.sqrt() * curves[i].error[t - 1] + 5e-4;
        for (t, egu, twin) in BEFORE {
            outcome.find(Finding::equal(
                format!("EGU, t = {t}"),
                errors(1)[t - 1],
                egu,
                tolerance(1, t),
            ));
            outcome.find(Finding::equal(
                format!("twin of EGU, t = {t}"),
                errors(2)[t - 1],
                twin,
                tolerance(2, t),
            ));
        }
    }
    let bits = n.ilog2() as usize;
    for i in [3, 4] {
        outcome.find(Finding::at_most(
            format!("{}, t = 2 log₂ n + 2", curves[i].name),
            errors(i)[2 * bits + 1],
            1e-3,
        ));
    }
    for i in [1, 2] {
        let (t, ratio) = (3 * bits, 4.0);
        outcome.find(Finding::above(
            format!("gradient descent over {}, t = 3 log₂ n", curves[i].name),
            errors(0)[t - 1] / errors(i)[t - 1],
            ratio,
        ));
    }
    let decayed = errors(1)[3 * bits - 1] / errors(1)[0];
    let words = "EGU: part of the error that is left after 3 log₂ n examples";
    outcome.find(Finding::at_most(words, decayed, 0.25).stated());
    let apart = errors(1).iter().zip(errors(2)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    outcome.find(
        Finding::new(
            "EGU and its twin: average loss trajectories; largest distance of the mean curves",
            "visually identical (here: at most 0.02)",
            format!("{apart:.3}"),
            apart <= 0.02,
        )
        .disputed(),
    );
    let twins = errors(3).iter().zip(errors(4)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    outcome.find(Finding::at_most("EG and its twin: largest distance of the curves", twins, 0.05));
    // With small initial weights EGU is as fast as EG.
    let problem = Problem::new(n, run.seed * 1000);
    let small = curve(Entropy::new(1e-6)?, &problem, 0.25)?;
    outcome.find(Finding::at_most(
        "EGU from 1e-6 instead of 1/n, t = 2 log₂ n",
        small[2 * bits - 1],
        0.01,
    ));

    let mut plot = Plot::new(format!("Error over all rows after training on t, n = {n}"))
        .x("rows t")
        .y("mean squared error");
    for Curve { name, mean, .. } in &curves {
        plot = plot.line(*name, mean.iter().enumerate().map(|(i, e)| ((i + 1) as f64, *e)));
    }
    outcome.picture("figure-3", plot);
    let head: Vec<&str> = std::iter::once("t").chain(curves.iter().map(|c| c.name)).collect();
    let mut table = Table::new(head).caption(format!("Mean over {orders} orders and targets"));
    for t in 1..=n {
        let cells = curves.iter().map(|c| Cell::Number(c.mean[t - 1]));
        table.push(std::iter::once(Cell::from(t)).chain(cells));
    }
    outcome.file("figure-3", table);
    Ok(outcome)
}
