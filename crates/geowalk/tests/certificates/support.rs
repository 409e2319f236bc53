//! Streams, adversaries, and the checks of certificates.

use geowalk::certify::{self, Bound, Certificate, Status};
use geowalk::laws::Sampler;
use geowalk::loss::Loss;
use geowalk::row::Dense;
use geowalk::sum::Sum;
use geowalk::update::Round;
use geowalk::walk::Walk;

/// A row and its label.
pub(crate) type Example = (Vec<f64>, f64);

/// A finished game: its rows and rounds.
#[derive(Debug)]
pub(crate) struct Game {
    pub(crate) rows: Vec<Example>,
    pub(crate) rounds: Vec<Round>,
}

impl Game {
    /// The total loss of the learner.
    pub(crate) fn loss(&self) -> f64 {
        let mut sum = Sum::default();
        self.rounds.iter().for_each(|round| sum.add(round.loss));
        sum.total()
    }

    /// The total loss of fixed weights.
    pub(crate) fn comparator<L: Loss>(&self, u: &[f64], loss: &L) -> f64 {
        let mut sum = Sum::default();
        for (x, y) in &self.rows {
            sum.add(loss.value(dot(u, x), *y));
        }
        sum.total()
    }

    pub(crate) fn regret<L: Loss>(&self, u: &[f64], loss: &L) -> f64 {
        self.loss() - self.comparator(u, loss)
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Plays `rounds` rounds. An adversary examines several examples and chooses the one on which the learner's loss
/// exceeds that of `u` most.
pub(crate) fn play<W: Walk, B: Bound, L: Loss>(
    walk: &mut W,
    bound: &mut B,
    loss: &L,
    rate: f64,
    rounds: usize,
    u: &[f64],
    adversarial: bool,
    mut draw: impl FnMut() -> Example,
) -> Game {
    let mut game = Game { rows: Vec::new(), rounds: Vec::new() };
    for _ in 0..rounds {
        let looks = if adversarial { 8 } else { 1 };
        let mut best: Option<(f64, Example)> = None;
        for _ in 0..looks {
            let (x, y) = draw();
            walk.grow(x.len());
            let gain = loss.value(walk.predict(Dense(&x)), y) - loss.value(dot(u, &x), y);
            if best.as_ref().is_none_or(|(most, _)| gain > *most) {
                best = Some((gain, (x, y)));
            }
        }
        let (_, (x, y)) = best.unwrap();
        let round = walk.step(Dense(&x), y.into(), loss, rate).unwrap();
        bound.observe(&round, Dense(&x));
        game.rows.push((x, y));
        game.rounds.push(round);
    }
    game
}

/// Checks that the certificate is valid, and that the regret exceeds the bound at most by the rounding of the losses.
#[track_caller]
pub(crate) fn holds(certificate: &Certificate, regret: f64) {
    assert_eq!(certificate.status, Status::Valid, "{certificate}");
    let rounding = 1e-13 * (certificate.loss.abs() + 1.0);
    assert!(regret <= certificate.bound + rounding, "regret {regret} > bound: {certificate}");
}

/// Checks that the certificate is void at the row, for the premise, which belongs to the theorem (or to the
/// comparator).
#[track_caller]
pub(crate) fn void(certificate: &Certificate, row: u64, premise: &str) {
    let Status::Void(broken) = &certificate.status else { panic!("not void: {certificate}") };
    assert_eq!((broken.row, broken.premise), (row, premise), "{certificate}");
    assert!(certificate.bound.is_nan());
    let theorem = certify::entries().find(|t| t.name == certificate.theorem).unwrap();
    // The loss declares convexity. It is tested if a comparator's loss is known.
    let convex = "convexity of the loss in the prediction";
    let own =
        theorem.premises.iter().any(|p| p.text == premise && (!p.declared || premise == convex));
    let comparator = premise == "a comparator for which the bound is known";
    assert!(own || comparator, "'{premise}' is no premise of {}", theorem.name);
}

/// Uniform in [lo, hi]ⁿ.
pub(crate) fn cube(random: &mut Sampler, n: usize, lo: f64, hi: f64) -> Vec<f64> {
    (0..n).map(|_| random.uniform(lo, hi)).collect()
}

/// A probability vector; sometimes a vertex of the simplex.
pub(crate) fn simplex(random: &mut Sampler, n: usize) -> Vec<f64> {
    if random.unit() < 0.5 {
        let mut u = vec![0.0; n];
        u[random.below(n)] = 1.0;
        return u;
    }
    let mut u: Vec<f64> = (0..n).map(|_| -random.unit().ln()).collect();
    let total: f64 = u.iter().sum();
    for u in &mut u {
        *u /= total;
    }
    u
}
