//! # Symmetric positive definite matrices, log-Euclidean metric
//! The matrix logarithm maps them to the symmetric matrices with the metric of the entries. So the manifold is flat,
//! and the Fréchet mean of X_i is exp of the mean of ln X_i.
//! ```text
//! exp_X(V) = exp(ln X + D ln_X V)        log_X(Y) = D exp_{ln X}(ln Y - ln X)       d = |ln X - ln Y|_F
//! grad = D exp_{ln X} D exp_{ln X} G     transport = D exp_{ln Y} D ln_X V
//! ```
//! Derivatives are divided differences in the eigenvectors of X: (ln a − ln b)/(a − b). **Cost** O(n³), in f64 also
//! for f32 matrices. **Care** Distances have an absolute error of 1e-16 times the largest |ln λ|, also between near
//! points. **Source** \[AFPA07\]; curvature 0.

use super::spd::{entries, narrow, not_definite, widen};
use super::{Spd, norm};
use crate::Real;
use crate::error::{ConfigError, DomainError};
use crate::geometry::linalg::{self, sandwich};
use crate::geometry::orthogonal::{add_product, gram};
use crate::geometry::{Curvature, ExpLog, Manifold, Step, Work};
use crate::row::Norm;

/// n×n symmetric positive definite matrices with the Euclidean metric of their logarithms, column-major.
///
/// ```
/// use geowalk::geometry::{ExpLog, Work, manifolds::SpdLogEuclidean};
/// let spd = SpdLogEuclidean::new(2)?;
/// let d = spd.distance(&[1.0, 0.0, 0.0, 1.0], &[1.0, 0.0, 0.0, 9.0], &mut Work::new());
/// assert!((d - 9.0_f64.ln()).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SpdLogEuclidean {
    spd: Spd,
    n: usize,
}

impl SpdLogEuclidean {
    /// Matrices of n rows, 1 ≤ n ≤ 10000.
    pub fn new(n: usize) -> Result<Self, ConfigError> {
        Ok(Self { spd: Spd::new(n)?, n })
    }

    /// Computes eigenvectors and eigenvalues of X; a is scratch.
    fn decompose<F: Real>(
        &self,
        x: &[F],
        values: &mut [f64],
        vectors: &mut [f64],
        a: &mut [f64],
    ) -> Result<(), DomainError> {
        let n = self.n;
        entries(x, n)?;
        widen(x, a);
        linalg::eigen(a, n, &mut values[..n], vectors).ok_or_else(|| not_definite(x, n))?;
        if values[0] > 0.0 { Ok(()) } else { Err(DomainError::NotDefinite { smallest: values[0] }) }
    }
}

/// (ln a − ln b)/(a − b).
fn slope(a: f64, b: f64) -> f64 {
    let (a, b) = if a > b { (a, b) } else { (b, a) };
    let rise = (a - b) / b;
    if rise == 0.0 {
        1.0 / b
    } else if rise < 1.0 {
        Real::ln_1p(rise) / (a - b)
    } else {
        (Real::ln(a) - Real::ln(b)) / (a - b)
    }
}

/// v ← U'VU.
fn inward(u: &[f64], n: usize, v: &mut [f64], spare: &mut [f64]) {
    spare.fill(0.0);
    add_product(1.0, v, n, u, spare);
    gram(u, spare, n, v);
}

/// v ← UVU', exactly symmetric.
fn outward(u: &[f64], n: usize, v: &mut [f64], spare: &mut [f64]) {
    spare.fill(0.0);
    add_product(1.0, u, n, v, spare);
    sandwich(spare, |_| 1.0, u, n, v);
    linalg::symmetrize(v, n);
}

/// v_ij ← v_ij f(λ_i, λ_j).
fn weigh(v: &mut [f64], values: &[f64], f: impl Fn(f64, f64) -> f64) {
    for (column, &b) in v.chunks_exact_mut(values.len()).zip(values) {
        for (v, &a) in column.iter_mut().zip(values) {
            *v *= f(a, b);
        }
    }
}

impl<F: Real> Manifold<F> for SpdLogEuclidean {
    fn ambient(&self) -> usize {
        Manifold::<F>::ambient(&self.spd)
    }

    fn dim(&self) -> usize {
        Manifold::<F>::dim(&self.spd)
    }

    fn check(&self, p: &[F]) -> Result<(), DomainError> {
        self.spd.check(p)
    }

    fn check_tangent(&self, p: &[F], v: &[F]) -> Result<(), DomainError> {
        self.spd.check_tangent(p, v)
    }

    fn origin(&self, p: &mut [F]) {
        self.spd.origin(p);
    }

    fn project(&self, p: &[F], v: &mut [F]) {
        self.spd.project(p, v);
    }

    fn nearest(&self, p: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        self.spd.nearest(p, work)
    }

    fn inner(&self, p: &[F], u: &[F], v: &[F], work: &mut Work<F>) -> F {
        let n = self.n;
        if [u, v].iter().any(|a| entries(a, n).is_err()) {
            return F::NAN;
        }
        let [vectors, values, a, b, c] = work.matrices().take(n * n);
        if self.decompose(p, values, vectors, a).is_err() {
            return F::NAN;
        }
        widen(u, a);
        inward(vectors, n, a, c);
        widen(v, b);
        inward(vectors, n, b, c);
        weigh(a, &values[..n], |a, b| slope(a, b).square());
        F::of(a.iter().zip(&*b).map(|(a, b)| a * b).sum())
    }

    fn gradient(&self, p: &[F], covector: &[F], v: &mut [F], work: &mut Work<F>) {
        let n = self.n;
        let [vectors, values, a, c] = work.matrices().take(n * n);
        if entries(covector, n).is_err() || self.decompose(p, values, vectors, a).is_err() {
            return v.fill(F::NAN);
        }
        widen(covector, a);
        linalg::symmetrize(a, n);
        inward(vectors, n, a, c);
        weigh(a, &values[..n], |a, b| slope(a, b).square().recip());
        outward(vectors, n, a, c);
        narrow(a, v);
    }

    fn retract(
        &self,
        p: &mut [F],
        v: &[F],
        t: F,
        work: &mut Work<F>,
    ) -> Result<Step<F>, DomainError> {
        self.exp(p, v, t, work)
    }
}

impl<F: Real> ExpLog<F> for SpdLogEuclidean {
    fn curvature(&self) -> Curvature {
        Curvature::FLAT
    }

    fn injectivity(&self, _: &[F]) -> F {
        F::INFINITY
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, work: &mut Work<F>) -> Result<Step<F>, DomainError> {
        let n = self.n;
        entries(v, n)?;
        let [vectors, values, a, b, c] = work.matrices().take(n * n);
        let values = &mut values[..n];
        self.decompose(p, values, vectors, a)?;
        widen(v, a);
        inward(vectors, n, a, c);
        weigh(a, values, |x, y| t.f64() * slope(x, y));
        let length = F::of(Norm::L2.of(a));
        if length == F::ZERO {
            return Ok(Step::inside(length));
        }
        // In the eigenvectors of X, its logarithm is diagonal.
        for (diagonal, value) in a.iter_mut().step_by(n + 1).zip(&*values) {
            *diagonal += Real::ln(*value);
        }
        linalg::symmetrize(a, n);
        let limit = F::MAX_EXPONENT.f64();
        let overflow = DomainError::Overflow { length: length.f64(), limit };
        linalg::eigen(a, n, values, b).ok_or(overflow.clone())?;
        if Norm::LInf.of(values) > limit {
            return Err(overflow);
        }
        c.fill(0.0);
        add_product(1.0, vectors, n, b, c);
        sandwich(c, |k| Real::exp(values[k]), c, n, a);
        linalg::symmetrize(a, n);
        for (a, b) in a.iter_mut().zip(b.iter_mut()) {
            *a = F::of(*a).f64();
            *b = *a;
        }
        // Rounding may make the end indefinite, so check it.
        linalg::cholesky_in_place(b, n).ok_or_else(|| not_definite(a, n))?;
        narrow(a, p);
        Ok(Step::inside(length))
    }

    fn log(&self, p: &[F], q: &[F], v: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        let n = self.n;
        let [vectors, values, a, b, c, other] = work.matrices().take(n * n);
        let values = &mut values[..n];
        self.decompose(q, values, vectors, a)?;
        sandwich(vectors, |k| Real::ln(values[k]), vectors, n, b);
        self.decompose(p, values, vectors, a)?;
        sandwich(vectors, |k| Real::ln(values[k]), vectors, n, other);
        b.iter_mut().zip(&*other).for_each(|(b, a)| *b -= a);
        inward(vectors, n, b, c);
        weigh(b, values, |x, y| slope(x, y).recip());
        outward(vectors, n, b, c);
        narrow(b, v);
        Ok(())
    }

    fn distance(&self, p: &[F], q: &[F], work: &mut Work<F>) -> F {
        let n = self.n;
        let [vectors, values, a, b, c] = work.matrices().take(n * n);
        for (x, out) in [(p, &mut *b), (q, &mut *c)] {
            if self.decompose(x, values, vectors, a).is_err() {
                return F::NAN;
            }
            sandwich(vectors, |k| Real::ln(values[k]), vectors, n, out);
        }
        norm(b.iter().zip(&*c).map(|(b, c)| F::of(b - c)))
    }

    fn transport(
        &self,
        p: &[F],
        q: &[F],
        v: &mut [F],
        work: &mut Work<F>,
    ) -> Result<(), DomainError> {
        let n = self.n;
        entries(v, n)?;
        let [vectors, values, a, b, c] = work.matrices().take(n * n);
        let values = &mut values[..n];
        self.decompose(p, values, vectors, a)?;
        widen(v, b);
        inward(vectors, n, b, c);
        weigh(b, values, slope);
        outward(vectors, n, b, c);
        self.decompose(q, values, vectors, a)?;
        inward(vectors, n, b, c);
        weigh(b, values, |x, y| slope(x, y).recip());
        outward(vectors, n, b, c);
        narrow(b, v);
        Ok(())
    }
}
