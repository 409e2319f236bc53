//! # A vector with a common factor
//! $$w = c\,v, \qquad a\,w + b\,x = (a c)\Bigl(v + \frac{b}{a c}\,x\Bigr)$$
//! Multiplying all coordinates by a factor changes only c. Otherwise only the coordinates of x change. Σv² is also
//! stored. **Cost** O(nnz). **Care** If c leaves [1e-6, 1e6], or if a is so small that w nearly vanishes compared with
//! x, the factor is multiplied into v in O(n). **Source** \[SSS07\], for gradient descent.

use super::compensated_sum::CompensatedSum;
use super::{Chart, Get, Moves, Put, RowSummary};
use crate::Real;
use crate::error::{Allowed, ConfigError, DomainError};
use crate::learn::base;
use crate::row::Row;
use crate::update::Round;

/// c and v. On a sphere, Σv² determines c.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaled {
    pub(crate) c: f64,
    pub(crate) v: Vec<f64>,
    /// Σv².
    pub(crate) square: CompensatedSum,
    /// The logarithm of the total factor by which v has been multiplied so far; the factor may overflow.
    log_factor: f64,
    /// The radius of the sphere that contains w, and the seed of the initial direction.
    sphere: Option<(f64, u64)>,
}

impl Default for Scaled {
    fn default() -> Self {
        let square = CompensatedSum::default();
        Self { c: 1.0, v: Vec::new(), square, log_factor: 0.0, sphere: None }
    }
}

/// w ← a·w + b·x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Blend {
    /// a.
    pub a: f64,
    /// b.
    pub b: f64,
}

impl Scaled {
    /// A walk on the sphere of a radius, from a random direction determined by the seed: ξ_i is normal and depends
    /// only on the seed and i, so features may appear in any order and at any time.
    pub(crate) fn on_sphere(radius: f64, seed: u64) -> Self {
        Self { sphere: Some((radius, seed)), ..Self::default() }
    }

    /// ‖w‖².
    pub(crate) fn norm2(&self) -> f64 {
        self.c * self.c * self.square.value()
    }

    /// w ← a·w + b·x, then normalisation to the sphere, if there is one.
    pub(crate) fn blend<X: Row<f64>>(&mut self, a: f64, x: X, b: f64) {
        if a.abs() < 1e-3 {
            self.multiply(a);
        } else {
            self.c *= a;
        }
        let step = b / self.c;
        let Self { v, square, .. } = self;
        x.each(|i, x| {
            if let Some(v) = v.get_mut(i) {
                let new = *v + step * x;
                square.square(*v, new);
                *v = new;
            }
        });
        if !(1e-6..=1e6).contains(&self.c.abs()) {
            self.multiply(1.0);
        } else if self.square.worn() {
            self.sum();
        }
        self.normalize();
    }

    /// w ← a·w, after which c = ±1.
    fn multiply(&mut self, a: f64) {
        let by = (a * self.c).abs();
        for v in &mut self.v {
            *v *= by;
        }
        self.log_factor += Real::ln(by.max(f64::MIN_POSITIVE));
        self.c = f64::copysign(1.0, a * self.c);
        self.sum();
    }

    fn sum(&mut self) {
        self.square = CompensatedSum::of(self.v.iter().map(|v| v * v));
    }

    /// On a sphere: c ← ±r/√Σv².
    pub(crate) fn normalize(&mut self) {
        if let Some((radius, _)) = self.sphere {
            let square = self.square.value();
            if square > 0.0 {
                self.c = (radius / square.sqrt()).copysign(self.c);
            }
        }
    }
}

impl Chart for Scaled {
    fn features(&self) -> usize {
        self.v.len()
    }

    fn grow(&mut self, n: usize) {
        if n > self.v.len() {
            let factor = Real::exp(self.log_factor);
            for i in self.v.len()..n {
                let start = self.sphere.map_or(0.0, |(_, seed)| normal(seed, i as u64));
                let v = factor * start;
                self.square.square(0.0, v);
                self.v.push(v);
            }
            self.normalize();
        }
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        self.c * x.dot(&self.v)
    }

    fn look<X: Row<f64>>(&mut self, x: X) -> RowSummary {
        let (mut inner, mut size) = (0.0, 0.0);
        let v = &self.v;
        x.each(|i, x| {
            if let Some(&v) = v.get(i) {
                inner += v * x;
                size += x * x;
            }
        });
        RowSummary { z: self.c * inner, size }
    }

    fn common(&self) -> f64 {
        self.c
    }

    fn local(&self, i: usize) -> f64 {
        self.v.get(i).copied().unwrap_or_default()
    }

    fn unit(&self) -> f64 {
        self.log_factor
    }

    fn gamma(&self, _: Option<f64>, _: &mut Vec<f64>) -> Option<f64> {
        None
    }

    fn save(&self, put: Put<'_>) {
        put("v", &self.v);
        put("factors", &[self.c, self.log_factor]);
        self.square.save("square", put);
    }

    fn load(&mut self, get: Get<'_>) -> Result<(), ConfigError> {
        let [c, log_factor] = base::numbers(get, "factors", Allowed::Finite)?;
        base::scalar("the size of the common factor", c.abs(), Allowed::Positive)?;
        let v = base::array(get, "v", Allowed::Finite)?;
        let square = CompensatedSum::load("square", get)?;
        *self = Self { c, v, square, log_factor, sphere: self.sphere };
        Ok(())
    }
}

impl Moves<Blend> for Scaled {
    fn apply<X: Row<f64>>(&mut self, x: X, by: Blend, _: &mut Round) -> Result<(), DomainError> {
        self.blend(by.a, x, by.b);
        Ok(())
    }
}

/// A standard normal number that depends only on the seed and the index (SplitMix64 and Box–Muller).
fn normal(seed: u64, index: u64) -> f64 {
    let mut state = mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ index;
    let mut unit = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        ((mix(state) >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    };
    let radius = (-2.0 * Real::ln(unit())).sqrt();
    radius * Real::cos(std::f64::consts::TAU * unit())
}

fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_is_a_standard_normal_direction() {
        let (mut sum, mut square) = (0.0, 0.0);
        for i in 0..10_000 {
            let xi = normal(3, i);
            sum += xi;
            square += xi * xi;
        }
        assert!((sum / 1e4).abs() < 0.03 && (square / 1e4 - 1.0).abs() < 0.05, "{sum} {square}");
        assert_ne!(normal(3, 5), normal(4, 5));
    }
}
