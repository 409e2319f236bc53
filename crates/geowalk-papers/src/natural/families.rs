//! Bits and counts with noisy labels: cases where natural gradient is better by a factor, and cases where it is not
//! better.

use geowalk::laws::Sampler;
use geowalk::natural::{Method, Settings};
use geowalk::{ConfigError, Real};
use geowalk_page::Table;

use super::rules::{bare, excess, inverse, tuned};
use super::sample::Sample;
use crate::{Experiment, Finding, Outcome, Run, Size};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "natural-families",
    paper: "SC21, section 3.3",
    what: "Bernoulli features with 15 % of the labels at random, and sparse Poisson counts with 35 %: the loss above the best. A factor of two or three for bits, none for counts.",
    run,
};

/// Rows of independent features, each with a parameter per class; a part of the labels is replaced by random ones.
fn draw(
    (d, s, n): (usize, usize, usize),
    noise: f64,
    random: &mut Sampler,
    parameter: impl Fn(&mut Sampler) -> f64,
    feature: impl Fn(f64, &mut Sampler) -> f64,
) -> Sample {
    let parameters: Vec<Vec<f64>> =
        (0..s).map(|_| (0..d).map(|_| parameter(random)).collect()).collect();
    let (mut rows, mut classes) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let y = random.below(s);
        rows.push(parameters[y].iter().map(|p| feature(*p, random)).collect());
        classes.push(if random.unit() < noise { random.below(s) } else { y });
    }
    Sample { rows, classes, s }
}

fn poisson(mean: f64, random: &mut Sampler) -> f64 {
    let (limit, mut product, mut count) = (Real::exp(-mean), random.unit(), 0.0);
    while product > limit {
        product *= random.unit();
        count += 1.0;
    }
    count
}

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let few = run.size == Size::Small;
    let rounds = run.size.pick(10_000, 30_000);
    let mut random = Sampler::new(run.seed + 21);
    let bits = draw(
        run.size.pick((12, 3, 1000), (30, 5, 4000)),
        0.15,
        &mut random,
        |random| 0.1 + 0.8 * random.unit(),
        |p, random| f64::from(u8::from(random.unit() < p)),
    );
    let counts = draw(
        run.size.pick((40, 3, 1000), (112, 4, 3000)),
        0.35,
        &mut random,
        |random| 0.1 * random.unit() * random.unit() + if random.unit() < 0.05 { 0.5 } else { 0.0 },
        poisson,
    );
    let mut table = Table::new(["family", "descent", "Adagrad", "1/t, cap", "3/(t + 3), cap", "averages"])
        .caption(format!("Loss above the best after {rounds} examples; expected for bits about 7e-3, 7e-3 and 2 to 3e-3, for counts about 7e-3 throughout and averages worse"));
    for (at, (family, sample)) in
        [("bernoulli", &bits), ("poisson", &counts)].into_iter().enumerate()
    {
        let best = sample.best();
        let seed = run.seed + 22;
        let own = |settings| excess(family, settings, sample, best, rounds, seed);
        let row = [
            tuned(Method::Sgd, family, sample, best, rounds, seed, few)?,
            tuned(Method::Adagrad, family, sample, best, rounds, seed, few)?,
            own(bare(inverse(1.0, 1.0), Some(1.0)))?,
            own(bare(inverse(1.0, 3.0), Some(1.0)))?,
            own(Settings::default())?,
        ];
        table.push(std::iter::once(family.into()).chain(row.map(Into::into)));
        let natural = Real::min(Real::min(row[2], row[3]), row[4]);
        let plain = Real::min(row[0], row[1]);
        let limit = if family == "bernoulli" { 1.0 } else { 2.0 };
        outcome.find(Finding::at_most(
            format!("{family}: natural gradient over the better of descent and Adagrad"),
            natural / plain,
            limit,
        ));
        run.done(at + 1, 2);
    }
    outcome.table("excess", table);
    Ok(outcome)
}
