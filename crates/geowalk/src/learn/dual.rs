//! # Dual coordinates with a running norm
//! $$w_i = \mathrm{sign}(\theta_i)\, \frac{|\theta_i|^{p-1}}{\Vert\theta\Vert_p^{p-2}}$$
//! The state is θ. The powers $|\theta_i|^{p-1}$ are cached, and $\sum|\theta_i|^p$ is corrected by the difference.
//! **Cost** O(nnz), a power per coordinate of the row.
//! **Care** Powers are taken of θ relative to a reference near the largest |θ_i|, so that nothing overflows. If the
//! sum leaves a safe range or has lost digits, it is recomputed in O(n).
//! **Source** \[GLS01\].

use super::compensated_sum::CompensatedSum;
use super::{Chart, Get, Moves, Put, RowSummary, Shift};
use crate::Real;
use crate::error::{Allowed, ConfigError, DomainError};
use crate::learn::base;
use crate::row::Row;
use crate::update::Round;

/// θ, its powers and the sum of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Dual {
    pub(crate) p: f64,
    pub(crate) theta: Vec<f64>,
    /// sign(θ_i)·(|θ_i|/s)^{p−1}.
    pub(crate) power: Vec<f64>,
    /// s, the reference; 0 while θ = 0.
    pub(crate) reference: f64,
    /// Σ(|θ_i|/s)^p.
    pub(crate) mass: CompensatedSum,
    /// s·mass^{(2−p)/p}: w = lift·power.
    lift: f64,
    /// ‖θ‖_p.
    norm: f64,
}

impl Dual {
    /// θ = 0, for the exponent p.
    pub(crate) fn new(p: f64) -> Self {
        let (theta, power, mass) = (Vec::new(), Vec::new(), CompensatedSum::default());
        Self { p, theta, power, reference: 0.0, mass, lift: 0.0, norm: 0.0 }
    }

    /// sign(θ)·|θ|^{p−1} relative to the reference, and |θ|^p.
    #[inline]
    pub(crate) fn powers(p: f64, theta: f64, reference: f64) -> (f64, f64) {
        let r = theta.abs() / reference;
        // The default q = 3/2 needs a square, which is correctly rounded and 40 times as fast as a power.
        let power = if p == 3.0 { r * r } else { Real::powf(r, p - 1.0) };
        (power.copysign(theta), r * power)
    }

    /// θ ← θ + a·x, where z = ⟨w, x⟩. Returns the divergence of the weights before from the weights after.
    pub(crate) fn advance<X: Row<f64>>(&mut self, a: f64, x: X, z: f64) -> f64 {
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

    /// Makes the largest |θ_i| the reference and recomputes the sum.
    #[cold]
    fn refer(&mut self) {
        self.reference = self.theta.iter().fold(0.0, |top: f64, theta| top.max(theta.abs()));
        if self.reference == 0.0 {
            self.power.fill(0.0);
            self.mass = CompensatedSum::default();
            return;
        }
        let (p, reference) = (self.p, self.reference);
        self.mass =
            CompensatedSum::of(self.theta.iter().zip(&mut self.power).map(|(&theta, power)| {
                let (new, term) = Self::powers(p, theta, reference);
                *power = new;
                term
            }));
    }
}

impl Chart for Dual {
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

    fn look<X: Row<f64>>(&mut self, x: X) -> RowSummary {
        let (mut inner, mut largest) = (0.0, 0.0);
        let power = &self.power;
        x.each(|i, x| {
            if let Some(&power) = power.get(i) {
                inner += power * x;
                largest = Real::max(largest, x.abs());
            }
        });
        RowSummary { z: self.lift * inner, size: largest }
    }

    fn common(&self) -> f64 {
        self.lift
    }

    fn local(&self, i: usize) -> f64 {
        self.power.get(i).copied().unwrap_or_default()
    }

    /// Powers are relative to the reference.
    fn unit(&self) -> f64 {
        if self.reference > 0.0 { (1.0 - self.p) * Real::ln(self.reference) } else { 0.0 }
    }

    fn gamma(&self, rate: Option<f64>, out: &mut Vec<f64>) -> Option<f64> {
        base::dual_gamma(&self.theta, 0.0, rate, out)
    }

    fn save(&self, put: Put<'_>) {
        put("theta", &self.theta);
        put("reference", &[self.reference]);
        self.mass.save("mass", put);
    }

    fn load(&mut self, get: Get<'_>) -> Result<(), ConfigError> {
        let theta = base::array(get, "theta", Allowed::Finite)?;
        let [reference] = base::numbers(get, "reference", Allowed::NonNegative)?;
        let mass = CompensatedSum::load("mass", get)?;
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

impl Moves<Shift> for Dual {
    fn apply<X: Row<f64>>(
        &mut self,
        x: X,
        by: Shift,
        round: &mut Round,
    ) -> Result<(), DomainError> {
        round.length = (2.0 * self.advance(by.0, x, round.z)).sqrt();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_and_huge_duals_have_the_same_shape() {
        for size in [1e-140, 1e-20, 1.0, 1e20, 1e140] {
            let p = 2.0 * Real::ln(1e6_f64);
            let mut chart = Dual::new(p);
            chart.grow(3);
            chart.theta.copy_from_slice(&[size, -2.0 * size, 0.0]);
            chart.refer();
            chart.settle();
            let w: Vec<f64> = (0..3).map(|i| chart.common() * chart.local(i)).collect();
            let ratio = Real::powf(0.5_f64, p - 1.0);
            assert!((w[0] / -w[1] / ratio - 1.0).abs() < 1e-14, "{w:?}");
            assert!((w[1] / size + 2.0).abs() < 1e-6, "{w:?}");
        }
    }
}
