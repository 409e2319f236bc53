//! # Bracketed Newton
//! Finds the root t > 0 of an increasing function on (0, ∞). A Newton step that leaves the bracket is replaced by
//! bisection (by doubling while there is no upper end). The iteration stops at the first Newton step below 1e-9·t,
//! which leaves an error of order 1e-18·t. One more step would only add rounding noise. That noise can push t out of
//! its bracket, and bisection would then spoil the result.

/// `f` returns value and slope. Returns NaN if a value is NaN.
pub(super) fn increasing(start: f64, f: impl Fn(f64) -> (f64, f64)) -> f64 {
    let (mut lo, mut hi) = (0.0, f64::INFINITY);
    let mut t = start;
    // Doubling and bisection need fewer iterations: 2¹¹ is beyond any log-odds, and 64 halvings use up all digits.
    for _ in 0..200 {
        let (value, slope) = f(t);
        if value < 0.0 {
            lo = t;
        } else if value > 0.0 {
            hi = t;
        } else {
            return t + value;
        }
        let next = t - value / slope;
        // While there is no upper end, limit the step from a flat place.
        if lo < next && next < hi.min(8.0 * t) {
            if (next - t).abs() <= 1e-9 * t {
                return next;
            }
            t = next;
        } else if hi.is_finite() {
            t = 0.5 * (lo + hi);
            if hi - lo <= 2.0 * f64::EPSILON * hi {
                return t;
            }
        } else {
            t *= 2.0;
        }
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_roots_that_newton_alone_loses() {
        // Newton on t/√(1 + t²) − s diverges from any start beyond the inflection.
        let root = increasing(50.0, |t| {
            let s = 1.0 / (1.0 + t * t).sqrt();
            (t * s - 0.6, s * s * s)
        });
        assert!((root - 0.75).abs() < 1e-15, "{root}");
        // The slope is 0: doubling, then bisection.
        let root = increasing(1e-3, |t| (t * t * t - 8.0, 0.0));
        assert!((root - 2.0).abs() < 1e-15, "{root}");
        assert!(increasing(1.0, |_| (f64::NAN, 1.0)).is_nan());
    }
}
