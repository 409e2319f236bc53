//! Wrong families: the loss still converges to that of the best logistic regression, at about 1/T, but the loss of the
//! model alone stays above it.

use geowalk::laws::Sampler;
use geowalk::natural::{Method, Settings};
use geowalk::{ConfigError, Real};
use geowalk_page::{Plot, Table};

use super::rules::{Learner, bare, excess, inverse, tuned};
use super::sample::{Sample, direction, log_sum, reflect, square};
use crate::{Experiment, Finding, Outcome, Run, Size};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "natural-misspecified",
    paper: "SC21, section 5; that convergence holds for every family is not in the paper",
    what: "Classes with different covariances, heavy tails, skewed features: the shared-covariance family is wrong for all of them, and natural gradient reaches the best logistic regression all the same.",
    run,
};

#[derive(Clone, Copy)]
enum Kind {
    Heteroscedastic,
    Tails,
    Lognormal,
}

const KINDS: [(Kind, &str); 3] = [
    (Kind::Heteroscedastic, "covariances differ"),
    (Kind::Tails, "t with 3 degrees of freedom"),
    (Kind::Lognormal, "lognormal features"),
];

fn draw(kind: Kind, (d, s, n): (usize, usize, usize), random: &mut Sampler) -> Sample {
    let means: Vec<Vec<f64>> = (0..s).map(|_| direction(d, random)).collect();
    let axis = direction(d, random);
    let (mut rows, mut classes) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let mut y = random.below(s);
        let mut x: Vec<f64> = match kind {
            Kind::Heteroscedastic => {
                let spread = 0.5 + y as f64;
                (0..d).map(|j| 2.0 * means[y][j] + spread * random.normal()).collect()
            }
            Kind::Tails => {
                // A normal number divided by the root of the mean of three squares.
                let squares: f64 = (0..3).map(|_| square(random.normal())).sum();
                let scale = 1.0 / (squares / 3.0).sqrt();
                (0..d).map(|j| 2.0 * means[y][j] + scale * random.normal()).collect()
            }
            Kind::Lognormal => (0..d).map(|_| Real::exp(0.75 * random.normal())).collect(),
        };
        if let Kind::Lognormal = kind {
            // Labels from a logistic model of the features.
            let z: Vec<f64> = means
                .iter()
                .map(|w| 1.5 * w.iter().zip(&x).map(|(w, x)| w * x).sum::<f64>())
                .collect();
            let all = log_sum(&z);
            let mut u = random.unit();
            y = z
                .iter()
                .position(|z| {
                    u -= Real::exp(z - all);
                    u < 0.0
                })
                .unwrap_or(s - 1);
        } else {
            // Scales from 1 to 10, then mixed by a reflection.
            x.iter_mut().enumerate().for_each(|(j, x)| *x *= 1.0 + 9.0 * j as f64 / d as f64);
            reflect(&mut x, &axis);
        }
        rows.push(x);
        classes.push(y);
    }
    Sample { rows, classes, s }
}

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let few = run.size == Size::Small;
    let shape = run.size.pick((6, 3, 1000), (20, 4, 4000));
    let rounds = run.size.pick(10_000, 30_000);
    let marks: &[usize] =
        run.size.pick(&[3_000, 30_000], &[3_000, 10_000, 30_000, 100_000, 300_000]);
    let mut table = Table::new(["data", "descent", "Adagrad", "full, 3/(t + 3)", "full, averages"])
        .caption(format!("Loss above the best logistic regression after {rounds} examples"));
    let mut course =
        Table::new(["data", "T", "above the best", "linear discriminant analysis above the best"])
            .caption("How it falls");
    let mut plot = Plot::new("A wrong family reaches the best logistic regression")
        .x("examples")
        .y("loss above the best")
        .log_x()
        .log_y();
    for (at, (kind, name)) in KINDS.iter().enumerate() {
        let sample = draw(*kind, shape, &mut Sampler::new(run.seed + 3));
        let best = sample.best();
        let seed = run.seed + 4;
        let other = |method| tuned(method, "gaussian-shared", &sample, best, rounds, seed, few);
        let row = [
            other(Method::Sgd)?,
            other(Method::Adagrad)?,
            excess(
                "gaussian-shared",
                bare(inverse(1.0, 3.0), Some(2.0)),
                &sample,
                best,
                rounds,
                seed,
            )?,
            excess("gaussian-shared", Settings::default(), &sample, best, rounds, seed)?,
        ];
        table.push(std::iter::once((*name).into()).chain(row.map(Into::into)));
        let mut learner = Learner::natural("gaussian-shared", Settings::default())?;
        let found = sample.run(&mut learner, best, marks, seed);
        let found: Vec<f64> = found.into_iter().map(|own| own.unwrap_or(f64::INFINITY)).collect();
        let plug_in = sample.plug_in() - best;
        for (t, own) in marks.iter().zip(&found) {
            course.push([(*name).into(), (*t).into(), (*own).into(), plug_in.into()]);
        }
        plot = plot.line(*name, marks.iter().zip(&found).map(|(t, own)| (*t as f64, *own)));
        let (first, last) = (found[0], found[found.len() - 1]);
        let factor = marks[marks.len() - 1] as f64 / marks[0] as f64;
        // At a rate of 1/T the ratio would be 1/factor.
        outcome.find(Finding::at_most(
            format!("{name}: excess after {factor} times the examples"),
            last / first,
            4.0 / factor.sqrt(),
        ));
        if let Kind::Heteroscedastic = kind {
            outcome.find(Finding::above(
                format!("{name}: discriminant analysis over natural gradient"),
                plug_in / last,
                3.0,
            ));
            outcome.find(Finding::above(
                format!("{name}: gradient descent over natural gradient"),
                row[0] / row[3],
                2.0,
            ));
        }
        run.done(at + 1, KINDS.len());
    }
    outcome.table("excess", table);
    outcome.table("course", course);
    outcome.picture("course", plot);
    Ok(outcome)
}
