//! One categorical variable: natural gradient learns as fast as counting. Gradient descent is slower, and natural
//! gradient in its primal metric fails.

use geowalk::laws::Sampler;
use geowalk::natural::{AnyFamily, Baseline, Method, Natural, Schedule, Scratch, Settings};
use geowalk::row::Sparse;
use geowalk::{ConfigError, Real};
use geowalk_page::Table;

use super::rules::{bare, inverse};
use super::sample::{log_sum, square};
use crate::{Experiment, Finding, Outcome, Run, Size};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "natural-discrete",
    paper: "SC21, section 4",
    what: "P(y | x) of one categorical x with Zipf's law: the loss above the best after T examples, by gradient descent, Adagrad, natural gradient with and without its cap, and counting.",
    run,
};

/// The distribution of a categorical variable and its classes.
struct Truth {
    x: Vec<f64>,
    y: Vec<Vec<f64>>,
}

fn pick(p: &[f64], mut u: f64) -> usize {
    let found = p.iter().position(|p| {
        u -= p;
        u < 0.0
    });
    found.unwrap_or(p.len() - 1)
}

impl Truth {
    /// P(x) proportional to 1/x; P(y∣x) Dirichlet(½), at least 0.02.
    fn new(m: usize, s: usize, random: &mut Sampler) -> Self {
        let normalised = |mut p: Vec<f64>| {
            let sum: f64 = p.iter().sum();
            for p in &mut p {
                *p /= sum;
            }
            p
        };
        let x = normalised((1..=m).map(|i| 1.0 / i as f64).collect());
        let y = (0..m).map(|_| {
            // The square of a normal is twice a Gamma(½).
            let p = normalised((0..s).map(|_| square(random.normal())).collect());
            normalised(p.into_iter().map(|p| Real::max(p, 0.02)).collect())
        });
        let y = y.collect();
        Self { x, y }
    }

    fn stream(&self, rounds: usize, random: &mut Sampler) -> Vec<(u32, usize)> {
        let draw = |_| {
            let x = pick(&self.x, random.unit());
            (u32::try_from(x).unwrap_or(0), pick(&self.y[x], random.unit()))
        };
        (0..rounds).map(draw).collect()
    }

    /// Σ P(x) KL(P(·∣x) ‖ softmax of the logits).
    fn excess(&self, mut logits: impl FnMut(u32, &mut Vec<f64>)) -> f64 {
        let (mut sum, mut z) = (0.0, Vec::new());
        for (i, (px, p)) in (0..).zip(self.x.iter().zip(&self.y)) {
            logits(i, &mut z);
            let all = log_sum(&z);
            sum += px * p.iter().zip(&z).map(|(p, z)| p * (Real::ln(*p) - z + all)).sum::<f64>();
        }
        sum
    }
}

fn natural(truth: &Truth, stream: &[(u32, usize)], settings: Settings) -> Result<f64, ConfigError> {
    let mut walk = Natural::new(AnyFamily::parse("discrete")?, settings)?;
    walk.grow(truth.x.len(), truth.y[0].len())?;
    for (x, y) in stream {
        walk.step(Sparse::new(&[*x], &[1.0])?, *y, 1.0)?;
    }
    let mut scratch = Scratch::default();
    Ok(truth.excess(|x, z| {
        if let Ok(row) = Sparse::new(&[x], &[1.0]) {
            walk.logits(row, &mut scratch, z);
        }
    }))
}

/// The excess of another rule, and the number of its steps.
fn other(
    truth: &Truth,
    stream: &[(u32, usize)],
    method: Method,
    schedule: Schedule,
) -> Result<(f64, usize), ConfigError> {
    let settings = Settings { schedule, average: false, ..Settings::default() };
    let mut rule = Baseline::new(method, AnyFamily::parse("discrete")?, settings)?;
    rule.grow(truth.x.len(), truth.y[0].len())?;
    let mut steps = 0;
    for (x, y) in stream {
        let row = Sparse::new(std::slice::from_ref(x), &[1.0])?;
        let mut z = Vec::new();
        let made = rule.step(row, *y, 1.0).is_ok();
        rule.logits(row, &mut Scratch::default(), &mut z);
        // Logits of this size count as divergence.
        if !made || !z.iter().all(|z| z.abs() < 1e6) {
            return Ok((f64::INFINITY, steps));
        }
        steps += 1;
    }
    let mut scratch = Scratch::default();
    let excess = truth.excess(|x, z| {
        if let Ok(row) = Sparse::new(&[x], &[1.0]) {
            rule.logits(row, &mut scratch, z);
        }
    });
    Ok((excess, steps))
}

/// The excess of ln(count + ½) by class.
fn counting(truth: &Truth, stream: &[(u32, usize)]) -> f64 {
    let mut counts = vec![vec![0.5; truth.y[0].len()]; truth.x.len()];
    for (x, y) in stream {
        counts[*x as usize][*y] += 1.0;
    }
    truth.excess(|x, z| {
        z.clear();
        z.extend(counts[x as usize].iter().map(|count| Real::ln(*count)));
    })
}

/// Values measured with a different program, by m and s: gradient descent, Adagrad, without the cap, with it.
const EXPECTED: [(usize, usize, [f64; 4]); 4] = [
    (10, 3, [0.001_39, 0.001_41, 0.313, 0.000_08]),
    (100, 3, [0.007_11, 0.004_24, 10.5, 0.001_06]),
    (100, 10, [0.012_47, 0.008_48, 88.5, 0.004_70]),
    (1000, 3, [0.020_01, 0.010_85, 91.2, 0.008_97]),
];

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let small = run.size == Size::Small;
    let (rounds, seeds) = run.size.pick((20_000, 1), (100_000, 3));
    let cases = if small { &EXPECTED[..1] } else { &EXPECTED[..] };
    let mut table = Table::new([
        "m", "s", "descent", "Adagrad", "natural, no cap", "natural, cap", "natural, counting", "counts",
        "m(s − 1)/2T", "own metric: steps",
    ])
    .caption(format!("Loss above the best after {rounds} examples, mean of {seeds} seeds; the rates of descent and Adagrad are the best of nine and of five"));
    let mut earlier =
        Table::new(["m", "s", "descent", "Adagrad", "natural, no cap", "natural, cap"]).caption(
            "The same as another program measured it, with T = 100000 and other random numbers",
        );
    for (at, (m, s, before)) in cases.iter().enumerate() {
        let mut sums = [0.0; 6];
        let mut longest = 0;
        for seed in 0..seeds {
            let mut random = Sampler::new(run.seed * 100 + seed);
            let truth = Truth::new(*m, *s, &mut random);
            let stream = truth.stream(rounds, &mut random);
            let best_of = |method, schedules: &[Schedule]| -> Result<f64, ConfigError> {
                let mut least = f64::INFINITY;
                for schedule in schedules {
                    least = Real::min(least, other(&truth, &stream, method, *schedule)?.0);
                }
                Ok(least)
            };
            let grid = |c: f64| [1e2, 1e3, 1e4].map(|t0| inverse(c, t0));
            let descents = [grid(0.3), grid(1.0), grid(3.0)].concat();
            let rates = [0.03, 0.1, 0.3, 1.0, 3.0].map(|rate| Schedule::Constant { rate });
            let found = [
                best_of(Method::Sgd, &descents)?,
                best_of(Method::Adagrad, &rates)?,
                natural(&truth, &stream, bare(inverse(1.0, 1.0), None))?,
                natural(&truth, &stream, bare(inverse(1.0, 1.0), Some(1.0)))?,
                natural(&truth, &stream, bare(Schedule::Counting, None))?,
                counting(&truth, &stream),
            ];
            sums.iter_mut().zip(found).for_each(|(sum, own)| *sum += own / seeds as f64);
            let (_, steps) = other(&truth, &stream, Method::Sngd, inverse(1.0, 1.0))?;
            longest = longest.max(steps);
        }
        let efficient = (m * (s - 1)) as f64 / (2.0 * rounds as f64);
        let mut row = vec![(*m).into(), (*s).into()];
        row.extend(sums.map(Into::into));
        row.extend([efficient.into(), longest.into()]);
        table.push(row);
        earlier.push([(*m).into(), (*s).into()].into_iter().chain(before.map(Into::into)));
        let name = |what: &str| format!("{what}, m = {m}, s = {s}");
        outcome.find(Finding::at_most(
            name("natural gradient with its cap"),
            sums[3],
            4.0 * efficient,
        ));
        outcome.find(Finding::at_most(
            name("with the schedule that counts"),
            sums[4],
            4.0 * efficient,
        ));
        outcome.find(Finding::between(
            name("counting schedule over counting"),
            sums[4] / sums[5],
            0.5,
            2.0,
        ));
        outcome.find(Finding::above(name("without the cap it fails"), sums[2], 10.0 * efficient));
        outcome.find(Finding::above(name("gradient descent needs more"), sums[0], sums[3]));
        outcome.find(Finding::at_most(
            name("steps of natural gradient in its own metric"),
            longest as f64,
            30.0,
        ));
        run.done(at + 1, cases.len());
    }
    outcome.table("excess", table);
    outcome.table("earlier", earlier);
    Ok(outcome)
}
