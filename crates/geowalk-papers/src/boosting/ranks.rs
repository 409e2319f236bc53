//! # Ranks and tests
//! Statistics on the errors of k learners on n domains: ranks on every domain (equal errors share the mean of their
//! ranks), and paired t-tests between all learners. Three methods correct for the number of comparisons: Friedman's
//! test for any difference of ranks, Nemenyi's critical difference between average ranks, and Holm's step-down
//! correction of the paired tests.
//!
//! **Care** *beats* is defined as in the paper: a smaller mean error, and a two-sided p below the threshold. Of 110
//! ordered pairs, 5.5 are expected to beat at .1 by chance alone. **Source** \[NN09, fig. 15\]; \[Demsar06, eq. (8),
//! (9), sec. 3.2.2\]; \[Holm79\].

use geowalk::Real;

use super::distributions::{chi_squared, fisher, student};

/// Errors that differ by less than this count as equal: they are means of fractions.
const EQUAL: f64 = 1e-12;

/// The ranks of values, 1 for the smallest; equal values share the mean of their ranks.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |own: &f64| {
        let below = values.iter().filter(|other| **other < own - EQUAL).count();
        let equal = values.iter().filter(|other| (**other - own).abs() <= EQUAL).count();
        below as f64 + 0.5 * (equal as f64 + 1.0)
    };
    values.iter().map(rank).collect()
}

/// The two-sided p value of the paired t-test; 1 if all values are equal.
pub fn paired(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let differences = || a.iter().zip(b).map(|(a, b)| a - b);
    let mean = differences().sum::<f64>() / n as f64;
    let squares: f64 = differences().map(|d| (d - mean) * (d - mean)).sum();
    let error = (squares / (n as f64 * (n as f64 - 1.0))).sqrt();
    if n < 2 || mean == 0.0 || differences().all(|d| d.abs() <= EQUAL) {
        return 1.0;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a number of domains")]
    student(mean / error, (n - 1) as u32)
}

/// Holm's correction of p values: the probability of any false rejection at a threshold is at most the threshold.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut largest: f64 = 0.0;
    for (done, at) in order.into_iter().enumerate() {
        largest = Real::max(largest, Real::min(p[at] * (p.len() - done) as f64, 1.0));
        adjusted[at] = largest;
    }
    adjusted
}

/// The result of Friedman's test for any difference of ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Friedman {
    /// Friedman's χ², corrected for ties, and its p.
    pub chi_squared: (f64, f64),
    /// The F of Iman and Davenport, and its p.
    pub f: (f64, f64),
}

/// Friedman's test on errors by domain; each row has the errors of all learners.
pub fn friedman(rows: &[Vec<f64>]) -> Friedman {
    let n = rows.len() as f64;
    let k = rows.first().map_or(0, Vec::len);
    let kf = k as f64;
    let (mut sums, mut ties) = (vec![0.0; k], 0.0);
    for row in rows {
        let own = ranks(row);
        for (sum, rank) in sums.iter_mut().zip(&own) {
            *sum += rank;
        }
        // Σ(t³ − t) over groups of equal errors, as Σ(t² − 1) over their members.
        for value in row {
            let equal = row.iter().filter(|other| (*other - value).abs() <= EQUAL).count() as f64;
            ties += equal * equal - 1.0;
        }
    }
    let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
    let plain = 12.0 / (n * kf * (kf + 1.0)) * squares - 3.0 * n * (kf + 1.0);
    let corrected = plain / (1.0 - ties / (n * kf * (kf * kf - 1.0)));
    let f = (n - 1.0) * corrected / (n * (kf - 1.0) - corrected);
    #[expect(clippy::cast_possible_truncation, reason = "numbers of learners and domains")]
    let (above, below) = (k as u32 - 1, (k as u32 - 1) * (rows.len() as u32 - 1));
    Friedman {
        chi_squared: (corrected, chi_squared(corrected, above)),
        f: (f, fisher(f, above, below)),
    }
}

/// The studentised range of 11 learners at .05, divided by √2.
const NEMENYI_11: f64 = 3.218_653_61;

/// The smallest difference of average ranks of 11 learners that is significant at .05, by Nemenyi's test.
pub fn critical_difference(domains: usize) -> f64 {
    NEMENYI_11 * (11.0 * 12.0 / (6.0 * domains as f64)).sqrt()
}

/// The statistics of k learners.
#[derive(Debug, Clone)]
pub struct Standing {
    /// Mean error of each learner.
    pub errors: Vec<f64>,
    /// Average rank of each learner.
    pub ranks: Vec<f64>,
    /// For each learner, the number of domains on which it has rank 1, 2, …, k; shared ranks are rounded.
    pub histograms: Vec<Vec<usize>>,
    /// For each learner, the number of domains on which it is best, and worst, including ties.
    pub extremes: Vec<(usize, usize)>,
    /// p values of the paired tests, for each pair of learners.
    pub p: Vec<Vec<f64>>,
    /// These p values after Holm's correction for all pairs.
    pub corrected: Vec<Vec<f64>>,
    /// Friedman's test.
    pub friedman: Friedman,
    /// Number of domains.
    pub domains: usize,
}

impl Standing {
    /// The statistics of errors by domain; each row has the errors of all learners.
    pub fn new(rows: &[Vec<f64>]) -> Self {
        let (n, k) = (rows.len(), rows.first().map_or(0, Vec::len));
        let column = |at: usize| -> Vec<f64> { rows.iter().map(|row| row[at]).collect() };
        let columns: Vec<Vec<f64>> = (0..k).map(column).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / n as f64;
        let (mut sums, mut histograms) = (vec![0.0; k], vec![vec![0; k]; k]);
        let mut extremes = vec![(0, 0); k];
        for row in rows {
            let least = row.iter().copied().fold(f64::INFINITY, Real::min);
            let most = row.iter().copied().fold(0.0, Real::max);
            for (at, rank) in ranks(row).into_iter().enumerate() {
                sums[at] += rank / n as f64;
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "1 to k"
                )]
                let place = (rank.round() as usize).clamp(1, k) - 1;
                histograms[at][place] += 1;
                extremes[at].0 += usize::from(row[at] <= least + EQUAL);
                extremes[at].1 += usize::from(row[at] >= most - EQUAL);
            }
        }
        let pairs: Vec<(usize, usize)> =
            (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b))).collect();
        let plain: Vec<f64> =
            pairs.iter().map(|(a, b)| paired(&columns[*a], &columns[*b])).collect();
        let (mut p, mut corrected) = (vec![vec![1.0; k]; k], vec![vec![1.0; k]; k]);
        for ((own, adjusted), (a, b)) in plain.iter().zip(holm(&plain)).zip(pairs) {
            (p[a][b], p[b][a]) = (*own, *own);
            (corrected[a][b], corrected[b][a]) = (adjusted, adjusted);
        }
        Self {
            errors: columns.iter().map(|column| mean(column)).collect(),
            ranks: sums,
            histograms,
            extremes,
            p,
            corrected,
            friedman: friedman(rows),
            domains: n,
        }
    }

    fn count(&self, own: usize, p: &[f64], threshold: f64) -> usize {
        let better = |other: usize| self.errors[own] < self.errors[other];
        p.iter().enumerate().filter(|(other, p)| **p < threshold && better(*other)).count()
    }

    /// The number of learners that a learner beats by the paired test at a threshold, as in the paper.
    pub fn beats(&self, own: usize, threshold: f64) -> usize {
        self.count(own, &self.p[own], threshold)
    }

    /// The number of learners that a learner beats after Holm's correction.
    pub fn beats_corrected(&self, own: usize, threshold: f64) -> usize {
        self.count(own, &self.corrected[own], threshold)
    }

    /// Learners ordered by mean error, ascending.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.errors.len()).collect();
        order.sort_by(|a, b| self.errors[*a].total_cmp(&self.errors[*b]));
        order
    }

    /// The place of a learner by average rank, from 1; equal ones share the best place.
    pub fn place(&self, own: usize) -> usize {
        1 + self.ranks.iter().filter(|rank| **rank < self.ranks[own] - EQUAL).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(ranks(&[0.3, 0.1, 0.2, 0.1]), [4.0, 1.5, 3.0, 1.5]);
        assert_eq!(ranks(&[0.5; 3]), [2.0; 3]);
    }

    /// The values agree with `scipy.stats.ttest_rel`, `friedmanchisquare` and `statsmodels`
    /// `multipletests(method="holm")`.
    #[expect(clippy::unreadable_literal, reason = "digits as they were printed")]
    #[test]
    fn tests_are_those_that_others_compute() {
        let a = [0.10, 0.20, 0.15, 0.30, 0.05, 0.12];
        let b = [0.12, 0.21, 0.19, 0.31, 0.09, 0.12];
        let c = [0.11, 0.25, 0.20, 0.28, 0.15, 0.17];
        assert!((paired(&a, &b) - 0.03271993555093368).abs() < 1e-12, "{}", paired(&a, &b));
        assert_eq!(paired(&a, &a), 1.0);
        let rows: Vec<Vec<f64>> = (0..6).map(|i| vec![a[i], b[i], c[i]]).collect();
        let found = friedman(&rows);
        assert!((found.chi_squared.0 - 5.478260869565217).abs() < 1e-12, "{found:?}");
        assert!((found.chi_squared.1 - 0.0646265194402087).abs() < 1e-12, "{found:?}");
        assert_eq!(holm(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
        let standing = Standing::new(&rows);
        assert_eq!(standing.extremes[0], (5, 0));
        assert_eq!((standing.place(0), standing.order()[0]), (1, 0));
        assert_eq!((standing.beats(0, 0.1), standing.beats(2, 0.1)), (2, 0));
        assert!(standing.beats_corrected(0, 0.1) <= 2);
        assert_eq!(standing.histograms[0].iter().sum::<usize>(), 6);
    }
}
