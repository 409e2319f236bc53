//! # Symmetric positive definite matrices, Bures–Wasserstein metric
//! The metric of optimal transport between normal distributions of mean 0. S(V) is the solution of XS + SX = V. L and
//! K are the Cholesky factors of X and Y, and O is the orthogonal matrix for which KO is nearest to L:
//! ```text
//! <U, V> = tr(S(U) V)/2       grad = 2(XG + GX)         exp_X(V) = (1 + S) X (1 + S),  S = S(V)
//! log_X(Y) = BL' + LB',  B = KO - L                     d = |KO - L|_F,  d² = tr X + tr Y - 2 tr (XY)^(1/2)
//! ```
//! Transport has no closed form. The equation of horizontal lifts, W° = (L + tB)K with K skew, is solved by
//! extrapolated midpoint steps.
//!
//! **Cost** O(n³); transport takes some hundred times longer. In f64 also for f32 matrices. **Care** The manifold is
//! not complete. A walk longer than the injectivity radius, √λ of the smallest eigenvalue, may reach the boundary and
//! is then reported as [`Event::PastInjectivity`]. If rounding makes the end indefinite, small eigenvalues are raised
//! to the rounding of the largest ([`Event::Clamped`] if the walk was inside). The curvature is ≥ 0 without an upper
//! bound, but the mean is unique. **Source** \[BJL19\]; \[MMP18\]; transport \[TP23\].

#![allow(clippy::neg_cmp_op_on_partial_ord)] // also refuses NaN

use super::Spd;
use super::spd::{entries, narrow, not_definite, widen};
use crate::Real;
use crate::error::{ConfigError, DomainError};
use crate::geometry::linalg::{self, eigen, sandwich, singular};
use crate::geometry::mean::{self, Mean};
use crate::geometry::orthogonal::{add_product, gram, skew};
use crate::geometry::{Curvature, Event, ExpLog, Manifold, Step, Work};
use crate::row::Norm;

/// n×n symmetric positive definite matrices with the metric of optimal transport, column-major.
///
/// ```
/// use geowalk::geometry::{ExpLog, Work, manifolds::BuresWasserstein};
/// let spd = BuresWasserstein::new(2)?;
/// // Commuting matrices: the distance of their square roots.
/// let d: f64 = spd.distance(&[1.0, 0.0, 0.0, 4.0], &[4.0, 0.0, 0.0, 9.0], &mut Work::new());
/// assert!((d - 2.0_f64.sqrt()).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BuresWasserstein {
    spd: Spd,
    n: usize,
}

impl BuresWasserstein {
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
        eigen(a, n, &mut values[..n], vectors).ok_or_else(|| not_definite(x, n))?;
        if values[0] > 0.0 { Ok(()) } else { Err(DomainError::NotDefinite { smallest: values[0] }) }
    }

    /// The lifts of two points, L and KO − L, in the first two of N ≥ 6 matrices.
    fn lifts<'a, F: Real, const N: usize>(
        &self,
        p: &[F],
        q: &[F],
        work: &'a mut Work<F>,
    ) -> Result<[&'a mut [f64]; N], DomainError> {
        let n = self.n;
        entries(p, n)?;
        entries(q, n)?;
        let mut buffers = work.matrices().take::<N>(n * n);
        let mut parts = buffers.iter_mut();
        let [l, b, k, m, u, values] =
            std::array::from_fn(|_| parts.next().map_or(&mut [][..], |part| &mut **part));
        widen(p, l);
        linalg::cholesky_in_place(l, n).ok_or_else(|| not_definite(p, n))?;
        widen(q, k);
        linalg::cholesky_in_place(k, n).ok_or_else(|| not_definite(q, n))?;
        gram(k, l, n, m);
        b.copy_from_slice(m);
        singular(b, n, values, u).ok_or_else(|| not_definite(q, n))?;
        if !(values[n - 1] > 0.0) {
            return Err(DomainError::NotDefinite { smallest: values[n - 1] });
        }
        // O = U diag(1/σ) U'M, the polar factor of K'L.
        sandwich(u, |i| values[i].recip(), u, n, b);
        u.fill(0.0);
        add_product(1.0, b, n, m, u);
        b.fill(0.0);
        add_product(1.0, k, n, u, b);
        for (b, l) in b.iter_mut().zip(l.iter()) {
            *b -= l;
        }
        Ok(buffers)
    }
}

/// Number of midpoint rules used for extrapolation.
const LEVELS: usize = 8;

/// Transports W along the lift L + tB, t from 0 to 1, by Gragg's midpoint steps with Richardson extrapolation, in
/// panels.
fn carry(
    l: &[f64],
    b: &[f64],
    n: usize,
    w: &mut [f64],
    scratch: [&mut [f64]; 6],
    states: [&mut [f64]; 4],
    mut table: [&mut [f64]; LEVELS],
) -> Option<()> {
    const PANELS: usize = 8;
    let [a, g, u, s, spare, values] = scratch;
    let values = &mut values[..n];
    // out ← W° = AK, where GK + KG = −(B'W − W'B) and G = A'A.
    let mut speed = |t: f64, w: &[f64], out: &mut [f64]| -> Option<()> {
        a.copy_from_slice(l);
        a.iter_mut().zip(b).for_each(|(a, b)| *a += t * b);
        gram(a, a, n, g);
        eigen(g, n, values, u)?;
        gram(b, w, n, s);
        skew(s, n);
        spare.fill(0.0);
        add_product(1.0, s, n, u, spare);
        gram(u, spare, n, s);
        for (column, &y) in s.chunks_exact_mut(n).zip(&*values) {
            for (s, &x) in column.iter_mut().zip(&*values) {
                *s *= -2.0 / (x + y);
            }
        }
        spare.fill(0.0);
        add_product(1.0, u, n, s, spare);
        sandwich(spare, |_| 1.0, u, n, s);
        out.fill(0.0);
        add_product(1.0, a, n, s, out);
        Some(())
    };
    let [mut before, mut now, mut next, rate] = states;
    for panel in 0..PANELS {
        let start = panel as f64 / PANELS as f64;
        for level in 0..LEVELS {
            let steps = 2 * (level + 1);
            let h = 1.0 / (PANELS * steps) as f64;
            before.copy_from_slice(w);
            speed(start, w, rate)?;
            now.copy_from_slice(w);
            now.iter_mut().zip(&*rate).for_each(|(x, r)| *x += h * r);
            for step in 1..steps {
                speed(start + step as f64 * h, now, rate)?;
                next.copy_from_slice(before);
                next.iter_mut().zip(&*rate).for_each(|(x, r)| *x += 2.0 * h * r);
                std::mem::swap(&mut before, &mut now);
                std::mem::swap(&mut now, &mut next);
            }
            // table[j] holds the j-th extrapolation of the previous level; `now` is refined in place.
            for (j, old) in table[..level].iter_mut().enumerate() {
                let ratio = ((level + 1) as f64 / (level - j) as f64).square() - 1.0;
                for (x, y) in now.iter_mut().zip(old.iter_mut()) {
                    let refined = *x + (*x - *y) / ratio;
                    *y = std::mem::replace(x, refined);
                }
            }
            table[level].copy_from_slice(now);
        }
        w.copy_from_slice(table[LEVELS - 1]);
    }
    Some(())
}

/// out ← BL' + LB'.
fn outer(b: &[f64], l: &[f64], n: usize, out: &mut [f64]) {
    sandwich(b, |_| 2.0, l, n, out);
    linalg::symmetrize(out, n);
}

impl<F: Real> Manifold<F> for BuresWasserstein {
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

    fn random(&self, normal: &mut dyn FnMut() -> f64, p: &mut [F], work: &mut Work<F>) {
        self.spd.random(normal, p, work);
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
        for (x, out) in [(u, &mut *a), (v, &mut *b)] {
            widen(x, out);
            c.fill(0.0);
            add_product(1.0, out, n, vectors, c);
            gram(vectors, c, n, out);
        }
        let mut sum = 0.0;
        for j in 0..n {
            for i in 0..n {
                sum += a[i + j * n] * b[i + j * n] / (values[i] + values[j]);
            }
        }
        F::of(0.5 * sum)
    }

    fn gradient(&self, p: &[F], covector: &[F], v: &mut [F], work: &mut Work<F>) {
        let n = self.n;
        if [p, covector].iter().any(|a| entries(a, n).is_err()) {
            return v.fill(F::NAN);
        }
        let [x, g, a] = work.matrices().take(n * n);
        widen(p, x);
        widen(covector, g);
        linalg::symmetrize(g, n);
        // 2(XG + GX) is 4 times the symmetric part of XG.
        a.fill(0.0);
        add_product(4.0, x, n, g, a);
        linalg::symmetrize(a, n);
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

impl<F: Real> ExpLog<F> for BuresWasserstein {
    fn curvature(&self) -> Curvature {
        if self.n == 1 { Curvature::FLAT } else { Curvature { min: 0.0, max: f64::INFINITY } }
    }

    /// The distance to the singular matrices: √λ of the smallest eigenvalue.
    fn injectivity(&self, p: &[F]) -> F {
        let least = linalg::smallest_eigenvalue(p, self.n).unwrap_or(f64::NAN);
        F::of(Real::max(least, 0.0).sqrt())
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, work: &mut Work<F>) -> Result<Step<F>, DomainError> {
        let n = self.n;
        entries(v, n)?;
        let [vectors, values, a, b, c, x] = work.matrices().take(n * n);
        self.decompose(p, values, vectors, a)?;
        widen(v, a);
        b.fill(0.0);
        add_product(1.0, a, n, vectors, b);
        gram(vectors, b, n, c);
        let mut square = 0.0;
        for j in 0..n {
            for i in 0..n {
                let (entry, both) = (c[i + j * n], values[i] + values[j]);
                square += entry * (entry / both);
                c[i + j * n] = entry / both;
            }
        }
        let length = F::of(t.abs().f64() * (0.5 * square).sqrt());
        if !length.is_finite() {
            return Err(DomainError::Overflow { length: length.f64(), limit: F::MAX.f64() });
        }
        if length == F::ZERO {
            return Ok(Step::inside(length));
        }
        b.fill(0.0);
        add_product(1.0, vectors, n, c, b);
        let (solved, t) = (c, t.f64());
        sandwich(b, |_| 1.0, vectors, n, solved);
        linalg::symmetrize(solved, n);
        // X + tV + t²SXS: a short walk changes X only by its rounding error.
        widen(p, x);
        b.fill(0.0);
        add_product(t * t, x, n, solved, b);
        x.iter_mut().zip(&*a).for_each(|(x, v)| *x += t * v);
        add_product(1.0, solved, n, b, x);
        linalg::symmetrize(x, n);
        for (x, a) in x.iter_mut().zip(a.iter_mut()) {
            *x = F::of(*x).f64();
            *a = *x;
        }
        if x.iter().any(|x| !x.is_finite()) {
            return Err(DomainError::Overflow { length: length.f64(), limit: F::MAX.f64() });
        }
        let mut raised = 0;
        if linalg::cholesky_in_place(a, n).is_none() {
            // (1 + tS)X(1 + tS) has no negative eigenvalue, so raise the eigenvalues below the rounding of the
            // largest.
            a.copy_from_slice(x);
            let values = &mut values[..n];
            eigen(a, n, values, vectors).ok_or_else(|| not_definite(x, n))?;
            let floor = 16.0 * n as f64 * F::EPSILON.f64() * values[n - 1];
            raised = values.iter().filter(|&&value| value < floor).count();
            sandwich(vectors, |k| Real::max(values[k], floor), vectors, n, x);
            linalg::symmetrize(x, n);
            x.iter_mut().for_each(|x| *x = F::of(*x).f64());
            a.copy_from_slice(x);
            linalg::cholesky_in_place(a, n).ok_or_else(|| not_definite(x, n))?;
        }
        // 1 + tS is indefinite once the geodesic has reached the singular matrices.
        for (i, s) in solved.iter_mut().enumerate() {
            *s = t * *s + f64::from(i % (n + 1) == 0);
        }
        let inside = linalg::cholesky_in_place(solved, n).is_some();
        narrow(x, p);
        let event = match raised {
            _ if !inside => Event::PastInjectivity,
            0 => Event::Inside,
            coordinates => Event::Clamped { coordinates },
        };
        Ok(Step { length, event })
    }

    fn log(&self, p: &[F], q: &[F], v: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        let [l, b, out, ..] = self.lifts::<F, 6>(p, q, work)?;
        outer(b, l, self.n, out);
        narrow(out, v);
        Ok(())
    }

    fn distance(&self, p: &[F], q: &[F], work: &mut Work<F>) -> F {
        if p == q && self.check(p).is_ok() {
            return F::ZERO;
        }
        self.lifts::<F, 6>(p, q, work).map_or(F::NAN, |[_, b, ..]| F::of(Norm::L2.of(b)))
    }

    /// Projects instead of transporting, which would take far longer.
    fn carry(&self, _: &[F], q: &[F], v: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        self.project(q, v);
        Ok(())
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
        let [l, b, a, c, vectors, values, w, d, e, f, g, h, k, table @ ..] =
            self.lifts::<F, 21>(p, q, work)?;
        self.decompose(p, values, vectors, a)?;
        // The horizontal lift of V at L is S(V)L.
        widen(v, a);
        c.fill(0.0);
        add_product(1.0, a, n, vectors, c);
        gram(vectors, c, n, a);
        for j in 0..n {
            for i in 0..n {
                a[i + j * n] /= values[i] + values[j];
            }
        }
        c.fill(0.0);
        add_product(1.0, vectors, n, a, c);
        sandwich(c, |_| 1.0, vectors, n, a);
        w.fill(0.0);
        add_product(1.0, a, n, l, w);
        let scratch = [&mut *a, c, vectors, values, d, e];
        carry(l, b, n, w, scratch, [f, g, h, k], table).ok_or_else(|| not_definite(q, n))?;
        l.iter_mut().zip(&*b).for_each(|(l, b)| *l += b);
        outer(w, l, n, a);
        narrow(a, v);
        Ok(())
    }

    /// Uses the iteration of optimal transport, X ← exp_X of the mean of log_X X_i, which converges to the unique
    /// mean.
    fn mean(
        &self,
        points: &[F],
        weights: Option<&[F]>,
        p: &mut [F],
        work: &mut Work<F>,
    ) -> Result<Mean, DomainError> {
        let found = mean::karcher(self, points, weights, p, work)?;
        Ok(Mean { unique: true, ..found })
    }
}
