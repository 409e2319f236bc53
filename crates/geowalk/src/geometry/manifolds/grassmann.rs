//! # Grassmann manifold
//! The subspaces of dimension p of ℝⁿ. A point is a matrix X with n rows and p orthonormal columns that span the
//! subspace, stored row by row. X and XQ, with Q orthogonal, are the same point, so a cost must not distinguish them.
//! A tangent vector has X'V = 0. Let S = V'V, and let Y' be the basis of Y nearest to X:
//! ```text
//! exp_X(V) = X cos(√S) + V sinc(√S)            grad = G - X X'G
//! log_X(Y) = L f(θ),  L = Y' - X X'Y',  f = θ/sin θ of the principal angles θ
//! d(X, Y)  = |θ|                               transport turns V by the angles θ
//! ```
//! **Cost** O(np²), in f64 also for f32 matrices. **Care** The angle between two lines is at most π/2, which is the
//! injectivity radius. If a principal angle is π/2, `log` returns [`DomainError::CutLocus`]. Rounding errors are
//! removed from X after every walk. **Source** \[EAS98\]; \[BZA24\]; curvature 1 if p or n − p is 1, else in [0, 2].

#![allow(clippy::neg_cmp_op_on_partial_ord)] // also refuses NaN

use super::frames::{self, Layout};
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::linalg::{eigen, sandwich, singular};
use crate::geometry::orthogonal::{
    self, add_product, check_frame, columns, gram, outside_rows, rows, settle,
};
use crate::geometry::{Curvature, Event, ExpLog, Manifold, Step, Work};
use crate::row::Norm;

/// The subspaces of dimension p of ℝⁿ, as matrices with orthonormal columns, row by row.
///
/// ```
/// use geowalk::geometry::{ExpLog, Work, manifolds::Grassmann};
/// let lines = Grassmann::new(2, 1)?;
/// // A line has no direction: (1, 0) and (−1, 0) are the same.
/// let d: f64 = lines.distance(&[1.0, 0.0], &[-1.0, 0.0], &mut Work::new());
/// assert_eq!(d, 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Grassmann {
    n: usize,
    p: usize,
}

impl Grassmann {
    /// The subspaces of dimension p of ℝⁿ, 1 ≤ p < n ≤ 2²⁴.
    pub fn new(n: usize, p: usize) -> Result<Self, ConfigError> {
        error::parameter("n", n as f64, Allowed::Closed(2.0, 16_777_216.0))?;
        error::parameter("columns", p as f64, Allowed::Closed(1.0, (n - 1).min(4096) as f64))?;
        Ok(Self { n, p })
    }

    /// Number of rows of a matrix.
    pub fn rows(&self) -> usize {
        self.n
    }

    /// The dimension of the subspaces.
    pub fn columns(&self) -> usize {
        self.p
    }

    fn layout(&self) -> Layout {
        Layout { n: self.n, p: self.p }
    }

    /// Computes the relation of two subspaces. `None` if a number is not finite.
    fn between<'a, F: Real>(
        &self,
        p: &[F],
        q: &[F],
        work: &'a mut Work<F>,
    ) -> Result<Relative<'a>, DomainError> {
        let (n, k) = (self.n, self.p);
        self.layout().sized("the point", p)?;
        self.layout().sized("the second point", q)?;
        let [x, log, turn, values, a, b, c, m, d, e, f] = work.matrices().take(n * k);
        let (turn, values) = (&mut turn[..k * k], &mut values[..k]);
        let failed = || DomainError::NotConverged {
            what: "the principal angles",
            residual: f64::NAN,
            iterations: 60,
        };
        columns(p, n, x);
        columns(q, n, a);
        // The rotation of the basis of Y that brings it nearest to X: the polar factor of Y'X.
        let (m, u) = (&mut m[..k * k], &mut c[..k * k]);
        gram(a, x, n, m);
        turn.copy_from_slice(m);
        singular(turn, k, values, u).ok_or_else(failed)?;
        let least = values[k - 1];
        if least <= frames::cut::<F>() {
            // No basis of Y is nearest to X; the angles follow from their cosines.
            let angle = |c: f64| Real::atan2(Real::max(1.0 - c * c, 0.0).sqrt(), c);
            let size = values.iter().map(|&c| angle(c).square()).sum::<f64>().sqrt();
            return Ok(Relative { x, log, turn, least, size, scratch: [a, b, c, d, e, f] });
        }
        // U diag(1/σ) Uᵀ M, which is U Wᵀ.
        turn.fill(0.0);
        let inverse = &mut log[..k * k];
        sandwich(u, |i| Real::max(values[i], f64::MIN_POSITIVE).recip(), u, k, inverse);
        add_product(1.0, inverse, k, m, turn);
        // L = Y' − X − X(X'(Y' − X)): the part outside X, exact for near points.
        log.fill(0.0);
        add_product(1.0, a, n, turn, log);
        for (l, x) in log.iter_mut().zip(x.iter()) {
            *l -= x;
        }
        for _ in 0..2 {
            let s = &mut b[..k * k];
            gram(x, log, n, s);
            add_product(-1.0, x, n, s, log);
        }
        // Principal angles along the eigenvectors of L'L, with their cosines from X'Y'.
        a.copy_from_slice(log);
        let (s, u) = (&mut b[..k * k], &mut c[..k * k]);
        gram(log, log, n, s);
        eigen(s, k, values, u).ok_or_else(failed)?;
        let (mut square, spare) = (0.0, &mut *a);
        let pair = &mut b[..2 * k];
        for (value, u) in values.iter_mut().zip(u.chunks_exact(k)) {
            let image = &mut spare[..n];
            image.fill(0.0);
            add_product(1.0, log, n, u, image);
            let sine = Norm::L2.of(image);
            // X'Y'u: M turned, transposed.
            let (turned, image) = pair.split_at_mut(k);
            turned.fill(0.0);
            add_product(1.0, turn, k, u, turned);
            gram(m, turned, k, image);
            let cosine = Norm::L2.of(image);
            let theta = Real::atan2(sine, cosine);
            square += theta * theta;
            *value = if theta < 1e-4 { 1.0 + theta * theta / 6.0 } else { theta / sine };
        }
        a.copy_from_slice(log);
        let s = &mut b[..k * k];
        sandwich(u, |i| values[i], u, k, s);
        log.fill(0.0);
        add_product(1.0, a, n, s, log);
        let scratch = [a, b, c, d, e, f];
        Ok(Relative { x, log, turn, least, size: square.sqrt(), scratch })
    }
}

/// The relation of a second subspace to a first one.
struct Relative<'a> {
    /// The basis of the first, column by column.
    x: &'a mut [f64],
    /// The logarithm of the second.
    log: &'a mut [f64],
    /// The rotation that brings the basis of the second nearest to the first.
    turn: &'a mut [f64],
    /// The cosine of the largest principal angle.
    least: f64,
    /// The distance.
    size: f64,
    scratch: [&'a mut [f64]; 6],
}

impl Relative<'_> {
    fn cut<F: Real>(&self) -> Result<(), DomainError> {
        if self.least > frames::cut::<F>() {
            return Ok(());
        }
        let limit = std::f64::consts::FRAC_PI_2;
        Err(DomainError::CutLocus { distance: self.size, limit })
    }
}

/// v ← v − X X'v, applied twice.
fn outside(x: &[f64], n: usize, v: &mut [f64], s: &mut [f64]) {
    let p = x.len() / n;
    let s = &mut s[..p * p];
    for _ in 0..2 {
        gram(x, v, n, s);
        add_product(-1.0, x, n, s, v);
    }
}

impl<F: Real> Manifold<F> for Grassmann {
    fn ambient(&self) -> usize {
        self.layout().len()
    }

    fn dim(&self) -> usize {
        self.p * (self.n - self.p)
    }

    fn check(&self, p: &[F]) -> Result<(), DomainError> {
        self.layout().sized("the point", p)?;
        let mut x = vec![0.0; p.len()];
        columns(p, self.n, &mut x);
        check_frame::<F>(&x, self.n)
    }

    fn check_tangent(&self, p: &[F], v: &[F]) -> Result<(), DomainError> {
        self.layout().sized("the tangent vector", v)?;
        self.layout().sized("the point", p)?;
        let (mut x, mut w) = (vec![0.0; p.len()], vec![0.0; p.len()]);
        columns(p, self.n, &mut x);
        columns(v, self.n, &mut w);
        let mut s = vec![0.0; self.p * self.p];
        gram(&x, &w, self.n, &mut s);
        frames::residue::<F>("the part of the tangent vector in the subspace", &s, &w)
    }

    fn origin(&self, p: &mut [F]) {
        frames::origin(self.layout(), p);
    }

    fn project(&self, p: &[F], v: &mut [F]) {
        if p.len() != self.layout().len() || v.len() != p.len() {
            return;
        }
        outside_rows(p, self.p, v);
    }

    fn nearest(&self, p: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        frames::nearest(self.layout(), p, work)
    }

    fn random(&self, normal: &mut dyn FnMut() -> f64, p: &mut [F], work: &mut Work<F>) {
        frames::random(self, normal, p, work);
    }

    fn inner(&self, _: &[F], u: &[F], v: &[F], _: &mut Work<F>) -> F {
        u.iter().zip(v).map(|(&u, &v)| u * v).sum()
    }

    fn norm(&self, _: &[F], v: &[F], _: &mut Work<F>) -> F {
        super::norm(v.iter().copied())
    }

    fn gradient(&self, p: &[F], covector: &[F], v: &mut [F], work: &mut Work<F>) {
        if p.len() != self.layout().len() || covector.len() != p.len() {
            return v.fill(F::NAN);
        }
        let [x, w, s] = work.matrices().take(self.layout().len());
        columns(p, self.n, x);
        columns(covector, self.n, w);
        outside(x, self.n, w, s);
        rows(w, self.n, v);
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

impl<F: Real> ExpLog<F> for Grassmann {
    fn curvature(&self) -> Curvature {
        match (self.p, self.n - self.p) {
            (1, 1) => Curvature::FLAT,
            (1, _) | (_, 1) => Curvature::constant(1.0),
            _ => Curvature { min: 0.0, max: 2.0 },
        }
    }

    fn injectivity(&self, _: &[F]) -> F {
        F::PI * F::HALF
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, work: &mut Work<F>) -> Result<Step<F>, DomainError> {
        let (n, k) = (self.n, self.p);
        self.layout().sized("the point", p)?;
        self.layout().sized("the tangent vector", v)?;
        let length = t.abs() * super::norm(v.iter().copied());
        let limit = orthogonal::LONGEST;
        let overflow = DomainError::Overflow { length: length.f64(), limit };
        if !(length.f64() <= limit) {
            return Err(overflow);
        }
        if length == F::ZERO {
            return Ok(Step::inside(length));
        }
        let [x, w, y, s, u, values, f] = work.matrices().take(n * k);
        let (s, u, values, f) =
            (&mut s[..k * k], &mut u[..k * k], &mut values[..k], &mut f[..k * k]);
        columns(p, n, x);
        columns(v, n, w);
        for w in w.iter_mut() {
            *w *= t.f64();
        }
        gram(w, w, n, s);
        eigen(s, k, values, u).ok_or_else(|| overflow.clone())?;
        for (value, u) in values.iter_mut().zip(u.chunks_exact(k)) {
            // The root of an eigenvalue would be imprecise for small angles beside large ones.
            let image = &mut y[..n];
            image.fill(0.0);
            add_product(1.0, w, n, u, image);
            *value = Norm::L2.of(image);
        }
        // X + X(cos − 1) + V sinc: a short step changes X only by its rounding error.
        y.copy_from_slice(x);
        sandwich(u, |i| -2.0 * Real::sin(0.5 * values[i]).square(), u, k, f);
        add_product(1.0, x, n, f, y);
        sandwich(u, |i| values[i].sinc(), u, k, f);
        add_product(1.0, w, n, f, y);
        if !settle(y, n, s, x) {
            return Err(overflow);
        }
        rows(y, n, p);
        let limit = ExpLog::<F>::injectivity(self, p);
        let event = if length > limit { Event::PastInjectivity } else { Event::Inside };
        Ok(Step { length, event })
    }

    fn log(&self, p: &[F], q: &[F], v: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        let found = self.between(p, q, work)?;
        found.cut::<F>()?;
        rows(found.log, self.n, v);
        Ok(())
    }

    fn distance(&self, p: &[F], q: &[F], work: &mut Work<F>) -> F {
        self.between(p, q, work).map_or(F::NAN, |found| F::of(found.size))
    }

    fn transport(
        &self,
        p: &[F],
        q: &[F],
        v: &mut [F],
        work: &mut Work<F>,
    ) -> Result<(), DomainError> {
        let (n, k) = (self.n, self.p);
        self.layout().sized("the tangent vector", v)?;
        let found = self.between(p, q, work)?;
        found.cut::<F>()?;
        let Relative { x, log, turn, scratch: [w, s, u, along, values, f], .. } = found;
        columns(v, n, w);
        // The part of V along the motion rotates with it.
        let (along, values, f) = (&mut along[..k * k], &mut values[..k], &mut f[..k * k]);
        gram(log, log, n, &mut s[..k * k]);
        eigen(&mut s[..k * k], k, values, u).ok_or(DomainError::NotConverged {
            what: "the angles",
            residual: f64::NAN,
            iterations: 60,
        })?;
        for value in values.iter_mut() {
            *value = Real::max(*value, 0.0).sqrt();
        }
        gram(log, w, n, along);
        let u = &u[..k * k];
        sandwich(u, |i| values[i].sinc(), u, k, f);
        let part = &mut s[..k * k];
        part.fill(0.0);
        add_product(-1.0, f, k, along, part);
        add_product(1.0, x, n, part, w);
        sandwich(u, |i| -0.5 * (0.5 * values[i]).sinc().square(), u, k, f);
        part.fill(0.0);
        add_product(1.0, f, k, along, part);
        add_product(1.0, log, n, part, w);
        // In the basis of q: multiply by the transposed rotation.
        crate::geometry::linalg::transpose(turn, k);
        x.fill(0.0);
        add_product(1.0, w, n, turn, x);
        rows(x, n, v);
        self.project(q, v);
        Ok(())
    }
}
