//! # A theorem over epochs
//! A rate that follows from the size of the rows, or from how long the run will be, cannot be known when a run begins. A doubling scheme plays in *epochs*: in each the rate is constant, as the theorem
//! demands, and when a constant that it was made from is exceeded a new epoch begins with another rate. The regret of the whole run is the sum over epochs of theirs, against the same comparator, so
//! $$\sum_t \ell(z_t, y_t) - \ell(\langle u, x_t\rangle, y_t) \;\le\; \sum_e \mathrm{bound}_e(u)$$
//! with each bound evaluated on its own rounds, from the weights with which its epoch began. Either those are the start of the run once more, or they are kept, and then
//! $$\Vert u - w_e\Vert \le \Vert u\Vert + \Vert w_e\Vert, \qquad D(u \Vert w_e) \le \tfrac12(\Vert u\Vert_q + \Vert w_e\Vert_q)^2$$
//! (the second for ψ = ½‖·‖_q², by Hölder's inequality) make it enough to remember how long they were.
//! **Cost** That of the theorem, and O(1) numbers for each epoch that is over. **Care** Where what the comparator lost is known, it is known of the whole run: a loss ≥ 0 loses no more in each epoch.
//! **Source** \[CFHHSW97\], the doubling trick.

use super::{AnyBound, Certificate, Comparator, Status, Verdict};
use crate::error::ConfigError;
use crate::row::{Norm, Row};
use crate::update::Round;

/// The theorems of a run over epochs.
///
/// ```
/// use geowalk::certify::{AnyBound, Comparator, Epochs, Ledger};
/// use geowalk::loss::{Hinge, Loss};
/// use geowalk::row::{Dense, Norm};
/// use geowalk::walk::{Euclidean, Walk};
///
/// let mut walk = Euclidean::new();
/// let theorem = AnyBound::Ledger(Ledger::gradient_descent(&[], &Hinge.facts()));
/// let mut bound = Epochs::new(theorem, Norm::L2);
/// for rate in [0.5, 0.25] {
///     let mut w = Vec::new();
///     walk.read(&mut w);
///     bound.turn(Norm::L2.above(&w));
///     let round = walk.step(Dense(&[1.0]), 1.0.into(), &Hinge, rate)?;
///     bound.observe(&round, Dense(&[1.0]));
/// }
/// let verdict = &bound.certify(&Comparator::Given(&[1.0]), None, None)[0];
/// // 1²/(2·½) + ½·½, and from the weight ½ on (1 + ½)²/(2·¼) + ¼·½.
/// assert!((verdict.certificate.bound - (1.25 + 4.625)).abs() < 1e-12);
/// assert_eq!((verdict.epochs, verdict.certificate.rounds), (2, 2));
/// # Ok::<(), geowalk::DomainError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Epochs {
    fresh: AnyBound,
    now: Epoch,
    past: Vec<Epoch>,
    norm: Norm,
}

/// The theorems on the rounds of one epoch.
#[derive(Debug, Clone)]
struct Epoch {
    bound: AnyBound,
    /// No less than the norm of the weights that were kept when it began; 0 where it began at the start.
    away: f64,
}

impl Epochs {
    /// One epoch, which may be the only one. Weights that are kept are measured in this norm, in which the theorem measures comparators.
    pub fn new(bound: AnyBound, norm: Norm) -> Self {
        let now = Epoch { bound: bound.clone(), away: 0.0 };
        Self { fresh: bound, now, past: Vec::new(), norm }
    }

    /// Sees one round.
    #[inline]
    pub fn observe<X: Row<f64>>(&mut self, round: &Round, x: X) {
        self.now.bound.observe(round, x);
    }

    /// A new epoch begins, with weights that are `away` from 0, or with 0 at the start of the walk. One without rounds is not kept.
    pub fn turn(&mut self, away: f64) {
        let next = Epoch { bound: self.fresh.clone(), away };
        let over = std::mem::replace(&mut self.now, next);
        let verdicts = over.certify(&Comparator::Given(&[]), self.norm, None, None);
        if verdicts.first().is_some_and(|verdict| verdict.certificate.rounds > 0) {
            self.past.push(over);
        }
    }

    /// What each theorem says of the comparators: the sum of what it says of the epochs, rounded up.
    pub fn certify(
        &self,
        u: &Comparator<'_>,
        loss: Option<f64>,
        bets: Option<f64>,
    ) -> Vec<Verdict> {
        let epochs = self.past.len() + 1;
        let mut sums: Vec<Option<Certificate>> = vec![None; self.fresh.count()];
        for epoch in &self.past {
            let verdicts = epoch.certify(u, self.norm, loss, bets);
            for (sum, verdict) in sums.iter_mut().zip(verdicts) {
                *sum = Some(follow(sum.take(), verdict.certificate));
            }
        }
        let last = self.now.certify(u, self.norm, loss, bets).into_iter().zip(sums);
        last.map(|(last, sum)| {
            // An epoch that has only begun says nothing yet, except of a run without any.
            let certificate = match sum {
                Some(sum) if last.certificate.rounds == 0 => sum,
                sum => follow(sum, last.certificate),
            };
            Verdict { certificate, epochs, ..last }
        })
        .collect()
    }

    /// Gives away everything that changes, as arrays whose names begin with the number of the theorem.
    pub fn save(&self, put: &mut dyn FnMut(&str, &[f64])) {
        self.now.bound.save(&mut |j, name, values| put(&format!("{j}.{name}"), values));
        if self.past.is_empty() && self.now.away == 0.0 {
            return;
        }
        let away: Vec<f64> = self.past.iter().chain([&self.now]).map(|epoch| epoch.away).collect();
        for j in 0..self.fresh.count() {
            put(&format!("{j}.epochs"), &away);
        }
        for (e, epoch) in self.past.iter().enumerate() {
            epoch.bound.save(&mut |j, name, values| put(&format!("{j}.{e}.{name}"), values));
        }
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        self.now.bound.load(&mut |j, name| get(&format!("{j}.{name}")))?;
        self.past.clear();
        let Some((now, past)) = get("0.epochs").and_then(|away| {
            let (now, past) = away.split_last()?;
            Some((*now, past.to_vec()))
        }) else {
            return Ok(());
        };
        self.now.away = now;
        for (e, away) in past.into_iter().enumerate() {
            let mut bound = self.fresh.clone();
            bound.load(&mut |j, name| get(&format!("{j}.{e}.{name}")))?;
            self.past.push(Epoch { bound, away });
        }
        Ok(())
    }
}

impl Epoch {
    fn certify(
        &self,
        u: &Comparator<'_>,
        norm: Norm,
        loss: Option<f64>,
        bets: Option<f64>,
    ) -> Vec<Verdict> {
        if self.away == 0.0 {
            return self.bound.certify(u, loss, bets);
        }
        let radius = (longest(u, norm) + self.away).next_up();
        self.bound.certify(&Comparator::Ball { norm, radius }, loss, bets)
    }
}

/// No less than sup ‖u‖ over the comparators; NaN where it is not known.
fn longest(u: &Comparator<'_>, norm: Norm) -> f64 {
    match (*u, norm) {
        (Comparator::Given(u) | Comparator::Box { radii: u }, _) => norm.above(u),
        // ‖u‖_q ≤ ‖u‖₁.
        (Comparator::Ball { norm: Norm::L1, radius }, _)
        | (Comparator::Sphere { radius }, Norm::L2) => radius,
        (Comparator::Ball { norm: own, radius }, _) if own == norm => radius,
        (Comparator::Simplex { .. }, _) => 1.0,
        (Comparator::Positive { total }, _) => total,
        _ => f64::NAN,
    }
}

/// Rounds after rounds: losses and bounds add up, and the first premise that broke breaks all.
fn follow(sum: Option<Certificate>, next: Certificate) -> Certificate {
    let Some(sum) = sum else { return next };
    let status = match (sum.status, next.status) {
        (Status::Valid, Status::Void(mut broken)) => {
            if broken.row > 0 {
                broken.row += sum.rounds;
            }
            Status::Void(broken)
        }
        (status, _) => status,
    };
    Certificate {
        theorem: next.theorem,
        status,
        rounds: sum.rounds + next.rounds,
        loss: sum.loss + next.loss,
        bound: (sum.bound + next.bound).next_up(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certify::Ledger;
    use crate::laws::Sampler;
    use crate::loss::{Loss, Squared};
    use crate::row::Dense;
    use crate::walk::{Euclidean, Walk};

    /// Least squares with a new epoch every 20 rounds, at half the rate; the walk keeps its weights.
    fn run(rounds: usize, breaks: Option<usize>) -> (Epochs, Vec<([f64; 2], f64)>) {
        let mut random = Sampler::new(3);
        let mut walk = Euclidean::new();
        let theorem = AnyBound::Ledger(Ledger::least_squares(&[]));
        let mut bound = Epochs::new(theorem, Norm::L2);
        let (mut rate, mut rows) = (0.4, Vec::new());
        for t in 0..rounds {
            if t > 0 && t.is_multiple_of(20) {
                let mut w = Vec::new();
                walk.read(&mut w);
                bound.turn(Norm::L2.above(&w));
                rate *= 0.5;
            }
            let mut x = [random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0)];
            if breaks == Some(t) {
                x[0] = 1e3;
            }
            let y = x[0] - 0.5 * x[1] + 0.3 * random.normal();
            let round = walk.step(Dense(&x), y.into(), &Squared, rate).unwrap();
            bound.observe(&round, Dense(&x));
            rows.push((x, y));
        }
        (bound, rows)
    }

    #[test]
    fn the_regret_is_below_the_sum_and_the_sum_is_no_accident() {
        let (bound, rows) = run(90, None);
        let mut random = Sampler::new(4);
        for _ in 0..200 {
            let u = [random.uniform(-2.0, 2.0), random.uniform(-2.0, 2.0)];
            let lost = rows.iter().map(|(x, y)| Squared.value(u[0] * x[0] + u[1] * x[1], *y));
            let lost: f64 = lost.sum();
            for known in [None, Some(lost)] {
                let verdict = &bound.certify(&Comparator::Given(&u), known, None)[0];
                let c = &verdict.certificate;
                assert_eq!((&c.status, c.rounds, verdict.epochs), (&Status::Valid, 90, 5));
                assert!(c.loss - lost <= c.bound, "{} > {c}", c.loss - lost);
                // No epoch alone is enough: the sum is larger than what the last one says.
                let last = bound.now.certify(&Comparator::Given(&u), Norm::L2, known, None);
                assert!(last[0].certificate.bound < c.bound);
            }
        }
        // From weights that were kept a comparator counts as farther away than it is from 0.
        let u = Comparator::Given(&[0.1, 0.0]);
        let kept = bound.now.certify(&u, Norm::L2, Some(0.0), None)[0].certificate.bound;
        let near = bound.now.bound.certify(&u, Some(0.0), None)[0].certificate.bound;
        assert!(bound.now.away > 0.5 && kept > near, "{kept} {near}");
    }

    #[test]
    fn a_premise_that_breaks_in_one_epoch_breaks_at_its_row() {
        let (bound, _) = run(90, Some(52));
        let certificate = &bound.certify(&Comparator::Given(&[1.0]), None, None)[0].certificate;
        let Status::Void(broken) = &certificate.status else { panic!("{certificate}") };
        assert_eq!((broken.row, broken.premise), (53, "rate |x|^2 < 1"));
        assert!(certificate.bound.is_nan());
    }

    #[test]
    fn what_was_saved_goes_on_with_the_same_bits() {
        for rounds in [5, 20, 21, 70] {
            let (bound, _) = run(rounds, None);
            let mut arrays: Vec<(String, Vec<f64>)> = Vec::new();
            bound.save(&mut |name, values| arrays.push((name.to_owned(), values.to_vec())));
            let mut again = Epochs::new(bound.fresh.clone(), Norm::L2);
            let find = |name: &str| arrays.iter().find(|(own, _)| own == name);
            again.load(&mut |name| find(name).map(|(_, values)| values.clone())).unwrap();
            for u in [[1.0, -0.5], [0.0, 3.0]] {
                let say = |bound: &Epochs| bound.certify(&Comparator::Given(&u), None, None);
                assert_eq!(say(&bound), say(&again));
            }
        }
    }

    #[test]
    fn comparators_that_a_norm_does_not_measure_have_no_bound() {
        let (bound, _) = run(30, None);
        let ball = Comparator::Ball { norm: Norm::LInf, radius: 1.0 };
        let verdict = &bound.certify(&ball, None, None)[0];
        assert!(verdict.is_silent(), "{}", verdict.certificate);
    }
}
