//! # Itakura–Saito
//! $$\psi(w) = -\sum_i \ln w_i, \qquad D(u \Vert w) = \sum_i \frac{u_i}{w_i} - \ln \frac{u_i}{w_i} - 1, \qquad w > 0$$
//! The generator is Burg's entropy. The divergence does not change if u and w are both multiplied by c > 0.
//!
//! **Link** $\theta = -1/w$. **Inverse** $w = -1/\theta$, only for θ < 0. **Conjugate**
//! $-\sum_i (1 + \ln(-\theta_i))$.
//! **Modulus** none on the whole orthant ($\psi'' = 1/w^2$); $1/R^2$ w.r.t. $\Vert\cdot\Vert_1$ where
//! $\Vert w \Vert_1 \le R$, because $(\sum |v_i|)^2 \le \sum w_i^2 \sum v_i^2/w_i^2$ and $\sum w_i^2 \le R^2$. (The
//! same number w.r.t. $\Vert\cdot\Vert_2$ says less.)
//! **Flat coordinate** $\ln w$: its Hessian manifold is the positive orthant with the metric of the logarithm.
//!
//! **Cost** O(n).
//!
//! **Care** A mirror step may leave the image of the link: $-1/w - \eta\, \partial L \ge 0$ does not correspond to a
//! weight. [`check_dual`](Generator::check_dual) returns an error with the number; `unlink` without the check gives a
//! negative or infinite weight. D = +∞ at the boundary ($u_i = 0$ or $w_i = 0$), because ψ is infinite there.
//!
//! **Source** \[NN09, table 1\].

use super::gap;
use crate::Real;
use crate::error::ConfigError;
use crate::error::{self, Allowed, DomainError};
use crate::geometry::{Curved, Generator, Modulus, Separable};
use crate::learn::base;
use crate::learn::gauge::Gauge;
use crate::learn::implicit::Curve;
use crate::learn::{
    Chart, Coordinate, Plain, RowSummary, Shift, SparseForm, Steps, beyond_logarithm,
};
use crate::row::Norm;
use crate::row::Row;
use crate::update::Round;

/// $\psi(w) = -\sum_i \ln w_i$ on the positive orthant.
///
/// ```
/// use geowalk::geometry::{Generator, generators::ItakuraSaito};
/// let d = ItakuraSaito.divergence(&[2.0], &[1.0]);
/// assert_eq!(d, 1.0 - std::f64::consts::LN_2);
/// assert_eq!(d, ItakuraSaito.divergence(&[2e100], &[1e100]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ItakuraSaito;

impl<F: Real> Generator<F> for ItakuraSaito {
    fn check(&self, w: &[F]) -> Result<(), DomainError> {
        error::each("the point", w, Allowed::Positive)
    }

    fn check_dual(&self, theta: &[F]) -> Result<(), DomainError> {
        error::each("the dual point", theta, Allowed::Negative)
    }

    fn value(&self, w: &[F]) -> F {
        w.iter().map(|&w| self.value1(w)).sum()
    }

    fn link(&self, w: &[F], theta: &mut [F]) {
        for (theta, &w) in theta.iter_mut().zip(w) {
            *theta = self.link1(w);
        }
    }

    fn unlink(&self, theta: &[F], w: &mut [F]) {
        for (w, &theta) in w.iter_mut().zip(theta) {
            *w = self.unlink1(theta);
        }
    }

    fn conjugate(&self, theta: &[F]) -> F {
        theta.iter().map(|&theta| -F::ONE - (-theta).ln()).sum()
    }

    fn divergence(&self, u: &[F], w: &[F]) -> F {
        u.iter().zip(w).map(|(&u, &w)| gap::burg(u, w)).sum()
    }

    fn modulus(&self) -> Option<Modulus> {
        None
    }

    fn modulus_within(&self, radius: f64) -> Option<Modulus> {
        Allowed::Positive
            .contains(radius)
            .then_some(Modulus { sigma: 1.0 / radius / radius, norm: Norm::L1 })
    }
}

impl<F: Real> Curved<F> for ItakuraSaito {
    fn hessian(&self, w: &[F], v: &[F], out: &mut [F]) {
        for ((out, &v), &w) in out.iter_mut().zip(v).zip(w) {
            *out = v / w / w;
        }
    }

    fn hessian_inverse(&self, w: &[F], g: &[F], out: &mut [F]) {
        for ((out, &g), &w) in out.iter_mut().zip(g).zip(w) {
            *out = g * w * w;
        }
    }

    fn check_tangent(&self, w: &[F], v: &[F]) -> Result<(), DomainError> {
        error::finite("the tangent vector", v, w.len())
    }

    fn origin(&self, w: &mut [F]) {
        w.fill(F::ONE);
    }
}

impl<F: Real> Separable<F> for ItakuraSaito {
    #[inline]
    fn value1(&self, w: F) -> F {
        -w.ln()
    }

    #[inline]
    fn link1(&self, w: F) -> F {
        -F::ONE / w
    }

    #[inline]
    fn unlink1(&self, theta: F) -> F {
        -F::ONE / theta
    }

    #[inline]
    fn curvature1(&self, w: F) -> F {
        F::ONE / w / w
    }

    #[inline]
    fn flat1(&self, w: F) -> F {
        w.ln()
    }

    #[inline]
    fn unflat1(&self, f: F) -> Option<F> {
        Some(f.exp())
    }
}

/// Mirror descent with Burg's entropy at O(nnz): $\theta \leftarrow \theta - \eta\, g\, x$, $w_i = -1/\theta_i$.
///
/// Steps change weights by relative amounts: $w_i' = w_i/(1 + \eta g x_i w_i)$. **Start** equal weights. **Care** θ
/// must stay negative. A step that would move a coordinate to 0 or beyond is an error and is not made. The implicit
/// step cannot leave θ < 0: as a θ_i approaches 0 its weight grows without bound and moves the prediction beyond the
/// minimum of the loss. So the root of $z(\kappa) = \sum_i x_i/(\kappa x_i - \theta_i)$ is reached earlier. **Source**
/// \[NN09, table 1\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BurgForm {
    /// θ of an initial weight.
    start: f64,
}

/// w = −1/θ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reciprocal;

/// Upper limit of θ: w stays below 1e150.
const NEAREST: f64 = -1e-150;

impl Coordinate for Reciprocal {
    const DUALS: Allowed = Allowed::Closed(-base::LARGEST, NEAREST);
    const NAME: &'static str = "theta";

    fn weight(theta: f64) -> f64 {
        -1.0 / theta
    }

    #[inline(always)]
    fn inside(theta: f64) -> bool {
        (-base::LARGEST..=NEAREST).contains(&theta)
    }

    #[inline(always)]
    fn term(theta: f64, x: f64) -> f64 {
        -(x / theta)
    }

    /// w/w' − ln(w/w') − 1 with w/w' = θ'/θ = 1 + s/θ.
    #[inline(always)]
    fn divergence(theta: f64, s: f64) -> f64 {
        beyond_logarithm(s / theta)
    }
}

impl Steps<BurgForm> {
    /// Every weight begins at `start` > 0.
    pub fn new(start: f64) -> Result<Self, ConfigError> {
        error::parameter("start", start, Allowed::Closed(1e-150, 1e150))?;
        Ok(Self::of(BurgForm { start: (-1.0 / start).min(NEAREST) }))
    }
}

impl SparseForm for BurgForm {
    type Chart = Plain<Reciprocal>;
    type Move = Shift;

    fn spec(&self) -> String {
        format!("mirror:burg(start={})", -1.0 / self.start)
    }

    fn chart(&self) -> Self::Chart {
        Plain::new(self.start)
    }

    fn plan(
        &self,
        _: &Self::Chart,
        _: RowSummary,
        kappa: f64,
        _: &mut Round,
    ) -> Result<Option<Shift>, DomainError> {
        Ok(Some(Shift(-kappa)))
    }

    fn gauge<X: Row<f64>>(&self, chart: &Self::Chart, x: X) -> Gauge {
        Gauge::positive(x, |i| chart.local(i), true)
    }

    fn holds_gamma(&self) -> bool {
        true
    }
}

impl Curve for BurgForm {
    /// The |κ| at which the first θ_i becomes 0.
    type Ready = f64;

    fn ready<X: Row<f64>>(
        &self,
        chart: &Self::Chart,
        x: X,
        _: RowSummary,
        _: f64,
        side: f64,
    ) -> Result<Option<f64>, DomainError> {
        base::in_range(x)?;
        let mut limit = f64::MAX;
        x.each(|i, x| {
            if let Some(&theta) = chart.theta.get(i)
                && side * x < 0.0
            {
                limit = Real::min(limit, theta / (side * x));
            }
        });
        Ok(Some(limit))
    }

    fn limit(&self, limit: &f64) -> f64 {
        *limit
    }

    fn along<X: Row<f64>>(
        &self,
        chart: &Self::Chart,
        x: X,
        _: RowSummary,
        _: &f64,
        kappa: f64,
    ) -> (f64, f64) {
        let (mut z, mut slope) = (0.0, 0.0);
        x.each(|i, x| {
            if let Some(&theta) = chart.theta.get(i)
                && x != 0.0
            {
                // At the limit rounding may give a θ_i with the wrong sign.
                let w = -1.0 / Real::min(theta - kappa * x, -f64::MIN_POSITIVE);
                z += x * w;
                slope -= (x * w) * (x * w);
            }
        });
        (z, slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dual_points_are_negative() {
        assert!(ItakuraSaito.check_dual(&[-1e-300, -1e300]).is_ok());
        let error = ItakuraSaito.check_dual(&[-1.0, 0.5]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "coordinate 1 of the dual point is 0.5; it must be a finite number < 0"
        );
        assert!(ItakuraSaito.check_dual(&[0.0]).is_err());
    }

    #[test]
    fn divergence_is_scale_free_and_infinite_at_the_boundary() {
        let d = ItakuraSaito.divergence(&[3.0, 1.0], &[2.0, 4.0]);
        assert!((d - ItakuraSaito.divergence(&[3e-200, 1e-200], &[2e-200, 4e-200])).abs() < 1e-14);
        assert_eq!(ItakuraSaito.divergence(&[0.0], &[1.0]), f64::INFINITY);
        assert_eq!(ItakuraSaito.divergence(&[1.0], &[0.0]), f64::INFINITY);
    }

    /// The ℓ₁ modulus is attained in the limit w → R e₁, so no larger constant is valid.
    #[test]
    fn modulus_within_a_radius_is_tight() {
        let modulus = Generator::<f64>::modulus_within(&ItakuraSaito, 2.0);
        assert_eq!(modulus, Some(Modulus { sigma: 0.25, norm: Norm::L1 }));
        let d = ItakuraSaito.divergence(&[2.0 - 1e-6, 1e-9], &[2.0 - 2e-6, 1e-9]);
        assert!((d / (0.125 * 1e-12) - 1.0).abs() < 1e-5, "{d:e}");
    }
}
