//! # geowalk
//! Learning that respects the geometry of its parameters: a step is a walk along a geodesic, and the length of the walk is what bounds the regret.
//!
//! ## The flow
//! ```text
//! row  →  geometry  →  loss  →  update  →  certify
//! x        where w       what      how w      what is
//!          lives         hurts     moves      promised
//! ```
//! * [`row`]: examples, dense or sparse.
//! * [`geometry`]: manifolds (sphere, simplex, orthant, hyperbolic space, SPD matrices, products) and generators (entropies, p-norms), and
//!   where the two meet.
//! * [`loss`]: losses of the prediction z = ⟨w, x⟩, permissible functions and their balanced convex losses, and a doctor for losses of your own.
//! * [`update`]: rules that move weights, for any geometry: the definitions. [`walk`]: the same moves as learners make them, at O(nnz) per example.
//! * [`natural`]: natural gradient for several classes, at the price of plain gradient descent.
//! * [`optimize`]: any smooth cost on any manifold, of a batch or of a stream.
//! * [`boost`]: batch learning on a table of columns: rules and trees.
//! * [`ridge`]: the best linear model of a table, from all rows at once.
//! * [`certify`]: theorems, evaluated on the run that was made. [`experts`]: whom to trust, with theorems whose comparators are tracked exactly.
//! * [`laws`]: what must be true of all of these, as functions to call on your own.
//!
//! ## A first walk
//! A null vector on the sphere: every row is orthogonal to (1, 0, 0), and the weights turn to it. The certificate bounds
//! what was lost on the way against every vector of the sphere, without knowing the best one.
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
//! The mathematics is that of five papers: on-line algorithms as geodesic walks \[KMWW07\], on spheres \[KMWW07s\], Bregman geometry and boosting \[NN09\],
//! natural gradient for multinomial logistic regression \[SC21\], multiplicative updates and their gradient-descent twins \[AW20\], after the idea of
//! \[MW01\] that a metric is a prior. Keys are those of `REFERENCES.bib`; symbols are those of `NOTATION.md`. Where a printed statement needed a
//! correction, the file says so.

pub mod boost;
pub mod certify;
pub mod error;
pub mod experts;
pub mod geometry;
pub mod laws;
pub mod learn;
pub mod loss;
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
pub use real::Real;
