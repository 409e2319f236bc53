//! # Kullback–Leibler
//! $$\psi(w) = \sum_i w_i \ln w_i - w_i, \qquad D(u \Vert w) = \sum_i u_i \ln \frac{u_i}{w_i} - u_i + w_i, \qquad
//!   w > 0$$
//! The unnormalised relative entropy. Its mirror step is multiplicative, $w_i e^{-\eta \partial_i L}$: unnormalised
//! exponentiated gradient.
//!
//! **Link** $\theta = \ln w$. **Inverse** $w = e^\theta$. **Conjugate** $\sum_i e^{\theta_i}$. **Modulus** none on the
//! whole orthant ($\psi'' = 1/w$ tends to 0); $1/R$ w.r.t. $\Vert\cdot\Vert_1$ where $\Vert w \Vert_1 \le R$, because
//! $(\sum |v_i|)^2 \le \sum w_i \sum v_i^2 / w_i$. **Flat coordinate** $2\sqrt w$.
//!
//! **Cost** O(n), one logarithm or exponential per coordinate.
//!
//! **Care** $0 \ln 0 = 0$, so u may have zeros; D = +∞ if $u_i > 0 = w_i$. For u near w each term is computed as
//! $w\,h(u/w - 1)$, with $h(t) = (1+t)\ln(1+t) - t$ computed by its series. Every θ is in the image of ∇ψ, but
//! `unlink` overflows to ∞ above 709.7 and underflows to 0 below −745 (88.7 and −103 in `f32`).
//!
//! **Source** \[NN09, table 1\]; \[AW20, eq. (5)\].

pub(crate) mod theorems;

use super::gap;
use crate::Real;
use crate::error::ConfigError;
use crate::error::{self, Allowed, DomainError};
use crate::geometry::{Curved, Generator, Modulus, Separable};
use crate::learn::base;
use crate::learn::gauge::Gauge;
use crate::learn::implicit::Curve;
use crate::learn::implicit::series::{EXPONENTIAL, PowerSeries};
use crate::learn::{Chart, Exponent, Factor, Logarithmic, RowSummary, SparseForm, Steps};
use crate::row::Norm;
use crate::row::Row;
use crate::update::Round;

/// $\psi(w) = \sum_i w_i \ln w_i - w_i$ on the positive orthant.
///
/// ```
/// use geowalk::geometry::{Generator, generators::KullbackLeibler};
/// let d = KullbackLeibler.divergence(&[1.0, 0.0], &[2.0, 0.5]);
/// assert_eq!(d, 1.5 - std::f64::consts::LN_2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct KullbackLeibler;

impl<F: Real> Generator<F> for KullbackLeibler {
    fn check(&self, w: &[F]) -> Result<(), DomainError> {
        error::each("the point", w, Allowed::Positive)
    }

    fn check_dual(&self, theta: &[F]) -> Result<(), DomainError> {
        error::each("the dual point", theta, Allowed::Finite)
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
        theta.iter().map(|&theta| theta.exp()).sum()
    }

    fn divergence(&self, u: &[F], w: &[F]) -> F {
        u.iter().zip(w).map(|(&u, &w)| gap::entropy(u, w, u - w)).sum()
    }

    fn modulus(&self) -> Option<Modulus> {
        None
    }

    fn modulus_within(&self, radius: f64) -> Option<Modulus> {
        Allowed::Positive
            .contains(radius)
            .then_some(Modulus { sigma: 1.0 / radius, norm: Norm::L1 })
    }
}

impl<F: Real> Curved<F> for KullbackLeibler {
    fn hessian(&self, w: &[F], v: &[F], out: &mut [F]) {
        for ((out, &v), &w) in out.iter_mut().zip(v).zip(w) {
            *out = v / w;
        }
    }

    fn hessian_inverse(&self, w: &[F], g: &[F], out: &mut [F]) {
        for ((out, &g), &w) in out.iter_mut().zip(g).zip(w) {
            *out = g * w;
        }
    }

    fn check_tangent(&self, w: &[F], v: &[F]) -> Result<(), DomainError> {
        error::finite("the tangent vector", v, w.len())
    }

    fn origin(&self, w: &mut [F]) {
        w.fill(F::ONE);
    }
}

impl<F: Real> Separable<F> for KullbackLeibler {
    #[inline]
    fn value1(&self, w: F) -> F {
        if w == F::ZERO { F::ZERO } else { w * w.ln() - w }
    }

    #[inline]
    fn link1(&self, w: F) -> F {
        w.ln()
    }

    #[inline]
    fn unlink1(&self, theta: F) -> F {
        theta.exp()
    }

    #[inline]
    fn curvature1(&self, w: F) -> F {
        F::ONE / w
    }

    #[inline]
    fn flat1(&self, w: F) -> F {
        F::TWO * w.sqrt()
    }

    #[inline]
    fn unflat1(&self, f: F) -> Option<F> {
        // A NaN must stay a NaN, so only values that compare as outside return `None`.
        if f <= F::ZERO { None } else { Some((F::HALF * f).square()) }
    }
}

/// Unnormalised exponentiated gradient (EGU) at O(nnz), $w_i \leftarrow w_i\, e^{-\eta g x_i}$.
///
/// With the loss of Winnow and the constants of [`winnow`](crate::walk::winnow) it is Winnow.
/// **Start** equal weights; small ones ($10^{-4}$) find a sparse target sooner than $1/n$. **Cost** one exponential
/// per coordinate of the row. The implicit step has $z(\kappa) = \sum_i w_i x_i e^{-\kappa x_i}$ and costs as much per
/// evaluation; short steps compute one power series instead. **Care** For features of both signs there is no bound,
/// and large rates diverge. Logarithms of factors are clipped to ±700 and those of weights to ±345; both are reported.
/// **Source** \[KW97\]; \[AW20, sec. 2 and 5\]; \[KMWW07s, eq. (6)\].
#[derive(Debug, Clone, PartialEq)]
pub struct EntropyForm(Logarithmic);

/// τ·x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScaledValue(f64);

impl Exponent for ScaledValue {
    fn tau(self) -> f64 {
        self.0
    }

    #[inline(always)]
    fn of(self, x: f64, _: f64) -> f64 {
        self.0 * x
    }
}

impl Steps<EntropyForm> {
    /// Default initial weight of a feature.
    pub const START: f64 = 1e-4;

    /// All weights start at `start` > 0.
    pub fn new(start: f64) -> Result<Self, ConfigError> {
        Ok(Self::of(EntropyForm(Logarithmic::new(start)?)))
    }
}

impl SparseForm for EntropyForm {
    type Chart = Logarithmic;
    type Move = ScaledValue;

    fn spec(&self) -> String {
        format!("mirror:entropy(ln start={})", self.0.start())
    }

    fn chart(&self) -> Logarithmic {
        self.0.clone()
    }

    fn plan(
        &self,
        _: &Logarithmic,
        _: RowSummary,
        kappa: f64,
        _: &mut Round,
    ) -> Result<Option<ScaledValue>, DomainError> {
        Ok((kappa != 0.0).then_some(ScaledValue(-kappa)))
    }

    fn gauge<X: Row<f64>>(&self, chart: &Logarithmic, x: X) -> Gauge {
        Gauge::positive(x, |i| chart.local(i), false)
    }

    fn holds_gamma(&self) -> bool {
        true
    }
}

impl Curve for EntropyForm {
    type Ready = PowerSeries;

    fn ready<X: Row<f64>>(
        &self,
        chart: &Logarithmic,
        x: X,
        _: RowSummary,
        reach: f64,
        _: f64,
    ) -> Result<Option<PowerSeries>, DomainError> {
        let largest = base::in_range(x)?;
        let entries = &chart.entries;
        let term = |i, x| (entries.weight(i).map_or(0.0, |w| w * x), x);
        Ok(Some(PowerSeries::new(&EXPONENTIAL, reach, largest, x, term)))
    }

    fn along<X: Row<f64>>(
        &self,
        chart: &Logarithmic,
        x: X,
        _: RowSummary,
        near: &PowerSeries,
        kappa: f64,
    ) -> (f64, f64) {
        if let Some(near) = near.at(&EXPONENTIAL, kappa) {
            return near;
        }
        let (mut z, mut slope) = (0.0, 0.0);
        x.each(|i, x| {
            if let Some(log) = chart.entries.logarithm(i)
                && x != 0.0
            {
                let term = x * Real::exp(log - kappa * x);
                z += term;
                slope -= term * x;
            }
        });
        (z, slope)
    }
}

/// The twin of EGU at O(nnz): gradient descent on u with w = u², $u_i \leftarrow u_i (1 - \tfrac{\eta}{2}\, g\, x_i)$.
///
/// It discretises the same flow as EGU, and is compared with it at the same η. **Start** equal weights (the parameter
/// is w, not u). **Care** The state is 2 ln|u|. The sign of u does not matter: w is u², and u' is a multiple of u. If
/// $\tfrac{\eta}{2} g x_i > 1$ then u crosses 0, which is counted and reported as a fold. If u would become exactly 0,
/// the weight could never recover; it is multiplied by 2⁻¹⁰⁴ instead (reported as clamped). **Source** \[AW20, alg. 4
/// and 6, eq. (20)\].
#[derive(Debug, Clone, PartialEq)]
pub struct ReparamEntropyForm(Logarithmic);

/// The s of a factor (1 + s)², s = τ·x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SquaredFactor(f64);

impl Exponent for SquaredFactor {
    const FACTOR: Factor = Factor::Square;

    fn tau(self) -> f64 {
        self.0
    }

    #[inline(always)]
    fn of(self, x: f64, _: f64) -> f64 {
        self.0 * x
    }
}

impl Steps<ReparamEntropyForm> {
    /// All weights w = u² start at `start` > 0.
    pub fn new(start: f64) -> Result<Self, ConfigError> {
        Ok(Self::of(ReparamEntropyForm(Logarithmic::folding(start)?)))
    }
}

impl SparseForm for ReparamEntropyForm {
    type Chart = Logarithmic;
    type Move = SquaredFactor;

    fn spec(&self) -> String {
        format!("reparam:entropy(ln start={})", self.0.start())
    }

    fn chart(&self) -> Logarithmic {
        self.0.clone()
    }

    fn plan(
        &self,
        _: &Logarithmic,
        _: RowSummary,
        kappa: f64,
        _: &mut Round,
    ) -> Result<Option<SquaredFactor>, DomainError> {
        let tau = -0.5 * kappa;
        Ok((tau != 0.0).then_some(SquaredFactor(tau)))
    }

    fn gauge<X: Row<f64>>(&self, chart: &Logarithmic, x: X) -> Gauge {
        Gauge::positive(x, |i| chart.local(i), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divergence_at_the_boundary() {
        assert_eq!(KullbackLeibler.divergence(&[0.0, 0.0], &[0.5, 0.0]), 0.5);
        assert_eq!(KullbackLeibler.divergence(&[0.5], &[0.0]), f64::INFINITY);
        assert_eq!(KullbackLeibler.value(&[0.0, 1.0]), -1.0);
        assert!(KullbackLeibler.divergence(&[f64::NAN, 1.0], &[0.0, 1.0]).is_nan());
    }

    #[test]
    fn the_boundary_is_not_in_the_domain() {
        let error = KullbackLeibler.check(&[1.0, 0.0]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "coordinate 1 of the point is 0; it must be a finite number > 0"
        );
    }

    #[test]
    fn modulus_only_within_a_radius() {
        assert_eq!(Generator::<f64>::modulus(&KullbackLeibler), None);
        let within = |radius| Generator::<f64>::modulus_within(&KullbackLeibler, radius);
        assert_eq!(within(4.0), Some(Modulus { sigma: 0.25, norm: Norm::L1 }));
        assert_eq!((within(0.0), within(f64::NAN), within(f64::INFINITY)), (None, None, None));
    }
}
