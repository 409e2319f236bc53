//! Is the gradient that of the cost?

use super::{Cost, OptimizeError};
use crate::Real;
use crate::geometry::{ExpLog, Work};
use crate::laws::Sampler;

/// How the error of a first-order expansion falls with the step.
#[derive(Debug, Clone, PartialEq)]
pub struct GradientCheck {
    /// Steps t and errors |f(exp_p(tv)) − f(p) − t⟨grad, v⟩|, v a random unit vector.
    pub errors: Vec<(f64, f64)>,
    /// The slope of the errors in log-log where they are straightest: 2 for a gradient that is right, 1 for a wrong one;
    /// infinite where all errors are rounding.
    pub slope: f64,
}

impl GradientCheck {
    /// Does the error fall as the square of the step?
    pub fn holds(&self) -> bool {
        self.slope > 1.9
    }
}

/// Compares the gradient at p with differences of the cost along a random geodesic.
///
/// ```
/// use geowalk::geometry::manifolds::Sphere;
/// use geowalk::optimize::check_gradient;
/// let cubic = |wrong: f64| {
///     move |p: &[f64], gradient: Option<&mut [f64]>| {
///         if let Some(gradient) = gradient {
///             (0..3).for_each(|i| gradient[i] = wrong * 3.0 * p[i] * p[i]);
///         }
///         p.iter().map(|x| x * x * x).sum::<f64>()
///     }
/// };
/// let sphere = Sphere::new(3, 1.0)?;
/// let p = [0.6, 0.48, 0.64];
/// assert!(check_gradient(&sphere, &mut cubic(1.0), &p, 0)?.holds());
/// assert!(!check_gradient(&sphere, &mut cubic(1.01), &p, 0)?.holds());
/// # Ok::<(), geowalk::optimize::OptimizeError>(())
/// ```
pub fn check_gradient<M: ExpLog<f64> + ?Sized>(
    manifold: &M,
    cost: &mut dyn Cost,
    p: &[f64],
    seed: u64,
) -> Result<GradientCheck, OptimizeError> {
    const POINTS: i32 = 51;
    const WINDOW: usize = 10;
    manifold.check(p)?;
    let v = Sampler::new(seed).tangent(manifold, p, 1.0);
    let mut covector = vec![0.0; p.len()];
    let value = cost.evaluate(p, None, Some(&mut covector))?;
    let mut work = Work::new();
    let mut gradient = vec![0.0; p.len()];
    manifold.gradient(p, &covector, &mut gradient, &mut work);
    let slope = manifold.inner(p, &gradient, &v, &mut work);
    let mut errors = Vec::new();
    let mut rounding = true;
    for k in 0..POINTS {
        // 1e-8 to 1.
        let t = Real::exp(
            f64::from(k - POINTS + 1) * 8.0 * std::f64::consts::LN_10 / f64::from(POINTS - 1),
        );
        let mut q = p.to_vec();
        if manifold.exp(&mut q, &v, t, &mut work).is_err() {
            continue;
        }
        let there = cost.evaluate(&q, None, None)?;
        let error = (there - value - t * slope).abs();
        rounding &= error <= 1e-13 * (there.abs() + value.abs() + (t * slope).abs());
        if error > 0.0 && error.is_finite() {
            errors.push((t, error));
        }
    }
    if rounding {
        return Ok(GradientCheck { errors, slope: f64::INFINITY });
    }
    // The straightest stretch that rises.
    let (mut best, mut straightest) = (f64::NAN, f64::INFINITY);
    for window in errors.windows(WINDOW) {
        let points: Vec<(f64, f64)> =
            window.iter().map(|(t, e)| (Real::ln(*t), Real::ln(*e))).collect();
        let count = WINDOW as f64;
        let mean = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / count;
        let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
        let (xx, xy) = (mean(&|p| (p.0 - x) * (p.0 - x)), mean(&|p| (p.0 - x) * (p.1 - y)));
        let slope = xy / xx;
        let off = mean(&|p| (p.1 - y - slope * (p.0 - x)) * (p.1 - y - slope * (p.0 - x)));
        if slope > 0.5 && off < straightest {
            (best, straightest) = (slope, off);
        }
    }
    Ok(GradientCheck { errors, slope: best })
}
