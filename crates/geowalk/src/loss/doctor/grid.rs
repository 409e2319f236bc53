//! # The grid of the loss doctor

use super::Range;
use crate::Real;
use crate::error::Allowed;

/// Points per decade, starting at this exponent.
const PER_DECADE: f64 = 8.0;
const FIRST_EXPONENT: i32 = -48;
/// Number of evenly spaced cells.
const CELLS: i32 = 96;

/// The smallest and the largest element of a set.
pub(super) fn bounds(allowed: Allowed) -> (f64, f64) {
    match allowed {
        Allowed::Positive | Allowed::NonNegative => (0.0, f64::INFINITY),
        Allowed::Negative => (f64::NEG_INFINITY, 0.0),
        Allowed::Closed(lo, hi)
        | Allowed::Open(lo, hi)
        | Allowed::OpenClosed(lo, hi)
        | Allowed::ClosedOpen(lo, hi) => (lo, hi),
        Allowed::Whole(least) => (least as f64, f64::INFINITY),
        Allowed::Sign => (-1.0, 1.0),
        Allowed::Indicator => (0.0, 1.0),
        Allowed::Finite => (f64::NEG_INFINITY, f64::INFINITY),
    }
}

/// A sample of a set of labels. For signs, +1 comes first.
pub(super) fn labels(allowed: Allowed) -> Vec<f64> {
    if allowed == Allowed::Sign {
        return vec![1.0, -1.0];
    }
    let mut sample = vec![-10.0, -1.0, -0.3, 0.0, 0.5, 1.0, 3.0, 10.0];
    let (lo, hi) = bounds(allowed);
    for fraction in [0.0, 0.05, 0.5, 0.95, 1.0] {
        // This form gives NaN or infinity for an infinite end; both are filtered out.
        sample.push(lo * (1.0 - fraction) + hi * fraction);
    }
    if let Allowed::Whole(least) = allowed {
        sample.extend([0, 1, 2, 10].map(|k| least.saturating_add(k) as f64));
    }
    sample.retain(|&y| allowed.contains(y));
    tidy(sample, &[], 0.0)
}

/// The predictions at which a loss is examined for one label.
pub(super) fn predictions(range: &Range, label: f64) -> Vec<f64> {
    let (lo, hi) = (range.lo, range.hi);
    let width = hi - lo;
    let mut grid = Vec::new();
    for i in 0..=CELLS {
        grid.push(lo + width * f64::from(i) / f64::from(CELLS));
    }
    for k in 2..=8 {
        let step = width * Real::powf(10.0, -f64::from(k) / 2.0);
        grid.extend([lo + step, hi - step]);
    }
    for k in FIRST_EXPONENT.. {
        let step = Real::powf(10.0, f64::from(k) / PER_DECADE);
        if step > width {
            break;
        }
        for center in [0.0, label] {
            grid.extend([center - step, center + step]);
        }
    }
    grid.retain(|z| (lo..=hi).contains(z));
    let mut exact = vec![lo, hi, 0.0, label];
    exact.retain(|z| (lo..=hi).contains(z));
    tidy(grid, &exact, 1e-9 * width.min(1.0))
}

/// Points beyond both ends of the range, up to the ends of the domain.
pub(super) fn outwards(range: &Range, domain: Allowed) -> [Vec<f64>; 2] {
    let (least, greatest) = bounds(domain);
    [(range.lo, least), (range.hi, greatest)].map(|(from, end)| {
        let powers = (1..=8).map(f64::from);
        if end.is_infinite() {
            let away = f64::copysign(1.0, end);
            let probes = powers.map(|k| away * Real::powf(10.0, k));
            probes.filter(|z| (z - from) * away > 0.0 && domain.contains(*z)).collect()
        } else if from == end {
            Vec::new()
        } else {
            powers.map(|k| end + (from - end) * Real::powf(10.0, -k)).collect()
        }
    })
}

/// Sorts the grid and removes points closer than `gap` to a neighbour (or equal up to rounding). The `exact` points
/// stay.
fn tidy(mut grid: Vec<f64>, exact: &[f64], gap: f64) -> Vec<f64> {
    let near = |a: f64, b: f64| (b - a).abs() <= gap.max(1e-13 * a.abs());
    grid.retain(|&z| !exact.iter().any(|&point| near(point, z)));
    grid.extend(exact);
    grid.sort_by(f64::total_cmp);
    grid.dedup_by(|b, a| near(*a, *b));
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_belong_to_their_set() {
        for allowed in [
            Allowed::Finite,
            Allowed::Positive,
            Allowed::Closed(-1.0, 1.0),
            Allowed::Open(1e-9, 2e-9),
            Allowed::ClosedOpen(1.0, f64::INFINITY),
            Allowed::Whole(3),
            Allowed::Sign,
        ] {
            let sample = labels(allowed);
            assert!(sample.len() >= 2 && sample.iter().all(|&y| allowed.contains(y)), "{allowed}");
        }
        assert!(labels(Allowed::Closed(-1.0, 1.0)).contains(&-1.0));
    }

    #[test]
    fn the_grid_is_sorted_and_reaches_both_ends() {
        let range = Range::new(-2.0, 1e6, Allowed::Finite).unwrap();
        let grid = predictions(&range, 0.5);
        assert_eq!((grid[0], grid[grid.len() - 1]), (-2.0, 1e6));
        assert!(grid.windows(2).all(|w| w[0] < w[1]) && grid.contains(&0.0) && grid.contains(&0.5));
        let [left, right] = outwards(&range, Allowed::Finite);
        assert_eq!((left[0], left[7]), (-10.0, -1e8));
        assert_eq!(right, [1e7, 1e8]);
        let [left, _] = outwards(&range, Allowed::Open(-3.0, f64::INFINITY));
        assert!((left[7] + 3.0 - 1e-8).abs() < 1e-15);
    }
}
