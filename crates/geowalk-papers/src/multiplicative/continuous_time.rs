//! Theorem 1: in continuous time EGU is gradient descent on u with w = u².

use geowalk::ConfigError;
use geowalk::laws::Sampler;
use geowalk::loss::{Loss, Squared};
use geowalk::row::Dense;
use geowalk::walk::{Entropy, ReparamEntropy, Walk};
use geowalk_page::{Cell, Plot, Table};

use crate::stream::dot;
use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "continuous-time",
    paper: "AW20, Theorem 1",
    what: "Each example acts for one unit of time, in ever smaller steps: EGU and gradient descent on u with w = u² come together, and to the solution of their common differential equation, in proportion to the step.",
    run,
};

const N: usize = 8;
const START: f64 = 1.0 / 8.0;
const RATE: f64 = 0.2;

/// Weights after all examples, each in `steps` steps.
fn walked<W: Walk>(
    mut walk: W,
    rows: &[(Vec<f64>, f64)],
    steps: usize,
) -> Result<Vec<f64>, ConfigError> {
    walk.grow(N);
    for (x, y) in rows {
        for _ in 0..steps {
            walk.step(Dense(x), (*y).into(), &Squared, RATE / steps as f64)?;
        }
    }
    let mut w = Vec::new();
    walk.read(&mut w);
    Ok(w)
}

/// The solution of dw/dt = −η w ∇L(w), by Runge and Kutta's method with a step of 1/1000: exact to 1e-10.
fn solution(rows: &[(Vec<f64>, f64)]) -> Vec<f64> {
    let (steps, mut w) = (1000, vec![START; N]);
    let h = 1.0 / f64::from(steps);
    for (x, y) in rows {
        let flow = |w: &[f64]| -> Vec<f64> {
            let slope = Squared.slope(dot(w, x), *y);
            w.iter().zip(x).map(|(w, x)| -RATE * w * slope * x).collect()
        };
        let moved = |w: &[f64], k: &[f64], h: f64| -> Vec<f64> {
            w.iter().zip(k).map(|(w, k)| w + h * k).collect()
        };
        for _ in 0..steps {
            let a = flow(&w);
            let b = flow(&moved(&w, &a, 0.5 * h));
            let c = flow(&moved(&w, &b, 0.5 * h));
            let d = flow(&moved(&w, &c, h));
            for (i, w) in w.iter_mut().enumerate() {
                *w += h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]);
            }
        }
    }
    w
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let mut random = Sampler::new(run.seed);
    let rows: Vec<(Vec<f64>, f64)> = (0..run.size.pick(10, 40))
        .map(|_| {
            let x: Vec<f64> = (0..N).map(|_| random.uniform(-1.0, 1.0)).collect();
            let y = x[0] + 0.2 * random.normal();
            (x, y)
        })
        .collect();
    let exact = solution(&rows);
    let halvings: u32 = run.size.pick(8, 11);
    let mut found = Vec::new();
    for k in 0..halvings {
        let steps = 1_usize << k;
        let egu = walked(Entropy::new(START)?, &rows, steps)?;
        let twin = walked(ReparamEntropy::new(START)?, &rows, steps)?;
        let apart = [distance(&egu, &twin), distance(&egu, &exact), distance(&twin, &exact)];
        found.push((1.0 / steps as f64, apart));
        run.done(k as usize + 1, halvings as usize);
    }
    let names = ["EGU and its twin", "EGU and the equation", "the twin and the equation"];
    let mut plot = Plot::new("Largest difference of a weight").x("step").y("difference");
    plot = plot.log_x().log_y();
    for (i, name) in names.into_iter().enumerate() {
        let [.., (_, before), (step, last)] = found.as_slice() else { continue };
        let what = format!("{name}: they meet; difference at the step {step}");
        outcome.find(Finding::at_most(what, last[i], 0.5 * step).stated());
        let what = format!("{name}: difference at twice the step over that");
        outcome.find(Finding::between(what, before[i] / last[i], 1.8, 2.2));
        plot = plot.line(name, found.iter().map(|(step, apart)| (*step, apart[i])));
    }
    let mut table = Table::new(["step", names[0], names[1], names[2]]);
    for (step, apart) in &found {
        let cells = apart.iter().map(|d| Cell::Number(*d));
        table.push(std::iter::once(Cell::Number(*step)).chain(cells));
    }
    outcome.picture("difference", plot);
    outcome.table("difference", table);
    Ok(outcome)
}
