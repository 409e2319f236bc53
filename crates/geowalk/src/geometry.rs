//! # Geometry: where parameters live
//! Two kinds of geometry, and where they meet.
//!
//! * A [`Manifold`] has a metric at every point. A step is a walk along a geodesic, $w' = \exp_w(-\eta\, \mathrm{grad} L)$.
//! * A [`Generator`] ψ has two global charts, w and θ = ∇ψ(w). A step is a straight walk in the second,
//!   $\theta' = \theta - \eta\, \partial L$ (mirror descent).
//!
//! They share the idea (a step is not an addition of weights), and not one signature. They meet in two places:
//!
//! * [`Hessian`]: the metric ∇²ψ makes a manifold of a generator; the mirror step is its natural-gradient step, retracted along the dual chart.
//! * [`PullBack`]: a link function f makes ℝⁿ's flat metric a metric on the weights; gradient descent on f(w) is its geodesic step.

pub mod checked;
mod forward;
pub mod generator;
pub mod generators;
pub mod hessian;
pub(crate) mod linalg;
pub mod link;
pub mod manifold;
pub mod manifolds;
pub mod mean;
mod orthogonal;
pub mod work;

pub use checked::Checked;
pub use generator::{Curved, Generator, Modulus, Separable};
pub use hessian::Hessian;
pub use link::{Link, PullBack};
pub use manifold::{Curvature, Event, ExpLog, Manifold, Sign, Step};
pub use mean::Mean;
pub use work::Work;
