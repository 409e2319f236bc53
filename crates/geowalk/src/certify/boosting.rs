//! # Certificates of boosting
//! What the edges of a run promise of its training risk and error. Risks are normalised averages: 1 at the start, and never below the training error, because
//! F(z) ≥ 1 for every z ≤ 0. The comparator is a classifier without loss, so that the bound on the regret is a bound on the loss itself.
//!
//! | certificate | promise |
//! |---|---|
//! | [`rate`](Boosting::rate) | risk ≤ $1 - \frac{a}{2\psi(0)}\sum_j (\gamma_j Z_j)^2/\Vert m_j\Vert^2$, with averages over the examples; for the exponential loss $\prod_j\sqrt{1 - (\gamma_j/\max\vert m_j\vert)^2}$ |
//! | [`training_error`](Boosting::training_error) | training error ≤ risk |
//! | [`weak_learning`](Boosting::weak_learning) | in some round the training error is at most $\frac{2\max\Vert m\Vert}{\gamma}\sqrt{2\psi(0)/(aJ)}$ after J rounds to the minimum with edges of at least γ (balanced losses); capped ones do not count |
//!
//! with $a = \inf\tilde\psi''$, edge $\gamma_j$ and sum of weights $Z_j$.
//!
//! **Premises** one loss throughout; a step to the minimum along its feature, or a capped one, which promises no gain; no renormalisation; a > 0, or the exponential loss.
//! **Care** The printed theorem 2 gives a number of rounds after which "the minimum is reached"; what follows from its proof is the first row: no more rounds with such edges are possible than the
//! risk allows. Its constant is half of what it could be, and for features ±1 the norm is √m, so that the number of rounds is not O(m/γ²) in general. For the exponential loss it says nothing
//! (a = 0), hence the product.
//! **Cost** O(1) per round. **Source** \[NN09, theorem 2, eq. (89)\], as corrected.

use super::{Broken, Certificate, Status};
use crate::Real;
use crate::boost::{Outcome, Round, Surrogate};
use crate::sum::Sum;

const ONE_LOSS: &str = "one loss throughout";
const DESCENT: &str = "a risk that never grows";
const IDENTITY: &str = "steps to the minimum along the feature";
const CURVED: &str = "a curvature of the dual that is bounded from below";
const BALANCED: &str = "a balanced convex loss";
const EDGE: &str = "an edge in every round";
const ROUNDS: &str = "a round";

/// The sums of a boosting run.
///
/// ```
/// use geowalk::boost::{Stop, Surrogate, Uls};
/// use geowalk::certify::Boosting;
/// let features = vec![vec![1.0, 1.0, -1.0, 1.0], vec![1.0, -1.0, -1.0, 1.0]];
/// let labels = [1.0, 1.0, -1.0, -1.0];
/// let loss = Surrogate::parse("exponential")?;
/// let fit = Uls::new(loss.clone(), Stop::after(1)?).fit(&features, &labels, None, None)?;
/// let mut bound = Boosting::new(&loss);
/// for round in &fit.rounds {
///     bound.observe(round);
/// }
/// // γ = ½: the risk is √(1 − ¼), and the training error ¼ is below it.
/// let rate = bound.rate();
/// assert!((rate.loss - 0.75_f64.sqrt()).abs() < 1e-15 && rate.bound >= rate.loss);
/// assert_eq!(bound.training_error().loss, 0.25);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Boosting {
    exponential: bool,
    /// inf ψ̃″.
    floor: f64,
    /// ψ(0).
    scale: f64,
    balanced: bool,
    /// Σ of the guaranteed decreases, or of −ln of the factors.
    gained: Sum,
    rounds: u64,
    /// Rounds that ended at the minimum along their feature.
    solved: u64,
    risk: f64,
    error: f64,
    /// The least error at the start of a round; from the second on.
    least_error: f64,
    /// Of the rounds that are solved.
    least_edge: f64,
    largest_norm: f64,
    loss: Option<usize>,
    broken: Option<Broken>,
}

impl Boosting {
    /// For runs with this loss.
    pub fn new(loss: &Surrogate) -> Self {
        let floor = loss.curvature_floor();
        let mut own = Self {
            exponential: loss.is_exponential(),
            floor,
            scale: loss.scale(),
            balanced: loss.permissible().is_some() || loss.spec() == "logistic",
            gained: Sum::default(),
            rounds: 0,
            solved: 0,
            risk: 1.0,
            error: f64::NAN,
            least_error: 1.0,
            least_edge: f64::INFINITY,
            largest_norm: 0.0,
            loss: None,
            broken: None,
        };
        if loss.renormalises() {
            own.break_at(DESCENT, 0, f64::NAN);
        } else {
            let curved = floor > 0.0 && floor.is_finite();
            if !own.exponential && !curved {
                own.break_at(CURVED, 0, floor);
            }
        }
        own
    }

    fn break_at(&mut self, premise: &'static str, row: u64, found: f64) {
        if self.broken.is_none() {
            self.broken = Some(Broken { premise, row, found });
        }
    }

    /// Sees one round.
    pub fn observe(&mut self, round: &Round) {
        self.rounds += 1;
        let row = self.rounds;
        if *self.loss.get_or_insert(round.loss) != round.loss {
            self.break_at(ONE_LOSS, row, round.loss as f64);
        }
        // 1e-9: what the solver's residual and the rounding of sums can do; a NaN breaks the premise as well.
        let grown = round.surrogate - round.before;
        let descends = grown <= 1e-9 * round.before;
        if !descends {
            self.break_at(DESCENT, row, grown);
        }
        if round.outcome == Outcome::Solved {
            self.solved += 1;
            self.least_edge = Real::min(self.least_edge, round.edge.abs());
            self.largest_norm = Real::max(self.largest_norm, round.norm);
            let exact = round.slip <= 1e-6;
            if !exact {
                self.break_at(IDENTITY, row, round.slip);
            }
            if self.exponential {
                let gamma = Real::min(round.edge.abs() / round.largest, 1.0);
                // −ln √(1 − γ²) ≥ 0, rounded down.
                self.gained.add(-0.5 * Real::ln_1p(-gamma * gamma) * (1.0 - 1e-12));
            } else {
                self.gained.add(round.guaranteed * (1.0 - 1e-12));
            }
        }
        if self.error < self.least_error {
            self.least_error = self.error;
        }
        (self.risk, self.error) = (round.surrogate, round.error);
    }

    fn certificate(&self, theorem: &'static str, loss: f64, bound: f64) -> Certificate {
        let (status, bound) = match &self.broken {
            Some(broken) => (Status::Void(broken.clone()), f64::NAN),
            None => (Status::Valid, bound),
        };
        Certificate { theorem, status, rounds: self.rounds, loss, bound }
    }

    /// The risk, and the bound on it that the edges give.
    pub fn rate(&self) -> Certificate {
        let gained = self.gained.total() - self.gained.error();
        let bound = if self.exponential {
            Real::exp(-gained) * (1.0 + 1e-12)
        } else {
            Real::max(1.0 - gained, 0.0) + 1e-12
        };
        self.certificate("boosting-rate", self.risk, bound.next_up())
    }

    /// The training error, and the risk that bounds it. Holds for every convex loss with F(0) = 1, whatever the steps were; void without rounds, as then no error was measured.
    pub fn training_error(&self) -> Certificate {
        let mut own = Self { broken: None, ..self.clone() };
        if own.rounds == 0 {
            own.break_at(ROUNDS, 0, 0.0);
        }
        own.certificate("training-error", own.error, (own.risk * (1.0 + 1e-12)).next_up())
    }

    /// The least training error before some round, and the bound on it from the least edge of the run.
    pub fn weak_learning(&self) -> Certificate {
        let mut own = self.clone();
        if !own.balanced {
            own.break_at(BALANCED, 0, f64::NAN);
        }
        if own.rounds > 0 && own.solved == 0 {
            own.break_at(IDENTITY, 0, f64::NAN);
        }
        let has_edge = own.least_edge > 0.0 && own.rounds > 0;
        if !has_edge {
            let found = own.least_edge;
            own.break_at(EDGE, 0, found);
        }
        let rounds = own.solved as f64;
        let bound = 2.0
            * (own.largest_norm.sqrt() / own.least_edge)
            * (2.0 * own.scale / (own.floor * rounds)).sqrt();
        own.certificate("weak-learning", own.least_error, bound * (1.0 + 1e-12))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boost::{Order, Stop, Uls};
    use crate::laws::Sampler;

    const NAMES: [&str; 8] =
        ["exponential", "squared", "gini", "matsushita", "entropy", "mu", "nu", "zeta"];

    fn run(name: &str, rounds: usize, seed: u64) -> (Surrogate, Vec<Round>) {
        let mut s = Sampler::new(seed);
        let features: Vec<Vec<f64>> =
            (0..10).map(|_| (0..80).map(|_| s.uniform(-1.5, 1.5)).collect()).collect();
        let labels: Vec<f64> = (0..80)
            .map(|i| if features[0][i] + features[1][i] + s.normal() > 0.0 { 1.0 } else { -1.0 })
            .collect();
        let loss = Surrogate::parse(name).unwrap();
        let mut uls = Uls::new(loss.clone(), Stop::after(rounds).unwrap());
        uls.order = Order::Greedy;
        let fit = uls.fit(&features, &labels, None, None).unwrap();
        (loss, fit.rounds)
    }

    #[test]
    fn the_bounds_hold_and_mean_something() {
        for name in NAMES {
            for seed in 0..5 {
                let (loss, rounds) = run(name, 15, seed);
                let mut bound = Boosting::new(&loss);
                for round in &rounds {
                    bound.observe(round);
                    let rate = bound.rate();
                    assert_eq!(rate.status, Status::Valid, "{name}");
                    assert!(rate.loss <= rate.bound && rate.bound < 1.0, "{name}: {rate:?}");
                    let error = bound.training_error();
                    assert!(error.loss <= error.bound, "{name}: {error:?}");
                    let weak = bound.weak_learning();
                    if matches!(name, "exponential" | "squared") {
                        assert!(matches!(weak.status, Status::Void(_)), "{name}");
                    } else {
                        assert!(weak.loss <= weak.bound, "{name}: {weak:?}");
                    }
                }
                if name == "squared" {
                    // Equality.
                    let rate = bound.rate();
                    assert!(rate.bound - rate.loss < 1e-9, "{rate:?}");
                }
            }
        }
    }

    #[test]
    fn broken_premises_are_named() {
        let (loss, rounds) = run("entropy", 3, 1);
        let void = |change: fn(&mut Round), premise: &str| {
            let mut bound = Boosting::new(&loss);
            bound.observe(&rounds[0]);
            let mut second = rounds[1];
            change(&mut second);
            bound.observe(&second);
            let Status::Void(broken) = bound.rate().status else { panic!("{premise}") };
            assert_eq!((broken.premise, broken.row), (premise, 2));
            assert!(bound.rate().bound.is_nan());
        };
        void(|round| round.loss = 3, ONE_LOSS);
        void(|round| round.surrogate = round.before * 1.01, DESCENT);
        void(|round| round.surrogate = f64::NAN, DESCENT);
        void(|round| round.slip = 0.1, IDENTITY);
        let renorm = Boosting::new(&Surrogate::renorm()).rate();
        assert!(renorm.to_string().contains("a risk that never grows does not hold"), "{renorm}");
        // (k/2)sech²(k/4) underflows.
        let steep = Boosting::new(&Surrogate::parse("zeta(zeta=-4000)").unwrap()).rate();
        assert!(matches!(steep.status, Status::Void(Broken { premise: CURVED, .. })));
        let none = Boosting::new(&loss).weak_learning();
        assert!(matches!(none.status, Status::Void(Broken { premise: EDGE, .. })));
    }

    #[test]
    fn a_capped_step_promises_nothing() {
        let labels = [1.0, -1.0];
        let loss = Surrogate::parse("matsushita").unwrap();
        let uls = Uls::new(loss.clone(), Stop::after(1).unwrap());
        let fit = uls.fit(&[vec![1.0, -1.0]], &labels, None, None).unwrap();
        let mut bound = Boosting::new(&loss);
        bound.observe(&fit.rounds[0]);
        let rate = bound.rate();
        assert_eq!((rate.status, rate.bound >= 1.0), (Status::Valid, true));
        // It is no round of weak learning either.
        let weak = bound.weak_learning();
        assert!(matches!(weak.status, Status::Void(Broken { premise: IDENTITY, .. })), "{weak:?}");
        let mut solved = fit.rounds[0];
        (solved.outcome, solved.edge, solved.norm) = (Outcome::Solved, 0.5, 1.0);
        (solved.before, solved.slip) = (solved.surrogate, 0.0);
        bound.observe(&solved);
        // J = 1, γ = ½, ‖m‖ = 1, ψ(0) = ½, a = 2.
        let weak = bound.weak_learning();
        let expected = 4.0 * (2.0 * 0.5 / 2.0_f64).sqrt();
        assert!((weak.bound - expected).abs() < 1e-9 && weak.status == Status::Valid, "{weak:?}");
    }

    #[test]
    fn without_rounds_no_error_is_certified() {
        let none = Boosting::new(&Surrogate::parse("gini").unwrap()).training_error();
        assert!(matches!(none.status, Status::Void(Broken { premise: ROUNDS, .. })), "{none:?}");
        // A broken rate says nothing against the bound on the error.
        let (_, rounds) = run("gini", 2, 1);
        let mut bound = Boosting::new(&Surrogate::renorm());
        for round in &rounds {
            bound.observe(round);
        }
        assert_eq!(bound.training_error().status, Status::Valid);
    }
}
