//! # The Vovk–Azoury–Warmuth forecaster
//! $$A_t = D + \sum_{s \le t} x_s x_s^\top, \qquad b_t = \sum_{s \le t} y_s x_s, \qquad
//!   z_t = b_{t-1}^\top A_t^{-1} x_t = \frac{\langle w_{t-1}, x_t\rangle}{1 + h_t}, \qquad
//!   h_t = x_t^\top A_{t-1}^{-1} x_t$$
//! Ridge regression after every row. The prediction also counts the row to be predicted. It is for the squared loss
//! and few features. D is diagonal, with entry a·x² for the first nonzero value x of a feature, so the result does not
//! depend on units, and late features are allowed. There is no rate.
//!
//! **Promise** For every u the regret is at most $\sum_i D_{ii} u_i^2 + \sum_t y_t^2 x_t^\top A_t^{-1} x_t$, which
//! grows with ln t ([`Vaw::promise`]). An importance weight w multiplies the row and the label by √w.
//! **Start** w = 0. **Cost** O(d²) for d features: Givens rotations update the triangular factor R of A, so that it is
//! exact up to rounding. **Care** at most [`Vaw::MOST`] features. A finished model predicts ⟨w, x⟩, without the
//! divisor 1 + h. The length of a step is not defined; 0 is reported.
//! [`Vaw::of_first`] accepts any features and learns weights for the first few that come. The others keep weight 0,
//! and the bound holds for u with weight 0 there.
//! **Source** \[Vovk01\]; \[AW01\].

use super::Walk;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::loss::Loss;
use crate::row::Row;
use crate::sum::Sum;
use crate::update::{Round, Target};
use crate::walk;

/// Ridge regression, updated row by row.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Vaw, Walk};
///
/// let mut walk = Vaw::new(0.1, 8)?;
/// for t in 0..100 {
///     let x = [1.0, f64::from(t % 7)];
///     walk.step(Dense(&x), (3.0 - 2.0 * x[1]).into(), &Squared, 0.0)?;
/// }
/// let mut w = Vec::new();
/// walk.read(&mut w);
/// assert!((w[0] - 3.0).abs() < 0.1 && (w[1] + 2.0).abs() < 0.1, "{w:?}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Vaw {
    a: f64,
    most: usize,
    /// Which features have weights, where not all of them do.
    chosen: Option<Chosen>,
    /// The rows of R, from the diagonal on.
    rows: Vec<Vec<f64>>,
    /// R⁻ᵀb.
    rhs: Vec<f64>,
    /// The diagonal of D.
    ridge: Vec<f64>,
    w: Vec<f64>,
    /// Σ y² xᵀA⁻¹x.
    spent: Sum,
    /// The current row, and R⁻ᵀx.
    x: Vec<f64>,
    q: Vec<f64>,
}

/// Compares factors and sums; scratch memory does not count.
impl PartialEq for Vaw {
    fn eq(&self, other: &Self) -> bool {
        (&self.rows, &self.rhs, &self.ridge) == (&other.rows, &other.rhs, &other.ridge)
            && self.chosen == other.chosen
    }
}

/// The features that came first.
#[derive(Debug, Clone, PartialEq, Default)]
struct Chosen {
    /// Their numbers.
    features: Vec<usize>,
    /// One more than the place of each feature among them, 0 for others.
    places: Vec<u32>,
}

impl Chosen {
    fn place(&self, i: usize) -> Option<usize> {
        self.places.get(i).copied().filter(|place| *place > 0).map(|place| place as usize - 1)
    }

    /// From how many features there are, and the numbers of the n that were chosen.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers")]
    fn load(saved: &[f64], n: usize) -> Result<Self, ConfigError> {
        let missing = ConfigError::Missing { name: "chosen", meaning: "features with weights" };
        let (width, features) = saved.split_first().ok_or(missing.clone())?;
        let mut chosen = Self { features: Vec::new(), places: vec![0; *width as usize] };
        for i in features {
            chosen.add(*i as usize, n);
        }
        if chosen.features.len() == n && features.len() == n { Ok(chosen) } else { Err(missing) }
    }

    /// The place of a feature, a new one if there are fewer than `most`.
    fn add(&mut self, i: usize, most: usize) -> Option<usize> {
        if self.place(i).is_none()
            && self.features.len() < most
            && let Ok(place) = u32::try_from(self.features.len() + 1)
            && let Some(empty) = self.places.get_mut(i)
        {
            *empty = place;
            self.features.push(i);
        }
        self.place(i)
    }
}

impl Vaw {
    /// The largest number of features.
    pub const MOST: usize = 512;

    /// The default a.
    pub const RIDGE: f64 = 1.0;

    /// The forecaster with D = a·x², for at most `most` features.
    pub fn new(a: f64, most: usize) -> Result<Self, ConfigError> {
        error::parameter("ridge", a, Allowed::Closed(1e-100, 1e100))?;
        error::parameter("most", most as f64, Allowed::Closed(1.0, Self::MOST as f64))?;
        let (rows, rhs, ridge, w) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (x, q, chosen) = (Vec::new(), Vec::new(), None);
        Ok(Self { a, most, chosen, rows, rhs, ridge, w, spent: Sum::default(), x, q })
    }

    /// The same for rows of any features: the first `most` that come have weights.
    pub fn of_first(a: f64, most: usize) -> Result<Self, ConfigError> {
        Ok(Self { chosen: Some(Chosen::default()), ..Self::new(a, most)? })
    }

    /// The bound on the regret against all u with |u_i| ≤ size(i).
    pub fn promise(&self, size: &dyn Fn(usize) -> f64) -> f64 {
        let mut sum = Sum::default();
        if let Some(Chosen { places, .. }) = &self.chosen
            && places.iter().enumerate().any(|(i, place)| *place == 0 && size(i) != 0.0)
        {
            return f64::INFINITY;
        }
        for (k, ridge) in self.ridge.iter().enumerate() {
            let size = size(self.chosen.as_ref().map_or(k, |chosen| chosen.features[k]));
            sum.add(ridge * size * size);
        }
        sum.add(self.spent.upper());
        (sum.upper() + 1e-12 * sum.magnitude()).next_up()
    }

    /// x ← the row; features with their first nonzero value get their entry of D.
    fn take<X: Row<f64>>(&mut self, row: X) {
        if let Some(chosen) = &mut self.chosen {
            row.each(|i, value| {
                if value != 0.0 && walk::present(value) {
                    chosen.add(i, self.most);
                }
            });
            let count = chosen.features.len();
            self.widen(count);
        }
        let Self { a, rows, ridge, x, chosen, .. } = self;
        x.clear();
        x.resize(rows.len(), 0.0);
        row.each(|i, value| {
            let place = chosen.as_ref().map_or(Some(i), |chosen| chosen.place(i));
            let Some(i) = place else { return };
            let (Some(place), Some(ridge), Some(x_i)) =
                (x.get_mut(i), ridge.get_mut(i), rows.get_mut(i).and_then(|row| row.first_mut()))
            else {
                return;
            };
            if value == 0.0 || !walk::present(value) {
                return;
            }
            *place = value;
            if *ridge == 0.0 {
                *ridge = *a * value * value;
                *x_i = ridge.sqrt();
            }
        });
    }

    /// Room for so many weights.
    fn widen(&mut self, n: usize) {
        let old = self.rows.len();
        if n > old {
            for (i, row) in self.rows.iter_mut().enumerate() {
                row.resize(n - i, 0.0);
            }
            self.rows.extend((old..n).map(|i| vec![0.0; n - i]));
            self.rhs.resize(n, 0.0);
            self.ridge.resize(n, 0.0);
            self.w.resize(n, 0.0);
        }
    }

    /// q ← R⁻ᵀx; returns ⟨w, x⟩ and h.
    fn solve(&mut self) -> (f64, f64) {
        let Self { rows, rhs, x, q, .. } = self;
        q.clone_from(x);
        let (mut z, mut h) = (0.0, 0.0);
        for (i, row) in rows.iter().enumerate() {
            let (Some(diagonal), Some((x_i, later))) = (row.first(), q[i..].split_first_mut())
            else {
                continue;
            };
            if *x_i == 0.0 || *diagonal == 0.0 {
                continue;
            }
            *x_i /= diagonal;
            for (later, r) in later.iter_mut().zip(&row[1..]) {
                *later -= r * *x_i;
            }
            z += rhs[i] * *x_i;
            h += *x_i * *x_i;
        }
        (z, h)
    }

    /// Adds √w·(x, y) to the factor; `root` is √w.
    fn add(&mut self, root: f64, y: f64) {
        let Self { rows, rhs, x, w, .. } = self;
        let mut y = root * y;
        for x in x.iter_mut() {
            *x *= root;
        }
        for (i, row) in rows.iter_mut().enumerate() {
            let x_i = x[i];
            if x_i == 0.0 {
                continue;
            }
            let Some(diagonal) = row.first().copied() else { continue };
            let length = (diagonal * diagonal + x_i * x_i).sqrt();
            let (c, s) = (diagonal / length, x_i / length);
            for (r, x) in row.iter_mut().zip(&mut x[i..]) {
                (*r, *x) = (c * *r + s * *x, c * *x - s * *r);
            }
            (rhs[i], y) = (c * rhs[i] + s * y, c * y - s * rhs[i]);
        }
        w.clone_from(rhs);
        for (i, row) in rows.iter().enumerate().rev() {
            let (before, after) = w.split_at_mut(i + 1);
            let known: f64 = row[1..].iter().zip(after.iter()).map(|(r, w)| r * w).sum();
            if let (Some(x_i), Some(diagonal)) = (before.last_mut(), row.first()) {
                *x_i = if *diagonal > 0.0 { (*x_i - known) / diagonal } else { 0.0 };
            }
        }
    }
}

impl Walk for Vaw {
    fn features(&self) -> usize {
        self.chosen.as_ref().map_or(self.rows.len(), |chosen| chosen.places.len())
    }

    fn grow(&mut self, n: usize) {
        match &mut self.chosen {
            None => self.widen(n.min(self.most)),
            Some(Chosen { places, .. }) if n > places.len() => places.resize(n, 0),
            Some(_) => {}
        }
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        let Some(chosen) = &self.chosen else { return x.dot(&self.w) };
        let mut z = 0.0;
        x.each(|i, x| {
            if let Some(place) = chosen.place(i) {
                z += self.w[place] * x;
            }
        });
        z
    }

    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        let (found, expected) = (x.bound(), self.most);
        if found > expected && self.chosen.is_none() {
            return Err(DomainError::Dimension { what: "the row", found, expected });
        }
        walk::in_range(x)?;
        self.grow(found);
        self.take(x);
        let (z, h) = self.solve();
        let h = target.weight * h;
        let round = walk::judge(z / (1.0 + h), target, loss, rate)?;
        if target.weight > 0.0 {
            self.add(target.weight.sqrt(), target.y);
            self.spent.add(target.weight * target.y * target.y * h / (1.0 + h));
        }
        Ok(round)
    }

    fn read(&self, w: &mut Vec<f64>) {
        let Some(chosen) = &self.chosen else { return w.clone_from(&self.w) };
        w.clear();
        w.extend((0..chosen.places.len()).map(|i| chosen.place(i).map_or(0.0, |k| self.w[k])));
    }

    fn bets(&self, size: &dyn Fn(usize) -> f64) -> Option<f64> {
        Some(self.promise(size))
    }

    fn spec(&self) -> String {
        let first = if self.chosen.is_some() { ", first=true" } else { "" };
        format!("vaw(ridge={}, most={}{first})", self.a, self.most)
    }

    fn save_state(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        let factor: Vec<f64> = self.rows.iter().flatten().copied().collect();
        put("factor", &factor);
        put("rhs", &self.rhs);
        put("ridge", &self.ridge);
        put("w", &self.w);
        put("spent", &self.spent.save());
        if let Some(Chosen { features, places }) = &self.chosen {
            let mut numbers = vec![places.len() as f64];
            numbers.extend(features.iter().map(|i| *i as f64));
            put("chosen", &numbers);
        }
    }

    fn load_state(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let rhs = walk::array(get, "rhs", Allowed::Finite)?;
        let n = rhs.len();
        error::parameter("features", n as f64, Allowed::Closed(0.0, self.most as f64))?;
        let factor = walk::array_of(get, "factor", Allowed::Finite, n * (n + 1) / 2)?;
        let ridge = walk::array_of(get, "ridge", Allowed::NonNegative, n)?;
        let w = walk::array_of(get, "w", Allowed::Finite, n)?;
        let spent = walk::numbers(get, "spent", Allowed::Finite)?;
        if self.chosen.is_some() {
            let saved = walk::array(get, "chosen", Allowed::Closed(0.0, f64::from(u32::MAX)))?;
            self.chosen = Some(Chosen::load(&saved, n)?);
        }
        let mut rest = factor.as_slice();
        self.rows = (0..n)
            .map(|i| {
                let (row, after) = rest.split_at(n - i);
                rest = after;
                row.to_vec()
            })
            .collect();
        (self.rhs, self.ridge, self.w, self.spent) = (rhs, ridge, w, Sum::load(spent));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Sampler;
    use crate::loss::Squared;
    use crate::row::{Dense, Sparse};

    /// Solves a small symmetric system by elimination.
    fn solved(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
        let n = b.len();
        for i in 0..n {
            for j in i + 1..n {
                let f = a[j][i] / a[i][i];
                let above = a[i].clone();
                a[j].iter_mut().zip(&above).for_each(|(below, above)| *below -= f * above);
                b[j] -= f * b[i];
            }
        }
        for i in (0..n).rev() {
            for j in i + 1..n {
                b[i] -= a[i][j] * b[j];
            }
            b[i] /= a[i][i];
        }
        b
    }

    #[test]
    fn it_is_ridge_regression_that_counts_the_row() {
        let mut random = Sampler::new(4);
        let mut walk = Vaw::new(0.5, 10).unwrap();
        let mut a = vec![vec![0.0; 4]; 4];
        let (mut b, mut seen) = (vec![0.0; 4], [false; 4]);
        let (mut loss, mut spent) = (0.0, 0.0);
        let (mut rows, mut w) = (Vec::new(), Vec::new());
        for t in 0..80_u32 {
            // The last feature appears late, and is large.
            let x: Vec<f64> = (0..4)
                .map(|i| {
                    if i == 3 {
                        if t < 20 { 0.0 } else { 1e3 * random.normal() }
                    } else {
                        random.normal()
                    }
                })
                .collect();
            let weight = [1.0, 0.5, 3.0][t as usize % 3];
            let y = x[0] - 2.0 * x[1] + 1e-3 * x[3] + 0.1 * random.normal();
            for i in 0..4 {
                if !seen[i] && x[i] != 0.0 {
                    (seen[i], a[i][i]) = (true, 0.5 * x[i] * x[i]);
                }
            }
            for i in 0..4 {
                for j in 0..4 {
                    a[i][j] += weight * x[i] * x[j];
                }
            }
            let n = if t < 20 { 3 } else { 4 };
            let small: Vec<Vec<f64>> = a[..n].iter().map(|row| row[..n].to_vec()).collect();
            let v = solved(small.clone(), x[..n].to_vec());
            let z: f64 = v.iter().zip(&b).map(|(v, b)| v * b).sum();
            let round = walk.step(Dense(&x), Target { y, weight }, &Squared, 0.0).unwrap();
            assert!((round.z - z).abs() < 1e-9 * (1.0 + z.abs()), "{t}: {} {z}", round.z);
            loss += round.loss;
            let leverage: f64 = v.iter().zip(&x).map(|(v, x)| v * x).sum();
            spent += weight * y * y * weight * leverage;
            for i in 0..4 {
                b[i] += weight * y * x[i];
            }
            walk.read(&mut w);
            let exact = solved(small, b[..n].to_vec());
            for (i, exact) in exact.iter().enumerate() {
                assert!((w[i] - exact).abs() < 1e-8 * (1.0 + exact.abs()));
            }
            rows.push((x, y, weight));
        }
        // The bound holds against the best weights and a few others.
        for u in [w.clone(), vec![1.0, -2.0, 0.0, 1e-3], vec![0.0; 4]] {
            let of = |x: &[f64]| x.iter().zip(&u).map(|(x, u)| x * u).sum::<f64>();
            let theirs: f64 = rows.iter().map(|(x, y, w)| w * (of(x) - y) * (of(x) - y)).sum();
            let bound = walk.promise(&|i| u[i].abs());
            assert!(loss - theirs <= bound, "{} {bound}", loss - theirs);
        }
        assert!((walk.spent.total() - spent).abs() < 1e-9 * spent);
    }

    #[test]
    fn only_the_first_features_have_weights() {
        let mut random = Sampler::new(3);
        let (mut few, mut all) = (Vaw::of_first(1.0, 2).unwrap(), Vaw::new(1.0, 2).unwrap());
        let mut w = Vec::new();
        for t in 0..50 {
            let [a, b, c] = [random.normal(), random.normal(), random.normal()];
            // Feature 30 is passed over: its first value counts as 0.
            let indices = [7, 30, 900];
            let values = [a, if t == 0 { 1e-200 } else { c }, b];
            let y = Target::from(3.0 * a - b + c);
            let round = few.step(Sparse::new(&indices, &values).unwrap(), y, &Squared, 0.0);
            let same = all.step(Dense(&[a, b]), y, &Squared, 0.0);
            assert_eq!(round.unwrap(), same.unwrap(), "{t}");
            let mut arrays = std::collections::BTreeMap::new();
            few.save(&mut |name, values| {
                arrays.insert(name, values.to_vec());
            });
            let mut loaded = Vaw::of_first(1.0, 2).unwrap();
            loaded.load(&mut |name| arrays.get(name).cloned()).unwrap();
            assert_eq!(loaded, few);
            few = loaded;
        }
        few.read(&mut w);
        assert!(w.len() == 901 && w[7] != 0.0 && w[900] != 0.0, "{}", w.len());
        assert_eq!(w.iter().filter(|w| **w != 0.0).count(), 2);
        assert!(few.promise(&|i| f64::from(u8::from(i == 7))).is_finite());
        assert_eq!(few.promise(&|i| f64::from(u8::from(i == 8))), f64::INFINITY);
    }

    #[test]
    fn sparse_rows_and_saved_states_have_the_same_bits() {
        let mut random = Sampler::new(9);
        let (mut dense, mut sparse) = (Vaw::new(1.0, 8).unwrap(), Vaw::new(1.0, 8).unwrap());
        for t in 0..60 {
            let (i, j) = (t % 3, 3 + t % 4);
            let (a, b, y) = (random.normal(), random.normal(), random.normal());
            let mut x = vec![0.0; 7];
            (x[i as usize], x[j as usize]) = (a, b);
            let one = dense.step(Dense(&x), y.into(), &Squared, 0.0).unwrap();
            let indices = [i, j];
            let values = [a, b];
            let row = Sparse::new(&indices, &values).unwrap();
            let two = sparse.step(row, y.into(), &Squared, 0.0).unwrap();
            assert_eq!(one.z.to_bits(), two.z.to_bits());
            let mut arrays = std::collections::BTreeMap::new();
            sparse.save(&mut |name, values| {
                arrays.insert(name, values.to_vec());
            });
            sparse = Vaw::new(1.0, 8).unwrap();
            sparse.load(&mut |name| arrays.get(name).cloned()).unwrap();
        }
        let wide = [0.0; 9];
        assert!(dense.step(Dense(&wide), 1.0.into(), &Squared, 0.0).is_err());
        assert!(Vaw::new(0.0, 8).is_err() && Vaw::new(1.0, 513).is_err());
    }
}
