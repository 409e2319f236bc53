//! # Certified rates without declared constants
//! A theorem prescribes a rate from constants of the data. If the user does not declare them, the run is split into
//! [epochs](geowalk::certify::Epochs). Each epoch uses the rate for the data seen when it begins:
//!
//! | | walk and loss | measured size s | rate | weights |
//! |---|---|---|---|---|
//! | 1 | `gd`, squared; p-norm, smooth | ‖x‖ | as with X declared | kept |
//! | 2 | `gd`, `implicit:euclidean`, p-norm; any convex loss | g‖x‖ | U/√B, U√((q − 1)/B) | kept |
//! | 3 | `eg`, `eg+-`, squared; `egu`, `reparam-egu` with `--y-range` | range of x | as with X declared | restart |
//! | 4 | `eg`, `eg+-`, bounded slopes | Z·range of x | √(8D/B) | restart |
//! | 5 | `sphere`, invariant | ‖x‖ | 1/(2‖x‖²), row by row | kept |
//!
//! In lines 1 and 3, a new epoch begins before a row with s > X, and X ← max(√2·X, s). In lines 2 and 4, B is a limit
//! of Σs² within the epoch. A new epoch begins before a step (line 4: a row) that would exceed it, and B ← max(4B,
//! s²). Line 5 has no epochs, because its theorem allows varying rates.
//!
//! **Price of doubling** The rate of an epoch is within a factor 2 of the one that the theorem would prescribe for it.
//! So the bounds of the epochs grow at least geometrically with the doubled quantity, and their sum is at most a
//! constant times the last bound, plus a price for the weights that were kept. The printed bound includes that price.
//!
//! **Comparators** U and D are declared with `--distance`. Otherwise U = S/R, where S is the largest label and R the
//! largest row seen when the epoch begins, because weights of that size predict S on such rows. Without a declaration,
//! D = ln n. U and D determine for which comparators the bound is sharpest; it holds for all comparators.
//!
//! **Restarts** If weights restart, the epoch must begin before the label is known. Otherwise the prediction would be
//! made with other weights.
//!
//! **Cost** O(nnz) for the size of each row.

use geowalk::Real;
use geowalk::certify::rules;
use geowalk::row::{Norm, Row};

/// Limit of every rate. While no weight has moved, the rate does not matter, and a larger rate makes the bound
/// smaller.
const LARGEST: f64 = 1e100;

/// How a theorem measures the size of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// Its norm.
    Norm(Norm),
    /// The largest feature minus the smallest, absent features counting as 0. For two-sided walks with scale U, of
    /// (Ux, −Ux).
    Span(Option<f64>),
    /// The largest feature.
    Top,
}

impl Measure {
    /// The size of a row for a walk with this number of features.
    fn of<X: Row<f64>>(self, x: X, features: usize) -> f64 {
        let (mut lo, mut hi, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0);
        if let Self::Norm(norm) = self {
            return x.norm(norm);
        }
        x.each(|_, x| {
            (lo, hi) = (Real::min(lo, x), Real::max(hi, x));
            count += 1;
        });
        if count < features.max(x.bound()) || count == 0 {
            (lo, hi) = (Real::min(lo, 0.0), Real::max(hi, 0.0));
        }
        match self {
            Self::Span(None) => hi - lo,
            Self::Span(Some(scale)) => 2.0 * scale * Real::max(hi, -lo),
            Self::Top | Self::Norm(_) => Real::max(hi, 0.0),
        }
    }
}

/// A rate as a function of the size X of rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Formula {
    /// c/X².
    Square(f64),
    /// c/X². Here c minimises the bound √A ≤ (√L + √(L + W²X²(1 − c)/c))/(2(1 − c)) for the given W and L.
    LeastSquares(f64, f64),
    /// The rate of EG for the given D and L.
    Eg(f64, f64),
    /// c/(XY) for the given c and Y.
    Product(f64, f64),
    /// The rate of EGU for the given Y, D and L.
    Egu(f64, f64, f64),
}

impl Formula {
    /// The rate for rows of size x.
    pub(crate) fn rate(self, x: f64) -> f64 {
        match self {
            Self::Square(c) => c / (x * x),
            Self::LeastSquares(w, l) => least_squares(x, w, l),
            Self::Eg(d, l) => rules::eg_rate(x, d, l),
            Self::Product(c, y) => c / (x * y),
            Self::Egu(y, d, l) => rules::egu_rate(x, y, d, l),
        }
    }
}

/// The c/X² of [`Formula::LeastSquares`].
fn least_squares(x: f64, w: f64, l: f64) -> f64 {
    let square = x * x;
    let bound =
        |c: f64| (l.sqrt() + (l + w * w * square * (1.0 - c) / c).sqrt()) / (2.0 * (1.0 - c));
    // Unimodal in c: ternary search.
    let (mut lo, mut hi) = (1e-9_f64, 0.5);
    for _ in 0..200 {
        let (left, right) = (lo + (hi - lo) / 3.0, hi - (hi - lo) / 3.0);
        if bound(left) <= bound(right) {
            hi = right;
        } else {
            lo = left;
        }
    }
    0.5 * (lo + hi) / square
}

/// The rule for the end of an epoch and the rate of the next one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// An epoch ends before a row that is larger than all earlier ones.
    Size {
        /// The rate.
        formula: Formula,
        /// Whether the weights restart.
        restarts: bool,
    },
    /// An epoch ends when Σ(g·size)² exceeds B. The rate is cU/√B; the weights are kept.
    Squares {
        /// c.
        c: f64,
        /// U; if `None`, the largest label divided by the largest size.
        distance: Option<f64>,
    },
    /// An epoch ends when Σ(Z·size)² exceeds B. The rate is √(8D/B); the weights restart.
    Entropy {
        /// D; if `None`, ln n.
        d: Option<f64>,
        /// Z.
        slope: f64,
    },
    /// No epochs: the rate is c/size² at each row.
    Each {
        /// c.
        c: f64,
    },
}

/// A doubling scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Doubling {
    /// How rows are measured.
    pub measure: Measure,
    /// When epochs end, and the rate of each.
    pub rule: Rule,
}

impl Doubling {
    /// Whether the weights restart at the beginning of an epoch.
    pub(crate) fn restarts(&self) -> bool {
        matches!(self.rule, Rule::Size { restarts: true, .. } | Rule::Entropy { .. })
    }

    /// The norm in which the kept weights are measured.
    pub(crate) fn norm(&self) -> Norm {
        match self.measure {
            Measure::Norm(norm) => norm.dual(),
            _ => Norm::L1,
        }
    }
}

/// The state of a doubling scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pace {
    pub(crate) scheme: Doubling,
    /// Size of the present row.
    size: f64,
    /// X or B.
    most: f64,
    /// The part of B used by the present epoch.
    spent: f64,
    /// The largest size and the largest label seen.
    largest: [f64; 2],
    pub(crate) rate: f64,
}

impl Pace {
    /// The state before the first row.
    pub(crate) fn new(scheme: Doubling) -> Self {
        Self { scheme, size: 0.0, most: 0.0, spent: 0.0, largest: [0.0; 2], rate: LARGEST }
    }

    /// Measures a row of an example with this weight before the row is predicted. Returns whether a new epoch begins
    /// with it.
    pub(crate) fn look<X: Row<f64>>(&mut self, x: X, features: usize, weight: f64) -> bool {
        self.size = self.scheme.measure.of(x, features);
        match self.scheme.rule {
            Rule::Size { formula, .. } => {
                let new = self.size > self.most;
                if new {
                    self.most = Real::max(std::f64::consts::SQRT_2 * self.most, self.size);
                    self.set(formula.rate(self.most));
                }
                new
            }
            Rule::Entropy { d, slope } => {
                let n = features.max(x.bound()).max(2) as f64;
                let d = d.unwrap_or(Real::ln(n));
                let new = self.spend(slope * weight * self.size);
                if new {
                    self.set((8.0 * d / self.most).sqrt());
                }
                new
            }
            Rule::Each { c } => {
                if self.size > 0.0 {
                    self.set(c / (self.size * self.size));
                }
                false
            }
            Rule::Squares { .. } => false,
        }
    }

    /// Given the slopes of the predictions (Σg² over outputs) and the label, before the step. Returns whether a new
    /// epoch begins with this step.
    pub(crate) fn feel(&mut self, squares: f64, label: f64) -> bool {
        let Rule::Squares { c, distance } = self.scheme.rule else { return false };
        let [size, most] = &mut self.largest;
        (*size, *most) = (Real::max(*size, self.size), Real::max(*most, label.abs()));
        let usual = if *most > 0.0 { *most / *size } else { 1.0 / *size };
        let new = self.spend(squares.sqrt() * self.size);
        if new {
            self.set(c * distance.unwrap_or(usual) / self.most.sqrt());
        }
        new
    }

    /// Whether the rule needs the slopes.
    pub(crate) fn feels(&self) -> bool {
        matches!(self.scheme.rule, Rule::Squares { .. })
    }

    /// Adds to the used part of B. Returns whether this exceeds B and a new epoch begins.
    fn spend(&mut self, pull: f64) -> bool {
        let square = pull * pull;
        let new = self.spent + square > self.most;
        if new {
            self.most = Real::max(4.0 * self.most, square);
            self.spent = 0.0;
        }
        self.spent += square;
        new
    }

    fn set(&mut self, rate: f64) {
        self.rate = Real::min(rate, LARGEST);
    }

    /// All mutable state, for the model file.
    pub(crate) fn save(&self) -> [f64; 5] {
        [self.most, self.spent, self.largest[0], self.largest[1], self.rate]
    }

    /// Restores the state written by `save`.
    pub(crate) fn load(self, [most, spent, size, label, rate]: [f64; 5]) -> Self {
        Self { most, spent, largest: [size, label], rate, ..self }
    }
}

#[cfg(test)]
mod tests {
    use geowalk::row::{Dense, Sparse};

    use super::*;

    #[test]
    fn a_larger_row_begins_an_epoch_at_a_smaller_rate() {
        let scheme = Doubling {
            measure: Measure::Norm(Norm::L2),
            rule: Rule::Size { formula: Formula::Square(0.5), restarts: false },
        };
        let mut pace = Pace::new(scheme);
        let mut see = |x: f64| (pace.look(Dense(&[x]), 1, 1.0), pace.rate);
        assert_eq!(see(0.0), (false, LARGEST));
        assert_eq!(see(2.0), (true, 0.125));
        assert_eq!(see(-1.0), (false, 0.125));
        let (new, rate) = see(2.1);
        assert!(new && (rate - 0.0625).abs() < 1e-15, "{rate}");
        assert_eq!(see(2.8), (false, rate));
        assert_eq!(see(100.0), (true, 0.5e-4));
    }

    #[test]
    fn squares_are_quadrupled() {
        for (distance, first) in [(Some(3.0), 1.5), (None, 1.25)] {
            let rule = Rule::Squares { c: 1.0, distance };
            let scheme = Doubling { measure: Measure::Norm(Norm::L2), rule };
            let mut pace = Pace::new(scheme);
            let mut epochs = Vec::new();
            for t in 1..=100 {
                assert!(!pace.look(Dense(&[2.0]), 1, 1.0));
                // Labels of size 5 and rows of size 2 suggest weights of size 5/2.
                if pace.feel(1.0, -5.0) {
                    epochs.push((t, pace.rate / first));
                }
                assert_eq!(Pace::new(scheme).load(pace.save()).save(), pace.save());
            }
            assert_eq!(epochs, [(1, 1.0), (2, 0.5), (6, 0.25), (22, 0.125), (86, 0.0625)]);
        }
    }

    #[test]
    fn spans_count_what_a_row_leaves_out() {
        let row = Sparse::new(&[0, 2], &[3.0, 5.0]).unwrap();
        assert_eq!(Measure::Span(None).of(row, 3), 5.0);
        assert_eq!(Measure::Span(None).of(Dense(&[3.0, 5.0]), 2), 2.0);
        assert_eq!(Measure::Span(None).of(Dense(&[3.0, 5.0]), 3), 5.0);
        assert_eq!(Measure::Span(Some(2.0)).of(Dense(&[-3.0, 1.0]), 2), 12.0);
        assert_eq!(Measure::Top.of(Dense(&[-3.0, -1.0]), 2), 0.0);
        assert_eq!(Measure::Span(None).of(Dense(&[0.0_f64; 0]), 0), 0.0);
    }
}
