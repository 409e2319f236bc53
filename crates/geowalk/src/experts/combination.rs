//! # The best convex combination in hindsight
//! $$\min_{w \in \Delta} \sum_t \ell(\langle w, x_t\rangle, y_t)$$
//! by pairwise Frank–Wolfe steps with a line search: weight goes from the worst coordinate that has any to the best one. The gap
//! $\max_i \langle \nabla, w - e_i\rangle$ bounds how far the loss is above the minimum, so the answer carries its own proof.
//! **Cost** O(kn) per step for k rows. **Care** where the loss has kinks the gap does not shrink to 0; the absolute loss is smoothed first, $h_\delta \le |r| \le h_\delta + \delta/2$, and the
//! gap counts that too. **Source** \[LJ15\].

use crate::Real;
use crate::loss::{Absolute, AnyLoss, Facts, Huber, Loss};
use crate::sum::Sum;

/// Convex weights and how good they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Combination {
    /// Nonnegative, summing to 1.
    pub w: Vec<f64>,
    /// What they lose.
    pub loss: f64,
    /// No convex weights lose less than loss − gap.
    pub gap: f64,
}

/// Examples of n forecasts each, one after the other, and their outcomes.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    /// Forecasts per row.
    pub n: usize,
    /// The rows, one after the other.
    pub rows: &'a [f64],
    /// The outcomes.
    pub y: &'a [f64],
}

impl Table<'_> {
    fn predict(&self, w: &[f64], out: &mut Vec<f64>) {
        out.clear();
        let rows = self.rows.chunks_exact(self.n.max(1));
        out.extend(rows.map(|row| row.iter().zip(w).map(|(x, w)| x * w).sum::<f64>()));
    }

    fn value<L: Loss + ?Sized>(&self, z: &[f64], loss: &L) -> f64 {
        let mut sum = Sum::default();
        for (z, y) in z.iter().zip(self.y) {
            sum.add(loss.value(*z, *y));
        }
        sum.total()
    }
}

/// The best convex combination of the columns of a table.
///
/// ```
/// use geowalk::experts::{Table, best_combination};
/// use geowalk::loss::{AnyLoss, Squared};
/// // One expert says 0, the other 1; the outcome is ¾ throughout.
/// let table = Table { n: 2, rows: &[0.0, 1.0, 0.0, 1.0], y: &[0.75, 0.75] };
/// let best = best_combination(&table, &AnyLoss::from(Squared));
/// assert!((best.w[1] - 0.75).abs() < 1e-6 && best.gap < 1e-9);
/// ```
pub fn best_combination<L: Loss + ?Sized>(table: &Table<'_>, loss: &L) -> Combination {
    if loss.spec() != Absolute.spec() {
        return descend(table, loss);
    }
    // Smooth on the scale of a thousandth of the mean residual: less would cost many more steps.
    let mut z = Vec::new();
    table.predict(&vec![1.0 / table.n as f64; table.n], &mut z);
    let scale = table.value(&z, loss) / table.y.len().max(1) as f64;
    let delta = Real::max(1e-3 * scale, 1e-100);
    let Ok(huber) = Huber::new(delta) else { return descend(table, loss) };
    let smooth = descend(table, &Scaled { loss: AnyLoss::from(huber), factor: delta.recip() });
    table.predict(&smooth.w, &mut z);
    let value = table.value(&z, loss);
    Combination {
        gap: Real::max(value - (smooth.loss - smooth.gap), 0.0),
        loss: value,
        w: smooth.w,
    }
}

/// A multiple of a loss.
#[derive(Debug)]
struct Scaled {
    loss: AnyLoss,
    factor: f64,
}

impl Loss for Scaled {
    fn spec(&self) -> String {
        self.loss.spec()
    }

    fn value(&self, z: f64, y: f64) -> f64 {
        self.factor * self.loss.value(z, y)
    }

    fn slope(&self, z: f64, y: f64) -> f64 {
        self.factor * self.loss.slope(z, y)
    }

    fn curvature(&self, z: f64, y: f64) -> f64 {
        self.factor * self.loss.curvature(z, y)
    }

    fn minimizer(&self, y: f64) -> f64 {
        self.loss.minimizer(y)
    }

    fn facts(&self) -> Facts {
        self.loss.facts()
    }
}

/// Steps of the descent at most.
const STEPS: usize = 20_000;

fn descend<L: Loss + ?Sized>(table: &Table<'_>, loss: &L) -> Combination {
    let n = table.n;
    let mut w = vec![1.0 / n as f64; n];
    let (mut z, mut gradient, mut direction) = (Vec::new(), vec![0.0; n], Vec::new());
    table.predict(&w, &mut z);
    let mut gap = f64::INFINITY;
    for step in 0..STEPS {
        if step % 100 == 99 {
            // What rounding has done to the predictions is undone now and then.
            table.predict(&w, &mut z);
        }
        gradient.fill(0.0);
        for ((row, z), y) in table.rows.chunks_exact(n.max(1)).zip(&z).zip(table.y) {
            let slope = loss.slope(*z, *y);
            for (gradient, x) in gradient.iter_mut().zip(row) {
                *gradient += slope * x;
            }
        }
        let (mut best, mut worst) = (0, None);
        for i in 0..n {
            if gradient[i] < gradient[best] {
                best = i;
            }
            if w[i] > 0.0 && worst.is_none_or(|j: usize| gradient[i] > gradient[j]) {
                worst = Some(i);
            }
        }
        let mean: f64 = gradient.iter().zip(&w).map(|(g, w)| g * w).sum();
        gap = Real::max(mean - gradient[best], 0.0);
        let value = table.value(&z, loss);
        let Some(worst) = worst else { break };
        if gap <= 1e-10 * (1e-300 + value.abs()) || best == worst || gap.is_nan() {
            break;
        }
        direction.clear();
        let rows = table.rows.chunks_exact(n.max(1));
        direction.extend(rows.map(|row| row[best] - row[worst]));
        let t = search(&z, &direction, table.y, loss, w[worst]);
        w[best] += t;
        w[worst] = if t == w[worst] { 0.0 } else { w[worst] - t };
        for (z, d) in z.iter_mut().zip(&direction) {
            *z += t * d;
        }
        if t == 0.0 {
            break;
        }
    }
    // Thousands of steps leave a sum that is 1 only nearly.
    let total: f64 = w.iter().sum();
    for w in &mut w {
        *w /= total;
    }
    table.predict(&w, &mut z);
    Combination { loss: table.value(&z, loss), w, gap }
}

/// The t in [0, most] of least loss along z + t·d: a root of the derivative, by halving with the secant where it helps.
fn search<L: Loss + ?Sized>(z: &[f64], d: &[f64], y: &[f64], loss: &L, most: f64) -> f64 {
    let derivative = |t: f64| {
        let terms = z.iter().zip(d).zip(y);
        terms.map(|((z, d), y)| loss.slope(z + t * d, *y) * d).sum::<f64>()
    };
    let (mut lo, mut hi) = (0.0, most);
    let (mut at_lo, mut at_hi) = (derivative(lo), derivative(hi));
    if at_hi <= 0.0 {
        return most;
    }
    for k in 0..40 {
        let secant = lo - at_lo * (hi - lo) / (at_hi - at_lo);
        let t = if k % 3 < 2 && secant > lo && secant < hi { secant } else { 0.5 * (lo + hi) };
        if t <= lo || t >= hi {
            break;
        }
        let at = derivative(t);
        if at <= 0.0 {
            (lo, at_lo) = (t, at);
        } else {
            (hi, at_hi) = (t, at);
        }
        if at.abs() <= 1e-15 * (at_lo.abs() + at_hi.abs()) {
            break;
        }
    }
    if at_hi < -at_lo { hi } else { lo }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Sampler;
    use crate::loss::Squared;

    #[test]
    fn nothing_on_a_grid_is_better_than_the_gap_allows() {
        let mut random = Sampler::new(2);
        for loss in [AnyLoss::from(Squared), AnyLoss::from(Absolute)] {
            let rows: Vec<f64> = random.vector(3 * 40);
            let y: Vec<f64> = random.vector(40);
            let table = Table { n: 3, rows: &rows, y: &y };
            let best = best_combination(&table, &loss);
            assert!(best.gap <= 1e-3 * best.loss, "{best:?}");
            let mut z = Vec::new();
            for i in 0..=40 {
                for j in 0..=40 - i {
                    let w =
                        [f64::from(i) / 40.0, f64::from(j) / 40.0, f64::from(40 - i - j) / 40.0];
                    table.predict(&w, &mut z);
                    assert!(table.value(&z, &loss) >= best.loss - best.gap - 1e-12);
                }
            }
        }
    }
}
