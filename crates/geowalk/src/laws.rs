//! # Laws
//! What must be true of every manifold, generator, loss, update and bound, as functions that anybody can call. The property
//! tests of this crate run them on everything in the tables; whoever adds a file runs them on that.
//!
//! A law takes the object and a [`Sampler`] (a seed), tries one random case, and gives back the first sentence that was
//! broken, with the numbers and the seed that breaks it again.
//!
//! ```
//! use geowalk::geometry::manifolds::Sphere;
//! use geowalk::laws::{self, Sampler};
//! let sphere = Sphere::new(4, 2.0)?;
//! for seed in 0..20 {
//!     laws::manifold::geodesic::<f64, _>(&sphere, &mut Sampler::new(seed))?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bound;
pub mod generator;
pub mod loss;
pub mod manifold;
pub mod permissible;
pub mod steps;
pub mod update;

pub use crate::sampler::Sampler;

use crate::Real;

/// A law that does not hold, and where.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("broken: {law}; off by {found:e} where {allowed:e} is allowed (seed {seed})")]
pub struct Broken {
    /// The law, as a sentence.
    pub law: &'static str,
    /// By how much it is broken.
    pub found: f64,
    /// By how much it may be.
    pub allowed: f64,
    /// The seed of the sampler.
    pub seed: u64,
}

/// `found <= allowed`, or the law is broken. NaN breaks every law.
fn demand(law: &'static str, found: f64, allowed: f64, sampler: &Sampler) -> Result<(), Broken> {
    if found <= allowed {
        Ok(())
    } else {
        Err(Broken { law, found, allowed, seed: sampler.seed() })
    }
}

/// The operation succeeded, or the law is broken.
fn succeed<T, E>(law: &'static str, result: Result<T, E>, sampler: &Sampler) -> Result<T, Broken> {
    result.map_err(|_| Broken { law, found: f64::NAN, allowed: 0.0, seed: sampler.seed() })
}

/// The largest absolute difference of two slices; NaN if one is NaN.
fn gap<F: Real>(a: &[F], b: &[F]) -> f64 {
    a.iter().zip(b).fold(0.0, |worst, (&a, &b)| Real::max(worst, (a.f64() - b.f64()).abs()))
}

/// The largest absolute coordinate.
fn size<F: Real>(a: &[F]) -> f64 {
    a.iter().fold(0.0, |worst, &a| Real::max(worst, a.f64().abs()))
}
