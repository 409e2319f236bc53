//! # Roots of functions of one variable
//! $$f(x) = 0, \qquad f(lo)\, f(hi) < 0$$
//! A bracket that only shrinks, and a guess inside it: Newton's if the derivative is known, otherwise Chandrupatla's
//! (inverse quadratic interpolation where it is safe). If the guesses make no progress the bracket is halved. The
//! result is a point where f is 0, or where the Newton step is below the last bit, or an end of a bracket of 2 units
//! in the last place. A jump through 0 counts as a root.
//!
//! **Care** A missing sign change is an error. The end of the interval is never returned silently, because that would
//! corrupt a whole run. After a few plain halvings, the bracket is halved in the floating-point *representation*, so
//! that a root at 1e-200 between 0 and 1 costs 60 evaluations instead of 700.
//! **Cost** 4 to 10 evaluations for a smooth function with derivative, at most about 70 for a jump.
//! **Source** \[Chandrupatla97\]; \[KMWW07, eq. (9)\] for the equations to be solved.

use crate::error::DomainError;

/// A root, and the number of evaluations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Root {
    pub(crate) at: f64,
    /// f at the root: 0, rounding error, or one side of a jump.
    pub(crate) value: f64,
    pub(crate) evaluations: usize,
}

/// A function evaluated at a point: its value, and its derivative or NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    pub(crate) at: f64,
    pub(crate) value: f64,
    pub(crate) slope: f64,
}

/// More evaluations than any bracket of `f64` needs.
const MOST: usize = 300;

/// From this number of evaluations on, only halve; the number of halvings is bounded.
const PATIENCE: usize = 100;

/// Number of plain halvings before halving the representation.
const PLAIN: usize = 4;

/// The root of f between `lo` and `hi`, in either order. f returns its value and its derivative, or NaN if the
/// derivative is unknown.
pub(crate) fn root(
    what: &'static str,
    lo: f64,
    hi: f64,
    f: &mut impl FnMut(f64) -> (f64, f64),
) -> Result<Root, DomainError> {
    let (lo, hi) = (sample(lo, f), sample(hi, f));
    let mut root = refine(what, lo, hi, f)?;
    root.evaluations += 2;
    Ok(root)
}

/// The root nearest to `lo`, among those that a sign change at a tried end reveals. It tries `hi` first, then ends
/// farther and farther in the same direction up to `limit`; `grain` is the first distance beyond `hi`. For functions
/// whose root is before `hi` in theory, and may be slightly beyond it because of rounding.
pub(crate) fn root_near(
    what: &'static str,
    lo: f64,
    hi: f64,
    limit: f64,
    grain: f64,
    f: &mut impl FnMut(f64) -> (f64, f64),
) -> Result<Root, DomainError> {
    let start = sample(lo, f);
    let (end, evaluations) = reach(start, hi, limit, grain, f);
    let mut root = refine(what, start, end, f)?;
    root.evaluations += evaluations + 1;
    Ok(root)
}

/// The far end of the bracket that [`root_near`] would use.
pub(crate) fn end_near(
    lo: f64,
    hi: f64,
    limit: f64,
    grain: f64,
    f: &mut impl FnMut(f64) -> (f64, f64),
) -> f64 {
    reach(sample(lo, f), hi, limit, grain, f).0.at
}

/// The first end, from `hi` towards `limit`, where the sign differs from that at `start`; else `limit`.
fn reach(
    start: Sample,
    hi: f64,
    limit: f64,
    grain: f64,
    f: &mut impl FnMut(f64) -> (f64, f64),
) -> (Sample, usize) {
    let mut end = sample(hi, f);
    let mut evaluations = 1;
    let mut beyond = grain.abs().max(f64::MIN_POSITIVE).copysign(limit - start.at);
    while !changes(start.value, end.value) && end.at != limit && start.value != 0.0 {
        let next = hi + beyond;
        let past = (next - limit) * (limit - start.at) >= 0.0;
        end = sample(if past { limit } else { next }, f);
        evaluations += 1;
        beyond *= 4.0;
    }
    (end, evaluations)
}

/// Divides the interval into `cells` equal parts and finds all places where f, the derivative of the minimised
/// function, becomes positive. Returns the one with the smallest `score`.
pub(crate) fn least(
    what: &'static str,
    lo: f64,
    hi: f64,
    cells: usize,
    f: &mut impl FnMut(f64) -> (f64, f64),
    mut score: impl FnMut(f64) -> f64,
) -> Result<Root, DomainError> {
    let first = sample(lo, f);
    // If the scan goes downwards, the derivative changes its sign.
    let rises = if hi >= lo { 1.0 } else { -1.0 };
    let (mut from, mut evaluations) = (first, 1);
    let mut best: Option<(f64, Root)> = None;
    for k in 1..=cells {
        let at = if k == cells { hi } else { lo + (hi - lo) * (k as f64 / cells as f64) };
        let to = sample(at, f);
        evaluations += 1;
        if rises * from.value <= 0.0 && rises * to.value > 0.0 {
            let root = refine(what, from, to, f)?;
            evaluations += root.evaluations;
            let score = score(root.at);
            if best.is_none_or(|(least, _)| score < least) {
                best = Some((score, root));
            }
        }
        from = to;
    }
    let missing = DomainError::NoRoot { what, lo, hi, at_lo: first.value, at_hi: from.value };
    best.map(|(_, root)| Root { evaluations, ..root }).ok_or(missing)
}

pub(crate) fn sample(at: f64, f: &mut impl FnMut(f64) -> (f64, f64)) -> Sample {
    let (value, slope) = f(at);
    Sample { at, value, slope }
}

/// Do the two values have different signs, or is one of them 0? False for NaN.
fn changes(a: f64, b: f64) -> bool {
    (a <= 0.0 && b >= 0.0) || (a >= 0.0 && b <= 0.0)
}

/// The root between two evaluated points.
pub(crate) fn refine(
    what: &'static str,
    lo: Sample,
    hi: Sample,
    f: &mut impl FnMut(f64) -> (f64, f64),
) -> Result<Root, DomainError> {
    if !changes(lo.value, hi.value) {
        let (at_lo, at_hi) = (lo.value, hi.value);
        return Err(DomainError::NoRoot { what, lo: lo.at, hi: hi.at, at_lo, at_hi });
    }
    let (mut a, mut b) = if lo.at <= hi.at { (lo, hi) } else { (hi, lo) };
    // The end that was replaced last lies beyond the newest one: it is the third point of the interpolation.
    let mut given_up: Option<Sample> = None;
    let mut newest_is_a = true;
    let (mut halvings, mut slow) = (0, 0);
    for evaluations in 0..MOST {
        let x = if a.value.abs() <= b.value.abs() { a } else { b };
        let newton = x.value / x.slope;
        let settled = x.slope.is_finite() && newton.abs() <= 0.5 * ulp(x.at);
        let width = steps(a.at, b.at);
        if x.value == 0.0 || settled || width <= 2 {
            return Ok(Root { at: x.at, value: x.value, evaluations });
        }
        let inside = |at: f64| a.at < at && at < b.at;
        let at = if slow >= 2 || evaluations >= PATIENCE {
            slow = 0;
            middle(a.at, b.at, &mut halvings)
        } else if inside(x.at - newton) {
            x.at - newton
        } else if let Some(at) = guess(a, b, given_up, newest_is_a).filter(|&at| inside(at)) {
            at
        } else {
            middle(a.at, b.at, &mut halvings)
        };
        let new = sample(at, f);
        if new.value.is_nan() {
            let iterations = evaluations + 1;
            return Err(DomainError::NotConverged { what, residual: f64::NAN, iterations });
        }
        newest_is_a = !changes(a.value, new.value);
        given_up = Some(std::mem::replace(if newest_is_a { &mut a } else { &mut b }, new));
        let progress = steps(a.at, b.at) <= width / 2 || new.value.abs() <= 0.1 * x.value.abs();
        slow = if progress { 0 } else { slow + 1 };
    }
    let residual = a.value.abs().min(b.value.abs());
    Err(DomainError::NotConverged { what, residual, iterations: MOST })
}

/// Chandrupatla's guess: inverse quadratic interpolation if it is monotone, else the middle. It is never nearer to an
/// end than the last bit of the end, so that the bracket closes from both sides.
fn guess(a: Sample, b: Sample, given_up: Option<Sample>, newest_is_a: bool) -> Option<f64> {
    let (a, b) = if newest_is_a { (a, b) } else { (b, a) };
    let width = b.at - a.at;
    let t = match given_up {
        None => a.value / (a.value - b.value),
        Some(c) => {
            let xi = (a.at - b.at) / (c.at - b.at);
            let phi = (a.value - b.value) / (c.value - b.value);
            if phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
                let first = a.value / (b.value - a.value) * c.value / (b.value - c.value);
                let second = (c.at - a.at) / width * a.value / (c.value - a.value) * b.value
                    / (c.value - b.value);
                first + second
            } else {
                return None;
            }
        }
    };
    let near = (ulp(a.at).max(ulp(b.at)) / width.abs()).min(0.5);
    let t = t.max(near).min(1.0 - near);
    Some(a.at + t * width)
}

/// A point inside: at first the middle by distance, later the middle by the number of floats between the ends.
fn middle(a: f64, b: f64, halvings: &mut usize) -> f64 {
    *halvings += 1;
    if *halvings <= PLAIN {
        let mid = 0.5 * a + 0.5 * b;
        if a < mid && mid < b {
            return mid;
        }
    }
    let (a, b) = (order(a), order(b));
    float(a + (b.abs_diff(a) / 2).cast_signed())
}

/// The distance to the next float away from 0.
fn ulp(x: f64) -> f64 {
    f64::from_bits(x.abs().to_bits() + 1) - x.abs()
}

/// The middle of the floats between the two.
pub(crate) fn between(a: f64, b: f64) -> f64 {
    float(i64::midpoint(order(a), order(b)))
}

/// Number of float steps from one to the other.
pub(crate) fn steps(a: f64, b: f64) -> u64 {
    order(a).abs_diff(order(b))
}

/// The position of a float in the ordered list of floats; 0 for 0.
fn order(x: f64) -> i64 {
    let magnitude = x.abs().to_bits().cast_signed();
    if x < 0.0 { -magnitude } else { magnitude }
}

fn float(order: i64) -> f64 {
    f64::from_bits(order.unsigned_abs()).copysign(if order < 0 { -1.0 } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Real;

    fn no_slope(f: impl Fn(f64) -> f64) -> impl FnMut(f64) -> (f64, f64) {
        move |x| (f(x), f64::NAN)
    }

    #[test]
    fn smooth_functions_to_the_last_bits() {
        let cube = |x: f64| (x * x * x - 2.0, 3.0 * x * x);
        for (lo, hi) in [(0.0, 2.0), (2.0, 0.0), (-1e10, 1e10), (1.0, 1e300)] {
            let with = root("the cube root of 2", lo, hi, &mut { cube }).unwrap();
            let without = root("the cube root of 2", lo, hi, &mut no_slope(|x| cube(x).0)).unwrap();
            for root in [with, without] {
                assert!((root.at - 1.259_921_049_894_873_2).abs() <= 4.5e-16, "{root:?}");
                assert!(root.evaluations <= 60, "{root:?}");
            }
        }
        let easy = root("the cube root of 2", 1.0, 2.0, &mut { cube }).unwrap();
        assert!(easy.evaluations <= 9, "{easy:?}");
        let easy = root("the cube root of 2", 1.0, 2.0, &mut no_slope(|x| cube(x).0)).unwrap();
        assert!(easy.evaluations <= 14, "{easy:?}");
    }

    #[test]
    fn jumps_and_far_roots() {
        for at in [1e-300, 3e-7, 0.7, 1.0 - 1e-15, -1e-20, -0.3] {
            let jump = |x: f64| (if x < at { -1.0 } else { 1.0 }, 0.0);
            let root = root("a jump", -1.0, 1.0, &mut { jump }).unwrap();
            assert!(steps(root.at, at) <= 2, "{root:?} {at:e}");
            assert!(root.evaluations <= 80, "{root:?}");
        }
        // Newton's guesses progress slowly along a steep exponential, so halving takes over.
        let steep = |x: f64| (Real::exp(x) - 1.0, Real::exp(x));
        let root = root("a steep function", -5.0, 600.0, &mut { steep }).unwrap();
        assert!(root.at.abs() < 1e-15 && root.evaluations <= 40, "{root:?}");
    }

    #[test]
    fn without_a_sign_change_there_is_no_answer() {
        let error = root("x² + 1", -1.0, 1.0, &mut |x| (x * x + 1.0, 2.0 * x)).unwrap_err();
        let expected =
            DomainError::NoRoot { what: "x² + 1", lo: -1.0, hi: 1.0, at_lo: 2.0, at_hi: 2.0 };
        assert_eq!(error, expected);
        assert_eq!(
            error.to_string(),
            "x² + 1 has no sign change between -1e0 and 1e0: it is 2e0 and 2e0"
        );
        assert!(root("NaN", -1.0, 1.0, &mut |x| (x.sqrt(), 1.0)).is_err());
        let hole = |x: f64| (if x.abs() < 0.9 { f64::NAN } else { x }, f64::NAN);
        assert!(matches!(
            root("a hole", -1.0, 1.0, &mut { hole }),
            Err(DomainError::NotConverged { .. })
        ));
        let error = root_near("x + 1", 0.0, 1.0, 8.0, 0.1, &mut |x| (x + 1.0, 1.0)).unwrap_err();
        assert!(matches!(error, DomainError::NoRoot { hi: 8.0, at_hi: 9.0, .. }), "{error}");
        assert!(least("x + 2", -1.0, 1.0, 16, &mut |x| (x + 2.0, 1.0), |x| x).is_err());
    }

    #[test]
    fn a_root_a_little_beyond_the_end_is_found() {
        let mut f = |x: f64| (x - 1.0, 1.0);
        let near = root_near("x − 1", 0.0, 1.0 - 1e-12, 3.0, 1e-16, &mut f).unwrap();
        assert_eq!(near.at, 1.0);
        let near = root_near("x − 1", 3.0, 2.0, 0.0, 1e-3, &mut f).unwrap();
        assert_eq!(near.at, 1.0, "downwards");
    }

    #[test]
    fn of_several_minima_the_least() {
        // U = (x² − 1)² + x/4 has minima near −1.03 and 0.966.
        let u = |x: f64| (x * x - 1.0) * (x * x - 1.0) + 0.25 * x;
        let du = |x: f64| (4.0 * x * (x * x - 1.0) + 0.25, 12.0 * x * x - 4.0);
        for (lo, hi) in [(-2.0, 2.0), (2.0, -2.0)] {
            let best = least("U′", lo, hi, 256, &mut { du }, u).unwrap();
            assert!((best.at + 1.029_895_985_050_660_4).abs() < 1e-15, "{best:?}");
        }
    }
}
