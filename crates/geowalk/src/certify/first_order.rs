//! # The first-order certificate
//! For a loss convex in the prediction, with slopes $g_t = \partial\ell(z_t, y_t)/\partial z$, and **every** comparator u:
//! $$\sum_t \ell(z_t, y_t) - \sum_t \ell(\langle u, x_t\rangle, y_t) \;\le\; A - \langle u, \Gamma\rangle, \qquad
//!   A = \sum_t g_t z_t, \quad \Gamma = \sum_t g_t x_t$$
//! whatever the geometry, the update, the rate and the curvature. Sets of comparators have closed forms:
//!
//! | comparators | bound |
//! |---|---|
//! | ‖u‖ ≤ U | A + U‖Γ‖ in the dual norm |
//! | ∣u_i∣ ≤ r_i | A + Σ r_i∣Γ_i∣ |
//! | ‖u‖₂ = r | A + r‖Γ‖₂ |
//! | simplex | A − min Γ_i |
//! | u ≥ 0, Σu ≤ U | A + U·max(0, −min Γ_i) |
//!
//! **Proof** Convexity of ℓ in z, round by round. **Cost** O(nnz) per round, one vector
//! (coordinates from 2²⁴ on are kept one by one).
//! **Care** Γ is summed in plain `f64`; what rounding can have done to it is added to the bound.
//! **Source** standard; for example \[SS12, sec. 2.4\].

use std::collections::BTreeMap;

use super::{Bound, Broken, Certificate, Comparator, Status};
use crate::Real;
use crate::error::ConfigError;
use crate::loss::Facts;
use crate::row::{Norm, Row};
use crate::sum::Sum;
use crate::update::Round;

const THEOREM: &str = "first-order";
const FINITE: &str = "finite loss and slope";

/// Where coordinates begin that are kept one by one.
const FAR: usize = 1 << 24;

/// A = Σ g_t z_t and Γ = Σ g_t x_t of a run.
///
/// ```
/// use geowalk::certify::{Bound, Comparator, FirstOrder};
/// use geowalk::geometry::manifolds::Euclidean;
/// use geowalk::loss::{Loss, Squared};
/// use geowalk::row::Dense;
/// use geowalk::update::{Explicit, Update};
///
/// let gd = Explicit::new(Euclidean::new(1)?);
/// let mut state = gd.start(&[0.0])?;
/// let mut bound = FirstOrder::new(&Squared.facts());
/// for _ in 0..3 {
///     let round = gd.step(&mut state, Dense(&[1.0]), 1.0.into(), &Squared, 0.25)?;
///     bound.observe(&round, Dense(&[1.0]));
/// }
/// // The learner lost 1 + 1/4 + 1/16; u = 1 loses nothing; the squared loss leaves a slack of Σ(z − u)².
/// let certificate = bound.certify(&Comparator::Given(&[1.0]));
/// assert_eq!(certificate.to_string(), "first-order: valid; after 3 rounds with loss 1.312500, regret <= 2.625000");
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct FirstOrder {
    loss: Sum,
    a: Sum,
    /// Γ below [`FAR`].
    near: Vec<f64>,
    /// Γ from there on: one feature with a huge index must not cost a vector that reaches up to it.
    far: BTreeMap<usize, f64>,
    /// Σ_t |g_t| ‖x_t‖_∞: no coordinate of Γ has a larger sum of magnitudes.
    magnitude: f64,
    rounds: u64,
    broken: Option<Broken>,
}

impl FirstOrder {
    /// The certificate of a loss with these facts; void from the start if the loss is not convex in z.
    pub fn new(facts: &Facts) -> Self {
        let broken = (!facts.convex).then_some(Broken {
            premise: "convexity of the loss in the prediction",
            row: 0,
            found: f64::NAN,
        });
        Self {
            loss: Sum::default(),
            a: Sum::default(),
            near: Vec::new(),
            far: BTreeMap::new(),
            magnitude: 0.0,
            rounds: 0,
            broken,
        }
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("loss", &self.loss.save());
        put("a", &self.a.save());
        put("near", &self.near);
        let places: Vec<f64> = self.far.keys().map(|&i| i as f64).collect();
        put("far.places", &places);
        put("far", &self.far.values().copied().collect::<Vec<_>>());
        let broken = self.broken.as_ref().map_or([-1.0, 0.0], |b| [b.row as f64, b.found]);
        // Numbers that are not finite do not go into files: what was found is only worth keeping if it is.
        let found = if broken[1].is_finite() { broken[1] } else { 0.0 };
        put("state", &[self.rounds as f64, self.magnitude, broken[0], found]);
    }

    /// Continues from what [`FirstOrder::save`] gave, with the same bits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // counts below 2^53
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let missing = ConfigError::Missing { name: "certificate", meaning: "the sums of a run" };
        let mut four = |name| get(name).and_then(|values| <[f64; 4]>::try_from(values).ok());
        let (Some(loss), Some(a), Some(state)) = (four("loss"), four("a"), four("state")) else {
            return Err(missing);
        };
        let (Some(near), Some(places), Some(far)) = (get("near"), get("far.places"), get("far"))
        else {
            return Err(missing);
        };
        self.near = near;
        self.far = places.iter().map(|&place| place as usize).zip(far).collect();
        self.loss = Sum::load(loss);
        self.a = Sum::load(a);
        self.rounds = state[0] as u64;
        self.magnitude = state[1];
        if state[2] > 0.0 {
            self.broken = Some(Broken { premise: FINITE, row: state[2] as u64, found: state[3] });
        }
        Ok(())
    }

    /// No less than sup over the comparators of −⟨u, Γ⟩, and of the error that rounding can have made in it.
    fn support(&self, u: &Comparator<'_>) -> f64 {
        // Each coordinate of Γ is off by at most rounds·ε·magnitude (plain summation).
        let slip = self.rounds as f64 * f64::EPSILON * self.magnitude;
        let gamma: Vec<f64> = self.near.iter().chain(self.far.values()).copied().collect();
        let least = gamma.iter().copied().fold(f64::INFINITY, f64::min);
        let count = gamma.len() as f64;
        // Norms and inner products of n terms are off by at most a factor 1 ± 2(n + 4)ε.
        let grow = 1.0 + 2.0 * (count + 4.0) * f64::EPSILON;
        match *u {
            Comparator::Given(u) => {
                let mut inner = Sum::default();
                let mut absolute = 0.0;
                for (i, &u) in u.iter().enumerate() {
                    inner.add(-u * self.gamma(i));
                    absolute += u.abs();
                }
                let products = f64::EPSILON * inner.magnitude();
                inner.upper() + products + absolute * slip * grow
            }
            Comparator::Ball { norm, radius } => {
                let spread = match norm.dual() {
                    Norm::LInf => 1.0,
                    Norm::L1 => count,
                    Norm::L2 => count.sqrt(),
                    Norm::Lp(p) => Real::powf(count, 1.0 / p),
                };
                size(radius) * (norm.dual().of(&gamma) + spread * slip) * grow
            }
            Comparator::Box { radii } => {
                let terms = radii.iter().enumerate();
                let sum: f64 = terms.map(|(i, r)| r.abs() * (self.gamma(i).abs() + slip)).sum();
                sum * grow
            }
            Comparator::Sphere { radius } => {
                size(radius) * (Norm::L2.of(&gamma) + count.sqrt() * slip) * grow
            }
            Comparator::Simplex { n } => {
                // A coordinate that no row touched has Γ_i = 0.
                let least = if n > gamma.len() { least.min(0.0) } else { least };
                -least + slip
            }
            Comparator::Positive { total } => size(total) * ((-least).max(0.0) + slip) * grow,
        }
    }

    fn gamma(&self, i: usize) -> f64 {
        let place = if i < FAR { self.near.get(i) } else { self.far.get(&i) };
        place.copied().unwrap_or(0.0)
    }
}

/// There are no vectors of negative size: NaN.
fn size(x: f64) -> f64 {
    if x >= 0.0 { x } else { f64::NAN }
}

impl Bound for FirstOrder {
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        self.rounds += 1;
        self.loss.add(round.loss);
        self.a.add(round.slope * round.z);
        let mut largest = 0.0;
        let (near, far) = (&mut self.near, &mut self.far);
        x.each(|i, x| {
            let term = round.slope * x.f64();
            if i >= FAR {
                *far.entry(i).or_default() += term;
            } else if let Some(gamma) = near.get_mut(i) {
                *gamma += term;
            } else {
                near.resize(i, 0.0);
                near.push(term);
            }
            // Unlike `f64::max`, this keeps a NaN.
            largest = Real::max(largest, x.f64().abs());
        });
        self.magnitude += round.slope.abs() * largest;
        let finite =
            round.loss.is_finite() && self.a.total().is_finite() && self.magnitude.is_finite();
        if !finite && self.broken.is_none() {
            self.broken = Some(Broken {
                premise: FINITE,
                row: self.rounds,
                found: if round.loss.is_finite() { round.slope } else { round.loss },
            });
        }
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        let (status, bound) = if let Some(broken) = &self.broken {
            (Status::Void(broken.clone()), f64::NAN)
        } else {
            // Each product g·z was rounded once before it was added.
            let products = f64::EPSILON * self.a.magnitude();
            (Status::Valid, (self.a.upper() + products + self.support(u)).next_up())
        };
        Certificate {
            theorem: THEOREM,
            status,
            rounds: self.rounds,
            loss: self.loss.total(),
            bound,
        }
    }
}
