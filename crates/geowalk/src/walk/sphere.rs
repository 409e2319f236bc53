//! # Geodesic steps on the sphere
//! On $\Vert w \Vert = r$, with $u = \langle w, x\rangle$:
//! $$w' = a\,w + b\,x, \qquad \theta = \tfrac{\eta |g|}{r} \sqrt{\Vert x\Vert^2 - u^2/r^2}, \qquad
//!   a = \cos\theta + \tfrac{\eta g u}{r^2}\,\mathrm{sinc}\,\theta, \qquad b = -\eta g\, \mathrm{sinc}\,\theta$$
//! The *projected* form, for comparison, is $w' = r\,(w - \eta g x)/\Vert w - \eta g x \Vert$.
//!
//! **Start** A random direction, uniform over the features that are there: $w \propto (\xi_1, \ldots, \xi_n)$ with normal $\xi_i$ that depend
//! on the seed and on i alone, so that features may come in any order and at any time.
//! **Cost** O(nnz). **Care** where $w = \pm r x/\Vert x\Vert$ the gradient is 0, also if the loss is at its largest:
//! [`Event::Stationary`]. Steps past the antipode are reported.
//! **Source** \[KMWW07s, eq. (11)–(16)\]; \[KMWW07, eq. (10)\].

use std::f64::consts::PI;

use super::Walk;
use super::gauge::Gauge;
use super::scaled::Scaled;
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::Event;
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Round, Target};
use crate::walk;

/// Weights of norm r.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Sphere, Walk};
///
/// // Which direction is orthogonal to (0.6, 0.8)?
/// let mut walk = Sphere::new(1.0, 7)?;
/// for _ in 0..50 {
///     walk.step(Dense(&[0.6, 0.8]), 0.0.into(), &Squared, 0.25)?;
/// }
/// let mut w = Vec::new();
/// walk.read(&mut w);
/// assert!((w[0].abs() - 0.8).abs() < 1e-12 && (w[1].abs() - 0.6).abs() < 1e-12, "{w:?}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sphere {
    pub(super) radius: f64,
    seed: u64,
    projected: bool,
    pub(super) w: Scaled,
}

impl Sphere {
    /// Geodesic steps on the sphere of the given radius, from the direction that the seed gives.
    pub fn new(radius: f64, seed: u64) -> Result<Self, ConfigError> {
        error::parameter("radius", radius, Allowed::Closed(1e-100, 1e100))?;
        Ok(Self { radius, seed, projected: false, w: Scaled::default() })
    }

    /// Straight steps, projected onto the sphere.
    pub fn projected(radius: f64, seed: u64) -> Result<Self, ConfigError> {
        Ok(Self { projected: true, ..Self::new(radius, seed)? })
    }

    /// c ← ±r/√Σv².
    pub(super) fn normalize(&mut self) {
        let square = self.w.square.value();
        if square > 0.0 {
            self.w.c = (self.radius / square.sqrt()).copysign(self.w.c);
        }
    }
}

impl Walk for Sphere {
    fn features(&self) -> usize {
        self.w.v.len()
    }

    fn grow(&mut self, n: usize) {
        if n > self.w.v.len() {
            let seed = self.seed;
            self.w.grow(n, |i| normal(seed, i as u64));
            self.normalize();
        }
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        self.w.c * x.dot(&self.w.v)
    }

    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        self.grow(x.bound());
        let (mut inner, mut square) = (0.0, 0.0);
        let v = &self.w.v;
        x.each(|i, x| {
            if let Some(&v) = v.get(i) {
                inner += v * x;
                square += x * x;
            }
        });
        let mut round = walk::judge(self.w.c * inner, target, loss, rate)?;
        walk::length(square)?;
        let (u, r2) = (round.z, self.radius * self.radius);
        let eta = rate * round.slope;
        // ‖x‖² less its part along w: below this it is the rounding error of the difference.
        let across = square - u * u / r2;
        let aligned = across <= 4.0 * f64::EPSILON * square;
        if aligned || round.slope == 0.0 {
            if square > 0.0 && round.loss > 0.0 {
                round.event = Event::Stationary;
            }
            return Ok(round);
        }
        if rate == 0.0 {
            return Ok(round);
        }
        let across = across.sqrt();
        let (angle, a, b) = if self.projected {
            let (straight, sideways) = (1.0 - eta * u / r2, eta.abs() * across / self.radius);
            let norm = walk::length(Real::hypot(straight, sideways))?;
            (Real::atan2(sideways, straight), norm.recip(), -eta / norm)
        } else {
            let angle = walk::length(eta.abs() * across / self.radius)?;
            let b = -eta * angle.sinc();
            (angle, Real::cos(angle) - b * u / r2, b)
        };
        round.length = self.radius * angle;
        if angle > PI {
            round.event = Event::PastInjectivity;
        }
        self.w.blend(a, x, b);
        self.normalize();
        Ok(round)
    }

    fn common(&self) -> f64 {
        self.w.c
    }

    fn local(&self, i: usize) -> Option<f64> {
        Some(self.w.v.get(i).copied().unwrap_or_default())
    }

    fn unit(&self) -> f64 {
        self.w.log_factor
    }

    fn gauge<X: Row<f64>>(&self, x: X) -> Gauge {
        let square = Gauge::euclidean(x).square;
        Gauge { square, stretch: square.sqrt() / self.radius, local: false }
    }

    fn read(&self, w: &mut Vec<f64>) {
        self.w.read(w);
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.w.save(put);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        self.w = Scaled::load(get)?;
        Ok(())
    }
}

/// A standard normal number that depends on the seed and the index only (SplitMix64 and Box–Muller).
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
    use crate::loss::Squared;
    use crate::row::Dense;

    fn at(w: &[f64]) -> Sphere {
        let mut sphere = Sphere::new(1.0, 0).unwrap();
        sphere.grow(w.len());
        sphere.w.v = w.to_vec();
        sphere.w.square = super::super::tally::Tally::of(w.iter().map(|w| w * w));
        sphere.normalize();
        sphere
    }

    #[test]
    fn aligned_with_the_row_it_cannot_move() {
        // The loss is as large as it can be, and its gradient is 0.
        let mut sphere = at(&[-0.6, -0.8]);
        let round = sphere.step(Dense(&[0.6, 0.8]), 1.0.into(), &Squared, 0.5).unwrap();
        assert_eq!((round.event, round.length), (Event::Stationary, 0.0));
        let round = sphere.step(Dense(&[0.6, 0.8]), (-1.0).into(), &Squared, 0.5).unwrap();
        assert!(round.loss < 1e-30 && round.length == 0.0);
        let round = sphere.step(Dense(&[0.0, 0.0]), 1.0.into(), &Squared, 0.5).unwrap();
        assert_eq!(round.event, Event::Inside, "an empty row says nothing about w");
    }

    #[test]
    fn a_quarter_turn_has_no_part_along_w() {
        // θ = η|g| = π/2 with w ⊥ x: a = 0, and the common factor cannot carry it.
        let mut sphere = at(&[1.0, 0.0, 0.0]);
        let rate = PI / 4.0;
        let round = sphere.step(Dense(&[0.0, 1.0, 0.0]), 1.0.into(), &Squared, rate).unwrap();
        assert!((round.length - PI / 2.0).abs() < 1e-15);
        let mut w = Vec::new();
        sphere.read(&mut w);
        assert!(w[0].abs() < 1e-15 && (w[1] - 1.0).abs() < 1e-15, "{w:?}");
    }

    #[test]
    fn a_walk_past_the_antipode_says_so() {
        let mut sphere = at(&[1.0, 0.0]);
        let round = sphere.step(Dense(&[0.0, 1.0]), 1.0.into(), &Squared, 2.0).unwrap();
        assert_eq!((round.length, round.event), (4.0, Event::PastInjectivity));
        let mut w = Vec::new();
        sphere.read(&mut w);
        assert!((w[0] - Real::cos(4.0_f64)).abs() < 1e-15);
    }

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
