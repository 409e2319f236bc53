//! # The checks of the loss doctor
//! Grids and tolerances are described in the header of the parent module.

use super::grid;
use super::report::exact;
use super::{Kink, Range, Verdict};
use crate::error::Allowed;
use crate::loss::{Facts, Loss};

/// Rounding of a difference quotient, in units in the last place of the subtracted numbers.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// The loss at one prediction.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    z: f64,
    value: f64,
    slope: f64,
    curvature: f64,
}

/// The samples of one label, ordered by prediction.
pub(super) struct Track {
    pub(super) label: f64,
    pub(super) grid: Vec<Sample>,
    outwards: [Vec<Sample>; 2],
}

impl Track {
    fn everywhere(&self) -> impl Iterator<Item = &Sample> {
        self.grid.iter().chain(self.outwards.iter().flatten())
    }

    fn scale(&self, of: impl Fn(&Sample) -> f64) -> f64 {
        self.grid.iter().map(|s| of(s).abs()).fold(0.0, f64::max)
    }

    fn neighbours(&self) -> impl Iterator<Item = (Sample, Sample)> {
        self.grid.windows(2).map(|w| (w[0], w[1]))
    }

    fn fails(&self, at: f64, found: f64, needed: String) -> Verdict {
        Verdict::Fails { at, label: self.label, found, needed }
    }
}

/// One examination: the samples, and the first failures found in them.
pub(super) struct Exam<'a> {
    loss: &'a dyn Loss,
    range: Range,
    pub(super) facts: Facts,
    pub(super) tracks: Vec<Track>,
    pub(super) kinks: Vec<Kink>,
}

/// The first failure found on any track.
fn first(failures: impl Iterator<Item = Verdict>) -> Verdict {
    let mut failures = failures;
    failures.next().unwrap_or(Verdict::Holds)
}

fn largest(a: f64, b: f64) -> f64 {
    a.abs().max(b.abs())
}

/// The rounding to expect of a value of that size at `z`. A small value may be the difference of large terms, of order
/// 1 or z, if the function is that large anywhere.
fn rounding(z: f64, size: f64, scale: f64) -> f64 {
    ROUNDING * size.max(scale.min(1.0 + z.abs()))
}

impl<'a> Exam<'a> {
    pub(super) fn new(loss: &'a dyn Loss, range: &Range) -> Self {
        let facts = loss.facts();
        let sample = |label: f64, places: &[f64]| {
            let at = |&z: &f64| Sample {
                z,
                value: loss.value(z, label),
                slope: loss.slope(z, label),
                curvature: loss.curvature(z, label),
            };
            places.iter().map(at).collect::<Vec<_>>()
        };
        let outwards = grid::outwards(range, facts.predictions);
        let tracks: Vec<Track> = grid::labels(range.labels)
            .into_iter()
            .map(|label| Track {
                label,
                grid: sample(label, &grid::predictions(range, label)),
                outwards: [sample(label, &outwards[0]), sample(label, &outwards[1])],
            })
            .collect();
        let mut exam = Self { loss, range: *range, facts, tracks, kinks: Vec::new() };
        exam.kinks = exam.tracks.iter().flat_map(|track| exam.kinks_of(track)).collect();
        exam
    }

    /// Bisects each cell towards the half with the larger change of the slope.
    fn kinks_of(&self, track: &Track) -> Vec<Kink> {
        let mut kinks: Vec<Kink> = Vec::new();
        for (a, b) in track.neighbours() {
            let (mut from, mut to) = ((a.z, a.slope), (b.z, b.slope));
            let least = 1e-7 * largest(a.slope, b.slope);
            let width = 1e-13_f64.max(4.0 * f64::EPSILON * largest(a.z, b.z));
            while (to.1 - from.1).abs() > least && to.0 - from.0 > width {
                let z = from.0 + 0.5 * (to.0 - from.0);
                let middle = (z, self.loss.slope(z, track.label));
                if (middle.1 - from.1).abs() >= (to.1 - middle.1).abs() {
                    to = middle;
                } else {
                    from = middle;
                }
            }
            let jump = to.1 - from.1;
            // The jump is at most `least`, or NaN: no kink.
            if jump.abs() > least {
                // If the bracket ends at a grid point of the cell, that grid point is the exact place.
                let at = if to.0 == b.z { b.z } else { from.0 };
                match kinks.last_mut() {
                    Some(last) if at - last.at <= 1e-9 * largest(at, 1.0) => last.jump += jump,
                    _ => kinks.push(Kink { at, label: track.label, jump }),
                }
            }
        }
        kinks
    }

    fn kink_within(&self, label: f64, lo: f64, hi: f64) -> Option<Kink> {
        let inside = |kink: &&Kink| kink.label == label && lo <= kink.at && kink.at <= hi;
        self.kinks.iter().find(inside).copied()
    }

    pub(super) fn finite(&self) -> Verdict {
        first(self.tracks.iter().flat_map(|track| {
            let inside = track.grid.iter().filter_map(|s| {
                if !s.value.is_finite() {
                    Some(track.fails(s.z, s.value, "a finite value".to_owned()))
                } else if !s.slope.is_finite() {
                    Some(track.fails(s.z, s.slope, "a finite slope".to_owned()))
                } else if s.curvature.is_nan() {
                    Some(track.fails(s.z, s.curvature, "a curvature".to_owned()))
                } else {
                    None
                }
            });
            let beyond = track.outwards.iter().flatten().filter_map(|s| {
                let lost = s.value.is_nan() || s.value == f64::NEG_INFINITY || s.slope.is_nan();
                let found = if s.slope.is_nan() { s.slope } else { s.value };
                lost.then(|| track.fails(s.z, found, "a value and a slope".to_owned()))
            });
            inside.chain(beyond)
        }))
    }

    pub(super) fn non_negative(&self) -> Verdict {
        first(self.tracks.iter().filter_map(|track| {
            let below = track.everywhere().find(|s| s.value < -1e-12);
            below.map(|s| track.fails(s.z, s.value, "a value >= 0".to_owned()))
        }))
    }

    pub(super) fn bounded_below(&self) -> Verdict {
        first(self.tracks.iter().flat_map(|track| {
            track.outwards.iter().filter_map(|outwards| {
                let [.., before, last] = outwards.as_slice() else { return None };
                let falls = last.value < before.value - 1e-6 * before.value.abs();
                let needed =
                    || format!("no fall below {} at {}", exact(before.value), exact(before.z));
                (falls && last.value < 0.0).then(|| track.fails(last.z, last.value, needed()))
            })
        }))
    }

    pub(super) fn convex(&self) -> Verdict {
        first(self.tracks.iter().flat_map(|track| {
            let scale = track.scale(|s| s.slope);
            track.neighbours().filter_map(move |(a, b)| {
                let slack = 1e-9 * largest(a.slope, b.slope) + 1e-14 * scale.min(1.0);
                let needed =
                    || format!("a slope >= {}, the slope at z = {}", exact(a.slope), exact(a.z));
                (b.slope < a.slope - slack).then(|| track.fails(b.z, b.slope, needed()))
            })
        }))
    }

    pub(super) fn strictly_convex(&self, convex: &Verdict) -> Verdict {
        if !convex.holds() {
            return convex.clone();
        }
        first(self.tracks.iter().flat_map(|track| {
            track.neighbours().filter_map(|(a, b)| {
                let bends = b.slope > a.slope || (a.curvature > 0.0 && b.curvature > 0.0);
                let needed =
                    || format!("a slope > {}, the slope at z = {}", exact(a.slope), exact(a.z));
                (!bends).then(|| track.fails(b.z, b.slope, needed()))
            })
        }))
    }

    /// Half the width of a difference quotient at `z`; 0 if the domain leaves no room.
    fn reach(&self, z: f64) -> f64 {
        let (least, greatest) = grid::bounds(self.facts.predictions);
        (1e-5 * z.abs().max(1.0)).min(0.25 * (z - least)).min(0.25 * (greatest - z))
    }

    /// Returns (f(z+h) − f(z−h))/2h if it is not between the smallest and the largest derivative on [z−h, z+h].
    /// `scale` is the largest |f| anywhere.
    fn quotient(
        &self,
        z: f64,
        f: &dyn Fn(f64) -> f64,
        derivative: &dyn Fn(f64) -> f64,
        scale: f64,
    ) -> Option<f64> {
        let h = self.reach(z);
        let (from, to) = (z - h, z + h);
        if to <= from {
            return None;
        }
        let (f_from, f_to) = (f(from), f(to));
        let quotient = (f_to - f_from) / (to - from);
        let derivatives = [derivative(from), derivative(z), derivative(to)];
        let least = derivatives.into_iter().fold(f64::INFINITY, f64::min);
        let most = derivatives.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let slack = 1e-6 * largest(least, most)
            + rounding(z, largest(f_from, f_to), scale) / (to - from)
            + 1e-12;
        let between = least - slack <= quotient && quotient <= most + slack;
        (!between).then_some(quotient)
    }

    pub(super) fn slope(&self, convex: bool) -> Verdict {
        first(self.tracks.iter().flat_map(|track| {
            let (y, scale) = (track.label, track.scale(|s| s.value));
            let local = track.grid.iter().filter_map(move |s| {
                let value = |z| self.loss.value(z, y);
                let slope = |z| self.loss.slope(z, y);
                let quotient = self.quotient(s.z, &value, &slope, scale)?;
                let needed = format!("{}, the difference quotient of the value", exact(quotient));
                Some(track.fails(s.z, s.slope, needed))
            });
            let global = track.neighbours().filter(move |_| convex).filter_map(move |(a, b)| {
                let (width, rise) = (b.z - a.z, b.value - a.value);
                let slack = 1e-6 * width * largest(a.slope, b.slope)
                    + rounding(b.z, largest(a.value, b.value), scale)
                    + 1e-12 * width;
                let fits = a.slope * width - slack <= rise && rise <= b.slope * width + slack;
                let needed = || {
                    format!(
                        "{}, the rise of the value from z = {} per unit",
                        exact(rise / width),
                        exact(a.z)
                    )
                };
                (!fits).then(|| track.fails(b.z, b.slope, needed()))
            });
            local.chain(global)
        }))
    }

    pub(super) fn curvature(&self) -> Verdict {
        first(self.tracks.iter().flat_map(|track| {
            let (y, scale) = (track.label, track.scale(|s| s.slope));
            track.grid.iter().filter_map(move |s| {
                let h = self.reach(s.z);
                if self.kink_within(y, s.z - 1.01 * h, s.z + 1.01 * h).is_some() {
                    return None;
                }
                let slope = |z| self.loss.slope(z, y);
                let curvature = |z| self.loss.curvature(z, y);
                let quotient = self.quotient(s.z, &slope, &curvature, scale)?;
                let needed = format!("{}, the difference quotient of the slope", exact(quotient));
                Some(track.fails(s.z, s.curvature, needed))
            })
        }))
    }

    pub(super) fn margin(&self) -> Verdict {
        let Some(positive) = self.positive() else { return Verdict::NotApplicable };
        let mirrored = positive.grid.iter().filter(|s| self.contains(-s.z));
        first(mirrored.filter_map(|s| {
            let other = self.loss.value(-s.z, -1.0);
            let differs = (other - s.value).abs() > 1e-12 * largest(other, s.value);
            let needed =
                || format!("{}, the value at z = {} and label -1", exact(other), exact(-s.z));
            differs.then(|| positive.fails(s.z, s.value, needed()))
        }))
    }

    /// The label +1 of a loss with labels ±1.
    fn positive(&self) -> Option<&Track> {
        self.tracks.first().filter(|_| self.range.labels == Allowed::Sign)
    }

    fn contains(&self, z: f64) -> bool {
        (self.range.lo..=self.range.hi).contains(&z)
    }

    /// The verdict and the constant c.
    pub(super) fn balanced(&self) -> (Verdict, Option<f64>) {
        let none = (Verdict::NotApplicable, None);
        let Some(positive) = self.positive() else { return none };
        // Below 1e-3 the quotient consists of rounding error.
        let places = positive.grid.iter().filter(|s| s.z >= 1e-3 && self.contains(-s.z));
        let quotient = |s: &Sample| {
            let other = self.loss.value(-s.z, 1.0);
            ((other - s.value) / s.z, ROUNDING * largest(other, s.value) / s.z)
        };
        let Some(reference) =
            places.clone().min_by(|a, b| (a.z - 1.0).abs().total_cmp(&(b.z - 1.0).abs()))
        else {
            return none;
        };
        let (constant, _) = quotient(reference);
        let verdict = first(places.filter_map(|s| {
            let (found, rounding) = quotient(s);
            let agrees = (found - constant).abs() <= 1e-9 * constant.abs() + rounding;
            let needed = || {
                format!(
                    "(psi(-H) - psi(H))/H = {}, as at H = {}, and > 0",
                    exact(constant),
                    exact(reference.z)
                )
            };
            (!agrees || constant <= 0.0).then(|| positive.fails(s.z, found, needed()))
        }));
        let constant = verdict.holds().then_some(constant);
        (verdict, constant)
    }

    pub(super) fn decreasing(&self) -> Verdict {
        let Some(positive) = self.positive() else { return Verdict::NotApplicable };
        let up = positive.grid.iter().find(|s| s.slope > 1e-12);
        up.map_or(Verdict::Holds, |s| positive.fails(s.z, s.slope, "a slope <= 0".to_owned()))
    }

    pub(super) fn calibrated(&self, convex: &Verdict) -> Verdict {
        let Some(positive) = self.positive().filter(|_| self.contains(0.0)) else {
            return Verdict::NotApplicable;
        };
        if !convex.holds() {
            return convex.clone();
        }
        if let Some(kink) = self.kink_within(1.0, -1e-9, 1e-9) {
            return positive.fails(kink.at, kink.jump, "no kink at margin 0".to_owned());
        }
        let slope = self.loss.slope(0.0, 1.0);
        if slope < 0.0 {
            Verdict::Holds
        } else {
            positive.fails(0.0, slope, "a slope < 0 at margin 0".to_owned())
        }
    }

    pub(super) fn declared_lipschitz(&self) -> Verdict {
        let Some(constant) = self.facts.lipschitz else { return Verdict::NotApplicable };
        first(self.tracks.iter().filter_map(|track| {
            let beyond = track.everywhere().find(|s| s.slope.abs() > constant * (1.0 + 1e-9));
            beyond.map(|s| track.fails(s.z, s.slope, format!("|slope| <= {constant}, as declared")))
        }))
    }

    pub(super) fn declared_smooth(&self) -> Verdict {
        let Some(constant) = self.facts.smooth else { return Verdict::NotApplicable };
        if let Some(kink) = self.kinks.first() {
            let needed = format!("no jump of the slope: curvature <= {constant} is declared");
            return Verdict::Fails { at: kink.at, label: kink.label, found: kink.jump, needed };
        }
        self.curvatures(
            |c, slack| c > constant * (1.0 + 1e-6) + slack,
            || format!("curvature <= {constant}, as declared"),
        )
    }

    pub(super) fn declared_strong(&self) -> Verdict {
        let constant = self.facts.strong;
        if constant == f64::NEG_INFINITY {
            return Verdict::NotApplicable;
        }
        self.curvatures(
            |c, slack| c < constant - 1e-6 * constant.abs() - slack,
            || format!("curvature >= {constant}, as declared"),
        )
    }

    /// The first curvature, or secant of the slope, that is out of bounds. Rounding is added to the bound.
    fn curvatures(&self, out: impl Fn(f64, f64) -> bool, needed: impl Fn() -> String) -> Verdict {
        first(self.tracks.iter().flat_map(|track| {
            let point = track.everywhere().find(|s| out(s.curvature, 1e-12));
            let point = point.map(|s| track.fails(s.z, s.curvature, needed()));
            let secant = track.neighbours().find_map(|(a, b)| {
                let width = b.z - a.z;
                let secant = (b.slope - a.slope) / width;
                let slack = ROUNDING * largest(a.slope, b.slope) / width + 1e-12;
                out(secant, slack).then(|| track.fails(a.z, secant, needed()))
            });
            point.into_iter().chain(secant)
        }))
    }

    /// sup |slope|.
    pub(super) fn lipschitz(&self) -> Option<f64> {
        self.supremum(|s| s.slope.abs(), |z, y| self.loss.slope(z, y).abs())
    }

    /// sup curvature.
    pub(super) fn smooth(&self) -> Option<f64> {
        if !self.kinks.is_empty() {
            return None;
        }
        self.supremum(|s| s.curvature, |z, y| self.loss.curvature(z, y))
    }

    /// inf curvature.
    pub(super) fn strong(&self, convex: bool) -> f64 {
        let depth = self.supremum(|s| -s.curvature, |z, y| -self.loss.curvature(z, y));
        let least = depth.map_or(f64::NEG_INFINITY, |depth| -depth);
        // Differences of a saturated slope are rounding error. A convex loss has no negative curvature.
        if convex { least.max(0.0) } else { least }
    }

    /// The supremum of a quantity on the grid (refined between neighbours) and beyond it; `None` if it still grows
    /// there.
    fn supremum(&self, of: impl Fn(&Sample) -> f64, at: impl Fn(f64, f64) -> f64) -> Option<f64> {
        let mut most = f64::NEG_INFINITY;
        for track in &self.tracks {
            let best = (0..track.grid.len())
                .max_by(|&i, &j| of(&track.grid[i]).total_cmp(&of(&track.grid[j])));
            let Some(best) = best else { continue };
            let from = track.grid[best.saturating_sub(1)].z;
            let to = track.grid[(best + 1).min(track.grid.len() - 1)].z;
            // At a kink the values nearby do not predict the value at the kink.
            if self.kink_within(track.label, from, to).is_none() {
                most = most.max(golden(from, to, |z| at(z, track.label)));
            }
            most = most.max(of(&track.grid[best]));
        }
        let inside = most;
        for outwards in self.tracks.iter().flat_map(|track| &track.outwards) {
            most = outwards.iter().map(&of).fold(most, f64::max);
            if let [.., before, last] = outwards.as_slice() {
                let (before, last) = (of(before), of(last));
                let grows = last > 1.02 * before.max(0.0) && last > 0.0 && last >= 0.5 * inside;
                if last == f64::INFINITY || before == f64::INFINITY || grows {
                    return None;
                }
            }
        }
        Some(most)
    }

    /// θ, if all slopes are those of max(0, −y(z − θ)) and the prediction θ counts as positive.
    pub(super) fn threshold(&self) -> Option<f64> {
        let positive = self.positive()?;
        let theta = self.kinks.iter().find(|kink| kink.label == 1.0)?.at;
        let fits = |track: &Track| {
            track.everywhere().filter(|s| (s.z - theta).abs() > 1e-9).all(|s| {
                let mistake = (s.z >= theta) != (track.label > 0.0);
                let slope = if mistake { -track.label } else { 0.0 };
                let value = if mistake { (s.z - theta).abs() } else { 0.0 };
                s.slope == slope && (s.value - value).abs() <= 1e-9 * value.max(1.0)
            })
        };
        (fits(positive) && self.tracks.iter().all(fits)).then_some(theta)
    }
}

/// The largest value found by golden-section search.
fn golden(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let (mut from, mut to) = (from, to);
    let mut most = f64::NEG_INFINITY;
    for _ in 0..40 {
        let (a, b) = (to - RATIO * (to - from), from + RATIO * (to - from));
        let (at_a, at_b) = (f(a), f(b));
        most = most.max(at_a).max(at_b);
        if at_a >= at_b {
            to = b;
        } else {
            from = a;
        }
    }
    most
}
