//! # The course of a game
//! How things stood after some rounds, for pictures.

use geowalk::certify::Status;
use geowalk::experts::{Combination, Experts, Table};
use geowalk::loss::Loss;
use geowalk::sum::Sum;

/// Losses and weights of all experts are kept for so many experts.
const MOST: usize = 1024;

/// How things stood after some rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Rounds played.
    pub rounds: u64,
    /// What the learner has lost, all in all.
    pub loss: f64,
    /// What the expert has lost that is best so far.
    pub best: f64,
    /// The bound on the regret against that expert: the tighter valid one of the theorem and the first-order certificate.
    pub bound: Option<f64>,
    /// What the combination has lost that turned out to be best.
    pub combination: Option<f64>,
    /// What each expert has lost; empty if there are very many.
    pub losses: Vec<f64>,
    /// The weight of each expert; empty if there are very many.
    pub weights: Vec<f64>,
}

impl Point {
    /// As it is now.
    pub(super) fn new(experts: &Experts) -> Self {
        let standing = experts.against_expert(experts.best());
        let (theorem, first) = (&standing.certificate, &standing.first_order);
        let valid = [theorem, first].into_iter().filter(|own| own.status == Status::Valid);
        let n = experts.weights().len();
        let few = n <= MOST;
        Self {
            rounds: theorem.rounds,
            loss: experts.loss(),
            best: standing.comparator_loss,
            bound: valid.map(|own| own.bound).min_by(f64::total_cmp),
            combination: None,
            losses: (0..n).filter(|_| few).map(|i| experts.loss_of(i)).collect(),
            weights: experts.weights().iter().filter(|_| few).copied().collect(),
        }
    }
}

/// Fills in what the combination had lost at each point.
pub(super) fn follow<L: Loss + ?Sized>(
    points: &mut [Point],
    best: &Combination,
    table: &Table<'_>,
    loss: &L,
) {
    let (mut total, mut round) = (Sum::default(), 0_u64);
    let mut points = points.iter_mut().peekable();
    for (row, y) in table.rows.chunks_exact(table.n.max(1)).zip(table.y) {
        let z = row.iter().zip(&best.w).map(|(x, w)| x * w).sum();
        total.add(loss.value(z, *y));
        round += 1;
        if let Some(point) = points.next_if(|point| point.rounds == round) {
            point.combination = Some(total.total());
        }
    }
}
