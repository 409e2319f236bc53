//! Figure 4: one pass over the same rows, by walks and by the equivalent two-layer networks.

use geowalk::ConfigError;
use geowalk::laws::Sampler;
use geowalk::loss::Squared;
use geowalk::row::Dense;
use geowalk::walk::{Entropy, Euclidean, ReparamEntropy, Walk};
use geowalk_page::{Cell, Plot, Table};

use super::hadamard_matrix::{Problem, panel};
use crate::stream::dot;
use crate::{Experiment, Finding, Outcome, Run, Size};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "one-pass",
    paper: "AW20, figures 1, 2 and 4",
    what: "One pass over the rows of a Hadamard matrix: a two-layer network with one weight per edge of a sparse net learns like EGU, a fully connected one like plain gradient descent.",
    run,
};

/// A two-layer linear network: w = Aᵀv with A full, or w = a ⊙ v.
enum Net {
    Sparse { a: Vec<f64>, v: Vec<f64> },
    Dense { a: Vec<Vec<f64>>, v: Vec<f64> },
}

impl Net {
    fn weights(&self) -> Vec<f64> {
        match self {
            Self::Sparse { a, v } => a.iter().zip(v).map(|(a, v)| a * v).collect(),
            Self::Dense { a, v } => {
                (0..v.len()).map(|i| a.iter().zip(v).map(|(row, v)| row[i] * v).sum()).collect()
            }
        }
    }

    /// One step of gradient descent on (z − y)² in both layers.
    fn step(&mut self, x: &[f64], y: f64, rate: f64) {
        let slope = 2.0 * (dot(&self.weights(), x) - y);
        match self {
            Self::Sparse { a, v } => {
                for ((a, v), x) in a.iter_mut().zip(v).zip(x) {
                    (*a, *v) = (*a - rate * slope * x * *v, *v - rate * slope * x * *a);
                }
            }
            Self::Dense { a, v } => {
                for (row, v) in a.iter_mut().zip(v) {
                    let inner = dot(row, x);
                    for (a, x) in row.iter_mut().zip(x) {
                        *a -= rate * slope * *v * x;
                    }
                    *v -= rate * slope * inner;
                }
            }
        }
    }
}

/// The weights and the error over all rows, after each row of the pass.
type Path = Vec<(Vec<f64>, f64)>;

fn pass(
    problem: &Problem,
    mut step: impl FnMut(&[f64], f64) -> Result<Vec<f64>, ConfigError>,
) -> Result<Path, ConfigError> {
    let one = |(x, y): (&Vec<f64>, &f64)| {
        let w = step(x, *y)?;
        let error = problem.error(&w);
        Ok((w, error))
    };
    problem.rows.iter().zip(&problem.labels).map(one).collect()
}

fn walk<W: Walk>(problem: &Problem, mut walk: W, rate: f64) -> Result<Path, ConfigError> {
    walk.grow(problem.rows.len());
    let mut w = Vec::new();
    pass(problem, |x, y| {
        walk.step(Dense(x), y.into(), &Squared, rate)?;
        walk.read(&mut w);
        Ok(w.clone())
    })
}

fn net(problem: &Problem, mut net: Net, rate: f64) -> Result<Path, ConfigError> {
    pass(problem, |x, y| {
        net.step(x, y, rate);
        Ok(net.weights())
    })
}

const NAMES: [&str; 8] = [
    "gradient descent",
    "EGU",
    "twin of EGU",
    "sparse net, equal",
    "sparse net, positive",
    "sparse net, signed",
    "full net, zero",
    "full net, diagonal",
];

fn all(n: usize, seed: u64) -> Result<[Path; 8], ConfigError> {
    let problem = Problem::new(n, seed);
    let mut random = Sampler::new(seed + 500);
    let side = (1.0 / n as f64).sqrt();
    let mut normal = |positive: bool| -> Vec<f64> {
        (0..n).map(|_| side * random.normal()).map(|v| if positive { v.abs() } else { v }).collect()
    };
    let (positive, signed) = (
        Net::Sparse { a: normal(true), v: normal(true) },
        Net::Sparse { a: normal(false), v: normal(false) },
    );
    let diagonal =
        (0..n).map(|i| (0..n).map(|j| if i == j { side } else { 0.0 }).collect()).collect();
    let plain = 0.5 / n as f64;
    Ok([
        walk(&problem, Euclidean::new(), plain)?,
        walk(&problem, Entropy::new(1.0 / n as f64)?, 0.25)?,
        walk(&problem, ReparamEntropy::new(1.0 / n as f64)?, 0.25)?,
        net(&problem, Net::Sparse { a: vec![side; n], v: vec![side; n] }, 0.125)?,
        net(&problem, positive, 0.125)?,
        net(&problem, signed, 0.125)?,
        net(&problem, Net::Dense { a: vec![vec![0.0; n]; n], v: vec![side; n] }, plain)?,
        net(&problem, Net::Dense { a: diagonal, v: vec![side; n] }, plain)?,
    ])
}

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let (n, orders) = (128, run.size.pick(4, 10));
    let mut sums = vec![vec![0.0; n]; NAMES.len()];
    let (mut line, mut twin): (f64, f64) = (0.0, 0.0);
    for order in 0..orders {
        let paths = all(n, run.seed * 1000 + order as u64)?;
        if order == 0 {
            for (file, i) in [("figure-4a", 6), ("figure-4b", 7), ("figure-4c", 5)] {
                panel(&mut outcome, file, &format!("{}, n = {n}: one pass", NAMES[i]), &paths[i]);
            }
        }
        let curves = paths.map(|path| path.into_iter().map(|(_, e)| e).collect::<Vec<f64>>());
        for i in [0, 6] {
            for (t, e) in curves[i].iter().enumerate() {
                line = line.max((e - (1.0 - (t + 1) as f64 / n as f64)).abs());
            }
        }
        for (a, b) in curves[2].iter().zip(&curves[3]) {
            twin = twin.max((a - b).abs());
        }
        for (sum, curve) in sums.iter_mut().zip(&curves) {
            for (sum, e) in sum.iter_mut().zip(curve) {
                *sum += e / orders as f64;
            }
        }
        run.done(order + 1, orders);
    }
    outcome.find(
        Finding::at_most(
            "gradient descent and the full net from A = 0: distance from 1 − t/n",
            line,
            1e-9,
        )
        .stated(),
    );
    outcome.find(
        Finding::at_most(
            "sparse net with equal layers at rate η/2, and the twin of EGU at η: distance",
            twin,
            1e-9,
        )
        .stated(),
    );
    let eighth = n / 8;
    let at = |i: usize, t: usize| sums[i][t - 1];
    outcome.find(Finding::between(
        "full net from a diagonal, t = n/8, against 1 − t/n = 0.875",
        at(7, eighth),
        0.80,
        0.90,
    ));
    for i in [1, 3] {
        outcome.find(Finding::above(
            format!("gradient descent over {}, t = n/4", NAMES[i]),
            at(0, n / 4) / at(i, n / 4),
            2.5,
        ));
    }
    for i in [4, 5] {
        outcome.find(Finding::above(
            format!("gradient descent over {}, t = n/2", NAMES[i]),
            at(0, n / 2) / at(i, n / 2),
            5.0,
        ));
    }
    if run.size == Size::Full {
        for (i, t, before) in [
            (1, 16, 0.179),
            (1, 64, 0.063),
            (3, 16, 0.079),
            (3, 64, 0.022),
            (7, 16, 0.867),
            (7, 64, 0.495),
        ] {
            outcome.find(Finding::equal(format!("{}, t = {t}", NAMES[i]), at(i, t), before, 0.04));
        }
    }
    // At twice the rate EGU has no bound for rows of both signs, and diverges.
    let mut wild = 0.0;
    for order in 0..orders {
        let problem = Problem::new(n, run.seed * 1000 + order as u64);
        let largest = walk(&problem, Entropy::new(1.0 / n as f64)?, 0.5)
            .map_or(f64::INFINITY, |path| path.iter().map(|(_, e)| *e).fold(0.0, f64::max));
        wild += f64::from(largest > 1e3);
    }
    outcome.find(Finding::above(
        "EGU at rate 0.5: part of the orders in which the error exceeds 1000, or it stops",
        wild / orders as f64,
        0.4,
    ));

    show(&mut outcome, &sums, orders);
    Ok(outcome)
}

/// The mean curves, as a picture and a table.
fn show(outcome: &mut Outcome, sums: &[Vec<f64>], orders: usize) {
    let n = sums.first().map_or(0, Vec::len);
    let mut plot = Plot::new(format!("Error over all rows in one pass, n = {n}"))
        .x("rows t")
        .y("mean squared error");
    let mut table = Table::new(std::iter::once("t").chain(NAMES))
        .caption(format!("Mean over {orders} orders and targets"));
    for (name, errors) in NAMES.iter().zip(sums) {
        plot = plot.line(*name, errors.iter().enumerate().map(|(i, e)| ((i + 1) as f64, *e)));
    }
    for t in 1..=n {
        table.push(
            std::iter::once(Cell::from(t)).chain(sums.iter().map(|s| Cell::Number(s[t - 1]))),
        );
    }
    outcome.picture("figure-4", plot);
    outcome.file("figure-4", table);
}
