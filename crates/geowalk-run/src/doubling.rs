//! # Certified rates without declared constants
//! A theorem prescribes a rate from constants of the data. Where they are not declared the run plays in [epochs](geowalk::certify::Epochs), each with the rate for what has been seen when it begins:
//!
//! | walk and loss | what is seen | a new epoch | its rate |
//! |---|---|---|---|
//! | `gd`, squared; p-norm, smooth | X, the size of rows | before a row with ‖x‖ > X: X ← max(√2·X, ‖x‖) | as with X declared; weights are kept |
//! | `gd`, `implicit:euclidean`, p-norm, any convex loss | B ≥ Σ(g‖x‖)² of the epoch | before a step that exceeds it: B ← max(4B, (g‖x‖)²) | U/√B, U√((q − 1)/B); weights are kept |
//! | `eg`, `eg+-`, squared; `egu`, `reparam-egu` with `--y-range` | X, the range of rows | the same as in the first line | as with the range declared; weights are back at the start |
//! | `eg`, `eg+-`, bounded slopes | B ≥ Σ(Z·range)² of the epoch | before a row that may exceed it: B ← max(4B, (Z·range)²) | √(8D/B); weights are back at the start |
//! | `sphere`, invariant | ‖x‖ | never: the theorem takes rates that vary | 1/(2‖x‖²), row by row |
//!
//! **What it costs** An epoch has a rate within a factor 2 of the one that the theorem would prescribe for it; so the bounds of epochs grow at least geometrically with what is doubled, and their sum is at most a constant times the
//! last, plus what is paid for weights that were kept, which is in the bound as it is printed. U and D are what the user declares as `--distance`; otherwise U = S/R, with S the largest label and R the largest row seen when the
//! epoch begins (weights of that size give such rows such predictions), and D = ln n. They choose for which comparators the bound is sharpest; it holds for all. **Care** Where weights go back to the start the epoch must begin before the label is known, or the prediction would be another one.
//! **Cost** O(nnz): the size of each row.

use geowalk::Real;
use geowalk::certify::rules;
use geowalk::row::{Norm, Row};

/// No rate is larger; while nothing has moved the rate does not matter, and the larger it is the less is paid for it.
const LARGEST: f64 = 1e100;

/// How large a row is to a theorem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// Its norm.
    Norm(Norm),
    /// From the least to the greatest of its features, those that it leaves out among them; for two-sided walks with scale U, of (Ux, −Ux).
    Span(Option<f64>),
    /// Its greatest feature.
    Top,
}

impl Measure {
    /// The size of a row for a walk with so many features.
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

/// A rate from the size X of rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Formula {
    /// c/X².
    Square(f64),
    /// c/X² with the c at which √A ≤ (√L + √(L + W²X²(1 − c)/c))/(2(1 − c)) is least, for these W and L.
    LeastSquares(f64, f64),
    /// That of EG for these D and L.
    Eg(f64, f64),
    /// c/(XY) for this c and Y.
    Product(f64, f64),
    /// That of EGU for these Y, D and L.
    Egu(f64, f64, f64),
}

impl Formula {
    /// The rate.
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
    // Unimodal in c: a search by thirds.
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

/// When an epoch ends, and the rate of the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// A row is larger than any before. Kept or not, as it says.
    Size {
        /// The rate.
        formula: Formula,
        /// Do the weights go back to the start?
        restarts: bool,
    },
    /// Σ(g·size)² exceeds B; the rate is cU/√B, and the weights are kept.
    Squares {
        /// c.
        c: f64,
        /// U; the largest label divided by the largest size without one.
        distance: Option<f64>,
    },
    /// Σ(Z·size)² exceeds B; the rate is √(8D/B), and the weights go back to the start.
    Entropy {
        /// D; ln n without one.
        d: Option<f64>,
        /// Z.
        slope: f64,
    },
    /// No epochs: c/size².
    Each {
        /// c.
        c: f64,
    },
}

/// A doubling scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Doubling {
    /// What is measured of rows.
    pub measure: Measure,
    /// What follows from it.
    pub rule: Rule,
}

impl Doubling {
    /// Do weights go back to the start when an epoch begins?
    pub(crate) fn restarts(&self) -> bool {
        matches!(self.rule, Rule::Size { restarts: true, .. } | Rule::Entropy { .. })
    }

    /// The norm in which weights that are kept are measured.
    pub(crate) fn norm(&self) -> Norm {
        match self.measure {
            Measure::Norm(norm) => norm.dual(),
            _ => Norm::L1,
        }
    }
}

/// A doubling scheme in use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pace {
    pub(crate) scheme: Doubling,
    /// Size of the present row.
    size: f64,
    /// X or B.
    most: f64,
    /// How much of B has been used.
    spent: f64,
    /// The largest size and the largest label seen.
    largest: [f64; 2],
    pub(crate) rate: f64,
}

impl Pace {
    /// At the beginning: nothing has been seen.
    pub(crate) fn new(scheme: Doubling) -> Self {
        Self { scheme, size: 0.0, most: 0.0, spent: 0.0, largest: [0.0; 2], rate: LARGEST }
    }

    /// Sees a row before it is predicted, of an example of this weight. Does a new epoch begin with it?
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

    /// Sees the slopes of the predictions, Σg² over outputs, and the label, before the step. Does a new epoch begin with it?
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

    /// Must the slopes be known?
    pub(crate) fn feels(&self) -> bool {
        matches!(self.scheme.rule, Rule::Squares { .. })
    }

    /// Uses up part of B, or of the next.
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

    /// Everything that changes.
    pub(crate) fn save(&self) -> [f64; 5] {
        [self.most, self.spent, self.largest[0], self.largest[1], self.rate]
    }

    /// Continues from what `save` gave.
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
                // Labels of size 5 on rows of size 2: weights of size 5/2.
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
