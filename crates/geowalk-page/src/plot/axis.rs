//! An axis: which values it covers, where they stand, and which of them are labelled.

use geowalk::Real;

use crate::text::number;

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
    Log,
}

/// An axis from `low` to `high`, in the units of the data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
}

/// A labelled value.
#[derive(Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// 10^k, correctly rounded; a power by multiplication is not.
fn ten(k: i32) -> f64 {
    format!("1e{k}").parse().unwrap_or(f64::NAN)
}

/// The largest k with 10^k <= x, for finite x > 0.
fn decade(x: f64) -> i32 {
    format!("{x:e}").split_once('e').and_then(|(_, k)| k.parse().ok()).unwrap_or(0)
}

impl Scale {
    /// Has the value a place on such an axis?
    pub(crate) fn shows(self, value: f64) -> bool {
        value.is_finite() && (self == Self::Linear || value > 0.0)
    }

    fn forth(self, value: f64) -> f64 {
        if self == Self::Log { Real::ln(value) } else { value }
    }
}

impl Axis {
    /// The axis that covers `values` (those it can show); `None` if there is none.
    pub(crate) fn over(scale: Scale, values: impl Iterator<Item = f64>) -> Option<Self> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|v| scale.shows(*v)) {
            low = low.min(value);
            high = high.max(value);
        }
        (low <= high).then(|| Self { scale, low, high }.widened())
    }

    /// One value, or values that differ by rounding only, get some room.
    fn widened(mut self) -> Self {
        let size = self.low.abs().max(self.high.abs());
        if self.scale == Scale::Log {
            if self.high / self.low < 1.0 + 1e-9 {
                self.low /= 2.0;
                self.high *= 2.0;
            }
            self.low = self.low.max(f64::MIN_POSITIVE);
            self.high = self.high.min(f64::MAX);
        } else if self.half_span() <= size * 1e-12 {
            let room = if size == 0.0 { 1.0 } else { size / 2.0 };
            self.low = (self.low - room).max(-f64::MAX);
            self.high = (self.high + room).min(f64::MAX);
        }
        self
    }

    /// With air at the ends, and with zero where it is near: for heights.
    pub(crate) fn airy(mut self) -> Self {
        if self.scale == Scale::Log {
            let factor = Real::exp(0.03 * Real::ln(self.high / self.low).min(600.0));
            self.low = (self.low / factor).max(f64::MIN_POSITIVE);
            self.high = (self.high * factor).min(f64::MAX);
            return self;
        }
        let air = self.half_span() * 0.08;
        let near_zero = |end: f64, other: f64| {
            end == 0.0 || (end > 0.0) == (other > 0.0) && end.abs() < 0.4 * other.abs()
        };
        let (low, high) = (self.low, self.high);
        self.low =
            if low >= 0.0 && near_zero(low, high) { 0.0 } else { (low - air).max(-f64::MAX) };
        self.high =
            if high <= 0.0 && near_zero(high, low) { 0.0 } else { (high + air).min(f64::MAX) };
        self
    }

    /// Half of it, because the whole may be too large for a number.
    fn half_span(&self) -> f64 {
        self.high / 2.0 - self.low / 2.0
    }

    pub(crate) fn scale(&self) -> Scale {
        self.scale
    }

    pub(crate) fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// 0 at the low end, 1 at the high one.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let (value, low, high) =
            (self.scale.forth(value), self.scale.forth(self.low), self.scale.forth(self.high));
        (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)
    }

    /// About `wanted` labelled values.
    pub(crate) fn ticks(&self, wanted: usize) -> Vec<Tick> {
        match self.scale {
            Scale::Linear => self.linear(wanted),
            Scale::Log => self.logarithmic(wanted),
        }
    }

    fn linear(&self, wanted: usize) -> Vec<Tick> {
        let rough = 2.0 * (self.half_span() / wanted.max(1) as f64);
        let power = decade(rough);
        let unit = ten(power);
        let factor =
            [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * unit >= rough * 0.75).unwrap_or(10.0);
        let step = factor * unit;
        let places = usize::try_from(-i64::from(power) - i64::from(factor == 10.0)).unwrap_or(0);
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        let size = self.low.abs().max(self.high.abs());
        let label = |value: f64| {
            if places > 6 || size >= 1e6 {
                // As many digits as it takes to tell neighbours apart.
                let digits = usize::try_from(decade(size) - decade(step) + 1).unwrap_or(1);
                number(value, digits.clamp(1, 17))
            } else {
                let text = format!("{value:.places$}");
                text.replacen('-', "−", 1)
            }
        };
        let mut ticks: Vec<Tick> = Vec::new();
        let mut i = first;
        while i <= last && ticks.len() < 50 {
            let value = if i == 0.0 { 0.0 } else { i * step };
            ticks.push(Tick { value, label: label(value) });
            if i + 1.0 <= i {
                break; // the step is below the rounding of the values
            }
            i += 1.0;
        }
        ticks
    }

    fn logarithmic(&self, wanted: usize) -> Vec<Tick> {
        let (first, last) = (decade(self.low), decade(self.high));
        let within = |v: &f64| *v >= self.low * (1.0 - 1e-12) && *v <= self.high * (1.0 + 1e-12);
        let decades = usize::try_from(last - first + 1).unwrap_or(1);
        let fine = |factors: &[f64]| -> Vec<f64> {
            (first..=last)
                .flat_map(|k| factors.iter().map(move |f| f * ten(k)))
                .filter(within)
                .collect()
        };
        let mut values = fine(&[1.0]);
        if values.len() < 3 {
            values = fine(&[1.0, 2.0, 5.0]);
        }
        if values.len() < 2 {
            // Less than a factor of about three: as on a linear axis.
            return self.linear(wanted.min(4));
        }
        let stride = decades.div_ceil(wanted.max(1)).max(1);
        if values.len() > wanted.max(3) {
            values = (first..=last)
                .filter(|k| k.rem_euclid(i32::try_from(stride).unwrap_or(1)) == 0)
                .map(ten)
                .filter(within)
                .collect();
        }
        values.into_iter().map(|value| Tick { value, label: power_label(value) }).collect()
    }
}

/// 0.01, 200, 10⁵: a power of ten far from 1 is written as a power.
fn power_label(value: f64) -> String {
    let k = decade(value);
    if (-3..=4).contains(&k) {
        return number(value, 2);
    }
    let digits = |k: i32| -> String {
        k.to_string()
            .chars()
            .map(|c| match c {
                '-' => '⁻',
                '0' => '⁰',
                '1' => '¹',
                '2' => '²',
                '3' => '³',
                '4' => '⁴',
                '5' => '⁵',
                '6' => '⁶',
                '7' => '⁷',
                '8' => '⁸',
                _ => '⁹',
            })
            .collect()
    };
    let mantissa = value / ten(k);
    if (mantissa - 1.0).abs() < 1e-9 {
        format!("10{}", digits(k))
    } else {
        format!("{}·10{}", number(mantissa, 1), digits(k))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, low: f64, high: f64) -> Vec<String> {
        let axis = Axis::over(scale, [low, high].into_iter()).unwrap();
        axis.ticks(5).into_iter().map(|t| t.label).collect()
    }

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(labels(Scale::Linear, 0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(Scale::Linear, -3.0, 97.0), ["0", "20", "40", "60", "80"]);
        assert_eq!(labels(Scale::Linear, -0.02, 0.02), ["−0.02", "−0.01", "0.00", "0.01", "0.02"]);
        assert_eq!(labels(Scale::Linear, 0.0, 2.5e7), ["0", "5e6", "1e7", "1.5e7", "2e7", "2.5e7"]);
        assert_eq!(labels(Scale::Linear, 7.0, 7.0), ["4", "6", "8", "10"]);
        assert_eq!(labels(Scale::Linear, 0.0, 0.0), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
    }

    #[test]
    fn logarithmic_ticks_are_powers_or_one_two_five() {
        assert_eq!(labels(Scale::Log, 1.0, 1e4), ["1", "10", "100", "1000", "10000"]);
        assert_eq!(labels(Scale::Log, 3.0, 60.0), ["5", "10", "20", "50"]);
        assert_eq!(labels(Scale::Log, 1e-12, 1e6), ["10⁻¹²", "10⁻⁸", "10⁻⁴", "1", "10000"]);
        assert_eq!(labels(Scale::Log, 2.2, 2.6), ["2.2", "2.3", "2.4", "2.5", "2.6"]);
    }

    #[test]
    fn extreme_ranges_neither_hang_nor_overflow() {
        for (low, high) in [
            (-f64::MAX, f64::MAX),
            (1e16, 1e16 + 4.0),
            (5e-324, 1e-320),
            (1.0, 1.0 + 1e-15),
            (f64::MAX, f64::MAX),
        ] {
            let axis = Axis::over(Scale::Linear, [low, high].into_iter()).unwrap().airy();
            assert!(axis.ticks(5).len() < 60, "{low} {high}");
            assert!(
                (0.0..=1.0).contains(&axis.place(low)) && (0.0..=1.0).contains(&axis.place(high)),
                "{low} {high}: {}",
                axis.place(high)
            );
        }
        let axis = Axis::over(Scale::Log, [5e-324, f64::MAX].into_iter()).unwrap().airy();
        assert!(axis.ticks(5).len() < 12);
    }

    #[test]
    fn what_has_no_place_is_not_covered() {
        assert!(Axis::over(Scale::Log, [-1.0, 0.0, f64::NAN, f64::INFINITY].into_iter()).is_none());
        let axis = Axis::over(Scale::Log, [0.0, 1.0, 10.0].into_iter()).unwrap();
        assert_eq!(axis.ends(), (1.0, 10.0));
    }
}
