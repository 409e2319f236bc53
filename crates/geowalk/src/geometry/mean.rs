//! # Fréchet means
//! $$\bar p = \arg\min_p \sum_i w_i\, d(p, x_i)^2$$
//! **Flat geometries** have a closed form: the arithmetic mean in flat coordinates.
//! **Others** use Karcher's iteration, $p \leftarrow \exp_p(\tau \sum_i w_i \log_p x_i)$. With negative curvature
//! $\tau = 1/\sum_i w_i \zeta(d_i)$, $\zeta(d) = \sqrt{-K}d \coth(\sqrt{-K}d)$: the Hessian of $d^2/2$ is at most ζ
//! there, so the step cannot overshoot. Otherwise $\tau = 1$.
//!
//! If the mean may not be unique, the iteration can end at a saddle. Then it tries random directions, and continues
//! from a lower point if there is one.
//!
//! **Uniqueness** Always on Hadamard manifolds (K ≤ 0, simply connected). With K > 0, if all points lie in a ball of
//! radius below a quarter of a great circle ($\pi/(2\sqrt{K})$) and half the injectivity radius; [`Mean::unique`] says
//! whether that holds for the mean found.
//! **Cost** O(k·n) per iteration. **Source** \[Karcher77\]; \[Afsari11\]; ζ from \[ZS16, lemma 5\].

use super::manifold::ExpLog;
use super::work::Work;
use crate::Real;
use crate::error::{Allowed, DomainError};
use crate::row::Norm;

/// The result of computing a mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// Iterations made (0 for a closed form).
    pub iterations: usize,
    /// Final norm of Σ w_i log_p(x_i), which is 0 at the mean.
    pub residual: f64,
    /// The largest distance of a point with positive weight from the mean.
    pub radius: f64,
    /// Is the mean known to be unique? False means not known.
    pub unique: bool,
}

/// Checks points and weights; returns the number of points and the sum of the weights.
fn prepare<F: Real>(
    points: &[F],
    weights: Option<&[F]>,
    ambient: usize,
) -> Result<(usize, F), DomainError> {
    if ambient == 0 || points.is_empty() {
        return Err(DomainError::Empty { what: "the list of points" });
    }
    if !points.len().is_multiple_of(ambient) {
        return Err(DomainError::Dimension {
            what: "the last point",
            found: points.len() % ambient,
            expected: ambient,
        });
    }
    let count = points.len() / ambient;
    let Some(weights) = weights else { return Ok((count, F::of(count as f64))) };
    if weights.len() != count {
        return Err(DomainError::Dimension {
            what: "the list of weights",
            found: weights.len(),
            expected: count,
        });
    }
    crate::error::each("the list of weights", weights, Allowed::NonNegative)?;
    let total: F = weights.iter().copied().sum();
    if total > F::ZERO && total.is_finite() {
        Ok((count, total))
    } else {
        Err(DomainError::Scalar {
            what: "the sum of the weights",
            value: total.f64(),
            allowed: Allowed::Positive,
        })
    }
}

/// The mean in coordinates that make the manifold flat: `p ← back(Σ w_i there(x_i) / Σ w_i)`, coordinate by
/// coordinate.
///
/// The reported radius is measured in those coordinates, where it is the geodesic distance.
pub(crate) fn arithmetic<F: Real>(
    points: &[F],
    weights: Option<&[F]>,
    p: &mut [F],
    there: impl Fn(F) -> F,
    back: impl Fn(F) -> F,
) -> Result<Mean, DomainError> {
    let n = p.len();
    let (count, total) = prepare(points, weights, n)?;
    let weight = |i: usize| weights.map_or(F::ONE, |w| w[i]) / total;
    p.fill(F::ZERO);
    for (i, x) in points.chunks_exact(n).enumerate() {
        for (p, &x) in p.iter_mut().zip(x) {
            *p += weight(i) * there(x);
        }
    }
    let radius = (0..count)
        .filter(|&i| weight(i) > F::ZERO)
        .map(|i| {
            let x = &points[i * n..(i + 1) * n];
            p.iter().zip(x).map(|(&p, &x)| (there(x) - p).square()).sum::<F>().sqrt().f64()
        })
        .fold(0.0, Real::max);
    for p in p.iter_mut() {
        *p = back(*p);
    }
    Ok(Mean { iterations: 0, residual: 0.0, radius, unique: true })
}

/// Number of times that the iteration may leave a point that has gradient 0 but is not a minimum.
const ESCAPES: u64 = 16;

/// Σ w_i d(p, x_i)².
fn spread<F: Real, M: ExpLog<F> + ?Sized>(
    manifold: &M,
    points: &[F],
    weights: Option<&[F]>,
    p: &[F],
    work: &mut Work<F>,
) -> f64 {
    let each = points.chunks_exact(p.len()).enumerate();
    each.map(|(i, x)| {
        weights.map_or(1.0, |w| w[i].f64()) * manifold.distance(p, x, work).square().f64()
    })
    .sum()
}

/// Tries random directions for a smaller sum of squares, and moves there: p was a saddle or a maximum.
fn escape<F: Real, M: ExpLog<F> + ?Sized>(
    manifold: &M,
    points: &[F],
    weights: Option<&[F]>,
    p: &mut [F],
    [trial, direction]: [&mut [F]; 2],
    work: &mut Work<F>,
    seed: u64,
) -> bool {
    const DIRECTIONS: usize = 8;
    let here = spread(manifold, points, weights, p, work);
    let far = F::of(1e-2) * manifold.injectivity(p).min(F::ONE);
    let mut state = seed;
    for _ in 0..DIRECTIONS {
        // Any covector that does not share the symmetries of the points works. Use the upper half of Knuth's
        // generator.
        for x in trial.iter_mut() {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            *x = F::of((state >> 33) as f64 / (1_u64 << 30) as f64 - 1.0);
        }
        manifold.gradient(p, trial, direction, work);
        let size = manifold.norm(p, direction, work);
        if !(size > F::ZERO && size.is_finite()) {
            continue;
        }
        for v in direction.iter_mut() {
            *v *= far / size;
        }
        for sign in [F::ONE, -F::ONE] {
            trial.copy_from_slice(p);
            if manifold.exp(trial, direction, sign, work).is_err() {
                continue;
            }
            let there = spread(manifold, points, weights, trial, work);
            if there < here - 1e3 * F::EPSILON.f64() * here {
                p.copy_from_slice(trial);
                return true;
            }
        }
    }
    false
}

/// Karcher's iteration, starting at the point with the largest weight.
pub(crate) fn karcher<F: Real, M: ExpLog<F> + ?Sized>(
    manifold: &M,
    points: &[F],
    weights: Option<&[F]>,
    p: &mut [F],
    work: &mut Work<F>,
) -> Result<Mean, DomainError> {
    const LIMIT: usize = 1000;
    let n = manifold.ambient();
    let (_, total) = prepare(points, weights, n)?;
    let weight = |i: usize| weights.map_or(F::ONE, |w| w[i]) / total;
    let mut start = 0;
    for i in 1..points.len() / n {
        if weight(i) > weight(start) {
            start = i;
        }
    }
    if p.len() != n {
        return Err(DomainError::Dimension { what: "the mean", found: p.len(), expected: n });
    }
    p.copy_from_slice(&points[start * n..(start + 1) * n]);

    let curvature = manifold.curvature();
    let root = F::of((-curvature.min).max(0.0).sqrt());
    // The unit of length is given by the curvature, and is at most 1.
    let unit = F::of(1.0 / curvature.min.abs().max(curvature.max.abs()).max(1.0).sqrt());
    let ([step, direction], work) = work.nested(n);
    let mut best = F::INFINITY;
    let mut idle = 0;
    let mut made = 0;
    let mut escapes = 0;
    for iterations in 1..=LIMIT {
        made = iterations;
        step.fill(F::ZERO);
        let mut zeta = F::ZERO;
        let mut radius = F::ZERO;
        for (i, x) in points.chunks_exact(n).enumerate() {
            let w = weight(i);
            if w == F::ZERO {
                continue;
            }
            manifold.log(p, x, direction, work)?;
            let d = manifold.norm(p, direction, work);
            radius = radius.max(d);
            let s = root * d;
            zeta +=
                w * if s < F::of(1e-4) { F::ONE + s.square() / F::of(3.0) } else { s / s.tanh() };
            for (total, &v) in step.iter_mut().zip(direction.iter()) {
                *total += w * v;
            }
        }
        let residual = manifold.norm(p, step, work);
        // Rounding in `log` leaves a residual of a few ulps of the spread. Stop there, or when the residual no longer
        // decreases.
        let enough = F::of(4.0) * F::EPSILON * (unit + radius);
        if residual < best {
            best = residual;
            idle = 0;
        } else {
            idle += 1;
        }
        // Also stop when the step is below the rounding of p, far from the origin of a flat factor.
        let lost = Norm::LInf.of(step) <= F::of(64.0) * F::EPSILON * Norm::LInf.of(p);
        let little = F::of(1e-2) * F::EPSILON.sqrt() * (unit + radius);
        let stalled = idle >= 8 && (residual <= little || lost);
        if residual <= enough || stalled {
            let quarter = if curvature.max > 0.0 {
                std::f64::consts::FRAC_PI_2 / curvature.max.sqrt()
            } else {
                f64::INFINITY
            };
            let unique = radius.f64() < quarter;
            if !unique && escapes < ESCAPES {
                escapes += 1;
                if escape(manifold, points, weights, p, [step, direction], work, escapes) {
                    (best, idle) = (F::INFINITY, 0);
                    continue;
                }
            }
            let (residual, radius) = (residual.f64(), radius.f64());
            return Ok(Mean { iterations, residual, radius, unique });
        }
        if !residual.is_finite() {
            break;
        }
        manifold.exp(p, step, F::ONE / zeta, work)?;
    }
    Err(DomainError::NotConverged {
        what: "the Fréchet mean",
        residual: best.f64(),
        iterations: made,
    })
}

#[cfg(test)]
mod tests {
    use crate::geometry::manifolds::Sphere;
    use crate::geometry::{ExpLog, Work};

    #[test]
    fn saddles_are_left() {
        // Three points at 120° on a great circle: each of them is a saddle, the poles are the minima.
        let h = 0.75_f64.sqrt();
        let points = [1.0, 0.0, 0.0, -0.5, h, 0.0, -0.5, -h, 0.0];
        let sphere = Sphere::new(3, 1.0).unwrap();
        let (mut p, mut work) = ([0.0; 3], Work::new());
        let found = sphere.mean(&points, None, &mut p, &mut work).unwrap();
        assert!(!found.unique && (p[2].abs() - 1.0).abs() < 1e-12, "{p:?}");
        assert!((found.radius - std::f64::consts::FRAC_PI_2).abs() < 1e-9 && found.residual < 1e-9);
    }
}
