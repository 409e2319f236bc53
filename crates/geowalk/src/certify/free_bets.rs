//! # `free`: bets on each coordinate
//! For slopes with |g| ≤ Λ, wealth ε, and with $\hat S_i^2 = M_i^2 + \sum_t (g_t x_{t,i}/\Lambda)^2$, $M_i = \max_t |x_{t,i}|$, $x_{\tau_i}$ the first value that is not 0:
//! $$\text{regret} \;\le\; \Lambda\sum_i \Bigl(\varepsilon + 2|u_i|\,\hat S_i \max\bigl(0,\; \ln(3|u_i|\hat S_i^3/\varepsilon x_{\tau_i}^2) - 1\bigr)\Bigr)$$
//! No rate, and multiplying a feature by a constant (and dividing $u_i$ by it) changes nothing. Beforehand it is of order $|u_i|\hat S_i \ln(|u_i|\hat S_i)$; afterwards the
//! [first-order certificate](super::FirstOrder) is what the run achieved.
//! **Cost** O(nnz), three numbers per coordinate. **Care** checked on 60,000 adversarial one-dimensional runs.
//! **Source** \[KKW19, thm. 2\].

use super::theorem::{
    AS_WRITTEN, CONVEX, Declared, FINITE, Theorem, Watch, checked, declared, keep, outward, restore,
};
use super::{Bound, Certificate, Comparator};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};
use crate::loss::Facts;
use crate::row::Row;
use crate::sum::Sum;
use crate::update::Round;

const SLOPE: &str = "|slope| at most the declared bound";

pub(super) const THEOREM: Theorem = Theorem {
    name: "free",
    premises: &[
        declared(CONVEX),
        checked(SLOPE),
        checked(AS_WRITTEN),
        checked(FINITE),
        declared("the rounds are steps of free with this wealth"),
    ],
    bound: "sum_i eps + 2 |u_i| S_i max(0, ln(3 |u_i| S_i^3/(eps x_i^2)) - 1)",
    source: "KKW19, thm. 2",
    correction: "",
};

/// The bound of `free`.
///
/// ```
/// use geowalk::certify::{Bound, Comparator, FreeBets};
/// use geowalk::loss::{Absolute, Loss};
/// use geowalk::row::Dense;
/// use geowalk::walk::{Free, Walk};
///
/// let mut walk = Free::new(1.0, 0.0, 1.0)?;
/// let mut bound = FreeBets::new(1.0, 1.0, &Absolute.facts())?;
/// for _ in 0..100 {
///     let round = walk.step(Dense(&[1e6]), 1.0.into(), &Absolute, 0.0)?;
///     bound.observe(&round, Dense(&[1e6]));
/// }
/// let certificate = bound.certify(&Comparator::Given(&[1e-6]));
/// assert!(certificate.loss < certificate.bound && certificate.bound < 150.0, "{certificate}");
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct FreeBets {
    epsilon: f64,
    lipschitz: f64,
    features: Vec<Feature>,
    watch: Watch,
}

#[derive(Debug, Clone, Copy, Default)]
struct Feature {
    first: f64,
    scale: f64,
    squares: f64,
}

impl FreeBets {
    /// Wealth ε of each feature, and the bound Λ on the slopes.
    pub fn new(epsilon: f64, lipschitz: f64, facts: &Facts) -> Result<Self, ConfigError> {
        error::parameter("epsilon", epsilon, Allowed::Positive)?;
        error::parameter("lipschitz", lipschitz, Allowed::Positive)?;
        let watch = Watch::convex(&THEOREM, facts);
        Ok(Self { epsilon, lipschitz, features: Vec::new(), watch })
    }

    /// Sees a round of a walk that [keeps](crate::walk::Walk::bets) what the bound is made of: O(1).
    #[inline]
    pub fn observe_round(&mut self, round: &Round) {
        self.watch.round(round);
        self.watch.demand(SLOPE, round.slope.abs() <= self.lipschitz * (1.0 + 1e-12), round.slope);
    }

    /// The certificate with the bound of the walk that kept it.
    pub fn certify_with(&self, bound: f64) -> Certificate {
        self.watch.issue(bound)
    }

    /// Gives away what [`FreeBets::observe_round`] changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        keep(&self.watch, &[], put);
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        restore::<0>(&mut self.watch, get).map(|_| ())
    }

    /// The sum over coordinates, for |u_i| ≤ size(i).
    fn sum(&self, size: impl Fn(usize) -> f64, given: usize) -> f64 {
        let mut sum = Sum::default();
        for (i, feature) in self.features.iter().enumerate().filter(|(_, f)| f.first > 0.0) {
            sum.add(self.epsilon);
            let root = (feature.squares + feature.scale * feature.scale).sqrt();
            let u = size(i);
            let ratio =
                3.0 * u * root / self.epsilon * (root / feature.first) * (root / feature.first);
            let logarithm = Real::ln(ratio) - 1.0;
            if logarithm > 0.0 {
                sum.add(2.0 * u * root * logarithm);
            }
        }
        // A weight that is NaN is no comparator; weights of features never seen cost nothing.
        if (0..given).any(|i| size(i).is_nan()) {
            return f64::NAN;
        }
        outward(self.lipschitz * sum.upper(), 16.0 * self.lipschitz * sum.magnitude())
    }
}

impl Bound for FreeBets {
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        self.observe_round(round);
        let g = round.slope / self.lipschitz;
        x.each(|i, x| {
            // What free takes for 0.
            let x = x.f64().abs();
            if x < 1e-150 {
                return;
            }
            if i >= self.features.len() {
                self.features.resize(i + 1, Feature::default());
            }
            let feature = &mut self.features[i];
            if feature.first == 0.0 {
                feature.first = x;
            }
            feature.scale = Real::max(feature.scale, x);
            feature.squares += (g * x) * (g * x);
        });
    }

    fn compare(&mut self, round: &Round, prediction: f64, loss: f64) {
        self.watch.compare(round, prediction, loss);
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        let of = |w: &[f64], i: usize| w.get(i).map_or(0.0, |w| w.abs());
        let bound = match *u {
            Comparator::Given(w) | Comparator::Box { radii: w } => self.sum(|i| of(w, i), w.len()),
            _ => f64::NAN,
        };
        self.watch.issue(bound)
    }

    fn declared(&self) -> Vec<Declared> {
        vec![Declared { premise: SLOPE, value: self.lipschitz }]
    }
}
