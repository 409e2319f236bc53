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
//! (coordinates from 2²⁴ on are kept one by one); O(1) per round and no vector where the walk itself
//! [keeps Γ](crate::walk::Walk::gamma), as gradient descent does with a constant rate: Γ = (w₀ − w)/η. Mirror descent does in its dual coordinates, `free` in its bets.
//! **Care** Γ is summed in plain `f64`; what rounding can have done to it is added to the bound:
//! $$|\hat\Gamma_i - \Gamma_i| \;\le\; (T + 4)\,\varepsilon \sum_t |g_t|\, \Vert x_t\Vert \;+\; 10^{-150} \sum_t |g_t|$$
//! after T rounds. A plain sum of T terms errs by less than T·ε/2 of the sum of their magnitudes \[Higham02, sec. 4.2\], each term ηg·x was rounded twice before it
//! was added, and the division by η rounds once; the last term stands for products that underflow. ‖x‖ is ‖x‖₂, which is no less than any coordinate.
//! **Source** standard; for example \[SS12, sec. 2.4\].

use std::collections::BTreeMap;

use super::theorem::{CONVEX, FINITE, KNOWN, below_tangent, size};
use super::{Bound, Broken, Certificate, Comparator, Status};
use crate::Real;
use crate::error::ConfigError;
use crate::loss::Facts;
use crate::natural::rows;
use crate::real::lanes;
use crate::row::{Norm, Row};
use crate::sum::Sum;
use crate::update::Round;

const THEOREM: &str = "first-order";

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
    /// Σ_t |g_t| ‖x_t‖₂: no coordinate of Γ has a larger sum of magnitudes.
    magnitude: f64,
    /// Σ_t |g_t|.
    slopes: f64,
    rounds: u64,
    broken: Option<Broken>,
}

impl FirstOrder {
    /// The certificate of a loss with these facts; void from the start if the loss is not convex in z.
    pub fn new(facts: &Facts) -> Self {
        let broken = (!facts.convex).then_some(Broken { premise: CONVEX, row: 0, found: f64::NAN });
        Self {
            loss: Sum::default(),
            a: Sum::default(),
            near: Vec::new(),
            far: BTreeMap::new(),
            magnitude: 0.0,
            slopes: 0.0,
            rounds: 0,
            broken,
        }
    }

    /// Γ of the coordinates below 2²⁴, if it is kept here and not by the walk.
    pub fn near(&self) -> &[f64] {
        &self.near
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
        put("state", &[self.rounds as f64, self.magnitude, broken[0], found, self.slopes]);
    }

    /// Continues from what [`FirstOrder::save`] gave, with the same bits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // counts below 2^53
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let missing = ConfigError::Missing { name: "certificate", meaning: "the sums of a run" };
        let mut four = |name| get(name).and_then(|values| <[f64; 4]>::try_from(values).ok());
        let (Some(loss), Some(a)) = (four("loss"), four("a")) else { return Err(missing) };
        let state = get("state").and_then(|values| <[f64; 5]>::try_from(values).ok());
        let Some(state) = state else { return Err(missing) };
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
        self.slopes = state[4];
        if state[2] > 0.0 {
            self.broken = Some(Broken { premise: FINITE, row: state[2] as u64, found: state[3] });
        }
        Ok(())
    }

    /// Sees a round of a walk that [keeps Γ](crate::walk::Walk::gamma), with ‖g·x‖₂ = `gradient`: O(1).
    ///
    /// ```
    /// use geowalk::certify::{Bound, Comparator, FirstOrder};
    /// use geowalk::loss::{Loss, Squared};
    /// use geowalk::row::Dense;
    /// use geowalk::walk::{Euclidean, Walk};
    ///
    /// let (mut gd, mut short, mut long) =
    ///     (Euclidean::new(), FirstOrder::new(&Squared.facts()), FirstOrder::new(&Squared.facts()));
    /// for x in [&[1.0, 2.0], &[0.5, -1.0]] {
    ///     let round = gd.step(Dense(x), 1.0.into(), &Squared, 0.125)?;
    ///     short.observe_gradient(&round, gd.gradient(&round, Dense(x)));
    ///     long.observe(&round, Dense(x));
    /// }
    /// let mut gamma = Vec::new();
    /// assert_eq!(gd.gamma(Some(0.125), &mut gamma), Some(0.0));
    /// let u = Comparator::Given(&[0.5, 0.5]);
    /// let (short, long) = (short.certify_with(&gamma, 0.0, &u), long.certify(&u));
    /// assert!((short.bound - long.bound).abs() < 1e-13 && (long.bound - 3.34375).abs() < 1e-13);
    /// # Ok::<(), geowalk::DomainError>(())
    /// ```
    #[inline]
    pub fn observe_gradient(&mut self, round: &Round, gradient: f64) {
        self.rounds += 1;
        self.loss.add(round.loss);
        self.a.add(round.slope * round.z);
        self.slopes += round.slope.abs();
        self.magnitude += gradient;
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

    /// Γ_{i,k} += g_k x_i of several predictions of the same rows, whose Γ lie side by side, those of a feature in one place. Features beyond the end are left out.
    ///
    /// ```
    /// use geowalk::certify::FirstOrder;
    /// use geowalk::row::Sparse;
    /// let mut gamma = [0.0; 6];
    /// FirstOrder::add_slopes(&mut gamma, &[1.0, -0.5], Sparse::new(&[1, 9], &[4.0, 1.0])?);
    /// assert_eq!(gamma, [0.0, 0.0, 4.0, -2.0, 0.0, 0.0]);
    /// # Ok::<(), geowalk::DomainError>(())
    /// ```
    pub fn add_slopes<X: Row<f64>>(gamma: &mut [f64], slopes: &[f64], x: X) {
        let n = slopes.len();
        lanes::widely(
            #[inline(always)]
            || {
                x.stretches(
                    #[inline(always)]
                    |i, x| {
                        let gamma = gamma.get_mut(i * n..).unwrap_or_default();
                        if let &[x] = x {
                            // Most of sparse rows, not worth the preparation.
                            rows::change(gamma, slopes, slopes, |y, slope, _| y + slope * x);
                        } else {
                            rows::change_rows(gamma, slopes, x.iter(), |x, y, slope| y + slope * x);
                        }
                    },
                );
            },
        );
    }

    /// Σ|g_t z_t| + Σ|g_t|‖x_t‖₂: the size of the numbers that the bound is made of.
    pub fn magnitude(&self) -> f64 {
        self.a.magnitude() + self.magnitude
    }

    /// The certificate, with Γ from the walk that kept it, and what [its method](crate::walk::Walk::gamma) returned.
    pub fn certify_with(&self, gamma: &[f64], size: f64, u: &Comparator<'_>) -> Certificate {
        self.verdict(&Gamma { near: gamma, far: &BTreeMap::new() }, size, u)
    }

    /// The certificate against ‖u‖₂ ≤ `radius`, with no less than ‖Γ‖₂ of so many coordinates from [the walk](crate::walk::Walk::lengths) that kept it.
    pub fn certify_ball(&self, gamma: f64, features: usize, radius: f64) -> Certificate {
        let count = features as f64;
        let grow = 1.0 + 2.0 * (count + 4.0) * f64::EPSILON;
        self.issue(size(radius) * (gamma + count.sqrt() * self.slip(0.0)) * grow)
    }

    /// Adds a row with an index that is kept by itself.
    #[cold]
    fn observe_far<F: Real, X: Row<F>>(&mut self, slope: f64, x: X) {
        let (near, far) = (&mut self.near, &mut self.far);
        x.each(|i, x| {
            if i < FAR && i >= near.len() {
                near.resize(i + 1, 0.0);
            }
            let gamma = match near.get_mut(i) {
                Some(gamma) => gamma,
                None => far.entry(i).or_default(),
            };
            *gamma += slope * x.f64();
        });
    }

    fn verdict(&self, gamma: &Gamma<'_>, size: f64, u: &Comparator<'_>) -> Certificate {
        self.issue(if self.broken.is_none() { gamma.support(self.slip(size), u) } else { f64::NAN })
    }

    /// The certificate with this supremum of −⟨u, Γ⟩.
    fn issue(&self, support: f64) -> Certificate {
        // Each product g·z was rounded once before it was added.
        let products = f64::EPSILON * self.a.magnitude();
        let bound = (self.a.upper() + products + support).next_up();
        let unknown = || Broken { premise: KNOWN, row: 0, found: f64::NAN };
        let broken = self.broken.clone().or_else(|| bound.is_nan().then(unknown));
        let (status, bound) = match broken {
            Some(broken) => (Status::Void(broken), f64::NAN),
            None => (Status::Valid, bound),
        };
        Certificate {
            theorem: THEOREM,
            status,
            rounds: self.rounds,
            loss: self.loss.total(),
            bound,
        }
    }

    /// No less than the rounding error of any coordinate of Γ, if it is a sum of the terms and of one of this size.
    fn slip(&self, size: f64) -> f64 {
        let relative = (self.rounds as f64 + 4.0) * f64::EPSILON;
        // More than the formula by a few hundredths, for the rounding of the sums in it.
        1.03 * (relative * (self.magnitude + size) + 1e-150 * self.slopes)
    }
}

/// Γ, wherever it lies.
struct Gamma<'a> {
    near: &'a [f64],
    far: &'a BTreeMap<usize, f64>,
}

impl Gamma<'_> {
    fn all(&self) -> impl Iterator<Item = f64> {
        self.near.iter().chain(self.far.values()).copied()
    }

    fn least(&self) -> f64 {
        self.all().fold(f64::INFINITY, f64::min)
    }

    fn norm(&self, norm: Norm) -> f64 {
        if self.far.is_empty() {
            return norm.above(self.near);
        }
        norm.above(&self.all().collect::<Vec<_>>())
    }

    fn at(&self, i: usize) -> f64 {
        self.near.get(i).or_else(|| self.far.get(&i)).copied().unwrap_or(0.0)
    }

    /// No less than sup over the comparators of −⟨u, Γ⟩, and of the error that rounding can have made in it: at most `slip` in
    /// each coordinate.
    fn support(&self, slip: f64, u: &Comparator<'_>) -> f64 {
        let count = (self.near.len() + self.far.len()) as f64;
        // Norms and inner products of n terms are off by at most a factor 1 ± 2(n + 4)ε.
        let grow = 1.0 + 2.0 * (count + 4.0) * f64::EPSILON;
        match *u {
            Comparator::Given(u) => {
                let mut inner = Sum::default();
                let mut absolute = 0.0;
                for (i, &u) in u.iter().enumerate() {
                    inner.add(-u * self.at(i));
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
                size(radius) * (self.norm(norm.dual()) + spread * slip) * grow
            }
            Comparator::Box { radii } => {
                let terms = radii.iter().enumerate();
                let sum: f64 = terms.map(|(i, r)| r.abs() * (self.at(i).abs() + slip)).sum();
                sum * grow
            }
            Comparator::Sphere { radius } => {
                size(radius) * (self.norm(Norm::L2) + count.sqrt() * slip) * grow
            }
            Comparator::Simplex { n } => {
                // A coordinate that no row touched has Γ_i = 0.
                let least = self.least();
                let least = if (n as f64) > count { least.min(0.0) } else { least };
                -least + slip
            }
            Comparator::Positive { total } => {
                size(total) * ((-self.least()).max(0.0) + slip) * grow
            }
            // Γ is that of the rows themselves.
            Comparator::Signed { u, .. } => self.support(slip, &Comparator::Given(u)),
        }
    }
}

impl Bound for FirstOrder {
    #[inline]
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        let slope = round.slope;
        let bound = x.bound();
        if bound > FAR {
            self.observe_far(slope, x);
        } else {
            if bound > self.near.len() {
                self.near.resize(bound, 0.0);
            }
            let near = &mut self.near;
            x.each_briefly(|i, x| {
                if let Some(gamma) = near.get_mut(i) {
                    *gamma += slope * x.f64();
                }
            });
        }
        self.observe_gradient(round, slope.abs() * x.length());
    }

    fn compare(&mut self, round: &Round, prediction: f64, loss: f64) {
        if let (Some(found), None) = (below_tangent(round, prediction, loss), &self.broken) {
            self.broken = Some(Broken { premise: CONVEX, row: self.rounds, found });
        }
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        self.verdict(&Gamma { near: &self.near, far: &self.far }, 0.0, u)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Sampler;
    use crate::loss::{Logistic, Loss};
    use crate::row::Dense;
    use crate::walk::{Euclidean, Walk};

    /// Gradient descent on random rows of very unequal columns; what both certificates, an exact Γ and a comparator say of it.
    fn run(rate: f64, rounds: usize) -> (FirstOrder, FirstOrder, Vec<f64>, [Sum; 6], f64) {
        let mut sampler = Sampler::new(11);
        let mut gd = Euclidean::new();
        let facts = Logistic.facts();
        let (mut short, mut long) = (FirstOrder::new(&facts), FirstOrder::new(&facts));
        let (mut exact, mut regret) = ([Sum::default(); 6], Sum::default());
        for _ in 0..rounds {
            let mut x = [1e-3, 1e3, 1.0, 0.1, 1e-170, 1.0].map(|scale| scale * sampler.normal());
            x[5] = 1.0; // always the same sign: its sum grows
            let y = if x[2] - x[3] + 0.5 * sampler.normal() > 0.0 { 1.0 } else { -1.0 };
            let round = gd.step(Dense(&x), y.into(), &Logistic, rate).unwrap();
            short.observe_gradient(&round, gd.gradient(&round, Dense(&x)));
            long.observe(&round, Dense(&x));
            for (sum, x) in exact.iter_mut().zip(x) {
                sum.add(round.slope * x);
            }
            regret.add(round.loss - Logistic.value(x[2] - x[3], y));
        }
        let mut gamma = Vec::new();
        assert_eq!(gd.gamma(Some(rate), &mut gamma), Some(0.0));
        (short, long, gamma, exact, regret.total())
    }

    #[test]
    fn sums_read_off_the_weights_are_as_good_as_sums_that_were_kept() {
        for rate in [1e-90, 1e-3, 0.7, 3e4] {
            let (short, long, gamma, exact, regret) = run(rate, 20_000);
            for (found, exact) in gamma.iter().zip(&exact) {
                let off = (found - exact.total()).abs();
                assert!(off <= short.slip(0.0), "{rate}: {off:e} > {:e}", short.slip(0.0));
            }
            let kept =
                long.near.iter().zip(&exact).map(|(kept, exact)| (kept - exact.total()).abs());
            assert!(kept.fold(0.0, f64::max) <= long.slip(0.0));
            let u = [0.0, 0.0, 1.0, -1.0];
            for comparators in [
                Comparator::Given(&u),
                Comparator::Ball { norm: Norm::L2, radius: 1.5 },
                Comparator::Box { radii: &u },
            ] {
                let short = short.certify_with(&gamma, 0.0, &comparators);
                let long = long.certify(&comparators);
                assert!(regret <= short.bound && regret <= long.bound);
                let close = 1e-9 * long.bound.abs();
                assert!((short.bound - long.bound).abs() <= close, "{rate}: {short} {long}");
                assert_eq!((short.loss, short.rounds), (long.loss, long.rounds));
            }
            // And so are their lengths, against a ball.
            let ball = short.certify_ball(Norm::L2.above(&gamma), gamma.len(), 1.5);
            let u = Comparator::Ball { norm: Norm::L2, radius: 1.5 };
            let whole = short.certify_with(&gamma, 0.0, &u);
            assert!((ball.bound - whole.bound).abs() <= 1e-9 * whole.bound.abs());
            assert!(regret <= ball.bound);
        }
    }

    #[test]
    fn the_error_that_is_allowed_for_is_needed() {
        // Without it a bound would be too small: the coordinate that always grows does lose digits.
        let (short, _, gamma, exact, _) = run(1e-3, 20_000);
        let off = (gamma[1] - exact[1].total()).abs();
        assert!(off > 0.0 && off <= short.slip(0.0), "{off:e} {:e}", short.slip(0.0));
    }

    #[test]
    fn a_far_index_costs_no_vector() {
        let mut bound = FirstOrder::new(&Logistic.facts());
        let round = Round {
            z: 0.5,
            loss: 1.0,
            slope: -0.5,
            rate: 1.0,
            length: 0.0,
            event: crate::geometry::Event::Inside,
        };
        let x = crate::row::Sparse::new(&[1, 1 << 30], &[2.0, 4.0]).unwrap();
        bound.observe(&round, x);
        bound.observe(&round, Dense(&[1.0, 1.0]));
        assert_eq!((bound.near.as_slice(), bound.far.len()), (&[-0.5, -1.5][..], 1));
        let far = bound.certify(&Comparator::Ball { norm: Norm::L1, radius: 1.0 });
        assert!((far.bound - 1.5).abs() < 1e-12, "A + max|Γ| = −½ + 2: {far}");
    }
}
