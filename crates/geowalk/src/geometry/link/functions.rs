//! The link functions.

use super::Link;
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};

/// f(w) = w on ℝ.
///
/// ```
/// use geowalk::geometry::link::{Identity, Link};
/// assert_eq!(Identity.shift(1.0, 0.5), Some(1.5));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Identity;

impl<F: Real> Link<F> for Identity {
    fn check(&self, w: &[F]) -> Result<(), DomainError> {
        error::each("the point", w, Allowed::Finite)
    }

    fn link(&self, w: F) -> F {
        w
    }

    fn unlink(&self, theta: F) -> Option<F> {
        Some(theta)
    }

    fn slope(&self, _: F) -> F {
        F::ONE
    }

    fn origin(&self) -> F {
        F::ZERO
    }
}

/// f(w) = ln w for w > 0. Geodesic steps with it are natural exponentiated gradient \[KMWW07, eq. (22)\].
///
/// ```
/// use geowalk::geometry::link::{Link, Log};
/// assert_eq!(Log.shift(3.0, std::f64::consts::LN_2), Some(6.0));
/// assert_eq!(Log.difference(1e9, 1e9 + 1.0), 1e-9_f64.ln_1p());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Log;

impl<F: Real> Link<F> for Log {
    fn check(&self, w: &[F]) -> Result<(), DomainError> {
        error::each("the point", w, Allowed::Positive)
    }

    fn link(&self, w: F) -> F {
        w.ln()
    }

    fn unlink(&self, theta: F) -> Option<F> {
        Some(theta.exp())
    }

    fn slope(&self, w: F) -> F {
        F::ONE / w
    }

    fn origin(&self) -> F {
        F::ONE
    }

    fn difference(&self, p: F, q: F) -> F {
        let t = (q - p) / p;
        if t.abs() < F::HALF {
            t.ln_1p()
        } else {
            let ratio = q / p;
            // A quotient that overflows or underflows still has a logarithm.
            if ratio.is_finite() && ratio >= F::TINY { ratio.ln() } else { q.ln() - p.ln() }
        }
    }

    fn shift(&self, w: F, d: F) -> Option<F> {
        Some(w * d.exp())
    }
}

/// f(w) = 2√w for w > 0, onto f > 0. The metric dw²/w is the Fisher metric of Poisson rates.
///
/// ```
/// use geowalk::geometry::link::{Link, Root};
/// assert_eq!(Root.shift(4.0, 2.0), Some(9.0));
/// assert_eq!(Root.shift(4.0, -4.0), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Root;

impl<F: Real> Link<F> for Root {
    fn check(&self, w: &[F]) -> Result<(), DomainError> {
        error::each("the point", w, Allowed::Positive)
    }

    fn link(&self, w: F) -> F {
        F::TWO * w.sqrt()
    }

    fn unlink(&self, theta: F) -> Option<F> {
        // `theta <= 0`, not `!(theta > 0)`: a NaN must stay a NaN.
        if theta <= F::ZERO { None } else { Some((F::HALF * theta).square()) }
    }

    fn slope(&self, w: F) -> F {
        F::ONE / w.sqrt()
    }

    fn image(&self) -> (F, F) {
        (F::ZERO, F::INFINITY)
    }

    fn origin(&self) -> F {
        F::ONE
    }

    fn difference(&self, p: F, q: F) -> F {
        F::TWO * ((q - p) / (p.sqrt() + q.sqrt()))
    }
}

/// f(w) = ln(w/(1−w)) for 0 < w < 1.
///
/// ```
/// use geowalk::geometry::link::{Link, Logit};
/// assert_eq!(Logit.unlink(-1000.0), Some(0.0));
/// assert!((Logit.shift(0.5, 3.0_f64.ln()).unwrap() - 0.75).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Logit;

impl<F: Real> Link<F> for Logit {
    fn check(&self, w: &[F]) -> Result<(), DomainError> {
        error::each("the point", w, Allowed::Open(0.0, 1.0))
    }

    fn link(&self, w: F) -> F {
        // Near ½ the difference of the two logarithms cancels.
        let t = F::TWO * w - F::ONE;
        if t.abs() < F::HALF { F::TWO * t.atanh() } else { w.ln() - (-w).ln_1p() }
    }

    fn unlink(&self, theta: F) -> Option<F> {
        let e = (-theta.abs()).exp();
        Some(if theta < F::ZERO { e / (F::ONE + e) } else { F::ONE / (F::ONE + e) })
    }

    fn slope(&self, w: F) -> F {
        F::ONE / w / (F::ONE - w)
    }

    fn origin(&self) -> F {
        F::HALF
    }

    fn difference(&self, p: F, q: F) -> F {
        // q(1−p) = p(1−q) + (q−p).
        let t = (q - p) / (p * (F::ONE - q));
        if t.abs() < F::HALF { t.ln_1p() } else { self.link(q) - self.link(p) }
    }

    fn shift(&self, w: F, d: F) -> Option<F> {
        // w e^d/(1 + w(e^d − 1)), written with e^−|d|, which does not overflow.
        let e = (-d.abs()).exp();
        Some(if d < F::ZERO {
            w * e / (F::ONE + w * (-d.abs()).exp_m1())
        } else {
            w / (w + (F::ONE - w) * e)
        })
    }
}

/// f(w) = arsinh(w/β) on ℝ, β > 0: between the identity (β → ∞) and a signed logarithm (β → 0). As the link of mirror
/// descent it is hypentropy \[GHS20\].
///
/// ```
/// use geowalk::geometry::link::{Asinh, Link};
/// let link = Asinh::new(2.0)?;
/// assert_eq!(link.slope(0.0), 0.5);
/// assert!((link.link(1.5) - std::f64::consts::LN_2).abs() < 1e-15);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asinh {
    beta: f64,
}

impl Asinh {
    /// The link with parameter β > 0, from 1e-37 to 1e37, so that it is representable in `f32` too.
    pub fn new(beta: f64) -> Result<Self, ConfigError> {
        error::parameter("beta", beta, Allowed::Positive)?;
        error::parameter("beta", beta, Allowed::Closed(1e-37, 1e37))?;
        Ok(Self { beta })
    }

    /// β.
    pub fn beta(&self) -> f64 {
        self.beta
    }
}

impl<F: Real> Link<F> for Asinh {
    fn check(&self, w: &[F]) -> Result<(), DomainError> {
        error::each("the point", w, Allowed::Finite)
    }

    fn link(&self, w: F) -> F {
        let ratio = w / F::of(self.beta);
        if ratio.is_finite() || !w.is_finite() {
            return ratio.asinh();
        }
        // ln(2|w|/β), for quotients that overflow.
        (w.abs().ln() + F::of(Real::ln(2.0 / self.beta))).copysign(w)
    }

    fn unlink(&self, theta: F) -> Option<F> {
        Some(F::of(self.beta) * theta.sinh())
    }

    fn slope(&self, w: F) -> F {
        F::ONE / w.hypot(F::of(self.beta))
    }

    fn origin(&self) -> F {
        F::ZERO
    }

    /// sinh(b − a) = sinh b cosh a − cosh b sinh a, and with h = √(w² + β²) this is (q − p)(q + p)/(q h_p + p h_q),
    /// without cancellation if p and q have the same sign. It is divided by h_p, so that nothing overflows. For p and
    /// q far apart the plain difference is as accurate.
    fn difference(&self, p: F, q: F) -> F {
        let beta = F::of(self.beta);
        let ratio = q / p;
        if ratio > F::of(0.25) && ratio < F::of(4.0) {
            let (h_p, h_q) = (p.hypot(beta), q.hypot(beta));
            let (half_p, half_q) = (F::HALF * p, F::HALF * q);
            ((q - p) / h_p * ((half_q + half_p) / (half_q + half_p * (h_q / h_p)))).asinh()
        } else {
            self.link(q) - self.link(p)
        }
    }

    /// β sinh(a + d) = w cosh d + √(w² + β²) sinh d, which avoids the rounding of a = f(w).
    fn shift(&self, w: F, d: F) -> Option<F> {
        let h = w.hypot(F::of(self.beta));
        // cosh d = 1 + 2 sinh²(d/2). For a large step against w the two terms cancel, but the sum in θ does not.
        if d.abs() < F::ONE {
            let half = (F::HALF * d).sinh();
            Some(w + (F::TWO * w * half.square() + h * d.sinh()))
        } else {
            self.unlink(<Self as Link<F>>::link(self, w) + d)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inverse_and_slope<L: Link<f64>>(link: &L, points: &[f64]) {
        for &w in points {
            let back = link.unlink(link.link(w)).unwrap();
            assert!((back - w).abs() <= 4e-15 * w.abs().max(1e-3), "{w} {back}");
            let h = 1e-6 * w.abs().max(1e-3);
            let slope = (link.link(w + h) - link.link(w - h)) / (2.0 * h);
            assert!((slope / link.slope(w) - 1.0).abs() < 1e-6, "{w} {slope}");
            // The accurate forms agree with the plain ones where the plain ones are accurate.
            for q in points {
                let plain = link.link(*q) - link.link(w);
                let difference = link.difference(w, *q);
                assert!((difference - plain).abs() <= 4e-14, "{w} {q} {difference} {plain}");
                let moved = link.shift(w, plain).unwrap();
                assert!((moved - q).abs() <= 4e-14 * q.abs().max(w.abs()), "{w} {q} {moved}");
            }
            assert!(link.shift(w, f64::NAN).is_none_or(f64::is_nan));
        }
        assert!(link.link(f64::NAN).is_nan() && link.difference(0.5, f64::NAN).is_nan());
    }

    #[test]
    fn inverses_slopes_differences_and_shifts() {
        inverse_and_slope(&Identity, &[-2.0, 0.0, 0.3, 1e3]);
        inverse_and_slope(&Log, &[1e-3, 0.3, 1.0, 1e3]);
        inverse_and_slope(&Root, &[1e-3, 0.3, 1.0, 1e3]);
        inverse_and_slope(&Logit, &[1e-3, 0.2, 0.49, 0.5, 0.51, 0.9]);
        for beta in [0.1, 1.0, 20.0] {
            inverse_and_slope(&Asinh::new(beta).unwrap(), &[-50.0, -0.3, 0.0, 0.2, 1.0, 50.0]);
        }
    }

    /// f(q) − f(p) for q = p(1 + 2⁻³⁰) to the precision of the type: the exact value is f′ d (1 + O(d)).
    #[test]
    fn near_points_keep_their_digits() {
        fn near<L: Link<f64>>(link: &L, p: f64, second: f64) {
            let d = (p + p / (1_u64 << 30) as f64) - p;
            let expected = link.slope(p) * d * (1.0 + 0.5 * second * d);
            let found = link.difference(p, p + d);
            assert!((found / expected - 1.0).abs() < 2e-15, "{found:e} {expected:e}");
            let moved = link.shift(p, expected).unwrap() - p;
            assert!((moved / d - 1.0).abs() < 1e-6, "{moved:e} {d:e}");
        }
        // The second argument is f″/f′.
        near(&Log, 1e9, -1e-9);
        near(&Log, 1e-9, -1e9);
        near(&Root, 1e6, -0.5e-6);
        near(&Logit, 0.25, (2.0 * 0.25 - 1.0) / (0.25 * 0.75));
        near(&Asinh::new(1e-3).unwrap(), 1e3, -1e3 / (1e6 + 1e-6));
    }

    #[test]
    fn domains() {
        let refused = |error: Result<(), DomainError>| error.unwrap_err().to_string();
        assert_eq!(
            refused(Link::<f64>::check(&Logit, &[0.5, 1.0])),
            "coordinate 1 of the point is 1; it must be in (0, 1)"
        );
        assert!(Link::<f64>::check(&Log, &[0.0]).is_err());
        assert_eq!(Link::<f64>::unlink(&Root, 0.0), None);
        assert!(Asinh::new(0.0).is_err() && Asinh::new(f64::NAN).is_err());
    }
}
