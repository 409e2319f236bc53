//! # p-norm algorithms
//! $$\theta \leftarrow \theta - \eta\, g\, x, \qquad
//!   w_i = \mathrm{sign}(\theta_i)\, \frac{|\theta_i|^{p-1}}{\Vert\theta\Vert_p^{p-2}}, \qquad \tfrac1p + \tfrac1q = 1$$
//! Mirror descent with $\psi = \tfrac12 \Vert w \Vert_q^2$, 1 < q ≤ 2: between gradient descent (q = 2) and EG (q → 1).
//! **Start** w = 0. **Cost** O(nnz), a power per coordinate of the row: $|\theta_i|^{p-1}$ is cached and $\sum|\theta_i|^p$ corrected by the difference.
//! **Care** powers are taken of θ relative to a reference near the largest |θ_i|, so that nothing overflows; when the sum leaves a safe
//! range or has lost digits it is made anew in O(n). q is fixed when the walk is made: `auto` takes it from the number of
//! features that was declared, and features that come later do not change it.
//! **Source** \[GLS01\]; \[NN09, sec. 5.2\].

use super::Walk;
use super::gauge::Gauge;
use super::tally::Tally;
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::loss::Loss;
use crate::row::{Norm, Row};
use crate::update::{Round, Target};
use crate::walk;

/// Mirror descent in the q-norm.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{PNorm, Walk};
///
/// // q = 3/2, p = 3: θ = (1, 2) has norm 9^⅓, and w = (1, 4)/9^⅓.
/// let mut walk = PNorm::new(1.5)?;
/// walk.step(Dense(&[0.5, 1.0]), 1.0.into(), &Squared, 1.0)?;
/// let mut w = Vec::new();
/// walk.read(&mut w);
/// assert!((w[0] - 0.4807).abs() < 1e-4 && (w[1] - 1.9230).abs() < 1e-4, "{w:?}");
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PNorm {
    pub(super) p: f64,
    pub(super) theta: Vec<f64>,
    /// sign(θ_i)·(|θ_i|/s)^{p−1}.
    pub(super) power: Vec<f64>,
    /// s, the reference; 0 while θ = 0.
    pub(super) reference: f64,
    /// Σ(|θ_i|/s)^p.
    pub(super) mass: Tally,
    /// s·mass^{(2−p)/p}: w = lift·power.
    lift: f64,
    /// ‖θ‖_p.
    norm: f64,
}

impl PNorm {
    /// The q-norm, 1.001 ≤ q ≤ 2.
    pub fn new(q: f64) -> Result<Self, ConfigError> {
        error::parameter("q", q, Allowed::Closed(1.001, 2.0))?;
        Ok(Self {
            p: q / (q - 1.0),
            theta: Vec::new(),
            power: Vec::new(),
            reference: 0.0,
            mass: Tally::default(),
            lift: 0.0,
            norm: 0.0,
        })
    }

    /// q for sparse targets among n features: 2 ln n/(2 ln n − 1), at most 2 \[NN09, sec. 5.2\].
    pub fn auto(n: usize) -> Result<Self, ConfigError> {
        let p = (2.0 * Real::ln(n.max(1) as f64)).clamp(2.0, 1000.0);
        Self::new(p / (p - 1.0))
    }

    /// q.
    pub fn q(&self) -> f64 {
        self.p / (self.p - 1.0)
    }

    /// p, the exponent of the dual norm.
    pub fn p(&self) -> f64 {
        self.p
    }

    /// sign(θ)·|θ|^{p−1} relative to the reference, and |θ|^p.
    #[inline]
    pub(super) fn powers(p: f64, theta: f64, reference: f64) -> (f64, f64) {
        let r = theta.abs() / reference;
        // The default q = 3/2 needs a square, which is exact to the last bit and 40 times as fast as a power.
        let power = if p == 3.0 { r * r } else { Real::powf(r, p - 1.0) };
        (power.copysign(theta), r * power)
    }

    /// θ ← θ + a·x, where z = ⟨w, x⟩. The divergence of the weights before from those after.
    pub(super) fn advance<X: Row<f64>>(&mut self, a: f64, x: X, z: f64) -> f64 {
        let before = self.norm;
        let (p, reference) = (self.p, self.reference);
        let Self { theta, power, mass, .. } = self;
        x.each(|i, x| {
            let (Some(theta), Some(power)) = (theta.get_mut(i), power.get_mut(i)) else { return };
            let old = theta.abs() / reference * power.abs();
            *theta += a * x;
            if reference > 0.0 {
                let (new, term) = Self::powers(p, *theta, reference);
                *power = new;
                mass.add(term - old);
            }
        });
        self.settle();
        // D(w‖w') = D*(θ'‖θ) = ½‖θ'‖² − ½‖θ‖² − ⟨w, θ' − θ⟩.
        Real::max(0.5 * (self.norm - before) * (self.norm + before) - a * z, 0.0)
    }

    fn settle(&mut self) {
        let mass = self.mass.value();
        if self.mass.worn() || !(1e-60..=1e60).contains(&mass) {
            self.refer();
        }
        let mass = self.mass.value();
        if self.reference > 0.0 {
            self.lift = self.reference * Real::powf(mass, (2.0 - self.p) / self.p);
            self.norm = self.reference * Real::powf(mass, 1.0 / self.p);
        } else {
            (self.lift, self.norm) = (0.0, 0.0);
        }
    }

    /// Takes the largest |θ_i| as the reference and sums anew.
    #[cold]
    fn refer(&mut self) {
        self.reference = self.theta.iter().fold(0.0, |top: f64, theta| top.max(theta.abs()));
        if self.reference == 0.0 {
            self.power.fill(0.0);
            self.mass = Tally::default();
            return;
        }
        let (p, reference) = (self.p, self.reference);
        self.mass = Tally::of(self.theta.iter().zip(&mut self.power).map(|(&theta, power)| {
            let (new, term) = Self::powers(p, theta, reference);
            *power = new;
            term
        }));
    }
}

impl Walk for PNorm {
    fn features(&self) -> usize {
        self.theta.len()
    }

    fn grow(&mut self, n: usize) {
        if n > self.theta.len() {
            self.theta.resize(n, 0.0);
            self.power.resize(n, 0.0);
        }
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        self.lift * x.dot(&self.power)
    }

    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        self.grow(x.bound());
        let (mut inner, mut largest) = (0.0, 0.0);
        let power = &self.power;
        x.each(|i, x| {
            if let Some(&power) = power.get(i) {
                inner += power * x;
                largest = Real::max(largest, x.abs());
            }
        });
        let mut round = walk::judge(self.lift * inner, target, loss, rate)?;
        let a = -rate * round.slope;
        walk::length(a.abs() * largest)?;
        if a == 0.0 {
            return Ok(round);
        }
        round.length = (2.0 * self.advance(a, x, round.z)).sqrt();
        Ok(round)
    }

    fn common(&self) -> f64 {
        self.lift
    }

    fn local(&self, i: usize) -> Option<f64> {
        Some(self.power.get(i).copied().unwrap_or_default())
    }

    /// Powers are relative to the reference.
    fn unit(&self) -> f64 {
        if self.reference > 0.0 { (1.0 - self.p) * Real::ln(self.reference) } else { 0.0 }
    }

    fn gauge<X: Row<f64>>(&self, x: X) -> Gauge {
        let norm = x.norm(Norm::Lp(self.p));
        Gauge { square: (self.p - 1.0) * norm * norm, stretch: 0.0, local: false }
    }

    fn read(&self, w: &mut Vec<f64>) {
        w.clear();
        w.extend(self.power.iter().map(|power| self.lift * power));
    }

    fn gamma(&self, rate: Option<f64>, out: &mut Vec<f64>) -> Option<f64> {
        walk::dual_gamma(&self.theta, 0.0, rate, out)
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("theta", &self.theta);
        put("reference", &[self.reference]);
        self.mass.save("mass", put);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let theta = walk::array(get, "theta", Allowed::Finite)?;
        let [reference] = walk::numbers(get, "reference", Allowed::NonNegative)?;
        let mass = Tally::load("mass", get)?;
        let power = if reference > 0.0 {
            theta.iter().map(|&theta| Self::powers(self.p, theta, reference).0).collect()
        } else {
            vec![0.0; theta.len()]
        };
        *self = Self { p: self.p, theta, power, reference, mass, lift: 0.0, norm: 0.0 };
        self.settle();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Squared;
    use crate::row::Dense;

    #[test]
    fn with_q_two_it_is_gradient_descent() {
        let mut walk = PNorm::new(2.0).unwrap();
        let mut gd = super::super::Euclidean::new();
        for t in 0..50 {
            let x = [1.0, -0.5 * f64::from(t % 3), 0.25];
            let a = walk.step(Dense(&x), 2.0.into(), &Squared, 0.1).unwrap();
            let b = gd.step(Dense(&x), 2.0.into(), &Squared, 0.1).unwrap();
            assert!((a.z - b.z).abs() < 1e-14 && (a.length - b.length).abs() < 1e-7, "{a:?} {b:?}");
        }
    }

    #[test]
    fn tiny_and_huge_duals_have_the_same_shape() {
        for size in [1e-140, 1e-20, 1.0, 1e20, 1e140] {
            let mut walk = PNorm::auto(1_000_000).unwrap();
            walk.grow(3);
            walk.theta.copy_from_slice(&[size, -2.0 * size, 0.0]);
            walk.refer();
            walk.settle();
            let mut w = Vec::new();
            walk.read(&mut w);
            let ratio = Real::powf(0.5_f64, walk.p() - 1.0);
            assert!((w[0] / -w[1] / ratio - 1.0).abs() < 1e-14, "{w:?}");
            assert!((w[1] / size + 2.0).abs() < 1e-6, "{w:?}");
        }
    }

    #[test]
    fn auto_follows_the_declared_number_of_features() {
        assert!((PNorm::auto(1000).unwrap().p() - 13.815_510_557_964_274).abs() < 1e-12);
        assert_eq!(PNorm::auto(2).unwrap().p(), 2.0);
        assert!(PNorm::new(1.0).is_err() && PNorm::new(f64::NAN).is_err());
    }
}
