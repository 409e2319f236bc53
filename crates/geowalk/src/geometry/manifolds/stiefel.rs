//! # Stiefel manifold
//! The matrices X with n rows and p < n orthonormal columns, stored row by row, with the canonical metric. Let
//! V = XA + W and W = QB, with A skew and X'W = 0:
//! ```text
//! <U, V> = tr(U'V) - tr(U'X X'V)/2           grad = G - X G'X
//! exp_X(V) = [X Q] e^[A -B'; B 0] [1; 0]     transport solves A° = -([a, A] - w'W + W'w)/2, W° = -(wA - Wa)/2
//! ```
//! **Logarithm** It has no closed form. With an orthonormal completion [X Q] of both points, the rotation between them
//! is rotated within the complement until its logarithm has no part there.
//!
//! **Cost** O(np² + p³); a logarithm takes about 10 times as long. In f64 also for f32 matrices. **Care** The
//! injectivity radius is at least π√(4/5), and this value is reported (π for p = 1). If no logarithm is found, the
//! result is [`DomainError::NotConverged`]. Distances of nearly equal points have an absolute error of 1e-15. For p =
//! n use [`Rotations`](super::Rotations). **Source** \[EAS98, sec. 2.4\]; \[Zimmermann17\]; \[ZH22\]; curvature in [0,
//! 5/4], \[ZS24\]; transport follows because the metric is naturally reductive.

#![allow(clippy::neg_cmp_op_on_partial_ord)] // also refuses NaN
#![allow(clippy::too_many_lines)] // one algorithm, step by step

use super::frames::{self, Layout};
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::linalg::{eigen, sandwich};
use crate::geometry::orthogonal::{
    self, add_product, check_frame, columns, complement, gram, orientation, polish, rows, settle,
    skew,
};
use crate::geometry::{Curvature, Event, ExpLog, Manifold, Step, Work};
use crate::row::Norm;

/// Matrices with n rows and p < n orthonormal columns, row by row.
///
/// ```
/// use geowalk::geometry::{ExpLog, Work, manifolds::Stiefel};
/// let frames = Stiefel::new(3, 2)?;
/// let mut p = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];
/// // The first column turns by a right angle out of the plane of both.
/// frames.exp(&mut p, &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2, &mut Work::new())?;
/// assert!((p[4] - 1.0).abs() < 1e-15 && (p[3] - 1.0).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Stiefel {
    n: usize,
    p: usize,
}

/// Maximum number of iterations of a logarithm.
const TURNS: usize = 200;

impl Stiefel {
    /// Matrices of n rows and p orthonormal columns, 1 ≤ p < n ≤ 2²⁴.
    pub fn new(n: usize, p: usize) -> Result<Self, ConfigError> {
        error::parameter("n", n as f64, Allowed::Closed(2.0, 16_777_216.0))?;
        error::parameter("columns", p as f64, Allowed::Closed(1.0, (n - 1).min(4096) as f64))?;
        Ok(Self { n, p })
    }

    /// Number of rows of a matrix.
    pub fn rows(&self) -> usize {
        self.n
    }

    /// Number of columns of a matrix.
    pub fn columns(&self) -> usize {
        self.p
    }

    fn layout(&self) -> Layout {
        Layout { n: self.n, p: self.p }
    }

    /// Number of columns outside X that a motion needs.
    fn outside(&self) -> usize {
        self.p.min(self.n - self.p)
    }

    /// Number of elements that suffices for each of the matrices below.
    fn room(&self) -> usize {
        self.n * (self.p + self.outside())
    }

    /// ⟨U, V⟩ of matrices stored by columns.
    fn product(&self, x: &[f64], u: &[f64], v: &[f64], a: &mut [f64], b: &mut [f64]) -> f64 {
        let (n, p) = (self.n, self.p);
        let (a, b) = (&mut a[..p * p], &mut b[..p * p]);
        gram(x, u, n, a);
        gram(x, v, n, b);
        let whole: f64 = u.iter().zip(v).map(|(u, v)| u * v).sum();
        let along: f64 = a.iter().zip(&*b).map(|(a, b)| a * b).sum();
        whole - 0.5 * along
    }

    /// v ← log of y at x, all by columns. Returns the number of iterations; `size` becomes the distance.
    fn logarithm<F: Real>(
        &self,
        x: &[f64],
        y: &[f64],
        v: &mut [f64],
        scratch: [&mut [f64]; 8],
    ) -> Result<f64, DomainError> {
        let (n, p, k) = (self.n, self.p, self.outside());
        let m = p + k;
        let failed = |residual: f64, iterations: usize| DomainError::NotConverged {
            what: "the logarithm on the Stiefel manifold",
            residual,
            iterations,
        };
        let [q, w, r, d, log, a, b, c] = scratch;
        let (q, w) = (&mut q[..n * k], &mut w[..n * p]);
        let (r, log) = (&mut r[..m * m], &mut log[..m * m]);
        // Y − X, and its part outside X.
        v.copy_from_slice(y);
        for (v, x) in v.iter_mut().zip(x) {
            *v -= x;
        }
        if v.iter().all(|&v| v == 0.0) {
            return Ok(0.0);
        }
        w.copy_from_slice(v);
        for _ in 0..2 {
            let s = &mut a[..p * p];
            gram(x, w, n, s);
            add_product(-1.0, x, n, s, w);
        }
        complement(x, w, n, q);
        // The first columns of the rotation, minus 1, from the difference; the others complete it.
        let top = &mut a[..p * p];
        gram(x, v, n, top);
        let bottom = &mut b[..k * p];
        gram(q, v, n, bottom);
        r.fill(0.0);
        for j in 0..p {
            r[j * m..j * m + p].copy_from_slice(&top[j * p..(j + 1) * p]);
            r[j * m + p..(j + 1) * m].copy_from_slice(&bottom[j * k..(j + 1) * k]);
            r[j + j * m] += 1.0;
        }
        {
            let (frame, rest) = r.split_at_mut(p * m);
            // Nearest to the unit vectors of the complement: P = 1 − FF', its polar factor there.
            let units = &mut c[..k * m];
            units.fill(0.0);
            for j in 0..k {
                units[j * m + p + j] = 1.0;
            }
            let s = &mut a[..p * k];
            gram(frame, units, m, s);
            add_product(-1.0, frame, m, s, units);
            let mut tilt = f64::INFINITY;
            let scratch = [&mut *d, &mut *b, &mut *log, &mut *w];
            if orthogonal::polar(units, m, scratch).is_some() {
                // Short vectors have lost digits when normalised, so project off the frame again.
                for _ in 0..2 {
                    gram(frame, units, m, s);
                    tilt = Norm::LInf.of(s);
                    add_product(-1.0, frame, m, s, units);
                    polish(units, m, d, w);
                }
            }
            if !(tilt <= 1e-6) {
                // A column of the complement is in the frame, so use any completion.
                units.fill(0.0);
                for j in 0..k {
                    units[j * m + p + j] = 1.0;
                }
                let spare = &mut w[..k * m];
                spare.copy_from_slice(units);
                complement(frame, spare, m, units);
            }
            rest.copy_from_slice(units);
        }
        c[..m * m].copy_from_slice(r);
        if orientation(&mut c[..m * m], m) < 0.0 {
            r[(m - 1) * m..].iter_mut().for_each(|x| *x = -*x);
        }
        let mut residual = f64::INFINITY;
        let mut idle = 0;
        for turn in 0..TURNS {
            let d = &mut d[..m * m];
            d.copy_from_slice(r);
            d.iter_mut().step_by(m + 1).for_each(|x| *x -= 1.0);
            let angles =
                orthogonal::turned(d, m, log, [a, b, c]).ok_or_else(|| failed(residual, turn))?;
            if log.iter().any(|x| !x.is_finite()) {
                return Err(failed(residual, turn));
            }
            let inside = |i: usize, j: usize| log[p + i + (p + j) * m];
            let mut now = 0.0;
            for j in 0..k {
                for i in 0..k {
                    now += inside(i, j).square();
                }
            }
            let now: f64 = now.sqrt();
            if now < residual {
                (residual, idle) = (now, 0);
            } else {
                idle += 1;
            }
            if now <= 1e-15 || (idle >= 3 && residual <= 1e-12) {
                if angles.least <= frames::cut::<F>() {
                    // A plane is rotated by π, and the direction is only rounding error.
                    let distance = angles.size * std::f64::consts::FRAC_1_SQRT_2;
                    return Err(DomainError::CutLocus { distance, limit: std::f64::consts::PI });
                }
                let distance = self.assemble(x, q, log, v, m);
                return Ok(distance);
            }
            // SG + GS = C with S = BB'/12 − 1/2, in the eigenvectors of S.
            let s = &mut a[..k * k];
            for j in 0..k {
                for i in 0..k {
                    let product: f64 =
                        (0..p).map(|h| log[p + i + h * m] * log[p + j + h * m]).sum();
                    s[i + j * k] = product / 12.0 - if i == j { 0.5 } else { 0.0 };
                }
            }
            let (u, values) = (&mut b[..k * k], &mut c[..k]);
            eigen(s, k, values, u).ok_or_else(|| failed(residual, turn))?;
            let g = &mut d[..k * k];
            for j in 0..k {
                for i in 0..k {
                    let mut sum = 0.0;
                    for s in 0..k {
                        for t in 0..k {
                            sum += u[s + i * k] * inside(s, t) * u[t + j * k];
                        }
                    }
                    let both = values[i] + values[j];
                    // For far points S is singular; the plain rotation is safe.
                    g[i + j * k] = if both < -0.1 { sum / both } else { -sum };
                }
            }
            let half = &mut a[..k * k];
            half.fill(0.0);
            add_product(1.0, u, k, g, half);
            sandwich(half, |_| 1.0, u, k, g);
            skew(g, k);
            let e = &mut w[..k * k];
            orthogonal::turn(&d[..k * k], k, e, [a, b, c]).ok_or_else(|| failed(residual, turn))?;
            let tail = &mut r[p * m..];
            let before = &mut c[..k * m];
            before.copy_from_slice(tail);
            add_product(1.0, before, m, e, tail);
        }
        if residual <= 1e-9 {
            return Ok(self.assemble(x, q, log, v, m));
        }
        Err(failed(residual, TURNS))
    }

    /// v ← XA + QB of a logarithm; returns its length.
    fn assemble(&self, x: &[f64], q: &[f64], log: &[f64], v: &mut [f64], m: usize) -> f64 {
        let (n, p) = (self.n, self.p);
        v.fill(0.0);
        let (mut inner, mut outer) = (0.0, 0.0);
        for (v, log) in v.chunks_exact_mut(n).zip(log.chunks_exact(m)) {
            add_product(1.0, x, n, &log[..p], v);
            add_product(1.0, q, n, &log[p..], v);
            inner += log[..p].iter().map(|x| x * x).sum::<f64>();
            outer += log[p..].iter().map(|x| x * x).sum::<f64>();
        }
        (0.5 * inner + outer).sqrt()
    }

    /// Both points by columns and the logarithm, in N ≥ 11 matrices: x, v, the distance, and scratch that is free
    /// again.
    fn between<'a, F: Real, const N: usize>(
        &self,
        p: &[F],
        q: &[F],
        work: &'a mut Work<F>,
    ) -> Result<([&'a mut [f64]; N], f64), DomainError> {
        self.layout().sized("the point", p)?;
        self.layout().sized("the second point", q)?;
        let mut buffers = work.matrices().take::<N>(self.room());
        let mut parts = buffers.iter_mut();
        let [x, v, y, a, b, c, d, e, f, g, h] =
            std::array::from_fn(|_| parts.next().map_or(&mut [][..], |part| &mut **part));
        let len = self.layout().len();
        let (x, y, v) = (&mut x[..len], &mut y[..len], &mut v[..len]);
        columns(p, self.n, x);
        columns(q, self.n, y);
        let size = self.logarithm::<F>(x, y, v, [a, b, c, d, e, f, g, h])?;
        Ok((buffers, size))
    }
}

impl<F: Real> Manifold<F> for Stiefel {
    fn ambient(&self) -> usize {
        self.layout().len()
    }

    fn dim(&self) -> usize {
        self.n * self.p - self.p * (self.p + 1) / 2
    }

    fn check(&self, p: &[F]) -> Result<(), DomainError> {
        self.layout().sized("the point", p)?;
        let mut x = vec![0.0; p.len()];
        columns(p, self.n, &mut x);
        check_frame::<F>(&x, self.n)
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
        frames::nearest(self.layout(), p, work)
    }

    fn random(&self, normal: &mut dyn FnMut() -> f64, p: &mut [F], work: &mut Work<F>) {
        frames::random(self, normal, p, work);
    }

    fn inner(&self, p: &[F], u: &[F], v: &[F], work: &mut Work<F>) -> F {
        let at = self.layout();
        if [p, u, v].iter().any(|x| at.sized("", x).is_err()) {
            return F::NAN;
        }
        let [x, a, b, s, t] = work.matrices().take(at.len());
        columns(p, self.n, x);
        columns(u, self.n, a);
        columns(v, self.n, b);
        F::of(self.product(x, a, b, s, t))
    }

    fn norm(&self, p: &[F], v: &[F], work: &mut Work<F>) -> F {
        let at = self.layout();
        if [p, v].iter().any(|x| at.sized("", x).is_err()) {
            return F::NAN;
        }
        let size = Norm::LInf.of(v).f64();
        if size == 0.0 {
            return F::ZERO;
        }
        let [x, a, s, t] = work.matrices().take(at.len());
        columns(p, self.n, x);
        columns(v, self.n, a);
        // Scaled, so that squares neither overflow nor underflow.
        for a in a.iter_mut() {
            *a /= size;
        }
        F::of(size * Real::max(self.product(x, a, a, s, t), 0.0).sqrt())
    }

    fn gradient(&self, p: &[F], covector: &[F], v: &mut [F], work: &mut Work<F>) {
        let at = self.layout();
        if [p, covector].iter().any(|x| x.len() != at.len()) {
            return v.fill(F::NAN);
        }
        let [x, g, w, s] = work.matrices().take(at.len());
        columns(p, self.n, x);
        columns(covector, self.n, g);
        w.copy_from_slice(g);
        let s = &mut s[..self.p * self.p];
        gram(g, x, self.n, s);
        add_product(-1.0, x, self.n, s, w);
        orthogonal::flatten(x, self.n, w, s);
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

impl<F: Real> ExpLog<F> for Stiefel {
    fn curvature(&self) -> Curvature {
        match (self.n, self.p) {
            (2, 1) => Curvature::FLAT,
            (_, 1) => Curvature::constant(1.0),
            // Rotations of ℝ³, with half the metric of their entries.
            (3, 2) => Curvature::constant(0.25),
            (n, p) if n == p + 1 => Curvature { min: 0.0, max: 0.5 },
            _ => Curvature { min: 0.0, max: 1.25 },
        }
    }

    fn injectivity(&self, _: &[F]) -> F {
        if self.p == 1 || self.n == 3 { F::PI } else { F::PI * F::of(0.8).sqrt() }
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, work: &mut Work<F>) -> Result<Step<F>, DomainError> {
        let (n, cols, k) = (self.n, self.p, self.outside());
        let m = cols + k;
        self.layout().sized("the point", p)?;
        self.layout().sized("the tangent vector", v)?;
        let length = t.abs() * self.norm(p, v, work);
        let limit = orthogonal::LONGEST;
        let overflow = DomainError::Overflow { length: length.f64(), limit };
        if !(length.f64() <= limit) {
            return Err(overflow);
        }
        if length == F::ZERO {
            return Ok(Step::inside(length));
        }
        let len = self.layout().len();
        let [x, w, q, omega, e, a, b, c, s] = work.matrices().take(self.room());
        let (x, w, q) = (&mut x[..len], &mut w[..len], &mut q[..n * k]);
        columns(p, n, x);
        columns(v, n, w);
        for w in w.iter_mut() {
            *w *= t.f64();
        }
        let along = &mut s[..cols * cols];
        gram(x, w, n, along);
        let first = &mut c[..cols * cols];
        first.copy_from_slice(along);
        skew(first, cols);
        for _ in 0..2 {
            add_product(-1.0, x, n, along, w);
            gram(x, w, n, along);
        }
        let rest = &mut b[..len];
        rest.copy_from_slice(w);
        complement(x, rest, n, q);
        let below = &mut b[..k * cols];
        gram(q, w, n, below);
        let omega = &mut omega[..m * m];
        omega.fill(0.0);
        for j in 0..cols {
            for i in 0..cols {
                omega[i + j * m] = first[i + j * cols];
            }
            for i in 0..k {
                let entry = below[i + j * k];
                omega[cols + i + j * m] = entry;
                omega[j + (cols + i) * m] = -entry;
            }
        }
        let e = &mut e[..m * m];
        orthogonal::turn(omega, m, e, [a, b, c]).ok_or_else(|| overflow.clone())?;
        let y = &mut w[..];
        y.copy_from_slice(x);
        for (y, e) in y.chunks_exact_mut(n).zip(e.chunks_exact(m)) {
            add_product(1.0, x, n, &e[..cols], y);
            add_product(1.0, q, n, &e[cols..], y);
        }
        if !settle(y, n, a, b) {
            return Err(overflow);
        }
        rows(y, n, p);
        let limit = ExpLog::<F>::injectivity(self, p);
        let event = if length > limit { Event::PastInjectivity } else { Event::Inside };
        Ok(Step { length, event })
    }

    fn log(&self, p: &[F], q: &[F], v: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        let ([_, log, ..], _) = self.between::<F, 11>(p, q, work)?;
        rows(&log[..self.layout().len()], self.n, v);
        self.project(p, v);
        Ok(())
    }

    fn distance(&self, p: &[F], q: &[F], work: &mut Work<F>) -> F {
        match self.between::<F, 11>(p, q, work) {
            Ok((_, size)) => F::of(size),
            Err(DomainError::CutLocus { distance, .. }) => F::of(distance),
            Err(_) => F::NAN,
        }
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
        let (n, cols, k) = (self.n, self.p, self.outside());
        let (m, len) = (cols + k, self.layout().len());
        self.layout().sized("the tangent vector", v)?;
        let (buffers, _) = self.between::<F, 17>(p, q, work)?;
        let [x, w, basis, omega, s, moved, e, f, g, h, a, big_a, next, sum_a, big_w, next_w, sum_w] =
            buffers;
        let (x, w) = (&mut x[..len], &mut w[..len]);
        // The velocity as xa + w, the vector as XA + W.
        let (a, sum_a) = (&mut a[..cols * cols], &mut sum_a[..cols * cols]);
        let (mut big_a, mut next) = (&mut big_a[..cols * cols], &mut next[..cols * cols]);
        let sum_w = &mut sum_w[..len];
        let (mut big_w, mut next_w) = (&mut big_w[..len], &mut next_w[..len]);
        let split = |x: &[f64], v: &mut [f64], a: &mut [f64]| {
            gram(x, v, n, a);
            add_product(-1.0, x, n, a, v);
            skew(a, cols);
        };
        split(x, w, a);
        columns(v, n, big_w);
        split(x, big_w, big_a);
        sum_a.copy_from_slice(big_a);
        sum_w.copy_from_slice(big_w);
        let start = Norm::L2.of(big_a).max(Norm::L2.of(big_w));
        for term in 1..200 {
            let c = -0.5 / f64::from(term);
            next.fill(0.0);
            add_product(c, a, cols, big_a, next);
            add_product(-c, big_a, cols, a, next);
            let s = &mut s[..cols * cols];
            gram(w, big_w, n, s);
            // −w'W + W'w is −2 times the skew part of w'W.
            skew(s, cols);
            next.iter_mut().zip(&*s).for_each(|(next, s)| *next -= 2.0 * c * s);
            next_w.fill(0.0);
            add_product(c, w, n, big_a, next_w);
            add_product(-c, big_w, n, a, next_w);
            std::mem::swap(&mut next, &mut big_a);
            std::mem::swap(&mut next_w, &mut big_w);
            sum_a.iter_mut().zip(&*big_a).for_each(|(sum, x)| *sum += x);
            sum_w.iter_mut().zip(&*big_w).for_each(|(sum, x)| *sum += x);
            let size = Norm::L2.of(big_a).max(Norm::L2.of(big_w));
            if !(size > 1e-18 * start) {
                break;
            }
        }
        // [X Q] e^ξ [A; Q'W] + (W − QQ'W).
        let basis = &mut basis[..n * k];
        moved[..len].copy_from_slice(w);
        complement(x, &mut moved[..len], n, basis);
        let omega = &mut omega[..m * m];
        omega.fill(0.0);
        let below = &mut s[..k * cols];
        gram(basis, w, n, below);
        for j in 0..cols {
            for i in 0..cols {
                omega[i + j * m] = a[i + j * cols];
            }
            for i in 0..k {
                omega[cols + i + j * m] = below[i + j * k];
                omega[j + (cols + i) * m] = -below[i + j * k];
            }
        }
        let e = &mut e[..m * m];
        orthogonal::turn(omega, m, e, [f, g, h]).ok_or_else(|| frames::dependent(0.0))?;
        e.iter_mut().step_by(m + 1).for_each(|one| *one += 1.0);
        gram(basis, sum_w, n, below);
        let out = &mut moved[..len];
        out.copy_from_slice(sum_w);
        add_product(-1.0, basis, n, below, out);
        let image = &mut f[..m];
        let inside = &mut g[..m];
        for (j, out) in out.chunks_exact_mut(n).enumerate() {
            inside[..cols].copy_from_slice(&sum_a[j * cols..(j + 1) * cols]);
            inside[cols..].copy_from_slice(&below[j * k..(j + 1) * k]);
            image.fill(0.0);
            add_product(1.0, e, m, inside, image);
            add_product(1.0, x, n, &image[..cols], out);
            add_product(1.0, basis, n, &image[cols..], out);
        }
        rows(out, n, v);
        self.project(q, v);
        Ok(())
    }
}
