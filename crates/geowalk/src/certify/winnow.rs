//! # Winnow and its twin: mistakes
//! Features in [0, 1], the rate η and threshold θ of the [constants](crate::walk::winnow) for the margin μ, and u ≥ 0 with ⟨u, x⟩ ≥ μ on positive and 0 on negative examples:
//! $$M \;\le\; c\,D(u\Vert w_1)$$
//! mistakes, $c = (e^\eta + 1)/\mu\eta$ for Winnow and $2/(\mu(2 - \eta)\ln(1 + \eta))$ for the twin; $c\,k\ln(n/k)$ from $w_1 = k/n$ for a disjunction of k literals. For *any* u ≥ 0
//! ([`Winnow::agnostic`])
//! $$M \;\le\; c\Bigl(D(u\Vert w_1) + \sum_{+} a\,(\mu - \langle u, x_t\rangle) + \sum_{-} b\,\langle u, x_t\rangle\Bigr)$$
//! over the mistakes on positive and on negative examples: linear in u, so that one vector answers for all comparators ([`Winnow::against`]), and no larger than the first where that holds; a = b = η for Winnow, $a = 2\ln(1 + \eta)$, $b = -2\ln(1 - \eta)$ for the twin.
//!
//! **Proof** Each mistake on a positive example brings the weights nearer to u by at least $1/c + a(\langle u, x\rangle - \mu)$, on a negative one by $1/c - b\langle u, x\rangle$. **Cost** O(nnz).
//! **Care** only rounds with a mistake count, so only there is the premise about u checked. A certificate's loss is the number of mistakes.
//! **Source** \[AW20, thm. 2 and 3\], with the weight k/n (printed n/k: 1380 mistakes > 95.8 for n = 256, k = 3), and the exact η and θ.

use super::losses::NO_MORE;
use super::origin::{Origin, Start};
use super::theorem::{
    AS_WRITTEN, CONSTANT, FINITE, Members, NONNEGATIVE, Theorem, Watch, checked, declared, keep,
    outward, relative_entropy, restore,
};
use super::{Bound, Certificate, Comparator};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};
use crate::row::Row;
use crate::sum::Sum;
use crate::update::Round;
use crate::walk::winnow::{self, Constants};

const FEATURES: &str = "features in [0, 1]";
const SEPARATES: &str = "a comparator with <u, x> >= margin on positive and 0 on negative examples";
const LOSS: &str = "the loss max(0, -y(z - theta)) at the theorem's threshold, weight 1";
const RATE: &str = "the rate of the theorem";

const PREMISES: &[super::Premise] = &[
    checked(FEATURES),
    checked(SEPARATES),
    checked(LOSS),
    checked(RATE),
    checked(CONSTANT),
    checked(NO_MORE),
    checked(NONNEGATIVE),
    checked(AS_WRITTEN),
    checked(FINITE),
    declared("the rounds are steps of this algorithm"),
];

pub(super) const WINNOW: Theorem = Theorem {
    name: "winnow",
    premises: PREMISES,
    bound: "mistakes <= c D(u, w1), c = (exp(eta) + 1)/(margin eta)",
    source: "AW20, thm. 2",
    correction: "initial weight k/n, not n/k; exact rate and threshold; agnostic form new",
};

pub(super) const TWIN: Theorem = Theorem {
    name: "reparam-winnow",
    premises: PREMISES,
    bound: "mistakes <= c D(u, w1), c = 2/(margin (2 - eta) ln(1 + eta))",
    source: "AW20, thm. 3",
    correction: "initial weight k/n, not n/k; 5.654, not 5.56; agnostic form new",
};

/// The mistake bound of Winnow or of its twin against one comparator.
///
/// ```
/// use geowalk::certify::{Bound, Comparator, Winnow};
/// use geowalk::loss::WinnowHinge;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Entropy, Walk, winnow};
///
/// let constants = winnow::winnow(0.5)?;
/// let loss = WinnowHinge::new(constants.threshold)?;
/// let mut walk = Entropy::new(0.25)?;
/// let u = [1.0, 0.0, 0.0, 0.0];
/// let mut bound = Winnow::new(0.5, &[0.25; 4], &u)?;
/// for x in [[1.0, 1.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]].repeat(10) {
///     let round = walk.step(Dense(&x), (2.0 * x[0] - 1.0).into(), &loss, constants.rate)?;
///     bound.observe(&round, Dense(&x));
/// }
/// let certificate = bound.certify(&Comparator::Given(&u));
/// assert!((certificate.bound - 7.182242953 * 4.0_f64.ln()).abs() < 1e-8);
/// assert!(certificate.loss <= certificate.bound);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Winnow {
    constants: Constants,
    margin: f64,
    /// a and b.
    factors: (f64, f64),
    u: Vec<f64>,
    start: Origin,
    divergence: f64,
    watch: Watch,
    /// All premises but that about u.
    agnostic: Watch,
    mistakes: u64,
    deficit: Sum,
    /// Mistakes on positive examples, and Σ₋bx − Σ₊ax, with Σ of its terms' magnitudes: what any u is answered from.
    positive: u64,
    tilt: Vec<f64>,
    size: f64,
}

impl Winnow {
    /// Winnow for a margin, from the positive weights `start`, against `u`.
    pub fn new(margin: f64, start: &[f64], u: &[f64]) -> Result<Self, ConfigError> {
        let constants = winnow::winnow(margin)?;
        let factors = (constants.rate, constants.rate);
        Self::build(constants, margin, factors, start, u, &WINNOW)
    }

    /// Its twin; `start` is w, not u.
    pub fn twin(margin: f64, start: &[f64], u: &[f64]) -> Result<Self, ConfigError> {
        let constants = winnow::twin(margin)?;
        // The rate of the walk is twice the η of the theorem.
        let eta = 0.5 * constants.rate;
        let factors = (2.0 * Real::ln_1p(eta), -2.0 * Real::ln_1p(-eta));
        Self::build(constants, margin, factors, start, u, &TWIN)
    }

    fn build(
        constants: Constants,
        margin: f64,
        factors: (f64, f64),
        start: &[f64],
        u: &[f64],
        theorem: &'static Theorem,
    ) -> Result<Self, ConfigError> {
        error::each("the start", start, Allowed::Positive)?;
        error::each("the comparator", u, Allowed::NonNegative)?;
        Ok(Self {
            constants,
            margin,
            factors,
            divergence: relative_entropy(u, start),
            u: u.to_vec(),
            start: Origin::given(start),
            watch: Watch::new(theorem),
            agnostic: Watch::new(theorem),
            mistakes: 0,
            deficit: Sum::default(),
            positive: 0,
            tilt: Vec::new(),
            size: 0.0,
        })
    }

    /// From another start, for features that come at any time; against no comparator in particular.
    #[must_use]
    pub fn starting(self, start: Start) -> Self {
        Self { start: Origin::new(start), divergence: f64::NAN, u: Vec::new(), ..self }
    }

    /// The bound on mistakes against any comparators, separating or not.
    pub fn against(&self, u: &Comparator<'_>) -> Certificate {
        if let Some(refused) = self.agnostic.outside(u, Members::NonNegative) {
            return refused;
        }
        let start = self.start.weights(u.features());
        let total: f64 = start.iter().sum();
        let at = |i: usize| self.tilt.get(i).copied().unwrap_or(0.0);
        // A plain sum of so many terms.
        let slip = (self.mistakes as f64 + 4.0) * f64::EPSILON * self.size;
        let inner = match *u {
            Comparator::Given(u) => {
                let mut sum = Sum::default();
                u.iter().enumerate().for_each(|(i, u)| sum.add(u * (at(i) + slip)));
                sum.add(relative_entropy(u, &start));
                sum.upper() + 4.0 * f64::EPSILON * sum.magnitude()
            }
            // Convex in u: largest at 0 or at a vertex.
            Comparator::Positive { total: most } if most > 0.0 => {
                let vertex = |(i, w): (usize, &f64)| {
                    most * Real::ln(most / w) - most + total + most * (at(i) + slip)
                };
                outward(start.iter().enumerate().map(vertex).fold(total, Real::max), most + total)
            }
            _ => f64::NAN,
        };
        let (a, _) = self.factors;
        let sum = inner + a * self.margin * self.positive as f64;
        let bound = outward(self.constants.mistakes * sum, self.constants.mistakes * inner);
        self.agnostic.issue_on(self.mistakes as f64, Real::max(bound, 0.0))
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        let own = [self.mistakes as f64, self.positive as f64, self.size, self.start.save()];
        keep(&self.agnostic, &[own.as_slice(), &self.deficit.save()].concat(), put);
        put("tilt", &self.tilt);
    }

    /// Continues from what `save` gave, with the same bits. What [`Bound::certify`](super::Bound::certify) says of a comparator known beforehand is not kept.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // counts below 2^53
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let [mistakes, positive, size, n, a, b, c, d] = restore(&mut self.agnostic, get)?;
        (self.mistakes, self.positive, self.size) = (mistakes as u64, positive as u64, size);
        self.start.load(n);
        self.deficit = Sum::load([a, b, c, d]);
        self.tilt = crate::walk::array(get, "tilt", Allowed::Finite)?;
        Ok(())
    }

    /// The bound for a comparator that need not separate the examples.
    pub fn agnostic(&self) -> Certificate {
        let sum = self.divergence + self.deficit.upper();
        let bound = outward(self.constants.mistakes * sum, self.deficit.magnitude());
        self.agnostic.issue_on(self.mistakes as f64, bound)
    }
}

impl Bound for Winnow {
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        let (mut lo, mut hi, mut inner) = (0.0, 0.0, 0.0);
        x.each(|i, x| {
            let x = x.f64();
            (lo, hi) = (Real::min(lo, x), Real::max(hi, x));
            inner += x * self.u.get(i).copied().unwrap_or(0.0);
        });
        let off = (round.loss - round.slope * (round.z - self.constants.threshold)).abs();
        let sign = round.slope == 0.0 || round.slope.abs() == 1.0;
        let loss = sign && (round.slope == 0.0 || off <= 1e-12 * (1.0 + round.z));
        for watch in [&mut self.watch, &mut self.agnostic] {
            watch.round(round);
            watch.constant_rate(round.rate);
            let rate = (round.rate - self.constants.rate).abs() <= 1e-12;
            watch.demand(RATE, rate, round.rate);
            watch.demand(FEATURES, lo >= 0.0 && hi <= 1.0, if lo < 0.0 { lo } else { hi });
            watch.demand(LOSS, loss, if sign { off } else { round.slope });
        }
        self.start.see(x.bound(), &mut self.agnostic);
        if round.slope == 0.0 {
            return;
        }
        self.mistakes += 1;
        let (a, b) = self.factors;
        let factor = if round.slope < 0.0 { -a } else { b };
        self.positive += u64::from(round.slope < 0.0);
        if x.bound() > self.tilt.len() {
            self.tilt.resize(x.bound(), 0.0);
        }
        x.each(|i, x| self.tilt[i] += factor * x.f64());
        self.size += factor.abs();
        let slack = 1e-12 * self.margin;
        if round.slope < 0.0 {
            self.watch.demand(SEPARATES, inner >= self.margin - slack, inner);
            self.deficit.add(a * (self.margin - inner));
        } else {
            self.watch.demand(SEPARATES, inner <= slack, inner);
            self.deficit.add(b * inner);
        }
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        let same = matches!(u, Comparator::Given(u) if *u == self.u.as_slice());
        let bound = if same { self.constants.mistakes * self.divergence } else { f64::NAN };
        self.watch.issue_on(self.mistakes as f64, outward(bound, 0.0))
    }
}
