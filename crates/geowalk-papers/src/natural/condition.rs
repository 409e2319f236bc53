//! Gaussian classes with ill-conditioned features: with a full covariance the condition number does not matter.

use geowalk::laws::Sampler;
use geowalk::natural::{Method, Settings};
use geowalk::{ConfigError, Real};
use geowalk_page::Table;

use super::rules::{bare, excess, inverse, tuned};
use super::sample::{Sample, direction, reflect};
use crate::{Experiment, Finding, Outcome, Run, Size};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "natural-condition",
    paper: "SC21, section 3",
    what: "Gaussian classes with features of condition number 1 to 10⁴: the loss above the best logistic regression. Natural gradient with a full covariance does not notice the condition, all others do.",
    run,
};

/// Gaussian classes with means about `separation` apart, in rotated coordinates with this condition number.
pub(super) fn gaussian(
    (d, s, n): (usize, usize, usize),
    condition: f64,
    separation: f64,
    random: &mut Sampler,
) -> Sample {
    let axis = direction(d, random);
    let means: Vec<Vec<f64>> = (0..s).map(|_| direction(d, random)).collect();
    // Random unit vectors are about √2 apart.
    let separation = separation / std::f64::consts::SQRT_2;
    let scale = |j: usize| Real::powf(condition, -0.5 * j as f64 / (d - 1) as f64);
    let (mut rows, mut classes) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let y = random.below(s);
        let mut x: Vec<f64> =
            (0..d).map(|j| (separation * means[y][j] + random.normal()) * scale(j)).collect();
        reflect(&mut x, &axis);
        rows.push(x);
        classes.push(y);
    }
    Sample { rows, classes, s }
}

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let few = run.size == Size::Small;
    let (d, s, n) = run.size.pick((8, 3, 1000), (20, 4, 4000));
    let rounds = run.size.pick(10_000, 30_000);
    let cases: &[(f64, f64)] =
        run.size.pick(&[(1.0, 2.0), (1e4, 2.0)], &[(1.0, 2.0), (1e2, 2.0), (1e4, 2.0), (1e4, 4.0)]);
    let efficient = ((s - 1) * (d + 1)) as f64 / (2.0 * rounds as f64);
    let mut table = Table::new([
        "condition",
        "separation",
        "descent",
        "Adagrad",
        "full, 1/t, no cap",
        "full, 3/(t + 3)",
        "full, averages",
        "diagonal, averages",
    ])
    .caption(format!(
        "Loss above the best after {rounds} examples; an efficient estimator has {efficient:.2e}"
    ));
    let mut full = Vec::new();
    for (at, (condition, separation)) in cases.iter().enumerate() {
        let sample = gaussian((d, s, n), *condition, *separation, &mut Sampler::new(run.seed + 5));
        let best = sample.best();
        let own = |family, settings| excess(family, settings, &sample, best, rounds, run.seed + 9);
        let other =
            |method| tuned(method, "gaussian-shared", &sample, best, rounds, run.seed + 9, few);
        let row = [
            other(Method::Sgd)?,
            other(Method::Adagrad)?,
            own("gaussian-shared", bare(inverse(1.0, 1.0), None))?,
            own("gaussian-shared", bare(inverse(1.0, 3.0), Some(2.0)))?,
            own("gaussian-shared", Settings::default())?,
            own("gaussian-shared-diagonal", Settings::default())?,
        ];
        table.push(
            [(*condition).into(), (*separation).into()].into_iter().chain(row.map(Into::into)),
        );
        let name = |what: &str| format!("{what}, condition {condition}, separation {separation}");
        outcome.find(Finding::at_most(
            name("full covariance over efficient"),
            row[4] / efficient,
            10.0,
        ));
        if *condition > 1e3 {
            outcome.find(Finding::above(
                name("gradient descent over full covariance"),
                row[0] / row[4],
                5.0,
            ));
            outcome.find(Finding::above(
                name("Adagrad over full covariance"),
                row[1] / row[4],
                5.0,
            ));
            outcome.find(Finding::above(
                name("diagonal over full covariance"),
                row[5] / row[4],
                3.0,
            ));
        }
        if *separation == 2.0 {
            full.push(row[4]);
        }
        run.done(at + 1, cases.len());
    }
    let (first, last) = (full.first().copied().unwrap_or(1.0), full.last().copied().unwrap_or(1.0));
    outcome.find(Finding::between(
        "condition 10⁴ over condition 1, full covariance",
        last / first,
        0.5,
        2.0,
    ));
    outcome.table("excess", table);
    Ok(outcome)
}
