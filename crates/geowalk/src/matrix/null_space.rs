//! Several null vectors at once.

use crate::Real;
use crate::certify::{Broken, Certificate, Status};
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::{Event, Manifold, Work, manifolds::Grassmann};
use crate::learn::base::scalar;
use crate::row::Norm;
use crate::sampler::Sampler;
use crate::sum::Sum;
use crate::update::Round;

/// k directions that are to be orthogonal to every row: the null vector of a sphere, for a subspace.
///
/// The loss of a row is $\Vert P^\top x\Vert^2/\Vert x\Vert^2$, and the step the geodesic of the Grassmann manifold along its
/// gradient, which has rank one: with $a = P^\top x$, $r = x - Pa$, $\Vert x\Vert = 1$ and $\sigma = 2\eta \Vert a\Vert \Vert r\Vert$,
/// $$P' = P + \Big((\cos\sigma - 1)\frac{Pa}{\Vert a\Vert} - \sin\sigma\,\frac{r}{\Vert r\Vert}\Big)\frac{a^\top}{\Vert a\Vert}.$$
/// **Cost** O(nk). Every thousand steps the columns are made orthonormal anew.
///
/// **Theorem.** If every row is orthogonal to some k directions P⋆ and 0 < η < 1, then
/// $$\sum_t \text{loss}_t \le \frac{\ln(1/|\det P_\star^\top P_0|)}{2\eta(1 - \eta)}.$$
/// Proof. $P_\star^\top x = 0$ gives $P_\star^\top r = -P_\star^\top P a$, so that
/// $P_\star^\top P' = P_\star^\top P\,(I + (\cos\sigma - 1 + \sin\sigma\,\Vert a\Vert/\Vert r\Vert)\, \hat a \hat a^\top)$. With ‖a‖ = cos d and ‖r‖ = sin d
/// the determinant grows by sin(d + η sin 2d)/sin d, whose logarithm is at least 2η(1 − η) cos² d: the inequality of
/// one null vector. A determinant of cosines is at most 1. ∎
/// **Source** \[KMWW07s, lemma 9\] for k = 1, as corrected.
///
/// ```
/// use geowalk::matrix::NullSpace;
/// let mut null = NullSpace::new(3, 2, 1)?;
/// for _ in 0..200 {
///     null.step(&[1.0, 2.0, 2.0], 0.25)?;
/// }
/// assert!(null.loss_of(&[1.0, 2.0, 2.0])? < 1e-12);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct NullSpace {
    n: usize,
    k: usize,
    /// Row after row.
    p: Vec<f64>,
    start: Vec<f64>,
    a: Vec<f64>,
    c: Vec<f64>,
    r: Vec<f64>,
    loss: Sum,
    rate: Option<f64>,
    broken: Option<Broken>,
}

/// Steps between two times that the columns are made orthonormal.
const RENEW: u64 = 1000;

impl NullSpace {
    /// k directions among rows of n numbers, 1 ≤ k < n, from a random subspace.
    pub fn new(n: usize, k: usize, seed: u64) -> Result<Self, ConfigError> {
        error::parameter("k", k as f64, Allowed::Closed(1.0, n.saturating_sub(1) as f64))?;
        let mut sampler = Sampler::new(seed);
        let mut p = vec![0.0; n * k];
        Grassmann::new(n, k)?.random(&mut || sampler.normal(), &mut p, &mut Work::new());
        let (start, loss) = (p.clone(), Sum::default());
        let (a, c, r) = (vec![0.0; k], vec![0.0; k], vec![0.0; n]);
        Ok(Self { n, k, p, start, a, c, r, loss, rate: None, broken: None })
    }

    /// The directions: n rows of k numbers, with orthonormal columns.
    pub fn directions(&self) -> &[f64] {
        &self.p
    }

    /// a ← Pᵀx/‖x‖; gives ‖a‖² and ‖x‖.
    fn look(&self, x: &[f64], a: &mut [f64]) -> Result<(f64, f64), DomainError> {
        error::finite("the row", x, self.n)?;
        let norm = Norm::L2.of(x);
        let what = "the norm of the row";
        scalar(what, norm, Allowed::OpenClosed(0.0, 1e150))?;
        a.fill(0.0);
        for (p, &x) in self.p.chunks_exact(self.k).zip(x) {
            a.iter_mut().zip(p).for_each(|(a, &p)| *a += p * (x / norm));
        }
        Ok((a.iter().map(|a| a * a).sum(), norm))
    }

    /// ‖Pᵀx‖²/‖x‖², at most 1.
    pub fn loss_of(&self, x: &[f64]) -> Result<f64, DomainError> {
        Ok(self.look(x, &mut vec![0.0; self.k])?.0)
    }

    /// One step at this rate; the loss of the round is that before the step. A row of zeros is an error.
    pub fn step(&mut self, x: &[f64], rate: f64) -> Result<Round, DomainError> {
        scalar("the rate", rate, Allowed::Closed(0.0, 1e150))?;
        let mut a = std::mem::take(&mut self.a);
        let looked = self.look(x, &mut a);
        self.a = a;
        let (loss, norm) = looked?;
        let mut round = Round {
            z: loss.sqrt(),
            loss,
            slope: 2.0 * loss.sqrt(),
            rate,
            length: 0.0,
            event: Event::Inside,
        };
        self.loss.add(loss);
        self.rate.get_or_insert(rate);
        if self.broken.is_none() && (self.rate != Some(rate) || !(rate > 0.0 && rate < 1.0)) {
            let premise = "all rates are one number between 0 and 1";
            self.broken = Some(Broken { premise, row: self.loss.count(), found: rate });
        }
        let Self { p, a, r, c, k, .. } = self;
        // r ← x/‖x‖ − Pa.
        for ((r, p), &x) in r.iter_mut().zip(p.chunks_exact(*k)).zip(x) {
            *r = x / norm - dot(p, a);
        }
        let (long, off) = (loss.sqrt(), Norm::L2.of(r));
        if long == 0.0 || off == 0.0 || rate == 0.0 {
            // Where the row is in the subspace the gradient is 0, although the loss is not.
            round.event = if off == 0.0 && long > 0.0 { Event::Stationary } else { round.event };
            return Ok(round);
        }
        let sigma = 2.0 * rate * long * off;
        let (cos, sin) = (Real::cos(sigma), Real::sin(sigma));
        a.iter_mut().for_each(|a| *a /= long);
        // r ← P'a/‖a‖, made orthogonal to the other directions and of length 1: rounding would grow from step to step.
        for (r, p) in r.iter_mut().zip(p.chunks_exact(*k)) {
            *r = cos * dot(p, a) - sin * *r / off;
        }
        c.fill(0.0);
        for (r, p) in r.iter().zip(p.chunks_exact(*k)) {
            c.iter_mut().zip(p).for_each(|(c, p)| *c += p * r);
        }
        let along = dot(c, a);
        c.iter_mut().zip(&*a).for_each(|(c, a)| *c -= along * a);
        for (r, p) in r.iter_mut().zip(p.chunks_exact(*k)) {
            *r -= dot(p, c);
        }
        let unit = Norm::L2.of(r);
        for (r, p) in r.iter().zip(p.chunks_exact_mut(*k)) {
            let by = r / unit - dot(p, a);
            p.iter_mut().zip(&*a).for_each(|(p, a)| *p += by * a);
        }
        round.length = sigma;
        if self.loss.count().is_multiple_of(RENEW) {
            let grassmann = Grassmann::new(self.n, self.k);
            if let Ok(grassmann) = grassmann {
                grassmann.nearest(&mut self.p, &mut Work::new())?;
            }
        }
        Ok(round)
    }

    /// The theorem above against k directions, n rows of k numbers with orthonormal columns, to which the user vouches
    /// that every row was orthogonal: they lose nothing, so that the bound is one of the loss.
    pub fn certificate(&self, directions: &[f64]) -> Result<Certificate, DomainError> {
        let (n, k) = (self.n, self.k);
        if let Ok(grassmann) = Grassmann::new(n, k) {
            Manifold::<f64>::check(&grassmann, directions)?;
        }
        let mut cosines = vec![0.0; k * k];
        for (u, p) in directions.chunks_exact(k).zip(self.start.chunks_exact(k)) {
            for (column, &u) in cosines.chunks_exact_mut(k).zip(u) {
                column.iter_mut().zip(p).for_each(|(c, &p)| *c += u * p);
            }
        }
        let rate = self.rate.unwrap_or(0.5);
        let (status, bound) = if let Some(broken) = &self.broken {
            (Status::Void(broken.clone()), f64::NAN)
        } else {
            let determinant = determinant(&mut cosines, k).abs();
            // Rounding of the determinant, and of what it is compared with.
            let above = -Real::ln(determinant.min(1.0) * (1.0 - 1e-12 * k as f64));
            (Status::Valid, above / (2.0 * rate * (1.0 - rate)) + self.loss.error())
        };
        let (theorem, rounds, loss) = ("null-space", self.loss.count(), self.loss.total());
        Ok(Certificate { theorem, status, rounds, loss, bound })
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The determinant, by elimination with pivots; the matrix is spoilt.
fn determinant(a: &mut [f64], n: usize) -> f64 {
    let mut product = 1.0;
    for j in 0..n {
        let Some(pivot) = (j..n).max_by(|&p, &q| a[p + j * n].abs().total_cmp(&a[q + j * n].abs()))
        else {
            return 0.0;
        };
        if a[pivot + j * n] == 0.0 {
            return 0.0;
        }
        if pivot != j {
            (0..n).for_each(|k| a.swap(pivot + k * n, j + k * n));
            product = -product;
        }
        product *= a[j + j * n];
        for i in j + 1..n {
            let factor = a[i + j * n] / a[j + j * n];
            for k in j..n {
                a[i + k * n] -= factor * a[j + k * n];
            }
        }
    }
    product
}
