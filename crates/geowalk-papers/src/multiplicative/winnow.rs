//! Winnow, its twin and the Perceptron: mistakes that grow with ln n or with n.

use geowalk::certify::{Bound, Comparator, Winnow};
use geowalk::laws::Sampler;
use geowalk::loss::WinnowHinge;
use geowalk::row::Sparse;
use geowalk::walk::{Entropy, Euclidean, ReparamEntropy, Walk, winnow};
use geowalk::{ConfigError, Real};
use geowalk_page::{Plot, Table};

use crate::stream::mean;
use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "winnow",
    paper: "AW20, Theorems 2 and 3",
    what: "Learning a disjunction of 3 among n literals: Winnow and its gradient-descent twin make O(ln n) mistakes, within their bounds; the Perceptron makes hundreds.",
    run,
};

/// Number of literals in the disjunction.
const K: usize = 3;

/// A row: the indices of the true literals, each true with probability 0.2.
fn draw(random: &mut Sampler, n: usize) -> (Vec<u32>, Vec<f64>, f64) {
    let mut indices = Vec::new();
    for i in 0..n {
        if random.unit() < 0.2 {
            indices.push(u32::try_from(i).unwrap_or(u32::MAX));
        }
    }
    let label = if indices.first().is_some_and(|i| (*i as usize) < K) { 1.0 } else { -1.0 };
    let values = vec![1.0; indices.len()];
    (indices, values, label)
}

struct Mistakes {
    winnow: Vec<f64>,
    twin: Vec<f64>,
    perceptron: Vec<f64>,
    /// Was every certificate valid, and every number of mistakes below it?
    certified: bool,
}

fn mistakes(n: usize, rounds: usize, seeds: std::ops::Range<u64>) -> Result<Mistakes, ConfigError> {
    let mut all =
        Mistakes { winnow: Vec::new(), twin: Vec::new(), perceptron: Vec::new(), certified: true };
    let start = winnow::start(n, K)?;
    let (own, twin_own) = (winnow::winnow(0.5)?, winnow::twin(0.5)?);
    let target: Vec<f64> = (0..n).map(|i| if i < K { 1.0 } else { 0.0 }).collect();
    for seed in seeds {
        let mut random = Sampler::new(seed);
        let mut egu = Entropy::new(start)?;
        let mut twin = ReparamEntropy::new(start)?;
        let mut perceptron = Euclidean::new();
        let weights = vec![start; n];
        let (mut bound, mut twin_bound) =
            (Winnow::new(0.5, &weights, &target)?, Winnow::twin(0.5, &weights, &target)?);
        let (loss, twin_loss, none) = (
            WinnowHinge::new(own.threshold)?,
            WinnowHinge::new(twin_own.threshold)?,
            WinnowHinge::new(0.0)?,
        );
        egu.grow(n);
        twin.grow(n);
        perceptron.grow(n);
        let mut counts = [0.0; 3];
        for _ in 0..rounds {
            let (indices, values, y) = draw(&mut random, n);
            let x = Sparse::new(&indices, &values)?;
            let round = egu.step(x, y.into(), &loss, own.rate)?;
            counts[0] += f64::from(round.slope != 0.0);
            bound.observe(&round, x);
            let round = twin.step(x, y.into(), &twin_loss, twin_own.rate)?;
            counts[1] += f64::from(round.slope != 0.0);
            twin_bound.observe(&round, x);
            counts[2] += f64::from(perceptron.step(x, y.into(), &none, 1.0)?.slope != 0.0);
        }
        for (bound, count) in [(&bound, counts[0]), (&twin_bound, counts[1])] {
            let finding =
                Finding::certified("", count, &bound.certify(&Comparator::Given(&target)));
            all.certified &= finding.met;
        }
        all.winnow.push(counts[0]);
        all.twin.push(counts[1]);
        all.perceptron.push(counts[2]);
    }
    Ok(all)
}

/// The number of mistakes that an adversary forces. The least informative example has a prediction barely on the wrong
/// side of the threshold, and a literal of the disjunction with value ½ (margin ½).
fn adversary<W: Walk>(
    mut walk: W,
    constants: winnow::Constants,
    n: usize,
) -> Result<f64, ConfigError> {
    let theta = constants.threshold;
    let loss = WinnowHinge::new(theta)?;
    walk.grow(n);
    let (mut w, mut made) = (Vec::new(), 0.0);
    loop {
        walk.read(&mut w);
        let weakest = (0..K).fold(0, |a, b| if w[b] < w[a] { b } else { a });
        let mut others: Vec<usize> = (K..n).collect();
        others.sort_by(|a, b| w[*b].total_cmp(&w[*a]));
        let positive = 0.5 * w[weakest] < theta;
        let mut x: Vec<(usize, f64)> = if positive { vec![(weakest, 0.5)] } else { Vec::new() };
        let mut sum = if positive { 0.5 * w[weakest] } else { 0.0 };
        // Add other literals as long as the prediction stays below the threshold. For a negative example, also add the
        // smallest one that crosses it.
        let mut left = Vec::new();
        for i in others {
            if sum + w[i] < theta {
                sum += w[i];
                x.push((i, 1.0));
            } else {
                left.push(i);
            }
        }
        if !positive {
            let Some(last) = left.last() else { return Ok(made) };
            x.push((*last, 1.0));
        }
        x.sort_unstable_by_key(|(i, _)| *i);
        let indices: Vec<u32> =
            x.iter().map(|(i, _)| u32::try_from(*i).unwrap_or(u32::MAX)).collect();
        let values: Vec<f64> = x.iter().map(|(_, x)| *x).collect();
        let y = if positive { 1.0 } else { -1.0 };
        let round = walk.step(Sparse::new(&indices, &values)?, y.into(), &loss, constants.rate)?;
        if round.slope == 0.0 {
            return Ok(made);
        }
        made += 1.0;
    }
}

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let sizes: &[u32] = run.size.pick(&[6, 8, 10], &[6, 8, 10, 12, 14]);
    let rounds = run.size.pick(1500, 3000);
    let seeds = run.size.pick(2, 5);
    let (own, twin_own) = (winnow::winnow(0.5)?, winnow::twin(0.5)?);
    let mut table = Table::new(["n", "Winnow", "its bound", "twin", "its bound", "Perceptron"])
        .caption("Mistakes, mean over seeds");
    let mut points: Vec<[f64; 6]> = Vec::new();
    let mut certified = true;
    for (i, bits) in sizes.iter().enumerate() {
        let n = 1_usize << bits;
        let all = mistakes(n, rounds, run.seed * 1000..run.seed * 1000 + seeds)?;
        let scale = K as f64 * Real::ln(n as f64 / K as f64);
        let row = [
            n as f64,
            mean(&all.winnow),
            own.mistakes * scale,
            mean(&all.twin),
            twin_own.mistakes * scale,
            mean(&all.perceptron),
        ];
        certified &= all.certified;
        table.push(row.map(Into::into));
        points.push(row);
        run.done(i + 1, sizes.len());
    }
    outcome.find(Finding::equal(
        "constant of Winnow, M ≤ c k ln(n/k)",
        own.mistakes,
        7.182_242_953_3,
        1e-9,
    ));
    outcome.find(Finding::equal("constant of the twin", twin_own.mistakes, 5.653_885_102_8, 1e-9));
    outcome.find(Finding::new(
        "certificates of all runs",
        "valid, mistakes ≤ bound",
        if certified { "valid, met" } else { "not met" },
        certified,
    ));
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Ok(outcome) };
    for p in &points {
        outcome.find(Finding::at_most(format!("Winnow, n = {}", p[0]), p[1], p[2]).stated());
        outcome.find(Finding::at_most(format!("twin, n = {}", p[0]), p[3], p[4]).stated());
    }
    outcome.find(Finding::above("Perceptron over Winnow, largest n", last[5] / last[1], 8.0));
    // Linear in ln n: mistakes per doubling of n. Earlier measurements gave 4.1 and 3.1.
    let doublings = f64::from(sizes[sizes.len() - 1] - sizes[0]);
    outcome.find(Finding::between(
        "Winnow: mistakes for each doubling of n",
        (last[1] - first[1]) / doublings,
        3.0,
        6.5,
    ));
    outcome.find(Finding::between(
        "twin: mistakes for each doubling of n",
        (last[3] - first[3]) / doublings,
        2.0,
        5.0,
    ));
    let fewer = points.iter().all(|p| p[3] < p[1]);
    outcome.find(Finding::new(
        "the twin makes fewer mistakes",
        "at every n",
        if fewer { "at every n" } else { "not" },
        fewer,
    ));
    let n = run.size.pick(128, 1024);
    let scale = K as f64 * Real::ln(n as f64 / K as f64);
    let start = winnow::start(n, K)?;
    for (name, constants, made) in [
        ("Winnow", own, adversary(Entropy::new(start)?, own, n)?),
        ("twin", twin_own, adversary(ReparamEntropy::new(start)?, twin_own, n)?),
    ] {
        let part = made / (constants.mistakes * scale);
        outcome.find(Finding::between(
            format!("{name}, an adversary, n = {n}: part of the bound that is reached"),
            part,
            0.6,
            1.0,
        ));
    }
    let column = |i: usize| points.iter().map(move |p| (p[0], p[i])).collect::<Vec<_>>();
    let plot = Plot::new("Mistakes on a disjunction of 3 literals")
        .x("literals n")
        .y("mistakes")
        .log_x()
        .log_y();
    outcome.picture(
        "mistakes",
        plot.bound("bound of Winnow", column(2))
            .line("Winnow", column(1))
            .dashed("bound of the twin", column(4))
            .line("twin", column(3))
            .line("Perceptron", column(5)),
    );
    outcome.table("mistakes", table);
    Ok(outcome)
}
