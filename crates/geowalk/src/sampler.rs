//! # Random numbers, points and vectors
//! One seeded source for tests, laws, sampled rows and initial values.

use crate::Real;
use crate::geometry::{ExpLog, Generator, Manifold, Work};

/// A seeded source of random numbers, points and vectors. The same seed gives the same case on every machine.
///
/// The generator is SplitMix64 \[SLF14\]: five lines of code, and good enough to choose test cases.
#[derive(Debug, Clone)]
pub struct Sampler {
    seed: u64,
    state: u64,
}

impl Sampler {
    /// A sampler with this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, state: seed }
    }

    /// The seed passed to [`new`](Self::new).
    pub fn seed(&self) -> u64 {
        self.seed
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Uniform in (0, 1).
    pub fn unit(&mut self) -> f64 {
        ((self.next() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// Uniform in (lo, hi).
    pub fn uniform(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.unit()
    }

    /// A whole number in 0..n.
    pub fn below(&mut self, n: usize) -> usize {
        // The bias for n far below 2^64 does not matter for choosing cases.
        usize::try_from(self.next() % n.max(1) as u64).unwrap_or(0)
    }

    /// Standard normal (Box–Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * Real::ln(self.unit())).sqrt();
        radius * Real::cos(std::f64::consts::TAU * self.unit())
    }

    /// −1 or +1.
    pub fn sign(&mut self) -> f64 {
        if self.next() >> 63 == 0 { -1.0 } else { 1.0 }
    }

    /// n independent normal numbers.
    pub fn vector<F: Real>(&mut self, n: usize) -> Vec<F> {
        (0..n).map(|_| F::of(self.normal())).collect()
    }

    /// A tangent vector at `p` with the given length. It is 0 if none exists (a manifold of one point, a `p` off the
    /// manifold).
    pub fn tangent<F: Real, M: Manifold<F> + ?Sized>(
        &mut self,
        manifold: &M,
        p: &[F],
        length: F,
    ) -> Vec<F> {
        const ATTEMPTS: usize = 64;
        let mut work = Work::new();
        for _ in 0..ATTEMPTS {
            // The gradient of a random differential has the metric's natural scale in every coordinate.
            let covector = self.vector(manifold.ambient());
            let mut v = vec![F::ZERO; manifold.ambient()];
            manifold.gradient(p, &covector, &mut v, &mut work);
            let norm = manifold.norm(p, &v, &mut work);
            if norm > F::ZERO && norm.is_finite() {
                let scale = length / norm;
                for v in &mut v {
                    *v *= scale;
                }
                manifold.project(p, &mut v);
                return v;
            }
        }
        vec![F::ZERO; manifold.ambient()]
    }

    /// A random length of a walk from `p`, at most `most` and at most 0.9 of the injectivity radius, so that `log`
    /// stays unique.
    pub fn length<F: Real, M: ExpLog<F> + ?Sized>(
        &mut self,
        manifold: &M,
        p: &[F],
        most: f64,
    ) -> F {
        let reach = F::of(most).min(manifold.injectivity(p) * F::of(0.9));
        reach * F::of(self.uniform(0.01, 1.0))
    }

    /// A random point: the end of a few walks that start at the manifold's origin.
    pub fn point<F: Real, M: ExpLog<F> + ?Sized>(&mut self, manifold: &M) -> Vec<F> {
        let mut p = vec![F::ZERO; manifold.ambient()];
        manifold.origin(&mut p);
        let mut work = Work::new();
        for _ in 0..2 {
            let length = self.length(manifold, &p, 1.5);
            let v = self.tangent(manifold, &p, length);
            // A walk shorter than the injectivity radius cannot fail. If one did, p would stay where it was.
            let _ = manifold.exp(&mut p, &v, F::ONE, &mut work);
        }
        p
    }

    /// A point in the generator's domain: the first kind of random vector that its `check` accepts.
    pub fn domain_point<F: Real, G: Generator<F> + ?Sized>(
        &mut self,
        generator: &G,
        n: usize,
    ) -> Vec<F> {
        let free: Vec<F> = self.vector(n);
        if generator.check(&free).is_ok() {
            return free;
        }
        let mut positive: Vec<F> = free.iter().map(|x| x.exp()).collect();
        if generator.check(&positive).is_ok() {
            return positive;
        }
        let total: F = positive.iter().copied().sum();
        for x in &mut positive {
            *x /= total;
        }
        positive
    }
}
