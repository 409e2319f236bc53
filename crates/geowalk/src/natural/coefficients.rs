//! # Coefficients
//! β of every class, and its average over the run. Both cost only as much as the coordinates that move.
//!
//! If a step adds the same number to all coordinates except a few, the common part is one scalar per class:
//! $$\beta_{c,j} = b_{c,j} + B_c\,r_{c,j}$$
//! Here r is 1, or a shape given by the family and kept for a while. When the family changes the shape of a class,
//! $B_c r_{c,j}$ is added to $b_{c,j}$ at O(d).
//!
//! The average with weights $w_i = i$ needs no pass over the coordinates either. With $W_t = \sum_{i\le t} w_i$ and
//! the i-th step $\Delta_i$,
//! $$\bar\beta_t = \beta_t - \frac1{W_t}\sum_{i\le t} W_{i-1}\Delta_i ,$$
//! and a step changes the sum only where it changes β. The weights grow linearly, so the first tenth of a run has one
//! hundredth of the weight: the average forgets the start without knowing the length of the run.
//!
//! **Cost** O(s) per coordinate that moves. **Source** \[PJ92\]; growing weights \[SZ13\]; the lazy form of the sum is
//! new.

use std::ops::Range;

use super::rows;
use super::statistic::Statistic;
use super::table::Table;
use crate::ConfigError;
use crate::error::Allowed;
use crate::real::lanes;
use crate::walk;

/// β of every class.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Coefficients {
    own: Table,
    common: Vec<f64>,
    /// r; `None` if it is 1.
    shape: Option<Table>,
    /// Σ W_{i−1} Δ_i of both parts, if averages are computed.
    sums: Option<(Table, Vec<f64>)>,
    /// W of the present step.
    weight: f64,
}

impl Coefficients {
    pub(crate) fn new(average: bool) -> Self {
        Self { sums: average.then(Default::default), ..Self::default() }
    }

    /// Makes room for coordinates and classes. A new class gets the mean of the others, weighted by `p`, so that no
    /// log-odds depend on a common drift of the coefficients. A shape must be [completed](Coefficients::complete)
    /// before any other call.
    pub(crate) fn grow(&mut self, size: usize, classes: usize, p: &[f64]) {
        if classes > self.common.len() {
            for class in 0..self.common.len() {
                self.fold(class);
            }
            self.shape = None;
        }
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

    /// b_c += B_c r_c and B_c ← 0 for a class; likewise for the sums.
    fn fold(&mut self, class: usize) {
        let Some(shape) = &self.shape else { return };
        let take = |common: &mut Vec<f64>| common.get_mut(class).map_or(0.0, std::mem::take);
        let common = take(&mut self.common);
        for (b, r) in self.own.column_mut(class).zip(shape.column(class)) {
            *b += common * r;
        }
        if let Some((own, common)) = &mut self.sums {
            let common = take(common);
            for (sum, r) in own.column_mut(class).zip(shape.column(class)) {
                *sum += common * r;
            }
        }
    }

    /// Changes r of a class.
    pub(crate) fn reshape(&mut self, class: usize, r: impl Iterator<Item = f64>) {
        self.fold(class);
        if let Some(shape) = &mut self.shape {
            for (cell, r) in shape.column_mut(class).zip(r) {
                *cell = r;
            }
        }
    }

    /// Sets r of new coordinates and classes. If there is a shape already, β of new coordinates is 0.
    pub(crate) fn complete(&mut self, r: impl Fn(usize, usize) -> f64) {
        let (size, classes) = (self.own.rows(), self.common.len());
        let begun = self.shape.is_some();
        let shape = self.shape.get_or_insert_default();
        let known = shape.rows();
        if known == size {
            return;
        }
        shape.grow(size, classes, |_, _| 0.0);
        for j in known..size {
            for (c, cell) in shape.row_mut(j).iter_mut().enumerate() {
                *cell = r(j, c);
            }
            if begun {
                let r = shape.row(j);
                rows::change(self.own.row_mut(j), &self.common, r, |_, b, r| -(b * r));
                if let Some((own, common)) = &mut self.sums {
                    rows::change(own.row_mut(j), common, r, |_, b, r| -(b * r));
                }
            }
        }
    }

    /// Sets the W for averaging the next steps.
    pub(crate) fn begin(&mut self, weight: f64) {
        self.weight = weight;
    }

    /// b_{c,j} += a_c f(row_c) for all classes c.
    #[inline(always)]
    pub(crate) fn update(&mut self, j: usize, a: &[f64], row: &[f64], f: impl Fn(f64) -> f64) {
        let own = self.own.row_mut(j);
        match &mut self.sums {
            None => rows::change(own, a, row, |b, a, x| b + a * f(x)),
            Some((sums, _)) => add(own, sums.row_mut(j), self.weight, a, row, f),
        }
    }

    /// b_{c,j} += a_c f(p_j, row_{j,c}) for all coordinates j, in order, and classes c. Each coordinate has one row of
    /// the table.
    #[inline(always)]
    pub(crate) fn update_all<P: Copy>(
        &mut self,
        a: &[f64],
        table: &Table,
        p: impl Iterator<Item = P> + Clone,
        f: impl Fn(P, f64) -> f64,
    ) {
        let mut p = p;
        for rows in table.stretches() {
            self.update_some(&rows, a, table, p.clone().take(rows.len()), &f);
            p.nth(rows.len() - 1);
        }
    }

    /// As [`Coefficients::update_all`], for some of the coordinates.
    #[inline(always)]
    pub(crate) fn update_some<P: Copy>(
        &mut self,
        rows: &Range<usize>,
        a: &[f64],
        table: &Table,
        p: impl Iterator<Item = P> + Clone,
        f: impl Fn(P, f64) -> f64,
    ) {
        match &mut self.sums {
            None => {
                let each = self.own.some_mut(rows).zip(table.some(rows)).zip(p);
                for ((own, row), p) in each {
                    rows::change(own, a, row, |b, a, x| b + a * f(p, x));
                }
            }
            Some((sums, _)) => {
                let weight = self.weight;
                let both = [self.own.cells_of_mut(rows), sums.cells_of_mut(rows)];
                rows::change_both_rows(both, a, table.cells_of(rows), p, |p, b, sum, a, x| {
                    let delta = a * f(p, x);
                    (b + delta, sum + weight * delta)
                });
            }
        }
    }

    /// b_{c,j} += a_c m_c f(row_c) for all classes c.
    #[inline(always)]
    pub(crate) fn update_scaled(
        &mut self,
        j: usize,
        a: &[f64],
        m: &[f64],
        row: &[f64],
        f: impl Fn(f64) -> f64,
    ) {
        let n = a.len().min(m.len()).min(row.len());
        let (a, m, row) = (&a[..n], &m[..n], &row[..n]);
        self.change(j, n, |c| a[c] * m[c] * f(row[c]));
    }

    /// b_{c,j} += delta_c for the first n classes c.
    #[inline(always)]
    fn change(&mut self, j: usize, n: usize, delta: impl Fn(usize) -> f64) {
        let own = self.own.row_mut(j);
        match &mut self.sums {
            None => {
                for (c, b) in own.iter_mut().enumerate().take(n) {
                    *b += delta(c);
                }
            }
            Some((sums, _)) => {
                let weight = self.weight;
                let sums = sums.row_mut(j);
                let n = n.min(own.len()).min(sums.len());
                let (own, sums) = (&mut own[..n], &mut sums[..n]);
                for c in 0..n {
                    let delta = delta(c);
                    own[c] += delta;
                    sums[c] += weight * delta;
                }
            }
        }
    }

    /// b_{c,j} += delta for one class.
    #[inline(always)]
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
    #[inline(always)]
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

    /// z_c += β_c·T; likewise for the sums, if there are any.
    pub(crate) fn score(&self, t: &Statistic, z: &mut [f64], sums: &mut [f64]) {
        let Some((own, common)) = &self.sums else { return self.score_iterate(t, z) };
        lanes::widely(
            #[inline(always)]
            || {
                t.combine_both([&self.own, own], [&mut *z, &mut *sums]);
                self.common_part(t, &self.common, z);
                self.common_part(t, common, sums);
            },
        );
    }

    /// z_c += β_c·T, if the average is not needed.
    pub(crate) fn score_iterate(&self, t: &Statistic, z: &mut [f64]) {
        lanes::widely(
            #[inline(always)]
            || {
                t.combine(&self.own, z);
                self.common_part(t, &self.common, z);
            },
        );
    }

    /// z_c += B_c r_c·T.
    #[inline(always)]
    fn common_part(&self, t: &Statistic, common: &[f64], z: &mut [f64]) {
        match &self.shape {
            None => rows::change(z, common, common, |z, b, _| z + t.total * b),
            Some(shape) => t.each(
                #[inline(always)]
                |j, x| rows::change(z, common, shape.row(j), |z, b, r| z + x * (b * r)),
            ),
        }
    }

    /// B_c r_{c,j}.
    fn common_at(&self, common: &[f64], j: usize, class: usize) -> f64 {
        let r = self.shape.as_ref().map_or(1.0, |shape| shape.at(j, class));
        common.get(class).copied().unwrap_or(0.0) * r
    }

    /// β of a coordinate and class.
    pub(crate) fn at(&self, j: usize, class: usize) -> f64 {
        self.own.at(j, class) + self.common_at(&self.common, j, class)
    }

    /// The average of a coordinate and class; W is the sum of the weights up to now.
    pub(crate) fn averaged(&self, j: usize, class: usize, weight: f64) -> f64 {
        let now = self.at(j, class);
        match &self.sums {
            Some((own, common)) if weight > 0.0 => {
                let sum = own.at(j, class) + self.common_at(common, j, class);
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

    /// Restores the state written by [`Coefficients::save`]. It has no shape; the family must set it before any other
    /// call.
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
        *self = Self { own, common, shape: None, sums, weight: 0.0 };
        Ok(())
    }
}

/// b_c += a_c f(row_c) for all classes c; likewise for the sums, times `weight`.
#[inline(always)]
fn add(
    own: &mut [f64],
    sums: &mut [f64],
    weight: f64,
    a: &[f64],
    row: &[f64],
    f: impl Fn(f64) -> f64,
) {
    rows::change_both(own, sums, a, row, |b, sum, a, x| {
        let delta = a * f(x);
        (b + delta, sum + weight * delta)
    });
}

/// A table from a saved state.
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

    /// Compares the lazy average with its definition.
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

    /// Compares a changing shape with coefficients that are moved one by one.
    #[test]
    fn a_shape_stands_for_a_move_of_all_coordinates() {
        let r = |j: usize, c: usize, time: u32| 1.0 + (j + 2 * c) as f64 + 0.1 * f64::from(time);
        let (mut lazy, mut plain) = (Coefficients::new(true), Coefficients::new(true));
        for beta in [&mut lazy, &mut plain] {
            beta.grow(3, 2, &[]);
        }
        lazy.complete(|j, c| r(j, c, 0));
        let mut time = [0; 2];
        for t in 1..40_u32 {
            let a = [0.3 / f64::from(t), -0.2];
            for beta in [&mut lazy, &mut plain] {
                beta.begin(f64::from(t));
                beta.update(1, &a, &[1.0, 3.0], |x| x);
            }
            lazy.shift(&a, -1.0);
            for j in 0..3 {
                plain.update(j, &a, &[r(j, 0, time[0]), r(j, 1, time[1])], |r| -r);
            }
            if t % 5 == 0 {
                let class = t as usize % 2;
                time[class] = t;
                lazy.reshape(class, (0..3).map(|j| r(j, class, t)));
            }
            if t == 30 {
                lazy.grow(4, 2, &[]);
                plain.grow(4, 2, &[]);
                lazy.complete(|j, c| r(j, c, t));
                assert!(
                    (lazy.at(3, 0), lazy.averaged(3, 1, 9.0)) == (0.0, 0.0),
                    "a new coordinate"
                );
            }
            if t == 35 {
                for beta in [&mut lazy, &mut plain] {
                    beta.grow(4, 3, &[0.5, 0.5]);
                }
                lazy.complete(|j, c| r(j, c, time.get(c).copied().unwrap_or(0)));
                assert!((lazy.at(1, 2) - 0.5 * (lazy.at(1, 0) + lazy.at(1, 1))).abs() < 1e-12);
            }
            let statistic = Statistic { index: vec![0, 2], value: vec![0.5, 2.0], total: 2.5 };
            let (mut z, mut sums) = ([[0.0; 2]; 2], [[0.0; 2]; 2]);
            lazy.score(&statistic, &mut z[0], &mut sums[0]);
            plain.score(&statistic, &mut z[1], &mut sums[1]);
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
            for c in 0..2 {
                assert!(near(z[0][c], z[1][c]) && near(sums[0][c], sums[1][c]), "{t}: {z:?}");
                for j in 0..3 {
                    assert!(near(lazy.at(j, c), plain.at(j, c)), "{t}");
                    assert!(near(lazy.averaged(j, c, 9.0), plain.averaged(j, c, 9.0)), "{t}");
                }
            }
        }
    }
}
