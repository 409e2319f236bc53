//! # Is there a period?
//! Every pair of complex roots has an angle, and so a period, also in noise. A period is believed only if an
//! oscillation that is fitted to one half of the series predicts the other half, both ways round.
//!
//! **Uncertainty** The frequency of an oscillation that explains the share R of the variance of n values has a standard
//! error of about √(12(1 − R)/(R n³)); the interval has two of them on both sides.

use std::f64::consts::{PI, TAU};
use std::ops::Range;

use geowalk::Real;

/// An oscillation that a root suggests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Period {
    /// How many values it takes.
    pub length: f64,
    /// Two standard errors below and above.
    pub range: (f64, f64),
    /// The share of the variance of one half that the fit to the other half predicts; the smaller of both.
    pub explained: f64,
    /// Does it predict enough to be believed?
    pub stands_out: bool,
}

/// Values that are looked at: the last ones.
const MOST: usize = 20_000;

/// Fewest repetitions of a period that can be told from a trend.
const REPEATS: f64 = 4.0;

impl Period {
    /// The oscillation nearest to a frequency. `None` if that is 0 or π, or if the series does not vary.
    pub(super) fn near(series: &[f64], frequency: f64) -> Option<Self> {
        let series = &series[series.len().saturating_sub(MOST)..];
        let n = series.len();
        if n < 8 || frequency <= 0.0 || frequency >= PI - 1e-6 {
            return None;
        }
        // Roots are biased by noise: the best frequency around is taken.
        let step = PI / (2.0 * n as f64);
        let share =
            |w: f64| Wave::fit(series, 0..n, w).map_or(0.0, |wave| wave.explains(series, 0..n));
        let best = |around: f64, count: i32, step: f64| {
            let candidates = (-count..=count).map(|k| around + f64::from(k) * step);
            let candidates = candidates.filter(|w| *w > step && *w < PI).map(|w| (share(w), w));
            candidates.fold((0.0, around), |best, one| if one.0 > best.0 { one } else { best })
        };
        let (_, near) = best(frequency, 100, step);
        let (share, w) = best(near, 20, step / 20.0);
        let (first, second) = (0..n / 2, n / 2..n);
        let across = |from: &Range<usize>, to: &Range<usize>| {
            Wave::fit(series, from.clone(), w).map(|wave| wave.explains(series, to.clone()))
        };
        let explained = across(&first, &second)?.min(across(&second, &first)?);
        let count = n as f64;
        let error = 2.0
            * (12.0 * (1.0 - share).max(1e-12) / (share.max(1e-12) * count * count * count)).sqrt();
        let error = Real::max(error, step / 20.0);
        let longest = if w > error { TAU / (w - error) } else { f64::INFINITY };
        Some(Self {
            length: TAU / w,
            range: (TAU / (w + error), longest),
            explained,
            // A short series of noise explains itself by chance.
            stands_out: explained >= 0.05 + 20.0 / count && count * w / TAU >= REPEATS,
        })
    }

    /// As JSON; an endless interval has no upper end.
    pub(super) fn json(&self) -> serde_json::Value {
        let upper = Some(self.range.1).filter(|upper| upper.is_finite());
        serde_json::json!({"length": self.length, "low": self.range.0, "high": upper,
            "explained": self.explained, "stands_out": self.stands_out})
    }
}

/// mean + a cos ωt + b sin ωt.
struct Wave {
    frequency: f64,
    mean: f64,
    a: f64,
    b: f64,
}

/// The values of a part of a series that are there, with cos ωt and sin ωt.
fn each(series: &[f64], part: Range<usize>, frequency: f64, mut f: impl FnMut(f64, f64, f64)) {
    let (turn_c, turn_s) = (Real::cos(frequency), Real::sin(frequency));
    let angle = frequency * part.start as f64;
    let (mut c, mut s) = (Real::cos(angle), Real::sin(angle));
    for &y in &series[part] {
        if !y.is_nan() {
            f(y, c, s);
        }
        (c, s) = (c * turn_c - s * turn_s, s * turn_c + c * turn_s);
    }
}

impl Wave {
    /// The least squares fit to a part; `None` if its values do not vary.
    fn fit(series: &[f64], part: Range<usize>, frequency: f64) -> Option<Self> {
        let (mut count, mut sum) = (0.0, 0.0);
        each(series, part.clone(), frequency, |y, _, _| (count, sum) = (count + 1.0, sum + y));
        let mean = sum / count;
        let (mut cc, mut cs, mut ss, mut cy, mut sy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        each(series, part, frequency, |y, c, s| {
            cc += c * c;
            cs += c * s;
            ss += s * s;
            cy += c * (y - mean);
            sy += s * (y - mean);
        });
        let det = cc * ss - cs * cs;
        let (a, b) = ((cy * ss - sy * cs) / det, (sy * cc - cy * cs) / det);
        (a.is_finite() && b.is_finite()).then_some(Self { frequency, mean, a, b })
    }

    /// The share of the variance of a part that it explains; negative if the mean of that part would do better.
    fn explains(&self, series: &[f64], part: Range<usize>) -> f64 {
        let (mut count, mut sum) = (0.0, 0.0);
        each(series, part.clone(), self.frequency, |y, _, _| (count, sum) = (count + 1.0, sum + y));
        let mean = sum / count;
        let (mut left, mut all) = (0.0, 0.0);
        each(series, part, self.frequency, |y, c, s| {
            let error = y - self.mean - self.a * c - self.b * s;
            left += error * error;
            all += (y - mean) * (y - mean);
        });
        if all > 0.0 { 1.0 - left / all } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use geowalk::laws::Sampler;

    use super::*;

    #[test]
    fn oscillations_stand_out_and_noise_does_not() {
        let mut random = Sampler::new(3);
        for n in [60, 200, 3000] {
            let noise: Vec<f64> = (0..n).map(|_| random.normal()).collect();
            let mut red = vec![0.0];
            for y in &noise {
                red.push(0.95 * red.last().unwrap() + y);
            }
            let wave: Vec<f64> = (0..)
                .zip(&noise)
                .map(|(t, y)| 5.0 + 2.0 * Real::cos(TAU * f64::from(t) / 12.0 + 1.0) + y)
                .collect();
            let found = Period::near(&wave, TAU / 12.1).unwrap();
            assert!(found.stands_out, "{n}: {found:?}");
            assert!(found.range.0 <= 12.0 && 12.0 <= found.range.1, "{n}: {found:?}");
            assert!(found.range.1 - found.range.0 < 400.0 / f64::from(n), "{n}: {found:?}");
            for period in [3.0, 7.3, 12.0, 29.2] {
                for series in [&noise, &red] {
                    let found = Period::near(series, TAU / period).unwrap();
                    assert!(!found.stands_out, "{n}, {period}: {found:?}");
                }
            }
        }
        assert_eq!(Period::near(&[1.0; 50], 0.0), None);
        assert!(!Period::near(&[1.0; 50], 1.0).is_some_and(|found| found.stands_out));
    }
}
