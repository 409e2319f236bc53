//! # geowalk
//! Online learning in the geometry of the parameters: each step follows a geodesic, and the lengths of the steps bound
//! the regret.
//!
//! ## The flow
//! ```text
//! row  →  geometry  →  loss  →  update  →  certify
//! x        where w       what      how w      what is
//!          lives         hurts     moves      promised
//! ```
//! * [`row`]: examples, dense or sparse.
//! * [`geometry`]: manifolds (sphere, simplex, orthant, hyperbolic space, SPD matrices, products), generators
//!   (entropies, p-norms), and spaces that are both.
//! * [`loss`]: losses of the prediction z = ⟨w, x⟩, permissible functions with their balanced convex losses, and a
//!   doctor that checks user-defined losses.
//! * [`update`]: reference definitions of the update rules, for any geometry. [`walk`]: fast versions of the same
//!   rules, used by the learners, at O(nnz) per example.
//! * [`natural`]: natural gradient for several classes, at the cost of plain gradient descent.
//! * [`matrix`]: weights that are matrices, and several null vectors at once.
//! * [`optimize`]: minimises any smooth cost on any manifold, over a batch or a stream.
//! * `boost`: batch learning of rules and trees from a table stored by columns.
//! * [`ridge`]: the best linear model of a table, computed from all rows together.
//! * [`certify`]: regret theorems, evaluated on a finished run. [`experts`]: combines experts' predictions; their
//!   regret is tracked exactly.
//! * [`laws`]: the properties that all of these must have, as functions that users can call on their implementations.
//!
//! ## A learner by name
//! [`Learner`] is the front door: a walk by its name, a loss, a rate; rows in, predictions and a certificate out.
//!
//! ```
//! use geowalk::Learner;
//! let mut eg = Learner::new("eg", "squared", 0.5)?;
//! for _ in 0..100 {
//!     eg.learn(&[1.0, 0.0, -1.0], 0.5)?;
//! }
//! assert!((eg.predict(&[1.0, 0.0, -1.0])? - 0.5).abs() < 1e-9);
//! # Ok::<(), geowalk::LearnerError>(())
//! ```
//!
//! **Features** `boosting` (on by default) has the module `boost` and the dependency `rayon`; without it the crate runs in the
//! caller's thread alone.
//!
//! ## Example
//! A null vector on the sphere: every row is orthogonal to (1, 0, 0), and the weights converge to it. The certificate
//! bounds the regret against every vector of the sphere; it does not need the best one.
//!
//! ```
//! use geowalk::certify::{Bound, Comparator, FirstOrder};
//! use geowalk::geometry::manifolds::Sphere;
//! use geowalk::loss::{Invariant, Loss};
//! use geowalk::row::Dense;
//! use geowalk::update::{Explicit, Update};
//!
//! let walk = Explicit::new(Sphere::new(3, 1.0)?);
//! let mut state = walk.start(&[0.6, 0.0, 0.8])?;
//! let mut bound = FirstOrder::new(&Invariant.facts());
//! for t in 0..20 {
//!     let x = if t % 2 == 0 { [0.0, 0.6, 0.8] } else { [0.0, -0.8, 0.6] };
//!     let round = walk.step(&mut state, Dense(&x), 0.0.into(), &Invariant, 0.25)?;
//!     bound.observe(&round, Dense(&x));
//! }
//! let mut w = [0.0; 3];
//! walk.read(&state, &mut w);
//! println!("{w:.4?}\n{}", bound.certify(&Comparator::Sphere { radius: 1.0 }));
//! assert!(w[0] > 0.999);
//! # Ok::<(), geowalk::ConfigError>(())
//! ```
//!
//! ## Sources
//! The mathematics comes from five papers: on-line algorithms as geodesic walks \[KMWW07\], geodesic walks on spheres
//! \[KMWW07s\], Bregman geometry and boosting \[NN09\], natural gradient for multinomial logistic regression \[SC21\],
//! multiplicative updates and their gradient-descent twins \[AW20\]. The idea that a metric is a prior is from
//! \[MW01\]. Keys are those of `REFERENCES.bib`; symbols are those of `NOTATION.md`. Where a printed statement needed
//! a correction, the file that uses it says so.

#[cfg(feature = "boosting")]
pub mod boost;
pub mod certify;
pub mod error;
pub mod experts;
pub mod geometry;
mod halt;
pub mod laws;
pub mod learn;
mod learner;
pub mod loss;
pub mod matrix;
pub mod natural;
pub mod optimize;
mod real;
pub mod ridge;
pub mod row;
mod sampler;
pub mod spec;
pub mod sum;
pub mod team;
pub mod track;
pub mod update;
pub mod walk;

pub use error::{ConfigError, DomainError};
pub use halt::Halt;
pub use learner::{Learner, LearnerError};
pub use real::Real;
