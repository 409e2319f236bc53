//! # Points of curves in pictures
//! Keeps enough points for a smooth curve, and at most [`MOST`]. When that number is reached, every second point is
//! dropped and the distance between points doubles. The last point is always included.

/// The limit on the number of points.
pub const MOST: usize = 512;

/// Points being collected, each with its number of examples.
#[derive(Debug, Clone)]
pub(crate) struct Thinned<P> {
    points: Vec<(u64, P)>,
    /// Number of examples between two points.
    every: u64,
    /// Number of examples at which the next point is wanted.
    next: u64,
    /// Keep only two points per doubling of the number of examples.
    sparse: bool,
}

impl<P> Thinned<P> {
    /// Starts after this number of examples.
    pub(crate) fn new(examples: u64) -> Self {
        Self { points: Vec::new(), every: 1, next: examples + 1, sparse: false }
    }

    /// Two points per doubling of the number of examples, for runs that may never be drawn. The cost is negligible.
    pub(crate) fn sparse(examples: u64) -> Self {
        Self { sparse: true, ..Self::new(examples) }
    }

    /// The number of examples at which the next point is wanted.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Adds a point.
    pub(crate) fn add(&mut self, examples: u64, point: P) {
        self.next = match examples {
            power if self.sparse && power.is_power_of_two() => power + (power / 2).max(1),
            between if self.sparse => between.next_power_of_two(),
            examples => examples + self.every,
        };
        self.points.push((examples, point));
        if self.points.len() >= MOST {
            let mut odd = false;
            self.points.retain(|_| {
                odd = !odd;
                !odd
            });
            self.every *= 2;
            self.next = self.points.last().map_or(self.next, |last| last.0) + self.every;
        }
    }

    /// All points, including one at the end of the run.
    pub(crate) fn end(mut self, examples: u64, last: impl FnOnce() -> P) -> Vec<P> {
        if self.points.last().is_none_or(|point| point.0 < examples) {
            self.points.push((examples, last()));
        }
        self.points.into_iter().map(|(_, point)| point).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_never_too_many_and_evenly_spread() {
        let mut trace = Thinned::new(0);
        for examples in 1..=100_000 {
            if examples == trace.next() {
                trace.add(examples, examples);
            }
        }
        let points = trace.end(100_000, || 100_000);
        assert!((MOST / 2..=MOST).contains(&points.len()), "{}", points.len());
        let apart: Vec<u64> = points.windows(2).map(|p| p[1] - p[0]).collect();
        assert!(apart[..apart.len() - 1].iter().all(|own| *own == apart[0]), "{apart:?}");
        assert_eq!(points.last(), Some(&100_000));
        assert_eq!(points[0], apart[0]);
    }

    #[test]
    fn a_sparse_trace_has_two_points_for_every_doubling() {
        let mut trace = Thinned::sparse(0);
        for examples in 1..=40 {
            if examples == trace.next() {
                trace.add(examples, examples);
            }
        }
        assert_eq!(trace.end(40, || 40), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40]);
    }

    #[test]
    fn a_short_run_has_every_point() {
        let mut trace = Thinned::new(7);
        (8..12).for_each(|examples| trace.add(examples, examples));
        assert_eq!(trace.end(11, || 0), [8, 9, 10, 11]);
    }
}
