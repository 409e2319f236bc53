//! # The second-order certificate
//! For the logistic and the squared loss a bound that knows how strongly losses curve, over one pass: with
//! $h_t(v) = 2[\ell_t(v) - \ell_t(z_t) - g_t(v - z_t)]/(v - z_t)^2$ and $\kappa_t \le h_t(v)$ for all v that comparators
//! predict,
//! $$\text{regret}(u) \;\le\; A' - \langle u, \Gamma'\rangle - \tfrac12 u^\top M u
//!   \;\le\; A' + \tfrac12 \Gamma'^\top (M + \lambda D)^{-1} \Gamma' + \tfrac\lambda2 \sum_i D_{ii} u_i^2$$
//! where $M = \sum \kappa_t x_t x_t^\top$, $\Gamma' = \sum (g_t - \kappa_t z_t) x_t$,
//! $A' = \sum g_t z_t - \tfrac12 \kappa_t z_t^2$, D the diagonal of M, and any λ > 0.
//!
//! Squared loss: κ = 2, no more to be said. Logistic loss: comparators are those with $\vert\langle u, x_t\rangle\vert \le Z$
//! on every row, and κ is the least of $h_t(-Z)$, $h_t(Z)$ and, where $\vert z_t\vert \le Z$, $\ell''(z_t)$. Z = 6 means every
//! linear model whose probabilities stay between 0.25 % and 99.75 % on these rows.
//!
//! **Proof** $\ell_t(v) \ge \ell_t(z_t) + g_t(v - z_t) + \tfrac12\kappa_t(v - z_t)^2$, round by round; the second step is
//! $-\langle u, \Gamma\rangle - \tfrac12 u^\top B u \le \tfrac12 \Gamma^\top B^{-1} \Gamma$. $h_t$ is a mean of ℓ″ over the
//! segment from $z_t$ to v with weights that fall linearly towards v; ℓ″ is even and falls on either side of 0, so the
//! sign of $h_t'$ changes once at most on either side of $z_t$, from rising to falling: on an interval $h_t$ is least at
//! an end or at $z_t$.
//! **Rounding** The quadratic form is evaluated at an approximate solution, whose residual is bounded through λD; λ is
//! first made smaller by what rounding can have done to M.
//! **Cost** O(nnz²) for each row, d²/2 numbers for d features, a factorisation of O(d³) for each λ when it is asked for;
//! at most [`SecondOrder::MOST`] features.
//! **Source** the identity of \[SS12, sec. 2.4\] with the curvature kept.

use super::theorem::{
    CONVEX, FINITE, Get, Theorem, Watch, checked, declared, keep, outward, restore_all, size,
};
use super::{Certificate, Comparator, Declared, Quantity, Verdict};
use crate::Real;
use crate::error::ConfigError;
use crate::geometry::linalg::{cholesky_in_place, solve_lower};
use crate::row::{Norm, Row};
use crate::sum::Sum;
use crate::update::Round;

const MANY: &str = "at most 1024 features";
const WITHIN: &str = "|<u, x>| <= Z on every row";

/// The theorem, in words.
pub(super) const THEOREM: Theorem = Theorem {
    name: "second-order",
    premises: &[
        checked(MANY),
        checked(FINITE),
        declared(WITHIN),
        declared(CONVEX),
        declared("the logistic loss, or the squared loss"),
    ],
    bound: "A' + <Gamma', (M + lambda D)^-1 Gamma'>/2 + lambda/2 sum D u^2",
    source: "SS12, sec. 2.4",
    correction: "",
};

/// How a loss curves.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Curvature {
    /// ln(1 + e^{−yz}), for comparators with |⟨u, x⟩| ≤ Z.
    Logistic {
        /// Z.
        most: f64,
    },
    /// (z − y)².
    Squared,
}

impl Curvature {
    /// No more than h(v) for every v of the comparators, of a round with this loss, slope and prediction; 0 where
    /// rounding leaves nothing.
    ///
    /// ```
    /// use geowalk::certify::Curvature;
    /// let kappa = Curvature::Logistic { most: 6.0 }.least(2_f64.ln(), -0.5, 0.0);
    /// // 2(ln(1 + e⁶) − ln 2 − 3)/36, and not the ¼ of the second derivative.
    /// assert!((kappa - 0.128_296).abs() < 1e-6, "{kappa}");
    /// assert!((Curvature::Squared.least(4.0, 4.0, 3.0) - 2.0).abs() < 1e-10);
    /// ```
    pub fn least(self, loss: f64, slope: f64, z: f64) -> f64 {
        let kappa = match self {
            // Of an example of weight w the slope is 2w(z − y) and the loss w(z − y)².
            Self::Squared => 0.5 * slope * (slope / loss),
            Self::Logistic { most } => {
                // ℓ″ is even: the prediction may be taken for one below 0, where sums do not cancel.
                let far = -z.abs();
                let ends = Real::min(mean(-most, far), mean(most, far));
                let least = if far >= -most { Real::min(ends, second(far)) } else { ends };
                // −y/(1 + e^{yz}) is the slope of an example of weight 1.
                let margin = if slope < 0.0 { z } else { -z };
                slope.abs() * (1.0 + Real::exp(margin)) * least
            }
        };
        if kappa.is_finite() && kappa > 0.0 { kappa * (1.0 - 1e-11) } else { 0.0 }
    }
}

/// ln(1 + e^v).
fn softplus(v: f64) -> f64 {
    Real::max(v, 0.0) + Real::ln_1p(Real::exp(-v.abs()))
}

/// 1/(1 + e^{−v}).
fn sigmoid(v: f64) -> f64 {
    1.0 / (1.0 + Real::exp(-v))
}

/// ℓ″ of the logistic loss.
fn second(v: f64) -> f64 {
    sigmoid(v) * sigmoid(-v)
}

/// No more than h(v) of the logistic loss at z ≤ 0.
fn mean(v: f64, z: f64) -> f64 {
    let (d, slope) = (v - z, sigmoid(z));
    if d.abs() < 0.01 {
        // A mean over a segment on which ℓ″ is least at an end.
        return Real::min(second(v), second(z));
    }
    let (a, b, c) = (softplus(v), softplus(z), slope * d);
    let rise = (a - b) - c;
    let lost = 8.0 * f64::EPSILON * (a + b + c.abs());
    Real::max(2.0 * (rise - lost) / (d * d), 0.0)
}

/// The sums of a second-order certificate.
///
/// ```
/// use geowalk::certify::{Comparator, Curvature, SecondOrder, Status};
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Euclidean, Walk};
///
/// let (mut walk, mut bound) = (Euclidean::new(), SecondOrder::new(Curvature::Squared));
/// let mut regret = 0.0;
/// for (x, y) in [([1.0, 0.5], 1.0), ([0.5, -1.0], -1.0), ([1.0, 1.0], 0.5)] {
///     let round = walk.step(Dense(&x), y.into(), &Squared, 0.1)?;
///     bound.observe(&round, Dense(&x));
///     regret += round.loss - (0.3 * x[0] + 0.6 * x[1] - y) * (0.3 * x[0] + 0.6 * x[1] - y);
/// }
/// // Exact for squared losses, against given weights.
/// let verdict = bound.certify(&Comparator::Given(&[0.3, 0.6]));
/// assert_eq!(verdict.certificate.status, Status::Valid);
/// assert!(verdict.certificate.bound >= regret && verdict.certificate.bound < regret + 1e-9);
/// # Ok::<(), geowalk::DomainError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SecondOrder {
    curvature: Curvature,
    watch: Watch,
    a: Sum,
    /// Γ′, and what its terms add up to in magnitude.
    gamma: Vec<f64>,
    sizes: Vec<f64>,
    /// The largest magnitude of each feature.
    most: Vec<f64>,
    /// The rows of the lower triangle of M, one after the other.
    m: Vec<f64>,
    row: Vec<(usize, f64)>,
}

impl SecondOrder {
    /// At most so many features: M has half their square of numbers.
    pub const MOST: usize = 1024;

    /// Of a run with this loss.
    pub fn new(curvature: Curvature) -> Self {
        let watch = Watch::new(&THEOREM);
        let (gamma, sizes, most) = (Vec::new(), Vec::new(), Vec::new());
        let (m, row) = (Vec::new(), Vec::new());
        Self { curvature, watch, a: Sum::default(), gamma, sizes, most, m, row }
    }

    /// Sees one round.
    pub fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        // Whether steps were made as written does not matter here.
        let event = crate::geometry::Event::Inside;
        self.watch.round(&Round { event, ..*round });
        let n = x.bound();
        self.watch.demand(MANY, n <= Self::MOST, n as f64);
        if !self.watch.stands() {
            (self.gamma, self.sizes, self.most, self.m) = Default::default();
            return;
        }
        if n > self.gamma.len() {
            for all in [&mut self.gamma, &mut self.sizes, &mut self.most] {
                all.resize(n, 0.0);
            }
            self.m.resize(n * (n + 1) / 2, 0.0);
        }
        let (z, slope) = (round.z, round.slope);
        let kappa = self.curvature.least(round.loss, slope, z);
        self.a.add(slope * z);
        self.a.add(-0.5 * kappa * z * z);
        let pull = slope - kappa * z;
        let Self { gamma, sizes, most, m, row, .. } = self;
        row.clear();
        x.each(|i, x| {
            let x = x.f64();
            gamma[i] += pull * x;
            sizes[i] += (slope.abs() + (kappa * z).abs()) * x.abs();
            most[i] = Real::max(most[i], x.abs());
            row.push((i, x));
        });
        if kappa == 0.0 {
            return;
        }
        for (k, &(i, x)) in row.iter().enumerate() {
            let weighted = kappa * x;
            for &(j, y) in &row[..=k] {
                let (low, high) = if i < j { (i, j) } else { (j, i) };
                m[high * (high + 1) / 2 + low] += weighted * y;
            }
        }
    }

    /// What it says of the comparators.
    pub fn certify(&self, u: &Comparator<'_>) -> Verdict {
        let certificate = self.certificate(u);
        let declared = match self.curvature {
            Curvature::Logistic { most } => vec![Declared { premise: WITHIN, value: most }],
            Curvature::Squared => Vec::new(),
        };
        Verdict { certificate, quantity: Quantity::Regret, declared, epochs: 1 }
    }

    fn certificate(&self, u: &Comparator<'_>) -> Certificate {
        if self.watch.rounds == 0 || !self.watch.stands() {
            return self.watch.issue(0.0);
        }
        if let Comparator::Given(u) = u {
            if u.len() > self.gamma.len() && u[self.gamma.len()..].iter().any(|u| u.is_nan()) {
                return self.watch.issue(f64::NAN);
            }
            if let Curvature::Logistic { most: z } = self.curvature {
                let reach: f64 = u.iter().zip(&self.most).map(|(u, x)| u.abs() * x).sum();
                if reach.is_nan() || reach * (1.0 + 1e-12) > z {
                    return self.watch.refuse(WITHIN, reach);
                }
            }
            return self.watch.issue(self.given(u));
        }
        let grid = (0..9).map(|k| Real::exp(-2.0 * f64::from(k)));
        let bounds = grid.map(|lambda| self.supremum(u, lambda)).filter(|bound| !bound.is_nan());
        self.watch.issue(bounds.reduce(Real::min).unwrap_or(f64::NAN))
    }

    /// No less than A′.
    fn constant(&self) -> f64 {
        // Each term was rounded three times before it was added.
        self.a.upper() + 3.0 * f64::EPSILON * self.a.magnitude()
    }

    /// By how much a sum of one term for each round may be off, as a part of its terms' magnitude.
    fn slip(&self) -> f64 {
        1.01 * (self.watch.rounds as f64 + 8.0) * f64::EPSILON
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        let (low, high) = if i < j { (i, j) } else { (j, i) };
        self.m[high * (high + 1) / 2 + low]
    }

    /// A′ − ⟨u, Γ′⟩ − ½uᵀMu, rounded up.
    fn given(&self, u: &[f64]) -> f64 {
        let n = u.len().min(self.gamma.len());
        let (mut sum, mut off) = (Sum::default(), 0.0);
        for i in 0..n {
            sum.add(-u[i] * self.gamma[i]);
            off += u[i].abs() * self.sizes[i];
            for j in 0..=i {
                let twice = if i == j { 0.5 } else { 1.0 };
                sum.add(-twice * u[i] * u[j] * self.entry(i, j));
                // |M_ij| is at most the root of the product of both diagonal elements, and so is what rounding did.
                let most = (self.entry(i, i) * self.entry(j, j)).sqrt();
                off += twice * (u[i] * u[j]).abs() * most;
            }
        }
        let lost = self.slip() * off + 3.0 * f64::EPSILON * sum.magnitude();
        outward(self.constant() + sum.upper() + lost, sum.magnitude())
    }

    /// A′ + ½Γ′ᵀ(M + λD)⁻¹Γ′ + λ/2·sup ΣDu², rounded up. NaN where the supremum is not known.
    fn supremum(&self, u: &Comparator<'_>, lambda: f64) -> f64 {
        let n = self.gamma.len();
        let diagonal: Vec<f64> = (0..n).map(|i| self.entry(i, i)).collect();
        let most = diagonal.iter().copied().fold(0.0, Real::max);
        let square = |x: f64| size(x) * size(x);
        let spread = match *u {
            Comparator::Box { radii } => {
                diagonal.iter().zip(radii).map(|(d, r)| d * r * r).sum::<f64>()
            }
            // ‖u‖₂ is at most each of these.
            Comparator::Ball { norm: Norm::L1 | Norm::L2, radius }
            | Comparator::Sphere { radius } => most * square(radius),
            Comparator::Ball { norm: Norm::Lp(p), radius } if p <= 2.0 => most * square(radius),
            Comparator::Simplex { .. } => most,
            Comparator::Positive { total } => most * square(total),
            _ => f64::NAN,
        };
        // uᵀ(M − M′)u is at most slip·(Σ|u|√D)², at most slip·n·ΣDu².
        let safe = lambda - 2.0 * self.slip() * n as f64;
        if safe.is_nan() || safe <= 0.5 * lambda || spread.is_nan() {
            return f64::NAN;
        }
        // In units of √D, so that the matrix is well scaled; a feature without curvature has none of Γ′ either, or
        // nothing is known.
        let mut at = Vec::new();
        for (i, d) in diagonal.iter().enumerate() {
            match (*d > 0.0, self.gamma[i] == 0.0) {
                (true, _) => at.push(i),
                (false, true) => {}
                (false, false) => return f64::NAN,
            }
        }
        let k = at.len();
        let root: Vec<f64> = at.iter().map(|&i| diagonal[i].sqrt()).collect();
        let mut b = vec![0.0; k * k];
        for r in 0..k {
            for c in 0..=r {
                let entry = self.entry(at[r], at[c]) / (root[r] * root[c]);
                b[r * k + c] = if r == c { 1.0 + safe } else { entry };
                b[c * k + r] = b[r * k + c];
            }
        }
        let gamma: Vec<f64> = at.iter().zip(&root).map(|(&i, root)| self.gamma[i] / root).collect();
        let off: Vec<f64> =
            at.iter().zip(&root).map(|(&i, root)| self.slip() * self.sizes[i] / root).collect();
        let mut l = b.clone();
        if cholesky_in_place(&mut l, k).is_none() {
            return f64::NAN;
        }
        let mut v = gamma.clone();
        solve_lower(&l, k, &mut v);
        // The transposed factor, from the end; the factor lies column by column.
        for r in (0..k).rev() {
            let after: f64 = (r + 1..k).map(|c| l[r * k + c] * v[c]).sum();
            v[r] = (v[r] - after) / l[r * k + r];
        }
        // ΓᵀB⁻¹Γ ≤ vᵀΓ + vᵀr + rᵀr/λ, with the residual r = Γ − Bv and B no less than λ in these units.
        let (mut form, mut rest) = (Sum::default(), 0.0);
        for r in 0..k {
            let (mut residual, mut magnitude) = (Sum::default(), gamma[r].abs());
            residual.add(gamma[r]);
            for c in 0..k {
                residual.add(-b[r * k + c] * v[c]);
                magnitude += (b[r * k + c] * v[c]).abs();
            }
            let lost = off[r] + 8.0 * f64::EPSILON * magnitude;
            form.add(v[r] * gamma[r]);
            form.add(v[r] * residual.total());
            rest += 2.0 * v[r].abs() * lost;
            let residual = residual.total().abs() + lost;
            rest += residual * residual / safe;
        }
        let form = form.upper() + 3.0 * f64::EPSILON * form.magnitude() + rest;
        let penalty = 0.5 * lambda * spread;
        let grow = 1.0 + 4.0 * (n as f64 + 4.0) * f64::EPSILON;
        outward(self.constant() + (0.5 * Real::max(form, 0.0) + penalty) * grow, 0.0)
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        keep(&self.watch, &self.a.save(), put);
        put("gamma", &self.gamma);
        put("sizes", &self.sizes);
        put("most", &self.most);
        put("curvature", &self.m);
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(&mut self, get: Get<'_>) -> Result<(), ConfigError> {
        let rest = restore_all(&mut self.watch, 4, get)?;
        self.a = Sum::load([rest[0], rest[1], rest[2], rest[3]]);
        let missing =
            ConfigError::Missing { name: "theorem", meaning: "the sums of a certificate" };
        let mut array = |name| get(name).ok_or(missing.clone());
        (self.gamma, self.sizes) = (array("gamma")?, array("sizes")?);
        (self.most, self.m) = (array("most")?, array("curvature")?);
        let n = self.gamma.len();
        let fits = self.sizes.len() == n && self.most.len() == n && self.m.len() == n * (n + 1) / 2;
        if fits { Ok(()) } else { Err(missing) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certify::{Bound, FirstOrder, Status};
    use crate::laws::Sampler;
    use crate::loss::{AnyLoss, Logistic, Loss, Squared};
    use crate::row::Dense;
    use crate::walk::{Euclidean, Free, Walk};

    const Z: f64 = 6.0;

    #[test]
    fn curvature_is_below_h_on_a_grid() {
        let curvature = Curvature::Logistic { most: Z };
        for step in -300..=300 {
            let z = f64::from(step) / 10.0;
            for (y, weight) in [(1.0, 1.0), (-1.0, 1.0), (1.0, 3.5)] {
                let (loss, slope) = (Logistic.value(z, y), Logistic.slope(z, y));
                let kappa = curvature.least(weight * loss, weight * slope, z);
                let mut least = f64::INFINITY;
                for k in -240..=240 {
                    let v = f64::from(k) / 240.0 * Z;
                    let d = v - z;
                    if d.abs() < 1e-3 {
                        continue;
                    }
                    let h = 2.0 * weight * (Logistic.value(v, y) - loss - slope * d) / (d * d);
                    // What rounding leaves of h where z is far out.
                    let rounding = 8.0 * f64::EPSILON * weight * (loss + d.abs()) / (d * d);
                    assert!(kappa <= h + rounding, "{z} {v}: {kappa} > {h}");
                    least = least.min(h + rounding);
                }
                // It is not merely small: the least of h is at an end or at z.
                assert!(kappa >= 0.98 * least - 1e-9, "{z}: {kappa} of {least}");
            }
        }
    }

    struct Game {
        bound: SecondOrder,
        first: FirstOrder,
        rows: Vec<(Vec<f64>, f64)>,
        loss: f64,
        weights: Vec<f64>,
    }

    fn play<W: Walk>(mut walk: W, curvature: Curvature, loss: &AnyLoss, seed: u64) -> Game {
        let mut random = Sampler::new(seed);
        let truth = [0.9, -0.5, 0.3];
        let (mut bound, mut first) = (SecondOrder::new(curvature), FirstOrder::new(&loss.facts()));
        let (mut rows, mut total) = (Vec::new(), 0.0);
        for t in 0..400 {
            let n = if t < 50 { 2 } else { 3 };
            let x: Vec<f64> = (0..n).map(|i| random.normal() * [1.0, 10.0, 0.1][i]).collect();
            let scaled = |i: usize| truth[i] / [1.0, 10.0, 0.1][i];
            let z: f64 = x.iter().enumerate().map(|(i, x)| x * scaled(i)).sum();
            let y = match curvature {
                Curvature::Squared => z + 0.5 * random.normal(),
                Curvature::Logistic { .. } if random.unit() < sigmoid(z) => 1.0,
                Curvature::Logistic { .. } => -1.0,
            };
            let round = walk.step(Dense(&x), y.into(), loss, 0.001).unwrap();
            bound.observe(&round, Dense(&x));
            first.observe(&round, Dense(&x));
            total += round.loss;
            rows.push((x, y));
        }
        let mut weights = Vec::new();
        walk.read(&mut weights);
        Game { bound, first, rows, loss: total, weights }
    }

    impl Game {
        fn lost(&self, u: &[f64], loss: &AnyLoss) -> f64 {
            let dot = |x: &[f64]| x.iter().zip(u).map(|(x, u)| x * u).sum::<f64>();
            self.rows.iter().map(|(x, y)| loss.value(dot(x), *y)).sum()
        }

        /// The optimum, by gradient steps in units of the features.
        fn best(&self, loss: &AnyLoss) -> Vec<f64> {
            let scale = [1.0, 10.0, 0.1];
            let mut u = vec![0.0; 3];
            for _ in 0..4000 {
                let mut gradient = [0.0; 3];
                for (x, y) in &self.rows {
                    let z: f64 = x.iter().zip(&u).map(|(x, u)| x * u).sum();
                    let slope = loss.slope(z, *y) / self.rows.len() as f64;
                    x.iter().enumerate().for_each(|(i, x)| gradient[i] += slope * x);
                }
                (0..3).for_each(|i| u[i] -= 0.4 * gradient[i] / (scale[i] * scale[i]));
            }
            u
        }
    }

    #[test]
    fn the_optimum_is_within_the_bound_and_the_bound_is_useful() {
        let (logistic, squared) =
            (AnyLoss::parse("logistic").unwrap(), AnyLoss::parse("squared").unwrap());
        for seed in 0..6 {
            let most = Curvature::Logistic { most: Z };
            let games = [
                (play(Free::new(1.0, 0.5, 1.0).unwrap(), most, &logistic, seed), &logistic),
                (play(Euclidean::new(), Curvature::Squared, &squared, seed), &squared),
            ];
            for (game, loss) in games {
                let u = game.best(loss);
                let radii: Vec<f64> = u.iter().map(|u| 1.01 * u.abs()).collect();
                let set = Comparator::Box { radii: &radii };
                let verdict = game.bound.certify(&set);
                let c = &verdict.certificate;
                assert_eq!(c.status, Status::Valid, "{c}");
                let within = game
                    .rows
                    .iter()
                    .all(|(x, _)| x.iter().zip(&u).map(|(x, u)| x * u).sum::<f64>().abs() <= Z);
                let regret = game.loss - game.lost(&u, loss);
                assert!(within || loss.spec() == "squared", "the test's stream is too steep");
                assert!(regret <= c.bound, "{regret} > {c}");
                let first = game.first.certify(&set);
                // Of the logistic loss it saves the least: 11 to 22 % on these streams.
                assert!(
                    c.bound < 0.95 * first.bound,
                    "{c}\n{first}: no better than the first order"
                );
                // Others within the set, and the bound against one of them alone.
                let mut random = Sampler::new(seed + 9);
                for _ in 0..50 {
                    let other: Vec<f64> =
                        radii.iter().map(|r| 0.5 * r * random.uniform(-1.0, 1.0)).collect();
                    let regret = game.loss - game.lost(&other, loss);
                    let one = game.bound.certify(&Comparator::Given(&other)).certificate;
                    if one.status == Status::Valid {
                        assert!(
                            regret <= one.bound && one.bound <= c.bound * (1.0 + 1e-9),
                            "{one}"
                        );
                    } else {
                        assert_eq!(loss.spec(), "logistic", "{one}");
                    }
                }
                assert_eq!(game.weights.len(), 3);
            }
        }
    }

    #[test]
    fn saved_sums_continue_with_the_same_bits() {
        let loss = AnyLoss::parse("logistic").unwrap();
        let game = play(Euclidean::new(), Curvature::Logistic { most: Z }, &loss, 3);
        let mut arrays = Vec::new();
        game.bound.save(&mut |name, values| arrays.push((name, values.to_vec())));
        let mut again = SecondOrder::new(game.bound.curvature);
        let find = |name: &str| arrays.iter().find(|(own, _)| *own == name).map(|(_, v)| v.clone());
        again.load(&mut |name| find(name)).unwrap();
        let set = Comparator::Ball { norm: Norm::L2, radius: 2.0 };
        assert_eq!(game.bound.certify(&set), again.certify(&set));
    }

    #[test]
    fn too_many_features_and_steep_comparators_have_no_bound() {
        let (mut walk, mut bound) = (Euclidean::new(), SecondOrder::new(Curvature::Squared));
        let x = crate::row::Sparse::new(&[3000], &[1.0]).unwrap();
        let round = walk.step(x, 1.0.into(), &Squared, 0.1).unwrap();
        bound.observe(&round, x);
        let status = bound.certify(&Comparator::Given(&[1.0])).certificate.status;
        assert!(
            matches!(status, Status::Void(broken) if broken.premise == MANY && broken.row == 1)
        );
        let loss = AnyLoss::parse("logistic").unwrap();
        let game = play(Euclidean::new(), Curvature::Logistic { most: Z }, &loss, 1);
        let steep = game.bound.certify(&Comparator::Given(&[100.0])).certificate;
        assert!(matches!(steep.status, Status::Void(broken) if broken.premise == WITHIN), "");
    }
}
