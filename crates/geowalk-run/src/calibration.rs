//! # Calibration of probabilities
//! Groups predictions into bins by their probability, and compares the mean prediction with the observed frequency in
//! each bin. For two classes, the probability is that of the positive class; for more, that of the predicted class.
//! Also computes the margins: P of the true class minus the largest P of another class, in [−1, 1]. For two classes
//! the margin is $2\nabla\varphi^{-1}(yH) - 1$.
//!
//! **Source** \[NN09, eq. (42)\] for the margins; \[GPSW17\] for the expected calibration error, the sum over bins of
//! (fraction of rows)·|mean prediction − observed frequency|.

/// Number of bins, of equal width.
const BINS: usize = 10;

/// Mean prediction and observed frequency for predictions of similar probability.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bin {
    /// Number of rows.
    pub rows: usize,
    /// The mean predicted probability.
    pub said: f64,
    /// The observed frequency: the fraction of rows with the class.
    pub came: f64,
}

/// Calibration bins and margins of a set of predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// The nonempty bins, by increasing probability.
    pub bins: Vec<Bin>,
    /// The expected calibration error.
    pub error: f64,
    /// The margin of each row.
    pub margins: Vec<f64>,
}

impl Calibration {
    /// Computes the calibration from the probabilities of `classes` classes, row by row, and the class of each row.
    ///
    /// ```
    /// use geowalk_run::calibration::Calibration;
    /// let found = Calibration::new(&[0.25, 0.75, 0.25, 0.75, 1.0, 0.0], 2, &[1, 0, 0]);
    /// assert_eq!(found.margins, [0.5, -0.5, 1.0]);
    /// assert_eq!(found.bins.len(), 2);
    /// assert_eq!((found.bins[1].said, found.bins[1].came), (0.75, 0.5));
    /// ```
    pub fn new(probabilities: &[f64], classes: usize, codes: &[u32]) -> Self {
        let mut bins = [Bin::default(); BINS];
        let mut margins = Vec::with_capacity(codes.len());
        for (own, code) in probabilities.chunks_exact(classes.max(1)).zip(codes) {
            let class = *code as usize;
            let best = |without: Option<usize>| {
                let others = own.iter().enumerate().filter(|(k, _)| Some(*k) != without);
                others.fold(
                    (0, f64::NEG_INFINITY),
                    |best, (k, p)| if *p > best.1 { (k, *p) } else { best },
                )
            };
            margins.push(own.get(class).copied().unwrap_or(0.0) - best(Some(class)).1);
            let (said, came) = if classes == 2 {
                (own[1], class == 1)
            } else {
                let (found, p) = best(None);
                (p, found == class)
            };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of the bins"
            )]
            let bin = &mut bins[((said * BINS as f64) as usize).min(BINS - 1)];
            bin.rows += 1;
            bin.said += said;
            bin.came += f64::from(u8::from(came));
        }
        let bins: Vec<Bin> = bins
            .into_iter()
            .filter(|bin| bin.rows > 0)
            .map(|Bin { rows, said, came }| Bin {
                rows,
                said: said / rows as f64,
                came: came / rows as f64,
            })
            .collect();
        let off: f64 = bins.iter().map(|bin| bin.rows as f64 * (bin.said - bin.came).abs()).sum();
        Self { bins, error: off / (codes.len() as f64).max(1.0), margins }
    }

    /// Number of margins in each of `intervals` equal intervals of [−1, 1], as (from, to, rows).
    pub fn histogram(&self, intervals: usize) -> Vec<(f64, f64, f64)> {
        let width = 2.0 / intervals as f64;
        let mut counts = vec![0.0; intervals];
        for margin in &self.margins {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "−1 to 1")]
            let at = (((margin + 1.0) / width).max(0.0) as usize).min(intervals.saturating_sub(1));
            if let Some(count) = counts.get_mut(at) {
                *count += 1.0;
            }
        }
        let from = |at: usize| at as f64 * width - 1.0;
        counts.into_iter().enumerate().map(|(at, count)| (from(at), from(at + 1), count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_classes_are_judged_by_the_one_that_is_predicted() {
        let p = [0.7, 0.2, 0.1, 0.3, 0.3, 0.4, 0.05, 0.9, 0.05];
        let found = Calibration::new(&p, 3, &[0, 2, 0]);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-15;
        assert!(
            near(found.margins[0], 0.5)
                && near(found.margins[1], 0.1)
                && near(found.margins[2], -0.85)
        );
        let said: Vec<(usize, f64)> = found.bins.iter().map(|bin| (bin.rows, bin.came)).collect();
        assert_eq!(said, [(1, 1.0), (1, 1.0), (1, 0.0)]);
        assert!(near(found.error, (0.6 + 0.3 + 0.9) / 3.0), "{}", found.error);
        let histogram = found.histogram(4);
        let counts: Vec<f64> = histogram.iter().map(|bar| bar.2).collect();
        assert_eq!(counts, [1.0, 0.0, 1.0, 1.0]);
        assert_eq!((histogram[0].0, histogram[3].1), (-1.0, 1.0));
        assert!(Calibration::new(&[], 2, &[]).bins.is_empty());
    }
}
