//! # The best sequences of experts
//! $$B_m(i) \leftarrow \min\bigl(B_m(i),\; \min_j B_{m-1}(j)\bigr) + \ell_i$$
//! the least loss of a sequence of experts that ends with i and has at most m switches, for every m up to a limit, exactly and while the rounds go by.
//! **Cost** O(mn) per round. **Source** \[HW98\].

use crate::sum::Sum;

/// The least losses of sequences with few switches.
///
/// ```
/// use geowalk::experts::Sequences;
/// let mut best = Sequences::new(2, 1);
/// for t in 0..10 {
///     best.add(&if t < 5 { [0.0, 1.0] } else { [1.0, 0.0] });
/// }
/// assert_eq!((best.loss(0), best.loss(1)), (Some(5.0), Some(0.0)));
/// ```
#[derive(Debug, Clone)]
pub struct Sequences {
    /// B_m, for each m.
    best: Vec<Vec<Sum>>,
}

impl Sequences {
    /// For n experts and up to `switches` switches.
    pub fn new(n: usize, switches: usize) -> Self {
        Self { best: vec![vec![Sum::default(); n]; switches + 1] }
    }

    /// Every expert loses.
    pub fn add(&mut self, losses: &[f64]) {
        for m in (0..self.best.len()).rev() {
            let fewer = m.checked_sub(1).and_then(|m| least(&self.best[m]));
            for (own, loss) in self.best[m].iter_mut().zip(losses) {
                if let Some(fewer) = fewer
                    && fewer.total() < own.total()
                {
                    *own = fewer;
                }
                own.add(*loss);
            }
        }
    }

    /// What the best sequence with at most m switches lost.
    pub fn loss(&self, m: usize) -> Option<f64> {
        Some(least(self.best.get(m)?)?.total())
    }
}

fn least(sums: &[Sum]) -> Option<Sum> {
    sums.iter().copied().reduce(|a, b| if b.total() < a.total() { b } else { a })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Sampler;

    #[test]
    fn against_all_sequences() {
        let mut random = Sampler::new(3);
        let (n, k) = (3_usize, 7_u32);
        let rows: Vec<Vec<f64>> = (0..k).map(|_| (0..n).map(|_| random.unit()).collect()).collect();
        let mut best = Sequences::new(n, 3);
        for row in &rows {
            best.add(row);
        }
        let mut least = [f64::INFINITY; 4];
        for code in 0..n.pow(k) {
            let path: Vec<usize> = (0..k).map(|t| code / n.pow(t) % n).collect();
            let switches = path.windows(2).filter(|pair| pair[0] != pair[1]).count();
            let loss: f64 = path.iter().zip(&rows).map(|(i, row)| row[*i]).sum();
            for least in least.iter_mut().skip(switches) {
                *least = least.min(loss);
            }
        }
        for (m, least) in least.iter().enumerate() {
            assert!((best.loss(m).unwrap() - least).abs() < 1e-12);
        }
    }
}
