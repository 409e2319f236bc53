//! Minimizes a function from its values and gradients: L-BFGS \[NW06, alg. 7.5\].

use geowalk::Real;

/// Number of pairs of differences kept.
const MEMORY: usize = 20;
const ITERATIONS: usize = 1000;

/// L-BFGS with backtracking. Steps to values that are NaN or infinite are rejected.
pub(super) fn minimise(
    mut f: impl FnMut(&[f64], &mut Vec<f64>) -> f64,
    start: Vec<f64>,
) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (mut theta, mut gradient) = (start, Vec::new());
    let mut value = f(&theta, &mut gradient);
    let mut pairs: Vec<(Vec<f64>, Vec<f64>, f64)> = Vec::new();
    let mut next = Vec::new();
    let mut small = 0;
    for _ in 0..ITERATIONS {
        // The two-loop recursion.
        let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut alphas = Vec::with_capacity(pairs.len());
        for (s, y, rho) in pairs.iter().rev() {
            let alpha = rho * dot(s, &direction);
            direction.iter_mut().zip(y).for_each(|(d, y)| *d -= alpha * y);
            alphas.push(alpha);
        }
        let scale = match pairs.last() {
            Some((_, y, rho)) => 1.0 / (rho * dot(y, y)),
            None => 1.0 / Real::max(dot(&gradient, &gradient).sqrt(), f64::MIN_POSITIVE),
        };
        for d in &mut direction {
            *d *= scale;
        }
        for ((s, y, rho), alpha) in pairs.iter().zip(alphas.into_iter().rev()) {
            let beta = rho * dot(y, &direction);
            direction.iter_mut().zip(s).for_each(|(d, s)| *d += (alpha - beta) * s);
        }
        let mut descent = dot(&gradient, &direction);
        if descent.is_nan() || descent >= 0.0 {
            pairs.clear();
            direction = gradient.iter().map(|g| -g).collect();
            descent = -dot(&gradient, &gradient);
        }
        if descent == 0.0 {
            break;
        }
        let (mut step, mut found) = (1.0, None);
        for _ in 0..60 {
            let tried: Vec<f64> = theta.iter().zip(&direction).map(|(t, d)| t + step * d).collect();
            let there = f(&tried, &mut next);
            if there <= value + 1e-4 * step * descent && there.is_finite() {
                found = Some((tried, there));
                break;
            }
            step *= 0.5;
        }
        let Some((tried, there)) = found else {
            if pairs.is_empty() {
                break;
            }
            // The stored pairs may come from the other side of a kink, so try again without them.
            pairs.clear();
            small += 1;
            if small >= 3 {
                break;
            }
            continue;
        };
        let s: Vec<f64> = tried.iter().zip(&theta).map(|(a, b)| a - b).collect();
        let y: Vec<f64> = next.iter().zip(&gradient).map(|(a, b)| a - b).collect();
        let curvature = dot(&s, &y);
        if curvature > 1e-12 * dot(&y, &y).sqrt() * dot(&s, &s).sqrt() {
            if pairs.len() == MEMORY {
                pairs.remove(0);
            }
            pairs.push((s, y, curvature.recip()));
        }
        small = if value - there <= 1e-13 * value.abs() { small + 1 } else { 0 };
        (theta, value) = (tried, there);
        std::mem::swap(&mut gradient, &mut next);
        if small >= 3 {
            break;
        }
    }
    theta
}
