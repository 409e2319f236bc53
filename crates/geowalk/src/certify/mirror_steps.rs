//! # Mirror steps, measured
//! For a loss convex in the prediction, a constant rate and *any* generator:
//! $$\text{regret} \;\le\; \frac1\eta\Bigl(D_\psi(u \Vert w_0) + \sum_t D_\psi(w_t \Vert w_{t+1})\Bigr)$$
//! where a round reports $\sqrt{2D(w_t \Vert w_{t+1})}$ as its length. It is what [`MirrorDescent`](super::MirrorDescent) bounds further, by strong convexity, to promise something beforehand: no modulus is needed
//! here, so it speaks of the unnormalised entropy, of Burg's and of constant metrics too. The steps of p-norm walks, whose reported lengths have lost digits, are bounded as there.
//! **Proof** $\eta g\langle w_t - u, x\rangle = D(u\Vert w_t) - D(u\Vert w_{t+1}) + D(w_t\Vert w_{t+1})$ exactly, round by round. **Cost** O(1) per round.
//! **Source** standard, \[SS12, sec. 2.7\]; the identity \[NN09, lemma 9\].

use super::losses::NO_MORE;
use super::origin::{Origin, Start, keep_steps, restore_steps};
use super::theorem::{
    AS_WRITTEN, CONSTANT, CONVEX, FINITE, Members, NONNEGATIVE, PROBABILITIES, Theorem,
    WITHIN_SCALE, Watch, checked, declared, outward, size, sum_of_gaps, underflow,
};
use super::{Bound, Certificate, Comparator, Metric};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};
use crate::geometry::generators::gap;
use crate::loss::Facts;
use crate::row::{Norm, Row};
use crate::sum::Sum;
use crate::update::Round;

pub(super) const THEOREM: Theorem = Theorem {
    name: "mirror-steps",
    premises: &[
        declared(CONVEX),
        checked(CONSTANT),
        checked(NO_MORE),
        checked(PROBABILITIES),
        checked(NONNEGATIVE),
        checked(WITHIN_SCALE),
        checked(AS_WRITTEN),
        checked(FINITE),
        declared("the rounds are mirror steps of this generator, of the length they report"),
    ],
    bound: "(D(u, w0) + sum D(w_t, w_t+1))/eta",
    source: "SS12, sec. 2.7",
    correction: "",
};

/// D_ψ(u‖w₀), for the generators of walks.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Divergence {
    /// Relative entropy, on the simplex or unnormalised.
    Entropy,
    /// ½‖u‖_q² from 0.
    PNorm {
        /// q.
        q: f64,
    },
    /// Itakura's and Saito's.
    Burg,
    /// uᵀΣu from 0.
    Mahalanobis(Metric),
}

/// The bound of mirror steps of measured length.
///
/// ```
/// use geowalk::certify::{Bound, Comparator, Divergence, MirrorSteps, Start};
/// use geowalk::loss::{Logistic, Loss};
/// use geowalk::row::Dense;
/// use geowalk::walk::{Entropy, Walk};
///
/// let mut egu = Entropy::new(0.5)?;
/// let mut bound = MirrorSteps::new(Divergence::Entropy, Start::Each(0.5), &Logistic.facts())?;
/// for y in [1.0, -1.0, 1.0, 1.0] {
///     let round = egu.step(Dense(&[y, 1.0]), y.into(), &Logistic, 0.5)?;
///     bound.observe(&round, Dense(&[y, 1.0]));
/// }
/// let certificate = bound.certify(&Comparator::Given(&[2.0, 0.5]));
/// // 2 · (2 ln 4 − 1.5) and the steps.
/// assert!(certificate.bound > 2.545 && certificate.bound < 2.8, "{certificate}");
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct MirrorSteps {
    divergence: Divergence,
    start: Origin,
    watch: Watch,
    squares: Sum,
}

impl MirrorSteps {
    /// From a start, which for p-norms must be 0, for entropies positive.
    pub fn new(divergence: Divergence, start: Start, facts: &Facts) -> Result<Self, ConfigError> {
        let allowed = match &divergence {
            Divergence::PNorm { q } => {
                error::parameter("q", *q, Allowed::OpenClosed(1.0, 2.0))?;
                Allowed::Closed(0.0, 0.0)
            }
            Divergence::Mahalanobis(_) => Allowed::Closed(0.0, 0.0),
            Divergence::Entropy | Divergence::Burg => Allowed::Positive,
        };
        match &start {
            Start::Given(w) => error::each("the start", w, allowed)?,
            Start::Each(w) => error::each("the start", &[*w], allowed)?,
            Start::Even => {}
        }
        let theorem = match divergence {
            Divergence::PNorm { .. } => &super::mirror_descent::THEOREM,
            _ => &THEOREM,
        };
        let (start, watch) = (Origin::new(start), Watch::convex(theorem, facts));
        Ok(Self { divergence, start, watch, squares: Sum::default() })
    }

    /// How many features have been seen.
    pub(super) fn features(&self) -> usize {
        self.start.features()
    }

    /// Is it on the simplex?
    pub(super) fn is_even(&self) -> bool {
        self.start.is_even()
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        keep_steps(&self.watch, &self.squares, &self.start, put);
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        restore_steps(&mut self.watch, &mut self.squares, &mut self.start, get)
    }

    /// No less than what D(w_t‖w_{t+1}) may have lost to rounding, beside 1e-10 of itself.
    ///
    /// On the simplex it is ln Σwe^s − Σws, and Σws = −ηgz. Where it is much less than its terms, all weight
    /// has nearly the same s, so these are of size (ηgz)², or 1 + |ηgz| for large ones. The walk's sum of
    /// weights is good to 1e-13, those over a row of n to n roundings, and so is the prediction.
    fn slip(&self, round: &Round, n: usize) -> f64 {
        if self.divergence != Divergence::Entropy || self.start.members() != Members::Probabilities
        {
            return 0.0;
        }
        let linear = (round.rate * round.slope * round.z).abs();
        let roundings = (n as f64 + 32.0) * f64::EPSILON;
        (4e-13 + roundings) * Real::min(linear * linear, 1.0 + linear) + roundings * linear
    }

    /// sup D(u‖w₀) over the comparators.
    fn farthest(&self, u: &Comparator<'_>) -> f64 {
        match &self.divergence {
            Divergence::Entropy => self.start.farthest_entropy(u),
            Divergence::PNorm { q } => half_square(u, *q),
            Divergence::Mahalanobis(metric) => metric.divergence(u),
            Divergence::Burg => match *u {
                Comparator::Given(u) => {
                    let weights = self.start.weights(u.len());
                    if u.len() != weights.len() {
                        return f64::NAN;
                    }
                    let positive = u.iter().all(|u| *u > 0.0 && u.is_finite());
                    let terms = u.iter().zip(weights.iter()).map(|(u, w)| gap::burg(*u, *w));
                    if positive { sum_of_gaps(terms) } else { f64::NAN }
                }
                _ => f64::NAN,
            },
        }
    }
}

/// sup ½‖u‖_q² over the comparators, rounded up; NaN where it is not known.
pub(super) fn half_square(u: &Comparator<'_>, q: f64) -> f64 {
    let most = match *u {
        Comparator::Given(u) => Norm::Lp(q).of(u),
        Comparator::Ball { norm: Norm::L1, radius } => size(radius),
        Comparator::Ball { norm: Norm::Lp(r), radius } if r <= q * (1.0 + 1e-12) => size(radius),
        Comparator::Ball { norm: Norm::L2, radius } if q == 2.0 => size(radius),
        Comparator::Simplex { .. } => 1.0,
        Comparator::Positive { total } => size(total),
        _ => f64::NAN,
    };
    outward(0.5 * most * most * (1.0 + 1e-12), 0.0)
}

impl Bound for MirrorSteps {
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        self.watch.round(round);
        self.watch.constant_rate(round.rate);
        self.start.see(x.bound(), &mut self.watch);
        let length = match self.divergence {
            // ψ is (q − 1)-strongly convex.
            Divergence::PNorm { q } => {
                let norm = x.above(Norm::Lp(q).dual());
                round.rate * round.slope * norm / (q - 1.0).sqrt()
            }
            _ => round.length,
        };
        self.squares.add(length * length + 2.0 * self.slip(round, x.bound()));
    }

    fn compare(&mut self, round: &Round, prediction: f64, loss: f64) {
        self.watch.compare(round, prediction, loss);
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        if self.divergence == Divergence::Entropy
            && let Some(refused) = self.watch.outside(u, self.start.members())
        {
            return refused;
        }
        let farthest = self.farthest(u);
        if self.watch.rounds == 0 && !farthest.is_nan() {
            return self.watch.issue(0.0);
        }
        let squares = self.squares.upper() + underflow(self.watch.rounds);
        let steps = 0.5 * squares * (1.0 + 1e-10);
        let (n, count) = (self.start.features() as f64, self.watch.rounds as f64);
        let rounding = match self.divergence {
            Divergence::Entropy => self.start.rounding(farthest, squares, self.watch.rounds),
            // −1/w_i is rounded in every step, |p/w − 1| is at most D + √2D, and |ηgz| is at most √n lengths.
            Divergence::Burg => {
                let far = farthest + (2.0 * n * farthest).sqrt() + (count * n * squares).sqrt();
                (n + 32.0) * f64::EPSILON * count * far
            }
            _ => 8.0 * f64::EPSILON * count * (farthest + steps),
        };
        self.watch.issue(outward((farthest + steps + rounding) / self.watch.rate, 0.0))
    }
}
