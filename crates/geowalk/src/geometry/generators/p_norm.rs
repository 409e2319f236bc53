//! # q-norms
//! $$\psi(w) = \tfrac12 \Vert w \Vert_q^2, \qquad 1 < q \le 2$$
//! The family contains the generators of gradient descent (q = 2) and, for $q \to 1$, of multiplicative updates.
//!
//! **Link** $\theta_i = \mathrm{sign}(w_i)\, |w_i|^{q-1} \Vert w \Vert_q^{2-q}$. **Inverse** the same formula with
//! $p = q/(q-1)$ in place of q.
//! **Conjugate** $\tfrac12 \Vert\theta\Vert_p^2$. **Modulus** q − 1 w.r.t. $\Vert\cdot\Vert_q$.
//!
//! **Divergence** With $N = \Vert w\Vert_q$, $U = \Vert u\Vert_q$ and the divergence $d(b \Vert a)$ of the scalar
//! function $|t|^q/q$,
//! $$D(u \Vert w) = N^{2-q} \sum_i d(u_i \Vert w_i) + \Big[ \tfrac12 (U - N)^2 - N^{2-q}\, d(U \Vert N) \Big],$$
//! where the sum and the bracket are both ≥ 0 (the derivative of the bracket in U is $U - N^{2-q} U^{q-1}$, which has
//! the sign of U − N). For a, b > 0 the scalar divergence is also a sum of two terms ≥ 0: with $\alpha = q - 1$,
//! $L = \ln(b/a)$,
//! $$d(b \Vert a) =
//!   \tfrac{\alpha}{q}\, a^\alpha \Big[ (b L - b + a) + \tfrac{b}{\alpha} (e^{\alpha L} - 1 - \alpha L) \Big].$$
//! So nothing cancels, neither for u near w nor for q near 1.
//!
//! **Cost** O(n), one power per coordinate (`divergence`: four).
//!
//! **Care** Everything is first divided by the largest coordinate, so weights of 1e200 or 1e-200 (or both in one
//! vector) are safe; 0 maps to 0. Keep θ as the state of a learner and compute w from it. ψ has no second derivative
//! if q < 2 and a coordinate is 0. There `hessian` gives NaN or ∞, `check_curved` returns an error, and
//! `hessian_inverse` gives its limit (but NaN at w = 0).
//!
//! **Source** \[NN09, table 1 and sec. 5.2\]; \[GLS01\].

pub(crate) mod theorems;

use super::gap;
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::{Curved, Generator, Modulus};
use crate::learn::base;
use crate::learn::gauge::Gauge;
use crate::learn::implicit::Curve;
use crate::learn::{Dual, RowSummary, Shift, SparseForm, Steps};
use crate::row::Norm;
use crate::row::Row;
use crate::update::Round;

/// $\psi(w) = \tfrac12 \Vert w \Vert_q^2$.
///
/// ```
/// use geowalk::geometry::{Generator, generators::PNorm};
/// let generator = PNorm::new(1.5)?;
/// let mut theta = [0.0; 2];
/// generator.link(&[4.0, -4.0], &mut theta);
/// // |w|^½ ‖w‖^½ with ‖w‖ = 16^(2/3)
/// assert!((theta[0] - 2.0 * 16.0_f64.cbrt()).abs() < 1e-14);
/// assert_eq!(theta[1], -theta[0]);
/// assert_eq!(PNorm::auto(1000).q(), 1.078_030_445_644_519_8);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PNorm {
    q: f64,
}

impl PNorm {
    /// The generator with exponent q, 1 < q ≤ 2.
    pub fn new(q: f64) -> Result<Self, ConfigError> {
        error::parameter("q", q, Allowed::OpenClosed(1.0, 2.0))?;
        Ok(Self { q })
    }

    /// The q for sparse targets in ℝⁿ: p = max(2, 2 ln n), so $q = 2 \ln n/(2 \ln n - 1)$ for n ≥ 3. Then
    /// $\Vert x \Vert_p \le \sqrt e\, \Vert x \Vert_\infty$. \[GLS01\]
    pub fn auto(n: usize) -> Self {
        let p = if n < 3 { 2.0 } else { 2.0 * Real::ln(n as f64) };
        Self { q: p / (p - 1.0) }
    }

    /// q, the exponent of the weights' norm.
    pub fn q(&self) -> f64 {
        self.q
    }

    /// p = q/(q − 1), the exponent of the dual norm, which measures the features.
    pub fn p(&self) -> f64 {
        self.q / (self.q - 1.0)
    }

    fn norm(self) -> Norm {
        if self.q == 2.0 { Norm::L2 } else { Norm::Lp(self.q) }
    }
}

fn largest<F: Real>(x: &[F]) -> F {
    x.iter().fold(F::ZERO, |m, &x| m.max(x.abs()))
}

/// out ← the gradient of ½‖·‖² for the norm with exponent 1 + a: sign(x) |x|^a ‖x‖^(1−a).
fn gradient<F: Real>(a: F, x: &[F], out: &mut [F]) {
    let scale = largest(x);
    if a == F::ONE || scale == F::ZERO {
        for (out, &x) in out.iter_mut().zip(x) {
            *out = x;
        }
        return;
    }
    let mass: F = x.iter().map(|x| (x.abs() / scale).powf(F::ONE + a)).sum();
    let factor = mass.powf((F::ONE - a) / (F::ONE + a));
    for (out, &x) in out.iter_mut().zip(x) {
        let power = (x.abs() / scale).powf(a);
        // The power may underflow although its product with the scale does not.
        let size = if power < F::TINY {
            (scale.ln() + a * gap::ln_ratio(x.abs(), scale)).exp()
        } else {
            scale * power
        };
        *out = (size * factor).copysign(x);
    }
}

/// The divergence of |t|^q/q from a ≥ 0 to b = a + d, q = 1 + alpha.
fn scalar_divergence<F: Real>(b: F, a: F, d: F, alpha: F) -> F {
    let q = F::ONE + alpha;
    if a == F::ZERO {
        b.abs().powf(q) / q
    } else if b <= F::ZERO {
        b.abs().powf(q) / q + a.powf(alpha) * (b.abs() + alpha / q * a)
    } else {
        let ratio = d / a;
        let x = alpha * if ratio.abs() < F::HALF { ratio.ln_1p() } else { gap::ln_ratio(b, a) };
        let power = a.powf(alpha);
        // a^α e^x is b^α; for large x, e^x alone may overflow.
        let second =
            if x > F::ONE { b.powf(alpha) - power * (F::ONE + x) } else { power * gap::exp_gap(x) };
        (alpha * power * gap::entropy(b, a, d) + b * second) / q
    }
}

impl<F: Real> Generator<F> for PNorm {
    fn check(&self, w: &[F]) -> Result<(), DomainError> {
        error::each("the point", w, Allowed::Finite)
    }

    fn check_dual(&self, theta: &[F]) -> Result<(), DomainError> {
        error::each("the dual point", theta, Allowed::Finite)
    }

    fn value(&self, w: &[F]) -> F {
        F::HALF * self.norm().of(w).square()
    }

    fn link(&self, w: &[F], theta: &mut [F]) {
        gradient(F::of(self.q - 1.0), w, theta);
    }

    fn unlink(&self, theta: &[F], w: &mut [F]) {
        gradient(F::of(1.0 / (self.q - 1.0)), theta, w);
    }

    fn conjugate(&self, theta: &[F]) -> F {
        F::HALF * self.norm().dual().of(theta).square()
    }

    fn divergence(&self, u: &[F], w: &[F]) -> F {
        let scale = largest(u).max(largest(w));
        if scale == F::ZERO {
            return F::ZERO;
        }
        let mut terms = u.iter().zip(w).map(|(&u, &w)| {
            // Measured in the direction of the sign of w.
            let a = w.abs() / scale;
            let turn = |x: F| if w < F::ZERO { -x / scale } else { x / scale };
            (turn(u), a, turn(u - w))
        });
        if self.q == 2.0 {
            let sum: F = terms.map(|(_, _, d)| d.square()).sum();
            return scale * (scale * (F::HALF * sum));
        }
        let alpha = F::of(self.q - 1.0);
        let q = F::ONE + alpha;
        // Σ d(u‖w), Σ |w|^(q−1) sign(w) (u − w), Σ|u|^q, Σ|w|^q.
        let zero = [F::ZERO; 4];
        let [gap, slope, far, near] = terms.by_ref().fold(zero, |[gap, slope, far, near], term| {
            let (b, a, d) = term;
            let power = if a == F::ZERO { F::ZERO } else { a.powf(alpha) };
            [
                gap + scalar_divergence(b, a, d, alpha),
                slope + power * d,
                far + b.abs().powf(q),
                near + power * a,
            ]
        });
        let norm_u = far.powf(F::ONE / q);
        let norm_w = near.powf(F::ONE / q);
        if norm_w == F::ZERO {
            return scale * (scale * (F::HALF * norm_u.square()));
        }
        // Σ|u|^q − Σ|w|^q = q (gap + slope); its rounding error is relative to u − w.
        let growth = q * (gap + slope) / near;
        let d = if growth.abs() < F::HALF {
            norm_w * (growth.ln_1p() / q).exp_m1()
        } else {
            norm_u - norm_w
        };
        let factor = norm_w.powf(F::ONE - alpha);
        let bracket =
            F::HALF * d.square() - factor * scalar_divergence(norm_w + d, norm_w, d, alpha);
        scale * (scale * (factor * gap + bracket.max(F::ZERO)))
    }

    fn modulus(&self) -> Option<Modulus> {
        Some(Modulus { sigma: self.q - 1.0, norm: self.norm() })
    }
}

/// For nonzero coordinates. With r = |w|/max|w|, s = sign(w) and M = Σ r^q,
/// ∇²ψ = (q−1) M^((2−q)/q) diag(r^(q−2)) + (2−q) M^((2−2q)/q) (s r^(q−1))(s r^(q−1))ᵀ. Its inverse is the same
/// expression in θ and p, which in terms of r is M^((q−2)/q)/(q−1) diag(r^(2−q)) − (2−q)/(q−1) M^(−2/q) (s r)(s r)ᵀ.
impl<F: Real> Curved<F> for PNorm {
    fn hessian(&self, w: &[F], v: &[F], out: &mut [F]) {
        let (q, alpha) = (F::of(self.q), F::of(self.q - 1.0));
        if self.q == 2.0 {
            for (out, &v) in out.iter_mut().zip(v) {
                *out = v;
            }
            return;
        }
        let scale = largest(w);
        let ratio = |w: F| w.abs() / scale;
        let mass: F = w.iter().map(|&w| ratio(w).powf(q)).sum();
        let row = |w: F| ratio(w).powf(alpha).copysign(w);
        let dot: F = w.iter().zip(v).map(|(&w, &v)| row(w) * v).sum();
        let diagonal = alpha * mass.powf((F::TWO - q) / q);
        let rank_one = (F::TWO - q) * mass.powf((F::TWO - F::TWO * q) / q) * dot;
        for ((out, &v), &w) in out.iter_mut().zip(v).zip(w) {
            *out = diagonal * ratio(w).powf(q - F::TWO) * v + rank_one * row(w);
        }
    }

    fn hessian_inverse(&self, w: &[F], g: &[F], out: &mut [F]) {
        let (q, alpha) = (F::of(self.q), F::of(self.q - 1.0));
        if self.q == 2.0 {
            for (out, &g) in out.iter_mut().zip(g) {
                *out = g;
            }
            return;
        }
        let scale = largest(w);
        let mass: F = w.iter().map(|&w| (w.abs() / scale).powf(q)).sum();
        let dot: F = w.iter().zip(g).map(|(&w, &g)| w / scale * g).sum();
        let diagonal = mass.powf((q - F::TWO) / q) / alpha;
        let rank_one = (F::TWO - q) / alpha * mass.powf(-F::TWO / q) * dot;
        for ((out, &g), &w) in out.iter_mut().zip(g).zip(w) {
            *out = diagonal * (w.abs() / scale).powf(F::TWO - q) * g - rank_one * (w / scale);
        }
    }

    fn check_curved(&self, w: &[F]) -> Result<(), DomainError> {
        Generator::check(self, w)?;
        if self.q == 2.0 {
            return Ok(());
        }
        match w.iter().position(|&w| w == F::ZERO) {
            Some(index) => Err(DomainError::Coordinate {
                what: "the size of the point, where its q-norm must be curved,",
                index,
                value: 0.0,
                allowed: Allowed::Positive,
            }),
            None => Ok(()),
        }
    }

    fn check_tangent(&self, w: &[F], v: &[F]) -> Result<(), DomainError> {
        self.check_curved(w)?;
        error::finite("the tangent vector", v, w.len())
    }

    /// (1, …, 1), because the Hessian does not exist at 0.
    fn origin(&self, w: &mut [F]) {
        w.fill(F::ONE);
    }
}

/// Mirror descent in the q-norm at O(nnz), $\theta \leftarrow \theta - \eta\, g\, x$, 1 < q ≤ 2: between
/// gradient descent (q = 2) and EG (q → 1).
///
/// **Start** w = 0. **Care** q is fixed when the walk is made: `auto` computes it from the declared number of
/// features, and later features do not change it. The implicit step needs $\sum|\theta_i|^p$ of the features outside
/// the row. It is computed as a difference, or summed again in O(n) if the difference is too inaccurate. **Source**
/// \[GLS01\]; \[NN09, sec. 5.2\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PNormForm {
    p: f64,
}

impl Steps<PNormForm> {
    /// The walk with exponent q, 1.001 ≤ q ≤ 2.
    pub fn new(q: f64) -> Result<Self, ConfigError> {
        error::parameter("q", q, Allowed::Closed(1.001, 2.0))?;
        Ok(Self::of(PNormForm { p: q / (q - 1.0) }))
    }

    /// The q for sparse targets among n features: 2 ln n/(2 ln n − 1), at most 2 \[NN09, sec. 5.2\].
    pub fn auto(n: usize) -> Result<Self, ConfigError> {
        let p = (2.0 * Real::ln(n.max(1) as f64)).clamp(2.0, 1000.0);
        Self::new(p / (p - 1.0))
    }

    /// q.
    pub fn q(&self) -> f64 {
        self.form.p / (self.form.p - 1.0)
    }

    /// p, the exponent of the dual norm.
    pub fn p(&self) -> f64 {
        self.form.p
    }
}

impl SparseForm for PNormForm {
    type Chart = Dual;
    type Move = Shift;

    fn spec(&self) -> String {
        format!("mirror:p-norm(p={})", self.p)
    }

    fn chart(&self) -> Dual {
        Dual::new(self.p)
    }

    fn plan(
        &self,
        _: &Dual,
        row: RowSummary,
        kappa: f64,
        _: &mut Round,
    ) -> Result<Option<Shift>, DomainError> {
        base::length(kappa.abs() * row.size)?;
        Ok((kappa != 0.0).then_some(Shift(-kappa)))
    }

    fn gauge<X: Row<f64>>(&self, _: &Dual, x: X) -> Gauge {
        let norm = x.norm(Norm::Lp(self.p));
        Gauge { square: (self.p - 1.0) * norm * norm, stretch: 0.0, local: false }
    }

    fn holds_gamma(&self) -> bool {
        true
    }
}

/// Error of a difference of masses, relative to the larger mass.
const SLIP: f64 = 2e-13;

/// Largest fraction of the mass after a step that may be error.
const TOLERANCE: f64 = 1e-11;

impl Curve for PNormForm {
    /// ‖θ‖_p of the features outside the row.
    type Ready = f64;

    fn ready<X: Row<f64>>(
        &self,
        chart: &Dual,
        x: X,
        _: RowSummary,
        _: f64,
        _: f64,
    ) -> Result<Option<f64>, DomainError> {
        let largest = base::in_range(x)?;
        Ok((largest != 0.0).then(|| chart.off(x)))
    }

    fn along<X: Row<f64>>(
        &self,
        chart: &Dual,
        x: X,
        _: RowSummary,
        off: &f64,
        kappa: f64,
    ) -> (f64, f64) {
        let Shifted { z, slope, .. } = chart.shifted(*off, x, kappa);
        (z, slope)
    }

    fn refine<X: Row<f64>>(&self, chart: &mut Dual, x: X, off: &f64, kappa: f64) -> Option<f64> {
        let slip = chart.reference * Real::powf(SLIP * chart.mass.value(), 1.0 / self.p);
        // Masses are powers of norms. Logarithms keep the comparison within the range of floats.
        let after = chart.shifted(*off, x, kappa).norm;
        let coarse = *off > 0.0 && self.p * Real::ln(slip / after) > Real::ln(TOLERANCE);
        coarse.then(|| chart.off_anew(x))
    }
}

/// The prediction after a step, with its derivative.
struct Shifted {
    z: f64,
    slope: f64,
    /// ‖θ'‖_p.
    norm: f64,
}

impl Dual {
    /// ‖θ‖_p of the features outside the row, computed as a difference.
    fn off<X: Row<f64>>(&self, x: X) -> f64 {
        let (mut on, mut seen) = (0.0, 0);
        x.each(|i, x| {
            if let (Some(theta), Some(power)) = (self.theta.get(i), self.power.get(i))
                && x != 0.0
            {
                if self.reference > 0.0 {
                    on += theta.abs() / self.reference * power.abs();
                }
                seen += 1;
            }
        });
        if seen >= self.theta.len() || self.reference == 0.0 {
            return 0.0;
        }
        // Return a positive number if there may be such features; its accuracy is checked after the step.
        let mass = self.mass.value();
        self.reference * Real::powf((mass - on).max(SLIP * mass), 1.0 / self.p)
    }

    /// ‖θ‖_p of the features outside the row, summed again in O(n).
    #[cold]
    fn off_anew<X: Row<f64>>(&mut self, x: X) -> f64 {
        x.each(|i, x| {
            if let Some(power) = self.power.get_mut(i)
                && x != 0.0
            {
                *power = f64::NAN;
            }
        });
        let off = self.theta.iter().zip(&self.power).filter(|(_, power)| !power.is_nan());
        let top = off.clone().fold(0.0_f64, |top, (theta, _)| top.max(theta.abs()));
        let p = self.p;
        let mass: f64 = off.map(|(theta, _)| Real::powf(theta.abs() / top, p)).sum();
        x.each(|i, _| {
            if let (Some(&theta), Some(power)) = (self.theta.get(i), self.power.get_mut(i)) {
                *power = if self.reference > 0.0 {
                    Self::powers(p, theta, self.reference).0
                } else {
                    0.0
                };
            }
        });
        if top > 0.0 { top * Real::powf(mass, 1.0 / p) } else { 0.0 }
    }

    /// The prediction at θ − κx; `off` is the norm of the features outside the row.
    fn shifted<X: Row<f64>>(&self, off: f64, x: X, kappa: f64) -> Shifted {
        let p = self.p;
        let mut top = off;
        x.each(|i, x| {
            if let Some(&theta) = self.theta.get(i)
                && x != 0.0
            {
                top = Real::max(top, (theta - kappa * x).abs());
            }
        });
        if top == 0.0 {
            return Shifted { z: 0.0, slope: f64::NAN, norm: 0.0 };
        }
        let (mut mass, mut first, mut second) = (Real::powf(off / top, p), 0.0, 0.0);
        x.each(|i, x| {
            if let Some(&theta) = self.theta.get(i)
                && x != 0.0
            {
                let r = (theta - kappa * x) / top;
                // |r|^{p−2}; for p = 2 it is 1, also at r = 0.
                let power = if p == 2.0 { 1.0 } else { Real::powf(r.abs(), p - 2.0) };
                mass += power * r * r;
                first += power * r * x;
                second += power * x * x;
            }
        });
        // w' = top·mass^{(2−p)/p}·r|r|^{p−2}.
        let lift = Real::powf(mass, (2.0 - p) / p);
        let ratio = Real::powf(mass, -1.0 / p) * lift * first;
        let slope = (p - 2.0) * ratio * ratio - (p - 1.0) * lift * second;
        Shifted { z: top * lift * first, slope, norm: top * Real::powf(mass, 1.0 / p) }
    }
}

#[cfg(test)]
#[allow(clippy::unreadable_literal)] // copied with all digits
mod tests {
    use super::*;

    fn link(q: f64, w: &[f64]) -> Vec<f64> {
        let mut theta = vec![0.0; w.len()];
        PNorm::new(q).unwrap().link(w, &mut theta);
        theta
    }

    #[test]
    fn links_from_1e_minus_200_to_1e200() {
        let theta = link(1.5, &[3.0, -1.0, 0.0]);
        for scale in [1e-200, 1e200] {
            let scaled = link(1.5, &[3.0 * scale, -scale, 0.0]);
            for (s, t) in scaled.iter().zip(&theta) {
                assert!((s - scale * t).abs() <= 1e-15 * (scale * t).abs());
            }
        }
        assert_eq!(theta[2], 0.0);
        assert_eq!(link(1.2, &[0.0, 0.0]), [0.0, 0.0]);
        // Both magnitudes in one vector: |w|^0.2 ‖w‖^0.8 = 1e-40 · 1e160.
        let theta = link(1.2, &[1e200, 1e-200]);
        assert!((theta[1] / 1e120 - 1.0).abs() < 1e-12, "{theta:?}");
        let mut w = [0.0; 2];
        PNorm::new(1.2).unwrap().unlink(&theta, &mut w);
        assert!((w[0] / 1e200 - 1.0).abs() < 1e-12 && (w[1] / 1e-200 - 1.0).abs() < 1e-12, "{w:?}");
        assert!(link(1.5, &[f64::NAN, 1.0]).iter().all(|t| t.is_nan()));
    }

    /// ‖∇ψ(w)‖_p = ‖w‖_q and ⟨w, ∇ψ(w)⟩ = ‖w‖_q².
    #[test]
    fn the_link_carries_one_norm_to_the_dual_one() {
        for q in [1.01, 1.2, 1.5, 1.9, 2.0] {
            let generator = PNorm::new(q).unwrap();
            let w = [0.3, -2.0, 1.1, 0.0];
            let theta = link(q, &w);
            let (norm, dual) = (Norm::Lp(q).of(&w), Norm::Lp(generator.p()).of(&theta));
            assert!((norm - dual).abs() < 1e-12, "{q}: {norm} {dual}");
            let dot: f64 = w.iter().zip(&theta).map(|(w, t)| w * t).sum();
            assert!((dot - norm * norm).abs() < 1e-12);
        }
    }

    #[test]
    fn hessian_and_inverse() {
        let w = [0.3, -2.0, 1.1];
        let (v, h) = ([0.7, 0.2, -1.0], 1e-6);
        for q in [1.1, 1.5, 2.0] {
            let generator = PNorm::new(q).unwrap();
            let mut out = [0.0; 3];
            generator.hessian(&w, &v, &mut out);
            let moved = |s: f64| link(q, &[w[0] + s * v[0], w[1] + s * v[1], w[2] + s * v[2]]);
            for ((a, b), out) in moved(h).iter().zip(moved(-h)).zip(out) {
                assert!(((a - b) / (2.0 * h) - out).abs() < 1e-8, "{q}");
            }
            let mut back = [0.0; 3];
            generator.hessian_inverse(&w, &out, &mut back);
            assert!(back.iter().zip(v).all(|(b, v)| (b - v).abs() < 1e-13), "{q} {back:?}");
        }
        let kinked = PNorm::new(1.5).unwrap();
        let message = kinked.check_tangent(&[1.0, 0.0], &v[..2]).unwrap_err().to_string();
        assert!(message.starts_with("coordinate 1 of the size of the point"), "{message}");
        assert!(PNorm::new(2.0).unwrap().check_tangent(&[1.0, 0.0], &v[..2]).is_ok());
    }

    #[test]
    fn automatic_exponent() {
        assert_eq!((PNorm::auto(0).q(), PNorm::auto(2).q()), (2.0, 2.0));
        assert!((PNorm::auto(3).p() - 2.0 * Real::ln(3.0)).abs() < 1e-14);
        for (q, text) in [(1.0, "q = 1;"), (2.5, "q = 2.5;"), (f64::NAN, "q = NaN;")] {
            assert!(PNorm::new(q).unwrap_err().to_string().starts_with(text));
        }
    }

    /// For u far from w, on its other side, and from and to 0; reference values with 50 digits.
    #[test]
    fn divergence_anywhere() {
        let d = |q: f64, u: &[f64], w: &[f64]| PNorm::new(q).unwrap().divergence(u, w);
        for (q, u, w, expected) in [
            (1.001, [1.0, 2.0], [-1.0, 0.5], 4.121488243660947),
            (1.001, [0.0, 3.0], [2.0, 0.0], 6.5),
            (1.001, [1.0, -1.0], [0.0, 0.0], 1.9972320981857528),
            (1.001, [0.0, 0.0], [1.0, -1.0], 1.9972320981857528),
            (1.001, [0.001, 5.0], [5.0, 1e-300], 12.490421815956458),
            (1.001, [1.25, -2.0], [1.5, -2.25], 0.12482713480706717),
            (1.2, [1.0, 2.0], [-1.0, 0.5], 3.622632011640508),
            (1.2, [0.0, 3.0], [2.0, 0.0], 6.5),
            (1.2, [1.0, -1.0], [0.0, 0.0], 1.5874010519681996),
            (1.2, [0.0, 0.0], [1.0, -1.0], 1.5874010519681996),
            (1.2, [0.001, 5.0], [5.0, 1e-300], 24.995758577624706),
            (1.2, [1.25, -2.0], [1.5, -2.25], 0.09923197488414891),
            (1.5, [1.0, 2.0], [-1.0, 0.5], 3.284984384929072),
            (1.5, [0.0, 3.0], [2.0, 0.0], 6.5),
            (1.5, [1.0, -1.0], [0.0, 0.0], 1.2599210498948732),
            (1.5, [0.0, 0.0], [1.0, -1.0], 1.2599210498948732),
            (1.5, [0.001, 5.0], [5.0, 1e-300], 24.995047140474302),
            (1.5, [1.25, -2.0], [1.5, -2.25], 0.07877446206791017),
            (1.99, [1.0, 2.0], [-1.0, 0.5], 3.125916682825495),
            (1.99, [0.0, 3.0], [2.0, 0.0], 6.5),
            (1.99, [1.0, -1.0], [0.0, 0.0], 1.0034892248831229),
            (1.99, [0.0, 0.0], [1.0, -1.0], 1.0034892248831229),
            (1.99, [0.001, 5.0], [5.0, 1e-300], 24.995000547188074),
            (1.99, [1.25, -2.0], [1.5, -2.25], 0.06271924388738248),
            (2.0, [1.0, 2.0], [-1.0, 0.5], 3.125),
            (2.0, [0.0, 3.0], [2.0, 0.0], 6.5),
            (2.0, [1.0, -1.0], [0.0, 0.0], 1.0),
            (2.0, [0.0, 0.0], [1.0, -1.0], 1.0),
            (2.0, [0.001, 5.0], [5.0, 1e-300], 24.9950005),
            (2.0, [1.25, -2.0], [1.5, -2.25], 0.0625),
        ] {
            let found = d(q, &u, &w);
            assert!(
                (found - expected).abs() <= 1e-13 * expected,
                "{q} {u:?} {w:?}: {found} {expected}"
            );
        }
        assert_eq!(d(1.5, &[0.0], &[0.0]), 0.0);
        assert_eq!(d(1.5, &[1e160, 0.0], &[1e160, 0.0]), 0.0);
        assert!(d(1.5, &[1.0, f64::NAN], &[1.0, 1.0]).is_nan());
    }
}
