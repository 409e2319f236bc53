//! # Symmetric positive definite matrices
//! Affine-invariant metric, with $X = L L^\top$ (Cholesky) and functions of symmetric matrices taken on eigenvalues:
//! $$\langle U, V\rangle_X = \mathrm{tr}(X^{-1} U X^{-1} V), \qquad \mathrm{grad} = X\, \mathrm{sym}(G)\, X$$
//! $$\exp_X(V) = L\, e^{L^{-1} V L^{-\top}} L^\top, \qquad \log_X(Y) = L \ln(L^{-1} Y L^{-\top}) L^\top, \qquad
//!   d(X, Y) = \Vert \ln(L^{-1} Y L^{-\top})\Vert_F$$
//! $$\Gamma_{X \to Y}\, V = E V E^\top, \qquad E = (Y X^{-1})^{1/2} = L\, (L^{-1} Y L^{-\top})^{1/2} L^{-1}$$
//! **Cost** O(n³), everything in f64 (also for f32 matrices); [`Spd::step_rank_one`] O(n²). **Care** Results are
//! exactly symmetric. Far points: the eigenvalues of $L^{-1} Y L^{-\top}$ are the squared singular values of
//! $L^{-1} L_Y$, whose condition is only the square root. Near points: uses eigenvalues μ of $L^{-1}(Y - X)L^{-\top}$
//! and ln(1 + μ), so a distance of 1e-12 is precise (measured relative error 3e-16). The remaining error is the
//! condition of the data: rounding the entries of a matrix of condition κ can change its distances by εκ (4e-9
//! measured at κ = 1e8; see `docs/accuracy/spd.md`). Badly scaled rows alone are harmless. **Source** \[PFA06, sec.
//! 3\]; curvature in [−1/2, 0].

use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::linalg;
use crate::geometry::{Curvature, ExpLog, Manifold, Step, Work};
use crate::row::Norm;

/// n×n symmetric positive definite matrices, column-major.
///
/// ```
/// use geowalk::geometry::{ExpLog, Work, manifolds::Spd};
/// let spd = Spd::new(2)?;
/// let identity = [1.0, 0.0, 0.0, 1.0];
/// let d = spd.distance(&identity, &[1.0, 0.0, 0.0, 9.0], &mut Work::new());
/// assert!((d - 9.0_f64.ln()).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Spd {
    n: usize,
}

impl Spd {
    /// Matrices of n rows, 1 ≤ n ≤ 10000.
    pub fn new(n: usize) -> Result<Self, ConfigError> {
        error::parameter("n", n as f64, Allowed::Closed(1.0, 1e4))?;
        Ok(Self { n })
    }

    /// X ← X + (e^{−cs} − 1)/s · (Xx)(Xx)ᵀ with s = xᵀXx. This is the geodesic step exp_X(−c·X x xᵀ X) against the
    /// gradient of a loss of the prediction xᵀXx, with c = rate × slope. The prediction becomes s·e^{−cs}.
    ///
    /// O(n²), exactly symmetric. An error, with X unchanged, if cs is below −[`Real::MAX_EXPONENT`], or above −ln ε
    /// (36 in f64), where X would be numerically singular.
    ///
    /// ```
    /// use geowalk::geometry::{Work, manifolds::Spd};
    /// let mut x = [1.0, 0.0, 0.0, 1.0];
    /// Spd::new(2)?.step_rank_one(&mut x, &[2.0, 0.0], -0.25, &mut Work::new())?;
    /// assert!((x[0] - 1.0_f64.exp()).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn step_rank_one<F: Real>(
        &self,
        matrix: &mut [F],
        x: &[F],
        coefficient: F,
        work: &mut Work<F>,
    ) -> Result<Step<F>, DomainError> {
        let n = self.n;
        let [image] = work.take(n);
        image.fill(F::ZERO);
        for (column, &x) in matrix.chunks_exact(n).zip(x) {
            for (y, &a) in image.iter_mut().zip(column) {
                *y += a * x;
            }
        }
        let s: F = image.iter().zip(x).map(|(&y, &x)| y * x).sum();
        if s < F::ZERO {
            let smallest = s.f64() / x.iter().map(|x| x.f64() * x.f64()).sum::<f64>();
            return Err(DomainError::NotDefinite { smallest });
        }
        let exponent = -coefficient * s;
        let limit = if exponent < F::ZERO { -F::EPSILON.ln() } else { F::MAX_EXPONENT };
        if exponent.abs() > limit || exponent.is_nan() {
            return Err(DomainError::Overflow { length: exponent.abs().f64(), limit: limit.f64() });
        }
        // At s = 0 both x and the step are 0.
        if s > F::ZERO {
            let factor = exponent.exp_m1() / s;
            for (column, &b) in matrix.chunks_exact_mut(n).zip(image.iter()) {
                for (entry, &a) in column.iter_mut().zip(image.iter()) {
                    *entry += factor * (a * b);
                }
            }
        }
        Ok(Step::inside(exponent.abs()))
    }
}

/// out ← the entries as f64; NaN for missing ones.
pub(super) fn widen<F: Real>(a: &[F], out: &mut [f64]) {
    out.fill(f64::NAN);
    for (out, a) in out.iter_mut().zip(a) {
        *out = a.f64();
    }
}

pub(super) fn narrow<F: Real>(a: &[f64], out: &mut [F]) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out = F::of(a);
    }
}

/// The error for a matrix without a Cholesky factor.
pub(super) fn not_definite<F: Real>(matrix: &[F], n: usize) -> DomainError {
    let smallest = linalg::smallest_eigenvalue(matrix, n).unwrap_or(f64::NAN);
    DomainError::NotDefinite { smallest }
}

/// Checks for n×n finite numbers before scratch memory of that size is allocated. (Cholesky reads only the lower
/// triangle, and would not detect a NaN above it.)
pub(super) fn entries<F: Real>(matrix: &[F], n: usize) -> Result<(), DomainError> {
    error::finite("the matrix", matrix, n * n)
}

/// The relation of a matrix Y to X.
struct Relative<'a> {
    /// The Cholesky factor of X.
    l: &'a mut [f64],
    /// Eigenvectors of L⁻¹YL⁻ᵀ.
    vectors: &'a mut [f64],
    /// Logarithms of its eigenvalues.
    logs: &'a mut [f64],
    /// Three matrices of scratch.
    scratch: [&'a mut [f64]; 3],
}

/// Compares two matrices.
fn relative<'a, F: Real>(
    n: usize,
    x: &[F],
    y: &[F],
    work: &'a mut Work<F>,
) -> Result<Relative<'a>, DomainError> {
    entries(x, n)?;
    entries(y, n)?;
    let [l, vectors, logs, a, b, c] = work.matrices().take(n * n);
    let logs = &mut logs[..n];
    widen(x, l);
    linalg::cholesky_in_place(l, n).ok_or_else(|| not_definite(x, n))?;
    widen(y, a);
    for (difference, x) in a.iter_mut().zip(x) {
        *difference -= x.f64();
    }
    linalg::whiten(l, n, a);
    if Norm::L2.of(a) < 0.5 {
        linalg::eigen(a, n, logs, vectors).ok_or_else(|| not_definite(y, n))?;
        for mu in logs.iter_mut() {
            *mu = Real::ln_1p(*mu);
        }
    } else {
        widen(y, a);
        linalg::cholesky_in_place(a, n).ok_or_else(|| not_definite(y, n))?;
        linalg::solve_lower(l, n, a);
        linalg::singular(a, n, logs, vectors).ok_or_else(|| not_definite(y, n))?;
        for sigma in logs.iter_mut() {
            *sigma = 2.0 * Real::ln(*sigma);
        }
        if logs.iter().any(|x| !x.is_finite()) {
            return Err(not_definite(y, n));
        }
    }
    Ok(Relative { l, vectors, logs, scratch: [a, b, c] })
}

/// Finds the first entry of the lower triangle that differs from its mirror image by more than `tolerance(i, j)`.
fn asymmetry<F: Real>(
    a: &[F],
    n: usize,
    tolerance: impl Fn(usize, usize) -> F,
) -> Result<(), DomainError> {
    for column in 0..n {
        for row in column + 1..n {
            let difference = a[row + column * n] - a[column + row * n];
            if difference.abs() > tolerance(row, column) {
                return Err(DomainError::NotSymmetric {
                    row,
                    column,
                    difference: difference.f64(),
                });
            }
        }
    }
    Ok(())
}

impl<F: Real> Manifold<F> for Spd {
    /// Raises eigenvalues below the rounding of the largest.
    fn nearest(&self, p: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        let n = self.n;
        entries(p, n)?;
        let [a, vectors, values] = work.matrices().take(n * n);
        widen(p, a);
        linalg::symmetrize(a, n);
        narrow(a, p);
        linalg::eigen(a, n, values, vectors).ok_or_else(|| not_definite(p, n))?;
        let floor = n as f64 * F::TOLERANCE.f64() * values[n - 1];
        if floor.is_nan() || floor <= 0.0 {
            return Err(DomainError::NotDefinite { smallest: values[0] });
        }
        if values[0] < floor {
            linalg::sandwich(vectors, |k| Real::max(values[k], floor), vectors, n, a);
            linalg::symmetrize(a, n);
            narrow(a, p);
        }
        Ok(())
    }

    fn ambient(&self) -> usize {
        self.n * self.n
    }

    fn dim(&self) -> usize {
        self.n * (self.n + 1) / 2
    }

    fn check(&self, p: &[F]) -> Result<(), DomainError> {
        let n = self.n;
        error::finite("the matrix", p, n * n)?;
        // The size of entry (i, j) of a definite matrix is at most this root.
        let size = |i: usize| p[i + i * n].abs().sqrt();
        asymmetry(p, n, |i, j| F::TOLERANCE * size(i) * size(j))?;
        let entries: Vec<f64> = p.iter().map(|x| x.f64()).collect();
        match linalg::cholesky(&entries, n) {
            Some(_) => Ok(()),
            None => Err(not_definite(p, n)),
        }
    }

    fn check_tangent(&self, _: &[F], v: &[F]) -> Result<(), DomainError> {
        error::finite("the tangent matrix", v, self.n * self.n)?;
        let largest = Norm::LInf.of(v);
        asymmetry(v, self.n, |_, _| F::TOLERANCE * largest)
    }

    fn origin(&self, p: &mut [F]) {
        p.fill(F::ZERO);
        for one in p.iter_mut().step_by(self.n + 1) {
            *one = F::ONE;
        }
    }

    fn project(&self, _: &[F], v: &mut [F]) {
        if v.len() == self.n * self.n {
            linalg::symmetrize(v, self.n);
        }
    }

    fn inner(&self, p: &[F], u: &[F], v: &[F], work: &mut Work<F>) -> F {
        let n = self.n;
        if [p, u, v].iter().any(|a| entries(a, n).is_err()) {
            return F::NAN;
        }
        let [l, a, b] = work.matrices().take(n * n);
        widen(p, l);
        if linalg::cholesky_in_place(l, n).is_none() {
            return F::NAN;
        }
        widen(u, a);
        linalg::whiten(l, n, a);
        widen(v, b);
        linalg::whiten(l, n, b);
        F::of(a.iter().zip(&*b).map(|(a, b)| a * b).sum())
    }

    fn norm(&self, p: &[F], v: &[F], work: &mut Work<F>) -> F {
        let n = self.n;
        if [p, v].iter().any(|a| entries(a, n).is_err()) {
            return F::NAN;
        }
        let [l, a] = work.matrices().take(n * n);
        widen(p, l);
        if linalg::cholesky_in_place(l, n).is_none() {
            return F::NAN;
        }
        widen(v, a);
        linalg::whiten(l, n, a);
        F::of(Norm::L2.of(a))
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
        linalg::sandwich(x, |_| 1.0, g, n, a);
        linalg::sandwich(x, |_| 1.0, a, n, g);
        linalg::symmetrize(g, n);
        narrow(g, v);
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

impl<F: Real> ExpLog<F> for Spd {
    fn curvature(&self) -> Curvature {
        if self.n == 1 { Curvature::FLAT } else { Curvature { min: -0.5, max: 0.0 } }
    }

    fn injectivity(&self, _: &[F]) -> F {
        F::INFINITY
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, work: &mut Work<F>) -> Result<Step<F>, DomainError> {
        let n = self.n;
        entries(p, n)?;
        entries(v, n)?;
        let [l, s, vectors, values] = work.matrices().take(n * n);
        let values = &mut values[..n];
        widen(p, l);
        linalg::cholesky_in_place(l, n).ok_or_else(|| not_definite(p, n))?;
        widen(v, s);
        linalg::whiten(l, n, s);
        for s in s.iter_mut() {
            *s *= t.f64();
        }
        let limit = F::MAX_EXPONENT.f64();
        let overflow = |length| DomainError::Overflow { length, limit };
        let size = Norm::L2.of(s);
        linalg::eigen(s, n, values, vectors).ok_or_else(|| overflow(size))?;
        let length = Norm::L2.of(values);
        let largest = Norm::LInf.of(values);
        if largest > limit {
            return Err(overflow(length));
        }
        linalg::lower_times(l, n, vectors);
        if largest < 0.5 {
            // X + L(e^S − 1)Lᵀ: a short step changes X only by its rounding error, and a zero step not at all.
            linalg::sandwich(vectors, |k| Real::exp_m1(values[k]), vectors, n, s);
            for (s, p) in s.iter_mut().zip(p.iter()) {
                *s += p.f64();
            }
        } else {
            linalg::sandwich(vectors, |k| Real::exp(values[k]), vectors, n, s);
        }
        linalg::symmetrize(s, n);
        for (s, l) in s.iter_mut().zip(l.iter_mut()) {
            *s = F::of(*s).f64();
            *l = *s;
        }
        if s.iter().any(|s| !s.is_finite()) {
            return Err(overflow(length));
        }
        // Rounding may make the end indefinite, so check it.
        linalg::cholesky_in_place(l, n).ok_or_else(|| not_definite(s, n))?;
        narrow(s, p);
        Ok(Step::inside(F::of(length)))
    }

    fn log(&self, p: &[F], q: &[F], v: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        let n = self.n;
        let Relative { l, vectors, logs, scratch: [a, ..] } = relative(n, p, q, work)?;
        linalg::lower_times(l, n, vectors);
        linalg::sandwich(vectors, |k| logs[k], vectors, n, a);
        linalg::symmetrize(a, n);
        narrow(a, v);
        Ok(())
    }

    fn distance(&self, p: &[F], q: &[F], work: &mut Work<F>) -> F {
        relative(self.n, p, q, work).map_or(F::NAN, |r| F::of(Norm::L2.of(r.logs)))
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
        let Relative { l, vectors, logs, scratch: [a, b, c] } = relative(n, p, q, work)?;
        // b = L(L⁻¹YL⁻ᵀ)^{1/2}, so that E V Eᵀ = b (L⁻¹VL⁻ᵀ) bᵀ.
        a.copy_from_slice(vectors);
        linalg::lower_times(l, n, a);
        linalg::sandwich(a, |k| Real::exp(0.5 * logs[k]), vectors, n, b);
        widen(v, c);
        linalg::whiten(l, n, c);
        linalg::sandwich(b, |_| 1.0, c, n, a);
        linalg::sandwich(a, |_| 1.0, b, n, c);
        linalg::symmetrize(c, n);
        narrow(c, v);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::hyperboloid::tests::{laws, never_panics, random};
    use super::*;

    const Y: [f64; 9] = [2.0, 0.5, -0.25, 0.5, 3.0, 1.0, -0.25, 1.0, 1.5];
    /// Eigenvalues 1e-6, 1, 1e6 in a rotated basis.
    const ROTATED: [f64; 9] = [
        444_444.888_888_999_94,
        -444_444.222_221_999_95,
        222_221.777_778,
        -444_444.222_221_999_95,
        444_444.555_556,
        -222_222.444_443_999_96,
        222_221.777_778,
        -222_222.444_443_999_96,
        111_111.555_555_999_99,
    ];
    /// D Y D with D = diag(1e-3, 1, 1e3): equally ill-conditioned, but harmless.
    const SCALED: [f64; 9] = [2e-6, 0.5e-3, -0.25, 0.5e-3, 3.0, 1e3, -0.25, 1e3, 1.5e6];

    fn identity(n: usize) -> Vec<f64> {
        let mut p = vec![7.0; n * n];
        Spd { n }.origin(&mut p);
        p
    }

    fn symmetric(n: usize, random: &mut impl FnMut() -> f64) -> Vec<f64> {
        let mut a: Vec<f64> = (0..n * n).map(|_| random()).collect();
        linalg::symmetrize(&mut a, n);
        a
    }

    fn is_symmetric(a: &[f64], n: usize) -> bool {
        (0..n).all(|j| (0..n).all(|i| a[i + j * n] == a[j + i * n]))
    }

    #[test]
    fn laws_hold() {
        let mut random = random(4);
        let work = &mut Work::new();
        for n in [1, 2, 3, 6] {
            let m = Spd::new(n).unwrap();
            for spread in [0.0, 1.0, 3.0] {
                for length in [1e-12, 1e-3, 0.4, 5.0] {
                    let mut p = identity(n);
                    m.exp(&mut p, &symmetric(n, &mut random), spread, work).unwrap();
                    let u = symmetric(n, &mut random);
                    let mut v = symmetric(n, &mut random);
                    let norm = m.norm(&p, &v, work);
                    for v in &mut v {
                        *v *= length / norm;
                    }
                    let condition = Real::exp(4.0 * spread + 2.0 * length);
                    laws(&m, &p, &u, &v, 1e-14 * condition * (1.0 + 1.0 / length));
                    let mut q = p.clone();
                    m.exp(&mut q, &v, 1.0, work).unwrap();
                    assert!(is_symmetric(&q, n));
                    m.log(&p, &q, &mut v, work).unwrap();
                    assert!(is_symmetric(&v, n));
                }
            }
        }
    }

    #[test]
    fn distances_agree_with_high_precision() {
        // From mpmath with 60 digits; the entries are exact.
        let z: Vec<f64> = {
            let h = 2.0 * 4.547_473_508_864_641e-13;
            let mut z = Y.to_vec();
            z[0] += h;
            z[1] -= 0.5 * h;
            z[3] -= 0.5 * h;
            z
        };
        let m = Spd::new(3).unwrap();
        let one = identity(3);
        for (x, y, d, tolerance) in [
            (&one[..], &Y[..], 1.487_286_149_553_884_8, 1e-15),
            (&Y, &z, 7.333_357_586_280_457e-13, 1e-14),
            (&one, &SCALED, 19.452_603_127_525_62, 1e-11),
            (&SCALED, &Y, 19.861_369_571_828_104, 1e-11),
            (&one, &ROTATED, 19.538_063_298_512_016, 1e-5),
            (&ROTATED, &Y, 20.357_664_478_731_63, 1e-5),
            (&SCALED, &ROTATED, 37.830_256_573_036_516, 1e-5),
        ] {
            for found in [m.distance(x, y, &mut Work::new()), m.distance(y, x, &mut Work::new())] {
                assert!((found / d - 1.0).abs() < tolerance, "{found} {d}");
            }
        }
    }

    #[test]
    fn single_precision_is_widened() {
        let m = Spd::new(3).unwrap();
        let y = Y.map(f32::of);
        let mut p = [1.0_f32, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let d = m.distance(&p, &y, &mut Work::new());
        assert_eq!(d, 1.487_286_1);
        let mut v = [0.0; 9];
        m.log(&p, &y, &mut v, &mut Work::new()).unwrap();
        m.exp(&mut p, &v, 1.0, &mut Work::new()).unwrap();
        assert!(m.distance(&p, &y, &mut Work::new()) < 1e-6);
    }

    #[test]
    fn condition_of_1e12_survives_a_walk() {
        let m = Spd::new(3).unwrap();
        let work = &mut Work::new();
        for x in [ROTATED, SCALED] {
            m.check(&x).unwrap();
            let (mut v, mut p) = (vec![0.0; 9], x);
            m.log(&x, &Y, &mut v, work).unwrap();
            m.exp(&mut p, &v, 1.0, work).unwrap();
            assert!(m.distance(&p, &Y, work) < 1e-3);
        }
    }

    #[test]
    fn rank_one_step_is_the_gradient_step() {
        let mut random = random(5);
        let work = &mut Work::new();
        for n in [1, 2, 5] {
            let m = Spd::new(n).unwrap();
            let mut matrix = identity(n);
            m.exp(&mut matrix, &symmetric(n, &mut random), 1.0, work).unwrap();
            for coefficient in [-0.7, 1e-9, 0.3, 2.0] {
                let x: Vec<f64> = (0..n).map(|_| random()).collect();
                let outer: Vec<f64> = x.iter().flat_map(|a| x.iter().map(move |b| a * b)).collect();
                let mut v = vec![0.0; n * n];
                m.gradient(&matrix, &outer, &mut v, work);
                let mut expected = matrix.clone();
                let walk = m.exp(&mut expected, &v, -coefficient, work).unwrap();
                let step = m.step_rank_one(&mut matrix, &x, coefficient, work).unwrap();
                assert!((step.length - walk.length).abs() <= 1e-13 * walk.length);
                let size = Norm::LInf.of(&expected);
                assert!(matrix.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-13 * size));
                assert!(is_symmetric(&matrix, n));
                m.check(&matrix).unwrap();
            }
        }
        let m = Spd::new(2).unwrap();
        let one = [1.0, 0.0, 0.0, 1.0];
        for (x, c) in [([1.0, 0.0], 40.0), ([1.0, 0.0], -710.0), ([f64::NAN, 0.0], 1.0)] {
            let mut matrix = one;
            assert!(m.step_rank_one(&mut matrix, &x, c, work).is_err());
            assert_eq!(matrix, one);
        }
        let mut matrix = [1.0, 0.0, 0.0, -1.0];
        let error = m.step_rank_one(&mut matrix, &[0.0, 2.0], 1.0, work).unwrap_err();
        assert_eq!(error, DomainError::NotDefinite { smallest: -1.0 });
        let mut matrix = one;
        m.step_rank_one(&mut matrix, &[0.0, 0.0], 5.0, work).unwrap();
        assert_eq!(matrix, one);
        assert!(m.step_rank_one(&mut [1.0], &[], 1.0, work).is_ok());
    }

    #[test]
    fn errors_carry_the_numbers() {
        let m = Spd::new(2).unwrap();
        let work = &mut Work::new();
        assert_eq!(
            m.check(&[1.0, 0.5, 0.25, 1.0]).unwrap_err(),
            DomainError::NotSymmetric { row: 1, column: 0, difference: 0.25 }
        );
        match m.check(&[1.0, 2.0, 2.0, 1.0]).unwrap_err() {
            DomainError::NotDefinite { smallest } => assert!((smallest + 1.0).abs() < 1e-15),
            other => panic!("{other}"),
        }
        assert!(m.check(&[1.0, 0.0, 0.0, 0.0]).is_err());
        assert!(m.check_tangent(&[], &[0.0, 1.0, -1.0, 0.0]).is_err());
        let mut p = [1.0, 0.0, 0.0, 1.0];
        let error = m.exp(&mut p, &[0.0, 0.0, 0.0, 800.0], 1.0, work).unwrap_err();
        assert_eq!(error, DomainError::Overflow { length: 800.0, limit: 700.0 });
        assert_eq!(p, [1.0, 0.0, 0.0, 1.0]);
        // e^±20 in a rotated basis needs more than 53 bits.
        let error = m.exp(&mut p, &[0.0, 20.0, 20.0, 0.0], 1.0, work).unwrap_err();
        assert!(matches!(error, DomainError::NotDefinite { .. }));
        assert_eq!(p, [1.0, 0.0, 0.0, 1.0]);
        assert!(m.exp(&mut p, &[0.0, 0.0, 0.0, f64::NAN], 1.0, work).is_err());
        assert!(m.distance(&p, &[1.0, 2.0, 2.0, 1.0], work).is_nan());
        assert!(m.log(&p, &[1.0, f64::NAN, 0.0, 1.0], &mut [0.0; 4], work).is_err());
        never_panics::<f64, _>(&m);
        never_panics::<f32, _>(&m);
        assert!(Spd::new(0).is_err() && Spd::new(20_000).is_err());
    }
}
