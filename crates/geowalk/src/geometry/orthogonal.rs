//! # Orthonormal frames and rotations
//! Matrices of n rows, column-major in `f64`, as in [`linalg`]. Operations shared by the manifolds of frames:
//! products, the nearest frame, an orthonormal complement, exponential and logarithm of rotations.
//!
//! **Rotations** With $S = \Omega^\top\Omega$ for a skew Ω, $e^\Omega = \cos\sqrt S + \Omega\,\mathrm{sinc}\sqrt S$,
//! and for a rotation R with skew part K, $\ln R = K f(\theta)$, $f = \theta/\sin\theta$. The eigenvectors u are those
//! of $R + R^\top$, and θ follows from |Ru − u| and |Ru + u|, which are exact near 0 and near π.
//! **Cost** O(n³). **Source** \[EAS98\]; the formulas follow from the eigenvalues of a skew matrix.

use super::linalg::{self, eigen, sandwich};
use crate::Real;
use crate::error::DomainError;

/// out ← AᵀB.
pub(super) fn gram(a: &[f64], b: &[f64], n: usize, out: &mut [f64]) {
    let rows = a.len() / n;
    for (out, b) in out.chunks_exact_mut(rows).zip(b.chunks_exact(n)) {
        for (out, a) in out.iter_mut().zip(a.chunks_exact(n)) {
            *out = a.iter().zip(b).map(|(a, b)| a * b).sum();
        }
    }
}

/// out ← out + c·A S.
pub(super) fn add_product(c: f64, a: &[f64], n: usize, s: &[f64], out: &mut [f64]) {
    let columns = a.len() / n;
    for (out, s) in out.chunks_exact_mut(n).zip(s.chunks_exact(columns)) {
        for (a, s) in a.chunks_exact(n).zip(s) {
            let factor = c * s;
            for (out, a) in out.iter_mut().zip(a) {
                *out += factor * a;
            }
        }
    }
}

/// a ← (A − Aᵀ)/2.
pub(super) fn skew(a: &mut [f64], n: usize) {
    for j in 0..n {
        a[j + j * n] = 0.0;
        for i in 0..j {
            let half = 0.5 * (a[i + j * n] - a[j + i * n]);
            a[i + j * n] = half;
            a[j + i * n] = -half;
        }
    }
}

/// Copies the rows of `from`, stored one after another, into the columns of `to`.
pub(super) fn columns<F: Real>(from: &[F], n: usize, to: &mut [f64]) {
    let p = to.len() / n;
    to.fill(f64::NAN);
    for (i, row) in from.chunks_exact(p).enumerate().take(n) {
        for (j, x) in row.iter().enumerate() {
            to[i + j * n] = x.f64();
        }
    }
}

/// The inverse of [`columns`].
pub(super) fn rows<F: Real>(from: &[f64], n: usize, to: &mut [F]) {
    let p = from.len() / n;
    for (i, row) in to.chunks_exact_mut(p).enumerate().take(n) {
        for (j, x) in row.iter_mut().enumerate() {
            *x = F::of(from[i + j * n]);
        }
    }
}

/// The largest |XᵀX − 1|, and its position.
pub(super) fn defect(x: &[f64], n: usize) -> (f64, usize, usize) {
    let mut worst = (0.0, 0, 0);
    for (j, b) in x.chunks_exact(n).enumerate() {
        for (i, a) in x.chunks_exact(n).enumerate().take(j + 1) {
            let product: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            let off = (product - f64::from(i == j)).abs();
            if off > worst.0 || off.is_nan() {
                worst = (off, i, j);
            }
        }
    }
    worst
}

/// Returns an error if the columns are not orthonormal.
pub(super) fn check_frame<F: Real>(x: &[f64], n: usize) -> Result<(), DomainError> {
    let (found, i, j) = defect(x, n);
    let tolerance = F::TOLERANCE.f64();
    if found <= tolerance {
        return Ok(());
    }
    let quantity = if i == j {
        "the squared norm of a column less 1"
    } else {
        "the inner product of two columns"
    };
    Err(DomainError::Constraint { quantity, found, expected: 0.0, tolerance })
}

/// X ← X(3 − XᵀX)/2: removes rounding errors from a frame. `gap` has room for XᵀX, `copy` for X.
pub(super) fn polish(x: &mut [f64], n: usize, gap: &mut [f64], copy: &mut [f64]) {
    let p = x.len() / n;
    let (gap, copy) = (&mut gap[..p * p], &mut copy[..p * n]);
    copy.copy_from_slice(x);
    gram(copy, copy, n, gap);
    for one in gap.iter_mut().step_by(p + 1) {
        *one -= 1.0;
    }
    add_product(-0.5, copy, n, gap, x);
}

/// Repeats [`polish`] until X is a frame. `false` if X is too far from one: the rotation was so long that its rounding
/// error is not small compared with a rotation of 1.
pub(super) fn settle(x: &mut [f64], n: usize, gap: &mut [f64], copy: &mut [f64]) -> bool {
    let p = x.len() / n;
    loop {
        let off = defect(x, n).0;
        // Singular values between 0.7 and 1.3 converge to 1 quadratically.
        if off.is_nan() || off * p as f64 > 0.5 {
            return false;
        }
        polish(x, n, gap, copy);
        if off < 1e-7 {
            return true;
        }
    }
}

/// X ← the nearest frame, its polar factor. `None` if the columns are linearly dependent. Scratch: three matrices with
/// room for XᵀX, one with room for X.
pub(super) fn polar(x: &mut [f64], n: usize, scratch: [&mut [f64]; 4]) -> Option<()> {
    let p = x.len() / n;
    let [s, u, values, copy] = scratch;
    let (s, u, values) = (&mut s[..p * p], &mut u[..p * p], &mut values[..p]);
    let copy = &mut copy[..p * n];
    copy.copy_from_slice(x);
    gram(x, x, n, s);
    eigen(s, p, values, u)?;
    if values[0] <= 1e-13 * values[p - 1] || values[p - 1] == 0.0 {
        return None;
    }
    sandwich(u, |k| values[k].sqrt().recip(), u, p, s);
    x.fill(0.0);
    add_product(1.0, copy, n, s, x);
    for _ in 0..4 {
        polish(x, n, s, copy);
    }
    Some(())
}

/// q ← orthonormal columns, orthogonal to the frame X, that span the part of the columns of W outside X. Overwrites W.
/// q has min(p, n − p) columns; those not needed for W are orthogonalised unit vectors.
pub(super) fn complement(x: &[f64], w: &mut [f64], n: usize, q: &mut [f64]) {
    fn remove(from: &mut [f64], by: &[f64]) {
        let along: f64 = from.iter().zip(by).map(|(a, b)| a * b).sum();
        for (a, b) in from.iter_mut().zip(by) {
            *a -= along * b;
        }
    }
    let size = |a: &[f64]| crate::row::Norm::L2.of(a);
    let whole = w.chunks_exact(n).map(size).fold(0.0, Real::max);
    let count = q.len() / n;
    for done in 0..count {
        let (before, rest) = q.split_at_mut(done * n);
        let column = &mut rest[..n];
        let mut widest = (0.0, 0);
        for (j, w) in w.chunks_exact(n).enumerate() {
            let size = size(w);
            if size > widest.0 {
                widest = (size, j);
            }
        }
        if widest.0 > 4.0 * f64::EPSILON * whole {
            column.copy_from_slice(&w[widest.1 * n..(widest.1 + 1) * n]);
            let scale = size(column);
            for x in column.iter_mut() {
                *x /= scale;
            }
        } else {
            // The unit vector with the largest part outside all columns so far.
            let outside = |i: usize| {
                let part = |m: &[f64]| -> f64 { m.chunks_exact(n).map(|c| c[i] * c[i]).sum() };
                1.0 - part(x) - part(before)
            };
            let mut most = (f64::NEG_INFINITY, 0);
            for i in 0..n {
                let outside = outside(i);
                if outside > most.0 {
                    most = (outside, i);
                }
            }
            column.fill(0.0);
            column[most.1] = 1.0;
        }
        for _ in 0..3 {
            x.chunks_exact(n).chain(before.chunks_exact(n)).for_each(|by| remove(column, by));
            let scale = size(column);
            for x in column.iter_mut() {
                *x /= scale;
            }
        }
        for w in w.chunks_exact_mut(n) {
            remove(w, column);
            remove(w, column);
        }
    }
}

/// Longer rotations are errors: rounding leaves their angles no correct digits.
pub(super) const LONGEST: f64 = 1e15;

/// out ← e^Ω − 1 for a skew Ω of m rows. Needs three scratch matrices.
pub(super) fn turn(
    omega: &[f64],
    m: usize,
    out: &mut [f64],
    scratch: [&mut [f64]; 3],
) -> Option<()> {
    let [s, u, values] = scratch;
    let (s, u, values) = (&mut s[..m * m], &mut u[..m * m], &mut values[..m]);
    gram(omega, omega, m, s);
    eigen(s, m, values, u)?;
    for (value, u) in values.iter_mut().zip(u.chunks_exact(m)) {
        // The root of an eigenvalue would lose small angles next to large ones.
        let image = &mut out[..m];
        image.fill(0.0);
        add_product(1.0, omega, m, u, image);
        *value = crate::row::Norm::L2.of(image);
    }
    sandwich(u, |k| -2.0 * Real::sin(0.5 * values[k]).square(), u, m, out);
    sandwich(u, |k| values[k].sinc(), u, m, s);
    add_product(1.0, omega, m, s, out);
    Some(())
}

/// The norm of a logarithm, and a measure of its distance from the cut locus.
pub(super) struct Angles {
    /// The root of the sum of the squares of all angles: ‖ln R‖_F.
    pub(super) size: f64,
    /// The smallest 2 cos(θ/2): 0 if a plane is rotated by π.
    pub(super) least: f64,
}

/// out ← ln(1 + D) for a rotation 1 + D. Overwrites D. `None` if a number is not finite. If an angle is π, `out` is
/// meaningless.
pub(super) fn turned(
    d: &mut [f64],
    m: usize,
    out: &mut [f64],
    scratch: [&mut [f64]; 3],
) -> Option<Angles> {
    let [s, u, values] = scratch;
    let (s, u, values) = (&mut s[..m * m], &mut u[..m * m], &mut values[..m]);
    // D + Dᵀ, whose eigenvectors are those of R + 1; an eigenvalue is −σ².
    for j in 0..m {
        for i in 0..m {
            s[i + j * m] = d[i + j * m] + d[j + i * m];
        }
    }
    eigen(s, m, values, u)?;
    let (mut square, mut least) = (0.0, f64::INFINITY);
    for (value, u) in values.iter_mut().zip(u.chunks_exact(m)) {
        let image = &mut s[..m];
        image.fill(0.0);
        add_product(1.0, d, m, u, image);
        let sigma = crate::row::Norm::L2.of(image);
        image.iter_mut().zip(u).for_each(|(image, u)| *image += 2.0 * u);
        let tau = crate::row::Norm::L2.of(image);
        let theta = 2.0 * Real::atan2(sigma, tau);
        square += theta * theta;
        least = Real::min(least, tau);
        *value = if tau == 0.0 {
            0.0
        } else if theta < 1e-3 {
            1.0 + theta * theta / 6.0 * (1.0 + theta * theta * (7.0 / 60.0))
        } else {
            2.0 * theta / (sigma * tau)
        };
    }
    skew(d, m);
    sandwich(u, |k| values[k], u, m, s);
    out.fill(0.0);
    add_product(1.0, d, m, s, out);
    skew(out, m);
    Some(Angles { size: square.sqrt(), least })
}

/// The sign of a determinant, by elimination. Overwrites `a`.
pub(super) fn orientation(a: &mut [f64], n: usize) -> f64 {
    let mut sign = 1.0;
    for j in 0..n {
        let mut pivot = j;
        for i in j + 1..n {
            if a[i + j * n].abs() > a[pivot + j * n].abs() {
                pivot = i;
            }
        }
        if a[pivot + j * n] == 0.0 {
            return 0.0;
        }
        if pivot != j {
            sign = -sign;
            for k in 0..n {
                a.swap(pivot + k * n, j + k * n);
            }
        }
        if a[j + j * n] < 0.0 {
            sign = -sign;
        }
        for i in j + 1..n {
            let factor = a[i + j * n] / a[j + j * n];
            for k in j..n {
                a[i + k * n] -= factor * a[j + k * n];
            }
        }
    }
    sign
}

/// v ← v − X sym(XᵀV), row by row without scratch memory. The columns are orthonormal, so the pairs can be subtracted
/// one after another.
pub(super) fn flatten_rows<F: Real>(x: &[F], p: usize, v: &mut [F]) {
    let along = |i: usize, j: usize, v: &[F]| -> f64 {
        x.chunks_exact(p).zip(v.chunks_exact(p)).map(|(x, v)| x[i].f64() * v[j].f64()).sum()
    };
    for _ in 0..2 {
        for j in 0..p {
            for i in 0..=j {
                let half = 0.5 * (along(i, j, v) + along(j, i, v));
                for (x, v) in x.chunks_exact(p).zip(v.chunks_exact_mut(p)) {
                    v[j] = F::of(v[j].f64() - half * x[i].f64());
                    if i != j {
                        v[i] = F::of(v[i].f64() - half * x[j].f64());
                    }
                }
            }
        }
    }
}

/// v ← v − X XᵀV, row by row without scratch memory.
pub(super) fn outside_rows<F: Real>(x: &[F], p: usize, v: &mut [F]) {
    for _ in 0..2 {
        for j in 0..p {
            for i in 0..p {
                let rows = x.chunks_exact(p).zip(v.chunks_exact(p));
                let along: f64 = rows.map(|(x, v)| x[i].f64() * v[j].f64()).sum();
                for (x, v) in x.chunks_exact(p).zip(v.chunks_exact_mut(p)) {
                    v[j] = F::of(v[j].f64() - along * x[i].f64());
                }
            }
        }
    }
}

/// v ← v − X sym(XᵀV), applied twice: the projection onto the tangent space of the frames at X.
pub(super) fn flatten(x: &[f64], n: usize, v: &mut [f64], s: &mut [f64]) {
    let p = x.len() / n;
    let s = &mut s[..p * p];
    for _ in 0..2 {
        gram(x, v, n, s);
        linalg::symmetrize(s, p);
        add_product(-1.0, x, n, s, v);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::linalg::singular;
    use crate::laws::Sampler;

    #[test]
    fn logarithms_invert_exponentials() {
        let sampler = &mut Sampler::new(3);
        for m in [2, 3, 4, 5, 8] {
            for size in [1e-9, 0.1, 2.0, 3.1] {
                let mut omega = sampler.vector::<f64>(m * m);
                skew(&mut omega, m);
                let [mut e, mut back, mut a, mut b, mut c] =
                    std::array::from_fn(|_| vec![0.0; m * m]);
                turn(&omega, m, &mut e, [&mut a, &mut b, &mut c]).unwrap();
                // Scaled so that the largest angle is `size`.
                let mut d = omega.clone();
                let (mut values, mut u) = (vec![0.0; m], vec![0.0; m * m]);
                singular(&mut d, m, &mut values, &mut u).unwrap();
                omega.iter_mut().for_each(|x| *x *= size / values[0]);
                turn(&omega, m, &mut e, [&mut a, &mut b, &mut c]).unwrap();
                let mut whole = e.clone();
                whole.iter_mut().step_by(m + 1).for_each(|x| *x += 1.0);
                assert!(defect(&whole, m).0 < 1e-14 && orientation(&mut whole, m) == 1.0);
                let angles = turned(&mut e, m, &mut back, [&mut a, &mut b, &mut c]).unwrap();
                let off = omega.iter().zip(&back).map(|(a, b)| (a - b).abs()).fold(0.0, Real::max);
                assert!(off < 2e-13 * size / angles.least.min(1.0), "{m} {size} {off}");
                let norm = crate::row::Norm::L2.of(&omega);
                assert!((angles.size / norm - 1.0).abs() < 1e-13, "{m} {size}");
            }
        }
    }

    #[test]
    fn complements_are_orthonormal_also_where_nothing_is_outside() {
        let sampler = &mut Sampler::new(5);
        for (n, p) in [(4, 2), (5, 3), (7, 2), (3, 2)] {
            for scale in [1.0, 1e-13, 0.0] {
                let mut x = sampler.vector::<f64>(n * p);
                let mut scratch: [_; 4] = std::array::from_fn(|_| vec![0.0; n * n]);
                polar(&mut x, n, scratch.each_mut().map(Vec::as_mut_slice)).unwrap();
                let mut w: Vec<f64> = sampler.vector::<f64>(n * p);
                w[..n].iter_mut().for_each(|w| *w *= scale);
                let k = p.min(n - p);
                let mut q = vec![0.0; n * k];
                complement(&x, &mut w, n, &mut q);
                assert!(defect(&[x, q].concat(), n).0 < 1e-15 * 8.0, "{n} {p} {scale}");
            }
        }
    }
}
