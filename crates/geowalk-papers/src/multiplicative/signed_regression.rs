//! Targets with signs: the number of examples that EG± and its twin need to learn a target from rows of ±1.

use geowalk::laws::Sampler;
use geowalk::loss::Squared;
use geowalk::row::Dense;
use geowalk::walk::{Euclidean, ReparamSimplex, Signed, SimplexEntropy, Walk};
use geowalk::{ConfigError, Real};
use geowalk_page::{Cell, Plot, Table};

use crate::stream::mean;
use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "signed-regression",
    paper: "AW20, sec. 5",
    what: "Rows of ±1 and the target (0.4, −0.3, 0.3, 0, …): EG± and its twin need O(ln n) examples until the mean loss of the last 50 is below 0.01; gradient descent needs O(n).",
    run,
};

const NAMES: [&str; 3] = ["EG±", "twin of EG±", "gradient descent"];
const WINDOW: usize = 50;

/// The number of examples until the mean of the last losses is small; `budget` if that does not happen.
fn until<W: Walk>(
    mut walk: W,
    n: usize,
    rate: f64,
    budget: usize,
    seed: u64,
) -> Result<f64, ConfigError> {
    let mut random = Sampler::new(seed);
    walk.grow(n);
    let mut last = [f64::INFINITY; WINDOW];
    let mut x = vec![0.0; n];
    for t in 0..budget {
        x.fill_with(|| random.sign());
        let y = 0.4 * x[0] - 0.3 * x[1] + 0.3 * x[2];
        last[t % WINDOW] = walk.step(Dense(&x), y.into(), &Squared, rate)?.loss;
        if last.iter().sum::<f64>() < 0.01 * WINDOW as f64 {
            return Ok((t + 1) as f64);
        }
    }
    Ok(budget as f64)
}

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let sizes: &[u32] = run.size.pick(&[5, 6, 7], &[6, 7, 8, 9, 10, 11, 12]);
    let (seeds, budget) = run.size.pick((2, 3000), (4, 16_000));
    let mut rows: Vec<(f64, Vec<f64>)> = Vec::new();
    for (i, bits) in sizes.iter().enumerate() {
        let n = 1_usize << bits;
        let mut counts = vec![Vec::new(); 3];
        for seed in 0..seeds {
            let seed = run.seed * 1000 + seed;
            // R = 2: EG has the rate 2/(3R²).
            let rate = 2.0 / (3.0 * 4.0);
            counts[0].push(until(Signed::new(SimplexEntropy::new(), 1.0)?, n, rate, budget, seed)?);
            counts[1].push(until(Signed::new(ReparamSimplex::new(), 1.0)?, n, rate, budget, seed)?);
            counts[2].push(until(Euclidean::new(), n, 0.25 / n as f64, budget, seed)?);
        }
        rows.push((n as f64, counts.iter().map(|list| mean(list)).collect()));
        run.done(i + 1, sizes.len());
    }
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(outcome) };
    let logs = Real::ln(last.0) / Real::ln(first.0);
    for i in [0, 1] {
        outcome.find(Finding::at_most(
            format!("{}: growth of the examples needed, against twice that of ln n", NAMES[i]),
            last.1[i] / first.1[i],
            2.0 * logs,
        ));
    }
    outcome.find(Finding::between("twin over EG±, largest n", last.1[1] / last.1[0], 0.8, 1.25));
    // If gradient descent finishes within its budget, the number of examples is proportional to n.
    let within: Vec<&(f64, Vec<f64>)> =
        rows.iter().filter(|row| row.1[2] < budget as f64).collect();
    let (Some(low), Some(high)) = (within.first(), within.last()) else { return Ok(outcome) };
    outcome.find(Finding::between(
        "gradient descent: growth of the examples needed over that of n",
        high.1[2] / low.1[2] / (high.0 / low.0),
        0.6,
        1.7,
    ));
    outcome.find(Finding::above(
        "gradient descent over EG±, largest n that it learned",
        high.1[2] / high.1[0],
        run.size.pick(2.5, 30.0),
    ));
    let mut plot = Plot::new("Examples until the last 50 lose less than 0.01 each")
        .x("features n")
        .y("examples")
        .log_x()
        .log_y();
    for (i, name) in NAMES.iter().enumerate() {
        plot = plot.line(*name, rows.iter().map(|row| (row.0, row.1[i])));
    }
    let mut table = Table::new(["n", NAMES[0], NAMES[1], NAMES[2]])
        .caption(format!("Mean over {seeds} seeds; {budget} means not within the budget"));
    for (n, counts) in &rows {
        table
            .push(std::iter::once(Cell::Number(*n)).chain(counts.iter().map(|c| Cell::Number(*c))));
    }
    outcome.picture("examples", plot);
    outcome.table("examples", table);
    Ok(outcome)
}
