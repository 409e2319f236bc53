//! # Coefficients
//! β of every class, and its average over the run, both at the price of the coordinates that move.
//!
//! A direction that is the same number at all coordinates but a few moves one scalar per class:
//! $$\beta_{c,j} = b_{c,j} + B_c$$
//! The average with weights $w_i = i$ needs no pass over the coordinates either: with $W_t = \sum_{i\le t} w_i$ and $\Delta_i$ the i-th step,
//! $$\bar\beta_t = \beta_t - \frac1{W_t}\sum_{i\le t} W_{i-1}\Delta_i ,$$
//! and a step touches the sum where it touches β. The weights grow linearly, so that the first tenth of a run counts for one hundredth:
//! averaging forgets the start without knowing where the end will be.
//!
//! **Cost** O(s) per coordinate that moves. **Source** \[PJ92\]; growing weights \[SZ13\]; the lazy form of the sum is ours.

use super::statistic::Statistic;
use super::table::Table;
use crate::ConfigError;
use crate::error::Allowed;
use crate::walk;

/// β of every class.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Coefficients {
    own: Table,
    common: Vec<f64>,
    /// Σ W_{i−1} Δ_i of both, if averages are wanted.
    sums: Option<(Table, Vec<f64>)>,
    /// W of the step that is being made.
    weight: f64,
}

impl Coefficients {
    pub(crate) fn new(average: bool) -> Self {
        Self { sums: average.then(Default::default), ..Self::default() }
    }

    /// Room for coordinates and classes. A new class gets the mean of the others, weighted by `p`: no log-odds among them and it depends on
    /// where the coefficients happen to have drifted together.
    pub(crate) fn grow(&mut self, size: usize, classes: usize, p: &[f64]) {
        let mean = |_: usize, old: &[f64]| old.iter().zip(p).map(|(b, p)| b * p).sum();
        let common = mean(0, &self.common);
        self.own.grow(size, classes, mean);
        self.common.resize(classes.max(self.common.len()), common);
        if let Some((own, common)) = &mut self.sums {
            let all = mean(0, common);
            own.grow(size, classes, mean);
            common.resize(classes.max(common.len()), all);
        }
    }

    /// The steps from now on are averaged with this W.
    pub(crate) fn begin(&mut self, weight: f64) {
        self.weight = weight;
    }

    /// b_{c,j} += a_c f(row_c) for all classes c.
    #[inline]
    pub(crate) fn update(&mut self, j: usize, a: &[f64], row: &[f64], f: impl Fn(f64) -> f64) {
        self.change(j, a.iter().zip(row).map(|(a, &cell)| a * f(cell)));
    }

    /// b_{c,j} += a_c m_c f(row_c) for all classes c.
    #[inline]
    pub(crate) fn update_scaled(
        &mut self,
        j: usize,
        a: &[f64],
        m: &[f64],
        row: &[f64],
        f: impl Fn(f64) -> f64,
    ) {
        self.change(j, a.iter().zip(m).zip(row).map(|((a, m), &cell)| a * m * f(cell)));
    }

    /// b_{c,j} += delta_c for all classes c.
    #[inline]
    fn change(&mut self, j: usize, deltas: impl Iterator<Item = f64>) {
        let own = self.own.row_mut(j).iter_mut();
        match &mut self.sums {
            None => {
                for (b, delta) in own.zip(deltas) {
                    *b += delta;
                }
            }
            Some((sums, _)) => {
                let weight = self.weight;
                for ((b, sum), delta) in own.zip(sums.row_mut(j)).zip(deltas) {
                    *b += delta;
                    *sum += weight * delta;
                }
            }
        }
    }

    /// b_{c,j} += delta, for one class.
    #[inline]
    pub(crate) fn add(&mut self, j: usize, class: usize, delta: f64) {
        if let Some(b) = self.own.row_mut(j).get_mut(class) {
            *b += delta;
        }
        if let Some((sums, _)) = &mut self.sums
            && let Some(sum) = sums.row_mut(j).get_mut(class)
        {
            *sum += self.weight * delta;
        }
    }

    /// B_c += a_c e for all classes.
    pub(crate) fn shift(&mut self, a: &[f64], e: f64) {
        for (b, a) in self.common.iter_mut().zip(a) {
            *b += a * e;
        }
        if let Some((_, common)) = &mut self.sums {
            for (sum, a) in common.iter_mut().zip(a) {
                *sum += self.weight * a * e;
            }
        }
    }

    /// z_c += β_c·T; and the same of the sums, if there are any.
    pub(crate) fn score(&self, t: &Statistic, z: &mut [f64], sums: &mut [f64]) {
        dot(&self.own, &self.common, t, z);
        if let Some((own, common)) = &self.sums {
            dot(own, common, t, sums);
        }
    }

    /// β of a coordinate and class.
    pub(crate) fn at(&self, j: usize, class: usize) -> f64 {
        self.own.at(j, class) + self.common.get(class).copied().unwrap_or(0.0)
    }

    /// The average of a coordinate and class, where W is the sum of the weights so far.
    pub(crate) fn averaged(&self, j: usize, class: usize, weight: f64) -> f64 {
        let now = self.at(j, class);
        match &self.sums {
            Some((own, common)) if weight > 0.0 => {
                let sum = own.at(j, class) + common.get(class).copied().unwrap_or(0.0);
                now - sum / weight
            }
            _ => now,
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.own.rows()
    }

    pub(crate) fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("beta", self.own.cells());
        put("beta-common", &self.common);
        if let Some((own, common)) = &self.sums {
            put("beta-sums", own.cells());
            put("beta-common-sums", common);
        }
    }

    pub(crate) fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        size: usize,
        classes: usize,
    ) -> Result<(), ConfigError> {
        let own = table(get, "beta", Allowed::Finite, size, classes)?;
        let common = walk::array_of(get, "beta-common", Allowed::Finite, classes)?;
        let sums = match self.sums {
            None => None,
            Some(_) => Some((
                table(get, "beta-sums", Allowed::Finite, size, classes)?,
                walk::array_of(get, "beta-common-sums", Allowed::Finite, classes)?,
            )),
        };
        *self = Self { own, common, sums, weight: 0.0 };
        Ok(())
    }
}

#[inline]
fn dot(own: &Table, common: &[f64], t: &Statistic, z: &mut [f64]) {
    t.each(|j, value| {
        for (z, b) in z.iter_mut().zip(own.row(j)) {
            *z += value * b;
        }
    });
    for (z, b) in z.iter_mut().zip(common) {
        *z += t.total * b;
    }
}

/// A table of a saved state.
pub(crate) fn table(
    get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    name: &'static str,
    allowed: Allowed,
    rows: usize,
    classes: usize,
) -> Result<Table, ConfigError> {
    let cells = walk::array_of(get, name, allowed, rows * classes)?;
    Table::restore(cells, rows, classes)
        .ok_or(ConfigError::Missing { name, meaning: "a table of the saved state" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The average of the definition, beside the lazy one.
    #[test]
    fn the_lazy_average_is_the_average() {
        let mut lazy = Coefficients::new(true);
        lazy.grow(2, 2, &[]);
        let (mut w_sum, mut mean) = (0.0, [0.0; 4]);
        for i in 1..=50_u32 {
            let i = f64::from(i);
            lazy.begin(w_sum);
            lazy.update(1, &[0.1 * i, -0.3], &[1.0, 2.0], |cell| cell + i);
            lazy.shift(&[0.01, 0.02 * i], -1.0);
            w_sum += i;
            for (k, mean) in mean.iter_mut().enumerate() {
                *mean += i * lazy.at(k / 2, k % 2);
            }
        }
        for (k, mean) in mean.iter().enumerate() {
            let found = lazy.averaged(k / 2, k % 2, w_sum);
            assert!((found - mean / w_sum).abs() <= 1e-12 * found.abs(), "{k}: {found}");
        }
    }
}
