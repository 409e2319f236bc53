//! # Rotations
//! SO(n), the rotation matrices of n rows, stored row by row: RᵀR = 1, det R = 1. The metric is that of the entries, Σ
//! u_ij v_ij.
//! ```text
//! exp_R(V) = R e^(R'V)      log_R(Q) = R ln(R'Q)      grad = (G - R G'R)/2
//! transport = R E (R'V) E,  E = e^(ln(R'Q)/2)         d(R, Q) = |ln(R'Q)|_F
//! ```
//! **Cost** O(n³), in f64 also for f32 matrices. **Care** A rotation of one plane by an angle φ has length φ√2, so the
//! injectivity radius is π√2. If a plane is rotated by π, within 1e-7 (f32: 3e-3), `log` returns
//! [`DomainError::CutLocus`]. Rounding errors are removed from R after every walk. **Source** \[EAS98\]; curvature 0
//! for n = 2, 1/8 for n = 3, else in [0, 1/4].

#![allow(clippy::neg_cmp_op_on_partial_ord)] // also refuses NaN

use super::frames::{self, Layout};
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::orthogonal::{
    self, Angles, add_product, check_frame, columns, gram, orientation, rows, settle, skew,
};
use crate::geometry::{Curvature, Event, ExpLog, Manifold, Step, Work};

/// The rotation matrices of n rows, row by row.
///
/// ```
/// use geowalk::geometry::{ExpLog, Work, manifolds::Rotations};
/// let turns = Rotations::new(2)?;
/// let quarter = [0.0, -1.0, 1.0, 0.0];
/// let d: f64 = turns.distance(&[1.0, 0.0, 0.0, 1.0], &quarter, &mut Work::new());
/// assert!((d - std::f64::consts::FRAC_PI_2 * 2.0_f64.sqrt()).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Rotations {
    n: usize,
}

impl Rotations {
    /// Rotations of ℝⁿ, 2 ≤ n ≤ 4096.
    pub fn new(n: usize) -> Result<Self, ConfigError> {
        error::parameter("n", n as f64, Allowed::Closed(2.0, 4096.0))?;
        Ok(Self { n })
    }

    /// Number of rows of a matrix.
    pub fn rows(&self) -> usize {
        self.n
    }

    fn layout(&self) -> Layout {
        Layout { n: self.n, p: self.n }
    }

    /// The rotation from p to q: p in the first matrix, the logarithm in the second; one more matrix is scratch.
    fn between<'a, F: Real>(
        &self,
        p: &[F],
        q: &[F],
        work: &'a mut Work<F>,
    ) -> Result<([&'a mut [f64]; 7], Angles), DomainError> {
        let n = self.n;
        self.layout().sized("the point", p)?;
        self.layout().sized("the second point", q)?;
        let mut buffers = work.matrices().take(n * n);
        let [x, log, d, a, b, c, _] = &mut buffers;
        columns(p, n, x);
        columns(q, n, a);
        // R'(Q − R) is exact for near points.
        for (a, x) in a.iter_mut().zip(x.iter()) {
            *a -= x;
        }
        gram(x, a, n, d);
        let angles = orthogonal::turned(d, n, log, [a, b, c]).ok_or(DomainError::NotConverged {
            what: "ln R",
            residual: f64::NAN,
            iterations: 60,
        })?;
        Ok((buffers, angles))
    }

    fn cut<F: Real>(angles: &Angles) -> Result<(), DomainError> {
        if angles.least > frames::cut::<F>() {
            return Ok(());
        }
        let limit = std::f64::consts::PI * std::f64::consts::SQRT_2;
        Err(DomainError::CutLocus { distance: angles.size, limit })
    }
}

impl<F: Real> Manifold<F> for Rotations {
    fn ambient(&self) -> usize {
        self.n * self.n
    }

    fn dim(&self) -> usize {
        self.n * (self.n - 1) / 2
    }

    fn check(&self, p: &[F]) -> Result<(), DomainError> {
        let n = self.n;
        error::finite("the point", p, n * n)?;
        let mut x = vec![0.0; n * n];
        columns(p, n, &mut x);
        check_frame::<F>(&x, n)?;
        let found = orientation(&mut x, n);
        if found > 0.0 {
            return Ok(());
        }
        let (quantity, tolerance) = ("the determinant of the matrix", F::TOLERANCE.f64());
        Err(DomainError::Constraint { quantity, found, expected: 1.0, tolerance })
    }

    fn check_tangent(&self, p: &[F], v: &[F]) -> Result<(), DomainError> {
        frames::check_tangent(self.layout(), p, v)
    }

    fn origin(&self, p: &mut [F]) {
        frames::origin(self.layout(), p);
    }

    fn project(&self, p: &[F], v: &mut [F]) {
        frames::project(self.layout(), p, v);
    }

    fn nearest(&self, p: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        let n = self.n;
        error::finite("the point", p, n * n)?;
        let [x, s, u, values, copy] = work.matrices().take(n * n);
        columns(p, n, x);
        copy.copy_from_slice(x);
        if orientation(copy, n) < 0.0 {
            // The nearest rotation reverses the weakest direction of the polar factor.
            let none = || frames::dependent(0.0);
            gram(x, x, n, s);
            crate::geometry::linalg::eigen(s, n, values, u).ok_or_else(none)?;
            let image = &mut copy[..n];
            image.fill(0.0);
            add_product(1.0, x, n, &u[..n], image);
            for (column, u) in x.chunks_exact_mut(n).zip(&u[..n]) {
                for (x, image) in column.iter_mut().zip(&*image) {
                    *x -= 2.0 * u * image;
                }
            }
        }
        orthogonal::polar(x, n, [s, u, values, copy]).ok_or_else(|| frames::dependent(0.0))?;
        rows(x, n, p);
        Ok(())
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
        frames::flattened(self.layout(), p, covector, v, work);
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

impl<F: Real> ExpLog<F> for Rotations {
    fn curvature(&self) -> Curvature {
        match self.n {
            2 => Curvature::FLAT,
            3 => Curvature::constant(0.125),
            _ => Curvature { min: 0.0, max: 0.25 },
        }
    }

    fn injectivity(&self, _: &[F]) -> F {
        F::PI * F::TWO.sqrt()
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, work: &mut Work<F>) -> Result<Step<F>, DomainError> {
        let n = self.n;
        self.layout().sized("the point", p)?;
        self.layout().sized("the tangent vector", v)?;
        let length = t.abs() * Manifold::<F>::norm(self, p, v, &mut Work::new());
        let limit = orthogonal::LONGEST;
        let overflow = DomainError::Overflow { length: length.f64(), limit };
        if !(length.f64() <= limit) {
            return Err(overflow);
        }
        if length == F::ZERO {
            return Ok(Step::inside(length));
        }
        let [x, omega, e, a, b, c] = work.matrices().take(n * n);
        columns(p, n, x);
        columns(v, n, a);
        gram(x, a, n, omega);
        skew(omega, n);
        for entry in omega.iter_mut() {
            *entry *= t.f64();
        }
        orthogonal::turn(omega, n, e, [a, b, c]).ok_or_else(|| overflow.clone())?;
        a.copy_from_slice(x);
        add_product(1.0, x, n, e, a);
        if !settle(a, n, b, c) {
            return Err(overflow);
        }
        rows(a, n, p);
        let limit = ExpLog::<F>::injectivity(self, p);
        let event = if length > limit { Event::PastInjectivity } else { Event::Inside };
        Ok(Step { length, event })
    }

    fn log(&self, p: &[F], q: &[F], v: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        let n = self.n;
        let ([x, log, out, ..], angles) = self.between(p, q, work)?;
        Self::cut::<F>(&angles)?;
        out.fill(0.0);
        add_product(1.0, x, n, log, out);
        rows(out, n, v);
        Ok(())
    }

    fn distance(&self, p: &[F], q: &[F], work: &mut Work<F>) -> F {
        self.between(p, q, work).map_or(F::NAN, |(_, angles)| F::of(angles.size))
    }

    fn transport(
        &self,
        p: &[F],
        q: &[F],
        v: &mut [F],
        work: &mut Work<F>,
    ) -> Result<(), DomainError> {
        let n = self.n;
        self.layout().sized("the tangent vector", v)?;
        let ([x, log, e, a, b, c, d], angles) = self.between(p, q, work)?;
        Self::cut::<F>(&angles)?;
        for entry in log.iter_mut() {
            *entry *= 0.5;
        }
        orthogonal::turn(log, n, e, [a, b, c]).ok_or_else(|| frames::dependent(0.0))?;
        e.iter_mut().step_by(n + 1).for_each(|one| *one += 1.0);
        // R E A E with A = R'V.
        columns(v, n, a);
        gram(x, a, n, b);
        skew(b, n);
        {
            let (c, a, b) = (&mut *c, &*e, &*b);
            c.fill(0.0);
            add_product(1.0, a, n, b, c);
        }
        a.fill(0.0);
        add_product(1.0, c, n, e, a);
        d.fill(0.0);
        add_product(1.0, x, n, a, d);
        rows(d, n, v);
        self.project(q, v);
        Ok(())
    }
}
