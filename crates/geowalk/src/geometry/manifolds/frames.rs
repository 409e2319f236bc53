//! Shared code for matrices with orthonormal columns, stored row by row.

use crate::Real;
use crate::error::{self, Allowed, DomainError};
use crate::geometry::orthogonal::{self, columns, flatten, flatten_rows, gram, rows};
use crate::geometry::{Manifold, Work};

/// Matrices of n rows and p columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Layout {
    pub(super) n: usize,
    pub(super) p: usize,
}

impl Layout {
    pub(super) fn len(self) -> usize {
        self.n * self.p
    }

    /// Checks the number of elements before scratch memory of that size is allocated.
    pub(super) fn sized<F: Real>(self, what: &'static str, x: &[F]) -> Result<(), DomainError> {
        error::finite(what, x, self.len())
    }
}

/// The error for a matrix with linearly dependent columns.
pub(super) fn dependent(value: f64) -> DomainError {
    let what = "the least singular value of the matrix, relative to the largest,";
    DomainError::Scalar { what, value, allowed: Allowed::Positive }
}

/// Refuses vectors that are not tangent at X.
pub(super) fn check_tangent<F: Real>(at: Layout, p: &[F], v: &[F]) -> Result<(), DomainError> {
    at.sized("the tangent vector", v)?;
    at.sized("the point", p)?;
    let (mut x, mut w, mut s) = (vec![0.0; at.len()], vec![0.0; at.len()], vec![0.0; at.p * at.p]);
    columns(p, at.n, &mut x);
    columns(v, at.n, &mut w);
    gram(&x, &w, at.n, &mut s);
    crate::geometry::linalg::symmetrize(&mut s, at.p);
    residue::<F>("the symmetric part of the point's transpose times the tangent vector", &s, &w)
}

/// Refuses a part of v that exceeds rounding.
pub(super) fn residue<F: Real>(
    quantity: &'static str,
    part: &[f64],
    v: &[f64],
) -> Result<(), DomainError> {
    let found = crate::row::Norm::LInf.of(part);
    // Rounding is absolute below the normal numbers.
    let tolerance = F::TOLERANCE.f64() * crate::row::Norm::L2.of(v) + F::TINY.f64();
    if tolerance.is_finite() && found <= tolerance {
        return Ok(());
    }
    Err(DomainError::Constraint { quantity, found, expected: 0.0, tolerance })
}

/// The first columns of the identity.
pub(super) fn origin<F: Real>(at: Layout, p: &mut [F]) {
    p.fill(F::ZERO);
    for one in p.iter_mut().step_by(at.p + 1).take(at.p) {
        *one = F::ONE;
    }
}

/// v ← v − X sym(XᵀV).
pub(super) fn project<F: Real>(at: Layout, p: &[F], v: &mut [F]) {
    if p.len() != at.len() || v.len() != at.len() {
        return;
    }
    flatten_rows(p, at.p, v);
}

/// v ← the tangent part of the covector, without allocation.
pub(super) fn flattened<F: Real>(
    at: Layout,
    p: &[F],
    covector: &[F],
    v: &mut [F],
    work: &mut Work<F>,
) {
    if p.len() != at.len() || covector.len() != at.len() {
        return v.fill(F::NAN);
    }
    let [x, w, s] = work.matrices().take(at.len());
    columns(p, at.n, x);
    columns(covector, at.n, w);
    flatten(x, at.n, w, s);
    rows(w, at.n, v);
}

/// p ← the nearest matrix with orthonormal columns.
pub(super) fn nearest<F: Real>(
    at: Layout,
    p: &mut [F],
    work: &mut Work<F>,
) -> Result<(), DomainError> {
    at.sized("the point", p)?;
    let [x, s, u, values, copy] = work.matrices().take(at.len());
    columns(p, at.n, x);
    orthogonal::polar(x, at.n, [s, u, values, copy]).ok_or_else(|| dependent(0.0))?;
    rows(x, at.n, p);
    Ok(())
}

/// p ← the point nearest to a matrix of normal numbers, which is uniformly distributed.
pub(super) fn random<F: Real, M: Manifold<F>>(
    manifold: &M,
    normal: &mut dyn FnMut() -> f64,
    p: &mut [F],
    work: &mut Work<F>,
) {
    loop {
        for x in p.iter_mut() {
            *x = F::of(normal());
        }
        // A matrix with dependent columns has probability 0 and is drawn again.
        if manifold.nearest(p, work).is_ok() {
            return;
        }
    }
}

/// Below this, cosines of half angles or principal angles are rounding errors, and the shortest direction is unknown.
pub(super) fn cut<F: Real>() -> f64 {
    8.0 * F::EPSILON.f64().sqrt()
}
