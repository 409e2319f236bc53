//! # Relative entropy on the simplex
//! $$\psi(w) = \sum_i w_i \ln w_i, \qquad D(u \Vert w) = \sum_i u_i \ln \frac{u_i}{w_i}, \qquad
//!   w > 0,\ \sum_i w_i = 1$$
//! Its mirror step is exponentiated gradient, $w_i e^{-\eta \partial_i L} / \sum_j w_j e^{-\eta \partial_j L}$.
//!
//! **Link** Directions in the simplex sum to 0, so ∇ψ is defined up to a constant: θ and θ + c are the same dual
//! point. The chosen representative (the gauge) is $\theta = \ln w$, the log-probabilities, for which
//! $\ln\sum_i e^{\theta_i} = 0$. **Inverse** softmax, for every θ; it does not depend on the gauge. **Conjugate**
//! $\ln \sum_i e^{\theta_i}$.
//! **Modulus** 1 w.r.t. $\Vert\cdot\Vert_1$ (Pinsker's inequality). **Metric** the Fisher metric.
//!
//! **Cost** O(n).
//!
//! **Care** Compare two dual points by their differences of coordinates or by their softmax: after a step θ is no
//! longer in the gauge. Softmax and log-sum-exp subtract the largest coordinate first, and log-sum-exp adds the rest
//! in `ln_1p`, so neither overflows. D is summed as $u_i \ln(u_i/w_i) - u_i + w_i \ge 0$, which has the same sum on
//! the simplex and does not cancel; D = +∞ if $u_i > 0 = w_i$. Weights more than $e^{745}$ times smaller than the
//! largest underflow to 0 and fail `check`.
//!
//! **Source** \[AW20, sec. 2\]; Fisher metric \[AN00, sec. 2.2\].

pub(crate) mod theorems;

use super::gap;
use crate::Real;
use crate::error::ConfigError;
use crate::error::{self, Allowed, DomainError};
use crate::geometry::Event;
use crate::geometry::{Curved, Generator, Modulus};
use crate::learn::absent_weight::AbsentWeight;
use crate::learn::base;
use crate::learn::gauge::Gauge;
use crate::learn::implicit::Curve;
use crate::learn::implicit::series::{self, EXPONENTIAL, LONG, SHORT};
use crate::learn::{Chart, Factor, Partitioned, Reweigh, RowSummary, SparseForm, Steps};
use crate::row::Norm;
use crate::row::Row;
use crate::update::Round;

/// $\psi(w) = \sum_i w_i \ln w_i$ on the probability simplex.
///
/// ```
/// use geowalk::geometry::{Generator, generators::SimplexEntropy};
/// let mut w = [0.0; 3];
/// SimplexEntropy.unlink(&[1000.0, 1000.0, 0.0], &mut w);
/// assert_eq!(w, [0.5, 0.5, 0.0]);
/// assert_eq!(SimplexEntropy.divergence(&[1.0, 0.0], &[0.5, 0.5]), std::f64::consts::LN_2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SimplexEntropy;

fn largest<F: Real>(theta: &[F]) -> F {
    theta.iter().fold(-F::INFINITY, |m, &theta| m.max(theta))
}

impl<F: Real> Generator<F> for SimplexEntropy {
    fn check(&self, w: &[F]) -> Result<(), DomainError> {
        error::each("the point", w, Allowed::Positive)?;
        sums_to("the sum of the point", w, 1.0, 1.0)
    }

    fn check_dual(&self, theta: &[F]) -> Result<(), DomainError> {
        error::each("the dual point", theta, Allowed::Finite)
    }

    fn value(&self, w: &[F]) -> F {
        w.iter().map(|&w| if w == F::ZERO { w } else { w * w.ln() }).sum()
    }

    fn link(&self, w: &[F], theta: &mut [F]) {
        for (theta, &w) in theta.iter_mut().zip(w) {
            *theta = w.ln();
        }
    }

    fn unlink(&self, theta: &[F], w: &mut [F]) {
        let top = largest(theta);
        let mut sum = F::ZERO;
        for (w, &theta) in w.iter_mut().zip(theta) {
            *w = (theta - top).exp();
            sum += *w;
        }
        for w in w.iter_mut() {
            *w /= sum;
        }
    }

    fn conjugate(&self, theta: &[F]) -> F {
        let top = largest(theta);
        // The largest coordinate is the 1 in ln(1 + ·). Leave it out of the sum once, even if it occurs twice.
        let mut left_out = false;
        let mut sum = F::ZERO;
        for &theta in theta {
            if theta == top && !left_out {
                left_out = true;
            } else {
                sum += (theta - top).exp();
            }
        }
        top + sum.ln_1p()
    }

    fn divergence(&self, u: &[F], w: &[F]) -> F {
        u.iter().zip(w).map(|(&u, &w)| gap::entropy(u, w, u - w)).sum()
    }

    fn modulus(&self) -> Option<Modulus> {
        Some(Modulus { sigma: 1.0, norm: Norm::L1 })
    }
}

/// Checks a sum, computed in `f64`, to the tolerance of `F` times `scale`.
fn sums_to<F: Real>(
    quantity: &'static str,
    x: &[F],
    expected: f64,
    scale: f64,
) -> Result<(), DomainError> {
    let found: f64 = x.iter().map(|x| x.f64()).sum();
    let tolerance = F::TOLERANCE.f64() * scale;
    if (found - expected).abs() <= tolerance {
        Ok(())
    } else {
        Err(DomainError::Constraint { quantity, found, expected, tolerance })
    }
}

impl<F: Real> Curved<F> for SimplexEntropy {
    fn dim(&self, n: usize) -> usize {
        n.saturating_sub(1)
    }

    /// v/w, a representative of ∇²ψ v: covectors that differ by a constant are equal.
    fn hessian(&self, w: &[F], v: &[F], out: &mut [F]) {
        for ((out, &v), &w) in out.iter_mut().zip(v).zip(w) {
            *out = v / w;
        }
    }

    /// w ∘ (g − ⟨w, g⟩); adding a constant to g does not change it.
    fn hessian_inverse(&self, w: &[F], g: &[F], out: &mut [F]) {
        let mean: F = w.iter().zip(g).map(|(&w, &g)| w * g).sum();
        for ((out, &g), &w) in out.iter_mut().zip(g).zip(w) {
            *out = w * (g - mean);
        }
    }

    /// v − w Σv, the nearest tangent vector in the Fisher metric. It is applied twice, because the first pass leaves a
    /// residue relative to the original vector.
    fn project(&self, w: &[F], v: &mut [F]) {
        for _ in 0..2 {
            let sum: F = v.iter().copied().sum();
            for (v, &w) in v.iter_mut().zip(w) {
                *v -= w * sum;
            }
        }
    }

    fn check_tangent(&self, w: &[F], v: &[F]) -> Result<(), DomainError> {
        error::finite("the tangent vector", v, w.len())?;
        let size: f64 = v.iter().map(|v| v.f64().abs()).sum();
        sums_to("the sum of the tangent vector", v, 0.0, size)
    }

    fn origin(&self, w: &mut [F]) {
        let n = F::of(w.len() as f64);
        w.fill(F::ONE / n);
    }
}

/// Exponentiated gradient (EG) at O(nnz), $w_i \leftarrow w_i\, e^{-\eta g x_i}/\sum_j w_j\, e^{-\eta g x_j}$, and two
/// variants with a polynomial in place of the exponential.
///
/// EG is Hedge if the row contains the experts' losses and the loss is z. **Start** uniform over the present features.
/// **Care** Logarithms are the state, so a weight that has drifted down to 1e-900 can still recover. Logarithms of
/// factors are clipped to ±700, and factors ≤ 0 to 2⁻⁵² (reported). The implicit step has
/// $z'(\kappa) = -\mathrm{Var}_{w'}(x)$, and clips logarithms of factors at −10⁴, relative to the largest. **Source**
/// \[KW97\], also for approximated EG; \[CMS07\] for Prod; \[AW20, eq. (3), sec. 4 and 5\].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum SimplexEntropyForm {
    /// EG.
    #[default]
    Exponential,
    /// $w_i (1 - \eta g x_i)$, divided by the sum.
    Prod,
    /// $w_i (1 - \eta g (x_i - z))$; its sum stays 1 without division.
    Approximated,
}

impl Steps<SimplexEntropyForm> {
    /// EG.
    pub fn new() -> Self {
        Self::default()
    }

    /// Prod: w_i(1 − ηg x_i).
    pub fn prod() -> Self {
        Self::of(SimplexEntropyForm::Prod)
    }

    /// Approximated EG: w_i(1 − ηg(x_i − z)). Needs η|g|·max|x_i − z| < 1.
    pub fn approximated() -> Self {
        Self::of(SimplexEntropyForm::Approximated)
    }
}

impl SparseForm for SimplexEntropyForm {
    type Chart = Partitioned;
    type Move = Reweigh<true>;

    fn spec(&self) -> String {
        match self {
            Self::Exponential => "mirror:simplex-entropy",
            Self::Prod => "prod",
            Self::Approximated => "approximated-eg",
        }
        .to_owned()
    }

    fn chart(&self) -> Partitioned {
        Partitioned::default()
    }

    fn plan(
        &self,
        _: &Partitioned,
        row: RowSummary,
        kappa: f64,
        _: &mut Round,
    ) -> Result<Option<Reweigh<true>>, DomainError> {
        if kappa == 0.0 {
            return Ok(None);
        }
        let (factor, tau) = match self {
            Self::Exponential => (Factor::Exponential, -kappa),
            Self::Prod => (Factor::Linear, -kappa),
            Self::Approximated => {
                // 1 − κ(x_i − z) = (1 + κz)(1 − κx_i/(1 + κz)): the first factor is the same for all weights.
                let common = 1.0 + kappa * row.z;
                base::scalar("1 + rate·slope·prediction", common, Allowed::Positive)?;
                (Factor::Linear, -kappa / common)
            }
        };
        Ok(Some(Reweigh { factor, tau, flipped: false }))
    }

    fn gauge<X: Row<f64>>(&self, _: &Partitioned, x: X) -> Gauge {
        Gauge::largest(x, |x| x)
    }

    fn holds_gamma(&self) -> bool {
        *self == Self::Exponential
    }
}

impl Curve for SimplexEntropyForm {
    type Ready = Tilts;

    fn ready<X: Row<f64>>(
        &self,
        chart: &Partitioned,
        x: X,
        _: RowSummary,
        reach: f64,
        _: f64,
    ) -> Result<Option<Tilts>, DomainError> {
        let largest = base::in_range(x)?;
        let off = chart.off(x);
        Ok((chart.features() > 0).then(|| Tilts::new(chart, off, reach, largest, x)))
    }

    fn along<X: Row<f64>>(
        &self,
        chart: &Partitioned,
        x: X,
        _: RowSummary,
        tilts: &Tilts,
        kappa: f64,
    ) -> (f64, f64) {
        let Tilted { z, variance, .. } = tilts.tilted(chart, x, kappa);
        (z, -variance)
    }

    fn refine<X: Row<f64>>(
        &self,
        chart: &mut Partitioned,
        x: X,
        tilts: &Tilts,
        kappa: f64,
    ) -> Option<Tilts> {
        let total = tilts.tilted(chart, x, kappa).total;
        tilts.off.too_coarse(0.0, total).then(|| {
            let off = chart.off_anew(x);
            Tilts::new(chart, off, tilts.asked, tilts.largest, x)
        })
    }

    fn arrive<X: Row<f64>>(
        &self,
        chart: &mut Partitioned,
        x: X,
        _: RowSummary,
        tilts: &Tilts,
        kappa: f64,
        round: &mut Round,
    ) -> Result<(), DomainError> {
        if kappa != 0.0 {
            let extreme = extreme(x, kappa, tilts.off.any);
            let moved = chart.shrink(x, kappa * extreme, |x| -kappa * (x - extreme));
            round.length = (2.0 * moved.divergence).sqrt();
            if moved.clamped > 0 {
                round.event = Event::Clamped { coordinates: moved.clamped };
            }
        }
        Ok(())
    }
}

/// The x_i with the largest factor: the smallest, or for κ < 0 the largest. Features outside the row count as 0.
fn extreme<X: Row<f64>>(x: X, kappa: f64, any_off: bool) -> f64 {
    let sign = f64::copysign(1.0, kappa);
    let mut least = if any_off { 0.0 } else { f64::INFINITY };
    x.each(|_, x| {
        if x != 0.0 {
            least = Real::min(least, sign * x);
        }
    });
    sign * least
}

/// Σ e_i x_i^k, to compute the distributions with |κ| up to `reach`.
#[derive(Debug)]
pub struct Tilts {
    moments: [f64; LONG + 2],
    length: usize,
    reach: f64,
    off: AbsentWeight,
    /// The largest |κ| and |x_i| for which the moments are valid.
    asked: f64,
    largest: f64,
}

impl Tilts {
    fn new<X: Row<f64>>(
        w: &Partitioned,
        off: AbsentWeight,
        reach: f64,
        largest: f64,
        x: X,
    ) -> Self {
        let mut near =
            Self { moments: [0.0; LONG + 2], length: 0, reach: -1.0, off, asked: reach, largest };
        // Features with x_i = 0 are outside the row.
        let term = |i, x| (if x == 0.0 { 0.0 } else { w.entries.weight(i).unwrap_or(0.0) }, x);
        if let Some(length) = EXPONENTIAL.length(reach * largest) {
            if length == SHORT {
                const MOMENTS: usize = SHORT + 2;
                near.moments[..MOMENTS].copy_from_slice(&series::moments::<MOMENTS, X>(x, term));
            } else {
                near.moments = series::moments(x, term);
            }
            near.moments[0] += Real::exp(off.log);
            (near.length, near.reach) = (length, reach);
        }
        near
    }

    fn at(&self, kappa: f64) -> Option<Tilted> {
        if kappa.abs() > self.reach {
            return None;
        }
        let [sum, first, second] = [0, 1, 2]
            .map(|k| EXPONENTIAL.sum(self.moments.get(k..k + self.length).unwrap_or(&[]), kappa).0);
        Some(Tilted::new(sum, first, second, 0.0))
    }

    fn tilted<X: Row<f64>>(&self, w: &Partitioned, x: X, kappa: f64) -> Tilted {
        self.at(kappa).unwrap_or_else(|| tilt(w, self.off, x, kappa))
    }
}

/// The distribution w_i e^{−κx_i}/Σ.
struct Tilted {
    z: f64,
    variance: f64,
    /// ln Σ w_i e^{−κx_i}, on the scale of λ.
    total: f64,
}

impl Tilted {
    /// From Σ w e^{−κx}, Σ w x e^{−κx} and Σ w x² e^{−κx}, all divided by e^`top`.
    fn new(sum: f64, first: f64, second: f64, top: f64) -> Self {
        let z = first / sum;
        Self { z, variance: Real::max(second / sum - z * z, 0.0), total: top + Real::ln(sum) }
    }
}

fn tilt<X: Row<f64>>(w: &Partitioned, off: AbsentWeight, x: X, kappa: f64) -> Tilted {
    let mut top = off.log;
    x.each(|i, x| {
        if let Some(lambda) = w.entries.logarithm(i)
            && x != 0.0
        {
            top = Real::max(top, lambda - kappa * x);
        }
    });
    let (mut sum, mut first, mut second) = (Real::exp(off.log - top), 0.0, 0.0);
    x.each(|i, x| {
        if let Some(lambda) = w.entries.logarithm(i)
            && x != 0.0
        {
            let weight = Real::exp(lambda - kappa * x - top);
            sum += weight;
            first += weight * x;
            second += weight * x * x;
        }
    });
    Tilted::new(sum, first, second, top)
}

/// The twin of EG at O(nnz): gradient descent on u with w = u², divided by ‖u‖. Special forms:
/// * *centred*: the twin on $x - m$, $m = (lo + hi)/2$ for features in [lo, hi]; it has the same bound as EG;
/// * *experts*: $u_i(1 - \eta g x_i)$, the scale of the experts' algorithm, where the row contains the experts' losses
///   in [0, 1].
///
/// **Care** as for the [twin of EGU](super::ReparamEntropyForm). **Source** \[AW20, alg. 4 and 6, eq. (20)\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReparamSimplexForm {
    /// τ = −scale·η·g: ½, or 1 for experts.
    scale: f64,
    /// m, or 0.
    middle: f64,
}

impl Default for ReparamSimplexForm {
    fn default() -> Self {
        Self { scale: 0.5, middle: 0.0 }
    }
}

impl Steps<ReparamSimplexForm> {
    /// The twin of EG.
    pub fn new() -> Self {
        Self::default()
    }

    /// The centred twin, for features in \[lo, hi\].
    pub fn centred(lo: f64, hi: f64) -> Result<Self, ConfigError> {
        error::parameter("lo", lo, Allowed::Closed(-1e100, 1e100))?;
        error::parameter("hi", hi, Allowed::Closed(lo, 1e100))?;
        let middle = 0.5 * (lo + hi);
        Ok(Self::of(ReparamSimplexForm { middle, ..ReparamSimplexForm::default() }))
    }

    /// The twin of Hedge on the scale of the experts' algorithm, u(1 − ηℓ).
    pub fn experts() -> Self {
        Self::of(ReparamSimplexForm { scale: 1.0, ..ReparamSimplexForm::default() })
    }
}

impl SparseForm for ReparamSimplexForm {
    type Chart = Partitioned;
    type Move = Reweigh<true>;

    fn spec(&self) -> String {
        format!("reparam:simplex-entropy(scale={}, middle={})", self.scale, self.middle)
    }

    fn chart(&self) -> Partitioned {
        Partitioned::folding()
    }

    fn plan(
        &self,
        _: &Partitioned,
        _: RowSummary,
        kappa: f64,
        _: &mut Round,
    ) -> Result<Option<Reweigh<true>>, DomainError> {
        let tau = -self.scale * kappa;
        if tau == 0.0 {
            return Ok(None);
        }
        // 1 + τ(x_i − m) = (1 − τm)(1 + τx_i/(1 − τm)): the first factor is the same for all weights.
        let common = 1.0 - tau * self.middle;
        if common.abs() < 1e-9 {
            let (what, value) = ("1 + rate/2·slope·middle, which must not vanish,", common);
            return Err(DomainError::Scalar { what, value, allowed: Allowed::Positive });
        }
        Ok(Some(Reweigh { factor: Factor::Square, tau: tau / common, flipped: common < 0.0 }))
    }

    fn gauge<X: Row<f64>>(&self, _: &Partitioned, x: X) -> Gauge {
        // Features outside the row also move, because 0 differs from the middle.
        let scale = 2.0 * self.scale;
        let gauge = Gauge::largest(x, |x| scale * (x - self.middle));
        let stretch = Real::max(gauge.stretch, scale * self.middle.abs());
        Gauge { square: stretch * stretch, stretch, local: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_sum_exp_neither_overflows_nor_loses_the_small() {
        assert_eq!(SimplexEntropy.conjugate(&[1e300, 0.0]), 1e300);
        assert_eq!(SimplexEntropy.conjugate(&[0.0, -40.0]), Real::exp(-40.0));
        assert_eq!(SimplexEntropy.conjugate(&[7.0, 7.0]), 7.0 + std::f64::consts::LN_2);
        assert!(SimplexEntropy.conjugate(&[f64::NAN, 7.0]).is_nan());
        assert_eq!(SimplexEntropy.conjugate(&[f64::NEG_INFINITY, 7.0]), 7.0);
    }

    #[test]
    fn softmax_does_not_see_the_gauge() {
        let (mut a, mut b) = ([0.0_f64; 3], [0.0_f64; 3]);
        SimplexEntropy.unlink(&[0.5, -1.0, 2.0], &mut a);
        SimplexEntropy.unlink(&[1024.5, 1023.0, 1026.0], &mut b);
        assert_eq!(a, b);
        assert!((a.iter().sum::<f64>() - 1.0).abs() <= f64::EPSILON);
        SimplexEntropy.unlink(&[f64::NAN, 0.0, 0.0], &mut a);
        assert!(a.iter().all(|w| w.is_nan()));
    }

    #[test]
    fn errors_carry_the_sum() {
        let error = SimplexEntropy.check(&[0.5, 0.25]).unwrap_err();
        assert_eq!(error.to_string(), "the sum of the point is 0.75; it must be 1 within 1e-9");
        assert!(SimplexEntropy.check(&[1.0, 0.0]).is_err());
        assert!(SimplexEntropy.check_tangent(&[0.5, 0.5], &[1e6, -1e6]).is_ok());
        let error = SimplexEntropy.check_tangent(&[0.5, 0.5], &[1.0, -0.5]).unwrap_err();
        assert!(matches!(error, DomainError::Constraint { found: 0.5, .. }), "{error}");
    }

    #[test]
    fn projection_is_orthogonal_in_the_fisher_metric() {
        let w = [0.2, 0.3, 0.5];
        let before = [1.0, 2.0, -0.5];
        let mut v = before;
        SimplexEntropy.project(&w, &mut v);
        assert!(SimplexEntropy.check_tangent(&w, &v).is_ok());
        let u = [0.4, -0.1, -0.3];
        let inner: f64 = (0..3).map(|i| (before[i] - v[i]) * u[i] / w[i]).sum();
        assert!(inner.abs() < 1e-15);
        let mut again = v;
        SimplexEntropy.project(&w, &mut again);
        assert!(again.iter().zip(v).all(|(a, v)| (a - v).abs() < 1e-15));
    }
}
