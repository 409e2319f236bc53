//! # Points for pictures
//! So many that curves look smooth and never more than [`MOST`]: when there are that many every second one is dropped, and the distance to the next is doubled. The last one is always
//! among them.

/// So many points at most.
pub const MOST: usize = 512;

/// Points in the making, each at a count of examples.
#[derive(Debug)]
pub(crate) struct Thinned<P> {
    points: Vec<(u64, P)>,
    /// Examples between two points.
    every: u64,
    /// The next point.
    next: u64,
}

impl<P> Thinned<P> {
    /// From here on.
    pub(crate) fn new(examples: u64) -> Self {
        Self { points: Vec::new(), every: 1, next: examples + 1 }
    }

    /// At how many examples a point is wanted.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Adds a point.
    pub(crate) fn add(&mut self, examples: u64, point: P) {
        self.next = examples + self.every;
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

    /// All points, with that of the end.
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
    fn a_short_run_has_every_point() {
        let mut trace = Thinned::new(7);
        (8..12).for_each(|examples| trace.add(examples, examples));
        assert_eq!(trace.end(11, || 0), [8, 9, 10, 11]);
    }
}
