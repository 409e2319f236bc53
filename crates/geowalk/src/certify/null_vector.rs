//! # Null vectors on the sphere
//! Rows orthogonal to u, the loss z², explicit steps on the unit sphere, $c_0$ the angle between start and u:
//! $$\sum_t z_t^2 \;\le\; \frac{\ln(1/\cos c_0)}{2\eta(1 - \eta)} \quad\text{for any } c_0 < \tfrac\pi2, \qquad
//!   \sum_t z_t^2 \;\le\; \frac{c_0^2}{\eta\bigl(1 - \eta + \sqrt{(1-\eta)^2 + \tfrac{2}{3k}(3 - (2 - \eta)\eta)\,c_0^2}\bigr)} \quad\text{for } c_0 \le \tfrac\pi3$$
//! after k rounds with rows of norm 1 and 0 < η < 1. The first form ([`NullVector::certify`](super::Bound::certify)) also takes rows of any norm and varying rates with $\eta\Vert x\Vert^2 < 1$:
//! the least η(1 − η‖x‖²) met takes the place of η(1 − η). The comparator loses nothing, so the loss is the regret; u and −u are the same.
//!
//! **Proof** With d the angle between w and x, $b = \eta \sin 2d$: $\ln(\cos c_{t+1}/\cos c_t) = \int_0^b \cot(d + s)\,ds \ge b\cot d - \tfrac12 b^2\csc^2 d = 2\eta(1 - \eta)\cos^2 d$, since the tangent
//! of cot at d lies below it on [0, π − 2d].
//! **Cost** O(nnz). **Care** rows are orthogonal to u up to rounding, |⟨u, x⟩| ≤ 1e-12‖x‖; what that can have done is added.
//! **Source** \[KMWW07s, lemma 9\]; the logarithmic form is new. The printed conditions cannot be widened: η = ½, c₀ = 1.55 gives a loss of 5.71 > 2c₀² = 4.81.

use super::theorem::{
    AS_WRITTEN, FINITE, Theorem, Watch, checked, declared, keep, outward, restore,
};
use super::{Bound, Certificate, Comparator};
use crate::Real;
use crate::error::ConfigError;
use crate::geometry::{ExpLog, Work, manifolds::Sphere};
use crate::row::{Norm, Row};
use crate::sum::Sum;
use crate::update::Round;

const ORTHOGONAL: &str = "rows orthogonal to the comparator";
const RATE: &str = "0 < rate |x|^2 < 1";
const LOSS: &str = "the loss z^2, weight 1";
const ALL: &str = "all features in the first row";
const START: &str = "a start less than pi/2 from the comparator";
const NEAR: &str = "a start at most pi/3 from the comparator";
const UNIT: &str = "rows of norm 1 and one constant rate";

pub(super) const LOGARITHMIC: Theorem = Theorem {
    name: "null-vector",
    premises: &[
        checked(ORTHOGONAL),
        checked(RATE),
        checked(LOSS),
        checked(START),
        checked(ALL),
        checked(AS_WRITTEN),
        checked(FINITE),
        declared("the rounds are explicit steps on the unit sphere"),
    ],
    bound: "ln(1/cos c0)/(2 eta (1 - eta |x|^2))",
    source: "KMWW07s, lemma 9",
    correction: "new: any start below pi/2, rows of any norm",
};

pub(super) const QUADRATIC: Theorem = Theorem {
    name: "null-vector-near",
    premises: &[
        checked(ORTHOGONAL),
        checked(RATE),
        checked(UNIT),
        checked(LOSS),
        checked(NEAR),
        checked(ALL),
        checked(AS_WRITTEN),
        checked(FINITE),
        declared("the rounds are explicit steps on the unit sphere"),
    ],
    bound: "c0^2/(eta (1 - eta + sqrt((1 - eta)^2 + 2/(3k) (3 - (2 - eta) eta) c0^2)))",
    source: "KMWW07s, lemma 9",
    correction: "",
};

/// The bound of the sphere against one null vector.
///
/// ```
/// use geowalk::certify::{Bound, Comparator, NullVector};
/// use geowalk::geometry::manifolds::Sphere;
/// use geowalk::loss::Invariant;
/// use geowalk::row::Dense;
/// use geowalk::update::{Explicit, Update};
///
/// let walk = Explicit::new(Sphere::new(2, 1.0)?);
/// let mut state = walk.start(&[0.6, 0.8])?;
/// let mut bound = NullVector::new(&[0.6, 0.8], &[1.0, 0.0])?;
/// for _ in 0..20 {
///     let round = walk.step(&mut state, Dense(&[0.0, 1.0]), 0.0.into(), &Invariant, 0.5)?;
///     bound.observe(&round, Dense(&[0.0, 1.0]));
/// }
/// let certificate = bound.certify(&Comparator::Given(&[1.0, 0.0]));
/// // 2 ln(1/0.6)
/// assert!(certificate.loss < certificate.bound && (certificate.bound - 1.0216512475).abs() < 1e-9);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct NullVector {
    u: Vec<f64>,
    /// c₀ and cos c₀.
    angle: f64,
    cosine: f64,
    /// A new feature changes what the others have.
    grows: bool,
    watch: Watch,
    near: Watch,
    /// min η(1 − η‖x‖²).
    least: f64,
    rate: f64,
    /// Ση|z ⟨u, x⟩|.
    tilt: Sum,
}

impl NullVector {
    /// Against the unit vector `u`, from the unit vector `start`.
    pub fn new(start: &[f64], u: &[f64]) -> Result<Self, ConfigError> {
        let sphere = Sphere::new(start.len(), 1.0)?;
        crate::geometry::Manifold::check(&sphere, start)?;
        crate::geometry::Manifold::check(&sphere, u)?;
        let inner: f64 = u.iter().zip(start).map(|(u, w)| u * w).sum();
        // Of u and −u the nearer one.
        let sign = if inner < 0.0 { -1.0 } else { 1.0 };
        let u: Vec<f64> = u.iter().map(|u| sign * u).collect();
        let angle = sphere.distance(&u, start, &mut Work::new());
        // Rounded towards 0: the bound grows where the cosine shrinks.
        let cosine = inner.abs() - 4.0 * f64::EPSILON * start.len() as f64;
        let (mut watch, mut near) = (Watch::new(&LOGARITHMIC), Watch::new(&QUADRATIC));
        watch.demand(START, cosine > 0.0, angle);
        near.demand(NEAR, angle <= std::f64::consts::FRAC_PI_3, angle);
        let least = f64::INFINITY;
        Ok(Self {
            u,
            angle,
            cosine,
            grows: false,
            watch,
            near,
            least,
            rate: f64::NAN,
            tilt: Sum::default(),
        })
    }

    /// For a walk that begins with the features of its first row: void if they are not as many as u has.
    #[must_use]
    pub fn growing(self) -> Self {
        Self { grows: true, ..self }
    }

    /// The bound that is sharper for starts near to u, with the number of rounds in it.
    pub fn near(&self) -> Certificate {
        let (eta, k) = (self.rate, self.watch.rounds.max(1) as f64);
        let square = self.angle * self.angle;
        let root = ((1.0 - eta) * (1.0 - eta)
            + 2.0 / (3.0 * k) * (3.0 - (2.0 - eta) * eta) * square)
            .sqrt();
        self.near.issue(outward(square / (eta * (1.0 - eta + root)), 0.0) + self.rounding())
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        let least = if self.least.is_finite() { self.least } else { -1.0 };
        let rate = if self.rate.is_nan() { -1.0 } else { self.rate };
        let own = [self.near.save().as_slice(), &self.tilt.save(), &[least, rate]].concat();
        keep(&self.watch, &own, put);
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let own: [f64; Watch::NUMBERS + 6] = restore(&mut self.watch, get)?;
        let mut near = [0.0; Watch::NUMBERS];
        near.copy_from_slice(&own[..Watch::NUMBERS]);
        self.near.load(near);
        let [.., a, b, c, d, least, rate] = own;
        self.tilt = Sum::load([a, b, c, d]);
        self.least = if least < 0.0 { f64::INFINITY } else { least };
        self.rate = if rate < 0.0 { f64::NAN } else { rate };
        Ok(())
    }

    /// Each step moves ln cos c by at most 2η|z⟨u, x⟩|/cos c₀ less than the theorem says; twice that, to be safe.
    fn rounding(&self) -> f64 {
        2.0 * self.tilt.upper() / (self.cosine * self.least).max(f64::MIN_POSITIVE)
    }
}

impl Bound for NullVector {
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        let mut inner = 0.0;
        x.each(|i, x| inner += x.f64() * self.u.get(i).copied().unwrap_or(0.0));
        let norm = x.norm(Norm::L2).f64();
        let scaled = round.rate * norm * norm * (1.0 + 1e-14);
        if self.rate.is_nan() {
            self.rate = round.rate;
        }
        for watch in [&mut self.watch, &mut self.near] {
            watch.round(round);
            let all = !self.grows || watch.rounds > 1 || x.bound() == self.u.len();
            watch.demand(ALL, all, x.bound() as f64);
            watch.demand(ORTHOGONAL, inner.abs() <= 1e-12 * norm, inner);
            watch.demand(RATE, scaled > 0.0 && scaled < 1.0 || norm == 0.0, scaled);
            let off = (round.loss - round.z * round.z).abs() + (round.slope - 2.0 * round.z).abs();
            watch.demand(LOSS, off <= 1e-14 * round.slope.abs(), off);
        }
        let unit = (norm - 1.0).abs() <= 1e-12 && round.rate == self.rate;
        self.near.demand(UNIT, unit, if round.rate == self.rate { norm } else { round.rate });
        if norm > 0.0 {
            self.least = Real::min(self.least, round.rate * (1.0 - scaled));
        }
        self.tilt.add(round.rate * (round.z * inner).abs());
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        let same = match u {
            Comparator::Given(u) => {
                let equal = |sign: f64| u.iter().zip(&self.u).all(|(a, b)| *a == sign * b);
                u.len() == self.u.len() && (equal(1.0) || equal(-1.0))
            }
            _ => false,
        };
        let bound = -Real::ln(self.cosine) / (2.0 * self.least) + self.rounding();
        self.watch.issue(if same { outward(bound, 0.0) } else { f64::NAN })
    }
}
